//! The session as a type: only an active session offers a call. Owns the legacy handshake; the stateless era needs none.
//!
//! `initialize`, its successful answer, `notifications/initialized`: each step consumes the session and gives the next.
//!
//! ```
//! use mcp_approve::mcp::lifecycle::Session;
//! use mcp_approve::mcp::revision::Revision;
//!
//! let active = Session::open().answered(Revision::V2025_11_25).initialized();
//! assert_eq!(active.call().revision(), Revision::V2025_11_25);
//! ```
//!
//! A session that is not active has no way to make a call:
//!
//! ```compile_fail,E0599
//! use mcp_approve::mcp::lifecycle::Session;
//! use mcp_approve::mcp::revision::Revision;
//!
//! let initializing = Session::open().answered(Revision::V2025_11_25);
//! let call = initializing.call();
//! ```

use serde_json::Value;

use super::revision::Revision;
use crate::wire::call::Call;
use crate::wire::id::Id;
use crate::wire::message::Gist;

/// A session in one of its states.
#[derive(Debug)]
pub struct Session<State> {
    state: State,
}

/// Before a successful answer to `initialize`.
#[derive(Debug)]
pub struct Opening;
/// After it, before `notifications/initialized`.
#[derive(Debug)]
pub struct Initializing {
    revision: Revision,
}
/// The handshake is done: calls are legal.
#[derive(Debug)]
pub struct Active {
    revision: Revision,
}
/// The pipe to one side is gone.
#[derive(Debug)]
pub struct Closed;

impl Session<Opening> {
    /// A session before its first line.
    pub const fn open() -> Self {
        Self { state: Opening }
    }

    /// The server agreed to a revision.
    pub fn answered(self, revision: Revision) -> Session<Initializing> {
        Session {
            state: Initializing { revision },
        }
    }
}

impl Session<Initializing> {
    /// The host confirmed.
    pub fn initialized(self) -> Session<Active> {
        let revision = self.state.revision;
        Session {
            state: Active { revision },
        }
    }
}

impl Session<Active> {
    /// The proof that a call is legal now.
    pub fn call(&self) -> InSession {
        InSession {
            revision: self.state.revision,
        }
    }
}

impl<State> Session<State> {
    /// One side is gone.
    pub fn close(self) -> Session<Closed> {
        Session { state: Closed }
    }
}

/// Proof that a call is legal in its session's state. Made by an active session, or by a stateless request.
///
/// ```compile_fail,E0451
/// use mcp_approve::mcp::{lifecycle::InSession, revision::Revision};
/// let forged = InSession { revision: Revision::V2025_11_25 };
/// ```
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a call is legal only with its proof"]
pub struct InSession {
    revision: Revision,
}

impl InSession {
    /// The proof for a request of the stateless era, which carries its own protocol version and needs no handshake.
    pub fn stateless(call: &Call) -> Option<Self> {
        call.is_modern().then_some(Self {
            revision: Revision::V2026_07_28,
        })
    }

    /// The revision whose rules hold for this call and its answer.
    pub fn revision(&self) -> Revision {
        self.revision
    }
}

/// Why a call is not legal now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Phase {
    #[error("the session is still opening: the server has not answered `initialize`")]
    Opening,
    #[error("the session is initializing: the host has not sent `notifications/initialized`")]
    Initializing,
    #[error("the session is closed")]
    Closed,
}

/// A session in whichever state it is, told by the lines that pass.
#[derive(Debug)]
pub struct Lifecycle {
    stage: Stage,
    asked: Option<Asked>,
    host: Option<(String, String)>,
}

#[derive(Debug)]
enum Stage {
    Opening(Session<Opening>),
    Initializing(Session<Initializing>),
    Active(Session<Active>),
    Closed(Session<Closed>),
}

/// An `initialize` that was not answered yet.
#[derive(Debug)]
struct Asked {
    id: Id,
    requested: String,
    confirmed: Confirmed,
}

/// Whether `notifications/initialized` ran ahead of the server's answer, as from hosts that write all at once.
#[derive(Clone, Copy, Debug)]
enum Confirmed {
    NotYet,
    Early,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self::new()
    }
}

impl Lifecycle {
    /// A session before its first line.
    pub const fn new() -> Self {
        Self {
            stage: Stage::Opening(Session::open()),
            asked: None,
            host: None,
        }
    }

    /// Learns from a canonical line of the host's that is no call. `content` is the line's.
    pub fn on_host_line(&mut self, gist: &Gist, content: &[u8]) {
        match gist {
            Gist::Request { id, method, .. } if method == "initialize" => self.ask(id, content),
            Gist::Notification { method, .. } if method == "notifications/initialized" => {
                self.confirm();
            }
            Gist::Request { .. }
            | Gist::Notification { .. }
            | Gist::Response { .. }
            | Gist::Unreadable => {}
        }
    }

    /// Learns from a line of the server's. `content` is the line's, or its beginning where it streams by.
    pub fn on_server_line(&mut self, gist: &Gist, content: &[u8]) {
        let Gist::Response { id, failed } = gist else {
            return;
        };
        let Some(asked) = self.asked.take_if(|asked| asked.id == *id) else {
            return;
        };
        if *failed {
            return;
        }
        let agreed = text_at(content, "/result/protocolVersion").unwrap_or(asked.requested);
        self.agree(Revision::of_handshake(&agreed), asked.confirmed);
    }

    /// One side is gone: no call is legal any more.
    pub fn close(&mut self) {
        self.asked = None;
        self.step(|stage| match stage {
            Stage::Opening(session) => Stage::Closed(session.close()),
            Stage::Initializing(session) => Stage::Closed(session.close()),
            Stage::Active(session) => Stage::Closed(session.close()),
            Stage::Closed(session) => Stage::Closed(session),
        });
    }

    /// The proof that this call is legal now.
    ///
    /// # Errors
    /// The phase that forbids it. A stateless request is legal until the session is closed.
    pub fn call(&self, call: &Call) -> Result<InSession, Phase> {
        let phase = match &self.stage {
            Stage::Closed(_) => return Err(Phase::Closed),
            Stage::Opening(_) => Phase::Opening,
            Stage::Initializing(_) => Phase::Initializing,
            Stage::Active(session) => {
                return Ok(InSession::stateless(call).unwrap_or_else(|| session.call()));
            }
        };
        InSession::stateless(call).ok_or(phase)
    }

    /// The phase in one word: `Opening`, `Initializing`, `Active`, `Closed`.
    pub fn phase(&self) -> &'static str {
        match self.stage {
            Stage::Opening(_) => "Opening",
            Stage::Initializing(_) => "Initializing",
            Stage::Active(_) => "Active",
            Stage::Closed(_) => "Closed",
        }
    }

    /// The revision that the handshake agreed on; `None` before it, and where there is none.
    pub fn revision(&self) -> Option<Revision> {
        match &self.stage {
            Stage::Initializing(session) => Some(session.state.revision),
            Stage::Active(session) => Some(session.state.revision),
            Stage::Opening(_) | Stage::Closed(_) => None,
        }
    }

    /// Name and version of the host, as `initialize` said them: foreign text.
    pub fn host(&self) -> Option<(&str, &str)> {
        let (name, version) = self.host.as_ref()?;
        Some((name, version))
    }

    fn ask(&mut self, id: &Id, content: &[u8]) {
        if let Some(name) = text_at(content, "/params/clientInfo/name") {
            let version = text_at(content, "/params/clientInfo/version").unwrap_or_default();
            self.host = Some((name, version));
        }
        self.asked = Some(Asked {
            id: id.clone(),
            requested: text_at(content, "/params/protocolVersion").unwrap_or_default(),
            confirmed: Confirmed::NotYet,
        });
    }

    /// The server agreed. A second handshake renews the revision and leaves an active session active.
    fn agree(&mut self, revision: Revision, confirmed: Confirmed) {
        self.step(|stage| match stage {
            Stage::Opening(session) => Stage::Initializing(session.answered(revision)),
            Stage::Initializing(_) => Stage::Initializing(Session::open().answered(revision)),
            Stage::Active(_) => Stage::Active(Session::open().answered(revision).initialized()),
            Stage::Closed(session) => Stage::Closed(session),
        });
        if let Confirmed::Early = confirmed {
            self.confirm();
        }
    }

    fn confirm(&mut self) {
        if let Some(asked) = &mut self.asked {
            asked.confirmed = Confirmed::Early;
        }
        self.step(|stage| match stage {
            Stage::Initializing(session) => Stage::Active(session.initialized()),
            Stage::Opening(_) | Stage::Active(_) | Stage::Closed(_) => stage,
        });
    }

    fn step(&mut self, next: impl FnOnce(Stage) -> Stage) {
        let stage = std::mem::replace(&mut self.stage, Stage::Closed(Session { state: Closed }));
        self.stage = next(stage);
    }
}

/// A string in a message, by JSON Pointer.
fn text_at(content: &[u8], pointer: &str) -> Option<String> {
    let message: Value = serde_json::from_slice(content).ok()?;
    Some(message.pointer(pointer)?.as_str()?.to_owned())
}
