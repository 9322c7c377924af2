//! `mcp-approve tools classify`: what the recogniser makes of a server's tool list. Owns the JSON it prints.

use serde_json::{Value, json};

use crate::behavior::conclude::{self, Behavior, Trust};
use crate::behavior::evidence::{Claim, Evidence};
use crate::capability::types;
use crate::mcp::tool::Tool;

/// Which words of the server count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hints {
    /// Annotations and declared fields too.
    Heard,
    /// The recogniser alone: no annotations, no declared fields.
    Hidden,
}

/// A text that is no list of tools.
#[derive(Debug, thiserror::Error)]
pub enum NotTools {
    #[error("this is not JSON: {0}. Give the answer of tools/list, an object with `tools`, or an array of tools")]
    NotJson(#[from] serde_json::Error),
    #[error(
        "no list of tools in this JSON. Give the answer of tools/list, an object with `tools`, or an array of tools"
    )]
    NoList,
}

/// Classifies every tool of `input`, and returns a JSON array, one object per tool, in the order of the list.
///
/// `input` is a JSON-RPC `tools/list` response, an object with `tools`, or an array; entries without a name are left out.
///
/// # Errors
/// [`NotTools`] when `input` is none of these.
pub fn classify(input: &str, hints: Hints) -> Result<String, NotTools> {
    let mut input: Value = serde_json::from_str(input)?;
    let list = match &mut input {
        Value::Array(list) => std::mem::take(list),
        object => {
            let holder = if object.get("result").is_some() { &mut object["result"] } else { object };
            match holder.get_mut("tools") {
                Some(Value::Array(list)) => std::mem::take(list),
                _ => return Err(NotTools::NoList),
            }
        }
    };
    let rows: Vec<Value> = list.into_iter().filter_map(|definition| Some(row(&read(definition, hints)?))).collect();
    Ok(format!("{:#}\n", Value::Array(rows)))
}

/// Reads one definition as far as it is to be heard.
fn read(mut definition: Value, hints: Hints) -> Option<Tool> {
    if hints == Hints::Hidden
        && let Value::Object(fields) = &mut definition
    {
        for key in ["annotations", "_meta", "mutability", "action", "output_domain", "content_type"] {
            fields.remove(key);
        }
    }
    Tool::read(definition)
}

fn row(tool: &Tool) -> Value {
    let behavior: Behavior = conclude::of_tool(tool, Trust::Corroborate);
    let identity = behavior.identity;
    json!({
        "name": tool.name,
        "mutability": identity.mutability.word(),
        "action": identity.action.word(),
        "output_domain": identity.output_domain.word(),
        "content_type": behavior.content_type.word(),
        "identity": identity.hash(),
        "badge": behavior.badge().word(),
        "disputed": behavior.disputed,
        "evidence": behavior.evidence.iter().map(piece).collect::<Vec<_>>(),
        "capability": types::signature(tool),
    })
}

fn piece(evidence: &Evidence) -> Value {
    json!({ "source": evidence.source, "says": said(evidence.says), "span": evidence.span, "strength": evidence.strength })
}

/// A claim in one line: `PURE READ DATA`, `MUTATES`; empty where it is silent.
fn said(claim: Claim) -> String {
    let words = [
        claim.mutability.map(|word| word.word()),
        claim.action.map(|word| word.word()),
        claim.output_domain.map(|word| word.word()),
        claim.content_type.map(|word| word.word()),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
