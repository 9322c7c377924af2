//! `mcp-approve` alone, and `--inline`: the console on this terminal, over every wrapper in the run folder.

mod footprint;
mod pins;
mod rule_book;
mod tried_policy;

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use rustix::process::getpgrp;
use rustix::stdio::{dup2_stdin, dup2_stdout};
use rustix::termios::tcgetpgrp;

use super::config;
use super::config::console::{Manners, Theme};
use super::rules::append::{append, put, switch, take_back, take_out, text_of};
use crate::cli::error::Error;
use crate::console::found::{RuleBook, Unwrapped};
use crate::console::log_reader::Sources;
use crate::console::model::{Manner, Settings, Tour};
use crate::console::run::{self, Notice, Outside, Pointer, Program};
use crate::console::theme::Palette;
use crate::console::update::RuleChange;
use crate::home::accepted::Accepted;
use crate::home::layers::{Keeps, Layers};
use crate::home::places::Places;
use crate::home::policy_file::PolicyPlace;
use crate::home::user;
use crate::hosts::{self, Listed, Start};
use crate::interpose::clock;
use crate::interpose::secrecy;
use crate::interpose::start::Beside;
use crate::interpose::stdio::HostPipe;
use crate::link::client::{ClientEvent, Clients, Me};

/// Opens the console on standard input and output, until the operator leaves.
///
/// # Errors
/// The terminal or the run folder is not usable.
pub fn run(places: &Places) -> Result<ExitCode, Error> {
    // An editor that the operator opens from here holds a call's arguments: it keeps our limit.
    let _ = secrecy::keep_memory_private();
    places.create_state()?;
    open(places)?;
    Ok(ExitCode::SUCCESS)
}

/// Moves the host's pipe away and puts the controlling terminal in its place, for a console beside the wrapper.
///
/// # Errors
/// There is no terminal, or it is in another job's hands: drawing would stop the whole wrapper (SIGTTOU).
pub fn inline(places: &Places) -> Result<(HostPipe, Beside), Error> {
    let failed = |cause: io::Error| Error::Failed {
        what: "--inline has no terminal to draw on".to_owned(),
        cause: cause.into(),
        hint: "leave --inline away, and run `mcp-approve` in another terminal".to_owned(),
    };
    let pipe = HostPipe::take().map_err(failed)?;
    let tty = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(failed)?;
    let foreground = tcgetpgrp(&tty).map_err(|error| failed(error.into()))?;
    if foreground != getpgrp() {
        return Err(failed(io::Error::other("another job has the terminal")));
    }
    dup2_stdin(&tty).map_err(|error| failed(error.into()))?;
    dup2_stdout(&tty).map_err(|error| failed(error.into()))?;
    let places = places.clone();
    let beside = move || {
        if let Err(error) = open(&places) {
            tracing::error!(%error, "the inline console ended");
        }
    };
    Ok((pipe, Box::new(beside)))
}

fn open(places: &Places) -> Result<(), Error> {
    let (wanted, mut problems) = config::console::load(places);
    let (notice, missing) = notice(wanted.notice);
    problems.extend(missing);
    let accepted = Accepted::new(places.accepted_dir());
    let (policy, of_rules, of_pins) = (places.policy_file(), places.clone(), places.clone());
    let (of_texts, of_changes) = (places.clone(), places.clone());
    let outside = Outside {
        now: clock::wall_ms,
        editor: editor(),
        drafts: places.state_dir().to_path_buf(),
        notice,
        mouse: match wanted.mouse {
            config::console::Mouse::Heard => Pointer::Heard,
            config::console::Mouse::Left => Pointer::Left,
        },
        write_rule: Box::new(move |rule, except| {
            // What the operator has read on the panel is accepted with it, unless something else in the file still waits.
            accepted.with(&policy, || append(&of_rules, rule, except, clock::wall_ms()))?;
            Ok(policy.display().to_string())
        }),
        rule_text: Box::new(move |id| text_of(&of_texts, id)),
        change_rules: Box::new(move |wanted| change(&of_changes, wanted)),
        settle: Box::new(move |settling| pins::settle(&of_pins, settling)),
    };
    let seen = places.state_dir().join("tour-seen");
    let settings = Settings {
        palette: palette(wanted.theme),
        offset: jiff::Zoned::now().offset().seconds(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        home: user::current().ok().and_then(|user| user.home.into_os_string().into_string().ok()),
        keys: wanted.keys,
        tour: if seen.exists() { Tour::Dismissed } else { Tour::Shown },
        manner: match wanted.manners {
            Manners::Ring => Manner::Rings,
            Manners::Quiet => Manner::Quiet,
        },
        confirmation: wanted.confirmation,
        problems,
    };
    let (read, tried) = (places.clone(), places.clone());
    let mut pins = pins::Reader::new(places.clone());
    let sources = Sources {
        log: config::audit_db(places).unwrap_or_else(|_| places.audit_db()),
        rules: Box::new(move || rule_book(&read)),
        pins: Box::new(move || pins.read()),
        policy: Arc::new(move |which| tried_policy::read(&tried, which)),
        now: clock::wall_ms,
        hosts: Box::new(unwrapped),
        memory: Box::new(footprint::of),
        tour_seen: Box::new(move || {
            // The tour comes again; nothing else is lost.
            if let Err(error) = std::fs::write(&seen, "") {
                tracing::warn!(%error, "that the tour was seen is not remembered");
            }
        }),
    };
    let me = Me {
        operator: user::current().map_or_else(|_| "somebody".to_owned(), |user| user.name),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
    };
    let run_dir = places.run_dir();
    let connect = move |on: Box<dyn Fn(_) + Send + Sync>| {
        if let Some(multiplexer) = multiplexer() {
            on(ClientEvent::Trouble(format!("{multiplexer}: {OPEN_TO_OTHERS}")));
        }
        let clients = Clients::watch(&run_dir, me, on).map_err(|error| error.to_string())?;
        Ok(move |session: &str, message: &_| clients.send(session, message).map_err(|error| error.to_string()))
    };
    run::run(settings, &outside, sources, connect).map_err(|error| Error::Failed {
        what: "the console could not run".to_owned(),
        cause: error.into(),
        hint: "`mcp-approve doctor` looks at the terminal and the run folder".to_owned(),
    })
}

/// Changes the operator's own policy file. What only tightens stands at once; what loosens waits to be accepted, so a
/// note of an undo that somebody else has forged opens nothing.
fn change(places: &Places, wanted: &RuleChange) -> Result<String, String> {
    let file = places.policy_file();
    let done = match wanted {
        RuleChange::Remove { file: stands, .. }
        | RuleChange::Replace { file: stands, .. }
        | RuleChange::Switch { file: stands, .. }
            if *stands != file =>
        {
            return Err(format!("this rule is not in your own policy file; change it in {}", stands.display()));
        }
        RuleChange::Remove { id, .. } => {
            take_out(places, id, clock::wall_ms())?;
            format!("Removed rule {id}; u takes that back.")
        }
        RuleChange::Replace { id, text, .. } => {
            put(places, id, text, clock::wall_ms())?;
            format!("Changed rule {id}; u takes that back.")
        }
        RuleChange::Switch { id, to, .. } => {
            switch(places, id, *to, clock::wall_ms())?;
            format!("Rule {id} is {to} now; u takes that back.")
        }
        RuleChange::Undo => format!("Taken back: {}.", take_back(places)?),
    };
    let policy = Layers::of(places, None, &PolicyPlace::Usual(file.clone())).load(Keeps::Copies);
    let waits = policy.pending.iter().any(|one| Path::new(&one.file) == file);
    Ok(if waits { done + " What that loosens waits here to be accepted." } else { done })
}

/// What a terminal multiplexer means for whoever decides in it.
pub(super) const OPEN_TO_OTHERS: &str =
    "any program of yours can type into it, and so approve; a terminal window of its own is safer";

/// The multiplexer that this terminal belongs to, by the variable each sets. Only told, never relied on.
pub(super) fn multiplexer() -> Option<&'static str> {
    let known = [
        ("TMUX", "this terminal is in tmux"),
        ("STY", "this terminal is in screen"),
        ("ZELLIJ", "this terminal is in Zellij"),
    ];
    known.into_iter().find_map(|(variable, says)| std::env::var_os(variable).map(|_| says))
}

/// The operator's editor, as the field has it.
pub(super) fn editor() -> String {
    let named = |name| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

/// The policy files as they stand; a broken `config.toml` stands in for what it would name.
fn rule_book(places: &Places) -> RuleBook {
    let now = clock::wall_ms();
    match config::policies(places) {
        Ok(files) => rule_book::read(&files, now),
        Err(error) => {
            let mut book = rule_book::read(&[PolicyPlace::Usual(places.policy_file())], now);
            book.broken = Some(error.to_string());
            book
        }
    }
}

/// The servers that hosts start without mcp-approve, for this user and this folder.
fn unwrapped() -> Vec<Unwrapped> {
    let Ok(user) = user::current() else { return Vec::new() };
    let lists = hosts::lists(&user.home, std::env::current_dir().ok().as_deref());
    let bare = lists.servers.into_iter().filter(|server| server.start == Start::Unwrapped);
    let list = |server: &Listed| match &server.project {
        Some(project) => format!("{}, for {project}", server.file.display()),
        None => server.file.display().to_string(),
    };
    bare.map(|server| Unwrapped { list: list(&server), host: server.host.to_owned(), server: server.name }).collect()
}

/// The theme; where none was chosen, no colours if the environment wants none (<https://no-color.org>), else what suits
/// the background that the terminal tells of, if it does.
fn palette(theme: Theme) -> Palette {
    match theme {
        Theme::Dark => Palette::Colours,
        Theme::Light => Palette::Light,
        Theme::ColourBlind => Palette::Safe,
        Theme::None => Palette::Monochrome,
        Theme::Auto => {
            let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            // `15;0`: foreground and background, as rxvt, konsole and others set it.
            let ground = std::env::var("COLORFGBG").unwrap_or_default();
            match ground.rsplit(';').next() {
                _ if unwanted => Palette::Monochrome,
                Some("7" | "15") => Palette::Light,
                _ => Palette::Colours,
            }
        }
    }
}

/// How a notice is asked for, and what is wrong with how it is wanted. No terminal gets it two ways, because some would
/// show it twice.
fn notice(wanted: config::console::Notice) -> (Notice, Option<String>) {
    use config::console::Notice as Wanted;
    let is = |name: &str, words: &[&str]| {
        std::env::var(name).is_ok_and(|value| words.iter().any(|word| value.starts_with(word)))
    };
    let asked = match wanted {
        Wanted::Off => Notice::None,
        Wanted::Osc9 => Notice::Osc9,
        Wanted::Osc777 => Notice::Osc777,
        Wanted::Desktop => match Program::find() {
            Some(program) => Notice::Desktop(program),
            None => {
                let hint = "install it (libnotify), or write `notice = \"auto\"`";
                let says = format!("`notice = \"desktop\"` wants notify-send or osascript in /usr/bin or /bin; {hint}");
                return (Notice::None, Some(says));
            }
        },
        // A multiplexer swallows what is meant for the terminal, or shows it as text.
        Wanted::Auto if is("TERM", &["screen", "tmux"]) => own_desktop(),
        Wanted::Auto if is("TERM_PROGRAM", &["iTerm", "WezTerm", "ghostty"]) => Notice::Osc9,
        Wanted::Auto if is("TERM", &["xterm-kitty"]) => Notice::Osc9,
        Wanted::Auto if is("TERM", &["foot", "rxvt"]) => Notice::Osc777,
        Wanted::Auto => own_desktop(),
    };
    (asked, None)
}

/// The desktop's program, where the operator sits at this very desktop.
fn own_desktop() -> Notice {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let here = cfg!(target_os = "macos") || set("DISPLAY") || set("WAYLAND_DISPLAY");
    let program = if here && !set("SSH_CONNECTION") { Program::find() } else { None };
    program.map_or(Notice::None, Notice::Desktop)
}
