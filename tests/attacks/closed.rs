//! Section F from F8 on: rules, continuations, the judge's work and the server's answers are closed worlds.

use crate::world::{Did, World};

const WRITE: &str = r#"{"path":"/a","content":"x"}"#;

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
