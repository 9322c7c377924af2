//! What the gate sends a console beside held calls, and what an operator answers: plain data. Names are foreign text.

use serde::{Deserialize, Serialize};

use crate::audit::{By, VerdictWord};
use crate::behavior::{Badge, Confidence, Evidence, Hazard, Identity};
use crate::gate::data::{pin::PinState, terms::GrantCard};
use crate::mcp::Phase;
use crate::policy::{Decision, Pending};
use crate::signing::Level;
use crate::wire::{Digest, words::words};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallEnd {
    pub ticket: String,
    pub time: i64,
    /// `None`: withdrawn without a verdict.
    pub verdict: Option<VerdictWord>,
    pub by: By,
    /// The operator's name and console, or the reason.
    pub who: String,
}

/// One thing that passed, for the Activity screen. `what` and `tool` are foreign text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    pub time: i64,
    pub direction: Direction,
    pub kind: ActivityKind,
    /// The method, or the tool's name for a call.
    pub what: String,
    pub ticket: Option<String>,
    /// What a call acts on. Foreign text.
    #[serde(default)]
    pub target: Option<String>,
    pub badge: Option<Badge>,
    pub ruling: Option<Decision>,
    pub verdict: Option<VerdictWord>,
    pub by: Option<By>,
    pub rule: Option<String>,
    pub bytes: u64,
    pub latency_us: Option<u64>,
    /// The server or we answered with an error.
    pub failed: bool,
    /// Why it was decided so, for a call; empty where there is nothing to say. Foreign text.
    #[serde(default)]
    pub reason: String,
    /// How each leaf of a read's arguments was explained. Foreign text.
    #[serde(default)]
    pub explained: String,
    /// The operator who decided; empty where no person did.
    #[serde(default)]
    pub who: String,
}

/// A call that waits, in few words: for programs that ask without being a console. Names are foreign text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingCall {
    pub ticket: String,
    pub server: String,
    pub tool: String,
    /// Our own line on what it does, with its target.
    pub effect: String,
    pub target: Option<String>,
    /// Milliseconds since 1970, UTC.
    pub arrived: i64,
    pub deadline: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    #[default]
    ToServer,
    ToHost,
}

words! {
    #[derive(Default)]
    ActivityKind {
        /// A call was decided (approved or denied).
        #[default]
        Call = "call",
        Outcome = "outcome",
        Request = "request",
        Notification = "notification",
        Response = "response",
        Refused = "refused",
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub waiting: u64,
    pub calls: u64,
    pub approved_by_policy: u64,
    pub approved_by_operator: u64,
    pub denied: u64,
    pub refused_lines: u64,
    /// Answers of the server that were errors.
    #[serde(default)]
    pub failed: u64,
    /// The revision that the handshake agreed on, or that of the stateless requests; empty before either.
    #[serde(default)]
    pub era: String,
    /// `None` before the wrapper has said so.
    pub phase: Option<Phase>,
    /// What may be used of the server; empty where nothing narrows it. Foreign text.
    #[serde(default)]
    pub scope: String,
    /// The host's own name and version.
    pub host: Option<String>,
    /// What protects the verdicts here.
    #[serde(default)]
    pub level: Level,
    /// A broken policy, an unwritable log: what is wrong and how to fix it.
    pub banner: Option<String>,
    /// What the operator has approved beforehand, oldest first.
    #[serde(default)]
    pub grants: Vec<GrantCard>,
    /// Changed policy files that wait for the operator.
    #[serde(default)]
    pub pending: Vec<Pending>,
    /// How the server ended although its host still needed it: by which signal, with which exit status.
    #[serde(default)]
    pub ended: Option<String>,
}

/// A tool as its server describes it and as the gate understands it. Name, signature and quoted words are foreign text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownTool {
    pub tool: String,
    /// Rust notation, cut where it is very long.
    pub signature: String,
    pub identity: Identity,
    /// How sure it is that a PURE one only reads.
    pub confidence: Confidence,
    pub evidence: Vec<Evidence>,
    pub disputed: bool,
    pub hazards: Vec<Hazard>,
    pub digest: Digest,
    pub pin: PinState,
}

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

impl OperatorVerdict {
    pub fn word(&self) -> VerdictWord {
        match self {
            Self::Approve { .. } => VerdictWord::Approve,
            Self::Deny { .. } => VerdictWord::Deny,
        }
    }
}
