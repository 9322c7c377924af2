//! What a gate is given once: its server, its session, and how the operator wants calls handled.

use std::sync::Arc;

use crate::audit::redact::Redactor;
use crate::behavior::{Trust, expected::Expected, shape::Places};
use crate::capability::schema::Mismatch;
use crate::gate::data::{facts::Approver, pin::Pins};
use crate::policy::{Scope, role::ToolProfile};

/// What happens to a call that must be asked while no console is attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unattended {
    /// It waits until a console opens, or until its deadline.
    #[default]
    Wait,
    Deny,
    /// It waits, and the host asks its user, if the host can and one careless answer does no harm.
    Elicit,
}

/// In which order calls reach the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForwardOrder {
    /// Each as soon as it is approved.
    #[default]
    Decided,
    /// As the host sent them: a call that is held holds up those behind it (`--ordered`).
    Sent,
}

/// Whether a host may be given a task for a call that waits, and poll for its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Polling {
    /// It waits for the answer to its request.
    #[default]
    Never,
    /// It polls if its request declares support for tasks (`--tasks`).
    Declared,
}

/// What the host sees of the server's list of tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Discover {
    /// All of it that lies in the scope.
    #[default]
    Off,
    /// A search tool, and what its searches have found (`--discover`).
    On {
        /// What the operator writes of tools.
        profiles: Vec<ToolProfile>,
    },
}

/// Whether the operator is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Each call that must be asked.
    #[default]
    Enforce,
    /// A call that would be asked is recorded and passes (`--observe`), and so does one that does not fit what the
    /// server says of its tools; the operator's own denials still hold.
    Observe,
}

/// What a gate is given once. Times are microseconds.
#[derive(Clone, Debug)]
pub struct Config {
    pub server: Arc<str>,
    /// How the operator opens the console: `mcp-approve`, and `--home` where the wrapper has one.
    pub console: Arc<str>,
    /// The id of this run of the wrapper, which its tokens are bound to.
    pub session: Arc<str>,
    /// The machine and the user that the wrapper runs on and as: signatures name them.
    pub machine: Arc<str>,
    pub user: Arc<str>,
    /// Random, for the ids of our own requests.
    pub nonce: Arc<str>,
    /// Random and known to neither end, for the states that a host must bring back.
    pub secret: Arc<str>,
    pub approval_timeout: u64,
    pub host_timeout: Option<u64>,
    pub order: ForwardOrder,
    pub polling: Polling,
    pub unattended: Unattended,
    pub mode: Mode,
    pub trust: Trust,
    /// What may be used of the server: what the operator said, and what every wrapper above this one may use.
    pub scope: Arc<Scope>,
    pub discover: Discover,
    /// The wrappers that this one was started underneath, the outermost first, as names for people.
    pub above: Vec<String>,
    /// Callbacks that are asked about each call they are for.
    pub approvers: Vec<Approver>,
    /// What is remembered of this server from before; it moves into the catalog.
    pub pins: Pins,
    pub places: Places,
    /// What the task expects of every call.
    pub expected: Option<Expected>,
    pub mismatch: Mismatch,
    /// Replaces secrets as the log does.
    pub redactor: Redactor,
}

impl Config {
    /// Whether a call that must be asked is denied instead, for want of an operator: so many consoles, and
    /// connections to the desk, are there.
    pub fn denies_unattended(&self, attached: usize) -> bool {
        self.unattended == Unattended::Deny && attached == 0
    }
}
