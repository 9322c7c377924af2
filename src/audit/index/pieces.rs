//! Which few of many records may hold a text: a bit for each piece of text and each block of records. Pure.
//!
//! Pieces are three bytes, whatever their case. Digests would set every bit of three hex characters, so of long runs of hex
//! characters pieces of five are kept instead. A piece says "perhaps"; a missing piece is certain.

/// How many records share a bit: a block.
pub const BLOCK: usize = 128;
/// Blocks of one map: one bit each of a [`Mask`].
pub const BLOCKS: usize = 32;
/// How many masks a map has; each piece has one of them. A multiple of [`ROW`].
pub const BUCKETS: usize = 65_000;
/// Masks that are kept together: 4,000 bytes, which a page of SQLite holds.
pub const ROW: usize = 1_000;
/// From this length on a run of hex characters is taken for a digest.
const LONG: usize = 16;
const PIECE: usize = 3;
const PIECE_OF_HEX: usize = 5;

/// A bit for each block of a map.
pub type Mask = u32;

/// The pieces of [`BLOCK`] × [`BLOCKS`] records.
#[derive(Clone, Debug)]
pub struct PieceMap {
    masks: Vec<Mask>,
}

impl Default for PieceMap {
    fn default() -> Self {
        Self { masks: vec![0; BUCKETS] }
    }
}

impl PieceMap {
    /// Takes a record's body; `at` is its place among the map's records.
    pub fn take(&mut self, at: usize, body: &[u8]) {
        let bit = 1_u32.checked_shl(u32::try_from(at / BLOCK).unwrap_or(u32::MAX)).unwrap_or(0);
        self.pieces(bit, &body.to_ascii_lowercase());
        if !body.is_ascii() {
            self.pieces(bit, String::from_utf8_lossy(body).to_lowercase().as_bytes());
        }
    }

    fn pieces(&mut self, bit: Mask, text: &[u8]) {
        let mut run_end = 0;
        let mut in_digest = false;
        for at in 0..text.len() {
            if at >= run_end {
                let run = text[at..].iter().take_while(|byte| is_hex(**byte)).count();
                run_end = at + run.max(1);
                in_digest = run >= LONG;
            }
            if in_digest {
                if at + PIECE_OF_HEX <= run_end {
                    self.masks[bucket_of_hex(&text[at..at + PIECE_OF_HEX])] |= bit;
                }
                if at + PIECE <= run_end {
                    continue;
                }
            }
            if let Some(piece) = text.get(at..at + PIECE) {
                self.masks[bucket(piece)] |= bit;
            }
        }
    }

    /// The masks in rows of [`ROW`], each as little-endian bytes.
    pub fn rows(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.masks.chunks(ROW).map(|row| row.iter().flat_map(|mask| mask.to_le_bytes()).collect())
    }
}

/// What a body has to have in its map if a text is in it. Every need holds, or the text is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// All of these buckets.
    All(Vec<usize>),
    /// All of the first, or all of the second: the text alone does not show whether it is part of a digest.
    Either(Vec<usize>, Vec<usize>),
}

/// The needs of a text in lower case. None where it is too short to tell.
pub fn needs(text: &str) -> Vec<Need> {
    let text = text.as_bytes();
    let mut sure = Vec::new();
    let mut needs = Vec::new();
    for piece in text.windows(PIECE).filter(|piece| !piece.iter().all(|byte| is_hex(*byte))) {
        sure.push(bucket(piece));
    }
    let mut at = 0;
    while at < text.len() {
        let run = text[at..].iter().take_while(|byte| is_hex(**byte)).count();
        let hex = &text[at..at + run];
        let (plain, long) = (
            hex.windows(PIECE).map(bucket).collect::<Vec<_>>(),
            hex.windows(PIECE_OF_HEX).map(bucket_of_hex).collect::<Vec<_>>(),
        );
        let is_whole = at > 0 && at + run < text.len();
        if run >= LONG {
            sure.extend(long);
        } else if is_whole {
            sure.extend(plain);
        } else if !long.is_empty() {
            needs.push(Need::Either(plain, long));
        }
        at += run.max(1);
    }
    if !sure.is_empty() {
        sure.sort_unstable();
        sure.dedup();
        needs.push(Need::All(sure));
    }
    needs
}

impl Need {
    /// The blocks among `blocks` where it holds; `mask` reads a bucket.
    ///
    /// # Errors
    /// The error of `mask`.
    pub fn holds<E>(&self, blocks: Mask, mask: &mut dyn FnMut(usize) -> Result<Mask, E>) -> Result<Mask, E> {
        let mut all = |buckets: &[usize]| {
            let mut left = blocks;
            for bucket in buckets {
                if left == 0 {
                    break;
                }
                left &= mask(*bucket)?;
            }
            Ok(left)
        };
        match self {
            Self::All(buckets) => all(buckets),
            Self::Either(one, other) => Ok(all(one)? | all(other)?),
        }
    }
}

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn bucket(piece: &[u8]) -> usize {
    mix(piece.iter().fold(0, |sum: u32, byte| sum << 8 | u32::from(*byte)))
}

fn bucket_of_hex(piece: &[u8]) -> usize {
    let digit =
        |byte: u8| u32::from(if byte.is_ascii_digit() { byte - b'0' } else { byte.wrapping_sub(b'a' - 10) } & 15);
    mix(piece.iter().fold(0x5_0000, |sum, byte| sum << 4 | digit(*byte)))
}

/// Distributes numbers over the buckets (Fibonacci hashing).
fn mix(number: u32) -> usize {
    let mixed = number.wrapping_mul(0x9E37_79B1);
    let buckets = u64::try_from(BUCKETS).unwrap_or(1);
    usize::try_from((u64::from(mixed) * buckets) >> 32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn may_hold(body: &str, text: &str) -> bool {
        let mut map = PieceMap::default();
        map.take(BLOCK * 3, body.as_bytes());
        let mut blocks = Mask::MAX;
        for need in needs(text) {
            blocks = need.holds::<()>(blocks, &mut |at| Ok(map.masks[at])).unwrap();
        }
        blocks & 0b1000 != 0
    }

    proptest! {
        /// Whatever part of a body is asked for, its map does not deny it.
        #[test]
        fn no_part_of_a_body_is_denied(
            body in "([ -~]{0,12}|[0-9a-fA-F]{1,70}|[äÖßKİ日-]{0,4}){0,6}", from in 0_usize..300, length in 0_usize..90,
        ) {
            let lower: Vec<char> = body.to_lowercase().chars().collect();
            let from = from.min(lower.len());
            let part: String = lower[from..(from + length).min(lower.len())].iter().collect();
            prop_assert!(may_hold(&body, &part), "{part:?} in {body:?}");
            if body.is_ascii() {
                prop_assert!(may_hold(&body.to_uppercase(), &part));
            }
        }
    }

    #[test]
    fn what_is_not_there_is_mostly_denied() {
        let body = r#"{"digest":"c0ffee00c0ffee00c0ffee00c0ffee00","path":"/home/user/notes.txt","n":1234}"#;
        for part in ["nowhere", "notes.md", "c0ffee11", "deadbeef", "c0ffee00c0ffee01c0ffee", "\"n\":7777", "123456"] {
            assert!(!may_hold(body, part), "{part}");
        }
    }
}
