//! The log's entries about one call: which field says what. Owns no order and no disk.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::audit::detail::Shown;
use crate::audit::record::{By, Entry, Kind};
use crate::behavior::arguments::effect::Analysis;
use crate::behavior::taxonomy::Badge;
use crate::gate::Gate;
use crate::gate::call::caller;
use crate::gate::call::held::{AskRecord, Decided, Held};
use crate::gate::call::judged::{Judged, Seen};
use crate::gate::call::retry;
use crate::gate::call::target;
use crate::gate::state::history::Past;
use crate::gate::state::passed::side;
use crate::mcp::request;
use crate::wire::call::Call;

/// As much of what a request is about is recorded, in characters.
const TARGET: usize = 200;
/// Most decisions have no more details than so many bytes.
const JUDGED: usize = 768;

impl Gate {
    /// What a call's entries have in common.
    fn call_entry(&self, kind: Kind, held: &Held, judged: Option<&Judged>) -> Entry {
        let mut entry = self.entry(kind);
        entry.ticket = Some(Arc::clone(&held.ticket));
        entry.tool = Some(held.call.shared_name());
        entry.target = target_of(held, judged);
        entry.digest = Some(held.call.digest());
        if let Some(judged) = judged {
            entry.badge = Some(judged.behavior.badge());
            entry.identity = Some(judged.behavior.identity);
            entry.ruling = Some(judged.ruling.decision);
        }
        of_request(entry, &held.call)
    }

    /// The arrival of a call that is put before the operator, or its edit.
    pub(in crate::gate) fn asked_entry(&self, held: &Held, judged: &Judged) -> Entry {
        let mut entry = self.call_entry(Kind::DecisionAsked, held, Some(judged));
        // Which rule asks: its hits are counted by this.
        entry.rule.clone_from(&judged.ruling.rule);
        entry.arguments = Some(held.call.arguments_text().to_owned());
        // Whether somebody could see it at once.
        entry.detail.add("consoles", self.consoles.attached);
        self.add_judgement(&mut entry, held, judged, "");
        if let Past { times, latest: Some(latest), .. } = self.past(held) {
            entry.detail.add("occurrence", times + 1);
            entry.detail.add("former", latest);
        }
        if let Some(original) = &held.original {
            entry.detail.add("edited_from", original.digest);
        }
        entry
    }

    /// The one decision of a call.
    pub(in crate::gate) fn decision_entry(&self, held: &Held, decided: &Decided) -> Entry {
        let (judged, verdict) = (decided.judged(), decided.verdict());
        let mut entry = self.call_entry(Kind::Decision, held, judged);
        entry.verdict = Some(decided.word());
        entry.by = Some(verdict.by);
        entry.rule.clone_from(&verdict.rule);
        entry.latency_us = Some(self.now.mono.saturating_sub(held.arrived.mono));
        entry.detail.reserve(JUDGED);
        entry.detail.add("reason", verdict.reason.as_str());
        // Whoever filters decisions, or exports them, wants to know what each was about.
        entry.arguments = Some(held.call.arguments_text().to_owned());
        if held.asked != AskRecord::Recorded
            && let Some(judged) = judged
        {
            self.add_judgement(&mut entry, held, judged, &verdict.reason);
        }
        if let Some(operator) = &verdict.operator {
            entry.detail.add("operator", operator.who.as_ref());
        }
        if let Decided::Approve(approval) = decided
            && approval.unread
        {
            entry.detail.add("unread", true);
        }
        if let Some(original) = &held.original {
            entry.detail.add("edited_from", original.digest);
        }
        if let Decided::Approve(approval) = decided
            && let Some(grant) = &approval.grant
        {
            entry.detail.add("grant", grant.to_string());
        }
        entry
    }

    /// That an asked call was written to the server; `decision_entry` is the id of the entry that approved it.
    pub(in crate::gate) fn forward_entry(&self, held: &Held, judged: &Judged, decision_entry: u64) -> Entry {
        self.call_entry(Kind::Forward, held, Some(judged)).with("decision_entry", decision_entry)
    }

    /// That a call was withdrawn, before or after its decision.
    pub(in crate::gate) fn withdrawn_entry(&self, held: &Held, judged: Option<&Judged>, by: By, why: &str) -> Entry {
        let mut entry = self.call_entry(Kind::Withdrawn, held, judged);
        entry.by = Some(by);
        entry.latency_us = Some(self.now.mono.saturating_sub(held.arrived.mono));
        entry.with("reason", why)
    }

    /// Adds what the decision rests on. Its `reason` is there already.
    fn add_judgement(&self, entry: &mut Entry, held: &Held, judged: &Judged, reason: &str) {
        if let Some(touches) = touched(&held.seen) {
            entry.detail.add("touches", touches);
        }
        if let Some(what) = held.asked_again {
            entry.detail.add("asked_again", what);
        }
        if let Some(opinions) = &held.seen.opinions {
            let said = opinions.iter().map(|one| {
                json!({
                    "name": one.name, "decision": one.decision.word(), "reason": one.reason,
                    "failed": one.failed, "latency_ms": one.latency_us / 1000,
                })
            });
            entry.detail.add("approvers", said.collect::<Vec<_>>());
        }
        entry.detail.add("words", Shown(judged.behavior.identity));
        let why = judged.ruling.reason.as_str();
        // What policy alone decided says so already.
        if why != reason {
            entry.detail.add("why", why);
        }
        if !judged.explained.is_empty() {
            entry.detail.add("explained", judged.explained.as_str());
        }
        entry.detail.add("confidence", judged.behavior.confidence.word());
        if let Some(responses) = retry::recorded(held.call.input_responses_text()) {
            entry.detail.add("responses", responses);
        }
        if let Some(parts) = retry::recorded(held.call.unknown_parts().as_deref()) {
            entry.detail.add("unknown_parts", parts);
        }
        entry.detail.add("evidence", judged.behavior.evidence.iter().map(Shown).collect::<Vec<_>>());
        if judged.behavior.badge() != Badge::Pure || !judged.behavior.analyses.is_empty() {
            entry.detail.add("effect", judged.effect.as_str());
        }
        if !judged.behavior.analyses.is_empty() {
            entry.detail.add("effects", judged.behavior.analyses.iter().map(analysis).collect::<Vec<_>>());
        }
        if judged.behavior.disputed {
            entry.detail.add("disputed", true);
        }
        if !judged.behavior.hazards.is_empty() {
            let hazards =
                judged.behavior.hazards.iter().map(|one| json!({"hazard": one.kind.word(), "what": one.what}));
            entry.detail.add("hazards", hazards.collect::<Vec<_>>());
        }
        if let Some(host) = self.host_words(&held.call) {
            entry.detail.add("host", host);
        }
        add_provenance(entry, &held.call);
    }
}

/// Adds who asked within the host, and the trace it belongs to, from `_meta`.
pub(in crate::gate) fn add_provenance(entry: &mut Entry, call: &Call) {
    let Some(meta) = call.meta_text() else { return };
    let caller: serde_json::Map<String, Value> =
        caller::of(Some(meta)).into_iter().map(|(word, text)| (word, text.into())).collect();
    if !caller.is_empty() {
        entry.detail.add("caller", caller);
    }
    if let Some(traceparent) = caller::traceparent(Some(meta)) {
        entry.detail.add("traceparent", traceparent);
    }
}

/// Adds what a request other than `tools/call` is: its method, what it is about, and who sent it.
pub(in crate::gate) fn of_request(mut entry: Entry, call: &Call) -> Entry {
    let Some(method) = call.method() else { return entry };
    let params: Value = serde_json::from_str(call.arguments_text()).unwrap_or_default();
    entry.detail.add("method", method);
    entry.detail.add("from", side(call.origin()));
    entry.target = request::target(&params).map(|target| target.chars().take(TARGET).collect::<String>().into());
    entry
}

/// What a call acts on, judged or not.
pub(in crate::gate) fn target_of(held: &Held, judged: Option<&Judged>) -> Option<Arc<str>> {
    judged.map_or_else(|| target::of_unjudged(&held.call).map(Arc::from), |judged| judged.target.clone())
}

/// What a call would touch: where it leads and what is there, not its content. `None` where the shell has not looked.
pub(in crate::gate) fn touched(seen: &Seen) -> Option<Value> {
    let found = seen.found.as_ref()?;
    let real = found.real.iter().map(|(path, real)| json!({ "path": path, "real": real }));
    let files = found
        .files
        .iter()
        .map(|one| json!({ "argument": one.argument, "real": one.real, "kind": one.kind.word(), "size": one.size }));
    Some(real.chain(files).collect())
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
    if let (Some(fingerprint), Value::Object(row)) = (&analysis.fingerprint, &mut row) {
        row.insert("fingerprint".into(), fingerprint.as_str().into());
    }
    row
}
