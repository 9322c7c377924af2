//! The callbacks that the operator registered, and what they said of a call: data only.

use serde::{Deserialize, Serialize};

use crate::policy::{Decision, Glob, Ruling, rule::ToolGlob};

/// What the gate needs of one `[[approver]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approver {
    pub name: String,
    /// Globs over the server's name; empty means any.
    pub server: Vec<Glob>,
    /// Globs over the tool's name; empty means any.
    pub tool: Vec<ToolGlob>,
    /// Whether its `allow` counts.
    pub may: May,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    Tighten,
    Allow,
}

/// What one approver said of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opinion {
    pub name: String,
    pub decision: Decision,
    /// Its own words, foreign text; or why it said nothing, and so asks.
    pub reason: String,
    /// It gave no answer: `decision` is `Ask`.
    pub failed: bool,
    pub latency_us: u64,
}

impl Opinion {
    pub fn ruling(&self) -> Ruling {
        let says = match (self.failed, self.decision) {
            (true, _) => "gave no answer, so it asks",
            (false, Decision::Allow) => "allows it",
            (false, Decision::Ask) => "asks",
            (false, Decision::Deny) => "denies it",
        };
        let why = if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        Ruling::of(self.decision, format!("approver {} {says}{why}", self.name))
    }
}
