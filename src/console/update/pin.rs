//! What the operator says of the tool of a held call: that it reads, that it changes something, that a parameter of it is
//! plain text. Each is about the card that was drawn and armed, and about what that card offers.

use super::{Command, decide};
use crate::console::model::{Armed, Model};
use crate::console::row::{Tone, good};
use crate::link::message::{FromConsole, PinOffer, ToolWord};

/// `p`: approves the call on screen, and remembers that its tool reads.
pub(super) fn reads(model: &mut Model) {
    let Some((armed, PinOffer::Reads)) = offered(model) else {
        return not_offered(model, "p is for a call that waits only because its tool is shown as PURE?.");
    };
    let Some(tool) = model.still(&armed).map(|held| held.snapshot.tool.clone()) else { return };
    if decide::tell_not_whole(model, &armed) {
        return;
    }
    decide::send_reads(model, &armed);
    let row = good("Approved, and remembered: ").and_foreign(Tone::Strong, &tool);
    model.note = Some(row.ours(" reads. mcp-approve will not ask about that again."));
}

/// `m`: remembers that the tool of the call on screen changes something. The call waits on.
pub(super) fn changes(model: &mut Model) {
    match offered(model) {
        Some((armed, PinOffer::Reads | PinOffer::PlainText { .. })) => say(model, &armed, ToolWord::Changes),
        None => not_offered(model, "m marks a tool that is shown as PURE? as MUTATES."),
    }
}

/// `w`: treats the unexplained parameters of the call on screen as plain text from now on. The call is judged again.
pub(super) fn plain_text(model: &mut Model) {
    let Some((armed, PinOffer::PlainText { .. })) = offered(model) else {
        return not_offered(model, "w is for a call that waits only because an argument is not explained.");
    };
    if !decide::tell_not_whole(model, &armed) {
        say(model, &armed, ToolWord::PlainText);
    }
}

fn say(model: &mut Model, armed: &Armed, word: ToolWord) {
    let words = match word {
        ToolWord::Reads => return,
        ToolWord::Changes => "Sent: it is remembered as MUTATES. This call still waits for its own decision.",
        ToolWord::PlainText => "Sent: those parameters are plain text from now on. This call is judged again.",
    };
    model.say(words);
    super::send(model, armed, |ticket, digest| FromConsole::Pin { ticket, digest, word });
    model.todo.push(Command::Drain);
}

/// The armed call with what its card offers.
fn offered(model: &mut Model) -> Option<(Armed, PinOffer)> {
    let armed = decide::armed(model)?;
    let offer = model.still(&armed)?.snapshot.offer.clone()?;
    Some((armed, offer))
}

/// Says what the key is for, unless something was said already.
fn not_offered(model: &mut Model, words: &str) {
    if model.note.is_none() {
        model.say(words);
    }
}
