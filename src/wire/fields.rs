//! The members of a JSON object by their names. Most objects are small: to compare a name with each of theirs costs less than
//! to hash it.

use serde_json::{Map, Value};

/// An object with more members is asked by the name's hash.
const SMALL: usize = 12;

/// The member of this name.
pub fn field<'v>(fields: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    if fields.len() > SMALL {
        return fields.get(name);
    }
    fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// The member of this name, where the value is an object.
pub fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    field(value.as_object()?, name)
}
