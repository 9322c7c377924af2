//! Where the operator looks: selection, scrolling, screens. Decides nothing.

use std::sync::Arc;

use super::{Command, find_mut};
use crate::audit::record::By;
use crate::console::card::{Card, Details};
use crate::console::keymap::Action;
use crate::console::model::{Batch, CallKey, CallState, Held, Model, Overlay, Screen, Shown, Sort, Tour};
use crate::console::panel;
use crate::console::screen::content_rows;
use crate::console::view;
use crate::gate::data::snapshot::Snapshot;
use crate::link::message::FromConsole;
use crate::operator::found::LogRequest;

/// Moves by a line, a page, or to an end.
pub(super) fn go(model: &mut Model, action: Action) {
    match &model.overlay {
        Some(Overlay::Help { top }) => {
            let rows = view::help::rows(&model.settings.keys, usize::from(model.size.0)).len();
            let top = moved(*top, action, content_rows(model.areas().body), rows);
            model.overlay = Some(Overlay::Help { top });
            return;
        }
        Some(Overlay::Batch(batch)) => {
            let top = moved(batch.top, action, model.list_rows(), batch.members.len());
            model.overlay = Some(Overlay::Batch(Batch { top, ..batch.clone() }));
            return;
        }
        Some(Overlay::Review(_)) => return super::review::go(model, action),
        Some(Overlay::Rule(_)) => return super::rule::choose(model, action),
        _ => {}
    }
    match model.screen {
        Screen::Activity | Screen::Log | Screen::Tools | Screen::Rules | Screen::Servers => {
            super::browse::go(model, action);
        }
        Screen::Queue if matches!(action, Action::Down | Action::Up) => step(model, action),
        Screen::Queue | Screen::Detail => scroll(model, action),
    }
}

/// Moves the card.
pub(super) fn scroll(model: &mut Model, action: Action) {
    let rows = model.card.as_ref().map_or(0, |card| card.rows);
    model.scroll = match (action, &model.card) {
        (Action::Bottom, Some(card)) if model.scroll + model.card_rows() < card.arguments_end => {
            card.arguments_end.saturating_sub(model.card_rows())
        }
        _ => moved(model.scroll, action, model.card_rows(), rows),
    };
}

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
        Action::Top => 0,
        Action::Bottom => last,
        _ => at,
    }
    .min(last)
}

/// To the first or last call, or by half a page of the queue.
pub(super) fn leap(model: &mut Model, action: Action) {
    let rows = model.rows();
    let (at, last) = (model.selected_row(&rows).unwrap_or(0), rows.len().saturating_sub(1));
    drop(rows);
    let half = usize::from(model.areas().queue.height / 2).max(1);
    let row = match action {
        Action::First => 0,
        Action::HalfDown => (at + half).min(last),
        Action::HalfUp => at.saturating_sub(half),
        _ => last,
    };
    select_row(model, row);
}

/// Selects the first call of a row of the queue, where there is such a row.
pub(super) fn select_row(model: &mut Model, row: usize) -> Option<()> {
    let key = model.group(&model.rows(), row)?.lead.key.clone();
    select(model, Some(key));
    Some(())
}

/// `[` and `]`: to the first call of another server, if the queue is sorted by server.
pub(super) fn leap_server(model: &mut Model, action: Action) {
    let row = model.lines(&model.rows()).neighbour(action == Action::NextServer);
    if row.and_then(|row| select_row(model, row)).is_none() && model.sort != Sort::Server {
        model.say("s sorts the queue by server first.");
    }
}

/// `t`: asks for more time for the call on screen. Its wrapper knows how long its host waits.
pub(super) fn extend(model: &mut Model) {
    match model.chosen() {
        Ok(armed) => super::send(model, &armed, |ticket, digest| FromConsole::Extend { ticket, digest }),
        Err(why) => super::decide::tell_unarmed(model, why),
    }
}

/// To the next or previous call; a settled one leaves the queue when the selection leaves it.
fn step(model: &mut Model, action: Action) {
    let goal = match (model.selected_row(&model.rows()), action) {
        (None, _) => Some(0),
        (Some(at), Action::Down) => Some(at + 1),
        (Some(at), _) => at.checked_sub(1),
    };
    if goal.and_then(|row| select_row(model, row)).is_none() {
        leave_ended(model);
    }
}

/// Goes on from a selected call that is over.
fn leave_ended(model: &mut Model) {
    if let Some(key) = model.selection().filter(|held| held.is_over()).map(|held| held.key.clone()) {
        let next = neighbour(model, &key, |_| true);
        select(model, next);
    }
}

/// Selects a call; a settled one that was selected before leaves the queue.
pub(super) fn select(model: &mut Model, key: Option<CallKey>) {
    if model.selected == key {
        return;
    }
    model.leave();
    let left = std::mem::replace(&mut model.selected, key);
    model.calls.retain(|held| Some(&held.key) != left.as_ref() || !held.is_over());
    model.scroll = 0;
    model.fold_at = None;
    model.shown = Shown::default();
    model.card = None;
    if model.selected.is_none() && model.screen == Screen::Detail {
        model.screen = Screen::Queue;
    }
}

/// The next waiting call after this one, otherwise the one before it.
pub(super) fn next_waiting(model: &Model, key: &CallKey) -> Option<CallKey> {
    neighbour(model, key, Held::waits)
}

fn neighbour(model: &Model, key: &CallKey, fits: impl Fn(&Held) -> bool) -> Option<CallKey> {
    let queue = model.queue();
    let at = queue.iter().position(|held| held.key == *key).unwrap_or(0);
    let (before, after) = queue.split_at(at);
    after.iter().skip(1).chain(before.iter().rev()).find(|held| fits(held)).map(|held| held.key.clone())
}

/// `Enter`: the card on the whole screen, or back. Never a decision.
pub(super) fn open(model: &mut Model) {
    match model.screen {
        Screen::Queue if model.selected.is_some() => model.screen = Screen::Detail,
        Screen::Detail => model.screen = Screen::Queue,
        Screen::Queue => {}
        Screen::Rules => super::review::open(model).unwrap_or_else(|| super::browse::open(model)),
        Screen::Activity | Screen::Log | Screen::Tools | Screen::Servers => super::browse::open(model),
    }
}

/// `Esc`: one step back.
pub(super) fn back(model: &mut Model) {
    match model.overlay.take() {
        Some(Overlay::Search { before, sought, .. }) => {
            return super::browse::sought(model, model.screen, &before, sought);
        }
        // In a terminal, Alt with a letter of the text is an Esc, too: what follows is still text.
        Some(Overlay::Reason { text, .. } | Overlay::Word { text, .. }) if !text.is_empty() => {
            return model.ignore_keys();
        }
        Some(_) => return,
        None => {}
    }
    if panel::shows_tour(model) {
        // The tour says that Esc hides it.
        model.settings.tour = Tour::Dismissed;
        return model.todo.push(Command::Look(LogRequest::TourSeen));
    }
    match model.screen {
        Screen::Detail => model.screen = Screen::Queue,
        Screen::Queue if model.selection().is_some_and(Held::is_over) => leave_ended(model),
        Screen::Queue if !model.marked.is_empty() => model.marked.clear(),
        Screen::Queue if !model.browse.queue.find.is_empty() => super::browse::search(model, Screen::Queue, ""),
        Screen::Queue => {}
        Screen::Activity | Screen::Log | Screen::Tools | Screen::Rules | Screen::Servers => super::browse::back(model),
    }
}

/// The queue's filter has changed: what it leaves out is not selected.
pub(super) fn filtered(model: &mut Model) {
    if model.selected_row(&model.rows()).is_none() && select_row(model, 0).is_none() {
        select(model, None);
    }
}

/// `i`: shows the details of the card, or folds them.
pub(super) fn details(model: &mut Model) {
    model.details = match model.details {
        Details::Folded => Details::Shown,
        Details::Shown => Details::Folded,
    };
    lay_card(model);
    if let (Details::Shown, Some(card)) = (model.details, &model.card) {
        model.scroll = card.arguments_end;
    }
}

/// `s`: the other order. The selection stays on its call.
pub(super) fn sort(model: &mut Model) {
    model.sort = match model.sort {
        Sort::Oldest => Sort::Risk,
        Sort::Risk => Sort::Server,
        Sort::Server => Sort::Oldest,
    };
}

/// Brings card, scrolling and queue into line with whatever has just changed.
pub(super) fn settle(model: &mut Model) {
    if model.selection().is_none() {
        let first = model.queue().iter().find(|held| held.waits()).map(|held| held.key.clone());
        if first.is_some() || model.selected.is_some() {
            select(model, first);
        }
    }
    lay_card(model);
    let rows = model.card.as_ref().map_or(0, |card| card.rows);
    model.scroll = model.scroll.min(rows.saturating_sub(model.card_rows()));
}

/// Lays the card out again if the call, its bytes or the width changed.
fn lay_card(model: &mut Model) {
    let Some(held) = model.selection() else {
        model.card = None;
        return;
    };
    let snapshot = held.snapshot.clone();
    let width = model.areas().card.width;
    let laid = model.card.as_ref();
    let same_call = laid.is_some_and(|card| std::sync::Arc::ptr_eq(&card.snapshot, &snapshot));
    let same_width = laid.is_some_and(|card| card.width == width);
    if same_call && same_width && laid.is_some_and(|card| card.details == model.details) || width == 0 {
        return;
    }
    if !same_call {
        model.scroll = 0;
        model.fold_at = None;
    }
    let folds = laid.filter(|_| same_call).map(|card| card.folds.clone()).unwrap_or_default();
    let old_rows = laid.map_or(0, |card| card.rows).max(1);
    let card = Card::lay(&snapshot, width, model.settings.offset, folds, model.details);
    if !(same_call && same_width) {
        // After a resize the place in the text stays about the same. The rows are new, so none counts as shown.
        model.scroll = model.scroll * card.rows / old_rows;
        model.shown = Shown::default();
    }
    model.card = Some(card);
}

/// Replaces a card after a change such as of the deadline: what was read of it stays read.
pub(super) fn replace_card(model: &mut Model, key: &CallKey, old: &Arc<Snapshot>) {
    let Some(card) = model.card.as_ref().filter(|card| Arc::ptr_eq(&card.snapshot, old)) else { return };
    let Some(held) = model.call(key) else { return };
    let (folds, details) = (card.folds.clone(), card.details);
    model.card = Some(Card::lay(&held.snapshot, card.width, model.settings.offset, folds, details));
}

/// How often what a card on screen would touch is looked at again, in milliseconds.
const REFRESH: i64 = 2_000;
/// The same, where it changes every time.
const REFRESH_BUSY: i64 = 30_000;

/// Asks the wrapper to look again at what the call on screen would touch.
pub(super) fn refresh(model: &mut Model) {
    let Some(armed) = model.drawn.as_ref().map(|drawn| drawn.armed.clone()) else { return };
    let Some(held) = model.still(&armed) else { return };
    let pause = if held.snapshot.asked_again.is_some() { REFRESH_BUSY } else { REFRESH };
    let since = model.drawn.as_ref().map_or(0, |drawn| drawn.since).max(model.looked_at);
    if held.snapshot.facts.is_empty() || model.now - since < pause {
        return;
    }
    model.looked_at = model.now;
    super::send(model, &armed, |ticket, digest| FromConsole::Look { ticket, digest });
}

/// Keeps the selected call within the rows of the queue. Reads the whole queue, so it is not called for every call that
/// arrives: the view draws from the same place.
pub(super) fn show_selection(model: &mut Model) {
    let page = usize::from(model.areas().queue.height.saturating_sub(1));
    let top = model.first_line(&model.rows(), page);
    model.queue_top = top;
}

/// Calls that went past their deadline and are still listed.
const MOST_EXPIRED: usize = 100;

/// Marks a call as over: it stays while it is selected, and one that no operator answered in time stays until it was
/// selected; any other goes.
pub(super) fn end(model: &mut Model, key: &CallKey, state: CallState) {
    let is_expired = |held: &Held| matches!(&held.state, CallState::Settled(settled) if settled.by == By::Expiry);
    let stays = match &state {
        CallState::Settled(settled) if settled.by == By::Expiry => {
            model.calls.iter().filter(|held| is_expired(held)).count() < MOST_EXPIRED
        }
        _ => model.selected.as_ref() == Some(key),
    };
    if stays || model.selected.as_ref() == Some(key) {
        if let Some(held) = find_mut(model, key) {
            held.state = state;
        }
    } else {
        model.calls.retain(|held| held.key != *key);
    }
}
