//! A verdict and its record: no token before the log's receipt, one verdict per call, the first recorded one counts.

use std::sync::Arc;

use crate::audit::record::{By, Receipt, VerdictWord};
use crate::gate::Gate;
use crate::gate::call::entries::target_of;
use crate::gate::call::held::{
    Approval, AskRecord, Asking, Decided, Deciding, Denial, Held, Stage, Verdict, Withdrawal, Withdrawn,
};
use crate::gate::call::judged::Judged;
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Now;
use crate::gate::data::report::{ActivityKind, Direction, Settled};
use crate::wire::call::Origin;
use crate::wire::line::Line;

impl Gate {
    /// Sends an approval to the log; it counts once it is there.
    pub(in crate::gate) fn approve(&mut self, now: Now, held: Held, approval: Approval, out: &mut Vec<Effect>) {
        if held.call.method().is_none() {
            self.rules.recent.note(&self.config.server, None, held.call.name(), now.wall);
        }
        for (method, _) in held.call.questions() {
            self.rules.recent.note(&self.config.server, Some(method), method, now.wall);
        }
        self.decide(now, held, Decided::Approve(approval), out);
    }

    /// Sends a denial to the log; the host is answered once it is there.
    pub(in crate::gate) fn deny(
        &mut self,
        now: Now,
        held: Held,
        judged: Option<Box<Judged>>,
        verdict: Verdict,
        reply: Line,
        out: &mut Vec<Effect>,
    ) {
        self.decide(now, held, Decided::Deny(Denial { judged, verdict, reply }), out);
    }

    fn decide(&mut self, now: Now, held: Held, decision: Decided, out: &mut Vec<Effect>) {
        let entry = self.decision_entry(now, &held, &decision);
        let entry = self.record(entry, out);
        self.calls.put(held, Deciding { decision, entry });
    }

    /// The log has an entry: what waited for it happens now.
    pub(in crate::gate) fn on_recorded(&mut self, now: Now, receipt: Receipt, out: &mut Vec<Effect>) {
        self.log.trouble = None;
        self.pinning_recorded(receipt.entry(), out);
        let Some(number) = self.calls.by_entry(receipt.entry()) else {
            return;
        };
        if let Some(held) = self.calls.held_mut::<Asking>(number) {
            held.asked = AskRecord::Recorded;
        } else if let Some((held, Deciding { decision, .. })) = self.calls.take(number) {
            match decision {
                Decided::Approve(approval) => self.await_turn(now, held, approval, receipt, out),
                Decided::Deny(denial) => self.denied(now, &held, denial, out),
            }
            self.close_server_when_done(out);
        } else if let Some((held, Withdrawn { decision, why, .. })) = self.calls.take(number) {
            self.decided_too_late(now, &held, decision, why, out);
            self.close_server_when_done(out);
        }
    }

    /// The denial is in the log: the host gets its answer.
    fn denied(&mut self, now: Now, held: &Held, denial: Denial, out: &mut Vec<Effect>) {
        self.note_denial(now, held, &denial, out);
        self.answer(now, held, denial.reply, out);
    }

    fn note_denial(&mut self, now: Now, held: &Held, denial: &Denial, out: &mut Vec<Effect>) {
        self.consoles.status.denied += 1;
        let Verdict { by, reason, operator, .. } = &denial.verdict;
        let said = operator.as_ref().map(|operator| (operator.who.as_ref(), reason.as_str()));
        self.host.history.note(&held.call, &held.ticket, *by, said, now.wall);
        settle(now, held, VerdictWord::Deny, &denial.verdict, out);
        self.show_decision(now, held, VerdictWord::Deny, &denial.verdict, denial.judged.as_deref(), out);
    }

    /// The decision is in the log, but the call was withdrawn before: an approval does nothing, and a denial agrees with the
    /// end. Only the answer depends on whether the host still waits.
    fn decided_too_late(&mut self, now: Now, held: &Held, decision: Decided, why: Withdrawal, out: &mut Vec<Effect>) {
        match decision {
            Decided::Approve(approval) => self.end_withdrawn(now, held, Some(&approval.case.judged), why, out),
            Decided::Deny(denial) if why == Withdrawal::Cancelled => self.note_denial(now, held, &denial, out),
            Decided::Deny(denial) => self.denied(now, held, denial, out),
        }
    }

    /// The log could not take an entry: nothing follows from it, and the host learns why.
    pub(in crate::gate) fn on_record_failed(&mut self, now: Now, entry: u64, why: Arc<str>, out: &mut Vec<Effect>) {
        self.pinning_failed(entry, &why, out);
        let number = self.calls.by_entry(entry);
        if let Some((held, stage)) = number.and_then(|number| self.calls.take::<Stage>(number)) {
            self.consoles.status.denied += 1;
            let is_cancelled = matches!(stage, Stage::Withdrawn(Withdrawn { why: Withdrawal::Cancelled, .. }));
            if !is_cancelled {
                let reply = replies::not_recorded(&held.call, &self.config.console, &why);
                self.answer(now, &held, reply, out);
            }
            out.push(Effect::Settle(Settled {
                ticket: held.ticket.to_string(),
                time: now.wall,
                verdict: Some(VerdictWord::Deny),
                by: By::Fault,
                who: format!("the log could not be written: {why}"),
            }));
        }
        self.log.trouble = Some(why);
        self.close_server_when_done(out);
    }

    /// Shows the consoles what was decided on a call.
    pub(in crate::gate) fn show_decision(
        &self,
        now: Now,
        held: &Held,
        word: VerdictWord,
        verdict: &Verdict,
        judged: Option<&Judged>,
        out: &mut Vec<Effect>,
    ) {
        let to = match held.call.origin() {
            Origin::Host => Direction::ToServer,
            Origin::Server | Origin::Answer => Direction::ToHost,
        };
        self.show(now, to, ActivityKind::Call, out, |one| {
            one.what = held.call.name().to_owned();
            one.ticket = Some(held.ticket.to_string());
            one.target = target_of(held, judged);
            one.badge = judged.map(|judged| judged.behavior.badge());
            one.ruling = judged.map(|judged| judged.ruling.decision);
            one.verdict = Some(word);
            one.by = Some(verdict.by);
            one.rule.clone_from(&verdict.rule);
            one.bytes = held.call.line().content().len() as u64;
            one.latency_us = Some(now.mono.saturating_sub(held.arrived.mono));
            one.failed = word == VerdictWord::Deny;
            one.reason.clone_from(&verdict.reason);
            one.explained = judged.map_or_else(String::new, |judged| judged.explained.clone());
            one.who = verdict.operator.as_ref().map_or_else(String::new, |operator| operator.who.to_string());
        });
    }
}

/// Tells the consoles that a call waits no longer, by this verdict.
pub(in crate::gate) fn settle(now: Now, held: &Held, word: VerdictWord, verdict: &Verdict, out: &mut Vec<Effect>) {
    let who = verdict.operator.as_ref().map_or_else(|| verdict.reason.clone(), |operator| operator.who.to_string());
    let ticket = held.ticket.to_string();
    out.push(Effect::Settle(Settled { ticket, time: now.wall, verdict: Some(word), by: verdict.by, who }));
}
