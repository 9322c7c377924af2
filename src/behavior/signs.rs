//! Which characters a text is written with, found in one pass. A reader that needs other characters is not asked to read the text.

/// The characters of ASCII in a text, one bit each, and whether there are others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signs {
    ascii: u128,
    foreign: bool,
}

impl Signs {
    /// Looks at a text.
    pub fn of(text: &str) -> Self {
        let mut seen = [0_u64; 4];
        for byte in text.bytes() {
            if let Some(row) = seen.get_mut(usize::from(byte >> 6)) {
                *row |= 1 << (byte & 63);
            }
        }
        let [low, high, continues, begins] = seen;
        Self { ascii: u128::from(high) << 64 | u128::from(low), foreign: continues | begins != 0 }
    }

    /// Whether the text has one of these.
    #[inline]
    pub fn has(self, some: u128) -> bool {
        self.ascii & some != 0
    }

    /// Whether the text has no other character of ASCII than these.
    #[inline]
    pub fn are(self, these: u128) -> bool {
        self.ascii & !these == 0
    }

    /// Whether the text is these characters alone.
    #[inline]
    pub fn are_all(self, these: u128) -> bool {
        self.are(these) && !self.foreign
    }

    /// Whether a character of the text may be a control character.
    #[inline]
    pub fn may_control(self) -> bool {
        self.foreign || self.has(CONTROLS)
    }

    /// Whether a reader with these needs may accept the text.
    #[inline]
    pub fn may_be(self, needs: Needs) -> bool {
        (needs.one_of == 0 || self.has(needs.one_of)) && self.are(needs.only)
    }
}

/// What every text has that a reader accepts. Each reader states its needs beside its rules, and a test checks that it
/// accepts no other text.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// At least one of these; 0 where none is needed.
    pub one_of: u128,
    /// No other character of ASCII. Those beyond ASCII are left to the reader.
    pub only: u128,
}

/// Some characters of ASCII, one bit each.
pub const fn signs(these: &[u8]) -> u128 {
    let (mut bits, mut at) = (0, 0);
    while at < these.len() {
        assert!(these[at] < 128, "not of ASCII");
        bits |= 1 << these[at];
        at += 1;
    }
    bits
}

/// Whether a character is one of these.
#[inline]
pub fn is_one(c: char, these: u128) -> bool {
    c.is_ascii() && (these >> u32::from(c)) & 1 != 0
}

/// Letters and digits.
pub const WORDS: u128 = LETTERS | DIGITS;
pub const LETTERS: u128 = signs(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
pub const DIGITS: u128 = signs(b"0123456789");
const CONTROLS: u128 = ((1 << 32) - 1) | (1 << 127);
