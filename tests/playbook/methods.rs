//! Requests other than calls, in both directions: what passes and leaves its number, what a rule asks about or denies (ways
//! around such a rule are in `attacks`).

use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::gate::data::event::Side;
use mcp_approve::gate::data::terms::{Covers, Lasts};
use mcp_approve::gate::{Config, Unattended};
use serde_json::Value;

use crate::world::{Did, World, config};

const READ: &str = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"note:///a"}}"#;
const SAMPLE: &str = r#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}}"#;

/// A gate with one rule about `method`.
fn ruled(decision: &str, method: &str) -> World {
    World::with(config(), &format!("version = 1\n[[rule]]\nid = 'r'\ndecision = '{decision}'\nmethod = '{method}'\n"))
        .ready()
}

fn detail(entry: &Entry, name: &str) -> Option<Value> {
    entry.detail.get(name)
}

/// The one answer: its error.
fn error(did: &[Did]) -> Value {
    let line = did.iter().find_map(|one| match one {
        Did::Answer(line) | Did::Query(line) => Some(line),
        _ => None,
    });
    let line: Value = serde_json::from_str(line.expect("an answer")).expect("JSON");
    line["error"].clone()
}

fn file(uri: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"f","method":"resources/read","params":{{"uri":"{uri}"}}}}"#)
}

/// What is not read is not let through by the default that lets other requests pass.
#[test]
fn a_request_with_more_values_than_are_read_is_asked() {
    for (values, asks) in [(10, false), (10_100, true)] {
        let mut world = ruled("ask", "prompts/*");
        let many = vec!["0"; values].join(",");
        let request = READ.replace(r#""uri""#, &format!(r#""more":[{many}],"uri""#));
        let passes = [Did::ToServer(request.clone())];
        let did = world.host(&request);
        assert_eq!((did == passes, did == [Did::Ask("files-1".into())]), (!asks, asks), "{values} values");
        world.finish();
    }
}

#[test]
fn what_no_rule_is_about_passes_and_leaves_its_number() {
    let mut world = World::new().ready();
    assert_eq!(world.host(READ), [Did::ToServer(READ.into())]);
    let answer = r#"{"jsonrpc":"2.0","id":7,"result":{"contents":[]}}"#;
    assert_eq!(world.server(answer), [Did::ToHost(answer.into())]);
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    assert_eq!(world.server(progress), [Did::ToHost(progress.into())]);
    assert_eq!(world.server(SAMPLE), [Did::ToHost(SAMPLE.into())]);
    // What does more than read is recorded at once, each by itself.
    let sampled = world.entries.iter().find(|entry| entry.tool.as_deref() == Some("sampling/createMessage"));
    let sampled = sampled.expect("a record of its own");
    assert_eq!(sampled.kind, Kind::Passed);
    assert_eq!(detail(sampled, "from"), Some("server".into()));
    assert_eq!(sampled.target.as_deref(), Some("hi"));
    world.wait(31);
    let count = world.entries.iter().filter_map(|entry| detail(entry, "passed")).next_back().expect("the numbers");
    let row = |method: &str| {
        let rows = count.as_array().expect("rows");
        rows.iter().find(|row| row["method"] == method).unwrap_or_else(|| panic!("{method}: {count}")).clone()
    };
    assert_eq!((&row("resources/read")["lines"], &row("resources/read")["from"]), (&1.into(), &"host".into()));
    assert_eq!(row("notifications/progress")["digests"].as_array().map(Vec::len), Some(1));
    assert_eq!(row("sampling/createMessage")["from"], "server");
    // Nothing more passes, so nothing more is said at the end.
    world.close(Side::Server);
    let counts = world.entries.iter().filter(|entry| detail(entry, "passed").is_some()).count();
    assert_eq!(counts, 1);
}

#[test]
fn numbers_are_recorded_when_the_server_ends() {
    let mut world = World::new().ready();
    world.host(READ);
    world.close(Side::Server);
    let at = world.entries.iter().position(|entry| detail(entry, "passed").is_some()).expect("the numbers");
    assert_eq!(world.entries[at + 1].kind, Kind::ServerEnd);
}

#[test]
fn a_request_of_the_host_is_asked_about_and_runs_as_it_was_shown() {
    let mut world = ruled("ask", "resources/read");
    assert_eq!(world.host(READ), [Did::Ask("files-1".into())]);
    let card = &world.cards["files-1"];
    assert_eq!((card.method.as_deref(), card.target.as_deref()), (Some("resources/read"), Some("note:///a")));
    assert_eq!(card.arguments, r#"{"uri":"note:///a"}"#);
    let did = world.approve("files-1");
    assert!(did.contains(&Did::Forward(READ.into())), "{did:?}");
    let decision = world.entries.iter().find(|entry| entry.kind == Kind::Decision).expect("a decision");
    assert_eq!(detail(decision, "method"), Some("resources/read".into()));
    let answer = r#"{"jsonrpc":"2.0","id":7,"result":{"contents":[]}}"#;
    assert!(world.server(answer).contains(&Did::ToHost(answer.into())));
    assert!(world.entries.iter().any(|entry| entry.kind == Kind::Outcome));
    // Another one is denied by the operator: the host is answered with an error, not with a tool's result.
    let second = READ.replace(":7,", ":8,");
    world.host(&second);
    let refused = error(&world.deny("files-2", "no"));
    assert_eq!(refused["code"], -32000);
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("request was NOT passed on")), "{refused}");
    world.finish();
}

#[test]
fn nothing_about_a_request_can_be_edited_or_granted() {
    let mut world = ruled("ask", "prompts/*");
    world.host(r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p"}}"#);
    assert!(matches!(world.edit("files-1", r#"{"name":"q"}"#).as_slice(), [Did::Refuse(_)]));
    let granted = world.grant("files-1", Covers::Tool, Lasts::Session);
    assert!(matches!(granted.as_slice(), [Did::Refuse(_)]), "{granted:?}");
    world.deny("files-1", "");
    world.finish();
}

#[test]
fn a_denied_request_of_the_host_is_answered_and_recorded() {
    for method in ["completion/complete", "tasks/cancel", "acme/odd", "resources/subscribe"] {
        let mut world = ruled("deny", method);
        let line = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{"name":"x"}}}}"#);
        let did = world.host(&line);
        assert_eq!(error(&did)["code"], -32000, "{method}: {did:?}");
        assert!(!did.contains(&Did::ToServer(line.clone())), "{method}");
        let decision = world.entries.iter().find(|entry| entry.kind == Kind::Decision).expect("a decision");
        assert_eq!((decision.tool.as_deref(), decision.rule.as_deref()), (Some(method), Some("r")));
        world.finish();
    }
}

#[test]
fn a_rule_for_everything_leaves_the_session_and_calls_follow_it_too() {
    let mut world = ruled("ask", "*");
    // The handshake has passed; the list of tools was asked about, and nothing is known of them.
    let did = world.host(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert!(matches!(did.as_slice(), [Did::ToServer(_)]), "{did:?}");
    let did = world.host(r#"{"jsonrpc":"2.0","id":2,"method":"resources/list"}"#);
    assert!(matches!(did.as_slice(), [Did::Ask(_)]), "{did:?}");
    let note = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    assert_eq!(world.host(note), [Did::ToServer(note.into())]);
    let mut world = ruled("deny", "tools/call");
    let did = world.call("3", "read_file", r#"{"path":"/a"}"#);
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Answer(_)]), "{did:?}");
    world.finish();
}

#[test]
fn a_file_outside_of_the_declared_folders_asks() {
    let mut world = World::new().ready();
    let outside = file("file:///etc/hosts");
    assert_eq!(world.host(&outside), [Did::Ask("files-1".into())], "it is in no place");
    world.deny("files-1", "");
    world.server(r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"r","result":{"roots":[{"uri":"file:///work"}]}}"#);
    for inside in ["file:///work/a.txt", "file://localhost/work/%61", "note:///etc/hosts", "FILE:///work"] {
        let line = file(inside);
        assert_eq!(world.host(&line), [Did::ToServer(line.clone())], "{inside}");
        world.server(r#"{"jsonrpc":"2.0","id":"f","result":{}}"#);
    }
    for (at, outside) in [
        "file:///etc/hosts", "FILE:///etc/hosts", "file:/etc/hosts", "file:///work/../etc/hosts",
        "file:///work/%2e%2e/etc/hosts", "file://elsewhere/work/a", "file:///workshop/a", " file:///etc/hosts",
    ]
    .iter()
    .enumerate()
    {
        let ticket = format!("files-{}", at + 2);
        assert_eq!(world.host(&file(outside)), [Did::Ask(ticket.clone())], "{outside}");
        assert!(!world.cards[&ticket].hazards.is_empty(), "{outside}");
        world.deny(&ticket, "");
    }
    world.finish();
}

#[test]
fn a_request_of_the_server_is_asked_about_and_denied() {
    let mut world = ruled("ask", "sampling/*");
    assert_eq!(world.server(SAMPLE), [Did::Ask("files-1".into())]);
    assert_eq!(world.cards["files-1"].target.as_deref(), Some("hi"));
    let did = world.approve("files-1");
    assert!(did.contains(&Did::Forward(SAMPLE.into())), "{did:?}");
    let answer = r#"{"jsonrpc":"2.0","id":7,"result":{"role":"assistant"}}"#;
    assert_eq!(world.host(answer), [Did::ToServer(answer.into())]);
    let second = SAMPLE.replace(":7,", ":8,");
    world.server(&second);
    let did = world.deny("files-2", "not now");
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Query(_)]), "the server is answered: {did:?}");
    assert_eq!(error(&did)["code"], -1);
    // Nobody answers in time.
    world.server(&SAMPLE.replace(":7,", ":9,"));
    let did = world.wait(301);
    assert!(did.iter().any(|one| matches!(one, Did::Query(line) if line.contains(r#""id":9"#))), "{did:?}");
    world.finish();
    let mut world = ruled("deny", "elicitation/create");
    let did = world.server(r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}"#);
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Query(_)]), "{did:?}");
    assert_eq!(world.server(SAMPLE), [Did::ToHost(SAMPLE.into())], "no rule covers this");
    world.finish();
}

#[test]
fn with_no_console_open_what_would_be_asked_is_denied() {
    let policy = "version = 1\n[[rule]]\nid = 'r'\ndecision = 'ask'\nmethod = ['resources/read', 'sampling/*']\n";
    let mut world = World::with(Config { unattended: Unattended::Deny, ..config() }, policy).ready();
    let did = world.host(READ);
    assert!(error(&did)["message"].as_str().is_some_and(|text| text.contains("no console is open")), "{did:?}");
    assert!(matches!(world.server(SAMPLE).as_slice(), [Did::Settle(_), Did::Query(_)]));
    world.finish();
}

#[test]
fn conditions_are_about_the_params() {
    let policy = "version = 1
[[rule]]
id = 'home'
decision = 'deny'
method = 'resources/read'
when = [{ arg = 'path', under = '/home' }]
[[rule]]
id = 'often'
decision = 'deny'
method = 'completion/*'
when = [{ arg = '/ref/name', glob = 'sql*' }]
";
    let mut world = World::with(config(), policy).ready();
    world.disk_answers = true;
    let read = file("file:///home/ada/a");
    assert_eq!(error(&world.host(&read))["code"], -32000);
    let elsewhere = file("file:///srv/public/a").replace("\"f\"", "\"g\"");
    let did = world.host(&elsewhere);
    assert!(
        did.contains(&Did::Forward(elsewhere.clone())) || did.contains(&Did::ToServer(elsewhere.clone())),
        "{did:?}"
    );
    let complete = |name: &str, id: u8| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"completion/complete","params":{{"ref":{{"type":"ref/prompt","name":"{name}"}},"argument":{{"name":"x","value":"y"}}}}}}"#
        )
    };
    assert_eq!(error(&world.host(&complete("sql-fix", 1)))["code"], -32000);
    let other = complete("poem", 2);
    assert_eq!(world.host(&other), [Did::ToServer(other.clone())]);
    world.finish();
}
