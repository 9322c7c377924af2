//! Puts a call before the operator, and takes the answer: a verdict or an edit, on exactly the bytes that were shown;
//! anything else comes to nothing.

use crate::audit::record::{By, Kind};
use crate::gate::Gate;
use crate::gate::call::grant;
use crate::gate::call::held::{
    Approval, Approved, Approving, AskRecord, Asking, Case, Deciding, Describing, Forwarding, Held, Operator, Original,
    Stage, Verdict, Withdrawal, Withdrawn,
};
use crate::gate::call::judged::{self, Judged, Seen};
use crate::gate::call::replies;
use crate::gate::call::round_trips;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::{Now, OperatorWord};
use crate::gate::data::report::OperatorVerdict;
use crate::gate::data::terms::GrantTerms;
use crate::gate::server::catalog::Known;
use crate::mcp::lifecycle::InSession;
use crate::policy::rule::Decision;
use crate::policy::scope::Outside;
use crate::wire::call::Call;
use crate::wire::digest::Digest;

impl Gate {
    /// Puts a call before the operator.
    pub(in crate::gate) fn ask(&mut self, now: Now, mut held: Held, case: Case, out: &mut Vec<Effect>) {
        let entry = self.asked_entry(now, &held, &case.judged);
        let entry = self.record(entry, out);
        held.asked = AskRecord::Sent;
        self.give_task(now, &mut held, out);
        out.push(Effect::Ask(Box::new(self.snapshot(&held, &case.judged))));
        if self.ends.host_gone.is_some() {
            self.end_withdrawn(now, &held, Some(&case.judged), Withdrawal::HostGone, out);
            return self.close_server_when_done(out);
        }
        self.wake_for(&held, out);
        self.calls.put(held, Asking { case, entry, look: None });
    }

    /// The operator's verdict on exactly these bytes.
    pub(in crate::gate) fn on_decided(
        &mut self,
        now: Now,
        word: OperatorWord,
        verdict: OperatorVerdict,
        out: &mut Vec<Effect>,
    ) {
        let Some((held, asking)) = self.take_asked(&word) else {
            return self.too_late(now, &word, verdict.word().word(), out);
        };
        match verdict {
            OperatorVerdict::Approve { unread } => {
                self.operator_approves(now, (held, asking), word, unread, None, out);
            }
            OperatorVerdict::Deny { reason } => {
                let reply = replies::denied_by_operator(&held.call, &reason);
                let reason = if reason.is_empty() { "denied by the operator".into() } else { reason };
                let verdict = by_operator(&word, &asking, reason);
                self.deny(now, held, Some(asking.case.judged), verdict, reply, out);
            }
        }
    }

    /// An approval of exactly these bytes, and of calls like it for a while.
    pub(in crate::gate) fn on_granted(
        &mut self,
        now: Now,
        word: OperatorWord,
        terms: GrantTerms,
        out: &mut Vec<Effect>,
    ) {
        let Some((held, asking)) = self.take_asked(&word) else {
            return self.too_late(now, &word, "approve", out);
        };
        if let Some(why) = grant::refusal(&held.call, &asking.case.judged, &terms) {
            self.calls.put(held, asking);
            return out.push(Effect::Refuse { console: word.console, ticket: word.ticket, why });
        }
        self.operator_approves(now, (held, asking), word, false, Some(terms), out);
    }

    pub(in crate::gate) fn operator_approves(
        &mut self,
        now: Now,
        (held, asking): (Held, Asking),
        word: OperatorWord,
        unread: bool,
        grant: Option<GrantTerms>,
        out: &mut Vec<Effect>,
    ) {
        let verdict = by_operator(&word, &asking, "approved by the operator".into());
        let (held, case) = match self.if_still_described(now, held, asking.case, out) {
            Ok(as_shown) => as_shown,
            Err(why) => return out.push(Effect::Refuse { console: word.console, ticket: word.ticket, why }),
        };
        let approval = Approval { case, verdict, unread, grant };
        if held.looks_again() {
            let look = self.look(&held, out);
            return self.calls.put(held, Approving { approval, look });
        }
        self.approve(now, held, approval, out);
    }

    /// Gives the call back where its tool is still described as the card showed it. Else the call is judged and shown anew,
    /// and the verdict on the old card counts for nothing, for the reason given.
    pub(in crate::gate) fn if_still_described(
        &mut self,
        now: Now,
        held: Held,
        case: Case,
        out: &mut Vec<Effect>,
    ) -> Result<(Held, Case), String> {
        let Some(shown) = case.judged.described.as_ref().map(|described| described.digest) else {
            return Ok((held, case));
        };
        match self.catalog.find(held.call.name()) {
            Known::Yes(known) if known.digest == shown => Ok((held, case)),
            Known::Yes(known) => {
                self.judge(now, held, case.session, Some(known), out);
                Err("the server has changed this tool's definition since the card was shown; look again".into())
            }
            Known::No | Known::Ask => {
                self.ask_server(now, held, Describing { session: case.session, before: Some(case.judged) }, out);
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
    pub(in crate::gate) fn too_late(&mut self, now: Now, word: &OperatorWord, said: &str, out: &mut Vec<Effect>) {
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
        let operator = Operator { who: word.who.clone(), console: word.console };
        self.comes_to_nothing(now, &word.ticket, word.digest, (said, &operator), &why, out);
    }

    /// Records that a verdict counted for nothing, and tells its console.
    pub(in crate::gate) fn comes_to_nothing(
        &mut self,
        now: Now,
        ticket: &str,
        digest: Digest,
        (said, operator): (&str, &Operator),
        why: &str,
        out: &mut Vec<Effect>,
    ) {
        let mut entry = self.entry(now, Kind::Fault);
        entry.ticket = Some(ticket.to_owned());
        entry.digest = Some(digest);
        let what = format!("a verdict ({said}) had no effect");
        let entry = entry.with("what", what).with("operator", operator.who.as_ref()).with("reason", why);
        self.record(entry, out);
        out.push(Effect::Refuse { console: operator.console, ticket: ticket.to_owned(), why: why.to_owned() });
    }

    /// The operator's edit: read strictly, validated and judged again, and shown again before it can be approved.
    pub(in crate::gate) fn on_edited(&mut self, now: Now, word: &OperatorWord, arguments: &str, out: &mut Vec<Effect>) {
        let refuse = |why: String| Effect::Refuse { console: word.console, ticket: word.ticket.clone(), why };
        let Some((mut held, asking)) = self.take_asked(word) else {
            return out.push(refuse("this call no longer waits, or it has changed since it was shown".into()));
        };
        match self.read_edit(now, &held, &asking.case.judged, arguments) {
            Err(why) => {
                self.calls.put(held, asking);
                out.push(refuse(why));
            }
            Ok((call, session)) => {
                let (digest, arguments) = (held.call.digest(), held.call.arguments_text().to_owned());
                if round_trips::are_possible(&held.call) {
                    // Its host repeats what it sent.
                    held.round_trips.repeated.get_or_insert_with(|| held.call.repeated());
                }
                held.original.get_or_insert(Original { digest, arguments });
                *held.call = call;
                // What the edited call would touch is looked at before it is shown.
                held.seen = Seen::default();
                held.asked_again = None;
                self.judge(now, held, session, asking.case.judged.described, out);
            }
        }
    }

    /// Reads an edit: the call, and that its session allows it; why it is refused, where it is.
    fn read_edit(&self, now: Now, held: &Held, shown: &Judged, arguments: &str) -> Result<(Call, InSession), String> {
        let call = held.call.with_arguments(arguments);
        let call = call.map_err(|refusal| format!("the edit is refused: {}", refusal.what))?;
        let judged = judged::judge(now, &call, shown.described.clone(), self.judge_input(), &Seen::default());
        if let Some(violation) = judged.violations.first() {
            return Err(format!("the edit does not fit the tool's schema: {} {}", violation.path, violation.what));
        }
        // Where the disk must be looked at first, nothing is ruled yet.
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
    let operator = Operator { who: word.who.clone(), console: word.console };
    let rule = asking.case.judged.ruling.rule.clone();
    Verdict { by: By::Operator, rule, reason, operator: Some(operator) }
}

fn decided_already(verdict: &Verdict) -> String {
    match &verdict.operator {
        Some(operator) => format!("{} has decided it already", operator.who),
        None => "it is decided already".to_owned(),
    }
}
