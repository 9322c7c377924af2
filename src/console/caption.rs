//! What cards and sheets are made of: section headings on a line, and entries with a label.

use crate::text::row::{Row, Tone, border, foreign, quiet, warn};

/// The columns of a label.
pub const LABEL: usize = 11;

/// The rows of a sheet or of a part of a card, from the top.
#[derive(Debug)]
pub struct Entries {
    pub rows: Vec<Row>,
    pub width: usize,
}

impl Entries {
    /// No row yet, at this width.
    pub fn new(width: usize) -> Self {
        Self { rows: Vec::new(), width }
    }

    /// A section's rule: `── name · note ─────`.
    pub fn caption(&mut self, name: &str, note: &str) {
        self.rows.push(caption(name, note, self.width));
    }

    /// A label and what it names, wrapped beside the label where there is room.
    pub fn entry(&mut self, label: &str, row: Row) {
        let hang = if self.width >= 60 { LABEL + 2 } else { 3 };
        self.hung(quiet(format!(" {label:<LABEL$} ")).joined(row), hang);
    }

    /// An entry of our own words.
    pub fn says(&mut self, label: &str, tone: Tone, words: impl Into<String>) {
        self.entry(label, Row::of(tone, words));
    }

    /// An entry of our own words that need no tone.
    pub fn ours(&mut self, label: &str, words: impl Into<String>) {
        self.says(label, Tone::Ours, words);
    }

    /// An entry of foreign words; nothing where there are none.
    pub fn foreign(&mut self, label: &str, text: &str) {
        if !text.is_empty() {
            self.entry(label, foreign(Tone::Ours, text));
        }
    }

    /// A hazard by its name, and what it is about.
    pub fn hazard(&mut self, name: &str, what: &str) {
        let row = warn("▲ ").and_foreign(Tone::Warn, name).quiet(": ");
        self.entry("hazard", row.and_foreign(Tone::Ours, what));
    }

    /// A row, wrapped, each but the first indented.
    pub fn hung(&mut self, row: Row, hang: usize) {
        self.rows.extend(row.hung(self.width, hang));
    }

    /// What the operator can do here, after an empty row: each key, and what it does.
    pub fn keys(&mut self, keys: &[(&str, &str)]) {
        let mut row = Row::default();
        for (at, (key, does)) in keys.iter().enumerate() {
            row.push(Tone::Key, format!("{}{key}", if at == 0 { " " } else { "  " }));
            row.push(Tone::Quiet, format!(" {does}"));
        }
        self.rows.push(Row::default());
        self.hung(row, 1);
    }
}

/// A section's rule: `── name · note ─────`.
pub fn caption(name: &str, note: &str, width: usize) -> Row {
    let mut row = border("── ").ours(name);
    if !note.is_empty() {
        row.push(Tone::Quiet, format!(" · {note}"));
    }
    let mut row = row.clipped(width.saturating_sub(2));
    let rest = width.saturating_sub(row.width() + 1);
    row.push(Tone::Border, format!(" {}", "─".repeat(rest)));
    row
}
