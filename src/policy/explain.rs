//! Why a call is ruled as it is: every rule with the first part that failed. Agrees with `decide` by using it.

use serde::{Deserialize, Serialize};

use super::decide::{Question, Ruling, decide_at};
use super::fit::{Fit, Part, Prepared, Selector, fit};
use super::holds::Holds;
use super::rule::{Decision, Policy, Rule};
use super::under::Roots;

/// A ruling, and for every rule whether it matches the call, in the order of the file.
#[derive(Clone, Debug)]
pub struct Explanation<'p> {
    pub ruling: Ruling,
    pub rules: Vec<(&'p Rule, Fit)>,
}

/// Explains one ruling, with what is known of where the paths lead.
pub fn explain_at<'p>(policy: &'p Policy, question: &Question<'_>, roots: &Roots) -> Explanation<'p> {
    let prepared = Prepared::of(question);
    Explanation {
        ruling: decide_at(policy, question, roots),
        rules: policy.rules.iter().map(|rule| (rule, fit(policy, rule, question, &prepared, roots))).collect(),
    }
}

/// A rule that did not decide, though it is for this tool, and what kept it from that. Its texts come from the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Near {
    pub rule: String,
    pub decision: Decision,
    pub why: String,
}

/// Up to `most` of the rules for this tool that did not decide, the nearest to matching first.
pub fn nearest(policy: &Policy, question: &Question<'_>, roots: &Roots, most: usize) -> Vec<Near> {
    let prepared = Prepared::of(question);
    let decided = decide_at(policy, question, roots).rule;
    let mut found: Vec<(usize, Near)> = Vec::new();
    for rule in policy.rules.iter().filter(|rule| decided.as_ref() != Some(&rule.id)) {
        let fit = fit(policy, rule, question, &prepared, roots);
        let Some(distance) = distance(policy, rule, fit, question, &prepared, roots) else { continue };
        found.push((distance, Near { rule: rule.id.clone(), decision: rule.decision, why: why(rule, fit) }));
    }
    found.sort_by(|(one, near), (two, other)| (one, &near.rule).cmp(&(two, &other.rule)));
    found.into_iter().take(most).map(|(_, near)| near).collect()
}

/// How far a rule is from matching; `None` for one of other tools.
fn distance(
    policy: &Policy,
    rule: &Rule,
    fit: Fit,
    question: &Question<'_>,
    prepared: &Prepared<'_>,
    roots: &Roots,
) -> Option<usize> {
    Some(match fit {
        Fit::Matches | Fit::NotCovered | Fit::NotProven | Fit::Suspended => 0,
        Fit::Differs(Part::Selector(Selector::Server | Selector::Method | Selector::Tool)) => return None,
        Fit::Differs(Part::Expires) => {
            let lasting = Rule { expires: None, ..rule.clone() };
            let fit = super::fit::fit(policy, &lasting, question, prepared, roots);
            1 + distance(policy, &lasting, fit, question, prepared, roots)?
        }
        Fit::Differs(Part::Unless(_)) => 1,
        // Of several conditions the last one to fail is the nearest.
        Fit::Differs(Part::When(at, _)) => 2 + rule.when.len().saturating_sub(at),
        Fit::Differs(Part::Selector(_)) => usize::MAX / 2,
    })
}

/// Whether a rule matches a call, or what differs, in words. It quotes the rule's file, raw.
pub fn why(rule: &Rule, fit: Fit) -> String {
    let part = match fit {
        Fit::Matches => return "matches".to_owned(),
        Fit::NotCovered => return "would match, but does not cover the hazard".to_owned(),
        Fit::NotProven => return "would match, but it is not proven that the call only reads".to_owned(),
        Fit::Suspended => return "would match, but is suspended".to_owned(),
        Fit::Differs(part) => part,
    };
    let text =
        |list: &[super::when::Predicate], at: usize| list.get(at).map(|one| one.text.clone()).unwrap_or_default();
    match part {
        Part::Expires => "no: it has expired".to_owned(),
        Part::When(at, Holds::Undecided) => format!("no: {} cannot be decided", text(&rule.when, at)),
        Part::When(at, _) => format!("no: {} does not hold", text(&rule.when, at)),
        Part::Unless(at) => format!("no: {} excepts it", text(&rule.unless, at)),
        Part::Selector(selector) => format!("no: `{}` differs", selector.word()),
    }
}
