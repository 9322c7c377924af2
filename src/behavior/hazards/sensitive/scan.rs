//! One scan over the words of a text, and what each byte may be part of: a word, an escape, a pattern, an address. Which words
//! name a place is `names`.

use super::names;

/// Part of a word; the other marks are what a text is read again for.
pub(super) const WORD: u8 = 1;
pub(super) const PERCENT: u8 = 2;
pub(super) const FOREIGN: u8 = 4;
pub(super) const COLON: u8 = 8;
pub(super) const PATTERN: u8 = 16;
pub(super) const ESCAPE: u8 = 32;

pub(super) static MARKS: [u8; 256] = {
    let mut marks = [0; 256];
    let mut byte = 0_u8;
    loop {
        marks[byte as usize] = match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'_' | b'-' => WORD,
            0x80.. => WORD | FOREIGN,
            b'%' => PERCENT,
            b':' => COLON,
            b'*' | b'?' | b'[' | b'{' | b'(' => PATTERN,
            b'\\' => ESCAPE,
            _ => 0,
        };
        if byte == u8::MAX {
            break marks;
        }
        byte += 1;
    }
};

/// Whether a byte may be in a word.
pub(super) fn is_word(byte: u8) -> bool {
    MARKS[usize::from(byte)] & WORD != 0
}

/// The first word that names a place as it is; else what the text is to be read again for.
pub(super) fn in_words(text: &str) -> (Option<&str>, u8) {
    let bytes = text.as_bytes();
    let (mut start, mut marks) = (0, 0);
    for at in 0..=bytes.len() {
        let mark = bytes.get(at).map_or(0, |byte| MARKS[usize::from(*byte)]);
        marks |= mark;
        if mark & WORD == 0 {
            if at - start >= 2 && names::is_place(&text[start..at], &bytes[..start]) {
                return (Some(&text[start..at]), marks);
            }
            start = at + 1;
        }
    }
    (None, marks & !WORD)
}
