//! The mouse: a click selects or folds, the wheel scrolls. Neither opens, decides nor confirms anything.

use ratatui::layout::{Position, Rect};

use super::{Turn, fold, moves};
use crate::console::keymap::Action;
use crate::console::model::queue::QueueLine;
use crate::console::model::{Following, Model, Overlay, Screen};
use crate::console::pages;

/// Rows that one turn of the wheel moves.
const STEP: usize = 3;

/// Selects the line under the pointer.
pub(super) fn click(model: &mut Model, x: u16, y: u16) {
    if model.overlay.is_some() {
        return;
    }
    let areas = model.areas();
    if let Some(line) = line(areas.queue, x, y, 1) {
        let rows = model.rows();
        let row = match model.lines(&rows).get(model.queue_top + line) {
            Some(QueueLine::Row(row)) => Some(row),
            Some(QueueLine::Server(rows)) => Some(rows.start),
            None => None,
        };
        drop(rows);
        if let Some(row) = row {
            moves::select_row(model, row);
        }
        return;
    }
    if matches!(model.screen, Screen::Queue | Screen::Detail) {
        if let Some(line) = line(areas.card, x, y, 1) {
            fold::click(model, model.scroll + line);
        }
        return;
    }
    let (count, area) = (pages::count(model), pages::sides(model).list);
    let screen = model.screen;
    let Some(list) = model.browse.list_mut(screen).filter(|list| list.sheet.is_none()) else { return };
    // Below the title and the second line; the last row is not part of the list.
    let area = Rect { height: areas.body.height.saturating_sub(1), ..area };
    if let Some(line) = line(area, x, y, 2)
        && list.top + line < count
    {
        list.at = list.top + line;
        if screen == Screen::Activity {
            model.following = if list.at + 1 == count { Following::Newest } else { Following::Stays };
        }
    }
}

/// Scrolls what lies under the pointer: the queue's selection stays, its card moves.
pub(super) fn wheel(model: &mut Model, turn: Turn, x: u16, y: u16) {
    let action = match turn {
        Turn::Up => Action::Up,
        Turn::Down => Action::Down,
    };
    let over_queue = model.areas().queue.contains(Position { x, y });
    match (&model.overlay, model.screen) {
        (Some(Overlay::Help { .. }), _) => (0..STEP).for_each(|_| moves::go(model, action)),
        (Some(_), _) => {}
        (None, Screen::Queue) if over_queue => moves::go(model, action),
        (None, Screen::Queue | Screen::Detail) => (0..STEP).for_each(|_| moves::scroll(model, action)),
        (None, _) => (0..STEP).for_each(|_| moves::go(model, action)),
    }
}

/// Which line of an area, after its first `head` rows, a point is on.
fn line(area: Rect, x: u16, y: u16, head: u16) -> Option<usize> {
    let inside = area.contains(Position { x, y });
    inside.then(|| (y - area.y).checked_sub(head).map(usize::from)).flatten()
}
