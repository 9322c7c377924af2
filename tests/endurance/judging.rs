//! How long a ping waits while a hostile definition or call is judged, and how long the wrapper takes to end in the middle.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::bed::{Measured, Run, peak_kib};
use crate::fake::host::Host;
use crate::fake::server::Server;

const TARGET: Duration = Duration::from_millis(250);
const END: Duration = Duration::from_secs(4);
/// How long pings are sent after a definition, and after a call.
const WATCHED: Duration = Duration::from_millis(1500);
const MOST: usize = (16 << 20) - 4096;

/// One hostile row: its name, a tool's schema and description, the arguments' text.
struct Row {
    name: &'static str,
    schema: Value,
    description: String,
    arguments: String,
}

fn row(name: &'static str, schema: Value, arguments: String) -> Row {
    Row { name, schema, description: "Reads records.".to_owned(), arguments }
}

fn list(item: &str, count: usize) -> String {
    format!(r#"{{"q":[{}]}}"#, vec![item; count].join(","))
}

fn keys(count: usize, value: &str) -> String {
    let all: Vec<String> = (0..count).map(|n| format!(r#""k{n}":{value}"#)).collect();
    format!("{{{}}}", all.join(","))
}

fn text(piece: &str) -> String {
    format!(r#"{{"query":"{}"}}"#, piece.repeat(MOST / piece.len()))
}

fn rows() -> Vec<Row> {
    let open = || json!({ "type": "object" });
    let q = |schema: Value| json!({ "type": "object", "properties": { "q": schema } });
    let loops = |part: Value| json!({ "$ref": "#/$defs/a", "$defs": { "a": part } });
    let twice =
        json!([{ "properties": { "x": { "$ref": "#/$defs/a" } } }, { "properties": { "x": { "$ref": "#/$defs/a" } } }]);
    let nested = |depth: usize| format!("{}1{}", r#"{"x":"#.repeat(depth), "}".repeat(depth));
    let patterns: Map<String, Value> = (0..400).map(|n| (format!("^k(a|b)*{n}"), open())).collect();
    let words: Vec<String> = (0..500).map(|n| format!("w{n}")).collect();
    let properties: Map<String, Value> = (0..3_000).map(|n| (format!("p{n}"), json!({ "type": "string" }))).collect();
    let statements = |piece: &str| row("statements", q(json!({ "type": "string" })), text(piece));
    let mut rows = vec![
        row("itself in anyOf, 60 deep", loops(json!({ "anyOf": twice })), nested(60)),
        row("itself in oneOf, 60 deep", loops(json!({ "oneOf": twice })), nested(60)),
        row("itself in not", loops(json!({ "not": { "$ref": "#/$defs/a" } })), "{}".to_owned()),
        row("unevaluated, 60 deep", loops(json!({ "unevaluatedProperties": { "$ref": "#/$defs/a" } })), nested(60)),
        row(
            "400 patterns, 90,000 keys",
            json!({ "type": "object", "patternProperties": patterns }),
            keys(90_000, "{}"),
        ),
        row("500 words, 90,000 items", q(json!({ "items": { "enum": words } })), list(r#""w-x""#, 90_000)),
        row("a million texts", q(json!({ "items": { "type": "string" } })), list(r#""t""#, 1_000_000)),
        row("90,000 texts", q(json!({ "items": { "type": "string" } })), list(r#""select a""#, 90_000)),
        row("a million keys", open(), keys(1_000_000, "1")),
        row("90,000 keys", open(), keys(90_000, "\"x\"")),
        row("lists in lists", open(), format!(r#"{{"q":[{}[]]}}"#, "[],".repeat(5_000_000))),
        row(
            "states by bytes",
            q(json!({ "pattern": "(a|b)*a(a|b){16}c" })),
            format!(r#"{{"q":"{}"}}"#, "ab".repeat(8_000_000)),
        ),
        row("unique objects", q(json!({ "uniqueItems": true })), list(r#"{"a":[1,{"b":2}]}"#, 24_000)),
        row("3,000 properties", json!({ "type": "object", "properties": properties }), "{}".to_owned()),
    ];
    for piece in [
        "a", " ", "word ", ";", "'", "(", "/*", "-- ", "../", "%25", "\\u0041", "\\n", "\u{301}", "SELECT 1;",
        "{\\\"a\\\":",
    ] {
        rows.push(Row { name: "16 MiB of", ..statements(piece) });
    }
    rows.push(Row {
        description: "Searches texts. Deletes nothing, or so it says. ".repeat(4_000),
        ..row("90,000 texts, a long description", q(json!({ "items": { "type": "string" } })), list(r#""t""#, 90_000))
    });
    rows.push(Row { description: "a ".repeat(4 << 20), ..row("a description of 8 MiB", open(), "{}".to_owned()) });
    rows
}

/// P10. The longest time that a ping waits over all rows, and the longest end by SIGTERM.
pub fn pings(run: &Run) -> Measured {
    let (mut worst, mut ends, mut peak) = ((Duration::ZERO, ""), Duration::ZERO, 0);
    for row in rows().iter().step_by(usize::try_from(run.part).unwrap_or(1)) {
        let home = tempfile::tempdir().unwrap();
        let tool = json!({ "name": "get_a", "description": row.description, "inputSchema": row.schema,
            "annotations": { "readOnlyHint": true } });
        let server = Server::with(&[tool]);
        let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
        host.handshake("2025-06-18");
        host.request("l", "tools/list", &json!({}));
        let listed = watched(&mut host, 0);
        let head = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"get_a","arguments":"#;
        host.send(&format!("{head}{}}}}}", row.arguments));
        let called = watched(&mut host, 100_000);
        let (memory, begun) = (peak_kib(host.pid()).unwrap_or_default() >> 10, Instant::now());
        host.signal("TERM");
        host.wait();
        let end = begun.elapsed();
        crate::say(&format!(
            "     {} {}: list {listed:.0?}, call {called:.0?}, end {end:.0?}, {memory} MiB",
            row.name,
            row.arguments.chars().skip(10).take(8).collect::<String>()
        ));
        for longest in [listed, called] {
            worst = worst.max((longest, row.name));
        }
        (ends, peak) = (ends.max(end), peak.max(memory));
    }
    let text = format!("{:.0?} ({}); end {ends:.1?}; {peak} MiB", worst.0, worst.1);
    Measured::held(worst.0 <= TARGET && ends <= END, text)
}

/// The longest time that a ping waits from now on.
fn watched(host: &mut Host, first: u64) -> Duration {
    let (begun, mut longest) = (Instant::now(), Duration::ZERO);
    for number in first.. {
        let sent = Instant::now();
        host.request(number, "ping", &json!({}));
        host.answer(number);
        longest = longest.max(sent.elapsed());
        if begun.elapsed() > WATCHED {
            break;
        }
    }
    longest
}
