//! Whom an entry of another program reaches: a server's and a tool's name, with or without wildcards. Owns no decision.

use crate::policy::glob::{Glob, escaped};

/// A name as another program has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name<'a> {
    Any,
    /// Just this one, whatever characters are in it.
    Is(&'a str),
    /// `*` in it matches any characters.
    Like(&'a str),
}

impl<'a> Name<'a> {
    /// As that program has it.
    pub(super) fn text(self) -> &'a str {
        match self {
            Self::Any => "*",
            Self::Is(name) | Self::Like(name) => name,
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.text().is_empty()
    }

    /// The glob that means the same here; `None` for any.
    pub(super) fn glob(self) -> Option<String> {
        match self {
            Self::Any => None,
            Self::Like(name) if name.chars().all(|c| c == '*') => None,
            Self::Is(name) => Some(escaped(name)),
            Self::Like(name) => Some(escaped(name).replace("\\*", "*")),
        }
    }
}

/// The plain name that a glob of ours means; `None` where it has a wildcard.
fn plain(glob: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = glob.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' => return None,
            '\\' => out.extend(rest.next()),
            other => out.push(other),
        }
    }
    Some(out)
}

/// Whether two names can mean the same one.
pub(super) fn may_meet(one: &Option<String>, other: &Option<String>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return true };
    match (plain(one), plain(other)) {
        (Some(one), Some(other)) => one == other,
        (Some(name), None) => matches(other, &name),
        (None, Some(name)) => matches(one, &name),
        (None, None) => true,
    }
}

/// Whether one glob surely reaches all that another does.
pub(super) fn covers(wide: Option<&str>, narrow: Option<&str>) -> bool {
    let Some(wide) = wide else { return true };
    let Some(narrow) = narrow else { return false };
    wide == narrow || plain(narrow).is_some_and(|name| matches(wide, &name))
}

/// A text that is no glob counts as matching every name: a match can only drop an allow.
fn matches(glob: &str, name: &str) -> bool {
    Glob::new(glob).map_or(true, |glob| glob.matches(name))
}

/// Every way to part a text into a server and a tool, the shortest server first.
pub(super) fn splits<'t>(text: &'t str, between: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    // At every place, also where separators overlap: `a___b` is `a` and `_b`, and `a_` and `b`.
    let parts = text.char_indices().filter_map(move |(at, _)| Some((&text[..at], text[at..].strip_prefix(between)?)));
    parts.filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
}
