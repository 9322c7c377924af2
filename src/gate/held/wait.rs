//! The requests under which a host waits for one call: the call itself, and those it came back with since. In the
//! stateless era a request may be answered with nothing but a state, and the host sends the request again with it. So a
//! call can be held for longer than its host waits for one request. Owns no decision.

use std::sync::Arc;

use crate::gate::server::flight::Later;
use crate::mcp::Revision;
use crate::wire::{Call, Digest, Origin, call::AnswerTo};

/// How often one call is answered with a state: hosts follow ten answers, and the server may need some of its own.
pub const MOST: u64 = 8;
/// What our states begin with: a request with one never reaches the server, unless that is a wrapper too and gave it.
const PREFIX: &str = "mcp-approve:";

#[derive(Clone, Copy, Debug)]
pub struct Heartbeat {
    /// When the next one is sent (monotonic microseconds).
    pub next: u64,
    pub sent: u32,
}

#[derive(Debug, Default)]
pub struct HostWait {
    /// `None` where the host gave no progress token.
    pub heartbeat: Option<Heartbeat>,
    /// Since when the open request waits (monotonic microseconds).
    pub opened: u64,
    /// When the open request is answered with a state (monotonic microseconds); `None`: it waits until the call's deadline.
    pub ends: Option<u64>,
    /// The requests the host came back with, the open one last.
    pub later: Vec<Later>,
    /// The state that the host was given and has not brought back: no request is open.
    pub away: Option<Arc<str>>,
    /// The task that the host was given: its request is answered.
    pub task: Option<Arc<str>>,
    /// What every later request must repeat, if the operator has edited the call since.
    pub repeated: Option<Digest>,
    /// The digest of the answers to the server's questions that the first request brought, where the call is not held any more.
    pub responses: Option<Digest>,
}

impl HostWait {
    /// Whether the open request of this call can be answered with a state now.
    pub fn may_end(&self, call: &Call) -> bool {
        are_possible(call) && self.task.is_none() && self.away.is_none() && (self.later.len() as u64) < MOST
    }
}

/// Whether a host can wait for this call in several requests.
pub fn are_possible(call: &Call) -> bool {
    let is_of_call = match call.origin() {
        Origin::Host => call.method().is_none(),
        Origin::Result => call.answer_to() == Some(AnswerTo::Call),
        Origin::Server | Origin::Answer => false,
    };
    is_of_call && call.meta().protocol_version.as_deref() == Some(Revision::V2026_07_28.word())
}

/// A state for one wait: `secret` makes it impossible to guess.
pub fn state(secret: &str, ticket: &str, nth: usize) -> Arc<str> {
    format!("{PREFIX}{}", Digest::of(format!("{secret}\0{ticket}\0{nth}").as_bytes())).into()
}

/// The state of ours that a call brings back.
pub fn brought_back(call: &Call) -> Option<String> {
    let state: String = serde_json::from_str(call.request_state_text()?).ok()?;
    state.starts_with(PREFIX).then_some(state)
}
