//! Our list of well-known servers: reviewed identities, each for exactly one definition of one package's tool.
//!
//! The lists lie in `assets/identities/`, one file a package, and are read one at a time, when that package is run.
//! A tool whose definition is another than the reviewed one is not on the list. Made by `tests/bench/curate.rs`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::arguments::sql::Dialect;
use super::evidence::{Claim, Evidence, Source, Strength};
use super::identity::Identity;
use super::shape::{Given, Roles};
use super::taxonomy::{ContentType, Mutability};
use crate::mcp::Tool;
use crate::wire::{Digest, words::words};

pub const LISTS: &[(&str, &str)] = include!("../../assets/identities.rs");

words! {
    /// What a curated package requires of whoever changes something with it, in a role's words: things and an act.
    Entitlement {
        Containers = "containers:write",
        Databases = "databases:write",
        Files = "files:write",
        Issues = "issues:write",
        Memories = "memories:write",
        Messages = "messages:send",
        Pages = "pages:write",
        Repositories = "repositories:write",
    }
}

/// What a reviewer found of one definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reviewed {
    pub identity: Identity,
    pub content_type: Option<ContentType>,
    /// What a role must grant for it, where the operator says nothing of the tool.
    pub requires: Option<Entitlement>,
    /// Which of its calls only read, where it changes something.
    pub reading: Option<Arc<Reading>>,
    /// The package, `npm:NAME` or `pypi:NAME`.
    pub package: &'static str,
}

impl Reviewed {
    pub fn evidence(&self) -> Evidence {
        let but = self.reading.as_ref().map(|reading| format!("; {}", reading.says())).unwrap_or_default();
        evidence(self.identity, self.content_type, format!("reviewed for this definition of {}{but}", self.package))
    }
}

fn evidence(identity: Identity, content_type: Option<ContentType>, span: String) -> Evidence {
    Evidence { source: Source::Curated, says: Claim::of(identity, content_type), span, strength: Strength::Strong }
}

/// The calls of a tool that changes something which only read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// What such a call is.
    #[serde(rename = "as")]
    pub identity: String,
    /// It has each of these members, with exactly this value.
    #[serde(default)]
    pub with: BTreeMap<String, Value>,
    #[serde(default)]
    pub without: BTreeSet<String>,
}

impl Reading {
    /// What a call of a tool with this definition is; `None` where it does not read, or has a key that is not declared.
    pub fn of_call(&self, tool: &Tool, arguments: &Value) -> Option<(Identity, Evidence)> {
        let (given, declared) = (arguments.as_object()?, tool.input_schema.get("properties")?.as_object()?);
        let is_known = |key: &String| declared.contains_key(key) && !self.without.contains(key);
        let reads = given.keys().all(is_known) && self.with.iter().all(|(key, value)| given.get(key) == Some(value));
        let identity = self.identity().filter(|_| reads)?;
        Some((identity, evidence(identity, None, self.says())))
    }

    /// `None` where it reads nothing, or every call would be one.
    fn identity(&self) -> Option<Identity> {
        let identity: Identity = self.identity.parse().ok()?;
        let says_when = !self.with.is_empty() || !self.without.is_empty();
        (says_when && identity.mutability == Mutability::Pure && identity.action.reads()).then_some(identity)
    }

    fn says(&self) -> String {
        let with = self.with.iter().map(|(key, value)| format!("with {key} = {value}"));
        let all: Vec<String> = with.chain(self.without.iter().map(|key| format!("without {key}"))).collect();
        format!("it only reads {}", all.join(", "))
    }
}

/// The list of one package: of each tool its name, its definition, and what was found of it and of its parameters.
#[derive(Clone, Debug, Default)]
pub struct Curated {
    tools: Vec<(String, Digest, Reviewed, Arc<Given>)>,
}

/// One file of `assets/identities/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    pub package: String,
    /// The version that was looked at; others count as far as their definitions are the same.
    pub version: String,
    /// What each tool that may change something requires, where that is plain.
    pub changing_requires: Option<Entitlement>,
    /// Hosts that the server may read from unasked: as an agreement about a host names them.
    #[serde(default)]
    pub hosts: Vec<String>,
    #[serde(rename = "tool")]
    pub tools: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub name: String,
    /// SHA-256 of the canonical definition, 64 hex characters.
    pub digest: String,
    /// `MUTABILITY|ACTION|OUTPUT_DOMAIN`.
    pub identity: String,
    pub content_type: Option<ContentType>,
    /// Reading roles by key, each `ROLE` or `ROLE|ROLE`.
    #[serde(default)]
    pub roles: HashMap<String, String>,
    /// By key, the switches and members of enums that read.
    #[serde(default)]
    pub reads: HashMap<String, Vec<Value>>,
    pub dialect: Option<Dialect>,
    pub reading: Option<Reading>,
}

impl Row {
    /// What is said of its parameters; `None` where a word of it is unknown.
    fn given(mut self, hosts: &Arc<[String]>) -> Option<Given> {
        let role = |(key, words): (String, String)| Some((key, Roles::from_words(&words)?));
        let roles = self.roles.into_iter().map(role).collect::<Option<_>>()?;
        for (key, value) in self.reading.into_iter().flat_map(|reading| reading.with) {
            self.reads.entry(key).or_default().push(value);
        }
        Some(Given { roles, reads: self.reads, dialect: self.dialect, hosts: Arc::clone(hosts) })
    }
}

impl Curated {
    /// The list of one package; empty where we have none.
    pub fn of_package(package: &str) -> Self {
        let list = LISTS.iter().find(|(known, _)| *known == package);
        list.map(|(known, text)| Self::read(known, text)).unwrap_or_default()
    }

    pub fn find(&self, digest: &Digest) -> Option<Reviewed> {
        self.tools.iter().find(|(_, known, ..)| known == digest).map(|(_, _, reviewed, _)| reviewed.clone())
    }

    pub fn given(&self, digest: &Digest) -> Option<Arc<Given>> {
        self.tools.iter().find(|(_, known, ..)| known == digest).map(|(.., given)| Arc::clone(given))
    }

    /// A row that does not parse is left out, and a test sees to it that none is.
    pub fn read(package: &'static str, text: &str) -> Self {
        let Ok(List { tools, changing_requires, hosts, .. }) = toml::from_str(text) else { return Self::default() };
        let hosts = hosts.into();
        let read = |row: Row| {
            let identity: Identity = row.identity.parse().ok()?;
            let requires = changing_requires.filter(|_| identity.mutability == Mutability::Mutates);
            let reading = row.reading.clone().map(Arc::new);
            reading.as_ref().map_or(Some(identity), |reading| reading.identity())?;
            let reviewed = Reviewed { identity, content_type: row.content_type, requires, reading, package };
            Some((row.name.clone(), row.digest.parse().ok()?, reviewed, Arc::new(row.given(&hosts)?)))
        };
        Self { tools: tools.into_iter().filter_map(read).collect() }
    }
}

/// Each tool of a package's list: its name, the definition that was reviewed, and what was found of it. Empty where we have none.
pub fn tools(package: &str) -> Vec<(String, Digest, Reviewed)> {
    let tools = Curated::of_package(package).tools.into_iter();
    tools.map(|(name, digest, reviewed, _)| (name, digest, reviewed)).collect()
}

/// What any list says of a definition, whatever runs it: for listings only, where nothing is called.
pub fn of_any_package(digest: &Digest) -> Option<Reviewed> {
    let text = digest.to_string();
    let (package, list) = LISTS.iter().find(|(_, list)| list.contains(&text))?;
    Curated::read(package, list).find(digest)
}
