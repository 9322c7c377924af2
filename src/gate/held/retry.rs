//! What a call brings beside its arguments: answers to the server's questions, the server's own state, and members that the
//! protocol does not have. They reach the server like arguments, so they are judged like them. And who asks within the host, from
//! `_meta`: hints for the operator, never a reason to allow.

use serde_json::{Map, Value, json};

use crate::behavior::shape::{self, Shape};
use crate::behavior::{Behavior, Hazard, HazardKind, conclude, words};
use crate::gate::state::secrets::Secrets;
use crate::mcp::request::is_trace;
use crate::wire::Call;

/// How many bytes of each a record holds.
const RECORDED: usize = 4096;
/// How many unknown members are named, and by how many characters each.
const NAMED: usize = 3;
const NAME: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Nothing, or answers without a reason to ask: a retry continues under the approval of its call.
    Plain,
    /// Answers with a hazard, or with something new: the operator is asked, whatever was approved before.
    Asks,
}

/// Judges what a call brings beside its arguments, and adds that to its behavior.
pub fn judge(call: &Call, behavior: &mut Behavior) -> Retry {
    let mut retry = Retry::Plain;
    if let Some(text) = call.input_responses_text() {
        // The strict reader has read it already; if this failed, null would hide nothing.
        let mut responses: Value = serde_json::from_str(text).unwrap_or(Value::Null);
        take_answers_own_words(&mut responses);
        let alone = Behavior { hazards: Vec::new(), shape: Shape::default(), ..behavior.clone() };
        let judged = conclude::of_call(None, &alone, &responses);
        let new = shape::of_answers(&responses);
        let is_graver = judged.identity != behavior.identity;
        if is_graver || !judged.hazards.is_empty() || !new.holds() {
            retry = Retry::Asks;
        }
        let mut hazards = std::mem::take(&mut behavior.hazards);
        hazards.extend(judged.hazards);
        let mut shape = std::mem::take(&mut behavior.shape);
        new.new.iter().for_each(|one| shape.asks(&format!("/inputResponses{}", one.pointer), one.says.as_str()));
        shape.more += new.more;
        *behavior = Behavior { hazards, shape, ..judged };
    }
    if let Some(parts) = call.unknown_parts() {
        let parts: Map<String, Value> = serde_json::from_str(&parts).unwrap_or_default();
        // A cut is marked, so that records look there for half a secret.
        let shown = |name: &String| match name.char_indices().nth(NAME) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None => name.clone(),
        };
        let names: Vec<String> = parts.keys().take(NAMED).map(shown).collect();
        let more = parts.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = format!("the call has a part that mcp-approve does not know: {}{more}", names.join(", "));
        behavior.hazards.push(Hazard { kind: HazardKind::UnknownPart, what });
        retry = Retry::Asks;
    }
    if call.request_state_text().is_some() {
        // If this is the state that the server gave with its question, the retry continues under that call's approval.
        behavior.shape.asks("/requestState", "a state that only the server can read");
    }
    retry
}

/// Removes the protocol's own `action` from each answer: to accept, decline or cancel a question runs nothing.
fn take_answers_own_words(responses: &mut Value) {
    for answer in responses.as_object_mut().into_iter().flat_map(|answers| answers.values_mut()) {
        let Some(fields) = answer.as_object_mut() else { continue };
        if matches!(fields.get("action").and_then(Value::as_str), Some("accept" | "decline" | "cancel")) {
            fields.shift_remove("action");
        }
    }
}

/// A JSON text of a call beside its arguments, for a record: whole if it is short, otherwise its beginning, its size and its digest.
pub fn recorded(call: &Call, text: Option<&str>, secrets: &Secrets) -> Option<Value> {
    let text = text?;
    if text.len() <= RECORDED {
        return Some(serde_json::from_str(text).unwrap_or_else(|_| text.into()));
    }
    // Half a secret would not be known for one.
    let mut head = secrets.hidden_in_json(text).into_owned();
    head.truncate(head.floor_char_boundary(RECORDED / 4));
    Some(json!({ "head": head, "bytes": text.len(), "digest": call.digest_of(text) }))
}

const OBJECTS: &str = include_str!("../../../assets/words/objects.txt");
const CALLERS: &str = words::section(OBJECTS, "callers");
const CONTEXTS: &str = words::section(OBJECTS, "contexts");

/// How many characters of a value a card shows.
const SHOWN: usize = 120;

/// What `_meta` says about the caller and what the call belongs to: our word and the value, each word once, in the order of the
/// lists.
pub fn of(meta: Option<&str>) -> Vec<(String, String)> {
    let Some(Ok(Value::Object(meta))) = meta.map(serde_json::from_str) else {
        return Vec::new();
    };
    let mut found: Vec<(usize, &'static str, String)> = Vec::new();
    let mut take = |key: &str, value: &Value| {
        let Some((at, word)) = known(key) else { return };
        let text = match value {
            Value::String(text) if !text.is_empty() => text.chars().take(SHOWN).collect(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => return,
        };
        if found.iter().all(|(_, known, _)| *known != word) {
            found.push((at, word, text));
        }
    };
    for (key, value) in &meta {
        match value {
            // One level deeper: hosts wrap what belongs to a turn in an object of its own.
            Value::Object(inner) => {
                inner.get("id").into_iter().for_each(|id| take(key, id));
                inner.iter().for_each(|(key, value)| take(key, value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => take(key, value),
        }
    }
    found.sort_by_key(|(at, ..)| *at);
    found.into_iter().map(|(_, word, text)| (word.to_owned(), text)).collect()
}

/// Whether a key of `_meta` says who asks: a host that names itself so adds nothing to the call.
pub fn says_who(key: &str) -> bool {
    words::rows(CALLERS).any(|(known, _)| known == plain(key))
}

/// Where a key is in the lists, and our word for it.
fn known(key: &str) -> Option<(usize, &'static str)> {
    let rows = words::rows(CALLERS).chain(words::rows(CONTEXTS)).enumerate();
    rows.into_iter().find(|(_, (known, _))| *known == plain(key)).map(|(at, (_, word))| (at, word))
}

fn plain(key: &str) -> String {
    let last = key.rsplit(['/', '.']).next().unwrap_or(key);
    last.chars().filter(|c| !matches!(c, '-' | '_')).collect::<String>().to_lowercase()
}

/// The trace that a call belongs to (W3C Trace Context, as `_meta` has it); `None` if it has another form.
pub fn traceparent(meta: Option<&str>) -> Option<String> {
    let Some(Ok(Value::Object(meta))) = meta.map(serde_json::from_str) else {
        return None;
    };
    let text = meta.get("traceparent")?.as_str()?;
    is_trace(text).then(|| text.to_owned())
}
