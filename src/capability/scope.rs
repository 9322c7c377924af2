//! The scope: which capabilities this wrapper may use. `Effective = Caps(S) ∩ Scope`.

use std::collections::BTreeSet;

/// What a wrapper may use of its server's capabilities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Everything the server has.
    #[default]
    Whole,
    /// Only tools of these names.
    Only(BTreeSet<String>),
}

/// Proof that a tool lies in the scope. Only [`Scope::admit`] makes one.
#[derive(Debug)]
#[must_use = "a proof that is dropped proves nothing"]
pub struct InScope(());

impl Scope {
    /// The proof for one tool; `None` when it lies outside.
    pub fn admit(&self, tool: &str) -> Option<InScope> {
        match self {
            Self::Whole => Some(InScope(())),
            Self::Only(names) => names.contains(tool).then_some(InScope(())),
        }
    }
}
