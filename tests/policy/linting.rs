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
        ("decision = 'allow'\nserver = 's'", false),
    ] {
        let found = beside(other, allow);
        let told = found.iter().any(|what| what.starts_with("rule this never decides: rule other"));
        assert_eq!(told, shadowed, "{other}: {found:?}");
    }
}
