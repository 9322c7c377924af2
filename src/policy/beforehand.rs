//! What a policy denies of a tool whatever it is called with: known before any call.

use serde_json::Value;

use super::decide::{Question, by_badge};
use super::fit::{Fit, Part, Prepared, fit};
use super::rule::{Decision, Policy, Rule};
use crate::behavior::conclude::Behavior;

/// Why every call of a tool is denied, in our words with the rule's id in them; `None` where some call may pass.
pub fn denied(policy: &Policy, server: &str, tool: &str, behavior: &Behavior, now: i64) -> Option<String> {
    let arguments = Value::Object(serde_json::Map::new());
    let question = Question { method: None, server, tool, behavior, arguments: &arguments, now, recent: None };
    let prepared = Prepared::of(&question);
    let fits = |rule: &Rule| fit(policy, rule, &question, &prepared);
    let unconditional = |rule: &&Rule| rule.when.is_empty() && rule.unless.is_empty();
    let denies = policy.rules.iter().filter(|rule| rule.decision == Decision::Deny).filter(unconditional);
    if let Some(rule) = denies.into_iter().find(|rule| fits(rule) == Fit::Matches) {
        return Some(format!("rule {} denies every call of it", rule.id));
    }
    let by_default = by_badge(policy, behavior);
    // A rule for this tool may let some call through, depending on its arguments.
    let may_loosen = |rule: &Rule| {
        let speaks = matches!(
            fits(rule),
            Fit::Matches | Fit::NotCovered | Fit::NotProven | Fit::Differs(Part::When(..) | Part::Unless(_))
        );
        rule.decision != Decision::Deny && speaks
    };
    (by_default == Decision::Deny && !policy.rules.iter().any(may_loosen))
        .then(|| format!("the default for {} denies it, and no rule covers it", behavior.badge().word()))
}
