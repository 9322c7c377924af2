//! Judges held calls and acts on the ruling: a decision, a question to the operator, or first a look or a consultation.

use std::collections::HashSet;
use std::sync::Arc;

use crate::audit::detections::VIOLATION;
use crate::audit::record::By;
use crate::behavior::agreed::Agreement;
use crate::capability::schema::Mismatch;
use crate::gate::call::held::{Approval, Asking, Case, Describing, Held, Verdict};
use crate::gate::call::judged::{Inside, JudgeInput, Judged};
use crate::gate::call::replies;
use crate::gate::call::retry::Retry;
use crate::gate::call::strictest;
use crate::gate::data::effect::Effect;
use crate::gate::server::catalog::ToolLookup;
use crate::gate::server::described::Described;
use crate::gate::{Gate, Mode};
use crate::mcp::lifecycle::InSession;
use crate::mcp::revision::Revision;
use crate::policy::rule::Decision;
use crate::policy::scope::{Asked, Asks, InScope, Outside};
use crate::wire::call::Call;

impl Gate {
    /// What calls are judged by.
    pub(in crate::gate) fn judge_input(&self) -> JudgeInput<'_> {
        JudgeInput {
            server: &self.config.server,
            policy: &self.rules.policy,
            grants: &self.grants,
            approvers: &self.config.approvers,
            expected: self.config.expected.as_ref(),
            mismatch: match self.config.mode {
                Mode::Enforce => &self.config.mismatch,
                Mode::Observe => &Mismatch::Warn,
            },
            server_change: self.catalog.server_change().map(|change| &**change),
            roots: &self.host.roots,
            agreed: self.catalog.agreed(),
            places: &self.config.places,
            host: self.host.lifecycle.host().map(|(name, _)| name),
            scope: &self.config.scope,
            catalog: &self.catalog,
            revision: self.host.lifecycle.revision(),
            recent: &self.rules.recent,
            now: self.out.now.wall,
            latest: self.out.latest,
        }
    }

    /// Judges one held call by its tool's description (`None`: the server gave none) and acts on the ruling.
    pub(in crate::gate) fn judge(&mut self, held: Held, session: InSession, described: Option<Arc<Described>>) {
        self.prune_grants();
        let judged = Box::new(self.judge_held(&held, described));
        let scope = match self.admit(&held.call, &judged) {
            Ok(scope) => scope,
            Err(Outside(why)) => {
                let reply = replies::out_of_scope(&held.call);
                return self.deny(held, Some(judged), Verdict::by(By::Scope, None, why), reply);
            }
        };
        let case = Case { session, scope, judged };
        if !case.judged.violations.is_empty() {
            return self.refuse_arguments(held, case);
        }
        if let Some(wanted) = self.look_needed(&held, &case.judged) {
            return self.look_to_judge(held, case, wanted);
        }
        let approvers = self.approvers_needed(&held, &case.judged);
        if !approvers.is_empty() {
            return self.consult(held, case, approvers);
        }
        self.act(held, case);
    }

    /// Judges a call, the first time or again.
    pub(in crate::gate) fn judge_held(&self, held: &Held, described: Option<Arc<Described>>) -> Judged {
        strictest::judge(&held.call, described, self.judge_input(), &held.seen)
    }

    /// What the scope is asked of a call: its tool, and what the call itself was found to do.
    pub(in crate::gate) fn asked_of_scope<'a>(&'a self, call: &'a Call, judged: &'a Judged) -> Asked<'a> {
        let tool = judged.described.as_ref().map(|described| &described.tool);
        Asked { server: &self.config.server, name: call.name(), tool, behavior: &judged.behavior }
    }

    /// The proof that a call, or another request, lies in the scope.
    fn admit(&self, call: &Call, judged: &Judged) -> Result<InScope, Outside> {
        let (scope, server) = (&self.config.scope, &self.config.server);
        match (call.method(), &judged.inside) {
            (None, _) => scope.admit(call, Asks::Tool(self.asked_of_scope(call, judged))),
            (Some(_), None) => scope.admit(call, Asks::Request(server, self.revision_of(call))),
            (Some(_), Some(Inside { tool, described })) => {
                let definition = described.as_ref().map(|described| &described.tool);
                let asked = Asked { server, name: tool, tool: definition, behavior: &judged.behavior };
                scope.admit(call, Asks::Tool(asked))
            }
        }
    }

    /// The revision that a request is written in.
    pub(in crate::gate) fn revision_of(&self, request: &Call) -> Revision {
        self.judge_input().revision_of(request)
    }

    fn refuse_arguments(&mut self, held: Held, case: Case) {
        // A retry that does not fit has used up what it would have continued.
        let _ = self.flights.continues(self.out.now, &held.call, case.judged.definition());
        let reply = replies::invalid_arguments(&held.call, &case.judged.violations);
        let verdict = Verdict::by(By::Fault, None, VIOLATION);
        self.deny(held, Some(case.judged), verdict, reply);
    }

    /// Acts on a final ruling: everything needed was looked at, and all approvers were asked.
    fn act(&mut self, held: Held, case: Case) {
        let continued = self.flights.continues(self.out.now, &held.call, case.judged.definition());
        let Judged { ruling, by_approver, .. } = &*case.judged;
        let (rule, reason) = (ruling.rule.clone(), ruling.reason.clone());
        let by = match (by_approver, &rule) {
            (Some(_), _) => By::Approver,
            (None, Some(_)) => By::Rule,
            (None, None) => By::Default,
        };
        let used = match ruling.decision {
            Decision::Allow => case.judged.behavior.shape.used.clone(),
            Decision::Ask | Decision::Deny => Vec::new(),
        };
        self.note_use(used);
        let Judged { ruling, .. } = &*case.judged;
        let verdict = match (ruling.decision, continued) {
            (Decision::Deny, _) => {
                let reply = replies::denied_by_policy(&held.call, &reason);
                return self.deny(held, Some(case.judged), Verdict::by(by, rule, reason), reply);
            }
            // The operator who edited a call decides on it, even if policy would allow it.
            (Decision::Allow, _) if held.original.is_some() => return self.ask(held, case),
            (Decision::Allow, _) if self.grants.use_up(rule.as_deref()) => Verdict::by(By::Rule, rule, reason),
            (Decision::Allow, _) => Verdict::by(by, rule, reason),
            (Decision::Ask, Some(from)) if case.judged.retry == Retry::Plain => {
                Verdict::by(from.by, from.rule, format!("continues the approval of {}", from.ticket))
            }
            (Decision::Ask, _) if self.config.mode == Mode::Observe => {
                Verdict::by(By::Observe, rule, format!("observing, would have asked: {reason}"))
            }
            (Decision::Ask, _) if self.denies_unattended() => {
                // No deadline and no operator denied it, so `by` is the default; the rule is the one that asked.
                let verdict = Verdict::by(By::Default, rule, "no console is open, and --unattended deny does not wait");
                let reply = replies::unattended(&held.call, &self.config.console);
                return self.deny(held, Some(case.judged), verdict, reply);
            }
            (Decision::Ask, _) => return self.ask(held, case),
        };
        self.approve(held, Approval { case, verdict, unread: false, grant: None });
    }

    /// Notes what was agreed to and let a call pass, once a day each: what is not used for long lapses.
    fn note_use(&mut self, used: Vec<Agreement>) {
        const DAY: i64 = 24 * 60 * 60 * 1000;
        let today = self.out.now.wall.div_euclid(DAY);
        if self.log.used.0 != today {
            self.log.used = (today, HashSet::new());
        }
        let new: Vec<Agreement> = used.into_iter().filter(|one| self.log.used.1.insert(one.clone())).collect();
        if !new.is_empty() {
            self.out.push(Effect::UseAgreed(new));
        }
    }

    /// Judges the calls again that wait for the operator, and acts on those whose judgement has changed.
    pub(in crate::gate) fn rejudge(&mut self) {
        for number in self.calls.waiting::<Asking>() {
            if let Some((held, asking)) = self.calls.get::<Asking>(number)
                && !self.stays(held, &asking.case.judged)
                && let Some((held, asking)) = self.calls.take::<Asking>(number)
            {
                self.judge_again(held, asking.case);
            }
        }
    }

    /// Whether a call that waits for the operator would be asked again for the same reason.
    fn stays(&self, held: &Held, judged: &Judged) -> bool {
        let found = held.call.method().map_or_else(|| self.catalog.find(held.call.name()), |_| ToolLookup::NotListed);
        let described = match (found, &judged.described) {
            (ToolLookup::Found(known), _) => Some(known),
            (ToolLookup::NotListed | ToolLookup::AskServer, None) => None,
            // The definition changed, and the new one is not known yet: no ruling on the old one may let the call pass.
            (ToolLookup::NotListed | ToolLookup::AskServer, Some(_)) => return false,
        };
        let anew = self.judge_held(held, described);
        let is_asked =
            anew.ruling.decision == Decision::Ask || held.original.is_some() && anew.ruling.decision == Decision::Allow;
        is_asked && anew.ruling == judged.ruling && held.seen.look.covers(&anew.wanted)
    }

    /// Judges a call by its tool as it is described now: since it was judged last the server may have changed it. Asks the
    /// server first where that is not known.
    pub(in crate::gate) fn judge_again(&mut self, held: Held, case: Case) {
        match self.catalog.find(held.call.name()) {
            _ if held.call.method().is_some() => self.judge(held, case.session, None),
            ToolLookup::Found(known) => self.judge(held, case.session, Some(known)),
            ToolLookup::NotListed | ToolLookup::AskServer if case.judged.described.is_some() => {
                self.ask_server(held, Describing { session: case.session, before: Some(case.judged) });
            }
            ToolLookup::NotListed | ToolLookup::AskServer => self.judge(held, case.session, None),
        }
    }
}
