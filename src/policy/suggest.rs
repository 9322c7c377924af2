//! The smallest narrow rules that would have saved the most questions, none of which ever covers a call that was denied.
//!
//! Candidates are what [`maker`](super::maker) makes of each question; they are taken one by one, each time the one that
//! saves the most questions not saved yet, where a wide scope counts for less than a narrow one.

use std::collections::{BTreeMap, BTreeSet};

use super::maker::{Proposal, Scope, proposals};
use super::past::{Ended, PastCall, is_obscured, touches_obscured};
use super::question::rules_name;
use super::rate::Recent;
use super::replay::{Answer, answer, without_expired};
use super::rule::{Decision, Policy};
use crate::behavior::conclude::{self, Replaced};

/// A rule that is worth writing.
#[derive(Clone, Debug)]
pub struct Suggestion<'c> {
    pub proposal: Proposal,
    /// The questions it would have saved, beyond those that the suggestions before it save; the oldest first.
    pub saves: Vec<&'c PastCall>,
}

/// What could be saved.
#[derive(Clone, Debug, Default)]
pub struct Suggestions<'c> {
    /// How many of the calls were asked about and let run, and would be asked about again.
    pub questions: usize,
    /// The most saving first.
    pub rules: Vec<Suggestion<'c>>,
}

/// A question that comes back only once is not worth a rule.
const LEAST: usize = 2;
/// Only so many questions, the newest, are looked at.
const NEWEST: usize = 4000;

/// Suggests at most `most` rules for past calls, the oldest of which comes first. `now` is milliseconds since 1970, UTC.
pub fn suggest<'c>(policy: &Policy, calls: &'c [PastCall], now: i64, most: usize) -> Suggestions<'c> {
    let policy = without_expired(policy, now);
    let questions: Vec<&PastCall> = calls.iter().filter(|call| is_question(&policy, call)).collect();
    let newest = &questions[questions.len().saturating_sub(NEWEST)..];
    let refused: Vec<&PastCall> = calls.iter().filter(|call| call.ended == Ended::Refused).collect();
    let mut candidates = candidates(&policy, newest, &refused);
    let mut saved: BTreeSet<i64> = BTreeSet::new();
    let mut rules = Vec::new();
    while rules.len() < most {
        for candidate in &mut candidates {
            candidate.saves.retain(|call| !saved.contains(&call.seq));
        }
        candidates.retain(|candidate| candidate.saves.len() >= LEAST);
        let best = (0..candidates.len()).max_by_key(|at| {
            let candidate = &candidates[*at];
            (worth(candidate), std::cmp::Reverse(*at))
        });
        let Some(best) = best.map(|at| candidates.swap_remove(at)) else { break };
        saved.extend(best.saves.iter().map(|call| call.seq));
        rules.push(best);
    }
    Suggestions { questions: questions.len(), rules }
}

/// Whether a person was asked, or would have been while observing, said yes, and would be asked again by a default.
fn is_question(policy: &Policy, call: &PastCall) -> bool {
    let again = || match answer(policy, call, &Recent::default()) {
        // An explicit ask is not loosened by an allow.
        Answer::Decided(ruling) => ruling.decision == Decision::Ask && ruling.rule.is_none(),
        Answer::Undecided(_) => false,
    };
    call.method.is_none() && call.ruling == Decision::Ask && call.ended == Ended::Ran && again()
}

/// Every rule that could be made of more than one question and of no call that was denied.
fn candidates<'c>(policy: &Policy, questions: &[&'c PastCall], refused: &[&PastCall]) -> Vec<Suggestion<'c>> {
    let mut made: BTreeMap<(&str, &str, Scope), Vec<Proposal>> = BTreeMap::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for call in questions {
        let (server, tool) = (rules_name(&call.server), call.tool.as_str());
        // A rule for the whole tool is too wide if the record hides an argument or the call may do harm.
        let narrow_only = is_obscured(&call.arguments) || conclude::danger(&call.behavior, Replaced::Perhaps).is_some();
        for proposal in proposals(&call.question(None), &policy.roots).unwrap_or_default() {
            let too_wide = narrow_only && proposal.scope == Scope::ThisTool;
            if too_wide || touches_obscured(&proposal.rule, call) {
                continue;
            }
            let count = times.entry(proposal.body.clone()).or_default();
            *count += 1;
            if *count == LEAST {
                made.entry((server, tool, proposal.scope.clone())).or_default().push(proposal);
            }
        }
    }
    let mut found = Vec::new();
    for ((server, tool, _), proposals) in made {
        let of_tool = |call: &&&PastCall| rules_name(&call.server) == server && call.tool == tool;
        for proposal in proposals {
            let is_hidden = |call: &PastCall| touches_obscured(&proposal.rule, call);
            let covers = |call: &PastCall| proposal.covers(policy, &call.question(None));
            if refused.iter().filter(of_tool).any(|call| is_hidden(call) || covers(call)) {
                continue;
            }
            let of_tool = questions.iter().filter(of_tool);
            let saves = of_tool.filter(|call| !is_hidden(call) && covers(call)).copied().collect();
            found.push(Suggestion { proposal, saves });
        }
    }
    found
}

/// Questions saved, in hundredths; a wide scope counts for less.
fn worth(suggestion: &Suggestion<'_>) -> usize {
    let hundredths = match &suggestion.proposal.scope {
        Scope::ThisCall => 100,
        Scope::Same(_) => 98,
        Scope::Address { .. } => 95,
        Scope::Under { folder, .. } => 70 + 4 * folder.matches('/').count().min(7),
        Scope::ThisTool => 50,
    };
    suggestion.saves.len() * hundredths
}
