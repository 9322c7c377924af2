//! `[notify]` in `config.toml`: a program that hears of calls that wait, wherever the operator is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;

use super::approver::runnable;
use super::value::{duration, parsed};
use crate::policy::reading::Reading;

const KEYS: &[&str] = &["command", "after", "arguments"];
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

pub(super) fn read<'t>(reading: &mut Reading<'t>, value: &Spanned<DeValue<'t>>, folder: &Path) -> Option<Notify> {
    let (mut command, mut after, mut values) = (Vec::new(), AFTER, Values::LeftOut);
    for (key, value) in reading.table(value, "notify")? {
        match key.get_ref().as_ref() {
            "command" => command = reading.texts(value, "command").into_iter().map(|(_, word)| word).collect(),
            "after" => after = parsed(reading, value, "after", duration).unwrap_or(AFTER),
            "arguments" if reading.switch(value, "arguments") == Some(true) => values = Values::Redacted,
            "arguments" => {}
            other => reading.unknown_key(key.span(), other, KEYS),
        }
    }
    if command.is_empty() {
        let hint = "add `command = [\"/path/to/program\", \"argument\"]`";
        reading.problem(value.span(), "[notify] without a command", hint);
    }
    let command = runnable(reading, value.span(), ("notice", &command), folder);
    Some(Notify { command, folder: folder.to_path_buf(), after, values })
}
