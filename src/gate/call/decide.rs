//! A verdict and its record: no token before the log's receipt, one verdict per call, the first recorded one counts.

use crate::gate::call::out::Out;
use crate::gate::call::pinning;
use crate::policy::rate::Recent;
use std::sync::Arc;

use crate::audit::record::{By, VerdictWord};
use crate::gate::Gate;
use crate::gate::call::held::{Decided, Denial, Held, Stage, Verdict, Withdrawal, Withdrawn};
use crate::gate::call::judged::Judged;
use crate::gate::call::replies;

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
}
