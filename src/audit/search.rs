//! Which records are wanted: by what a person types (`tool:write since:1d "whole phrases"`), or by options of a command. Pure.

use memchr::{memchr2_iter, memmem};

use super::chain::Row;
use super::fields::{Field, Fields, Record};
use super::moment::{Clock, NotAMoment, Since};
use super::record::Kind;
use crate::policy::{Glob, reading::nearest};

/// The words that people type for a field's value, each with the word of records; none where it takes any text.
fn words_of(field: Field) -> Vec<(&'static str, &'static str)> {
    let words = match field {
        // For those who would not type a question mark.
        Field::Badge => "pure pure? mutates likely=pure?",
        Field::Ruling => "allow ask deny allowed=allow approved=allow denied=deny",
        Field::Verdict => "approve deny approved=approve denied=deny allowed=approve",
        // As lists call it: `policy`.
        Field::By => {
            "default policy=default rule operator approver scope expiry cancel shutdown fault observe elicitation"
        }
        _ => "",
    };
    words.split(' ').filter(|word| !word.is_empty()).map(|word| word.split_once('=').unwrap_or((word, word))).collect()
}

#[derive(Clone, Debug)]
enum Value {
    /// Part of the text, whatever its case.
    Part(Part),
    /// The whole text.
    Word(String),
    Glob(Glob),
    /// In lower case, compared with the text in lower case.
    AnyCase(Glob),
}

/// A text to be found whatever its case: it in lower case, and where in it its rarest byte is, which is looked for first.
#[derive(Clone, Debug)]
struct Part {
    text: String,
    rare: usize,
}

impl Part {
    fn new(text: &str) -> Self {
        /// What is common in records, the most common first: the digits of digests, before all.
        const COMMON: &[u8] = b"0123456789abcdef\"tinosrlhu,:_-mpgywvkxjqz";
        let text = text.to_lowercase();
        let rank = |byte: u8| COMMON.iter().position(|one| *one == byte).unwrap_or(COMMON.len());
        let rare = text.bytes().enumerate().max_by_key(|(_, byte)| rank(*byte)).map_or(0, |(at, _)| at);
        Self { text, rare }
    }

    fn is_in(&self, text: &[u8]) -> bool {
        let part = self.text.as_bytes();
        if !part.is_ascii() {
            return String::from_utf8_lossy(text).to_lowercase().contains(&self.text);
        }
        let Some(rare) = part.get(self.rare) else { return true };
        // Digests are full of it: then the whole text is found sooner in a copy in lower case.
        if rare.is_ascii_hexdigit() {
            return memmem::find(&text.to_ascii_lowercase(), part).is_some();
        }
        memchr2_iter(*rare, rare.to_ascii_uppercase(), text).any(|at| {
            let here = at.checked_sub(self.rare).and_then(|from| text.get(from..)?.get(..part.len()));
            here.is_some_and(|here| here.eq_ignore_ascii_case(part))
        })
    }
}

#[derive(Clone, Debug)]
struct Term {
    /// `None`: anywhere in the text.
    field: Option<Field>,
    value: Value,
    wanted: Wanted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    With,
    /// The term began with `-`.
    Without,
}

/// A parsed search. Without terms it wants everything.
#[derive(Clone, Debug, Default)]
pub struct Search {
    text: String,
    terms: Vec<Term>,
    /// The first moment wanted, in milliseconds since 1970, UTC.
    since: Option<i64>,
    /// The first moment no longer wanted.
    until: Option<i64>,
}

impl PartialEq for Search {
    /// Read from the same text at moments that mean the same.
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.since, self.until) == (&other.text, other.since, other.until)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {hint}")]
pub struct Meaningless {
    pub what: String,
    pub hint: String,
}

impl Meaningless {
    fn new(what: String, hint: impl Into<String>) -> Self {
        Self { what, hint: hint.into() }
    }
}

impl Search {
    /// Reads a search in the `clock`'s time. Errors: [`Meaningless`]: an unknown field, or a value that it cannot have.
    pub fn read(text: &str, clock: Clock) -> Result<Self, Meaningless> {
        let mut search = Self { text: text.to_owned(), ..Self::default() };
        for word in words(text) {
            let word = word.as_str();
            let (wanted, word) = match word.strip_prefix('-') {
                Some(rest) if !rest.is_empty() => (Wanted::Without, rest),
                _ => (Wanted::With, word),
            };
            // What is before a colon is a field only if it is a word: `C:\x` and `http://` are text.
            let (field, value) = match word.split_once(':') {
                Some((field, value)) if field.len() > 1 && field.bytes().all(|b| b.is_ascii_lowercase()) => {
                    (field, value)
                }
                _ => ("", word),
            };
            match field {
                "" => search.terms.push(Term { field: None, value: Value::Part(Part::new(value)), wanted }),
                "since" => search.since = Some(moment(field, value)?.moment(clock)),
                "until" => search.until = Some(moment(field, value)?.end(clock)),
                _ if value.starts_with("//") => {
                    search.terms.push(Term { field: None, value: Value::Part(Part::new(word)), wanted });
                }
                _ if value.is_empty() => {}
                _ => {
                    let (field, value) = read_field(field, value)?;
                    search.terms.push(Term { field: Some(field), value, wanted });
                }
            }
        }
        Ok(search)
    }

    /// Wants only records with this very word in a field; `None` asks for nothing more.
    #[must_use]
    pub fn with(self, field: Field, word: Option<&str>) -> Self {
        self.narrowed(field, word.map(|word| (word, Value::Word(word.to_lowercase()))))
    }

    /// Wants only records with this anywhere in a field, or, with wildcards, a field that they match; `None` adds nothing.
    #[must_use]
    pub fn with_part(self, field: Field, part: Option<&Glob>) -> Self {
        let value = |glob: &Glob| match is_pattern(glob.text()) {
            true => Glob::new(&glob.text().to_lowercase()).map_or_else(|_| Value::Glob(glob.clone()), Value::AnyCase),
            false => Value::Part(Part::new(glob.text())),
        };
        self.narrowed(field, part.map(|part| (part.text(), value(part))))
    }

    /// Wants only records with these words anywhere in them.
    #[must_use]
    pub fn with_text(mut self, words: &str) -> Self {
        self.text.push_str(&format!(" {words}"));
        self.terms.push(Term { field: None, value: Value::Part(Part::new(words)), wanted: Wanted::With });
        self
    }

    fn narrowed(mut self, field: Field, value: Option<(&str, Value)>) -> Self {
        if let Some((text, value)) = value {
            self.text.push_str(&format!(" {field:?} {text}"));
            self.terms.push(Term { field: Some(field), value, wanted: Wanted::With });
        }
        self
    }

    /// Wants only records from this moment on, in milliseconds since 1970, UTC; `None` asks for nothing more.
    #[must_use]
    pub fn from(mut self, since: Option<i64>) -> Self {
        self.since = since.or(self.since);
        self
    }

    /// Wants only records from before this moment, as [`Self::from`] reads it.
    #[must_use]
    pub fn before(mut self, until: Option<i64>) -> Self {
        self.until = until.or(self.until);
        self
    }

    pub fn asks_for(&self, field: Field) -> bool {
        self.terms.iter().any(|term| term.field == Some(field))
    }

    /// Whether it leaves out what has something in a field.
    pub fn leaves_out(&self) -> bool {
        self.terms.iter().any(|term| term.field.is_some() && term.wanted == Wanted::Without)
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.since.is_none() && self.until.is_none()
    }

    /// The first moment wanted, where it names one: what is older need not be read.
    pub fn since(&self) -> Option<i64> {
        self.since
    }

    /// The first moment no longer wanted, where it names one.
    pub fn until(&self) -> Option<i64> {
        self.until
    }

    /// Whether the terms on these fields hold; terms on others are ignored.
    pub fn fits<T: AsRef<str>>(&self, asked: impl Fn(Field) -> bool, of: impl Fn(Field) -> Option<T>) -> bool {
        let mut terms = self.terms.iter().filter_map(|term| Some((term, term.field.filter(|field| asked(*field))?)));
        terms.all(|(term, field)| {
            of(field).is_some_and(|text| term.value.fits(text.as_ref())) == (term.wanted == Wanted::With)
        })
    }

    /// The whole text of a field that it asks for, in lower case, where it does.
    pub fn word(&self, field: Field) -> Option<&str> {
        self.terms.iter().find_map(|term| match (&term.value, term.wanted) {
            (Value::Word(word), Wanted::With) if term.field == Some(field) => Some(word.as_str()),
            _ => None,
        })
    }

    /// What it wants anywhere in a record, in lower case.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter_map(|term| match (&term.value, term.field, term.wanted) {
            (Value::Part(part), None, Wanted::With) => Some(&*part.text),
            _ => None,
        })
    }

    /// Whether it wants a record with this body. An unreadable one is wanted whatever the fields, if it contains the words.
    pub fn takes(&self, body: &[u8]) -> bool {
        self.takes_of(None, body)
    }

    /// The same of a row, whose machine may be known: that is no part of its body.
    pub fn takes_row(&self, row: &Row<'_>) -> bool {
        self.takes_of(row.machine(), row.body)
    }

    /// The same of a record.
    pub fn takes_record(&self, record: &Record) -> bool {
        self.takes_of(record.machine(), record.body.as_bytes())
    }

    fn takes_of(&self, machine: Option<&str>, body: &[u8]) -> bool {
        self.texts_hold(body)
            && (self.is_empty()
                || self.is_of(machine)
                    && Fields::of(body).is_none_or(|fields| {
                        self.in_time(|| fields.millis())
                            && self.fits(|field| field != Field::Machine, |field| fields.text(field))
                    }))
    }

    /// Whether it wants anything of this machine; `None` is this one, which has no name in its own log.
    pub fn is_of(&self, machine: Option<&str>) -> bool {
        self.fits(|field| field == Field::Machine, |_| machine)
    }

    /// Whether it wants what has these fields, this time and, somewhere, this text.
    pub fn wants(&self, time: Option<i64>, fields: &[(Field, Option<&str>)], text: impl FnOnce() -> String) -> bool {
        let of = |field| fields.iter().find(|(one, _)| *one == field).and_then(|(_, value)| *value);
        self.is_empty() || self.in_time(|| time) && self.texts_hold(text().as_bytes()) && self.fits(|_| true, of)
    }

    fn in_time(&self, time: impl FnOnce() -> Option<i64>) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        let Some(time) = time() else { return false };
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until)
    }

    fn texts_hold(&self, text: &[u8]) -> bool {
        let mut texts = self.terms.iter().filter(|term| term.field.is_none());
        texts.all(|term| {
            let is_in = matches!(&term.value, Value::Part(part) if part.is_in(text));
            is_in == (term.wanted == Wanted::With)
        })
    }
}

/// The words of a text. What is in double quotes is one word, spaces and all.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in text.chars() {
        match words.last_mut() {
            _ if letter == '"' => quoted = !quoted,
            _ if letter.is_whitespace() && !quoted => words.push(String::new()),
            Some(word) => word.push(letter),
            None => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A term that finds exactly this value of a field.
pub fn exactly(name: &str, value: &str) -> String {
    let odd = |c: char| c.is_whitespace() || matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '"');
    if value.chars().any(odd) {
        // A term cannot contain these characters: `?` matches any one in their place.
        let pattern: String = value.chars().map(|c| if odd(c) { '?' } else { c }).collect();
        return format!("{name}:{pattern}");
    }
    format!("{name}:={value}")
}

fn read_field(name: &str, value: &str) -> Result<(Field, Value), Meaningless> {
    let Some(field) = Field::from_word(name) else {
        let known: Vec<&str> = Field::ALL.iter().map(|field| field.word()).chain(["since", "until"]).collect();
        let hint = match nearest(name, &known) {
            Some(near) => format!("did you mean {near}:?"),
            None => format!("fields are {}", known.join(", ")),
        };
        return Err(Meaningless::new(format!("there is no field {name}"), hint));
    };
    let (words, value) = (words_of(field), value.to_lowercase());
    if words.is_empty() && is_pattern(&value) {
        let hint = "* matches any text, ? matches one character";
        let glob = Glob::new(&value)
            .map_err(|error| Meaningless::new(format!("{name}:{value} is not a pattern ({error})"), hint))?;
        return Ok((field, Value::AnyCase(glob)));
    }
    if words.is_empty() {
        if let Some(whole) = value.strip_prefix('=') {
            return Ok((field, Value::Word(whole.to_owned())));
        }
        let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.word()).collect();
        return match field {
            // Many kinds contain another one: a complete word means exactly that kind.
            Field::Kind if known.contains(&value.as_str()) => Ok((field, Value::Word(value))),
            // A part of a kind is not a mistake: the operator may still be typing.
            Field::Kind if known.iter().all(|kind| !kind.contains(&value)) => {
                let hint = format!("it is one of {}", known.join(", "));
                Err(Meaningless::new(format!("no record is of the kind {value}"), hint))
            }
            _ => Ok((field, Value::Part(Part::new(&value)))),
        };
    }
    // While it is being typed, the beginning of a word is meant for the word.
    match words.iter().find(|(typed, _)| typed.starts_with(&value)) {
        Some((_, word)) => Ok((field, Value::Word((*word).to_owned()))),
        None if field == Field::Verdict && value == "asked" => Err(Meaningless::new(
            "verdict:asked finds nothing, because a call that waits has no verdict yet".to_owned(),
            "kind:=decision-asked finds every call that was asked about",
        )),
        None if field == Field::Verdict && !value.is_empty() && "withdrawn".starts_with(&value) => {
            Err(Meaningless::new(
                "verdict:withdrawn finds nothing, because a call that was taken back has no verdict".to_owned(),
                "kind:withdrawn finds those",
            ))
        }
        None => {
            let typed: Vec<&str> = words.iter().map(|(typed, _)| *typed).collect();
            let hint = format!("it is one of {}", typed.join(", "));
            Err(Meaningless::new(format!("{name} cannot be {value}"), hint))
        }
    }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

fn moment(name: &str, value: &str) -> Result<Since, Meaningless> {
    let not_a_time = |error: NotAMoment| Meaningless::new(format!("{name}:{value} is not a time"), error.to_string());
    value.parse().map_err(not_a_time)
}

impl Value {
    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Part(part) => part.is_in(text.as_bytes()),
            Self::Word(word) if text.is_ascii() => text.eq_ignore_ascii_case(word),
            Self::Word(word) => text.to_lowercase() == *word,
            Self::Glob(glob) => glob.matches(text),
            Self::AnyCase(glob) => glob.matches(&text.to_lowercase()),
        }
    }
}
