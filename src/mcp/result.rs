//! What a server answered to a call: the parts that the record and the gate use.

use serde_json::Value;

/// A longer text is no task's id, in bytes.
const LONGEST_TASK: usize = 1024;

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A result; `is_error` is the tool's own word. `structured` is `structuredContent`.
    Complete {
        is_error: bool,
        structured: Option<Value>,
    },
    /// The server needs more (2026-07-28). `state` is the JSON token of `requestState`, `inputs` the sorted keys of `inputRequests`.
    InputRequired {
        state: Option<String>,
        inputs: Vec<String>,
    },
    /// A task was made; its result comes later.
    Task {
        id: String,
    },
    /// A JSON-RPC error.
    Failed {
        code: i64,
        message: String,
    },
    Unreadable,
}

impl Answer {
    /// Reads the content of a response line.
    ///
    /// A `resultType` we do not know makes it unreadable: the host must take such a result as invalid.
    pub fn read(content: &[u8]) -> Self {
        let Ok(mut message) = serde_json::from_slice::<Value>(content) else {
            return Self::Unreadable;
        };
        if let Some(error) = message.get("error") {
            return failed(error).unwrap_or(Self::Unreadable);
        }
        let Some(result) = message.get_mut("result").filter(|result| result.is_object()) else {
            return Self::Unreadable;
        };
        let result_type = match result.get("resultType") {
            None => "complete",
            Some(word) => word.as_str().unwrap_or_default(),
        };
        match result_type {
            "complete" => complete(result),
            "input_required" => input_required(result).unwrap_or(Self::Unreadable),
            "task" => task(result.get("taskId")).unwrap_or(Self::Unreadable),
            _ => Self::Unreadable,
        }
    }
}

fn failed(error: &Value) -> Option<Answer> {
    Some(Answer::Failed { code: error.get("code")?.as_i64()?, message: error.get("message")?.as_str()?.to_owned() })
}

fn complete(result: &mut Value) -> Answer {
    // The tasks of 2025-11-25 have no `resultType`; only the member `task` tells that one was made.
    let created = result.get("task").and_then(|made| task(made.get("taskId")));
    created.unwrap_or_else(|| Answer::Complete {
        is_error: result.get("isError").and_then(Value::as_bool) == Some(true),
        structured: result.get_mut("structuredContent").map(Value::take),
    })
}

/// `None` when the server asks for nothing and gives no state: a retry would look the same as a new call.
fn input_required(result: &Value) -> Option<Answer> {
    let state = result.get("requestState").map(Value::to_string);
    let mut inputs: Vec<String> = match result.get("inputRequests") {
        None => Vec::new(),
        Some(requests) => requests.as_object()?.keys().cloned().collect(),
    };
    inputs.sort_unstable();
    let tells = state.is_some() || !inputs.is_empty();
    tells.then_some(Answer::InputRequired { state, inputs })
}

/// `None` for a very long id: it is remembered for as long as the task is.
fn task(id: Option<&Value>) -> Option<Answer> {
    let id = id?.as_str().filter(|id| id.len() <= LONGEST_TASK)?.to_owned();
    Some(Answer::Task { id })
}
