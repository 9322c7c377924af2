//! One known tool as a JSON object, and the words its parts are told in. Owns the fields' names.

use serde_json::{Value, json};

use super::observed::Observed;
use crate::behavior::conclude::Behavior;
use crate::behavior::evidence::{Claim, Evidence};
use crate::behavior::hazards::Hazard;
use crate::behavior::profile::Profile;
use crate::behavior::tags;
use crate::capability::types;
use crate::pins::reading::Known;

/// The object of a listing.
pub(super) fn json(known: &Known, observed: Option<&Observed>) -> Value {
    let (tool, behavior, server) = (&known.tool, &known.behavior, &known.server);
    let identity = behavior.identity;
    let profile = Profile::of(tool, identity);
    json!({
        "server": server.name,
        "name": tool.name,
        "title": tool.title,
        "badge": behavior.badge().word(),
        "mutability": identity.mutability.word(),
        "action": identity.action.word(),
        "output_domain": identity.output_domain.word(),
        "content_type": behavior.content_type.word(),
        "identity": identity.hash(),
        "disputed": behavior.disputed,
        "evidence": behavior.evidence.iter().map(piece).collect::<Vec<_>>(),
        "capability": types::signature(tool),
        "capabilities": tags::of(behavior, &tool.name),
        "side_effects": profile.side_effects.word(),
        "idempotent": profile.idempotence.word(),
        "version": known.pin.version,
        "pin": known.pin_state.word(),
        "pinned_as": known.pin.said.map(|said| said.to_string()),
        "digest": known.pin.latest.to_string(),
        "trusted_digest": known.pin.trusted.map(|digest| digest.to_string()),
        "hazards": behavior.hazards.iter().map(hazard).collect::<Vec<_>>(),
        "observed": observed.cloned().unwrap_or_default().json(),
        "package": server.package,
        "command": server.command,
        "fingerprint": server.fingerprint,
        "first_seen": time(known.pin.first_seen),
        "last_seen": time(known.last_seen),
    })
}

/// One piece of evidence as JSON.
pub(super) fn piece(evidence: &Evidence) -> Value {
    json!({ "source": evidence.source, "says": said(evidence.says), "span": evidence.span, "strength": evidence.strength })
}

/// One piece of evidence on one line: `annotated PURE: readOnlyHint: true`. Foreign text in it, raw.
pub(super) fn evidence(evidence: &Evidence) -> String {
    let source = format!("{:?}", evidence.source).to_lowercase();
    format!("{source} {}: {}", said(evidence.says), evidence.span)
}

/// The badge's reason in one line, for a list: the first evidence that agrees with it. Foreign text in it, raw.
pub(super) fn because(behavior: &Behavior) -> String {
    let agrees = |one: &&Evidence| one.says.mutability == Some(behavior.badge());
    match behavior.evidence.iter().find(agrees) {
        Some(one) => format!("{}, {}", format!("{:?}", one.source).to_lowercase(), one.span),
        None => "nobody knows what it does".to_owned(),
    }
}

/// A claim in one line: `PURE READ DATA`, `MUTATES`; empty where it is silent.
pub(super) fn said(claim: Claim) -> String {
    let words = [
        claim.mutability.map(|word| word.word()),
        claim.action.map(|word| word.word()),
        claim.output_domain.map(|word| word.word()),
        claim.content_type.map(|word| word.word()),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn hazard(hazard: &Hazard) -> Value {
    json!({ "hazard": hazard.kind.word(), "what": hazard.what })
}

/// RFC 3339, UTC.
pub(super) fn time(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}
