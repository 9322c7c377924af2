//! Which rules a stricter one surely covers, found without comparing each with each. Owns no warning.
//!
//! A rule that covers another names the same server, tool and conditions, or none, or globs that begin alike. An index
//! by these finds the few rules that are compared.

use std::collections::{HashMap, HashSet};

use crate::mcp::request;
use crate::policy::glob::Glob;
use crate::policy::rule::{Decision, Rule};
use crate::policy::when::{About, Predicate, Test};

/// The asks and denies that can cover other rules, indexed by what a covered rule must have.
pub(super) struct Shadows<'r> {
    by_key: HashMap<Key<'r>, Vec<(usize, &'r Rule)>>,
    servers: HashSet<Part<'r>>,
    tools: HashSet<Part<'r>>,
}

/// Server, tool and one condition.
type Key<'r> = (Part<'r>, Part<'r>, Option<String>);

/// What a name must be, for a rule about it to be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part<'r> {
    Any,
    /// Written just so.
    Is(&'r str),
    /// A plain name that begins so.
    Begins(&'r str),
}

impl<'r> Shadows<'r> {
    /// Of rules that have not expired, in the order of the file.
    pub(super) fn of(lasting: impl Iterator<Item = &'r Rule>) -> Self {
        let mut found = Self { by_key: HashMap::new(), servers: HashSet::new(), tools: HashSet::new() };
        for (at, rule) in lasting.enumerate() {
            if rule.decision == Decision::Allow || !rule.unless.is_empty() {
                continue;
            }
            let servers = parts(rule.server.iter().map(|glob| glob.text()));
            let tools = parts(rule.tool.iter().map(|glob| glob.text()));
            found.servers.extend(&servers);
            found.tools.extend(&tools);
            let condition = rule.when.first().map(key);
            for server in &servers {
                for tool in &tools {
                    found.by_key.entry((*server, *tool, condition.clone())).or_default().push((at, rule));
                }
            }
        }
        found
    }

    /// The first rule of the file that covers this one.
    pub(super) fn first_over(&self, rule: &'r Rule) -> Option<&'r Rule> {
        // Nothing is stricter than a deny.
        if rule.decision == Decision::Deny {
            return None;
        }
        let servers = wanted(rule.server.first().map(|glob| glob.text()), &self.servers);
        let tools = wanted(rule.tool.first().map(|glob| glob.text()), &self.tools);
        let mut conditions: Vec<Option<String>> = rule.when.iter().map(|one| Some(key(one))).collect();
        conditions.push(None);
        let mut first: Option<(usize, &Rule)> = None;
        for server in &servers {
            for tool in &tools {
                for condition in &conditions {
                    let alike = self.by_key.get(&(*server, *tool, condition.clone()));
                    let before = |at: &usize| first.is_none_or(|(first, _)| *at < first);
                    let alike = alike.into_iter().flatten().take_while(|(at, _)| before(at));
                    first = alike.copied().find(|(_, shadow)| covers(shadow, rule)).or(first);
                }
            }
        }
        first.map(|(_, rule)| rule)
    }
}

/// What a name must be to be within one of these globs. A plain name matches only itself; other globs match what is
/// written like them, or begins like them.
fn parts<'r>(globs: impl Iterator<Item = &'r str>) -> Vec<Part<'r>> {
    let mut found = Vec::new();
    for glob in globs {
        match glob.find(SPECIAL) {
            None => found.push(Part::Is(glob)),
            Some(_) if glob == "*" => found.push(Part::Any),
            Some(at) => found.extend([Part::Is(glob), Part::Begins(&glob[..at])]),
        }
    }
    if found.is_empty() {
        found.push(Part::Any);
    }
    found
}

const SPECIAL: [char; 4] = ['*', '?', '[', '\\'];

/// The keys of the index under which a rule that covers this name can be.
fn wanted<'r>(name: Option<&'r str>, there: &HashSet<Part<'r>>) -> Vec<Part<'r>> {
    let mut found: Vec<Part<'r>> = there.get(&Part::Any).into_iter().copied().collect();
    let Some(name) = name else { return found };
    found.extend(there.get(&Part::Is(name)));
    if !name.contains(SPECIAL) {
        let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
        found.extend(ends.filter_map(|end| there.get(&Part::Begins(&name[..end]))));
    }
    found
}

/// A text that is the same for conditions that say the same.
fn key(predicate: &Predicate) -> String {
    match &predicate.about {
        // The fields of an object say the same in any order.
        About::Argument { arg, tests } if tests.iter().any(|test| matches!(test, Test::Whole(_))) => arg.to_string(),
        about @ (About::Argument { .. } | About::Hazard(_) | About::Effect(_) | About::Sql(_) | About::Rate(_)) => {
            format!("{about:?}")
        }
    }
}

/// Whether a stricter rule matches every call that `rule` matches, judged by their texts.
fn covers(shadow: &Rule, rule: &Rule) -> bool {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::parse::parse;

    fn pick(from: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
        prop::sample::select(from)
    }

    fn any_rule() -> impl Strategy<Value = String> {
        (
            pick(&["allow", "allow", "ask", "deny"]),
            pick(&[
                "", "server = 'a'", "server = ['b', 'a*']", "server = '*'", "server = 'a*'", "server = '\\a'",
                "server = '?'",
            ]),
            pick(&[
                "", "tool = 'x'", "tool = ['xy', 'x']", "tool = 'x*'", "tool = '[x]y'", "tool = '*y'", "tool = '*'",
                "tool = ['mcp__a__x', 'x']", "tool = 'mcp__a__*'", "tool = 'mcp__*'",
            ]),
            pick(&[
                "", "", "action = 'READ'", "expires = 2099-01-01", "expires = 2098-01-01", "capability = ['a', 'b*']",
                "capability = 'b'",
            ]),
            pick(&["", "", "method = 'a/x'", "method = ['a/*', 'tools/call']", "method = '*'"]),
            pick(&[
                "",
                "",
                "when = [{ arg = 'p', eq = 1 }]",
                "when = [{ arg = 'q', glob = 'a*' }, { arg = 'p', eq = 1 }]",
                "when = [{ arg = 'p', eq = { a = 1, b = 2 } }]",
                "when = [{ arg = 'p', eq = { b = 2, a = 1 } }]",
                "when = [{ rate = { over = 3, per = '1h' } }]",
            ]),
            pick(&["", "", "", "unless = [{ arg = 'z', eq = 1 }]"]),
        )
            .prop_map(|(decision, server, tool, other, method, when, unless)| {
                let tool = if method.is_empty() { tool } else { method };
                let unless = if decision == "allow" { "" } else { unless };
                format!("decision = '{decision}'\n{server}\n{tool}\n{other}\n{when}\n{unless}\n")
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_looked_up_is_what_comparing_each_with_each_finds(rules in prop::collection::vec(any_rule(), 1..24)) {
            let rules = rules.iter().enumerate().map(|(at, rule)| format!("[[rule]]\nid = 'r{at}'\n{rule}"));
            let policy = parse(&format!("version = 1\n{}", rules.collect::<String>())).unwrap();
            let shadows = Shadows::of(policy.rules.iter());
            for rule in &policy.rules {
                let slow = policy.rules.iter().find(|other| covers(other, rule));
                let quick = shadows.first_over(rule);
                prop_assert_eq!(quick.map(|rule| &rule.id), slow.map(|rule| &rule.id), "{:?}", rule);
            }
        }
    }
}
