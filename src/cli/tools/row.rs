//! One known tool as a JSON object, and the words for its parts. Owns the fields' names.

use serde_json::{Value, json};

use crate::audit::rfc3339;
use crate::audit::tally::{Exact, Tally, ToolTally};
use crate::behavior::{Behavior, Evidence, Hazard, Source, tags};
use crate::capability::types;
use crate::mcp::Tool;
use crate::pins::reading::StoredTool;
use crate::policy::ranking::Observed;
use crate::policy::role::{Author, CostTier, Profile};
use crate::wire::counted;

pub(super) fn conclusion(tool: &Tool, behavior: &Behavior) -> Value {
    let identity = behavior.identity;
    json!({
        "name": tool.name,
        "badge": behavior.badge().word(),
        "mutability": identity.mutability.word(),
        "confidence": behavior.confidence.word(),
        "action": identity.action.word(),
        "output_domain": identity.output_domain.word(),
        "content_type": behavior.content_type.word(),
        "identity": identity.hash(),
        "declared_identity": behavior.declared().map(|(declared, by)| json!({
            "says": declared.words(), "identity": declared.hash(), "corroborated_by": by,
        })),
        "disputed": behavior.disputed,
        "evidence": behavior.evidence.iter().map(piece).collect::<Vec<_>>(),
        "capability": types::signature(tool),
    })
}

/// What a tool declares itself to be, and whether anything else says so; `None` where it declares no whole identity.
pub(super) fn declared(behavior: &Behavior) -> Option<String> {
    let (declared, by) = behavior.declared()?;
    let by: Vec<&str> =
        by.iter().map(|source| if *source == Source::Learned { "our model" } else { source.word() }).collect();
    let by =
        if by.is_empty() { "nothing corroborates it".to_owned() } else { format!("corroborated by {}", by.join(", ")) };
    let counts = match behavior.identity {
        same if same == declared => String::new(),
        other => format!("; it counts as {other}"),
    };
    Some(format!("{declared} ({}): {by}{counts}", declared.hash()))
}

pub(super) fn json(known: &StoredTool, answers: Answers<'_>, profile: &Profile) -> Value {
    let (tool, behavior, server) = (&known.tool, &known.behavior, &known.server);
    let hazard = |hazard: &Hazard| json!({ "hazard": hazard.kind.word(), "what": hazard.what });
    let mut row = conclusion(tool, behavior);
    let more = json!({
        "server": server.name,
        "title": tool.title,
        "capabilities": tags::of(behavior, &tool.name),
        "side_effects": profile.side_effects.word(),
        "side_effects_author": profile.effects_author.map(Author::word),
        "idempotent": profile.idempotence.word(),
        "declared_cost": profile.cost.map(CostTier::word),
        "declared_latency_ms": profile.latency_ms,
        "cost_author": profile.cost_author.word(),
        "declared_capabilities": profile.capabilities,
        "capabilities_author": profile.capabilities_author.word(),
        "declared_version": profile.version,
        "requires": profile.requires,
        "pin_version": known.pin.version,
        "pin": known.pin_state.word(),
        "pinned_as": known.pin.said.map(|said| said.to_string()),
        "digest": known.pin.latest.to_string(),
        "trusted_digest": known.pin.trusted.map(|digest| digest.to_string()),
        "hazards": behavior.hazards.iter().map(hazard).collect::<Vec<_>>(),
        "observed": answers.json(),
        "package": server.package,
        "command": server.command,
        "fingerprint": server.fingerprint,
        "first_seen": rfc3339(known.pin.first_seen),
        "last_seen": rfc3339(known.last_seen),
    });
    if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
        row.extend(more);
    }
    row
}

fn piece(evidence: &Evidence) -> Value {
    json!({ "source": evidence.source, "says": evidence.says.to_string(), "span": evidence.span, "strength": evidence.strength })
}

/// One piece of evidence on one line: `annotated PURE: readOnlyHint: true`. Foreign text in it, raw.
pub(super) fn evidence(evidence: &Evidence) -> String {
    format!("{} {}: {}", evidence.source.word(), evidence.says, evidence.span)
}

/// The badge's reason in one line, for a list: the first evidence that agrees with it. Foreign text in it, raw.
pub(super) fn because(behavior: &Behavior) -> String {
    let agrees = |one: &&Evidence| one.says.mutability == Some(behavior.identity.mutability);
    match behavior.evidence.iter().find(agrees) {
        Some(one) => format!("{}, {}", one.source.word(), one.span),
        None => "its effect is unknown".to_owned(),
    }
}

#[derive(Clone, Copy)]
pub(super) struct Answers<'t>(Option<&'t ToolTally<Exact>>);

impl<'t> Answers<'t> {
    pub(super) fn of(tally: &'t Tally<Exact>, known: &StoredTool) -> Self {
        Self(tally.of_tool(&known.server.name, &known.tool.name))
    }

    pub(super) fn calls(self) -> u64 {
        self.0.map_or(0, |tool| tool.answered)
    }

    /// The latency that so many of a hundred calls do not exceed, in milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "that many microseconds are 285 years")]
    pub(super) fn percentile(self, of_hundred: usize) -> Option<f64> {
        self.0?.latency.quantile(of_hundred).map(|micros| micros as f64 / 1000.0)
    }

    /// Between 0 and 1.
    #[expect(clippy::cast_precision_loss, reason = "counts of at most 200,000")]
    pub(super) fn error_rate(self) -> Option<f64> {
        self.0.filter(|tool| tool.answered > 0).map(|tool| tool.failed as f64 / tool.answered as f64)
    }

    pub(super) fn observed(self) -> Option<Observed> {
        let (latency_ms, error_rate) = (self.percentile(50)?, self.error_rate()?);
        Some(Observed { latency_ms, error_rate, words: self.line() })
    }

    fn json(self) -> Value {
        json!({
            "calls": self.calls(),
            "p50_ms": self.percentile(50),
            "p95_ms": self.percentile(95),
            "error_rate": self.error_rate(),
        })
    }

    /// `12 calls, p50 3.1 ms, p95 9.8 ms, 8 % errors`.
    pub(super) fn line(self) -> String {
        match (self.percentile(50), self.percentile(95), self.error_rate()) {
            (Some(p50), Some(p95), Some(rate)) => {
                let calls = counted(self.calls(), "call");
                format!("{calls}, p50 {p50:.1} ms, p95 {p95:.1} ms, {:.0} % errors", rate * 100.0)
            }
            _ => "no call answered yet".to_owned(),
        }
    }
}
