//! A call arrives: from here on it is held, where the session and the scope allow it; otherwise it is denied at once.

use std::sync::Arc;

use crate::audit::record::{By, Kind, VerdictWord};
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::deadline::FIRST_HEARTBEAT;
use crate::gate::held::context::Context;
use crate::gate::held::next::Next;
use crate::gate::held::out::Out;
use crate::gate::held::table::Calls;
use crate::gate::held::wait::{Heartbeat, HostWait};
use crate::gate::held::{AskRecord, Describing, Held, Opening, Seen, StageKind as _, entries, replies, target};
use crate::gate::state::{Host, WrapperEnd};
use crate::gate::waiting::Waiting;
use crate::gate::waiting::come_back::{longest_wait, request_ends};
use crate::mcp::lifecycle::InSession;
use crate::policy::scope::Outside;
use crate::wire::call::{Call, Origin};
use crate::wire::line::Line;

/// Why a call is not worth holding, and what its sender is answered.
#[derive(Debug)]
pub(in crate::gate) struct NotHeld {
    pub by: By,
    pub why: String,
    pub reply: Line,
}

/// The proof that the session allows a call; `None` while the server has not answered `initialize` yet.
pub(in crate::gate) fn admit(context: Context<'_>, call: &Call) -> Result<Option<InSession>, NotHeld> {
    let not_held = |by, why: &str, reply| Err(NotHeld { by, why: why.to_owned(), reply });
    if context.ends.wrapper != WrapperEnd::Runs {
        return not_held(By::Shutdown, "the wrapper stops", replies::stopping(call));
    }
    let lifecycle = &context.host.lifecycle;
    let session = match lifecycle.call(call) {
        Ok(session) => Some(session),
        Err(_) if lifecycle.is_pending() => None,
        Err(phase) => {
            return not_held(By::Fault, &phase.to_string(), replies::wrong_phase(call, lifecycle.phase(), &phase));
        }
    };
    if call.method().is_none()
        && let Err(Outside(why)) = context.scope.may_name(call.name())
    {
        return not_held(By::Scope, &why, replies::out_of_scope(call));
    }
    if context.calls.is_full(call.line().bytes().len()) || context.flights.is_full() {
        let why = "too many calls wait, for a decision or for the server";
        return not_held(By::Fault, why, replies::too_many(call));
    }
    Ok(session)
}

/// Holds a call until a decision exists.
pub(in crate::gate) fn hold(
    call: Box<Call>,
    session: Option<InSession>,
    (host, waiting): (&Host, &Waiting),
    calls: &mut Calls,
    out: &mut Out,
) -> Next {
    let number = calls.next_number();
    // A request of the server has no host that stops waiting for it.
    let has_token = call.origin() == Origin::Host && call.meta().progress_token.is_some();
    let now = out.now.mono;
    let mut held = Held {
        number,
        ticket: out.ticket(number).into(),
        deadline: now.saturating_add(waiting.limits.approval).min(longest_wait(waiting, host, &call, now)),
        call,
        arrived: out.now,
        asked: AskRecord::NotAsked,
        original: None,
        wait: HostWait {
            heartbeat: has_token.then_some(Heartbeat { next: now + FIRST_HEARTBEAT, sent: 0 }),
            opened: now,
            ..HostWait::default()
        },
        seen: Seen::default(),
        asked_again: None,
        signed: Vec::new(),
        challenges: 0,
    };
    held.wait.ends = request_ends(waiting, host, &held);
    match session {
        Some(session) => Next::Describe(held, Describing { session, before: None }),
        None => {
            out.wake_for(&held);
            Next::Wait(held, Opening.into_stage())
        }
    }
}

/// Denies a call that is not worth holding: one decision record, one answer.
pub(in crate::gate) fn deny(call: &Call, not_held: NotHeld, calls: &mut Calls, out: &mut Out) {
    let NotHeld { by, why, reply } = not_held;
    let number = calls.next_number();
    let mut entry = out.entry(Kind::Decision);
    entry.ticket = Some(out.ticket(number).into());
    entry.tool = Some(call.shared_name());
    let target = target::of_unjudged(call);
    entry.target = target.as_deref().map(Arc::from);
    entry.digest = Some(call.digest());
    entry.verdict = Some(VerdictWord::Deny);
    entry.by = Some(by);
    entry.arguments = Some(call.arguments());
    entries::add_request(&mut entry, call);
    out.record(entry.with("reason", why.as_str()));
    out.status.denied += 1;
    out.push(replies::answer(call, reply));
    out.show(Direction::ToServer, ActivityKind::Call, |one| {
        one.what = call.name().to_owned();
        one.target = target;
        one.verdict = Some(VerdictWord::Deny);
        one.by = Some(by);
        one.bytes = call.line().content().len() as u64;
        one.failed = true;
        one.reason = why;
    });
}
