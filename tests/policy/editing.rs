//! Rules added, removed and changed in a text whose comments and layout live on.

use mcp_approve::policy::edit::{EditError, Switch, add, except, ids, remove, replace, rule, set, switch};
use mcp_approve::policy::parse::parse;
use mcp_approve::policy::rule::Rule;
use proptest::prelude::*;

const TEXT: &str = r#"# mine
version = 1   # always

[defaults]
mutates = "ask"

# about notes

# why this one
[[rule]]
id = "one"     # a name
decision = "allow"
tool = "a"

[[rule]]
id = "two"
decision = "ask"
unless = [
  { arg = "x", eq = 1 },
]

# the end
"#;

const RULE: &str = "[[rule]]\nid = \"three\"\ndecision = \"deny\"\n";

#[test]
fn what_is_added_stands_at_the_end_and_nothing_else_changes() {
    let out = add(TEXT, RULE).unwrap();
    assert_eq!(out, format!("{TEXT}\n{RULE}"));
    assert_eq!(parse(&out).unwrap().rules.len(), 3);
    assert_eq!(add("", RULE).unwrap(), RULE);
    assert_eq!(add("version = 1\nrule = []\n", RULE), Err(EditError::NotTables));
    assert!(matches!(add("version = ", RULE), Err(EditError::NotToml(_))));
}

#[test]
fn a_rule_goes_with_the_comment_right_above_it() {
    let (out, gone) = remove(TEXT, "one").unwrap();
    insta::assert_snapshot!(out, @r#"
    # mine
    version = 1   # always

    [defaults]
    mutates = "ask"

    # about notes

    [[rule]]
    id = "two"
    decision = "ask"
    unless = [
      { arg = "x", eq = 1 },
    ]

    # the end
    "#);
    insta::assert_snapshot!(gone, @r#"
    # why this one
    [[rule]]
    id = "one"     # a name
    decision = "allow"
    tool = "a"
    "#);
    let (out, _) = remove(&out, "two").unwrap();
    insta::assert_snapshot!(out, @r#"
    # mine
    version = 1   # always

    [defaults]
    mutates = "ask"

    # about notes

    # the end
    "#);
    assert_eq!(remove(&out, "two"), Err(EditError::NoRule("two".into())));
}

#[test]
fn an_exception_joins_those_that_are_there() {
    let out = except(TEXT, "two", "{ arg = \"path\", eq = \"/a\" }").unwrap();
    insta::assert_snapshot!(out.split("id = \"two\"").nth(1).unwrap(), @r#"

    decision = "ask"
    unless = [
      { arg = "x", eq = 1 },
      { arg = "path", eq = "/a" },
    ]

    # the end
    "#);
    assert_eq!(parse(&out).unwrap().rules[1].unless.len(), 2);
    let out = except("[[rule]]\nid = \"a\"\n", "a", "{ arg = \"x\", eq = 1 }").unwrap();
    let out = except(&out, "a", "{arg = \"y\", eq = 2}").unwrap();
    assert_eq!(out, "[[rule]]\nid = \"a\"\nunless = [{ arg = \"x\", eq = 1 }, {arg = \"y\", eq = 2}]\n");
    for wrong in ["5", "{ arg", "", "[]"] {
        assert_eq!(except(TEXT, "two", wrong), Err(EditError::NoCondition(wrong.into())), "{wrong}");
    }
}

#[test]
fn a_key_is_set_and_its_comment_stays() {
    let out = set("[[rule]]\nid = \"a\"\ntool = \"x\" # this one\n", "a", "tool", Some("[\"x\", \"y\"]")).unwrap();
    assert_eq!(out, "[[rule]]\nid = \"a\"\ntool = [\"x\", \"y\"] # this one\n");
    let out = set(&out, "a", "expires", Some("2027-01-01")).unwrap();
    assert!(out.ends_with("expires = 2027-01-01\n"), "{out}");
    assert_eq!(set(&out, "a", "tool", None).unwrap(), "[[rule]]\nid = \"a\"\nexpires = 2027-01-01\n");
    assert_eq!(set(&out, "a", "note", Some("my note")), Err(EditError::NoValue("my note".into())));
    assert!(matches!(set(&out, "a", "note", None), Err(EditError::NoKey { .. })));
}

#[test]
fn a_rule_that_is_switched_off_stands_in_the_file_and_decides_nothing() {
    let off = switch(TEXT, "two", Switch::Off).unwrap();
    assert!(off.contains("# the end"), "{off}");
    let policy = parse(&off).unwrap();
    let ids = |rules: &[Rule]| rules.iter().map(|rule| rule.id.clone()).collect::<Vec<_>>();
    assert!(!ids(&policy.rules).contains(&"two".to_owned()));
    assert_eq!(ids(&policy.disabled), ["two"]);
    assert_eq!(switch(&off, "two", Switch::On).unwrap(), TEXT, "as it was, to the byte");
    assert_eq!(switch(&off, "two", Switch::Off), Err(EditError::AlreadySo("two".into(), Switch::Off)));
    assert_eq!(switch(TEXT, "two", Switch::On), Err(EditError::AlreadySo("two".into(), Switch::On)));
    let twice = off + "\n[[rule]]\nid = \"two\"\ndecision = \"deny\"\n";
    assert!(parse(&twice).unwrap_err()[0].what.contains("is taken by the rule"), "its id is still its own");
    let wrong = parse("version = 1\n[[rule]]\nid = \"a\"\ndecision = \"deny\"\ndisabled = \"yes\"\n").unwrap_err();
    assert_eq!(wrong.len(), 1, "{wrong:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever stands around the rules: taking out what was added gives the text back, and no other rule changes.
    #[test]
    fn removing_undoes_adding(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "\n", "\n\n", "# a comment\n", "  # another\n\n", "[defaults]\npure = \"ask\"\n", "RULE",
        ]), 0..9),
        at in 0usize..9,
    ) {
        let (mut text, mut number, mut defaults) = ("version = 1\n".to_owned(), 0, false);
        for piece in pieces {
            match piece {
                "RULE" => {
                    number += 1;
                    text.push_str(&format!("[[rule]]\nid = \"r{number}\" # {number}\ndecision = \"ask\"\n"));
                }
                piece if piece.starts_with('[') && std::mem::replace(&mut defaults, true) => {}
                piece => text.push_str(piece),
            }
        }
        let added = add(&text, RULE).unwrap();
        let (back, gone) = remove(&added, "three").unwrap();
        prop_assert_eq!(back.trim_end(), text.trim_end());
        prop_assert_eq!(gone, RULE);
        let all = ids(&text);
        if let Some(id) = all.get(at % all.len().max(1)) {
            let (fewer, _) = remove(&text, id).unwrap();
            let rest: Vec<_> = all.iter().filter(|one| *one != id).cloned().collect();
            prop_assert_eq!(ids(&fewer), rest);
            let comments = |text: &str| text.matches("# a").count();
            prop_assert!(comments(&fewer) <= comments(&text));
        }
    }
}

#[test]
fn a_rule_that_was_edited_stands_where_it_stood() {
    for id in ["one", "two"] {
        assert_eq!(replace(TEXT, id, &rule(TEXT, id).unwrap()).unwrap(), TEXT, "{id}");
    }
    let old = "# why this one\n[[rule]]\nid = \"one\"     # a name\ndecision = \"allow\"\ntool = \"a\"\n";
    let new = "# anew\n[[rule]]\nid = \"uno\"\ndecision = \"deny\"\n";
    assert_eq!(rule(TEXT, "one").unwrap(), old);
    assert_eq!(replace(TEXT, "one", new).unwrap(), TEXT.replace(old, new));
    assert_eq!(replace(TEXT, "three", RULE), Err(EditError::NoRule("three".into())));
    for none in ["", "version = 1\n", "version = 1\n[[rule]]\nid = 'x'\n", &format!("{RULE}\n{RULE}"), "rule = 1\n"] {
        let refused = replace(TEXT, "one", none);
        assert!(matches!(refused, Err(EditError::NotOne | EditError::NotTables)), "{none:?}: {refused:?}");
    }
}
