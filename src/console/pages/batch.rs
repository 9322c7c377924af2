//! Calls that are decided together: a line for each with its tick, what must be read of it below, and whether `y` counts yet.

use ratatui::layout::Rect;

use crate::console::card::{Card, Details, Folds, brief};
use crate::console::desk;
use crate::console::model::{Armed, Batch, Fate, Held, Member, Model, Reading, Seen, Text, Tick, Unlisted};
use crate::console::risk::{self, Risk};
use crate::console::rows::{NARROW, Panel, content_rows, ends};
use crate::text::row::{Row, Tone, border, danger, foreign, good, key, ours, quiet, strong, warn};
use crate::text::{columns::target, time};
use crate::wire::counted;

const TOOL: usize = 24;
/// The least width of what a call is about, if it is longer than that beside its ticket.
const LEAST: usize = 16;

/// The columns before a call's line (cursor and tick) and behind it (whether it was read and, with room, the time left).
fn ends_of(width: usize) -> (usize, usize) {
    if width < NARROW { (3, 6) } else { (5, 13) }
}

/// For how many columns, and for how many rows of each call, a list is laid out.
pub fn room(model: &Model) -> (usize, usize) {
    let (width, height) = model.size;
    (width.into(), usize::from(height / 2).saturating_sub(2).clamp(3, 16))
}

pub fn lay(model: &Model, fate: &Fate, calls: &[Armed], room: (usize, usize)) -> Vec<Member> {
    let mut members: Vec<Member> = Vec::with_capacity(calls.len());
    for armed in calls {
        let Some(held) = model.waits(armed) else {
            members.push(Member::new(armed.clone(), Seen::Partly, Row::default(), Text::Line(Vec::new())));
            continue;
        };
        let must = *fate == Fate::Approve(Reading::Read) && held.seen != Seen::Whole;
        let first = members.iter().position(|one| must && one.armed.is_like(armed));
        let (line, text) = match first {
            Some(first) => (line(held, room.0), Text::Like(first)),
            None if must => whole(held, room),
            None => (line(held, room.0), Text::Line(name_below(held, room.0))),
        };
        members.push(Member::new(armed.clone(), held.seen, line, text));
    }
    members
}

pub fn opened(model: &Model, held: &Held) -> Text {
    let width = model.size.0.saturating_sub(2);
    let (desk, offset) = (held.desk.as_ref(), model.settings.offset);
    let card = Card::lay_on(desk, &held.snapshot, width, offset, Folds::open(), Details::Folded);
    Text::Card(Box::new(card))
}

/// The line of a call and everything that must be read of it, in as many rows as it may take.
fn whole(held: &Held, (width, limit): (usize, usize)) -> (Row, Text) {
    let (margin, columns) = below(width);
    let told = |rows: Vec<Row>| rows.into_iter().map(|row| margin.clone().joined(row)).collect();
    let opens = |words: String| warn(format!("… {words}: ")).key("Enter").warn(" opens it");
    let Some(brief) = brief(held.desk.as_ref(), &held.snapshot, columns) else {
        return (line(held, width), Text::Cut(told(vec![opens("it does not fit into this list".to_owned())])));
    };
    let (line, mut rows) = match with_effect(held, &brief.effect, width) {
        Some(line) => (line, Vec::new()),
        None => {
            let line = head(held, width).joined(desk::name(held, Tone::Quiet));
            let (before, behind) = ends_of(width);
            let is_cut = held.desk.is_some() && line.width() + before + behind > width;
            let mut rows = if is_cut { name_rows(held, columns) } else { Vec::new() };
            rows.extend(ours(" ").joined(brief.effect).hung(columns, 3));
            (line, rows)
        }
    };
    rows.extend(brief.rows);
    if rows.len() <= limit {
        return (line, Text::Whole(told(rows)));
    }
    let more = rows.drain(limit - 1..).count();
    rows.push(opens(counted(more, "more row")));
    (line, Text::Cut(told(rows)))
}

fn head(held: &Held, width: usize) -> Row {
    let mut mark = Row::default();
    mark.runs.push(Risk::of(&held.snapshot).run());
    let (mark, tool) = if width < NARROW { (mark, width / 4) } else { (mark.padded(risk::WIDEST), TOOL) };
    mark.ours(" ").joined(foreign(Tone::Strong, &held.snapshot.tool).clipped(tool)).ours("  ")
}

/// The same and our line on it, which then needs no row of its own; `None` if it does not fit.
fn with_effect(held: &Held, effect: &Row, width: usize) -> Option<Row> {
    let row = head(held, width).joined(effect.clone());
    let (before, behind) = ends_of(width);
    let room = width.saturating_sub(before + behind);
    let ticket = quiet("  ").joined(desk::name(held, Tone::Quiet));
    match room.checked_sub(row.width())? {
        spare if spare >= ticket.width() => Some(row.joined(ticket)),
        _ if held.desk.is_some() => None,
        _ => Some(row),
    }
}

fn line(held: &Held, width: usize) -> Row {
    let row = head(held, width);
    let ticket = quiet("  ").joined(desk::name(held, Tone::Quiet));
    let about = |room| match &held.snapshot.target {
        Some(text) => target(Tone::Ours, text, room),
        None => foreign(Tone::Ours, &held.snapshot.effect).elided(room, room),
    };
    match beside_name(held, width) {
        Ok(beside) => row.joined(about(beside)).joined(ticket),
        Err(room) => row.joined(about(room)),
    }
}

/// The room for what a call is about beside its name, or without that where it does not fit.
fn beside_name(held: &Held, width: usize) -> Result<usize, usize> {
    let (before, behind) = ends_of(width);
    let room = width.saturating_sub(before + behind + head(held, width).width());
    let whole = foreign(Tone::Ours, held.snapshot.target.as_deref().unwrap_or(&held.snapshot.effect)).width();
    let beside = room.checked_sub(2 + desk::name(held, Tone::Quiet).width());
    beside.filter(|beside| *beside >= whole.min(LEAST)).ok_or(room)
}

/// On a desk, the name of a call whose line has no room for it: a list without the machines would be the same for two of them.
fn name_below(held: &Held, width: usize) -> Vec<Row> {
    if held.desk.is_none() || beside_name(held, width).is_ok() {
        return Vec::new();
    }
    let (margin, columns) = below(width);
    name_rows(held, columns).into_iter().map(|row| margin.clone().joined(row)).collect()
}

fn name_rows(held: &Held, columns: usize) -> Vec<Row> {
    quiet(" of ").joined(desk::name(held, Tone::Ours)).hung(columns, 3)
}

/// What is before a row below the line of a call, and how many columns are left.
fn below(width: usize) -> (Row, usize) {
    let margin = ours(" ".repeat(if width < NARROW { 1 } else { ends_of(width).0 }));
    let columns = width.saturating_sub(margin.width() + 1);
    (margin, columns)
}

pub fn panel(model: &Model, batch: &Batch, area: Rect) -> Panel {
    let width = usize::from(area.width);
    let room = content_rows(area);
    let on_screen = batch.top..batch.top + room;
    let mut rows = Vec::with_capacity(room);
    for (at, place) in batch.placed() {
        let (from, to) = (on_screen.start.max(place.start), on_screen.end.min(place.end));
        if from >= to {
            continue;
        }
        let (from, to) = (from - place.start, to - place.start);
        if from == 0 {
            rows.push(first_row(model, batch, at, width));
        }
        let below = from.saturating_sub(1)..to - 1;
        match &batch.members[at].text {
            Text::Like(_) => {}
            Text::Line(all) | Text::Whole(all) | Text::Cut(all) => rows.extend(all[below].iter().cloned()),
            Text::Card(card) => {
                let window = card.window(below.start, below.len()).into_iter();
                rows.extend(window.map(|row| border("│ ").joined(row)));
            }
        }
    }
    let below = batch.placed().filter(|(_, place)| place.end > on_screen.end).count();
    Panel { title: title(model, batch, width), rows, last: last(model, batch, below, width) }
}

fn first_row(model: &Model, batch: &Batch, at: usize, width: usize) -> Row {
    let Some(member) = batch.members.get(at) else { return Row::default() };
    let cursor = strong(if at == batch.at { "▸" } else { " " });
    let Some(held) = model.as_listed(batch, &member.armed) else {
        let row = cursor.warn("over ").and_foreign(Tone::Quiet, &member.armed.key().ticket);
        return row.quiet("  nothing will be sent for it").clipped(width);
    };
    let narrow = width < NARROW;
    let ticked = match (member.tick, narrow) {
        (Tick::Ticked, true) => cursor.key("✓ "),
        (Tick::Ticked, false) => cursor.key("[✓] "),
        (Tick::Left, true) => cursor.quiet("✗ "),
        (Tick::Left, false) => cursor.quiet("[ ] "),
    };
    let is_to_read = batch.fate == Fate::Approve(Reading::Read);
    let read = match &member.text {
        _ if !is_to_read => Row::default(),
        _ if batch.is_read(at) => good("read"),
        Text::Like(_) => quiet("same"),
        Text::Cut(_) => warn("Enter"),
        Text::Line(_) | Text::Whole(_) | Text::Card(_) => Row::default(),
    };
    let deadline = held.snapshot.deadline.filter(|_| !narrow);
    let left = deadline.map_or_else(Row::default, |deadline| {
        let left = (deadline - model.now).max(0);
        Row::of(if left < 30_000 { Tone::Danger } else { Tone::Quiet }, format!(" {:>5} ", time::left(left)))
    });
    let mixed = if desk::is_mixed(model, held) { danger("mixed ") } else { Row::default() };
    let right = mixed.joined(read).joined(if left.width() == 0 { ours(" ") } else { left });
    let row = ticked.joined(member.line.clone());
    ends(row.clipped(width.saturating_sub(right.width() + 1)), right, width)
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
    let count = |counts: &dyn Fn(usize, &Member) -> bool| {
        batch.members.iter().enumerate().filter(|(at, member)| counts(*at, member)).count()
    };
    let mut said = Vec::new();
    if batch.fate == Fate::Approve(Reading::Read) {
        said.push(quiet(format!("{} read", count(&|at, _| batch.is_read(at)))));
    }
    match count(&|_, member| member.tick == Tick::Ticked) {
        all if all == batch.members.len() => {}
        some => said.push(ours(format!("{some} ticked"))),
    }
    match count(&|_, member| model.as_listed(batch, &member.armed).is_none()) {
        0 => {}
        over => said.push(warn(format!("{over} no longer wait"))),
    }
    let right = said.into_iter().reduce(|row, next| row.quiet(" · ").joined(next)).unwrap_or_default();
    ends(left, right.ours(" "), width)
}

fn last(model: &Model, batch: &Batch, below: usize, width: usize) -> Row {
    let left = match below {
        0 => quiet(" end of the list"),
        _ => warn(format!(" … {} below", counted(below, "more call"))),
    };
    let must_open =
        batch.members.iter().enumerate().any(|(at, one)| matches!(one.text, Text::Cut(_)) && !batch.is_read(at));
    let right = match (model.may(batch), &batch.fate) {
        (Ok(()), Fate::Approve(Reading::Read)) => {
            let row = quiet("y approves ").strong(batch.verdicts().len().to_string());
            row.quiet(if must_open && below == 0 { " that were read; Enter opens one " } else { " that were read " })
        }
        (Ok(()), _) => quiet("y sends a verdict for each "),
        (Err(Unlisted::TooSoon), _) => quiet("arming "),
        (Err(Unlisted::Unread), Fate::Approve(Reading::Read)) => {
            key("PgDn").warn(" reads on ").key("Enter").warn(" opens one ")
        }
        (Err(Unlisted::Unread), _) => warn("read the list to its end first "),
    };
    ends(left, right, width)
}
