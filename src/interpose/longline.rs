//! A line of the server that is too long to buffer: held whole if it must be read whole, streamed otherwise.

use super::host::Host;
use crate::gate::Gate;
use crate::wire::digest::{StreamDigest, StreamHasher};
use crate::wire::{Gist, Line, message, stream::EnvelopeScanner};

pub struct LongLine {
    state: State,
    bytes: u64,
}

enum State {
    /// Kept, up to `limit` bytes.
    Held { line: Vec<u8>, limit: usize },
    /// Passed on piece by piece, or kept from the host; only its envelope and digest are kept.
    Streamed(Box<Streamed>),
}

struct Streamed {
    scanner: EnvelopeScanner,
    reads: Reads,
    hasher: StreamHasher,
    way: Way,
    /// The end of the piece before, where a key may have been cut.
    before: Vec<u8>,
    /// Whether, while a call was held and only the head was read, something came that could be a second id.
    may_repeat: bool,
}

/// How much of a long line is read for its envelope.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    All,
    /// Only until id and kind are known: no call was held then, and reading on would halve the throughput.
    Head,
}

/// Where the pieces of a long line go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    ToHost,
    /// Nowhere: the host must not see it.
    Nowhere,
}

/// Where a long line goes, by what is known of it.
pub fn way(gate: &Gate) -> impl Fn(&Gist) -> Way + '_ {
    |gist| if gate.streams(gist) { Way::ToHost } else { Way::Nowhere }
}

pub enum Passed {
    /// It was held whole, and is handled like any other line.
    Whole(Line),
    /// It was streamed.
    Streamed { gist: Gist, bytes: u64, digest: StreamDigest },
}

impl LongLine {
    /// A line that is held up to `limit` bytes, and streamed beyond.
    pub fn new(limit: usize) -> Self {
        Self { state: State::Held { line: Vec::new(), limit }, bytes: 0 }
    }

    /// Takes the next piece, passing on what need not be held; `judge` decides by the envelope where a long line goes.
    pub fn push(&mut self, piece: &[u8], last: bool, host: &mut Host, judge: impl Fn(&Gist) -> Way) {
        self.bytes += piece.len() as u64;
        match &mut self.state {
            State::Held { line, limit } if line.len() + piece.len() <= *limit => line.extend_from_slice(piece),
            State::Held { line, .. } => {
                let mut scanner = EnvelopeScanner::default();
                scanner.feed(line);
                if line.is_empty() {
                    scanner.feed(piece);
                }
                let way = judge(&scanner.gist());
                let mut streamed = Box::new(Streamed {
                    scanner: EnvelopeScanner::default(),
                    reads: Reads::All,
                    hasher: StreamHasher::default(),
                    way,
                    before: Vec::new(),
                    may_repeat: false,
                });
                let line = std::mem::take(line);
                if !line.is_empty() {
                    streamed.pass(&line, false, host, &judge);
                }
                streamed.pass(piece, last, host, &judge);
                self.state = State::Streamed(streamed);
            }
            State::Streamed(streamed) => streamed.pass(piece, last, host, &judge),
        }
    }

    /// What the host must still get of a line that never ended.
    pub fn tail(self, judge: impl Fn(&Gist) -> Way) -> Vec<u8> {
        match self.state {
            State::Held { line, .. } if judge(&message::peek(&line)) == Way::ToHost => line,
            State::Held { .. } => Vec::new(),
            State::Streamed(streamed) => streamed.spoiler(judge).into(),
        }
    }

    pub fn end(self) -> Passed {
        match self.state {
            State::Held { line, .. } => Passed::Whole(Line::new(line)),
            State::Streamed(streamed) => {
                Passed::Streamed { gist: streamed.gist(), bytes: self.bytes, digest: streamed.hasher.finish() }
            }
        }
    }
}

impl Streamed {
    fn pass(&mut self, piece: &[u8], last: bool, host: &mut Host, judge: impl Fn(&Gist) -> Way) {
        if self.reads == Reads::All && self.scanner.is_done() && judge(&Gist::Unreadable) == Way::ToHost {
            self.reads = Reads::Head;
        }
        match self.reads {
            Reads::All => self.scanner.feed(piece),
            Reads::Head => self.look_for_an_id(piece, &judge),
        }
        if self.way == Way::ToHost {
            match if last { self.spoiler(judge) } else { b"" } {
                b"" => host.stream(piece, last),
                spoiler => {
                    host.stream(spoiler, false);
                    host.stream(b"\n", true);
                }
            }
        }
        // The digest covers the line without its line end, as everywhere.
        let content = if last { Line::strip_end(piece) } else { piece };
        self.hasher.update(content);
    }

    fn gist(&self) -> Gist {
        match self.reads {
            Reads::All => self.scanner.finish(),
            Reads::Head => self.scanner.gist(),
        }
    }

    /// While a call is held, anything that could be a second id in the part that is not read counts as one.
    fn look_for_an_id(&mut self, piece: &[u8], judge: impl Fn(&Gist) -> Way) {
        /// The length of `\u0069`, less one.
        const CUT: usize = 5;
        if !self.may_repeat && judge(&Gist::Unreadable) == Way::Nowhere {
            let head = piece.get(..CUT.min(piece.len())).unwrap_or_default();
            self.may_repeat = names_an_id(&[&self.before, head].concat()) || names_an_id(piece);
        }
        self.before = piece.get(piece.len().saturating_sub(CUT)..).unwrap_or_default().to_vec();
    }

    /// What makes the line invalid, if its end shows that the host must not read it: the host already has the rest.
    fn spoiler(&self, judge: impl Fn(&Gist) -> Way) -> &'static [u8] {
        let gist = if self.may_repeat { Gist::Unreadable } else { self.gist() };
        let spoils = self.way == Way::ToHost && judge(&gist) == Way::Nowhere;
        if spoils { b"!" } else { b"" }
    }
}

/// Whether some bytes hold a key `id`, in any case and however it is escaped. Nested keys count too; one inside a
/// string has a backslash before its last quote, and does not.
fn names_an_id(bytes: &[u8]) -> bool {
    bytes.windows(4).any(|four| four.first() == Some(&b'"') && four.eq_ignore_ascii_case(b"\"id\""))
        || bytes.windows(6).any(|six| {
            six.first() == Some(&b'\\')
                && [b"\\u0069", b"\\u0064", b"\\u0049", b"\\u0044"]
                    .iter()
                    .any(|escape| six.eq_ignore_ascii_case(*escape))
        })
}
