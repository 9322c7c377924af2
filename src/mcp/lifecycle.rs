//! The session of host and server, known from the lines that pass: the protocol revisions, the legacy handshake and what both
//! sides say in it that they can do (foreign text, bounded here), and when a call is legal. Owns the proof that one is.

use serde_json::{Map, Value, json};

use crate::wire::{Call, Digest, Gist, Id, Line, fold::CLIENT_CAPABILITIES, rename, words::words};

/// A session: `initialize`, its successful answer and `notifications/initialized` each take it one phase further.
#[derive(Debug, Default)]
pub struct Lifecycle {
    phase: Phase,
    /// What the handshake agreed on, until the session is closed.
    revision: Option<Revision>,
    asked: Option<PendingHandshake>,
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
    call: Digest,
}

impl InSession {
    pub fn is_for(&self, call: &Call) -> bool {
        self.call == call.digest()
    }
}

/// An `initialize` that was not answered yet.
#[derive(Debug)]
struct PendingHandshake {
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
    /// Errors: the phase that forbids it. A request of the stateless era carries its own protocol version and needs no
    /// handshake: it is legal until the session is closed.
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
        self.asked = Some(PendingHandshake {
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

fn text_at(content: &[u8], pointer: &str) -> Option<String> {
    let message: Value = serde_json::from_slice(content).ok()?;
    Some(message.pointer(pointer)?.as_str()?.to_owned())
}

words! {
    /// A protocol revision. Unknown ones count as the newest handshake revision that is not newer.
    Revision {
        V2024_11_05 = "2024-11-05",
        V2025_03_26 = "2025-03-26",
        V2025_06_18 = "2025-06-18",
        V2025_11_25 = "2025-11-25",
        V2026_07_28 = "2026-07-28",
    }
}

impl Revision {
    /// The revision that a handshake agreed on.
    ///
    /// Never the stateless one, which has no handshake: some hosts ask for it in `initialize` all the same. A text we
    /// do not know counts as the newest handshake revision that is not newer; one that is no date, as the oldest.
    pub fn of_handshake(text: &str) -> Self {
        if !is_date(text) {
            return Self::V2024_11_05;
        }
        let earlier = |revision: &&Self| **revision < Self::V2026_07_28 && revision.word() <= text;
        Self::ALL.iter().copied().rfind(|revision| earlier(&revision)).unwrap_or(Self::V2024_11_05)
    }
}

/// Whether the text has the form `YYYY-MM-DD`, so that order of text is order of time.
fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(i, byte)| match i {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// How many features are kept, and how many characters of each.
const FEATURES: usize = 64;
const LONGEST: usize = 64;
/// How many characters of the instructions are kept; their digest is of all.
const INSTRUCTIONS: usize = 2000;

/// What an answer to `initialize` or `server/discover` says of the server, as one object; `None` for any other answer.
pub fn of_server(content: &[u8]) -> Option<Value> {
    let message: Value = serde_json::from_slice(content).ok()?;
    let result = message.get("result")?;
    let capabilities = result.get("capabilities")?;
    let text = |pointer: &str| Some(bounded(result.pointer(pointer)?.as_str()?, LONGEST));
    let versions = result.get("supportedVersions").and_then(Value::as_array).into_iter().flatten();
    let versions: Vec<&str> = versions.filter_map(Value::as_str).take(FEATURES).collect();
    let revision = text("/protocolVersion").unwrap_or_else(|| bounded(&versions.join(" "), LONGEST));
    let mut said = json!({
        "revision": revision,
        "server": text("/serverInfo/name"),
        "server_version": text("/serverInfo/version"),
        "features": features(capabilities),
    });
    let instructions = result.get("instructions").and_then(Value::as_str);
    if let (Some(text), Some(said)) = (instructions, said.as_object_mut()) {
        let digest = Digest::of(text.as_bytes()).to_string();
        let kept = json!({ "digest": digest, "bytes": text.len(), "text": bounded(text, INSTRUCTIONS) });
        said.insert("instructions".to_owned(), kept);
    }
    Some(said)
}

pub fn of_host(content: &[u8]) -> Vec<String> {
    at(content, "/params/capabilities").as_ref().map(features).unwrap_or_default()
}

/// Whether the host shows forms, by its `initialize`: `elicitation` with `form` in it, or empty, as the first revision has it.
pub fn shows_forms(content: &[u8]) -> bool {
    has_forms(at(content, "/params/capabilities").as_ref())
}

/// Whether a request of the stateless era says the same in its `_meta`, given as its text.
pub fn declares_forms(meta: &str) -> bool {
    let meta: Option<Value> = serde_json::from_str(meta).ok();
    meta.is_some_and(|meta| has_forms(meta.get(CLIENT_CAPABILITIES)))
}

fn at(content: &[u8], pointer: &str) -> Option<Value> {
    let mut message: Value = serde_json::from_slice(content).ok()?;
    message.pointer_mut(pointer).map(Value::take)
}

fn has_forms(capabilities: Option<&Value>) -> bool {
    let said = capabilities.and_then(|capabilities| capabilities.get("elicitation")?.as_object());
    said.is_some_and(|said| said.is_empty() || said.get("form").is_some_and(Value::is_object))
}

/// Whether an answer to `initialize` says that the server makes tasks of calls (2025-11-25).
pub fn makes_tasks(content: &[u8]) -> bool {
    at(content, "/result/capabilities/tasks/requests/tools/call").is_some_and(|said| said.is_object())
}

/// An answer to `initialize` that says `tools.listChanged`, every other byte as it was; `None` without tools or strict JSON.
pub fn with_list_changes(line: &Line) -> Option<Line> {
    at(line.content(), "/result/protocolVersion")?;
    rename::with_member(line, &["result", "capabilities", "tools"], "listChanged", "true")
}

/// The names of capabilities, and what is switched on in each: `tools`, `tools.listChanged`.
fn features(capabilities: &Value) -> Vec<String> {
    let empty = Map::new();
    let mut found = Vec::new();
    for (name, inner) in capabilities.as_object().unwrap_or(&empty) {
        found.push(bounded(name, LONGEST));
        let switched =
            inner.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null() && **value != false);
        found.extend(switched.map(|(inner, _)| bounded(&format!("{name}.{inner}"), LONGEST)));
    }
    found.truncate(FEATURES);
    found
}

fn bounded(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
