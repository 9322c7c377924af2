//! Our list of well-known servers: reviewed identities, each for exactly one definition of one package's tool.
//!
//! The lists lie in `assets/identities/`, one file a package, and are read one at a time, when that package is run.
//! A tool whose definition is another than the reviewed one is not on the list. Made by `tests/bench/curate.rs`.

mod table;

use std::collections::HashMap;

use serde::Deserialize;

use super::evidence::{Claim, Evidence, Source, Strength};
use super::identity::Identity;
use super::taxonomy::{ContentType, Mutability};
use crate::wire::digest::Digest;
use crate::wire::words::words;

pub use table::LISTS;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reviewed {
    pub identity: Identity,
    pub content_type: Option<ContentType>,
    /// What a role must grant for it, where the operator says nothing of the tool.
    pub requires: Option<Entitlement>,
    /// The package, `npm:NAME` or `pypi:NAME`.
    pub package: &'static str,
}

impl Reviewed {
    /// The finding as evidence.
    pub fn evidence(self) -> Evidence {
        Evidence {
            source: Source::Curated,
            says: Claim::of(self.identity, self.content_type),
            span: format!("reviewed for this definition of {}", self.package),
            strength: Strength::Strong,
        }
    }
}

/// The list of one package, by tool definition.
#[derive(Clone, Debug, Default)]
pub struct Curated {
    by_digest: HashMap<Digest, Reviewed>,
}

/// One file of `assets/identities/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// `npm:NAME` or `pypi:NAME`.
    pub package: String,
    /// The version that was looked at; others count as far as their definitions are the same.
    pub version: String,
    /// What each tool that may change something requires, where that is plain.
    pub changing_requires: Option<Entitlement>,
    #[serde(rename = "tool")]
    pub tools: Vec<Row>,
}

/// One reviewed definition.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub name: String,
    /// SHA-256 of the canonical definition, 64 hex characters.
    pub digest: String,
    /// `MUTABILITY|ACTION|OUTPUT_DOMAIN`.
    pub identity: String,
    pub content_type: Option<ContentType>,
}

impl Curated {
    /// The list of one package; empty where we have none.
    pub fn of_package(package: &str) -> Self {
        LISTS
            .iter()
            .find(|(known, _)| *known == package)
            .map(|(known, text)| Self::read(known, text))
            .unwrap_or_default()
    }

    /// What was found of a definition; `None` where it was not reviewed.
    pub fn find(&self, digest: &Digest) -> Option<Reviewed> {
        self.by_digest.get(digest).copied()
    }

    /// A row that does not parse is left out, and a test sees to it that none is.
    fn read(package: &'static str, text: &str) -> Self {
        let Ok(List { tools, changing_requires, .. }) = toml::from_str(text) else { return Self::default() };
        let read = |row: Row| {
            let identity: Identity = row.identity.parse().ok()?;
            let requires = changing_requires.filter(|_| identity.mutability == Mutability::Mutates);
            Some((row.digest.parse().ok()?, Reviewed { identity, content_type: row.content_type, requires, package }))
        };
        Self { by_digest: tools.into_iter().filter_map(read).collect() }
    }
}

/// What any list says of a definition, whatever runs it: for listings only, where nothing is called.
pub fn of_any_package(digest: &Digest) -> Option<Reviewed> {
    let text = digest.to_string();
    let (package, list) = LISTS.iter().find(|(_, list)| list.contains(&text))?;
    Curated::read(package, list).find(digest)
}
