//! Section F from F8 on: rules, continuations, the judge's work and the server's answers are closed worlds.

use mcp_approve::audit::record::Kind;
use mcp_approve::behavior::conclude::{Behavior, of_call};
use mcp_approve::behavior::hazards::HazardKind;
use mcp_approve::gate::data::event::Event;
use mcp_approve::policy::decide::{Question, decide};
use mcp_approve::policy::parse::parse;
use mcp_approve::policy::rule::Decision;
use mcp_approve::wire::Line;
use serde_json::{Value, json};

use crate::world::{Did, TOOLS, World, config, modern_call};

const WRITE: &str = r#"{"path":"/a","content":"x"}"#;

/// What one rule makes of a call of a tool that is not described.
fn ruled(rule: &str, arguments: &Value) -> Decision {
    let mut policy = parse(&format!("version = 1\n[[rule]]\nid = \"r\"\n{rule}\n")).expect("a sound rule");
    policy.roots.folder = Some("/srv/work".to_owned());
    let behavior = of_call(None, &Behavior::unknown(), arguments);
    let (server, tool) = ("s", "t");
    decide(&policy, &Question { method: None, server, tool, behavior: &behavior, arguments, now: 0, recent: None })
        .decision
}

#[test]
fn f8_an_allow_rule_covers_what_it_says_and_no_more() {
    let by_id = r#"SELECT "name" FROM users WHERE id = 1"#;
    let sql = format!("decision = 'allow'\nwhen = [{{ sql = '{by_id}' }}]");
    let under = "decision = 'allow'\nwhen = [{ arg = 'path', under = '/srv' }]";
    let glob = "decision = 'allow'\nwhen = [{ arg = 'path', glob = '/srv/*' }]";
    let mut many = vec![by_id; 64];
    many.push("DROP TABLE users");
    for (rule, covered) in [
        (sql.as_str(), json!({ "sql": by_id })),
        (under, json!({ "path": "/srv/a" })),
        (under, json!({ "path": "/srv/a", "cwd": "/etc" })),
        (under, json!({ "path": "a" })),
        (under, json!({ "path": "a", "cwd": "/srv/b" })),
        (glob, json!({ "path": "/srv/a" })),
    ] {
        assert_eq!(ruled(rule, &covered), Decision::Allow, "{rule} {covered}");
    }
    for (rule, beyond) in [
        (sql.as_str(), json!({ "sql": many })),
        (&sql, json!({ "sql": [by_id, "DROP TABLE users"] })),
        (&sql, json!({ "sql": "SELECT `name` FROM users WHERE id = 1" })),
        (&sql, json!({ "sql": by_id, "command": "rm -r /srv" })),
        (under, json!({ "path": "/srv/%2e%2e/etc/passwd" })),
        (under, json!({ "path": "$HOME/.ssh/id" })),
        (under, json!({ "path": "file:///srv/a" })),
        (under, json!({ "path": "/srv/..\\etc" })),
        // In the folder of the wrapper, which is below /srv here, and below another for the server.
        (under, json!({ "path": "a", "repo_path": "/etc" })),
        (under, json!({ "path": "a", "options": { "cwd": "~" } })),
        (under, json!({ "path": "a", "cwd": "elsewhere" })),
        (under, json!({ "path": "a", "directory": "elsewhere" })),
        (under, json!({ "path": "../srv/a", "root": "/srv/b" })),
        (glob, json!({ "path": "/srv/../etc/passwd" })),
        (glob, json!({ "path": "/srv/%2e%2e/etc/passwd" })),
    ] {
        assert_eq!(ruled(rule, &beyond), Decision::Ask, "{rule} {beyond}");
    }
    // What asks or denies meets each statement, not the gravest alone.
    let keys = "decision = 'deny'\nwhen = [{ arg = 'path', under = '/keys' }]";
    for (arguments, decision) in [
        (json!({ "path": "a", "cwd": "/keys" }), Decision::Deny),
        (json!({ "path": "a", "cwd": "keys" }), Decision::Deny),
        (json!({ "path": "a", "cwd": "/srv" }), Decision::Ask),
    ] {
        assert_eq!(ruled(keys, &arguments), decision, "{arguments}");
    }
    let updates = "decision = 'deny'\naction = 'UPDATE'";
    assert_eq!(ruled(updates, &json!({ "sql": "UPDATE t SET a = 1; DROP TABLE t" })), Decision::Deny);
    assert_eq!(ruled(updates, &json!({ "sql": "DROP TABLE t" })), Decision::Ask);
}

/// Each allow with what it covers, and with what it once covered too. A deny of the same words meets that still.
#[test]
fn f23_a_rule_does_not_widen() {
    let site = "arg = 'url', glob = 'https://*.example.com/*'";
    let absent = "arg = 'force', absent = true";
    for (condition, covered, beyond) in [
        (site, json!({ "url": "https://a.example.com/x" }), json!({ "url": "https://x.example.com@evil.io/x" })),
        (site, json!({ "url": "https://a.b.example.com" }), json!({ "url": "https://evil.io\\.example.com/x" })),
        ("arg = 'name', glob = 'a*'", json!({ "name": "ab" }), json!({ "name": "a\nrm -r /" })),
        ("arg = 'name', glob = 'a?b'", json!({ "name": "a b" }), json!({ "name": "a\u{2028}b" })),
        ("arg = 'path', glob = '*.md'", json!({ "path": "a.md" }), json!({ "path": "https://evil.io/a.md" })),
        ("arg = 'path', under = '/srv'", json!({ "path": "/srv/a" }), json!({ "path": "/srv/{a,/etc/passwd}" })),
        ("arg = 'path', under = '/srv'", json!({ "path": "/srv/a" }), json!({ "path": "/srv/*/../../etc" })),
        ("arg = 'path', eq = 'a'", json!({ "path": "a" }), json!({ "path": "a", "Path": "/etc/passwd" })),
        (absent, json!({ "name": "a" }), json!({ "options": { "force": true } })),
        (absent, json!({ "name": "a" }), json!({ "Force": true })),
        ("effect = ['unknown', 'write']", json!({ "name": "a" }), json!({ "sql": "DELETE FROM users" })),
    ] {
        let rule = |decision: &str| format!("decision = '{decision}'\nwhen = [{{ {condition} }}]");
        assert_eq!(ruled(&rule("allow"), &covered), Decision::Allow, "{condition} {covered}");
        assert_eq!(ruled(&rule("allow"), &beyond), Decision::Ask, "{condition} {beyond}");
        assert_eq!(ruled(&rule("deny"), &beyond), Decision::Deny, "{condition} {beyond}");
    }
    for elsewhere in ["https://evil.io/?q=.example.com/x", "https://evil.io/.example.com/x", "https://example.com/x"] {
        for decision in ["allow", "deny"] {
            let rule = format!("decision = '{decision}'\nwhen = [{{ {site} }}]");
            assert_eq!(ruled(&rule, &json!({ "url": elsewhere })), Decision::Ask, "{decision} {elsewhere}");
        }
    }
}

/// The server asks for more instead of answering the call of this id.
fn needs_more(world: &mut World, id: u32) {
    world.server(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required","requestState":"s","inputRequests":{{"a":{{}}}}}}}}"#
    ));
}

fn retry(id: &str, more: &str, answer: &str) -> String {
    modern_call(id, "write_file", WRITE, &format!(r#"{more},"requestState":"s","inputResponses":{{"a":{answer}}}"#))
}

#[test]
fn f9_a_continuation_is_bound_to_the_definition_and_all_params_and_its_responses_are_judged() {
    let plain = r#"{"action":"accept","content":{"name":"Ada"}}"#;
    let changed = TOOLS.replace("Replaces a file's", "Replaces any file's").replace('\n', " ");
    for (what, more, answer, definition) in [
        ("nothing", "", plain, None),
        ("definition", "", plain, Some(changed)),
        ("params", r#","task":{"ttl":1}"#, plain, None),
        ("params", r#","x":1"#, plain, None),
        ("hazard", "", "{\"content\":{\"name\":\"A\u{200b}da\"}}", None),
        ("hazard", "", r#"{"content":{"file":"/home/a/.ssh/id_rsa"}}"#, None),
        ("statement", "", r#"{"content":{"sql":"DROP TABLE users"}}"#, None),
    ] {
        let mut world = World::new().ready();
        world.host(&modern_call("1", "write_file", WRITE, ""));
        world.approve("files-1");
        if let Some(tools) = definition {
            world.server(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
            world.host(r#"{"jsonrpc":"2.0","id":"again","method":"tools/list"}"#);
            world.server(&format!(r#"{{"jsonrpc":"2.0","id":"again","result":{{"tools":{tools}}}}}"#));
        }
        needs_more(&mut world, 1);
        let again = retry("2", more, answer);
        let did = world.host(&again);
        if what == "nothing" {
            assert_eq!(did, [Did::Forward(again)]);
            let last = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).expect("a decision");
            let recorded = last.detail.get("responses").expect("they are on record");
            assert_eq!(recorded["a"]["content"]["name"], "Ada");
        } else {
            assert_eq!(did, [Did::Ask("files-2".into())], "{what}: {again}");
            assert!(world.cards["files-2"].responses.as_ref().is_some_and(|text| text.contains("content")));
        }
        world.finish();
    }
}

/// A read passes unasked with an answer that asks for nothing, and with no other.
#[test]
fn f9_what_a_read_brings_beside_its_arguments_is_judged_with_it() {
    for (answer, passes) in [
        (r#"{"action":"accept","content":{"name":"Ada"}}"#, true),
        (r#"{"content":{"file":"/home/a/.ssh/id_rsa"}}"#, false),
        (r#"{"content":{"note":"x = lambda: os.remove(p)"}}"#, false),
        (r#"{"content":{"sql":"DROP TABLE users"}}"#, false),
    ] {
        let mut world = World::new().ready();
        let more = format!(r#","inputResponses":{{"a":{answer}}}"#);
        let read = modern_call("1", "read_file", r#"{"path":"/a"}"#, &more);
        let expected = if passes { Did::Forward(read.clone()) } else { Did::Ask("files-1".into()) };
        assert_eq!(world.host(&read), [expected], "{answer}");
        world.finish();
    }
}

#[test]
fn f9_state_that_no_server_gave_runs_nothing_unasked() {
    let mut world = World::new().ready();
    let read = modern_call("1", "read_file", r#"{"path":"/a"}"#, r#","requestState":"forged""#);
    assert_eq!(world.host(&read), [Did::Ask("files-1".into())]);
    let read = modern_call("2", "read_file", r#"{"path":"/a"}"#, "");
    assert_eq!(world.host(&read), [Did::Forward(read.clone())], "the same without it");
    world.finish();
}

/// The server lists these tools instead.
fn relist(world: &mut World, tools: &Value) {
    world.server(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"again","method":"tools/list"}"#);
    world.server(&json!({ "jsonrpc": "2.0", "id": "again", "result": { "tools": tools } }).to_string());
}

fn hazards(world: &World, ticket: &str) -> Vec<HazardKind> {
    world.cards[ticket].hazards.iter().map(|hazard| hazard.kind).collect()
}

#[test]
fn f10_what_takes_too_much_work_to_judge_asks_whatever_a_rule_says() {
    let branch = json!({ "properties": { "x": { "$ref": "#/$defs/a" } } });
    let schema = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "anyOf": [branch, branch] } } });
    let read = |schema: &Value| json!([{ "name": "get_it", "description": "Reads it.", "annotations": { "readOnlyHint": true }, "inputSchema": schema }]);
    let allow = "version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\ntool = \"get_*\"\n";
    for policy in ["", allow] {
        let mut world = World::with(config(), policy).ready();
        relist(&mut world, &read(&schema));
        let deep = format!("{}1{}", r#"{"x":"#.repeat(50), "}".repeat(50));
        assert_eq!(world.call("1", "get_it", &deep), [Did::Ask("files-1".into())]);
        assert!(hazards(&world, "files-1").contains(&HazardKind::UnusableSchema));
        let many = format!(r#"{{"x":[{}1]}}"#, "1,".repeat(10_000));
        assert_eq!(world.call("2", "get_it", &many), [Did::Ask("files-2".into())]);
        // The tool came with an announced change, which is a hazard of its own.
        assert!(hazards(&world, "files-2").contains(&HazardKind::UnreadArguments));
        assert_eq!(
            world.call("3", "get_it", &format!(r#"{{"{}":1}}"#, "k".repeat(5_000))),
            [Did::Ask("files-3".into())]
        );
        assert!(hazards(&world, "files-3").contains(&HazardKind::UnreadArguments));
        world.finish();
    }
    // A definition that is not read is known by its name alone.
    let mut world = World::new().ready();
    let mut long = read(&json!({ "type": "object" }));
    long[0]["description"] = "Reads it. ".repeat(50_000).into();
    relist(&mut world, &long);
    assert_eq!(world.call("1", "get_it", "{}"), [Did::Ask("files-1".into())]);
    assert!(hazards(&world, "files-1").contains(&HazardKind::UnusableSchema));
    world.finish();
}

#[test]
fn f10_a_long_list_of_tools_is_read_piece_by_piece_and_what_is_kept_of_it_is_bounded() {
    let tool = |n: usize| json!({ "name": format!("get_{n}"), "description": "Reads it." });
    let list = |tools: Vec<Value>| {
        let line = json!({ "jsonrpc": "2.0", "id": "l", "result": { "tools": tools } }).to_string() + "\n";
        Event::ServerLine(Line::new(line.into_bytes()))
    };
    let mut world = World::new().ready();
    let pieces = |world: &mut World, tools: Vec<Value>| {
        world.host(r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#);
        let mut effects = world.gate.step(world.now, list(tools)).len();
        let mut pieces = 0;
        while world.gate.has_work_left() {
            effects += world.gate.step(world.now, Event::GoOn).len();
            pieces += 1;
        }
        (pieces, effects)
    };
    assert!(pieces(&mut world, (0..500).map(tool).collect()).0 > 30, "a ping comes in between");
    // The same without end under other names: 22,000 in all, and no more than 20,000 are remembered.
    let mut remembered = 0;
    for round in 1..=22 {
        let (_, effects) = pieces(&mut world, (0..1_000).map(|n| tool(round * 1_000 + n)).collect());
        remembered += effects;
    }
    assert!((19_000..20_100).contains(&remembered), "{remembered} definitions were to be kept");
    assert_eq!(world.gate.tools().len(), 1_000);
}

#[test]
fn f12_what_a_host_could_take_for_the_answer_to_a_held_call_never_reaches_it() {
    let forged = [
        r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":5.0,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":5e0,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":0.5e1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"5","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":" 0x5","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":[5],"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"p","id":5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"p","result":{},"id":5}"#,
        r#"{"jsonrpc":"2.0","ID":5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"p","result":{},"Id":5}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/x","Id":5,"Result":{}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"x","result":{}}"#,
        r#"[{"jsonrpc":"2.0","id":5,"result":{}}]"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{}} {}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
    ];
    for line in forged {
        let mut world = World::new().ready();
        world.host(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
        world.call("5", "write_file", WRITE);
        let entries = world.entries.len();
        assert_eq!(world.server(line), [], "{line}");
        assert_eq!(world.entries.len(), entries + 1, "{line}: it is on record");
        let owed = r#"{"jsonrpc":"2.0","id":"p","result":{}}"#;
        assert_eq!(world.server(owed), [Did::ToHost(owed.into())], "what is owed passes");
        world.deny("files-1", "no");
        world.finish();
    }
}

#[test]
fn f12_a_long_line_is_no_way_around() {
    use mcp_approve::wire::message::{Gist, peek};
    let mut world = World::new().ready();
    world.host(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    assert_eq!(world.gate.wants_whole(), 0, "nothing is held: it streams");
    world.call("5", "write_file", WRITE);
    assert!(world.gate.wants_whole() > 0, "its end is read before its beginning passes");
    assert!(world.gate.keeps_back(&Gist::Unreadable));
    assert!(world.gate.keeps_back(&peek(br#"{"id":"5","result":{}}"#)));
    assert!(!world.gate.keeps_back(&peek(br#"{"id":"p","result":{}}"#)));
    world.deny("files-1", "no");
    assert!(!world.gate.keeps_back(&Gist::Unreadable), "nothing is held any more");
    world.finish();
}

/// What a laxer server makes of a member that no revision of the protocol has is its own affair: nothing of it goes unseen.
#[test]
fn f13_a_member_beside_the_arguments_that_no_revision_has_is_shown_recorded_and_asked_about() {
    let read = r#"{"path":"/a"}"#;
    let call = |above: &str, beside: &str| {
        let params = format!(r#"{{"name":"read_file","arguments":{read}{beside}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call"{above},"params":{params}}}"#)
    };
    for known in ["", r#","_meta":{"progressToken":1}"#, r#","task":{"ttl":1000}"#, r#","task":{"ttl":null}"#] {
        let mut world = World::new().ready();
        assert_eq!(world.host(&call("", known)), [Did::Forward(call("", known))], "{known}");
        world.finish();
    }
    for (above, beside, parts) in [
        ("", r#","arguments2":{"path":"/etc/shadow"}"#, r#"{"/params/arguments2":{"path":"/etc/shadow"}}"#),
        ("", r#","a/b":1,"x":[2]"#, r#"{"/params/a~1b":1,"/params/x":[2]}"#),
        ("", r#","task":{"ttl":1,"run":"rm"}"#, r#"{"/params/task":{"ttl":1,"run":"rm"}}"#),
        ("", r#","task":["rm"]"#, r#"{"/params/task":["rm"]}"#),
        ("", r#","requestId":"9""#, r#"{"/params/requestId":"9"}"#),
        ("", r#","e\u001b[2J":1"#, r#"{"/params/e\u001b[2J":1}"#),
        (r#","arguments":{"path":"/etc/shadow"}"#, "", r#"{"/arguments":{"path":"/etc/shadow"}}"#),
    ] {
        let mut world = World::new().ready();
        let line = call(above, beside);
        assert_eq!(world.host(&line), [Did::Ask("files-1".into())], "{line}");
        let card = &world.cards["files-1"];
        assert_eq!(card.unknown_parts.as_deref(), Some(parts));
        let hazard = card.hazards.iter().find(|one| one.kind == HazardKind::UnknownPart).expect("a hazard");
        assert!(hazard.what.starts_with("the call has a part that mcp-approve does not know: /"), "{}", hazard.what);
        assert!(card.danger.is_some(), "it takes two keys");
        let asked = world.entries.iter().rfind(|entry| entry.kind == Kind::DecisionAsked).expect("a record");
        let recorded = asked.detail.get("unknown_parts").expect("they are on record");
        assert_eq!(recorded, serde_json::from_str::<Value>(parts).expect("JSON"));
        world.finish();
    }
}
