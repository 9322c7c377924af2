//! Strings as they are in a JSON text: finding their end, decoding them, telling equal keys. Owns no grammar
//! beyond a string's inside.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use super::fold::at_sight;

/// Up to this many keys are compared pairwise; above, they are sorted by hash.
pub(super) const FEW: usize = 12;

/// Where a string is: between its quotes, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    start: usize,
    end: usize,
    writing: Writing,
}

/// Whether a string is written with escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    Plain,
    Escaped,
}

impl Text {
    /// A string between its quotes, checked already.
    pub(super) fn new(inside: Range<usize>, writing: Writing) -> Self {
        Self { start: inside.start, end: inside.end, writing }
    }

    /// The offset of its first byte after the quote.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// The decoded text; `whole` is the text it is in.
    pub(super) fn decoded<'a>(&self, whole: &'a str) -> Cow<'a, str> {
        let inside = self.raw(whole);
        match self.writing {
            Writing::Plain => Cow::Borrowed(inside),
            Writing::Escaped => Cow::Owned(unescaped(inside)),
        }
    }

    /// Whether a NUL is in it; only an escape can write one.
    #[inline]
    pub(super) fn holds_nul(&self, whole: &str) -> bool {
        self.writing == Writing::Escaped && self.decoded(whole).contains('\0')
    }

    /// Whether it is a key by which serde_json marks numbers and raw texts internally. An object that begins with one
    /// is no object to serde_json, so that we would judge and show another value than the server reads.
    #[inline]
    pub(super) fn is_reserved(&self, whole: &str) -> bool {
        const RESERVED: &str = "$serde_json::private::";
        match self.writing {
            Writing::Plain => self.end - self.start >= RESERVED.len() && self.raw(whole).starts_with(RESERVED),
            Writing::Escaped => self.decoded(whole).starts_with(RESERVED),
        }
    }

    fn raw<'a>(&self, whole: &'a str) -> &'a str {
        whole.get(self.start..self.end).unwrap_or_default()
    }

    #[inline]
    fn same(&self, other: &Self, whole: &str) -> bool {
        match (self.writing, other.writing) {
            (Writing::Plain, Writing::Plain) => {
                self.end - self.start == other.end - other.start && self.raw(whole) == other.raw(whole)
            }
            _ => self.decoded(whole) == other.decoded(whole),
        }
    }
}

/// The keys of all objects that are open: in place while there are few, as in most messages.
#[derive(Debug)]
pub(super) struct Keys {
    few: [Text; FEW],
    count: usize,
    /// All of them, once they are more.
    many: Vec<Text>,
}

impl Default for Keys {
    fn default() -> Self {
        let none = Text { start: 0, end: 0, writing: Writing::Plain };
        Self { few: [none; FEW], count: 0, many: Vec::new() }
    }
}

impl Keys {
    /// All of them, outermost first.
    pub(super) fn all(&self) -> &[Text] {
        if self.many.is_empty() { self.few.get(..self.count).unwrap_or_default() } else { &self.many }
    }

    pub(super) fn push(&mut self, key: Text) {
        match self.few.get_mut(self.count) {
            Some(place) if self.many.is_empty() => {
                *place = key;
                self.count += 1;
            }
            _ => {
                if self.many.is_empty() {
                    self.many.extend_from_slice(&self.few);
                }
                self.many.push(key);
            }
        }
    }

    pub(super) fn truncate(&mut self, count: usize) {
        self.many.truncate(count);
        self.count = self.count.min(count);
    }
}

/// A key that is twice among `keys`, once decoded.
///
/// Never quadratic: many keys are sorted by hash, and those of equal hash by themselves, so that keys made to collide
/// cost no more than a sort.
pub(super) fn twin<'k>(whole: &str, keys: &'k [Text]) -> Option<&'k Text> {
    if differ_at_sight(whole, keys) {
        return None;
    }
    if keys.len() <= FEW {
        let before = |i: usize, key: &Text| keys.iter().take(i).any(|other| key.same(other, whole));
        return keys.iter().enumerate().find_map(|(i, key)| before(i, key).then_some(key));
    }
    let hash = |key: &Text| {
        let mut hasher = DefaultHasher::new();
        hasher.write(key.decoded(whole).as_bytes());
        hasher.finish()
    };
    let mut hashed: Vec<(u64, &Text)> = keys.iter().map(|key| (hash(key), key)).collect();
    hashed
        .sort_unstable_by(|(a, key), (b, other)| a.cmp(b).then_with(|| key.decoded(whole).cmp(&other.decoded(whole))));
    let mut pairs = hashed.iter().zip(hashed.iter().skip(1));
    pairs.find(|((a, key), (b, other))| a == b && key.same(other, whole)).map(|(_, (_, other))| *other)
}

/// Whether all keys are written plainly and no two have the same length and the same first byte, as in most objects.
fn differ_at_sight(whole: &str, keys: &[Text]) -> bool {
    let mut seen = 0;
    keys.iter().all(|key| {
        let place = at_sight(key.raw(whole));
        let is_new = seen & place == 0 && key.writing == Writing::Plain;
        seen |= place;
        is_new
    })
}

/// How many bytes are before the next quote, backslash or control character.
#[inline]
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let (words, tail) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        // Eight bytes at once: a byte's high bit is set where it is below 0x20, a quote or a backslash. Bits above
        // the first such byte may be wrong; only the lowest one is used.
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = word ^ (ONES * u64::from(b'"'));
        let quote = quote.wrapping_sub(ONES) & !quote;
        let backslash = word ^ (ONES * u64::from(b'\\'));
        let backslash = backslash.wrapping_sub(ONES) & !backslash;
        let special = (control | quote | backslash) & HIGHS;
        if special != 0 {
            return i * 8 + (special.trailing_zeros() / 8) as usize;
        }
    }
    let done = bytes.len() - tail.len();
    let run = tail.iter().position(|byte| matches!(byte, 0..=0x1f | b'"' | b'\\'));
    done + run.unwrap_or(tail.len())
}

/// Four hex digits as a number.
pub(super) fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}

/// Decodes a string that was checked already.
fn unescaped(inside: &str) -> String {
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (decoded, length) = escape_at(&rest[at..]);
        out.push(decoded);
        rest = rest.get(at + length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The character that the escape at the start of `text` means, and the escape's length.
fn escape_at(text: &str) -> (char, usize) {
    let bytes = text.as_bytes();
    let unit = |at: usize| bytes.get(at..at + 4).and_then(hex).unwrap_or(0xfffd);
    match bytes.get(1) {
        Some(b'u') => match (unit(2), unit(8)) {
            (high @ 0xd800..=0xdbff, low @ 0xdc00..=0xdfff) => {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                (char::from_u32(code).unwrap_or('\u{fffd}'), 12)
            }
            (code, _) => (char::from_u32(code).unwrap_or('\u{fffd}'), 6),
        },
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        other => (other.map_or('\u{fffd}', |byte| char::from(*byte)), 2),
    }
}
