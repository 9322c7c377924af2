//! Finds the first place in a text where secrets are kept. How such places are named, spelled and matched is below.
//!
//! One scan reads the words and notes what else the text holds (`Marks`); only a text with an escape, a pattern or an
//! address pays for more.

mod address;
mod alternatives;
mod names;
mod pattern;
mod spelling;

/// The first thing in `text` that names a place where secrets are kept: a file, a variable, a metadata service.
pub fn first_place(text: &str) -> Option<String> {
    let (word, marks) = in_words(text);
    if word.is_some() || marks == 0 {
        return word.map(str::to_owned);
    }
    if let Some(found) = beyond_words(text, marks) {
        return Some(found);
    }
    let mut plainest = None;
    if marks & (PERCENT | FOREIGN) != 0 {
        // Each layer that somebody on the way might take off; nobody takes off more.
        for _ in 0..4 {
            let Some(plainer) = spelling::plainer(plainest.as_deref().unwrap_or(text)) else { break };
            if let Some(found) = as_it_stands(&plainer) {
                return Some(found);
            }
            plainest = Some(plainer);
        }
    }
    let unescaped = spelling::without_escapes(plainest.as_deref().unwrap_or(text))?;
    as_it_stands(&unescaped)
}

fn as_it_stands(text: &str) -> Option<String> {
    let (word, marks) = in_words(text);
    word.map(str::to_owned).or_else(|| beyond_words(text, marks))
}

fn beyond_words(text: &str, marks: u8) -> Option<String> {
    let address = if marks & COLON == 0 { None } else { address::first_of_six(text).map(str::to_owned) };
    address.or_else(|| if marks & PATTERN == 0 { None } else { pattern::first_reaching(text) })
}

/// Part of a word; the other marks are what a text is read again for.
const WORD: u8 = 1;
const PERCENT: u8 = 2;
const FOREIGN: u8 = 4;
const COLON: u8 = 8;
const PATTERN: u8 = 16;
const ESCAPE: u8 = 32;

static MARKS: [u8; 256] = {
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

/// The first word that names a place as it stands; else what the text is to be read again for.
fn in_words(text: &str) -> (Option<&str>, u8) {
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

fn is_word(byte: u8) -> bool {
    MARKS[usize::from(byte)] & WORD != 0
}
