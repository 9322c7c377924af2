//! Cuts a byte stream into lines, and sorts each: a call, something that passes, or refused. Owns caps and the host's grammar.

use super::call::{Call, Origin, Parts};
use super::digest::Line;
use super::envelope::{self, AnyMember, Envelope, IdMember, Params, Read, TextMember};
use super::fold;
use super::id::Id;
use super::reply::{INVALID_REQUEST, PARSE_ERROR};
use super::stream::EnvelopeScanner;
pub use super::stream::Gist;
use super::strict::{Fault, JsonKind, Reader};

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
    pub fn gist(&self) -> &Gist {
        &self.gist
    }

    pub fn line(&self) -> &Line {
        &self.line
    }

    pub fn is_request(&self, id: &Id) -> bool {
        matches!(&self.gist, Gist::Request { id: own, .. } if own == id)
    }

    /// The message as something that can be held; `None` unless it is a request.
    pub fn request(&self, origin: Origin) -> Option<Call> {
        match envelope::read(self.line.content()) {
            Ok(Read::Object(envelope)) => request(&envelope).map(|parts| Call::new(self.line.clone(), origin, parts)),
            Ok(Read::Array | Read::Bare) | Err(_) => None,
        }
    }

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
    /// Errors: the refusal a line with these arguments would meet.
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
        match sort(self.line.with_bytes(bytes)) {
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
        Gist::Notification { method, .. } if method == CANCELLED => {
            Gist::Notification { method, cancels: cancelled(content) }
        }
        gist @ (Gist::Request { .. } | Gist::Notification { .. } | Gist::Response { .. } | Gist::Unreadable) => gist,
    }
}

/// Why a notification of a method that rules or a scope are about, or one that carries a call, does not pass.
pub const NO_ANSWER: &str = "a request without an id cannot be answered, so it is not accepted where a rule, a scope, a stop or a tool call in it needs a decision";

fn judged(content: &[u8]) -> Result<Message, Refusal> {
    let what = match envelope::read(content) {
        Err(fault) => return Err(malformed(content, fault)),
        Ok(Read::Object(envelope)) => {
            return judge(&envelope).map_err(|what| refusal(what, &envelope));
        }
        Ok(Read::Array) => "batches are not accepted; send each message on its own line",
        Ok(Read::Bare) => "the line is not a JSON object",
    };
    Err(Refusal::of(what, None, true))
}

fn refusal(what: &str, envelope: &Envelope<'_>) -> Refusal {
    let has_method = envelope.method != TextMember::Absent;
    // A key that shadows `id` leaves open whether this is a notification: then the host gets an answer.
    let is_notification = has_method && envelope.id == IdMember::Absent && !envelope.shadowed;
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
        matches!(reader.kind(), Ok(JsonKind::Object)) && reader.skip().is_ok() && reader.end().is_ok()
    })
}

/// The notification whose `requestId` withdraws a request.
pub(super) const CANCELLED: &str = "notifications/cancelled";

const CALL: &str = "tools/call";

/// What a message is, once it is known to be canonical.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is on the stack until the call is made of it; a box would be one more allocation"
)]
pub(super) enum Message {
    Call(Parts),
    Plain(Gist),
}

/// Judges one message. An error is the sentence for the host's developer.
pub(super) fn judge(message: &Envelope<'_>) -> Result<Message, &'static str> {
    if message.shadowed {
        return Err("a key of the message differs from a protocol key only in case or form");
    }
    if message.jsonrpc != TextMember::Text("2.0".into()) {
        return Err("`jsonrpc` is not \"2.0\"");
    }
    match &message.method {
        TextMember::Other => Err("`method` is not a string"),
        TextMember::Absent => response(message).map(Message::Plain),
        TextMember::Text(_) if message.has_result || message.has_error => {
            Err("the message has both `method` and `result` or `error`")
        }
        TextMember::Text(method) if method == CALL => call(message).map(Message::Call),
        TextMember::Text(method) if resembles_call(method) => {
            Err("`method` differs from `tools/call` only in case, form or the space around it")
        }
        TextMember::Text(method) => passing(message, method).map(Message::Plain),
    }
}

/// Whether a laxer server could take a method for a call: by case or form, by trimming, or because a NUL ends it.
fn resembles_call(method: &str) -> bool {
    let head = method.split('\0').next().unwrap_or_default();
    let bare = head.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    bare == CALL || fold::shadows(bare, &[CALL])
}

fn response(message: &Envelope<'_>) -> Result<Gist, &'static str> {
    match (&message.id, message.has_result, message.has_error) {
        (_, false, false) => Err("the message has neither `method` nor `result` nor `error`"),
        (_, true, true) => Err("the response has both `result` and `error`"),
        (IdMember::Id(id), _, failed) => Ok(Gist::Response { id: id.clone(), failed }),
        // JSON-RPC's error for a message that could not be read. It names no request, so nothing here depends on it.
        (IdMember::Absent | IdMember::Null, false, true) => Ok(Gist::Unreadable),
        (IdMember::Absent | IdMember::Null, _, _) => Err("the response has no id"),
        (IdMember::Other, _, _) => Err(NO_ID),
    }
}

/// A request or notification that is not held.
fn passing(message: &Envelope<'_>, method: &str) -> Result<Gist, &'static str> {
    let params = &message.params;
    if params.shadowed {
        return Err(SHADOWED);
    }
    let method = method.to_owned();
    match (&message.id, &params.request_id) {
        (IdMember::Other, _) => Err(NO_ID),
        (IdMember::Null, _) => Err("`id` is null"),
        (IdMember::Id(id), _) => {
            Ok(Gist::Request { id: id.clone(), method, modern: params.meta.protocol_version.is_some() })
        }
        (IdMember::Absent, request) if method == CANCELLED => match request {
            IdMember::Id(id) => Ok(Gist::Notification { method, cancels: Some(id.clone()) }),
            // Since 2025-11-25 a cancellation may name a task instead.
            IdMember::Absent => Ok(Gist::Notification { method, cancels: None }),
            IdMember::Null | IdMember::Other => Err("`requestId` is neither a string nor an integer within ±2^53"),
        },
        (IdMember::Absent, _) => Ok(Gist::Notification { method, cancels: None }),
    }
}

fn call(message: &Envelope<'_>) -> Result<Parts, &'static str> {
    let id = match &message.id {
        IdMember::Id(id) => id.clone(),
        IdMember::Other => return Err(NO_ID),
        IdMember::Absent | IdMember::Null => {
            return Err("a call without an id cannot be answered, so it is not accepted");
        }
    };
    let params = &message.params;
    if params.shadowed_as_call {
        return Err(SHADOWED);
    }
    let AnyMember::Present(JsonKind::Object, span) = &params.value else {
        return Err("`params` of a call is not an object");
    };
    let TextMember::Text(name) = &params.name else {
        return Err("`name` of a call is not a string");
    };
    fits(params)?;
    Ok(Parts {
        params: span.clone(),
        arguments: params.arguments.span(),
        meta: params.meta.clone(),
        request_state: params.request_state.span(),
        input_responses: params.input_responses.span(),
        values: message.values,
        longest_key: message.longest_key,
        has_unknown: message.has_unknown || params.has_unknown,
        ..Parts::of(id, name)
    })
}

/// The parts of a request that is no call; `None` for what is no request.
pub(super) fn request(message: &Envelope<'_>) -> Option<Parts> {
    let (TextMember::Text(method), IdMember::Id(id)) = (&message.method, &message.id) else { return None };
    let params = &message.params;
    Some(Parts {
        method: Some(method.clone().into_owned()),
        params: params.value.span().unwrap_or_default(),
        arguments: params.value.span(),
        meta: params.meta.clone(),
        values: message.values,
        longest_key: message.longest_key,
        ..Parts::of(id.clone(), method)
    })
}

/// Whether the optional members of a call are of their kinds.
fn fits(params: &Params<'_>) -> Result<(), &'static str> {
    let members = [
        (&params.arguments, JsonKind::Object, "`arguments` of a call is not an object"),
        (&params.meta_value, JsonKind::Object, "`_meta` of a call is not an object"),
        (&params.input_responses, JsonKind::Object, "`inputResponses` of a call is not an object"),
        (&params.request_state, JsonKind::Text, "`requestState` of a call is not a string"),
    ];
    if let Some((.., what)) = members.into_iter().find(|(value, kind, _)| !value.is_absent_or(*kind)) {
        return Err(what);
    }
    if params.protocol_version == TextMember::Other {
        return Err("the protocol version in `_meta` is not a string");
    }
    Ok(())
}

const NO_ID: &str = "`id` is neither a string nor an integer within ±2^53";
const SHADOWED: &str = "a key of `params` or `_meta` differs from a protocol key only in case or form";

/// What the cutter found in the stream, in order.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A whole line, buffered.
    Line(Line),
    /// A line beyond the host's cap, dropped. `head` is its first 4 KiB, `bytes` its length without the `\n`.
    Overlong { head: Vec<u8>, bytes: u64 },
    /// A server line outgrew the threshold: what was buffered of it so far. [`Piece::More`] follows.
    Start(Vec<u8>),
    /// More of the line that [`Piece::Start`] began; `last` when it carries the line end.
    More { bytes: &'a [u8], last: bool },
}

/// What becomes of a line longer than the cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeyondCap {
    /// Dropped up to its line end, and reported ([`Piece::Overlong`]): lines from the host.
    Drop,
    /// Handed on in pieces as they come ([`Piece::Start`]): lines from the server.
    Stream,
}

/// How much of a dropped line is kept, to tell whose it was.
const HEAD: usize = 4 * 1024;

/// Cuts chunks of any size into lines. What comes out depends on the bytes alone, never on where chunks ended.
#[derive(Debug)]
pub struct Cutter {
    cap: usize,
    beyond: BeyondCap,
    /// The bytes of the line that began in earlier chunks and was not passed on yet.
    begun: Vec<u8>,
    passage: LinePassage,
}

/// What becomes of the line that is under way.
#[derive(Debug)]
enum LinePassage {
    Buffering,
    Dropping { head: Vec<u8>, bytes: u64 },
    Streaming,
}

impl Cutter {
    /// A cutter that buffers lines up to `cap` bytes (the `\n` not counted).
    pub fn new(cap: usize, beyond: BeyondCap) -> Self {
        Self { cap, beyond, begun: Vec::new(), passage: LinePassage::Buffering }
    }

    /// Takes the next chunk and hands over every piece it completes, in order.
    pub fn feed<'a>(&mut self, chunk: &'a [u8], found: &mut dyn FnMut(Piece<'a>)) {
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (part, after) = rest.split_at(end + 1);
            self.complete(part, found);
            rest = after;
        }
        if !rest.is_empty() {
            self.extend(rest, found);
        }
    }

    /// Ends the stream: the bytes of a last line that had no line end, if any.
    ///
    /// A line that was being dropped or streamed leaves nothing: its bytes are gone, or were handed over.
    pub fn finish(self) -> Option<Vec<u8>> {
        match self.passage {
            LinePassage::Buffering if !self.begun.is_empty() => Some(self.begun),
            LinePassage::Buffering | LinePassage::Dropping { .. } | LinePassage::Streaming => None,
        }
    }

    /// Takes the last part of a line, its line end included.
    fn complete<'a>(&mut self, part: &'a [u8], found: &mut dyn FnMut(Piece<'a>)) {
        let content = part.split_last().map_or(part, |(_, content)| content);
        self.outgrow(content, found);
        match std::mem::replace(&mut self.passage, LinePassage::Buffering) {
            LinePassage::Buffering => {
                let mut bytes = std::mem::take(&mut self.begun);
                bytes.reserve_exact(part.len());
                bytes.extend_from_slice(part);
                found(Piece::Line(Line::new(bytes)));
            }
            LinePassage::Dropping { head, bytes } => {
                let head = filled(head, content);
                let bytes = bytes + content.len() as u64;
                found(Piece::Overlong { head, bytes });
            }
            LinePassage::Streaming => found(Piece::More { bytes: part, last: true }),
        }
    }

    /// Takes a part of a line that goes on in the next chunk.
    fn extend<'a>(&mut self, part: &'a [u8], found: &mut dyn FnMut(Piece<'a>)) {
        self.outgrow(part, found);
        match &mut self.passage {
            LinePassage::Buffering => self.begun.extend_from_slice(part),
            LinePassage::Dropping { head, bytes } => {
                *head = filled(std::mem::take(head), part);
                *bytes += part.len() as u64;
            }
            LinePassage::Streaming => found(Piece::More { bytes: part, last: false }),
        }
    }

    /// Leaves buffering when the line with `part` is beyond the cap.
    fn outgrow<'a>(&mut self, part: &[u8], found: &mut dyn FnMut(Piece<'a>)) {
        if !matches!(self.passage, LinePassage::Buffering) || self.begun.len() + part.len() <= self.cap {
            return;
        }
        let begun = std::mem::take(&mut self.begun);
        self.passage = match self.beyond {
            BeyondCap::Drop => LinePassage::Dropping { bytes: begun.len() as u64, head: filled(Vec::new(), &begun) },
            BeyondCap::Stream => {
                found(Piece::Start(begun));
                LinePassage::Streaming
            }
        };
    }
}

/// The head with as much of `part` as it has room for.
fn filled(mut head: Vec<u8>, part: &[u8]) -> Vec<u8> {
    let room = HEAD.saturating_sub(head.len());
    head.extend(part.iter().take(room));
    head
}
