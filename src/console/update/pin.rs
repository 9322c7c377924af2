//! What the operator says of the tool of a held call: that it reads, that it changes something, that a parameter of it
//! is plain text. Each word is about the card that was drawn and armed, and about what that card offers.

use super::{Command, decide};
use crate::audit::record::VerdictWord;
use crate::console::model::Model;
use crate::link::message::{FromConsole, Remembers, ToolOffer, ToolWord};
use crate::text::row::{Tone, good};

/// The operator's word on the call on screen. `p`: approves it, and remembers that its tool reads. `m`: remembers that the
/// tool changes something; the call waits on. `w`: treats its unexplained parameters as plain text from now on; it is judged
/// again.
pub(super) fn say(model: &mut Model, word: ToolWord) {
    let armed = decide::armed(model);
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
    let Some(armed) = armed.filter(|armed| word == ToolWord::Changes || !decide::tell_not_whole(model, armed)) else {
        return;
    };
    let message = |ticket, digest| FromConsole::Pin { ticket, digest, word };
    if word == ToolWord::Reads {
        decide::send_shown(model, &armed, VerdictWord::Approve, decide::on_screen(model), message);
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
    super::send(model, &armed, message);
    model.todo.push(Command::Drain);
}
