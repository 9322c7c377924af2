//! Marks, and decisions about several calls: each member is listed before `y`, and each gets a verdict of its own.

use std::collections::BTreeSet;

use super::{Command, decide, moves};
use crate::audit::record::VerdictWord;
use crate::console::card::counted;
use crate::console::model::batch::Unlisted;
use crate::console::model::{
    Armed, Batch, CallKey, Confirmation, Fate, Grouping, Model, Overlay, Reading, Screen, Seen, Unarmed,
};
use crate::link::message::OperatorVerdict;
use crate::operator::record_row::verdict;

/// `space`: marks the selected row or takes its mark back, and goes on to the next.
pub(super) fn mark(model: &mut Model) {
    let Some(group) = model.selected_group() else {
        return model.refuse("Nothing is selected.");
    };
    let keys: Vec<CallKey> = group.members().filter(|held| !held.is_over()).map(|held| held.key.clone()).collect();
    turn(model, keys);
    moves::go(model, crate::console::keymap::Action::Down);
}

/// `*`: marks every waiting call of the selected call's tool, or takes those marks back.
pub(super) fn mark_alike(model: &mut Model) {
    let Some(held) = model.selection() else {
        return model.refuse("Nothing is selected.");
    };
    let (session, tool) = (held.key.session.clone(), held.snapshot.tool.clone());
    let alike = model.waiting_of(&session).into_iter().filter(|held| held.snapshot.tool == tool);
    let keys: Vec<CallKey> = alike.map(|held| held.key.clone()).collect();
    turn(model, keys);
}

/// Marks these calls; takes their marks back where all have one.
fn turn(model: &mut Model, keys: Vec<CallKey>) {
    if keys.iter().all(|key| model.marked.contains(key)) {
        model.marked.retain(|key| !keys.contains(key));
    } else {
        model.marked.extend(keys);
    }
}

/// `o`: identical calls as one row, or each on its own.
pub(super) fn regroup(model: &mut Model) {
    let (grouping, words) = match model.grouping {
        Grouping::Identical => (Grouping::Each, "Every call has a row of its own now."),
        Grouping::Each => (Grouping::Identical, "Identical calls are one row now."),
    };
    model.grouping = grouping;
    model.say(words);
}

/// Opens the list of several calls, or says why not; `false` where there is but one, so that its card is the question.
pub(super) fn lists(model: &mut Model, reading: Reading) -> bool {
    let targets = model.targets();
    if targets.len() < 2 && model.marked_calls().is_empty() {
        return false;
    }
    let dangerous = targets.iter().filter(|held| held.snapshot.danger.is_some()).count();
    if dangerous > 0 && model.settings.confirmation == Confirmation::Word {
        let words = format!(
            "{dangerous} of {} dangerous: approve each one by itself, by typing its word. space takes a mark back, o \
             splits a row.",
            targets.len()
        );
        model.refuse(words);
        return true;
    }
    let unread = targets.iter().filter(|held| held.seen == Seen::Partly).count();
    let keys: Vec<CallKey> = targets.iter().map(|held| held.key.clone()).collect();
    if unread > 0 && reading == Reading::Read {
        let words = format!(
            "{unread} of {} were not read to their end: read their cards first (PgDn; Z unfolds). A approves unread.",
            keys.len()
        );
        model.refuse(words);
        return true;
    }
    let reading = if targets.iter().all(|held| held.seen == Seen::Whole) { Reading::Read } else { reading };
    open(model, Fate::Approve(reading), model.bind(&keys));
    true
}

/// `D`: asks why every waiting call of the selected call's server is denied.
pub(super) fn deny_server(model: &mut Model) {
    let Some(session) = model.selected.as_ref().map(|key| key.session.clone()) else {
        return model.refuse("Nothing is selected.");
    };
    if model.in_view() == Err(Unarmed::NotDrawn) {
        return decide::tell_unarmed(model, Unarmed::NotDrawn);
    }
    // A search hides calls: what it hides is not decided with what it shows.
    let shown: BTreeSet<&CallKey> = model.queue().into_iter().map(|held| &held.key).collect();
    let waiting = model.waiting_of(&session).into_iter().map(|held| &held.key);
    let keys: Vec<CallKey> = waiting.filter(|key| shown.contains(key)).cloned().collect();
    let members = model.bind(&keys);
    if members.is_empty() {
        return model.refuse("No call of this server waits.");
    }
    model.overlay = Some(Overlay::Reason { members, text: String::new(), offered: 0 });
}

/// Shows the list that is to be decided.
pub(super) fn open(model: &mut Model, fate: Fate, members: Vec<Armed>) {
    model.listed = None;
    model.overlay = Some(Overlay::Batch(Batch { fate, members, top: 0 }));
}

/// `y`: decides every listed call that still waits as it was listed.
pub(super) fn confirm(model: &mut Model) {
    let Some(Overlay::Batch(batch)) = model.overlay.clone() else { return };
    match model.listed(&batch) {
        Ok(()) => {}
        Err(Unlisted::TooSoon) => {
            return model.refuse("Too soon: look at the list first.");
        }
        Err(Unlisted::Unread) => {
            return model.refuse("Read the list to its end first (PgDn, End).");
        }
    }
    model.overlay = None;
    let took = model.listed.take().map_or(0, |listed| model.now - listed.since);
    let waiting: Vec<&Armed> = batch.members.iter().filter(|armed| model.stands(&batch, armed).is_some()).collect();
    let word = if matches!(batch.fate, Fate::Approve(_)) { VerdictWord::Approve } else { VerdictWord::Deny };
    let (all, alive) = (batch.members.len(), waiting.len());
    let mut sent = 0;
    for armed in waiting {
        let verdict = match (&batch.fate, model.still(armed)) {
            (Fate::Deny { reason }, _) => OperatorVerdict::Deny { reason: reason.clone() },
            // A card that was not shown to its end is approved only by the key for unread calls.
            (Fate::Approve(Reading::Read), Some(held)) if held.seen == Seen::Partly => continue,
            (Fate::Approve(reading), Some(held)) => decide::approval(held, *reading),
            (Fate::Approve(_), None) => continue,
        };
        decide::send_one(model, armed, verdict, took);
        sent += 1;
        model.marked.remove(armed.key());
    }
    if let Some(next) = batch.members.first().map(|armed| moves::next_waiting(model, armed.key())) {
        moves::select(model, next);
    }
    model.screen = Screen::Queue;
    let (_, done) = verdict(Some(word), "");
    let left = match all - alive {
        0 => String::new(),
        _ => format!("; {} no longer waited as listed", counted(all - alive, "call")),
    };
    model.say(format!("{} {done}{left}.", counted(sent, "call")));
    model.todo.push(Command::Drain);
}
