//! What differs between two definitions of a tool, by place: `- /description: …`, `+ /description: …`.

use serde_json::Value;

use super::reading::StoredTool;
use super::store::{PinStore, PinsError};
use crate::capability::{set::Growth, types};
use crate::gate::data::pin::PinState;
use crate::mcp::Tool;
use crate::wire::fold::in_pointer;

pub use super::columns::{Argument, arguments};

/// A difference. Foreign text in both, raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// A JSON pointer.
    pub place: String,
    /// The JSON text before and after; `None` where there was none.
    pub before: Option<String>,
    pub after: Option<String>,
}

/// A capability that was not accepted, or that is wider than what was. Foreign text in it, raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grown {
    /// Its signature, with its result type if that has changed.
    pub now: String,
    /// The signature that was accepted; `None` for a new tool.
    pub before: Option<String>,
}

impl Grown {
    pub fn words(&self) -> String {
        match &self.before {
            Some(before) => format!("wider capability: {}; it was {before}", self.now),
            None => format!("new capability: {}", self.now),
        }
    }
}

impl PinStore {
    /// What differs between the definition of a tool that is trusted and the one seen last; nothing where none is trusted.
    pub fn changes(&self, known: &StoredTool) -> Result<Vec<Diff>, PinsError> {
        let before = self.trusted(known)?;
        Ok(before.map(|before| changes(&before.definition, &known.tool.definition)).unwrap_or_default())
    }

    /// What this tool can do beyond its trusted definition; `None` if nothing.
    pub fn grown(&self, known: &StoredTool) -> Result<Option<Grown>, PinsError> {
        let gives = |tool: &Tool| types::result(tool).unwrap_or_else(|| "anything".to_owned());
        if known.pin_state == PinState::New {
            return Ok(Some(Grown { now: types::signature(&known.tool), before: None }));
        }
        let before = self.trusted(known)?.filter(|before| Growth::between(before, &known.tool) == Growth::Wider);
        Ok(before.map(|before| {
            let differs = gives(&before) != gives(&known.tool);
            let whole = |tool: &Tool| match differs {
                true => format!("{}, which is {}", types::signature(tool), gives(tool)),
                false => types::signature(tool),
            };
            Grown { now: whole(&known.tool), before: Some(whole(&before)) }
        }))
    }

    /// The trusted definition of a tool, if it is not the one seen last.
    pub fn trusted(&self, known: &StoredTool) -> Result<Option<Tool>, PinsError> {
        let before = match known.pin.trusted {
            Some(digest) if digest != known.pin.latest => self.definition(digest)?,
            _ => None,
        };
        Ok(before.and_then(|text| Tool::read(serde_json::from_str(&text).ok()?)))
    }
}

/// In the order of the new definition.
fn changes(before: &Value, after: &Value) -> Vec<Diff> {
    let mut found = Vec::new();
    compare(String::new(), Some(before), Some(after), &mut found);
    found
}

fn compare(place: String, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<Diff>) {
    match (before, after) {
        (Some(before), Some(after)) if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let gone = before.keys().filter(|key| !after.contains_key(*key));
            for key in after.keys().chain(gone) {
                let place = format!("{place}/{}", in_pointer(key));
                compare(place, before.get(key), after.get(key), found);
            }
        }
        (before, after) => {
            let text = |value: Option<&Value>| value.map(Value::to_string);
            found.push(Diff { place, before: text(before), after: text(after) });
        }
    }
}
