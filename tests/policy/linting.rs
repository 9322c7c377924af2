//! Rules that are no error and still hardly meant.

use mcp_approve::policy::lint::lint;
use mcp_approve::policy::parse::parse;

use super::NOW;

fn warnings(rules: &str) -> Vec<String> {
    let policy = parse(&format!("version = 1\n{rules}")).unwrap_or_else(|problems| panic!("{problems:?}\n{rules}"));
    lint(&policy, NOW).into_iter().map(|warning| warning.what).collect()
}

/// Two rules: what is under test, and one before it.
fn beside(other: &str, rule: &str) -> Vec<String> {
    warnings(&format!("[[rule]]\nid = 'other'\n{other}\n[[rule]]\nid = 'this'\n{rule}\n"))
}

#[test]
fn rules_that_can_never_match() {
    for (rule, why) in [
        ("mutability = 'PURE'\naction = ['DELETE', 'SEND']", Some("what is PURE only reads")),
        ("mutability = 'PURE'\naction = ['DELETE', 'READ']", None),
        ("mutability = 'PURE'\nidentity = 'MUTATES|SEND|DATA'", Some("`identity` contradicts")),
        ("action = 'SEND'\nidentity = ['MUTATES|SEND|DATA', 'PURE|READ|DATA']", None),
        ("when = [{ arg = 'a', absent = true, eq = 1 }]", Some("cannot be both absent and tested")),
        ("when = [{ arg = 'a', gt = 5, lt = 5 }]", Some("is above `gt` and below `lt`")),
        ("when = [{ arg = 'a', gt = 4, lt = 5 }]", None),
        ("when = [{ arg = 'a', eq = 'x', in = ['y'] }]", Some("not `in` the list")),
        ("when = [{ arg = 'a', eq = 'x', in = ['x'] }]", None),
        ("when = [{ arg = 'a', gt = 1, glob = '*' }]", Some("a number and a text")),
    ] {
        let found = warnings(&format!("[[rule]]\nid = 'this'\ndecision = 'deny'\nserver = 's'\n{rule}\n"));
        match why {
            Some(why) => assert!(found.len() == 1 && found[0].contains(why), "{rule}: {found:?}"),
            None => assert_eq!(found, [""; 0], "{rule}"),
        }
    }
}

#[test]
fn rules_that_a_stricter_one_covers() {
    let allow = "decision = 'allow'\nserver = 's'\ntool = ['write_a', 'write_b']\nwhen = [{ arg = 'a', eq = 1 }]";
    for (other, shadowed) in [
        ("decision = 'deny'", true),
        ("decision = 'deny'\nserver = '*'", true),
        ("decision = 'deny'\nserver = 's'", true),
        ("decision = 'ask'\ntool = 'write_*'", true),
        ("decision = 'deny'\ntool = ['write_b', 'write_a', 'c']", true),
        ("decision = 'deny'\nwhen = [{ arg = 'a', eq = 1 }]", true),
        ("decision = 'deny'\ntool = 'write_a'", false),
        ("decision = 'deny'\nwhen = [{ arg = 'a', eq = 2 }]", false),
        ("decision = 'deny'\nserver = 't'", false),
        ("decision = 'deny'\nserver = 's'\nmutability = 'MUTATES'", false),
        ("decision = 'deny'\nserver = 's'\nunless = [{ arg = 'b', eq = 2 }]", false),
        ("decision = 'deny'\nserver = 's'\nexpires = 2027-01-01", false),
        ("decision = 'deny'\nserver = 's'\nexpires = 2020-01-01", false),
        ("decision = 'deny'\ntool = 'mcp__s__write_*'", false),
        ("decision = 'deny'\ntool = ['mcp__s__write_a', 'mcp__s__write_b']", false),
        ("decision = 'deny'\nserver = 's'\nmethod = 'resources/*'", false),
        ("decision = 'deny'\nserver = 's'\nmethod = ['resources/*', '*']", true),
        ("decision = 'deny'\ncapability = 'db:*'", false),
        ("decision = 'deny'\nidentity = 'MUTATES|SEND|DATA'", false),
        ("decision = 'deny'\naction = 'SEND'", false),
        ("decision = 'deny'\noutput_domain = 'DATA'", false),
        ("decision = 'deny'\ntool = ['write_?', 'x']", true),
        ("decision = 'deny'\ntool = ['read_?', 'write_b']", false),
        ("decision = 'allow'\nserver = 's'", false),
    ] {
        let found = beside(other, allow);
        let told = found.iter().any(|what| what.starts_with("rule this never decides: rule other"));
        assert_eq!(told, shadowed, "{other}: {found:?}");
    }
}

#[test]
fn a_covered_rule_is_told_what_the_other_does_and_the_first_of_others_is_named() {
    let allow = "decision = 'allow'\nserver = 's'\ntool = 'write_?'\nexpires = 2027-01-01";
    for (other, told) in [
        ("decision = 'deny'", "rule this never decides: rule other denies every call"),
        ("decision = 'ask'", "rule this never decides: rule other asks for every call"),
        ("decision = 'deny'\nserver = 's'", "rule this never decides: rule other denies all that it matches"),
        ("decision = 'ask'\ntool = 'write_?'", "rule this never decides: rule other asks for all that it matches"),
        (
            "decision = 'ask'\ntool = '*'\nexpires = 2027-01-01",
            "rule this never decides: rule other asks for all that it matches",
        ),
        ("decision = 'ask'\nserver = 's'\ntool = 'write_*'", ""),
        ("decision = 'ask'\nserver = 's'\nexpires = 2026-12-31", ""),
    ] {
        assert_eq!(beside(other, allow).join("; "), told, "{other}");
    }
    let by_object = "server = 's'\ntool = 'w'\nwhen = [{ arg = 'a', eq = { x = 1, y = 2 } }]";
    let same = "decision = 'deny'\nserver = 's'\nwhen = [{ arg = 'a', eq = { y = 2, x = 1 } }]";
    let told = beside(same, &format!("decision = 'allow'\n{by_object}"));
    assert_eq!(told, ["rule this never decides: rule other denies all that it matches"]);
    let rules = "[[rule]]\nid = 'one'\ndecision = 'deny'\nserver = 's'\nmethod = '*'\n[[rule]]\nid = 'two'\ndecision = 'ask'\ntool = 'w'\n\
        [[rule]]\nid = 'this'\ndecision = 'allow'\nserver = 's'\ntool = 'w'\n";
    assert_eq!(warnings(rules).join("; "), "rule this never decides: rule one denies all that it matches");
}

#[test]
fn rules_about_results_are_looked_through_too() {
    let denies = "[[rule]]\nid = 'wide'\ndecision = 'deny'\nresult = { secret = true }\n";
    for (rule, told) in [
        (
            "decision = 'ask'\ntool = 't'\nresult = { secret = true, size = 5 }",
            "rule this never decides: rule wide denies all that it matches",
        ),
        (
            "decision = 'redact'\nresult = { secret = true }",
            "rule this never decides: rule wide denies all that it matches",
        ),
        ("decision = 'ask'\nresult = { size = 5 }", ""),
        (
            "decision = 'ask'\nresult = { hazard = true }\nexpires = 2020-01-01",
            "rule this has expired and no longer applies",
        ),
        (
            "decision = 'ask'\nmutability = 'PURE'\naction = 'DELETE'\nresult = { size = 5 }",
            "rule this can never match: what is PURE only reads or searches",
        ),
        ("decision = 'ask'\ntool = 't'", ""),
    ] {
        let found = warnings(&format!("{denies}[[rule]]\nid = 'this'\n{rule}\n"));
        assert_eq!(found.join("; "), told, "{rule}");
    }
}

#[test]
fn an_allow_for_too_much_and_a_rule_past_its_time_are_told() {
    let (every, any) =
        ("rule this allows every call of every server, changes too", "rule this names a tool and no server");
    let past = "rule this has expired and no longer applies";
    for (rule, told) in [
        ("decision = 'allow'", every),
        ("decision = 'ask'", ""),
        ("decision = 'allow'\nserver = 's'", ""),
        ("decision = 'allow'\nmethod = 'resources/*'", ""),
        ("decision = 'allow'\nidentity = 'PURE|READ|DATA'", ""),
        ("decision = 'allow'\ncapability = 'db:*'", ""),
        ("decision = 'allow'\nmutability = 'PURE'", ""),
        ("decision = 'allow'\naction = 'READ'", ""),
        ("decision = 'allow'\noutput_domain = 'DATA'", ""),
        ("decision = 'allow'\nwhen = [{ arg = 'a', eq = 1 }]", ""),
        ("decision = 'allow'\ntool = 'read_*'", any),
        ("decision = 'ask'\ntool = 'read_*'", ""),
        ("decision = 'allow'\ntool = 'mcp__s__read_*'", ""),
        ("decision = 'allow'\nserver = '*'\ntool = 'read_*'", ""),
        ("decision = 'allow'\nserver = 's'\nexpires = 2020-01-01", past),
        ("decision = 'allow'\nserver = 's'\nexpires = 2099-01-01", ""),
    ] {
        let found = warnings(&format!("[[rule]]\nid = 'this'\n{rule}\n")).join("; ");
        assert!(if told.is_empty() { found.is_empty() } else { found.starts_with(told) }, "{rule}: {found}");
    }
}
