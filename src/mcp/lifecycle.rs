//! The session of host and server, known from the lines that pass: the legacy handshake, and when a call is legal. Owns the
//! proof that one is.

use serde_json::Value;

use super::revision::Revision;
use crate::wire::call::Call;
use crate::wire::digest::Digest;
use crate::wire::id::Id;
use crate::wire::message::Gist;
use crate::wire::words::words;

/// A session: `initialize`, its successful answer and `notifications/initialized` each take it one phase further.
#[derive(Debug, Default)]
pub struct Lifecycle {
    phase: Phase,
    /// What the handshake agreed on, until the session is closed.
    revision: Option<Revision>,
    asked: Option<Asked>,
    host: Option<(String, String)>,
}

words! {
    /// How far a session has come.
    #[derive(Default)]
    Phase {
        /// Before a successful answer to `initialize`.
        #[default]
        Opening = "Opening",
        /// After it, before `notifications/initialized`.
        Initializing = "Initializing",
        /// The handshake is done: calls are legal.
        Active = "Active",
        /// The pipe to one side is gone.
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

/// Proof that one call is legal in its session's phase. Only [`Lifecycle::call`] makes one.
///
/// ```compile_fail,E0451
/// use mcp_approve::mcp::lifecycle::InSession;
/// let forged = InSession { call: mcp_approve::wire::digest::Digest::of(b"") };
/// ```
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a call is legal only with its proof"]
pub struct InSession {
    /// The call it was made for.
    call: Digest,
}

impl InSession {
    /// Whether it was made for exactly these bytes.
    pub fn is_for(&self, call: &Call) -> bool {
        self.call == call.digest()
    }
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

impl Lifecycle {
    /// Learns from a canonical line of the host's that is no call. `content` is the line's.
    pub fn on_host_line(&mut self, gist: &Gist, content: &[u8]) {
        match gist {
            Gist::Request { id, method, .. } if method == "initialize" => self.ask(id, content),
            Gist::Notification { method, .. } if method == "notifications/initialized" => {
                self.confirm();
            }
            Gist::Request { .. } | Gist::Notification { .. } | Gist::Response { .. } | Gist::Unreadable => {}
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
        (self.phase, self.revision, self.asked) = (Phase::Closed, None, None);
    }

    /// The proof that this call is legal now.
    ///
    /// # Errors
    /// The phase that forbids it. A request of the stateless era carries its own protocol version and needs no handshake: it
    /// is legal until the session is closed.
    pub fn call(&self, call: &Call) -> Result<InSession, NotLegal> {
        match self.phase {
            Phase::Closed => Err(NotLegal::Closed),
            Phase::Opening if !call.is_modern() => Err(NotLegal::Opening),
            Phase::Initializing if !call.is_modern() => Err(NotLegal::Initializing),
            Phase::Opening | Phase::Initializing | Phase::Active => Ok(InSession { call: call.digest() }),
        }
    }

    /// Whether the server still owes the answer to an `initialize`: a call may be legal in a moment.
    pub fn is_pending(&self) -> bool {
        self.asked.is_some() && self.phase != Phase::Closed
    }

    /// How far the session has come.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The revision that the handshake agreed on; `None` before it, and where there is none.
    pub fn revision(&self) -> Option<Revision> {
        self.revision
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
        if self.phase != Phase::Closed {
            (self.phase, self.revision) = (self.phase.max(Phase::Initializing), Some(revision));
        }
        if let Confirmed::Early = confirmed {
            self.confirm();
        }
    }

    fn confirm(&mut self) {
        if let Some(asked) = &mut self.asked {
            asked.confirmed = Confirmed::Early;
        }
        if self.phase == Phase::Initializing {
            self.phase = Phase::Active;
        }
    }
}

/// A string in a message, by JSON Pointer.
fn text_at(content: &[u8], pointer: &str) -> Option<String> {
    let message: Value = serde_json::from_slice(content).ok()?;
    Some(message.pointer(pointer)?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Lifecycle, NotLegal, Phase};
    use crate::mcp::revision::Revision;
    use crate::wire::call::Call;
    use crate::wire::line::Line;
    use crate::wire::message::{Sorted, peek, sort};

    const ASKS: &str = r#"> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"h","version":"1"}}}"#;
    const AGREES: &str = r#"< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26"}}"#;
    const FAILS: &str = r#"< {"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no"}}"#;
    const SILENT: &str = r#"< {"jsonrpc":"2.0","id":0,"result":{}}"#;
    const OTHER: &str = r#"< {"jsonrpc":"2.0","id":"0","result":{"protocolVersion":"2024-11-05"}}"#;
    const CONFIRMS: &str = r#"> {"jsonrpc":"2.0","method":"notifications/initialized"}"#;

    /// Plays a transcript: `>` from the host, `<` from the server, `x` closes.
    fn after(transcript: &[&str]) -> Lifecycle {
        let mut lifecycle = Lifecycle::default();
        for step in transcript {
            let content = step.get(2..).unwrap_or_default();
            match (&step[..1], sort(Line::new(content.into()))) {
                (">", Sorted::Plain(plain)) => {
                    lifecycle.on_host_line(plain.gist(), content.as_bytes());
                }
                ("<", _) => lifecycle.on_server_line(&peek(content.as_bytes()), content.as_bytes()),
                ("x", _) => lifecycle.close(),
                (_, sorted) => panic!("{step}: {sorted:?}"),
            }
        }
        lifecycle
    }

    fn call(meta: &str) -> Call {
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","_meta":{meta}}}}}"#);
        match sort(Line::new(line.into_bytes())) {
            Sorted::Call(call) => *call,
            other => panic!("no call: {other:?}"),
        }
    }

    #[test]
    fn a_call_is_legal_once_the_handshake_is_done() {
        let table: &[(&[&str], Result<Revision, NotLegal>)] = &[
            (&[], Err(NotLegal::Opening)),
            (&[ASKS], Err(NotLegal::Opening)),
            (&[ASKS, OTHER], Err(NotLegal::Opening)),
            (&[ASKS, FAILS], Err(NotLegal::Opening)),
            (&[ASKS, FAILS, CONFIRMS], Err(NotLegal::Opening)),
            (&[AGREES, CONFIRMS], Err(NotLegal::Opening)),
            (&[ASKS, AGREES], Err(NotLegal::Initializing)),
            (&[ASKS, AGREES, CONFIRMS], Ok(Revision::V2025_03_26)),
            (&[ASKS, SILENT, CONFIRMS], Ok(Revision::V2025_06_18)),
            (&[ASKS, CONFIRMS], Err(NotLegal::Opening)),
            (&[ASKS, CONFIRMS, AGREES], Ok(Revision::V2025_03_26)),
            (&[ASKS, FAILS, ASKS, AGREES, CONFIRMS], Ok(Revision::V2025_03_26)),
            (&[ASKS, AGREES, CONFIRMS, ASKS], Ok(Revision::V2025_03_26)),
            (&[ASKS, AGREES, CONFIRMS, ASKS, SILENT], Ok(Revision::V2025_06_18)),
            (&[ASKS, AGREES, CONFIRMS, "x"], Err(NotLegal::Closed)),
            (&["x", ASKS, AGREES, CONFIRMS], Err(NotLegal::Closed)),
        ];
        for (transcript, expected) in table {
            let session = after(transcript);
            let legal = session.call(&call("{}")).map(|_| session.revision());
            assert_eq!(legal, expected.map(Some), "{transcript:?}");
        }
    }

    #[test]
    fn a_stateless_call_needs_no_handshake() {
        let modern = call(r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#);
        for transcript in [&[][..], &[ASKS], &[ASKS, AGREES], &[ASKS, AGREES, CONFIRMS]] {
            assert!(after(transcript).call(&modern).is_ok(), "{transcript:?}");
        }
        assert_eq!(after(&["x"]).call(&modern), Err(NotLegal::Closed));
    }

    #[test]
    fn what_was_said_can_be_asked_for() {
        let lifecycle = after(&[ASKS, AGREES]);
        assert_eq!(lifecycle.host(), Some(("h", "1")));
        assert_eq!(lifecycle.revision(), Some(Revision::V2025_03_26));
        assert_eq!(lifecycle.phase(), Phase::Initializing);
        assert_eq!(after(&[]).host(), None);
        assert_eq!(after(&[ASKS]).revision(), None);
    }
}
