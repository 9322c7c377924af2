//! Sections A11, A12, C17, F13 and F22: ways around a rule, a scope or the gate itself by requests other than calls.

use std::sync::Arc;

use mcp_approve::audit::record::{By, Kind, VerdictWord};
use mcp_approve::capability::scope::Listed;
use mcp_approve::gate::Config;
use mcp_approve::gate::data::event::Event;
use mcp_approve::mcp::request::{Carries, unknown_meta};
use mcp_approve::policy::role::Role;
use mcp_approve::policy::scope::{Limit, Scope};
use mcp_approve::wire::digest::StreamHasher;
use mcp_approve::wire::message::Gist;

use crate::world::{Did, World, config};

const WRITE: &str = r#"{"path":"/a","content":"x"}"#;
const READ: &str = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"note:///a"}}"#;
const SAMPLE: &str = r#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}}"#;

/// A gate with one rule about `method`.
fn ruled(decision: &str, method: &str) -> World {
    World::with(config(), &format!("version = 1\n[[rule]]\nid = 'r'\ndecision = '{decision}'\nmethod = '{method}'\n"))
        .ready()
}

#[test]
fn a12_both_directions_may_use_one_id() {
    let mut world = ruled("ask", "sampling/createMessage");
    assert_eq!(world.call("7", "write_file", WRITE), [Did::Ask("files-1".into())]);
    assert_eq!(world.server(SAMPLE), [Did::Ask("files-2".into())]);
    // The host cannot answer what it was never asked, and what the host cancels is its own.
    assert_eq!(world.host(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#), []);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    assert_eq!(world.host(cancel), [Did::Settle("files-1".into())]);
    assert!(world.approve("files-2").contains(&Did::Forward(SAMPLE.into())));
    // And the server takes back its own.
    world.call("7", "write_file", WRITE);
    world.server(SAMPLE);
    assert_eq!(world.server(cancel), [Did::Settle("files-4".into())]);
    assert!(world.approve("files-3").iter().any(|one| matches!(one, Did::Forward(_))));
    // A second request under an id that is held is no request.
    world.server(SAMPLE);
    assert!(matches!(world.server(SAMPLE).as_slice(), [Did::Query(_)]));
    world.finish();
}

#[test]
fn a12_no_spelling_of_a_request_gets_around_a_rule() {
    let mut world = ruled("deny", "sampling/createMessage");
    for odd in [
        SAMPLE.replace("\"method\"", "\"Method\""),
        SAMPLE.replace("\"method\":", "\"method\":\"ping\",\"method\":"),
        SAMPLE.replace(
            "\"method\":\"sampling/createMessage\"",
            "\"method\":\"sampling/createMessage\",\"method\":\"ping\"",
        ),
        SAMPLE.replace("\"id\":7", "\"id\":7,\"result\":{}"),
        SAMPLE.replace("\"id\":7", "\"id\":7,\"result\":{}").replace("\"method\"", "\"METHOD\""),
        SAMPLE.replace("\"id\":7", "\"id\":7,\"result\":{}").replace("\"method\"", "\"\\u006dethod\""),
        SAMPLE.replace("\"id\":7,", ""),
        SAMPLE.replace("\"id\":7", "\"id\":7.0"),
        format!("[{SAMPLE}]"),
        format!("{SAMPLE}{SAMPLE}"),
        format!("\u{feff}{SAMPLE}"),
    ] {
        let did = world.server(&odd);
        assert!(!did.iter().any(|one| matches!(one, Did::ToHost(_) | Did::Forward(_))), "{odd}: {did:?}");
    }
    // An escape in a text is decoded by every reader: it is the same request.
    let escaped = SAMPLE.replace("sampling/createMessage", r"sampling\/create\u004dessage");
    assert!(matches!(world.server(&escaped).as_slice(), [Did::Settle(_), Did::Query(_)]));
    // What is too long to be held does not stream past either, and the server hears of it.
    let gist = Gist::Request {
        id: mcp_approve::wire::id::Id::from_token("5").unwrap(),
        method: "sampling/createMessage".into(),
        modern: false,
    };
    assert!(world.gate.keeps_back(&gist) && world.gate.keeps_back(&Gist::Unreadable));
    let did = world.step(Event::ServerStreamed { gist, bytes: 1 << 30, digest: StreamHasher::default().finish() });
    assert!(matches!(did.as_slice(), [Did::Query(_)]), "{did:?}");
    // What else a server says passes as ever, careless spelling or not.
    world.host(r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#);
    for fine in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"the method"}}"#,
        r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#,
    ] {
        assert_eq!(world.server(fine), [Did::ToHost(fine.into())], "{fine}");
    }
    world.finish();
}

#[test]
fn a12_a_request_without_an_id_does_not_pass_while_a_rule_is_about_it() {
    let mut world = ruled("ask", "resources/read");
    let note = READ.replace(r#""id":7,"#, "");
    assert_eq!(world.host(&note), []);
    let fault = world.entries.last().expect("an entry");
    assert_eq!(fault.kind, Kind::Fault);
    let mut world = World::new().ready();
    assert_eq!(world.host(&note), [Did::ToServer(note.clone())], "without a rule it is passed as it is");
}

#[test]
fn a12_a_rate_counts_the_requests_that_a_rule_lets_pass() {
    let rated = |decision: &str, method: &str, bound: &str| {
        let when = format!("when = [{{ rate = {{ {bound}, per = '1h' }} }}]");
        let rule = format!("[[rule]]\nid = 'r'\ndecision = '{decision}'\nmethod = {method}\n{when}\n");
        World::with(config(), &format!("version = 1\n{rule}")).ready()
    };
    let mut world = rated("deny", "'resources/read'", "over = 1");
    assert!(world.host(READ).contains(&Did::Forward(READ.into())));
    let second = READ.replace(":7,", ":8,");
    assert!(matches!(world.host(&second).as_slice(), [Did::Settle(_), Did::Answer(_)]));
    world.finish();
    let mut world = rated("ask", "'sampling/*'", "over = 1");
    assert!(world.server(SAMPLE).contains(&Did::Forward(SAMPLE.into())));
    assert!(matches!(world.server(&SAMPLE.replace(":7,", ":8,")).as_slice(), [Did::Ask(_)]));
    world.deny("files-2", "");
    world.finish();
    // An allow counts too, whoever sends: what it let pass is no longer there for a call.
    let mut world = rated("allow", "['sampling/*', 'tools/call']", "most = 1");
    assert!(world.server(SAMPLE).contains(&Did::Forward(SAMPLE.into())));
    assert!(matches!(world.call("9", "write_file", WRITE).as_slice(), [Did::Ask(_)]));
    world.deny("files-2", "");
    world.finish();
}

#[test]
fn a12_no_address_counts_as_a_path_that_it_may_not_lead_to() {
    let policy = "version = 1\n[[rule]]\nid = 'elsewhere'\ndecision = 'deny'\nmethod = 'resources/read'\n\
        unless = [{ arg = 'path', under = '/srv/public' }]\n";
    let mut world = World::with(config(), policy).ready();
    world.disk_answers = true;
    let read = |params: &str| READ.replace(r#"{"uri":"note:///a"}"#, params);
    let fine = read(r#"{"uri":"file:///srv/public/x%20y"}"#);
    assert!(world.host(&fine).contains(&Did::Forward(fine.clone())));
    world.server(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    for odd in [
        r#"{"uri":"file:///srv/public/x?/../../../home/ada/.bashrc"}"#,
        r#"{"uri":"file:///srv/public/x#/../../../home/ada/.bashrc"}"#,
        r#"{"uri":"note:///a","path":"/srv/public/x"}"#,
        r#"{"uri":"file:///srv/%ff","path":"/srv/public/x"}"#,
        r#"{"uri":["file:///etc/passwd"],"path":"/srv/public/x"}"#,
    ] {
        let did = world.host(&read(odd));
        assert!(did.iter().any(|one| matches!(one, Did::Answer(_))), "{odd}: {did:?}");
    }
    world.finish();
}

fn request(id: u32, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn under(limit: Limit) -> World {
    World::with(Config { scope: Arc::new(Scope::of(limit)), ..config() }, "").ready()
}

fn viewer() -> Limit {
    Limit::Role(Role::given().into_iter().find(|role| role.name == "viewer").expect("a given role"))
}

fn listed(text: &str) -> Limit {
    Limit::Listed(Listed::read(text).expect("a scope"))
}

#[test]
fn a11_a_request_that_is_no_call_passes_byte_for_byte_and_the_file_that_is_in_no_place_asks() {
    let mut world = World::new().ready();
    world.server(r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"r","result":{"roots":[{"uri":"file:///work"}]}}"#);
    for (at, (method, params)) in [
        ("resources/list", r#"{"cursor":"x","big":1e999}"#),
        ("resources/list", r#"{"n":123456789012345678901234567890}"#),
        ("resources/templates/list", "{\"x\":\"\\u200b\"}"),
        ("resources/read", r#"{"uri":"note:///../.ssh/id_rsa","n":12345678901234567890}"#),
        ("resources/read", r#"{"uri":"https://example.com/delete?token=abc"}"#),
        ("resources/subscribe", r#"{"uri":"file:///etc/passwd"}"#),
        ("prompts/get", r#"{"name":"delete_file","arguments":{"path":"/etc/shadow"}}"#),
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/prompt","name":"delete_file"},"argument":{"name":"a","value":"$(x)"}}"#,
        ),
        ("logging/setLevel", r#"{"level":"debug"}"#),
        ("acme/odd", r#"{"command":"rm -rf /","big":1e999}"#),
        ("resources/read", r#"{"uri":"file:///work/a.txt","n":1e999}"#),
    ]
    .into_iter()
    .enumerate()
    {
        let line = request(u32::try_from(at).expect("few") + 100, method, params);
        assert_eq!(world.host(&line), [Did::ToServer(line.clone())], "{method} {params}");
    }
    for (at, (method, params)) in [
        ("resources/read", r#"{"uri":"file:///etc/passwd"}"#),
        ("Resources/Read", r#"{"uri":"file:///etc/passwd"}"#),
        ("resources/read/", r#"{"URI":"file:///etc/passwd"}"#),
        ("resources/read", r#"{"uri":"fi\tle:///etc/passwd"}"#),
        ("resources/read", r#"{"uri":["file:///etc/passwd"]}"#),
        ("resources/read", r#"{"uri":"file:///work/.ssh/id_rsa"}"#),
    ]
    .into_iter()
    .enumerate()
    {
        let line = request(u32::try_from(at).expect("few") + 200, method, params);
        let ticket = format!("files-{}", at + 1);
        assert_eq!(world.host(&line), [Did::Ask(ticket.clone())], "{method} {params}");
        world.deny(&ticket, "");
    }
    world.finish();
}

#[test]
fn c17_a_task_that_is_made_of_a_call_is_decided_as_that_call() {
    let task = |id, tool: &str, arguments: &str| {
        let call = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        request(id, "tasks/create", &format!(r#"{{"method":"tools/call","params":{call},"ttl":60000}}"#))
    };
    let mut world = World::new().ready();
    let read = task(1, "read_file", r#"{"path":"/a"}"#);
    assert_eq!(world.host(&read), [Did::Forward(read.clone())], "it only reads");
    let decision = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).expect("it is on record");
    assert_eq!(decision.detail.get("carries"), Some("read_file".into()));
    assert_eq!(world.host(&task(2, "delete_file", r#"{"path":"/a"}"#)), [Did::Ask("files-2".into())]);
    let card = &world.cards["files-2"];
    assert!(
        card.effect.starts_with("a tool call inside another request: ") && card.danger.is_some(),
        "{}",
        card.effect
    );
    assert!(card.safe.capability.what.contains("delete_file"), "{}", card.safe.capability.what);
    world.deny("files-2", "no");
    // What does not fit the tool is refused, as in a call.
    let did = world.host(&task(3, "delete_file", r#"{"file":"/a"}"#));
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Answer(_)] | [Did::Answer(_)]), "{did:?}");
    world.finish();
}

#[test]
fn f13_meta_that_carries_a_call_or_arguments_is_seen() {
    let mut world = World::new().ready();
    let call = r#"{"name":"delete_file","arguments":{"path":"/a"}}"#;
    for (at, params) in [
        format!(r#"{{"uri":"note:///a","_meta":{{"acme/then":{call}}}}}"#),
        format!(r#"{{"uri":"note:///a","_meta":{{"acme/then":[{{"method":"tools/call","params":{call}}}]}}}}"#),
        format!(r#"{{"uri":"note:///a","_meta":{{"acme/then":{call:?}}}}}"#),
    ]
    .iter()
    .enumerate()
    {
        let ticket = format!("files-{}", at + 1);
        assert_eq!(world.host(&request(9, "resources/read", params)), [Did::Ask(ticket.clone())], "{params}");
        world.deny(&ticket, "");
    }
    world.finish();
    let meta = serde_json::json!({ "progressToken": 1, "acme/id": "a-1", "acme/run": "rm -rf /" });
    let unknown = unknown_meta(&meta, None);
    assert_eq!(unknown, [("acme/id".to_owned(), Carries::Plain), ("acme/run".to_owned(), Carries::Arguments)]);
}

#[test]
fn f22_a_call_in_another_request_is_held_as_that_call() {
    let write = r#"{"name":"write_file","arguments":{"path":"/a","content":"x"}}"#;
    let mut world = World::new().ready();
    for (at, (method, params)) in [
        ("tools/execute", write),
        ("tools/call/", write),
        ("tools\\/call\\/", write),
        ("callTool", write),
        ("acme/anything", write),
        ("resources/list", write),
        ("acme/anything", r#"{"tool":"write_file","input":{"path":"/a","content":"x"}}"#),
        ("tools/execute", r#"{"command":"rm -rf /"}"#),
        ("tools/execute", r#"{"name":"read_file","arguments":{"path":"/a"},"command":"rm -rf /"}"#),
        ("tools/execute", "[1]"),
        ("acme/batch", r#"{"calls":[{"name":"read_file","arguments":{}},{"name":"delete_file","arguments":{}}]}"#),
    ]
    .into_iter()
    .enumerate()
    {
        let ticket = format!("files-{}", at + 1);
        assert_eq!(world.host(&request(9, method, params)), [Did::Ask(ticket.clone())], "{method} {params}");
        world.deny(&ticket, "");
        // Nor without an id, where nothing could be asked.
        let note = request(9, method, params).replace(r#""id":9,"#, "");
        assert_eq!(world.host(&note), [], "{note}");
    }
    // However deep: a line is read to some depth, and the call in it to no less.
    for depth in 50..70 {
        let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(depth), "]".repeat(depth));
        let did = world.host(&request(9, "tools/execute", &deep));
        assert!(!did.iter().any(|one| matches!(one, Did::ToServer(_) | Did::Forward(_))), "{depth}: {did:?}");
        if let [Did::Ask(ticket)] = did.as_slice() {
            world.deny(ticket, "");
        }
    }
    let read = request(9, "tools/execute", r#"{"name":"read_file","arguments":{"path":"/a"}}"#);
    assert_eq!(world.host(&read), [Did::Forward(read.clone())], "what the tool's own call would be allowed");
    world.finish();
    // An allow for the method alone lets no call through, and a deny of the tool holds.
    let rule =
        |decision: &str, about: &str| format!("version = 1\n[[rule]]\nid = 'r'\ndecision = '{decision}'\n{about}\n");
    let mut world = World::with(config(), &rule("allow", "method = 'tools/execute'")).ready();
    assert_eq!(world.host(&request(9, "tools/execute", write)), [Did::Ask("files-1".into())]);
    world.deny("files-1", "");
    world.finish();
    let mut world = World::with(config(), &rule("deny", "tool = 'read_file'")).ready();
    assert!(matches!(world.host(&read).as_slice(), [Did::Settle(_), Did::Answer(_)] | [Did::Answer(_)]));
    world.finish();
}

#[test]
fn f22_under_a_scope_only_its_own_contents_and_lists_pass() {
    let named = r#"{"tools":["read_file"],"resources":["note:///*"],"prompts":["poem"]}"#;
    let note = r#"{"uri":"note:///a"}"#;
    let poem = r#"{"name":"poem"}"#;
    // By list, by a list in its old form, by role: `+` passes, `?` asks, `-` is refused.
    for (method, params, says) in [
        ("resources/list", "{}", "+++"),
        ("resources/templates/list", "{}", "+++"),
        ("prompts/list", "{}", "+++"),
        ("logging/setLevel", r#"{"level":"debug"}"#, "+++"),
        ("tasks/get", r#"{"taskId":"t"}"#, "+++"),
        ("resources/read", note, "+-+"),
        ("resources/subscribe", note, "+-+"),
        ("resources/read", r#"{"uri":"mail:///inbox"}"#, "--+"),
        ("resources/read", r#"{"uri":["note:///a"]}"#, "---"),
        ("prompts/get", poem, "+-+"),
        ("prompts/get", r#"{"name":"other"}"#, "--+"),
        ("completion/complete", r#"{"ref":{"type":"ref/resource","uri":"note:///{x}"}}"#, "+-+"),
        ("completion/complete", r#"{"ref":{"type":"ref/prompt","name":"other"}}"#, "--+"),
        ("tasks/update", r#"{"taskId":"t","inputResponses":{}}"#, "???"),
        ("subscriptions/listen", "{}", "???"),
        ("acme/delete", r#"{"path":"/a"}"#, "???"),
        ("tools/execute", r#"{"name":"write_file","arguments":{"path":"/a","content":"x"}}"#, "---"),
        ("tasks/create", r#"{"method":"tools/call","params":{"name":"delete_file","arguments":{"path":"/a"}}}"#, "---"),
        ("tools/execute", r#"{"command":"rm"}"#, "---"),
        ("tools/execute", r#"{"name":"read_file","arguments":{"path":"/a"}}"#, "+++"),
    ] {
        for (limit, says) in [listed(named), listed(r#"["read_file"]"#), viewer()].into_iter().zip(says.chars()) {
            let mut world = under(limit);
            let line = request(9, method, params);
            let did = world.host(&line);
            let passed = did.contains(&Did::ToServer(line.clone())) || did.contains(&Did::Forward(line.clone()));
            let was = match did.as_slice() {
                [Did::Ask(_)] => '?',
                [Did::Answer(_)] | [Did::Settle(_), Did::Answer(_)] => '-',
                _ if passed => '+',
                _ => '!',
            };
            assert_eq!(was, says, "{method} {params} {did:?}");
            if was == '-' {
                let last = world.entries.last().expect("an entry");
                assert_eq!(
                    (last.kind, last.verdict, last.by),
                    (Kind::Decision, Some(VerdictWord::Deny), Some(By::Scope))
                );
            }
            if was == '?' {
                world.deny("files-1", "");
            }
            // A request that leaves its id out is none that could be asked about.
            let note = line.replace(r#""id":9,"#, "");
            assert_eq!(world.host(&note), [], "{note}");
            world.finish();
        }
    }
    // What a scope gives is on record with its address, whether it passes or not.
    let mut world = under(listed(named));
    world.host(&request(9, "resources/read", note));
    let last = world.entries.last().expect("an entry");
    assert_eq!((last.kind, last.target.as_deref()), (Kind::Passed, Some("note:///a")));
    let did = world.host(&request(8, "resources/read", r#"{"uri":"mail:///inbox"}"#));
    let last = world.entries.last().expect("an entry");
    assert_eq!((last.kind, last.target.as_deref()), (Kind::Decision, Some("mail:///inbox")));
    assert!(format!("{did:?}").contains("Permission denied: resources/read mail:///inbox"), "{did:?}");
    // The protocol's own notifications pass.
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    assert_eq!(world.host(progress), [Did::ToServer(progress.into())]);
    assert_eq!(world.host(r#"{"jsonrpc":"2.0","method":"notifications/acme/run"}"#), []);
    world.finish();
}
