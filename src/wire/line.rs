//! Cuts a byte stream into lines. Owns the caps; knows nothing of JSON.

use super::digest::Digest;

/// One newline-delimited message, bytes exactly as received, line end included.
#[derive(Clone, PartialEq, Eq)]
pub struct Line {
    bytes: Vec<u8>,
}

impl Line {
    /// Takes the bytes of one line with its line end (`\n` or `\r\n`).
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// The bytes as received, line end included: what is forwarded.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Consumes the line for its bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The bytes without `\n` or `\r\n`: what is read, shown and digested.
    pub fn content(&self) -> &[u8] {
        Self::strip_end(&self.bytes)
    }

    /// Bytes without the line end they close with, if any.
    pub fn strip_end(bytes: &[u8]) -> &[u8] {
        let end = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        end.strip_suffix(b"\r").unwrap_or(end)
    }

    /// The digest of [`Self::content`].
    pub fn digest(&self) -> Digest {
        Digest::of(self.content())
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Line({:?})", String::from_utf8_lossy(&self.bytes))
    }
}

/// What the cutter found in the stream, in order.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A whole line, buffered.
    Line(Line),
    /// A line that outgrew the host's cap; all of it was dropped. `head` is its first 4 KiB, `bytes` its
    /// length; neither counts the `\n`.
    Overlong { head: Vec<u8>, bytes: u64 },
    /// A server line outgrew the threshold: what was buffered of it so far. [`Piece::More`] follows.
    Start(Vec<u8>),
    /// More of the line that [`Piece::Start`] began; `last` when it carries the line end.
    More { bytes: &'a [u8], last: bool },
}

/// What becomes of a line longer than the cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
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
    beyond: Beyond,
    /// The bytes of the line that began in earlier chunks and was not passed on yet.
    begun: Vec<u8>,
    passage: Passage,
}

/// What becomes of the line that is under way.
#[derive(Debug)]
enum Passage {
    Buffering,
    Dropping { head: Vec<u8>, bytes: u64 },
    Streaming,
}

impl Cutter {
    /// A cutter that buffers lines up to `cap` bytes (the `\n` not counted).
    pub fn new(cap: usize, beyond: Beyond) -> Self {
        Self { cap, beyond, begun: Vec::new(), passage: Passage::Buffering }
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
            Passage::Buffering if !self.begun.is_empty() => Some(self.begun),
            Passage::Buffering | Passage::Dropping { .. } | Passage::Streaming => None,
        }
    }

    /// Takes the last part of a line, its line end included.
    fn complete<'a>(&mut self, part: &'a [u8], found: &mut dyn FnMut(Piece<'a>)) {
        let content = part.split_last().map_or(part, |(_, content)| content);
        self.outgrow(content, found);
        match std::mem::replace(&mut self.passage, Passage::Buffering) {
            Passage::Buffering => {
                let mut bytes = std::mem::take(&mut self.begun);
                bytes.reserve_exact(part.len());
                bytes.extend_from_slice(part);
                found(Piece::Line(Line::new(bytes)));
            }
            Passage::Dropping { head, bytes } => {
                let head = filled(head, content);
                let bytes = bytes + content.len() as u64;
                found(Piece::Overlong { head, bytes });
            }
            Passage::Streaming => found(Piece::More { bytes: part, last: true }),
        }
    }

    /// Takes a part of a line that goes on in the next chunk.
    fn extend<'a>(&mut self, part: &'a [u8], found: &mut dyn FnMut(Piece<'a>)) {
        self.outgrow(part, found);
        match &mut self.passage {
            Passage::Buffering => self.begun.extend_from_slice(part),
            Passage::Dropping { head, bytes } => {
                *head = filled(std::mem::take(head), part);
                *bytes += part.len() as u64;
            }
            Passage::Streaming => found(Piece::More { bytes: part, last: false }),
        }
    }

    /// Leaves buffering when the line with `part` is beyond the cap.
    fn outgrow<'a>(&mut self, part: &[u8], found: &mut dyn FnMut(Piece<'a>)) {
        if !matches!(self.passage, Passage::Buffering) || self.begun.len() + part.len() <= self.cap {
            return;
        }
        let begun = std::mem::take(&mut self.begun);
        self.passage = match self.beyond {
            Beyond::Drop => Passage::Dropping { bytes: begun.len() as u64, head: filled(Vec::new(), &begun) },
            Beyond::Stream => {
                found(Piece::Start(begun));
                Passage::Streaming
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
