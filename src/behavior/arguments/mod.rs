//! What the arguments of one call would do: one walk, one reading of each text. What is found raises and never lowers;
//! what finds nothing proves nothing.

pub mod base;
pub mod choice;
pub mod effect;
pub mod grammar;
pub mod graphql;
pub mod http;
pub mod key;
pub mod language;
pub mod likeness;
pub mod named;
pub mod path;
pub mod reading;
pub mod schema;
pub mod shell;
pub mod sql;
mod texts;
mod walk;

use serde_json::Value;

use crate::mcp::tool::Tool;
use effect::Analysis;
use key::Said;
use reading::Reading;
use walk::Walk;

/// How many findings one call lists; that there are more is one of them.
pub const MOST: usize = 64;

/// What every argument would do that holds a text in a language we read, in their order.
pub fn found(tool: Option<&Tool>, arguments: &Value) -> Vec<Analysis> {
    found_as_said(tool, &said_of(tool), arguments)
}

/// The same, given what the tool's words say.
pub fn found_as_said(tool: Option<&Tool>, said: &Said, arguments: &Value) -> Vec<Analysis> {
    Walk::over(tool, said, arguments, None).found
}

/// The texts of statements and commands among the arguments, each as [`found`] read it, part by part.
pub fn readings(tool: Option<&Tool>, arguments: &Value) -> Vec<Reading> {
    Walk::over(tool, &said_of(tool), arguments, Some(Vec::new())).readings.unwrap_or_default()
}

fn said_of(tool: Option<&Tool>) -> Said {
    tool.map(Said::of).unwrap_or_default()
}
