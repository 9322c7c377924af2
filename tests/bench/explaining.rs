//! Times the judging of arguments: an ordinary call, and calls as large as the wire takes.

use std::fmt::Write as _;
use std::time::Instant;

use mcp_approve::behavior::agreed::Agreements;
use mcp_approve::behavior::arguments::found;
use mcp_approve::behavior::arguments::key::Said;
use mcp_approve::behavior::conclude::{Trust, of_described_call, of_tool};
use mcp_approve::behavior::shape::{self, Keys, Known, PathStates, Places};
use mcp_approve::mcp::tool::Tool;
use serde_json::{Value, json};

/// One line per call.
pub fn calls() -> String {
    let text = json!({ "type": "string" });
    let properties = json!({ "path": text, "limit": { "type": "integer" }, "pattern": text });
    let plain =
        json!({ "name": "read_file", "description": "Reads a file.", "inputSchema": { "properties": properties } });
    let words = "speaks SQL to the store, and Redis, and MongoDB ".repeat(8_000);
    let choices: Vec<String> = (0..500).map(|n| format!("choice {n}")).collect();
    let items = json!({ "type": "array", "items": { "type": "string", "enum": choices } });
    let wordy =
        json!({ "name": "run_things", "description": words, "inputSchema": { "properties": { "queries": items } } });
    let (Some(plain), Some(wordy)) = (Tool::read(plain), Tool::read(wordy)) else { return String::new() };
    let ordinary = json!({
        "path": "/home/someone/projects/a-longer-project-name/src/mod.rs",
        "limit": 200,
        "pattern": "a text of a few words that an agent might look for",
    });
    let rows: [(&str, &Tool, Value, u32); 8] = [
        ("an ordinary call", &plain, ordinary, 10_000),
        ("a million statements", &wordy, json!({ "queries": vec!["SELECT 1"; 1_000_000] }), 3),
        ("a million words", &plain, json!({ "query": vec!["how to do this"; 1_000_000] }), 3),
        ("four million numbers", &plain, json!({ "n": vec![1; 4_000_000] }), 3),
        ("many objects", &plain, json!({ "rows": vec![json!({ "someKey": 1, "other_key": "x" }); 300_000] }), 3),
        ("many keys", &plain, Value::Object((0..300_000).map(|n| (format!("key{n}"), json!(n))).collect()), 3),
        ("one text", &plain, json!({ "title": "x, (y) ".repeat(2_000_000) }), 3),
        ("brackets", &plain, json!({ "regex": "({".repeat(100_000), "filter": "(a = ".repeat(3_000) }), 3),
    ];
    let mut lines = String::from("Judging:");
    for (name, tool, arguments, rounds) in rows {
        let start = Instant::now();
        for _ in 0..rounds {
            std::hint::black_box(found(Some(tool), &arguments));
        }
        let _ = write!(lines, "\n  {name:<22} {:?}", start.elapsed() / rounds);
    }
    lines
}

/// A small call judged as often as told, as the gate does it: what is found out of its tool's definition is kept.
pub fn one_call(rounds: u32) -> String {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer" });
    let properties = json!({ "path": text, "offset": number, "limit": number, "query": text });
    let schema = json!({ "type": "object", "properties": properties });
    let tool = json!({ "name": "echo", "description": "Reads a file.", "inputSchema": schema });
    let Some(tool) = Tool::read(tool) else { return String::new() };
    let arguments = json!({
        "path": "/home/user/project/src/main.rs",
        "offset": 7,
        "limit": 200,
        "query": "fn main() -> Result<(), Box<dyn Error>>",
    });
    let (said, described) = (Said::of(&tool), of_tool(&tool, Trust::Corroborate));
    let keys = Keys::of(&tool, described.identity.action, &described.evidence, None);
    let (agreed, places, path_states) = (Agreements::default(), Places::default(), PathStates::new());
    let known = Known { agreed: &agreed, places: &places, roots: &[], path_states: &path_states };
    let start = Instant::now();
    for _ in 0..rounds {
        let mut judged = of_described_call(Some(&tool), &said, &described, &arguments);
        judged.behavior.shape = shape::of_call(Some(&tool), &keys, &arguments, known);
        std::hint::black_box(judged);
    }
    format!("One small call: {:?}", start.elapsed() / rounds.max(1))
}
