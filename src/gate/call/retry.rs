//! What a multi-round-trip retry brings beside its arguments: answers to the server's questions, and the server's own state.
//! They reach the server like arguments, so they are judged like them.

use serde_json::{Value, json};

use crate::behavior::arguments::explain::{Explanation, Unexplained};
use crate::behavior::conclude::{self, Behavior};
use crate::wire::call::Call;
use crate::wire::digest::Digest;

/// As much of the answers as a record holds, in bytes.
const RECORDED: usize = 4096;

/// What a call brings beside its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Nothing, or answers in which nothing asks: a retry continues under the approval of its call.
    Plain,
    /// Answers with a hazard, or that are not explained: whatever was approved before, it is asked.
    Asks,
}

/// Judges what a call brings beside its arguments, and adds that to its behavior.
pub fn judge(call: &Call, behavior: &mut Behavior) -> Retry {
    let mut retry = Retry::Plain;
    if let Some(text) = call.input_responses_text() {
        // The strict reader has read it already; if this failed, null would hide nothing.
        let mut responses: Value = serde_json::from_str(text).unwrap_or(Value::Null);
        take_answers_own_words(&mut responses);
        let alone = Behavior { hazards: Vec::new(), explanation: Explanation::default(), ..behavior.clone() };
        let judged = conclude::of_call(None, &alone, text, &responses);
        let is_graver = judged.identity != behavior.identity;
        if is_graver || !judged.hazards.is_empty() || !judged.explanation.holds() {
            retry = Retry::Asks;
        }
        let mut hazards = std::mem::take(&mut behavior.hazards);
        hazards.extend(judged.hazards);
        let mut explanation = std::mem::take(&mut behavior.explanation);
        let within = |pointer: &str| format!("/inputResponses{pointer}");
        let unexplained = judged.explanation.unexplained.into_iter();
        explanation.unexplained.extend(unexplained.map(|leaf| Unexplained { pointer: within(&leaf.pointer), ..leaf }));
        explanation.more_unexplained += judged.explanation.more_unexplained;
        explanation.more += judged.explanation.leaves.len() + judged.explanation.more;
        *behavior = Behavior { hazards, explanation, ..judged };
    }
    if call.request_state_text().is_some() {
        // Where it is the state that the server gave with its question, the retry continues under that call's approval.
        let why = "only the server knows what it says".to_owned();
        behavior.explanation.unexplained.push(Unexplained { pointer: "/requestState".to_owned(), why });
    }
    retry
}

/// Takes the protocol's own word out of each answer: a person accepts, declines or cancels a question, and runs nothing.
fn take_answers_own_words(responses: &mut Value) {
    for answer in responses.as_object_mut().into_iter().flat_map(|answers| answers.values_mut()) {
        let Some(fields) = answer.as_object_mut() else { continue };
        if matches!(fields.get("action").and_then(Value::as_str), Some("accept" | "decline" | "cancel")) {
            fields.shift_remove("action");
        }
    }
}

/// The answers for a record: whole where they are short, else their beginning, their size and their digest.
pub fn recorded(call: &Call) -> Option<Value> {
    let text = call.input_responses_text()?;
    if text.len() <= RECORDED {
        return Some(serde_json::from_str(text).unwrap_or_else(|_| text.into()));
    }
    let head = text.get(..text.floor_char_boundary(RECORDED / 4)).unwrap_or_default();
    Some(json!({ "head": head, "bytes": text.len(), "digest": Digest::of(text.as_bytes()) }))
}
