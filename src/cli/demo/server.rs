//! The demo's MCP server: a blocking loop over lines. Owns the protocol; what the tools do is `tools`'.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

use super::tools::Tools;

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Answers line by line until the input ends. A host that did not ask for log messages is sent none.
pub(super) fn serve(input: impl BufRead, mut output: impl Write, tools: &mut Tools) -> io::Result<()> {
    let mut logs = false;
    for line in input.lines() {
        let line = line?;
        let (method, answered) = answer(&line, tools);
        logs |= method == "logging/setLevel";
        let events = std::mem::take(&mut tools.events).into_iter().filter(|_| logs).map(|data| {
            let params = json!({ "level": "info", "logger": "jobs", "data": data });
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
        });
        for message in answered.into_iter().chain(events) {
            output.write_all(format!("{message}\n").as_bytes())?;
            output.flush()?;
        }
    }
    Ok(())
}

fn answer(line: &str, tools: &mut Tools) -> (String, Option<Value>) {
    if line.trim().is_empty() {
        return (String::new(), None);
    }
    let Ok(message) = serde_json::from_str::<Value>(line) else {
        return (String::new(), Some(failure(&Value::Null, -32700, "Parse error")));
    };
    let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
        return (String::new(), None);
    };
    let params = &message["params"];
    let result = match method {
        "initialize" => {
            let version = VERSIONS.into_iter().find(|known| params["protocolVersion"] == *known);
            Some(json!({
                "protocolVersion": version.unwrap_or(VERSIONS[3]),
                "capabilities": { "tools": {}, "logging": {} },
                "serverInfo": { "name": "mcp-approve-demo", "version": env!("CARGO_PKG_VERSION") },
            }))
        }
        "logging/setLevel" | "ping" => Some(json!({})),
        "tools/list" => Some(json!({ "tools": tools.definitions })),
        "tools/call" => tools.run(params["name"].as_str().unwrap_or_default(), &params["arguments"]),
        _ => return (method.to_owned(), Some(failure(id, -32601, "Method not found"))),
    };
    let answered = match result {
        Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        None => failure(id, -32602, "Unknown tool"),
    };
    (method.to_owned(), Some(answered))
}

fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}
