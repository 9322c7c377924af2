//! The messages between wrapper and console: one JSON object per line over a local socket; and what each end hears. Pure data.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use crate::gate::data::pin::PinState;
pub use crate::gate::data::pin::{PinOffer, Remembers, ToolOffer, ToolWord};
pub use crate::gate::data::report::{
    Activity, ActivityKind, CallEnd, Direction, KnownTool, OperatorVerdict, Status, WaitingCall,
};
pub use crate::gate::data::terms::{Covers, GrantCard, GrantTerms, Lasts};
use crate::gate::{data::event::ConsoleId, data::snapshot::Snapshot};
use crate::signing::statement::Evidence;
use crate::wire::Digest;

/// The version of this protocol. With different numbers, the wrapper takes no verdict and the console says why.
pub const PROTOCOL: u32 = 5;

/// The longest line a wrapper takes from a console, line end included: an edit of the longest call, escaped.
pub const LONGEST_FROM_CONSOLE: usize = 64 * 1024 * 1024;

/// The longest line a console takes from a wrapper, line end included: a call of 16 MiB as its card. Its arguments'
/// text and, once edited, the original's are at most twice as long when escaped, the undeclared keys as long as
/// they came; the server's words on the card are cut, and the rest is small.
pub const LONGEST_FROM_WRAPPER: usize = 6 * 16 * 1024 * 1024 + 4 * 1024 * 1024;

/// The part of a first line that every version has: enough to say why the versions do not match.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Greeting {
    pub say: String,
    pub protocol: u32,
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    pub wrapper: GreetingName,
}

/// The name a wrapper gives in its first line, whatever else its version writes there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct GreetingName {
    #[serde(default)]
    pub server: String,
}

impl Greeting {
    /// Reads a first line; `None` when it is no greeting of any version.
    pub fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok().filter(|greeting: &Self| greeting.say == "hello")
    }
}

/// The part of a console's line that a refusal needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Subject {
    #[serde(default)]
    pub ticket: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum FromWrapper {
    /// First of all. A console that reads another `protocol` shows it and stops.
    Hello {
        protocol: u32,
        version: String,
        wrapper: Wrapper,
    },
    /// A call waits, or its card changed (an edit).
    Held {
        call: Box<Snapshot>,
    },
    Settled(CallEnd),
    /// Something passed.
    Activity(Activity),
    /// The state of the wrapper; after every change, at most ten a second.
    Status(Status),
    /// All tools that the server has described, whenever that has changed.
    Tools {
        tools: Vec<KnownTool>,
    },
    /// The answer to [`FromConsole::Peek`]: what waits for an operator, oldest first, and what approvers are asked about.
    Waiting {
        calls: Vec<WaitingCall>,
        #[serde(default)]
        consulted: Vec<WaitingCall>,
    },
    /// A decision or edit of this console had no effect.
    Refused {
        ticket: String,
        why: String,
    },
    /// The same for a verdict that came over the desk: the one of the statement of this digest.
    NotCounted {
        ticket: String,
        statement: Digest,
        why: String,
    },
}

/// What attaches as a console.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConsoleKind {
    /// One on this machine, of this user.
    #[default]
    Local,
    /// The desk of many machines: of what it says only a signed verdict counts, and every card says to it what must be signed.
    Desk,
}

/// Who a wrapper is. Names are foreign text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrapper {
    /// `filesystem`, or `filesystem#2`.
    pub server: String,
    pub session: String,
    pub pid: u32,
    pub command: Vec<String>,
    /// Milliseconds since 1970, UTC.
    pub started: i64,
    /// Whether it lets everything pass and only records, which the console must show clearly.
    pub observe: bool,
    /// On a desk of many machines: which of them. No wrapper says this: whoever reads the desk does.
    #[serde(skip)]
    pub at: Option<Arc<At>>,
}

/// Where a wrapper of a desk runs. Names are foreign text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// The desk's name of the machine: the role that it logs in as.
    pub machine: String,
    /// The machine's own name and its user, as signatures have them.
    pub host: String,
    pub user: String,
}

impl At {
    /// What a signature names it by: `user@host`. The role is a column that the owner of the database can write.
    pub fn signed(&self) -> String {
        format!("{}@{}", self.user, self.host)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum FromConsole {
    /// First of all.
    Hello {
        protocol: u32,
        version: String,
        operator: String,
        pid: u32,
        #[serde(default)]
        kind: ConsoleKind,
    },
    /// Instead of `Hello`: asks what waits. The asker is not attached, and learns nothing else.
    Peek { protocol: u32 },
    /// The operator decided on exactly these bytes; an approval whose card asks for it is signed.
    Decide {
        ticket: String,
        digest: Digest,
        verdict: OperatorVerdict,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signed: Option<Evidence>,
    },
    /// The operator edited the arguments of exactly these bytes; the card comes back changed.
    Edit { ticket: String, digest: Digest, arguments: String },
    /// The operator approved exactly these bytes, and calls like it on these terms. Every status lists the grants in force.
    Grant {
        ticket: String,
        digest: Digest,
        terms: GrantTerms,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signed: Option<Evidence>,
    },
    /// The operator says what the tool of exactly these bytes is, as its card offered it; signed where its card asks for that.
    Pin {
        ticket: String,
        digest: Digest,
        word: ToolWord,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signed: Option<Evidence>,
    },
    /// These bytes are on screen: what they would touch is looked at again, and the card comes back if that changed.
    Look { ticket: String, digest: Digest },
    /// The operator needs more time for exactly these bytes.
    Extend { ticket: String, digest: Digest },
    /// The operator ended a grant, by its id.
    EndGrant { grant: String },
    /// The operator accepted a changed policy file, exactly as a status showed it under `pending`.
    AcceptPolicy {
        file: String,
        digest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signed: Option<Evidence>,
    },
}

impl FromConsole {
    /// The call that it is about; empty where it is about none.
    pub fn ticket(&self) -> &str {
        match self {
            Self::Decide { ticket, .. }
            | Self::Edit { ticket, .. }
            | Self::Grant { ticket, .. }
            | Self::Pin { ticket, .. }
            | Self::Look { ticket, .. }
            | Self::Extend { ticket, .. } => ticket,
            Self::Hello { .. } | Self::Peek { .. } | Self::EndGrant { .. } | Self::AcceptPolicy { .. } => "",
        }
    }
}

/// What happens on the link. Names and words of wrappers are foreign text.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// A wrapper is here; what it says carries its session.
    Connected(Wrapper),
    /// A connected wrapper spoke. Never a `Hello`.
    Said { session: String, message: FromWrapper },
    /// A wrapper speaks another version of our protocol: it takes no verdict from here, and its calls are not shown.
    Incompatible { name: String, protocol: u32, version: String },
    /// A wrapper is gone. For one that was [`ClientEvent::Incompatible`], `session` is its name.
    Gone { session: String },
    /// A problem that the operator must see, with its hint.
    Trouble(String),
    /// On a desk: a call waits, and what is here of it is not all of it.
    Withheld { session: String, call: Box<Snapshot> },
    /// On a desk: who and what is there, whenever that has changed.
    Around(Around),
    /// On a desk: what became of the day's witness, whenever that has changed.
    Witness(WitnessNews),
}

/// What a console on a desk has done about a witness of all logs, or what its operator is to do. Foreign text but for the time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WitnessNews {
    /// What was signed here last, and when, in milliseconds since 1970, UTC.
    pub signed: Option<(i64, String)>,
    /// What is wrong, and what to do.
    pub wrong: Option<String>,
}

/// What an operator sees of a desk beside the calls. Names are foreign text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// The other operators whose consoles are open.
    pub operators: BTreeSet<String>,
    /// The sessions whose machine is not connected: what is decided of their calls waits for it.
    pub away: BTreeSet<String>,
    /// Who else looks at which call, by session and ticket.
    pub looks: BTreeSet<(String, String, String)>,
    /// Why the desk cannot be reached; calls go on waiting meanwhile.
    pub broken: Option<String>,
    /// What is on the desk and not shown, and why.
    pub left_out: Option<String>,
}

/// Called from several threads; must not block.
pub(super) type Callback = dyn Fn(ClientEvent) + Send + Sync;

#[derive(Debug)]
pub enum FromConsoles {
    /// A console of our version is attached and may decide; it was shown nothing yet.
    Attached {
        console: ConsoleId,
        /// The operator's name as the console gives it: foreign text.
        operator: String,
        /// As the kernel gives it, or else as the console says.
        pid: u32,
        kind: ConsoleKind,
    },
    /// A program that is not a console asks what waits.
    Peeked {
        console: ConsoleId,
    },
    /// An attached console spoke. Never a second `Hello`.
    Said {
        console: ConsoleId,
        message: FromConsole,
    },
    /// The last message of [`Server::show`] to this console is written.
    Shown {
        console: ConsoleId,
    },
    Detached {
        console: ConsoleId,
    },
    /// A connection was rejected, or may not decide.
    Rejected {
        why: Rejection,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("ALARM: a process of user {uid} tried to attach as a console")]
    ForeignUser { uid: u32 },
    #[error("ALARM: process {pid}, started by the wrapped server, tried to attach as a console")]
    FromServer { pid: u32 },
    #[error("a process tried to attach as a console, but its user is unknown ({0})")]
    Unknown(String),
    #[error(
        "the console has version {version:?} (link protocol {theirs}), this wrapper {ours:?} (link protocol {PROTOCOL}): it cannot decide calls; start the console of the wrapper's version, or restart the host's server",
        ours = env!("CARGO_PKG_VERSION")
    )]
    OtherProtocol { theirs: u32, version: String },
    #[error("a console sent an unknown message ({what}) and was disconnected")]
    Garbage { what: String },
    #[error("a process connected as a console, sent no greeting, and was disconnected")]
    Silent,
    #[error("{most} consoles are connected already: one more was turned away")]
    TooMany { most: usize },
}

impl Rejection {
    /// Whether to alarm the operator: a process that is not the operator's tried to decide.
    pub fn is_alarm(&self) -> bool {
        match self {
            Self::ForeignUser { .. } | Self::FromServer { .. } | Self::Unknown(_) => true,
            Self::OtherProtocol { .. } | Self::Garbage { .. } | Self::Silent | Self::TooMany { .. } => false,
        }
    }
}
