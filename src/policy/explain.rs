//! Why a call is ruled as it is: every rule with the first part that failed. Agrees with `decide` by using it.

use super::decide::{Question, Ruling, decide_at};
use super::fit::{Fit, Told, fit_at};
use super::rule::{Policy, Rule};
use super::under::Roots;

/// A ruling with how every rule stood to the call, in the order of the file.
#[derive(Clone, Debug)]
pub struct Explanation<'p> {
    pub ruling: Ruling,
    pub rules: Vec<(&'p Rule, Fit)>,
}

/// Explains one ruling, by the words of the paths alone.
pub fn explain<'p>(policy: &'p Policy, question: &Question<'_>) -> Explanation<'p> {
    explain_at(policy, question, &policy.roots)
}

/// Explains one ruling, with what is known of where the paths lead.
pub fn explain_at<'p>(policy: &'p Policy, question: &Question<'_>, roots: &Roots) -> Explanation<'p> {
    let mut told = Told::of(question);
    Explanation {
        ruling: decide_at(policy, question, roots),
        rules: policy.rules.iter().map(|rule| (rule, fit_at(policy, rule, question, &mut told, roots))).collect(),
    }
}
