//! Rows of the database of pins as values. Asks the database nothing.

use rusqlite::Row;
use similar::ChangeTag;

use crate::gate::data::pin::{AddedIn, Pin};

/// One argument of a command line that changed. Foreign text, raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    Same(String),
    Gone(String),
    Added(String),
}

/// A command line compared with the one that was trusted before, argument by argument; all the same if there was none.
pub fn arguments(old: &[String], new: &[String]) -> Vec<Argument> {
    let old = if old.is_empty() { new } else { old };
    let compared = similar::capture_diff_slices(similar::Algorithm::Myers, old, new);
    let changes = compared.iter().flat_map(|part| part.iter_changes(old, new));
    changes
        .map(|change| match change.tag() {
            ChangeTag::Equal => Argument::Same(change.value()),
            ChangeTag::Delete => Argument::Gone(change.value()),
            ChangeTag::Insert => Argument::Added(change.value()),
        })
        .collect()
}

/// The columns of a pin, as [`pin`] reads them.
pub(super) const PIN: &str =
    "tool.trusted, tool.refused, tool.latest, tool.version, tool.identity, tool.said, tool.first_seen, tool.added";

/// Reads a pin whose columns begin at `at`. What does not parse counts as absent, which trusts nothing.
pub(super) fn pin(row: &Row<'_>, at: usize) -> rusqlite::Result<Pin> {
    let text = |n: usize| row.get::<_, Option<String>>(at + n);
    let digest = |n: usize| Ok::<_, rusqlite::Error>(text(n)?.and_then(|text| text.parse().ok()));
    let identity = |n: usize| Ok::<_, rusqlite::Error>(text(n)?.and_then(|text| text.parse().ok()));
    Ok(Pin {
        trusted: digest(0)?,
        refused: digest(1)?,
        latest: digest(2)?.unwrap_or_else(|| crate::wire::digest::Digest::of(b"")),
        version: row.get::<_, i64>(at + 3)?.max(1).unsigned_abs(),
        identity: identity(4)?,
        said: identity(5)?,
        first_seen: row.get(at + 6)?,
        sense: None,
        added_in: if row.get::<_, bool>(at + 7)? { AddedIn::LaterSession } else { AddedIn::FirstSession },
    })
}

/// The command line that was trusted last under a name.
pub(super) const FORMER: &str = "(SELECT words FROM server AS former WHERE former.name = server.name
    AND former.trusted IS NOT NULL ORDER BY former.last_seen DESC LIMIT 1)";

/// Reads the words of a command line; none if an older version noted the server.
pub(super) fn words(row: &Row<'_>, at: usize) -> rusqlite::Result<Vec<String>> {
    let text: Option<String> = row.get(at)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// How the command line and files that run differ from the trusted ones.
pub(super) fn changed(program: &str, trusted: Option<&str>, arguments: &[Argument]) -> Option<String> {
    const SHOWN: usize = 6;
    let Some(trusted) = trusted else {
        let differing = arguments.iter().filter_map(|argument| match argument {
            Argument::Same(_) => None,
            Argument::Gone(text) => Some(format!("- {text}")),
            Argument::Added(text) => Some(format!("+ {text}")),
        });
        let mut differing: Vec<String> = differing.collect();
        if differing.len() > SHOWN {
            differing.truncate(SHOWN);
            differing.push("…".to_owned());
        }
        let differing = if differing.is_empty() { String::new() } else { format!(" ({})", differing.join(", ")) };
        return Some(format!(
            "this server was started by another command before{differing}; accept it once in Tools (4)"
        ));
    };
    if program == trusted {
        return None;
    }
    let name = |line: &'_ str| line.split(" blake3:").next().unwrap_or(line).to_owned();
    let not_in = |text: &str, other: &str| {
        let lines = text.lines().filter(|line| !other.lines().any(|known| known == *line));
        lines.map(name).collect::<Vec<String>>()
    };
    let mut differing = not_in(program, trusted);
    let gone = not_in(trusted, program).into_iter().filter(|name| !differing.contains(name));
    let gone: Vec<String> = gone.map(|name| format!("{name} is gone")).collect();
    differing.extend(gone);
    Some(format!("the server's program changed since it was trusted ({}); see Tools (4)", differing.join(", ")))
}
