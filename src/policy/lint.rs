//! What is no error in a policy, and still hardly meant: rules that can never decide, or that decide too much. Owns no ruling.
//!
//! Only certain findings: it misses a rule that another one covers in a way that their texts do not show.

use super::glob::{Glob, Holds};
use super::result::ResultAct;
use super::rule::{Decision, Policy, Rule};
use super::when::{About, Predicate, Test, same};
use crate::behavior::taxonomy::{Action, Mutability};
use crate::mcp::request;

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

/// `now` is milliseconds since 1970, UTC.
pub fn lint(policy: &Policy, now: i64) -> Vec<Warning> {
    let expired = |rule: &Rule| rule.expires.is_some_and(|end| end <= now);
    let mut warnings = Vec::new();
    for rule in policy.all_rules() {
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
        let asks_too =
            |other: &&Rule| other.decision == Decision::Ask && !std::ptr::eq(*other, rule) && !expired(other);
        let excludes = |other: &&Rule| reaches(other, rule) && !rule.terms.joined(&other.terms).can_be_met();
        if rule.terms.signers.is_some()
            && let Some(other) = policy.rules.iter().filter(asks_too).find(excludes)
        {
            let what = format!(
                "rule {id} asks for an approval that no signer can give: rule {} names other signers",
                other.id
            );
            warn(what, "name the same signers in both");
        }
        if let Some(why) = never_matches(rule) {
            warn(format!("rule {id} can never match: {why}"), "fix the part that contradicts the other");
        } else if let Some(shadow) = policy.all_rules().find(|other| !expired(other) && covers(other, rule)) {
            let is_every = is_bare(shadow) && shadow.result.is_none();
            let (other, what) = (&shadow.id, if is_every { "every call" } else { "all that it matches" });
            let does = if shadow.decision == Decision::Deny { "denies" } else { "asks for" };
            let what = format!("rule {id} never decides: rule {other} {does} {what}");
            warn(what, "remove one of them, or except it with the other's `unless`");
        }
    }
    warnings
}

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
    if one_of.zip(equal).is_some_and(|(all, equal)| !all.iter().any(|one| same(one, equal) == Holds::Yes)) {
        return Some(format!("{arg:?} cannot equal what is not `in` the list"));
    }
    let numbers = above.is_some() || below.is_some();
    if numbers && has(|test| matches!(test, Test::Glob(_) | Test::Under(_))) {
        return Some(format!("{arg:?} cannot be a number and a text"));
    }
    None
}

const WILD: [char; 4] = ['*', '?', '[', '\\'];

/// Whether a stricter rule matches every call that `rule` matches.
fn covers(shadow: &Rule, rule: &Rule) -> bool {
    let is_stricter = match (&shadow.result, &rule.result) {
        (None, None) => shadow.decision > rule.decision,
        // What is redacted can be asked about too; only what is withheld is not looked at any more.
        (Some(wide), Some(narrow)) => {
            let is_within = wide.findings.iter().all(|one| narrow.findings.contains(one));
            wide.act == ResultAct::Deny && narrow.act < ResultAct::Deny && is_within
        }
        (Some(_), None) | (None, Some(_)) => false,
    };
    is_stricter && reaches(shadow, rule)
}

/// Whether one rule matches every call that another matches, judged by their texts.
fn reaches(shadow: &Rule, rule: &Rule) -> bool {
    let outlives = match (shadow.expires, rule.expires) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(shadow), Some(rule)) => shadow >= rule,
    };
    outlives
        && shadow.unless.is_empty()
        && within(&rule.server, &shadow.server, is_within)
        && about_as_much(&shadow.method, &rule.method)
        && within(&rule.tool, &shadow.tool, |one, other| {
            // An alias names a server, so that only an equal one is sure to cover it.
            let plain = !one.text().starts_with("mcp__") && !other.text().starts_with("mcp__");
            one == other || (plain && within_glob(one.text(), other.text(), |name| other.matches("", name)))
        })
        && (shadow.mutability.is_none() || shadow.mutability == rule.mutability)
        && within(&rule.action, &shadow.action, PartialEq::eq)
        && within(&rule.output_domain, &shadow.output_domain, PartialEq::eq)
        && within(&rule.identity, &shadow.identity, PartialEq::eq)
        && within(&rule.capability, &shadow.capability, is_within)
        && shadow.when.iter().all(|wanted| rule.when.iter().any(|one| one.about == wanted.about))
}

/// Whether rules about `wide` methods are about each of the `narrow` ones; none means `tools/call`.
fn about_as_much(wide: &[Glob], narrow: &[Glob]) -> bool {
    match (wide.is_empty(), narrow.is_empty()) {
        (true, is_call) => is_call,
        (false, true) => wide.iter().any(|glob| glob.matches(request::CALL)),
        (false, false) => within(narrow, wide, is_within),
    }
}

/// Whether each of `narrow` is covered by one of `wide`; an empty list means any.
fn within<T>(narrow: &[T], wide: &[T], covers: impl Fn(&T, &T) -> bool) -> bool {
    wide.is_empty() || (!narrow.is_empty() && narrow.iter().all(|one| wide.iter().any(|other| covers(one, other))))
}

fn is_within(narrow: &Glob, wide: &Glob) -> bool {
    within_glob(narrow.text(), wide.text(), |name| wide.matches(name))
}

fn within_glob(narrow: &str, wide: &str, matches: impl Fn(&str) -> bool) -> bool {
    let is_name = !narrow.contains(WILD);
    wide == "*" || wide == narrow || (is_name && matches(narrow))
}
