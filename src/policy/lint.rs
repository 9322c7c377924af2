//! What is no error in a policy, and still hardly meant. Owns no ruling.

use super::rule::{Decision, Policy, Rule};

/// One thing worth a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub rule: String,
    /// Of the rule, from 1.
    pub line: usize,
    pub what: String,
    pub mend: String,
}

/// Looks a policy over; `now` is milliseconds since 1970, UTC.
pub fn lint(policy: &Policy, now: i64) -> Vec<Warning> {
    let expired = |rule: &Rule| rule.expires.is_some_and(|end| end <= now);
    let shadow = policy.rules.iter().find(|rule| rule.decision == Decision::Deny && is_bare(rule) && !expired(rule));
    let mut warnings = Vec::new();
    for rule in &policy.rules {
        let mut warn = |what: String, mend: &str| {
            warnings.push(Warning { rule: rule.id.clone(), line: rule.line, what, mend: mend.to_owned() });
        };
        if expired(rule) {
            warn(format!("rule {} has expired, and applies no more", rule.id), "remove it, or give it a new date");
        } else if rule.decision == Decision::Allow && is_bare(rule) {
            let what = format!("rule {} allows every call of every server, changes too", rule.id);
            warn(what, "name the server or the tool it is for");
        }
        if rule.decision == Decision::Allow && crosses(rule) && !expired(rule) {
            let what = format!("rule {} names a tool and no server: it allows that tool on every server", rule.id);
            warn(what, "name its server, or write server = \"*\" if every server is meant");
        }
        if let Some(shadow) = shadow.filter(|shadow| shadow.id != rule.id && rule.decision < Decision::Deny) {
            let what = format!("rule {} never decides: rule {} denies every call", rule.id, shadow.id);
            warn(what, "remove one of them");
        }
    }
    warnings
}

/// Whether a rule reaches a tool of that name on any server without saying so.
fn crosses(rule: &Rule) -> bool {
    rule.server.is_empty() && rule.tool.iter().any(|tool| !tool.names_server())
}

/// Whether a rule matches every call.
fn is_bare(rule: &Rule) -> bool {
    let named =
        !(rule.server.is_empty() && rule.tool.is_empty() && rule.identity.is_empty() && rule.capability.is_empty());
    let kind = rule.mutability.is_some() || !(rule.action.is_empty() && rule.output_domain.is_empty());
    !named && !kind && rule.when.is_empty() && rule.unless.is_empty()
}
