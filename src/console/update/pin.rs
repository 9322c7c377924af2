//! What the operator says of the tool of a held call: that it reads, that it changes something, that a parameter of it
//! is plain text. Each word is about the card that was drawn and armed, and about what that card offers.

use super::{Command, decide};
use crate::audit::record::VerdictWord;
use crate::console::model::Model;
use crate::console::row::{Tone, good};
use crate::link::message::{FromConsole, PinOffer, ToolWord};

/// The operator's word on the call on screen. `p`: approves it, and remembers that its tool reads. `m`: remembers that the
/// tool changes something; the call waits on. `w`: treats its unexplained parameters as plain text from now on; it is judged
/// again.
pub(super) fn say(model: &mut Model, word: ToolWord) {
    let armed = decide::armed(model);
    let held = armed.as_ref().and_then(|armed| model.still(armed));
    let offered = held.and_then(|held| Some((held.snapshot.offer.as_ref()?, held.snapshot.tool.clone())));
    let (words, tool) = match (word, offered) {
        (ToolWord::Reads, Some((PinOffer::Reads, tool))) => ("", tool),
        (ToolWord::Changes, Some((_, tool))) => {
            ("Sent: it is remembered as MUTATES. This call still waits for its own decision.", tool)
        }
        (ToolWord::PlainText, Some((PinOffer::PlainText { .. }, tool))) => {
            ("Sent: those parameters are plain text from now on. This call is judged again.", tool)
        }
        // Says what the key is for, unless there is another note already.
        _ if model.note.is_some() => return,
        (ToolWord::Reads, _) => {
            return model.say("p is for a call that waits only because its tool is shown as PURE?.");
        }
        (ToolWord::Changes, _) => return model.say("m marks a tool that is shown as PURE? as MUTATES."),
        (ToolWord::PlainText, _) => {
            return model.say("w is for a call that waits only because an argument is not explained.");
        }
    };
    let Some(armed) = armed.filter(|armed| word == ToolWord::Changes || !decide::tell_not_whole(model, armed)) else {
        return;
    };
    let message = |ticket, digest| FromConsole::Pin { ticket, digest, word };
    if word == ToolWord::Reads {
        decide::send_shown(model, &armed, VerdictWord::Approve, decide::on_screen(model), message);
        let row = good("Approved, and remembered: ").and_foreign(Tone::Strong, &tool);
        model.note = Some(row.ours(" reads. mcp-approve will not ask about that again."));
        return;
    }
    model.say(words);
    super::send(model, &armed, message);
    model.todo.push(Command::Drain);
}
