//! The list of waiting calls: risk, tool, what it is about, how many are identical, and what is left of the time.

use ratatui::layout::Rect;

use super::{Paint, ends};
use crate::audit::record::By;
use crate::console::columns::{Columns, cell, target, widest};
use crate::console::model::figures::{Figures, Weight};
use crate::console::model::queue::Group;
use crate::console::model::{CallState, Held, Model, Sort};
use crate::console::risk::{self, Risk};
use crate::console::row::{Row, Tone};
use crate::console::time;

/// Draws the list with its title.
pub(super) fn draw(paint: &mut Paint<'_>, model: &Model, area: Rect) {
    if area.height == 0 {
        return;
    }
    let all = model.rows();
    let room = usize::from(area.height - 1);
    let top = model.first_row(&all, room);
    let shown = top..(top + room).min(all.len());
    let queue: Vec<Group<'_>> = shown.clone().filter_map(|row| model.group(&all, row)).collect();
    let here = model.selected.as_ref().and_then(|key| model.row_of(&all, key));
    let width = usize::from(area.width);
    let mut rows = vec![title(model, all.len(), shown, width)];
    let widths = Widths::of(&queue, width, model.wrappers.len());
    let mut selected = None;
    for (line, group) in queue.iter().enumerate() {
        let here = here == Some(top + line);
        if here {
            selected = u16::try_from(line + 1).ok();
        }
        rows.push(widths.row(model, group, here).padded(width));
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
        Sort::Server => "by server",
    };
    let mut left = Row::of(Tone::Strong, " Waiting").and(Tone::Quiet, format!(" · {order}"));
    let find = &model.browse.queue.find;
    if !find.is_empty() {
        let of = format!(" · {all} of {} · /", model.calls.len());
        left = left.and(Tone::Warn, of).and_foreign(Tone::Strong, find);
    }
    let marked = model.marked_calls().len();
    if marked > 0 {
        left.push(Tone::Warn, format!(" · {marked} marked"));
    }
    let place = match shown.len() < all {
        true => Row::of(Tone::Quiet, format!("{}–{} of {all} ", shown.start + 1, shown.end)),
        false => Row::default(),
    };
    let figures = model.decisions.figures(model.now).map(|figures| told(&figures).and(Tone::Quiet, " "));
    // The operator's own figures, where there is room for them.
    match figures {
        Some(figures) if left.width() + figures.width() + place.width() + 2 <= width => {
            ends(left, figures.joined(place), width)
        }
        _ => ends(left, place, width),
    }
}

/// The operator's own figures as they are told.
pub(super) fn told(figures: &Figures) -> Row {
    match figures.weight {
        Weight::Told => Row::of(Tone::Quiet, figures.words()),
        Weight::Warning => Row::of(Tone::Danger, format!("▲ {}", figures.words())),
    }
}

/// Widths of the columns that a screen's width or the calls on it decide.
struct Widths {
    ticket: usize,
    origin: Origin,
    tool: usize,
    about: usize,
    time: usize,
}

/// What the first column names: a ticket begins with its server.
#[derive(Clone, Copy)]
enum Origin {
    Ticket,
    Server,
}

/// Marker, risk and the gap behind it.
const LEADING: usize = 2 + risk::WIDEST + 1;
/// A bar and what is left; where it is narrow, only the latter.
const TRAILING: usize = 12;
const TRAILING_NARROW: usize = 7;
/// Below this width a list is narrow.
const NARROW: usize = 64;
/// A tool gives way to the target, down to so much.
const LEAST: usize = 12;
/// A longer target need not be shown whole while a tool is cut for it.
const MOST: usize = 48;

impl Widths {
    fn of(shown: &[Group<'_>], width: usize, servers: usize) -> Self {
        let widest = |text: fn(&Held) -> &str| widest(shown.iter().map(|group| text(group.lead)));
        let time = if width < NARROW { TRAILING_NARROW } else { TRAILING };
        let room = width.saturating_sub(LEADING + time);
        let tool = widest(|held| &held.snapshot.tool);
        let about = widest(about);
        let ticket = widest(|held| &held.snapshot.ticket);
        // What it is about tells two calls of one tool apart; ticket and tool stand on the card as well, and the risk
        // says what is done.
        if room < tool.min(10) + 2 + about.min(8) {
            return Self { ticket: 0, origin: Origin::Ticket, tool: 0, about: room, time };
        }
        let least = about.min(MOST).min(room.saturating_sub(tool.min(LEAST) + 2));
        let tool = tool.min(24).min(room.saturating_sub(least + 2)).max(tool.min(LEAST));
        let rest = room.saturating_sub(tool + 2);
        let left_of = |column: usize| rest.checked_sub(column + 2).filter(|left| *left >= about.min(40));
        let server = widest(|held| &held.snapshot.server).min(14);
        let (ticket, origin, about) = match (left_of(ticket), left_of(server)) {
            (Some(left), _) => (ticket, Origin::Ticket, left),
            (None, Some(left)) if servers > 1 => (server, Origin::Server, left),
            (None, _) => (0, Origin::Ticket, rest),
        };
        Self { ticket, origin, tool, about, time }
    }

    fn columns(&self) -> Columns {
        let columns = Columns::default().left(0, 2, "").left(0, risk::WIDEST, "").left(1, self.ticket, "");
        let columns = columns.left(if self.ticket > 0 { 2 } else { 1 }, self.tool, "");
        columns.left(if self.tool > 0 { 2 } else { 1 }, self.about, "").rest(0)
    }

    fn row(&self, model: &Model, group: &Group<'_>, here: bool) -> Row {
        let held = group.lead;
        let snapshot = &held.snapshot;
        let marker = match (here, model.marked.contains(&held.key)) {
            (true, false) => Row::of(Tone::Strong, "▸ "),
            (false, false) => Row::default(),
            (true, true) => Row::of(Tone::Strong, "▸✓"),
            (false, true) => Row::of(Tone::Key, " ✓"),
        };
        let times = match (group.len(), time::nth(snapshot.occurrence)) {
            (1, None) => Row::default(),
            // `3rd` says enough where there is no room for more.
            (1, Some(nth)) if self.about < 30 => Row::of(Tone::Warn, nth.replace("time", "")),
            (1, Some(nth)) => Row::of(Tone::Warn, format!("{nth} ")),
            (n, _) => Row::of(Tone::Warn, format!("×{n} ")),
        };
        let room = self.about.saturating_sub(times.width());
        // Where there is no room for both, a tool stands for what nothing more is known about.
        let about = match snapshot.target {
            None if self.tool == 0 => cell(Tone::Strong, &snapshot.tool),
            _ => telling(held, room),
        };
        self.columns().row([
            marker,
            Row { runs: vec![Risk::of(snapshot).run()] },
            cell(Tone::Quiet, if matches!(self.origin, Origin::Ticket) { &snapshot.ticket } else { &snapshot.server }),
            cell(Tone::Strong, &snapshot.tool),
            times.joined(about),
            state(held, model.now, self.time),
        ])
    }
}

/// What a call is about, else what it does.
fn about(held: &Held) -> &str {
    held.snapshot.target.as_deref().unwrap_or(&held.snapshot.effect)
}

/// Cut to its room where it tells least: a path in its folders, anything else behind its beginning.
pub(super) fn telling(held: &Held, room: usize) -> Row {
    match &held.snapshot.target {
        Some(text) => target(Tone::Ours, text, room),
        // Our own words begin with what matters.
        None => cell(Tone::Ours, &held.snapshot.effect).elided(room, room),
    }
}

/// What is left as a bar and in figures, or how it stands.
fn state(held: &Held, now: i64, width: usize) -> Row {
    let words = match &held.state {
        CallState::Waiting => {
            let age = time::span(now - held.snapshot.arrived);
            let Some(deadline) = held.snapshot.deadline else {
                return Row::of(Tone::Quiet, format!("{:>1$} ", age, width - 1));
            };
            let all = (deadline - held.snapshot.arrived).max(1);
            let left = (deadline - now).clamp(0, all);
            let tone = if left < 30_000 { Tone::Danger } else { Tone::Quiet };
            let bar = if width >= TRAILING { format!(" {}", bar(left, all, 4)) } else { String::new() };
            return Row::of(tone, format!("{bar} {:>5} ", time::left(left)));
        }
        CallState::Sent(_) => "sent",
        CallState::EditSent => "edited",
        CallState::Settled(settled) if settled.by == By::Expiry => "expired",
        CallState::Settled(_) => "over",
        CallState::Gone => "gone",
    };
    Row::of(Tone::Quiet, format!("{words:>0$} ", width - 1))
}

/// What is left of a time, as a bar of so many cells; empty only when nothing is left.
pub(super) fn bar(left: i64, all: i64, cells: usize) -> String {
    let of = i64::try_from(cells).unwrap_or(0);
    let full = usize::try_from((left * of + all - 1) / all.max(1)).unwrap_or(0).min(cells);
    format!("{}{}", "▰".repeat(full), "▱".repeat(cells - full))
}
