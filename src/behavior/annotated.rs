//! MCP's hints as evidence. Their absence is silence, not a claim: the protocol's defaults only say what to assume.

use super::evidence::{Claim, Evidence, Source, Strength};
use super::taxonomy::Mutability;
use crate::mcp::tool::Annotations;

/// Whether the hints contradict themselves: a tool that only reads destroys nothing.
pub fn contradicts_itself(hints: Annotations) -> bool {
    hints.read_only == Some(true) && hints.destructive == Some(true)
}

/// What the hints say, if they say anything about changing things. Hints that contradict themselves say that it changes.
pub fn evidence(hints: Annotations) -> Option<Evidence> {
    let (mutability, span) = match (hints.read_only, hints.destructive) {
        (Some(true), Some(true)) => (Mutability::Mutates, "readOnlyHint: true, destructiveHint: true"),
        (Some(true), _) => (Mutability::Pure, "readOnlyHint: true"),
        (Some(false), Some(true)) => (Mutability::Mutates, "readOnlyHint: false, destructiveHint: true"),
        (Some(false), _) => (Mutability::Mutates, "readOnlyHint: false"),
        (None, Some(true)) => (Mutability::Mutates, "destructiveHint: true"),
        // Not destructive is not read-only: additive changes are changes.
        (None, Some(false) | None) => return None,
    };
    Some(Evidence {
        source: Source::Annotated,
        says: Claim { mutability: Some(mutability), ..Claim::default() },
        span: span.to_owned(),
        strength: Strength::Fair,
    })
}
