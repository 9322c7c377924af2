//! A line of the server that is too long to buffer: held whole while somebody must read it whole, streamed otherwise.

use super::host::Host;
use crate::gate::Gate;
use crate::wire::digest::{StreamDigest, StreamHasher};
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::Gist;
use crate::wire::stream::EnvelopeScanner;

/// A long line on its way.
pub struct LongLine {
    state: State,
    bytes: u64,
}

enum State {
    /// Kept, up to so many bytes.
    Held { line: Vec<u8>, limit: usize },
    /// Passed on piece by piece, or kept from the host; only its envelope and digest are kept.
    Streamed(Box<Streamed>),
}

struct Streamed {
    scanner: EnvelopeScanner,
    hasher: StreamHasher,
    way: Way,
}

/// Where the pieces of a long line go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    ToHost,
    /// Nowhere: the host must not see it.
    Nowhere,
}

/// Where a long line goes, by its id.
pub fn way(gate: &Gate) -> impl Fn(&Id) -> Way + '_ {
    |id| if gate.keeps_back(id) { Way::Nowhere } else { Way::ToHost }
}

/// What became of a long line.
pub enum Passed {
    /// It was held whole; it goes on as any other line.
    Whole(Line),
    /// It has passed.
    Streamed { gist: Gist, bytes: u64, digest: StreamDigest },
}

impl LongLine {
    /// A line that is held up to `limit` bytes, and streamed beyond.
    pub fn new(limit: usize) -> Self {
        Self { state: State::Held { line: Vec::new(), limit }, bytes: 0 }
    }

    /// Takes the next piece, passing on what need not be held.
    /// `judge` says where it goes, by its id, once it is too long to hold.
    pub fn push(&mut self, piece: &[u8], last: bool, host: &mut Host, judge: impl Fn(&Id) -> Way) {
        self.bytes += piece.len() as u64;
        match &mut self.state {
            State::Held { line, limit } if line.len() + piece.len() <= *limit => line.extend_from_slice(piece),
            State::Held { line, .. } => {
                let mut scanner = EnvelopeScanner::default();
                scanner.feed(line);
                if line.is_empty() {
                    scanner.feed(piece);
                }
                let way = scanner.id().map_or(Way::ToHost, judge);
                let mut streamed =
                    Box::new(Streamed { scanner: EnvelopeScanner::default(), hasher: StreamHasher::default(), way });
                let line = std::mem::take(line);
                if !line.is_empty() {
                    streamed.pass(&line, false, host);
                }
                streamed.pass(piece, last, host);
                self.state = State::Streamed(streamed);
            }
            State::Streamed(streamed) => streamed.pass(piece, last, host),
        }
    }

    /// What was held of a line that never came to its end; empty when it was streamed.
    pub fn held(self) -> Vec<u8> {
        match self.state {
            State::Held { line, .. } => line,
            State::Streamed(_) => Vec::new(),
        }
    }

    /// The line has ended.
    pub fn end(self) -> Passed {
        match self.state {
            State::Held { line, .. } => Passed::Whole(Line::new(line)),
            State::Streamed(streamed) => {
                Passed::Streamed { gist: streamed.scanner.gist(), bytes: self.bytes, digest: streamed.hasher.finish() }
            }
        }
    }
}

impl Streamed {
    fn pass(&mut self, piece: &[u8], last: bool, host: &mut Host) {
        if self.way == Way::ToHost {
            host.stream(piece, last);
        }
        if !self.scanner.is_done() {
            self.scanner.feed(piece);
        }
        // The digest covers the line without its line end, as everywhere.
        let content = if last { Line::strip_end(piece) } else { piece };
        self.hasher.update(content);
    }
}
