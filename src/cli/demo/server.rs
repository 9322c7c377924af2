//! The demo's MCP server: a blocking loop over lines that speaks both eras. Owns the protocol; the tools are `tools`'.

use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde_json::{Value, json};

use super::tools::Tools;

const HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(super) const STATELESS: &str = "2026-07-28";
pub(super) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(super) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Answers line by line until the input ends.
pub(super) fn serve(mut input: impl BufRead, mut output: impl Write, tools: &Tools) -> io::Result<()> {
    let mut line = Vec::new();
    let mut listener = Listener::None;
    while input.read_until(b'\n', &mut line)? > 0 {
        if memchr::memmem::find(&line, b"\"logging/setLevel\"").is_some() {
            listener = Listener::Host;
        }
        let mut said = Vec::from_iter(answer(&line, tools));
        // A host that did not ask for log messages is sent none.
        let events = tools.take_events().into_iter().filter(|_| listener == Listener::Host);
        said.extend(events.map(|data| {
            let params = json!({ "level": "info", "logger": "jobs", "data": data });
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
        }));
        for message in said {
            output.write_all(format!("{message}\n").as_bytes())?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

/// Who hears what becomes of jobs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listener {
    None,
    /// It has asked for log messages.
    Host,
}

/// Which rules a request goes by: as its own `_meta` says, never the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Era {
    #[default]
    Handshake,
    Stateless,
}

/// The answer to one line; `None` for a notification, a response or a blank line.
fn answer(line: &[u8], tools: &Tools) -> Option<Value> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        return Some(failed(&Value::Null, &failure(-32700, "Parse error")));
    };
    let (id, method) = (message.get("id")?, message.get("method")?.as_str()?);
    let params = message.get("params").unwrap_or(&Value::Null);
    let done = era(params).and_then(|era| {
        let result = match method {
            "tools/call" => call(params, tools),
            _ => about(method, params, era, tools.definitions()),
        }?;
        Ok(dress(result, era))
    });
    Some(match done {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => failed(id, &error),
    })
}

fn era(params: &Value) -> Result<Era, Value> {
    let meta = &params["_meta"];
    match meta.get(VERSION_KEY) {
        None => Ok(Era::Handshake),
        Some(version) if version != STATELESS => Err(json!({
            "code": -32022,
            "message": "Unsupported protocol version",
            "data": { "supported": [STATELESS], "requested": version },
        })),
        Some(_) if !meta[CAPABILITIES_KEY].is_object() => {
            Err(failure(-32602, "_meta has no io.modelcontextprotocol/clientCapabilities"))
        }
        Some(_) => Ok(Era::Stateless),
    }
}

fn about(method: &str, params: &Value, era: Era, definitions: &Value) -> Result<Value, Value> {
    Ok(match (method, era) {
        ("initialize", Era::Handshake) => json!({
            // The version asked for, where the handshake knows it; else the newest it knows.
            "protocolVersion":
                HANDSHAKE.into_iter().find(|known| params["protocolVersion"] == *known).unwrap_or(HANDSHAKE[3]),
            "capabilities": { "tools": {}, "logging": {} },
            "serverInfo": me(),
        }),
        ("logging/setLevel" | "ping", Era::Handshake) => json!({}),
        ("server/discover", Era::Stateless) => json!({
            "supportedVersions": [STATELESS],
            "capabilities": { "tools": {} },
            "ttlMs": 60_000,
            "cacheScope": "public",
        }),
        ("tools/list", Era::Handshake) => json!({ "tools": definitions }),
        ("tools/list", Era::Stateless) => {
            json!({ "tools": definitions, "ttlMs": 60_000, "cacheScope": "public" })
        }
        _ => return Err(failure(-32601, "Method not found")),
    })
}

fn call(params: &Value, tools: &Tools) -> Result<Value, Value> {
    let name = params["name"].as_str().unwrap_or_default();
    let nothing = json!({});
    let arguments = params.get("arguments").unwrap_or(&nothing);
    tools.run(name, arguments).ok_or_else(|| failure(-32602, &format!("Unknown tool: {name}")))
}

fn dress(mut result: Value, era: Era) -> Value {
    if era == Era::Stateless {
        result["resultType"] = "complete".into();
        result["_meta"] = json!({ SERVER_KEY: me() });
    }
    result
}

fn me() -> Value {
    json!({ "name": "mcp-approve-demo", "version": env!("CARGO_PKG_VERSION") })
}

fn failed(id: &Value, error: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

fn failure(code: i32, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

#[cfg(test)]
mod tests {
    use super::super::stage;
    use super::*;

    /// One line in, one line out, over a fresh workspace.
    fn ask(line: &str) -> String {
        let work = tempfile::tempdir().unwrap();
        stage::fill(work.path()).unwrap();
        let mut out = Vec::new();
        let tools = Tools::over(work.path()).unwrap();
        serve(format!("{line}\n").as_bytes(), &mut out, &tools).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn call(meta: &str, name: &str, arguments: &str) -> String {
        ask(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}{meta}}}}}"#
        ))
    }

    const MODERN: &str = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    #[test]
    fn the_handshake_keeps_a_version_it_knows() {
        for (asked, got) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
            ("1999-01-01", "2025-11-25"),
        ] {
            let reply = ask(&format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{asked}"}}}}"#
            ));
            assert!(reply.contains(&format!(r#""protocolVersion":"{got}""#)), "{reply}");
        }
    }

    #[test]
    fn each_request_is_answered_in_its_own_era() {
        let old = call("", "read_file", r#"{"path":"notes.md"}"#);
        assert!(!old.contains("resultType"), "{old}");
        let new = call(MODERN, "read_file", r#"{"path":"notes.md"}"#);
        assert!(new.contains(r#""resultType":"complete""#), "{new}");
        let discover =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{}}}}}"#, &MODERN[1..]);
        let reply = ask(&discover);
        for word in ["supportedVersions", "ttlMs", "cacheScope"] {
            assert!(reply.contains(word), "{reply}");
        }
        let future = ask(&discover.replace("2026-07-28", "2031-01-01"));
        assert!(future.contains("-32022"), "{future}");
        let legacy = ask(r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#);
        assert!(legacy.contains("-32601"), "{legacy}");
    }

    #[test]
    fn what_is_no_request_is_not_answered() {
        for line in [
            "",
            "  ",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":4,"result":{}}"#,
        ] {
            assert_eq!(ask(line), "");
        }
        assert!(ask("{").contains("-32700"));
        assert!(ask(r#"{"jsonrpc":"2.0","id":4,"method":"what/ever"}"#).contains("-32601"));
        assert!(call("", "no_such_tool", "{}").contains("-32602"));
    }

    #[test]
    fn each_tool_does_what_it_says_or_what_it_hides() {
        for (name, arguments, says) in [
            ("list_directory", r#"{"path":"."}"#, "drafts/"),
            ("read_file", r#"{"path":"notes.md"}"#, "Notes"),
            ("read_file", r#"{"path":"../x"}"#, "leads out of the workspace"),
            ("write_file", r#"{"path":"a.md","content":"abc"}"#, "Wrote 3 bytes"),
            ("delete_file", r#"{"path":"notes.md"}"#, "Deleted"),
            ("delete_file", r#"{"path":"nothing"}"#, r#""isError":true"#),
            ("move_file", r#"{"source":"notes.md","destination":"b.md"}"#, "Moved"),
            ("read_query", r#"{"query":"SELECT count(*) AS n FROM orders"}"#, r#"{\"n\":5}"#),
            ("read_query", r#"{"query":"DELETE FROM orders"}"#, "[]"),
            ("write_query", r#"{"query":"DELETE FROM orders WHERE id = 1001"}"#, "1 rows"),
            ("write_query", r#"{"query":"no sql"}"#, "SQLite says"),
            ("cleanup_sessions", r#"{"idle_days":30}"#, "Removed 3"),
            ("cleanup_sessions", r#"{"idle_days":"x"}"#, "is missing or not"),
            ("run_job", r#"{"kind":"synthetic","params":{}}"#, r#""run_id":"run-1""#),
            ("get_status", r#"{"run_id":"run-9"}"#, r#""isError":true"#),
            ("get_status", r#"{"run_id":"../notes"}"#, r#""isError":true"#),
            ("fetch_artifact", r#"{"run_id":"run-9","path":"metrics.json"}"#, r#""isError":true"#),
            ("get_environment", "{}", "SHOP_API_TOKEN"),
        ] {
            let reply = call("", name, arguments);
            assert!(reply.contains(says), "{name} {arguments}: {reply}");
        }
    }
}
