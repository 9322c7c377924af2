//! A verdict and its record: no token before the log's receipt, one verdict per call, the first recorded one wins.

use std::sync::Arc;

use super::Gate;
use super::answers;
use super::deadline::HEARTBEAT;
use super::effect::Effect;
use super::event::{ConsoleId, Now};
use super::flight::Flight;
use super::held::{Held, Original, Stage, Verdict, Withdrawal};
use super::judge;
use super::report::{ActivityKind, Direction, OperatorVerdict, Settled};
use super::token::{Approved, Clearance, GuardrailToken, UncheckedInvocation};
use crate::audit::record::{By, Kind, Receipt, VerdictWord};
use crate::gate::judge::BeforeTool;
use crate::policy::rule::Decision;
use crate::wire::digest::Digest;
use crate::wire::reply;

/// Who said something about which bytes.
pub(super) struct Said {
    pub ticket: String,
    pub digest: Digest,
    pub who: Arc<str>,
    pub console: ConsoleId,
}

impl Gate {
    /// Sends a verdict to the log; it counts once it is there.
    pub(super) fn decide(
        &mut self,
        now: Now,
        number: u64,
        verdict: Verdict,
        out: &mut Vec<Effect>,
    ) {
        let Some(held) = self.held.get(number) else {
            return;
        };
        let asked = matches!(held.stage, Stage::Asking { .. });
        let entry = self.decision(now, held, &verdict, asked);
        let entry = self.record(entry, out);
        self.held
            .set_stage(number, Stage::Deciding { entry, verdict });
    }

    /// The operator's verdict on exactly these bytes.
    pub(super) fn decided(
        &mut self,
        now: Now,
        said: Said,
        verdict: OperatorVerdict,
        out: &mut Vec<Effect>,
    ) {
        let Some(number) = self.asking(&said) else {
            return self.too_late(now, &said, &verdict, out);
        };
        let Some(held) = self.held.get(number) else {
            return;
        };
        let rule = held
            .judged
            .as_ref()
            .and_then(|judged| judged.ruling.rule.clone());
        let verdict = match verdict {
            OperatorVerdict::Approve { unread } => Verdict {
                word: VerdictWord::Approve,
                by: By::Operator,
                rule,
                reason: "approved by the operator".into(),
                who: said.who,
                unread,
                reply: None,
            },
            OperatorVerdict::Deny { reason } => Verdict {
                word: VerdictWord::Deny,
                by: By::Operator,
                rule,
                reply: Some(answers::denied_by_operator(&held.call, &reason)),
                reason: if reason.is_empty() {
                    "denied by the operator".into()
                } else {
                    reason
                },
                who: said.who,
                unread: false,
            },
        };
        self.decide(now, number, verdict, out);
    }

    /// The held call that waits for an operator under this ticket with these very bytes.
    fn asking(&self, said: &Said) -> Option<u64> {
        let number = self.held.by_ticket(&said.ticket)?;
        let held = self.held.get(number)?;
        (matches!(held.stage, Stage::Asking { .. }) && held.call.digest() == said.digest)
            .then_some(number)
    }

    /// A verdict that decides nothing: it is recorded, and its console is told why.
    fn too_late(
        &mut self,
        now: Now,
        said: &Said,
        verdict: &OperatorVerdict,
        out: &mut Vec<Effect>,
    ) {
        let why = match self
            .held
            .by_ticket(&said.ticket)
            .and_then(|number| self.held.get(number))
        {
            None => "this call waits no longer".to_owned(),
            Some(held) if held.call.digest() != said.digest => {
                "the call has changed since it was shown; look at it again".to_owned()
            }
            Some(held) => match &held.stage {
                Stage::Deciding { verdict, .. } | Stage::Withdrawn { verdict, .. }
                    if !verdict.who.is_empty() =>
                {
                    format!("{} has decided it already", verdict.who)
                }
                Stage::Deciding { .. } | Stage::Withdrawn { .. } => {
                    "it is decided already".to_owned()
                }
                Stage::Describing | Stage::Asking { .. } => {
                    "it does not wait for an operator yet".to_owned()
                }
            },
        };
        let word = match verdict {
            OperatorVerdict::Approve { .. } => "approve",
            OperatorVerdict::Deny { .. } => "deny",
        };
        let mut entry = self.entry(now, Kind::Fault);
        entry.ticket = Some(said.ticket.clone());
        entry.digest = Some(said.digest);
        let entry = entry
            .with("what", format!("a verdict ({word}) came to nothing"))
            .with("operator", said.who.as_ref());
        self.record(entry.with("reason", why.as_str()), out);
        out.push(Effect::Refuse {
            console: said.console,
            ticket: said.ticket.clone(),
            why,
        });
    }

    /// The operator's edit: read strictly, validated and judged again, and shown again before it can be approved.
    pub(super) fn edited(&mut self, now: Now, said: Said, arguments: &str, out: &mut Vec<Effect>) {
        let refuse = |why: String, out: &mut Vec<Effect>| {
            out.push(Effect::Refuse {
                console: said.console,
                ticket: said.ticket.clone(),
                why,
            });
        };
        let Some(number) = self.asking(&said) else {
            return refuse(
                "this call waits no longer, or it has changed since it was shown".into(),
                out,
            );
        };
        let Some(held) = self.held.get_mut(number) else {
            return;
        };
        let call = match held.call.with_arguments(arguments) {
            Ok(call) => call,
            Err(refusal) => return refuse(format!("the edit is refused: {}", refusal.what), out),
        };
        let described = held
            .judged
            .as_ref()
            .and_then(|judged| judged.described.clone());
        let judged = judge::judge(&call, described, &self.config.server, &self.before_tool);
        if let Some(violation) = judged.violations.first() {
            return refuse(
                format!(
                    "the edit does not fit the tool's schema: {} {}",
                    violation.path, violation.what
                ),
                out,
            );
        }
        if judged.ruling.decision == Decision::Deny {
            return refuse(
                format!(
                    "the policy denies the edited call: {}",
                    judged.ruling.reason
                ),
                out,
            );
        }
        if held.original.is_none() {
            let (digest, arguments) = (held.call.digest(), held.call.arguments_text().to_owned());
            held.original = Some(Original { digest, arguments });
        }
        held.call = Box::new(call);
        held.judged = Some(judged);
        self.ask(now, number, out);
    }

    /// The log has an entry: what waited for it happens now.
    pub(super) fn recorded(&mut self, now: Now, receipt: &Receipt, out: &mut Vec<Effect>) {
        self.log_trouble = None;
        let Some(number) = self.held.by_entry(receipt.entry()) else {
            return;
        };
        let waits = self.held.get(number).is_some_and(|held| {
            matches!(held.stage, Stage::Deciding { .. } | Stage::Withdrawn { .. })
        });
        if !waits {
            return;
        }
        let Some(mut held) = self.held.remove(number) else {
            return;
        };
        match std::mem::replace(&mut held.stage, Stage::Describing) {
            Stage::Deciding { verdict, .. } => match verdict.word {
                VerdictWord::Approve => self.forward_now(now, held, verdict, receipt, out),
                VerdictWord::Deny => self.denied_now(now, &held, verdict, out),
            },
            Stage::Withdrawn { verdict, why, .. } => {
                self.withdrawn_now(now, &held, verdict, why, out)
            }
            Stage::Describing | Stage::Asking { .. } => {}
        }
    }

    fn forward_now(
        &mut self,
        now: Now,
        held: Held,
        verdict: Verdict,
        receipt: &Receipt,
        out: &mut Vec<Effect>,
    ) {
        let asked = verdict.by == By::Operator;
        match verdict.by {
            By::Operator => self.status.approved_by_operator += 1,
            _ => self.status.approved_by_policy += 1,
        }
        if asked {
            let entry = self.forward(now, &held, receipt.seq());
            self.record(entry, out);
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
            Some(judged) => (
                judged.behavior.badge(),
                judged.behavior.identity,
                judged.described,
            ),
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
            by: verdict.by,
            rule: verdict.rule,
            arguments: call.is_modern().then(|| call.arguments_text().to_owned()),
        };
        self.flights.insert(call.id().clone(), flight);
        let token = GuardrailToken::mint(
            &self.config.session,
            &call,
            held.session,
            held.scope,
            clearance,
            receipt,
        );
        out.push(Effect::Forward(token, call));
    }

    fn denied_now(&mut self, now: Now, held: &Held, verdict: Verdict, out: &mut Vec<Effect>) {
        self.status.denied += 1;
        self.settle(now, held, &verdict, out);
        self.show_call(now, held, &verdict, out);
        if let Some(reply) = verdict.reply.filter(|_| !self.host_gone) {
            out.push(Effect::Answer(reply));
        }
    }

    /// A decided call whose withdrawal came first: the record of the decision stands, and so does that of the end.
    fn withdrawn_now(
        &mut self,
        now: Now,
        held: &Held,
        verdict: Verdict,
        why: Withdrawal,
        out: &mut Vec<Effect>,
    ) {
        if verdict.word == VerdictWord::Deny {
            // The decision agrees with the end; only the answer depends on who is left to hear it.
            if why == Withdrawal::Cancelled {
                return self.denied_now(
                    now,
                    held,
                    Verdict {
                        reply: None,
                        ..verdict
                    },
                    out,
                );
            }
            return self.denied_now(now, held, verdict, out);
        }
        self.end_withdrawn(now, held, why, out);
    }

    /// The log could not take an entry: nothing follows from it, and the host is told the truth.
    pub(super) fn record_failed(
        &mut self,
        now: Now,
        entry: u64,
        why: Arc<str>,
        out: &mut Vec<Effect>,
    ) {
        let number = self.held.by_entry(entry);
        if let Some(held) = number.and_then(|number| self.held.remove(number)) {
            self.status.denied += 1;
            let cancelled = matches!(
                held.stage,
                Stage::Withdrawn {
                    why: Withdrawal::Cancelled,
                    ..
                }
            );
            if !cancelled && !self.host_gone {
                out.push(Effect::Answer(answers::not_recorded(&held.call, &why)));
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
    }

    /// Time has passed: deadlines, heartbeats, our own question.
    pub(super) fn woke(&mut self, now: Now, out: &mut Vec<Effect>) {
        self.wake = u64::MAX;
        if self.catalog.expire(now) {
            self.described(now, out);
        }
        for number in self
            .held
            .numbers(|held| matches!(held.stage, Stage::Asking { .. }))
        {
            let Some(held) = self.held.get_mut(number) else {
                continue;
            };
            if held.deadline <= now.mono {
                let waited_s = now.mono.saturating_sub(held.arrived.mono) / 1_000_000;
                let verdict = Verdict {
                    word: VerdictWord::Deny,
                    by: By::Expiry,
                    rule: held
                        .judged
                        .as_ref()
                        .and_then(|judged| judged.ruling.rule.clone()),
                    reason: format!("nobody answered within {waited_s} s"),
                    who: "".into(),
                    unread: false,
                    reply: Some(answers::expired(&held.call, waited_s)),
                };
                self.decide(now, number, verdict, out);
                continue;
            }
            let deadline = held.deadline;
            if let (Some(beat), Some(token)) = (&mut held.beat, &held.call.meta().progress_token) {
                if beat.next <= now.mono {
                    beat.sent += 1;
                    beat.next = now.mono + HEARTBEAT;
                    // Negative and rising, so that whatever the server reports later is an increase.
                    let progress = f64::from(beat.sent) / 1e6 - 1.0;
                    out.push(Effect::Answer(reply::progress(
                        token,
                        progress,
                        "Waiting for approval in mcp-approve",
                    )));
                }
                let next = beat.next;
                self.wake_by(next, out);
            }
            self.wake_by(deadline, out);
        }
        if let Some(at) = self.catalog.wake_at() {
            self.wake_by(at, out);
        }
    }

    fn settle(&self, now: Now, held: &Held, verdict: &Verdict, out: &mut Vec<Effect>) {
        let who = if verdict.who.is_empty() {
            verdict.reason.clone()
        } else {
            verdict.who.to_string()
        };
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
        });
    }
}
