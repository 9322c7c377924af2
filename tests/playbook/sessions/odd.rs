//! Sessions of what is rare: lines that cannot be read or stream past, a scope, edits of files.

use std::sync::Arc;

use mcp_approve::capability::scope::Listed;
use mcp_approve::gate::data::event::{Event, Side, Signature};
use mcp_approve::gate::data::report::OperatorVerdict;
use mcp_approve::gate::{Config, ForwardOrder};
use mcp_approve::policy::parse;
use mcp_approve::policy::scope::{Limit, Scope};
use mcp_approve::wire::digest::{Digest, StreamHasher};
use mcp_approve::wire::message::peek;

use super::{MORE, answers, attached, lists, told};
use crate::world::{World, ann, config, word};

pub(super) fn unreadable() -> World {
    let mut world = attached(World::with(Config { order: ForwardOrder::Sent, ..config() }, "").ready());
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call"}"#,
        "{",
        "[]",
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":7}}"#,
        r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read_file","Arguments":{}}}"#,
        r#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"read_file"}}"#,
    ] {
        world.host(line);
    }
    world.server("not JSON");
    world.server(r#"{"jsonrpc":"2.0","id":"nobody","result":{}}"#);
    world.call("8", "write_file", r#"{"path":"/a","content":"x"}"#);
    world.call("9", "read_file", r#"{"path":"/a"}"#);
    world.approve("files-1");
    answers(&mut world, "9", r#"{"resultType":"later"}"#);
    world.decide("files-9", Digest::of(b""), OperatorVerdict::Approve { unread: true });
    world.close(Side::Server);
    world
}

pub(super) fn scoped() -> World {
    let scope = Scope::of(Limit::Listed(Listed::read(r#"["read_file"]"#).unwrap()));
    let mut world = attached(World::with(Config { scope: Arc::new(scope), ..config() }, "").ready());
    world.call("1", "write_file", r#"{"path":"/a","content":"x"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"p","method":"tools/list","params":{"cursor":"2"}}"#);
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"p"}}"#);
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"p","result":{{"tools":{MORE}}}}}"#));
    world.host(r#"{"jsonrpc":"2.0","id":"q","method":"tools/list","params":{"cursor":null}}"#);
    world.server(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}"#);
    world.server(r#"{"jsonrpc":"2.0","id":"q","result":{"tools":[{"name":"read_file"},{"name":"other"}],"tools":[]}}"#);
    world.close(Side::Host);
    world
}

pub(super) fn odd() -> World {
    let mut world = World::new();
    let hello = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"Claude-Code","version":"2"}}}"#;
    world.host(hello);
    let mut world = attached(world.ready_with(r#"{"roots":{},"elicitation":{}}"#));
    let streamed = |world: &mut World, line: &str| {
        let (gist, digest) = (peek(line.as_bytes()), StreamHasher::default().finish());
        world.step(Event::ServerStreamed { gist, bytes: 1 << 30, digest });
    };
    world.server(r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"r","result":{"roots":[{"uri":"file:///work"}]}}"#);
    world.host(&told("1", "write_file", r#"{"path":"/work/a","content":"x"}"#));
    world.approve("files-1");
    streamed(&mut world, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
    streamed(&mut world, r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#);
    streamed(&mut world, r#"{"jsonrpc":"2.0","id":4,"method":"sampling/createMessage","params":{}}"#);
    streamed(&mut world, r#"{"jsonrpc":"2.0","id":"nobody","result":{}}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"x","method":"resources/read","params":{"uri":"note:///a"}}"#);
    streamed(&mut world, r#"{"jsonrpc":"2.0","id":"x","result":{}}"#);
    let long = br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"write_file","#;
    world.step(Event::HostOverlong { head: long.to_vec(), bytes: 1 << 30, cap: 1 << 20 });
    world.step(Event::HostPartial { bytes: 7 });
    world.step(Event::Intruded { what: "a stranger".into() });
    world.call("2", "write_file", r#"{"path":"/elsewhere","content":"x"}"#);
    let digest = world.cards["files-2"].digest;
    world.step(Event::Looked { ticket: "files-2".into(), digest });
    world.step(Event::Extended(word("files-2", digest)));
    world.decide("files-2", digest, OperatorVerdict::Approve { unread: true });
    let mut changed = parse::built_in();
    changed.banner = Some("a project's file waits".into());
    world.step(Event::PolicyChanged(Arc::new(changed)));
    world.step(Event::PolicyAccepted { file: "/p.toml".into(), digest, operator: ann(), signature: Signature::None });
    world.call("3", "write_file", r#"{"path":"/b","content":"x"}"#);
    world.step(Event::ServerInputClosed { how: "it closed its input".into() });
    world.step(Event::Closed { side: Side::Server, how: "exit code 3".into() });
    world
}

pub(super) fn edits() -> World {
    let mut world = attached(World::new().ready());
    let edit = r#"[{"name":"edit_file","description":"Edits a file.","inputSchema":{"type":"object"}},{"name":"append_file","description":"Appends to a file.","inputSchema":{"type":"object"}},{"name":"move_file","description":"Moves a file.","inputSchema":{"type":"object"}}]"#;
    lists(&mut world, edit);
    let text: String = (0..40).map(|line| format!("line {line}\n")).collect();
    for path in ["/a", "/b"] {
        world.disk.insert(path.into(), (path.into(), text.clone()));
    }
    for (at, (tool, arguments)) in [
        ("edit_file", r#"{"path":"/a","old_str":"line 7","new_str":"seven"}"#),
        ("edit_file", r#"{"path":"/a","old_str":"line 1","new_str":"one","replace_all":true}"#),
        (
            "edit_file",
            r#"{"path":"/a","edits":[{"oldText":"line 3","newText":"3"},{"oldText":"not there","newText":"x"}]}"#,
        ),
        ("edit_file", r#"{"path":"/new","old_str":"a","new_str":"b"}"#),
        ("append_file", r#"{"path":"/b","content":"the end\n"}"#),
        ("append_file", r#"{"path":"/new","content":"the beginning\n"}"#),
        ("move_file", r#"{"source":"/a","destination":"/b"}"#),
        ("move_file", r#"{"source":"/a","destination":"/c","encoding":"utf-8"}"#),
    ]
    .into_iter()
    .enumerate()
    {
        world.call(&at.to_string(), tool, arguments);
    }
    world.disk.insert("/b".into(), ("/b".into(), text.replace("line 9", "nine")));
    world.approve("files-5");
    world.disk.remove("/a");
    world.approve("files-7");
    world.close(Side::Host);
    world
}
