//! What an operator may settle with a held call beside the call itself: what its tool is, and what is agreed to. Data only.

use serde::{Deserialize, Serialize};

use crate::behavior::identity::Identity;
use crate::wire::digest::Digest;

/// What one key of the operator would settle, on the card of a call that asks for nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PinOffer {
    pub tool: ToolOffer,
    /// What `p` remembers of the call, each in one line; none where nothing is new. Foreign text.
    pub agree: Vec<String>,
    /// The keys under which `w` takes any text from now on; none where something else is new too. Foreign text.
    pub any_text: Vec<String>,
    pub remembers: Remembers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolOffer {
    Proven,
    /// No operator has confirmed yet that it reads.
    Likely,
}

/// Whether `p` can settle everything that the call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remembers {
    All,
    /// Something of it asks every time.
    Nothing,
}

/// What the operator says with a held call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolWord {
    /// Its tool only reads, as it was concluded, and what is new about the call is agreed to; and this call is approved.
    Reads,
    /// Its tool changes something; this call waits on.
    Changes,
    /// Any text is agreed to under the keys that the card offers; this call is judged again.
    PlainText,
}

impl ToolWord {
    pub fn word(self) -> &'static str {
        match self {
            Self::Reads => "it reads",
            Self::Changes => "it changes something",
            Self::PlainText => "any text",
        }
    }
}

/// What is kept of one definition of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinning {
    pub tool: String,
    pub definition: Digest,
    /// What the definition was concluded to be when this was said.
    pub is: Identity,
    pub says: Identity,
}
