//! Messages as nobody should send them: made from good ones by everything that has ever deceived a parser.

use std::collections::HashSet;
use std::fs;

use mcp_approve::wire::Line;
use mcp_approve::wire::message::{self, Sorted};
use serde_json::Value;

use crate::bed::{Chance, Measured, Run, grouped};
use crate::fake::host::Host;
use crate::kills::{decisions, digest, home};
use crate::players;

const GOOD: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read","arguments":{"title":"a"}}}"#,
    r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"write","arguments":{"text":"b","n":[1,2.5,-0.0]}}}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"_meta":{"progressToken":1},"name":"read","arguments":{}}}"#,
    r#"{"jsonrpc":"2.0","id":11,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
    r#"{"jsonrpc":"2.0","id":"srv-1","result":{"roots":[]}}"#,
];

/// What is put somewhere into a message.
const BITS: &[&str] = &[
    "\"method\":\"tools/call\",",
    "\"Method\":\"tools/call\",",
    "\"method\":\"ping\",",
    "\"id\":1,",
    "\"id\":null,",
    "\"params\":{\"name\":\"write\"},",
    "\"name\":\"write\",",
    "\"Name\":\"write\",",
    "\"arguments\":{\"text\":\"z\"},",
    "\"param\u{17f}\":{\"name\":\"write\"},",
    "\\u0074ools/call",
    "\\ud800",
    "\\u0000",
    "\u{0}",
    "\u{feff}",
    "\u{2028}",
    "[",
    "]",
    "{",
    "}",
    "\"",
    ",",
    ":",
    "\\",
    "//",
    "/*",
    "*/",
    "'",
    "NaN",
    "Infinity",
    "1e400",
    "-",
    "0x1",
    "01",
    "1.",
    "9007199254740993",
    "\r",
    "\t",
    "\u{c}",
    "\u{a0}",
    "null",
    "true",
    "tools/call",
    "TOOLS/CALL",
    "tools\\/call",
    "\u{212a}",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "\"\u{202e}\":1,",
    "\"a\":1,\"a\":2,",
];

/// A message, usually broken. It has no line end.
pub fn message(chance: &mut Chance) -> Vec<u8> {
    let mut bytes = chance.of(GOOD).as_bytes().to_vec();
    for _ in 0..chance.below(4) {
        let at = chance.below(bytes.len() + 1);
        match chance.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..at, [u8::try_from(chance.below(256)).unwrap()])),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => {
                let to = (at + chance.below(30)).min(bytes.len());
                let again = bytes[at..to].to_vec();
                drop(bytes.splice(at..at, again));
            }
            4 => bytes = [b"[".as_slice(), &bytes, b"]"].concat(),
            5 => {
                let other = chance.of(GOOD).as_bytes();
                bytes.extend_from_slice(other);
            }
            _ => {
                // A whole member is most telling right after a brace.
                let bit = chance.of(BITS);
                let braces: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'{').map(|at| at + 1).collect();
                let at = if bit.ends_with(',') && !braces.is_empty() { *chance.of(&braces) } else { at };
                drop(bytes.splice(at..at, bit.bytes()));
            }
        }
    }
    bytes.retain(|byte| *byte != b'\n');
    bytes
}

/// R6. What reaches the server must be a message that is no call by the most lenient reading, or a recorded call.
pub fn malformed(run: &Run) -> Measured {
    let mut chance = run.chance(6);
    let (home, policy) = home();
    let heard = home.path().join("heard");
    let options = ["--name", "s", "--policy", policy.to_str().unwrap()];
    let mut host = Host::wrapping(home.path(), &options, &players::role(&["listener", heard.to_str().unwrap()]));
    host.handshake("2025-11-25");
    let (mut refused, mut sent) = (0, 0_u64);
    while refused < run.of(10_000) {
        let bytes = message(&mut chance);
        refused += u64::from(matches!(message::sort(Line::new(bytes.clone())), Sorted::Refused { .. }));
        sent += 1;
        host.send_bytes(&[&bytes[..], b"\n"].concat());
        if sent.is_multiple_of(1_000) {
            host.request(format!("still {sent}"), "ping", &Value::Null);
            host.answer(format!("still {sent}"));
        }
    }
    host.request("last", "resources/list", &serde_json::json!({}));
    host.answer("last");
    host.hang_up();
    assert!(host.wait().success(), "the wrapper broke: {}", host.last_words());
    let words = host.last_words();
    let decisions = decisions(&home.path().join("state/audit.db"));
    let lines = fs::read(&heard).unwrap();
    let mut unclassified = HashSet::new();
    let mut passed = 0_u64;
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        passed += 1;
        let text = String::from_utf8_lossy(line).into_owned();
        let approved = decisions.get(&digest(&text)).is_some_and(|(verdict, _)| verdict == "approve");
        if !approved && may_be_call(line) {
            unclassified.insert(text);
        }
    }
    let panics = words.matches("panicked").count();
    let first = unclassified.iter().next().map_or_else(String::new, |line| format!("; such as {line:?}"));
    Measured::held(
        unclassified.is_empty() && panics == 0,
        format!(
            "{panics} panics, {} unclassified of {} refused; {} lines passed{first}",
            unclassified.len(),
            grouped(refused),
            grouped(passed)
        ),
    )
}

/// Whether any parser could read a line as a call: what is no JSON, or has a method of that name by any case.
fn may_be_call(line: &[u8]) -> bool {
    let Ok(Value::Object(message)) = serde_json::from_slice::<Value>(line) else { return true };
    let is_call = |value: &Value| value.as_str().is_some_and(|method| method.trim().eq_ignore_ascii_case("tools/call"));
    message.iter().any(|(key, value)| key.trim().eq_ignore_ascii_case("method") && is_call(value))
}
