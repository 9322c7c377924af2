//! A verdict and its record: no token before the log's receipt, one verdict per call, the first recorded one counts.

use std::sync::Arc;

use crate::audit::record::{By, Receipt, VerdictWord};
use crate::gate::Gate;
use crate::gate::call::held::{
    Approval, AskRecord, Asking, Decided, Deciding, Denial, Held, Stage, Verdict, Withdrawal, Withdrawn,
};
use crate::gate::call::judged::Judged;
use crate::gate::call::replies;
use crate::wire::line::Line;

impl Gate {
    /// Sends an approval to the log; it counts once it is there.
    pub(in crate::gate) fn approve(&mut self, held: Held, approval: Approval) {
        if held.call.method().is_none() {
            self.rules.recent.note(Arc::clone(&self.config.server), None, held.call.shared_name(), self.out.now.wall);
        }
        if let Some(inside) = &approval.case.judged.inside {
            self.rules.recent.note(Arc::clone(&self.config.server), None, Arc::clone(&inside.tool), self.out.now.wall);
        }
        for (method, _) in held.call.questions() {
            self.rules.recent.note(Arc::clone(&self.config.server), Some(method), method, self.out.now.wall);
        }
        self.decide(held, Decided::Approve(approval));
    }

    /// Sends a denial to the log; the host is answered once it is there.
    pub(in crate::gate) fn deny(&mut self, held: Held, judged: Option<Box<Judged>>, verdict: Verdict, reply: Line) {
        self.decide(held, Decided::Deny(Denial { judged, verdict, reply }));
    }

    fn decide(&mut self, held: Held, decision: Decided) {
        let entry = self.out.record(self.decision_entry(&held, &decision));
        self.calls.put(held, Deciding { decision, entry });
    }

    /// The log has an entry: what waited for it happens now.
    pub(in crate::gate) fn on_recorded(&mut self, receipt: Receipt) {
        self.log.trouble = None;
        self.word_recorded(receipt.entry());
        let Some(number) = self.calls.by_entry(receipt.entry()) else {
            return;
        };
        if let Some(held) = self.calls.held_mut::<Asking>(number) {
            held.asked = AskRecord::Recorded;
        } else if let Some((held, Deciding { decision, .. })) = self.calls.take(number) {
            match decision {
                Decided::Approve(approval) => self.await_turn(held, approval, receipt),
                Decided::Deny(denial) => self.denied(&held, denial),
            }
            self.close_server_when_done();
        } else if let Some((held, Withdrawn { decision, why, .. })) = self.calls.take(number) {
            self.decided_too_late(&held, decision, why);
            self.close_server_when_done();
        }
    }

    /// The denial is in the log: the host gets its answer.
    fn denied(&mut self, held: &Held, denial: Denial) {
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
    fn decided_too_late(&mut self, held: &Held, decision: Decided, why: Withdrawal) {
        match decision {
            Decided::Approve(approval) => self.end_withdrawn(held, Some(&approval.case.judged), why),
            Decided::Deny(denial) if why == Withdrawal::Cancelled => self.note_denial(held, &denial),
            Decided::Deny(denial) => self.denied(held, denial),
        }
    }

    /// The log could not take an entry: nothing follows from it, and the host learns why.
    pub(in crate::gate) fn on_record_failed(&mut self, entry: u64, why: Arc<str>) {
        self.word_failed(entry, &why);
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
