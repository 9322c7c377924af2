//! The behavioral identity: three words, and their hash.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::taxonomy::{Action, Mutability, OutputDomain};
use crate::wire::digest::Digest;

/// The three words; the hash is the first 16 hex characters of SHA-256 over them, joined by `|` (paper, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    pub mutability: Mutability,
    pub action: Action,
    pub output_domain: OutputDomain,
}

impl Identity {
    /// Not known: treated as MUTATES.
    pub const UNKNOWN: Self =
        Self { mutability: Mutability::Mutates, action: Action::Unknown, output_domain: OutputDomain::Unknown };

    pub fn all() -> impl Iterator<Item = Self> {
        Mutability::ALL.iter().flat_map(|&mutability| {
            let of = move |&action| {
                OutputDomain::ALL.iter().map(move |&output_domain| Self { mutability, action, output_domain })
            };
            Action::ALL.iter().flat_map(of)
        })
    }

    /// The same with another mutability, and with an action that agrees with it: PURE reads or searches, and nothing else does.
    pub fn with_mutability(self, mutability: Mutability) -> Self {
        let action = match mutability {
            _ if self.action.reads() == (mutability == Mutability::Pure) => self.action,
            Mutability::Pure => Action::Read,
            Mutability::Mutates => Action::Unknown,
        };
        Self { mutability, action, ..self }
    }

    /// The three words, as [`Display`](std::fmt::Display) writes them.
    pub fn words(&self) -> &'static str {
        &self.texts().0
    }

    /// The hash, 16 lower-case hex characters.
    pub fn hash(&self) -> &'static str {
        &self.texts().1
    }

    /// The words and the hash: every call asks for those of a few identities again.
    fn texts(&self) -> &'static (String, String) {
        static TEXTS: LazyLock<HashMap<Identity, (String, String)>> = LazyLock::new(|| {
            let texts = |words: String| (words.clone(), Digest::of(words.as_bytes()).short());
            Identity::all().map(|one| (one, texts(one.to_string()))).collect()
        });
        &TEXTS[self]
    }
}

impl std::str::FromStr for Identity {
    type Err = NotAnIdentity;

    /// Reads the three words, as [`Display`](std::fmt::Display) writes them.
    fn from_str(text: &str) -> Result<Self, NotAnIdentity> {
        let words: Vec<&str> = text.split('|').collect();
        let [mutability, action, output_domain] = words[..] else { return Err(NotAnIdentity) };
        let words = (mutability.parse(), action.parse(), output_domain.parse());
        let (Ok(mutability), Ok(action), Ok(output_domain)) = words else { return Err(NotAnIdentity) };
        Ok(Self { mutability, action, output_domain })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write an identity as MUTABILITY|ACTION|OUTPUT_DOMAIN, like MUTATES|OVERWRITE|CONTENT")]
pub struct NotAnIdentity;

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}|{}|{}", self.mutability.word(), self.action.word(), self.output_domain.word())
    }
}
