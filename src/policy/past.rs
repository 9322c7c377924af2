//! Past calls: what a policy would say of them now, and which rules would have saved questions. Reads no log.
//!
//! Records hold no secrets: where a rule about a value replaced or cut would change the answer, it is [`Answer::Undecided`].
//!
//! Each question gives candidates ([`maker`](super::maker)); the one that saves most of what is not saved yet is taken next, and a
//! wide scope counts for less. None covers a call that was denied.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::decide::{Question, Ruling, decide};
use super::fit::{Fit, Prepared, fit, rules_name};
use super::maker::{Proposal, Scope, proposals};
use super::rate::Recent;
use super::rule::{Decision, Policy, Rule};
use super::when::{About, Predicate, Test, argument};
use crate::behavior::conclude::{self, Behavior, Replaced};
use crate::mcp::request;
use crate::wire::words::words;

#[derive(Clone, Debug)]
pub struct PastCall {
    /// Number of its decision's record.
    pub seq: i64,
    /// Of the decision, in milliseconds since 1970, UTC.
    pub time: i64,
    pub ticket: String,
    pub server: String,
    /// The method of a request other than `tools/call`.
    pub method: Option<String>,
    pub tool: String,
    /// As recorded: secrets are replaced and long texts cut, see [`is_obscured`].
    pub arguments: Value,
    pub behavior: Behavior,
    /// Whether the record shows all that the arguments were found to do then.
    pub analysed: bool,
    pub ruling: Decision,
    pub rule: Option<String>,
    pub ended: Ended,
    /// The record's word for who decided.
    pub by: String,
}

words! {
    Ended {
        /// It was let run.
        Ran = "approved",
        /// A person or a rule said no.
        Refused = "denied",
        /// No one answered: it expired, was cancelled, or something failed.
        Unanswered = "unanswered",
    }
}

impl PastCall {
    /// How it ended, and who or what decided that, where the log says.
    pub fn outcome(&self) -> String {
        match (self.ended.word(), self.by.as_str()) {
            (ended, "") => ended.to_owned(),
            (ended, by) => format!("{ended} by {by}"),
        }
    }

    pub fn question<'a>(&'a self, recent: Option<&'a Recent>) -> Question<'a> {
        Question {
            method: self.method.as_deref(),
            server: &self.server,
            tool: &self.tool,
            behavior: &self.behavior,
            arguments: &self.arguments,
            now: self.time,
            recent,
        }
    }
}

/// What rules see of a request's recorded arguments.
pub fn shown(method: Option<&str>, arguments: Value) -> Value {
    if method.is_some() { request::arguments(arguments) } else { arguments }
}

/// Whether something in a value was replaced or cut when it was recorded. A text that only looks so counts too.
pub fn is_obscured(value: &Value) -> bool {
    match value {
        Value::String(text) => has_mark(text) || was_cut(text),
        Value::Array(items) => items.iter().any(is_obscured),
        Value::Object(fields) => {
            fields.iter().any(|(name, field)| has_mark(name) || was_cut(name) || is_obscured(field))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// `redacted:` and 16 hex characters.
fn has_mark(text: &str) -> bool {
    text.split("redacted:").skip(1).any(|rest| {
        rest.len() >= 16 && rest.bytes().take(16).all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// `…[N bytes in all]` at the end, or only `…` where the whole did not fit.
fn was_cut(text: &str) -> bool {
    text.ends_with('…') || (text.ends_with(" bytes in all]") && text.contains("…["))
}

/// Whether a condition depends on something that the record hides.
pub fn depends_on_obscured(predicate: &Predicate, call: &PastCall) -> bool {
    match &predicate.about {
        About::Argument { arg, tests } => {
            let Value::Object(fields) = &call.arguments else {
                // All of them were cut into one text.
                return true;
            };
            let is_there = |test: &Test| matches!(test, Test::Present | Test::Absent);
            let counts = |test: &Test| matches!(test, Test::Len(_)) && arg.is_empty();
            if tests.iter().all(|test| is_there(test) || counts(test)) {
                return fields.keys().any(|name| has_mark(name) || was_cut(name));
            }
            argument(&call.arguments, arg).is_some_and(is_obscured)
        }
        About::Sql(_) | About::Effect(_) => !call.analysed || is_obscured(&call.arguments),
        About::Hazard(_) | About::Rate(_) => false,
    }
}

/// Whether a rule depends on something that the record hides.
pub fn touches_obscured(rule: &Rule, call: &PastCall) -> bool {
    rule.when.iter().chain(&rule.unless).any(|predicate| depends_on_obscured(predicate, call))
}

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

#[derive(Clone, Debug, Default)]
pub struct Replay<'c> {
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

/// Gives each call the ruling of this policy, where that is known, to compare with a replay of another. The oldest is first.
pub fn ruled_by(policy: &Policy, calls: &mut [PastCall], now: i64) {
    let policy = without_expired(policy, now);
    let mut recent = Recent::default();
    for call in calls {
        if let Answer::Decided(ruling) = answer(&policy, call, &recent) {
            call.ruling = ruling.decision;
        }
        if call.ended == Ended::Ran {
            recent.note(call.server.as_str(), call.method.as_deref(), call.tool.as_str(), call.time);
        }
    }
}

/// The policy without the rules that have expired: the others hold at every past moment too.
pub fn without_expired(policy: &Policy, now: i64) -> Policy {
    let mut policy = policy.clone();
    policy.rules.retain(|rule| rule.expires.is_none_or(|end| end > now));
    policy
}

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

/// A rule that is worth writing.
#[derive(Clone, Debug)]
pub struct Suggestion<'c> {
    pub proposal: Proposal,
    /// The questions it would have saved, beyond those that the suggestions before it save; the oldest first.
    pub saves: Vec<&'c PastCall>,
}

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
