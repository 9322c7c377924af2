//! What one call was judged to be, and what was found out about it. Judges nothing.

use std::sync::Arc;

use crate::behavior::conclude::Behavior;
use crate::capability::schema::Violation;
use crate::gate::call::retry::Retry;
use crate::gate::data::facts::{Findings, Look};
use crate::gate::data::opinion::Opinion;
use crate::gate::server::described::Described;
use crate::policy::decide::Near;
use crate::policy::decide::Ruling;
use crate::wire::digest::Digest;

/// Everything found out about one call.
#[derive(Clone, Debug)]
pub struct Judged {
    /// `None`: the server has not described the tool.
    pub described: Option<Arc<Described>>,
    pub behavior: Behavior,
    pub ruling: Ruling,
    /// JSON Pointers of the keys that the tool's schema does not declare.
    pub undeclared: Vec<String>,
    /// Where the arguments do not fit the tool's schema; such a call is refused whatever the ruling.
    pub violations: Vec<Violation>,
    /// What the call carries beside its arguments.
    pub retry: Retry,
    pub danger: Option<String>,
    /// What each leaf of the arguments is, what is new first, if the call only reads. Names in it are foreign text.
    pub explained: String,
    pub effect: String,
    /// What it acts on.
    pub target: Option<Arc<str>>,
    /// What must be looked at before this ruling counts.
    pub wanted: Look,
    /// Whether a grant may cover it once the files in `wanted` were looked at.
    pub awaits_look: bool,
    /// The approver that decided, where one did.
    pub by_approver: Option<String>,
    /// If the ruling asks: the rules for this tool that did not decide, the nearest first.
    pub near: Vec<Near>,
    /// The tool call inside it, if it is a request that carries one.
    pub inside: Option<Inside>,
}

/// A tool call inside another request: its tool where that is clear, else the method, and what is known of the tool.
#[derive(Clone, Debug)]
pub struct Inside {
    pub tool: Arc<str>,
    pub described: Option<Arc<Described>>,
}

/// What was found out about one call since it came.
#[derive(Debug, Default)]
pub struct Seen {
    /// What the shell was asked to look at.
    pub look: Look,
    /// What the shell found there, and the policy or the operator judged by.
    pub found: Option<Findings>,
    /// What the approvers said; `None` while none was asked.
    pub opinions: Option<Vec<Opinion>>,
}

impl Judged {
    /// The definition it was judged by.
    pub fn definition(&self) -> Option<Digest> {
        self.described.as_ref().map(|known| known.digest)
    }
}
