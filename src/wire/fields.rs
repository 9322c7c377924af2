//! Finds members of JSON objects by name, and writes such names in JSON Pointers. Most objects are small: comparing a
//! name with each of theirs costs less than hashing it.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// In an object with more members, a name is looked up by its hash.
const SMALL: usize = 12;

/// The member of this name.
pub fn field<'v>(fields: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    if fields.len() > SMALL {
        return fields.get(name);
    }
    fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// The members of one object in which many names are looked up: for most names that it lacks, one bit tells so.
#[derive(Clone, Copy)]
pub struct Fields<'v> {
    pub all: &'v Map<String, Value>,
    /// The bit of each of its names ([`at_sight`]).
    places: u64,
}

impl<'v> Fields<'v> {
    pub fn of(all: &'v Map<String, Value>) -> Self {
        Self { all, places: all.keys().fold(0, |places, name| places | at_sight(name)) }
    }

    /// The member of this name.
    pub fn get(self, name: &str) -> Option<&'v Value> {
        if self.places & at_sight(name) == 0 { None } else { field(self.all, name) }
    }
}

/// One bit, chosen by the length and the first byte of a name: two names mostly have different ones.
pub(super) fn at_sight(name: &str) -> u64 {
    let first = name.as_bytes().first().copied().unwrap_or_default();
    1 << (name.len().wrapping_mul(5).wrapping_add(usize::from(first)) % 64)
}

/// The member of this name, where the value is an object.
pub fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    field(value.as_object()?, name)
}

/// A member's name as a JSON Pointer writes it.
pub fn in_pointer(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        name.replace('~', "~0").replace('/', "~1").into()
    } else {
        name.into()
    }
}

/// The name that a JSON Pointer writes as this word.
pub fn from_pointer(word: &str) -> String {
    word.replace("~1", "/").replace("~0", "~")
}
