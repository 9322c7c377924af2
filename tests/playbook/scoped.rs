//! A scope: what lies outside is neither listed nor forwarded, whatever it is called and whatever the call does.

use std::sync::Arc;

use crate::world::{Did, World, call, config};
use mcp_approve::audit::record::{By, Kind, VerdictWord};
use mcp_approve::capability::scope::Listed;
use mcp_approve::gate::Config;
use mcp_approve::gate::data::event::{Event, Side};
use mcp_approve::policy::role::Role;
use mcp_approve::policy::scope::{Limit, Scope};
use mcp_approve::wire::message::Gist;

fn listed(text: &str) -> Scope {
    Scope::of(Limit::Listed(Listed::read(text).expect("a scope")))
}

fn role(name: &str) -> Scope {
    Scope::of(Limit::Role(Role::given().into_iter().find(|role| role.name == name).expect("a given role")))
}

fn under(scope: Scope) -> World {
    World::with(Config { scope: Arc::new(scope), ..config() }, "")
}

/// A call that is refused: its answer, and the record's reason.
fn refused(world: &mut World, did: &[Did]) -> (String, String) {
    let ([Did::Answer(text)] | [Did::Settle(_), Did::Answer(text)]) = did else { panic!("{did:?}") };
    let last = world.entries.last().expect("an entry");
    assert_eq!((last.kind, last.verdict, last.by), (Kind::Decision, Some(VerdictWord::Deny), Some(By::Scope)));
    let reason = last.detail.get("reason").map(|reason| reason.to_string());
    (text.clone(), reason.unwrap_or_default())
}

/// A page of the server's, and what the host gets of it.
fn page(world: &mut World, id: &str, content: &str) -> Vec<Did> {
    world.host(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#));
    world.server(content)
}

#[test]
fn a_tool_outside_the_scope_is_refused_and_recorded() {
    let mut world = under(listed(r#"["read_file"]"#)).ready();
    let read = call("7", "read_file", r#"{"path":"/a"}"#);
    assert_eq!(world.host(&read), [Did::Forward(read.clone())]);
    let did = world.call("8", "write_file", r#"{"path":"/a","content":"x"}"#);
    let (text, reason) = refused(&mut world, &did);
    assert!(
        text.contains(r#""code":-32000"#)
            && text.contains(r#""Permission denied: write_file: the scope does not list write_file"#),
        "{text}"
    );
    assert!(reason.contains("does not list write_file"), "{reason}");
    world.finish();
}

#[test]
fn a_role_refuses_by_what_a_tool_is_and_by_what_a_call_does() {
    let tools = r#"[
        {"name":"read_note","description":"Reads a note.","annotations":{"readOnlyHint":true},
         "inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}},
        {"name":"write_file","description":"Replaces a file's content."},
        {"name":"query","description":"Runs a read-only SQL query.","annotations":{"readOnlyHint":true},
         "inputSchema":{"type":"object","properties":{"sql":{"type":"string"}}}}]"#;
    let mut world = under(role("viewer")).ready();
    page(&mut world, "5", &format!(r#"{{"id":5,"result":{{"tools":{tools}}}}}"#));
    let read = call("7", "read_note", r#"{"path":"/a"}"#);
    assert_eq!(world.host(&read), [Did::Forward(read.clone())]);
    let did = world.call("8", "write_file", r#"{"path":"/a","content":"x"}"#);
    let (_, reason) = refused(&mut world, &did);
    assert!(reason.contains("the role viewer does not grant") && reason.contains("files:write"), "{reason}");
    // The tool reads, and this call of it does not.
    assert_eq!(world.call("9", "query", r#"{"sql":"SELECT 1"}"#), [Did::Ask("files-3".into())], "its outline is new");
    world.deny("files-3", "");
    let did = world.call("10", "query", r#"{"sql":"DELETE FROM users"}"#);
    let (_, reason) = refused(&mut world, &did);
    assert!(reason.contains("delete"), "{reason}");
    // Nobody has described it, so nobody knows that it reads.
    world.call("11", "glimpse", "{}");
    let did = world.server(&format!(r#"{{"id":"mcp-approve:nonce:1","result":{{"tools":{tools},"nextCursor":5}}}}"#));
    assert!(did.iter().all(|one| !matches!(one, Did::Forward(_) | Did::Ask(_))), "{did:?}");
    world.close(Side::Server);
    world.finish();
}

#[test]
fn the_host_is_told_only_of_what_lies_in_the_scope() {
    let mut world = under(role("viewer")).ready();
    let read = r#"{"name":"read_file" ,"description":"Reads a file.","annotations":{"readOnlyHint":true}}"#;
    let write = r#"{"name":"write_file","description":"Replaces a file's content."}"#;
    let answer = |tools: &str| format!(r#"{{"result":{{"nextCursor":"2","tools":[ {tools} ]}}, "id":5 }}"#);
    let did = page(&mut world, "5", &answer(&format!("{write}, {read}\t, {write}")));
    assert_eq!(did, [Did::Answer(answer(read))], "everything else is as it was received");
    let hidden = world.entries.iter().rev().find(|entry| entry.kind == Kind::Tools).expect("an entry");
    assert!(hidden.detail.get("hidden").is_some_and(|value| value == 2), "{hidden:?}");
    assert_eq!(world.gate.status().scope, "viewer · 1 of 4 tools");

    // A page with nothing left in it keeps its cursor, and the next one comes.
    world.host(r#"{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"cursor":"2"}}"#);
    let empty = r#"{"id":6,"result":{"tools":[],"nextCursor":"3"}}"#;
    let did = world.server(r#"{"id":6,"result":{"tools":[{"name":"frobnicate"}],"nextCursor":"3"}}"#);
    assert_eq!(did, [Did::Answer(empty.into())]);
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(world.server(changed), [Did::ToHost(changed.into())]);
    let failed = r#"{"id":7,"error":{"code":-32601,"message":"no"}}"#;
    assert_eq!(page(&mut world, "7", failed), [Did::ToHost(failed.into())], "the server's own error");
    world.finish();
}

#[test]
fn a_list_that_cannot_be_cut_is_not_passed() {
    for content in [
        r#"{"id":5,"result":{"tools":[{"name":"write_file"}],"tools":[]}}"#,
        r#"{"id":5,"result":{"tools":[],"Tools":[{"name":"write_file"}]}}"#,
        r#"{"id":5,"result":{"tools":"write_file"}}"#,
    ] {
        let mut world = under(listed("[]")).ready();
        let did = page(&mut world, "5", content);
        let [Did::Answer(text)] = &did[..] else { panic!("{content}: {did:?}") };
        assert!(text.contains("-32603") && !text.contains("write_file"), "{content}: {text}");
        world.finish();
    }
    // Nor one that was never asked for, or that no host may read as a message but ours.
    let mut world = under(listed("[]")).ready();
    for content in [r#"{"id":99,"result":{"tools":[{"name":"write_file"}]}}"#, r#"[{"id":5,"result":{"tools":[]}}]"#] {
        assert_eq!(world.server(content), [], "{content}");
    }
    let long = Gist::Response { id: mcp_approve::wire::id::Id::from_token("5").unwrap(), failed: false };
    world.host(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#);
    assert!(!world.gate.streams(&long), "what is too long to be read");
    assert!(World::new().ready().gate.streams(&Gist::Unreadable), "without a scope everything streams");
    world.finish();
}

#[test]
fn no_more_lists_are_asked_for_than_can_be_cut() {
    let mut world = under(listed("[]")).ready();
    let mut asked = 0;
    for id in 100..130 {
        let did = world.host(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#));
        asked += usize::from(matches!(&did[..], [Did::ToServer(_)]));
    }
    assert_eq!(asked, 15);
    for id in 100..130 {
        let did = world.server(&format!(r#"{{"id":{id},"result":{{"tools":[{{"name":"write_file"}}]}}}}"#));
        assert!(did.iter().all(|one| !format!("{one:?}").contains("write_file")), "{did:?}");
    }
    world.host(r#"{"jsonrpc":"2.0","id":200,"method":"tools/list"}"#);
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":200}}"#);
    assert_eq!(world.server(r#"{"id":200,"result":{"tools":[{"name":"write_file"}]}}"#), []);
    world.finish();
}

#[test]
fn a_page_still_reaches_the_host_when_its_server_ends() {
    let mut world = under(listed("[]")).ready();
    world.host(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#);
    let line = mcp_approve::wire::Line::new(b"{\"id\":5,\"result\":{\"tools\":[{\"name\":\"x\"}]}}\n".to_vec());
    let now = world.now;
    let relayed = world.gate.step(now, Event::ServerLine(line));
    assert!(relayed.is_empty(), "{relayed:?}");
    let did = world.close(Side::Server);
    assert!(did.contains(&Did::Answer(r#"{"id":5,"result":{"tools":[]}}"#.into())), "{did:?}");
    world.finish();
}

#[test]
fn a_tool_that_grew_since_the_scope_was_made_is_outside() {
    let now = |more: &str| {
        format!(
            r#"{{"name":"read_note","description":"Reads a note.","annotations":{{"readOnlyHint":true}},"inputSchema":{{"type":"object","properties":{{"path":{{"type":"string"}}{more}}}}}}}"#
        )
    };
    for (more, is_listed) in [("", true), (r#","delete":{"type":"boolean"}"#, false)] {
        let mut world = under(listed(&format!("[{}]", now("")))).ready();
        let did = page(&mut world, "5", &format!(r#"{{"id":5,"result":{{"tools":[{}]}}}}"#, now(more)));
        assert_eq!(format!("{did:?}").contains("read_note"), is_listed, "{more}: {did:?}");
        let read = call("7", "read_note", r#"{"path":"/a"}"#);
        let did = world.host(&read);
        if is_listed {
            assert_eq!(did, [Did::Forward(read)]);
        } else {
            let (_, reason) = refused(&mut world, &did);
            assert!(reason.contains("takes other or more arguments"), "{reason}");
        }
        world.finish();
    }
}

#[test]
fn the_chain_of_delegation_is_on_the_card_and_in_the_records() {
    let above = vec!["outer (viewer, session 1)".to_owned(), "middle (session 2)".to_owned()];
    let mut world = World::with(Config { above: above.clone(), ..config() }, "").ready();
    assert_eq!(world.call("8", "write_file", r#"{"path":"/a","content":"x"}"#), [Did::Ask("files-1".into())]);
    let safe = &world.cards["files-1"].safe.capability.what;
    assert!(safe.contains("started underneath outer (viewer, session 1), middle (session 2)"), "{safe}");
    world.approve("files-1");
    let of = |kind: Kind| {
        let entry = world.entries.iter().find(|entry| entry.kind == kind).expect("an entry");
        entry.detail.get("above")
    };
    for kind in [Kind::ServerStart, Kind::Decision] {
        assert_eq!(of(kind), Some(above.clone().into()), "{kind:?}");
    }
    world.finish();
}
