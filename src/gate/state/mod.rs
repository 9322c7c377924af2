//! What the gate keeps of the log, the two ends and the session. Owns fields, no steps.

pub mod frozen;
pub mod passed;
pub mod roots;
pub mod secrets;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use crate::audit::By;
use crate::gate::server::flight::AnswerOf;
use crate::gate::state::{frozen::Stops, roots::DeclaredRoots};
use crate::mcp::lifecycle::Lifecycle;
use crate::policy::{Policy, Recent};
use crate::wire::{Call, Digest, Id};

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

/// How many unanswered requests of the host are remembered by their ids.
pub const PLAIN: usize = 65_536;

/// What the host has said of itself, and its session with the server.
#[derive(Debug, Default)]
pub struct Host {
    /// Since when (monotonic microseconds) it sends nothing more.
    pub gone: Option<u64>,
    pub lifecycle: Lifecycle,
    /// Its unanswered requests other than calls, with what rules about results select their answers by.
    pub plain: BTreeMap<Id, Option<AnswerOf>>,
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
    pub recent: Recent,
    /// Whether calls are frozen.
    pub stops: Stops,
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
        Self {
            restricts_methods: policy.restricts_methods(),
            policy,
            recent: Recent::default(),
            stops: Stops::default(),
        }
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

/// How many ended calls are remembered, and for how long (milliseconds).
const KEPT: usize = 64;
const LASTS: i64 = 3_600_000;
/// How many earlier calls a card names.
const NAMED: usize = 3;

/// Calls that ended without having run, the latest last.
#[derive(Debug, Default)]
pub struct History {
    ended: VecDeque<Ended>,
}

#[derive(Debug)]
struct Ended {
    what: Digest,
    ticket: String,
    how: String,
    wall: i64,
}

/// What became of the same call before it came again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// The latest first, one line each; at most [`NAMED`] from the history.
    pub lines: Vec<String>,
    pub times: usize,
    pub latest: Option<String>,
}

/// What makes two calls the same: tool and arguments, whatever their ids.
fn sameness(call: &Call) -> Digest {
    Digest::of(format!("{}\0{}", call.name(), call.arguments_text()).as_bytes())
}

impl History {
    /// A call ended at `wall` (milliseconds) without having run. `said` is the operator who denied it, and why.
    pub fn note(&mut self, call: &Call, ticket: &str, by: By, said: Option<(&str, &str)>, wall: i64) {
        let how = match by {
            By::Operator => {
                said.map_or_else(|| "you denied it".to_owned(), |(who, why)| format!("denied by {who} ({why})"))
            }
            By::Elicitation => "it was denied in the host".to_owned(),
            By::Expiry => "no operator answered in time".to_owned(),
            By::Cancel => "the host withdrew it".to_owned(),
            By::Default | By::Rule | By::Approver | By::Scope | By::Shutdown | By::Fault | By::Observe => return,
        };
        if self.ended.len() >= KEPT {
            self.ended.pop_front();
        }
        self.ended.push_back(Ended { what: sameness(call), ticket: ticket.to_owned(), how, wall });
    }

    /// What became of the same call before `wall`.
    pub fn of(&self, call: &Call, wall: i64) -> Past {
        if self.ended.is_empty() {
            return Past::default();
        }
        let what = sameness(call);
        let same = self.ended.iter().rev().filter(|one| one.what == what && wall.saturating_sub(one.wall) < LASTS);
        let line = |one: &Ended| format!("{}, {} before: {}", one.ticket, span(wall.saturating_sub(one.wall)), one.how);
        Past {
            lines: same.clone().take(NAMED).map(line).collect(),
            times: same.clone().count(),
            latest: same.clone().next().map(|one| one.ticket.clone()),
        }
    }
}

/// A span of milliseconds in words.
pub fn span(ms: i64) -> String {
    match ms.max(0) / 1000 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}
