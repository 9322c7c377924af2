//! The lines we write ourselves: errors, tool results that deny, heartbeats, our own requests. Owns their shapes only.

use super::id::Id;
use super::line::Line;

/// A JSON-RPC error; `None` answers with `"id":null`.
pub fn error(_id: Option<&Id>, _code: i32, _message: &str) -> Line {
    todo!()
}

/// A tool result with `isError: true` and one text block; `resultType` only for a request of the stateless era.
pub fn tool_error(_id: &Id, _text: &str, _modern: bool) -> Line {
    todo!()
}

/// A `notifications/progress` heartbeat for a held call. `token` is the JSON token as the host wrote it.
pub fn progress(_token: &str, _progress: f64, _message: &str) -> Line {
    todo!()
}

/// Our own `tools/list`, under our own string id; `meta` (an object's text) in the stateless era.
pub fn list_tools(_id: &str, _cursor: Option<&str>, _meta: Option<&str>) -> Line {
    todo!()
}
