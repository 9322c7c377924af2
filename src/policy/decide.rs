//! The ruling: the strictest matching rule, else the default that applies. Total: every question has an answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::rule::{Decision, Policy};
use crate::behavior::conclude::Behavior;

/// What is asked of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub server: &'a str,
    pub tool: &'a str,
    pub behavior: &'a Behavior,
    pub arguments: &'a Value,
}

/// What the policy says of a call, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    pub decision: Decision,
    /// The rule that decided; `None` when a default did.
    pub rule: Option<String>,
    /// Why, in one sentence of ours for the operator and the record.
    pub reason: String,
}

/// Rules on one call.
pub fn decide(_policy: &Policy, _question: &Question<'_>) -> Ruling {
    todo!()
}
