//! Reads TOML with its places: every problem is collected with line, column and hint. Knows no key and no rule.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::glob::GlobError;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub what: String,
    pub hint: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.line, self.column, self.what, self.hint)
    }
}

/// A place in the text, in bytes.
pub type Span = Range<usize>;

/// A text being read, and what is wrong with it so far.
#[derive(Debug)]
pub struct Reading<'t> {
    text: &'t str,
    lines: Vec<usize>,
    problems: Vec<Problem>,
    /// Lines that are no TOML, and those under a broken header: what else seems wrong there only follows from that.
    unreadable: BTreeSet<usize>,
}

impl<'t> Reading<'t> {
    /// Reads the TOML of `text`, as much of it as there is.
    pub fn new(text: &'t str) -> (Self, Spanned<DeTable<'t>>) {
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut reading = Self {
            text,
            lines: std::iter::once(0).chain(text.match_indices('\n').map(|(end, _)| end + 1)).collect(),
            problems: Vec::new(),
            unreadable: BTreeSet::new(),
        };
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            let (line, _) = reading.place(span.start);
            let what = format!("this is not TOML: {}", error.message().replace('\n', ", "));
            reading.problem(span, what, "fix the syntax here (https://toml.io)");
            reading.unreadable.insert(line);
        }
        let (mut follows, mut under_broken) = (Vec::new(), false);
        for (line, text) in (1..).zip(text.lines()) {
            if text.trim_start().starts_with('[') {
                under_broken = reading.unreadable.contains(&line);
            } else if under_broken {
                follows.push(line);
            }
        }
        reading.unreadable.extend(follows);
        (reading, table)
    }

    pub fn problem(&mut self, at: Span, what: impl Into<String>, hint: impl Into<String>) {
        let (line, column) = self.place(at.start);
        if !self.unreadable.contains(&line) {
            self.problems.push(Problem { line, column, what: what.into(), hint: hint.into() });
        }
    }

    /// Notes a key that is not among `known`, with the nearest that is.
    pub fn unknown_key(&mut self, at: Span, key: &str, known: &[&str]) {
        let hint = match nearest(key, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known keys: {}", known.join(", ")),
        };
        self.problem(at, format!("unknown key {key:?}"), hint);
    }

    /// Notes the keys of a table that are not among `known`, and tells how many are.
    pub fn check_keys(&mut self, table: &DeTable<'_>, known: &[&str]) -> usize {
        let unknown = table.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        table.len() - unknown.map(|key| self.unknown_key(key.span(), key.get_ref(), known)).count()
    }

    /// Line and column, from 1, of a byte.
    pub fn place(&self, byte: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|start| *start <= byte);
        let start = self.lines.get(line - 1).copied().unwrap_or_default();
        let before = self.text.get(start..byte).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    /// The text at a place, on one line.
    pub fn source(&self, at: Span) -> String {
        let words = self.text.get(at).unwrap_or_default().split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    }

    pub fn table<'v>(&mut self, value: &'v Spanned<DeValue<'t>>, key: &str) -> Option<&'v DeTable<'t>> {
        self.or_wrong_type(value.get_ref().as_table(), value, key, "a table")
    }

    pub fn text(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Option<String> {
        self.or_wrong_type(value.get_ref().as_str(), value, key, "a text in quotes").map(str::to_owned)
    }

    pub fn switch(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Option<bool> {
        self.or_wrong_type(value.get_ref().as_bool(), value, key, "true or false")
    }

    /// A text, or a list of texts; each with its place.
    pub fn texts(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Vec<(Span, String)> {
        let Some(list) = value.get_ref().as_array() else {
            let text = value.get_ref().as_str().map(|text| (value.span(), text.to_owned()));
            let wanted = "a text in quotes, or a list of such texts";
            return self.or_wrong_type(text, value, key, wanted).into_iter().collect();
        };
        if list.is_empty() {
            let hint = format!("leave `{key}` out to match anything");
            self.problem(value.span(), format!("`{key}` is an empty list, which nothing matches"), hint);
        }
        list.iter().filter_map(|item| Some((item.span(), self.text(item, key)?))).collect()
    }

    /// What `read` makes of a text, or of each in a list of texts. Its error is what is wrong, and a hint.
    pub fn each<T>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        key: &str,
        read: impl Fn(&str) -> Result<T, (String, &'static str)>,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for (at, text) in self.texts(value, key) {
            match read(&text) {
                Ok(one) => found.push(one),
                Err((what, hint)) => self.problem(at, what, hint),
            }
        }
        found
    }

    pub fn check_list(&mut self, value: &Spanned<DeValue<'_>>, key: &str, wanted: &str) {
        match value.get_ref().as_array() {
            None => self.wrong_type(value, key, wanted),
            Some(list) if list.is_empty() => {
                self.problem(value.span(), format!("`{key}` is an empty list"), format!("leave `{key}` out"));
            }
            Some(_) => {}
        }
    }

    pub fn word<T: Copy>(&mut self, value: &Spanned<DeValue<'_>>, key: &str, words: &[(&str, T)]) -> Option<T> {
        let word = self.text(value, key)?;
        self.one_of(value.span(), &word, key, words)
    }

    pub fn word_at<T: Copy>(&mut self, table: &DeTable<'_>, key: &str, words: &[(&str, T)]) -> Option<T> {
        self.word(table.get(key)?, key, words)
    }

    pub fn one_of<T: Copy>(&mut self, at: Span, word: &str, key: &str, words: &[(&str, T)]) -> Option<T> {
        let meaning = words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning);
        if meaning.is_none() {
            let known: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
            let hint = match nearest(word, &known) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("one of: {}", known.join(", ")),
            };
            self.problem(at, format!("`{key}` cannot be {word:?}"), hint);
        }
        meaning
    }

    pub fn wrong_type(&mut self, value: &Spanned<DeValue<'_>>, key: &str, wanted: &str) {
        let found = value.get_ref().type_str();
        self.problem(value.span(), format!("`{key}` is of type {found}"), format!("write {wanted}"));
    }

    /// Passes on what was read of a value; if that is `None`, notes that the value has the wrong type.
    pub fn or_wrong_type<T>(
        &mut self,
        read: Option<T>,
        value: &Spanned<DeValue<'_>>,
        key: &str,
        wanted: &str,
    ) -> Option<T> {
        if read.is_none() {
            self.wrong_type(value, key, wanted);
        }
        read
    }

    /// Notes a value that `key` cannot have: a table, a list or a date by its text, others as of the wrong type.
    pub fn cannot_be(&mut self, value: &Spanned<DeValue<'_>>, key: &str, wanted: &str) {
        match value.get_ref() {
            DeValue::Table(_) | DeValue::Array(_) | DeValue::Datetime(_) => {
                let what = format!("`{key}` cannot be {}", self.source(value.span()));
                self.problem(value.span(), what, format!("write {wanted}"));
            }
            DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => {
                self.wrong_type(value, key, wanted);
            }
        }
    }

    /// All problems, in order of place.
    pub fn finish(mut self) -> Vec<Problem> {
        self.problems.sort();
        self.problems.dedup();
        self.problems
    }
}

/// The known word that is a slip of the keyboard away from `word`.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    // A long word is not worth comparing, and could be made to cost.
    if word.len() > 40 {
        return None;
    }
    let slips = (word.len() / 2).clamp(1, 3);
    let distances = known.iter().map(|near| (strsim::osa_distance(&word.to_lowercase(), &near.to_lowercase()), *near));
    distances.min().filter(|(slips_needed, _)| *slips_needed <= slips).map(|(_, near)| near)
}

/// Globs under `key`; also used for `glob` in a condition, and for approvers.
pub fn globs<T>(
    reading: &mut Reading<'_>,
    value: &Spanned<DeValue<'_>>,
    key: &str,
    new: impl Fn(&str) -> Result<T, GlobError>,
) -> Vec<T> {
    const HINT: &str = "write a name, with * ? [a-z] where it may vary and \\ before a literal one of these";
    reading.each(value, key, |text| new(text).map_err(|error| (format!("`{key}` cannot be {text:?}: {error}"), HINT)))
}

pub(super) fn any_of<T: Copy>(
    reading: &mut Reading<'_>,
    value: &Spanned<DeValue<'_>>,
    key: &str,
    known: &[(&str, T)],
) -> Vec<T> {
    let found = reading.texts(value, key);
    found.into_iter().filter_map(|(at, word)| reading.one_of(at, &word, key, known)).collect()
}
