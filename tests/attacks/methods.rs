//! Section A12: ways around a rule about requests other than calls.

use mcp_approve::audit::record::Kind;
use mcp_approve::gate::data::event::Event;
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
    let fine = read(r#"{"uri":"file:///srv/public/x%3f"}"#);
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
