//! An approved call may have to wait: for earlier calls, if calls keep the order in which the host sent them; and for
//! its host, if that has to come back for it first. Says whether its approval still counts then.

use crate::audit::record::By;
use crate::gate::call::context::Context;
use crate::gate::call::held::{Approval, Approved, Held, Verdict};
use crate::gate::call::next::Next;
use crate::gate::call::{judgement, replies};
use crate::gate::server::catalog::ToolLookup;
use crate::policy::rule::Decision;

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
pub(in crate::gate) fn why_revoked(
    context: Context<'_>,
    held: &Held,
    approval: &Approval,
    ended: Option<&str>,
) -> Option<String> {
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
