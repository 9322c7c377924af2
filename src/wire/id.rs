//! JSON-RPC request ids: compared by type and value, echoed exactly as they were written.

use std::hash::{Hash, Hasher};

/// The largest integer that every parser reads alike.
const SAFE: i64 = 1 << 53;

/// A longer token is no id: what is remembered of unanswered requests stays bounded, and no host's id comes near.
const MOST: usize = 1024;

/// A request id. `1` and `"1"` differ; `"a"` and `"\u0061"` are the same id written twice.
#[derive(Clone, Debug)]
pub struct Id {
    value: Value,
    raw: Box<str>,
}

#[derive(Clone, Debug)]
enum Value {
    /// Its decoded text: the same text can be written in several ways.
    Text(Box<str>),
    /// Canonical, so the token is the value.
    Integer,
}

impl Id {
    /// A string id: its decoded text, and the JSON token (quotes included) it was written as.
    pub fn text(decoded: &str, raw: &str) -> Self {
        Self { value: Value::Text(decoded.into()), raw: raw.into() }
    }

    /// An integer id, from its canonical JSON token (`-7`, `0`, `12`; no `1.0`, `1e3`, `-0`).
    pub fn integer(raw: &str) -> Self {
        Self { value: Value::Integer, raw: raw.into() }
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
        (is_canonical && is_safe).then(|| Self::integer(token))
    }

    /// The text of a string id, decoded.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Integer => None,
        }
    }

    /// The JSON token to echo in an answer.
    pub fn raw(&self) -> &str {
        &self.raw
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Text(text), Value::Text(other)) => text == other,
            (Value::Integer, Value::Integer) => self.raw == other.raw,
            (Value::Text(_), Value::Integer) | (Value::Integer, Value::Text(_)) => false,
        }
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.value {
            Value::Text(text) => (0_u8, text).hash(state),
            Value::Integer => (1_u8, &self.raw).hash(state),
        }
    }
}
