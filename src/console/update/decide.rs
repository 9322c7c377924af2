//! The keys that decide: each acts on the call that was drawn and armed, or says why it does not. Several are listed before
//! `y`. And the operator's word on a call's tool: that it reads, that it changes something, that a parameter is plain text.

use std::collections::BTreeSet;

use super::select;
use crate::audit::{By, VerdictWord};
use crate::console::card::Card;
use crate::console::keymap::Action;
use crate::console::model::{
    Armed, CallKey, CallState, Command, Confirmation, Fate, Held, Model, Overlay, Reading, Seen, Unarmed,
    call::Decision,
};
use crate::link::message::{FromConsole, OperatorVerdict, Remembers, ToolOffer, ToolWord};
use crate::text::row::{Tone, foreign, good};
use crate::wire::{Digest, counted};

/// `a`: approves what was read; `A`: without having read it. Both ask once more when it is dangerous.
pub(super) fn approve(model: &mut Model, reading: Reading) {
    match armed(model) {
        Some(armed) if model.still(&armed).is_some_and(Held::is_withheld) => {
            model.refuse(
                "Something of it is redacted or cut here: d denies it here, and it is approved only at its machine.",
            );
        }
        Some(armed) if reading == Reading::Unread || !tell_unread(model, &armed) => {
            let was_read = model.still(&armed).is_some_and(|held| held.seen == Seen::Whole);
            ask_or_send(model, armed, if was_read { Reading::Read } else { reading });
        }
        Some(_) | None => {}
    }
}

/// Says what of a card was not read yet, if that keeps `a` from approving the call; otherwise `false`. Does not scroll.
fn tell_unread(model: &mut Model, armed: &Armed) -> bool {
    let Some(held) = model.still(armed) else {
        return true;
    };
    if held.seen != Seen::Partly {
        return false;
    }
    let why = match model.card.laid.as_ref().map_or(0, Card::folded) {
        0 => "PgDn reads on, End skips to the end of the arguments. Then a.".to_owned(),
        1 => "a part is folded. Z unfolds it, PgDn reads on, then a.".to_owned(),
        folded => format!("{folded} parts are folded. Z unfolds them, PgDn reads on, then a."),
    };
    model.refuse(format!("Not read yet: {why} A approves unread."));
    true
}

/// The same for a grant or rule, which lets more than this call run: no row may have been skipped.
pub(super) fn tell_not_whole(model: &mut Model, armed: &Armed) -> bool {
    if tell_unread(model, armed) {
        return true;
    }
    let Some(Seen::Skipping(rows)) = model.still(armed).map(|held| held.seen) else { return false };
    let words = format!(
        "{} skipped: PgUp shows what was not on screen yet. This key is about more than one call.",
        counted(rows, "row")
    );
    model.refuse(words);
    true
}

/// `y`: confirms, once the question itself has stood on screen.
pub(super) fn confirm(model: &mut Model) {
    let Some(Overlay::Confirm { armed, reading }) = model.overlay.clone() else { return };
    if !model.stood() || !model.asks_about(&armed) {
        return model.refuse("Too soon: look at the question first.");
    }
    confirmed(model, &armed, reading);
}

/// Approves what was asked about, if the question is on screen and the call still waits as it was shown.
fn confirmed(model: &mut Model, armed: &Armed, reading: Reading) {
    if !model.asks_about(armed) {
        return;
    }
    model.overlay = None;
    let Some(verdict) = model.still(armed).map(|held| approval(held, reading)) else {
        return model.refuse("Too late: the call no longer waits as it was shown. Nothing was approved.");
    };
    send(model, armed, verdict);
}

/// `d`: asks at once for the reason, for the marked calls or the row in view, so that no letter of it is taken for a key.
pub(super) fn deny(model: &mut Model) {
    if let Err(why) = model.in_view()
        && model.queue.marked_calls().is_empty()
    {
        return tell_unarmed(model, why);
    }
    let keys: Vec<CallKey> = model.queue.targets().iter().map(|held| held.key.clone()).collect();
    let members = model.bind(&keys);
    model.overlay = Some(Overlay::Reason { members, text: String::new(), offered: 0 });
}

/// Whether the word may be typed: its first letter counts once the question itself has stood on screen.
pub(super) fn may_type(model: &Model) -> bool {
    match &model.overlay {
        Some(Overlay::Word { armed, text, .. }) if text.is_empty() => model.stood() && model.asks_about(armed),
        _ => true,
    }
}

/// The last letter approves, Enter never. Once the call no longer waits as shown, letters are taken, and are no keys.
pub(super) fn approve_by_word(model: &mut Model) {
    let Some(Overlay::Word { armed, reading, text }) = &model.overlay else { return };
    if model.word(armed).is_some_and(|word| word == *text) {
        let (armed, reading) = (armed.clone(), *reading);
        confirmed(model, &armed, reading);
    }
}

/// `↑ ↓` in the reason: earlier reasons, the last first.
pub(super) fn earlier_reason(model: &mut Model, action: Action) {
    let Some(Overlay::Reason { text, offered, .. }) = &mut model.overlay else { return };
    let at = match action {
        Action::Earlier => (*offered + 1).min(model.queue.reasons.len()),
        _ => offered.saturating_sub(1),
    };
    if at != *offered {
        *offered = at;
        *text = at.checked_sub(1).and_then(|i| model.queue.reasons.get(i)).cloned().unwrap_or_default();
    }
}

/// `Enter` after the reason: denies one call. Several are listed first: these are returned.
pub(super) fn send_denial(model: &mut Model) -> Option<(Fate, Vec<Armed>)> {
    let Some(Overlay::Reason { members, text, .. }) = model.overlay.take() else { return None };
    let reason = match text.trim() {
        "" => "no reason given".to_owned(),
        reason => {
            remember(model, reason);
            reason.to_owned()
        }
    };
    // Several calls, or one that the last frame did not show with these bytes, are listed before anything is sent.
    let is_shown = |armed: &Armed| {
        let drawn = model.drawn.as_ref().map(|drawn| &drawn.armed);
        drawn.is_some_and(|drawn| drawn.key() == armed.key() && drawn.digest() == armed.digest())
    };
    let armed = match members.as_slice() {
        [armed] if is_shown(armed) || model.waits(armed).is_none() => armed,
        _ => return Some((Fate::Deny { reason }, members)),
    };
    if model.waits(armed).is_some() {
        send(model, armed, OperatorVerdict::Deny { reason });
    } else {
        model.refuse("Too late: the call no longer waits as it was shown. Nothing was sent.");
    }
    None
}

fn remember(model: &mut Model, reason: &str) {
    const MOST: usize = 8;
    model.queue.reasons.retain(|old| old != reason);
    model.queue.reasons.push_front(reason.to_owned());
    model.queue.reasons.truncate(MOST);
}

/// The armed call; otherwise shows a note on why no key decides now.
pub(super) fn armed(model: &mut Model) -> Option<Armed> {
    match model.armed() {
        Ok(armed) => Some(armed),
        Err(why) => {
            tell_unarmed(model, why);
            None
        }
    }
}

pub(super) fn tell_unarmed(model: &mut Model, why: Unarmed) {
    // If a call ended without an operator's decision, keys go to the next one that waits, and decide nothing until that
    // was on screen. A call that another operator decided stays selected, because its card says who.
    let decided = |held: &Held| matches!(&held.state, CallState::Settled(settled) if settled.by == By::Operator);
    let ended = model.queue.selection().filter(|held| held.is_over() && !decided(held));
    let next =
        ended.and_then(|_| model.queue.order().into_iter().find(|held| held.waits()).map(|held| held.key.clone()));
    if why == Unarmed::NotWaiting && next.is_some() {
        select::select(model, next);
        let words = "That call has ended. This is the next one that waits: look at it first.";
        return model.refuse(words);
    }
    let words = match why {
        Unarmed::Nothing => "Nothing is selected.",
        Unarmed::NotDrawn => "The card has just changed: look at it first.",
        Unarmed::TooSoon => "Too soon: no key decides this card yet.",
        Unarmed::NotWaiting => "This call no longer waits: j or k goes on.",
    };
    model.refuse(words);
}

fn ask_or_send(model: &mut Model, armed: Armed, reading: Reading) {
    match model.still(&armed) {
        Some(held) if held.snapshot.danger.is_some() => {
            model.overlay = Some(match model.settings.confirmation {
                Confirmation::Key => Overlay::Confirm { armed, reading },
                Confirmation::Word => Overlay::Word { armed, reading, text: String::new() },
            });
        }
        Some(held) => {
            let verdict = approval(held, reading);
            send(model, &armed, verdict);
        }
        None => {}
    }
}

/// The approval of a call: it counts as unread unless every row was on screen, whatever the key.
fn approval(held: &Held, reading: Reading) -> OperatorVerdict {
    OperatorVerdict::Approve { unread: reading == Reading::Unread || held.seen != Seen::Whole }
}

fn send(model: &mut Model, armed: &Armed, verdict: OperatorVerdict) {
    let (took, word) = (on_screen(model), verdict.word());
    send_shown(model, armed, word, took, |ticket, digest| FromConsole::Decide {
        ticket,
        digest,
        verdict,
        signed: None,
    });
}

/// How long the card has been on screen, in milliseconds.
pub(super) fn on_screen(model: &Model) -> i64 {
    model.drawn.as_ref().map_or(0, |drawn| model.now - drawn.since)
}

/// Sends a message that decides exactly the bytes that were shown, and goes on to the next call.
pub(super) fn send_shown(
    model: &mut Model,
    armed: &Armed,
    word: VerdictWord,
    took: i64,
    message: impl FnOnce(String, Digest) -> FromConsole,
) {
    let next = select::next_waiting(model, armed.key());
    counts(model, armed, word, took);
    model.queue.confirming = Some(armed.key().clone());
    model.queue.marked.remove(armed.key());
    select::select(model, next);
    model.send(armed, message);
    model.todo.push(Command::Drain);
}

/// Notes that a verdict is sent: it counts in the operator's numbers.
pub(super) fn counts(model: &mut Model, armed: &Armed, verdict: VerdictWord, took: i64) {
    let at = model.now;
    let Some(held) = model.queue.call_mut(armed.key()) else { return };
    held.state = CallState::Sent(verdict);
    let (server, tool) = (held.server.clone(), held.snapshot.tool.clone());
    model.queue.decisions.took(Decision { at, verdict, took, server: server.clone(), tool: tool.clone() });
    let often = model.queue.decisions.offer(&server, &tool).filter(|_| verdict == VerdictWord::Approve);
    if let Some(times) = often {
        let words = format!(
            " was approved {times} times in a row. On its next call, r makes a rule, so that it is not asked again."
        );
        model.note = Some(foreign(Tone::Strong, &tool).ours(words));
    }
}

/// `t`: asks for more time for the call on screen. Its wrapper knows how long its host waits.
pub(super) fn extend(model: &mut Model) {
    match model.chosen() {
        Ok(armed) => model.send(&armed, |ticket, digest| FromConsole::Extend { ticket, digest }),
        Err(why) => tell_unarmed(model, why),
    }
}

/// `D`: asks why every waiting call of the selected call's server is denied.
pub(super) fn deny_server(model: &mut Model) {
    let Some(session) = model.queue.selected.as_ref().map(|key| key.session.clone()) else {
        return model.refuse("Nothing is selected.");
    };
    if model.in_view() == Err(Unarmed::NotDrawn) {
        return tell_unarmed(model, Unarmed::NotDrawn);
    }
    // A search hides calls: what it hides is not decided with what it shows.
    let shown: BTreeSet<&CallKey> = model.queue.order().into_iter().map(|held| &held.key).collect();
    let waiting = model.queue.waiting_of(&session).into_iter().map(|held| &held.key);
    let keys: Vec<CallKey> = waiting.filter(|key| shown.contains(key)).cloned().collect();
    let members = model.bind(&keys);
    if members.is_empty() {
        return model.refuse("No call of this server waits.");
    }
    model.overlay = Some(Overlay::Reason { members, text: String::new(), offered: 0 });
}

/// `p` approves, and remembers that its tool reads. `m` remembers that it changes something; the call waits on. `w` takes its
/// unexplained parameters as plain text from now on; it is judged again.
pub(super) fn say(model: &mut Model, word: ToolWord) {
    let armed = armed(model);
    let held = armed.as_ref().and_then(|armed| model.still(armed));
    let offered = held.and_then(|held| Some((held.snapshot.offer.clone()?, held.snapshot.tool.clone())));
    let (words, (offer, tool)) = match (word, offered) {
        (ToolWord::Reads, Some((offer, tool))) if offer.remembers == Remembers::All => ("", (offer, tool)),
        (ToolWord::Changes, Some((offer, tool))) if offer.tool == ToolOffer::Likely => {
            ("Sent: it is remembered as MUTATES. This call still waits for its own decision.", (offer, tool))
        }
        (ToolWord::PlainText, Some((offer, tool))) if !offer.any_text.is_empty() => {
            ("Sent: any text is fine under those keys from now on. This call is judged again.", (offer, tool))
        }
        // Says what the key is for, unless there is another note already.
        _ if model.note.is_some() => return,
        (ToolWord::Reads, _) => {
            return model.refuse(
                "p is for a call that waits only because something about it is new, and that can be remembered.",
            );
        }
        (ToolWord::Changes, _) => return model.refuse("m marks a tool that is shown as PURE? as MUTATES."),
        (ToolWord::PlainText, _) => {
            return model.refuse("w is for a call that waits only because the text under a key is new.");
        }
    };
    let Some(armed) = armed.filter(|armed| word == ToolWord::Changes || !tell_not_whole(model, armed)) else {
        return;
    };
    let message = |ticket, digest| FromConsole::Pin { ticket, digest, word, signed: None };
    if word == ToolWord::Reads {
        send_shown(model, &armed, VerdictWord::Approve, on_screen(model), message);
        let row = good("Approved, and remembered: ");
        let row = match (offer.tool, offer.agree.as_slice()) {
            (ToolOffer::Likely, []) => row.and_foreign(Tone::Strong, &tool).ours(" reads"),
            (ToolOffer::Likely, all) => {
                row.and_foreign(Tone::Strong, &tool).ours(" reads; ").and_foreign(Tone::Strong, &all.join("; "))
            }
            (ToolOffer::Proven, all) => row.and_foreign(Tone::Strong, &all.join("; ")),
        };
        model.note = Some(row.ours(". mcp-approve will not ask about that again."));
        return;
    }
    model.say(words);
    model.send(&armed, message);
    model.todo.push(Command::Drain);
}
