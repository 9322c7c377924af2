//! `mcp-approve doctor`: what is in order, what is not, and how to fix it. Looks only; changes nothing.

mod desk;
mod listed;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::audit::store::noted::{self, Noted};
use crate::audit::verified;
use crate::cli::args::DoctorOptions;
use crate::cli::error::{Error, Exit};
use crate::cli::look::{Here, JsonForm, Look, json_rows};
use crate::cli::{console, log};
use crate::console::{outside, settings};
use crate::gate::data::pin::PinState;
use crate::home::layers::{Keeps, Layers};
use crate::home::places::{Places, under, word as shell_word};
use crate::home::policy_file::{PolicyPlace, load};
use crate::home::{agreed, config, signers};
use crate::interpose::clock;
use crate::pins::{PinStore, PinsError};
use crate::text::columns::{Columns, cell};
use crate::text::plain::visible;
use crate::text::row::{Row, Tone};
use crate::wire::counted;

/// Socket paths have 104 bytes on macOS, and 108 on Linux; a name in the run folder takes up to 32 of them.
const LONGEST_RUN_DIR: usize = 104 - 32;

/// The longest log that is verified, in records; a longer one would keep the operator waiting.
const VERIFIED: u64 = 100_000;

struct Check {
    about: &'static str,
    state: State,
    what: String,
    hint: Option<String>,
    fix: Option<Fix>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fix {
    Install,
    Repair,
    Review,
    Accept,
}

impl Fix {
    const ALL: [Self; 4] = [Self::Install, Self::Repair, Self::Review, Self::Accept];

    fn command(self, options: &DoctorOptions, places: &Places) -> String {
        match self {
            Self::Install => options.hosts.command(places, "install --all"),
            Self::Repair => options.hosts.command(places, "install --repair"),
            Self::Review => places.command("tools review"),
            Self::Accept => places.command("rules accept"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    InOrder,
    /// Worth knowing; nothing is wrong.
    Note,
    /// Calls may pass unseen: `--strict` counts it as broken.
    Open,
    Broken,
}

pub(super) fn run(options: &DoctorOptions, places: &Places, out: &mut dyn Write) -> Exit {
    let mut checks = vec![note("version", env!("CARGO_PKG_VERSION")), assurance(places), configuration(places)];
    checks.extend(policies(places));
    checks.push(state(places));
    checks.extend(audit_logs(places));
    checks.push(pins(places));
    checks.extend(unproven(places));
    checks.push(run_folder(places));
    checks.extend(desk::check(places));
    checks.extend(desk::frozen(places, clock::wall_ms()));
    checks.extend(listed::checks(&options.hosts, places));
    checks.push(terminal(places));
    for check in &mut checks {
        if options.strict && check.state == State::Open {
            check.state = State::Broken;
        }
        let fix = check.fix.map(|fix| format!("run `{}`", fix.command(options, places)));
        check.hint = check.hint.take().map(|hint| under(places.root(), &hint)).or(fix);
    }
    let count = |fix: Fix| checks.iter().filter(|check| check.fix == Some(fix)).count();
    if let Some(most) = Fix::ALL.into_iter().rev().max_by_key(|fix| count(*fix)).filter(|fix| count(*fix) > 0) {
        let next = format!("`{}` fixes {} of these", most.command(options, places), count(most));
        checks.push(note("next", next));
    }
    if options.json {
        json_rows(checks.iter().map(|check| row(check, options, places)), JsonForm::Array, out)?;
    } else {
        let look = Look::here(Here { places, now: 0 });
        for (at, check) in checks.iter().enumerate() {
            // What fixes several is said once, at the last of them.
            let again = checks.iter().skip(at + 1).any(|later| later.hint == check.hint);
            tell(check, if again { None } else { check.hint.as_deref() }, look, out)?;
        }
    }
    let broken = checks.iter().any(|check| check.state == State::Broken);
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn assurance(places: &Places) -> Check {
    match signers::load(places) {
        Ok(_) => {
            let level = signers::level(places);
            note("assurance", format!("{level}: {}", level.grade.sentence()))
        }
        Err(error) => broken("assurance", error.to_string(), Some(error.hint())),
    }
}

/// A check beside its labels; a file with several errors has a line for each.
fn tell(check: &Check, hint: Option<&str>, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let tone = match check.state {
        State::InOrder => Tone::Good,
        State::Note | State::Open => Tone::Warn,
        State::Broken => Tone::Danger,
    };
    let columns = Columns::default().left(0, 6, "").left(2, 13, "").rest(2);
    let hint = hint.map(|hint| format!("Fix it: {hint}"));
    let lines = check.what.lines().chain(hint.as_deref());
    for (at, line) in lines.enumerate() {
        let (state, about) = if at == 0 { (word(check.state), check.about) } else { ("", "") };
        // Set apart, so that our own indent is not marked like a hidden space in foreign text.
        let text = line.trim_start_matches(' ');
        let indent = Row::of(Tone::Ours, " ".repeat(line.len() - text.len()));
        let text = indent.joined(cell(Tone::Ours, text));
        let row = columns.row([Row::of(tone, state), Row::of(Tone::Ours, about), text]);
        look.print(&row, out)?;
    }
    Ok(())
}

fn row(check: &Check, options: &DoctorOptions, places: &Places) -> Value {
    let fix = check.fix.map(|fix| fix.command(options, places));
    json!({ "about": check.about, "state": word(check.state), "what": check.what, "mend": check.hint, "fix": fix })
}

fn word(state: State) -> &'static str {
    match state {
        State::InOrder => "ok",
        State::Note | State::Open => "note",
        State::Broken => "broken",
    }
}

fn good(about: &'static str, what: impl Into<String>) -> Check {
    Check { about, state: State::InOrder, what: what.into(), hint: None, fix: None }
}

fn note(about: &'static str, what: impl Into<String>) -> Check {
    Check { state: State::Note, ..good(about, what) }
}

fn open(about: &'static str, what: impl Into<String>, hint: &str) -> Check {
    Check { state: State::Open, hint: Some(hint.to_owned()), ..good(about, what) }
}

fn broken(about: &'static str, what: impl Into<String>, hint: Option<String>) -> Check {
    Check { state: State::Broken, hint, ..good(about, what) }
}

fn configuration(places: &Places) -> Check {
    let file = places.config_file();
    match settings::check(places) {
        Err(error) => broken("configuration", error.to_string(), Some(error.hint())),
        Ok(()) if file.exists() => good("configuration", file.display().to_string()),
        Ok(()) => good("configuration", format!("no {}: every option has its default", file.display())),
    }
}

fn policies(places: &Places) -> Vec<Check> {
    let folder = std::env::current_dir().ok();
    let usual = PolicyPlace::own(places);
    let mut layers = Layers::of(places, folder.as_deref(), &usual);
    let mut checks: Vec<Check> = layers
        .present()
        .map(|file| match load(&file.place) {
            Err(error) => {
                let what = format!("{error}: mcp-approve asks about every call that is not denied");
                broken("policy", what, Some(error.hint()))
            }
            Ok(policy) => {
                let (path, rules) = (file.place.path().display(), policy.all_rules().count());
                good("policy", format!("{path} ({}, rules: {rules})", file.layer.word()))
            }
        })
        .collect();
    if checks.is_empty() {
        checks.push(good("policy", format!("no {}: the built-in default applies", usual.path().display())));
    }
    let waits = layers.load(Keeps::Nothing).pending;
    checks.extend(waits.into_iter().map(|one| Check {
        fix: Some(Fix::Accept),
        ..note("policy", format!("{} has changed; inactive until accepted: {}", one.file, one.loosens.join(", ")))
    }));
    checks
}

fn pins(places: &Places) -> Check {
    let path = places.pins_db();
    let read = || -> Result<Option<(usize, usize)>, PinsError> {
        let Some(store) = PinStore::open_existing(&path)? else { return Ok(None) };
        let servers = store.servers()?;
        let tools = store.tools()?;
        let changed = servers.iter().filter(|server| server.change().is_some()).count();
        let waits = tools.iter().filter(|known| !matches!(known.pin_state, PinState::Trusted | PinState::Refused));
        Ok(Some((tools.len(), changed + waits.count())))
    };
    match read() {
        Err(error) => broken("pins", format!("{error}: mcp-approve asks about every call"), Some(error.hint())),
        Ok(None) => good("pins", format!("none yet at {}", path.display())),
        Ok(Some((tools, 0))) => good("pins", format!("{} (tools: {tools})", path.display())),
        Ok(Some((_, waits))) => {
            let what = "servers and tools that changed or were never reviewed";
            let what = format!("{what}: {waits}; mcp-approve asks about their calls");
            Check { fix: Some(Fix::Review), ..note("pins", what) }
        }
    }
}

/// What is kept as agreed to, though the log has no record of it.
fn unproven(places: &Places) -> Option<Check> {
    const NAMED: usize = 5;
    // What cannot be opened is told by the check of the pins.
    let store = PinStore::open_existing(&places.pins_db()).ok()??;
    // Which day it is makes no difference to whether there is a record.
    let found = match agreed::unproven(&store, places, 0) {
        Ok(found) if found.is_empty() => return None,
        Ok(found) => found,
        Err(error) => return Some(broken("agreed", error.to_string(), Some(error.hint()))),
    };
    let named = found.iter().take(NAMED).map(|one| {
        let agreement = &one.kept.agreement;
        let of: Vec<&str> = [&*one.server, &*agreement.tool].into_iter().filter(|text| !text.is_empty()).collect();
        format!("{}: {}", of.join(" / "), agreement.says())
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = if found.len() > NAMED { ", …" } else { "" };
    let what = format!("an agreement without its record in the log does not count ({}): {named}{more}", found.len());
    let hint = "another program wrote it into pins.db, or an older pins.db was restored: find out why; \
                then remove it with `mcp-approve tools forget --server NAME`";
    Some(broken("agreed", what, Some(hint.to_owned())))
}

fn state(places: &Places) -> Check {
    let dir = places.state_dir();
    match places.check_state() {
        Err(error) => broken("state", error.to_string(), Some(error.hint())),
        Ok(()) if !may_write(dir) => {
            let hint = "give it to your user (chown), or name another folder with --home DIR";
            broken("state", format!("you may not write to {}", dir.display()), Some(hint.to_owned()))
        }
        Ok(()) if dir.exists() => good("state", dir.display().to_string()),
        Ok(()) => good("state", format!("{}, made by the first wrapped server", dir.display())),
    }
}

/// The log that wrappers write; and another, where one is at the usual place, since nobody looks at it then.
fn audit_logs(places: &Places) -> Vec<Check> {
    let usual = places.audit_db();
    // A configuration that cannot be read is told by its own check.
    let path = config::audit_db(places).unwrap_or_else(|_| usual.clone());
    let mut checks = vec![audit_log(places, &path)];
    if path != usual && usual.exists() {
        let what =
            format!("the configuration names {}; {} is a log too, and is not written", path.display(), usual.display());
        checks.push(note("audit log", what));
        checks.push(audit_log(places, &usual));
    }
    checks
}

fn audit_log(places: &Places, path: &Path) -> Check {
    if let Err(error) = File::options().read(true).write(true).open(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        let hint = "give it to your user (chown): without its log mcp-approve forwards no call";
        return broken("audit log", format!("{}: {error}", path.display()), Some(hint.to_owned()));
    }
    // Before the log is opened, which may grow meanwhile.
    let noted = noted::read(path);
    let checked = || -> Result<Check, Error> {
        let Some(reader) = log::named::open(path)? else {
            return Ok(good("audit log", format!("none yet at {}", path.display())));
        };
        let newest = reader.newest()?;
        let log = format!("{} ({})", path.display(), counted(newest, "record"));
        let verify = if path == places.audit_db() {
            "log verify".to_owned()
        } else {
            format!("log verify --audit-db {}", shell_word(&path.to_string_lossy()))
        };
        let verify = places.command(&verify);
        if newest > VERIFIED {
            return Ok(note("audit log", format!("{log}; not verified, because it is long: run `{verify}`")));
        }
        let verified = verified::verify(&reader, None, &mut |_| {})?;
        Ok(match verified.wrong(&noted, &reader)? {
            Some(why) => {
                broken("audit log", format!("{log}: {}", visible(&why)), Some(format!("`{verify}` says more")))
            }
            None if newest > 0 && noted == Noted::Nothing => {
                let what = "no head is noted beside it, so nothing shows whether records were cut off at its end";
                note("audit log", format!("{log}, the chain holds; {what}"))
            }
            None => good("audit log", format!("{log}, the chain holds")),
        })
    };
    checked().unwrap_or_else(|error| broken("audit log", error.to_string(), error.hint()))
}

fn run_folder(places: &Places) -> Check {
    let dir = places.run_dir();
    let length = dir.as_os_str().len();
    if length > LONGEST_RUN_DIR {
        let what = format!("{} is {length} bytes long; sockets in it have no room", dir.display());
        let hint = format!("use a --home whose state/run has at most {LONGEST_RUN_DIR} bytes");
        return broken("run folder", what, Some(hint));
    }
    good("run folder", dir.display().to_string())
}

fn terminal(places: &Places) -> Check {
    match outside::multiplexer() {
        _ if !console::is_here() => {
            note("terminal", format!("this is not a terminal: open the console in one, with `{}`", places.console()))
        }
        Some(multiplexer) => note("terminal", format!("{multiplexer}: {}", outside::OPEN_TO_OTHERS)),
        None => good("terminal", "the console can be opened here"),
    }
}

fn may_write(dir: &Path) -> bool {
    let there = dir.ancestors().find(|ancestor| ancestor.exists());
    there.is_some_and(|there| rustix::fs::access(there, rustix::fs::Access::WRITE_OK).is_ok())
}
