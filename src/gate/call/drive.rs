//! A call's way: each step is a function of what it needs and says what comes next. Only this file knows the order, and
//! what each step is handed. It decides nothing.

use std::sync::Arc;

use serde_json::json;

use crate::audit::record::{By, Kind, Receipt};
use crate::behavior::taxonomy::Mutability;
use crate::gate::Gate;
use crate::gate::call::{ask, card, consult, decide, describe, forward, grant, judge, look, pinning};
use crate::gate::data::effect::Effect;
use crate::gate::data::event::{Operator, OperatorWord, Said};
use crate::gate::data::facts::Findings;
use crate::gate::data::opinion::Opinion;
use crate::gate::data::pinning::{Pinning, ToolOffer, ToolWord};
use crate::gate::data::report::OperatorVerdict;
use crate::gate::data::terms::GrantTerms;
use crate::gate::held::context::Context;
use crate::gate::held::entries;
use crate::gate::held::next::Next;
use crate::gate::held::{
    Approval, Approved, Approving, AskRecord, Asking, Case, Decided, Deciding, Forwarding, Held, StageKind, Verdict,
    Withdrawal, Withdrawn,
};
use crate::policy::rule::Policy;
use crate::wire::digest::Digest;

impl Gate {
    /// Takes a call from step to step, until it waits for something or has ended.
    pub(in crate::gate) fn drive(&mut self, mut next: Next) {
        loop {
            next = match next {
                Next::Describe(held, waits) => {
                    describe::describe(held, waits, &self.catalog, self.describe_queue.is_some(), &mut self.out)
                }
                Next::AskServer(held, waits) => describe::ask_server(held, waits, &mut self.catalog, &mut self.out),
                Next::Judge(held, session, described) => {
                    self.prune_grants();
                    judge::judge(self.context(), held, session, described)
                }
                Next::JudgeAgain(held, case) => judge::judge_again(self.context(), held, case),
                Next::Look(held, case, wanted) => look::to_judge(held, case, wanted, &mut self.calls, &mut self.out),
                Next::Consult(held, case, names) => {
                    let knows = (&self.config, &self.host);
                    consult::consult((held, case), names, knows, &mut self.calls, &mut self.out)
                }
                Next::Act(held, case) => {
                    let continued = self.flights.continues(self.out.now, &held.call, case.judged.definition());
                    judge::note_use(&case.judged, &mut self.log, &mut self.out);
                    let config = (&self.config, self.out.attached);
                    judge::act((held, case), continued, &mut self.grants, config)
                }
                Next::Ask(held, case) => self.ask(held, case),
                Next::Confirm(held, approval, changed) => match ask::confirm(self.context(), held, approval, changed) {
                    (next, None) => next,
                    (next, Some((word, why))) => {
                        self.drive(next);
                        return ask::report_ineffective(&mut self.out, &word, "approve", &why);
                    }
                },
                Next::LookAgain(held, approval) => {
                    let look = look::ask(&held, &mut self.calls, &mut self.out);
                    Next::Wait(held, Approving { approval, look }.into_stage())
                }
                Next::Approve(held, approval) => {
                    decide::count(&held, &approval.case.judged, &mut self.rules.recent, &self.out);
                    Next::Decide(held, Decided::Approve(approval))
                }
                Next::Decide(held, decision) => {
                    let entry = self.out.record(entries::decision(self.context(), &held, &decision));
                    Next::Wait(held, Deciding { decision, entry }.into_stage())
                }
                Next::AwaitTurn(mut held, approval, receipt) => {
                    if held.round_trips.away.is_none() && self.context().runs_after(&held).is_none() {
                        Next::Run(held, approval, receipt)
                    } else {
                        self.give_task(&mut held);
                        self.out.wake_for(&held);
                        Next::Wait(held, Approved { approval, receipt }.into_stage())
                    }
                }
                Next::Run(held, approval, receipt) => {
                    if held.looks_again() && approval.verdict.by != By::Observe {
                        let look = look::ask(&held, &mut self.calls, &mut self.out);
                        Next::Wait(held, Forwarding { approval, receipt, look }.into_stage())
                    } else {
                        Next::Forward(held, approval, receipt)
                    }
                }
                Next::Forward(held, approval, receipt) => self.forward(held, approval, &receipt),
                Next::Stop(held, stopped) => {
                    self.stop(&held, stopped);
                    return;
                }
                Next::Wait(held, stage) => return self.calls.put(held, stage),
                Next::Done => return,
            };
        }
    }

    /// What a step may read.
    pub(in crate::gate) fn context(&self) -> Context<'_> {
        Context {
            config: &self.config,
            scope: &self.config.scope,
            rules: &self.rules,
            grants: &self.grants,
            host: &self.host,
            catalog: &self.catalog,
            calls: &self.calls,
            out: &self.out,
            now: self.out.now.wall,
        }
    }

    /// Puts a call before the operator.
    fn ask(&mut self, mut held: Held, case: Case) -> Next {
        let entry = self.out.record(entries::asked(self.context(), &held, &case.judged));
        held.asked = AskRecord::Sent;
        self.give_task(&mut held);
        self.out.push(Effect::Ask(Box::new(card::snapshot(self.context(), &held, &case.judged))));
        if self.ends.host_gone.is_some() {
            self.end_withdrawn(&held, Some(&case.judged), Withdrawal::HostGone);
            self.close_server_when_done();
            return Next::Done;
        }
        self.out.wake_for(&held);
        Next::Wait(held, Asking { case, entry, look: None }.into_stage())
    }

    /// Ends the grants whose time or calls are over, and those for a tool whose definition has changed.
    pub(in crate::gate) fn prune_grants(&mut self) {
        grant::prune(&mut self.grants, &self.catalog, &mut self.out);
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
                Decided::Approve(approval) => self.drive(Next::AwaitTurn(held, approval, receipt)),
                Decided::Deny(denial) => self.denied(&held, denial),
            }
            self.close_server_when_done();
        } else if let Some((held, Withdrawn { decision, why, .. })) = self.calls.take(number) {
            self.decided_too_late(&held, decision, why);
            self.close_server_when_done();
        }
    }

    /// What the shell has found.
    pub(in crate::gate) fn on_facts(&mut self, ticket: &str, look: u64, found: Findings) {
        let next = look::found(&mut self.calls, ticket, look, found);
        let ends = matches!(next, Next::Forward(..) | Next::Stop(..));
        self.drive(next);
        if ends {
            self.close_server_when_done();
        }
    }

    /// The approvers have spoken, or failed to.
    pub(in crate::gate) fn on_consulted(&mut self, ticket: &str, consult: u64, opinions: Vec<Opinion>) {
        let next = consult::heard(&mut self.calls, ticket, consult, opinions);
        self.drive(next);
    }

    /// The operator's verdict on exactly these bytes.
    pub(in crate::gate) fn on_decided(&mut self, word: &OperatorWord, verdict: OperatorVerdict) {
        let Some((held, asking)) = ask::take(&mut self.calls, word) else {
            return ask::report_late(&self.calls, &mut self.out, word, verdict.word().word());
        };
        match verdict {
            OperatorVerdict::Approve { unread } => self.operator_approves((held, asking), word, unread, None),
            OperatorVerdict::Deny { reason } => self.drive(ask::denied(held, asking, word, reason)),
        }
    }

    /// An approval of exactly these bytes, and of calls like it for a while.
    pub(in crate::gate) fn on_granted(&mut self, word: &OperatorWord, terms: GrantTerms) {
        let Some((held, asking)) = ask::take(&mut self.calls, word) else {
            return ask::report_late(&self.calls, &mut self.out, word, "approve");
        };
        if let Some(why) = grant::refusal(&held.call, &asking.case.judged, &terms) {
            self.calls.put(held, asking);
            return self.out.refuse_word(word, why);
        }
        self.operator_approves((held, asking), word, false, Some(terms));
    }

    pub(in crate::gate) fn operator_approves(
        &mut self,
        (held, asking): (Held, Asking),
        word: &OperatorWord,
        unread: bool,
        grant: Option<GrantTerms>,
    ) {
        let verdict = ask::by_operator(word, &asking, "approved by the operator".into());
        if let Err(why) = self.approve_as_shown(held, asking.case, (verdict, unread, grant)) {
            self.out.refuse_word(word, why);
        }
    }

    /// Approves a call if everything is as the card showed it; the shell may have to look first. Otherwise returns why
    /// the approval has no effect.
    pub(in crate::gate) fn approve_as_shown(
        &mut self,
        held: Held,
        case: Case,
        (verdict, unread, grant): (Verdict, bool, Option<GrantTerms>),
    ) -> Result<(), String> {
        let (held, case) = self.if_still_described(held, case)?;
        let approval = Approval { case, verdict, unread, grant };
        let next = if held.looks_again() { Next::LookAgain } else { Next::Approve };
        self.drive(next(held, approval));
        Ok(())
    }

    /// Returns the call if its tool is still described as the card showed it. Otherwise the call is judged and shown
    /// again, and the error says why the verdict on the old card has no effect.
    pub(in crate::gate) fn if_still_described(&mut self, held: Held, case: Case) -> Result<(Held, Case), String> {
        match ask::if_still_described(self.context(), held, case) {
            Ok(same) => Ok(same),
            Err(instead) => {
                let (next, why) = *instead;
                self.drive(next);
                Err(why.to_owned())
            }
        }
    }

    /// The operator's edit: read strictly, validated and judged again, and shown again before it can be approved.
    pub(in crate::gate) fn on_edited(&mut self, word: &OperatorWord, arguments: &str) {
        let Some((held, asking)) = ask::take(&mut self.calls, word) else {
            return self.out.refuse_word(word, "this call no longer waits, or it has changed since it was shown");
        };
        match ask::read_edit(self.context(), &held, &asking.case.judged, arguments) {
            Err(why) => {
                self.calls.put(held, asking);
                self.out.refuse_word(word, why);
            }
            Ok((call, session)) => self.drive(ask::edited(held, asking.case, call, session)),
        }
    }

    /// A console shows a card whose facts may be old. Many consoles may: one look at a time is enough.
    pub(in crate::gate) fn on_looked(&mut self, ticket: &str, digest: Digest) {
        let Some(number) = self.calls.by_ticket(ticket) else { return };
        let may_look =
            |held: &Held, asking: &Asking| held.call.digest() == digest && held.looks_again() && asking.look.is_none();
        if let Some((held, asking)) = self.calls.take_if(number, may_look) {
            let look = Some(look::ask(&held, &mut self.calls, &mut self.out));
            self.calls.put(held, Asking { look, ..asking });
        }
    }

    /// Judges the calls again that wait for the operator, and acts on those whose judgement has changed.
    pub(in crate::gate) fn rejudge(&mut self) {
        for number in self.calls.waiting::<Asking>() {
            if let Some((held, asking)) = self.calls.get::<Asking>(number)
                && !judge::stays(self.context(), held, &asking.case.judged)
                && let Some((held, asking)) = self.calls.take::<Asking>(number)
            {
                self.drive(Next::JudgeAgain(held, asking.case));
            }
        }
    }

    /// An approved call that had to wait may run now, if its turn has come and nothing has changed since.
    pub(in crate::gate) fn resume(&mut self, held: Held, approved: Approved) {
        let next = forward::resumed(self.context(), held, approved);
        self.drive(next);
    }

    /// Forwards an approved call, with all that proves it.
    fn forward(&mut self, held: Held, approval: Approval, receipt: &Receipt) -> Next {
        let token = match forward::mint(&self.config.session, &held, &approval, receipt) {
            Ok(token) => token,
            Err((why, reply)) => return Next::stop(held, approval.case.judged, (By::Fault, why), reply),
        };
        forward::count(&approval, &mut self.out);
        if let (Some(terms), Some(operator)) = (&approval.grant, &approval.verdict.operator) {
            grant::record(&mut self.grants, &mut self.out, &held, &approval.case.judged, operator, terms);
        }
        forward::record(&held, &approval, receipt, &mut self.out);
        let is_granted = approval.grant.is_some();
        forward::send(token, held, approval, &mut self.flights, &mut self.tasks, &mut self.out);
        if is_granted {
            self.rejudge();
        }
        Next::Done
    }

    /// An operator says what the tool of exactly this call is, or agrees to what is new about it.
    pub(in crate::gate) fn on_pinned(&mut self, word: &OperatorWord, tool_word: ToolWord) {
        let Some((held, asking)) = ask::take(&mut self.calls, word) else {
            return ask::report_late(&self.calls, &mut self.out, word, tool_word.word());
        };
        let Some(offer) =
            pinning::offer(&asking.case.judged, &self.rules.policy).filter(|offer| pinning::offers(offer, tool_word))
        else {
            self.calls.put(held, asking);
            return self.out.refuse_word(word, "this call is not asked only for that; the card says why it is asked");
        };
        let Asking { case, entry, look } = asking;
        let (held, asking) = match self.if_still_described(held, case) {
            Ok((held, case)) => (held, Asking { case, entry, look }),
            Err(why) => return self.out.refuse_word(word, why),
        };
        let judged = &asking.case.judged;
        // Without a definition nothing is offered, so there is one here.
        if let Some(described) = judged.described.clone() {
            let is = described.behavior.identity;
            let says = match (tool_word, offer.tool) {
                (ToolWord::Reads, ToolOffer::Likely) => Some(is),
                (ToolWord::Changes, _) => Some(is.with_mutability(Mutability::Mutates)),
                (ToolWord::Reads, ToolOffer::Proven) | (ToolWord::PlainText, _) => None,
            };
            let agreed = match tool_word {
                ToolWord::Reads => judged.behavior.shape.agreements().unwrap_or_default(),
                ToolWord::PlainText => judged.behavior.shape.any_text().unwrap_or_default(),
                ToolWord::Changes => Vec::new(),
            };
            if let Some(says) = says {
                let tool = held.call.name().to_owned();
                let says = Pinning { tool, definition: described.digest, is, says };
                pinning::record(&mut self.log, &mut self.out, (&held, word), says);
            }
            for one in agreed {
                let log = (&mut self.log, &mut self.out);
                pinning::record_agreement(log, (&held, word), self.catalog.fingerprint(), one);
            }
        }
        match tool_word {
            ToolWord::Reads => self.operator_approves((held, asking), word, false, None),
            ToolWord::Changes | ToolWord::PlainText => self.calls.put(held, asking),
        }
    }

    /// The log has what an operator said: it counts from now on, and is kept.
    pub(in crate::gate) fn word_recorded(&mut self, entry: u64) {
        match self.log.said.remove(&entry) {
            None => {}
            Some(Said::Pinned(pinning, console)) => self.out.push(Effect::Pin { pinning: Box::new(pinning), console }),
            Some(Said::Agreed(agreed, console)) => {
                self.catalog.agree(agreed.clone());
                self.out.push(Effect::Agree { agreed: vec![agreed], console });
                self.rejudge();
            }
        }
    }

    /// An operator ends a grant.
    pub(in crate::gate) fn on_grant_ended(&mut self, grant: &str, operator: &Operator) {
        let Some(card) = self.grants.end(grant) else {
            let why = format!("grant {grant} has ended already");
            return self.out.push(Effect::Refuse { console: operator.console, ticket: String::new(), why });
        };
        let entry = self.out.entry(Kind::Policy).with("what", "a grant ended").with("reason", "an operator ended it");
        self.out.record(entry.with("operator", &*operator.who).with("grant", json!(card)));
        self.revoke_approvals(Some(grant));
    }

    /// A new policy is in force: this is recorded, and the policy rules on every call that is not decided yet.
    pub(in crate::gate) fn on_policy_changed(&mut self, policy: Arc<Policy>) {
        self.out.heading.policy = policy.digest;
        self.rules.replace(policy);
        let mut entry = self.out.entry(Kind::Policy).with("what", "the policy was read again");
        entry.add("banner", self.rules.policy.banner.as_deref());
        self.out.record(entry);
        self.rejudge();
        self.revoke_approvals(None);
    }

    /// An operator has accepted a changed file: this is recorded; the shell keeps the file and reads the policy again.
    pub(in crate::gate) fn on_policy_accepted(&mut self, file: String, digest: Digest, operator: &Operator) {
        let console = operator.console;
        let pending = &self.rules.policy.pending;
        if !pending.iter().any(|one| one.file == file && one.digest == digest) {
            let why = "the policy has changed since it was shown, or no longer waits; look at it again".to_owned();
            return self.out.push(Effect::Refuse { console, ticket: String::new(), why });
        }
        let entry = self.out.entry(Kind::Policy).with("what", "an operator accepted the changed policy");
        self.out.record(
            entry.with("operator", &*operator.who).with("file", file.as_str()).with("text", digest.to_string()),
        );
        self.out.push(Effect::AcceptPolicy { file, digest, console });
    }

    /// Starts the operator's time for a call again, but never beyond the time for which its host waits.
    pub(in crate::gate) fn on_extended(&mut self, word: &OperatorWord) {
        let Some((mut held, asking)) = ask::take(&mut self.calls, word) else {
            return self.out.refuse_word(word, "this call no longer waits, or it has changed since it was shown");
        };
        let longest = match &held.round_trips.task {
            Some(_) => u64::MAX,
            None => self.longest_wait(&held.call, held.arrived.mono),
        };
        let wanted = self.out.now.mono.saturating_add(self.config.approval_timeout).max(held.deadline);
        let deadline = wanted.min(longest);
        if deadline > held.deadline {
            held.deadline = deadline;
            held.round_trips.ends = self.round_trip_ends(&held);
            if let Some(task) = held.round_trips.task.clone() {
                self.keep_task(&task, &held);
            }
            if let Some(state) = &held.round_trips.away {
                self.returns.extend(state, deadline);
            }
            self.out.push(Effect::Ask(Box::new(card::snapshot(self.context(), &held, &asking.case.judged))));
            self.out.wake_for(&held);
        } else {
            let why = "this host gives up on the call soon after its deadline, so the deadline cannot be moved";
            self.out.refuse_word(word, why);
        }
        self.calls.put(held, asking);
    }
}
