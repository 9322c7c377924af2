//! What the mark of a call says: a shape and a word for what it does.

use mcp_approve::console::risk::Risk;
use mcp_approve::gate::data::facts::FileKind;
use mcp_approve::text::row::Tone;

use crate::world::World;

/// A mark says what this call does, not what its tool could do; and no read is marked in red.
#[test]
fn a_mark_says_what_the_statement_does_and_a_read_is_not_red() {
    for (name, key, text, mark) in [
        ("run_sql", "sql", "UPDATE orders SET status = 'paid' WHERE id = 3", "◆ CHANGES"),
        ("run_sql", "sql", "INSERT INTO orders VALUES (1)", "● ADDS"),
        ("run_sql", "sql", "INSERT INTO orders SELECT drop_all(id) FROM orders", "◆ ADDS"),
        ("run_sql", "sql", "INSERT INTO orders VALUES (drop_all(1))", "◆ ADDS"),
        ("write_query", "query", "INSERT INTO orders VALUES (1)", "● ADDS"),
        ("browser_click", "element", "Next page", "● PRESSES"),
        ("browser_click", "element", "Delete account", "◈ PRESSES"),
        ("browser_click", "uid", "3_12", "◈ PRESSES"),
        ("browser_hover", "element", "Delete account", "● VIEWS"),
        ("run_sql", "sql", "DELETE FROM orders WHERE id = 3", "◆ DELETES"),
        ("run_sql", "sql", "DROP TABLE orders", "◆ DELETES"),
        ("run_sql", "sql", "EXEC clean_up", "◆ RUNS"),
        ("run_command", "command", "make install", "◆ RUNS"),
        ("read_note", "path", "~/.ssh/id_rsa", "◇ PURE?▲"),
        ("read_note", "text", "rm -rf /", "◌ PURE?"),
    ] {
        let mut world = World::new().ready();
        let schema = serde_json::json!({ "type": "object", "properties": { key: { "type": "string" } } });
        let tool = serde_json::json!({ "name": name, "inputSchema": schema });
        world.host(r#"{"jsonrpc":"2.0","id":"l2","method":"tools/list"}"#);
        world.server(&format!(r#"{{"jsonrpc":"2.0","id":"l2","result":{{"tools":[{tool}]}}}}"#));
        world.call("7", name, &serde_json::json!({ key: text }).to_string());
        let risk = Risk::of(&world.cards["files-1"]);
        assert_eq!(risk.run().text, mark, "{name} {text}");
        assert_eq!(risk.run().tone == Tone::Danger, mark.starts_with(['◆', '◈']), "{name} {text}");
    }
}

/// The word and the line on what is done say the same, whatever hazard is with it.
#[test]
fn a_word_agrees_with_its_line_whatever_else_is_dangerous() {
    for (arguments, mark, line) in [
        (r#"{"path":"/new","content":"x"}"#, "● ADDS", "creates"),
        ("{\"path\":\"/new\",\"content\":\"x\u{200b}\"}", "◈ ADDS▲", "creates"),
        ("{\"path\":\"/old\",\"content\":\"x\u{200b}\"}", "◈ REPLACES▲", "replaces"),
        (r#"{"path":"new","content":"x"}"#, "◈ WRITES", "writes"),
        (r#"{"path":"old","content":"x"}"#, "◈ REPLACES", "replaces"),
        (r#"{"path":"old","content":"x","cwd":"/w"}"#, "◈ WRITES▲", "writes"),
    ] {
        let mut world = World::new().ready();
        for path in ["/old", "old"] {
            world.disk.insert(path.into(), (path.into(), "all my notes".into()));
        }
        world.call("7", "write_file", arguments);
        let card = &world.cards["files-1"];
        assert_eq!(Risk::of(card).run().text, mark, "{arguments}");
        assert!(card.effect.starts_with(line), "{arguments}: {}", card.effect);
    }
}

/// What is under a relative path depends on the folder that the server takes: nothing is said of it.
#[test]
fn nothing_is_said_of_a_relative_path_that_the_server_begins_elsewhere() {
    let mut world = World::new().ready();
    world.host(r#"{"jsonrpc":"2.0","id":"l2","method":"tools/list"}"#);
    let tool = r#"{"name":"git_add","inputSchema":{"type":"object"}}"#;
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"l2","result":{{"tools":[{tool}]}}}}"#));
    world.disk.insert("f".into(), ("/elsewhere/f".into(), "another".into()));
    world.call("7", "git_add", r#"{"repo_path":"/x/repo","files":["f"]}"#);
    let card = &world.cards["files-1"];
    let of_f = card.facts.iter().find(|one| one.path == "f").unwrap();
    assert_eq!((of_f.kind, of_f.real.as_deref()), (FileKind::Unseen, None));
    assert!(of_f.unseen.as_deref().unwrap().contains("a folder that the server chooses"));
    assert!(!card.danger.as_deref().unwrap_or_default().contains("is there already"), "{:?}", card.danger);
}
