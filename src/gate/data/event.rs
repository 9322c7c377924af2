//! What goes into the gate. Time comes with every step; nothing here asks for it.

use std::sync::Arc;

use crate::audit::Receipt;
use crate::behavior::{Agreement, agreed::Backing};
use crate::gate::data::pin::{Pinning, Pins, ToolWord};
use crate::gate::data::{
    facts::{Findings, Opinion},
    report::OperatorVerdict,
    terms::GrantTerms,
};
use crate::policy::Policy;
use crate::signing::statement::{Signed, Statement};
use crate::signing::{InForce, change::Change, standing::Standing};
use crate::wire::{Digest, Gist, Line, digest::StreamDigest};

/// A moment, read once per step by the shell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Microseconds on a clock that never jumps.
    pub mono: u64,
    /// Milliseconds since 1970, UTC.
    pub wall: i64,
}

/// The two ends of the pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Host,
    Server,
}

/// A console, as the link numbers them.
pub type ConsoleId = u64;

#[derive(Clone, Debug)]
pub struct Operator {
    pub who: Arc<str>,
    pub console: ConsoleId,
    pub place: Place,
}

/// Where an operator's word was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At a console of this user on this machine.
    Here,
    /// At the desk, in the statement of this digest: it counts only by its signature.
    Desk(Digest),
}

/// Which operator's word it is, and about exactly which bytes of which call.
#[derive(Clone, Debug)]
pub struct OperatorWord {
    pub ticket: String,
    pub digest: Digest,
    pub operator: Operator,
}

/// The signature that came with an operator's word, as the shell has checked it against the lists of signers in force, and these lists.
#[derive(Debug)]
pub enum Signature<T = Statement> {
    None,
    /// It is good; which call or change it is for is not checked yet.
    Attested(Box<Signed<T>>, Box<InForce>),
    Unusable(String),
}

#[derive(Debug)]
pub enum Event {
    /// The first message other than a probe is about to come: from here on there is something to record.
    Started {
        server: Arc<str>,
        command: Vec<String>,
        pid: u32,
    },
    HostLine(Line),
    /// A line from the host beyond the cap; its bytes are gone.
    HostOverlong {
        head: Vec<u8>,
        bytes: u64,
        cap: usize,
    },
    /// The host ended in mid-line; those bytes are dropped.
    HostPartial {
        bytes: u64,
    },
    ServerLine(Line),
    /// A line of the server streamed past, too long to buffer.
    ServerStreamed {
        gist: Gist,
        bytes: u64,
        digest: StreamDigest,
    },
    Decided(OperatorWord, OperatorVerdict, Signature),
    Edited {
        word: OperatorWord,
        arguments: String,
    },
    /// A console shows these bytes: what they would touch may have changed since.
    Looked {
        ticket: String,
        digest: Digest,
    },
    Extended(OperatorWord),
    Recorded(Receipt),
    RecordFailed {
        entry: u64,
        why: Arc<str>,
    },
    PolicyChanged(Arc<Policy>),
    /// What operators have signed for this machine: stops, signs of life.
    Standing(Box<Standing>),
    /// What a call would touch on the disk: the answer to [`crate::gate::data::effect::Effect::LookUp`].
    Facts {
        ticket: String,
        look: u64,
        found: Findings,
    },
    /// What the approvers said of a call: the answer to [`crate::gate::data::effect::Effect::Consult`].
    Consulted {
        ticket: String,
        consult: u64,
        opinions: Vec<Opinion>,
    },
    /// An operator approved a call, and calls like it for a while.
    Granted(OperatorWord, GrantTerms, Signature),
    /// An operator said what the tool of a call is.
    Pinned(OperatorWord, ToolWord, Signature<Change>),
    GrantEnded {
        grant: String,
        operator: Operator,
    },
    PolicyAccepted {
        file: String,
        digest: Digest,
        operator: Operator,
        signature: Signature<Change>,
    },
    /// The pins of this server were read, or were reviewed elsewhere: these are the pins now.
    Reviewed(Box<Pins>),
    Woke,
    /// A console attached; `attached` is how many there are now.
    Attached {
        who: Arc<str>,
        attached: usize,
    },
    /// A console went away; `attached` is how many are left.
    Detached {
        who: Arc<str>,
        attached: usize,
    },
    /// The desk attached or went away; `desks` is how many connections to it there are now.
    Desks {
        who: Arc<str>,
        desks: usize,
    },
    /// Someone who may not decide tried to connect.
    Intruded {
        what: String,
    },
    /// The operator's program could not be told that a call waits.
    NoticeFailed {
        why: String,
    },
    /// All waiting input was handled: there is time for a piece of the work that is left.
    GoOn,
    /// The server reads nothing more; what it still writes is relayed.
    ServerInputClosed {
        how: String,
    },
    /// One end is gone. For the server: how it ended.
    Closed {
        side: Side,
        how: String,
    },
    Shutdown {
        why: String,
    },
}

/// What an operator said with a held call, and where; it counts once the log has it.
#[derive(Clone, Debug)]
pub enum Said {
    Pinned(Pinning, ConsoleId),
    Agreed(Agreement, Backing, ConsoleId),
}
