//! A policy against past calls: what it would say now, and where that is not what was said then. Reads no log.
//!
//! Records hold no secrets, so a condition on a value that was replaced or cut cannot be decided: where such a rule would
//! change the answer, the answer is [`Answer::Undecided`].

use super::decide::{Ruling, decide};
use super::fit::{Fit, Prepared, fit};
use super::past::{Ended, PastCall, depends_on_obscured, touches_obscured};
use super::rate::Recent;
use super::rule::{Decision, Policy, Rule};

/// What a policy says of a past call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Decided(Ruling),
    /// These rules depend on something that the record hides.
    Undecided(Vec<String>),
}

/// A call about which the policy says something else than was said then.
#[derive(Clone, Debug)]
pub struct Change<'c> {
    pub call: &'c PastCall,
    pub now: Ruling,
}

/// A policy against a log.
#[derive(Clone, Debug, Default)]
pub struct Replay<'c> {
    /// How many calls were looked at.
    pub calls: usize,
    /// The oldest first.
    pub changes: Vec<Change<'c>>,
    /// Calls that stay undecided, with the rules that depend on what is hidden.
    pub undecided: Vec<(&'c PastCall, Vec<String>)>,
}

impl Replay<'_> {
    /// How many calls change from what to what, the most first.
    pub fn counts(&self) -> Vec<(Decision, Decision, usize)> {
        let all = [Decision::Allow, Decision::Ask, Decision::Deny];
        let pairs = all.into_iter().flat_map(|from| all.into_iter().map(move |to| (from, to)));
        let count = |(from, to)| {
            let same = |change: &&Change<'_>| change.call.ruling == from && change.now.decision == to;
            (from, to, self.changes.iter().filter(same).count())
        };
        let mut counts: Vec<_> = pairs.map(count).filter(|(_, _, count)| *count > 0).collect();
        counts.sort_by_key(|(from, to, count)| (std::cmp::Reverse(*count), *from, *to));
        counts
    }
}

/// Plays all calls, the oldest first, against a policy. Rules that have expired by `now` count no more.
pub fn replay<'c>(policy: &Policy, calls: &'c [PastCall], now: i64) -> Replay<'c> {
    let policy = without_expired(policy, now);
    let mut recent = Recent::default();
    let mut found = Replay { calls: calls.len(), ..Replay::default() };
    for call in calls {
        match answer(&policy, call, &recent) {
            Answer::Decided(ruling) if ruling.decision == call.ruling => {}
            Answer::Decided(now) => found.changes.push(Change { call, now }),
            Answer::Undecided(rules) => found.undecided.push((call, rules)),
        }
        if call.ended == Ended::Ran {
            recent.note(call.server.as_str(), call.method.as_deref(), call.tool.as_str(), call.time);
        }
    }
    found
}

/// The policy without the rules that have expired: the others hold at every past moment too.
pub fn without_expired(policy: &Policy, now: i64) -> Policy {
    let mut policy = policy.clone();
    policy.rules.retain(|rule| rule.expires.is_none_or(|end| end > now));
    policy
}

/// What the policy says of one past call.
pub fn answer(policy: &Policy, call: &PastCall, recent: &Recent) -> Answer {
    let question = call.question(Some(recent));
    if !policy.rules.iter().any(|rule| touches_obscured(rule, call)) {
        return Answer::Decided(decide(policy, &question));
    }
    let prepared = Prepared::of(&question);
    let (mut certain, mut perhaps): (Policy, Vec<&Rule>) = (Policy { rules: Vec::new(), ..policy.clone() }, Vec::new());
    for rule in &policy.rules {
        if !touches_obscured(rule, call) {
            certain.rules.push(rule.clone());
            continue;
        }
        // A rule that does not match anyway needs nothing that is hidden.
        let mut rest = rule.clone();
        rest.when.retain(|predicate| !depends_on_obscured(predicate, call));
        rest.unless.retain(|predicate| !depends_on_obscured(predicate, call));
        if fit(policy, &rest, &question, &prepared, &policy.roots) == Fit::Matches {
            perhaps.push(rule);
        }
    }
    let ruling = decide(&certain, &question);
    let changes = |rule: &&&Rule| match ruling.rule {
        Some(_) => rule.decision > ruling.decision,
        None => rule.decision != ruling.decision,
    };
    let changing: Vec<String> = perhaps.iter().filter(changes).map(|rule| rule.id.clone()).collect();
    if changing.is_empty() { Answer::Decided(ruling) } else { Answer::Undecided(changing) }
}
