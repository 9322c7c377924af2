//! The lines we write ourselves: errors, tool results that deny, heartbeats, our own requests. Owns their shapes only.

use serde_json::Value;

use super::digest::Line;
use super::fold::PROGRESS_TOKEN;
use super::id::Id;
use super::task::RELATED;
use super::words::words;

/// JSON-RPC: it is no JSON.
pub const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: the request itself is not acceptable, or not now.
pub const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC: no such method.
pub const NO_METHOD: i32 = -32601;
/// JSON-RPC: the parameters do not fit; the specification has this for a tool that the server does not have.
pub const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC: it could not be done.
pub const INTERNAL: i32 = -32603;

/// A JSON-RPC error; `None` answers with `"id":null`.
pub fn error(id: Option<&Id>, code: i32, message: &str) -> Line {
    let id = id.map_or("null", Id::raw);
    let message = quoted(message);
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#))
}

words! {
    /// Whether somebody can still authorize a call that was denied (SEP-2643).
    Remediation {
        /// It may be tried again once the user has done what the text says.
        Available = "available",
        Unavailable = "unavailable",
    }
}

/// A tool result with `isError: true` and one text block; `resultType` only for a request of the stateless era.
pub fn tool_error(id: &Id, text: &str, modern: bool) -> Line {
    result(id, text, modern, r#","isError":true"#)
}

pub fn tool_result(id: &Id, text: &str, modern: bool) -> Line {
    result(id, text, modern, "")
}

pub fn result_of(id: &Id, result: &Value) -> Line {
    line(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.raw()))
}

pub fn list_changed() -> Line {
    line(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned())
}

/// The same for a call that no operator authorized. The note for programs says that it was not performed (SEP-2643).
pub fn denied(id: &Id, text: &str, modern: bool, remediation: Remediation) -> Line {
    let remediation = remediation.word();
    let meta = format!(
        r#","isError":true,"_meta":{{"io.modelcontextprotocol/authorization":{{"reason":"insufficient_authorization","remediation":"{remediation}"}}}}"#
    );
    result(id, text, modern, &meta)
}

fn result(id: &Id, text: &str, modern: bool, more: &str) -> Line {
    let (id, text) = (id.raw(), quoted(text));
    let result_type = if modern { r#","resultType":"complete""# } else { "" };
    line(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}]{more}{result_type}}}}}"#
    ))
}

/// What our one question is called in `inputRequests`, and its answer in `inputResponses`.
pub const FORM: &str = "mcp_approve";

/// A result that asks the host to send the same request again with this state (2026-07-28, multi-round-trip requests).
/// With a message, it asks the host to show its user a form first, whose answer comes with the state.
pub fn come_back(id: &Id, state: &str, message: Option<&str>) -> Line {
    let (id, state) = (id.raw(), quoted(state));
    let inputs = |message| format!(r#""inputRequests":{{"{FORM}":{{{}}}}},"#, form(r#""mode":"form","#, message));
    let inputs = message.map(inputs).unwrap_or_default();
    line(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required",{inputs}"requestState":{state}}}}}"#
    ))
}

/// A `notifications/progress` heartbeat for a held call. `token` is the JSON token as the host wrote it.
pub fn progress(token: &str, progress: u32, message: &str) -> Line {
    let message = quoted(message);
    line(format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress},"message":{message}}}}}"#
    ))
}

/// Our `elicitation/create` to the host, without `mode`, which the first revision does not know. It names the call's task.
pub fn elicit(id: &str, message: &str, task: Option<&str>) -> Line {
    let meta =
        task.map(|task| format!(r#""_meta":{{"{RELATED}":{{"taskId":{}}}}},"#, quoted(task))).unwrap_or_default();
    let (id, form) = (quoted(id), form(&meta, message));
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},{form}}}"#))
}

/// A form with one box, `approve`: the members `method` and `params` of a request.
fn form(mode: &str, message: &str) -> String {
    let message = quoted(message);
    format!(
        r#""method":"elicitation/create","params":{{{mode}"message":{message},"requestedSchema":{{"type":"object","properties":{{"approve":{{"type":"boolean","title":"Run this call once","default":false}}}},"required":["approve"]}}}}"#
    )
}

/// Cancels one of our own requests to the host.
pub fn cancel(id: &str) -> Line {
    cancelled(&quoted(id), "mcp-approve needs no answer any more")
}

/// A `notifications/cancelled` for the request whose id is this JSON token.
pub fn cancelled(id: &str, reason: &str) -> Line {
    let reason = quoted(reason);
    line(format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":{reason}}}}}"#
    ))
}

/// Our own `tools/list`, under our own string id; `meta` (an object's text) in the stateless era.
///
/// A progress token in `meta` is left out: progress on our request would be taken for progress on the host's own.
pub fn list_tools(id: &str, cursor: Option<&str>, meta: Option<&str>) -> Line {
    let mut params = serde_json::Map::new();
    if let Some(cursor) = cursor {
        params.insert("cursor".to_owned(), cursor.into());
    }
    if let Some(Ok(Value::Object(mut meta))) = meta.map(serde_json::from_str) {
        meta.shift_remove(PROGRESS_TOKEN);
        params.insert("_meta".to_owned(), Value::Object(meta));
    }
    let (id, params) = (quoted(id), Value::Object(params));
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{params}}}"#))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn line(content: String) -> Line {
    let mut bytes = content.into_bytes();
    bytes.push(b'\n');
    Line::new(bytes)
}
