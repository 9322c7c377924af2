//! What a call would do, made visible before its arguments: a file's diff, what a path hits, statements, commands, images.
//!
//! A preview only reads what the card carries, and says what it could not see. The arguments are below it in full.

mod files;
mod media;
mod statements;

use serde_json::Value;

use crate::gate::call::touched::{self, FileChange};
use crate::gate::data::snapshot::Snapshot;
use crate::text::row::{Row, border};

/// Arguments longer than this are not previewed, in bytes: they are read in full below.
const LONGEST: usize = 2 << 20;

/// A card's preview.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// Our line on what it does, if the facts say more than the arguments alone. Foreign text in it is raw.
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
    rows.extend(statements::rows(&snapshot.readings, width));
    rows.extend(texts(&arguments).into_iter().flat_map(|(name, text)| media::rows(name, text, width)));
    // The reader of a statement says better what it does.
    let reads = snapshot.readings.iter().all(|reading| reading.analysis.effect.reads());
    Preview { effect: effect(&changes).filter(|_| reads), rows }
}

fn effect(changes: &[FileChange<'_>]) -> Option<String> {
    match changes {
        [] => None,
        [one] => Some(one.line()),
        [first, rest @ ..] => Some(format!("{}; and {} more", first.line(), rest.len())),
    }
}

/// The strings among the arguments, two levels deep, with the name they are under.
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

/// A row of a preview: its border, then what it says, wrapped.
fn bordered(row: Row, width: usize) -> Vec<Row> {
    row.behind(&border(" │ "), width)
}
