//! What the arguments of one call would do, and how each leaf of them is explained: one walk, one reading of each text.
//!
//! What is found raises and never lowers. What is not explained asks.

pub mod base;
pub mod choice;
pub mod effect;
pub mod explain;
mod findings;
pub mod grammar;
pub mod graphql;
pub mod http;
pub mod language;
mod lists;
pub mod memory;
pub mod mongo;
pub mod named;
pub mod path;
pub mod reading;
pub mod redis;
mod remembering;
pub mod said;
pub mod shell;
pub mod sql;
pub mod statement;
mod texts;
mod walk;

use serde_json::Value;

use crate::behavior::hazards::Hazard;
use crate::mcp::tool::Tool;
use effect::Analysis;
use explain::Explanation;
use memory::{Memory, Remembered};
use reading::Reading;
use said::Said;
use walk::{Walk, Wants};

/// How many findings one call lists; that there are more is one of them.
pub const MOST: usize = 64;

/// What one call's arguments would do, and how their leaves are explained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// What every argument would do that holds a text in a language we read, in their order.
    pub found: Vec<Analysis>,
    pub explanation: Explanation,
}

/// Judges the arguments of a call.
pub fn judge(tool: Option<&Tool>, arguments: &Value) -> Judged {
    judge_said(tool, &said_of(tool), arguments, &Memory::default()).0
}

/// The same, given what the tool's words say and a memory of its texts. Also returns what may be added to the memory.
fn judge_said(tool: Option<&Tool>, said: &Said, arguments: &Value, memory: &Memory) -> (Judged, Vec<Remembered>) {
    let walk = Walk::over(tool, said, arguments, Wants::Judgement(memory));
    (Judged { found: walk.found, explanation: walk.explanation }, walk.learnt)
}

/// The same for a call with these hazards: its texts are remembered only if there are none.
pub fn judge_remembering(
    tool: Option<&Tool>,
    said: &Said,
    arguments: &Value,
    hazards: &[Hazard],
    memory: &mut Memory,
) -> Judged {
    let (judged, learnt) = judge_said(tool, said, arguments, memory);
    if hazards.is_empty() {
        learnt.into_iter().for_each(|read| memory.keep(read));
    }
    judged
}

/// What every argument would do that holds a text in a language we read, in their order.
pub fn found(tool: Option<&Tool>, arguments: &Value) -> Vec<Analysis> {
    judge(tool, arguments).found
}

/// The texts of statements and commands among the arguments, each as [`found`] read it, part by part.
pub fn readings(tool: Option<&Tool>, arguments: &Value) -> Vec<Reading> {
    Walk::over(tool, &said_of(tool), arguments, Wants::Parts).readings
}

fn said_of(tool: Option<&Tool>) -> Said {
    tool.map(Said::of).unwrap_or_default()
}
