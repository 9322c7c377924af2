//! What is found of a call's arguments once for all rules: an argument by its name, and what short runs of bytes a long
//! text has in it, so that most globs over it need no search. Owns no match.
//!
//! It may say that a run is there that is not, never the other way round.

use std::sync::Arc;

use serde_json::Value;

/// A text shorter than this is searched as quickly as it is looked up.
const LONG: usize = 64;
/// Looking a text over costs about as much as so many searches in it.
const WORTH: u32 = 24;
/// At most so many bits (512 KiB): in a longer text more runs are there by chance.
const MOST_BITS: usize = 1 << 22;

/// Which runs of one, two and three bytes a text has: a filter by their hash.
#[derive(Clone, Debug)]
pub struct Grams {
    /// As many bits as a power of two.
    runs: Vec<u64>,
}

impl Grams {
    /// Looks a text over once.
    pub fn of(text: &str) -> Self {
        let text = text.as_bytes();
        let bits = (text.len() * 32).next_power_of_two().clamp(1 << 12, MOST_BITS);
        let mut found = Self { runs: vec![0; bits / 64] };
        for at in 0..text.len() {
            for length in 1..=3.min(text.len() - at) {
                let (word, bit) = found.place(hash(&text[at..at + length]));
                found.runs[word] |= bit;
            }
        }
        found
    }

    /// Whether the text could have all that the probe is of; no is certain.
    pub fn may_have(&self, probe: &Probe) -> bool {
        probe.hashes[..usize::from(probe.count)].iter().all(|hash| {
            let (word, bit) = self.place(*hash);
            self.runs[word] & bit != 0
        })
    }

    /// The word of a run's bit, and the bit in it.
    fn place(&self, hash: u32) -> (usize, u64) {
        let at = usize::try_from(hash).unwrap_or_default() & (self.runs.len() * 64 - 1);
        (at / 64, 1 << (at % 64))
    }
}

/// Some runs of what must stand in a text. Small, so that it lies beside the glob that asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Probe {
    hashes: [u32; 4],
    count: u8,
}

impl Probe {
    /// Of pieces that must all be there.
    pub fn of<'p>(pieces: impl Iterator<Item = &'p str>) -> Self {
        let all: Vec<u32> = pieces
            .map(str::as_bytes)
            .filter(|piece| !piece.is_empty())
            .flat_map(|piece| piece.windows(piece.len().min(3)).map(hash))
            .collect();
        let mut probe = Self::default();
        for (at, place) in probe.hashes.iter_mut().enumerate().take(all.len()) {
            // Spread over them: pieces that begin alike are told apart by their ends.
            *place = all[if all.len() <= 4 { at } else { at * (all.len() - 1) / 3 }];
            probe.count += 1;
        }
        probe
    }

    /// Whether it is of nothing.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

fn hash(run: &[u8]) -> u32 {
    let number = run.iter().fold(run.len() as u64, |number, byte| number << 8 | u64::from(*byte));
    // Fibonacci hashing: the high bits of the product are well mixed.
    u32::try_from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).unwrap_or_default()
}

/// What was found of one call's arguments while its rules were tried: many ask for the same one.
#[derive(Clone, Debug, Default)]
pub struct Texts<'q> {
    /// The argument that was looked up last, by the name as its rules share it.
    last: Option<Argument<'q>>,
    /// The long texts that globs were asked about.
    seen: Vec<Seen<'q>>,
}

/// An argument that was looked up.
#[derive(Clone, Debug)]
struct Argument<'q> {
    name: Arc<str>,
    of: &'q Value,
    found: Option<&'q Value>,
}

#[derive(Clone, Debug)]
struct Seen<'q> {
    text: &'q str,
    asked: u32,
    grams: Option<Grams>,
}

impl<'q> Texts<'q> {
    /// The argument of this name, by `find` unless it is the one that was asked for last.
    pub fn argument(
        &mut self,
        arguments: &'q Value,
        arg: &Arc<str>,
        find: impl FnOnce() -> Option<&'q Value>,
    ) -> Option<&'q Value> {
        match &self.last {
            Some(last) if Arc::ptr_eq(&last.name, arg) && std::ptr::eq(last.of, arguments) => last.found,
            _ => {
                let found = find();
                self.last = Some(Argument { name: Arc::clone(arg), of: arguments, found });
                found
            }
        }
    }

    /// Whether `text` could have what the probe is of; no is certain. A text that is asked about often is looked over once.
    pub fn may_have(&mut self, text: &'q str, probe: &Probe) -> bool {
        if text.len() < LONG || probe.is_empty() {
            return true;
        }
        let all = &mut self.seen;
        // By its place: the same text elsewhere is looked over again, which costs time only.
        let at = all.iter().position(|seen| std::ptr::eq(seen.text, text)).unwrap_or_else(|| {
            all.push(Seen { text, asked: 0, grams: None });
            all.len() - 1
        });
        let seen = &mut all[at];
        seen.asked = seen.asked.saturating_add(1);
        if seen.asked < WORTH {
            return true;
        }
        seen.grams.get_or_insert_with(|| Grams::of(text)).may_have(probe)
    }
}

#[cfg(test)]
mod tests {
    use super::{Grams, Probe, Texts, WORTH};
    use proptest::prelude::*;

    fn probe(piece: &str) -> Probe {
        Probe::of([piece].into_iter())
    }

    proptest! {
        #[test]
        fn what_is_there_is_never_missed(text in "\\PC{0,80}", from in 0usize..80, length in 0usize..9) {
            let chars: Vec<char> = text.chars().collect();
            let piece: String = chars.iter().skip(from).take(length).collect();
            prop_assert!(Grams::of(&text).may_have(&probe(&piece)), "{piece:?} in {text:?}");
        }
    }

    #[test]
    fn most_of_what_is_not_there_is_told() {
        let text = "the quick brown fox jumps over the lazy dog ".repeat(40);
        let grams = Grams::of(&text);
        let missed = (0..1000).filter(|number| grams.may_have(&probe(&format!("{number:x}q")))).count();
        assert!(missed < 20, "{missed}");
        assert!(!grams.may_have(&probe("5")) && grams.may_have(&probe("fox jumps")));
    }

    #[test]
    fn a_text_is_looked_over_when_it_is_worth_it() {
        let (text, other) = ("ab".repeat(100), "cd".repeat(100));
        let mut texts = Texts::default();
        for asked in 1..2 * WORTH {
            assert_eq!(texts.may_have(&text, &probe("x")), asked < WORTH, "{asked}");
        }
        assert!(texts.may_have(&text, &probe("abab")));
        assert!(texts.may_have(&other, &probe("x")), "another text has its own count");
    }
}
