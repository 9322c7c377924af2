//! `when`, `unless`, `expires`, hazards by name, and examples: one line per case.

use mcp_approve::behavior::hazards::HazardKind;
use mcp_approve::policy::glob::Holds;
use mcp_approve::policy::parse::{parse, parse_at};
use mcp_approve::policy::rule::{Decision, Policy};
use mcp_approve::policy::under::{Folder, Roots};
use mcp_approve::policy::when::{About, Decimal};
use serde_json::{Value, json};

use super::{policy, rule_on, rule_with};

/// How one predicate stands to arguments: an allow matches only on yes, a deny on all but no.
pub(super) fn stands(predicate: &str, arguments: &Value) -> Holds {
    let decides = |decision: &str| {
        let rule = format!("[[rule]]\nid = \"r\"\ndecision = \"{decision}\"\nwhen = [{{ {predicate} }}]\n");
        rule_with(&policy(&rule), "s.t", "MUTATES UPDATE", arguments).rule.is_some()
    };
    match (decides("allow"), decides("ask"), decides("deny")) {
        (true, true, true) => Holds::Yes,
        (false, true, true) => Holds::Undecided,
        (false, false, false) => Holds::No,
        other => panic!("{predicate} on {arguments}: {other:?}"),
    }
}

#[test]
fn predicates_on_arguments() {
    use Holds::{No, Undecided, Yes};
    for (predicate, arguments, holds) in [
        ("arg = 'a', eq = 'x'", json!({"a": "x"}), Yes),
        ("arg = 'a', eq = 'x'", json!({"a": "X"}), No),
        ("arg = 'a', eq = 'x'", json!({}), Undecided),
        ("arg = 'a', eq = 'x'", json!({"a": ["x"]}), Undecided),
        ("arg = 'a', eq = 'x'", json!({"a": null}), Undecided),
        ("arg = 'a', eq = 'x'", json!({"A": "x"}), Undecided),
        ("arg = 'a', eq = 5", json!({"a": "5"}), Undecided),
        ("arg = 'a', eq = 5", json!({"a": 5.0}), Yes),
        ("arg = 'a', eq = true", json!({"a": false}), No),
        ("arg = 'a', in = ['x', 2]", json!({"a": 2}), Yes),
        ("arg = 'a', in = ['x', 'y']", json!({"a": "z"}), No),
        ("arg = 'a', in = ['x', 2]", json!({"a": 3}), Undecided),
        ("arg = 'a', glob = '*.txt'", json!({"a": "b/c.txt"}), Yes),
        ("arg = 'a', glob = ['*.txt', '*.md']", json!({"a": "c.sh"}), No),
        ("arg = 'a', glob = '/srv/*'", json!({"a": "/srv/../etc/passwd"}), Undecided),
        ("arg = 'a', glob = '/srv/*'", json!({"a": "/srv/%2e%2e/etc/passwd"}), Undecided),
        ("arg = 'a', glob = '/srv/*'", json!({"a": "/srv/a..b"}), Yes),
        ("arg = 'a', glob = '/srv/*'", json!({"a": "../srv"}), No),
        ("arg = 'a', glob = '5'", json!({"a": 5}), Undecided),
        ("arg = 'a', glob = 'x*'", json!({"a": "x".repeat(1 << 20)}), Yes),
        ("arg = 'a', glob = 'x*'", json!({"a": "x".repeat((1 << 20) + 1)}), Undecided),
        ("arg = 'a', lt = 10", json!({"a": 9.999}), Yes),
        ("arg = 'a', lt = 10", json!({"a": 10}), No),
        ("arg = 'a', gt = 9007199254740992", json!({"a": 9_007_199_254_740_993_u64}), Yes),
        ("arg = 'a', gt = 5", json!({"a": 5}), No),
        ("arg = 'a', gt = 0x10", json!({"a": 17}), Yes),
        ("arg = 'a', gt = 1", json!({"a": "2"}), Undecided),
        ("arg = 'a', gt = 1, lt = 3", json!({"a": 2}), Yes),
        ("arg = 'a', gt = 1, lt = 3", json!({"a": 3}), No),
        ("arg = 'a', len = 2", json!({"a": "äö"}), Yes),
        ("arg = 'a', len = { lt = 3 }", json!({"a": [1, 2, 3]}), No),
        ("arg = 'a', len = { gt = 0, lt = 3 }", json!({"a": {"k": 1}}), Yes),
        ("arg = 'a', len = 1", json!({"a": 1}), Undecided),
        ("arg = 'a', present = true", json!({"a": null}), Yes),
        ("arg = 'a', present = true", json!({}), No),
        ("arg = 'a', absent = true", json!({}), Yes),
        ("arg = 'a', absent = true", json!({"a": null}), No),
        ("arg = '/o/k', eq = 'x'", json!({"o": {"k": "x", "K": "y"}}), Undecided),
        ("arg = '/o/k', eq = 'x'", json!({"o": {"k": "x"}, "O": {}}), Undecided),
        ("arg = '/o/k', absent = true", json!({"o": {}, "k": true}), Undecided),
        ("arg = '/o/k', absent = true", json!({"o": {"j": 1}}), Yes),
        ("arg = 'o/p', eq = 'x'", json!({"o/p": "x", "O/p": "y"}), Undecided),
        ("arg = 'a', present = true, eq = true", json!({}), No),
        ("arg = '/o/1/k', eq = 'x'", json!({"o": [0, {"k": "x"}]}), Yes),
        ("arg = '/o~1p', eq = 'x'", json!({"o/p": "x"}), Yes),
        ("arg = 'o.p', eq = 'x'", json!({"o": {"p": "x"}}), Undecided),
        ("arg = 'a', eq = 'x'", json!([]), Undecided),
    ] {
        assert_eq!(stands(predicate, &arguments), holds, "{predicate} on {arguments:.80}");
    }
}

#[test]
fn paths_under_a_folder() {
    use Holds::{No, Undecided, Yes};
    let known =
        Roots { home: Some("/home/me".to_owned()), folder: Some("/home/me/work".to_owned()), ..Roots::default() };
    for (folder, path, at_known_roots, at_unknown) in [
        ("~/scratch", "~/scratch/a.txt", Yes, Yes),
        ("~/scratch", "~/scratch", Yes, Yes),
        ("~/scratch", "/home/me/scratch/a", Yes, Undecided),
        ("~/scratch", "~/scratchy/a", No, No),
        ("~/scratch", "~/scratch/../.ssh/id", No, No),
        ("~/scratch", "~/scratch/x/../a", Undecided, Undecided),
        ("~/scratch", "~/../me/scratch/a", Undecided, No),
        ("~/scratch", "~/a/../../scratch", No, No),
        ("~/scratch", "~/Scratch/a", Undecided, Undecided),
        ("~/scratch", "~other/scratch/a", Undecided, Undecided),
        ("~/work", "a/b", Yes, Undecided),
        ("~/work", "./a//b/", Yes, Undecided),
        ("~/work", "../scratch", No, Undecided),
        ("/srv", "/srv/./a", Yes, Yes),
        ("/srv", "/", No, No),
        ("/srv", "//srv/a", Yes, Yes),
        ("/srv", "/srv\0/a", Undecided, Undecided),
        ("/srv", "", Undecided, Undecided),
        ("/srv", "file:///srv/a", Undecided, Undecided),
        ("~/work", "ext::sh", Undecided, Undecided),
        ("~/work", "C:a", Undecided, Undecided),
        ("~/work", "view-source+x.y:a", Undecided, Undecided),
        ("~/work", "a b:c", Yes, Undecided),
        ("~/work", "$HOME/.ssh/id", Undecided, Undecided),
        ("/srv", "/srv/${x}", Undecided, Undecided),
        ("/srv", "/srv/%2e%2e/etc", Undecided, Undecided),
        ("/srv", "/srv/100%", Yes, Yes),
        ("/srv", "/srv/..\\..\\etc", Undecided, Undecided),
        ("~/work", "-rf", Undecided, Undecided),
        ("/", "/anything", Yes, Yes),
        ("~", "/home/me/a", Yes, Undecided),
    ] {
        let folder_of = Folder::new(folder).unwrap();
        assert_eq!(folder_of.holds(path, &known), at_known_roots, "{path:?} under {folder}");
        assert_eq!(folder_of.holds(path, &Roots::default()), at_unknown, "{path:?} under {folder}, roots unknown");
    }
    for bad in ["", "scratch", "~me/x", "/a/../b", "~/..", "./x"] {
        assert!(Folder::new(bad).is_none(), "{bad}");
    }
}

#[test]
fn numbers_compare_by_their_text() {
    let ordered = [
        "-1e400", "-10.5", "-10", "-0.1", "0", "1e-400", "0.1", "0.12", "1", "9007199254740992", "9007199254740993",
        "1e16", "1e400", "1.5e400",
    ];
    let numbers: Vec<Decimal> = ordered.iter().map(|text| Decimal::new(text).unwrap()).collect();
    assert!(numbers.is_sorted_by(|one, other| one < other), "{numbers:?}");
    for (one, other) in [("1", "1.0"), ("1e2", "100"), ("0", "-0.0"), ("0.010", "1e-2"), ("+5", "5")] {
        assert_eq!(Decimal::new(one), Decimal::new(other), "{one} and {other}");
    }
    for bad in ["", "-", "1e", "inf", "nan", "0x1", "1e99999999999", ".5", "1 "] {
        assert_eq!(Decimal::new(bad), None, "{bad}");
    }
}

#[test]
fn an_allow_covers_the_hazards_it_names_and_no_other() {
    let policy = policy(
        "[[rule]]\nid = \"env\"\ndecision = \"allow\"\ntool = \"env\"\nwhen = [{ hazard = [\"sensitive-read\", \"undeclared-arguments\"] }]\n",
    );
    for (words, decision) in [
        ("PURE READ sensitive-read", Decision::Allow),
        ("PURE READ sensitive-read undeclared-arguments", Decision::Allow),
        ("PURE READ sensitive-read nul-character", Decision::Ask),
        ("PURE READ sensitive-read hidden-characters", Decision::Ask),
        ("MUTATES UPDATE", Decision::Ask),
    ] {
        assert_eq!(rule_on(&policy, "s.env", words).decision, decision, "{words}");
    }
}

/// The reader refuses such a rule; the ruling would not follow it either, wherever it came from.
#[test]
fn no_rule_of_any_making_covers_what_deceives_the_eye() {
    for kind in [HazardKind::HiddenCharacters, HazardKind::TerminalSequence, HazardKind::ChangedDefinition] {
        let rule = "[[rule]]\nid = \"r\"\ndecision = \"allow\"\nwhen = [{ hazard = \"confusable\" }]\n";
        let mut policy = policy(rule);
        policy.rules[0].when[0].about = About::Hazard(vec![kind]);
        let ruling = rule_on(&policy, "s.t", &format!("PURE READ {}", kind.word()));
        assert_eq!(ruling.decision, Decision::Ask, "{ruling:?}");
    }
}

#[test]
fn exceptions_loosen_only_what_holds_for_certain() {
    let policy = policy(
        "[[rule]]\nid = \"no\"\ndecision = \"deny\"\nunless = [{ arg = \"p\", under = \"/tmp\" }, { arg = \"dry\", eq = true }]\n",
    );
    for (arguments, decision) in [
        (json!({"p": "/tmp/a"}), Decision::Ask),
        (json!({"p": "/etc/a", "dry": true}), Decision::Ask),
        (json!({"p": "/etc/a"}), Decision::Deny),
        (json!({"p": "/tmp/../tmp/a"}), Decision::Deny),
        (json!({"dry": "true"}), Decision::Deny),
    ] {
        assert_eq!(rule_with(&policy, "s.t", "MUTATES UPDATE", &arguments).decision, decision, "{arguments}");
    }
}

#[test]
fn a_rule_holds_through_its_last_day() {
    for (expires, decision) in [
        ("2026-11-20", Decision::Ask),
        ("2026-11-21", Decision::Allow),
        ("2026-11-21T00:00:00Z", Decision::Ask),
        ("2026-11-21T01:00:00+02:00", Decision::Ask),
        ("2026-11-21T03:00:00+02:00", Decision::Allow),
    ] {
        let rule = format!("[[rule]]\nid = \"r\"\ndecision = \"allow\"\nexpires = {expires}\n");
        assert_eq!(rule_on(&policy(&rule), "s.t", "MUTATES UPDATE").decision, decision, "{expires}");
    }
}

#[test]
fn identities_and_output_domains_select() {
    let policy = policy(
        "[[rule]]\nid = \"a\"\ndecision = \"deny\"\nidentity = \"MUTATES|DELETE|DATA\"\n[[rule]]\nid = \"b\"\ndecision = \"deny\"\naction = \"MERGE\"\noutput_domain = [\"PR\", \"REF\"]\n",
    );
    assert_eq!(rule_on(&policy, "s.t", "MUTATES DELETE").rule.as_deref(), Some("a"));
    assert_eq!(rule_on(&policy, "s.t", "MUTATES UPDATE").rule, None);
    assert_eq!(rule_on(&policy, "s.t", "MUTATES MERGE").rule, None);
}

/// The contract's own example.
const SCRATCH: &str = r#"
version = 1
[defaults]
pure = "allow"
mutates = "ask"
hazard = "ask"

[[rule]]
id = "scratch-files"
decision = "allow"
server = "filesystem"
tool = ["write_file", "edit_file"]
when = [{ arg = "path", under = "~/scratch" }]
expires = 2026-12-31
note = "from ticket 1042"
match = [{ path = "~/scratch/a.txt" }]
not_match = [{ path = "~/scratch/../.ssh/id" }]
"#;

#[test]
fn the_documented_example_does_what_it_says() {
    let roots = Roots { home: Some("/home/me".to_owned()), folder: Some("/".to_owned()), ..Roots::default() };
    let read = |text: &str| -> Policy { parse_at(text, &roots).unwrap_or_else(|problems| panic!("{problems:?}")) };
    let policy = read(SCRATCH);
    for (path, decision) in [
        ("~/scratch/a.txt", Decision::Allow),
        ("/home/me/scratch/b/c", Decision::Allow),
        ("/home/me/.ssh/id", Decision::Ask),
        ("/home/me/scratch/../.ssh/id", Decision::Ask),
    ] {
        let ruling = rule_with(&policy, "filesystem.write_file", "MUTATES OVERWRITE", &json!({ "path": path }));
        assert_eq!(ruling.decision, decision, "{path}");
    }
}

#[test]
fn examples_that_are_not_so_are_problems() {
    for (example, what) in [
        ("match = [{ path = \"~/other/a\" }]", "{ arg = \"path\", under = \"~/scratch\" } does not hold for this"),
        ("match = [{ file = \"~/scratch/a\" }]", "cannot be decided for this"),
        ("not_match = [{ path = \"~/scratch/a\" }]", "the rule matches this, and should not"),
        ("match = [{ path = 2026-01-01 }]", "`match` is of type"),
        ("match = { path = \"x\" }", "`match` is of type"),
    ] {
        let text = SCRATCH.replace("match = [{ path = \"~/scratch/a.txt\" }]\nnot_", "not_") + example;
        let problems =
            parse(&text.replace("not_match = [{ path = \"~/scratch/../.ssh/id\" }]", "")).expect_err(example);
        assert!(problems[0].what.contains(what), "{example}: {problems:?}");
    }
}
