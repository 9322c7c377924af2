//! What a policy text is refused for: every problem, its place, its mend.

use mcp_approve::policy::parse::parse;

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
        (
            "version = 1\n[[rule]]\nid = \"a\"\nid = \"b\"\ndecision = \"allow\"",
            "duplicate key",
        ),
        ("version = 1\n[[rule]\nid = \"a\"", "this is not TOML"),
        (
            "version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\nexpires = 2020-01-01T",
            "this is not TOML",
        ),
        (
            "version = 1\n[[rule]]\nid = \"a\u{202e}\"\ndecision = \"allow\"",
            "`id` cannot be",
        ),
        (
            "version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\ntool = \"[z-a]\"",
            "backwards",
        ),
        (
            "version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\nmutability = \"pure\"",
            "`mutability` cannot be",
        ),
    ] {
        let problems = parse(text).expect_err(text);
        assert!(
            problems.iter().any(|problem| problem.what.contains(what)),
            "{text}: {problems:?}"
        );
    }
}

#[test]
fn syntax_errors_come_all_at_once_too() {
    let problems =
        parse("version = 1\n[defaults\npure = \"ask\"\n[[rule]]\nid = \ndecision = \"deny\"\n")
            .unwrap_err();
    let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 5], "{problems:?}");
}

#[test]
fn columns_count_characters() {
    let problems = parse("version = 1\n[[rule]]\nid = \"ä\"\ndecision = \"deny\"\nnote = \"äöü\"\nserver = [\"äöü\", \"\"]\n").unwrap_err();
    let places: Vec<_> = problems
        .iter()
        .map(|problem| (problem.line, problem.column))
        .collect();
    assert_eq!(places, [(3, 6), (6, 18)], "{problems:?}");
}
