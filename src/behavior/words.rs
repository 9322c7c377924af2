//! Names and sentences cut into words, base forms, phrases of whole words in a text. Knows English morphology, not meanings.

use std::collections::{HashMap, HashSet};

use memchr::memmem;

use crate::capability::names;

/// The words of a name, lower case: `getHTTPStatus_v2` to `get http status v2`.
pub fn of_name(name: &str) -> Vec<String> {
    names::cut(name, |before| before.is_lowercase() || before.is_ascii_digit())
}

/// The words of a sentence, lower case, with `,` and `/` kept as words of their own: they join verbs.
pub fn of_sentence(sentence: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in sentence.chars() {
        let inside = c.is_alphanumeric() || (!word.is_empty() && matches!(c, '-' | '\'' | '’' | '_'));
        if inside {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        match c {
            ',' | '/' | '&' | '+' | ':' | '(' | ')' | '—' => words.push(c.to_string()),
            '|' | '：' => words.push(":".to_owned()),
            '，' | '、' => words.push(",".to_owned()),
            _ => {}
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Whether `word` is one of the words of `list`, which are separated by white space.
pub fn among(word: &str, list: &str) -> bool {
    let list = list.as_bytes();
    let ends = |at: Option<usize>| at.and_then(|at| list.get(at)).is_none_or(u8::is_ascii_whitespace);
    let stands = |at: usize| ends(at.checked_sub(1)) && ends(Some(at + word.len()));
    !word.is_empty()
        && !word.bytes().any(|byte| byte.is_ascii_whitespace())
        && memmem::find_iter(list, word.as_bytes()).any(stands)
}

/// The word at this place; empty beyond the last.
pub fn nth(words: &[String], at: usize) -> &str {
    words.get(at).map_or("", String::as_str)
}

pub fn singular<T>(word: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    let city = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    let stems = [city.as_deref(), word.strip_suffix('s'), word.strip_suffix("es")];
    stems.into_iter().flatten().find_map(find)
}

/// Two words each: every first of a row with every second of it, as in `delete | from`.
pub type Pairs = HashSet<(&'static str, &'static str)>;

pub fn pairs(section: &'static str) -> Pairs {
    let row = |row: &'static str| {
        let (firsts, seconds) = row.split_once('|')?;
        Some(firsts.split_whitespace().flat_map(|first| seconds.split_whitespace().map(move |second| (first, second))))
    };
    section.lines().filter_map(row).flatten().collect()
}

/// The words below `[name]` in a text of `assets/words/`. For constants: a name that the text does not have stops the build.
#[expect(clippy::panic, reason = "evaluated when the program is compiled")]
pub const fn section(text: &'static str, name: &str) -> &'static str {
    let (bytes, mut at) = (text.as_bytes(), 0);
    while at < bytes.len() {
        let start = at + name.len() + 2;
        if is_heading(bytes, at) && start < bytes.len() && bytes[start - 1] == b']' && has_at(bytes, at + 1, name) {
            let mut end = start;
            while end < bytes.len() && !is_heading(bytes, end) {
                end += 1;
            }
            return text.split_at(end).0.split_at(start).1;
        }
        at += 1;
    }
    panic!("no such section")
}

/// The rows of a section: what each is about, and its words. What is too long for one row has several.
pub fn rows(section: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    section.lines().filter_map(|row| row.split_once(' '))
}

const fn is_heading(text: &[u8], at: usize) -> bool {
    text[at] == b'[' && (at == 0 || text[at - 1] == b'\n')
}

const fn has_at(text: &[u8], from: usize, word: &str) -> bool {
    let mut at = 0;
    while at < word.len() && text[from + at] == word.as_bytes()[at] {
        at += 1;
    }
    at == word.len()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Base,
    /// `deletes`.
    Third,
    /// `deleting`.
    Gerund,
    /// `deleted`: something was done to a thing; no act of this tool.
    Participle,
    /// `deleter`: what does it.
    Agent,
}

/// Finds the base form that `known` knows, and which form of it the word is.
pub fn base<T>(word: &str, known: impl Fn(&str) -> Option<T>) -> Option<(T, Form)> {
    if let Some(found) = known(word) {
        return Some((found, Form::Base));
    }
    let try_all = |stems: &[String]| stems.iter().find_map(|stem| known(stem));
    if let Some(stem) = word.strip_suffix("ing") {
        return try_all(&stems(stem)).map(|found| (found, Form::Gerund));
    }
    if let Some(stem) = word.strip_suffix("ed") {
        let mut all = stems(stem);
        if let Some(y) = stem.strip_suffix('i') {
            all.push(format!("{y}y"));
        }
        return try_all(&all).map(|found| (found, Form::Participle));
    }
    if let Some(stem) = word.strip_suffix('s') {
        let mut all = vec![stem.to_owned()];
        if let Some(es) = stem.strip_suffix('e') {
            all.push(es.to_owned());
            if let Some(y) = es.strip_suffix('i') {
                all.push(format!("{y}y"));
            }
        }
        return try_all(&all).map(|found| (found, Form::Third));
    }
    for suffix in ["er", "or"] {
        if let Some(stem) = word.strip_suffix(suffix) {
            return try_all(&stems(stem)).map(|found| (found, Form::Agent));
        }
    }
    None
}

/// Whether two words are forms of one: `get` and `gets`, `listing` and `lists`.
pub fn same(one: &str, other: &str) -> bool {
    let begins = |word: &str| word.chars().next();
    let is = |found: &str, stem: &str| (found == stem).then_some(());
    !one.is_empty() && begins(one) == begins(other) && base(one, |stem| base(other, |found| is(found, stem))).is_some()
}

/// `delet` to `delet`, `delete`; `runn` to `runn`, `runne`, `run`.
fn stems(stem: &str) -> Vec<String> {
    let mut all = vec![stem.to_owned(), format!("{stem}e")];
    let mut last = stem.chars().rev();
    if let (Some(a), Some(b)) = (last.next(), last.next())
        && a == b
    {
        all.push(stem.chars().take(stem.chars().count() - 1).collect());
    }
    all
}

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
