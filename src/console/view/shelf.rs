//! Draws the screens beside Waiting: a title, a second line, the list or the open sheet, and what is below.

use ratatui::layout::Rect;

use super::{Paint, ends};
use crate::console::card::counted;
use crate::console::model::Model;
use crate::console::pages;
use crate::console::row::{Row, Tone};
use crate::console::screen::content_rows;

pub(super) fn draw(paint: &mut Paint<'_>, model: &Model, area: Rect) {
    let Some(shelf) = model.browse.shelf(model.screen) else { return };
    let width = usize::from(area.width);
    let room = content_rows(area);
    let (left, right) = pages::title(model);
    // A search is what one must know to read the list.
    let left = left.clipped(width.saturating_sub(right.width() + 1).max(8));
    let mut rows = vec![ends(left, right, width)];
    if let Some(top) = shelf.sheet {
        let sheet = pages::sheet(model, width);
        let below = sheet.len().saturating_sub(top + room);
        rows.extend(sheet.into_iter().skip(top).take(room));
        rows.resize(room + 1, Row::default());
        if below > 0 {
            let row = Row::of(Tone::Warn, format!(" … {} below", counted(below, "more line")));
            rows.push(row.and(Tone::Quiet, " · j PgDn"));
        }
        return paint.rows(area, rows);
    }
    let count = pages::count(model);
    let room = room.saturating_sub(1);
    rows.push(pages::heading(model, width));
    if count == 0 {
        rows.push(Row::default());
        let words = pages::empty(model).into_iter();
        rows.extend(words.flat_map(|row| Row::of(Tone::Ours, "  ").joined(row).hung(width.saturating_sub(1), 2)));
        rows.truncate(room + 2);
    }
    let shown = shelf.top..(shelf.top + room).min(count);
    rows.extend(pages::lines(model, shown, width).into_iter().map(|row| row.clipped(width).padded(width)));
    rows.resize(room + 2, Row::default());
    rows.push(pages::foot(model));
    paint.rows(area, rows);
    if count > 0
        && let Ok(line) = u16::try_from(shelf.at.saturating_sub(shelf.top) + 2)
        && usize::from(line) < room + 2
    {
        paint.highlight(area, line);
    }
}
