//! `[[approver]]` in `config.toml`: a command that hears of each call before it is decided.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::cli::{duration, name};
use crate::gate::approvers::{Approver, May};
use crate::interpose::approver::Callback;
use crate::policy::glob::Glob;
use crate::policy::parse::rule::globs;
use crate::policy::reading::Reading;
use crate::policy::rule::ToolGlob;

const KEYS: &[&str] = &["name", "command", "timeout", "may_allow", "server", "tool"];
/// How long an approver may take, unless told otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Reads all of them.
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
                if let Some(text) = reading.text(value, "timeout") {
                    match duration::parse(&text) {
                        Ok(time) => timeout = time,
                        Err(error) => {
                            reading.problem(value.span(), format!("`timeout` cannot be {text:?}"), error.to_string());
                        }
                    }
                }
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
        let mend = "add `command = [\"/path/to/program\", \"argument\"]`";
        reading.problem(item.span(), "an approver without a command", mend);
    }
    match &called {
        None => {
            let mend = "add `name = \"a-short-name\"`: the log names it so";
            reading.problem(item.span(), "an approver without a name", mend);
        }
        Some((at, text)) if !name::is_name(text) => {
            let what = format!("`name` cannot be {text:?}");
            reading.problem(at.clone(), what, "use 1 to 64 of the characters a-z A-Z 0-9 . _ -");
        }
        Some(_) => {}
    }
    let (_, called) = called?;
    // A program with a slash starts at this file; the host's folder is nobody's choice.
    let program =
        command.first().map(|word| if word.contains('/') { folder.join(word).into() } else { OsString::from(word) });
    let command = program.into_iter().chain(command.iter().skip(1).map(OsString::from)).collect();
    let approver = Approver { name: called.clone(), server, tool, may };
    Some((approver, Callback { name: called, command, folder: folder.to_path_buf(), timeout }))
}
