//! What comes out of the gate: effects that the shell performs at once, in order.

use crate::audit::Entry;
use crate::behavior::{Agreement, agreed::Backing};
use crate::gate::data::event::{ConsoleId, Place, Side};
use crate::gate::data::pin::{PinUpdate, Pinning};
use crate::gate::data::report::{Activity, CallEnd};
use crate::gate::data::{facts::Look, snapshot::Snapshot, token::GuardrailToken};
use crate::signing::statement::Evidence;
use crate::wire::{Call, Digest, Line, Plain};

#[derive(Debug)]
pub enum Effect {
    /// Pass a line that is not held, bytes untouched.
    Relay(Passing),
    /// Write the call to the server, or a request of the server's to the host: only with the proof that its approval is on disk.
    Forward(GuardrailToken, Box<Call>),
    WriteToHost(Line),
    WriteToServer(OwnLine),
    /// Append to the log; the entry's id comes back with the receipt.
    Record(u64, Box<Entry>),
    /// Look at what a call would touch; the answer comes as [`crate::gate::data::event::Event::Facts`] with the same number, in
    /// good time, and says so where something could not be seen.
    LookUp {
        ticket: String,
        look: u64,
        wanted: Look,
    },
    /// Have these approvers asked about a call, given as JSON; all that they say comes as
    /// [`crate::gate::data::event::Event::Consulted`] with the same number, one opinion for each name.
    Consult {
        ticket: String,
        consult: u64,
        names: Vec<String>,
        call: String,
    },
    /// Keep a definition that is new or changed, for the sessions to come.
    Remember(Box<PinUpdate>),
    /// The server has answered for the first time: how it was started is kept too.
    NoteServer,
    /// Keep what an operator says of a definition; the pins come back as
    /// [`crate::gate::data::event::Event::Reviewed`]. Where it cannot be kept, this console learns why.
    Pin {
        pinning: Box<Pinning>,
        console: ConsoleId,
    },
    /// Keep what an operator has agreed to; the log has it. Where it cannot be kept, this console learns why.
    Agree {
        agreed: Vec<Agreement>,
        backing: Backing,
        console: ConsoleId,
    },
    /// Note that these agreements were used today: what is not used for 90 days lapses.
    UseAgreed(Vec<Agreement>),
    /// Show a held call to every console, or show it changed.
    Ask(Box<Snapshot>),
    Settle(CallEnd),
    /// Tell one console that its decision or edit had no effect.
    Refuse {
        console: ConsoleId,
        ticket: String,
        place: Place,
        why: String,
    },
    /// Show something that passed (only while a console is attached).
    Show(Box<Activity>),
    /// Keep the text of a policy file as the one the operator has accepted, if it still has this digest.
    AcceptPolicy {
        file: String,
        digest: Digest,
        signed: Option<Evidence>,
        console: ConsoleId,
    },
    /// Send [`crate::gate::data::event::Event::Woke`] at this time (monotonic microseconds); replaces the one asked before.
    WakeAt(u64),
    /// Close our end of the pipe to this side: nothing more will be written to it.
    Close(Side),
}

/// A line that is not held, and where it goes.
#[derive(Debug)]
pub enum Passing {
    ToServer(Plain),
    ToHost(Line),
}

/// A line of our own to the server: `tools/list`, or the refusal of a request of its. Only the gate makes one.
#[derive(Debug)]
pub struct OwnLine(pub(in crate::gate) Line);

impl OwnLine {
    pub fn into_line(self) -> Line {
        self.0
    }
}
