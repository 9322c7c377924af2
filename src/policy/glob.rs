//! Globs over names: `*`, `?`, `[a-z]`, `[!a-z]`, `\` before a literal. The whole name, by character, case-sensitive.
//!
//! Ours and not globset's, because that one matches bytes: its `?` and `[é]` miss letters outside ASCII, and a deny
//! must not miss. There is no separator: `*` runs over `/` too.

use std::fmt;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::grams::{Probe, Texts};
use super::short::{begins, ends, same};

/// A compiled glob. A copy shares what was compiled: of a name in a thousand rules the memory stays warm.
#[derive(Clone)]
pub struct Glob {
    how: Arc<Compiled>,
}

struct Compiled {
    text: String,
    how: How,
    /// Of the plain characters that must stand somewhere between the ends.
    probe: Probe,
}

/// What is compiled follows from the text.
impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.how, &other.how) || self.how.text == other.how.text
    }
}

impl Eq for Glob {}

impl Hash for Glob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.how.text.hash(state);
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Glob({:?})", self.text())
    }
}

enum How {
    /// No wildcard in it: compared as it is.
    Exact(String),
    /// Plain pieces with `*` between them, the first and the last at the ends: looked for one after the other.
    Pieces { first: String, between: Vec<String>, last: String },
    /// `ends` are the plain characters behind the last wildcard: a cheap first look, since most globs do not match.
    Tokens { tokens: Vec<Token>, ends: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    One(char),
    Any,
    Many,
    Class { negated: bool, ranges: Vec<(char, char)> },
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
    /// Compiles a glob.
    ///
    /// # Errors
    /// [`GlobError`] when the text is empty or a class or escape in it is not complete.
    pub fn new(text: &str) -> Result<Self, GlobError> {
        if text.is_empty() {
            return Err(GlobError::Empty);
        }
        let mut tokens = Vec::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            tokens.push(match c {
                '*' => Token::Many,
                '?' => Token::Any,
                '[' => class(&mut rest)?,
                '\\' => Token::One(rest.next().ok_or(GlobError::Dangling)?),
                other => Token::One(other),
            });
        }
        let text_of = |piece: &[Token]| -> String {
            piece.iter().filter_map(|token| if let Token::One(c) = token { Some(*c) } else { None }).collect()
        };
        let many = tokens.contains(&Token::Many);
        if many && tokens.iter().all(|token| matches!(token, Token::One(_) | Token::Many)) {
            let pieces = tokens.split(|token| *token == Token::Many);
            let mut pieces: Vec<String> = pieces.map(text_of).collect();
            let last = pieces.pop().unwrap_or_default();
            let mut rest = pieces.into_iter();
            let first = rest.next().unwrap_or_default();
            let between: Vec<String> = rest.filter(|piece| !piece.is_empty()).collect();
            let probe = Probe::of(between.iter().map(String::as_str));
            return Ok(Self::compiled(text, How::Pieces { first, between, last }, probe));
        }
        let plain = tokens.iter().rev().map_while(|token| match token {
            Token::One(c) => Some(*c),
            Token::Any | Token::Many | Token::Class { .. } => None,
        });
        let backwards: Vec<char> = plain.collect();
        let ends: String = backwards.iter().rev().collect();
        if backwards.len() == tokens.len() {
            return Ok(Self::compiled(text, How::Exact(ends), Probe::default()));
        }
        let runs: Vec<String> = tokens.split(|token| !matches!(token, Token::One(_))).map(text_of).collect();
        let probe = Probe::of(runs.iter().map(String::as_str));
        Ok(Self::compiled(text, How::Tokens { tokens, ends }, probe))
    }

    fn compiled(text: &str, how: How, probe: Probe) -> Self {
        Self { how: Arc::new(Compiled { text: text.to_owned(), how, probe }) }
    }

    /// The glob as it was written.
    pub fn text(&self) -> &str {
        &self.how.text
    }

    /// Whether the whole of `name` matches.
    pub fn matches(&self, name: &str) -> bool {
        match &self.how.how {
            How::Exact(exact) => same(exact, name),
            How::Pieces { first, between, last } => in_order(first, between, last, name),
            How::Tokens { tokens, ends: tail } => ends(name, tail) && run(tokens, name),
        }
    }

    /// The same for a text that many globs are asked about: what is found in it once spares most of the searches.
    pub fn matches_in<'q>(&self, text: &'q str, texts: &mut Texts<'q>) -> bool {
        let fits = match &self.how.how {
            How::Exact(_) => true,
            How::Pieces { first, last, .. } => begins(text, first) && ends(text, last),
            How::Tokens { ends: tail, .. } => ends(text, tail),
        };
        fits && texts.may_have(text, &self.how.probe) && self.matches(text)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Reads a class after its `[`.
fn class(rest: &mut std::str::Chars<'_>) -> Result<Token, GlobError> {
    let mut ranges = Vec::new();
    let mut next = rest.next().ok_or(GlobError::Open)?;
    let negated = matches!(next, '!' | '^');
    if negated {
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
    Ok(Token::Class { negated, ranges })
}

fn literal(c: char, rest: &mut std::str::Chars<'_>) -> Result<char, GlobError> {
    if c == '\\' { rest.next().ok_or(GlobError::Dangling) } else { Ok(c) }
}

/// Whether the pieces stand in the name one after the other, the first at its start and the last at its end.
fn in_order(first: &str, between: &[String], last: &str, name: &str) -> bool {
    if name.len() < first.len() + last.len() || !begins(name, first) || !ends(name, last) {
        return false;
    }
    let mut rest = &name[first.len()..name.len() - last.len()];
    for piece in between {
        // The first place leaves the most room for what follows.
        match memchr::memmem::find(rest.as_bytes(), piece.as_bytes()).and_then(|at| rest.get(at + piece.len()..)) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    true
}

/// Matches with one point of return, the last `*`: never worse than the product of both lengths.
fn run(tokens: &[Token], name: &str) -> bool {
    let (mut at, mut token) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let next = name[at..].chars().next();
        match (tokens.get(token), next) {
            (None, None) => return true,
            (Some(Token::Many), _) => {
                star = Some((token, at));
                token += 1;
                continue;
            }
            (Some(one), Some(c)) if fits(one, c) => {
                at += c.len_utf8();
                token += 1;
                continue;
            }
            _ => {}
        }
        // The last star takes one character more.
        let Some((from, taken)) = star else {
            return false;
        };
        let Some(c) = name[taken..].chars().next() else {
            return false;
        };
        star = Some((from, taken + c.len_utf8()));
        at = taken + c.len_utf8();
        token = from + 1;
    }
}

fn fits(token: &Token, c: char) -> bool {
    match token {
        Token::One(one) => *one == c,
        Token::Any | Token::Many => true,
        Token::Class { negated, ranges } => ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated,
    }
}
