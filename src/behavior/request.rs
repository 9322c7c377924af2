//! What a request other than `tools/call` is: fixed by the protocol for the methods that it defines, unknown for others; and which
//! tool call it carries all the same (`tasks/create` of `tools/call`, `tools/execute`, a listed tool's name beside arguments). Its params
//! are not judged leaf by leaf; only the address of a file has the hazards that it has in a call.

use serde_json::{Map, Value, json};

use super::conclude::{Behavior, proven};
use super::hazards;
use super::identity::Identity;
use super::taxonomy::{Action, Mutability, OutputDomain};
use super::words::{self, among};
use crate::mcp::lifecycle::Revision;
use crate::mcp::request::{self, Standing, standing};

/// What a request does. `sampling` and `elicitation` send something: a prompt to the host's model, a question to its user.
fn identity(method: &str) -> Identity {
    use {Action as A, OutputDomain as D};
    let (action, output_domain) = match method {
        "resources/read" | "prompts/get" => (A::Read, D::Content),
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" | "roots/list" => {
            (A::Read, D::Structure)
        }
        "tasks/get" | "tasks/result" | "tasks/list" => (A::Read, D::Data),
        "completion/complete" => (A::Search, D::Data),
        "resources/subscribe" | "resources/unsubscribe" | "subscriptions/listen" | "logging/setLevel" => {
            (A::Update, D::Ack)
        }
        "tasks/cancel" => (A::Delete, D::Ack),
        "tasks/update" => (A::Update, D::Data),
        "sampling/createMessage" => (A::Send, D::Model),
        "elicitation/create" => (A::Send, D::User),
        _ => return Identity::UNKNOWN,
    };
    let mutability = if action.reads() { Mutability::Pure } else { Mutability::Mutates };
    Identity { mutability, action, output_domain }
}

/// What a request is, with the hazards of its `params`.
///
/// `params` come from the host: what a server sends names no place that a host would open.
pub fn of_request(method: &str, params: &Value) -> Behavior {
    let identity = identity(method);
    let confidence = proven(identity.mutability);
    let files = request::files(method, params);
    let of_file = |(uri, _): &(&str, _)| hazards::arguments::found(&json!({ "uri": uri }));
    let hazards = files.iter().flat_map(of_file).collect();
    Behavior { identity, confidence, hazards, ..Behavior::unknown() }
}

/// The keys under which a tool is named, and those under which its arguments stand.
const TOOL: [&str; 4] = ["name", "tool", "toolName", "tool_name"];
const ARGUMENTS: [&str; 5] = ["arguments", "args", "input", "params", "parameters"];
/// What the protocol puts around a call, or beside the request for one.
const AROUND: [&str; 8] = ["jsonrpc", "id", "method", "params", "_meta", "task", "ttl", "pollInterval"];
/// Words of a method that speak of tools, and of running something.
const TOOLS: &str = "tool tools";
const RUNS: &str =
    "call calls calling execute exec run invoke invocation start dispatch apply perform trigger use submit do batch";
const BOTH: &str = "toolcall toolcalls calltool calltools";
/// A longer text that could be JSON is not read, and counts as a call, in bytes.
const LONGEST: usize = 256 * 1024;

/// A tool call inside another request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carried {
    /// This one, and nothing else that a server could act on.
    Call { tool: String, arguments: Map<String, Value> },
    /// One whose tool or arguments cannot be told, or more than one.
    Unclear,
}

/// The tool call inside a host's request. `is_tool` says whether the server could have a tool of a name.
pub fn carried(method: &str, params: &Value, is_tool: impl Fn(&str) -> bool) -> Option<Carried> {
    let is_own = Revision::ALL.iter().any(|revision| standing(method, *revision) != Standing::Other);
    let runs_tools = !is_own && names_a_call(method);
    // A prompt has a name and arguments too, and is no tool.
    let at_top = method != "prompts/get" && is_call(params, &is_tool);
    // Answers to the server's questions hold what the host's model wrote of the host's own tools.
    let is_answer = matches!(method, "tasks/update" | "prompts/get" | "resources/read");
    let inside =
        |(key, value): (&String, &Value)| !(key == "inputResponses" && is_answer) && holds_one(value, &is_tool);
    let holds =
        || params.as_object().into_iter().flatten().any(inside) || params.is_array() && holds_one(params, &is_tool);
    if !runs_tools && !at_top && !holds() {
        return None;
    }
    let metas = [params.get("_meta"), params.pointer("/params/_meta")];
    let is_plain = !metas.into_iter().flatten().any(|meta| holds_one(meta, &is_tool));
    let clear = is_plain.then(|| clear(params, runs_tools)).flatten();
    Some(clear.map_or(Carried::Unclear, |(tool, arguments)| Carried::Call { tool, arguments }))
}

/// Whether a method says that it runs a tool: `tools/execute`, `tools/call/`, `callTool`.
fn names_a_call(method: &str) -> bool {
    let words = words::of_name(method);
    let has = |list: &str| words.iter().any(|word| among(word, list));
    has(BOTH) || has(TOOLS) && has(RUNS)
}

/// Whether an object is a call: a request for one, or a tool's name beside arguments.
fn is_call(value: &Value, is_tool: &impl Fn(&str) -> bool) -> bool {
    let Some(fields) = value.as_object() else { return false };
    let text = |key: &&str| fields.get(*key).and_then(Value::as_str);
    let is_named = TOOL.iter().filter_map(text).any(is_tool) && ARGUMENTS.iter().any(|key| fields.contains_key(*key));
    is_named || fields.get("method").and_then(Value::as_str).is_some_and(names_a_call)
}

/// Whether a call is anywhere in a value, or in a text that is JSON itself.
fn holds_one(value: &Value, is_tool: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => {
            let is_json = text.trim_start().starts_with(['{', '[']);
            let read = || serde_json::from_str::<Value>(text).ok();
            is_json && (text.len() > LONGEST || read().is_some_and(|value| holds_one(&value, is_tool)))
        }
        Value::Array(items) => items.iter().any(|item| holds_one(item, is_tool)),
        Value::Object(fields) => is_call(value, is_tool) || fields.values().any(|value| holds_one(value, is_tool)),
    }
}

/// The call that `params` are, where everything in them is known: a name and arguments, or what the protocol puts around those.
/// `runs_tools` where the method itself says that a tool is run: then arguments may be missing.
fn clear(params: &Value, runs_tools: bool) -> Option<(String, Map<String, Value>)> {
    let fields = params.as_object()?;
    if let Some(method) = fields.get("method") {
        let is_known = names_a_call(method.as_str()?) && fields.keys().all(|key| AROUND.contains(&key.as_str()));
        let inner = fields.get("params").filter(|inner| is_known && inner.get("method").is_none())?;
        return clear(inner, true);
    }
    let (mut tool, mut arguments) = (None, None);
    for (key, value) in fields {
        let place = match key.as_str() {
            key if TOOL.contains(&key) => &mut tool,
            key if ARGUMENTS.contains(&key) => &mut arguments,
            "_meta" => continue,
            "task" if value.is_object() => continue,
            _ => return None,
        };
        if place.replace(value).is_some() {
            return None;
        }
    }
    let arguments = match arguments {
        None if runs_tools => Map::new(),
        arguments => arguments?.as_object()?.clone(),
    };
    Some((tool?.as_str()?.to_owned(), arguments))
}
