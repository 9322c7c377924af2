//! What an entry says beside its fields: a JSON object that is written as its members are added. Pure.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::wire::digest::Digest;
use crate::wire::number::push_number;
use crate::wire::plain_run;

/// Details that are numbers, digests and words of our own in an outcome: there is nothing to redact in them.
const OURS: [&str; 4] = ["result", "bytes", "answer", "output_schema"];

/// The details of one entry, in the order they were added. No name is added twice, and none needs an escape in JSON.
#[derive(Clone, Default, PartialEq)]
pub struct Detail {
    /// One object; nothing before the first member.
    json: String,
    /// It has a member that is none of [`OURS`].
    is_foreign: bool,
}

impl Detail {
    /// Makes room for so many bytes, so that the text need not grow member by member.
    pub fn reserve(&mut self, bytes: usize) {
        self.json.reserve(bytes);
    }

    /// Adds a member.
    pub fn add(&mut self, name: &'static str, value: impl Serialize) {
        // A value always serialises; should it not, the member is null.
        self.add_json(name, &serde_json::to_string(&value).unwrap_or_else(|_| "null".to_owned()));
    }

    /// Adds a member that is a text.
    pub fn add_text(&mut self, name: &'static str, text: &str) {
        self.add_words(name, [text]);
    }

    /// Adds a member that is a text of several parts.
    pub fn add_words<const N: usize>(&mut self, name: &'static str, parts: [&str; N]) {
        if !parts.iter().all(|part| plain_run(part.as_bytes()) == part.len()) {
            return self.add(name, parts.concat());
        }
        self.member(name, |json| {
            json.push('"');
            for part in parts {
                json.push_str(part);
            }
            json.push('"');
        });
    }

    /// Adds a member that is a whole number.
    pub fn add_number(&mut self, name: &'static str, value: u64) {
        self.member(name, |json| push_number(json, value, 1));
    }

    /// Adds a member that is a digest.
    pub fn add_digest(&mut self, name: &'static str, digest: &Digest) {
        self.member(name, |json| {
            json.push('"');
            digest.push_to(json);
            json.push('"');
        });
    }

    /// Adds a member whose value was written as JSON before.
    pub fn add_json(&mut self, name: &'static str, value: &str) {
        self.member(name, |json| json.push_str(value));
    }

    fn member(&mut self, name: &'static str, write: impl FnOnce(&mut String)) {
        let start = if self.json.pop().is_some() { ",\"" } else { "{\"" };
        self.json.push_str(start);
        self.json.push_str(name);
        self.json.push_str("\":");
        write(&mut self.json);
        self.json.push('}');
        self.is_foreign = self.is_foreign || !OURS.contains(&name);
    }

    /// The object.
    pub fn json(&self) -> &str {
        if self.json.is_empty() { "{}" } else { &self.json }
    }

    /// Whether all members are among [`OURS`]: in an outcome, none of these needs redaction.
    pub(super) fn is_ours(&self) -> bool {
        !self.is_foreign
    }

    /// One member's value.
    pub fn get(&self, name: &str) -> Option<Value> {
        serde_json::from_str::<Map<_, _>>(self.json()).ok()?.swap_remove(name)
    }
}

impl fmt::Debug for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.json())
    }
}
