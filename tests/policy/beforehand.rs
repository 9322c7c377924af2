//! What a policy says of a tool before anybody calls it: denied whatever the arguments are; which paths must be followed.

use std::collections::BTreeSet;

use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::policy::decide::Question;
use mcp_approve::policy::decide::denied_beforehand as denied;
use mcp_approve::policy::fit::paths_wanted;
use mcp_approve::policy::parse::parse_at;
use mcp_approve::policy::under::Roots;
use serde_json::json;

use super::{NOW, behavior, policy};

#[test]
fn a_tool_is_denied_beforehand_where_no_argument_could_help() {
    let rule = |decision: &str, rest: &str| format!("[[rule]]\nid = 'r'\ndecision = '{decision}'\n{rest}\n");
    let deny = |rest: &str| rule("deny", rest);
    let nothing = "[defaults]\npure = 'deny'\nmutates = 'deny'\n";
    let by_rule = Some("rule r denies every call of it");
    let by_default = Some("the default for PURE denies it, and no rule covers it");
    let when = "when = [{ arg = 'p', eq = 1 }]";
    for (text, words, expected) in [
        (String::new(), "PURE READ", None),
        (deny("tool = 'x'"), "PURE READ", by_rule),
        (deny("tool = 'y'"), "PURE READ", None),
        (deny("tool = 'x'\nmutability = 'MUTATES'"), "PURE READ", None),
        (deny("tool = 'x'\nexpires = 2020-01-01"), "PURE READ", None),
        (deny(&format!("tool = 'x'\n{when}")), "PURE READ", None),
        (deny("tool = 'x'\nunless = [{ arg = 'p', eq = 1 }]"), "PURE READ", None),
        (rule("ask", "tool = 'x'"), "PURE READ", None),
        (nothing.to_owned(), "PURE READ", by_default),
        (nothing.to_owned(), "MUTATES UPDATE", Some("the default for MUTATES denies it, and no rule covers it")),
        ("[defaults]\npure = 'deny'\n".to_owned(), "MUTATES UPDATE", None),
        ("[defaults]\nmutates = 'deny'\n".to_owned(), "PURE READ", None),
        // A rule that speaks of this tool may let a call through; one that denies cannot, nor one for another tool.
        (format!("{nothing}{}", rule("allow", "server = 's'\ntool = 'x'")), "PURE READ", None),
        (format!("{nothing}{}", rule("ask", "tool = 'x'")), "PURE READ", None),
        (format!("{nothing}{}", rule("allow", &format!("server = 's'\ntool = 'x'\n{when}"))), "PURE READ", None),
        (format!("{nothing}{}", rule("allow", "server = 's'\ntool = 'x'")), "PURE READ sensitive-read", None),
        (format!("{nothing}{}", rule("ask", "tool = 'x'\nunless = [{ arg = 'p', absent = true }]")), "PURE READ", None),
        (format!("{nothing}{}", rule("allow", "server = 's'\ntool = 'y'")), "PURE READ", by_default),
        (format!("{nothing}{}", deny(&format!("tool = 'x'\n{when}"))), "PURE READ", by_default),
    ] {
        let found = denied(&policy(&text), "s#2", "x", &behavior(words), NOW);
        assert_eq!(found.as_deref(), expected, "{words}\n{text}");
    }
}

#[test]
fn only_paths_that_a_rule_for_this_call_compares_are_followed() {
    let roots = Roots { home: Some("/home/me".to_owned()), ..Roots::default() };
    let rule = |rest: &str| format!("version = 1\n[[rule]]\nid = 'r'\ndecision = 'deny'\n{rest}\n");
    let when = "when = [{ arg = 'path', under = ['~/a', '/b'] }]";
    let unless = "unless = [{ arg = 'path', under = '/b' }]";
    for (text, arguments, expected) in [
        (rule(&format!("tool = 'x'\n{when}")), json!({ "path": "k" }), vec!["k", "/home/me/a", "/b"]),
        (rule(&format!("tool = 'x'\n{unless}")), json!({ "path": "/k" }), vec!["/k", "/b"]),
        (rule(&format!("tool = 'y'\n{when}")), json!({ "path": "k" }), vec![]),
        (rule(&format!("tool = 'x'\n{when}")), json!({ "path": 7 }), vec![]),
        (rule(&format!("tool = 'x'\n{when}")), json!({ "other": "k" }), vec![]),
        (rule("tool = 'x'\nwhen = [{ arg = 'path', glob = '/b/*' }]"), json!({ "path": "k" }), vec![]),
    ] {
        let policy = parse_at(&text, &roots).unwrap();
        let behavior = Behavior::unknown();
        let question = Question {
            method: None,
            server: "s",
            tool: "x",
            behavior: &behavior,
            arguments: &arguments,
            now: NOW,
            recent: None,
        };
        let expected: BTreeSet<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(paths_wanted(&policy, &question), expected, "{arguments}\n{text}");
    }
}
