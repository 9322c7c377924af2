//! Tasks on the wire, in both forms that MCP has given them: what a request says of one, and the answers we write of tasks of
//! our own. A result that somebody else wrote is copied as it is written. Owns shapes only.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::digest::Line;
use super::id::Id;
use super::words::words;
use super::{fold, rename};

/// The name of the extension, in what a request says that its host can do.
const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// The key of `_meta` that names the task that a message belongs to.
pub const RELATED: &str = "io.modelcontextprotocol/related-task";
/// The key of `_meta` whose text a model is given while the task runs.
const IMMEDIATE: &str = "io.modelcontextprotocol/model-immediate-response";
/// How often a host is to ask, in milliseconds.
const POLL_MS: u64 = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// 2025-11-25: the request asks to become a task, and `tasks/result` waits for its end.
    Core,
    /// The extension of 2026-07-28: who answers decides, and `tasks/get` brings the result.
    Extension,
}

words! {
    TaskStatus {
        Working = "working",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

/// A task of ours as its host sees it.
#[derive(Clone, Debug)]
pub struct View<'a> {
    pub id: &'a str,
    pub form: Form,
    pub status: TaskStatus,
    /// In words that a host may show.
    pub message: &'a str,
    /// RFC 3339.
    pub created: &'a str,
    pub updated: &'a str,
    pub ttl_ms: u64,
}

/// How a request was answered, each as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End<'a> {
    Result(&'a str),
    Error(&'a str),
}

impl<'a> End<'a> {
    /// Reads an answer; `None` where it is none that can be copied.
    pub fn read(content: &'a [u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Answer<'a> {
            #[serde(borrow)]
            result: Option<&'a RawValue>,
            #[serde(borrow)]
            error: Option<&'a RawValue>,
        }
        let answer: Answer<'_> = serde_json::from_slice(content).ok()?;
        match (answer.result, answer.error) {
            (Some(result), None) if result.get().starts_with('{') => Some(Self::Result(result.get())),
            (None, Some(error)) => Some(Self::Error(error.get())),
            _ => None,
        }
    }
}

/// The task that a message is about, by its `params`, and whether its host takes tasks (2026-07-28); `None` for none.
pub fn named(content: &[u8]) -> Option<(String, bool)> {
    #[derive(Deserialize)]
    struct Message {
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "taskId")]
        task: String,
        #[serde(rename = "_meta", default)]
        meta: Value,
    }
    let Message { params: Params { task, meta } } = serde_json::from_slice(content).ok()?;
    Some((task, declares(&meta)))
}

/// The ids of all tasks that a server's line could be about for a reader that is lax about the case and form of keys.
pub fn named_laxly(content: &[u8]) -> Vec<String> {
    let Ok(message) = serde_json::from_slice::<Value>(content) else { return Vec::new() };
    let bodies = members_of(&message, &["params", "result"]);
    let tasks = bodies.iter().flat_map(|body| members_of(body, &["task"]));
    let of_all = tasks.chain(bodies.iter().copied()).flat_map(|one| members_of(one, &["taskId"]));
    of_all.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The members of an object by one of these keys, or by what folds to one.
fn members_of<'v>(object: &'v Value, keys: &[&str]) -> Vec<&'v Value> {
    let is_one = |key: &str| keys.contains(&key) || fold::shadows(key, keys);
    object.as_object().into_iter().flatten().filter(|(key, _)| is_one(key)).map(|(_, value)| value).collect()
}

/// Whether this method is one of those that report a task's status to hosts, or a lax reader could take it for one.
pub fn tells(method: &str) -> bool {
    let known = ["notifications/tasks", "notifications/tasks/status"];
    known.contains(&method) || fold::shadows(method, &known)
}

/// Whether this says how far a task is, and has no place for anything else: no result, no error, no words of the server.
pub fn is_bare_state(state: &Value) -> bool {
    const MEMBERS: &str = " taskId status createdAt lastUpdatedAt ttl ttlMs pollInterval pollIntervalMs resultType ";
    let is_known = |(key, value): (&String, &Value)| {
        MEMBERS.contains(&format!(" {key} ")) && !value.is_object() && !value.is_array()
    };
    state.as_object().is_some_and(|members| members.iter().all(is_known))
}

/// Whether a request's `_meta` says that its host takes tasks for an answer.
pub fn declares(meta: &Value) -> bool {
    let capabilities = meta.get("io.modelcontextprotocol/clientCapabilities");
    let extension = capabilities.and_then(|said| said.get("extensions")?.get(EXTENSION));
    extension.is_some_and(Value::is_object)
}

/// For how many milliseconds a call asks to be kept as a task (0: it does not say), by its member `task`; `None` for none.
pub fn requested(task: &str) -> Option<u64> {
    let task: Value = serde_json::from_str(task).ok()?;
    task.as_object().map(|task| task.get("ttl").and_then(Value::as_u64).unwrap_or_default())
}

/// Whether a member `task` holds what the protocol has there, and nothing more.
pub(super) fn is_known(task: &str) -> bool {
    let is_time = |(key, value): (&String, &Value)| {
        matches!(key.as_str(), "ttl" | "pollInterval") && (value.is_number() || value.is_null())
    };
    let task: Option<Value> = serde_json::from_str(task).ok();
    task.is_some_and(|task| task.as_object().is_some_and(|task| task.iter().all(is_time)))
}

/// The answer to a call that became a task. `to_model` is for the model meanwhile.
pub fn created(id: &Id, view: &View<'_>, to_model: &str) -> Line {
    let members = members(view);
    respond(
        id,
        &match view.form {
            Form::Core => {
                let meta = json!({ IMMEDIATE: to_model });
                format!(r#""result":{{"task":{{{members}}},"_meta":{meta}}}"#)
            }
            Form::Extension => format!(r#""result":{{"resultType":"task",{members}}}"#),
        },
    )
}

/// The answer that says how far a task is; it carries the task's result or error if its form has that here.
pub fn state(id: &Id, view: &View<'_>, end: Option<End<'_>>) -> Line {
    let members = members(view);
    let end = match end.filter(|_| view.status != TaskStatus::Cancelled) {
        Some(End::Result(result)) => format!(r#","result":{result}"#),
        Some(End::Error(error)) => format!(r#","error":{error}"#),
        None => String::new(),
    };
    respond(
        id,
        &match view.form {
            Form::Core => format!(r#""result":{{{members}}}"#),
            Form::Extension => format!(r#""result":{{"resultType":"complete",{members}{end}}}"#),
        },
    )
}

/// The answer that the request would have had if it had not become a task, with the task's id.
pub fn result(id: &Id, task: &str, end: End<'_>) -> Line {
    respond(
        id,
        &match end {
            End::Result(result) => format!(r#""result":{}"#, related(result, task)),
            End::Error(error) => format!(r#""error":{error}"#),
        },
    )
}

/// The answer that accepts a request about a task.
pub fn taken(id: &Id) -> Line {
    respond(id, r#""result":{"resultType":"complete"}"#)
}

/// The error for a request about tasks by a host that does not say that it takes them (2026-07-28).
pub fn undeclared(id: &Id) -> Line {
    let data = json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } });
    respond(
        id,
        &format!(
            r#""error":{{"code":-32021,"message":"Missing required client capability: {EXTENSION}","data":{data}}}"#
        ),
    )
}

/// The result with its task's id in `_meta`; unchanged where it cannot be read strictly.
fn related(result: &str, task: &str) -> String {
    let named = json!({ "taskId": task }).to_string();
    let put = |at: usize, is_first: bool| {
        let (before, after) = result.split_at_checked(at)?;
        let comma = if after.trim_start().starts_with('}') { "" } else { "," };
        let member = format!(r#""{RELATED}":{named}"#);
        Some(if is_first {
            format!(r#"{before}"_meta":{{{member}}}{comma}{after}"#)
        } else {
            format!("{before}{member}{comma}{after}")
        })
    };
    let span = |path: &[&str]| rename::span(result.as_bytes(), path);
    let changed = match (span(&["_meta"]), span(&["_meta", RELATED])) {
        (Err(_), _) | (_, Err(_)) => None,
        (Ok(None), _) => put(1, true),
        (Ok(Some(_)), Ok(Some(old))) => {
            result.get(..old.start).zip(result.get(old.end..)).map(|(before, after)| format!("{before}{named}{after}"))
        }
        (Ok(Some(meta)), Ok(None)) => {
            result.get(meta.start..).filter(|meta| meta.starts_with('{')).and_then(|_| put(meta.start + 1, false))
        }
    };
    changed.unwrap_or_else(|| result.to_owned())
}

fn members(view: &View<'_>) -> String {
    let suffix = match view.form {
        Form::Core => "",
        Form::Extension => "Ms",
    };
    let text = |text: &str| Value::from(text).to_string();
    format!(
        r#""taskId":{},"status":"{}","statusMessage":{},"createdAt":{},"lastUpdatedAt":{},"ttl{suffix}":{},"pollInterval{suffix}":{POLL_MS}"#,
        text(view.id),
        view.status.word(),
        text(view.message),
        text(view.created),
        text(view.updated),
        view.ttl_ms,
    )
}

fn respond(id: &Id, rest: &str) -> Line {
    Line::new(format!("{{\"jsonrpc\":\"2.0\",\"id\":{},{rest}}}\n", id.raw()).into_bytes())
}
