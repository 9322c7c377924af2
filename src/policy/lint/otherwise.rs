//! Which rules read otherwise than before a change of the policy language. To be dropped once all files were checked.

use crate::policy::class::EffectClass;
use crate::policy::glob::Glob;
use crate::policy::rule::{Decision, Policy, Rule};
use crate::policy::when::{About, Predicate, Test};

/// A change of the language, and the rules that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// One sentence, without its full stop.
    pub what: &'static str,
    /// Each rule with its line.
    pub rules: Vec<(String, usize)>,
}

/// What changed, and whether a rule reads otherwise by it.
type Kind = (&'static str, fn(&Rule) -> bool);

const KINDS: &[Kind] = &[
    (
        "a `glob` with :// compares scheme, host, port, path and query one by one, so its wildcards stay inside of a part",
        |rule| has_test(rule, |test| matches!(test, Test::Glob(all) if all.iter().any(Glob::is_address))),
    ),
    ("a `*` or `?` matches no line break, and without :// no address", |rule| {
        let is_wild = |glob: &Glob| !glob.is_address() && !glob.is_exact();
        has_test(rule, |test| matches!(test, Test::Glob(all) if all.iter().any(is_wild)))
    }),
    ("a path with ? * [ or { in it, or with a link below the folder, leaves `under` undecided", |rule| {
        has_test(rule, |test| matches!(test, Test::Under(_)))
    }),
    ("an argument of this name inside of another argument leaves `present` and `absent` undecided", |rule| {
        has_test(rule, |test| matches!(test, Test::Present | Test::Absent))
    }),
    ("an argument whose name differs in capital letters only leaves a condition undecided", |rule| {
        has_test(rule, |_| true)
    }),
    ("an allow by `effect` covers delete, send, pay and administer only if it names them", |rule| {
        use EffectClass::{Administer, Delete, Execute, Pay, Send, Write};
        let wide = |named: &[EffectClass]| {
            named.iter().any(|one| matches!(one, Write | Execute))
                && ![Delete, Send, Pay, Administer].iter().all(|one| named.contains(one))
        };
        let allows = if rule.decision == Decision::Allow { &rule.when } else { &rule.unless };
        allows.iter().any(|one| matches!(&one.about, About::Effect(named) if wide(named)))
    }),
    ("`administer` is also what changes users or infrastructure", |rule| {
        let names =
            |one: &Predicate| matches!(&one.about, About::Effect(all) if all.contains(&EffectClass::Administer));
        rule.decision > Decision::Allow && rule.when.iter().any(names)
    }),
    ("`rate` counts the calls of all wrappers of a server, and goes on counting when they end", Rule::counts),
];

/// Every change that a rule of this policy reads otherwise by.
pub fn otherwise(policy: &Policy) -> Vec<Change> {
    let changed = KINDS.iter().map(|(what, is_about)| {
        let rules = policy.rules.iter().chain(&policy.disabled).filter(|rule| is_about(rule));
        Change { what, rules: rules.map(|rule| (rule.id.clone(), rule.line)).collect() }
    });
    changed.filter(|change| !change.rules.is_empty()).collect()
}

fn has_test(rule: &Rule, wanted: impl Fn(&Test) -> bool) -> bool {
    rule.when.iter().chain(&rule.unless).any(|one| match &one.about {
        About::Argument { tests, .. } => tests.iter().any(&wanted),
        About::Hazard(_) | About::Effect(_) | About::Sql(_) | About::Rate(_) => false,
    })
}
