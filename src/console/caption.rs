//! What cards and sheets are put together from: a section's rule, and a label beside what it names.

use super::row::{Row, Tone};

/// The columns of a label.
pub const LABEL: usize = 11;

/// A section's rule: `── name · note ─────`.
pub fn caption(name: &str, note: &str, width: usize) -> Row {
    let mut row = Row::of(Tone::Border, "── ").and(Tone::Ours, name);
    if !note.is_empty() {
        row.push(Tone::Quiet, format!(" · {note}"));
    }
    let mut row = row.clipped(width.saturating_sub(2));
    let rest = width.saturating_sub(row.width() + 1);
    row.push(Tone::Border, format!(" {}", "─".repeat(rest)));
    row
}

/// A label and what it names, wrapped beside the label where there is room.
pub fn entry(label: &str, row: Row, width: usize) -> Vec<Row> {
    let hang = if width >= 60 { LABEL + 2 } else { 3 };
    Row::of(Tone::Quiet, format!(" {label:<LABEL$} ")).joined(row).hung(width, hang)
}
