//! Rules made from a call: what each scope covers, and that it covers nothing else.

use std::path::Path;

use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::policy::decide::{Question, decide};
use mcp_approve::policy::maker::{Cannot, Proposal, Scope, Title, id_for, proposals};
use mcp_approve::policy::parse::parse_at;
use mcp_approve::policy::rule::Decision;
use mcp_approve::policy::under::Roots;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{NOW, behavior};

fn roots() -> Roots {
    Roots { home: Some("/home/me".to_owned()), folder: Some("/home/me/work".to_owned()), ..Roots::default() }
}

fn made(server: &str, tool: &str, words: &str, arguments: &Value) -> Vec<Proposal> {
    proposals(
        &Question { method: None, server, tool, arguments, behavior: &behavior(words), now: 0, recent: None },
        &roots(),
    )
    .unwrap()
}

fn says(words: &str, arguments: &Value) -> Vec<String> {
    made("s", "t", words, arguments).iter().map(|one| one.scope.says()).collect()
}

const TITLE: Title<'_> = Title { id: "made", decision: Decision::Allow, expires: None, note: None };

#[test]
fn scopes_go_from_this_call_to_this_tool() {
    for (arguments, expected) in [
        (
            json!({ "path": "/home/me/work/notes/a.txt", "content": "x" }),
            &["this exact call", "this tool with path under ~/work/notes", "this tool"][..],
        ),
        (json!({ "path": "b.txt" }), &["this exact call", "this tool with path under ~/work", "this tool"]),
        (json!({ "path": "/home/me/b.txt" }), &["this exact call", "this tool with the same path", "this tool"]),
        (json!({ "path": "/etc/passwd" }), &["this exact call", "this tool with the same path", "this tool"]),
        (json!({ "path": "/tmp/x/../y" }), &["this exact call", "this tool with the same path", "this tool"]),
        (
            json!({ "path": "/srv/a/b/c/d.txt" }),
            &[
                "this exact call", "this tool with path under /srv/a/b/c", "this tool with path under /srv/a/b",
                "this tool with path under /srv/a", "this tool",
            ],
        ),
        (
            json!({ "source": "/tmp/a/b/1", "destination": "/tmp/a/c/2" }),
            &["this exact call", "this tool with source and destination under /tmp/a", "this tool"],
        ),
        (
            json!({ "owner": "ada", "repo": "engine", "title": "x" }),
            &["this exact call", "this tool with the same owner and repo", "this tool"],
        ),
        (
            json!({ "url": "https://example.org:8080/a?b", "n": 1 }),
            &["this exact call", "this tool with url at https://example.org:8080/", "this tool"],
        ),
        (json!({ "url": "https://me@example.org/" }), &["this exact call", "this tool with the same url", "this tool"]),
        (json!({ "title": null }), &["this tool"]),
        (json!({}), &["this exact call", "this tool"]),
    ] {
        assert_eq!(says("MUTATES UPDATE", &arguments), expected, "{arguments}");
    }
}

#[test]
fn a_path_that_is_a_folder_itself_is_offered_before_what_it_lies_in() {
    let narrowest = |tool: &str, arguments: &Value| made("s", tool, "MUTATES UPDATE", arguments)[1].scope.says();
    let path = json!({ "path": "/srv/a/b/c" });
    assert_eq!(narrowest("create_directory", &path), "this tool with path under /srv/a/b/c");
    assert_eq!(narrowest("write_file", &path), "this tool with path under /srv/a/b");
    assert_eq!(narrowest("t", &json!({ "path": "/srv/a/b/c/" })), "this tool with path under /srv/a/b/c");
    assert_eq!(
        narrowest("t", &json!({ "working_dir_path": "/srv/a/b/c" })),
        "this tool with working_dir_path under /srv/a/b/c"
    );
    let pair = json!({ "source": "/srv/a/b/1", "destination": "/srv/a/c/2" });
    assert_eq!(narrowest("move_directory", &pair), "this tool with source and destination under /srv/a");
}

#[test]
fn what_is_written_can_be_read_by_a_person() {
    let arguments = json!({ "path": "/home/me/work/n\u{202e}/a.txt", "n": 1.50 });
    let all = made("files#2", "mcp__write*", "MUTATES UPDATE sensitive-read", &arguments);
    let title = Title { id: "notes", expires: Some(NOW), note: Some("from files-3"), ..TITLE };
    insta::assert_snapshot!(all[1].text(&title), @r#"
    [[rule]]
    id = "notes"
    decision = "allow"
    server = "files"
    tool = "mcp_\\_write\\*"
    identity = "MUTATES|UPDATE|DATA"
    when = [
      { arg = "path", under = "~/work/n\u202E" },
      { hazard = "sensitive-read" },
    ]
    expires = 2026-11-20
    note = "from files-3"
    "#);
    let deny = Title { decision: Decision::Deny, expires: Some(NOW + 1000), ..TITLE };
    insta::assert_snapshot!(all.last().unwrap().text(&deny), @r#"
    [[rule]]
    id = "made"
    decision = "deny"
    server = "files"
    tool = "mcp_\\_write\\*"
    expires = 2026-11-21T00:00:01Z
    "#);
    assert_eq!(all.last().unwrap().warnings().len(), 2);
}

#[test]
fn no_rule_is_made_where_no_allow_may_be() {
    for (words, arguments, cannot) in [
        ("MUTATES UPDATE hidden-characters", json!({}), Cannot::Hazard("hidden-characters")),
        ("PURE READ changed-definition", json!({}), Cannot::Hazard("changed-definition")),
        ("PURE READ", json!("…"), Cannot::Arguments("they are not an object")),
    ] {
        let call = Question {
            method: None,
            server: "s",
            tool: "t",
            arguments: &arguments,
            behavior: &behavior(words),
            now: 0,
            recent: None,
        };
        assert_eq!(proposals(&call, &roots()).unwrap_err(), cannot);
    }
}

#[test]
fn ids_are_plain_and_not_taken() {
    let taken = |id: &str| id == "write-file";
    assert_eq!(id_for("write_file", taken), "write-file-2");
    assert_eq!(id_for("löschen: alles", taken), "l-schen--alles");
    assert_eq!(id_for("→", taken), "rule");
}

/// What a scope says it covers, told without the policy's own reading of it.
fn stated(scope: &Scope, origin: &Value, other: &Value) -> bool {
    let under = |path: &str, folder: &str| {
        let at = |text: &str| match text.strip_prefix("~/") {
            Some(rest) => format!("/home/me/{rest}"),
            None if text.starts_with('/') => text.to_owned(),
            None => format!("/home/me/work/{text}"),
        };
        !path.split('/').any(|word| word == "..") && Path::new(&at(path)).starts_with(at(folder))
    };
    match scope {
        Scope::ThisCall => origin == other,
        Scope::Same(names) => names.iter().all(|name| origin.get(name) == other.get(name)),
        Scope::Under { names, folder } => {
            names.iter().all(|name| other[name.as_str()].as_str().is_some_and(|path| under(path, folder)))
        }
        Scope::Address { name, start } => other[name.as_str()].as_str().is_some_and(|text| text.starts_with(start)),
        Scope::ThisTool => true,
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "", "a", "A", "*", "a*", "\\", "\"", "\n", "é", "/a", "/home/me/work/x", "/home/me/work/x/y", "~/work/x/z",
        "/home/me/work/../.ssh/id", "x/y", "../x", "/etc/x/y/z", "/tmp/q/1", "/tmp/q/2", "https://a.b/c",
        "https://a.b.c/d", "https://a.b@c/", "main", "true", "1", "'''", "\u{1F600}", "{ }",
    ]);
    let leaf = prop_oneof![
        6 => word.prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => (-3i64..3).prop_map(Value::from),
        1 => Just(json!(1.5)),
        1 => Just(json!(9_223_372_036_854_775_808_u64)),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((any_name(), inner), 0..3).prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

fn any_name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "path", "source", "destination", "owner", "repo", "url", "n", "", "/a", "a b", "~", "é\"",
    ])
    .prop_map(str::to_owned)
}

fn any_arguments() -> impl Strategy<Value = Value> {
    prop::collection::vec((any_name(), any_value()), 0..4).prop_map(|all| Value::Object(all.into_iter().collect()))
}

fn any_call() -> impl Strategy<Value = (String, String, String, Value)> {
    let servers = prop::sample::select(vec!["s", "s#2", "S", "s*", "t", "[s]"]);
    let tools = prop::sample::select(vec!["t", "T", "t*", "tt", "mcp__s__t", "[t]", "t\\"]);
    let words = prop::sample::select(vec!["MUTATES UPDATE", "MUTATES DELETE", "PURE READ", "PURE READ sensitive-read"]);
    (servers, tools, words, any_arguments())
        .prop_map(|(server, tool, words, arguments)| (server.to_owned(), tool.to_owned(), words.to_owned(), arguments))
}

/// The other call: often the same with one argument changed.
fn neighbour() -> impl Strategy<Value = (bool, bool, bool, (String, String, String, Value), String, Value)> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any_call(), any_name(), any_value())
}

fn never_outside(
    origin: (String, String, String, Value),
    near: (bool, bool, bool, (String, String, String, Value), String, Value),
) -> Result<(), TestCaseError> {
    let (server, tool, words, arguments) = origin;
    let (same_names, same_words, same_arguments, other, name, value) = near;
    let (mut other_server, mut other_tool, mut other_words, mut other_arguments) = other;
    if same_names {
        (other_server, other_tool) = (server.clone(), tool.clone());
    }
    if same_words {
        other_words.clone_from(&words);
    }
    if same_arguments {
        other_arguments = arguments.clone();
        other_arguments[&name] = value;
    }
    let (what, other_what): (Behavior, Behavior) = (behavior(&words), behavior(&other_words));
    let call = Question {
        method: None,
        server: &server,
        tool: &tool,
        arguments: &arguments,
        behavior: &what,
        now: 0,
        recent: None,
    };
    let all = proposals(&call, &roots()).unwrap();
    prop_assert_eq!(&all.last().unwrap().scope, &Scope::ThisTool);
    for proposal in all {
        let text = format!("version = 1\n{}", proposal.text(&TITLE));
        let policy = parse_at(&text, &roots()).map_err(|wrong| TestCaseError::fail(format!("{text}\n{wrong:?}")))?;
        let rules = |server, tool, behavior, arguments| {
            let question = Question { method: None, server, tool, behavior, arguments, now: NOW, recent: None };
            decide(&policy, &question).rule.is_some()
        };
        prop_assert!(rules(&server, &tool, &what, &arguments), "not its own call: {}", text);
        let base = |name: &str| name.trim_end_matches("#2").to_owned();
        let covered = base(&server) == base(&other_server)
            && tool == other_tool
            && what.identity == other_what.identity
            && (what.hazards.is_empty() == other_what.hazards.is_empty())
            && stated(&proposal.scope, &arguments, &other_arguments);
        let matched = rules(&other_server, &other_tool, &other_what, &other_arguments);
        prop_assert!(covered || !matched, "{} matches {}.{} {}", text, other_server, other_tool, other_arguments);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_made_rule_matches_its_call_and_nothing_outside_its_scope(origin in any_call(), near in neighbour()) {
        never_outside(origin, near)?;
    }
}

/// The same, 100,000 times: in four parts, so that they run side by side.
mod at_length {
    use super::{ProptestConfig, any_call, neighbour, never_outside, proptest};

    macro_rules! part {
        ($name:ident) => {
            proptest! {
                #![proptest_config(ProptestConfig { cases: 25_000, failure_persistence: None, ..ProptestConfig::default() })]

                #[test]
                #[ignore = "minutes: cargo test --test tables at_length -- --ignored"]
                fn $name(origin in any_call(), near in neighbour()) {
                    never_outside(origin, near)?;
                }
            }
        };
    }

    part!(one);
    part!(two);
    part!(three);
    part!(four);
}
