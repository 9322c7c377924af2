//! A tool as its server describes it, and pages of them. Everything in it is the server's word: untrusted.

use serde_json::Value;

use crate::wire::digest::Digest;

/// One entry of `tools/list`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name on the wire: arbitrary Unicode, case-sensitive.
    pub name: String,
    /// Display name: `title`, else `annotations.title`.
    pub title: Option<String>,
    /// The server's description, for a model.
    pub description: Option<String>,
    /// `inputSchema`; `true` (anything) where missing or not a schema.
    pub input_schema: Value,
    /// `outputSchema`.
    pub output_schema: Option<Value>,
    /// The hints.
    pub annotations: Annotations,
    /// The whole definition as read, for declared fields, pins and display.
    pub definition: Value,
}

/// MCP's tool annotations; `None` where the server did not say. Defaults are the specification's:
/// not read-only, destructive, not idempotent, open world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

/// One page of `tools/list`.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub tools: Vec<Tool>,
    /// The opaque cursor of the next page; an empty string is a valid cursor.
    pub next_cursor: Option<String>,
}

impl Tool {
    /// Reads one definition; `None` when it has no `name`.
    pub fn read(_definition: Value) -> Option<Self> {
        todo!()
    }

    /// The digest of the canonical definition: keys sorted, annotations included.
    pub fn digest(&self) -> Digest {
        todo!()
    }
}

impl Page {
    /// Reads the line content of a successful `tools/list` response. `None` when it is no such thing.
    pub fn read(_content: &[u8]) -> Option<Self> {
        todo!()
    }
}
