//! Calls that are decided together: each on a row of its own, and whether `y` counts yet.

use ratatui::layout::Rect;

use super::{Paint, ends, queue};
use crate::console::card::counted;
use crate::console::model::{Armed, Batch, Fate, Model, Reading, Unlisted};
use crate::console::risk::{self, Risk};
use crate::console::screen::content_rows;
use crate::text::columns::NameColumn;
use crate::text::row::{Row, Tone, danger, foreign, ours, quiet, strong, warn};

pub(super) fn draw(paint: &mut Paint<'_>, model: &Model, batch: &Batch, area: Rect) {
    let width = usize::from(area.width);
    let room = content_rows(area);
    let shown = || batch.members.iter().skip(batch.top).take(room);
    let tickets = NameColumn::of(shown().map(|armed| armed.key().ticket.as_str()), WIDEST);
    let rows = shown().map(|armed| member(model, batch, armed, (width, tickets)));
    paint.framed(area, title(model, batch, width), rows, last(model, batch, room, width));
}

fn title(model: &Model, batch: &Batch, width: usize) -> Row {
    let all = match batch.members.len() {
        1 => "this call".to_owned(),
        many => format!("these {}", counted(many, "call")),
    };
    let left = match &batch.fate {
        Fate::Approve(Reading::Read) => danger(format!(" Approve {all}?")),
        Fate::Approve(Reading::Unread) => danger(format!(" Approve {all} UNREAD?")),
        Fate::Deny { reason } => strong(format!(" Deny {all}, because ")).and_foreign(Tone::Ours, reason),
    };
    let over = batch.members.iter().filter(|armed| model.stands(batch, armed).is_none()).count();
    let right = match over {
        0 => Row::default(),
        _ => warn(format!("{over} no longer wait ")),
    };
    ends(left, right, width)
}

fn member(model: &Model, batch: &Batch, armed: &Armed, (width, tickets): (usize, NameColumn)) -> Row {
    let ticket = tickets.cell(Tone::Quiet, &armed.key().ticket);
    let Some(held) = model.stands(batch, armed) else {
        return warn("  over         ").joined(ticket).quiet("  nothing will be sent for it");
    };
    let mut mark = Row::default();
    mark.runs.push(Risk::of(&held.snapshot).run());
    let row = ours("  ").joined(mark.padded(risk::WIDEST)).ours(" ");
    let tool = foreign(Tone::Strong, &held.snapshot.tool);
    if width < NARROW {
        let row = row.joined(tool.clipped(width / 3)).ours(" ");
        let room = width.saturating_sub(row.width());
        let beside = room.saturating_sub(ticket.width() + 2);
        return match beside {
            LEAST.. => row.joined(queue::telling(held, beside).padded(beside)).ours("  ").joined(ticket),
            _ => row.joined(queue::telling(held, room)),
        };
    }
    let row = row.joined(ticket).ours("  ");
    let row = row.joined(tool.clipped(WIDEST)).ours("  ");
    let room = width.saturating_sub(row.width()).max(LEAST);
    row.joined(queue::telling(held, room)).clipped(width)
}

/// Below this width what a call is about comes before its ticket.
const NARROW: usize = 60;
/// The most columns of a ticket, and of a tool.
const WIDEST: usize = 24;
/// The least width for what a call is about.
const LEAST: usize = 12;

fn last(model: &Model, batch: &Batch, room: usize, width: usize) -> Row {
    let below = batch.members.len().saturating_sub(batch.top + room);
    let left = match below {
        0 => quiet(" end of the list"),
        _ => warn(format!(" … {} below", counted(below, "more call"))),
    };
    let right = match model.listed(batch) {
        Ok(()) => quiet("y sends a verdict for each "),
        Err(Unlisted::TooSoon) => quiet("arming "),
        Err(Unlisted::Unread) => warn("read the list to its end first "),
    };
    ends(left, right, width)
}
