//! What a machine says on the desk, and what an operator answers: the rows of `told` and `verdict` as data. All of it is foreign text to
//! whoever reads it from there.

use serde::{Deserialize, Serialize};

use crate::gate::data::snapshot::Snapshot;
use crate::link::message::{CallEnd, OperatorVerdict, Status, Wrapper};
use crate::signing::statement::Evidence;
use crate::wire::Digest;

/// In the column `session` of a [`Told::Gone`]: every wrapper of the machine. `desk run` says it first of all when it starts; what is there
/// is sent after it.
pub const EVERY_SESSION: &str = "*";

/// The longest `said` of a row of `told`, in bytes.
pub const LONGEST_TOLD: usize = 1 << 20;

/// One row of `told`, its `said` as JSON; `machine` and `session` are the row's own columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum Told {
    /// A wrapper is here. Its command has no secrets in it. Said again when the desk was out of reach: what waits at this wrapper is then
    /// told again, and what is not waits no longer.
    Hello {
        wrapper: Wrapper,
        /// The machine's own name, as statements have it; the desk's name of it is the role that it logs in as.
        host: String,
        user: String,
    },
    /// A call waits, or its card changed. `signs` is always there: a verdict from the desk is signed.
    Held {
        card: Box<Snapshot>,
        /// Something of it is redacted or cut: it can be denied here, and approved only at its machine.
        withheld: bool,
    },
    Settled(CallEnd),
    /// A verdict from the desk had no effect: the one of this statement.
    Refused {
        ticket: String,
        statement: Digest,
        why: String,
    },
    /// What of the wrapper's state operators must know; rarely sent.
    Status(Box<Status>),
    /// The wrapper is gone, and with it what waited; or every one is: see [`EVERY_SESSION`].
    Gone,
}

impl Told {
    /// The row's `kind`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "hello",
            Self::Held { .. } => "held",
            Self::Settled(_) => "settled",
            Self::Refused { .. } => "refused",
            Self::Status(_) => "status",
            Self::Gone => "gone",
        }
    }

    /// The row's `ticket`: empty where it is about no call.
    pub fn ticket(&self) -> &str {
        match self {
            Self::Held { card, .. } => &card.ticket,
            Self::Settled(CallEnd { ticket, .. }) | Self::Refused { ticket, .. } => ticket,
            Self::Hello { .. } | Self::Status(_) | Self::Gone => "",
        }
    }
}

/// What an operator says of a call: the `said` of a row of `verdict`. Statement and signature are columns of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    pub ticket: String,
    /// The digest of the call's bytes, as its card says.
    pub digest: Digest,
    pub verdict: OperatorVerdict,
}

/// One row of `verdict`, for the machine that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    pub session: String,
    pub word: Word,
    pub signed: Evidence,
}
