//! Roles: which tools a person or agent may use, by capability tags and entitlements; and the profile of a tool that they go by:
//! what it requires, its side effects and costs. `tags` makes its tags; what was observed is in the log. No rule names a role.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fit::rules_name;
use super::glob::Glob;
use crate::behavior::{Action, Behavior, Mutability, curated::Entitlement, tags};
use crate::mcp::Tool;
use crate::wire::words::words;

/// The roles that need no configuration, each with all that the one before it has.
const GIVEN: [(&str, &[&str]); 4] =
    [("viewer", &["*:read"]), ("analyst", &["*:read[?]"]), ("editor", &["*:write"]), ("admin", &["*"])];

/// One role: one of the given, or `[roles.NAME]` of `config.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    pub name: String,
    /// Tags that it grants: `documents:read`, `*:read`. None grants nothing; `*` grants every tool, known or not.
    pub capabilities: Vec<Glob>,
    /// Servers whose tools it may use; any where none is named.
    pub servers: Vec<Glob>,
    /// What it grants besides, on some servers only: inherited from a given role that the configuration limits to them.
    pub on_servers: Vec<OnServers>,
    pub tools: Vec<ToolProfile>,
}

/// Tags that are granted on these servers and on no others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnServers {
    pub servers: Vec<Glob>,
    pub capabilities: Vec<Glob>,
}

/// What the operator writes of some tools, `TOOL` or `SERVER/TOOL`: `[tools.NAME]` of `config.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolProfile {
    pub tools: Glob,
    pub written: Written,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lacks {
    Server,
    /// The role has none of these tags, which are the tool's; the list is empty where it is not known what the tool does.
    Capability(Vec<String>),
    /// The tool requires this, and the role does not grant it.
    Entitlement(String),
}

impl Role {
    /// `viewer`, `analyst`, `editor` and `admin`.
    pub fn given() -> Vec<Self> {
        let mut granted: Vec<Glob> = Vec::new();
        let role = |(name, more): &(&str, &[&str])| {
            granted.extend(more.iter().filter_map(|glob| Glob::new(glob).ok()));
            Self { name: (*name).to_owned(), capabilities: granted.clone(), ..Self::default() }
        };
        GIVEN.iter().map(role).collect()
    }

    /// What keeps the role from a tool of this name and server; `tool` is `None` where the server has not described it.
    ///
    /// What is required must be granted, all of it: by the operator, by the tool's server, or by our list. A tool that the
    /// operator or its server says this of needs nothing more. One with capabilities alone needs all of these, and any other needs
    /// one of its tags, which are several words for one capability.
    ///
    /// A read that no operator confirmed has tags of its own, `files:read?`, and a tool that may change something has no tag that
    /// says it reads: a role that grants `*:read` alone does not get it. Nor do words about reading alone open what was found to
    /// change something, or a call that does: its server may have written them.
    pub fn lacks(&self, server: &str, name: &str, tool: Option<&Tool>, behavior: &Behavior) -> Option<Lacks> {
        let server = rules_name(server);
        if !self.is_for(server) {
            return Some(Lacks::Server);
        }
        if self.grants_all(server) {
            return None;
        }
        let by_operator: Vec<&ToolProfile> = self.tools.iter().filter(|one| one.is_for(server, name)).collect();
        let written = |of: fn(&Written) -> &Option<Vec<String>>| -> Vec<String> {
            by_operator.iter().filter_map(|one| of(&one.written).clone()).flatten().collect()
        };
        let mut required = written(|one| &one.requires);
        required.extend(tool.map(self::required).unwrap_or_default());
        // Where the operator says something of a tool, our list does not.
        let curated = behavior.requires.filter(|_| by_operator.is_empty()).map(Entitlement::word);
        let all = required.iter().map(String::as_str).chain(curated);
        if let Some(missing) = all.clone().find(|one| !self.grants(server, one)) {
            return Some(Lacks::Entitlement(missing.to_owned()));
        }
        let mut capabilities = written(|one| &one.capabilities);
        if capabilities.is_empty() {
            capabilities = tool.map(self::capabilities).unwrap_or_default();
        }
        let words = if required.is_empty() { capabilities } else { required };
        let (mutability, action) = (behavior.identity.mutability, behavior.identity.action);
        let may_change = behavior.disputed || mutability == Mutability::Mutates && action != Action::Unknown;
        let reads_alone = words.iter().all(|word| word.ends_with(":read"));
        if !words.is_empty() && (!may_change || !reads_alone) {
            let missing: Vec<String> = words.into_iter().filter(|word| !self.grants(server, word)).collect();
            return (!missing.is_empty()).then_some(Lacks::Capability(missing));
        }
        let tags = tags::held(behavior, name);
        (!tags.iter().any(|tag| self.grants(server, tag))).then_some(Lacks::Capability(tags))
    }

    pub fn grants(&self, server: &str, tag: &str) -> bool {
        self.is_for(server) && self.granted(server).any(|glob| glob.matches(tag))
    }

    /// Whether it grants everything that a server has, known or not.
    pub fn grants_all(&self, server: &str) -> bool {
        self.is_for(server) && self.granted(server).any(|glob| glob.text() == "*")
    }

    fn is_for(&self, server: &str) -> bool {
        self.servers.is_empty() || self.servers.iter().any(|glob| glob.matches(rules_name(server)))
    }

    /// The tags that it grants on a server that it may use.
    pub fn granted<'a>(&'a self, server: &'a str) -> impl Iterator<Item = &'a Glob> {
        let server = rules_name(server);
        let here = self.on_servers.iter().filter(move |one| one.servers.iter().any(|glob| glob.matches(server)));
        self.capabilities.iter().chain(here.flat_map(|one| &one.capabilities))
    }
}

/// The profile of a tool with what the operator writes of it; of several tables the last counts.
pub fn profile_of(tools: &[ToolProfile], server: &str, tool: &Tool, behavior: &Behavior) -> Profile {
    let of_it: Vec<_> = tools.iter().filter(|one| one.is_for(rules_name(server), &tool.name)).collect();
    let mut profile = Profile::of(tool, behavior);
    // Where the operator says something of a tool, our list does not: as in [`Role::lacks`].
    if let Some(ours) = behavior.requires.filter(|_| !of_it.is_empty()) {
        let said = required(tool);
        profile.requires.retain(|one| one != ours.word() || said.contains(one));
    }
    of_it.into_iter().fold(profile, |profile, one| profile.with(&one.written))
}

impl ToolProfile {
    /// Whether it is about this tool of the server with this name in rules.
    pub fn is_for(&self, server: &str, tool: &str) -> bool {
        self.tools.matches(tool) || self.tools.matches(&format!("{server}/{tool}"))
    }
}

impl Lacks {
    /// In words that follow the role's name. Foreign text in it, raw.
    pub fn words(&self) -> String {
        match self {
            Self::Server => "is for other servers".to_owned(),
            Self::Capability(tags) if tags.is_empty() => "does not grant a tool whose effect is unknown".to_owned(),
            Self::Capability(tags) => format!("does not grant {}", tags.join(" or ")),
            Self::Entitlement(required) => format!("does not grant {required}, which the tool requires"),
        }
    }
}

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
    /// Who says so; `None` where that is what we found.
    pub effects_author: Option<Author>,
    pub idempotence_author: Option<Author>,
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
        let effects = says("side_effects").into_iter().filter_map(|word| SideEffects::from_word(word.as_str()?)).max();
        let found = match (identity.mutability, identity.action) {
            (Mutability::Pure, _) => SideEffects::None,
            (Mutability::Mutates, Action::Delete) => SideEffects::Delete,
            (Mutability::Mutates, _) => SideEffects::Write,
        };
        let idempotent: Vec<bool> = says("idempotent").into_iter().filter_map(Value::as_bool).collect();
        // A hint says nothing about a tool that only reads.
        let hint = tool.annotations.idempotent.or(idempotent.first().copied());
        Self {
            side_effects: effects.map_or(found, |said| said.max(found)),
            effects_author: effects.filter(|said| *said >= found).map(|_| Author::Server),
            idempotence_author: None,
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
        if let Some(side_effects) = written.side_effects {
            (self.side_effects, self.effects_author) = (side_effects, Some(Author::Operator));
        }
        if let Some(idempotent) = written.idempotent {
            self.idempotence = if idempotent { Idempotence::Yes } else { Idempotence::No };
            self.idempotence_author = Some(Author::Operator);
        }
        let more = written.requires.iter().flatten().filter(|one| !self.requires.contains(one));
        self.requires = more.cloned().chain(self.requires.iter().cloned()).collect();
        self
    }

    /// Side effects and idempotence in words, and who says so: `read, says its server; idempotent: yes`.
    pub fn effects(&self) -> String {
        let says = |author: Option<Author>| author.map(|author| format!(", {}", author.says())).unwrap_or_default();
        let (effects, idempotence) = (says(self.effects_author), says(self.idempotence_author));
        format!("{}{effects}; idempotent: {}{idempotence}", self.side_effects.word(), self.idempotence.word())
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

/// Who says that a tool requires this word, in words.
pub fn requires(tool: &Tool, behavior: &Behavior, word: &str) -> &'static str {
    if required(tool).iter().any(|one| one == word) {
        Author::Server.says()
    } else if behavior.requires.is_some_and(|ours| ours.word() == word) {
        "says our list of well-known servers"
    } else {
        Author::Operator.says()
    }
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
