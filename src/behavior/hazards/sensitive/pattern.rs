//! Patterns that reach a sensitive name: `.ss?/*`, `/proc/self/env*`. Matches against the names; expands nothing on disk.
//!
//! A pattern *tells* a name when it fits it, and does not fit a nameless one of the same shape: `.s*` tells `.ssh`,
//! `*.json` tells no file in particular. What tells is a hazard; what fits everything is an ordinary search.

use super::alternatives::{TooMany, is_wild, pieces, written_out};
use super::names::{ANYWHERE, Breadth, ENDS, IN_PATH, UNDER};
use super::scan::in_words;
use crate::behavior::wildcards::{self, Sense, Wildcard};
use crate::behavior::words;

/// How many components of patterns are held against the names. A text with more is not ordinary, and asks.
const MOST: usize = 10_000;

/// The first pattern in `text` that reaches a sensitive name.
pub(super) fn first_reaching(text: &str) -> Option<String> {
    let mut search = Search {
        left: MOST,
        left_in_words: MOST,
        surroundings: if text.contains(' ') { Surroundings::InWords } else { Surroundings::Alone },
    };
    let found = pieces(text).find(|piece| {
        // A whole program without a space has braces too, but is no path.
        piece.bytes().any(is_wild) && search.reaches(piece).unwrap_or(piece.len() <= 4096 || piece.contains('/'))
    });
    // A short text may be one path with spaces in it.
    found.or_else(|| {
        let path = text.len() <= 1024 && text.contains(' ') && text.contains(['/', '\\']) && !text.contains('\n');
        (path && search.reaches(text).unwrap_or(false)).then(|| text.to_owned())
    })
}

/// Whether a pattern is among words, where a star may be an emphasis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Surroundings {
    Alone,
    InWords,
}

struct Search {
    /// Components that may still be held against the names: of paths, and of words with a star.
    left: usize,
    left_in_words: usize,
    surroundings: Surroundings,
}

impl Search {
    /// Whether one of the alternatives reaches a sensitive name.
    fn reaches(&mut self, piece: &str) -> Result<bool, TooMany> {
        let paths = written_out(piece)?;
        Ok(paths.iter().any(|path| (path.len() < piece.len() && in_words(path).0.is_some()) || self.path_reaches(path)))
    }

    fn path_reaches(&mut self, path: &str) -> bool {
        let mut components: Vec<Component<'_>> = Vec::new();
        for text in path.split(['/', '\\']) {
            match text {
                "" | "." => {}
                ".." => {
                    components.pop();
                }
                _ => components.push(Component::of(text)),
            }
        }
        if self.surroundings == Surroundings::InWords && !path.contains(['/', '\\']) {
            // A long document is no pattern, however many of its words have a star for emphasis.
            self.left_in_words = self.left_in_words.saturating_sub(1);
            return self.left_in_words > 0
                && components.iter().any(|component| component.is_wild() && component.names_plainly());
        }
        let at_home = path.starts_with(['~', '$'])
            || components.first().is_some_and(|first| matches!(first.text, "root" | "home" | "users" | "Users"));
        (0..components.len()).any(|at| {
            let own = &components[at];
            if !own.is_wild() && !at.checked_sub(1).is_some_and(|above| components[above].is_wild()) {
                return false;
            }
            self.left = self.left.saturating_sub(1);
            self.left == 0
                || (at_home && own.starts_with('.') && own.fits(".\u{1}\u{1}\u{1}"))
                || Place { components: &components, at }.is_reached()
        })
    }
}

/// One component of a path, as a pattern.
struct Component<'a> {
    text: &'a str,
    parts: Vec<Wildcard>,
    /// How many characters it fits at least; more where it has a star.
    least: usize,
    is_open: bool,
}

/// Any letter or digit that the pattern does not spell out.
const NAMELESS: char = '\u{1}';

impl<'a> Component<'a> {
    fn of(text: &'a str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '*' if matches!(parts.last(), Some(Wildcard::Many)) => {}
                '*' => parts.push(Wildcard::Many),
                '?' => parts.push(Wildcard::One),
                '[' => match class(rest) {
                    Some((part, after)) => {
                        parts.push(part);
                        rest = after;
                    }
                    // A class that was cut: neither what it holds nor what follows is known.
                    None => {
                        parts.push(Wildcard::Many);
                        rest = "";
                    }
                },
                _ => parts.push(Wildcard::Exactly(c.to_ascii_lowercase())),
            }
        }
        let stars = parts.iter().filter(|part| matches!(part, Wildcard::Many)).count();
        Self { text, least: parts.len() - stars, is_open: stars > 0, parts }
    }

    fn is_wild(&self) -> bool {
        self.text.contains(['*', '?', '['])
    }

    fn starts_with(&self, c: char) -> bool {
        matches!(self.parts.first(), Some(Wildcard::Exactly(first)) if *first == c)
    }

    fn is(&self, name: &str) -> bool {
        self.text.eq_ignore_ascii_case(name)
    }

    fn fits(&self, name: &str) -> bool {
        self.may_fit(name) && fits(&self.parts, name)
    }

    fn tells(&self, name: &str) -> bool {
        self.may_fit(name) && tells(&self.parts, name)
    }

    /// Whether a name is as long as the pattern wants it, and begins as the pattern does. Names are ASCII.
    fn may_fit(&self, name: &str) -> bool {
        let length = if self.is_open { self.least <= name.len() } else { self.least == name.len() };
        length && !matches!(self.parts.first(), Some(Wildcard::Exactly(c)) if !name.starts_with(*c))
    }

    /// Whether most of a sensitive name is said, or the dot and the end of one.
    fn names_plainly(&self) -> bool {
        let dotted = self.parts.iter().any(|part| matches!(part, Wildcard::Exactly('.')));
        ANYWHERE.iter().any(|name| self.tells(name) && self.mostly_says(name)) || (dotted && ends(self))
    }

    /// Whether more than half of the name's letters are said.
    fn mostly_says(&self, name: &str) -> bool {
        let said = self.parts.iter().filter(|part| matches!(part, Wildcard::Exactly(c) if c.is_alphanumeric())).count();
        2 * said > name.chars().filter(|c| c.is_alphanumeric()).count() && self.fits(name)
    }
}

/// The class whose inside `text` begins with, and what follows it.
fn class(text: &str) -> Option<(Wildcard, &str)> {
    let (sense, inside) = match text.strip_prefix(['!', '^']) {
        Some(rest) => (Sense::Others, rest),
        None => (Sense::These, text),
    };
    // A bracket that closes right away belongs to the class.
    let end = inside.char_indices().skip(1).find(|(_, c)| *c == ']')?.0;
    let chars: Vec<char> = inside[..end].chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let last = if chars.get(at + 1) == Some(&'-') { chars.get(at + 2) } else { None };
        ranges.push((chars[at], *last.unwrap_or(&chars[at])));
        at += if last.is_some() { 3 } else { 1 };
    }
    let part = match (&ranges[..], sense) {
        ([(first, last)], Sense::These) if first == last => Wildcard::Exactly(first.to_ascii_lowercase()),
        _ => Wildcard::Class { ranges, sense },
    };
    Some((part, &inside[end + 1..]))
}

/// Whether a part matches a character of a name. Names are ASCII, in lower case.
fn takes(part: &Wildcard, c: char) -> bool {
    match part {
        Wildcard::Exactly(_) | Wildcard::One | Wildcard::Many => part.matches(c),
        Wildcard::Class { .. } if c == NAMELESS => true,
        Wildcard::Class { ranges, sense } => {
            let upper = c.to_ascii_uppercase();
            let within = ranges.iter().any(|(a, z)| (a..=z).contains(&&c) || (a..=z).contains(&&upper));
            within == (*sense == Sense::These)
        }
    }
}

/// Whether the pattern fits the name.
fn fits(parts: &[Wildcard], name: &str) -> bool {
    // Most patterns and names part at their first or their last letter.
    if let Some(Wildcard::Exactly(c)) = parts.last()
        && !name.is_empty()
        && !name.ends_with(*c)
    {
        return false;
    }
    wildcards::matches(parts, name, takes)
}

/// Whether the pattern fits this name and not a nameless one of the same shape.
fn tells(parts: &[Wildcard], name: &str) -> bool {
    fits(parts, name) && !fits(parts, &nameless(name))
}

/// The shape of a name: its letters and digits forgotten, but for an ending that says nothing of what a file holds.
fn nameless(name: &str) -> String {
    const ORDINARY: &str = "json yaml yml toml db sqlite xml conf cnf dat txt properties";
    let ending = name.rfind('.').filter(|at| words::among(&name[at + 1..], ORDINARY));
    let (stem, ending) = name.split_at(ending.unwrap_or(name.len()));
    stem.chars().map(|c| if c.is_alphanumeric() { NAMELESS } else { c }).chain(ending.chars()).collect()
}

/// One component in its path.
struct Place<'a> {
    components: &'a [Component<'a>],
    at: usize,
}

impl Place<'_> {
    fn is_reached(&self) -> bool {
        let own = &self.components[self.at];
        if matches!(own.parts[..], [Wildcard::Many]) {
            // A `*` alone tells no name, and as a directory it is no place yet.
            return self.at + 1 == self.components.len() && (self.is_of_a_process(own) || self.is_under(own));
        }
        ANYWHERE.iter().any(|name| own.tells(name))
            || (self.at > 0 && IN_PATH.iter().any(|name| *name != "environ" && own.tells(name)))
            || self.is_of_a_process(own)
            || ends(own)
            || self.is_under(own)
    }

    /// `/proc/self/environ`: two or more below `proc`, and ordinary elsewhere.
    fn is_of_a_process(&self, own: &Component<'_>) -> bool {
        let above = self.at.saturating_sub(1);
        self.components[..above].iter().any(|component| component.is("proc") || component.tells("proc"))
            && own.fits("environ")
    }

    fn is_under(&self, own: &Component<'_>) -> bool {
        let above = &self.components[..self.at];
        let named = above.iter().rposition(|component| component.text != "**");
        let between = named.map_or(above.len(), |at| above.len() - at - 1);
        let directory = named.map(|at| &above[at]);
        UNDER.iter().any(|(parent, breadth, names)| {
            let said = directory.is_some_and(|directory| directory.is(parent) || directory.tells(parent));
            let possible = between > 0 || directory.is_some_and(|directory| directory.fits(parent));
            names.iter().any(|name| match (breadth, said) {
                (Breadth::Whole, true) => own.fits(name),
                (Breadth::Named, true) => own.is(name) || own.tells(name),
                (Breadth::Whole, false) => possible && own.mostly_says(name),
                (Breadth::Named, false) => false,
            })
        })
    }
}

/// Whether the end of the pattern says one of the endings of secret files: `*.k?y`, `*pem`.
fn ends(own: &Component<'_>) -> bool {
    if let Some(dot) = own.parts.iter().rposition(|part| matches!(part, Wildcard::Exactly('.'))) {
        return ENDS.iter().any(|end| tells(&own.parts[dot..], end));
    }
    let Some(star) = own.parts.iter().rposition(|part| matches!(part, Wildcard::Many)) else { return false };
    let tail = &own.parts[star + 1..];
    ENDS.iter().any(|end| tail.len() + 1 == end.len() && tells(tail, &end[1..]))
}
