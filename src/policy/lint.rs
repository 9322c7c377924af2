//! What is no error in a policy, and still hardly meant: rules that can never decide, or that decide too much. Owns no
//! ruling.
//!
//! Only certain findings: it misses a rule that another one covers in a way that their texts do not show.

pub mod otherwise;
mod shadow;

use shadow::covers;

use super::rule::{Decision, Policy, Rule};
use super::when::{About, Predicate, Test};
use crate::behavior::taxonomy::{Action, Mutability};

/// One thing worth a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub rule: String,
    /// Of the rule, from 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub what: String,
    pub hint: String,
}

/// Looks a policy over; `now` is milliseconds since 1970, UTC.
pub fn lint(policy: &Policy, now: i64) -> Vec<Warning> {
    let expired = |rule: &Rule| rule.expires.is_some_and(|end| end <= now);
    let mut warnings = Vec::new();
    for rule in &policy.rules {
        let mut warn = |what: String, hint: &str| {
            let (rule, line) = (rule.id.clone(), rule.line);
            warnings.push(Warning { rule, line, column: 1, what, hint: hint.to_owned() });
        };
        let id = &rule.id;
        if expired(rule) {
            warn(format!("rule {id} has expired and no longer applies"), "remove it, or give it a new date");
            continue;
        }
        if rule.decision == Decision::Allow && is_bare(rule) {
            let what = format!("rule {id} allows every call of every server, changes too");
            warn(what, "name the server or the tool it is for");
        }
        let reaches_any = rule.server.is_empty() && rule.tool.iter().any(|tool| tool.server().is_none());
        if rule.decision == Decision::Allow && reaches_any {
            let what = format!("rule {id} names a tool and no server: it allows that tool on every server");
            warn(what, "name its server, or write server = \"*\" if every server is meant");
        }
        if let Some(why) = never_matches(rule) {
            warn(format!("rule {id} can never match: {why}"), "fix the part that contradicts the other");
        } else if let Some(shadow) = policy.rules.iter().find(|other| !expired(other) && covers(other, rule)) {
            let (other, what) = (&shadow.id, if is_bare(shadow) { "every call" } else { "all that it matches" });
            let does = if shadow.decision == Decision::Deny { "denies" } else { "asks for" };
            let what = format!("rule {id} never decides: rule {other} {does} {what}");
            warn(what, "remove one of them, or except it with the other's `unless`");
        }
    }
    warnings
}

/// Whether a rule matches every call.
fn is_bare(rule: &Rule) -> bool {
    let named = !(rule.server.is_empty() && rule.method.is_empty() && rule.tool.is_empty());
    !named && !rule.selects_by_behavior() && rule.when.is_empty() && rule.unless.is_empty()
}

/// Why no call can have all that a rule wants.
fn never_matches(rule: &Rule) -> Option<String> {
    let reads = |action: &Action| matches!(action, Action::Read | Action::Search);
    if rule.mutability == Some(Mutability::Pure) && !rule.action.is_empty() && !rule.action.iter().any(reads) {
        return Some("what is PURE only reads or searches".to_owned());
    }
    let fits = |one: &&crate::behavior::identity::Identity| {
        rule.mutability.is_none_or(|mutability| mutability == one.mutability)
            && (rule.action.is_empty() || rule.action.contains(&one.action))
            && (rule.output_domain.is_empty() || rule.output_domain.contains(&one.output_domain))
    };
    if !rule.identity.is_empty() && !rule.identity.iter().any(|one| fits(&one)) {
        return Some("`identity` contradicts `mutability`, `action` or `output_domain`".to_owned());
    }
    rule.when.iter().find_map(contradiction)
}

/// Why the tests of one condition exclude each other.
fn contradiction(predicate: &Predicate) -> Option<String> {
    let About::Argument { arg, tests } = &predicate.about else { return None };
    let has = |wanted: fn(&Test) -> bool| tests.iter().any(wanted);
    if has(|test| matches!(test, Test::Absent)) && tests.len() > 1 {
        return Some(format!("{arg:?} cannot be both absent and tested"));
    }
    let above = tests.iter().find_map(|test| if let Test::Gt(limit) = test { Some(limit) } else { None });
    let below = tests.iter().find_map(|test| if let Test::Lt(limit) = test { Some(limit) } else { None });
    if above.zip(below).is_some_and(|(above, below)| above >= below) {
        return Some(format!("no number {arg:?} is above `gt` and below `lt`"));
    }
    let one_of = tests.iter().find_map(|test| if let Test::In(all) = test { Some(all) } else { None });
    let equal = tests.iter().find_map(|test| if let Test::Eq(one) = test { Some(one) } else { None });
    if one_of.zip(equal).is_some_and(|(all, one)| !all.contains(one)) {
        return Some(format!("{arg:?} cannot equal what is not `in` the list"));
    }
    let numbers = above.is_some() || below.is_some();
    if numbers && has(|test| matches!(test, Test::Glob(_) | Test::Under(_))) {
        return Some(format!("{arg:?} cannot be a number and a text"));
    }
    None
}
