//! How every leaf of one call's arguments is explained: by a closed kind, or not. Owns the list, not the judging of leaves.
//!
//! A leaf is explained when a closed kind shows that it can do nothing but say what is read. Whatever no kind fits is not
//! explained, and the call asks.

pub mod address;
pub mod carried;
pub mod encoded;
pub mod key;
pub mod name;
pub mod pattern;
pub mod place;
pub mod prose;
pub mod role;
pub mod shape;
pub mod text;

use std::borrow::Cow;

use crate::capability::names::shortened;

/// How many leaves of one call are listed; all are checked.
const MOST: usize = 32;
/// How many unexplained leaves are listed with their reason.
const MOST_UNEXPLAINED: usize = 8;
/// How much of a name is shown in the line, in characters.
const NAME: usize = 40;

/// What a leaf was shown to be, in our words: `a number`, `SQL, SELECT on users`. Names in it are foreign text, raw.
pub type Kind = Cow<'static, str>;

/// The leaves that are explained, with one text for all their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaves {
    /// JSON Pointers into the arguments, one behind the other; foreign text, raw.
    pointers: String,
    /// Where each pointer ends, and what its leaf was shown to be.
    ends: Vec<(usize, Kind)>,
}

impl Leaves {
    /// A list with room for those of most calls.
    pub(super) fn with_room() -> Self {
        Self { pointers: String::with_capacity(64), ends: Vec::with_capacity(8) }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The JSON Pointer of each, and what it was shown to be.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Kind)> {
        let mut start = 0;
        self.ends.iter().map(move |(end, kind)| {
            let from = std::mem::replace(&mut start, *end);
            (self.pointers.get(from..*end).unwrap_or_default(), kind)
        })
    }

    fn push(&mut self, pointer: &str, kind: Kind) {
        self.pointers.push_str(pointer);
        self.ends.push((self.pointers.len(), kind));
    }
}

/// One leaf, or one key, that is not explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// JSON Pointer into the arguments; foreign text, raw.
    pub pointer: String,
    /// Why, in our words: `is not plain words, an identifier, a path or a web address`.
    pub why: String,
}

/// How the leaves of one call's arguments are explained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The first of the explained leaves, in their order.
    pub leaves: Leaves,
    /// How many more leaves are explained.
    pub more: usize,
    /// The first of those that are not.
    pub unexplained: Vec<Unexplained>,
    /// How many more are not.
    pub more_unexplained: usize,
}

impl Explanation {
    /// Whether every leaf is explained.
    pub fn holds(&self) -> bool {
        self.unexplained.is_empty()
    }

    /// One line for people: `path: a path; limit: a number; query: SQL, SELECT on users`. Names are foreign text, raw.
    pub fn line(&self) -> String {
        let mut line = String::with_capacity(40 * (self.unexplained.len() + self.leaves.len()));
        let mut add = |parts: [&str; 3]| {
            line.push_str(if line.is_empty() { "" } else { "; " });
            parts.iter().for_each(|part| line.push_str(part));
        };
        for one in &self.unexplained {
            add([&name(&one.pointer), ": ", &one.why]);
        }
        if self.more_unexplained > 0 {
            add([&self.more_unexplained.to_string(), " more", " that are not explained"]);
        }
        for (pointer, kind) in self.leaves.iter() {
            add([&name(pointer), ": ", kind]);
        }
        if self.more > 0 {
            add(["and ", &self.more.to_string(), " more"]);
        }
        line
    }

    /// The kind of the last leaf, if it is a fixed text of ours. `None` where the last leaf is not listed.
    pub(super) fn last_kind(&self) -> Option<&'static str> {
        match self.leaves.ends.last() {
            Some((_, Cow::Borrowed(kind))) if self.more == 0 => Some(kind),
            Some(_) | None => None,
        }
    }

    pub(super) fn explained(&mut self, pointer: &str, kind: Kind) {
        if self.leaves.len() < MOST {
            self.leaves.push(pointer, kind);
        } else {
            self.more += 1;
        }
    }

    pub(super) fn unexplained(&mut self, pointer: &str, why: &'static str) {
        // One reason is enough for one place.
        if self.unexplained.last().is_some_and(|last| last.pointer == pointer) {
            return;
        }
        if self.unexplained.len() < MOST_UNEXPLAINED {
            self.unexplained.push(Unexplained { pointer: pointer.to_owned(), why: why.to_owned() });
        } else {
            self.more_unexplained += 1;
        }
    }
}

/// A pointer as a name: without its first slash, and no longer than people read.
fn name(pointer: &str) -> Cow<'_, str> {
    let name = pointer.strip_prefix('/').unwrap_or(pointer);
    if name.is_empty() { "the arguments".into() } else { shortened(name, NAME) }
}
