//! What wrapper and console say to each other: one JSON object per line over a local socket. Pure data.

use serde::{Deserialize, Serialize};

use crate::audit::record::{By, VerdictWord};
use crate::behavior::taxonomy::Mutability;
use crate::gate::snapshot::Snapshot;
use crate::policy::rule::Decision;
use crate::wire::digest::Digest;

/// The version of this conversation. Different numbers do not talk: the wrapper takes no verdict, the console says why.
pub const PROTOCOL: u32 = 1;

/// The longest line either side takes, line end included.
pub const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// As much of a first line as every version has: enough to say why two do not talk.
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

/// As much of a console's line as its refusal needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Subject {
    #[serde(default)]
    pub ticket: String,
}

/// From a wrapper to a console.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum FromWrapper {
    /// First of all. A console that reads another `protocol` shows it and stops.
    Hello { protocol: u32, version: String, wrapper: Wrapper },
    /// A call waits, or its card changed (an edit).
    Held { call: Box<Snapshot> },
    /// A call waits no longer.
    Settled(Settled),
    /// Something passed.
    Activity(Activity),
    /// How the wrapper stands; after every change, at most ten a second.
    Status(Status),
    /// A decision or edit of this console came to nothing.
    Refused { ticket: String, why: String },
}

/// Who a wrapper is. Names are foreign text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrapper {
    /// `filesystem`, or `filesystem#2`.
    pub server: String,
    pub session: String,
    pub pid: u32,
    /// The wrapped command line.
    pub command: Vec<String>,
    /// Milliseconds since 1970, UTC.
    pub started: i64,
    /// `L0`.
    pub assurance: String,
    /// Loud: it lets everything pass and only records.
    pub observe: bool,
}

/// How a held call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    pub ticket: String,
    pub time: i64,
    /// `None`: withdrawn without a verdict.
    pub verdict: Option<VerdictWord>,
    pub by: By,
    /// The operator's name and console, or the reason.
    pub who: String,
}

/// One thing that passed, for the Activity screen. `what` and `tool` are foreign text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    pub time: i64,
    pub direction: Direction,
    pub kind: ActivityKind,
    /// The method, or the tool's name for a call.
    pub what: String,
    pub ticket: Option<String>,
    pub badge: Option<Mutability>,
    pub ruling: Option<Decision>,
    pub verdict: Option<VerdictWord>,
    pub by: Option<By>,
    pub rule: Option<String>,
    pub bytes: u64,
    pub latency_us: Option<u64>,
    /// The server or we answered with an error.
    pub failed: bool,
}

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    ToServer,
    ToHost,
}

/// What kind of thing passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActivityKind {
    /// A call was decided (approved or denied).
    Call,
    /// A call's answer came.
    Outcome,
    Request,
    Notification,
    Response,
    /// A line that was refused.
    Refused,
}

/// How a wrapper stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub waiting: u64,
    pub calls: u64,
    pub approved_by_policy: u64,
    pub approved_by_operator: u64,
    pub denied: u64,
    pub refused_lines: u64,
    /// Opening, Active, Closed, or Stateless.
    pub phase: String,
    /// The host's own name and version.
    pub host: Option<String>,
    /// A broken policy, an unwritable log: what is wrong and how to mend it.
    pub banner: Option<String>,
}

/// From a console to a wrapper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum FromConsole {
    /// First of all.
    Hello { protocol: u32, version: String, operator: String, pid: u32 },
    /// The operator decided on exactly these bytes.
    Decide { ticket: String, digest: Digest, verdict: OperatorVerdict },
    /// The operator edited the arguments of exactly these bytes; the card comes back changed.
    Edit { ticket: String, digest: Digest, arguments: String },
}

/// What the operator decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum OperatorVerdict {
    /// `unread`: approved without having seen it all; recorded as such.
    Approve {
        unread: bool,
    },
    Deny {
        reason: String,
    },
}
