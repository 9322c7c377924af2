//! The form of a value: one token, plain words, a number, a time, a text to search for, a statement. A role proves only values of its
//! own form; a statement is proven where somebody trusted says the dialect, else its outline is agreed to once. Knows no key.

use serde_json::Value;

use super::key::{Role, Roles};
use crate::behavior::agreed::Kind;
use crate::behavior::arguments::effect::{Effect, Language};
use crate::behavior::arguments::sql::{self, Dialect};
use crate::behavior::arguments::{choice, graphql, key::Languages};
use crate::behavior::secrets;
use crate::behavior::words::{among, of_name};

/// Longest token, and longest of the other texts, in bytes.
const TOKEN: usize = 200;
const LINE: usize = 256;
/// Most words in the name of a thing, and most items in a list that is one text.
const WORDS: usize = 5;
const ITEMS: usize = 50;

#[derive(Clone, Copy, Debug)]
pub(super) struct Takes {
    pub(super) search: bool,
    /// One `/` in a token.
    pub(super) slash: bool,
    /// Words that are no statement: neither the tool nor the key names a language.
    pub(super) words: bool,
}

pub(super) fn fits(text: &str, roles: Roles, takes: Takes) -> bool {
    let has = |role| roles.has(role);
    let is_token = |text: &str| is_token(text) && (!text.contains('/') || takes.slash && !acts(text));
    let is_id = |text: &str| is_token(text) || is_zoned(text);
    // One act by itself: some program may follow it.
    if is_act(text) && !(has(Role::Search) && takes.search) {
        return false;
    }
    // A kind or a field that is called as secrets are: `resource: secrets`, `fields: password_hash`.
    if (has(Role::Name) || has(Role::Fields)) && !text.contains(' ') && text.split(',').any(secrets::is_secret_key) {
        return false;
    }
    text.is_empty()
        || has(Role::Id) && (all(text, is_id) || is_revision(text))
        || has(Role::Name) && (is_colour(text) || !has(Role::Fields) && are_words(text) || all(text, is_token))
        || has(Role::Number) && all(text, is_number)
        || has(Role::Time) && (is_time(text) || is_number(text))
        || has(Role::Sort) && all(text, is_sort)
        || has(Role::Format) && is_format(text) && !acts(text)
        || has(Role::Fields) && all(text, |text| is_token(text) && !acts(text))
        || has(Role::Filter) && takes.words && is_filter(text) && !acts(text)
        || has(Role::Switch) && matches!(text, "true" | "false" | "0" | "1" | "yes" | "no")
        || has(Role::Search) && takes.words && takes.search && is_search(text)
}

/// Whether a number says what is read, and no more, under a key of these roles.
pub(super) fn takes_number(roles: Roles, number: &str) -> bool {
    const MOST: f64 = 100_000.0;
    let has = |all: &[Role]| all.iter().any(|role| roles.has(*role));
    let is_point = number.contains('.');
    // Below zero are only places on the globe, and temperatures.
    let is_usual = number.parse::<f64>().is_ok_and(|n| n <= MOST && (n >= 0.0 || is_point && n >= -360.0));
    let is_name = has(&[Role::Id, Role::Name, Role::Filter, Role::Fields]) && !number.starts_with('-');
    number.len() <= 32 && (is_name || has(&[Role::Time]) || has(&[Role::Number]) && is_usual)
}

/// The kind of a value that is new, if it has one that may be agreed to.
pub(super) fn kind_of(value: &Value) -> Option<Kind> {
    match value {
        Value::Number(_) => Some(Kind::Number),
        Value::String(text) if is_number(text) => Some(Kind::Number),
        Value::String(text) if is_time(text) => Some(Kind::Date),
        Value::String(text) if (is_token(text) || are_words(text) || is_opaque(text)) && !acts(text) => {
            Some(Kind::Word)
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn all(text: &str, is: impl Fn(&str) -> bool) -> bool {
    text.len() <= 2048 && text.split(',').count() <= ITEMS && text.split(',').all(|part| is(part.trim_matches(' ')))
}

/// One token: letters, digits and `-_.:/@#`, which begins with a letter or a digit and leads nowhere else.
pub(super) fn is_token(text: &str) -> bool {
    let mut signs = [false; 3];
    let fits = text.len() <= TOKEN
        && text.starts_with(char::is_alphanumeric)
        && text.chars().all(|c| {
            for (seen, sign) in signs.iter_mut().zip([':', '/', '@']) {
                *seen |= c == sign;
            }
            c.is_alphanumeric() || "-_.:/@#".contains(c)
        });
    // `host:port/path`, `user@host:path`, `scheme:/path`: an address, or a path on another machine.
    let is_elsewhere = signs[0] && (signs[1] || signs[2]);
    fits && !is_elsewhere && !text.contains("..") && !text.contains("//")
}

/// An opaque token as a server gives it out, which ends as Base64 does.
fn is_opaque(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.trim_end_matches('=').bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_+/".contains(&byte))
        && text.len() <= 4096
}

/// Any text that leads neither up nor to an address.
pub(super) fn is_data(text: &str) -> bool {
    text.len() <= 4096 && !text.contains("../") && !text.contains("://") && !text.contains('\0')
}

/// A revision so many before another, or all between two: `HEAD~1`, `main^`, `main..feature`, `HEAD:src/a.rs`.
fn is_revision(text: &str) -> bool {
    let (revision, path) = text.split_once(':').unwrap_or((text, "a"));
    let one = |text: &str| {
        let (name, before) = text.split_at(text.find(['~', '^']).unwrap_or(text.len()));
        is_token(name) && !acts(name) && before.bytes().all(|byte| b"~^".contains(&byte) || byte.is_ascii_digit())
    };
    let (from, to) = revision.split_once("..").unwrap_or((revision, "a"));
    let is_one = !text.contains(['~', '^']) && path == "a" && to == "a";
    // `host:a/b` is a path on another machine.
    let is_hash = |text: &str| text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_files = path == "a" || revision.contains(['~', '^']) || revision == "HEAD" || is_hash(revision);
    !is_one && has_files && one(from) && one(to.trim_start_matches('.')) && is_token(path)
}

/// `#3a3a3a`.
fn is_colour(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|hex| matches!(hex.len(), 3 | 4 | 6 | 8) && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A point in time with its zone: `2026-01-02T03:04:05+02:00`.
fn is_zoned(text: &str) -> bool {
    text.len() <= 40 && is_point(text)
}

fn are_words(text: &str) -> bool {
    let is_word = |word: &str| {
        let word = word.strip_suffix(',').unwrap_or(word);
        word.starts_with(char::is_alphanumeric)
            && !word.contains("..")
            && word.chars().all(|c| c.is_alphanumeric() || "-_.'’".contains(c))
    };
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default();
    // One word alone was a token, or is none.
    text.len() <= TOKEN
        && text.split(' ').count() <= WORDS
        && text.split(' ').all(is_word)
        && !(text.contains(' ') && is_act(first))
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.len() <= 32
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().filter(|byte| *byte == b'.').count() <= 1
}

/// Words of times: `last 7 days`, `now`, `yesterday`.
const TIMES: &str = "now today yesterday tomorrow last past next this previous current ago and day days hour hours minute \
                     minutes second seconds week weeks month months quarter quarters year years all";

fn is_time(text: &str) -> bool {
    let is_span = |text: &str| {
        let text = text.strip_prefix("now").unwrap_or(text);
        let text = text.strip_prefix('-').unwrap_or(text);
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
        unit.len() < text.len() && among(unit, "s sec m min h hr d w wk mo M y Y ms D W")
    };
    let is_word = |word: &str| {
        among(&word.to_ascii_lowercase(), TIMES) || word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty()
    };
    let one = |text: &str| {
        is_point(text)
            || is_span(text)
            || text.strip_prefix('P').is_some_and(|rest| {
                !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || b"YMWDTHS.".contains(&byte))
            })
            || text.split(' ').count() <= 4 && text.split(' ').all(is_word)
    };
    let range = || ["..", "/", " to ", ","].iter().find_map(|sign| text.split_once(sign));
    text.len() <= 80 && (one(text) || range().is_some_and(|(from, to)| one(from) && one(to)))
}

/// A date, a time, or both: digits in the places where a calendar and a clock have them.
fn is_point(text: &str) -> bool {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let mut shape = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if shape.ends_with('9') => {}
            '0'..='9' => shape.push('9'),
            c => shape.push(c),
        }
    }
    let (clock, zone) = shape.split_at(shape.find(['Z', '+']).unwrap_or(shape.len()));
    let clock = clock.strip_suffix("-9:9").unwrap_or(clock);
    const CLOCKS: &str = "9 9-9 9-9-9 9/9/9 9.9.9 9-9-9T9:9 9-9-9T9:9:9 9-9-9T9:9:9.9 9:9 9:9:9 9-W9 9-Q9";
    matches!(zone, "" | "Z" | "+9:9" | "+9") && among(&clock.replace(' ', "T"), CLOCKS)
}

fn is_sort(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (field, direction) = text.split_once([' ', ':']).unwrap_or((text, "asc"));
    let is_direction = |word: &str| among(&word.to_ascii_lowercase(), "asc desc ascending descending");
    is_token(field) && !field.contains('/') && !acts(field) && is_direction(direction)
}

/// `json`, `en-US`, `image/png`.
fn is_format(text: &str) -> bool {
    text.len() <= 40
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_+/".contains(&byte))
        && text.bytes().filter(|byte| *byte == b'/').count() <= 1
}

fn is_act(text: &str) -> bool {
    !text.contains(' ') && choice::is_firm_change(&text.to_lowercase())
}

/// Whether a word of a token is an act: `price.destroy_all`.
fn acts(text: &str) -> bool {
    of_name(text).iter().any(|word| choice::is_firm_change(word))
}

/// One token, or `key=value`.
fn is_filter(text: &str) -> bool {
    match text.split_once('=') {
        Some((key, value)) => {
            key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
                && is_token(key)
                && is_token(value)
        }
        None => is_token(text),
    }
}

/// One line of words, digits, quotes and plain punctuation.
pub(super) fn is_search(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || " .,?!:'\"’-_/@#&+()“”–".contains(c);
    // `name(` is a call.
    let calls = text.as_bytes().windows(2).any(|pair| pair[1] == b'(' && pair[0] != b' ');
    let is_option = text.split(' ').any(|word| word.starts_with("--"));
    text.len() <= LINE
        && text.chars().all(is_plain)
        && !calls
        && !is_option
        && !text.starts_with(['-', '/', ':', '.'])
        && !text.contains("://")
        && !text.contains("..")
}

/// How many names an outline may have; a statement of more is new as it is.
const MOST_NAMES: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StatementForm {
    /// It is none that our readers know.
    None,
    /// It is one that only reads, in a dialect that somebody trusted named.
    Reads,
    /// One that seems to read. Its outline may be agreed to: what it names, and our line on it.
    Outline { value: String, says: String },
    /// One that reads these things, in a dialect that somebody trusted named: each is agreed to once.
    Sources { head: String, all: Vec<String> },
}

/// Reads a text as a statement in the languages that tool or key names, and in the dialect that our list of servers names.
pub(super) fn statement(text: &str, spoken: Languages, dialect: Option<Dialect>) -> StatementForm {
    if graphql::begins(text) {
        let found = graphql::read(text);
        return match found.effect {
            Effect::ReadHere | Effect::ReadElsewhere => {
                let fields = graphql::root_names(text).join(", ");
                StatementForm::Outline { value: format!("graphql: {fields}"), says: format!("GraphQL, {}", found.says) }
            }
            Effect::Unlisted | Effect::Unknown | Effect::Write | Effect::Execute | Effect::Administer => {
                StatementForm::None
            }
        };
    }
    let is_sql = spoken.has(Language::Sql) || sql::begins(text) && text.trim().contains(' ');
    if !is_sql {
        return StatementForm::None;
    }
    let read = sql::read(text, dialect);
    // A function that no list has is part of the outline.
    if !read.meaning.effect.reads() && read.meaning.effect != Effect::Unlisted {
        return StatementForm::None;
    }
    if dialect == Some(Dialect::Sqlite) && read.meaning.effect.reads() {
        return StatementForm::Reads;
    }
    if let Some(dialect) = dialect.filter(|_| read.meaning.effect.reads())
        && let Some(all) = sql::sources(text, dialect).filter(|all| all.len() <= MOST_NAMES)
    {
        return StatementForm::Sources { head: format!("{}: ", dialect.word()), all };
    }
    match sql::names(text, dialect) {
        Some(names) if names.len() <= MOST_NAMES => {
            let of = dialect.map_or(String::new(), |dialect| format!("{} ", dialect.word()));
            let value = format!("sql {of}{}", names.join(", "));
            let says = format!("SQL, {}; names {}", read.meaning.says, names.join(", "));
            StatementForm::Outline { value, says }
        }
        Some(_) | None => StatementForm::None,
    }
}
