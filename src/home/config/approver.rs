//! `[[approver]]` in `config.toml`, a command asked about each call first, and `[notify]`, one that hears of calls that wait.

use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::gate::data::facts::{Approver, May};
use crate::home::config::value::{check_name, duration, parsed};
use crate::policy::reading::{Reading, globs};
use crate::policy::{Glob, rule::ToolGlob};

const KEYS: &[&str] = &["name", "command", "timeout", "may_allow", "server", "tool"];
/// Where approvers and what they start are found: the host chooses its own PATH, and an agent can put programs in it.
pub const PATH: &str = "/usr/local/bin:/opt/homebrew/bin:/run/current-system/sw/bin:/usr/bin:/bin:/usr/sbin:/sbin";
/// How long an approver may take, unless its table says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    pub name: String,
    /// Program, as a whole path, and arguments; not empty. No shell reads it.
    pub command: Vec<OsString>,
    /// The folder it runs in, which is the operator's: in the host's, an agent may have put files of the same names.
    pub folder: PathBuf,
    pub timeout: Duration,
}

pub(super) fn read_all<'t>(
    reading: &mut Reading<'t>,
    value: &Spanned<DeValue<'t>>,
    folder: &Path,
) -> Vec<(Approver, Callback)> {
    let Some(list) = value.get_ref().as_array() else {
        reading.wrong_type(value, "approver", "`[[approver]]`, with two brackets on each side");
        return Vec::new();
    };
    let mut found: Vec<(Approver, Callback)> = Vec::new();
    for item in list {
        let Some(table) = reading.table(item, "approver") else {
            continue;
        };
        let Some(one) = read(reading, item, table, folder) else {
            continue;
        };
        if found.iter().any(|(known, _)| known.name == one.0.name) {
            let what = format!("two approvers are called {:?}", one.0.name);
            reading.problem(item.span(), what, "give each its own name: the log names them by it");
        }
        found.push(one);
    }
    found
}

fn read<'t>(
    reading: &mut Reading<'t>,
    item: &Spanned<DeValue<'t>>,
    table: &DeTable<'t>,
    folder: &Path,
) -> Option<(Approver, Callback)> {
    let (mut called, mut command, mut timeout, mut may) = (None, Vec::new(), TIMEOUT, May::Tighten);
    let (mut server, mut tool) = (Vec::new(), Vec::new());
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "name" => called = reading.text(value, "name").map(|text| (value.span(), text)),
            "command" => command = reading.texts(value, "command").into_iter().map(|(_, word)| word).collect(),
            "timeout" => {
                timeout = parsed(reading, value, "timeout", duration).unwrap_or(TIMEOUT);
            }
            "may_allow" => {
                if reading.switch(value, "may_allow") == Some(true) {
                    may = May::Allow;
                }
            }
            "server" => server = globs(reading, value, "server", Glob::new),
            "tool" => tool = globs(reading, value, "tool", ToolGlob::new),
            other => reading.unknown_key(key.span(), other, KEYS),
        }
    }
    if command.is_empty() {
        let hint = "add `command = [\"/path/to/program\", \"argument\"]`";
        reading.problem(item.span(), "an approver without a command", hint);
    }
    match &called {
        None => {
            let hint = "add `name = \"a-short-name\"`: the log names it so";
            reading.problem(item.span(), "an approver without a name", hint);
        }
        Some((at, text)) => check_name(reading, at.clone(), text, || format!("`name` cannot be {text:?}")),
    }
    let (_, called) = called?;
    let command = runnable(reading, item.span(), ("approver", &command), folder);
    let approver = Approver { name: called.clone(), server, tool, may };
    Some((approver, Callback { name: called, command, folder: folder.to_path_buf(), timeout }))
}

/// A command with its program's path; a program that is nowhere is a problem of `whose` table.
fn runnable(
    reading: &mut Reading<'_>,
    at: Range<usize>,
    (whose, command): (&str, &[String]),
    folder: &Path,
) -> Vec<OsString> {
    let program = command.first().and_then(|word| program(word, folder, PATH));
    if let (None, Some(word)) = (&program, command.first()) {
        let what = format!("the {whose}'s program {word:?} is in none of {PATH}");
        reading.problem(at, what, "write its whole path, or one that starts at this file's folder, like ./check");
    }
    program.map(PathBuf::into_os_string).into_iter().chain(command.iter().skip(1).map(OsString::from)).collect()
}

/// The path of a program: one with a slash is relative to the folder of this file, since the host chooses its own
/// folder; one without must be in one of the folders of `path`.
pub fn program(word: &str, folder: &Path, path: &str) -> Option<PathBuf> {
    if word.contains('/') {
        return Some(folder.join(word));
    }
    let runs =
        |path: &PathBuf| path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    path.split(':').map(|folder| Path::new(folder).join(word)).find(runs)
}

const NOTIFY_KEYS: &[&str] = &["command", "after", "arguments"];
/// How long a call waits before somebody is told, unless the table says otherwise.
const AFTER: Duration = Duration::from_secs(20);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notify {
    /// Program, as a whole path, and arguments; not empty. No shell reads it.
    pub command: Vec<OsString>,
    /// The folder it runs in, which is the operator's.
    pub folder: PathBuf,
    pub after: Duration,
    pub values: Values,
}

/// Whether a notice has what the arguments say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    LeftOut,
    /// With every secret that is recognized replaced.
    Redacted,
}

pub(super) fn read_notify<'t>(
    reading: &mut Reading<'t>,
    value: &Spanned<DeValue<'t>>,
    folder: &Path,
) -> Option<Notify> {
    let (mut command, mut after, mut values) = (Vec::new(), AFTER, Values::LeftOut);
    for (key, value) in reading.table(value, "notify")? {
        match key.get_ref().as_ref() {
            "command" => command = reading.texts(value, "command").into_iter().map(|(_, word)| word).collect(),
            "after" => after = parsed(reading, value, "after", duration).unwrap_or(AFTER),
            "arguments" if reading.switch(value, "arguments") == Some(true) => values = Values::Redacted,
            "arguments" => {}
            other => reading.unknown_key(key.span(), other, NOTIFY_KEYS),
        }
    }
    if command.is_empty() {
        let hint = "add `command = [\"/path/to/program\", \"argument\"]`";
        reading.problem(value.span(), "[notify] without a command", hint);
    }
    let command = runnable(reading, value.span(), ("notice", &command), folder);
    Some(Notify { command, folder: folder.to_path_buf(), after, values })
}
