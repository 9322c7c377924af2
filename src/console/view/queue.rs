//! The list of waiting calls: risk, ticket, tool, effect, age and what is left.

use ratatui::layout::Rect;

use super::{Paint, ends};
use crate::console::model::{Held, Model, Sort, Standing};
use crate::console::row::{Row, Tone};
use crate::console::theme::Risk;
use crate::console::time;

/// Draws the list with its title.
pub(super) fn draw(paint: &mut Paint<'_>, model: &Model, area: Rect) {
    if area.height == 0 {
        return;
    }
    let queue = model.queue();
    let room = usize::from(area.height - 1);
    let shown = model.queue_top..(model.queue_top + room).min(queue.len());
    let width = usize::from(area.width);
    let mut rows = vec![title(model, queue.len(), shown.clone(), width)];
    let columns = Columns::of(&queue[shown.clone()], width);
    let mut selected = None;
    for (line, held) in queue[shown].iter().enumerate() {
        let here = Some(&held.key) == model.selected.as_ref();
        if here {
            selected = u16::try_from(line + 1).ok();
        }
        rows.push(columns.row(held, model.now, here).padded(width));
    }
    paint.rows(area, rows);
    if let Some(line) = selected {
        paint.highlight(area, line);
    }
}

fn title(model: &Model, all: usize, shown: std::ops::Range<usize>, width: usize) -> Row {
    let order = match model.sort {
        Sort::Oldest => "oldest first",
        Sort::Risk => "by risk",
    };
    let left = Row::of(Tone::Strong, " Waiting").and(Tone::Quiet, format!(" · {order}"));
    let right =
        if shown.len() < all { format!("{}–{} of {all} ", shown.start + 1, shown.end) } else { String::new() };
    ends(left, Row::of(Tone::Quiet, right), width)
}

/// Widths of the columns, from what stands in them.
struct Columns {
    ticket: usize,
    tool: usize,
    effect: usize,
    time: usize,
}

/// Marker, risk and the gaps around it.
const LEADING: usize = 13;
/// Age and what is left; where it is narrow, only the latter.
const TRAILING: usize = 12;
const TRAILING_NARROW: usize = 7;
/// Below this width a list is narrow.
const NARROW: usize = 64;

impl Columns {
    fn of(shown: &[&Held], width: usize) -> Self {
        let widest = |text: fn(&Held) -> &str| {
            let columns = |held: &&Held| Row::default().and_foreign(Tone::Ours, text(held)).width();
            shown.iter().map(columns).max().unwrap_or(0)
        };
        let time = if width < NARROW { TRAILING_NARROW } else { TRAILING };
        let room = width.saturating_sub(LEADING + time);
        let ticket = widest(|held| &held.snapshot.ticket);
        let tool = widest(|held| &held.snapshot.tool);
        // A few letters of a text say nothing. The tool matters most: the ticket stands above the card.
        let (ticket, tool) = match room.checked_sub(ticket + 2) {
            Some(rest) if rest >= tool.min(12) => (ticket, tool.min(rest).min(24)),
            _ => (0, room),
        };
        let used = if ticket > 0 { ticket + 2 + tool } else { tool };
        let (tool, effect) = match room.checked_sub(used + 2) {
            Some(rest) if rest >= 12 => (tool, rest),
            _ => (tool + (room - used), 0),
        };
        Self { ticket, tool, effect, time }
    }

    fn row(&self, held: &Held, now: i64, here: bool) -> Row {
        let snapshot = &held.snapshot;
        let cell =
            |text: &str, tone: Tone, width: usize| Row::default().and_foreign(tone, text).clipped(width).padded(width);
        let mut row = Row::of(Tone::Strong, if here { "▸ " } else { "  " });
        let mut risk = Row::default();
        risk.runs.push(Risk::of(snapshot).run());
        row = row.joined(risk.padded(LEADING - 4)).and(Tone::Ours, "  ");
        if self.ticket > 0 {
            row = row.joined(cell(&snapshot.ticket, Tone::Quiet, self.ticket)).and(Tone::Ours, "  ");
        }
        row = row.joined(cell(&snapshot.tool, Tone::Strong, self.tool));
        if self.effect > 0 {
            row.push(Tone::Ours, "  ");
            row = row.joined(cell(&snapshot.effect, Tone::Ours, self.effect));
        }
        row.joined(state(held, now, self.time))
    }
}

/// Age and what is left, or how it stands.
fn state(held: &Held, now: i64, width: usize) -> Row {
    let words = match &held.standing {
        Standing::Waiting => {
            let age = time::span(now - held.snapshot.arrived);
            let left = held.snapshot.deadline.map(|at| at - now);
            let tone = match left {
                Some(..30_000) => Tone::Danger,
                _ => Tone::Quiet,
            };
            let left = left.map(time::left);
            return match left {
                left if width >= TRAILING => {
                    Row::of(Tone::Quiet, format!(" {age:>4}")).and(tone, format!(" {:>5} ", left.unwrap_or_default()))
                }
                left => Row::of(tone, format!(" {:>5} ", left.unwrap_or(age))),
            };
        }
        Standing::Sent(_) => "sent",
        Standing::EditSent => "edited",
        Standing::Settled(_) => "over",
        Standing::Gone => "gone",
    };
    Row::of(Tone::Quiet, format!("{words:>0$} ", width - 1))
}
