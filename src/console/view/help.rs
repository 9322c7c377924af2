//! The help screen, made from the table of keys.

use ratatui::layout::Rect;

use super::{Paint, header};
use crate::console::card::counted;
use crate::console::keymap::{BINDINGS, Keys};
use crate::console::row::{Row, Tone};
use crate::console::screen::content_rows;

/// Draws the rows from `top` on.
pub(super) fn draw(paint: &mut Paint<'_>, keys: &Keys, area: Rect, top: usize) {
    let all = rows(keys, usize::from(area.width));
    let room = content_rows(area);
    let below = all.len().saturating_sub(top + room);
    let mut shown = vec![Row::of(Tone::Strong, " Keys")];
    shown.extend(all.into_iter().skip(top).take(room));
    shown.resize(room + 1, Row::default());
    if below > 0 {
        let lines = counted(below, "more line");
        shown.push(Row::of(Tone::Warn, format!(" … {lines} below")).and(Tone::Quiet, " · j PgDn"));
    }
    paint.rows(area, shown);
}

/// Every row of the help at a given width.
pub fn rows(keys: &Keys, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for binding in BINDINGS {
        let row = Row::of(Tone::Key, format!("  {:<6} ", keys.shown(binding))).and(Tone::Ours, binding.help);
        rows.extend(row.hung(width.saturating_sub(1), 9));
    }
    let marks = [
        ("○ PURE", Tone::Good, "only reads"),
        ("◇ PURE▲", Tone::Warn, "only reads, but has a hazard"),
        ("● ADDS", Tone::Warn, "makes something new, or changes a part: a approves it"),
        ("◈ REPLACES", Tone::Danger, "replaces or merges what is there: a, then y"),
        ("◆ DELETES", Tone::Danger, "deletes, runs, sends, pays, or does something unknown: a, then y"),
        ("▲", Tone::Warn, "after the word: a hazard, or evidence that disagrees"),
        ("×3", Tone::Warn, "three identical calls in one row"),
        ("␛ ⟨U+202E⟩", Tone::Escape, "a character that a terminal would hide or obey, made visible"),
    ];
    rows.push(Row::default());
    rows.push(Row::of(Tone::Strong, " Marks"));
    for (mark, tone, means) in marks {
        let row = Row::of(Tone::Ours, "  ").and(tone, format!("{mark:<12}")).and(Tone::Ours, means);
        rows.extend(row.hung(width.saturating_sub(1), 14));
    }
    rows.push(Row::default());
    rows.push(Row::of(Tone::Strong, " Assurance"));
    for level in ["L0", "L1", "L2", "L3"] {
        let row = Row::of(Tone::Ours, format!("  {level}  ")).and(Tone::Ours, header::promise(level));
        rows.extend(row.hung(width.saturating_sub(1), 6));
    }
    rows
}
