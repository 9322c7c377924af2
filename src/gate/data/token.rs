//! The guardrail token: proof that the log has committed an approval for exactly these bytes (and synced it, for what changes
//! something or was asked). Only this layer mints one.
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
//! let forged = GuardrailToken { wrapper: "w".into(), digest: mcp_approve::wire::digest::Digest::of(b"") };
//! ```

use std::sync::Arc;

use crate::audit::{Receipt, VerdictWord};
use crate::mcp::InSession;
use crate::policy::scope::InScope;
use crate::signing::verdict::Consent;
use crate::wire::{Call, Digest};

/// Leave to write one call, once, to the server of the wrapper that minted it.
///
/// Not `Clone`, not `Copy`: consumed by forwarding. Bound to a wrapper and a digest, so nothing propagates to
/// sub-agents or other wrappers (capability lattice, section 8.4).
#[derive(Debug)]
#[must_use = "a token that is dropped is a call that never runs"]
pub struct GuardrailToken {
    wrapper: Arc<str>,
    digest: Digest,
}

impl GuardrailToken {
    /// Mints the token from the three checks of `Safe`: capability, session, and the log's receipt for this very approval; and from
    /// the proof that it has the signatures it needs.
    /// Errors: [`NotProven`] when one of them is for another call, or the receipt is for no approval.
    pub(in crate::gate) fn mint(
        wrapper: &Arc<str>,
        call: &Call,
        (scope, session): (&InScope, &InSession),
        consent: &Consent,
        receipt: &Receipt,
    ) -> Result<Self, NotProven> {
        let digest = call.digest();
        if receipt.digest() != Some(digest) || receipt.verdict() != Some(VerdictWord::Approve) {
            return Err(NotProven::Approval);
        }
        if !session.is_for(call) {
            return Err(NotProven::Session);
        }
        if !scope.is_for(call) {
            return Err(NotProven::Scope);
        }
        if !consent.is_for(&digest) {
            return Err(NotProven::Consent);
        }
        Ok(Self { wrapper: Arc::clone(wrapper), digest })
    }

    /// Trades token and call for the bytes to write.
    /// Errors: [`NotThisCall`] when the token is another wrapper's or another call's; both are gone then, nothing is written.
    pub fn redeem(self, wrapper: &str, call: Call) -> Result<Vec<u8>, NotThisCall> {
        // A call's digest, keyed or plain, is of its own bytes, which never change.
        if *self.wrapper != *wrapper || call.digest() != self.digest {
            return Err(NotThisCall);
        }
        Ok(call.into_line().into_bytes())
    }
}

/// A token was shown for bytes it was not minted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the guardrail token is not for this call")]
pub struct NotThisCall;

/// Which of the checks is not one of this call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotProven {
    #[error("the log's receipt is not for an approval of this call")]
    Approval,
    #[error("the session was checked for another call")]
    Session,
    #[error("the scope was checked for another call")]
    Scope,
    #[error("the signatures were checked for another call")]
    Consent,
}

#[cfg(test)]
mod tests {
    use super::{Consent, GuardrailToken, NotProven};
    use crate::audit::record::{Entry, Kind, Receipt, VerdictWord};
    use crate::audit::rehearsal;
    use crate::behavior::conclude::Behavior;
    use crate::mcp::lifecycle::{InSession, Lifecycle};
    use crate::policy::scope::{Asked, Asks, InScope, Scope};
    use crate::signing::Needs;
    use crate::wire::Line;
    use crate::wire::call::Call;
    use crate::wire::message::{Sorted, sort};

    fn call(path: &str) -> Call {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{{"path":"{path}"}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
        );
        let Sorted::Call(call) = sort(Line::new(line.into_bytes())) else { panic!("no call") };
        *call
    }

    fn in_scope(call: &Call) -> InScope {
        let asked = Asked { server: "s", name: call.name(), tool: None, behavior: &Behavior::unknown() };
        Scope::default().admit(call, Asks::Tool(asked)).expect("the whole scope")
    }

    fn in_session(call: &Call) -> InSession {
        Lifecycle::default().call(call).expect("a request of the stateless era")
    }

    fn consent(call: &Call) -> Consent {
        Consent::of(call.digest(), Needs::Nothing, 1, [].into_iter()).expect("it needs nothing")
    }

    fn receipt(call: Option<&Call>, verdict: Option<VerdictWord>) -> Receipt {
        let mut entry = Entry::new(0, Kind::Decision, &"files".into(), &"session".into());
        (entry.digest, entry.verdict) = (call.map(Call::digest), verdict);
        rehearsal::receipt(1, &entry)
    }

    #[test]
    fn a_token_is_minted_only_from_proofs_of_this_very_call() {
        use VerdictWord::{Approve, Deny};
        let (this, other) = (call("/a"), call("/b"));
        let wrapper = "session".into();
        let mint_with = |scope: &InScope, session: &InSession, consent: &Consent, receipt: &Receipt| {
            GuardrailToken::mint(&wrapper, &this, (scope, session), consent, receipt).map(|token| token.digest)
        };
        let given = consent(&this);
        let mint = |scope: &InScope, session: &InSession, receipt: &Receipt| mint_with(scope, session, &given, receipt);
        let (scope, session, approved) = (in_scope(&this), in_session(&this), receipt(Some(&this), Some(Approve)));
        assert_eq!(mint(&scope, &session, &approved), Ok(this.digest()));
        for unproven in [
            receipt(Some(&other), Some(Approve)),
            receipt(None, Some(Approve)),
            receipt(Some(&this), Some(Deny)),
            receipt(Some(&this), None),
        ] {
            assert_eq!(mint(&scope, &session, &unproven), Err(NotProven::Approval), "{unproven:?}");
        }
        assert_eq!(mint(&scope, &in_session(&other), &approved), Err(NotProven::Session));
        assert_eq!(mint(&in_scope(&other), &session, &approved), Err(NotProven::Scope));
        assert_eq!(mint_with(&scope, &session, &consent(&other), &approved), Err(NotProven::Consent));
    }

    #[test]
    fn a_token_gives_the_bytes_of_its_own_call_to_its_own_wrapper_alone() {
        for (wrapper, path, is_redeemed) in [("session", "/a", true), ("other", "/a", false), ("session", "/b", false)]
        {
            let this = call("/a");
            let receipt = receipt(Some(&this), Some(VerdictWord::Approve));
            let proofs = (&in_scope(&this), &in_session(&this));
            let token = GuardrailToken::mint(&"session".into(), &this, proofs, &consent(&this), &receipt);
            let bytes = token.expect("all three are of this call").redeem(wrapper, call(path));
            assert_eq!(bytes.is_ok(), is_redeemed, "{wrapper} {path}");
        }
    }
}
