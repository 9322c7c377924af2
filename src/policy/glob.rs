//! Globs over names: `*`, `?`, `[a-z]`, `[!a-z]`, `\` before a literal. The whole name, by character, case-sensitive.
//!
//! By character and not by byte: `?` and `[é]` must not miss letters outside ASCII, since a deny must not miss. There is
//! no separator: `*` matches `/` too.

use std::fmt;

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::address::{self, AddressGlob};
use super::holds::Holds;
use crate::behavior::wildcards::{self, Sense, Wildcard};

/// A compiled glob.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Glob {
    text: String,
    how: How,
    /// Where it has `://`: how it matches addresses.
    address: Option<Box<AddressGlob>>,
}

/// The text alone decides what is compiled, so comparing it is enough.
impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Glob {}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Glob({:?})", self.text)
    }
}

#[derive(Clone)]
enum How {
    /// No wildcard and no escape: the name is the text.
    Exact,
    /// No wildcard but `*`: the name begins with the first piece, ends with the last, and has the others in between, in
    /// their order. Character by character, a thousand of these over a text of 2 KB would take milliseconds.
    Pieces {
        first: String,
        between: Vec<String>,
        last: String,
    },
    Wildcards(Vec<Wildcard>),
}

/// Why a text is no glob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    #[error("an empty glob matches nothing")]
    Empty,
    #[error("a `[` without its `]`")]
    Open,
    #[error("`[]` holds no character")]
    EmptyClass,
    #[error("a range like `z-a` runs backwards")]
    Backwards,
    #[error("a `\\` at the end escapes nothing")]
    Dangling,
}

impl Glob {
    /// Whether it is a name itself: it matches nothing else.
    pub fn is_exact(&self) -> bool {
        matches!(self.how, How::Exact)
    }

    /// Compiles a glob.
    ///
    /// # Errors
    /// [`GlobError`] when the text is empty or a class or escape in it is not complete.
    pub fn new(text: &str) -> Result<Self, GlobError> {
        if text.is_empty() {
            return Err(GlobError::Empty);
        }
        let mut parts = Vec::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            parts.push(match c {
                '*' => Wildcard::Many,
                '?' => Wildcard::One,
                '[' => class(&mut rest)?,
                other => Wildcard::Exactly(literal(other, &mut rest)?),
            });
        }
        let address = AddressGlob::new(&parts).map(Box::new);
        let how = if text.contains(['*', '?', '[', '\\']) { How::of(parts) } else { How::Exact };
        Ok(Self { text: text.to_owned(), how, address })
    }

    /// The glob as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it has `://`, and so compares addresses part by part.
    pub fn is_address(&self) -> bool {
        self.address.is_some()
    }

    /// Whether the whole of an argument matches: an address part by part, and no wildcard matches a line break.
    ///
    /// What only matches as a text, across such bounds, is undecided: an allow does not cover it, and a deny does.
    pub fn holds(&self, text: &str) -> Holds {
        if let Some(glob) = &self.address {
            return glob.holds(text, || self.matches(text));
        }
        let breaks = |text: &str| text.chars().filter(|c| is_line_break(*c)).count();
        match self.matches(text) {
            false => Holds::No,
            true if self.is_exact() => Holds::Yes,
            true if breaks(text) != breaks(&self.text) => Holds::Undecided,
            true if self.text != "*" && address::is_address(text) => Holds::Undecided,
            true => Holds::Yes,
        }
    }

    /// Whether the whole of `name` matches.
    pub fn matches(&self, name: &str) -> bool {
        match &self.how {
            How::Exact => self.text == name,
            How::Pieces { first, between, last } => in_order(first, between, last, name),
            How::Wildcards(parts) => wildcards::matches(parts, name),
        }
    }
}

impl TryFrom<String> for Glob {
    type Error = GlobError;

    fn try_from(text: String) -> Result<Self, GlobError> {
        Self::new(&text)
    }
}

impl From<Glob> for String {
    fn from(glob: Glob) -> Self {
        glob.text
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl How {
    fn of(parts: Vec<Wildcard>) -> Self {
        let plain = |piece: &[Wildcard]| -> Option<String> {
            let own = |part: &Wildcard| if let Wildcard::Exactly(c) = part { Some(*c) } else { None };
            piece.iter().map(own).collect()
        };
        let pieces: Option<Vec<String>> = parts.split(|part| *part == Wildcard::Many).map(plain).collect();
        match pieces.as_deref() {
            Some([first, between @ .., last]) => {
                Self::Pieces { first: first.clone(), between: between.to_vec(), last: last.clone() }
            }
            Some(_) | None => Self::Wildcards(parts),
        }
    }
}

/// A name as a glob that means just it.
pub fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Reads a class after its `[`.
fn class(rest: &mut std::str::Chars<'_>) -> Result<Wildcard, GlobError> {
    let mut ranges = Vec::new();
    let mut next = rest.next().ok_or(GlobError::Open)?;
    let sense = if matches!(next, '!' | '^') { Sense::Others } else { Sense::These };
    if sense == Sense::Others {
        next = rest.next().ok_or(GlobError::Open)?;
    }
    while next != ']' {
        let low = literal(next, rest)?;
        let mut high = low;
        next = rest.next().ok_or(GlobError::Open)?;
        if next == '-' && !rest.as_str().starts_with(']') {
            let end = rest.next().ok_or(GlobError::Open)?;
            high = literal(end, rest)?;
            next = rest.next().ok_or(GlobError::Open)?;
        }
        if high < low {
            return Err(GlobError::Backwards);
        }
        ranges.push((low, high));
    }
    if ranges.is_empty() {
        return Err(GlobError::EmptyClass);
    }
    Ok(Wildcard::Class { ranges, sense })
}

fn literal(c: char, rest: &mut std::str::Chars<'_>) -> Result<char, GlobError> {
    if c == '\\' { rest.next().ok_or(GlobError::Dangling) } else { Ok(c) }
}

/// Whether the name begins with `first`, ends with `last`, and has the pieces in between, one after the other.
fn in_order(first: &str, between: &[String], last: &str, name: &str) -> bool {
    // Comparing with an empty text can take 80 ns: its pointer dangles, which slows down the C library's vector code.
    let inside = if first.is_empty() { Some(name) } else { name.strip_prefix(first) };
    let inside = if last.is_empty() { inside } else { inside.and_then(|rest| rest.strip_suffix(last)) };
    let Some(mut rest) = inside.map(str::as_bytes) else { return false };
    between.iter().all(|piece| {
        // The leftmost match leaves the most text for the pieces that follow.
        let behind = memmem::find(rest, piece.as_bytes()).and_then(|at| rest.get(at + piece.len()..));
        rest = behind.unwrap_or_default();
        behind.is_some()
    })
}
