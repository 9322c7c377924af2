//! When a call is legal, which revision a handshake means, and what a server says of itself.

use mcp_approve::mcp::lifecycle::{Lifecycle, NotLegal, Phase, Revision, of_host, of_server};
use mcp_approve::wire::Line;
use mcp_approve::wire::call::Call;
use mcp_approve::wire::message::{Sorted, peek, sort};
use serde_json::json;

const ASKS: &str = r#"> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"h","version":"1"}}}"#;
const AGREES: &str = r#"< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26"}}"#;
const FAILS: &str = r#"< {"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no"}}"#;
const SILENT: &str = r#"< {"jsonrpc":"2.0","id":0,"result":{}}"#;
const OTHER: &str = r#"< {"jsonrpc":"2.0","id":"0","result":{"protocolVersion":"2024-11-05"}}"#;
const CONFIRMS: &str = r#"> {"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Plays a transcript: `>` from the host, `<` from the server, `x` closes.
fn after(transcript: &[&str]) -> Lifecycle {
    let mut lifecycle = Lifecycle::default();
    for step in transcript {
        let content = step.get(2..).unwrap_or_default();
        match (&step[..1], sort(Line::new(content.into()))) {
            (">", Sorted::Plain(plain)) => {
                lifecycle.on_host_line(plain.gist(), content.as_bytes());
            }
            ("<", _) => lifecycle.on_server_line(&peek(content.as_bytes()), content.as_bytes()),
            ("x", _) => lifecycle.close(),
            (_, sorted) => panic!("{step}: {sorted:?}"),
        }
    }
    lifecycle
}

fn call(meta: &str) -> Call {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","_meta":{meta}}}}}"#);
    match sort(Line::new(line.into_bytes())) {
        Sorted::Call(call) => *call,
        other => panic!("no call: {other:?}"),
    }
}

#[test]
fn a_call_is_legal_once_the_handshake_is_done() {
    let table: &[(&[&str], Result<Revision, NotLegal>)] = &[
        (&[], Err(NotLegal::Opening)),
        (&[ASKS], Err(NotLegal::Opening)),
        (&[ASKS, OTHER], Err(NotLegal::Opening)),
        (&[ASKS, FAILS], Err(NotLegal::Opening)),
        (&[ASKS, FAILS, CONFIRMS], Err(NotLegal::Opening)),
        (&[AGREES, CONFIRMS], Err(NotLegal::Opening)),
        (&[ASKS, AGREES], Err(NotLegal::Initializing)),
        (&[ASKS, AGREES, CONFIRMS], Ok(Revision::V2025_03_26)),
        (&[ASKS, SILENT, CONFIRMS], Ok(Revision::V2025_06_18)),
        (&[ASKS, CONFIRMS], Err(NotLegal::Opening)),
        (&[ASKS, CONFIRMS, AGREES], Ok(Revision::V2025_03_26)),
        (&[ASKS, FAILS, ASKS, AGREES, CONFIRMS], Ok(Revision::V2025_03_26)),
        (&[ASKS, AGREES, CONFIRMS, ASKS], Ok(Revision::V2025_03_26)),
        (&[ASKS, AGREES, CONFIRMS, ASKS, SILENT], Ok(Revision::V2025_06_18)),
        (&[ASKS, AGREES, CONFIRMS, "x"], Err(NotLegal::Closed)),
        (&["x", ASKS, AGREES, CONFIRMS], Err(NotLegal::Closed)),
    ];
    for (transcript, expected) in table {
        let session = after(transcript);
        let legal = session.call(&call("{}")).map(|_| session.revision());
        assert_eq!(legal, expected.map(Some), "{transcript:?}");
    }
}

#[test]
fn a_stateless_call_needs_no_handshake() {
    let modern = call(r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#);
    for transcript in [&[][..], &[ASKS], &[ASKS, AGREES], &[ASKS, AGREES, CONFIRMS]] {
        assert!(after(transcript).call(&modern).is_ok(), "{transcript:?}");
    }
    assert_eq!(after(&["x"]).call(&modern), Err(NotLegal::Closed));
}

#[test]
fn what_was_said_can_be_asked_for() {
    let lifecycle = after(&[ASKS, AGREES]);
    assert_eq!(lifecycle.host(), Some(("h", "1")));
    assert_eq!(lifecycle.revision(), Some(Revision::V2025_03_26));
    assert_eq!(lifecycle.phase(), Phase::Initializing);
    assert_eq!(after(&[]).host(), None);
    assert_eq!(after(&[ASKS]).revision(), None);
}

#[test]
fn a_handshake_text_is_read_as_the_newest_revision_that_is_not_newer() {
    let table = [
        ("2024-11-05", Revision::V2024_11_05),
        ("2025-03-26", Revision::V2025_03_26),
        ("2025-06-18", Revision::V2025_06_18),
        ("2025-11-25", Revision::V2025_11_25),
        ("2026-07-28", Revision::V2025_11_25),
        ("2024-10-07", Revision::V2024_11_05),
        ("2025-09-01", Revision::V2025_06_18),
        ("2031-01-01", Revision::V2025_11_25),
        ("DRAFT-2026-v1", Revision::V2024_11_05),
        ("DRAFT-2026", Revision::V2024_11_05),
        ("2025-03-260", Revision::V2024_11_05),
        ("", Revision::V2024_11_05),
    ];
    for (text, revision) in table {
        assert_eq!(Revision::of_handshake(text), revision, "{text}");
    }
}

#[test]
fn a_server_is_what_its_answer_says() {
    let answer = json!({"id": 1, "result": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "s", "version": "2"},
        "capabilities": {"tools": {"listChanged": true}, "logging": {}, "resources": {"subscribe": false}},
        "instructions": "Use the tools."}});
    let said = of_server(answer.to_string().as_bytes()).unwrap();
    assert_eq!(said["features"], json!(["tools", "tools.listChanged", "logging", "resources"]));
    assert_eq!((&said["server"], &said["revision"]), (&json!("s"), &json!("2025-11-25")));
    assert_eq!((&said["instructions"]["bytes"], &said["instructions"]["text"]), (&json!(14), &json!("Use the tools.")));
    let long = json!({"result": {"capabilities": {}, "instructions": "x".repeat(100_000)}});
    let said = of_server(long.to_string().as_bytes()).unwrap();
    assert_eq!(said["instructions"]["text"].as_str().unwrap().len(), 2000);
    let many: serde_json::Map<_, _> = (0..1000).map(|at| (format!("f{at}"), json!({}))).collect();
    let said = of_server(json!({"result": {"capabilities": many}}).to_string().as_bytes()).unwrap();
    assert_eq!(said["features"].as_array().unwrap().len(), 64);
    assert_eq!(of_server(br#"{"id":1,"result":{"tools":[]}}"#), None);
    let params = br#"{"params":{"capabilities":{"sampling":{},"roots":{"listChanged":true}}}}"#;
    assert_eq!(of_host(params), ["sampling", "roots", "roots.listChanged"]);
}
