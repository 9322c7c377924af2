//! The lines we write ourselves, to the byte.

use mcp_approve::wire::id::Id;
use mcp_approve::wire::reply::{self, Remediation};

#[test]
fn our_answers_are_one_line_each() {
    let id = Id::text("a", r#""\u0061""#);
    let hostile = "no\n\"\u{1b}\u{2028}";
    let escaped = "no\\n\\\"\\u001b\u{2028}";
    let meta = r#"{"progressToken":1,"x":1.0}"#;
    let table = [
        (reply::error(None, -32700, "no"), r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#.to_owned()),
        (reply::error(Some(&id), -32600, hostile), format!(r#"{{"jsonrpc":"2.0","id":"\u0061","error":{{"code":-32600,"message":"{escaped}"}}}}"#)),
        (reply::tool_error(&id, hostile, false), format!(r#"{{"jsonrpc":"2.0","id":"\u0061","result":{{"content":[{{"type":"text","text":"{escaped}"}}],"isError":true}}}}"#)),
        (reply::tool_error(&Id::from_token("7").unwrap(), "no", true), r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"no"}],"isError":true,"resultType":"complete"}}"#.to_owned()),
        (reply::denied(&Id::from_token("7").unwrap(), "no", true, Remediation::Unavailable), r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"no"}],"isError":true,"_meta":{"io.modelcontextprotocol/authorization":{"reason":"insufficient_authorization","remediation":"unavailable"}},"resultType":"complete"}}"#.to_owned()),
        (reply::denied(&Id::from_token("7").unwrap(), "no", false, Remediation::Available), r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"no"}],"isError":true,"_meta":{"io.modelcontextprotocol/authorization":{"reason":"insufficient_authorization","remediation":"available"}}}}"#.to_owned()),
        (reply::progress("3", 1, "waiting"), r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1,"message":"waiting"}}"#.to_owned()),
        (reply::list_tools("m-1", None, None), r#"{"jsonrpc":"2.0","id":"m-1","method":"tools/list","params":{}}"#.to_owned()),
        (reply::list_tools("m-1", Some(""), Some(meta)), r#"{"jsonrpc":"2.0","id":"m-1","method":"tools/list","params":{"cursor":"","_meta":{"x":1.0}}}"#.to_owned()),
    ];
    for (line, expected) in table {
        assert_eq!(String::from_utf8_lossy(line.bytes()), format!("{expected}\n"));
        assert!(serde_json::from_slice::<serde_json::Value>(line.content()).is_ok());
    }
}
