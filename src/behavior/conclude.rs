//! Joins all evidence into one conclusion: pinned, else curated, else the most cautious of the rest; arguments only raise.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::evidence::Evidence;
use super::hazards::Hazard;
use super::identity::Identity;
use super::taxonomy::{ContentType, Mutability};
use crate::mcp::tool::Tool;

/// How far a server's own words may lower a risk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Its words may show a call PURE when nothing contradicts them.
    #[default]
    Corroborate,
    /// Its annotations are believed as they stand.
    Annotations,
    /// Nothing it says lowers a risk.
    None,
}

/// What is concluded about a tool, or about one call of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behavior {
    pub identity: Identity,
    pub content_type: ContentType,
    pub evidence: Vec<Evidence>,
    /// Evidence contradicts itself: MUTATES, and on the review list.
    pub disputed: bool,
    pub hazards: Vec<Hazard>,
}

impl Behavior {
    /// A tool that nobody described.
    pub fn unknown() -> Self {
        Self {
            identity: Identity::UNKNOWN,
            content_type: ContentType::Unknown,
            evidence: Vec::new(),
            disputed: false,
            hazards: Vec::new(),
        }
    }

    /// The badge.
    pub fn badge(&self) -> Mutability {
        self.identity.mutability
    }
}

/// Concludes about a tool from its definition alone.
pub fn of_tool(_tool: &Tool, _trust: Trust) -> Behavior {
    todo!()
}

/// Concludes about one call: the tool's behavior, raised (never lowered) by what the arguments show.
///
/// `text` is the arguments' exact JSON text, `arguments` the same parsed; `tool` is `None` for one nobody described.
pub fn of_call(_tool: Option<&Tool>, _described: &Behavior, _text: &str, _arguments: &Value) -> Behavior {
    todo!()
}

/// Why this call must not be approved by one careless key, in our words; `None` when one key may do.
///
/// DELETE, EXECUTE, SEND, MERGE, MONEY, OVERWRITE, UNKNOWN, and any hazard.
pub fn danger(_behavior: &Behavior) -> Option<String> {
    todo!()
}
