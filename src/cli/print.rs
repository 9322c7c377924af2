//! How commands print: JSON rows, foreign text made visible. Owns no wording.
//!
//! Every text of a record, a definition or a file is foreign: it is made visible before it is printed, also inside JSON,
//! where it is escaped.

use std::io::{self, Write};
use std::path::Path;

use crate::audit::moment::Clock;
use crate::behavior::hazards::lookalike::is_hidden;
use crate::text::row::{Row, Tone};

use crate::text::plain::block;
pub(super) use crate::text::plain::visible;

/// The moment and the time zone of the user.
pub(super) fn local(now: i64) -> Clock {
    let at = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    Clock { now, offset: jiff::tz::TimeZone::system().to_offset(at).seconds() }
}

/// Text of a file over several lines, fit for a terminal.
pub(super) fn visible_lines(text: &str) -> String {
    text.lines().map(|line| block(line) + "\n").collect()
}

/// A path, fit for a terminal.
pub(super) fn shown(path: &Path) -> String {
    visible(&path.display().to_string())
}

/// The beginning of a text, so wide at most.
pub(super) fn clipped(text: &str, widest: usize) -> String {
    Row::of(Tone::Ours, text).clipped(widest).text()
}

/// One JSON array, a row a line.
pub(super) fn json_array(rows: impl IntoIterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<String> = rows.into_iter().map(|row| visible_json(&row)).collect();
    if rows.is_empty() { writeln!(out, "[]") } else { writeln!(out, "[\n{}\n]", rows.join(",\n")) }
}

/// JSON objects, one a line.
pub(super) fn json_lines(rows: impl IntoIterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    rows.into_iter().try_for_each(|row| writeln!(out, "{}", visible_json(&row)))
}

/// A JSON value over several lines, every character in it visible.
pub(super) fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}").lines().map(visible_json).collect::<Vec<_>>().join("\n")
}

/// JSON text with every hidden character escaped: the same value, fit for a terminal.
pub(super) fn visible_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_control() || is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(character);
        }
    }
    out
}
