//! Puts a call before the operator, and takes the answer: a verdict or an edit, on exactly the bytes that were shown;
//! anything else has no effect.

use crate::audit::record::By;
use crate::gate::Gate;
use crate::gate::call::grant;
use crate::gate::call::held::{
    Approval, Approved, Approving, AskRecord, Asking, Case, Deciding, Describing, Forwarding, Held, Original, Stage,
    Verdict, Withdrawal, Withdrawn,
};
use crate::gate::call::judged::{Judged, Seen};
use crate::gate::call::{replies, round_trips, strictest};
use crate::gate::data::effect::Effect;
use crate::gate::data::event::OperatorWord;
use crate::gate::data::report::OperatorVerdict;
use crate::gate::data::terms::GrantTerms;
use crate::gate::server::catalog::ToolLookup;
use crate::mcp::lifecycle::InSession;
use crate::policy::rule::Decision;
use crate::policy::scope::Outside;
use crate::wire::call::Call;

impl Gate {
    /// Puts a call before the operator.
    pub(in crate::gate) fn ask(&mut self, mut held: Held, case: Case) {
        let entry = self.out.record(self.asked_entry(&held, &case.judged));
        held.asked = AskRecord::Sent;
        self.give_task(&mut held);
        self.out.push(Effect::Ask(Box::new(self.snapshot(&held, &case.judged))));
        if self.ends.host_gone.is_some() {
            self.end_withdrawn(&held, Some(&case.judged), Withdrawal::HostGone);
            return self.close_server_when_done();
        }
        self.out.wake_for(&held);
        self.calls.put(held, Asking { case, entry, look: None });
    }

    /// The operator's verdict on exactly these bytes.
    pub(in crate::gate) fn on_decided(&mut self, word: &OperatorWord, verdict: OperatorVerdict) {
        let Some((held, asking)) = self.take_asked(word) else {
            return self.report_late_verdict(word, verdict.word().word());
        };
        match verdict {
            OperatorVerdict::Approve { unread } => self.operator_approves((held, asking), word, unread, None),
            OperatorVerdict::Deny { reason } => {
                let reply = replies::denied_by_operator(&held.call, &reason);
                let reason = if reason.is_empty() { "denied by the operator".into() } else { reason };
                let verdict = by_operator(word, &asking, reason);
                self.deny(held, Some(asking.case.judged), verdict, reply);
            }
        }
    }

    /// An approval of exactly these bytes, and of calls like it for a while.
    pub(in crate::gate) fn on_granted(&mut self, word: &OperatorWord, terms: GrantTerms) {
        let Some((held, asking)) = self.take_asked(word) else {
            return self.report_late_verdict(word, "approve");
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
        let verdict = by_operator(word, &asking, "approved by the operator".into());
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
        if held.looks_again() {
            let look = self.look(&held);
            self.calls.put(held, Approving { approval, look });
        } else {
            self.approve(held, approval);
        }
        Ok(())
    }

    /// Returns the call if its tool is still described as the card showed it. Otherwise the call is judged and shown
    /// again, and the error says why the verdict on the old card has no effect.
    pub(in crate::gate) fn if_still_described(&mut self, held: Held, case: Case) -> Result<(Held, Case), String> {
        let Some(shown) = case.judged.described.as_ref().map(|described| described.digest) else {
            return Ok((held, case));
        };
        match self.catalog.find(held.call.name()) {
            ToolLookup::Found(known) if known.digest == shown => Ok((held, case)),
            ToolLookup::Found(known) => {
                self.judge(held, case.session, Some(known));
                Err("the server has changed this tool's definition since the card was shown; look again".into())
            }
            ToolLookup::NotListed | ToolLookup::AskServer => {
                self.ask_server(held, Describing { session: case.session, before: Some(case.judged) });
                Err("the server has announced changed tools since the card was shown; mcp-approve asks it for the new \
                     list"
                    .into())
            }
        }
    }

    /// Takes the held call that waits for an operator under this ticket with these very bytes.
    pub(in crate::gate) fn take_asked(&mut self, word: &OperatorWord) -> Option<(Held, Asking)> {
        let number = self.calls.by_ticket(&word.ticket)?;
        self.calls.take_if(number, |held, _| held.call.digest() == word.digest)
    }

    /// A verdict that decides nothing: it is recorded, and its console learns why.
    pub(in crate::gate) fn report_late_verdict(&mut self, word: &OperatorWord, said: &str) {
        let held = self.calls.by_ticket(&word.ticket).and_then(|number| self.calls.get::<Stage>(number));
        let why = match held {
            None => "this call no longer waits".to_owned(),
            Some((held, _)) if held.call.digest() != word.digest => {
                "the call has changed since it was shown; look at it again".to_owned()
            }
            Some((_, stage)) => match stage {
                Stage::Deciding(Deciding { decision, .. }) | Stage::Withdrawn(Withdrawn { decision, .. }) => {
                    decided_already(decision.verdict())
                }
                Stage::Approving(Approving { approval, .. })
                | Stage::Approved(Approved { approval, .. })
                | Stage::Forwarding(Forwarding { approval, .. }) => decided_already(&approval.verdict),
                Stage::Opening(_)
                | Stage::Describing(_)
                | Stage::Looking(_)
                | Stage::Consulting(_)
                | Stage::Asking(_) => "it does not wait for an operator yet".to_owned(),
            },
        };
        self.report_ineffective_verdict(word, said, &why);
    }

    /// Records that a verdict had no effect, and tells its console.
    pub(in crate::gate) fn report_ineffective_verdict(&mut self, word: &OperatorWord, said: &str, why: &str) {
        let mut entry = self.out.fault(format!("a verdict ({said}) had no effect"), word.digest);
        entry.ticket = Some(word.ticket.as_str().into());
        self.out.record(entry.with("operator", &*word.operator.who).with("reason", why));
        self.out.refuse_word(word, why);
    }

    /// The operator's edit: read strictly, validated and judged again, and shown again before it can be approved.
    pub(in crate::gate) fn on_edited(&mut self, word: &OperatorWord, arguments: &str) {
        let Some((mut held, asking)) = self.take_asked(word) else {
            return self.out.refuse_word(word, "this call no longer waits, or it has changed since it was shown");
        };
        match self.read_edit(&held, &asking.case.judged, arguments) {
            Err(why) => {
                self.calls.put(held, asking);
                self.out.refuse_word(word, why);
            }
            Ok((call, session)) => {
                let (digest, arguments) = (held.call.digest(), held.call.arguments_text().to_owned());
                if round_trips::are_possible(&held.call) {
                    // A later request of the host repeats what the host sent, not the edit.
                    held.round_trips.repeated.get_or_insert_with(|| held.call.repeated());
                }
                held.original.get_or_insert(Original { digest, arguments });
                *held.call = call;
                // What the edited call would touch is looked at before it is shown.
                held.seen = Seen::default();
                held.asked_again = None;
                self.judge(held, session, asking.case.judged.described);
            }
        }
    }

    /// Reads an edit: returns the new call and the proof that its session allows it, or why the edit is refused.
    fn read_edit(&self, held: &Held, shown: &Judged, arguments: &str) -> Result<(Call, InSession), String> {
        let call = held.call.with_arguments(arguments);
        let call = call.map_err(|refusal| format!("the edit is refused: {}", refusal.what))?;
        let (described, seen) = (shown.described.clone(), Seen::default());
        let judged = strictest::judge(&call, described, self.judge_input(), &seen);
        if let Some(violation) = judged.violations.first() {
            return Err(format!("the edit does not fit the tool's schema: {} {}", violation.path, violation.what));
        }
        // While paths must still be looked up, the ruling is not final.
        if judged.ruling.decision == Decision::Deny && judged.wanted.real.is_empty() {
            return Err(format!("the policy denies the edited call: {}", judged.ruling.reason));
        }
        let session = self.host.lifecycle.call(&call).map_err(|phase| format!("the edit is refused: {phase}"))?;
        let outside = self.config.scope.holds(self.asked_of_scope(&call, &judged)).err();
        match outside {
            Some(Outside(why)) => Err(format!("the edit is refused: {why}")),
            None => Ok((call, session)),
        }
    }
}

fn by_operator(word: &OperatorWord, asking: &Asking, reason: String) -> Verdict {
    let rule = asking.case.judged.ruling.rule.clone();
    Verdict { by: By::Operator, rule, reason: reason.into(), operator: Some(word.operator.clone()) }
}

fn decided_already(verdict: &Verdict) -> String {
    match &verdict.operator {
        Some(operator) => format!("{} has decided it already", operator.who),
        None => "it is decided already".to_owned(),
    }
}
