//! Draws the screens beside Waiting: a title, a second line, the list or the open sheet, both where there is room, and
//! what is below.

use ratatui::layout::Rect;

use super::{Paint, below, ends};
use crate::console::model::{ListState, Model};
use crate::console::pages;
use crate::console::screen::content_rows;
use crate::text::row::{Row, key, ours, quiet};

pub(super) fn draw(paint: &mut Paint<'_>, model: &Model) {
    let Some(state) = model.list(model.screen) else { return };
    let sides = pages::sides(model);
    let Some(divider) = sides.divider else {
        return match state.sheet {
            Some(top) => sheet(paint, model, sides.sheet, title(model, usize::from(sides.sheet.width)), top),
            None => list(paint, model, state, sides.list),
        };
    };
    list(paint, model, state, sides.list);
    paint.divider(divider);
    let title = match state.sheet {
        Some(_) => key("▸ ").quiet("j k read on · Esc goes back to the list"),
        None if pages::is_reviewed(model) => quiet("Enter reviews this"),
        None => quiet("Enter scrolls this"),
    };
    sheet(paint, model, sides.sheet, title, state.sheet.unwrap_or(0));
}

/// What the list is and, at the right end, the search, without which the list could be misread.
fn title(model: &Model, width: usize) -> Row {
    let (left, right) = pages::title(model);
    let right = right.clipped(width.saturating_sub(10));
    let left = left.clipped(width.saturating_sub(right.width() + 1).max(8));
    ends(left, right, width)
}

fn sheet(paint: &mut Paint<'_>, model: &Model, area: Rect, title: Row, top: usize) {
    let sheet = pages::sheet(model, usize::from(area.width));
    let last = below(sheet.len().saturating_sub(top + content_rows(area)));
    paint.framed(area, title, sheet.into_iter().skip(top), last);
}

fn list(paint: &mut Paint<'_>, model: &Model, state: &ListState, area: Rect) {
    let width = usize::from(area.width);
    let room = content_rows(area).saturating_sub(1);
    let mut rows = vec![title(model, width)];
    let count = pages::count(model);
    rows.push(pages::heading(model, width));
    if count == 0 {
        rows.push(Row::default());
        let words = pages::empty(model).into_iter();
        rows.extend(words.flat_map(|row| ours("  ").joined(row).hung(width.saturating_sub(1), 2)));
        rows.truncate(room + 2);
    }
    let shown = state.top..(state.top + room).min(count);
    rows.extend(pages::lines(model, shown, width).into_iter().map(|row| row.clipped(width).padded(width)));
    rows.resize(room + 2, Row::default());
    rows.push(pages::foot(model));
    paint.rows(area, rows);
    if count > 0
        && let Ok(line) = u16::try_from(state.at.saturating_sub(state.top) + 2)
        && usize::from(line) < room + 2
    {
        paint.highlight(area, line);
    }
}
