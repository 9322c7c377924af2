//! The end of a held call that does not run: its host is answered where an answer is due, and the consoles learn of it.

use crate::audit::{By, VerdictWord};
use crate::gate::held::{
    Deciding, Denial, Held, Judged, Next, Stage, StageKind as _, Stopped, Verdict, Withdrawal, Withdrawn, entries,
    out::Out, replies, table::Calls,
};
use crate::gate::state::{Ends, Host};
use crate::gate::waiting::Waiting;
use crate::gate::waiting::answer::{answer, leave_unanswered};
use crate::wire::{Call, Origin};

/// The denial is in the log: the host gets its answer.
pub(in crate::gate) fn denied(held: &Held, denial: Denial, host: &mut Host, waiting: &mut Waiting, out: &mut Out) {
    note_denial(held, &denial, host, out);
    answer(waiting, held, denial.reply, host, out);
}

/// The denial is in the log, and its host wants no answer any more.
pub(in crate::gate) fn note_denial(held: &Held, denial: &Denial, host: &mut Host, out: &mut Out) {
    out.status.denied += 1;
    let Verdict { by, reason, operator, .. } = &denial.verdict;
    let said = operator.as_ref().map(|operator| (operator.who.as_ref(), &**reason));
    host.history.note(&held.call, &held.ticket, *by, said, out.now.wall);
    out.settle(held, Some(VerdictWord::Deny), *by, denial.verdict.who());
    out.show_decision(held, VerdictWord::Deny, &denial.verdict, denial.judged.as_deref());
}

/// The log could not take a decision: nothing follows from it, and the host learns why.
pub(in crate::gate) fn not_recorded(
    (held, stage): (&Held, &Stage),
    why: &str,
    host: &Host,
    waiting: &mut Waiting,
    out: &mut Out,
) {
    out.status.denied += 1;
    if !matches!(stage, Stage::Withdrawn(Withdrawn { why: Withdrawal::Cancelled, .. })) {
        let reply = replies::not_recorded(&held.call, &waiting.limits.console, why);
        answer(waiting, held, reply, host, out);
    }
    out.settle(held, Some(VerdictWord::Deny), By::Fault, format!("the log could not be written: {why}"));
}

/// Withdraws a held call. One that is decided already ends once the log has that decision.
pub(in crate::gate) fn withdraw(calls: &mut Calls, number: u64, why: Withdrawal) -> Next {
    match calls.take::<Stage>(number) {
        None => Next::Done,
        Some((
            held,
            Stage::Deciding(Deciding { decision, entry }) | Stage::Withdrawn(Withdrawn { decision, entry, .. }),
        )) => Next::Wait(held, Withdrawn { decision, entry, why }.into_stage()),
        Some((held, stage)) => Next::Withdraw(held, stage.judged(), why),
    }
}

pub(in crate::gate) fn withdrawn(
    (held, judged): (&Held, Option<&Judged>),
    why: Withdrawal,
    ends: &Ends,
    host: &mut Host,
    waiting: &mut Waiting,
    out: &mut Out,
) {
    let (by, reason, reply) = match why {
        Withdrawal::Cancelled => (By::Cancel, cancelled(&held.call), None),
        Withdrawal::HostGone => (By::Shutdown, "the host is gone", None),
        Withdrawal::ServerGone => {
            let how = ends.server.reason().unwrap_or("it ended");
            (By::Fault, "the server is gone", Some(replies::server_gone(&held.call, how)))
        }
        Withdrawal::NoReturn => (By::Expiry, "the host did not come back for it", None),
        Withdrawal::OtherReturn => (By::Fault, "the host came back with another call", None),
        Withdrawal::TaskOver => (By::Expiry, "the time of its task is over", None),
        Withdrawal::Revoked => {
            let why = "the policy or a grant no longer allows it unasked";
            (By::Fault, why, Some(replies::changed(&held.call, why)))
        }
        Withdrawal::Declined(why) => {
            let reply = replies::denied_by_elicitation(&held.call, &waiting.limits.console, why);
            (By::Elicitation, why, Some(reply))
        }
        Withdrawal::Stopping => (By::Shutdown, "the wrapper stops", Some(replies::stopping(&held.call))),
    };
    host.history.note(&held.call, &held.ticket, by, None, out.now.wall);
    out.record(entries::withdrawn(out, held, judged, by, reason));
    out.settle(held, None, by, reason.to_owned());
    match reply {
        Some(reply) => answer(waiting, held, reply, host, out),
        None => leave_unanswered(waiting, held, out.now.wall),
    }
}

/// The approval is in the log, and still the call does not run.
pub(in crate::gate) fn stop(held: &Held, stopped: Stopped, host: &mut Host, waiting: &mut Waiting, out: &mut Out) {
    let Stopped { judged, by, why, reply } = stopped;
    host.history.note(&held.call, &held.ticket, by, None, out.now.wall);
    out.record(entries::withdrawn(out, held, Some(&judged), by, &why));
    out.status.denied += 1;
    out.settle(held, Some(VerdictWord::Deny), by, format!("{why}, so it did not run"));
    answer(waiting, held, reply, host, out);
}

fn cancelled(call: &Call) -> &'static str {
    match call.origin() {
        Origin::Host | Origin::Answer => "the host cancelled the call",
        Origin::Result => "the host cancelled the call, which has run",
        Origin::Server => "the server cancelled its request",
    }
}
