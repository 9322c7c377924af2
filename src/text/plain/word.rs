//! Whether the letters of a word pass for ASCII ones: Latin mixed with its rivals, or a rival's word tied to ASCII by a joint.

use super::glyph::{is_double, is_false_separator, is_rival};

/// The current word, and whether its foreign letters could pass for ASCII.
#[derive(Default)]
pub(super) struct Word {
    end: usize,
    betrays: bool,
}

impl Word {
    /// Looks at the word that begins at `at`, unless it is still the last one.
    pub(super) fn enter(&mut self, text: &str, at: usize, c: char) {
        const LONGEST: usize = 256;
        if at < self.end || !is_letter(c) {
            return;
        }
        let rest = &text[at..];
        let len: usize = rest.chars().take(LONGEST).take_while(|c| is_letter(*c)).map(char::len_utf8).sum();
        let word = &rest[..len];
        self.end = at + len;
        self.betrays = if word.is_ascii() || !word.chars().any(is_rival) {
            false
        } else if word.contains(|c: char| c.is_ascii_alphabetic()) {
            true
        } else {
            let doubles = |c: char| is_double(c) || !c.is_alphabetic();
            word.chars().all(doubles) && touches_ascii(&text[..at], &rest[len..])
        };
    }

    /// Whether the character at `at` is to be shown with its code point.
    pub(super) fn betrays(&self, text: &str, at: usize, c: char) -> bool {
        if is_false_separator(c) {
            let ascii = |c: Option<char>| c.is_some_and(|c| c.is_ascii_graphic());
            let after = text[at + c.len_utf8()..].chars().next();
            return ascii(text[..at].chars().next_back()) && ascii(after);
        }
        at < self.end && self.betrays && is_rival(c)
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric()
}

/// Whether what is around a word ties it to ASCII letters, as in a path, a host or an address.
fn touches_ascii(before: &str, after: &str) -> bool {
    const JOINTS: &[char] = &['.', '-', '_', '/', '\\', ':', '@'];
    let tied = |joint: Option<char>, next: Option<char>| {
        joint.is_some_and(|c| JOINTS.contains(&c))
            && next.is_some_and(|c| c.is_ascii_alphanumeric() || JOINTS.contains(&c))
    };
    let mut back = before.chars().rev();
    let mut forth = after.chars();
    tied(back.next(), back.next()) || tied(forth.next(), forth.next())
}
