//! Draws the question at the bottom.

use ratatui::layout::Rect;

use super::Paint;
use crate::console::model::Model;
use crate::console::panel;
use crate::console::row::{Row, Tone};

/// Draws the open question, if any.
pub(super) fn draw(paint: &mut Paint<'_>, model: &Model, area: Rect) {
    let width = usize::from(area.width);
    let mut rows = panel::rows(model);
    if !rows.is_empty() {
        rows.insert(0, Row::of(Tone::Border, "━".repeat(width)));
    }
    let room = usize::from(area.height);
    if rows.len() > room && room > 0 {
        rows.truncate(room - 1);
        rows.push(Row::of(Tone::Danger, " … more: enlarge the window"));
    }
    paint.rows(area, rows);
}
