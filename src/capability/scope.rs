//! The scope: which capabilities this wrapper may use. `Effective = Caps(S) ∩ Scope`.

use std::collections::BTreeSet;

use crate::wire::call::Call;
use crate::wire::digest::Digest;

/// What a wrapper may use of its server's capabilities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Everything the server has.
    #[default]
    Whole,
    /// Only tools of these names.
    Only(BTreeSet<String>),
}

/// Proof that a call's tool lies in the scope. Only [`Scope::admit`] makes one.
///
/// ```compile_fail,E0451
/// use mcp_approve::capability::scope::InScope;
/// let forged = InScope { call: mcp_approve::wire::digest::Digest::of(b"") };
/// ```
#[derive(Debug)]
#[must_use = "a proof that is dropped proves nothing"]
pub struct InScope {
    /// The call it was made for.
    call: Digest,
}

impl Scope {
    /// The proof for one call; `None` when its tool lies outside.
    pub fn admit(&self, call: &Call) -> Option<InScope> {
        let admits = match self {
            Self::Whole => true,
            Self::Only(names) => names.contains(call.name()),
        };
        admits.then(|| InScope { call: call.digest() })
    }
}

impl InScope {
    /// Whether it was made for exactly these bytes.
    pub fn is_for(&self, call: &Call) -> bool {
        self.call == call.digest()
    }
}
