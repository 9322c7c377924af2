//! What a call would do, made visible before its arguments: a file's diff, what a path hits, statements, commands, images.
//!
//! A preview only reads what the card carries, and says what it could not see. The arguments stand below it in full.

mod files;
mod media;
mod shell;
mod sql;

use serde_json::Value;

use super::{counted, grouped};
use crate::behavior::taxonomy::Mutability;
use crate::console::caption::caption;
use crate::console::row::{Row, Tone};
use crate::gate::call::touched::{self, Change};
use crate::gate::data::snapshot::Snapshot;

/// Arguments longer than this are not previewed, in bytes: they are read where they stand.
const LONGEST: usize = 2 << 20;

/// A card's preview.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// Our line on what it does, where the facts tell more than the arguments alone. Foreign text in it is raw.
    pub effect: Option<String>,
    pub rows: Vec<Row>,
}

/// Looks at a snapshot.
pub fn of(snapshot: &Snapshot, width: usize) -> Preview {
    if snapshot.arguments.len() > LONGEST {
        return Preview::default();
    }
    let Ok(arguments) = serde_json::from_str::<Value>(&snapshot.arguments) else {
        return Preview::default();
    };
    let changes = touched::of(snapshot.identity.action, &arguments, &snapshot.facts);
    let mut rows = files::rows(&changes, &snapshot.facts, width);
    let mut effect = effect(&changes);
    for (name, text) in texts(&arguments) {
        if is_sql(name)
            && let Some((line, tone, made)) = sql::rows(text, width)
        {
            rows.push(caption("statements", &argument(name), width));
            rows.extend(made);
            // What looks like a read here and is none by all evidence is not called one.
            let agrees = tone != Tone::Ours || snapshot.identity.mutability == Mutability::Pure;
            effect = effect.or_else(|| agrees.then_some(line));
        } else if is_shell(name) {
            let commands = shell::commands(text);
            if !commands.is_empty() {
                rows.push(caption("commands", &argument(name), width));
                rows.extend(some(commands, "command", width));
            }
        }
        rows.extend(media::rows(name, text, width));
    }
    Preview { effect, rows }
}

fn effect(changes: &[Change<'_>]) -> Option<String> {
    match changes {
        [] => None,
        [one] => Some(one.line()),
        [first, rest @ ..] => Some(format!("{}; and {} more", first.line(), rest.len())),
    }
}

/// The strings among the arguments, two levels deep, with the name they stand under; a list of words is one command.
fn texts(arguments: &Value) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let Some(fields) = arguments.as_object() else { return found };
    for (name, value) in fields {
        match value {
            Value::String(text) => found.push((name.as_str(), text.as_str())),
            Value::Array(list) => found.extend(list.iter().filter_map(|one| Some((name.as_str(), one.as_str()?)))),
            Value::Object(inner) => {
                found.extend(inner.iter().filter_map(|(name, one)| Some((name.as_str(), one.as_str()?))));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

/// `in query`. Only known names get here.
fn argument(name: &str) -> String {
    format!("in {name}")
}

fn is_sql(name: &str) -> bool {
    matches!(name, "sql" | "query" | "queries" | "statement" | "statements")
}

fn is_shell(name: &str) -> bool {
    matches!(name, "command" | "cmd" | "commands" | "script" | "shell" | "bash")
}

/// The first of many pieces, and how many more the arguments below have: none is left out unsaid.
fn some(pieces: Vec<Row>, what: &str, width: usize) -> Vec<Row> {
    const MOST: usize = 40;
    let is_risky = |row: &&Row| row.runs.iter().any(|run| run.tone == Tone::Danger);
    let left = pieces.get(MOST..).unwrap_or_default();
    let (more, risky) = (left.len(), left.iter().filter(is_risky).count());
    let mut rows: Vec<Row> = pieces.into_iter().take(MOST).flat_map(|row| bordered(row, width)).collect();
    if more > 0 {
        let words = format!("… {} in the arguments below", counted(more, &format!("more {what}")));
        let words =
            if risky > 0 { format!("{words}, {} of them with a word marked here", grouped(risky)) } else { words };
        rows.extend(bordered(Row::of(Tone::Warn, words), width));
    }
    rows
}

/// A row of a preview: its border, then what it says, wrapped.
fn bordered(row: Row, width: usize) -> Vec<Row> {
    let bar = Row::of(Tone::Border, " │ ");
    row.wrapped(width.saturating_sub(3).max(1)).into_iter().map(|row| bar.clone().joined(row)).collect()
}
