//! Whether a stricter rule surely covers another. Owns no warning.

use crate::mcp::request;
use crate::policy::glob::Glob;
use crate::policy::rule::Rule;

const SPECIAL: [char; 4] = ['*', '?', '[', '\\'];

/// Whether a stricter rule matches every call that `rule` matches, judged by their texts.
pub(super) fn covers(shadow: &Rule, rule: &Rule) -> bool {
    let outlives = match (shadow.expires, rule.expires) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(shadow), Some(rule)) => shadow >= rule,
    };
    shadow.decision > rule.decision
        && outlives
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
    let is_name = !narrow.contains(SPECIAL);
    wide == "*" || wide == narrow || (is_name && matches(narrow))
}
