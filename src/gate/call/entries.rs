//! The gate's facts as entries for the log: which field says what. Owns no order and no disk.

use serde_json::{Value, json};

use crate::audit::record::{Entry, Kind};
use crate::behavior::arguments::effect::Analysis;
use crate::behavior::taxonomy::Mutability;
use crate::gate::Gate;
use crate::gate::call::held::{Arrival, Held, Verdict};
use crate::gate::call::judged::Judged;
use crate::gate::call::refusals::Run;
use crate::gate::data::event::Now;
use crate::gate::server::flight::Flight;
use crate::mcp::result::Answer;
use crate::wire::digest::Digest;
use crate::wire::message::Refusal;

impl Gate {
    pub(in crate::gate) fn entry(&self, now: Now, kind: Kind) -> Entry {
        let mut entry = Entry::new(now.wall, kind, &self.config.server, &self.config.session);
        entry.policy = self.policy_digest;
        entry
    }

    /// What a call's records have in common. `arguments` go into the first of them only.
    fn of_call(&self, now: Now, kind: Kind, held: &Held) -> Entry {
        let mut entry = self.entry(now, kind);
        entry.ticket = Some(held.ticket.to_string());
        entry.tool = Some(held.call.name().to_owned());
        entry.digest = Some(held.call.digest());
        if let Some(judged) = &held.judged {
            entry.badge = Some(judged.behavior.badge());
            entry.identity = Some(judged.behavior.identity.hash());
            entry.ruling = Some(judged.ruling.decision);
        }
        entry
    }

    /// The arrival of a call that will be asked, or its edit.
    pub(in crate::gate) fn asked_entry(&self, now: Now, held: &Held) -> Entry {
        let mut entry = self.of_call(now, Kind::DecisionAsked, held);
        // Which rule asks: its hits are told by this.
        entry.rule = held.judged.as_ref().and_then(|judged| judged.ruling.rule.clone());
        entry.arguments = Some(held.call.arguments_text().to_owned());
        self.judged_detail(&mut entry, held);
        if let Some(original) = &held.original {
            entry.detail.push(("edited_from", original.digest.to_string().into()));
        }
        entry
    }

    /// The one decision of a call.
    pub(in crate::gate) fn decision_entry(&self, now: Now, held: &Held, verdict: &Verdict, asked: bool) -> Entry {
        let mut entry = self.of_call(now, Kind::Decision, held);
        entry.verdict = Some(verdict.word);
        entry.by = Some(verdict.by);
        entry.rule.clone_from(&verdict.rule);
        entry.latency_us = Some(now.mono.saturating_sub(held.arrived.mono));
        entry.detail.push(("reason", verdict.reason.as_str().into()));
        if !asked || held.arrival != Arrival::Recorded {
            entry.arguments = Some(held.call.arguments_text().to_owned());
            self.judged_detail(&mut entry, held);
        }
        if !verdict.who.is_empty() {
            entry.detail.push(("operator", verdict.who.as_ref().into()));
        }
        if verdict.unread {
            entry.detail.push(("unread", true.into()));
        }
        if let Some(original) = &held.original {
            entry.detail.push(("edited_from", original.digest.to_string().into()));
        }
        if let Some(grant) = &verdict.grant {
            entry.detail.push(("grant", grant.to_string().into()));
        }
        entry
    }

    /// That an asked call was written to the server.
    pub(in crate::gate) fn forward_entry(&self, now: Now, held: &Held, decision_seq: u64) -> Entry {
        self.of_call(now, Kind::Forward, held).with("decision", decision_seq)
    }

    /// That a call was withdrawn, before or after its decision.
    pub(in crate::gate) fn withdrawn_entry(
        &self,
        now: Now,
        held: &Held,
        by: crate::audit::record::By,
        why: &str,
    ) -> Entry {
        let mut entry = self.of_call(now, Kind::Withdrawn, held);
        entry.by = Some(by);
        entry.latency_us = Some(now.mono.saturating_sub(held.arrived.mono));
        entry.with("reason", why)
    }

    /// What a server answered to a forwarded call.
    pub(in crate::gate) fn outcome_entry(&self, now: Now, flight: &Flight, result: &str) -> Entry {
        let mut entry = self.entry(now, Kind::Outcome);
        entry.ticket = Some(flight.ticket.to_string());
        entry.tool = Some(flight.tool.clone());
        entry.digest = Some(flight.digest);
        entry.badge = Some(flight.badge);
        entry.identity = Some(flight.identity.clone());
        entry.latency_us = Some(now.mono.saturating_sub(flight.forwarded.mono));
        entry.with("result", result)
    }

    /// A line from the host that was refused.
    pub(in crate::gate) fn refused_entry(
        &self,
        now: Now,
        refusal: &Refusal,
        digest: Option<Digest>,
        bytes: u64,
    ) -> Entry {
        let mut entry = self.entry(now, Kind::Fault);
        entry.digest = digest;
        entry
            .with("what", "refused a line from the host")
            .with("reason", refusal.what.as_str())
            .with("code", refusal.code)
            .with("bytes", bytes)
    }

    /// Refused lines of one reason that were not recorded one by one.
    pub(in crate::gate) fn refused_run_entry(&self, now: Now, run: &Run) -> Entry {
        self.entry(now, Kind::Fault)
            .with("what", "refused more lines from the host")
            .with("reason", run.reason.as_str())
            .with("code", run.code)
            .with("lines", run.lines)
            .with("bytes", run.bytes)
    }

    fn judged_detail(&self, entry: &mut Entry, held: &Held) {
        let Some(judged) = &held.judged else { return };
        if let Some(touches) = touched(held) {
            entry.detail.push(("touches", touches));
        }
        if let Some(what) = held.asked_again {
            entry.detail.push(("asked_again", what.into()));
        }
        if let Some(opinions) = &held.opinions {
            let said = opinions.iter().map(|one| {
                json!({
                    "name": one.name, "decision": one.decision.word(), "reason": one.reason,
                    "failed": one.failed, "latency_ms": one.latency_us / 1000,
                })
            });
            entry.detail.push(("approvers", said.collect()));
        }
        entry.detail.push(("words", judged.behavior.identity.to_string().into()));
        let why = judged.ruling.reason.as_str();
        // What policy alone decided says so already.
        if !entry.detail.iter().any(|(name, value)| *name == "reason" && value == why) {
            entry.detail.push(("why", why.into()));
        }
        entry.detail.push(("evidence", evidence(judged)));
        if judged.behavior.badge() == Mutability::Mutates || !judged.behavior.analyses.is_empty() {
            entry.detail.push(("effect", judged.effect.as_str().into()));
        }
        if !judged.behavior.analyses.is_empty() {
            entry.detail.push(("effects", judged.behavior.analyses.iter().map(analysis).collect()));
        }
        if judged.behavior.disputed {
            entry.detail.push(("disputed", true.into()));
        }
        if !judged.behavior.hazards.is_empty() {
            let hazards =
                judged.behavior.hazards.iter().map(|one| json!({"hazard": one.kind.word(), "what": one.what}));
            entry.detail.push(("hazards", hazards.collect()));
        }
        if let Some((name, version)) = self.host_of(&held.call) {
            entry.detail.push(("host", format!("{name} {version}").into()));
        }
    }
}

/// What a call would touch: where it leads and what stands there, not its content. `None` where nobody looked.
pub(in crate::gate) fn touched(held: &Held) -> Option<Value> {
    let found = held.found.as_ref()?;
    let real = found.real.iter().map(|(path, real)| json!({ "path": path, "real": real }));
    let files = found
        .files
        .iter()
        .map(|one| json!({ "argument": one.argument, "real": one.real, "kind": one.kind.word(), "size": one.size }));
    Some(real.chain(files).collect())
}

/// The result word of an answer.
pub(in crate::gate) fn result_word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Complete { is_error: false, .. } => "ok",
        Answer::Complete { is_error: true, .. } => "tool-error",
        Answer::InputRequired { .. } => "input-required",
        Answer::Task { .. } => "task",
        Answer::Failed { .. } => "error",
        Answer::Unreadable => "unreadable",
    }
}

fn evidence(judged: &Judged) -> Value {
    judged.behavior.evidence.iter().map(ToString::to_string).collect()
}

/// What one argument would do, and the words that prove it.
fn analysis(analysis: &Analysis) -> Value {
    let mut row = json!({
        "argument": analysis.argument,
        "language": analysis.language.word(),
        "effect": analysis.effect.word(),
        "says": analysis.says,
        "span": analysis.span,
    });
    if let Some(fingerprint) = &analysis.fingerprint {
        row["fingerprint"] = fingerprint.as_str().into();
    }
    row
}
