//! What must be read of a call in few rows, for a list of calls. One that needs more has no brief form: its card shows it.

use super::json::{Extents, Writing, is_beyond_doubles, label, members, quoted, skip_space};
use super::preview::{self, Form};
use super::sections::{is_without_arguments, new_here, warnings};
use crate::behavior::taxonomy::Mutability;
use crate::console::rows::Entries;
use crate::gate::data::snapshot::Snapshot;
use crate::text::row::{Row, Tone, foreign, quiet, warn};

#[derive(Clone, Debug)]
pub struct Brief {
    pub effect: Row,
    pub rows: Vec<Row>,
}

/// Longer arguments are read on the card, in bytes.
const LONGEST: usize = 4096;

pub fn brief(call: &Snapshot, width: usize) -> Option<Brief> {
    let carries_more = call.original_arguments.is_some() || call.responses.is_some() || call.unknown_parts.is_some();
    let doubtful = call.arguments.split(|c: char| !c.is_ascii_digit()).any(is_beyond_doubles);
    let is_object = call.arguments.trim_start().starts_with('{') && Writing::of(&call.arguments) == Writing::Json;
    if carries_more || call.arguments.len() > LONGEST || doubtful || !(is_object || is_without_arguments(call)) {
        return None;
    }
    let preview = preview::of(call, Form::Brief, width);
    let mut rows = Entries::new(width);
    warnings(call, &mut rows);
    if call.identity.mutability == Mutability::Pure {
        new_here(call, &mut rows);
    }
    if !call.undeclared.is_empty() {
        rows.entry("undeclared", warn("▲ ").and_foreign(Tone::Warn, &call.undeclared.join(", ")));
    }
    rows.rows.extend(preview.rows);
    rows.hung(arguments(call), 3);
    let effect = foreign(Tone::Ours, preview.effect.as_deref().unwrap_or(&call.effect));
    Some(Brief { effect, rows: rows.rows })
}

fn arguments(call: &Snapshot) -> Row {
    let text = call.arguments.as_str();
    if is_without_arguments(call) {
        return quiet(" no arguments");
    }
    let mut row = quiet(" ");
    for (at, (key, value)) in members(text, &Extents::default(), skip_space(text, 0)).enumerate() {
        let text = if value.starts_with('"') { quoted(value, LONGEST) } else { None };
        let value = text.unwrap_or_else(|| foreign(Tone::Foreign, value));
        row = row.quiet(if at == 0 { "" } else { "  " }).joined(label(key)).quiet(" ").joined(value);
    }
    row
}
