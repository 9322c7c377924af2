//! An approved call runs when its turn comes, if its approval still counts: a token is made from the log's receipt for its bytes.

use std::sync::Arc;

use crate::audit::{By, Receipt, VerdictWord};
use crate::behavior::HazardKind;
use crate::gate::call::judge;
use crate::gate::data::{effect::Effect, token::GuardrailToken};
use crate::gate::held::wait::HostWait;
use crate::gate::held::{
    Approval, Approved, AskRecord, Case, Held, Judged, Next, Verdict, context::Context, entries, out::Out, replies,
};
use crate::gate::server::catalog::ToolLookup;
use crate::gate::server::flight::{Flight, Flights, Wanted};
use crate::gate::waiting::{Waiting, answer::end_task, tasks::Progress};
use crate::policy::{Decision, Recent};
use crate::signing::verdict::Consent;
use crate::wire::{Call, Digest, Id, Line, Meta, Origin, rename};

pub(super) fn count_rates(held: &Held, judged: &Judged, recent: &mut Recent, out: &Out) {
    let (server, now) = (&out.heading.server, out.now.wall);
    if held.call.method().is_none() {
        recent.note(Arc::clone(server), None, held.call.shared_name(), now);
    }
    if let Some(inside) = &judged.inside {
        recent.note(Arc::clone(server), None, Arc::clone(&inside.tool), now);
    }
    for (method, _) in held.call.questions() {
        recent.note(Arc::clone(server), Some(method), method, now);
    }
}

/// The token of an approved call, made of all that proves it; otherwise what is missing, and the host's answer.
pub(super) fn mint(
    session: &Arc<str>,
    held: &Held,
    approval: &Approval,
    (consent, receipt): (&Consent, &Receipt),
) -> Result<GuardrailToken, (String, Line)> {
    let Case { session: in_session, scope, .. } = &approval.case;
    GuardrailToken::mint(session, &held.call, (scope, in_session), consent, receipt)
        .map_err(|unproven| (unproven.to_string(), replies::not_proven(&held.call, &unproven)))
}

/// Whether a person approved this call itself: a retry that continues an operator's approval is `By::Operator` too.
fn is_by_person(approval: &Approval) -> bool {
    approval.verdict.operator.is_some() || approval.verdict.by == By::Elicitation
}

pub(super) fn count(approval: &Approval, out: &mut Out) {
    if is_by_person(approval) {
        out.status.approved_by_operator += 1;
    } else {
        out.status.approved_by_policy += 1;
    }
}

/// Records what a person approved as forwarded, and tells the consoles.
pub(super) fn record(held: &Held, approval: &Approval, receipt: &Receipt, out: &mut Out) {
    let Approval { case, verdict, .. } = approval;
    let by_person = is_by_person(approval);
    if by_person {
        out.record(entries::forward(out, held, approval, receipt.entry()));
    }
    // A rule or a grant that came while the call waited may have decided it; the consoles still show it.
    if by_person || held.asked != AskRecord::NotAsked {
        out.settle(held, Some(VerdictWord::Approve), verdict.by, verdict.who());
    }
    out.show_decision(held, VerdictWord::Approve, verdict, Some(&case.judged));
}

/// Sends the call to the server, and remembers what its answer will be for.
pub(super) fn send(
    (token, follows_progress): (GuardrailToken, bool),
    held: Held,
    approval: Approval,
    flights: &mut Flights,
    waiting: &mut Waiting,
    out: &mut Out,
) {
    let Approval { case: Case { judged, .. }, verdict, .. } = approval;
    let progress_token = held.call.meta().progress_token.as_deref().and_then(Id::from_token);
    // The server's own count goes on above the heartbeats, and may begin with 0.
    let heartbeats = held.wait.heartbeat.filter(|beat| beat.sent > 0).map(|beat| beat.sent + 1);
    let is_renamed = !held.wait.later.is_empty() || held.wait.task.is_some();
    // Where a rule may ask about the answer, more heartbeats may follow it.
    let is_followed = is_renamed || follows_progress;
    let reported = progress_token.zip(heartbeats.or(is_followed.then_some(0)));
    let call = held.call;
    match call.origin() {
        Origin::Host => {}
        Origin::Server => return out.push(Effect::Forward(token, call)),
        Origin::Answer => {
            // From here on the host can answer what is asked, under the approval of its call.
            flights.resume(out.now, call.id());
            return out.push(Effect::Forward(token, call));
        }
        Origin::Result => return release(token, (call, held.wait), waiting, out),
    }
    if let Some(task) = &held.wait.task {
        waiting.advance(task, Progress::Runs(call.id().clone()), out.now.wall);
    }
    if judged.behavior.hazards.iter().any(|one| one.kind == HazardKind::AfterReading) {
        flights.reading = None;
    }
    let flight = Flight {
        ticket: held.ticket,
        method: call.method().map(str::to_owned),
        tool: call.shared_name(),
        target: judged.target,
        digest: call.digest(),
        forwarded: out.now,
        held_us: (held.asked == AskRecord::NotAsked).then(|| out.now.mono.saturating_sub(held.arrived.mono)),
        badge: judged.behavior.badge(),
        identity: judged.behavior.identity,
        is_inside: judged.inside.is_some(),
        described: judged.described,
        meta: Meta { span: None, ..call.meta().clone() },
        opened: held.wait.opened,
        responses: call.input_responses_text().map(|text| Digest::of(text.as_bytes())),
        reached: 0,
        modern: call.is_modern(),
        wanted: Wanted::Yes,
        by: verdict.by,
        rule: verdict.rule,
        repeated: (call.is_modern() && held.wait.task.is_none()).then(|| call.repeated()),
        later: held.wait.later,
        reported,
        task: held.wait.task,
    };
    flights.insert(call.id().clone(), flight);
    out.push(Effect::Forward(token, call));
}

/// Gives the host a held answer: under the request that it waits for now, or by its task.
fn release(token: GuardrailToken, (call, wait): (Box<Call>, HostWait), waiting: &mut Waiting, out: &mut Out) {
    let open = wait.later.last().map(|later| later.id.clone());
    if wait.task.is_none() && open.is_none() {
        return out.push(Effect::Forward(token, call));
    }
    let id = open.unwrap_or_else(|| call.id().clone());
    let line = token.redeem(&out.heading.session, *call).ok().map(Line::new);
    let lost = || replies::answer_lost(&id, "it cannot be passed under the id of the request that waits for it");
    match (wait.task, line) {
        (Some(task), line) => end_task(waiting, &task, line.unwrap_or_else(lost), out.now.wall),
        (None, line) => {
            let renamed = line.and_then(|line| rename::with_id(&line, &id));
            out.push(Effect::WriteToHost(renamed.unwrap_or_else(lost)));
        }
    }
}

/// An approved call that had to wait may run now, if its turn has come and nothing has changed since.
pub(super) fn resumed(context: Context<'_>, held: Held, approved: Approved) -> Next {
    let Approved { approval, receipt } = approved;
    match why_overruled(context, &held, &approval) {
        None => Next::AwaitTurn(held, approval, receipt),
        Some(why) => {
            let reply = replies::changed(&held.call, &why);
            Next::stop(held, approval.case.judged, (By::Fault, why), reply)
        }
    }
}

/// Why the approval of a call that waits for its turn no longer counts: its grant ended, or the policy changed.
pub(in crate::gate) fn why_revoked(
    context: Context<'_>,
    held: &Held,
    approval: &Approval,
    ended: Option<&str>,
) -> Option<String> {
    let Approval { case, verdict, .. } = approval;
    let judged = &case.judged;
    match ended {
        Some(grant) => (verdict.rule.as_deref() == Some(grant)).then(|| format!("{grant} was ended")),
        // An operator's own approval stays: a person may have edited a call that the policy allows.
        None if judged.ruling.decision != Decision::Allow || verdict.operator.is_some() => None,
        None if is_by_grant(verdict) => None,
        None => {
            let anew = judge::judgement(&held.call, judged.described.clone(), context, &held.seen).ruling;
            // A call that the policy denies now is stopped when its turn comes.
            (anew.decision == Decision::Ask)
                .then(|| format!("the policy no longer allows it unasked ({})", anew.reason))
        }
    }
}

/// Why a call that no person approved at a console or a desk does not run: calls were frozen after it was let through.
pub(super) fn why_frozen(context: Context<'_>, held: &Held, approval: &Approval) -> Option<String> {
    let verdict = &approval.verdict;
    let by_person = verdict.operator.is_some();
    let frozen = context.rules.stops.frozen.as_ref();
    let frozen = frozen.filter(|_| held.call.origin() == Origin::Host && !by_person);
    frozen.map(|frozen| format!("calls were frozen ({})", frozen.says))
}

/// Why a call that was approved and had to wait may no longer run: its tool or the policy has changed.
fn why_overruled(context: Context<'_>, held: &Held, approval: &Approval) -> Option<String> {
    let judged = &approval.case.judged;
    let found = context.find(&held.call);
    match (judged.definition(), found) {
        (None, _) => {}
        (Some(shown), ToolLookup::Found(known)) if known.digest == shown => {}
        (Some(_), ToolLookup::Found(_) | ToolLookup::NotListed | ToolLookup::AskServer) => {
            return Some("the server has changed this tool's definition".to_owned());
        }
    }
    let anew = judge::judgement(&held.call, judged.described.clone(), context, &held.seen);
    (anew.ruling.decision == Decision::Deny).then(|| format!("the policy denies it ({})", anew.ruling.reason))
}

/// Whether a grant gave the approval. It counts until the grant ends, or the policy denies the call.
fn is_by_grant(verdict: &Verdict) -> bool {
    verdict.rule.as_deref().is_some_and(|rule| rule.starts_with("grant:"))
}
