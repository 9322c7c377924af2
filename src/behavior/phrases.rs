//! Finds phrases of whole words in a text, all of a list in one pass. Knows no meanings.

use std::collections::HashMap;

/// Phrases, by their first word.
pub struct Phrases<T> {
    by_first: HashMap<&'static str, Vec<(&'static str, T)>>,
}

impl<T: Copy> Phrases<T> {
    /// Takes lists of phrases, one a line, lower case; a phrase that ends with `*` goes on in any way.
    pub fn new(lists: &[(&'static str, T)]) -> Self {
        let mut by_first: HashMap<&'static str, Vec<(&'static str, T)>> = HashMap::new();
        for (list, kind) in lists {
            for phrase in list.lines().map(str::trim).filter(|phrase| !phrase.is_empty()) {
                let first = phrase.split([' ', '*']).next().unwrap_or(phrase);
                by_first.entry(first).or_default().push((phrase, *kind));
            }
        }
        Self { by_first }
    }

    /// Every phrase of `plain` ([`plain`]'s text), with its place in it, in order.
    pub fn found<'a>(&'a self, plain: &'a str) -> impl Iterator<Item = (usize, &'static str, T)> + 'a {
        let starts = plain.match_indices(' ').map(|(at, _)| at + 1);
        starts.flat_map(move |at| {
            let rest = &plain[at..];
            let first = rest.split(' ').next().unwrap_or_default();
            let known = self.by_first.get(first).map(Vec::as_slice).unwrap_or_default();
            known.iter().filter_map(move |(phrase, kind)| {
                let fits = match phrase.strip_suffix('*') {
                    Some(head) => rest.starts_with(head),
                    None => rest.strip_prefix(phrase).is_some_and(|after| after.starts_with([' ', '.'])),
                };
                fits.then_some((at, *phrase, *kind))
            })
        })
    }
}

/// What becomes of a hyphen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hyphens {
    /// `read-only` stays one word.
    Kept,
    /// `ignore-all-previous` becomes three.
    Cut,
}

/// The text in lower case, its words one space apart, a space at each end, apostrophes and other signs gone.
pub fn plain(text: &str, hyphens: Hyphens) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(' ');
    for c in text.chars() {
        // A tag is a word of its own.
        let gap = !out.ends_with(' ');
        match c {
            '<' if gap => out.push_str(" <"),
            '>' => out.push_str("> "),
            '<' | '~' | '/' | '.' => out.push(c),
            '-' if hyphens == Hyphens::Kept => out.push(c),
            '\'' | '’' => {}
            _ if c.is_alphanumeric() => out.extend(c.to_lowercase()),
            _ if gap => out.push(' '),
            _ => {}
        }
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}
