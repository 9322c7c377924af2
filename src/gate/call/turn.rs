//! An approved call may have to wait: for earlier calls, if calls keep the order in which the host sent them; and for
//! its host, if that has to come back for it first. Decides nothing.

use crate::audit::record::By;
use crate::gate::Gate;
use crate::gate::call::card;
use crate::gate::call::context::Context;
use crate::gate::call::held::{Approval, Approved, Asking, Decided, Deciding, Held, Stage, Verdict, Withdrawal};
use crate::gate::call::judgement;
use crate::gate::call::next::Next;
use crate::gate::call::replies;
use crate::gate::config::ForwardOrder;
use crate::gate::data::effect::Effect;
use crate::gate::server::catalog::ToolLookup;
use crate::policy::rule::Decision;

impl Gate {
    /// Calls have ended: those behind them run, or their cards say what they wait for now.
    pub(in crate::gate) fn take_turns(&mut self) {
        if self.config.order == ForwardOrder::Decided {
            return self.calls.forget_left();
        }
        let left = self.calls.left();
        if left.is_empty() {
            return;
        }
        for number in left {
            let next = self.calls.first_from(number).and_then(|next| self.calls.get::<Asking>(next));
            if let Some((held, asking)) = next {
                self.out.push(Effect::Ask(Box::new(card::snapshot(self.context(), held, &asking.case.judged))));
            }
        }
        while let Some(first) = self.calls.first_from(0)
            && let Some((held, approved)) =
                self.calls.take_if::<Approved>(first, |held, _| held.round_trips.away.is_none())
        {
            self.resume(held, approved);
        }
        self.close_server_when_done();
        self.take_turns();
    }

    /// The policy has changed, or an operator has ended the grant of this name: a call that waits for its turn, was not
    /// approved by an operator, and would be asked now, does not run.
    pub(in crate::gate) fn revoke_approvals(&mut self, ended: Option<&str>) {
        for number in self.calls.waiting::<Approved>() {
            let why = self
                .calls
                .get::<Approved>(number)
                .and_then(|(held, approved)| why_revoked(self.context(), held, &approved.approval, ended));
            if let Some(why) = why
                && let Some((held, Approved { approval, .. })) = self.calls.take::<Approved>(number)
            {
                let reply = replies::changed(&held.call, &why);
                self.drive(Next::stop(held, approval.case.judged, (By::Fault, why), reply));
            }
        }
        // The same where the record of the approval is on its way, and the call will have to wait.
        for number in self.calls.numbers(|stage| matches!(stage, Stage::Deciding(_))) {
            let is_revoked = |held: &Held, deciding: &Deciding| match &deciding.decision {
                Decided::Approve(approval) => {
                    (held.round_trips.away.is_some() || self.context().runs_after(held).is_some())
                        && why_revoked(self.context(), held, approval, ended).is_some()
                }
                Decided::Deny(_) => false,
            };
            if self.calls.get::<Deciding>(number).is_some_and(|(held, deciding)| is_revoked(held, deciding)) {
                self.withdraw(number, Withdrawal::Revoked);
            }
        }
    }
}

/// An approved call that had to wait may run now, if its turn has come and nothing has changed since.
pub(super) fn resumed(context: Context<'_>, held: Held, approved: Approved) -> Next {
    let Approved { approval, receipt } = approved;
    match why_overruled(context, &held, &approval) {
        None => Next::AwaitTurn(held, approval, receipt),
        Some(why) => {
            let reply = replies::changed(&held.call, &why);
            Next::stop(held, approval.case.judged, (By::Fault, why), reply)
        }
    }
}

/// Why the approval of a call that waits for its turn no longer counts: its grant ended, or the policy changed.
fn why_revoked(context: Context<'_>, held: &Held, approval: &Approval, ended: Option<&str>) -> Option<String> {
    let Approval { case, verdict, .. } = approval;
    let judged = &case.judged;
    match ended {
        Some(grant) => (verdict.rule.as_deref() == Some(grant)).then(|| format!("{grant} was ended")),
        // An operator's own approval stays: a person may have edited a call that the policy allows.
        None if judged.ruling.decision != Decision::Allow || verdict.operator.is_some() => None,
        None if is_by_grant(verdict) => None,
        None => {
            let anew = judgement::judge(&held.call, judged.described.clone(), context, &held.seen).ruling;
            // A call that the policy denies now is stopped when its turn comes.
            (anew.decision == Decision::Ask)
                .then(|| format!("the policy no longer allows it unasked ({})", anew.reason))
        }
    }
}

/// Why a call that was approved and had to wait may no longer run: its tool or the policy has changed.
fn why_overruled(context: Context<'_>, held: &Held, approval: &Approval) -> Option<String> {
    let judged = &approval.case.judged;
    let found = context.find(&held.call);
    match (judged.definition(), found) {
        (None, _) => {}
        (Some(shown), ToolLookup::Found(known)) if known.digest == shown => {}
        (Some(_), ToolLookup::Found(_) | ToolLookup::NotListed | ToolLookup::AskServer) => {
            return Some("the server has changed this tool's definition".to_owned());
        }
    }
    let anew = judgement::judge(&held.call, judged.described.clone(), context, &held.seen);
    (anew.ruling.decision == Decision::Deny).then(|| format!("the policy denies it ({})", anew.ruling.reason))
}

/// Whether a grant gave the approval. It counts until the grant ends, or the policy denies the call.
fn is_by_grant(verdict: &Verdict) -> bool {
    verdict.rule.as_deref().is_some_and(|rule| rule.starts_with("grant:"))
}
