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
    /// A line that outgrew the host's cap; all of it was dropped. `head` is its first 4 KiB, `bytes` its length.
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

/// Cuts chunks of any size into lines.
#[derive(Debug)]
pub struct Cutter {
    cap: usize,
    beyond: Beyond,
}

impl Cutter {
    /// A cutter that buffers lines up to `cap` bytes.
    pub fn new(cap: usize, beyond: Beyond) -> Self {
        Self { cap, beyond }
    }

    /// Takes the next chunk and hands over every piece it completes, in order.
    pub fn feed<'a>(&mut self, _chunk: &'a [u8], _found: &mut dyn FnMut(Piece<'a>)) {
        todo!()
    }

    /// Ends the stream: the bytes of a last line that had no line end, if any.
    pub fn finish(self) -> Option<Vec<u8>> {
        todo!()
    }
}
