//! Takes the operator's answer to a card, on exactly the bytes that were shown; anything else has no effect.

use crate::audit::By;
use crate::gate::call::judge;
use crate::gate::data::event::OperatorWord;
use crate::gate::held::{
    Approval, Approved, Approving, Asking, Case, Decided, Deciding, Denial, Describing, Forwarding, GradedVerdict,
    Held, Judged, Next, Original, Seen, Stage, Verdict, Withdrawn, context::Context, out::Out, replies, table::Calls,
    wait,
};
use crate::gate::server::catalog::ToolLookup;
use crate::mcp::InSession;
use crate::policy::{Decision, scope::Outside};
use crate::wire::Call;

pub(super) fn denied(
    held: Held,
    asking: Asking,
    word: &OperatorWord,
    (reason, signed): (String, Vec<GradedVerdict>),
) -> Next {
    let reply = replies::denied_by_operator(&held.call, &reason);
    let reason = if reason.is_empty() { "denied by the operator".into() } else { reason };
    let verdict = by_operator(word, &asking, reason);
    Next::Decide(held, Decided::Deny(Denial { judged: Some(asking.case.judged), verdict, reply, signed }))
}

/// The call, if its tool is still described as the card showed it; otherwise what comes next, and why the verdict does not count.
pub(super) fn if_still_described(
    context: Context<'_>,
    held: Held,
    case: Case,
) -> Result<(Held, Case), Box<(Next, &'static str)>> {
    let Some(shown) = case.judged.described.as_ref().map(|described| described.digest) else {
        return Ok((held, case));
    };
    match context.catalog.find(held.call.name()) {
        ToolLookup::Found(known) if known.digest == shown => Ok((held, case)),
        ToolLookup::Found(known) => Err(Box::new((
            Next::Judge(held, case.session, Some(known)),
            "the server has changed this tool's definition since the card was shown; look again",
        ))),
        ToolLookup::NotListed | ToolLookup::AskServer => Err(Box::new((
            Next::AskServer(held, Describing { session: case.session, before: Some(case.judged) }),
            "the server has announced changed tools since the card was shown; mcp-approve asks it for the new list",
        ))),
    }
}

/// The operator approved what was shown: that counts if nothing has changed, otherwise it is asked again, and the operator learns why.
pub(super) fn confirm(
    context: Context<'_>,
    held: Held,
    approval: Approval,
    changed: Option<&'static str>,
) -> (Next, Option<(OperatorWord, String)>) {
    let Approval { case, verdict, unread, grant, signed } = approval;
    let (ticket, digest) = (held.ticket.to_string(), held.call.digest());
    let (next, why) = match changed {
        None => match if_still_described(context, held, case) {
            Ok((held, case)) => return (Next::Approve(held, Approval { case, verdict, unread, grant, signed }), None),
            Err(instead) => (instead.0, instead.1.to_owned()),
        },
        Some(what) => (Next::JudgeAgain(held, case), format!("{what} since the card was shown; look again")),
    };
    let word = verdict.operator.map(|operator| OperatorWord { ticket, digest, operator });
    (next, word.map(|word| (word, why)))
}

/// Takes the held call that waits for an operator under this ticket with these very bytes.
pub(super) fn take(calls: &mut Calls, word: &OperatorWord) -> Option<(Held, Asking)> {
    let number = calls.by_ticket(&word.ticket)?;
    calls.take_if(number, |held, _| held.call.digest() == word.digest)
}

/// A verdict that decides nothing: it is recorded, and its console learns why.
pub(super) fn report_late(calls: &Calls, out: &mut Out, word: &OperatorWord, said: &str) {
    let held = calls.by_ticket(&word.ticket).and_then(|number| calls.get::<Stage>(number));
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
            Stage::Opening(_) | Stage::Describing(_) | Stage::Looking(_) | Stage::Consulting(_) | Stage::Asking(_) => {
                "it does not wait for an operator yet".to_owned()
            }
        },
    };
    report_ineffective(out, word, said, &why);
}

pub(super) fn report_ineffective(out: &mut Out, word: &OperatorWord, said: &str, why: &str) {
    record_ineffective(out, word, said, why);
    out.refuse_word(word, why);
}

pub(super) fn record_ineffective(out: &mut Out, word: &OperatorWord, said: &str, why: &str) {
    let mut entry = out.fault(format!("a verdict ({said}) had no effect"), word.digest);
    entry.ticket = Some(word.ticket.as_str().into());
    out.record(entry.with("operator", &*word.operator.who).with("reason", why));
}

/// Reads an edit: returns the new call and the proof that its session allows it, or why the edit is refused.
pub(super) fn read_edit(
    context: Context<'_>,
    held: &Held,
    shown: &Judged,
    arguments: &str,
) -> Result<(Call, InSession), String> {
    let call = held.call.with_arguments(arguments);
    let mut call = call.map_err(|refusal| format!("the edit is refused: {}", refusal.what))?;
    let _ = context.out.secrets.name(&mut call);
    let (described, seen) = (shown.described.clone(), Seen::default());
    let judged = judge::judgement(&call, described, context, &seen);
    if let Some(violation) = judged.violations.first() {
        return Err(format!("the edit does not fit the tool's schema: {} {}", violation.path, violation.what));
    }
    // While paths must still be looked up, the ruling is not final.
    if judged.ruling.decision == Decision::Deny && judged.wanted.real.is_empty() {
        return Err(format!("the policy denies the edited call: {}", judged.ruling.reason));
    }
    let session = context.host.lifecycle.call(&call).map_err(|phase| format!("the edit is refused: {phase}"))?;
    let outside = context.scope.holds(context.asked_of_scope(&call, &judged)).err();
    match outside {
        Some(Outside(why)) => Err(format!("the edit is refused: {why}")),
        None => Ok((call, session)),
    }
}

pub(super) fn edited(mut held: Held, shown: Case, (mut call, session): (Call, InSession), out: &mut Out) -> Next {
    out.secrets.take(&mut call);
    let (digest, arguments) = (held.call.digest(), held.call.arguments_text().to_owned());
    if wait::are_possible(&held.call) {
        // A later request of the host repeats what the host sent, not the edit.
        held.wait.repeated.get_or_insert_with(|| held.call.repeated());
    }
    held.original.get_or_insert(Original { digest, arguments });
    *held.call = call;
    // What the edited call would touch is looked at before it is shown.
    held.seen = Seen::default();
    held.asked_again = None;
    held.signed.clear();
    Next::Judge(held, session, shown.judged.described)
}

pub(super) fn by_operator(word: &OperatorWord, asking: &Asking, reason: String) -> Verdict {
    let rule = asking.case.judged.ruling.rule.clone();
    Verdict { by: By::Operator, rule, reason: reason.into(), operator: Some(word.operator.clone()) }
}

fn decided_already(verdict: &Verdict) -> String {
    match &verdict.operator {
        Some(operator) => format!("{} has decided it already", operator.who),
        None => "it is decided already".to_owned(),
    }
}
