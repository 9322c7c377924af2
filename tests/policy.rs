//! policy: one line per ruling, in the words of the domain; every problem of a file; what must hold for any rules.

mod approvals;
mod beforehand;
mod conditions;
mod confidence;
mod editing;
mod effects;
mod glob;
mod importing;
mod layers;
mod linting;
mod making;
mod methods;
mod parsing;
mod properties;
mod ranking;
mod replaying;
mod roles;
mod schema;
mod scopes;
mod spellings;
mod total;
mod wording;

use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::behavior::hazards::{Hazard, HazardKind};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::Confidence;
use mcp_approve::behavior::taxonomy::{Action, Mutability, OutputDomain};
use mcp_approve::policy::decide::{Question, Ruling, decide, explain_at, nearest};
use mcp_approve::policy::parse::{built_in, everything_asks, parse};
use mcp_approve::policy::rule::{Decision, FirstUse, NewDefault, Policy};
use serde_json::{Value, json};

/// 2026-11-21T00:00:00Z.
const NOW: i64 = 1_795_219_200_000;

fn behavior(text: &str) -> Behavior {
    let mut words = text.split(' ');
    let mutability = Mutability::from_word(words.next().unwrap()).unwrap();
    let action = Action::from_word(words.next().unwrap()).unwrap();
    let hazards = words.map(|word| Hazard { kind: hazard(word), what: String::new() }).collect();
    let output_domain = OutputDomain::Data;
    let confidence = match mutability {
        Mutability::Pure => Confidence::Proven,
        Mutability::Mutates => Confidence::None,
    };
    let identity = Identity { mutability, action, output_domain };
    Behavior { identity, confidence, hazards, ..Behavior::unknown() }
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
    rule_with(policy, call, words, &json!({}))
}

fn rule_with(policy: &Policy, call: &str, words: &str, arguments: &Value) -> Ruling {
    let (server, tool) = call.split_once('.').unwrap();
    let behavior = behavior(words);
    decide(policy, &Question { method: None, server, tool, behavior: &behavior, arguments, now: NOW, recent: None })
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
            ("fs.read_file", "PURE READ", "allow", "Only reads, and the default allows it"),
            ("fs.write_file", "MUTATES UPDATE", "ask", "Changes something, and no rule covers it"),
            ("fs.mystery", "MUTATES UNKNOWN", "ask", "Changes something, and no rule covers it"),
            (
                "fs.read_file",
                "PURE READ sensitive-read",
                "ask",
                "a sensitive read: the default for hazards asks, even for PURE",
            ),
            (
                "fs.read_file",
                "PURE READ terminal-sequence hidden-characters",
                "ask",
                "hidden characters, a terminal sequence: the default for hazards asks, even for PURE",
            ),
        ],
    );
}

#[test]
fn the_built_in_policy_is_the_contract() {
    let policy = built_in();
    assert!(policy.rules.is_empty() && policy.allows_count && policy.banner.is_none());
    assert_eq!(policy.defaults.pure, Decision::Allow);
    assert_eq!((policy.defaults.mutates, policy.defaults.hazard), (Decision::Ask, Decision::Ask));
    assert_eq!((policy.defaults.first_use, policy.defaults.new), (FirstUse::Allow, NewDefault::AskOnce));
}

/// The comments of the built-in file are what people begin with.
#[test]
fn the_examples_in_the_built_in_file_are_rules() {
    let text = include_str!("../assets/policy.toml");
    let rules = text.split_once("# [[rule]]").unwrap().1;
    let text = format!("version = 1\n[[rule]]{}", rules.replace("\n# ", "\n").replace("\n#\n", "\n"));
    let policy = parse(&text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    assert_eq!(policy.rules.len(), 2);
}

/// A second instance has the rules of its name; what only looks like one has none.
#[test]
fn rules_of_a_server_are_for_its_instances() {
    let policy = policy("[[rule]]\nid = \"r\"\ndecision = \"allow\"\nserver = \"s\"\n");
    for (server, allows) in [("s", true), ("s#2", true), ("s#22", true), ("s#x", false), ("s#2x", false), ("#2", false)]
    {
        let ruling = rule_on(&policy, &format!("{server}.t"), "MUTATES UPDATE");
        assert_eq!(ruling.decision == Decision::Allow, allows, "{server}: {}", ruling.reason);
    }
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
            ("git.write_file", "MUTATES UPDATE", "ask", "Changes something, and no rule covers it"),
            ("git.find", "PURE SEARCH", "deny", "rule searches denies it"),
            ("git.find", "MUTATES SEARCH", "ask", "Changes something, and no rule covers it"),
            ("fs#2.write_file", "MUTATES UPDATE", "allow", "rule writes allows it"),
            ("fsx.write_file", "MUTATES UPDATE", "ask", "Changes something, and no rule covers it"),
        ],
    );
}

#[test]
fn of_equally_strict_rules_the_first_by_name_is_named() {
    let rule = |id: &str| format!("[[rule]]\nid = \"{id}\"\ndecision = \"deny\"\n");
    for ids in [["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"]] {
        let ruling = rule_on(&policy(&ids.map(rule).concat()), "s.t", "PURE READ");
        assert_eq!(ruling.rule.as_deref(), Some("a"), "{ids:?}");
    }
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
    let after = Policy { allows_count: false, banner: Some("line 3".to_owned()), ..last };
    rulings(
        &after,
        &[
            ("fs.read", "PURE READ", "ask", broken),
            ("fs.rm", "PURE READ", "deny", "rule no denies it"),
            ("fs.write", "MUTATES UPDATE", "deny", "Changes something, and the default denies it"),
        ],
    );
    assert_eq!(after.banner.as_deref(), Some("line 3"));
    let at_start = everything_asks("line 3".to_owned());
    rulings(&at_start, &[("fs.read", "PURE READ", "ask", broken), ("fs.rm", "MUTATES DELETE", "ask", broken)]);
}

#[test]
fn the_explanation_names_the_first_selector_that_fails() {
    let policy = policy(
        "[[rule]]\nid = \"a\"\ndecision = \"allow\"\nserver = \"fs\"\ntool = \"x\"\n[[rule]]\nid = \"b\"\ndecision = \"deny\"\ntool = \"y\"\n[[rule]]\nid = \"c\"\ndecision = \"allow\"\n",
    );
    let behavior = behavior("PURE READ sensitive-read");
    let question = Question {
        method: None,
        server: "git",
        tool: "y",
        behavior: &behavior,
        arguments: &json!({}),
        now: NOW,
        recent: None,
    };
    let explanation = explain_at(&policy, &question, &policy.roots);
    let fits: Vec<String> = explanation.rules.iter().map(|(rule, fit)| format!("{} {fit:?}", rule.id)).collect();
    assert_eq!(fits, ["a Differs(Selector(Server))", "b Matches", "c NotCovered"]);
    assert_eq!(explanation.ruling.rule.as_deref(), Some("b"));
}

#[test]
fn the_nearest_rules_are_those_for_the_tool_that_almost_decided() {
    let policy = policy(
        "[[rule]]\nid = 'other-tool'\ndecision = 'allow'\ntool = 'read'\n\
         [[rule]]\nid = 'other-server'\ndecision = 'allow'\nserver = 'else'\n\
         [[rule]]\nid = 'sort'\ndecision = 'allow'\ntool = 'write'\naction = 'DELETE'\n\
         [[rule]]\nid = 'first'\ndecision = 'allow'\nwhen = [{ arg = 'path', glob = '/b/*' }, { arg = 'n', eq = 1 }]\n\
         [[rule]]\nid = 'second'\ndecision = 'allow'\nwhen = [{ arg = 'path', glob = '/a/*' }, { arg = 'n', eq = 1 }]\n\
         [[rule]]\nid = 'over'\ndecision = 'allow'\nexpires = 2020-01-01\n\
         [[rule]]\nid = 'over-and-other'\ndecision = 'allow'\nserver = 'else'\nexpires = 2020-01-01\n\
         [[rule]]\nid = 'dry'\ndecision = 'ask'\nunless = [{ arg = 'dry', eq = true }]\n\
         [[rule]]\nid = 'asks'\ndecision = 'ask'\n\
         [[rule]]\nid = 'weaker'\ndecision = 'allow'\n",
    );
    let arguments = json!({ "path": "/a/x", "n": 2, "dry": true });
    let behavior = behavior("MUTATES UPDATE");
    let question = Question {
        method: None,
        server: "s",
        tool: "write",
        behavior: &behavior,
        arguments: &arguments,
        now: NOW,
        recent: None,
    };
    let near = nearest(&policy, &question, &policy.roots, 9);
    let said: Vec<String> =
        near.iter().map(|one| format!("{} {}: {}", one.rule, one.decision.word(), one.why)).collect();
    assert_eq!(
        said,
        [
            "weaker allow: matches",
            "dry ask: no: { arg = 'dry', eq = true } excepts it",
            "over allow: no: it has expired",
            "second allow: no: { arg = 'n', eq = 1 } does not hold",
            "first allow: no: { arg = 'path', glob = '/b/*' } does not hold",
            "sort allow: no: `action` differs",
        ]
    );
    assert_eq!(nearest(&policy, &question, &policy.roots, 2).len(), 2);
}
