//! The one door to jsonschema: checks arguments and results against a tool's schemas. Never fetches anything.

use serde_json::Value;

/// A compiled schema.
pub struct Schema {
    validator: jsonschema::Validator,
}

/// One place where a value does not fit its schema. Both texts may quote foreign text: show them as such.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// JSON Pointer into the value; empty for the value itself.
    pub path: String,
    /// What is wrong there, in one sentence.
    pub what: String,
}

/// A schema that cannot be used: invalid, or it refers to something outside itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema cannot be used: {0}")]
pub struct Unusable(pub String);

impl Schema {
    /// Compiles a schema: JSON Schema 2020-12 unless `$schema` says otherwise.
    ///
    /// # Errors
    /// [`Unusable`] when it is no schema, or a `$ref` leaves the document.
    pub fn compile(_schema: &Value) -> Result<Self, Unusable> {
        todo!()
    }

    /// Every place where `value` does not fit; at most 20, in document order.
    pub fn violations(&self, _value: &Value) -> Vec<Violation> {
        todo!()
    }

    /// Whether `value` fits.
    pub fn fits(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }
}
