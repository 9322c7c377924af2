//! The tool capability profile: side effects, idempotence, costs. `tags` makes its tags; what was observed is in the log.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::behavior::{Action, Behavior, Mutability};
use crate::mcp::Tool;
use crate::wire::words::words;

words! {
    SideEffects {
        None = "none",
        Read = "read",
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
    CostTier {
        Free = "free",
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

/// What the operator writes of some tools: each key counts instead of what their server declares of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Written {
    /// What a role must grant, all of it, beside what the server requires.
    pub requires: Option<Vec<String>>,
    /// The tool's capabilities: what a role must grant where nothing is required.
    pub capabilities: Option<Vec<String>>,
    pub cost: Option<CostTier>,
    pub latency_ms: Option<u64>,
    pub side_effects: Option<SideEffects>,
    pub idempotent: Option<bool>,
}

words! {
    /// Who says a part of a profile.
    Author {
        Operator = "operator",
        Server = "server",
    }
}

impl Author {
    /// In words: `2 s, says its server`.
    pub fn says(self) -> &'static str {
        match self {
            Self::Operator => "says your config.toml",
            Self::Server => "says its server",
        }
    }
}

/// What a tool can do, as a role would name it. What its server declares makes it no safer than it was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub side_effects: SideEffects,
    pub idempotence: Idempotence,
    /// `None` where the server does not say.
    pub cost: Option<CostTier>,
    /// How long a call takes, as the server says; `None` where it does not.
    pub latency_ms: Option<u64>,
    /// Who says what it costs and how long it takes.
    pub cost_author: Author,
    /// The tags that the operator, or else the server, gives the tool. Foreign text.
    pub capabilities: Vec<String>,
    pub capabilities_author: Author,
    /// What the operator writes, what its server declares, as [`required`], and what our list of well-known servers says.
    pub requires: Vec<String>,
    pub version: Option<u64>,
}

impl Profile {
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
            cost_author: Author::Server,
            capabilities: capabilities(tool),
            capabilities_author: Author::Server,
            version: says("version").into_iter().find_map(Value::as_u64),
            requires: required(tool).into_iter().chain(behavior.requires.map(|one| one.word().to_owned())).collect(),
        }
    }

    /// The same with what the operator writes of the tool.
    #[must_use]
    pub fn with(mut self, written: &Written) -> Self {
        if written.cost.is_some() || written.latency_ms.is_some() {
            (self.cost, self.latency_ms, self.cost_author) = (written.cost, written.latency_ms, Author::Operator);
        }
        if let Some(capabilities) = &written.capabilities {
            (self.capabilities, self.capabilities_author) = (capabilities.clone(), Author::Operator);
        }
        self.side_effects = written.side_effects.unwrap_or(self.side_effects);
        self.idempotence = match written.idempotent {
            Some(true) => Idempotence::Yes,
            Some(false) => Idempotence::No,
            None => self.idempotence,
        };
        let more = written.requires.iter().flatten().filter(|one| !self.requires.contains(one));
        self.requires = more.cloned().chain(self.requires.iter().cloned()).collect();
        self
    }

    /// What a call costs, in words, and who says so: `medium, 500 ms`.
    pub fn said(&self) -> Option<(String, Author)> {
        let parts = [self.cost.map(|tier| tier.word().to_owned()), self.latency_ms.map(|ms| format!("{ms} ms"))];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| (parts.join(", "), self.cost_author))
    }
}

/// What the tool's `required_entitlements` (at its top or in `_meta`) require of whoever uses it. The server's word can only
/// tighten: an entry that is not a string is required as its JSON text, so that only `*` grants it.
pub fn required(tool: &Tool) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    declared(tool, "required_entitlements").into_iter().map(text).collect()
}

/// The capabilities that the tool's server declares. Foreign text.
pub fn capabilities(tool: &Tool) -> Vec<String> {
    declared(tool, "capabilities").into_iter().filter_map(|tag| Some(tag.as_str()?.to_owned())).collect()
}

/// What the server declares under a key of the profile, at the definition's top and in `_meta`.
fn declared<'t>(tool: &'t Tool, key: &str) -> Vec<&'t Value> {
    let places = [Some(&tool.definition), tool.definition.get("_meta")];
    let values = places.into_iter().flatten().filter_map(|place| place.get(key));
    values.flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)).collect()
}
