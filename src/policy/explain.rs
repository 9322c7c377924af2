//! Why a call is ruled as it is: every rule with the first part that failed. Agrees with `decide` by using it.

use super::decide::{Question, Ruling, decide};
use super::fit::{Fit, Told, fit};
use super::rule::{Policy, Rule};

/// A ruling with how every rule stood to the call, in the order of the file.
#[derive(Clone, Debug)]
pub struct Explanation<'p> {
    pub ruling: Ruling,
    pub rules: Vec<(&'p Rule, Fit)>,
}

/// Explains one ruling.
pub fn explain<'p>(policy: &'p Policy, question: &Question<'_>) -> Explanation<'p> {
    let told = Told::of(question);
    Explanation {
        ruling: decide(policy, question),
        rules: policy.rules.iter().map(|rule| (rule, fit(policy, rule, question, &told))).collect(),
    }
}
