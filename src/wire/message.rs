//! Sorts a line: a call, something that passes, or something refused. Owns the grammar of what a host may send.

use super::call::{Call, Origin};
use super::envelope::{self, Envelope, Name, Read, Word};
use super::id::Id;
use super::judge::{self, Message};
use super::line::Line;
use super::reply::{INVALID_REQUEST, PARSE_ERROR};
use super::stream::EnvelopeScanner;
use super::strict::{Fault, Kind, Reader};

pub use super::stream::Gist;

/// What a host's line is.
#[derive(Debug)]
pub enum Sorted {
    /// A `tools/call` request: held until a decision.
    Call(Box<Call>),
    /// Anything else that is canonical: passes as it is.
    Plain(Plain),
    /// Never forwarded; answered.
    Refused { refusal: Refusal, line: Line },
    /// Only white space: no message; dropped without a word.
    Blank,
}

/// A canonical line that is not a call. Only [`sort`] makes one, so a call cannot pass as one.
#[derive(Debug)]
pub struct Plain {
    line: Line,
    gist: Gist,
}

impl Plain {
    /// What the message is.
    pub fn gist(&self) -> &Gist {
        &self.gist
    }

    /// The line as received.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// Whether it is the request of this id.
    pub fn is_request(&self, id: &Id) -> bool {
        matches!(&self.gist, Gist::Request { id: own, .. } if own == id)
    }

    /// The message as something that can be held; `None` unless it is a request.
    pub fn request(&self, origin: Origin) -> Option<Call> {
        match envelope::read(self.line.content()) {
            Ok(Read::Object(envelope)) => {
                judge::request(&envelope).map(|parts| Call::new(self.line.clone(), origin, parts))
            }
            Ok(Read::Array | Read::Bare) | Err(_) => None,
        }
    }

    /// Consumes the message for its bytes.
    pub fn into_line(self) -> Line {
        self.line
    }
}

/// Why a host's line is refused, and what to answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Refusal {
    /// The JSON-RPC error code: -32700 or -32600.
    pub code: i32,
    /// What is wrong, for the host's developer: one sentence, no foreign text.
    pub what: String,
    /// The request's id where one can be read; `None` answers with `null`.
    pub id: Option<Id>,
    /// Whether an answer is due: a refused notification gets none.
    pub answer: bool,
}

impl Refusal {
    /// The refusal of what is JSON, and not acceptable.
    pub fn of(what: impl Into<String>, id: Option<Id>, answer: bool) -> Self {
        Self { code: INVALID_REQUEST, what: what.into(), id, answer }
    }
}

/// Sorts one line from the host. Strict: see THREATS C1 to C10.
///
/// Accepts what every parser we know reads alike (PROTOCOL.md 3.6). That includes an escape inside a key or a method
/// (`\u0074ools/call`): all parsers decode it, so the decoded text is judged and the bytes are forwarded.
pub fn sort(line: Line) -> Sorted {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    if line.content().iter().all(blank) {
        return Sorted::Blank;
    }
    match judged(line.content()) {
        Err(refusal) => Sorted::Refused { refusal, line },
        Ok(Message::Plain(gist)) => Sorted::Plain(Plain { line, gist }),
        Ok(Message::Call(parts)) => Sorted::Call(Box::new(Call::new(line, Origin::Host, parts))),
    }
}

impl Call {
    /// The same request with other arguments (the operator's edit), read strictly again.
    ///
    /// `arguments` is one JSON object; raw line breaks in it become spaces. Everything else keeps its bytes.
    ///
    /// # Errors
    /// The refusal a line with these arguments would meet.
    pub fn with_arguments(&self, arguments: &str) -> Result<Self, Refusal> {
        let refused = |what: &str| Refusal::of(what, Some(self.id().clone()), true);
        if self.method().is_some() {
            return Err(refused("only the arguments of a tool call can be edited"));
        }
        let arguments = arguments.replace(['\n', '\r'], " ");
        // Read on its own first, so that the text cannot close the object and add members of `params`.
        if !is_object(arguments.as_bytes()) {
            return Err(refused("the edited arguments are not one canonical JSON object"));
        }
        let (replaced, text) = match &self.parts.arguments {
            Some(span) => (span.clone(), arguments),
            None => {
                let inside = self.parts.params.start + 1;
                (inside..inside, format!("\"arguments\":{arguments},"))
            }
        };
        let mut bytes = self.line.bytes().to_vec();
        bytes.splice(replaced, text.into_bytes());
        match sort(Line::new(bytes)) {
            Sorted::Call(call) => Ok(*call),
            Sorted::Refused { refusal, .. } => Err(refusal),
            Sorted::Plain(_) | Sorted::Blank => Err(refused("the edit leaves no call")),
        }
    }
}

/// The refusal for a line beyond the cap. `head` is its first bytes, searched for an id.
pub fn overlong(head: &[u8], bytes: u64, cap: usize) -> Refusal {
    let mut scanner = EnvelopeScanner::default();
    scanner.feed(head);
    let is_response = scanner.method().is_none() && scanner.outcome().is_some();
    let what = format!("the line has {bytes} bytes; at most {cap} are accepted");
    Refusal::of(what, scanner.id().cloned(), !is_response)
}

/// Tells what a server's line is, if that is known. Tolerant: it is relayed in any case.
pub fn peek(content: &[u8]) -> Gist {
    let mut scanner = EnvelopeScanner::default();
    scanner.feed(content);
    match scanner.finish() {
        Gist::Notification { method, .. } if method == judge::CANCELLED => {
            Gist::Notification { method, cancels: cancelled(content) }
        }
        gist @ (Gist::Request { .. } | Gist::Notification { .. } | Gist::Response { .. } | Gist::Unreadable) => gist,
    }
}

/// Why a notification of a method that rules or a scope are about, or one that carries a call, does not pass.
pub const NO_ANSWER: &str = "a request without an id cannot be answered, so it is not accepted where a rule, a scope or a tool call in it needs a decision";

fn judged(content: &[u8]) -> Result<Message, Refusal> {
    let what = match envelope::read(content) {
        Err(fault) => return Err(malformed(content, fault)),
        Ok(Read::Object(envelope)) => {
            return judge::judge(&envelope).map_err(|what| refusal(what, &envelope));
        }
        Ok(Read::Array) => "batches are not accepted; send each message on its own line",
        Ok(Read::Bare) => "the line is not a JSON object",
    };
    Err(Refusal::of(what, None, true))
}

/// The refusal of a message that could be read.
fn refusal(what: &str, envelope: &Envelope<'_>) -> Refusal {
    let has_method = envelope.method != Word::Absent;
    // A key that shadows `id` leaves open whether this is a notification: then the host gets an answer.
    let is_notification = has_method && envelope.id == Name::Absent && !envelope.shadowed;
    // An error under a response's id would look like the answer to a request of the host's own.
    let is_response = !has_method && (envelope.has_result || envelope.has_error);
    Refusal::of(what, envelope.id.id().cloned(), !is_notification && !is_response)
}

/// The refusal of a text that is no JSON, or that parsers read differently.
fn malformed(content: &[u8], fault: Fault) -> Refusal {
    let what = fault.to_string();
    if fault.flaw.is_syntax() {
        return Refusal { code: PARSE_ERROR, what, id: None, answer: true };
    }
    let mut scanner = EnvelopeScanner::default();
    scanner.feed(content);
    let has_method = scanner.method().is_some();
    let is_notification = has_method && !scanner.has_id();
    let is_response = !has_method && scanner.outcome().is_some();
    Refusal::of(what, scanner.id().cloned(), !is_notification && !is_response)
}

/// `params.requestId` of a server's cancellation.
fn cancelled(content: &[u8]) -> Option<Id> {
    let message: serde_json::Value = serde_json::from_slice(content).ok()?;
    let id = message.get("params")?.get("requestId")?;
    Id::from_token(&id.to_string())
}

/// Whether the text is exactly one object, strictly read.
fn is_object(text: &[u8]) -> bool {
    Reader::new(text).is_ok_and(|mut reader| {
        matches!(reader.kind(), Ok(Kind::Object)) && reader.skip().is_ok() && reader.end().is_ok()
    })
}
