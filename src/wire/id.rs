//! JSON-RPC request ids: compared by type and value, echoed exactly as they were written.

use std::hash::{Hash, Hasher};

/// The largest integer that every parser reads alike.
const SAFE: i64 = 1 << 53;

/// A request id. `1` and `"1"` differ; `"a"` and `"\u0061"` are the same id written twice.
#[derive(Clone, Debug)]
pub struct Id {
    value: Value,
    raw: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Value {
    Text(Box<str>),
    Integer(Box<str>),
}

impl Id {
    /// A string id: its decoded text, and the JSON token (quotes included) it was written as.
    pub fn text(decoded: &str, raw: &str) -> Self {
        Self { value: Value::Text(decoded.into()), raw: raw.into() }
    }

    /// An integer id, from its canonical JSON token (`-7`, `0`, `12`; no `1.0`, `1e3`, `-0`).
    pub fn integer(raw: &str) -> Self {
        Self { value: Value::Integer(raw.into()), raw: raw.into() }
    }

    /// Reads a JSON token: a string, or a canonical integer within ±2^53. `None` for everything else, because
    /// parsers disagree on which id it names.
    pub fn from_token(token: &str) -> Option<Self> {
        if token.starts_with('"') {
            let decoded: String = serde_json::from_str(token).ok()?;
            return Some(Self::text(&decoded, token));
        }
        let value: i64 = token.parse().ok()?;
        let canonical = (-SAFE..=SAFE).contains(&value) && value.to_string() == token;
        canonical.then(|| Self::integer(token))
    }

    /// The JSON token to echo in an answer.
    pub fn raw(&self) -> &str {
        &self.raw
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}
