//! What an operator may say of a tool's definition with a held call, and what is kept of it: data only.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::behavior::identity::Identity;
use crate::wire::digest::Digest;

/// What one word of the operator about the definition would settle, on the card of a call that asks for nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "offer", rename_all = "kebab-case")]
pub enum PinOffer {
    /// The call asks only because no operator has confirmed yet that its tool reads.
    Reads,
    /// The call asks only because these parameters of its tool have values that are not explained. Foreign text.
    PlainText { parameters: Vec<String> },
}

/// What the operator says of the definition of the tool of a held call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolWord {
    /// It only reads, as it was concluded; and this call is approved.
    Reads,
    /// It changes something; this call waits on.
    Changes,
    /// The parameters that the card offers are plain text; this call is judged again.
    PlainText,
}

impl ToolWord {
    /// The word in records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reads => "it reads",
            Self::Changes => "it changes something",
            Self::PlainText => "plain text",
        }
    }
}

/// What is kept of one definition of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinning {
    pub tool: String,
    /// The digest of the definition.
    pub definition: Digest,
    /// What the definition was concluded to be when this was said.
    pub is: Identity,
    pub says: PinWord,
}

/// What a definition is said to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinWord {
    Is(Identity),
    /// These parameters are plain text, besides those that are so already.
    PlainText(Vec<String>),
}

impl fmt::Display for PinWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(identity) => write!(f, "pinned as {identity}"),
            Self::PlainText(names) => write!(f, "pinned as plain text: {}", names.join(", ")),
        }
    }
}
