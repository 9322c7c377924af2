//! Where the operator looks: selection, scrolling, screens. Decides nothing.

use super::{Command, find_mut, is_over};
use crate::console::card::{Card, Details};
use crate::console::found::Task;
use crate::console::keymap::Action;
use crate::console::model::{CallKey, CallState, Model, Overlay, Screen, Shown, Sort, Tour};
use crate::console::screen::content_rows;
use crate::console::view;

/// Moves by a line, a page, or to an end.
pub(super) fn go(model: &mut Model, action: Action) {
    if let Some(Overlay::Help { top }) = &model.overlay {
        let top = moved(
            *top,
            action,
            content_rows(model.areas().body),
            view::help::rows(&model.settings.keys, usize::from(model.size.0)).len(),
        );
        model.overlay = Some(Overlay::Help { top });
        return;
    }
    if let Some(Overlay::Batch(batch)) = &model.overlay {
        let top = moved(batch.top, action, model.list_rows(), batch.members.len());
        if let Some(Overlay::Batch(batch)) = &mut model.overlay {
            batch.top = top;
        }
        return;
    }
    if matches!(model.overlay, Some(Overlay::Review(_))) {
        return super::review::go(model, action);
    }
    if matches!(model.overlay, Some(Overlay::Rule(_))) {
        return super::rule::choose(model, action);
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
    let rows = model.card.as_ref().map_or(0, Card::rows);
    model.scroll = match (action, &model.card) {
        (Action::Bottom, Some(card)) if model.scroll + model.card_rows() < card.arguments_end() => {
            card.arguments_end().saturating_sub(model.card_rows())
        }
        _ => moved(model.scroll, action, model.card_rows(), rows),
    };
}

/// The first row on screen after a move in `rows` rows of which `page` are shown.
pub(super) fn moved(top: usize, action: Action, page: usize, rows: usize) -> usize {
    let last = rows.saturating_sub(page.max(1));
    // One row of the last page stays on screen, so that the eye finds its place.
    let leap = page.saturating_sub(1).max(1);
    match action {
        Action::Down => top + 1,
        Action::Up => top.saturating_sub(1),
        Action::PageDown => top + leap,
        Action::PageUp => top.saturating_sub(leap),
        Action::Top => 0,
        Action::Bottom => last,
        _ => top,
    }
    .min(last)
}

/// To the next or previous call; leaving a settled one lets it go.
fn step(model: &mut Model, action: Action) {
    let rows = model.rows();
    let at = model.selected.as_ref().and_then(|here| model.row_of(&rows, here));
    let goal = match (at, action) {
        (None, _) => Some(0),
        (Some(at), Action::Down) => Some(at + 1),
        (Some(at), _) => at.checked_sub(1),
    };
    let next = goal.and_then(|row| model.group(&rows, row)).map(|group| group.lead.key.clone());
    drop(rows);
    match next {
        Some(key) => select(model, Some(key)),
        None if model.selection().is_some_and(is_over) => {
            let next = model.selected.clone().and_then(|key| neighbour(model, &key, |_| true));
            select(model, next);
        }
        None => {}
    }
}

/// Selects a call; a settled one that was selected before leaves the queue.
pub(super) fn select(model: &mut Model, key: Option<CallKey>) {
    if model.selected == key {
        return;
    }
    model.leave();
    let left = std::mem::replace(&mut model.selected, key);
    model.calls.retain(|held| Some(&held.key) != left.as_ref() || !is_over(held));
    model.scroll = 0;
    model.fold_at = None;
    model.shown = Shown::default();
    model.card = None;
    if model.selected.is_none() && model.screen == Screen::Detail {
        model.screen = Screen::Queue;
    }
}

/// The next call after this one that waits, else the one before it.
pub(super) fn next_waiting(model: &Model, key: &CallKey) -> Option<CallKey> {
    neighbour(model, key, |state| *state == CallState::Waiting)
}

fn neighbour(model: &Model, key: &CallKey, fits: impl Fn(&CallState) -> bool) -> Option<CallKey> {
    let queue = model.queue();
    let at = queue.iter().position(|held| held.key == *key).unwrap_or(0);
    let (before, after) = queue.split_at(at);
    after.iter().skip(1).chain(before.iter().rev()).find(|held| fits(&held.state)).map(|held| held.key.clone())
}

/// `Enter`: the card on the whole screen, or back. Never a decision.
pub(super) fn open(model: &mut Model) -> Vec<Command> {
    match model.screen {
        Screen::Queue if model.selected.is_some() => model.screen = Screen::Detail,
        Screen::Detail => model.screen = Screen::Queue,
        Screen::Queue => {}
        Screen::Rules => return super::review::open(model).unwrap_or_else(|| super::browse::open(model)),
        Screen::Activity | Screen::Log | Screen::Tools | Screen::Servers => return super::browse::open(model),
    }
    Vec::new()
}

/// `Esc`: one step back.
pub(super) fn back(model: &mut Model) -> Vec<Command> {
    match model.overlay.take() {
        Some(Overlay::Search { before, sought, .. }) => {
            super::browse::sought(model, model.screen, &before, sought);
            return Vec::new();
        }
        Some(_) => return Vec::new(),
        None => {}
    }
    match model.screen {
        Screen::Detail => model.screen = Screen::Queue,
        Screen::Queue if model.selection().is_some_and(is_over) => {
            let next = model.selected.clone().and_then(|key| neighbour(model, &key, |_| true));
            select(model, next);
        }
        Screen::Queue if !model.marked.is_empty() => model.marked.clear(),
        Screen::Queue if model.tour == Tour::Shown => {
            model.tour = Tour::Dismissed;
            return vec![Command::Look(Task::TourSeen)];
        }
        Screen::Queue => {}
        Screen::Activity | Screen::Log | Screen::Tools | Screen::Rules | Screen::Servers => super::browse::back(model),
    }
    Vec::new()
}

/// `i`: shows the details of the card, or folds them.
pub(super) fn details(model: &mut Model) {
    model.details = match model.details {
        Details::Folded => Details::Shown,
        Details::Shown => Details::Folded,
    };
    lay_card(model);
    if let (Details::Shown, Some(card)) = (model.details, &model.card) {
        model.scroll = card.arguments_end();
    }
}

/// `s`: the other order. The selection stays on its call.
pub(super) fn sort(model: &mut Model) {
    model.sort = match model.sort {
        Sort::Oldest => Sort::Risk,
        Sort::Risk => Sort::Oldest,
    };
}

/// Brings card, scrolling and queue into line with whatever has just changed.
pub(super) fn settle(model: &mut Model) {
    if model.selection().is_none() {
        let first = model.queue().iter().find(|held| held.state == CallState::Waiting).map(|held| held.key.clone());
        if first.is_some() || model.selected.is_some() {
            select(model, first);
        }
    }
    lay_card(model);
    let rows = model.card.as_ref().map_or(0, Card::rows);
    model.scroll = model.scroll.min(rows.saturating_sub(model.card_rows()));
}

/// Lays the card out anew when the call, its bytes or the width changed.
fn lay_card(model: &mut Model) {
    let Some(held) = model.selection() else {
        model.card = None;
        return;
    };
    let snapshot = held.snapshot.clone();
    let width = model.areas().card.width;
    let laid = model.card.as_ref();
    let same_call = laid.is_some_and(|card| std::sync::Arc::ptr_eq(card.snapshot(), &snapshot));
    let same_width = laid.is_some_and(|card| card.width() == width);
    if same_call && same_width && laid.is_some_and(|card| card.details() == model.details) || width == 0 {
        return;
    }
    if !same_call {
        model.scroll = 0;
        model.fold_at = None;
    }
    let folds = laid.filter(|_| same_call).map(Card::folds).cloned().unwrap_or_default();
    let old_rows = laid.map_or(0, Card::rows).max(1);
    let card = Card::folded_as(&snapshot, width, model.settings.offset, folds, model.details);
    if !(same_call && same_width) {
        // A resize keeps the place in the text, as near as rows allow. Its rows are other ones.
        model.scroll = model.scroll * card.rows() / old_rows;
        model.shown = Shown::default();
    }
    model.card = Some(card);
}

/// Keeps the selected call within the rows of the queue. Looks at all of it, so not for every call that arrives: the view
/// draws from the same place.
pub(super) fn show_selection(model: &mut Model) {
    let page = usize::from(model.areas().queue.height.saturating_sub(1));
    let top = model.first_row(&model.rows(), page);
    model.queue_top = top;
}

/// Marks a call as over: it stays while it is selected, else it goes.
pub(super) fn end(model: &mut Model, key: &CallKey, state: CallState) {
    if model.selected.as_ref() == Some(key) {
        if let Some(held) = find_mut(model, key) {
            held.state = state;
        }
    } else {
        model.calls.retain(|held| held.key != *key);
    }
}
