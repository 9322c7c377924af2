//! Proves that a text holds no secret: no name of one, no beginning of one, and no sign that one may follow without a
//! name. It reads each byte once, so that the slower search runs only on the few texts that are not clear. Pure.

use super::known::begins;
use super::{IN_KEY, WHOLE_KEY};

/// What else names a secret, or says that one follows, where a word ends with it.
const AT_END: &[&str] = &["token", "sig", "signature", "identified"];

const COUNT: usize = IN_KEY.len() + WHOLE_KEY.len() + AT_END.len();

/// A name of a secret, as it is compared: its last letters, lower case, at most eight.
#[derive(Clone, Copy)]
struct Name {
    tail: u64,
    mask: u64,
    /// It counts only where a word ends with it.
    at_end: bool,
}

static NAMES: [Name; COUNT] = {
    let mut names = [Name { tail: 0, mask: 0, at_end: false }; COUNT];
    let mut at = 0;
    while at < COUNT {
        let (text, at_end) = match at.checked_sub(IN_KEY.len()) {
            None => (IN_KEY[at], false),
            Some(short) if short < WHOLE_KEY.len() => (WHOLE_KEY[short], true),
            Some(short) => (AT_END[short - WHOLE_KEY.len()], true),
        };
        let bytes = text.as_bytes();
        let mut letter = bytes.len().saturating_sub(8);
        while letter < bytes.len() {
            names[at].tail = names[at].tail << 8 | bytes[letter] as u64;
            names[at].mask = names[at].mask << 8 | 0xff;
            letter += 1;
        }
        names[at].at_end = at_end;
        at += 1;
    }
    names
};

/// By the last two letters, which of [`NAMES`] end so, one bit each.
static ENDS: [u32; 1 << 10] = {
    let mut ends = [0; 1 << 10];
    let mut at = 0;
    while at < COUNT {
        ends[pair(NAMES[at].tail)] |= 1 << at;
        at += 1;
    }
    ends
};

/// The place of the last two letters in [`ENDS`]; other signs share the places of letters.
#[expect(clippy::cast_possible_truncation, reason = "it has ten bits")]
const fn pair(last: u64) -> usize {
    (last & 0x1f | last >> 3 & 0x3e0) as usize
}

/// Letters and digits in lower case; zero for any other byte.
static FOLDED: [u8; 256] = {
    let mut folded = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            folded[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    folded
};

/// Whether there is certainly no secret in a text, and no name of one. `sign` is called with the place and value of
/// each byte that is no letter and no digit; when it returns `false`, so does this.
///
/// Each part of a clear text is clear. In JSON that holds for what the strings say, too, where nothing is escaped.
pub fn is_clear(text: &str, mut sign: impl FnMut(usize, u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    // `last` holds the last eight letters and digits, without the signs between them: `api_key` is a name like
    // `apikey`.
    let (mut at, mut last) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let next = || bytes.get(at + 1).copied().unwrap_or(b' ');
        if FOLDED[usize::from(byte)] == 0 {
            let hides = match byte {
                // `://user:password@`
                b':' => bytes[at..].starts_with(b"://"),
                // The beginning of a key block, or a flag: its program may say that a password follows.
                b'-' => {
                    next() == b'-' || next().is_ascii_alphanumeric() && at > 0 && bytes[at - 1].is_ascii_whitespace()
                }
                _ => false,
            };
            if hides || !sign(at, byte) {
                return false;
            }
            at += 1;
            continue;
        }
        if begins(byte, next()) {
            return false;
        }
        while let Some(folded @ 1..) = bytes.get(at).map(|&byte| FOLDED[usize::from(byte)]) {
            last = last << 8 | u64::from(folded);
            at += 1;
            let ends = ENDS[pair(last)];
            if ends != 0 && names(last, ends, bytes.get(at)) {
                return false;
            }
        }
    }
    true
}

/// Whether the last letters are one of these names.
fn names(last: u64, ends: u32, next: Option<&u8>) -> bool {
    let ends_word = || next.is_none_or(|next| !next.is_ascii_alphanumeric());
    super::each(u64::from(ends))
        .map(|one| NAMES[one])
        .any(|name| last & name.mask == name.tail && (!name.at_end || ends_word()))
}
