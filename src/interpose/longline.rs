//! A line of the server that is too long to buffer: held whole while somebody must read it whole, streamed otherwise.

use super::host::Host;
use crate::gate::Gate;
use crate::wire::digest::{StreamDigest, StreamHasher};
use crate::wire::line::Line;
use crate::wire::message::{self, Gist};
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
    reads: Reads,
    hasher: StreamHasher,
    way: Way,
}

/// How much of a long line is read for its envelope.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    All,
    /// Not what follows once id and kind are known: no call was held by then, and reading on halves the throughput.
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
    |gist| if gate.keeps_back(gist) { Way::Nowhere } else { Way::ToHost }
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
    /// `judge` says where it goes, by its envelope: once it is too long to hold, and at its end.
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

    /// What the host is still to see of a line that never came to its end.
    pub fn tail(self, judge: impl Fn(&Gist) -> Way) -> Vec<u8> {
        match self.state {
            State::Held { line, .. } => {
                if judge(&message::peek(&line)) == Way::ToHost {
                    line
                } else {
                    Vec::new()
                }
            }
            State::Streamed(streamed) => streamed.spoiler(judge).into(),
        }
    }

    /// The line has ended.
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
        if self.reads == Reads::All {
            self.scanner.feed(piece);
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

    /// What makes the line no message, where its end shows that the host must not read it: by then it has the rest. An end
    /// that was not read, with a call held since, could show that too.
    fn spoiler(&self, judge: impl Fn(&Gist) -> Way) -> &'static [u8] {
        let gist = if self.reads == Reads::Head { Gist::Unreadable } else { self.scanner.finish() };
        let spoils = self.way == Way::ToHost && judge(&gist) == Way::Nowhere;
        if spoils { b"!" } else { b"" }
    }
}
