//! Roles: which tools a person or agent may use, by capability tags and entitlements. No rule names one.

use serde::{Deserialize, Serialize};

use super::fit::rules_name;
use super::glob::Glob;
use crate::behavior::{Action, Behavior, Mutability, curated::Entitlement, tags};
use crate::mcp::Tool;
use crate::policy::profile::{self, Profile, Written};

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
        required.extend(tool.map(profile::required).unwrap_or_default());
        // Where the operator says something of a tool, our list does not.
        let curated = behavior.requires.filter(|_| by_operator.is_empty()).map(Entitlement::word);
        let all = required.iter().map(String::as_str).chain(curated);
        if let Some(missing) = all.clone().find(|one| !self.grants(server, one)) {
            return Some(Lacks::Entitlement(missing.to_owned()));
        }
        let mut capabilities = written(|one| &one.capabilities);
        if capabilities.is_empty() {
            capabilities = tool.map(profile::capabilities).unwrap_or_default();
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
    let of_it = tools.iter().filter(|one| one.is_for(rules_name(server), &tool.name));
    of_it.fold(Profile::of(tool, behavior), |profile, one| profile.with(&one.written))
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
