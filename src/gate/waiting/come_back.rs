//! A call waits for longer than its host waits for one request: the request is answered with a state, the host comes back with
//! it, and the same held call waits on. What reaches the server is the first request, byte for byte. And the heartbeats that tell
//! a host meanwhile that its request is alive.

use std::sync::Arc;

use crate::audit::Kind;
use crate::gate::data::effect::Effect;
use crate::gate::deadline::{self, FIRST_HEARTBEAT, HEARTBEAT, RETURN};
use crate::gate::held::wait::{self, Heartbeat, MOST};
use crate::gate::held::{Approved, Asking, Held, Stage, StageKind as _, out::Out, replies, table::Calls};
use crate::gate::server::flight::Later;
use crate::gate::state::{Host, span};
use crate::gate::waiting::Waiting;
use crate::gate::waiting::given::{Owed, Return, ShownForm};
use crate::gate::waiting::question::{self, FormAnswer, NextForm, record_ineffective_answer};
use crate::wire::{Call, Digest, Line, Origin, rename, reply};

/// How long one request of a call is held at most; `None`: as long as the operator takes.
fn held_per_request(waiting: &Waiting, host: &Host, call: &Call, has_token: bool) -> Option<u64> {
    deadline::hold(waiting.limits.host, host.of(call).map(|(name, _)| name), has_token)
}

/// The last moment at which an answer reaches the host through all its requests for the call (monotonic microseconds).
pub(in crate::gate) fn longest_wait(waiting: &Waiting, host: &Host, held: &Held) -> u64 {
    let call = &held.call;
    // A request of the server has no host that stops waiting for it. An answer's has waited for a while.
    let (has_token, since, used) = match call.origin() {
        Origin::Host => (call.meta().progress_token.is_some(), held.arrived.mono, 0),
        Origin::Server | Origin::Answer => (false, held.arrived.mono, 0),
        Origin::Result => (held.wait.heartbeat.is_some(), held.wait.opened, held.wait.later.len() as u64),
    };
    let requests = if wait::are_possible(call) { (MOST + 1).saturating_sub(used) } else { 1 };
    let hold = held_per_request(waiting, host, call, has_token).map_or(u64::MAX, |hold| hold.saturating_mul(requests));
    since.saturating_add(hold)
}

/// When the open request is answered with a state; `None` where it waits until the call's deadline.
pub(in crate::gate) fn request_ends(waiting: &Waiting, host: &Host, held: &Held) -> Option<u64> {
    if !held.wait.may_end(&held.call) {
        return None;
    }
    let has_token =
        held.open_token().is_some() && (held.call.origin() == Origin::Host || held.wait.heartbeat.is_some());
    let hold = held_per_request(waiting, host, &held.call, has_token)?;
    let ends = held.wait.opened.saturating_add(hold);
    (ends < held.deadline).then_some(ends)
}

/// Answers each open request whose time is over with a state.
pub(in crate::gate) fn end_due(waiting: &mut Waiting, calls: &mut Calls, out: &mut Out) {
    for number in calls.numbers(Stage::may_take_long) {
        match calls.get::<Stage>(number).and_then(|(held, _)| held.wait.ends) {
            Some(ends) if ends > out.now.mono => out.wake_by(ends),
            Some(_) => end_request(waiting, calls, (number, None), out),
            None => {}
        }
    }
}

/// Answers the open request of a call with a state, and with a form where its host is to ask its user.
pub(in crate::gate) fn end_request(
    waiting: &mut Waiting,
    calls: &mut Calls,
    (number, form): (u64, Option<ShownForm>),
    out: &mut Out,
) {
    let Some(held) = calls.held_mut::<Stage>(number) else { return };
    let nth = held.wait.later.len() + 1;
    let state = wait::state(&waiting.limits.secret, &held.ticket, nth);
    (held.wait.ends, held.wait.away) = (None, Some(Arc::clone(&state)));
    // A person may answer until the deadline; a host that comes back soon after that still learns the end.
    let until = if form.is_some() { held.deadline } else { out.now.mono }.saturating_add(RETURN);
    let what_for = if form.is_some() { "ask its user and come back" } else { "come back" };
    let text = form.as_ref().map(|form| form.text.as_str());
    out.push(Effect::WriteToHost(reply::come_back(held.open_id(), &state, text)));
    let given = Return {
        ticket: Arc::clone(&held.ticket),
        owed: Owed::Wait(number),
        form,
        repeated: *held.wait.repeated.get_or_insert_with(|| held.call.repeated()),
        responses: held.wait.responses.or_else(|| Some(Digest::of(held.call.input_responses_text()?.as_bytes()))),
        client: held.call.meta().client.clone(),
    };
    waiting.returns.give(state, until, given);
    record(out, &held.ticket, &held.call, &format!("asked the host to {what_for}, {nth} of {MOST}"));
    out.wake_by(until);
}

pub(in crate::gate) fn ask_user(next: NextForm, waiting: &mut Waiting, calls: &mut Calls, out: &mut Out) {
    if next.takes_back
        && let Some(open) = waiting.forms.open.take()
    {
        out.push(Effect::WriteToHost(reply::cancel(&open.id)));
    }
    let Some(form) = next.asks else { return };
    match calls.get::<Asking>(form.number) {
        Some((held, _)) if held.call.is_modern() => end_request(waiting, calls, (form.number, Some(form)), out),
        Some((held, _)) => {
            let open = waiting.forms.ask(form);
            out.push(Effect::WriteToHost(reply::elicit(&open.id, &open.form.text, held.wait.task.as_deref())));
        }
        None => {}
    }
}

/// What follows when a request brings back a state of ours.
pub(in crate::gate) enum ComeBack {
    Answered,
    /// It is refused: why, and what its host is answered. The held call of this number is withdrawn.
    Refused(String, Line, Option<u64>),
    /// The held call waits on, and the host's user may have answered the form.
    WaitsOn(u64, Option<(ShownForm, FormAnswer)>),
}

/// A request brings back a state of ours: its host waits on, or gets its answer. Each state counts once, for the same call.
pub(in crate::gate) fn take(waiting: &mut Waiting, call: &Call, state: &str, out: &mut Out) -> ComeBack {
    let Some(given) = waiting.returns.take(state) else {
        let why = "it brings back a state of mcp-approve that was used before or has expired".to_owned();
        return ComeBack::Refused(why, replies::stale_state(call), None);
    };
    if !given.fits(call) {
        let why = format!("it brings back the state of {}, and is another call", given.ticket);
        let number = if let Owed::Wait(number) = given.owed { Some(number) } else { None };
        return ComeBack::Refused(why, replies::other_call(call, &given.ticket), number);
    }
    record(out, &given.ticket, call, "the host came back");
    match given.owed {
        Owed::Answer(answer) => {
            if given.form.is_some() {
                record_ineffective_answer(out, given.form.as_ref(), "the call no longer waits");
            }
            out.push(Effect::WriteToHost(rename::with_id(&answer, call.id()).unwrap_or(answer)));
            ComeBack::Answered
        }
        Owed::Wait(number) => {
            let answer = |form| (form, question::answer_inside(call.input_responses_text()));
            ComeBack::WaitsOn(number, given.form.map(answer))
        }
    }
}

/// The held call waits on, under the request that the host came back with.
pub(in crate::gate) fn reopen(
    waiting: &Waiting,
    host: &Host,
    calls: &mut Calls,
    (number, call): (u64, &Call),
    out: &mut Out,
) {
    let Some((mut held, stage)) = calls.take::<Stage>(number) else { return };
    let token = call.meta().progress_token.clone();
    let sent = held.wait.heartbeat.map_or(0, |beat| beat.sent);
    held.wait.heartbeat = token.is_some().then_some(Heartbeat { next: out.now.mono + FIRST_HEARTBEAT, sent });
    (held.wait.away, held.wait.opened) = (None, out.now.mono);
    held.wait.later.push(Later { id: call.id().clone(), token });
    held.wait.ends = request_ends(waiting, host, &held);
    out.wake_for(&held);
    calls.put(held, stage);
}

fn record(out: &mut Out, ticket: &Arc<str>, call: &Call, what: &str) {
    let mut entry = out.entry(Kind::RoundTrip);
    (entry.ticket, entry.tool) = (Some(Arc::clone(ticket)), Some(call.shared_name()));
    entry.digest = Some(call.digest());
    out.record(entry.with("what", what));
}

pub(in crate::gate) fn send(waiting: &Waiting, calls: &mut Calls, out: &mut Out) {
    let form = waiting.forms.open.as_ref().map(|open| open.form.number);
    for number in calls.numbers(Stage::may_take_long) {
        let Some((held, stage)) = calls.get::<Stage>(number) else { continue };
        if held.wait.away.is_some() || held.wait.task.is_some() {
            continue;
        }
        let (Some(mut beat), Some(token)) = (held.wait.heartbeat, held.open_token()) else { continue };
        if beat.next <= out.now.mono {
            beat.sent += 1;
            beat.next = out.now.mono + HEARTBEAT;
            let says = says(held, stage, form == Some(number), waiting, out);
            out.push(Effect::WriteToHost(reply::progress(token, beat.sent, &says)));
        }
        out.wake_by(beat.next);
        if let Some(held) = calls.held_mut::<Stage>(number) {
            held.wait.heartbeat = Some(beat);
        }
    }
}

/// What a call waits for, in words for its host.
fn says(held: &Held, stage: &Stage, has_form: bool, waiting: &Waiting, out: &Out) -> String {
    let ticket = &held.ticket;
    let left = held.deadline.saturating_sub(out.now.mono) / 1000;
    let left = span(i64::try_from(left).unwrap_or(i64::MAX));
    if Approved::from_ref(stage).is_some() {
        return format!("Approved in mcp-approve: {ticket} runs after an earlier call, within {left} or not at all");
    }
    if Asking::from_ref(stage).is_none() {
        return format!("mcp-approve checks {ticket}");
    }
    let console = &waiting.limits.console;
    match (out.attached > 0, has_form) {
        (true, _) => format!("Waiting for approval in mcp-approve: {ticket}, for {left} more at most"),
        (false, true) => format!(
            "Waiting for approval: {ticket}, for {left} more at most. Answer the form, or run `{console}` in a terminal"
        ),
        (false, false) => format!(
            "Waiting for approval in mcp-approve: {ticket}, for {left} more at most. Run `{console}` in a terminal"
        ),
    }
}
