//! What an entry says beside its fields: a JSON object that is written as its members are added. Pure.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Details that are numbers, digests and words of our own in an outcome: there is nothing to redact in them.
const OURS: [&str; 4] = ["result", "bytes", "answer", "output_schema"];

/// The details of one entry, in the order they were added.
#[derive(Clone, Default, PartialEq)]
pub struct Detail {
    /// One object; nothing before the first member.
    json: Vec<u8>,
    /// It has a member that is none of [`OURS`].
    is_foreign: bool,
    /// A member could not be written.
    is_broken: bool,
}

impl Detail {
    /// Makes room for so many bytes, so that the text need not grow member by member.
    pub fn reserve(&mut self, bytes: usize) {
        self.json.reserve(bytes);
    }

    /// Adds a member. No name is added twice.
    pub fn add(&mut self, name: &'static str, value: impl Serialize) {
        match self.json.last_mut() {
            Some(end) => *end = b',',
            None => self.json.push(b'{'),
        }
        let mut write = || -> serde_json::Result<()> {
            serde_json::to_writer(&mut self.json, name)?;
            self.json.push(b':');
            serde_json::to_writer(&mut self.json, &value)
        };
        // A name or value always serialises; should it not, what was written is no JSON and is hashed whole.
        self.is_broken |= write().is_err();
        self.is_foreign |= !OURS.contains(&name);
        self.json.push(b'}');
    }

    /// The object.
    pub fn json(&self) -> &str {
        if self.json.is_empty() { "{}" } else { std::str::from_utf8(&self.json).unwrap_or_default() }
    }

    /// Whether it is certain to be JSON.
    pub(super) fn is_sound(&self) -> bool {
        !self.is_broken
    }

    /// Whether all of it is ours, where it is of an outcome.
    pub(super) fn is_ours(&self) -> bool {
        !self.is_foreign && !self.is_broken
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

/// What is written as it is displayed, into the text that it is for.
pub struct Shown<T>(pub T);

impl<T: fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
