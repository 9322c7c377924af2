//! What each byte of a text may be part of: a word, an escape, a pattern, an address. Knows no name.

/// Part of a word; the other marks are what a text is read again for.
pub(super) const WORD: u8 = 1;
pub(super) const PERCENT: u8 = 2;
pub(super) const FOREIGN: u8 = 4;
pub(super) const COLON: u8 = 8;
pub(super) const PATTERN: u8 = 16;
pub(super) const ESCAPE: u8 = 32;
/// Of one word: a dot in it; an underscore or a hyphen.
pub(super) const DOT: u8 = 64;
pub(super) const JOIN: u8 = 128;

pub(super) static MARKS: [u8; 256] = {
    let mut marks = [0; 256];
    let mut byte = 0_u8;
    loop {
        marks[byte as usize] = match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => WORD,
            b'.' => WORD | DOT,
            b'_' | b'-' => WORD | JOIN,
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
