//! Plain words: what people write to look for something. Tells them from statements, options, templates and shell lines.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

use super::name;
use crate::behavior::signs::{Signs, WORDS, is_one, signs};

/// A longer text is a document, not words to look for.
const LONGEST: usize = 2048;

/// Characters that may be wherever they are.
const ANYWHERE: u128 = WORDS | signs(b" _,?");
const QUOTES: u128 = signs(b"'\"");

/// Whether a text is words of a natural language with their ordinary punctuation, and nothing that a shell, a template or a
/// program would read as its own.
pub fn is_plain(text: &str) -> bool {
    if text.len() > LONGEST || name::climbs(text) {
        return false;
    }
    let signs = Signs::of(text);
    // Most texts have no other characters, and such a text passes every check below.
    if signs.are_all(ANYWHERE) {
        return true;
    }
    let chars: Vec<char> = text.chars().collect();
    let many = text.trim().contains(' ');
    // `@reboot /bin/x`: an entry of a table, not words.
    if many && text.starts_with('@') && text.contains(" /") {
        return false;
    }
    (0..chars.len()).all(|at| fits(&chars, at, many))
        && (!signs.has(QUOTES) || quotes_close(&chars))
        && (!signs.has(1 << b':')
            || text
                .split(' ')
                .all(|word| name::is_without_scheme(word.trim_start_matches(['(', '"', '\''])) || is_qualifier(word)))
}

/// Whether a word is `file:name`, as searches write it: it is not an address that a program would follow.
fn is_qualifier(word: &str) -> bool {
    let word = word.trim_start_matches(['-', '(']);
    word.strip_prefix("file:")
        .is_some_and(|rest| rest.chars().next().is_some_and(char::is_alphanumeric) && !rest.contains(['/', ':']))
}

/// Whether a character may be where it is.
fn fits(chars: &[char], at: usize, many: bool) -> bool {
    let Some(&c) = chars.get(at) else { return true };
    if is_one(c, ANYWHERE) {
        return true;
    }
    let before = at.checked_sub(1).and_then(|before| chars.get(before)).copied().unwrap_or(' ');
    let next = chars.get(at + 1).copied().unwrap_or(' ');
    let starts = matches!(before, ' ' | '(' | '"' | '\'' | '[');
    let ends = matches!(next, ' ' | ')' | '"' | '\'' | ']' | ',' | '.' | '?' | '!' | ':');
    match c {
        // `.drop table`, and a call on what is before it.
        '.' => {
            let begins = starts && many && next.is_ascii_alphabetic();
            !begins && (next == ' ' || !matches!(before, ')' | ']'))
        }
        '!' => !starts || next == ' ',
        ':' => {
            let compares =
                matches!(next, '<' | '>') && chars.get(at + 2).is_some_and(|c| c.is_ascii_digit() || *c == '=');
            let begins = starts && next != ' ';
            let is_act = chars.first() == Some(&'/') && name::is_letter(next);
            let is_negative = || chars.get(at + 2).is_some_and(char::is_ascii_digit);
            let follows = match next {
                ' ' | '"' | '\'' | '*' | '@' | '#' | '.' | '_' | ')' => true,
                '-' => is_negative(),
                c => name::is_letter(c) || compares,
            };
            follows && !begins && !is_act
        }
        '\'' | '"' => true,
        '(' => {
            starts
                || (next == 's' && chars.get(at + 2) == Some(&')'))
                || (next == 'e' && chars.get(at + 2) == Some(&'s'))
        }
        ')' => ends && !(next == '.' && chars.get(at + 2).is_some_and(|c| *c != ' ')),
        '[' => starts || before.is_alphanumeric(),
        ']' => true,
        '/' => next != '/' && (!many || (next != '*' && before != '*')),
        '@' => next.is_alphanumeric() || next == ' ',
        '#' => next != '!',
        '+' => next.is_alphanumeric() || matches!(next, ' ' | '+' | ')' | ',') || before.is_alphanumeric(),
        '%' => before.is_ascii_digit() && ends,
        '*' => !many || (before != '/' && next != '/'),
        '-' => {
            let excludes = || {
                let word: Vec<char> = chars.iter().skip(at + 1).copied().take_while(|c| *c != ' ').collect();
                let colon = word.iter().position(|c| *c == ':');
                colon.is_some_and(|colon| colon >= 2 && colon + 1 < word.len())
                    && word.iter().all(|c| name::is_letter(*c) || matches!(c, ':' | '-' | '_' | '.' | '/' | '"' | '@'))
            };
            if starts { at > 0 && (next == ' ' || next.is_ascii_digit() || excludes()) } else { next != '-' }
        }
        '$' => next.is_ascii_digit() && (starts || before.is_ascii_uppercase()),
        '&' => before.is_ascii_uppercase() && next.is_ascii_uppercase() && !has_lower(chars, at),
        '~' => starts && next.is_ascii_digit(),
        '<' | '>' => before == ':',
        '=' => matches!(before, '<' | '>') && next.is_ascii_digit(),
        c if c.is_ascii() => false,
        c => name::is_letter(c) || is_punctuation(c),
    }
}

/// Whether the word around `at` has a small letter: `R&D` and `AT&T` have none.
fn has_lower(chars: &[char], at: usize) -> bool {
    let is_part = |c: &&char| **c != ' ';
    let before = chars.iter().take(at).rev().take_while(is_part);
    before.chain(chars.iter().skip(at).take_while(is_part)).any(|c| c.is_lowercase())
}

/// Punctuation and symbols that are not ASCII, and that no folding makes a sign of a shell or a language.
fn is_punctuation(c: char) -> bool {
    use GeneralCategory as G;
    // A program that normalizes the text sees the ASCII sign.
    let folded: String = std::iter::once(c).nfkc().collect();
    let folds =
        folded.is_ascii() && !matches!(folded.as_str(), "," | "." | "..." | "?" | "!" | ":" | "(" | ")" | "'" | "\"");
    let category = get_general_category(c);
    !folds
        && matches!(
            category,
            G::ConnectorPunctuation
                | G::DashPunctuation
                | G::OpenPunctuation
                | G::ClosePunctuation
                | G::InitialPunctuation
                | G::FinalPunctuation
                | G::OtherPunctuation
                | G::CurrencySymbol
                | G::OtherSymbol
                | G::MathSymbol
                | G::ModifierSymbol
                | G::OtherNumber
                | G::LetterNumber
                | G::EnclosingMark
        )
}

/// Whether quotes are in pairs; an apostrophe in or behind a word is none.
fn quotes_close(chars: &[char]) -> bool {
    let (mut single, mut double) = (false, false);
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| chars.get(before)).copied().unwrap_or(' ');
        let next = chars.get(at + 1).copied().unwrap_or(' ');
        match c {
            '"' => {
                if !double && !matches!(before, ' ' | '(' | ':' | '[' | '-') && !before.is_ascii_digit() {
                    return false;
                }
                // `5"` is a length.
                if double || !before.is_ascii_digit() {
                    double = !double;
                }
            }
            '\'' if before.is_alphanumeric() && next.is_alphanumeric() => {}
            // `dogs' bones`, unless it closes a quote.
            '\'' if !single && before == 's' && next == ' ' => {}
            '\'' => {
                let opens = matches!(before, ' ' | '(' | ':' | '[');
                if single == opens {
                    return false;
                }
                single = !single;
            }
            _ => {}
        }
    }
    !single && !double
}
