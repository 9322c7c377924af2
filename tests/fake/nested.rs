//! A wrapper whose server starts another wrapper.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::host::Host;
use super::server::{Server, reader, writer};
use super::{BINARY, until};

pub fn server() -> Server {
    Server::with(&[reader("read"), reader("peek"), writer("write")])
}

/// What the host of a wrapper is told, once it asked for the tools and called two of them. Its input stays open until `stop` is
/// there.
const PLAYED: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"inner","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/list"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"write","arguments":{}}}
"#;

/// Starts a wrapper with these options, whose server starts another by the shell script (`$INNER` is its command line); the
/// inner one's answers to the list and the two calls.
pub fn nested(home: &Path, outer: &[&str], inner: &str, script: &str, before: impl FnOnce()) -> [Value; 3] {
    let server = server();
    let (input, output, go) = (home.join("in"), home.join("out"), home.join("go"));
    fs::write(&input, PLAYED).unwrap();
    let played = format!("(cat '{}'; sleep 20)", input.display());
    let words: Vec<String> = server.command().iter().map(|word| format!("'{word}'")).collect();
    let inner = format!("{played} | env -i '{BINARY}' {inner} -- {} > '{}'", words.join(" "), output.display());
    let wait = format!("while [ ! -e '{}' ]; do sleep 0.05; done", go.display());
    let script = format!("{wait}\n{}\ncat >/dev/null", script.replace("$INNER", &inner));
    let mut host = Host::wrapping(home, &[&["--name", "outer"], outer].concat(), &["sh", "-c", &script]);
    before();
    fs::write(&go, "").unwrap();
    let answers = until("the inner wrapper answers", || {
        let text = fs::read_to_string(&output).unwrap_or_default();
        let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let answer = |id: u64| lines.iter().find(|line| line["id"] == id && line.get("method").is_none()).cloned();
        Some([answer(1)?, answer(2)?, answer(3)?])
    });
    host.signal("TERM");
    host.wait();
    answers
}

pub fn names(list: &Value) -> Vec<&str> {
    list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}
