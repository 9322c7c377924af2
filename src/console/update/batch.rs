//! Several calls at once: marks, and the list in which they are ticked, read and decided. Each gets a verdict of its own.

use std::collections::BTreeSet;

use super::decide;
use super::select;
use crate::audit::VerdictWord;
use crate::console::keymap::Action;
use crate::console::model::{
    Armed, Batch, CallKey, Command, Confirmation, Fate, Grouping, Held, Model, Overlay, Reading, Screen, Seen, Text,
    Tick, Unlisted,
};
use crate::console::pages::batch::{lay, opened, room};
use crate::console::rows::content_rows;
use crate::link::message::FromConsole;
use crate::operator::record_row::verdict;
use crate::wire::counted;

/// `space`: marks the selected row or takes its mark back, and goes on to the next.
pub(super) fn mark(model: &mut Model) {
    let Some(group) = model.queue.selected_group() else {
        return model.refuse("Nothing is selected.");
    };
    let keys: Vec<CallKey> = group.members().filter(|held| !held.is_over()).map(|held| held.key.clone()).collect();
    if keys.iter().all(|key| model.queue.marked.contains(key)) {
        model.queue.marked.retain(|key| !keys.contains(key));
    } else {
        model.queue.marked.extend(keys);
    }
    select::step(model, Action::Down);
}

/// `*`: marks the waiting calls of the tool; again, of its server; again, all; then none. Not what a search hides.
pub(super) fn mark_alike(model: &mut Model) {
    let Some(held) = model.queue.selection() else {
        return model.refuse("Nothing is selected.");
    };
    let (session, tool) = (held.key.session.clone(), held.snapshot.tool.clone());
    let wider: [&dyn Fn(&Held) -> bool; 3] = [
        &|held| held.key.session == session && held.snapshot.tool == tool,
        &|held| held.key.session == session,
        &|_| true,
    ];
    let shown = model.queue.order();
    let of = |wanted: &dyn Fn(&Held) -> bool| -> BTreeSet<CallKey> {
        shown.iter().filter(|held| held.waits() && wanted(held)).map(|held| held.key.clone()).collect()
    };
    // The narrowest of these that is not marked yet.
    let next = wider.into_iter().map(of).find(|keys| !keys.is_subset(&model.queue.marked));
    match next {
        Some(keys) => model.queue.marked.extend(keys),
        None => model.queue.marked.clear(),
    }
}

/// `o`: identical calls as one row, or each on its own.
pub(super) fn regroup(model: &mut Model) {
    let (grouping, words) = match model.queue.grouping {
        Grouping::Identical => (Grouping::Each, "Every call has a row of its own now."),
        Grouping::Each => (Grouping::Identical, "Identical calls are one row now."),
    };
    model.queue.grouping = grouping;
    model.say(words);
}

/// How many calls one list has at most where they are to be read.
const MOST: usize = 200;

/// `a` and `A`: lists the marked calls or the group, or says why not. Where there is but one call, its card is the question.
pub(super) fn approve(model: &mut Model, reading: Reading) {
    // A group is about the card that is armed.
    if model.queue.marked_calls().is_empty() && (model.armed().is_err() || model.queue.targets().len() < 2) {
        return decide::approve(model, reading);
    }
    // A card that only flashed by was not read.
    model.leave();
    let targets = model.queue.targets();
    if let withheld @ 1.. = targets.iter().filter(|held| held.is_withheld()).count() {
        let words = format!(
            "Of {withheld} of {} something is redacted or cut here: these are approved only at their machine. space takes a mark \
             back, o splits a row.",
            targets.len()
        );
        return model.refuse(words);
    }
    let dangerous = targets.iter().filter(|held| held.snapshot.danger.is_some()).count();
    if dangerous > 0 && model.settings.confirmation == Confirmation::Word {
        let words = format!(
            "{dangerous} of {} dangerous: approve each one by itself, by typing its word. space takes a mark back, o \
             splits a row.",
            targets.len()
        );
        return model.refuse(words);
    }
    let is_read = targets.iter().all(|held| held.seen == Seen::Whole);
    let reading = if is_read { Reading::Read } else { reading };
    let most = if reading == Reading::Read { MOST } else { usize::MAX };
    let more = targets.len().saturating_sub(most);
    let keys: Vec<CallKey> = targets.iter().take(most).map(|held| held.key.clone()).collect();
    open(model, Fate::Approve(reading), &model.bind(&keys));
    if more > 0 {
        model.say(format!("These are the oldest {MOST}: {} for the next list.", counted(more, "call")));
    }
}

pub(super) fn open(model: &mut Model, fate: Fate, calls: &[Armed]) {
    let room = room(model);
    let members = lay(model, &fate, calls, room);
    model.overlay = Some(Overlay::Batch(Batch::new(fate, members, room)));
}

/// Lays the list out for another size: ticks stay; the rows are new, so only a call that was read whole stays read.
pub(super) fn settle(model: &mut Model) {
    let room = room(model);
    let Some(Overlay::Batch(batch)) = &model.overlay else { return };
    if batch.room == room {
        return;
    }
    let calls: Vec<Armed> = batch.members.iter().map(|member| member.armed.clone()).collect();
    let members = lay(model, &batch.fate, &calls, room);
    change(model, |batch, page, _| batch.lay(members, room, page));
}

/// Changes the open list, with the rows of a page and the time.
pub(super) fn change(model: &mut Model, change: impl FnOnce(&mut Batch, usize, i64)) {
    let (page, now) = (content_rows(model.areas().body), model.now);
    if let Some(Overlay::Batch(batch)) = &mut model.overlay {
        change(batch, page, now);
    }
}

pub(super) fn go(model: &mut Model, action: Action) {
    change(model, |batch, page, _| match action {
        Action::Down | Action::Up => batch.step(action, page),
        _ => batch.scroll(select::moved(batch.top, action, page, batch.rows()), page),
    });
}

/// `Enter`: opens the card of the call in its place, or closes it.
pub(super) fn turn(model: &mut Model) {
    let Some(Overlay::Batch(batch)) = &model.overlay else { return };
    let Some(member) = batch.members.get(batch.at) else { return };
    let Some(held) = model.as_listed(batch, &member.armed) else {
        return model.refuse("This call no longer waits as it was listed.");
    };
    let text = match &member.text {
        Text::Card(_) => {
            lay(model, &batch.fate, std::slice::from_ref(&member.armed), batch.room).pop().map(|one| one.text)
        }
        _ => Some(opened(model, held)),
    };
    let Some(text) = text else { return };
    change(model, |batch, page, now| batch.turn(text, page, now));
}

/// `y`: decides every ticked call that was shown and still waits as it was listed.
pub(super) fn confirm(model: &mut Model) {
    change(model, |batch, _, now| batch.count(now));
    let Some(Overlay::Batch(batch)) = model.overlay.clone() else { return };
    match (model.may(&batch), &batch.fate) {
        (Ok(()), _) => {}
        (Err(Unlisted::TooSoon), _) => return model.refuse("Too soon: look at the list first."),
        (Err(Unlisted::Unread), Fate::Approve(Reading::Read)) => {
            return model.refuse("No ticked call was read yet: PgDn reads on, Enter opens one that does not fit.");
        }
        (Err(Unlisted::Unread), _) => return model.refuse("Read the list to its end first (PgDn, End)."),
    }
    model.overlay = None;
    let is_as_listed = |armed: &Armed| model.as_listed(&batch, armed).is_some();
    let over = batch.members.iter().filter(|one| one.tick == Tick::Ticked && !is_as_listed(&one.armed)).count();
    let verdicts: Vec<_> = batch.verdicts().into_iter().filter(|(armed, _)| is_as_listed(armed)).collect();
    let (sent, took) = (verdicts.len(), batch.took(model.now));
    for (armed, verdict) in verdicts {
        decide::counts(model, armed, verdict.word(), took);
        model.send(armed, |ticket, digest| FromConsole::Decide { ticket, digest, verdict, signed: None });
        model.queue.marked.remove(armed.key());
    }
    let next = batch.members.first().map(|member| select::next_waiting(model, member.armed.key()));
    if let Some(next) = next {
        select::select(model, next);
    }
    model.screen = Screen::Queue;
    let word = if matches!(batch.fate, Fate::Approve(_)) { VerdictWord::Approve } else { VerdictWord::Deny };
    let mut words = format!("{} {}", counted(sent, "call"), verdict(Some(word), "").1);
    if over > 0 {
        words += &format!("; {} no longer waited as listed", counted(over, "call"));
    }
    if let left @ 1.. = batch.members.len().saturating_sub(sent + over) {
        words += &format!("; {left} not ticked or not read {} on", if left == 1 { "waits" } else { "wait" });
    }
    model.say(words + ".");
    model.todo.push(Command::Drain);
}
