//! A call's way: each step is a function that says what comes next. Only this file knows their order, and it judges nothing.

use std::sync::Arc;

use serde_json::json;

use crate::audit::{By, Kind, Receipt};
use crate::gate::Gate;
use crate::gate::call::{ask, card, end, forward, grant, judge, look, signed};
use crate::gate::data::event::{Operator, OperatorWord, Place, Said, Signature};
use crate::gate::data::pin::{Pinning, ToolWord};
use crate::gate::data::{
    effect::Effect,
    facts::{Findings, Opinion},
    report::OperatorVerdict,
    terms::GrantTerms,
};
use crate::gate::held::{
    Approval, Approved, Approving, AskRecord, Asking, Case, Decided, Deciding, Forwarding, Held, Next, Stage,
    StageKind, Verdict, Withdrawal, Withdrawn, context::Context, entries, replies,
};
use crate::gate::waiting::question::{self, FormAnswer, record_ineffective_answer};
use crate::gate::waiting::{answer, given::ShownForm};
use crate::policy::Policy;
use crate::signing::{Needs, change::Change};
use crate::wire::{Digest, counted};

impl Gate {
    /// Takes a call from step to step, until it waits for something or has ended.
    pub(in crate::gate) fn drive(&mut self, mut next: Next) {
        loop {
            next = match next {
                Next::Describe(held, waits) if held.call.method().is_none() && !self.knows_tools() => {
                    self.out.wake_for(&held);
                    Next::Wait(held, waits.into_stage())
                }
                Next::Describe(held, waits) => {
                    self.prune_grants();
                    judge::describe(self.context(), held, waits)
                }
                Next::AskServer(held, waits) => judge::ask_server(held, waits, &mut self.catalog, &mut self.out),
                Next::Judge(held, session, described) => {
                    self.prune_grants();
                    judge::judge(self.context(), held, session, described)
                }
                Next::JudgeAgain(held, case) => judge::judge_again(self.context(), held, case),
                Next::Look(held, case, wanted) => look::to_judge(held, case, wanted, &mut self.calls, &mut self.out),
                Next::Consult(held, case, names) => {
                    let knows = (&self.config, &self.host);
                    look::consult((held, case), names, knows, &mut self.calls, &mut self.out)
                }
                Next::Act(held, case) => {
                    let continued = self.flights.continues(self.out.now, &held.call, case.judged.definition());
                    // What needs a signature has one of its own: no operator signed what the host brings back.
                    let is_free = self.rules.stops.frozen.is_none();
                    let is_free = is_free && signed::needs(self.context(), &case.judged) == Needs::Nothing;
                    let continued = continued.filter(|_| is_free);
                    judge::note_use(&case.judged, &mut self.out);
                    let config = (&self.config, self.context().mode(), self.out.reachable());
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
                    forward::count_rates(&held, &approval.case.judged, &mut self.rules.recent, &self.out);
                    Next::Decide(held, Decided::Approve(approval))
                }
                Next::Decide(held, decision) => {
                    let entry = self.out.record(entries::decision(self.context(), &held, &decision));
                    Next::Wait(held, Deciding { decision, entry }.into_stage())
                }
                Next::AwaitTurn(mut held, approval, receipt) => {
                    if held.wait.away.is_none() && self.context().runs_after(&held).is_none() {
                        Next::Run(held, approval, receipt)
                    } else {
                        answer::give_task(&mut self.waiting, &mut held, &self.host, &mut self.out);
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
                Next::Refuse(held, denial) => {
                    return end::denied(&held, denial, &mut self.host, &mut self.waiting, &mut self.out);
                }
                Next::Stop(held, stopped) => {
                    return end::stop(&held, stopped, &mut self.host, &mut self.waiting, &mut self.out);
                }
                Next::Withdraw(held, judged, why) => {
                    let (host, waiting) = (&mut self.host, &mut self.waiting);
                    return end::withdrawn((&held, judged.as_deref()), why, &self.ends, host, waiting, &mut self.out);
                }
                Next::Wait(held, stage) => return self.calls.put(held, stage),
                Next::Done => return,
            };
        }
    }

    /// Whether a call can be described now: not while the pins or a list are read, or calls that came before are described.
    fn knows_tools(&self) -> bool {
        self.catalog.is_ready() && !self.catalog.is_reading() && self.describe_queue.is_none()
    }

    pub(in crate::gate) fn context(&self) -> Context<'_> {
        Context {
            config: &self.config,
            scope: &self.config.scope,
            rules: &self.rules,
            grants: &self.grants,
            host: &self.host,
            catalog: &self.catalog,
            calls: &self.calls,
            flights: &self.flights,
            discovery: &self.discovery,
            ends: &self.ends,
            out: &self.out,
            now: self.out.now.wall,
        }
    }

    fn ask(&mut self, mut held: Held, case: Case) -> Next {
        let entry = self.out.record(entries::asked(self.context(), &held, &case.judged));
        held.asked = AskRecord::Sent;
        answer::give_task(&mut self.waiting, &mut held, &self.host, &mut self.out);
        if self.rules.stops.frozen.is_some() {
            answer::pause(&mut self.waiting, &mut held, &self.host, &mut self.out);
        }
        self.show_card(&held, &case);
        if self.host.gone.is_some() {
            return Next::Withdraw(held, Some(case.judged), Withdrawal::HostGone);
        }
        self.out.wake_for(&held);
        Next::Wait(held, Asking { case, entry, look: None }.into_stage())
    }

    pub(in crate::gate) fn show_again(&mut self, number: u64) {
        if let Some((held, asking)) = self.calls.get::<Asking>(number) {
            let card = card::snapshot(self.context(), held, &asking.case.judged);
            self.out.push(Effect::Ask(Box::new(card)));
        }
    }

    /// Shows the consoles the card of a call, or what has changed on it.
    fn show_card(&mut self, held: &Held, case: &Case) {
        let card = card::snapshot(self.context(), held, &case.judged);
        self.out.push(Effect::Ask(Box::new(card)));
    }

    pub(in crate::gate) fn withdraw(&mut self, number: u64, why: Withdrawal) {
        let next = end::withdraw(&mut self.calls, number, why);
        self.drive(next);
    }

    pub(in crate::gate) fn prune_grants(&mut self) {
        grant::prune(&mut self.grants, &self.catalog, &mut self.out);
    }

    /// The log has an entry: what waited for it happens now.
    pub(in crate::gate) fn on_recorded(&mut self, receipt: Receipt) {
        self.out.log.trouble = None;
        self.word_recorded(receipt.entry());
        let Some(number) = self.calls.by_entry(receipt.entry()) else {
            return;
        };
        if let Some(held) = self.calls.held_mut::<Asking>(number) {
            held.asked = AskRecord::Recorded;
        } else if let Some((held, Deciding { decision, .. })) = self.calls.take(number) {
            self.drive(match decision {
                Decided::Approve(approval) => Next::AwaitTurn(held, approval, receipt),
                Decided::Deny(denial) => Next::Refuse(held, denial),
            });
        } else if let Some((held, Withdrawn { decision, why, .. })) = self.calls.take(number) {
            // An approval does nothing any more, and a denial agrees with the end: only the answer depends on the host.
            match decision {
                Decided::Approve(approval) => self.drive(Next::Withdraw(held, Some(approval.case.judged), why)),
                Decided::Deny(denial) if why == Withdrawal::Cancelled => {
                    end::note_denial(&held, &denial, &mut self.host, &mut self.out);
                }
                Decided::Deny(denial) => self.drive(Next::Refuse(held, denial)),
            }
        }
    }

    pub(in crate::gate) fn on_record_failed(&mut self, entry: u64, why: Arc<str>) {
        grant::word_failed(&mut self.out, entry, &why);
        let number = self.calls.by_entry(entry);
        if let Some((held, stage)) = number.and_then(|number| self.calls.take::<Stage>(number)) {
            end::not_recorded((&held, &stage), &why, &self.host, &mut self.waiting, &mut self.out);
        }
        self.out.log.trouble = Some(why);
    }

    pub(in crate::gate) fn on_facts(&mut self, ticket: &str, look: u64, found: Findings) {
        let next = look::found(&mut self.calls, ticket, look, found);
        self.drive(next);
    }

    pub(in crate::gate) fn on_consulted(&mut self, ticket: &str, consult: u64, opinions: Vec<Opinion>) {
        let next = look::heard(&mut self.calls, ticket, consult, opinions);
        self.drive(next);
    }

    pub(in crate::gate) fn on_decided(&mut self, word: &OperatorWord, verdict: OperatorVerdict, signature: Signature) {
        let Some((held, asking)) = ask::take(&mut self.calls, word) else {
            return ask::report_late(&self.calls, &mut self.out, word, verdict.word().word());
        };
        match verdict {
            OperatorVerdict::Approve { unread } => {
                // What is not signed is no more than the word of whoever brings it.
                let unread = unread && word.operator.place == Place::Here;
                self.operator_approves((held, asking), word, (unread, None), signature);
            }
            OperatorVerdict::Deny { reason } => self.operator_denies((held, asking), word, (reason, signature)),
        }
    }

    /// An approval of exactly these bytes, and of calls like it for a while.
    pub(in crate::gate) fn on_granted(&mut self, word: &OperatorWord, terms: GrantTerms, signature: Signature) {
        let Some((held, asking)) = ask::take(&mut self.calls, word) else {
            return ask::report_late(&self.calls, &mut self.out, word, "approve");
        };
        if let Some(why) = grant::refusal(&held.call, &asking.case.judged, &terms) {
            self.calls.put(held, asking);
            return self.out.refuse_word(word, why);
        }
        self.operator_approves((held, asking), word, (false, Some(terms)), signature);
    }

    /// A denial at this machine needs no signature, and one from the desk always has one.
    fn operator_denies(&mut self, waits: (Held, Asking), word: &OperatorWord, (reason, signed): (String, Signature)) {
        let (held, asking) = waits;
        let judged = (self.context(), &held, &*asking.case.judged);
        let offered = signed::offered_denial(judged, signed, word.operator.place);
        let now = self.out.now.wall;
        match offered.and_then(|offered| signed::accept_denial(offered, &reason, now, &mut self.spent)) {
            Ok(signed) => self.drive(ask::denied(held, asking, word, (reason, signed))),
            Err(why) => self.not_counted((held, asking), word, "deny", &why),
        }
    }

    fn operator_approves(
        &mut self,
        (mut held, asking): (Held, Asking),
        word: &OperatorWord,
        (unread, grant): (bool, Option<GrantTerms>),
        signature: Signature,
    ) {
        let is_remote = word.operator.place != Place::Here;
        if is_remote || signed::needs(self.context(), &asking.case.judged) == Needs::Signature {
            let taken = self.take_signature((&mut held, &asking.case), grant.as_ref(), signature);
            match taken {
                Ok(0) => {}
                Ok(missing) => {
                    let why = format!("your approval counts; {} more must sign", counted(missing, "person|people"));
                    return self.wait_on((held, asking), word, &why);
                }
                Err(why) => return self.not_counted((held, asking), word, "approve", &why),
            }
        } else {
            // It counts without: what was signed before the policy stopped asking for it is not part of it.
            held.signed.clear();
        }
        let verdict = ask::by_operator(word, &asking, "approved by the operator".into());
        if let Err(why) = self.approve_as_shown(held, asking.case, (verdict, unread, grant)) {
            self.out.refuse_word(word, why);
        }
    }

    /// Takes the signature of an approval; returns how many are still missing, or why it has no effect.
    fn take_signature(
        &mut self,
        (held, case): (&mut Held, &Case),
        grant: Option<&GrantTerms>,
        signature: Signature,
    ) -> Result<u32, String> {
        let shown = card::snapshot(self.context(), held, &case.judged).card_digest();
        let card = signed::terms(self.context(), held, &case.judged, shown);
        let offered = signed::offered((self.context(), &case.judged), card, grant, signature)?;
        signed::accept(offered, held, grant, self.out.now.wall, &mut self.spent)
    }

    /// A verdict does not count: this is recorded, and its call waits on.
    fn not_counted(&mut self, waits: (Held, Asking), word: &OperatorWord, said: &str, why: &str) {
        ask::record_ineffective(&mut self.out, word, said, why);
        self.wait_on(waits, word, why);
    }

    /// A call waits on, and its card is shown as it is now, because an approval did not decide it.
    fn wait_on(&mut self, (held, asking): (Held, Asking), word: &OperatorWord, why: &str) {
        self.show_card(&held, &asking.case);
        self.calls.put(held, asking);
        self.out.refuse_word(word, why);
    }

    /// Approves a call if all is as the card showed it. Otherwise it is asked again as it is now, and this returns why.
    fn approve_as_shown(
        &mut self,
        held: Held,
        case: Case,
        (verdict, unread, grant): (Verdict, bool, Option<GrantTerms>),
    ) -> Result<(), String> {
        let (mut held, case) = self.if_still_described(held, case)?;
        let signed = std::mem::take(&mut held.signed);
        let approval = Approval { case, verdict, unread, grant, signed };
        let next = if held.looks_again() { Next::LookAgain } else { Next::Approve };
        self.drive(next(held, approval));
        Ok(())
    }

    fn if_still_described(&mut self, held: Held, case: Case) -> Result<(Held, Case), String> {
        match ask::if_still_described(self.context(), held, case) {
            Ok(same) => Ok(same),
            Err(instead) => {
                let (next, why) = *instead;
                self.drive(next);
                Err(why.to_owned())
            }
        }
    }

    pub(in crate::gate) fn on_edited(&mut self, word: &OperatorWord, arguments: &str) {
        let Some((held, asking)) = ask::take(&mut self.calls, word) else {
            return self.out.refuse_word(word, "this call no longer waits, or it has changed since it was shown");
        };
        let edit = match ask::read_edit(self.context(), &held, &asking.case.judged, arguments) {
            Ok(edit) => edit,
            Err(why) => {
                self.calls.put(held, asking);
                return self.out.refuse_word(word, why);
            }
        };
        let next = ask::edited(held, asking.case, edit, &mut self.out);
        self.drive(next);
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

    pub(in crate::gate) fn resume(&mut self, held: Held, approved: Approved) {
        let next = forward::resumed(self.context(), held, approved);
        self.drive(next);
    }

    fn forward(&mut self, held: Held, approval: Approval, receipt: &Receipt) -> Next {
        if let Some(why) = forward::why_frozen(self.context(), &held, &approval) {
            let reply = replies::changed(&held.call, &why);
            return Next::stop(held, approval.case.judged, (By::Fault, why), reply);
        }
        let consent = match signed::consent(self.context(), &held, &approval) {
            Ok(consent) => consent,
            Err(why) => {
                let reply = replies::changed(&held.call, &why);
                return Next::stop(held, approval.case.judged, (By::Fault, why), reply);
            }
        };
        let token = match forward::mint(&self.config.session, &held, &approval, (&consent, receipt)) {
            Ok(token) => token,
            Err((why, reply)) => return Next::stop(held, approval.case.judged, (By::Fault, why), reply),
        };
        forward::count(&approval, &mut self.out);
        if let (Some(terms), Some(operator)) = (&approval.grant, &approval.verdict.operator) {
            let terms = (terms, signed::granted_until(&approval));
            grant::record(&mut self.grants, &mut self.out, &held, &approval.case.judged, operator, terms);
        }
        forward::record(&held, &approval, receipt, &mut self.out);
        let is_granted = approval.grant.is_some();
        let token = (token, self.rules.policy.asks_about_results());
        forward::send(token, held, approval, &mut self.flights, &mut self.waiting, &mut self.out);
        if is_granted {
            self.rejudge();
        }
        Next::Done
    }

    /// An operator says what the tool of exactly this call is, or agrees to what is new about it.
    pub(in crate::gate) fn on_pinned(
        &mut self,
        word: &OperatorWord,
        tool_word: ToolWord,
        signature: Signature<Change>,
    ) {
        let Some((held, asking)) = ask::take(&mut self.calls, word) else {
            return ask::report_late(&self.calls, &mut self.out, word, tool_word.word());
        };
        let Some(offer) =
            grant::offer(&asking.case.judged, &self.rules.policy).filter(|offer| grant::offers(offer, tool_word))
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
        let signs = grant::signs(self.context(), &held, judged, &offer).change(tool_word);
        let proof = match signed::word(self.context(), judged, signs.as_ref(), signature) {
            Ok(proof) => proof,
            Err(why) => return self.not_counted((held, asking), word, tool_word.word(), &why),
        };
        let (says, mut agreed) = grant::settles(&held, judged, &offer, tool_word);
        agreed.extend(says.as_ref().filter(|_| proof.is_signed()).map(Pinning::agreement));
        if let Some(says) = says {
            grant::record_pinning(&mut self.out, (&held, word), says);
        }
        for one in agreed {
            grant::record_agreement(&mut self.out, (&held, word), self.catalog.fingerprint(), one, &proof);
        }
        match tool_word {
            // What was signed lets the call pass once the log has it; a verdict on it would need another signature.
            ToolWord::Reads if !proof.is_signed() => {
                self.operator_approves((held, asking), word, (false, None), Signature::None);
            }
            ToolWord::Reads | ToolWord::Changes | ToolWord::PlainText => self.calls.put(held, asking),
        }
    }

    /// The log has what an operator said: it counts from now on, and is kept.
    fn word_recorded(&mut self, entry: u64) {
        match self.out.log.said.remove(&entry) {
            None => {}
            Some(Said::Pinned(pinning, console)) => self.out.push(Effect::Pin { pinning: Box::new(pinning), console }),
            Some(Said::Agreed(agreed, backing, console)) => {
                self.catalog.agree(agreed.clone(), backing);
                self.out.push(Effect::Agree { agreed: vec![agreed], backing, console });
                self.rejudge();
            }
        }
    }

    pub(in crate::gate) fn on_grant_ended(&mut self, grant: &str, operator: &Operator) {
        let Some(card) = self.grants.end(grant) else {
            let why = format!("grant {grant} has ended already");
            return self.out.refuse_operator(operator, why);
        };
        let entry = self.out.entry(Kind::Policy).with("what", "a grant ended").with("reason", "an operator ended it");
        self.out.record(entry.with("operator", &*operator.who).with("grant", json!(card)));
        self.revoke_approvals(Some(grant));
    }

    /// A new policy is in force: this is recorded, and the policy rules on every call that is not decided yet.
    pub(in crate::gate) fn on_policy_changed(&mut self, policy: Arc<Policy>) {
        self.out.heading.policy = policy.digest;
        let asks_for_more = policy.signed > self.rules.policy.signed;
        self.rules.replace(policy);
        let mut entry = self.out.entry(Kind::Policy).with("what", "the policy was read again");
        entry.add("banner", self.rules.policy.banner.as_deref());
        self.out.record(entry);
        if asks_for_more {
            grant::end_unsigned(&mut self.grants, &mut self.out);
        }
        self.rejudge();
        self.revoke_approvals(None);
    }

    /// An operator has accepted a changed file: this is recorded; the shell keeps the file and reads the policy again.
    pub(in crate::gate) fn on_policy_accepted(
        &mut self,
        (file, digest): (String, Digest),
        operator: &Operator,
        signature: Signature<Change>,
    ) {
        let console = operator.console;
        let signed = match &signature {
            Signature::Attested(signed, _) => Some(signed.evidence().clone()),
            Signature::None | Signature::Unusable(_) => None,
        };
        let proof = match signed::acceptance(self.context(), (&file, digest), signature) {
            Ok(proof) => proof,
            Err(why) => return self.out.refuse_operator(operator, why),
        };
        let entry = self.out.entry(Kind::Policy).with("what", "an operator accepted the changed policy");
        let entry = entry.with("operator", &*operator.who).with("file", file.as_str()).with("text", digest.to_string());
        self.out.record(entry.proven(&proof));
        self.out.push(Effect::AcceptPolicy { file, digest, signed, console });
    }

    /// Starts the operator's time for a call again, but never beyond the time for which its host waits.
    pub(in crate::gate) fn on_extended(&mut self, word: &OperatorWord) {
        let Some((mut held, asking)) = ask::take(&mut self.calls, word) else {
            return self.out.refuse_word(word, "this call no longer waits, or it has changed since it was shown");
        };
        let longest = answer::longest(&self.waiting, &held, &self.host);
        let wanted = self.out.now.mono.saturating_add(self.config.approval_timeout).max(held.deadline);
        let deadline = wanted.min(longest);
        if deadline > held.deadline {
            answer::move_deadline(&mut self.waiting, &mut held, deadline, &self.host, &mut self.out);
            self.show_card(&held, &asking.case);
        } else {
            let why = "this host gives up on the call soon after its deadline, so the deadline cannot be moved";
            self.out.refuse_word(word, why);
        }
        self.calls.put(held, asking);
    }

    pub(in crate::gate) fn on_form_answered(&mut self, form: &ShownForm, said: FormAnswer) {
        let is_same = |_: &Held, asking: &Asking| asking.entry == form.entry;
        let Some((held, asking)) = self.calls.take_if(form.number, is_same) else {
            // A no counts as long as the call has not run, whoever approved it before.
            if let FormAnswer::Deny(why) = said {
                self.withdraw(form.number, Withdrawal::Declined(why));
            }
            let why = "the call was decided, or judged again, before";
            return record_ineffective_answer(&mut self.out, Some(form), why);
        };
        let rule = asking.case.judged.ruling.rule.clone();
        let host = self.host.words(&held.call).unwrap_or_else(|| "the host".to_owned());
        let shown = |asking: &Asking| question::text(self.context(), &held, &asking.case.judged);
        match said {
            FormAnswer::Deny(why) | FormAnswer::Dismiss(why) => {
                let verdict = Verdict::by(By::Elicitation, rule, format!("{host} asked its user, and {why}"));
                let reply = replies::denied_by_elicitation(&held.call, &self.config.console, why);
                self.drive(Next::deny(held, Some(asking.case.judged), verdict, reply));
            }
            FormAnswer::Approve if shown(&asking).as_ref() != Some(&form.text) => {
                self.calls.put(held, asking);
                let why = "the call is not as the question showed it any more";
                record_ineffective_answer(&mut self.out, Some(form), why);
            }
            FormAnswer::Approve => {
                if let Some(why) = signed::why_no_form(self.context(), &asking.case.judged) {
                    self.calls.put(held, asking);
                    return record_ineffective_answer(&mut self.out, Some(form), why);
                }
                let verdict = Verdict::by(By::Elicitation, rule, format!("{host} asked its user, who approved it"));
                if let Err(why) = self.approve_as_shown(held, asking.case, (verdict, false, None)) {
                    record_ineffective_answer(&mut self.out, Some(form), &why);
                }
            }
        }
    }

    /// The policy has changed, or an operator has ended the grant of this name: a call that waits for its turn, was not
    /// approved by an operator, and would be asked now, does not run.
    fn revoke_approvals(&mut self, ended: Option<&str>) {
        for number in self.calls.waiting::<Approved>() {
            let why = self
                .calls
                .get::<Approved>(number)
                .and_then(|(held, approved)| forward::why_revoked(self.context(), held, &approved.approval, ended));
            if let Some(why) = why
                && let Some((held, Approved { approval, .. })) = self.calls.take::<Approved>(number)
            {
                let reply = replies::changed(&held.call, &why);
                self.drive(Next::stop(held, approval.case.judged, (By::Fault, why), reply));
            }
        }
        // The same where the record of the approval is on its way, and the call will have to wait.
        for number in self.calls.waiting::<Deciding>() {
            let is_revoked = |(held, deciding): (&Held, &Deciding)| match &deciding.decision {
                Decided::Approve(approval) => {
                    (held.wait.away.is_some() || self.context().runs_after(held).is_some())
                        && forward::why_revoked(self.context(), held, approval, ended).is_some()
                }
                Decided::Deny(_) => false,
            };
            if self.calls.get::<Deciding>(number).is_some_and(is_revoked) {
                self.withdraw(number, Withdrawal::Revoked);
            }
        }
    }
}
