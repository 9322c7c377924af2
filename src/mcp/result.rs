//! What a server answered to a call, as far as the record and the gate care.

use serde_json::Value;

/// The answer to a `tools/call`.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A result; `is_error` is the tool's own word. `structured` is `structuredContent`.
    Complete { is_error: bool, structured: Option<Value> },
    /// The server needs more (2026-07-28): a retry continues this call. `state` is the JSON token of
    /// `requestState`, `inputs` the sorted keys of `inputRequests`.
    InputRequired { state: Option<String>, inputs: Vec<String> },
    /// A task was made; its result comes later.
    Task { id: String },
    /// A JSON-RPC error.
    Failed { code: i64, message: String },
    /// Not readable as any of these.
    Unreadable,
}

impl Answer {
    /// Reads the content of a response line.
    pub fn read(_content: &[u8]) -> Self {
        todo!()
    }
}
