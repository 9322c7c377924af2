//! One line as it was received, which knows nothing of JSON; and the one door to sha2 and blake3: digests of lines, definitions, records
//! and long answers.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 of some bytes. Prints as 64 lower-case hex characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes texts, each with its length before it, so that no two lists of texts are the same bytes.
    pub fn of_parts(parts: &[&str]) -> Self {
        let mut hasher = Hasher::default();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finish()
    }

    /// Takes 32 bytes that are a digest already (read back from the log).
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Appends the 64 characters that it prints as.
    pub fn push_to(&self, out: &mut String) {
        HEXLOWER.encode_append(&self.0, out);
    }

    /// The first 16 hex characters: what a screen has room for.
    pub fn short(&self) -> String {
        self.to_string().chars().take(16).collect()
    }
}

/// Hashes bytes that arrive in pieces.
#[derive(Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// A secret key (HMAC-SHA-256, RFC 2104): what it makes of some bytes confirms no guess of them to whoever lacks it.
#[derive(Clone)]
pub struct Key {
    inner: Hasher,
    outer: Hasher,
}

impl Key {
    pub fn new(key: &[u8; 32]) -> Self {
        let keyed = |pad: u8| {
            let mut block = [pad; 64];
            for (byte, key) in block.iter_mut().zip(key) {
                *byte ^= key;
            }
            let mut hasher = Hasher::default();
            hasher.update(&block);
            hasher
        };
        Self { inner: keyed(0x36), outer: keyed(0x5c) }
    }

    pub fn of(&self, bytes: &[u8]) -> Digest {
        let mut inner = self.inner.clone();
        inner.update(bytes);
        let mut outer = self.outer.clone();
        outer.update(inner.finish().as_bytes());
        outer.finish()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

/// The BLAKE3 digest of an answer that streams past: SHA-256 takes as long as moving the bytes, and would halve the
/// throughput of a large result. Prints as `blake3:` and 64 lower-case hex characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamDigest([u8; 32]);

/// What BLAKE3 hashes at its full speed: sixteen of its chunks side by side.
const BLOCK: usize = 16 << 10;

/// Hashes what streams past in whole blocks: begun within a chunk, they would be hashed one after the other, three times slower.
#[derive(Clone, Default)]
pub struct StreamHasher {
    blocks: blake3::Hasher,
    /// The block that is not full yet.
    begun: Vec<u8>,
}

impl StreamHasher {
    pub fn update(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if !self.begun.is_empty() {
            let (filling, after) = rest.split_at((BLOCK - self.begun.len()).min(rest.len()));
            self.begun.extend_from_slice(filling);
            rest = after;
            if self.begun.len() < BLOCK {
                return;
            }
            self.blocks.update(&self.begun);
            self.begun.clear();
        }
        let (whole, begun) = rest.split_at(rest.len() - rest.len() % BLOCK);
        self.blocks.update(whole);
        self.begun.extend_from_slice(begun);
    }

    pub fn finish(mut self) -> StreamDigest {
        self.blocks.update(&self.begun);
        StreamDigest(*self.blocks.finalize().as_bytes())
    }
}

impl StreamDigest {
    #[must_use]
    pub fn keyed(self, key: &Key) -> Self {
        Self(*key.of(&self.0).as_bytes())
    }
}

impl fmt::Display for StreamDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blake3:{}", HEXLOWER.encode(&self.0))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short())
    }
}

/// A text that is not 64 hex characters.
#[derive(Debug, thiserror::Error)]
#[error("a digest is 64 hex characters")]
pub struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|_| NotADigest)?;
        bytes.try_into().map(Self).map_err(|_| NotADigest)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// One newline-delimited message, bytes exactly as received, line end included.
#[derive(Clone)]
pub struct Line {
    bytes: Vec<u8>,
    /// Where its digest is to confirm no guess of what is in it.
    key: Option<Arc<Key>>,
}

impl Line {
    /// Takes the bytes of one line with its line end (`\n` or `\r\n`).
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, key: None }
    }

    /// The same bytes, with a digest that only this key gives.
    #[must_use]
    pub fn keyed(self, key: &Arc<Key>) -> Self {
        Self { key: Some(Arc::clone(key)), ..self }
    }

    /// Other bytes in its place.
    #[must_use]
    pub fn with_bytes(&self, bytes: Vec<u8>) -> Self {
        Self { bytes, key: self.key.clone() }
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

    /// The digest by which records, cards and signatures name it: of the plain one where it has a key.
    pub fn digest(&self) -> Digest {
        self.named(Digest::of(self.content()))
    }

    pub(super) fn named(&self, plain: Digest) -> Digest {
        self.key.as_ref().map_or(plain, |key| key.of(plain.as_bytes()))
    }
}

impl PartialEq for Line {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Line {}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Line({:?})", String::from_utf8_lossy(&self.bytes))
    }
}
