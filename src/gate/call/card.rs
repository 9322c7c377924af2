//! The card of a held call, as the operator sees it. Data only; foreign text in it is raw.

use crate::behavior::{Behavior, HazardKind, Mutability, arguments, arguments::reading::Reading};
use crate::gate::call::{grant, signed};
use crate::gate::data::snapshot::{Check, CheckState, Safe, Snapshot};
use crate::gate::deadline;
use crate::gate::held::{Held, Inside, Judged, context::Context, retry};
use crate::gate::waiting::question;
use crate::mcp::Tool;
use crate::signing::Needs;
use crate::wire::{Call, Origin};

/// How many bytes of the server's own text about a tool a card shows: this text may be cut, the call may not.
const WORDS: usize = 64 * 1024;

pub(in crate::gate) fn snapshot(context: Context<'_>, held: &Held, judged: &Judged) -> Snapshot {
    let tool = judged.described.as_ref().map(|known| &known.tool);
    let past = context.past(held);
    let mut snapshot = Snapshot {
        ticket: held.ticket.to_string(),
        server: context.config.server.to_string(),
        method: held.call.method().map(str::to_owned),
        result_of: held.seen.answer.as_ref().map(|of| of.ticket.as_deref().unwrap_or_default().to_owned()),
        tool: held.call.name().to_owned(),
        title: tool.and_then(|tool| tool.title.as_deref()).map(cut),
        description: tool.and_then(|tool| tool.description.as_deref()).map(cut),
        signature: judged.described.as_ref().map(|known| known.signature.clone()),
        identity: judged.behavior.identity,
        confidence: judged.behavior.confidence,
        new: new(&judged.behavior),
        offer: grant::offer(judged, &context.rules.policy),
        content_type: judged.behavior.content_type,
        evidence: judged.behavior.evidence.to_vec(),
        disputed: judged.behavior.disputed,
        hazards: judged.behavior.hazards.clone(),
        effect: judged.effect.clone(),
        target: judged.target.as_deref().map(str::to_owned),
        ruling: judged.ruling.clone(),
        near: judged.near.clone(),
        safe: safe(context, held, judged),
        arguments: held.call.arguments_text().to_owned(),
        responses: held.call.input_responses_text().map(str::to_owned),
        unknown_parts: held.call.unknown_parts(),
        readings: readings(tool, judged, &held.call),
        undeclared: judged.undeclared.clone(),
        digest: held.call.digest(),
        bytes: held.call.line().content().len() as u64,
        arrived: held.arrived.wall,
        deadline: held.deadline_at(),
        host: context.host.words(&held.call),
        caller: retry::of(held.call.meta_text()),
        danger: judged.danger.clone(),
        edited_from: held.original.as_ref().map(|original| original.digest),
        original_arguments: held.original.as_ref().map(|original| original.arguments.clone()),
        facts: held.seen.found.as_ref().map(|found| found.files.clone()).unwrap_or_default(),
        asked_again: held.asked_again.map(str::to_owned),
        runs_after: context.runs_after(held).map(|earlier| earlier.ticket.to_string()),
        occurrence: past.times + 1,
        earlier: past.lines,
        silence: silence(context, held),
        bare: context.host.of(&held.call).is_some_and(|(name, _)| deadline::is_bare(name)),
        signs: None,
        salt: None,
    };
    let needs = signed::needs(context, judged);
    if needs == Needs::Signature
        && let Some(offer) = &mut snapshot.offer
    {
        offer.signs = Some(Box::new(grant::signs(context, held, judged, offer)));
    }
    snapshot.salt = Some(signed::salt(&context.config.secret, held, snapshot.card_digest()));
    if needs == Needs::Signature {
        snapshot.signs = Some(signed::terms(context, held, judged, snapshot.card_digest()));
    }
    snapshot
}

/// What the operator cannot see of the host while the call waits.
fn silence(context: Context<'_>, held: &Held) -> Option<String> {
    if held.wait.task.is_some() {
        return Some("it has a task for this call and polls until you decide".to_owned());
    }
    let host = context.host.of(&held.call).map(|(name, _)| name);
    let is_short = context.config.host_timeout.is_none() && context.config.approval_timeout > deadline::ASSUMED_LIMIT;
    let assumed = (is_short && deadline::is_assumed(host)).then_some(deadline::ASSUMED);
    let silence = host.and_then(deadline::silence);
    let all: Vec<&str> =
        assumed.into_iter().chain(silence).chain(question::without_form(context, &held.call)).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn safe(context: Context<'_>, held: &Held, judged: &Judged) -> Safe {
    let described = judged.described.is_some();
    let fits = judged.behavior.hazards.iter().all(|one| one.kind != HazardKind::SchemaMismatch);
    let mut capability = match (context.config.scope.words(), described) {
        (_, _) if held.call.origin() == Origin::Result => "a result, of what was in the scope and has run".to_owned(),
        (scope, _) if held.call.method().is_some() => match (&judged.inside, scope) {
            (Some(Inside { tool, described: Some(_) }), _) => {
                format!("it carries a call of {tool}, which the server offers")
            }
            (Some(_), _) => "it carries a tool call that the server has not described".to_owned(),
            (None, None) => "it is not a tool call, so no capability covers it, and no scope is set".to_owned(),
            (None, Some(scope)) => format!("it is not a tool call, and the scope ({scope}) does not forbid it"),
        },
        (_, true) if !fits => "the server offers this tool, but the arguments do not fit its schema".to_owned(),
        (None, true) => {
            "the server offers this tool, neither role nor scope narrows that, and the arguments fit its schema"
                .to_owned()
        }
        (Some(scope), true) => {
            format!(
                "the server offers this tool, what this wrapper may use ({scope}) has it, and the arguments fit its schema"
            )
        }
        (_, false) => "the server has not described this tool, so its arguments could not be checked".to_owned(),
    };
    if !context.config.above.is_empty() {
        capability.push_str(&format!("; started underneath {}", context.config.above.join(", ")));
    }
    let session = if held.call.is_modern() {
        "stateless request (2026-07-28): legal at any time".to_owned()
    } else {
        "host and server have finished their handshake, so calls are legal now".to_owned()
    };
    let is_capable = described && fits || held.call.method().is_some();
    let state = if is_capable { CheckState::Holds } else { CheckState::Fails };
    let does = if held.call.origin() == Origin::Result { "the host gets it" } else { "it runs" };
    let unapproved = format!("not approved yet: {does} only once your approval is in the log");
    Safe {
        capability: Check { state, what: capability },
        guardrail: Check { state: CheckState::Pending, what: unapproved },
        session: Check { state: CheckState::Holds, what: session },
    }
}

/// The statements and commands of a call, read again for display by the readers that judged them.
fn readings(tool: Option<&Tool>, judged: &Judged, call: &Call) -> Vec<Reading> {
    if judged.behavior.analyses.is_empty() {
        return Vec::new();
    }
    let arguments = serde_json::from_str(call.arguments_text()).unwrap_or_default();
    arguments::readings(tool, &arguments)
}

/// What is new about a call that reads: its pointer, and one line. A call that changes something asks as it is.
fn new(behavior: &Behavior) -> Vec<(String, String)> {
    match behavior.identity.mutability {
        Mutability::Pure => behavior.shape.new.iter().map(|one| (one.pointer.clone(), one.says.clone())).collect(),
        Mutability::Mutates => Vec::new(),
    }
}

/// The beginning of a text, and how long the whole is.
fn cut(text: &str) -> String {
    if text.len() <= WORDS {
        return text.to_owned();
    }
    let head = text.get(..text.floor_char_boundary(WORDS)).unwrap_or_default();
    format!("{head}\n[cut here: {} bytes in all]", text.len())
}
