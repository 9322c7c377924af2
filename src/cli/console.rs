//! `mcp-approve` alone, and `--inline`: the console on this terminal, over every wrapper in the run folder.

use std::fs::OpenOptions;
use std::io;
use std::process::ExitCode;

use rustix::process::getpgrp;
use rustix::stdio::{dup2_stdin, dup2_stdout};
use rustix::termios::tcgetpgrp;

use super::places::Places;
use super::rules::append::append;
use super::user;
use crate::console::model::Settings;
use crate::console::run::{self, Outside};
use crate::console::theme::Palette;
use crate::error::Error;
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
    secrecy::keep_memory_private();
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
    let policy = places.policy_file();
    let outside = Outside {
        now: clock::wall_ms,
        editor: editor(),
        drafts: places.state_dir().to_path_buf(),
        write_rule: Box::new(move |rule| append(&policy, rule).map(|()| policy.display().to_string())),
    };
    let settings = Settings {
        palette: palette(),
        offset: jiff::Zoned::now().offset().seconds(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        home: user::current().ok().and_then(|user| user.home.into_os_string().into_string().ok()),
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
    run::run(settings, &outside, connect).map_err(|error| Error::Failed {
        what: "the console could not run".to_owned(),
        cause: error.into(),
        hint: "`mcp-approve doctor` looks at the terminal and the run folder".to_owned(),
    })
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
fn editor() -> String {
    let named = |name| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

/// Colours, unless the operator wants none (<https://no-color.org>).
fn palette() -> Palette {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if unwanted { Palette::Monochrome } else { Palette::Colours }
}
