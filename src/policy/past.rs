//! A past call as the log has it: judged, decided, its secrets replaced. Reads no log.

use serde_json::Value;

use super::decide::Question;
use super::rate::Recent;
use super::rule::{Decision, Rule};
use super::when::{About, Predicate, Test, argument};
use crate::behavior::conclude::Behavior;
use crate::mcp::request;
use crate::wire::words::words;

/// One call of the log.
#[derive(Clone, Debug)]
pub struct PastCall {
    /// Number of its decision's record.
    pub seq: i64,
    /// Of the decision, in milliseconds since 1970, UTC.
    pub time: i64,
    pub ticket: String,
    pub server: String,
    /// The method of a request other than `tools/call`.
    pub method: Option<String>,
    pub tool: String,
    /// As recorded: secrets are replaced and long texts cut, see [`is_obscured`].
    pub arguments: Value,
    pub behavior: Behavior,
    /// Whether the record shows all that the arguments were found to do then.
    pub analysed: bool,
    /// What the policy of that time said.
    pub ruling: Decision,
    pub rule: Option<String>,
    pub ended: Ended,
    /// The record's word for who decided.
    pub by: String,
}

words! {
    /// How a past call ended.
    Ended {
        /// It was let run.
        Ran = "approved",
        /// A person or a rule said no.
        Refused = "denied",
        /// No one answered: it expired, was cancelled, or something failed.
        Unanswered = "unanswered",
    }
}

impl PastCall {
    /// How it ended, and who or what decided that, where the log says.
    pub fn outcome(&self) -> String {
        match (self.ended.word(), self.by.as_str()) {
            (ended, "") => ended.to_owned(),
            (ended, by) => format!("{ended} by {by}"),
        }
    }

    /// The call as a question of that time.
    pub fn question<'a>(&'a self, recent: Option<&'a Recent>) -> Question<'a> {
        Question {
            method: self.method.as_deref(),
            server: &self.server,
            tool: &self.tool,
            behavior: &self.behavior,
            arguments: &self.arguments,
            now: self.time,
            recent,
        }
    }
}

/// What rules see of a request's recorded arguments.
pub fn shown(method: Option<&str>, arguments: Value) -> Value {
    if method.is_some() { request::arguments(arguments) } else { arguments }
}

/// Whether something in a value was replaced or cut when it was recorded. A text that only looks so counts too.
pub fn is_obscured(value: &Value) -> bool {
    match value {
        Value::String(text) => has_mark(text) || was_cut(text),
        Value::Array(items) => items.iter().any(is_obscured),
        Value::Object(fields) => {
            fields.iter().any(|(name, field)| has_mark(name) || was_cut(name) || is_obscured(field))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// `redacted:` and 16 hex characters.
fn has_mark(text: &str) -> bool {
    text.split("redacted:").skip(1).any(|rest| {
        rest.len() >= 16 && rest.bytes().take(16).all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// `…[N bytes in all]` at the end, or only `…` where the whole did not fit.
fn was_cut(text: &str) -> bool {
    text.ends_with('…') || (text.ends_with(" bytes in all]") && text.contains("…["))
}

/// Whether a condition depends on something that the record hides.
pub fn depends_on_obscured(predicate: &Predicate, call: &PastCall) -> bool {
    match &predicate.about {
        About::Argument { arg, tests } => {
            let Value::Object(fields) = &call.arguments else {
                // All of them were cut into one text.
                return true;
            };
            let is_there = |test: &Test| matches!(test, Test::Present | Test::Absent);
            let counts = |test: &Test| matches!(test, Test::Len(_)) && arg.is_empty();
            if tests.iter().all(|test| is_there(test) || counts(test)) {
                return fields.keys().any(|name| has_mark(name) || was_cut(name));
            }
            argument(&call.arguments, arg).is_some_and(is_obscured)
        }
        About::Sql(_) | About::Effect(_) => !call.analysed || is_obscured(&call.arguments),
        About::Hazard(_) | About::Rate(_) => false,
    }
}

/// Whether a rule depends on something that the record hides.
pub fn touches_obscured(rule: &Rule, call: &PastCall) -> bool {
    rule.when.iter().chain(&rule.unless).any(|predicate| depends_on_obscured(predicate, call))
}
