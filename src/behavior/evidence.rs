//! One reason for an identity, with where it comes from.

use serde::{Deserialize, Serialize};

use super::taxonomy::{Action, ContentType, Mutability, OutputDomain};

/// Where a piece of evidence comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Said by the operator.
    Pinned,
    /// Said by our list of well-known servers, for exactly this definition.
    Curated,
    /// Said by the tool in the three fields.
    Declared,
    /// Said by the tool in MCP's hints.
    Annotated,
    /// Read off name, description and schemas by the recogniser.
    Inferred,
    /// Read off the arguments of this very call.
    Arguments,
}

/// How much a piece of evidence weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    Weak,
    Fair,
    Strong,
}

/// What one piece of evidence says; `None` where it is silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub mutability: Option<Mutability>,
    pub action: Option<Action>,
    pub output_domain: Option<OutputDomain>,
    pub content_type: Option<ContentType>,
}

/// One reason for an identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub source: Source,
    pub says: Claim,
    /// The words that prove it, as they stand in the definition or the arguments: foreign text.
    pub span: String,
    pub strength: Strength,
}
