//! What a policy text is refused for: every problem, its place, its hint.

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
        ("", "does not say which version"),
        ("version = 2", "version 1"),
        ("version = \"1\"", "`version` is of type string"),
        ("version = 1\nrule = 3", "`rule` is of type integer"),
        ("version = 1\ndefaults = 3", "`defaults` is of type integer"),
        ("version = 1\n[rule]\nid = \"x\"", "`rule` is of type table"),
        ("version = 1\n[[rule]\nid = \"x\"\nnonsense = 1", "unclosed array table"),
        (
            "version = 1\n[[rule]]\nid = \"x\"\ndecision = \"ask\"\nwhen = [{ rate = { most = 0, per = \"1h\" } }]",
            "`rate` cannot be { most = 0, per = \"1h\" }",
        ),
        ("version = 1\nversion = 1", "duplicate key"),
        ("version = 1\n[[rule]]\nid = \"a\"\nid = \"b\"\ndecision = \"allow\"", "duplicate key"),
        ("version = 1\n[[rule]\nid = \"a\"", "this is not TOML"),
        ("version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\nexpires = 2020-01-01T", "this is not TOML"),
        ("version = 1\n[[rule]]\nid = \"a\u{202e}\"\ndecision = \"allow\"", "`id` cannot be"),
        ("version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\ntool = \"[z-a]\"", "backwards"),
        ("version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\nwhen = [{ arg = \"path\" }]", "has no test"),
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
fn conditions_that_are_none_are_problems() {
    for (line, what) in [
        ("when = { arg = 'a', eq = 1 }", "`when` is of type"),
        ("when = []", "empty list"),
        ("when = [{ }]", "tests nothing"),
        ("when = [{ arg = 'a' }]", "has no test"),
        ("when = [{ eq = 1 }]", "tests nothing"),
        ("when = [{ arg = '', eq = 1 }]", "`arg` cannot be"),
        ("when = [{ arg = '/a~2', eq = 1 }]", "`arg` cannot be"),
        ("when = [{ arg = 'a', eq = [inf] }]", "`eq` is of type"),
        ("when = [{ arg = 'a', eq = inf }]", "`eq` is of type"),
        ("when = [{ arg = 'a', in = [] }]", "`in` cannot be []"),
        ("when = [{ arg = 'a', glob = '[' }]", "`glob` cannot be"),
        ("when = [{ arg = 'a', under = 'b' }]", "`under` cannot be"),
        ("when = [{ arg = 'a', lt = '5' }]", "`lt` is of type"),
        ("when = [{ arg = 'a', len = -1 }]", "`len` is of type"),
        ("when = [{ arg = 'a', len = { lt = 0 } }]", "`len` cannot be"),
        ("when = [{ arg = 'a', len = { gt = 5, lt = 6 } }]", "`len` cannot be { gt = 5, lt = 6 }"),
        ("when = [{ arg = 'a', present = false }]", "`present = false`"),
        ("when = [{ arg = 'a', equals = 1 }]", "unknown key \"equals\""),
        ("when = [{ hazard = 'sensitive-raed' }]", "`hazard` cannot be"),
        ("when = [{ hazard = 'hidden-characters' }]", "no rule can allow"),
        ("when = [{ arg = 'a', hazard = 'sensitive-read' }]", "with other keys"),
        ("when = [{ effect = 'DELETE' }]", "`effect` cannot be"),
        ("when = [{ effect = [] }]", "empty list"),
        ("when = [{ sql = 'SELECT 1; DROP TABLE t' }]", "no fingerprint"),
        ("when = [{ sql = 'SELECT 1', arg = 'a' }]", "with other keys"),
        ("when = [{ sql = 'SELECT 1', effect = 'read' }]", "with other keys"),
        ("when = [{ rate = 5 }]", "`rate` is of type"),
        ("when = [{ rate = { most = 5 } }]", "`rate` cannot be { "),
        ("when = [{ rate = { most = 0, per = '1h' } }]", "`rate` cannot be { "),
        ("when = [{ rate = { most = 1, over = 2, per = '1h' } }]", "`rate` cannot be { "),
        ("when = [{ rate = { over = 2, most = 1, per = '1h' } }]", "`rate` cannot be { "),
        ("when = [{ rate = { most = 5, per = '25h' } }]", "`rate` cannot be { "),
        ("when = [{ rate = { most = 5, per = '1h', x = 1 } }]", "`rate` cannot be { "),
        ("match = []", "`match` is an empty list"),
        ("unless = [{ arg = 'a', eq = 1 }]", "nothing to loosen"),
        ("expires = '2026-12-31'", "`expires` is of type"),
        ("expires = 2026-12-31T10:00:00", "`expires` cannot be 2026-12-31T10:00:00"),
        ("expires = 10:00:00", "`expires` cannot be 10:00:00"),
        ("identity = 'abc'", "is not a behavioral identity"),
        ("capability = 'a['", "`capability` cannot be"),
        ("output_domain = 'data'", "`output_domain` cannot be"),
    ] {
        let text = format!("version = 1\n[[rule]]\nid = 'r'\ndecision = 'allow'\n{line}\n");
        let problems = parse(&text).expect_err(line);
        assert_eq!(problems.len(), 1, "{line}: {problems:?}");
        assert!(problems.iter().any(|problem| problem.what.contains(what)), "{line}: {problems:?}");
    }
}

#[test]
fn an_id_is_one_plain_word() {
    let reads = |id: &str| parse(&format!("version = 1\n[[rule]]\nid = '{id}'\ndecision = 'ask'\n")).is_ok();
    let long = "a".repeat(64);
    assert!(reads("a-b_C.9") && reads(&long));
    for bad in ["", "a b", "ä", "a/b", &format!("{long}a")] {
        assert!(!reads(bad), "{bad}");
    }
}
