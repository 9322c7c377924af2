//! Rules about requests other than `tools/call`: what they are about, what is asked without them, and rules made from one.

use mcp_approve::behavior::request::of_request;
use mcp_approve::mcp::request;
use mcp_approve::policy::decide::{Question, decide};
use mcp_approve::policy::maker::{Title, proposals};
use mcp_approve::policy::parse::{everything_asks, parse};
use mcp_approve::policy::past::{Ended, PastCall, replay};
use mcp_approve::policy::rate::Recent;
use mcp_approve::policy::rule::{Decision, Policy};
use mcp_approve::policy::under::Roots;
use serde_json::{Value, json};

use super::{NOW, policy, rule_on};

fn ruled(policy: &Policy, method: &str, params: &Value, recent: Option<&Recent>) -> &'static str {
    let arguments = request::arguments(params.clone());
    let behavior = of_request(method, &arguments);
    let question = Question {
        server: "s",
        method: Some(method),
        tool: method,
        behavior: &behavior,
        arguments: &arguments,
        now: NOW,
        recent,
    };
    decide(policy, &question).decision.word()
}

fn rule(decision: &str, keys: &str) -> String {
    format!("[[rule]]\nid = 'r'\ndecision = '{decision}'\n{keys}\n")
}

#[test]
fn a_rule_is_about_calls_or_about_the_methods_it_names() {
    for (keys, method, expected) in [
        ("server = 's'", "resources/read", "allow"),
        ("mutability = 'PURE'", "resources/read", "allow"),
        ("method = 'resources/read'", "resources/read", "deny"),
        ("method = 'resources/read'", "resources/subscribe", "allow"),
        ("method = ['prompts/*', 'tasks/*']", "tasks/cancel", "deny"),
        ("method = '*'", "acme/anything", "deny"),
        ("method = '*'\nserver = 'other'", "acme/anything", "allow"),
        ("method = '*'\naction = 'SEND'", "sampling/createMessage", "deny"),
        ("method = '*'\naction = 'SEND'", "prompts/get", "allow"),
        ("method = '*'\nmutability = 'PURE'", "acme/anything", "allow"),
    ] {
        assert_eq!(ruled(&policy(&rule("deny", keys)), method, &json!({}), None), expected, "{keys} {method}");
    }
    for (keys, expected) in [
        ("method = 'resources/read'", Decision::Allow),
        ("method = '*'", Decision::Deny),
        ("method = 'tools/call'", Decision::Deny),
        ("", Decision::Deny),
    ] {
        assert_eq!(rule_on(&policy(&rule("deny", keys)), "s.read", "PURE READ").decision, expected, "{keys}");
    }
}

#[test]
fn conditions_are_those_of_calls() {
    let file = |uri: &str| json!({ "uri": uri });
    let under = policy(&rule("deny", "method = 'resources/read'\nwhen = [{ arg = 'path', under = '/home' }]"));
    for (uri, expected) in [
        ("file:///home/a", "deny"),
        ("FILE:/home/a", "deny"),
        ("file:///home/%2e%2e/etc", "allow"),
        ("file:///srv/%2e%2e/home/a", "deny"),
        ("file:///srv/a", "allow"),
    ] {
        assert_eq!(ruled(&under, "resources/read", &file(uri), None), expected, "{uri}");
    }
    // What cannot be told is denied: another kind of address has no path.
    assert_eq!(ruled(&under, "resources/read", &file("note:///home"), None), "deny");
    let rate = policy(&rule("deny", "method = 'resources/read'\nwhen = [{ rate = { over = 2, per = '1h' } }]"));
    let mut recent = Recent::default();
    for _ in 0..2 {
        recent.note("s", None, "resources/read", NOW - 1);
        recent.note("s", Some("prompts/get"), "prompts/get", NOW - 1);
    }
    assert_eq!(
        ruled(&rate, "resources/read", &json!({}), Some(&recent)),
        "allow",
        "a tool of that name is another thing"
    );
    (0..2).for_each(|_| recent.note("s", Some("resources/read"), "resources/read", NOW - 1));
    assert_eq!(ruled(&rate, "resources/read", &json!({}), Some(&recent)), "deny");
}

#[test]
fn without_a_rule_a_request_passes_and_one_with_a_hazard_asks() {
    let policy = policy("");
    for method in ["resources/read", "prompts/get", "sampling/createMessage", "elicitation/create", "acme/odd"] {
        assert_eq!(ruled(&policy, method, &json!({ "name": "x" }), None), "allow", "{method}");
    }
    assert_eq!(ruled(&policy, "resources/read", &json!({ "uri": "file:///home/me/.ssh/id_rsa" }), None), "ask");
    let allow = rule("allow", "method = 'resources/read'\nwhen = [{ hazard = 'sensitive-read' }]");
    let covered = super::policy(&allow);
    assert_eq!(ruled(&covered, "resources/read", &json!({ "uri": "file:///home/me/.ssh/id_rsa" }), None), "allow");
    // A file that cannot be read may have denied it; what only lists keeps the session going.
    let broken = everything_asks(String::new());
    assert!(broken.restricts_methods());
    for (method, expected) in
        [("sampling/createMessage", "ask"), ("resources/read", "ask"), ("resources/list", "allow"), ("acme/odd", "ask")]
    {
        assert_eq!(ruled(&broken, method, &json!({}), None), expected, "{method}");
    }
}

#[test]
fn a_rule_that_could_never_decide_is_a_problem() {
    for (keys, problem) in [
        ("method = 'resources/read'\ntool = 'x'", "only tools/call has a tool"),
        ("method = 'initialize'", "a rule cannot cover \"initialize\""),
        ("method = ['prompts/get', 'notifications/progress']", "a rule cannot cover \"notifications/progress\""),
        ("method = 'x[y'", "`method` cannot be"),
        ("method = 7", "`method` is of type integer"),
    ] {
        let problems = parse(&format!("version = 1\n{}", rule("deny", keys))).unwrap_err();
        assert!(problems.iter().any(|one| one.to_string().contains(problem)), "{keys}: {problems:?}");
    }
}

#[test]
fn a_rule_made_from_a_request_is_about_its_method() {
    let arguments = request::arguments(json!({ "uri": "file:///home/me/work/a.txt" }));
    let behavior = of_request("resources/read", &arguments);
    let method = Some("resources/read");
    let call = Question {
        server: "s#2",
        method,
        tool: "resources/read",
        arguments: &arguments,
        behavior: &behavior,
        now: 0,
        recent: None,
    };
    let title = Title { id: "made", decision: Decision::Deny, expires: None, note: None };
    let all = proposals(&call, &Roots::default()).unwrap();
    let widest = all.last().unwrap().text(&title);
    assert_eq!(widest, "[[rule]]\nid = \"made\"\ndecision = \"deny\"\nserver = \"s\"\nmethod = \"resources/read\"\n");
    let policy = policy(&widest);
    assert_eq!(ruled(&policy, "resources/read", &json!({ "uri": "note:///a" }), None), "deny");
    assert_eq!(rule_on(&policy, "s.resources/read", "PURE READ").decision, Decision::Allow);
}

#[test]
fn a_past_request_is_played_again_as_one() {
    let arguments = json!({ "uri": "note:///a" });
    let call = PastCall {
        seq: 1,
        time: NOW - 1,
        ticket: "s-1".into(),
        server: "s".into(),
        method: Some("resources/read".into()),
        tool: "resources/read".into(),
        behavior: of_request("resources/read", &arguments),
        arguments,
        analysed: true,
        ruling: Decision::Ask,
        rule: Some("r".into()),
        ended: Ended::Ran,
        by: "operator".into(),
    };
    let calls = [call];
    let changes = |keys: &str| replay(&policy(&rule("ask", keys)), &calls, NOW).changes.len();
    assert_eq!(changes("method = 'resources/*'"), 0);
    assert_eq!(changes("tool = 'resources/read'"), 1, "no rule about a tool is about it");
}
