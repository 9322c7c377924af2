//! policy: one line per ruling, in the words of the domain; every problem of a file; what must hold for any rules.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken test bed fails the test")]

use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::behavior::hazards::{Hazard, HazardKind};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::{Action, Mutability, OutputDomain};
use mcp_approve::policy::decide::{Question, Ruling, decide};
use mcp_approve::policy::explain::explain;
use mcp_approve::policy::glob::Glob;
use mcp_approve::policy::parse::{built_in, everything_asks, parse, suspended};
use mcp_approve::policy::rule::{Decision, Policy};
use proptest::prelude::*;
use serde_json::json;

fn behavior(text: &str) -> Behavior {
    let mut words = text.split(' ');
    let mutability = Mutability::from_word(words.next().unwrap()).unwrap();
    let action = Action::from_word(words.next().unwrap()).unwrap();
    let hazards = words.map(|word| Hazard { kind: hazard(word), what: String::new() }).collect();
    let output_domain = OutputDomain::Data;
    Behavior { identity: Identity { mutability, action, output_domain }, hazards, ..Behavior::unknown() }
}

fn hazard(word: &str) -> HazardKind {
    serde_json::from_value(json!(word)).unwrap()
}

fn policy(rules: &str) -> Policy {
    let text = format!("version = 1\n{rules}");
    parse(&text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
}

/// `call` is `server.tool`.
fn rule_on(policy: &Policy, call: &str, words: &str) -> Ruling {
    let (server, tool) = call.split_once('.').unwrap();
    let (behavior, arguments) = (behavior(words), json!({}));
    decide(policy, &Question { server, tool, behavior: &behavior, arguments: &arguments })
}

fn rulings(policy: &Policy, cases: &[(&str, &str, &str, &str)]) {
    for (call, words, decision, reason) in cases {
        let ruling = rule_on(policy, call, words);
        assert_eq!(ruling.decision.word(), *decision, "{call} {words}: {}", ruling.reason);
        assert_eq!(ruling.reason, *reason, "{call} {words}");
    }
}

#[test]
fn without_rules_reads_pass_and_changes_ask() {
    rulings(
        &built_in(),
        &[
            ("fs.read_file", "PURE READ", "allow", "the default for PURE allows it"),
            ("fs.write_file", "MUTATES UPDATE", "ask", "the default for MUTATES asks"),
            ("fs.mystery", "MUTATES UNKNOWN", "ask", "the default for MUTATES asks"),
            (
                "fs.read_file",
                "PURE READ sensitive-read",
                "ask",
                "with a sensitive read the default for hazards asks, even when PURE",
            ),
            (
                "fs.read_file",
                "PURE READ terminal-sequence hidden-characters",
                "ask",
                "with hidden characters, a terminal sequence the default for hazards asks, even when PURE",
            ),
        ],
    );
}

#[test]
fn the_built_in_policy_is_the_contract() {
    let policy = built_in();
    assert!(policy.rules.is_empty() && policy.allows_stand && policy.banner.is_none());
    assert_eq!(policy.defaults.pure, Decision::Allow);
    assert_eq!((policy.defaults.mutates, policy.defaults.hazard), (Decision::Ask, Decision::Ask));
}

#[test]
fn the_strictest_matching_rule_wins() {
    let policy = policy(
        r#"
[[rule]]
id = "writes"
decision = "allow"
server = "fs"
tool = ["write_*", "edit_file"]
[[rule]]
id = "careful"
decision = "ask"
tool = "edit_*"
[[rule]]
id = "no-deletes"
decision = "deny"
action = ["DELETE", "MERGE"]
[[rule]]
id = "searches"
decision = "deny"
mutability = "PURE"
action = "SEARCH"
"#,
    );
    rulings(
        &policy,
        &[
            ("fs.write_file", "MUTATES UPDATE", "allow", "rule writes allows it"),
            ("fs.edit_file", "MUTATES UPDATE", "ask", "rule careful asks"),
            ("fs.write_gone", "MUTATES DELETE", "deny", "rule no-deletes denies it"),
            ("git.merge", "MUTATES MERGE", "deny", "rule no-deletes denies it"),
            ("git.write_file", "MUTATES UPDATE", "ask", "the default for MUTATES asks"),
            ("git.find", "PURE SEARCH", "deny", "rule searches denies it"),
            ("git.find", "MUTATES SEARCH", "ask", "the default for MUTATES asks"),
            ("fs#2.write_file", "MUTATES UPDATE", "allow", "rule writes allows it"),
            ("fsx.write_file", "MUTATES UPDATE", "ask", "the default for MUTATES asks"),
        ],
    );
}

#[test]
fn an_allow_never_covers_an_unnamed_hazard() {
    let policy = policy("[[rule]]\nid = \"all\"\ndecision = \"allow\"\n");
    for kind in
        ["sensitive-read", "hidden-characters", "terminal-sequence", "changed-definition", "undeclared-arguments"]
    {
        for badge in ["PURE READ", "MUTATES UPDATE"] {
            let ruling = rule_on(&policy, "fs.read", &format!("{badge} {kind}"));
            assert_eq!(ruling.decision, Decision::Ask, "{badge} {kind}");
            assert!(ruling.reason.starts_with("rule all does not cover "), "{}", ruling.reason);
            assert_eq!(ruling.rule, None);
        }
    }
}

#[test]
fn defaults_only_tighten_with_a_hazard() {
    let cases = [
        ("pure = \"allow\"\nhazard = \"deny\"", "PURE READ sensitive-read", "deny"),
        ("pure = \"deny\"\nhazard = \"ask\"", "PURE READ sensitive-read", "deny"),
        ("pure = \"allow\"\nhazard = \"allow\"", "PURE READ sensitive-read", "allow"),
        ("pure = \"allow\"\nhazard = \"allow\"", "PURE READ hidden-characters", "ask"),
        ("pure = \"allow\"\nhazard = \"allow\"", "PURE READ changed-definition", "ask"),
        ("mutates = \"deny\"\nhazard = \"allow\"", "MUTATES UPDATE nul-character", "deny"),
        ("mutates = \"ask\"\nhazard = \"deny\"", "MUTATES UPDATE nul-character", "deny"),
        ("pure = \"ask\"", "PURE READ", "ask"),
    ];
    for (defaults, words, decision) in cases {
        let policy = policy(&format!("[defaults]\n{defaults}"));
        assert_eq!(rule_on(&policy, "fs.x", words).decision.word(), decision, "{defaults}: {words}");
    }
}

#[test]
fn hosts_names_of_tools_are_understood() {
    let policy = policy(
        "[[rule]]\nid = \"alias\"\ndecision = \"allow\"\ntool = [\"mcp__git__commit\", \"mcp__notes\", \"mcp__a__*\"]\n",
    );
    for (call, allowed) in [
        ("git.commit", true),
        ("git.push", false),
        ("svn.commit", false),
        ("notes.anything", true),
        ("a.b__c", true),
        // The same host name, `mcp__a__b__c`, but another server.
        ("a__b.c", false),
    ] {
        let decision = rule_on(&policy, call, "MUTATES UPDATE").decision;
        assert_eq!(decision == Decision::Allow, allowed, "{call}");
    }
}

#[test]
fn a_broken_file_allows_nothing() {
    let last = policy(
        "[[rule]]\nid = \"yes\"\ndecision = \"allow\"\n[[rule]]\nid = \"no\"\ndecision = \"deny\"\ntool = \"rm\"\n[defaults]\nmutates = \"deny\"\n",
    );
    let broken = "the policy file is broken, so whatever is not denied asks";
    let after = suspended(&last, "line 3".to_owned());
    rulings(
        &after,
        &[
            ("fs.read", "PURE READ", "ask", broken),
            ("fs.rm", "PURE READ", "deny", "rule no denies it"),
            ("fs.write", "MUTATES UPDATE", "deny", "the default for MUTATES denies it"),
        ],
    );
    assert_eq!(after.banner.as_deref(), Some("line 3"));
    let at_start = everything_asks("line 3".to_owned());
    rulings(&at_start, &[("fs.read", "PURE READ", "ask", broken), ("fs.rm", "MUTATES DELETE", "ask", broken)]);
}

#[test]
fn every_problem_is_told_at_once_with_its_place_and_mend() {
    let text = r#"verson = 1
[defaults]
mutates = "allow"
pure = "alow"
hazrad = "ask"

[[rule]]
id = "a"
decision = "permit"
tool = []

[[rule]]
id = "b c"
decision = "allow"
server = "x[y"
action = "delete"

[[rule]]
id = "d"
decision = "deny"
tols = "x"
whne = 1
when = [{ arg = "path", sounds_like = "x" }]
tool = ["ok", 5, ""]

[[rule]]
id = "d"
decision = "deny"

[[rule]]
decision = "ask"
[[rule]]
id = "e"
"#;
    let problems = parse(text).unwrap_err();
    let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn what_is_no_policy_is_refused() {
    for (text, what) in [
        ("", "does not say its version"),
        ("version = 2", "version 1"),
        ("version = \"1\"", "`version` is of type string"),
        ("version = 1\nrule = 3", "`rule` is of type integer"),
        ("version = 1\ndefaults = 3", "`defaults` is of type integer"),
        ("version = 1\n[rule]\nid = \"x\"", "`rule` is of type table"),
        ("version = 1\nversion = 1", "duplicate key"),
        ("version = 1\n[[rule]]\nid = \"a\"\nid = \"b\"\ndecision = \"allow\"", "duplicate key"),
        ("version = 1\n[[rule]\nid = \"a\"", "this is not TOML"),
        ("version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\nexpires = 2020-01-01T", "this is not TOML"),
        ("version = 1\n[[rule]]\nid = \"a\u{202e}\"\ndecision = \"allow\"", "`id` cannot be"),
        ("version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\ntool = \"[z-a]\"", "backwards"),
        ("version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\nmutability = \"pure\"", "`mutability` cannot be"),
    ] {
        let problems = parse(text).expect_err(text);
        assert!(problems.iter().any(|problem| problem.what.contains(what)), "{text}: {problems:?}");
    }
}

#[test]
fn syntax_errors_come_all_at_once_too() {
    let problems = parse("version = 1\n[defaults\npure = \"ask\"\n[[rule]]\nid = \ndecision = \"deny\"\n").unwrap_err();
    let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 5], "{problems:?}");
}

#[test]
fn columns_count_characters() {
    let problems =
        parse("version = 1\n[[rule]]\nid = \"ä\"\ndecision = \"deny\"\nnote = \"äöü\"\nserver = [\"äöü\", \"\"]\n")
            .unwrap_err();
    let places: Vec<_> = problems.iter().map(|problem| (problem.line, problem.column)).collect();
    assert_eq!(places, [(3, 6), (6, 18)], "{problems:?}");
}

#[test]
fn globs() {
    for (glob, name, fits) in [
        ("read_file", "read_file", true),
        ("read_file", "Read_file", false),
        ("read_*", "read_", true),
        ("*", "", true),
        ("*", "a/b", true),
        ("?", "é", true),
        ("d?l", "dél", true),
        ("[é-ü]x", "öx", true),
        ("?", "", false),
        ("?", "ab", false),
        ("*_file*", "my_file_file", true),
        ("*ab", "aab", true),
        ("a*b*c", "abcbc", true),
        ("a*b*c", "abcb", false),
        ("[a-c]*", "bed", true),
        ("[!a-c]*", "bed", false),
        ("[!a-c]", "", false),
        ("[-a]", "-", true),
        ("[a-]", "-", true),
        ("\\*", "*", true),
        ("\\*", "x", false),
        ("[\\]]", "]", true),
        ("{a,b}", "a", false),
        ("read", "read\n", false),
    ] {
        assert_eq!(Glob::new(glob).unwrap().matches(name), fits, "{glob} on {name}");
    }
    for bad in ["", "[", "[a", "[]", "[!]", "[z-a]", "x\\", "[a-"] {
        assert!(Glob::new(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_explanation_names_the_first_selector_that_fails() {
    let policy = policy(
        "[[rule]]\nid = \"a\"\ndecision = \"allow\"\nserver = \"fs\"\ntool = \"x\"\n[[rule]]\nid = \"b\"\ndecision = \"deny\"\ntool = \"y\"\n[[rule]]\nid = \"c\"\ndecision = \"allow\"\n",
    );
    let behavior = behavior("PURE READ sensitive-read");
    let question = Question { server: "git", tool: "y", behavior: &behavior, arguments: &json!({}) };
    let explanation = explain(&policy, &question);
    let fits: Vec<String> = explanation.rules.iter().map(|(rule, fit)| format!("{} {fit:?}", rule.id)).collect();
    assert_eq!(fits, ["a Differs(Server)", "b Matches", "c NotCovered"]);
    assert_eq!(explanation.ruling.rule.as_deref(), Some("b"));
}

/// One rule of a small world, so that random rules meet random calls often.
fn any_rule() -> impl Strategy<Value = String> {
    let pick = |from: &'static [&'static str]| proptest::sample::select(from);
    (
        pick(&["allow", "ask", "deny"]),
        pick(&["", "server = \"a\"", "server = [\"b\", \"a?\"]", "server = \"*\""]),
        pick(&["", "tool = \"x\"", "tool = \"x*\"", "tool = [\"y\", \"mcp__a__x\"]", "tool = \"[!x]*\""]),
        pick(&["", "mutability = \"PURE\"", "mutability = \"MUTATES\""]),
        pick(&["", "action = \"READ\"", "action = [\"DELETE\", \"READ\"]", "action = \"DELETE\""]),
    )
        .prop_map(|(decision, server, tool, mutability, action)| {
            format!("decision = \"{decision}\"\n{server}\n{tool}\n{mutability}\n{action}\n")
        })
}

fn any_call() -> impl Strategy<Value = (String, String)> {
    let pick = |from: &'static [&'static str]| proptest::sample::select(from);
    (
        pick(&["a.x", "a.y", "b.x", "ab.xy", "a#2.x"]),
        pick(&["PURE READ", "MUTATES READ", "MUTATES DELETE", "MUTATES UNKNOWN"]),
        pick(&["", " sensitive-read", " hidden-characters"]),
    )
        .prop_map(|(call, words, hazard)| (call.to_owned(), format!("{words}{hazard}")))
}

fn any_defaults() -> impl Strategy<Value = String> {
    let pick = |from: &'static [&'static str]| proptest::sample::select(from);
    (pick(&["allow", "ask", "deny"]), pick(&["ask", "deny"]), pick(&["allow", "ask", "deny"])).prop_map(
        |(pure, mutates, hazard)| {
            format!("[defaults]\npure = \"{pure}\"\nmutates = \"{mutates}\"\nhazard = \"{hazard}\"\n")
        },
    )
}

/// Rules with an id that goes with the rule, not with its place.
fn numbered(rules: &[String]) -> Vec<String> {
    rules.iter().enumerate().map(|(i, rule)| format!("[[rule]]\nid = \"r{i}\"\n{rule}")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn adding_a_deny_never_loosens(
        rules in prop::collection::vec(any_rule(), 0..6), more in any_rule(),
        defaults in any_defaults(), (call, words) in any_call(),
    ) {
        let before = policy(&(numbered(&rules).concat() + &defaults));
        for tighter in ["ask", "deny"] {
            let more = more.replace("allow", tighter).replace("\"ask\"", &format!("\"{tighter}\""));
            let all = numbered(&rules).concat() + "[[rule]]\nid = \"more\"\n" + &more;
            let after = policy(&(all + &defaults));
            let (before, after) = (rule_on(&before, &call, &words), rule_on(&after, &call, &words));
            // An explicit ask is an answer where the default denied: only a default gives way to it.
            if tighter == "deny" || before.rule.is_some() {
                prop_assert!(after.decision >= before.decision, "{before:?} {after:?}");
            }
        }
    }

    #[test]
    fn removing_an_allow_never_allows_more(
        rules in prop::collection::vec(any_rule(), 1..6), defaults in any_defaults(), (call, words) in any_call(),
    ) {
        let all = numbered(&rules);
        let before = rule_on(&policy(&(all.concat() + &defaults)), &call, &words);
        for (i, rule) in all.iter().enumerate().filter(|(_, rule)| rule.contains("allow")) {
            let mut fewer = all.clone();
            fewer.remove(i);
            let after = rule_on(&policy(&(fewer.concat() + &defaults)), &call, &words);
            // Where an explicit allow goes, the default steps in, and it may allow as well: never more than before.
            prop_assert!(after.decision >= before.decision, "without {rule}: {before:?} {after:?}");
        }
    }

    #[test]
    fn order_never_matters(
        rules in prop::collection::vec(any_rule(), 0..6).prop_map(|rules| numbered(&rules)),
        defaults in any_defaults(), (call, words) in any_call(), turn in 0usize..6,
    ) {
        let mut turned = rules.clone();
        turned.reverse();
        let middle = turn.min(turned.len());
        turned.rotate_left(middle);
        let one = rule_on(&policy(&(rules.concat() + &defaults)), &call, &words);
        let other = rule_on(&policy(&(defaults + &turned.concat())), &call, &words);
        prop_assert_eq!(one, other);
    }

    #[test]
    fn a_broken_file_never_allows(
        rules in prop::collection::vec(any_rule(), 0..6), defaults in any_defaults(), (call, words) in any_call(),
    ) {
        let last = policy(&(numbered(&rules).concat() + &defaults));
        let before = rule_on(&last, &call, &words);
        let after = rule_on(&suspended(&last, String::new()), &call, &words);
        prop_assert!(after.decision > Decision::Allow);
        if before.decision == Decision::Deny {
            prop_assert_eq!(after.decision, Decision::Deny);
        }
    }

    #[test]
    fn no_text_makes_the_reader_fall(text in "\\PC*") {
        let _ = parse(&text);
        let _ = Glob::new(&text).map(|glob| glob.matches(&text));
    }
}
