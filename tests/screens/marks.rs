//! What the mark of a call says: a shape and a word for what it does.

use mcp_approve::console::risk::Risk;
use mcp_approve::console::row::Tone;

use crate::world::World;

/// A mark says what this call does, not what its tool could do; and no read is marked in red.
#[test]
fn a_mark_says_what_the_statement_does_and_a_read_is_not_red() {
    for (name, key, text, mark) in [
        ("run_sql", "sql", "UPDATE orders SET status = 'paid' WHERE id = 3", "◆ CHANGES"),
        ("run_sql", "sql", "INSERT INTO orders VALUES (1)", "◆ ADDS"),
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
        assert_eq!(risk.mark(), mark, "{name} {text}");
        assert_eq!(risk.run().tone == Tone::Danger, mark.starts_with('◆'), "{name} {text}");
    }
}
