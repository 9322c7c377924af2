//! Judges a held call, and acts on the ruling: a decision, a question to the operator, or first a look or a consultation.

use std::collections::HashSet;
use std::sync::Arc;

use crate::audit::query::VIOLATION;
use crate::audit::record::By;
use crate::behavior::agreed::Agreement;
use crate::gate::call::{consult, judgement, look};
use crate::gate::config::{Config, Mode};
use crate::gate::data::effect::Effect;
use crate::gate::grants::Grants;
use crate::gate::held::context::Context;
use crate::gate::held::next::Next;
use crate::gate::held::out::Out;
use crate::gate::held::replies;
use crate::gate::held::retry::Retry;
use crate::gate::held::{Approval, Case, Describing, Held, Inside, Judged, Verdict};
use crate::gate::server::catalog::ToolLookup;
use crate::gate::server::described::Described;
use crate::gate::server::flight::Continued;
use crate::mcp::lifecycle::InSession;
use crate::policy::rule::Decision;
use crate::policy::scope::{Asked, Asks, InScope, Outside};
use crate::wire::call::Call;

/// Judges one held call by its tool's description (`None`: the server gave none).
pub(super) fn judge(context: Context<'_>, held: Held, session: InSession, described: Option<Arc<Described>>) -> Next {
    let judged = Box::new(judgement::judge(&held.call, described, context, &held.seen));
    let scope = match admit(context, &held.call, &judged) {
        Ok(scope) => scope,
        Err(Outside(why)) => {
            let reply = replies::out_of_scope(&held.call);
            return Next::deny(held, Some(judged), Verdict::by(By::Scope, None, why), reply);
        }
    };
    let case = Case { session, scope, judged };
    if case.judged.violations.is_empty() {
        if let Some(wanted) = look::needed(context, &held, &case.judged) {
            return Next::Look(held, case, wanted);
        }
        let approvers = consult::approvers_needed(context.config, &held, &case.judged);
        if !approvers.is_empty() {
            return Next::Consult(held, case, approvers);
        }
    }
    Next::Act(held, case)
}

/// The proof that a call, or another request, lies in the scope.
fn admit(context: Context<'_>, call: &Call, judged: &Judged) -> Result<InScope, Outside> {
    let (scope, server) = (context.scope, &context.config.server);
    let asks = match (call.method(), &judged.inside) {
        (None, _) => Asks::Tool(context.asked_of_scope(call, judged)),
        (Some(_), None) => Asks::Request(server, context.revision_of(call)),
        (Some(_), Some(Inside { tool, described })) => {
            let definition = described.as_ref().map(|described| &described.tool);
            Asks::Tool(Asked { server, name: tool, tool: definition, behavior: &judged.behavior })
        }
    };
    scope.admit(call, asks)
}

/// Acts on a final ruling: everything needed was looked at, and all approvers were asked. `continued` is the approval that
/// this call continues, if it is a retry that the server asked for.
pub(super) fn act(
    (held, case): (Held, Case),
    continued: Option<Continued>,
    grants: &mut Grants,
    (config, mode, attached): (&Config, Mode, usize),
) -> Next {
    if !case.judged.violations.is_empty() {
        let reply = replies::invalid_arguments(&held.call, &case.judged.violations);
        return Next::deny(held, Some(case.judged), Verdict::by(By::Fault, None, VIOLATION), reply);
    }
    let Judged { ruling, by_approver, .. } = &*case.judged;
    let (rule, reason) = (ruling.rule.clone(), ruling.reason.clone());
    let by = match (by_approver, &rule) {
        (Some(_), _) => By::Approver,
        (None, Some(_)) => By::Rule,
        (None, None) => By::Default,
    };
    let verdict = match (ruling.decision, continued) {
        (Decision::Deny, _) => {
            let reply = replies::denied_by_policy(&held.call, &reason);
            return Next::deny(held, Some(case.judged), Verdict::by(by, rule, reason), reply);
        }
        // The operator who edited a call decides on it, even if policy would allow it.
        (Decision::Allow, _) if held.original.is_some() => return Next::Ask(held, case),
        (Decision::Allow, _) if grants.use_up(rule.as_deref()) => Verdict::by(By::Rule, rule, reason),
        (Decision::Allow, _) => Verdict::by(by, rule, reason),
        (Decision::Ask, Some(from)) if case.judged.retry == Retry::Plain => {
            Verdict::by(from.by, from.rule, format!("continues the approval of {}", from.ticket))
        }
        (Decision::Ask, _) if mode == Mode::Observe => {
            Verdict::by(By::Observe, rule, format!("observing, would have asked: {reason}"))
        }
        (Decision::Ask, _) if config.denies_unattended(attached) => {
            // No deadline and no operator denied it, so `by` is the default; the rule is the one that asked.
            let verdict = Verdict::by(By::Default, rule, "no console is open, and --unattended deny does not wait");
            let reply = replies::unattended(&held.call, &config.console);
            return Next::deny(held, Some(case.judged), verdict, reply);
        }
        (Decision::Ask, _) => return Next::Ask(held, case),
    };
    Next::Approve(held, Approval { case, verdict, unread: false, grant: None, signed: Vec::new() })
}

/// Notes what was agreed to and lets a call pass, once a day each: what is not used for long lapses.
pub(super) fn note_use(judged: &Judged, out: &mut Out) {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    if judged.ruling.decision != Decision::Allow || !judged.violations.is_empty() {
        return;
    }
    let today = out.now.wall.div_euclid(DAY);
    if out.log.used.0 != today {
        out.log.used = (today, HashSet::new());
    }
    let used = judged.behavior.shape.used.iter();
    let new: Vec<Agreement> = used.filter(|one| out.log.used.1.insert((*one).clone())).cloned().collect();
    if !new.is_empty() {
        out.push(Effect::UseAgreed(new));
    }
}

/// Judges a call by its tool as it is described now: since it was judged last the server may have changed it. Asks the
/// server first where that is not known.
pub(super) fn judge_again(context: Context<'_>, held: Held, case: Case) -> Next {
    let Case { session, judged, .. } = case;
    match context.find(&held.call) {
        ToolLookup::Found(known) => Next::Judge(held, session, Some(known)),
        ToolLookup::NotListed | ToolLookup::AskServer if judged.described.is_some() && held.call.method().is_none() => {
            Next::AskServer(held, Describing { session, before: Some(judged) })
        }
        ToolLookup::NotListed | ToolLookup::AskServer => Next::Judge(held, session, None),
    }
}

/// Whether a call that waits for the operator would be asked again for the same reason.
pub(super) fn stays(context: Context<'_>, held: &Held, judged: &Judged) -> bool {
    let described = match (context.find(&held.call), &judged.described) {
        (ToolLookup::Found(known), _) => Some(known),
        (ToolLookup::NotListed | ToolLookup::AskServer, None) => None,
        // The definition changed, and the new one is not known yet: no ruling on the old one may let the call pass.
        (ToolLookup::NotListed | ToolLookup::AskServer, Some(_)) => return false,
    };
    let anew = judgement::judge(&held.call, described, context, &held.seen);
    let is_asked =
        anew.ruling.decision == Decision::Ask || held.original.is_some() && anew.ruling.decision == Decision::Allow;
    is_asked && anew.ruling == judged.ruling && held.seen.look.covers(&anew.wanted)
}
