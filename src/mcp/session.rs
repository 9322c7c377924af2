//! The session as a type: only an active session offers a call. Owns the states and their proofs,
//! not how the lines that pass move them.
//!
//! `initialize`, its successful answer, `notifications/initialized`: each step consumes the session and gives the next.
//!
//! ```
//! use mcp_approve::mcp::session::Session;
//! use mcp_approve::mcp::revision::Revision;
//!
//! fn allow(call: &mcp_approve::wire::call::Call) {
//!     let active = Session::open().answered(Revision::V2025_11_25).initialized();
//!     assert!(active.call(call).is_for(call));
//! }
//! ```
//!
//! A session that is not active has no way to make a call:
//!
//! ```compile_fail,E0599
//! use mcp_approve::mcp::session::Session;
//! use mcp_approve::mcp::revision::Revision;
//!
//! fn skip(call: &mcp_approve::wire::call::Call) {
//!     let initializing = Session::open().answered(Revision::V2025_11_25);
//!     let proof = initializing.call(call);
//! }
//! ```

use super::revision::Revision;
use crate::wire::call::Call;
use crate::wire::digest::Digest;
use crate::wire::words::words;

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
        Session { state: Initializing { revision } }
    }
}

impl Session<Initializing> {
    /// The revision that the server agreed to.
    pub fn revision(&self) -> Revision {
        self.state.revision
    }

    /// The host confirmed.
    pub fn initialized(self) -> Session<Active> {
        let revision = self.state.revision;
        Session { state: Active { revision } }
    }
}

impl Session<Active> {
    /// The revision that the handshake agreed on.
    pub fn revision(&self) -> Revision {
        self.state.revision
    }

    /// The proof that this call is legal now.
    pub fn call(&self, call: &Call) -> InSession {
        InSession { call: call.digest() }
    }
}

impl<State> Session<State> {
    /// One side is gone.
    pub fn close(self) -> Session<Closed> {
        Session { state: Closed }
    }
}

/// Proof that one call is legal in its session's state. Made by an active session, or by a stateless request.
///
/// ```compile_fail,E0451
/// use mcp_approve::mcp::session::InSession;
/// let forged = InSession { call: mcp_approve::wire::digest::Digest::of(b"") };
/// ```
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a call is legal only with its proof"]
pub struct InSession {
    /// The call it was made for.
    call: Digest,
}

impl InSession {
    /// The proof for a request of the stateless era, which carries its own protocol version and needs no handshake.
    pub fn stateless(call: &Call) -> Option<Self> {
        call.is_modern().then(|| Self { call: call.digest() })
    }

    /// Whether it was made for exactly these bytes.
    pub fn is_for(&self, call: &Call) -> bool {
        self.call == call.digest()
    }
}

words! {
    /// How far a session has come.
    Phase {
        Opening = "Opening",
        Initializing = "Initializing",
        Active = "Active",
        Closed = "Closed",
    }
}

/// Why a call is not legal now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotLegal {
    #[error("the session is still opening: the server has not answered `initialize`")]
    Opening,
    #[error("the session is initializing: the host has not sent `notifications/initialized`")]
    Initializing,
    #[error("the session is closed")]
    Closed,
}
