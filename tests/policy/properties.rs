//! What must hold for any rules and any call.

use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::policy::decide::{Question, Ruling, decide, explain_at};
use mcp_approve::policy::fit::Fit;
use mcp_approve::policy::glob::Glob;
use mcp_approve::policy::lint::lint;
use mcp_approve::policy::parse::{parse, parse_at};
use mcp_approve::policy::rate::Recent;
use mcp_approve::policy::rule::{Decision, Policy};
use mcp_approve::policy::under::Roots;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{NOW, behavior, policy};

fn pick(from: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(from)
}

/// What `when` and `unless` can say, each kind of predicate at least once.
const CONDITIONS: &[&str] = &[
    "arg = 'p', eq = '/a/b'",
    "arg = 'p', eq = 7",
    "arg = 'p', eq = ['/a']",
    "arg = 'p', eq = { k = 1 }",
    "arg = 'p', in = ['/a/b', 7, true]",
    "arg = 'p', glob = '*b*'",
    "arg = 'p', glob = ['/a/?', '[!b]*x*']",
    "arg = 'p', under = '/a'",
    "arg = 'p', under = ['/a/c', '/b']",
    "arg = 'p', gt = 5, lt = 8",
    "arg = 'p', len = { lt = 5 }",
    "arg = 'p', present = true",
    "arg = 'p', absent = true",
    "arg = '/o/k', eq = 1",
    "arg = '', len = 1",
    "hazard = 'sensitive-read'",
    "hazard = ['outside-roots', 'sensitive-read']",
    "effect = ['read', 'write']",
    "effect = 'execute'",
    "sql = 'SELECT a FROM b WHERE c = ?'",
    "sql = ['DELETE FROM b', 'SELECT a FROM b WHERE c = 1']",
    "rate = { most = 2, per = '1h' }",
    "rate = { over = 2, per = '1h' }",
    "rate = { over = 0, per = '24h' }",
];

/// Up to two conditions.
fn any_conditions() -> impl Strategy<Value = String> {
    prop::collection::vec(pick(CONDITIONS), 0..3)
        .prop_map(|all| all.iter().map(|one| format!("{{ {one} }}")).collect::<Vec<_>>().join(", "))
}

/// One rule of a small world, so that random rules meet random calls often.
pub(super) fn any_rule() -> impl Strategy<Value = String> {
    (
        pick(&["allow", "ask", "deny"]),
        pick(&["", "server = \"a\"", "server = [\"b\", \"a?\"]", "server = \"*\""]),
        pick(&["", "tool = \"x\"", "tool = \"x*\"", "tool = [\"y\", \"mcp__a__x\"]", "tool = \"[!x]*\""]),
        pick(&[
            "",
            "",
            "mutability = \"PURE\"",
            "mutability = \"MUTATES\"",
            "expires = 2026-11-20",
            "expires = 2026-11-21",
            "capability = [\"content:*\", \"db:read\"]",
        ]),
        pick(&["", "", "action = \"READ\"", "action = [\"DELETE\", \"READ\"]", "output_domain = \"DATA\""]),
        any_conditions(),
        any_conditions(),
    )
        .prop_map(|(decision, server, tool, other, action, when, unless)| {
            let listed = |key: &str, all: &str| if all.is_empty() { String::new() } else { format!("{key} = [{all}]") };
            let (when, unless) = (listed("when", &when), listed("unless", &unless));
            let unless = if decision == "allow" { "" } else { &unless };
            format!("decision = \"{decision}\"\n{server}\n{tool}\n{other}\n{action}\n{when}\n{unless}\n")
        })
}

pub(super) fn any_call() -> impl Strategy<Value = (String, String, Value)> {
    (
        pick(&["a.x", "a.y", "b.x", "ab.xy", "a#2.x"]),
        pick(&["PURE READ", "MUTATES READ", "MUTATES DELETE", "MUTATES EXECUTE", "MUTATES UNKNOWN"]),
        pick(&["", "", " sensitive-read", " hidden-characters", " outside-roots sensitive-read"]),
        pick(&[
            "{}",
            "{\"p\":\"/a/b\"}",
            "{\"p\":\"/a/../b\"}",
            "{\"p\":7}",
            "{\"p\":7.0e0,\"o\":{\"k\":1}}",
            "{\"p\":\"7\",\"o\":{\"k\":[1]}}",
            "{\"p\":1e999999}",
            "{\"p\":true}",
            "{\"p\":[\"/a\"]}",
            "{\"p\":{\"k\":1}}",
            "{\"p\":null}",
            "{\"p\":\"\"}",
            "{\"p\":\"b\"}",
            "{\"sql\":\"SELECT a FROM b WHERE c = 5\"}",
            "{\"sql\":\"DELETE FROM b; SELECT a FROM b WHERE c = 9\",\"p\":\"b\"}",
            "{\"sql\":\"SELECT FROM (((\"}",
        ]),
    )
        .prop_map(|(call, words, hazard, arguments)| {
            (call.to_owned(), format!("{words}{hazard}"), serde_json::from_str(arguments).unwrap())
        })
}

/// A call as a wrapper would judge it: with what its arguments would do, and with calls that ran before it.
fn asked<T>(call: &str, words: &str, arguments: &Value, ask: impl FnOnce(&Question<'_>) -> T) -> T {
    let (server, tool) = call.split_once('.').unwrap();
    let analyses = mcp_approve::behavior::arguments::found(None, arguments);
    let behavior = Behavior { analyses, ..behavior(words) };
    let mut recent = Recent::default();
    for (at, tool) in ["x", "x", "y", "x"].into_iter().enumerate() {
        recent.note("a", None, tool, NOW - 60_000 + i64::try_from(at).unwrap());
    }
    let recent = (!call.starts_with('b')).then_some(&recent);
    ask(&Question { method: None, server, tool, behavior: &behavior, arguments, now: NOW, recent })
}

fn rule_with(policy: &Policy, call: &str, words: &str, arguments: &Value) -> Ruling {
    asked(call, words, arguments, |question| decide(policy, question))
}

pub(super) fn any_defaults() -> impl Strategy<Value = String> {
    let three = || pick(&["allow", "ask", "deny"]);
    let likely = pick(&["allow", "ask-once", "ask"]);
    let first = (pick(&["allow", "ask-once"]), pick(&["ask-once", "ask", "deny"]));
    (three(), likely, first, pick(&["ask", "deny"]), three()).prop_map(
        |(pure, likely, (first, new), mutates, hazard)| {
            format!(
                "[defaults]\npure = '{pure}'\nlikely = '{likely}'\nfirst_use = '{first}'\nnew = '{new}'\n\
             mutates = '{mutates}'\nhazard = '{hazard}'\n"
            )
        },
    )
}

/// Rules with an id that goes with the rule, not with its place.
pub(super) fn numbered(rules: &[String]) -> Vec<String> {
    rules.iter().enumerate().map(|(i, rule)| format!("[[rule]]\nid = \"r{i}\"\n{rule}")).collect()
}

/// 600, or as many as PROPTEST_CASES says: 100,000 take minutes.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(600)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn adding_a_deny_never_loosens(
        rules in prop::collection::vec(any_rule(), 0..6), more in any_rule(),
        defaults in any_defaults(), (call, words, arguments) in any_call(),
    ) {
        let before = policy(&(numbered(&rules).concat() + &defaults));
        for tighter in ["ask", "deny"] {
            let more = more.replace("allow", tighter).replace("\"ask\"", &format!("\"{tighter}\""));
            let all = numbered(&rules).concat() + "[[rule]]\nid = \"more\"\n" + &more;
            let after = policy(&(all + &defaults));
            let (before, after) = (rule_with(&before, &call, &words, &arguments), rule_with(&after, &call, &words, &arguments));
            // An explicit ask is an answer where the default denied: only a default gives way to it.
            if tighter == "deny" || before.rule.is_some() {
                prop_assert!(after.decision >= before.decision, "{before:?} {after:?}");
            }
        }
    }

    #[test]
    fn removing_an_allow_never_allows_more(
        rules in prop::collection::vec(any_rule(), 1..6), defaults in any_defaults(), (call, words, arguments) in any_call(),
    ) {
        let all = numbered(&rules);
        let before = rule_with(&policy(&(all.concat() + &defaults)), &call, &words, &arguments);
        for (i, rule) in all.iter().enumerate().filter(|(_, rule)| rule.contains("allow")) {
            let mut fewer = all.clone();
            fewer.remove(i);
            let after = rule_with(&policy(&(fewer.concat() + &defaults)), &call, &words, &arguments);
            // Where an explicit allow goes, the default steps in, and it may allow as well: never more than before.
            prop_assert!(after.decision >= before.decision, "without {rule}: {before:?} {after:?}");
        }
    }

    #[test]
    fn order_never_matters(
        rules in prop::collection::vec(any_rule(), 0..6).prop_map(|rules| numbered(&rules)),
        defaults in any_defaults(), (call, words, arguments) in any_call(), turn in 0usize..6,
    ) {
        let mut turned = rules.clone();
        turned.reverse();
        let middle = turn.min(turned.len());
        turned.rotate_left(middle);
        let one = rule_with(&policy(&(rules.concat() + &defaults)), &call, &words, &arguments);
        let other = rule_with(&policy(&(defaults + &turned.concat())), &call, &words, &arguments);
        prop_assert_eq!(one, other);
    }

    #[test]
    fn a_broken_file_never_allows(
        rules in prop::collection::vec(any_rule(), 0..6), defaults in any_defaults(), (call, words, arguments) in any_call(),
    ) {
        let last = policy(&(numbered(&rules).concat() + &defaults));
        let before = rule_with(&last, &call, &words, &arguments);
        let after = rule_with(&Policy { allows_count: false, ..last }, &call, &words, &arguments);
        prop_assert!(after.decision > Decision::Allow);
        if before.decision == Decision::Deny {
            prop_assert_eq!(after.decision, Decision::Deny);
        }
    }

    #[test]
    fn the_explanation_agrees_with_the_ruling(
        rules in prop::collection::vec(any_rule(), 0..6), defaults in any_defaults(),
        (call, words, arguments) in any_call(),
    ) {
        let policy = policy(&(numbered(&rules).concat() + &defaults));
        let (explanation, ruling) =
            asked(&call, &words, &arguments, |question| (explain_at(&policy, question, &policy.roots), decide(&policy, question)));
        prop_assert_eq!(&explanation.ruling, &ruling);
        let matching = explanation.rules.iter().filter(|(_, fit)| *fit == Fit::Matches);
        let strictest = matching.map(|(rule, _)| rule.decision).max();
        prop_assert_eq!(strictest.is_some(), explanation.ruling.rule.is_some());
        prop_assert!(strictest.is_none_or(|strictest| strictest == explanation.ruling.decision));
    }

    #[test]
    fn an_allow_under_a_folder_never_reaches_out_of_it(path in "(/|~/|)((\\.\\.|\\.|a|b|A|home|me)?/?){0,7}") {
        let text = "version = 1\n[[rule]]\nid = \"r\"\ndecision = \"allow\"\nwhen = [{ arg = \"p\", under = \"~/a\" }]\n";
        let roots = Roots { home: Some("/home/me".to_owned()), folder: Some("/home/me/b".to_owned()), ..Roots::default() };
        let policy = parse_at(text, &roots).unwrap();
        let ruling = rule_with(&policy, "s.t", "MUTATES UPDATE", &json!({ "p": path }));
        let absolute = if let Some(rest) = path.strip_prefix("~/") { format!("/home/me/{rest}") }
            else if path.starts_with('/') { path.clone() } else { format!("/home/me/b/{path}") };
        let climbs = path.split('/').any(|word| word == "..");
        let inside = std::path::Path::new(&absolute).starts_with("/home/me/a");
        if ruling.decision == Decision::Allow {
            prop_assert!(inside && !climbs, "{path}");
        } else {
            prop_assert!(!inside || climbs, "{path}");
        }
    }

    #[test]
    fn a_rule_said_to_never_decide_never_does(
        rules in prop::collection::vec(any_rule(), 1..6), (call, words, arguments) in any_call(),
    ) {
        let policy = policy(&numbered(&rules).concat());
        let ruling = rule_with(&policy, &call, &words, &arguments);
        for warning in lint(&policy, NOW) {
            let never = warning.what.contains("never") || warning.what.contains("expired");
            prop_assert!(!never || ruling.rule.as_ref() != Some(&warning.rule), "{} {:?}", warning.what, ruling);
        }
    }

    #[test]
    fn no_text_makes_the_reader_fall(text in "\\PC*") {
        let _ = parse(&text);
        let _ = Glob::new(&text).map(|glob| glob.matches(&text));
    }
}
