//! What the gate keeps of the log, the two ends and the session. Owns fields, no steps.

pub mod history;
pub mod passed;
pub mod roots;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::gate::state::roots::DeclaredRoots;
use crate::mcp::lifecycle::Lifecycle;
use crate::policy::rate::Recent;
use crate::policy::rule::Policy;
use crate::wire::call::Call;
use crate::wire::id::Id;
use history::History;

/// The calls that waited for a description and are described now, one slice in each step.
#[derive(Debug)]
pub struct DescribeQueue {
    pub outcome: ListOutcome,
    /// The number of the first call that is left.
    pub from: u64,
    pub to: u64,
}

/// What the server answered when we asked for its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOutcome {
    NotAsked,
    Given,
    NoList,
}

/// Whether the server and the wrapper itself have ended, and how.
#[derive(Debug, Default)]
pub struct Ends {
    pub server: ServerEnd,
    pub answered: Answered,
    pub wrapper: WrapperEnd,
}

/// Whether the server reads what we write.
#[derive(Debug, Default)]
pub enum ServerEnd {
    #[default]
    Open,
    /// It reads nothing more, but still writes.
    InputClosed { how: String },
    /// It has ended. `how` is why nothing more was written to it.
    Ended { how: String },
}

/// Whether the server has answered a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answered {
    #[default]
    NotYet,
    Once,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WrapperEnd {
    #[default]
    Runs,
    /// By this signal.
    Stops { why: String },
}

/// What the host has said of itself, and its session with the server.
#[derive(Debug, Default)]
pub struct Host {
    /// Since when (monotonic microseconds) it sends nothing more.
    pub gone: Option<u64>,
    pub lifecycle: Lifecycle,
    /// Its unanswered requests other than calls.
    pub plain_ids: BTreeSet<Id>,
    /// The folders that it declared to the server.
    pub roots: DeclaredRoots,
    pub recorded: HostRecord,
    /// The request whose answer says what the server can do.
    pub introduction: Option<Id>,
    /// What the log last recorded of that answer.
    pub introduced: Option<Value>,
    pub forms: Forms,
    pub server_tasks: ServerTasks,
    /// Its calls that did not run.
    pub history: History,
}

/// Whether the host asks its user for us (`elicitation/create`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forms {
    /// It has not said so, or has failed to.
    #[default]
    No,
    Shows,
}

/// Whether the log has the host's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostRecord {
    #[default]
    Missing,
    Made,
}

/// The policy, and the calls that its rates count.
#[derive(Debug)]
pub struct Rules {
    pub policy: Arc<Policy>,
    /// Whether this policy restricts requests other than calls: asked of every line of the server, so found out once.
    pub restricts_methods: bool,
    /// The calls approved lately.
    pub recent: Recent,
}

/// Which requests the server makes tasks of, as its answer to `initialize` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerTasks {
    #[default]
    None,
    OfCalls,
}

impl Host {
    /// Its name and version, as this request or the handshake gave them.
    pub fn of<'a>(&'a self, call: &'a Call) -> Option<(&'a str, &'a str)> {
        match &call.meta().client {
            Some((name, version)) => Some((name, version)),
            None => self.lifecycle.host(),
        }
    }

    pub fn words(&self, call: &Call) -> Option<String> {
        self.of(call).map(|(name, version)| [name, " ", version].concat())
    }
}

impl Rules {
    pub fn new(policy: Arc<Policy>) -> Self {
        Self { restricts_methods: policy.restricts_methods(), policy, recent: Recent::default() }
    }

    /// Replaces the policy; calls that were counted under the old one still count.
    pub fn replace(&mut self, policy: Arc<Policy>) {
        self.restricts_methods = policy.restricts_methods();
        self.policy = policy;
    }
}

impl ServerEnd {
    /// Why the server reads nothing more; `None` while it does.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Open => None,
            Self::InputClosed { how } | Self::Ended { how } => Some(how),
        }
    }
}
