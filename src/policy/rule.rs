//! The rules as data: what a policy file says once it is read. Owns no matching.

use serde::{Deserialize, Serialize};

use crate::behavior::taxonomy::{Action, Mutability};
use crate::wire::digest::Digest;

/// What a rule, a default or a policy says of a call. Ordered: the strictest of several is the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    Allow,
    Ask,
    Deny,
}

impl Decision {
    /// The word in files, records and answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// `[defaults]`: what applies where no rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defaults {
    pub pure: Decision,
    /// Never `Allow`.
    pub mutates: Decision,
    pub hazard: Decision,
}

/// One `[[rule]]`.
#[derive(Clone, Debug)]
pub struct Rule {
    pub id: String,
    pub decision: Decision,
    /// Globs over the server's name; empty means any.
    pub server: Vec<globset::GlobMatcher>,
    /// Globs over the tool's name; empty means any. `mcp__server__tool` is understood.
    pub tool: Vec<globset::GlobMatcher>,
    pub mutability: Option<Mutability>,
    /// Any of these; empty means any.
    pub action: Vec<Action>,
    pub note: Option<String>,
    /// Line in its file, from 1.
    pub line: usize,
}

/// Rules of all layers pooled, with the defaults; or what stands in for a broken file.
#[derive(Clone, Debug)]
pub struct Policy {
    pub defaults: Defaults,
    pub rules: Vec<Rule>,
    /// Whether allows count. `false` while the file is broken: everything that is not denied asks.
    pub allows_stand: bool,
    /// Digest of the text it was read from.
    pub digest: Digest,
    /// What the operator must be told: a broken file with line and mend. `None` when all is well.
    pub banner: Option<String>,
}
