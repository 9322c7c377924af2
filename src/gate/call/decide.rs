//! A verdict and what follows from its record: no token before the log's receipt, one verdict per call, the first recorded one
//! counts. A call that is withdrawn ends at once, and before any approval that comes later.

use std::sync::Arc;

use crate::audit::record::{By, VerdictWord};
use crate::gate::Gate;
use crate::gate::call::pinning;
use crate::gate::held::next::Stopped;
use crate::gate::held::out::Out;
use crate::gate::held::{Decided, Deciding, Denial, Held, Judged, Stage, Verdict, Withdrawal, Withdrawn};
use crate::gate::held::{entries, replies};
use crate::policy::rate::Recent;
use crate::wire::call::{Call, Origin};

/// Counts an approved call for the rates of rules.
pub(super) fn count(held: &Held, judged: &Judged, recent: &mut Recent, out: &Out) {
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

impl Gate {
    /// The denial is in the log: the host gets its answer.
    pub(in crate::gate) fn denied(&mut self, held: &Held, denial: Denial) {
        self.note_denial(held, &denial);
        self.answer(held, denial.reply);
    }

    fn note_denial(&mut self, held: &Held, denial: &Denial) {
        self.out.status.denied += 1;
        let Verdict { by, reason, operator, .. } = &denial.verdict;
        let said = operator.as_ref().map(|operator| (operator.who.as_ref(), &**reason));
        self.host.history.note(&held.call, &held.ticket, *by, said, self.out.now.wall);
        self.out.settle(held, Some(VerdictWord::Deny), denial.verdict.by, denial.verdict.who());
        self.out.show_decision(held, VerdictWord::Deny, &denial.verdict, denial.judged.as_deref());
    }

    /// The decision is in the log, but the call was withdrawn before: an approval does nothing, and a denial agrees with the
    /// end. Only the answer depends on whether the host still waits.
    pub(in crate::gate) fn decided_too_late(&mut self, held: &Held, decision: Decided, why: Withdrawal) {
        match decision {
            Decided::Approve(approval) => self.end_withdrawn(held, Some(&approval.case.judged), why),
            Decided::Deny(denial) if why == Withdrawal::Cancelled => self.note_denial(held, &denial),
            Decided::Deny(denial) => self.denied(held, denial),
        }
    }

    /// The log could not take an entry: nothing follows from it, and the host learns why.
    pub(in crate::gate) fn on_record_failed(&mut self, entry: u64, why: Arc<str>) {
        pinning::word_failed(&mut self.log, &mut self.out, entry, &why);
        let number = self.calls.by_entry(entry);
        if let Some((held, stage)) = number.and_then(|number| self.calls.take::<Stage>(number)) {
            self.out.status.denied += 1;
            let is_cancelled = matches!(stage, Stage::Withdrawn(Withdrawn { why: Withdrawal::Cancelled, .. }));
            if !is_cancelled {
                let reply = replies::not_recorded(&held.call, &self.config.console, &why);
                self.answer(&held, reply);
            }
            let who = format!("the log could not be written: {why}");
            self.out.settle(&held, Some(VerdictWord::Deny), By::Fault, who);
        }
        self.log.trouble = Some(why);
        self.close_server_when_done();
    }

    /// Withdraws a held call. One that is decided already ends once the log has that decision.
    pub(in crate::gate) fn withdraw(&mut self, number: u64, why: Withdrawal) {
        match self.calls.take::<Stage>(number) {
            None => {}
            Some((
                held,
                Stage::Deciding(Deciding { decision, entry }) | Stage::Withdrawn(Withdrawn { decision, entry, .. }),
            )) => self.calls.put(held, Withdrawn { decision, entry, why }),
            Some((held, stage)) => self.end_withdrawn(&held, stage.judged().as_deref(), why),
        }
    }

    /// Records the withdrawal, tells the consoles, and answers the host where an answer is due.
    pub(in crate::gate) fn end_withdrawn(&mut self, held: &Held, judged: Option<&Judged>, why: Withdrawal) {
        let (by, reason, reply) = match why {
            Withdrawal::Cancelled => (By::Cancel, cancelled(&held.call), None),
            Withdrawal::HostGone => (By::Shutdown, "the host is gone", None),
            Withdrawal::ServerGone => {
                let how = self.ends.server.reason().unwrap_or("it ended");
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
                let reply = replies::denied_by_elicitation(&held.call, &self.config.console, why);
                (By::Elicitation, why, Some(reply))
            }
            Withdrawal::Stopping => (By::Shutdown, "the wrapper stops", Some(replies::stopping(&held.call))),
        };
        self.host.history.note(&held.call, &held.ticket, by, None, self.out.now.wall);
        self.out.record(entries::withdrawn(&self.out, held, judged, by, reason));
        self.out.settle(held, None, by, reason.to_owned());
        if let (None, Some(task)) = (&reply, &held.round_trips.task) {
            self.cancel_task(task, replies::cancelled_task(held.call.id()));
        }
        match (reply, &held.round_trips.away) {
            (Some(reply), _) => self.answer(held, reply),
            (None, Some(state)) => drop(self.returns.take(state)),
            (None, None) => {}
        }
    }

    /// The approval is in the log, and still the call does not run.
    pub(in crate::gate) fn stop(&mut self, held: &Held, stopped: Stopped) {
        let Stopped { judged, by, why, reply } = stopped;
        self.host.history.note(&held.call, &held.ticket, by, None, self.out.now.wall);
        self.out.record(entries::withdrawn(&self.out, held, Some(&judged), by, &why));
        self.out.status.denied += 1;
        self.out.settle(held, Some(VerdictWord::Deny), by, format!("{why}, so it did not run"));
        self.answer(held, reply);
    }
}

fn cancelled(call: &Call) -> &'static str {
    match call.origin() {
        Origin::Host | Origin::Answer => "the host cancelled the call",
        Origin::Server => "the server cancelled its request",
    }
}
