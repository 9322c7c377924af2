//! JSON-RPC request ids: compared by type and value, echoed exactly as they were written.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The largest integer that every parser reads alike.
const SAFE: i64 = 1 << 53;

/// A longer token is no id: what is remembered of unanswered requests stays bounded, and no host's id comes near.
const MOST: usize = 1024;

/// A request id. `1` and `"1"` differ; `"a"` and `"\u0061"` are one. Cloning allocates nothing: many tables have each id.
#[derive(Clone, Debug)]
pub struct Id {
    /// The decoded text of a string; `None` for an integer, whose token is canonical.
    text: Option<Arc<str>>,
    /// The JSON token: the same text can be written in several ways.
    raw: Arc<str>,
}

impl Id {
    /// A string id: its decoded text, and the JSON token (quotes included) it was written as.
    pub fn text(decoded: &str, raw: &str) -> Self {
        Self { text: Some(decoded.into()), raw: raw.into() }
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
        (is_canonical && is_safe).then(|| Self { text: None, raw: token.into() })
    }

    /// The text of a string id, decoded.
    pub fn as_text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The JSON token to echo in an answer.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// What it is compared by: its type and its value.
    fn key(&self) -> (bool, &str) {
        (self.text.is_some(), self.text.as_deref().unwrap_or(&self.raw))
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
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
        self.key().cmp(&other.key())
    }
}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
