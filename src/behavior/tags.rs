//! Capability tags of a tool or call, `what:does` in lower case (`content:read`, `issue:create`). Owns no evidence.

use super::conclude::Behavior;
use super::taxonomy::{Action, OutputDomain};

/// The tags that the conclusion gives; none where it does not know what the call does.
pub fn of(behavior: &Behavior) -> Vec<String> {
    let identity = behavior.identity;
    match (identity.output_domain, identity.action) {
        (OutputDomain::Unknown, _) | (_, Action::Unknown) => Vec::new(),
        (domain, action) => vec![format!("{}:{}", domain.word(), action.word()).to_ascii_lowercase()],
    }
}
