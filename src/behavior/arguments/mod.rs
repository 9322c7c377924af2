//! What the arguments of one call would do. Evidence from here raises; it never lowers.

pub mod choice;
pub mod fingerprint;
pub mod sql;

use serde_json::Value;

use super::evidence::{Claim, Evidence, Source, Strength};
use super::taxonomy::{Action, Mutability};
use crate::mcp::tool::Tool;

/// Everything in the arguments that would change something, or that cannot be shown not to.
pub fn found(tool: Option<&Tool>, arguments: &Value) -> Vec<Evidence> {
    let mut finder = Finder { tool, evidence: Vec::new() };
    finder.fields(arguments, 0);
    finder.evidence
}

struct Finder<'a> {
    tool: Option<&'a Tool>,
    evidence: Vec<Evidence>,
}

impl Finder<'_> {
    fn fields(&mut self, value: &Value, depth: usize) {
        if depth > 64 {
            return;
        }
        match value {
            Value::Object(fields) => {
                for (key, field) in fields {
                    self.field(key, field, depth);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.fields(item, depth + 1)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn field(&mut self, key: &str, field: &Value, depth: usize) {
        match field {
            Value::String(text) => self.text(key, text),
            // What is listed under a key, however deep, is under that key.
            Value::Array(items) if depth <= 64 => items.iter().for_each(|item| self.field(key, item, depth + 1)),
            other => self.fields(other, depth + 1),
        }
    }

    fn text(&mut self, key: &str, text: &str) {
        let carries = sql::carries(key, self.tool);
        if let Some(sql::Judgement::NotRead { action, span }) = sql::judged_as(carries, text) {
            self.changes(key, action, &span);
        }
        if let Some(choice) = choice::of_key(key)
            && let Some(action) = choice::changing(choice, key, text, self.tool)
        {
            self.changes(key, action, text.trim());
        }
    }

    fn changes(&mut self, key: &str, action: Action, span: &str) {
        self.evidence.push(Evidence {
            source: Source::Arguments,
            says: Claim { mutability: Some(Mutability::Mutates), action: Some(action), ..Claim::default() },
            span: format!("{key}: {}", span.chars().take(80).collect::<String>()),
            strength: Strength::Strong,
        });
    }
}
