//! Which keys of `_meta` are known, in which revision and with which values.

use serde_json::{Value, json};

use mcp_approve::mcp::lifecycle::Revision;
use mcp_approve::mcp::request::{Carries, unknown_meta};

fn unknown(meta: &Value, revision: Revision) -> Vec<(String, Carries)> {
    unknown_meta(meta, Some(revision))
}

#[test]
fn what_the_revision_and_known_hosts_put_into_meta_is_known() {
    let stateless = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "h", "version": "1", "title": "A host"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        "io.modelcontextprotocol/logLevel": "info",
        "progressToken": 7,
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "tracestate": "rojo=00f067aa0ba902b7, congo=t61rcWkgMzE",
        "baggage": "userId=alice,serverNode=DF%2028;ttl=1",
    });
    assert_eq!(unknown(&stateless, Revision::V2026_07_28), []);
    assert_eq!(unknown_meta(&stateless, None), []);
    assert_eq!(unknown(&stateless, Revision::V2025_11_25).len(), 4, "an older revision has none of these");
    let task = json!({"io.modelcontextprotocol/related-task": {"taskId": "t-1"}});
    assert_eq!(unknown(&task, Revision::V2025_11_25), []);
    assert_eq!(unknown(&task, Revision::V2025_06_18).len(), 1);
    for host in [
        json!({"claudecode/toolUseId": "toolu_01A"}),
        json!({"callId": "c", "threadId": "0198-ab", "windowId": "0198-ab:0", "itemId": "f", "x-codex-turn-metadata": {"turn_id": "t"}, "progressToken": 1}),
        json!({"agent-session-id": "20261121_7", "progressToken": "0c5f6b3e-9f4e-4a4e"}),
    ] {
        assert_eq!(unknown(&host, Revision::V2025_06_18), [], "{host}");
    }
    for none in [json!({}), Value::Null, json!([1])] {
        assert_eq!(unknown_meta(&none, None), [], "{none}");
    }
}

#[test]
fn what_could_be_an_argument_is_told_from_an_id() {
    use Carries::{Arguments, Plain};
    for (value, carries) in [
        (json!("ab-12"), Plain),
        (json!("Zm9v+YmFy=="), Plain),
        (json!(7), Plain),
        (json!(true), Plain),
        (json!(null), Plain),
        (json!("delete all"), Arguments),
        (json!("/etc/shadow"), Arguments),
        (json!("https://example.com/x"), Arguments),
        (json!("a/../../b"), Arguments),
        (json!("$(reboot)"), Arguments),
        (json!("x".repeat(257)), Arguments),
        (json!({"path": "a"}), Arguments),
        (json!(["a"]), Arguments),
    ] {
        let meta = json!({ "acme/x": value, "progressToken": 1 });
        assert_eq!(unknown_meta(&meta, None), [("acme/x".to_owned(), carries)], "{meta}");
    }
    let no_trace = json!({"traceparent": "00-736563726574-70617373-01"});
    assert_eq!(unknown_meta(&no_trace, None), [("traceparent".to_owned(), Plain)]);
    let long: Value = serde_json::from_str(&format!(r#"{{"acme/x":{}}}"#, "9".repeat(300))).expect("JSON");
    assert_eq!(unknown_meta(&long, None), [("acme/x".to_owned(), Arguments)]);
}

#[test]
fn a_known_key_is_known_only_with_a_value_of_its_form() {
    for (key, value) in [
        ("progressToken", json!("rm -rf ~")),
        ("progressToken", json!({"command": "x"})),
        ("claudecode/toolUseId", json!("delete the rest")),
        ("threadId", json!({"path": "/etc"})),
        ("traceparent", json!("x y")),
        ("tracestate", json!("drop table users")),
        ("baggage", json!("a=$(id)")),
        ("baggage", json!("a=".to_owned() + &"x".repeat(9000))),
        ("io.modelcontextprotocol/clientInfo", json!("delete everything")),
        ("io.modelcontextprotocol/clientCapabilities", json!({"experimental": {"x": "y".repeat(20_000)}})),
        ("io.modelcontextprotocol/execute", json!({"name": "t"})),
        ("x-codex-turn-metadata", json!("delete the rest")),
    ] {
        let meta = json!({ key: value });
        assert_eq!(unknown_meta(&meta, None), [(key.to_owned(), Carries::Arguments)], "{key}");
    }
}
