//! A tool call inside a request that is none: which call it is, or that this cannot be told.

use mcp_approve::behavior::request::{Carried, carried};
use serde_json::{Value, json};

fn found(method: &str, params: &Value) -> Option<Carried> {
    carried(method, params, |name| name == "delete_file")
}

fn call(path: &str) -> Option<Carried> {
    let arguments = json!({ "path": path }).as_object().cloned().unwrap_or_default();
    Some(Carried::Call { tool: "delete_file".to_owned(), arguments })
}

#[test]
fn a_call_is_clear_where_nothing_else_is_there() {
    let plain = json!({"name": "delete_file", "arguments": {"path": "/a"}});
    for (method, params) in [
        ("tools/execute", plain.clone()),
        ("tools/call/", plain.clone()),
        ("callTool", plain.clone()),
        ("acme/anything", plain.clone()),
        ("resources/list", plain.clone()),
        ("acme/anything", json!({"tool": "delete_file", "args": {"path": "/a"}, "_meta": {"progressToken": 1}})),
        ("tasks/create", json!({"method": "tools/call", "params": plain, "ttl": 1000})),
    ] {
        assert_eq!(found(method, &params), call("/a"), "{method} {params}");
    }
    let none = Some(Carried::Call { tool: "x".to_owned(), arguments: serde_json::Map::new() });
    assert_eq!(found("tools/run", &json!({"name": "x"})), none);
}

#[test]
fn what_else_could_act_leaves_it_unclear() {
    let plain = json!({"name": "delete_file", "arguments": {"path": "/a"}});
    for (method, params) in [
        ("tools/execute", json!({})),
        ("tools/execute", Value::Null),
        ("tools/execute", json!([plain])),
        ("tools/execute", json!({"command": "rm -rf /"})),
        ("tools/execute", json!({"name": "x", "arguments": "rm"})),
        ("tools/execute", json!({"name": "x", "arguments": {}, "command": "rm"})),
        ("tools/execute", json!({"name": "x", "tool": "delete_file", "arguments": {}})),
        ("tools/execute", json!({"name": "x", "arguments": {}, "_meta": {"then": plain}})),
        ("tools/callBatch", json!({"calls": [plain, plain]})),
        ("tasks/create", json!({"request": {"method": "tools/call", "params": plain}})),
        ("tasks/create", json!({"method": "tools/call", "params": plain, "then": "x"})),
        ("acme/forward", json!({"body": plain.to_string()})),
        ("resources/read", json!({"uri": "note:///a", "_meta": {"x": plain}})),
        ("prompts/get", json!({"name": "p", "more": plain})),
        ("workflow/start", json!({"steps": [{"tool": "delete_file", "input": {}}]})),
    ] {
        assert_eq!(found(method, &params), Some(Carried::Unclear), "{method} {params}");
    }
}

#[test]
fn other_requests_carry_none() {
    for (method, params) in [
        ("tools/list", json!({"cursor": "x"})),
        ("resources/list", json!({"n": 1})),
        ("prompts/get", json!({"name": "delete_file", "arguments": {"path": "/a"}})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "delete_file"}, "argument": {"name": "n"}}),
        ),
        ("acme/search", json!({"name": "notes", "arguments": {}})),
        ("tools/describe", json!({"name": "delete_file"})),
        ("tasks/update", json!({"taskId": "t", "inputResponses": {"a": {"name": "delete_file", "input": {}}}})),
        ("acme/say", json!({"text": "{not json", "method": "GET"})),
    ] {
        assert_eq!(found(method, &params), None, "{method} {params}");
    }
}
