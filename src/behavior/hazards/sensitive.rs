//! Finds the first place in a text where secrets are kept. How such places are named, spelled and matched is below.
//!
//! One scan reads the words and notes what else the text holds (`Marks`); only a text with an escape, a pattern or an
//! address pays for more.

mod address;
mod alternatives;
mod marks;
mod names;
mod pattern;
mod scan;
mod spelling;

use marks::{COLON, FOREIGN, PATTERN, PERCENT};
use scan::in_words;

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
