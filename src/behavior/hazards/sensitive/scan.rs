//! One scan over the words of a text. Which words name a place is `names`.

use super::marks::{DOT, JOIN, MARKS, WORD};
use super::names;

/// The first word that names a place as it is; else what the text is to be read again for.
pub(super) fn in_words(text: &str) -> (Option<&str>, u8) {
    let bytes = text.as_bytes();
    let (mut start, mut marks, mut of_word) = (0, 0, 0);
    for at in 0..=bytes.len() {
        let mark = bytes.get(at).map_or(0, |byte| MARKS[usize::from(*byte)]);
        of_word |= mark;
        if mark & WORD == 0 {
            let (dotted, joined) = (of_word & DOT != 0, of_word & JOIN != 0);
            if at - start >= 2 && names::is_place(&text[start..at], &bytes[..start], dotted, joined) {
                return (Some(&text[start..at]), marks | of_word);
            }
            marks |= of_word;
            (start, of_word) = (at + 1, 0);
        }
    }
    (None, marks & !(WORD | DOT | JOIN))
}
