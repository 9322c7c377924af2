//! Which calls a grant does not cover, however much they resemble the one that it was given with.

use mcp_approve::gate::data::terms::{Covers, Lasts};

use crate::world::{Did, World};

const TOOLS: &str = r#"[{"name":"append_to_file","description":"Appends text to a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"required":["path"]}},{"name":"append_to_log","description":"Appends text to a log file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"required":["path"]}},{"name":"create_file","description":"Creates a new file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}]"#;

fn world() -> World {
    let mut world = World::new().ready();
    world.host(r#"{"jsonrpc":"2.0","id":"again","method":"tools/list"}"#);
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"again","result":{{"tools":{TOOLS}}}}}"#));
    world
}

fn append(world: &mut World, id: u32, tool: &str, path: &str) -> Vec<Did> {
    world.call(&id.to_string(), tool, &format!(r#"{{"path":"{path}","text":"x"}}"#))
}

fn create(world: &mut World, id: u32, path: &str) -> Vec<Did> {
    world.call(&id.to_string(), "create_file", &format!(r#"{{"path":"{path}","content":"x"}}"#))
}

fn runs(did: &[Did]) -> bool {
    matches!(did, [Did::Forward(_)])
}

#[test]
fn a_grant_is_for_its_tool_alone() {
    let mut world = world();
    append(&mut world, 1, "append_to_file", "/a");
    world.grant("files-1", Covers::Tool, Lasts::Session);
    assert!(runs(&append(&mut world, 2, "append_to_file", "/b")));
    assert_eq!(append(&mut world, 3, "append_to_log", "/b"), [Did::Ask("files-3".into())]);
    world.finish();
}

/// Given before the host declared its folders, it was not given for what lies outside of them.
#[test]
fn a_grant_for_a_folder_is_not_for_it_once_it_lies_outside_of_the_declared_ones() {
    let mut world = world();
    append(&mut world, 1, "append_to_file", "/srv/a");
    world.grant("files-1", Covers::Under { argument: "path".into(), folder: "/srv".into() }, Lasts::Session);
    assert!(runs(&append(&mut world, 2, "append_to_file", "/srv/b")));
    world.server(r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"r","result":{"roots":[{"uri":"file:///work"}]}}"#);
    assert_eq!(append(&mut world, 3, "append_to_file", "/srv/b"), [Did::Ask("files-3".into())]);
    world.finish();
}

/// What it would replace is on the disk alone, so that is looked at before the grant counts.
#[test]
fn a_grant_to_create_waits_for_what_is_on_the_disk() {
    let mut world = world();
    create(&mut world, 1, "/n1");
    world.grant("files-1", Covers::Tool, Lasts::Session);
    assert!(runs(&create(&mut world, 2, "/n2")));
    world.disk.insert("/n3".into(), ("/n3".into(), "all my notes".into()));
    assert_eq!(create(&mut world, 3, "/n3"), [Did::Ask("files-3".into())]);
    world.disk_answers = false;
    assert_eq!(create(&mut world, 4, "/n4"), [], "nobody is asked before it was looked at");
    assert!(world.looks_open() > 0);
    world.disk_answers = true;
    assert!(runs(&world.disk_shows()), "and nobody after it");
    world.finish();
}
