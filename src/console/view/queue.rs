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
    let right = if shown.len() < all {
        format!("{}–{} of {all} ", shown.start + 1, shown.end)
    } else {
        String::new()
    };
    ends(left, Row::of(Tone::Quiet, right), width)
}

/// Widths of the columns, from what stands in them.
struct Columns {
    ticket: usize,
    tool: usize,
    effect: usize,
}

/// Marker, risk and the gaps around it.
const LEADING: usize = 13;
/// Age and what is left.
const TRAILING: usize = 12;

impl Columns {
    fn of(shown: &[&Held], width: usize) -> Self {
        let widest = |text: fn(&Held) -> &str| {
            let columns = |held: &&Held| Row::default().and_foreign(Tone::Ours, text(held)).width();
            shown.iter().map(columns).max().unwrap_or(0)
        };
        let room = width.saturating_sub(LEADING + TRAILING);
        let ticket = widest(|held| &held.snapshot.ticket).min(room.saturating_sub(1) / 2);
        let tool = widest(|held| &held.snapshot.tool).min(room.saturating_sub(ticket + 2).min(24));
        let effect = room.saturating_sub(ticket + tool + 4);
        // A few letters of an effect say nothing; the room is better left to the tool.
        if effect < 12 {
            return Self {
                ticket,
                tool: room.saturating_sub(ticket + 2),
                effect: 0,
            };
        }
        Self {
            ticket,
            tool,
            effect,
        }
    }

    fn row(&self, held: &Held, now: i64, here: bool) -> Row {
        let snapshot = &held.snapshot;
        let cell = |text: &str, tone: Tone, width: usize| {
            Row::default()
                .and_foreign(tone, text)
                .clipped(width)
                .padded(width)
        };
        let mut row = Row::of(Tone::Strong, if here { "▸ " } else { "  " });
        let mut risk = Row::default();
        risk.runs.push(Risk::of(snapshot).run());
        row = row.joined(risk.padded(LEADING - 4)).and(Tone::Ours, "  ");
        row = row
            .joined(cell(&snapshot.ticket, Tone::Quiet, self.ticket))
            .and(Tone::Ours, "  ");
        row = row.joined(cell(&snapshot.tool, Tone::Strong, self.tool));
        if self.effect > 0 {
            row.push(Tone::Ours, "  ");
            row = row.joined(cell(&snapshot.effect, Tone::Ours, self.effect));
        }
        row.joined(state(held, now))
    }
}

/// Age and what is left, or how it stands.
fn state(held: &Held, now: i64) -> Row {
    let words = match &held.standing {
        Standing::Waiting => {
            let age = time::span(now - held.snapshot.arrived);
            let left = held.snapshot.deadline.map(|at| at - now);
            let tone = match left {
                Some(..30_000) => Tone::Danger,
                _ => Tone::Quiet,
            };
            let left = left.map_or_else(String::new, time::left);
            return Row::of(Tone::Quiet, format!(" {age:>4}")).and(tone, format!(" {left:>5} "));
        }
        Standing::Sent(_) => "sent",
        Standing::EditSent => "edit sent",
        Standing::Settled(_) => "settled",
        Standing::Gone => "gone",
    };
    Row::of(Tone::Quiet, format!(" {words:>10} "))
}
