//! Rules that would have saved questions, found in the log and ready to be written.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{LISTED, TrialRunner};
use crate::behavior::conclude::{self, Replaced};
use crate::operator::found::Finding;
use crate::operator::own_rules::DANGEROUS;
use crate::operator::tried::{PastLine, Suggested, SuggestedRule, Trial, Tried, Which};
use crate::policy::maker::Title;
use crate::policy::parse;
use crate::policy::rule::{Decision, Policy};
use crate::policy::suggest::{Suggestion, suggest};
use crate::wire::number::counted;

/// Rules that are offered.
const OFFERED: usize = 5;
/// How long a suggested allow rule lasts: a forgotten one does not stay in force.
const LASTS: i64 = 30 * 86_400_000;

impl TrialRunner {
    pub(super) fn suggestions(&mut self, trial: &Trial, id: u64) -> Result<ControlFlow<()>, String> {
        let policy = crate::operator::rule_book::tried(&self.sources.places, &Which::Written)?;
        let Some((calls, _)) = self.gather(trial, &|_, _| true, &|_, _| {})? else {
            return Ok(ControlFlow::Break(()));
        };
        let now = (self.sources.now)();
        // Twice as many, because the parser may refuse some of them once they are written.
        let found = suggest(&policy, &calls, now, 2 * OFFERED);
        let mut taken: BTreeSet<String> = policy.rules.iter().map(|rule| rule.id.clone()).collect();
        let rules = found.rules.iter().filter_map(|one| written(one, &policy, &mut taken, now));
        let found = Suggested { calls: calls.len(), rules: rules.take(OFFERED).collect() };
        (self.tell)(Finding::Tried(Tried::Suggestions { id, found: Arc::new(found) }));
        Ok(ControlFlow::Continue(()))
    }
}

fn written(
    one: &Suggestion<'_>,
    policy: &Policy,
    taken: &mut BTreeSet<String>,
    now: i64,
) -> Option<Arc<SuggestedRule>> {
    let first = one.saves.first()?;
    let id = one.proposal.scope.id(&first.tool, Decision::Allow, |id| taken.contains(id));
    let saves = one.saves.len();
    let note = format!("suggested: {} saved", counted(saves, "question"));
    let title = Title { id: &id, decision: Decision::Allow, expires: Some(now + LASTS), note: Some(&note) };
    let toml = one.proposal.text(&title);
    parse::parse_at(&format!("version = 1\n\n{toml}"), &policy.roots).ok()?;
    taken.insert(id.clone());
    let mut warnings = one.proposal.warnings();
    if one.saves.iter().any(|call| conclude::danger(&call.behavior, Replaced::Perhaps).is_some()) {
        warnings.push(DANGEROUS.to_owned());
    }
    Some(Arc::new(SuggestedRule {
        id,
        scope: one.proposal.scope.clone(),
        server: first.server.clone(),
        tool: first.tool.clone(),
        toml,
        saves,
        warnings,
        lines: one.saves.iter().rev().take(LISTED).map(|call| PastLine::of(call)).collect(),
    }))
}
