//! The log's entries about one call: which field says what. Owns no order and no disk.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::audit::{By, Entry, Kind};
use crate::behavior::{Agreement, Badge, Behavior, Evidence, Hazard, Mutability, arguments::effect::Analysis, secrets};
use crate::gate::data::facts::Opinion;
use crate::gate::held::{
    Approval, AskRecord, Decided, GradedVerdict, Held, Judged, Seen, context::Context, out::Out, retry,
};
use crate::gate::state::{Past, passed::side};
use crate::mcp::request;
use crate::signing::Grade;
use crate::wire::Call;

fn of_call(out: &Out, kind: Kind, held: &Held, judged: Option<&Judged>) -> Entry {
    let mut entry = out.entry(kind);
    entry.ticket = Some(Arc::clone(&held.ticket));
    entry.tool = Some(held.call.shared_name());
    entry.target = held.target(judged);
    entry.digest = Some(held.call.digest());
    if let Some(judged) = judged {
        entry.badge = Some(judged.behavior.badge());
        entry.identity = Some(judged.behavior.identity);
        entry.ruling = Some(judged.ruling.decision);
    }
    add_request(&mut entry, &held.call);
    if let Some(answer) = &held.seen.answer {
        entry.target.clone_from(&answer.target);
        entry.add("result_of", answer.ticket.as_deref());
    }
    entry
}

/// The arrival of a call that is put before the operator, or its edit.
pub(in crate::gate) fn asked(context: Context<'_>, held: &Held, judged: &Judged) -> Entry {
    let mut entry = of_call(context.out, Kind::DecisionAsked, held, Some(judged));
    // Which rule asks: its hits are counted by this.
    entry.rule.clone_from(&judged.ruling.rule);
    entry.arguments = Some(held.call.arguments());
    // Whether anyone could see the call at once.
    entry.detail.add("consoles", context.out.attached);
    if context.out.desks > 0 {
        entry.detail.add("desks", context.out.desks);
    }
    add_judgement(context, &mut entry, held, judged, "");
    if let Past { times, latest: Some(latest), .. } = context.past(held) {
        entry.detail.add("occurrence", times + 1);
        entry.detail.add("former", latest);
    }
    entry.add("edited_from", held.original.as_ref().map(|original| original.digest));
    entry
}

pub(in crate::gate) fn decision(context: Context<'_>, held: &Held, decided: &Decided) -> Entry {
    let (judged, verdict) = (decided.judged(), decided.verdict());
    let mut entry = of_call(context.out, Kind::Decision, held, judged);
    entry.verdict = Some(decided.word());
    entry.by = Some(verdict.by);
    entry.rule.clone_from(&verdict.rule);
    entry.latency_us = Some(context.out.now.mono.saturating_sub(held.arrived.mono));
    entry.detail.add("reason", &verdict.reason);
    // The arguments, too, so that filtered or exported decisions show what each was about.
    entry.arguments = Some(held.call.arguments());
    if held.asked != AskRecord::Recorded
        && let Some(judged) = judged
    {
        add_judgement(context, &mut entry, held, judged, &verdict.reason);
    } else {
        // So that a search for what calls belong to finds what was decided of them.
        add_provenance(&mut entry, &held.call);
    }
    let approval = if let Decided::Approve(approval) = decided { Some(approval) } else { None };
    entry.add("frozen", context.rules.stops.frozen.as_ref().map(|frozen| frozen.says.as_str()));
    entry.add("operator", verdict.operator.as_ref().map(|operator| operator.who.as_ref()));
    entry.add("unread", approval.filter(|approval| approval.unread).map(|_| true));
    entry.add("edited_from", held.original.as_ref().map(|original| original.digest));
    entry.add("new", approval.and_then(|approval| new(&approval.case.judged.behavior)));
    entry.add("grant", approval.and_then(|approval| approval.grant.as_ref()).map(ToString::to_string));
    let signed = match decided {
        Decided::Approve(approval) => &approval.signed,
        Decided::Deny(denial) => &denial.signed,
    };
    entry.assurance = worth(signed);
    if let Some(signatures) = signatures(signed) {
        entry.uncut.add("signatures", signatures);
    }
    entry
}

/// What a verdict is worth: as much as the weakest of its signatures.
fn worth(signed: &[GradedVerdict]) -> Grade {
    signed.iter().map(|one| one.grade).min().unwrap_or_default()
}

/// The signatures of a verdict, with all that it takes to verify them again.
fn signatures(signed: &[GradedVerdict]) -> Option<Value> {
    of_all(signed, |one| one.verdict.attested().record(one.grade))
}

/// That an asked call was written to the server; `decision_entry` is the id of the entry that approved it.
pub(in crate::gate) fn forward(out: &Out, held: &Held, approval: &Approval, decision_entry: u64) -> Entry {
    let mut entry = of_call(out, Kind::Forward, held, Some(&approval.case.judged));
    entry.assurance = worth(&approval.signed);
    entry.with("decision_entry", decision_entry)
}

/// That a call was withdrawn, before or after its decision.
pub(in crate::gate) fn withdrawn(out: &Out, held: &Held, judged: Option<&Judged>, by: By, why: &str) -> Entry {
    let mut entry = of_call(out, Kind::Withdrawn, held, judged);
    entry.by = Some(by);
    entry.latency_us = Some(out.now.mono.saturating_sub(held.arrived.mono));
    add_provenance(&mut entry, &held.call);
    entry.with("reason", why)
}

/// Adds what the decision rests on. Its `reason` is there already.
fn add_judgement(context: Context<'_>, entry: &mut Entry, held: &Held, judged: &Judged, reason: &str) {
    let (behavior, call) = (&judged.behavior, &held.call);
    let recorded = |text| retry::recorded(call, text, &context.out.secrets);
    let opinion = |one: &Opinion| {
        json!({
            "name": one.name, "decision": one.decision.word(), "reason": one.reason,
            "failed": one.failed, "latency_ms": one.latency_us / 1000,
        })
    };
    let hazard = |one: &Hazard| json!({"hazard": one.kind.word(), "what": one.what});
    entry.add("carries", judged.inside.as_ref().map(|inside| inside.tool.as_ref()));
    entry.add("touches", touched(&held.seen));
    entry.add("asked_again", held.asked_again);
    entry.add("approvers", held.seen.opinions.as_ref().map(|all| all.iter().map(opinion).collect::<Value>()));
    if let Some(known) = &judged.described {
        entry.define(known.text());
    }
    entry.detail.add("words", behavior.identity.words());
    let why = &*judged.ruling.reason;
    // If policy alone decided, the verdict's reason says the same already.
    entry.add("why", Some(why).filter(|why| *why != reason));
    if !judged.explained.is_empty() {
        entry.detail.add("explained", &judged.explained);
    }
    entry.detail.add("confidence", behavior.confidence.word());
    entry.add("responses", recorded(call.input_responses_text()));
    entry.add("unknown_parts", recorded(call.unknown_parts().as_deref()));
    entry.detail.add("evidence", behavior.evidence.iter().map(Evidence::to_string).collect::<Vec<_>>());
    let is_shown = behavior.badge() != Badge::Pure || !behavior.analyses.is_empty();
    entry.add("effect", is_shown.then_some(judged.effect.as_str()));
    entry.add("effects", of_all(&behavior.analyses, analysis));
    entry.add("disputed", behavior.disputed.then_some(true));
    entry.add("hazards", of_all(&behavior.hazards, hazard));
    if let Some((name, version)) = context.host.of(call) {
        entry.detail.add("host", format!("{name} {version}"));
    }
    add_provenance(entry, call);
}

/// The new things about a read that runs, those that can be agreed to: for `tools review --from-log`. Without secrets.
fn new(behavior: &Behavior) -> Option<Vec<&Agreement>> {
    const LONGEST: usize = 256;
    let is_offered = |one: &&Agreement| one.value.len() <= LONGEST && !one.key.split('/').any(secrets::is_secret_key);
    let reads = behavior.identity.mutability == Mutability::Pure;
    let new = behavior.shape.new.iter().filter(|_| reads).filter_map(|one| one.agree.as_ref());
    Some(new.filter(is_offered).collect()).filter(|all: &Vec<_>| !all.is_empty())
}

/// Adds who asked within the host, and the trace it belongs to, from `_meta`.
pub(in crate::gate) fn add_provenance(entry: &mut Entry, call: &Call) {
    let Some(meta) = call.meta_text() else { return };
    let caller: serde_json::Map<String, Value> =
        retry::of(Some(meta)).into_iter().map(|(word, text)| (word, text.into())).collect();
    entry.add("caller", Some(caller).filter(|caller| !caller.is_empty()));
    entry.add("traceparent", retry::traceparent(Some(meta)));
}

/// A list for a record; `None` for none.
fn of_all<T>(all: &[T], one: impl Fn(&T) -> Value) -> Option<Value> {
    (!all.is_empty()).then(|| all.iter().map(one).collect())
}

/// Adds what a request other than `tools/call` is: its method, what it is about, and who sent it.
pub(in crate::gate) fn add_request(entry: &mut Entry, call: &Call) {
    let Some(method) = call.method() else { return };
    let params: Value = serde_json::from_str(call.arguments_text()).unwrap_or_default();
    entry.detail.add("method", method);
    entry.detail.add("from", side(call.origin()));
    entry.target = request::target(&params).map(Arc::from);
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
