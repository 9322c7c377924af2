//! The tool capability profile: side effects, idempotence, costs. Its tags are made by `tags`; what was observed of a tool is
//! in the log.

use serde_json::Value;

use super::conclude::Behavior;
use super::taxonomy::{Action, Mutability};
use crate::mcp::tool::Tool;
use crate::wire::words::words;

words! {
    SideEffects {
        None = "none",
        Write = "write",
        Delete = "delete",
    }
}

words! {
    /// Whether calling a tool twice with the same arguments is as good as once.
    Idempotence {
        /// It changes nothing, or leaves the same thing behind.
        Yes = "yes",
        No = "no",
        /// Its server says so; nothing confirms it.
        Said = "says its server",
        Unknown = "unknown",
    }
}

words! {
    /// What a call costs, as the server says.
    CostTier {
        Free = "free",
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

/// What a tool can do, as a role would name it. What its server declares, at the definition's top or in `_meta`, makes it no
/// safer than it was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub side_effects: SideEffects,
    pub idempotence: Idempotence,
    /// `None` where the server does not say.
    pub cost: Option<CostTier>,
    /// How long a call takes, as the server says; `None` where it does not.
    pub latency_ms: Option<u64>,
    /// The tags that the server gives the tool: for people, granted by nothing. Foreign text.
    pub capabilities: Vec<String>,
    /// What its server declares, as [`required`], and what our list of well-known servers says.
    pub requires: Vec<String>,
}

impl Profile {
    /// The profile of a tool that is known to be this.
    pub fn of(tool: &Tool, behavior: &Behavior) -> Self {
        let identity = behavior.identity;
        let says = |key: &str| declared(tool, key);
        let effects = says("side_effects").into_iter().filter_map(|word| SideEffects::from_word(word.as_str()?));
        let found = match (identity.mutability, identity.action) {
            (Mutability::Pure, _) => SideEffects::None,
            (Mutability::Mutates, Action::Delete) => SideEffects::Delete,
            (Mutability::Mutates, _) => SideEffects::Write,
        };
        let idempotent: Vec<bool> = says("idempotent").into_iter().filter_map(Value::as_bool).collect();
        // A hint says nothing about a tool that only reads.
        let hint = tool.annotations.idempotent.or(idempotent.first().copied());
        Self {
            side_effects: effects.chain([found]).max().unwrap_or(found),
            idempotence: match (identity.mutability, identity.action, hint) {
                _ if idempotent.contains(&false) => Idempotence::No,
                (Mutability::Pure, _, _) => Idempotence::Yes,
                (_, _, Some(false)) | (_, Action::Append | Action::Send | Action::Execute, _) => Idempotence::No,
                (_, Action::Overwrite, _) => Idempotence::Yes,
                (_, _, Some(true)) => Idempotence::Said,
                // What it took away the first time is not there the second time.
                (_, Action::Create | Action::Delete, None) => Idempotence::No,
                (_, _, None) => Idempotence::Unknown,
            },
            cost: says("cost_tier").into_iter().filter_map(|word| CostTier::from_word(word.as_str()?)).max(),
            latency_ms: says("estimated_latency_ms").into_iter().filter_map(Value::as_u64).max(),
            capabilities: says("capabilities").into_iter().filter_map(|tag| Some(tag.as_str()?.to_owned())).collect(),
            requires: required(tool).into_iter().chain(behavior.requires.map(|one| one.word().to_owned())).collect(),
        }
    }

    /// What the server says that a call costs, in words: `medium, 500 ms`.
    pub fn said(&self) -> Option<String> {
        let parts = [self.cost.map(|tier| tier.word().to_owned()), self.latency_ms.map(|ms| format!("{ms} ms"))];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        Some(parts.join(", ")).filter(|said| !said.is_empty())
    }
}

/// What the tool's declared profile requires of whoever uses it: `required_entitlements` at its top or in `_meta`. The
/// server's word can only tighten: an entry that is not a string is required as its JSON text, so that only `*` grants
/// it.
pub fn required(tool: &Tool) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    declared(tool, "required_entitlements").into_iter().map(text).collect()
}

/// What the server declares under a key of the profile, at the definition's top and in `_meta`.
fn declared<'t>(tool: &'t Tool, key: &str) -> Vec<&'t Value> {
    let places = [Some(&tool.definition), tool.definition.get("_meta")];
    let values = places.into_iter().flatten().filter_map(|place| place.get(key));
    values.flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)).collect()
}
