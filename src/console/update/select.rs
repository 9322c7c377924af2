//! Which call is selected, and the card that is laid out for it. Decides nothing.

use std::sync::Arc;

use crate::audit::record::{By, VerdictWord};
use crate::console::card::Card;
use crate::console::desk;
use crate::console::keymap::Action;
use crate::console::model::{CallKey, CallState, Command, Held, Model, Screen, Shown, Sort};
use crate::console::rows::decided_by;
use crate::gate::data::snapshot::{Check, CheckState, Snapshot};
use crate::link::message::CallEnd;
use crate::operator::record_row;
use crate::text::row::Tone;

/// The first row on screen after a move in `rows` rows of which `page` are shown.
pub(super) fn moved(top: usize, action: Action, page: usize, rows: usize) -> usize {
    let last = rows.saturating_sub(page.max(1));
    // One row of the last page stays on screen, so that the eye finds its place.
    let leap = page.saturating_sub(1).max(1);
    stepped(top, action, (leap, page / 2), last)
}

/// Where a move leads from `at`: by a line, by a page or half of it, to the first line or the last.
pub(super) fn stepped(at: usize, action: Action, (page, half): (usize, usize), last: usize) -> usize {
    match action {
        Action::Down => at + 1,
        Action::Up => at.saturating_sub(1),
        Action::PageDown => at + page,
        Action::PageUp => at.saturating_sub(page),
        Action::HalfDown => at + half.max(1),
        Action::HalfUp => at.saturating_sub(half.max(1)),
        Action::Top | Action::First => 0,
        Action::Bottom | Action::Last => last,
        _ => at,
    }
    .min(last)
}

/// To the first or last call, or by half a page of the queue.
pub(super) fn leap(model: &mut Model, action: Action) {
    let rows = model.queue.rows();
    let (at, last) = (model.queue.selected_row(&rows).unwrap_or(0), rows.len().saturating_sub(1));
    drop(rows);
    let half = usize::from(model.areas().queue.height / 2);
    select_row(model, stepped(at, action, (0, half), last));
}

/// Selects the first call of a row of the queue, where there is such a row.
pub(super) fn select_row(model: &mut Model, row: usize) -> Option<()> {
    let key = model.queue.group(&model.queue.rows(), row)?.lead.key.clone();
    select(model, Some(key));
    Some(())
}

/// `[` and `]`: to the first call of another server, if the queue is sorted by server.
pub(super) fn leap_server(model: &mut Model, action: Action) {
    let row = model.queue.lines(&model.queue.rows()).neighbour(action == Action::NextServer);
    if row.and_then(|row| select_row(model, row)).is_none() && model.queue.sort != Sort::Server {
        model.say("s sorts the queue by server first.");
    }
}

/// To the next or previous call; a settled one leaves the queue when the selection leaves it.
pub(super) fn step(model: &mut Model, action: Action) {
    let goal = match (model.queue.selected_row(&model.queue.rows()), action) {
        (None, _) => Some(0),
        (Some(at), Action::Down) => Some(at + 1),
        (Some(at), _) => at.checked_sub(1),
    };
    if goal.and_then(|row| select_row(model, row)).is_none() {
        leave_ended(model);
    }
}

/// Goes on from a selected call that is over.
pub(super) fn leave_ended(model: &mut Model) {
    if let Some(key) = model.queue.selection().filter(|held| held.is_over()).map(|held| held.key.clone()) {
        let next = neighbour(model, &key, |_| true);
        select(model, next);
    }
}

/// Selects a call; a settled one that was selected before leaves the queue.
pub(super) fn select(model: &mut Model, key: Option<CallKey>) {
    if model.queue.selected == key {
        return;
    }
    model.leave();
    let left = std::mem::replace(&mut model.queue.selected, key);
    model.queue.retain(|held| Some(&held.key) != left.as_ref() || !held.is_over());
    model.card.scroll = 0;
    model.card.fold_at = None;
    model.card.shown = Shown::default();
    model.card.laid = None;
    if model.queue.selected.is_none() && model.screen == Screen::Detail {
        model.screen = Screen::Queue;
    }
}

/// The next waiting call after this one, otherwise the one before it.
pub(super) fn next_waiting(model: &Model, key: &CallKey) -> Option<CallKey> {
    neighbour(model, key, Held::waits)
}

/// The same, for when a wrapper is gone.
pub(super) fn next_elsewhere(model: &Model, session: &str) -> Option<CallKey> {
    let key = model.queue.selected.as_ref().filter(|key| key.session == session)?;
    neighbour(model, key, |held| held.waits() && held.key.session != session)
}

fn neighbour(model: &Model, key: &CallKey, fits: impl Fn(&Held) -> bool) -> Option<CallKey> {
    let queue = model.queue.order();
    let at = queue.iter().position(|held| held.key == *key).unwrap_or(0);
    let (before, after) = queue.split_at(at);
    after.iter().skip(1).chain(before.iter().rev()).find(|held| fits(held)).map(|held| held.key.clone())
}

/// The queue's filter has changed: what it leaves out is not selected.
pub(super) fn filtered(model: &mut Model) {
    if model.queue.selected_row(&model.queue.rows()).is_none() && select_row(model, 0).is_none() {
        select(model, None);
    }
}

/// `s`: the other order. The selection stays on its call.
pub(super) fn sort(model: &mut Model) {
    model.queue.sort = match model.queue.sort {
        Sort::Oldest => Sort::Risk,
        Sort::Risk => Sort::Server,
        Sort::Server => Sort::Oldest,
    };
}

/// Brings card, scrolling and queue into line with whatever has just changed.
pub(super) fn settle(model: &mut Model) {
    if model.queue.selection().is_none() {
        let first = model.queue.order().iter().find(|held| held.waits()).map(|held| held.key.clone());
        if first.is_some() || model.queue.selected.is_some() {
            select(model, first);
        }
    }
    lay_card(model);
    tell_before(model);
    let rows = model.card.laid.as_ref().map_or(0, |card| card.rows);
    model.card.scroll = model.card.scroll.min(rows.saturating_sub(model.card_rows()));
}

fn tell_before(model: &mut Model) {
    let around = model.queue.selection().filter(|held| held.desk.is_some()).map(|held| desk::around(model, held));
    let Some(card) = &mut model.card.laid else { return };
    if let Some(around) = around {
        return card.tell_around(&around);
    }
    let (server, tool) = (&card.snapshot.server, &card.snapshot.tool);
    let before = model.card.before.as_ref().filter(|before| before.server == *server && before.tool == *tool);
    card.tell_before(before, &model.settings.operator, model.now);
}

/// Lays the card out again if the call, its bytes or the width changed.
pub(super) fn lay_card(model: &mut Model) {
    let Some(held) = model.queue.selection() else {
        model.card.laid = None;
        return;
    };
    let (snapshot, desk) = (held.snapshot.clone(), held.desk.clone());
    let width = model.areas().card.width;
    let laid = model.card.laid.as_ref();
    let same_call = laid.is_some_and(|card| Arc::ptr_eq(&card.snapshot, &snapshot));
    let same_width = laid.is_some_and(|card| card.width == width);
    if same_call && same_width && laid.is_some_and(|card| card.details == model.card.details) || width == 0 {
        return;
    }
    if !same_call {
        model.card.scroll = 0;
        model.card.fold_at = None;
    }
    let folds = laid.filter(|_| same_call).map(|card| card.folds.clone()).unwrap_or_default();
    let old_rows = laid.map_or(0, |card| card.rows).max(1);
    let card = Card::lay_on(desk.as_ref(), &snapshot, width, model.settings.offset, folds, model.card.details);
    if !(same_call && same_width) {
        // After a resize the place in the text stays about the same. The rows are new, so none counts as shown.
        model.card.scroll = model.card.scroll * card.rows / old_rows;
        model.card.shown = Shown::default();
    }
    model.card.laid = Some(card);
}

/// Replaces a card after a change such as of the deadline: what was read of it stays read.
pub(super) fn replace_card(model: &mut Model, key: &CallKey, old: &Arc<Snapshot>) {
    let Some(card) = model.card.laid.as_ref().filter(|card| Arc::ptr_eq(&card.snapshot, old)) else { return };
    let Some(held) = model.queue.call(key) else { return };
    let (folds, details) = (card.folds.clone(), card.details);
    let (desk, offset) = (held.desk.as_ref(), model.settings.offset);
    model.card.laid = Some(Card::lay_on(desk, &held.snapshot, card.width, offset, folds, details));
}

/// Keeps the selection within the queue's rows. Reads the whole queue, so it is not called for every call that arrives.
pub(super) fn show_selection(model: &mut Model) {
    let page = usize::from(model.areas().queue.height.saturating_sub(1));
    let top = model.queue.first_line(&model.queue.rows(), page);
    model.queue.top = top;
}

/// Calls that went past their deadline and are still listed.
const MOST_EXPIRED: usize = 100;

/// It stays while it is selected, and one that no operator answered in time until it was selected; any other goes.
pub(super) fn end(model: &mut Model, key: &CallKey, state: CallState) {
    let is_expired = |held: &Held| matches!(&held.state, CallState::Settled(settled) if settled.by == By::Expiry);
    let stays = match &state {
        CallState::Settled(settled) if settled.by == By::Expiry => {
            model.queue.calls.iter().filter(|held| is_expired(held)).count() < MOST_EXPIRED
        }
        _ => model.queue.selected.as_ref() == Some(key),
    };
    if stays || model.queue.selected.as_ref() == Some(key) {
        if let Some(held) = model.queue.call_mut(key) {
            // Its card no longer says that it waits for a verdict.
            let mut ended = (*held.snapshot).clone();
            let (state_of_check, what) = outcome(&state);
            ended.safe.guardrail = Check { state: state_of_check, what };
            (held.snapshot, held.state) = (Arc::new(ended), state);
        }
    } else {
        model.queue.remove(key);
    }
}

fn outcome(state: &CallState) -> (CheckState, String) {
    match state {
        CallState::Settled(CallEnd { verdict: Some(VerdictWord::Approve), by, .. }) => {
            (CheckState::Holds, format!("approved {}", decided_by(*by)))
        }
        CallState::Settled(settled) => {
            let (_, word) = record_row::verdict(settled.verdict, "withdrawn");
            (CheckState::Pending, format!("{word} {}: it did not run", decided_by(settled.by)))
        }
        _ => (CheckState::Pending, "its wrapper ended".to_owned()),
    }
}

/// Goes on from the selected call, which ended, to the one that was next, unless a question about it is open. What an
/// operator decided or missed stays: its card says so. No key decides the next call before it was on screen.
pub(super) fn move_on(model: &mut Model, key: &CallKey, next: Option<CallKey>) {
    let Some(held) = model.queue.call(key).filter(|held| held.is_over()) else { return };
    let ended = match &held.state {
        CallState::Settled(settled) if matches!(settled.by, By::Operator | By::Expiry) => return,
        CallState::Settled(settled) => {
            let (_, word) = record_row::verdict(settled.verdict, "withdrawn");
            format!(" was {word} {}. ", decided_by(settled.by))
        }
        _ => " was lost with its wrapper. ".to_owned(),
    };
    if next.is_none() || model.overlay.is_some() || model.queue.selected.as_ref() != Some(key) {
        return;
    }
    if model.note.is_none() && matches!(model.screen, Screen::Queue | Screen::Detail) {
        let row = desk::name_of(model, key, Tone::Strong).warn(ended);
        model.note = Some(row.ours("This is the next one that waits."));
        model.note_until = Some(model.now + 4_000);
    }
    select(model, next);
    model.todo.push(Command::Drain);
}
