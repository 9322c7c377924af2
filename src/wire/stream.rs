//! Tells what a message is while it streams by, in constant memory. Owns no validation: that is `strict`'s.

use std::ops::Range;

use super::fold;
use super::id::Id;

/// The gist of a message in either direction: kind, id, method, and little more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gist {
    /// A request. `modern` when its `_meta` declares the stateless era.
    Request { id: Id, method: String, modern: bool },
    /// A notification. `cancels` is `params.requestId` of `notifications/cancelled`.
    Notification { method: String, cancels: Option<Id> },
    /// A response; `failed` when it carries `error`.
    Response { id: Id, failed: bool },
    /// Nothing we can read: passes, is never interpreted. From a host only an error that names no request.
    Unreadable,
}

/// Strings and numbers longer than this are not kept; no id or method that means something is.
const KEPT: usize = 4 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Result,
    Error,
}

/// Scans one line, from its start and in pieces, for the members of its envelope. Values of other members are skipped, not read.
#[derive(Debug, Default)]
pub struct EnvelopeScanner {
    place: ScanState,
    /// The token under way (a key, or the value of `id` or `method`), quotes included.
    token: Vec<u8>,
    key: EnvelopeKey,
    /// How many bytes were taken, and how many before the token under way.
    at: usize,
    begun: usize,
    id_span: Range<usize>,
    /// How many arrays and objects are open inside the envelope.
    depth: u64,
    id: Member<Id>,
    method: Member<String>,
    outcome: Member<Outcome>,
    /// A key that a laxer parser would read as a protocol key.
    shadowed: bool,
}

/// Where in the message the next byte is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ScanState {
    #[default]
    Start,
    /// Before a key, or the end of the message.
    Key,
    InKey(Escape),
    Colon,
    Value,
    InText(Escape),
    /// In a number or a literal.
    InBare,
    Nested,
    InNestedText(Escape),
    AfterValue,
    End,
    Broken,
}

/// Whether the byte before was a backslash that escapes this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    No,
    Yes,
}

/// The member whose value is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EnvelopeKey {
    Id,
    Method,
    Result,
    Error,
    #[default]
    Other,
}

impl EnvelopeKey {
    fn named(name: &[u8]) -> Self {
        match name {
            b"id" => Self::Id,
            b"method" => Self::Method,
            b"result" => Self::Result,
            b"error" => Self::Error,
            _ => Self::Other,
        }
    }
}

#[derive(Debug, Default)]
enum Member<T> {
    #[default]
    Absent,
    Known(T),
    /// It is there twice, or its value is of no use.
    Unclear,
}

impl<T> Member<T> {
    fn get(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Absent | Self::Unclear => None,
        }
    }

    fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Takes a value; a second one leaves the member unclear, because parsers differ on which counts.
    fn take(&mut self, value: Option<T>) {
        *self = match (&self, value) {
            (Self::Absent, Some(value)) => Self::Known(value),
            _ => Self::Unclear,
        };
    }
}

impl EnvelopeScanner {
    /// Takes the next piece of the line (its line end may be in it).
    pub fn feed(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while let Some(&byte) = rest.first() {
            let taken = match self.place {
                ScanState::Nested => self.nested(rest),
                ScanState::InNestedText(escape) => match text_run(rest, escape) {
                    TextRun::Ended(length) => self.go(ScanState::Nested, length),
                    TextRun::Open(escape) => self.go(ScanState::InNestedText(escape), rest.len()),
                },
                ScanState::InKey(escape) => match self.keep(rest, escape) {
                    TextRun::Ended(length) => self.key_read(length),
                    TextRun::Open(escape) => self.go(ScanState::InKey(escape), rest.len()),
                },
                ScanState::InText(escape) => match self.keep(rest, escape) {
                    TextRun::Ended(length) => self.value_read(length),
                    TextRun::Open(escape) => self.go(ScanState::InText(escape), rest.len()),
                },
                ScanState::InBare => self.bare(rest),
                ScanState::End | ScanState::Broken if !byte.is_ascii_whitespace() => {
                    self.go(ScanState::Broken, rest.len())
                }
                _ if byte.is_ascii_whitespace() => 1,
                place @ (ScanState::Start
                | ScanState::Key
                | ScanState::Colon
                | ScanState::Value
                | ScanState::AfterValue
                | ScanState::End
                | ScanState::Broken) => self.between(place, byte),
            };
            self.at += taken;
            rest = rest.get(taken..).unwrap_or_default();
        }
    }

    /// The top-level `id`, once it is known and unambiguous.
    pub fn id(&self) -> Option<&Id> {
        self.id.get()
    }

    pub fn id_span(&self) -> Option<Range<usize>> {
        self.id().map(|_| self.id_span.clone())
    }

    /// Whether a top-level `id` of any kind was seen.
    pub fn has_id(&self) -> bool {
        !self.id.is_absent()
    }

    /// The top-level `method`, once it is known and unambiguous.
    pub fn method(&self) -> Option<&str> {
        self.method.get().map(String::as_str)
    }

    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome.get().copied()
    }

    /// Whether nothing more is to be learnt: the id and the kind are known, or the line cannot be read.
    pub fn is_done(&self) -> bool {
        let kind_known = !self.method.is_absent() || !self.outcome.is_absent();
        (!self.id.is_absent() && kind_known) || matches!(self.place, ScanState::End | ScanState::Broken)
    }

    /// What the message is, judged by its beginning: for a line that [`Self::is_done`] before its end.
    pub fn gist(&self) -> Gist {
        if self.shadowed {
            return Gist::Unreadable;
        }
        match (&self.id, &self.method, &self.outcome) {
            (Member::Known(id), Member::Known(method), Member::Absent) => Gist::Request {
                id: id.clone(),
                method: method.clone(),
                // Servers send no requests in the stateless era.
                modern: false,
            },
            (Member::Absent, Member::Known(method), Member::Absent) => {
                Gist::Notification { method: method.clone(), cancels: None }
            }
            (Member::Known(id), Member::Absent, Member::Known(outcome)) => {
                Gist::Response { id: id.clone(), failed: *outcome == Outcome::Error }
            }
            _ => Gist::Unreadable,
        }
    }

    /// What the message is, all of it having been fed: nothing that is cut off or followed by more.
    pub fn finish(&self) -> Gist {
        if self.place == ScanState::End { self.gist() } else { Gist::Unreadable }
    }

    fn begin(&mut self, byte: u8) {
        self.begun = self.at;
        self.token.clear();
        // Most keys and ids are shorter.
        self.token.reserve(32);
        self.token.push(byte);
    }

    fn go(&mut self, place: ScanState, taken: usize) -> usize {
        self.place = place;
        taken
    }

    /// Takes one byte between tokens.
    fn between(&mut self, place: ScanState, byte: u8) -> usize {
        let next = match (place, byte) {
            (ScanState::Start, b'{') => ScanState::Key,
            (ScanState::Key, b'"') => {
                self.begin(b'"');
                ScanState::InKey(Escape::No)
            }
            (ScanState::Key | ScanState::AfterValue, b'}') => ScanState::End,
            (ScanState::Colon, b':') => ScanState::Value,
            (ScanState::Value, b'"') => {
                self.begin(b'"');
                ScanState::InText(Escape::No)
            }
            (ScanState::Value, b'{' | b'[') => {
                self.token.clear();
                self.depth = 1;
                ScanState::Nested
            }
            (ScanState::Value, b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                self.begin(byte);
                ScanState::InBare
            }
            (ScanState::AfterValue, b',') => ScanState::Key,
            _ => ScanState::Broken,
        };
        self.go(next, 1)
    }

    /// Skips what is inside a nested value, up to its end.
    fn nested(&mut self, rest: &[u8]) -> usize {
        let mut at = 0;
        while let Some(byte) = rest.get(at) {
            at += 1;
            match byte {
                b'"' => match text_run(rest.get(at..).unwrap_or_default(), Escape::No) {
                    TextRun::Ended(length) => at += length,
                    TextRun::Open(escape) => return self.go(ScanState::InNestedText(escape), rest.len()),
                },
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return self.value_read(at);
                    }
                }
                _ => {}
            }
        }
        at
    }

    fn bare(&mut self, rest: &[u8]) -> usize {
        let end = rest.iter().position(|byte| matches!(byte, b',' | b'}') || byte.is_ascii_whitespace());
        let length = end.unwrap_or(rest.len());
        let room = KEPT.saturating_sub(self.token.len()).min(length);
        self.token.extend_from_slice(rest.get(..room).unwrap_or_default());
        if end.is_some() { self.value_read(length) } else { length }
    }

    /// Runs through a string, and keeps the part of it that is in `rest`, up to a bound.
    fn keep(&mut self, rest: &[u8], escape: Escape) -> TextRun {
        let run = text_run(rest, escape);
        let length = match run {
            TextRun::Ended(length) => length,
            TextRun::Open(_) => rest.len(),
        };
        // Other values are not kept: their token lacks its closing quote, so it decodes to nothing.
        if matches!(self.place, ScanState::InKey(_)) || matches!(self.key, EnvelopeKey::Id | EnvelopeKey::Method) {
            let room = KEPT.saturating_sub(self.token.len()).min(length);
            self.token.extend_from_slice(rest.get(..room).unwrap_or_default());
        }
        run
    }

    fn key_read(&mut self, taken: usize) -> usize {
        let decoded = if self.token.contains(&b'\\') { self.decoded() } else { None };
        let name = decoded.as_deref().map(str::as_bytes).or_else(|| inside(&self.token)).unwrap_or_default();
        self.key = EnvelopeKey::named(name);
        self.shadowed |=
            self.key == EnvelopeKey::Other && fold::shadows(str::from_utf8(name).unwrap_or_default(), fold::ENVELOPE);
        match self.key {
            EnvelopeKey::Result => self.outcome.take(Some(Outcome::Result)),
            EnvelopeKey::Error => self.outcome.take(Some(Outcome::Error)),
            EnvelopeKey::Id | EnvelopeKey::Method | EnvelopeKey::Other => {}
        }
        self.go(ScanState::Colon, taken)
    }

    fn value_read(&mut self, taken: usize) -> usize {
        match self.key {
            EnvelopeKey::Id => {
                let id = std::str::from_utf8(&self.token).ok().and_then(Id::from_token);
                self.id.take(id);
                self.id_span = self.begun..self.at + taken;
            }
            EnvelopeKey::Method => {
                let method = self.decoded();
                self.method.take(method);
            }
            EnvelopeKey::Result | EnvelopeKey::Error | EnvelopeKey::Other => {}
        }
        self.go(ScanState::AfterValue, taken)
    }

    /// The token under way as a string, decoded.
    fn decoded(&self) -> Option<String> {
        serde_json::from_slice(&self.token).ok()
    }
}

/// What is between a token's quotes; `None` where it was too long to keep its end.
fn inside(token: &[u8]) -> Option<&[u8]> {
    token.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

enum TextRun {
    /// It ends after so many bytes, the closing quote included.
    Ended(usize),
    /// It goes on in the next piece.
    Open(Escape),
}

/// Runs through a string from inside it.
fn text_run(rest: &[u8], escape: Escape) -> TextRun {
    let mut at = match escape {
        Escape::No => 0,
        Escape::Yes => 1,
    };
    while let Some(found) = rest.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if rest.get(at) == Some(&b'"') {
            return TextRun::Ended(at + 1);
        }
        at += 2;
    }
    TextRun::Open(if at > rest.len() { Escape::Yes } else { Escape::No })
}
