//! Rules that would have saved questions, found in the log and ready to be written.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{LISTED, TrialRunner};
use crate::behavior::conclude::{self, Replaced};
use crate::operator::found::Finding;
use crate::operator::own_rules::DANGEROUS;
use crate::operator::rule_book;
use crate::operator::tried::{PastLine, Suggested, SuggestedRule, Trial, Tried, Which};
use crate::policy::maker::Title;
use crate::policy::parse;
use crate::policy::past::{PastCall, Suggestion, suggest};
use crate::policy::rule::{Decision, Policy};
use crate::wire::number::counted;

/// Rules that the console offers.
const OFFERED: usize = 5;
/// How long a suggested allow rule lasts: a forgotten one does not stay in force.
const LASTS: i64 = 30 * 86_400_000;

/// A suggestion under a name that no other rule has.
pub struct Named<'c> {
    pub id: String,
    pub rule: Suggestion<'c>,
}

/// At most so many rules for past calls, and how many questions there were. One that the parser would refuse is left out.
pub fn named<'c>(policy: &Policy, calls: &'c [PastCall], now: i64, most: usize) -> (Vec<Named<'c>>, usize) {
    // Twice as many, because the parser may refuse some of them once they are written.
    let found = suggest(policy, calls, now, most.saturating_mul(2));
    let mut taken: BTreeSet<String> = policy.rules.iter().map(|rule| rule.id.clone()).collect();
    let name = |rule: Suggestion<'c>| {
        let tool = rule.saves.first().map_or("rule", |call| call.tool.as_str());
        let id = rule.proposal.scope.id(tool, Decision::Allow, |id| taken.contains(id));
        let one = Named { id, rule };
        parse::parse_at(&format!("version = 1\n\n{}", one.text(None)), &policy.roots).ok()?;
        taken.insert(one.id.clone());
        Some(one)
    };
    (found.rules.into_iter().filter_map(name).take(most).collect(), found.questions)
}

impl Named<'_> {
    /// The text of the rule, which ends then.
    pub fn text(&self, expires: Option<i64>) -> String {
        let note = format!("suggested: {} saved", counted(self.rule.saves.len(), "question"));
        let title = Title { id: &self.id, decision: Decision::Allow, expires, note: Some(&note) };
        self.rule.proposal.text(&title)
    }

    fn listed(self, now: i64) -> Option<Arc<SuggestedRule>> {
        let toml = self.text(Some(now + LASTS));
        let Suggestion { proposal, saves } = self.rule;
        let first = saves.first()?;
        let mut warnings = proposal.warnings();
        if saves.iter().any(|call| conclude::danger(&call.behavior, Replaced::Perhaps).is_some()) {
            warnings.push(DANGEROUS.to_owned());
        }
        Some(Arc::new(SuggestedRule {
            id: self.id,
            scope: proposal.scope,
            server: first.server.clone(),
            tool: first.tool.clone(),
            toml,
            saves: saves.len(),
            warnings,
            lines: saves.iter().rev().take(LISTED).map(|call| PastLine::of(call)).collect(),
        }))
    }
}

impl TrialRunner {
    pub(super) fn suggestions(&mut self, trial: &Trial, id: u64) -> Result<ControlFlow<()>, String> {
        let policy = rule_book::tried(&self.sources.places, &Which::Written)?;
        let Some((calls, _)) = self.gather(trial, &|_, _| true, &|_, _| {})? else {
            return Ok(ControlFlow::Break(()));
        };
        let now = (self.sources.now)();
        let rules = named(&policy, &calls, now, OFFERED).0.into_iter().filter_map(|one| one.listed(now)).collect();
        let found = Suggested { calls: calls.len(), rules };
        (self.tell)(Finding::Tried(Tried::Suggestions { id, found: Arc::new(found) }));
        Ok(ControlFlow::Continue(()))
    }
}
