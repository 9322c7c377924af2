//! The keys that decide: each acts on the call that was drawn and armed, or says why it does not.

use super::{Command, find_mut, moves, note};
use crate::audit::record::VerdictWord;
use crate::console::keymap::Key;
use crate::console::model::{Armed, Drawn, Extent, Held, Model, Overlay, Question, Reading, Screen, Standing, Unarmed};
use crate::console::row::Tone;
use crate::link::message::{FromConsole, OperatorVerdict};

/// `a`: approves what was read; asks once more when it is dangerous.
pub(super) fn approve(model: &mut Model) -> Vec<Command> {
    let Some(armed) = armed(model) else {
        return Vec::new();
    };
    let Some(held) = model.still(&armed) else {
        return Vec::new();
    };
    match unseen(held) {
        Some(why) => {
            model.screen = Screen::Detail;
            note(model, Tone::Warn, why);
            Vec::new()
        }
        None => ask_or_send(model, armed, Reading::Read),
    }
}

/// `A`: approves without having read; asks once more when it is dangerous.
pub(super) fn approve_unread(model: &mut Model) -> Vec<Command> {
    match armed(model) {
        Some(armed) => ask_or_send(model, armed, Reading::Unread),
        None => Vec::new(),
    }
}

/// `y`: confirms, once the question itself was on screen.
pub(super) fn confirm(model: &mut Model) -> Vec<Command> {
    let Some(Overlay::Confirm { armed, reading }) = model.overlay.clone() else {
        return Vec::new();
    };
    let asked = |drawn: &Drawn| drawn.question == Question::Asked && drawn.armed == armed;
    if !model.drawn.as_ref().is_some_and(asked) {
        return Vec::new();
    }
    model.overlay = None;
    if model.still(&armed).is_none() {
        note(model, Tone::Warn, "Too late: the call no longer waits as it was shown. Nothing was approved.");
        return Vec::new();
    }
    send(model, &armed, VerdictWord::Approve, approval(reading))
}

/// `d`: asks for the reason.
pub(super) fn deny(model: &mut Model) -> Vec<Command> {
    if let Some(armed) = armed(model) {
        model.overlay = Some(Overlay::Reason { armed, text: String::new() });
    }
    Vec::new()
}

/// A key that is text, while the reason is written.
pub(super) fn typed(model: &mut Model, key: Key) -> Vec<Command> {
    if let Some(Overlay::Reason { text, .. }) = &mut model.overlay {
        match key {
            Key::Char(c) => text.push(c),
            Key::Backspace => {
                text.pop();
            }
            Key::Ctrl('u') => text.clear(),
            _ => {}
        }
    }
    Vec::new()
}

/// `Enter` after the reason: denies.
pub(super) fn send_denial(model: &mut Model) -> Vec<Command> {
    let Some(Overlay::Reason { armed, text }) = model.overlay.take() else {
        return Vec::new();
    };
    if model.still(&armed).is_none() {
        let words = "Too late: the call no longer waits as it was shown. Nothing was sent.";
        note(model, Tone::Warn, words);
        return Vec::new();
    }
    let reason = match text.trim() {
        "" => "no reason given".to_owned(),
        reason => reason.to_owned(),
    };
    send(model, &armed, VerdictWord::Deny, OperatorVerdict::Deny { reason })
}

/// The armed call; else a note on why no key decides now.
pub(super) fn armed(model: &mut Model) -> Option<Armed> {
    let words = match model.armed() {
        Ok(armed) => return Some(armed),
        Err(Unarmed::Nothing) => "Nothing is selected.",
        Err(Unarmed::NotDrawn) => "The card has just changed: look at it first.",
        Err(Unarmed::TooSoon) => "The card has just changed: no key decides it yet.",
        Err(Unarmed::NotWaiting) => "This call no longer waits: j or k goes on.",
    };
    super::passing_note(model, Tone::Warn, words);
    None
}

/// What was not shown yet of what must be: the arguments' end, and of a dangerous call the card's end too.
fn unseen(held: &Held) -> Option<&'static str> {
    match (&held.snapshot.danger, held.seen.arguments, held.seen.card) {
        (None, Extent::ToItsEnd, _) | (Some(_), Extent::ToItsEnd, Extent::ToItsEnd) => None,
        (None, Extent::Partly, _) => {
            Some("Not read yet: go to the arguments' end (PgDn, End), then a. A approves unread.")
        }
        (Some(_), _, _) => Some("Dangerous: read to the card's last line (PgDn, End), then a, then y."),
    }
}

fn ask_or_send(model: &mut Model, armed: Armed, reading: Reading) -> Vec<Command> {
    match model.still(&armed) {
        Some(held) if held.snapshot.danger.is_some() => {
            model.overlay = Some(Overlay::Confirm { armed, reading });
            Vec::new()
        }
        Some(_) => send(model, &armed, VerdictWord::Approve, approval(reading)),
        None => Vec::new(),
    }
}

fn approval(reading: Reading) -> OperatorVerdict {
    OperatorVerdict::Approve { unread: reading == Reading::Unread }
}

/// Sends the verdict on exactly the bytes that were shown, and goes on to the next call.
fn send(model: &mut Model, armed: &Armed, word: VerdictWord, verdict: OperatorVerdict) -> Vec<Command> {
    let message = FromConsole::Decide { ticket: armed.key().ticket.clone(), digest: armed.digest(), verdict };
    let next = moves::next_waiting(model, armed.key());
    if let Some(held) = find_mut(model, armed.key()) {
        held.standing = Standing::Sent(word);
    }
    moves::select(model, next);
    let session = armed.key().session.clone();
    vec![Command::Send { session, message }, Command::Drain]
}
