//! The guardrail token: proof that an approval for exactly these bytes is on disk. Only this layer mints one.
//!
//! A call cannot be written to the server without a token:
//!
//! ```compile_fail
//! fn skip(mut server: mcp_approve::interpose::server::Server, call: mcp_approve::wire::call::Call) {
//!     server.forward(call);
//! }
//! ```
//!
//! a token cannot be used twice:
//!
//! ```compile_fail
//! use mcp_approve::gate::data::token::GuardrailToken;
//! fn twice(token: GuardrailToken) -> (GuardrailToken, GuardrailToken) {
//!     (token.clone(), token)
//! }
//! ```
//!
//! nor be made anywhere else:
//!
//! ```compile_fail
//! use mcp_approve::gate::data::token::GuardrailToken;
//! let forged = GuardrailToken { wrapper: "w".into(), digest: mcp_approve::wire::digest::Digest::of(b""), seq: 1 };
//! ```

use std::sync::Arc;

use crate::audit::record::Receipt;
use crate::behavior::conclude::Behavior;
use crate::behavior::taxonomy::Mutability;
use crate::capability::scope::InScope;
use crate::mcp::lifecycle::InSession;
use crate::wire::call::Call;
use crate::wire::digest::Digest;

/// Leave to write one call, once, to the server of the wrapper that minted it.
///
/// Not `Clone`, not `Copy`: consumed by forwarding. Bound to a wrapper and a digest, so nothing propagates to
/// sub-agents or other wrappers (capability lattice, section 8.4).
#[derive(Debug)]
#[must_use = "a token that is dropped is a call that never runs"]
pub struct GuardrailToken {
    wrapper: Arc<str>,
    digest: Digest,
    seq: u64,
}

/// Why a call may run: its guardrail callback ran and approved, or it explicitly needs none.
#[derive(Debug)]
pub enum Clearance {
    /// The policy, registered as `before_tool`, or the operator it asked, approved.
    Approved(Approved),
    /// No callback is registered, and the tool is proven read-only.
    Unchecked(UncheckedInvocation),
}

/// The mark of an approval; only the gate makes one.
#[derive(Debug)]
pub struct Approved(());

impl Approved {
    pub(in crate::gate) fn new() -> Self {
        Self(())
    }
}

/// The explicit opt-out from the guardrail callback (capability lattice, section 8.5): possible only for what is
/// proven read-only, and visible in the code and in the record.
#[derive(Debug)]
pub struct UncheckedInvocation(());

impl UncheckedInvocation {
    /// An opt-out for a call that is PURE, undisputed and without a hazard; `None` for any other.
    pub fn for_read_only(behavior: &Behavior) -> Option<Self> {
        let proven = behavior.badge() == Mutability::Pure && !behavior.disputed && behavior.hazards.is_empty();
        proven.then_some(Self(()))
    }
}

impl GuardrailToken {
    /// Mints the token: the three checks of `Safe` are its arguments, and the log's receipt for this very decision.
    pub(in crate::gate) fn mint(
        wrapper: &Arc<str>,
        call: &Call,
        _session: InSession,
        _scope: InScope,
        _clearance: Clearance,
        receipt: &Receipt,
    ) -> Self {
        Self { wrapper: Arc::clone(wrapper), digest: call.digest(), seq: receipt.entry() }
    }

    /// The record that approved the call.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The digest of the bytes it is for.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Trades token and call for the bytes to write.
    ///
    /// # Errors
    /// [`NotThisCall`] when the token is another wrapper's or another call's; both are gone then, nothing is written.
    pub fn redeem(self, wrapper: &str, call: Call) -> Result<Vec<u8>, NotThisCall> {
        let line = call.into_line();
        if *self.wrapper != *wrapper || line.digest() != self.digest {
            return Err(NotThisCall);
        }
        Ok(line.into_bytes())
    }
}

/// A token was shown for bytes it was not minted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the guardrail token is not for this call")]
pub struct NotThisCall;
