//! What stands in many rules stands once in memory: a thousand rules of one server compare its name in the cache.
//! Changes no meaning.

use std::collections::HashSet;

use crate::policy::rule::Rule;
use crate::policy::when::About;

/// Lets equal names share their memory.
pub(super) fn share(rules: &mut [Rule]) {
    let (mut globs, mut names) = (HashSet::new(), HashSet::new());
    for rule in rules {
        let tools = rule.tool.iter_mut().flat_map(|tool| tool.globs_mut());
        rule.server.iter_mut().chain(tools).chain(&mut rule.capability).for_each(|glob| one(&mut globs, glob));
        for predicate in rule.when.iter_mut().chain(&mut rule.unless) {
            if let About::Argument { arg, .. } = &mut predicate.about {
                one(&mut names, arg);
            }
        }
    }
}

/// The first of its kind, in the place of its equal.
fn one<T: Clone + Eq + std::hash::Hash>(known: &mut HashSet<T>, value: &mut T) {
    match known.get(value) {
        Some(first) => *value = first.clone(),
        None => drop(known.insert(value.clone())),
    }
}
