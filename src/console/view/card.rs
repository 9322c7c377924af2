//! The selected call's card: a title with its time, the rows in view, and what is below.

use ratatui::layout::Rect;

use super::queue;
use crate::audit::record::VerdictWord;
use crate::console::card::{Card, size};
use crate::console::desk;
use crate::console::model::{CallState, Held, Model, Overlay, Seen, Unarmed};
use crate::console::rows::{Panel, content_rows, decided_by, ends};
use crate::link::message::CallEnd;
use crate::operator::record_row::verdict;
use crate::text::row::{Row, Run, Tone, border, quiet, warn};
use crate::text::time;
use crate::wire::number::counted;

pub(super) fn panel(model: &Model, area: Rect) -> Option<Panel> {
    let (held, card) = (model.queue.selection()?, model.card.laid.as_ref()?);
    let width = usize::from(area.width);
    let room = content_rows(area);
    let window = card.window(model.card.scroll, room).into_iter();
    let mut rows: Vec<Row> =
        window.map(|row| if model.card.sought.is_empty() { row } else { row.marked(&model.card.sought) }).collect();
    if let Some(row) = model.fold_cursor().and_then(|anchor| rows.get_mut(anchor.row - model.card.scroll)) {
        point_at(row);
    }
    let below = card.arguments_end.saturating_sub(model.card.scroll + room);
    Some(Panel { title: title(model, held, width), rows, last: last(model, held, below, width) })
}

/// Highlights the sign of the part that the next key folds or unfolds.
fn point_at(row: &mut Row) {
    let sign =
        |run: &&mut Run| matches!(run.text.as_str(), "▸ " | "▾ ") && matches!(run.tone, Tone::Warn | Tone::Quiet);
    if let Some(run) = row.runs.iter_mut().find(sign) {
        run.tone = Tone::Key;
    }
}

fn title(model: &Model, held: &Held, width: usize) -> Row {
    let now = model.now;
    let mut left = border("━ ").joined(desk::name(held, Tone::Strong));
    if desk::is_mixed(model, held) {
        left.push(Tone::Danger, " · mixed");
    }
    let alike = model.queue.selected_group().map_or(1, |group| group.count());
    if alike > 1 {
        left.push(Tone::Warn, format!(" and {} identical", alike - 1));
    }
    match &held.state {
        CallState::Waiting => {}
        CallState::Sent(VerdictWord::Approve) => left.push(Tone::Good, " · approval sent"),
        CallState::Sent(VerdictWord::Deny) => left.push(Tone::Good, " · denial sent"),
        CallState::EditSent => left.push(Tone::Warn, " · edit sent, the changed card is coming"),
        CallState::Settled(settled) => left = left.joined(ended(settled)),
        CallState::Gone => left.push(Tone::Danger, " · over: its wrapper has ended"),
    }
    if !held.waits() {
        return left.quiet(" · j goes on").clipped(width);
    }
    let mut right = quiet(format!("waits {}", time::span(now - held.snapshot.arrived)));
    if let Some(deadline) = held.snapshot.deadline {
        let (left, all, tone) = queue::left_of(held, deadline, now);
        right = if width < NARROW { Row::default() } else { right.quiet(" · ") };
        right.push(tone, format!("{} left ", time::left(left)));
        right.push(tone, if width < NARROW { String::new() } else { queue::bar(left, all, 8) });
    }
    ends(left.border(" "), right.ours(" "), width)
}

fn ended(settled: &CallEnd) -> Row {
    let (tone, verdict) = verdict(settled.verdict, "withdrawn");
    let by = decided_by(settled.by);
    let row = quiet(" · settled: ").and(tone, verdict).ours(format!(" {by}"));
    if settled.who.is_empty() {
        return row;
    }
    row.quiet(" · ").and_foreign(Tone::Ours, &settled.who)
}

/// What is below, and whether keys decide yet.
fn last(model: &Model, held: &Held, below: usize, width: usize) -> Row {
    let bytes = size(held.snapshot.arguments.len());
    let folded = model.card.laid.as_ref().map_or(0, Card::folded);
    let left = if below > 0 {
        let lines = counted(below, "more line");
        warn(format!(" … {lines} below"))
    } else {
        quiet(if held.snapshot.result_of.is_some() { " end of the result" } else { " end of the arguments" })
    };
    let narrow = width < NARROW;
    let right = match (model.armed(), held.seen) {
        // Enter denies with what is typed, however long the card has stood.
        _ if matches!(model.overlay, Some(Overlay::Reason { .. })) => Row::default(),
        (Err(Unarmed::NotWaiting | Unarmed::Nothing), _) => Row::default(),
        (Err(Unarmed::TooSoon | Unarmed::NotDrawn), _) => quiet("arming "),
        (Ok(_), Seen::Whole) => quiet("all shown · armed "),
        (Ok(_), Seen::Skipping(rows)) => warn(format!("{} skipped · armed ", counted(rows, "row"))),
        (Ok(_), Seen::Partly) if folded > 0 && narrow => warn(format!("▸ {folded} folded: Z ")),
        (Ok(_), Seen::Partly) if folded > 0 => warn(format!("▸ {} folded, not read: Z ", counted(folded, "part"))),
        (Ok(_), Seen::Partly) if below == 0 => warn(if narrow { "PgUp " } else { "not all of it was shown: PgUp " }),
        (Ok(_), Seen::Partly) => warn(if narrow { "read on " } else { "read on to approve " }),
    };
    // What to do next matters more than the size, which is above the arguments too.
    let sized = left.clone().quiet(format!(" · arguments {bytes}"));
    let brief = if below > 0 { warn(format!(" … {below} below")) } else { left.clone() };
    let fits = |row: &Row| row.width() + right.width() < width;
    let left = match (below > 0 && fits(&sized), fits(&left)) {
        (true, _) => sized,
        (false, true) => left,
        (false, false) => brief,
    };
    ends(left, right, width)
}

/// Below this width texts are short.
const NARROW: usize = 60;
