//! Finds the first place in a text where secrets are kept. The files below know how such places are named, spelled and
//! matched.
//!
//! One scan reads the words and notes what else the text holds (`Marks`); only a text with an escape, a pattern or an
//! address pays for more.

mod address;
mod alternatives;
mod names;
mod pattern;
mod scan;
mod spelling;

use scan::{COLON, ESCAPE, FOREIGN, PATTERN, PERCENT, in_words};

/// How many bytes of one call's texts are read for more than their words: in other spellings, as patterns, as
/// addresses. A bound, because letters beyond ASCII grow to as much as eighteen times their length when they are
/// normalized.
pub const BUDGET: usize = 256 << 10;

/// What a text was found to name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// No place where secrets are kept.
    None,
    /// The first thing in it that names one: a file, a variable, a metadata service.
    Named(String),
    /// No word of it does; it may in another spelling, and is longer than what is left of the budget.
    Unread,
}

/// Looks in a text for places where secrets are kept; `left` is what is left of [`BUDGET`].
pub fn places(text: &str, left: &mut usize) -> Places {
    let (word, marks) = in_words(text);
    match word {
        Some(word) => Places::Named(word.to_owned()),
        None if marks == 0 => Places::None,
        None => match left.checked_sub(text.len()) {
            None => Places::Unread,
            Some(rest) => {
                *left = rest;
                beyond_its_words(text, marks).map_or(Places::None, Places::Named)
            }
        },
    }
}

fn beyond_its_words(text: &str, marks: u8) -> Option<String> {
    if let Some(found) = beyond_words(text, marks) {
        return Some(found);
    }
    let mut plainest = None;
    if marks & (PERCENT | FOREIGN) != 0 {
        // One round for each layer of encoding that a program on the way might decode; none decodes more.
        for _ in 0..4 {
            let Some(plainer) = spelling::plainer(plainest.as_deref().unwrap_or(text)) else { break };
            if let Some(found) = as_written(&plainer) {
                return Some(found);
            }
            plainest = Some(plainer);
        }
    }
    // Without a decoded layer, the scan has seen every escape there is.
    if plainest.is_none() && marks & ESCAPE == 0 {
        return None;
    }
    let unescaped = spelling::without_escapes(plainest.as_deref().unwrap_or(text))?;
    as_written(&unescaped)
}

fn as_written(text: &str) -> Option<String> {
    let (word, marks) = in_words(text);
    word.map(str::to_owned).or_else(|| beyond_words(text, marks))
}

fn beyond_words(text: &str, marks: u8) -> Option<String> {
    let address = if marks & COLON == 0 { None } else { address::first_of_six(text).map(str::to_owned) };
    address.or_else(|| if marks & PATTERN == 0 { None } else { pattern::first_reaching(text) })
}
