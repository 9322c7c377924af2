//! The one door to sha2 and blake3: digests of lines, definitions, records and long answers. Owns no policy about what is
//! hashed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::block_api::compress256;

/// A SHA-256 of some bytes. Prints as 64 lower-case hex characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Hashes one run of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// Takes 32 bytes that are a digest already (read back from the log).
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The raw 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Appends the 64 characters that it prints as.
    pub fn push_to(&self, out: &mut String) {
        // Writing to a String does not fail.
        let _ = write_hex(&self.0, out);
    }

    /// The first 16 hex characters: what a screen has room for.
    pub fn short(&self) -> String {
        hex(&self.0).iter().take(16).copied().map(char::from).collect()
    }
}

/// Hashes bytes that arrive in pieces. The blocks are made here: a call has a dozen digests of few blocks, and what the
/// library does around each takes as long as a block.
#[derive(Clone)]
pub struct Hasher {
    state: [u32; 8],
    /// The block that is not full yet, and how much of it came.
    begun: [u8; BLOCK_256],
    filled: usize,
    /// How many bytes came in all.
    length: u64,
}

/// Bytes of a block of SHA-256.
const BLOCK_256: usize = 64;

impl Default for Hasher {
    fn default() -> Self {
        // FIPS 180-4, section 5.3.3.
        let state =
            [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
        Self { state, begun: [0; BLOCK_256], filled: 0, length: 0 }
    }
}

impl Hasher {
    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        let (_, room) = self.begun.split_at_mut(self.filled);
        let (filling, rest) = bytes.split_at(room.len().min(bytes.len()));
        let (room, missing) = room.split_at_mut(filling.len());
        room.copy_from_slice(filling);
        if !missing.is_empty() {
            self.filled += filling.len();
            return;
        }
        compress256(&mut self.state, &[self.begun]);
        let (blocks, rest) = rest.as_chunks();
        compress256(&mut self.state, blocks);
        let (room, _) = self.begun.split_at_mut(rest.len());
        room.copy_from_slice(rest);
        self.filled = rest.len();
    }

    /// The digest of all pieces in order.
    pub fn finish(mut self) -> Digest {
        // FIPS 180-4, section 5.1.1: a bit, zeros, and the length in bits, which ends a block.
        let bits = (self.length << 3).to_be_bytes();
        let zeros = (2 * BLOCK_256 - 1 - bits.len() - self.filled) % BLOCK_256;
        self.update(PADDING.split_at(1 + zeros).0);
        self.update(&bits);
        let mut digest = [0; 32];
        for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(self.state) {
            *bytes = word.to_be_bytes();
        }
        Digest(digest)
    }
}

/// What follows the bytes in their last block.
const PADDING: [u8; BLOCK_256] = {
    let mut padding = [0; BLOCK_256];
    padding[0] = 0x80;
    padding
};

/// The BLAKE3 digest of an answer that streams past: SHA-256 takes as long as moving the bytes, and would halve the
/// throughput of a large result. Prints as `blake3:` and 64 lower-case hex characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamDigest([u8; 32]);

/// What BLAKE3 hashes at its full speed: sixteen of its chunks side by side.
const BLOCK: usize = 16 << 10;

/// Hashes what streams past, in whole blocks: pieces end anywhere, and what begins within a chunk is hashed one chunk after
/// the other, at a third of the speed.
#[derive(Clone, Default)]
pub struct StreamHasher {
    blocks: blake3::Hasher,
    /// The block that is not full yet.
    begun: Vec<u8>,
}

impl StreamHasher {
    /// Takes the next piece.
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

    /// The digest of all pieces in order.
    pub fn finish(mut self) -> StreamDigest {
        self.blocks.update(&self.begun);
        StreamDigest(*self.blocks.finalize().as_bytes())
    }
}

impl fmt::Display for StreamDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("blake3:")?;
        write_hex(&self.0, f)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

/// 64 lower-case hex characters, as the bytes of their text.
#[expect(clippy::indexing_slicing, reason = "there are as many pairs as a byte has values")]
fn hex(bytes: &[u8; 32]) -> [u8; 64] {
    let mut text = [0; 64];
    for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = PAIRS[usize::from(*byte)];
    }
    text
}

/// The two digits of each byte.
#[expect(clippy::indexing_slicing, reason = "evaluated when the program is compiled")]
static PAIRS: [[u8; 2]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    pairs
};

fn write_hex(bytes: &[u8; 32], f: &mut impl fmt::Write) -> fmt::Result {
    f.write_str(std::str::from_utf8(&hex(bytes)).map_err(|_| fmt::Error)?)
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
        let text = text.as_bytes();
        if text.len() != 64 {
            return Err(NotADigest);
        }
        let mut out = [0u8; 32];
        for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
            let &[high, low] = pair else { return Err(NotADigest) };
            let high = char::from(high).to_digit(16).ok_or(NotADigest)?;
            let low = char::from(low).to_digit(16).ok_or(NotADigest)?;
            *byte = u8::try_from(high * 16 + low).map_err(|_| NotADigest)?;
        }
        Ok(Self(out))
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

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::{Digest, Hasher};

    #[test]
    fn a_digest_is_that_of_the_library_however_the_bytes_come() {
        let bytes: Vec<u8> = (0..1_000_u32).map(|at| (at * 31 % 251) as u8).collect();
        for length in 0..bytes.len() {
            let (bytes, _) = bytes.split_at(length);
            let expected = Digest(Sha256::digest(bytes).into());
            assert_eq!(Digest::of(bytes), expected, "{length}");
            for piece in [1, 3, 55, 56, 63, 64, 65, 200] {
                let mut hasher = Hasher::default();
                bytes.chunks(piece).for_each(|piece| hasher.update(piece));
                assert_eq!(hasher.finish(), expected, "{length} by {piece}");
            }
        }
    }
}
