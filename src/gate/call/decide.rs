//! A verdict and its record: no token before the log's receipt, one verdict per call, the first recorded one wins.

use std::sync::Arc;

use crate::audit::record::{By, Receipt, VerdictWord};
use crate::gate::Gate;
use crate::gate::call::held::{After, Arrival, Held, Stage, Verdict, Withdrawal};
use crate::gate::call::judged::BeforeTool;
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Now;
use crate::gate::data::report::{ActivityKind, Direction, Settled};
use crate::gate::data::token::{Approved, Clearance, GuardrailToken, UncheckedInvocation};
use crate::gate::server::flight::{Flight, Wanted};

impl Gate {
    /// Sends a verdict to the log; it counts once it is there.
    pub(in crate::gate) fn decide(&mut self, now: Now, number: u64, verdict: Verdict, out: &mut Vec<Effect>) {
        let Some(held) = self.held.get(number) else {
            return;
        };
        if verdict.word == VerdictWord::Approve {
            self.recent.note(&self.config.server, held.call.name(), now.wall);
        }
        let asked = matches!(held.stage, Stage::Asking { .. }) || held.arrival == Arrival::Recorded;
        let entry = self.decision_entry(now, held, &verdict, asked);
        let entry = self.record(entry, out);
        self.held.set_stage(number, Stage::Deciding { entry, verdict });
    }

    /// The log has an entry: what waited for it happens now.
    pub(in crate::gate) fn on_recorded(&mut self, now: Now, receipt: Receipt, out: &mut Vec<Effect>) {
        self.log_trouble = None;
        let Some(number) = self.held.by_entry(receipt.entry()) else {
            return;
        };
        match self.held.get_mut(number) {
            Some(held) if matches!(held.stage, Stage::Deciding { .. } | Stage::Withdrawn { .. }) => {}
            Some(held) => {
                held.arrival = Arrival::Recorded;
                return;
            }
            None => return,
        }
        let looks_again = self.looks_again(number);
        let Some(mut held) = self.held.remove(number) else {
            return;
        };
        match std::mem::replace(&mut held.stage, Stage::Describing) {
            Stage::Deciding { verdict, .. } => match verdict.word {
                VerdictWord::Approve if looks_again && verdict.by != By::Observe => {
                    self.held.insert(number, held);
                    self.look(number, After::Forwarding { verdict, receipt }, out);
                }
                VerdictWord::Approve => self.forward_now(now, held, verdict, &receipt, out),
                VerdictWord::Deny => self.denied_now(now, &held, verdict, out),
            },
            Stage::Withdrawn { verdict, why, .. } => self.withdrawn_now(now, &held, verdict, why, out),
            Stage::Opening
            | Stage::Describing
            | Stage::Looking { .. }
            | Stage::Consulting { .. }
            | Stage::Asking { .. } => {}
        }
        self.close_server_when_done(out);
    }

    pub(in crate::gate) fn forward_now(
        &mut self,
        now: Now,
        held: Held,
        verdict: Verdict,
        receipt: &Receipt,
        out: &mut Vec<Effect>,
    ) {
        // A continued call is by the operator too, but nobody was asked again.
        let (asked, granted) = (!verdict.who.is_empty(), verdict.grant.is_some());
        let Some(session) = held.session else {
            // No proof, no token: a call is only decided on after its session was proven.
            return self.end_withdrawn(now, &held, Withdrawal::Stopping, out);
        };
        let held = Held { session: None, ..held };
        if asked {
            self.status.approved_by_operator += 1;
        } else {
            self.status.approved_by_policy += 1;
        }
        if let Some(terms) = &verdict.grant {
            self.grant(now, &held, &verdict, terms, out);
        }
        if asked {
            let entry = self.forward_entry(now, &held, receipt.entry());
            self.record(entry, out);
        }
        // A rule or a grant that came while it waited decides it without an operator's word; the consoles still show it.
        if asked || held.arrival != Arrival::Unasked {
            self.settle(now, &held, &verdict, out);
        }
        self.show_call(now, &held, &verdict, out);
        let clearance = match (&self.before_tool, held.judged.as_ref()) {
            (BeforeTool::Unregistered, Some(judged)) if !asked => {
                match UncheckedInvocation::for_read_only(&judged.behavior) {
                    Some(unchecked) => Clearance::Unchecked(unchecked),
                    None => Clearance::Approved(Approved::new()),
                }
            }
            _ => Clearance::Approved(Approved::new()),
        };
        let (badge, identity, described) = match held.judged {
            Some(judged) => (judged.behavior.badge(), judged.behavior.identity, judged.described),
            None => {
                let unknown = crate::behavior::identity::Identity::UNKNOWN;
                (unknown.mutability, unknown, None)
            }
        };
        let call = held.call;
        let flight = Flight {
            ticket: held.ticket,
            tool: call.name().to_owned(),
            digest: call.digest(),
            forwarded: now,
            badge,
            identity: identity.hash(),
            described,
            modern: call.is_modern(),
            wanted: Wanted::Yes,
            by: verdict.by,
            rule: verdict.rule,
            arguments: call.is_modern().then(|| call.arguments_text().to_owned()),
        };
        self.flights.insert(call.id().clone(), flight);
        let token = GuardrailToken::mint(&self.config.session, &call, session, held.scope, clearance, receipt);
        out.push(Effect::Forward(token, call));
        if granted {
            self.rejudge(now, out);
        }
    }

    fn denied_now(&mut self, now: Now, held: &Held, verdict: Verdict, out: &mut Vec<Effect>) {
        self.status.denied += 1;
        self.settle(now, held, &verdict, out);
        self.show_call(now, held, &verdict, out);
        if let Some(reply) = verdict.reply {
            out.push(Effect::Answer(reply));
        }
    }

    /// A decided call whose withdrawal came first: the record of the decision stands, and so does that of the end.
    fn withdrawn_now(&mut self, now: Now, held: &Held, verdict: Verdict, why: Withdrawal, out: &mut Vec<Effect>) {
        if verdict.word == VerdictWord::Deny {
            // The decision agrees with the end; only the answer depends on who is left to hear it.
            if why == Withdrawal::Cancelled {
                return self.denied_now(now, held, Verdict { reply: None, ..verdict }, out);
            }
            return self.denied_now(now, held, verdict, out);
        }
        self.end_withdrawn(now, held, why, out);
    }

    /// The log could not take an entry: nothing follows from it, and the host is told the truth.
    pub(in crate::gate) fn on_record_failed(&mut self, now: Now, entry: u64, why: Arc<str>, out: &mut Vec<Effect>) {
        let number = self.held.by_entry(entry);
        if let Some(held) = number.and_then(|number| self.held.remove(number)) {
            self.status.denied += 1;
            let cancelled = matches!(held.stage, Stage::Withdrawn { why: Withdrawal::Cancelled, .. });
            if !cancelled {
                out.push(Effect::Answer(replies::not_recorded(&held.call, &why)));
            }
            out.push(Effect::Settle(Settled {
                ticket: held.ticket.to_string(),
                time: now.wall,
                verdict: Some(VerdictWord::Deny),
                by: By::Fault,
                who: format!("the log could not be written: {why}"),
            }));
        }
        self.log_trouble = Some(why);
        self.close_server_when_done(out);
    }

    pub(in crate::gate) fn settle(&self, now: Now, held: &Held, verdict: &Verdict, out: &mut Vec<Effect>) {
        let who = if verdict.who.is_empty() { verdict.reason.clone() } else { verdict.who.to_string() };
        out.push(Effect::Settle(Settled {
            ticket: held.ticket.to_string(),
            time: now.wall,
            verdict: Some(verdict.word),
            by: verdict.by,
            who,
        }));
    }

    fn show_call(&self, now: Now, held: &Held, verdict: &Verdict, out: &mut Vec<Effect>) {
        self.show(now, Direction::ToServer, ActivityKind::Call, out, |one| {
            one.what = held.call.name().to_owned();
            one.ticket = Some(held.ticket.to_string());
            one.badge = held.judged.as_ref().map(|judged| judged.behavior.badge());
            one.ruling = held.judged.as_ref().map(|judged| judged.ruling.decision);
            one.verdict = Some(verdict.word);
            one.by = Some(verdict.by);
            one.rule.clone_from(&verdict.rule);
            one.bytes = held.call.line().content().len() as u64;
            one.latency_us = Some(now.mono.saturating_sub(held.arrived.mono));
            one.failed = verdict.word == VerdictWord::Deny;
            one.reason.clone_from(&verdict.reason);
            one.who = verdict.who.to_string();
        });
    }
}
