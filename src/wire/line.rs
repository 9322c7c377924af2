//! One line as it was received. Knows nothing of JSON.

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

    pub fn digest(&self) -> Digest {
        Digest::of(self.content())
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Line({:?})", String::from_utf8_lossy(&self.bytes))
    }
}
