//! JSON-RPC request ids: compared by type and value, echoed exactly as they were written.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The largest integer that every parser reads alike.
const SAFE: i64 = 1 << 53;

/// How many bytes such an integer's token has at most: a sign and sixteen digits.
const DIGITS: usize = 17;

/// A longer token is no id: what is remembered of unanswered requests stays bounded, and no host's id comes near.
const MOST: usize = 1024;

/// A request id. `1` and `"1"` differ; `"a"` and `"\u0061"` are the same id written twice. To clone one allocates nothing:
/// every table that a call is in has its id.
#[derive(Clone, Debug)]
pub struct Id {
    value: Value,
}

#[derive(Clone, Debug)]
enum Value {
    /// The same text can be written in several ways.
    Text { decoded: Arc<str>, raw: Arc<str> },
    /// Canonical, so the token is the value; padded with NUL bytes.
    Integer([u8; DIGITS]),
}

impl Id {
    /// A string id: its decoded text, and the JSON token (quotes included) it was written as.
    pub fn text(decoded: &str, raw: &str) -> Self {
        Self { value: Value::Text { decoded: decoded.into(), raw: raw.into() } }
    }

    /// Reads a JSON token: a string, or a canonical integer within ±2^53. `None` for everything else, because
    /// parsers disagree on which id it names, and for a very long one.
    pub fn from_token(token: &str) -> Option<Self> {
        if token.len() > MOST {
            return None;
        }
        if token.starts_with('"') {
            let decoded: String = serde_json::from_str(token).ok()?;
            return Some(Self::text(&decoded, token));
        }
        let value: i64 = token.parse().ok()?;
        let digits = token.strip_prefix('-').unwrap_or(token);
        let is_canonical = token == "0" || digits.starts_with(|first: char| ('1'..='9').contains(&first));
        let is_safe = (-SAFE..=SAFE).contains(&value);
        let mut kept = [0; DIGITS];
        kept.get_mut(..token.len())?.copy_from_slice(token.as_bytes());
        (is_canonical && is_safe).then_some(Self { value: Value::Integer(kept) })
    }

    /// The text of a string id, decoded.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text { decoded, .. } => Some(decoded),
            Value::Integer(_) => None,
        }
    }

    /// The JSON token to echo in an answer.
    pub fn raw(&self) -> &str {
        match &self.value {
            Value::Text { raw, .. } => raw,
            // Its bytes were UTF-8 when it was read.
            Value::Integer(digits) => std::str::from_utf8(digits).unwrap_or_default().trim_end_matches('\0'),
        }
    }

    /// What it is compared by: its type and its value.
    fn key(&self) -> (bool, &[u8]) {
        match &self.value {
            Value::Text { decoded, .. } => (true, decoded.as_bytes()),
            Value::Integer(digits) => (false, digits),
        }
    }
}

/// The digits as two integers in the same order, which compare faster: every table looks a call up by its id.
fn parts([first @ .., last]: &[u8; DIGITS]) -> (u128, u8) {
    (u128::from_be_bytes(*first), *last)
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Id {}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Id {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.value, &other.value) {
            (Value::Integer(one), Value::Integer(other)) => parts(one).cmp(&parts(other)),
            (Value::Text { .. } | Value::Integer(_), _) => self.key().cmp(&other.key()),
        }
    }
}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
