//! What looks like a secret: keys that name one, and spans of text that are one. Pure; replaces nothing.
//!
//! What they look like is data (`assets/secrets.toml`). It errs towards "secret": a hidden word costs less than a kept password.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use data_encoding::BASE64;
use regex::bytes::{Captures, Regex, RegexBuilder};
use serde::Deserialize;

use super::words::section;

/// How far before a match its command or statement is read, and how far behind one where a secret is kept. In bytes: without a
/// bound, each of many names in a long line would read that line again.
const NEAR: usize = 1024;

pub fn is_secret_key(key: &str) -> bool {
    is_key(key.as_bytes())
}

/// The secret of a command-line flag is in the next argument: `--password`, `-token`.
pub fn is_secret_flag(argument: &str) -> bool {
    let in_flag = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    argument.starts_with('-') && argument.bytes().all(in_flag) && is_secret_key(argument)
}

/// Whether there is certainly no secret in a text, and no name of one.
///
/// Each part of a clear text is clear. In JSON that holds for what the strings say, too, where nothing is escaped.
pub fn is_clear(text: &str) -> bool {
    PERHAPS.as_ref().is_some_and(|perhaps| !perhaps.is_match(text.as_bytes())) && phrases(text.as_bytes()).is_empty()
}

/// The spans of a text that look like secrets, in order, not overlapping. Linear in the text's length.
pub fn spans(text: &str) -> Vec<Range<usize>> {
    if is_clear(text) {
        return Vec::new();
    }
    RULES.as_ref().map_or_else(|| std::iter::once(0..text.len()).collect(), |rules| rules.search(text.as_bytes()))
}

// Each is made when it is first needed, which for most wrappers is the first alone: together they take tens of milliseconds.
// If the file were broken, everything would be a secret.
static FILE: LazyLock<Option<SecretsFile>> = LazyLock::new(|| toml::from_str(TEXT).ok().map(SecretsFile::with_tokens));
/// Fits every text that holds a secret or a name of one.
static PERHAPS: LazyLock<Option<Regex>> = LazyLock::new(|| FILE.as_ref()?.perhaps().ok());
static NAMES: LazyLock<Option<KeyNames>> = LazyLock::new(|| FILE.as_ref()?.names().ok());
static RULES: LazyLock<Option<SecretRules>> = LazyLock::new(|| FILE.as_ref()?.rules().ok());

const TEXT: &str = include_str!("../../assets/secrets.toml");
/// The words of recovery phrases of wallets (BIP-39, English), in order.
static RECOVERY: LazyLock<Vec<&str>> = LazyLock::new(|| {
    const WORDS: &str = section(include_str!("../../assets/words/recovery.txt"), "recovery");
    WORDS.split_ascii_whitespace().collect()
});
const PHRASE: usize = 12;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretsFile {
    keys: KeyLists,
    /// What a pattern may have by the name of: `%token`.
    parts: BTreeMap<String, String>,
    value: ValuePatterns,
    #[serde(rename = "token")]
    tokens: Vec<SecretToken>,
    #[serde(rename = "shape")]
    shapes: Vec<ShapeRow>,
}

#[derive(Deserialize)]
struct KeyLists {
    anywhere: String,
    whole: String,
    last: String,
    no_token: String,
    ordinary: String,
}

#[derive(Deserialize)]
struct ValuePatterns {
    literal: String,
    bare: String,
    header: String,
    elsewhere: String,
}

#[derive(Deserialize)]
struct SecretToken {
    begins: String,
    least: usize,
}

#[derive(Deserialize)]
struct ShapeRow {
    before: Option<String>,
    find: String,
    #[serde(default)]
    verbatim: bool,
}

struct KeyNames {
    key: Regex,
    token: Regex,
    no_token: Regex,
}

struct SecretRules {
    shapes: Vec<SecretShape>,
    ordinary: Regex,
    bare: Regex,
    header: Regex,
    elsewhere: Regex,
}

struct SecretShape {
    before: Option<Regex>,
    find: Regex,
    verbatim: bool,
}

impl SecretsFile {
    /// The tokens of known beginnings as one shape more.
    fn with_tokens(mut self) -> Self {
        let known: Vec<String> = self.tokens.iter().map(SecretToken::pattern).collect();
        let find = format!("(?: ^ | [^0-9a-z] ) (?-i: ( {} ) )", known.join("|"));
        self.shapes.push(ShapeRow { before: None, find, verbatim: true });
        self
    }

    fn perhaps(&self) -> Result<Regex, regex::Error> {
        let KeyLists { anywhere, whole, last, .. } = &self.keys;
        let (anywhere, whole, last, token) = (words(anywhere), words(whole), words(last), loose("token"));
        // Where a key must name a secret, the names are looked for instead.
        let finds = self.shapes.iter().map(|row| row.find.as_str());
        let unnamed: Vec<&str> = finds.filter(|find| !find.contains("(?<key>")).collect();
        self.regex(&format!(
            "{anywhere} | (?: ^ | [^0-9a-z] ) (?: {whole} | {last} ) (?: [^0-9a-z] | $ ) | {token} (?: [^0-9a-z] | $ ) | {}",
            unnamed.join(" | ")
        ))
    }

    fn names(&self) -> Result<KeyNames, regex::Error> {
        let KeyLists { anywhere, whole, last, no_token, .. } = &self.keys;
        let strict = last.split_ascii_whitespace().collect::<Vec<_>>().join("|");
        let (anywhere, whole, token) = (words(anywhere), words(whole), loose("token"));
        let key =
            format!("{anywhere} | (?: ^ | / ) [^0-9a-z/]* (?: {whole} ) [^0-9a-z]* $ | [^0-9a-z] (?: {strict} ) $");
        Ok(KeyNames {
            key: self.regex(&key)?,
            token: self.regex(&format!("{token} [^0-9a-z]* $"))?,
            no_token: self.regex(&format!("(?: {} ) [^0-9a-z]* {token} [^0-9a-z]* $", words(no_token)))?,
        })
    }

    fn rules(&self) -> Result<SecretRules, regex::Error> {
        let ValuePatterns { literal, bare, header, elsewhere } = &self.value;
        let shape = |row: &ShapeRow| {
            let before = row.before.as_ref().map(|before| self.regex(before)).transpose()?;
            Ok(SecretShape { before, find: self.regex(&row.find)?, verbatim: row.verbatim })
        };
        Ok(SecretRules {
            shapes: self.shapes.iter().map(shape).collect::<Result<_, _>>()?,
            ordinary: self.regex(&format!(
                "^ (?: {} ) [.!?]* $",
                self.keys.ordinary.split_ascii_whitespace().map(regex::escape).collect::<Vec<_>>().join("|")
            ))?,
            bare: self.regex(&format!("^ [\\t\\x20]* (?: {literal} | {bare} )"))?,
            header: self.regex(&format!("^ [\\t\\x20]* (?: {literal} | {header} )"))?,
            elsewhere: self.regex(&format!("^ [\\t\\x20]* [\"'\\\\]* (?: {elsewhere} )"))?,
        })
    }

    fn regex(&self, pattern: &str) -> Result<Regex, regex::Error> {
        let part = |text: String, (name, part): (&String, &String)| text.replace(&format!("%{name}"), part);
        let whole = self.parts.iter().fold(pattern.to_owned(), part);
        // An expression with a part that has no row would look for less, and must not count.
        if whole.as_bytes().windows(2).any(|two| two[0] == b'%' && two[1].is_ascii_lowercase()) {
            return Err(regex::Error::Syntax(format!("a part that [parts] does not have: {whole}")));
        }
        RegexBuilder::new(&whole).unicode(false).case_insensitive(true).ignore_whitespace(true).build()
    }
}

impl SecretToken {
    fn pattern(&self) -> String {
        let begins: Vec<String> = self.begins.split_ascii_whitespace().map(regex::escape).collect();
        format!("(?: {} ) (?i: %token{{{},}} )", begins.join("|"), self.least)
    }
}

fn words(list: &str) -> String {
    list.split_ascii_whitespace().map(loose).collect::<Vec<_>>().join("|")
}

/// A word with any signs between its letters.
fn loose(word: &str) -> String {
    word.chars().map(String::from).collect::<Vec<_>>().join("[^0-9a-z]*")
}

fn is_key(key: &[u8]) -> bool {
    NAMES
        .as_ref()
        .is_none_or(|names| names.key.is_match(key) || names.token.is_match(key) && !names.no_token.is_match(key))
}

impl SecretRules {
    /// The spans of all shapes, those that overlap as one.
    fn search(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut all: Vec<Range<usize>> = self.shapes.iter().flat_map(|shape| self.of_shape(shape, text)).collect();
        all.extend(phrases(text));
        all.sort_unstable_by_key(|span| span.start);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for span in all {
            match merged.last_mut().filter(|last| span.start < last.end) {
                Some(last) => last.end = last.end.max(span.end),
                None => merged.push(span),
            }
        }
        merged
    }

    fn of_shape(&self, shape: &SecretShape, text: &[u8]) -> Vec<Range<usize>> {
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(groups) = shape.find.captures_at(text, at) {
            let is_meant = shape.before.as_ref().is_none_or(|before| {
                let start = groups.get(0).map_or(0, |all| all.start());
                before.is_match(&text[start.saturating_sub(NEAR)..start])
            });
            let secret = if is_meant { self.secret(shape, &groups, text) } else { None };
            // What is no secret may hold one behind its key.
            let behind = groups.name("key").or_else(|| groups.get(0)).map_or(text.len(), |group| group.end());
            at = secret.as_ref().map_or(behind, |span| span.end).max(at + 1);
            found.extend(secret);
        }
        found
    }

    /// The secret of a match: its last group, or the value behind it.
    fn secret(&self, shape: &SecretShape, groups: &Captures<'_>, text: &[u8]) -> Option<Range<usize>> {
        let key = groups.name("key").map(|key| key.as_bytes());
        if key.is_some_and(|key| !is_key(key)) {
            return None;
        }
        let fails = |name, check: fn(&[u8]) -> bool| groups.name(name).is_some_and(|found| !check(found.as_bytes()));
        let is_pair = |pair: &[u8]| BASE64.decode(pair).is_ok_and(|pair| pair.contains(&b':'));
        let is_ordinary = groups.name("said").is_some_and(|said| self.ordinary.is_match(said.as_bytes()));
        let is_coded = |code: &[u8]| code.iter().any(u8::is_ascii_digit);
        if is_ordinary
            || fails("coded", is_coded)
            || fails("pair", is_pair)
            || fails("card", is_card)
            || fails("iban", is_iban)
        {
            return None;
        }
        match (1..groups.len()).rev().find_map(|group| groups.get(group)).filter(|last| Some(last.as_bytes()) != key) {
            Some(last) if shape.verbatim => Some(last.range()),
            Some(last) => self.kept_elsewhere(text, last.start()).unwrap_or(Some(last.range())),
            None => self.value(key.unwrap_or_default(), text, groups.get(0)?.end()),
        }
    }

    fn value(&self, key: &[u8], text: &[u8], at: usize) -> Option<Range<usize>> {
        self.kept_elsewhere(text, at).unwrap_or_else(|| {
            let key = key.to_ascii_lowercase();
            let is_header =
                [&b"authorization"[..], b"cookie"].iter().any(|name| memchr::memmem::find(&key, name).is_some());
            let groups = if is_header { &self.header } else { &self.bare }.captures(&text[at..])?;
            let value = groups.iter().skip(1).flatten().last()?;
            Some(at + value.start()..at + value.end())
        })
    }

    /// Where a value is kept elsewhere: the fallback beside it, if there is one. `None` where it is here.
    fn kept_elsewhere(&self, text: &[u8], at: usize) -> Option<Option<Range<usize>>> {
        let near = &text[at..text.len().min(at + NEAR)];
        let groups = self.elsewhere.captures(near)?;
        let fallback = groups.iter().skip(1).flatten().last();
        // A place with a name of such a length is no place.
        let is_cut = fallback.is_none() && groups.get(0).is_some_and(|all| all.end() == NEAR);
        (!is_cut).then(|| fallback.map(|fallback| at + fallback.start()..at + fallback.end()))
    }
}

/// Whether the last digit of a card's number fits the others (ISO/IEC 7812-1, Luhn).
fn is_card(text: &[u8]) -> bool {
    let digits = text.iter().rev().filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0'));
    let sum: u32 =
        digits.enumerate().map(|(at, digit)| if at % 2 == 1 { digit * 2 / 10 + digit * 2 % 10 } else { digit }).sum();
    sum.is_multiple_of(10)
}

/// Whether the two check digits of a bank account's number fit the rest (ISO 13616: 1 modulo 97, the first four behind).
fn is_iban(text: &[u8]) -> bool {
    let plain: Vec<u8> = text.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    let (head, rest) = plain.split_at(plain.len().min(4));
    let values = rest.iter().chain(head).filter_map(|byte| char::from(*byte).to_digit(36));
    values.fold(0, |left, value| (left * if value < 10 { 10 } else { 100 } + value) % 97) == 1
}

/// Runs of at least [`PHRASE`] words of recovery phrases, parted by spaces, commas and numbers. None has a word twice in a row.
fn phrases(text: &[u8]) -> Vec<Range<usize>> {
    if !has_run(text) {
        return Vec::new();
    }
    let (mut found, mut run, mut at) = (Vec::new(), Vec::<Range<usize>>::new(), 0);
    for word in text.split(|byte| !byte.is_ascii_alphabetic()) {
        let span = at..at + word.len();
        at = span.end + 1;
        if word.is_empty() {
            continue;
        }
        let gap = &text[run.last().map_or(span.start, |last| last.end)..span.start];
        let is_next = run.last().is_none_or(|last| &text[last.clone()] != word) && gap.iter().all(parts);
        if !is_next || !(3..=8).contains(&word.len()) {
            found.extend(recovery(&run, text));
            run.clear();
        }
        if (3..=8).contains(&word.len()) {
            run.push(span);
        }
    }
    found.extend(recovery(&run, text));
    found
}

/// Whether a byte may stand between the words of a recovery phrase.
fn parts(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b'.' | b')' | b'0'..=b'9')
}

/// Whether so many words as a recovery phrase has stand in a row. Most texts have none, and this is looked at first.
fn has_run(text: &[u8]) -> bool {
    let (mut run, mut letters) = (0_usize, 0_usize);
    for byte in text {
        if byte.is_ascii_alphabetic() {
            letters += 1;
            continue;
        }
        run += usize::from(letters > 0);
        if run >= PHRASE {
            return true;
        }
        letters = 0;
        if !parts(byte) {
            run = 0;
        }
    }
    run + usize::from(letters > 0) >= PHRASE
}

/// Those parts of a run of words that are all in the list, where they are long enough.
fn recovery(run: &[Range<usize>], text: &[u8]) -> Vec<Range<usize>> {
    if run.len() < PHRASE {
        return Vec::new();
    }
    let is_known = |span: &Range<usize>| {
        let word = text[span.clone()].to_ascii_lowercase();
        RECOVERY.binary_search_by(|known| known.as_bytes().cmp(&word)).is_ok()
    };
    let parts = run.chunk_by(|one, next| is_known(one) == is_known(next));
    let phrases = parts.filter(|part| part.len() >= PHRASE && part.first().is_some_and(is_known));
    phrases.filter_map(|part| Some(part.first()?.start..part.last()?.end)).collect()
}
