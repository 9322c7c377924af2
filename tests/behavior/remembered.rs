//! What is remembered of the texts of earlier calls only saves work: every call comes out as it does without a memory.

use mcp_approve::behavior::arguments::memory::Memory;
use mcp_approve::behavior::arguments::said::Said;
use mcp_approve::behavior::conclude::{CallBehavior, Trust, of_described_call, of_tool};
use mcp_approve::mcp::tool::Tool;
use proptest::prelude::*;
use serde_json::{Value, json};

fn judged(tool: &Tool, said: &Said, arguments: &Value, memory: &mut Memory) -> CallBehavior {
    let described = of_tool(tool, Trust::Corroborate);
    of_described_call(Some(tool), said, &described, arguments, memory)
}

/// Judges the calls in their order by one memory, each also by none; how many texts were known.
fn same(tool: &Tool, calls: &[&Value]) -> usize {
    let said = Said::of(tool, &["pinned".to_owned()]);
    let mut memory = Memory::default();
    let mut known = 0;
    for arguments in calls {
        let texts = arguments.as_object().into_iter().flatten().filter_map(|(name, text)| Some((name, text.as_str()?)));
        known += texts.filter(|(name, text)| memory.knows(name, text)).count();
        let remembering = judged(tool, &said, arguments, &mut memory);
        let anew = judged(tool, &said, arguments, &mut Memory::default());
        assert_eq!(remembering, anew, "{} {arguments}", tool.name);
    }
    known
}

/// The tools of a corpus, each with its calls.
fn corpus(lines: &str) -> Vec<(Tool, Vec<Value>)> {
    let mut all: Vec<(Tool, Vec<Value>)> = Vec::new();
    for line in lines.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        match line.get("of").and_then(Value::as_u64) {
            Some(of) => all[usize::try_from(of).unwrap()].1.push(line["arguments"].take()),
            None => all.push((Tool::read(line["tool"].take()).unwrap(), Vec::new())),
        }
    }
    all
}

#[test]
fn every_call_of_the_corpus_comes_out_the_same_by_memory() {
    let lines =
        [include_str!("../fixtures/arguments/ordinary.jsonl"), include_str!("../fixtures/arguments/attacks.jsonl")];
    let all: Vec<_> = lines.into_iter().flat_map(corpus).collect();
    let mut known = 0;
    for (at, (tool, calls)) in all.iter().enumerate() {
        // The calls of another tool are full of texts that this one reads otherwise.
        let (_, others) = &all[(at + 1) % all.len()];
        let twice: Vec<&Value> = calls.iter().chain(others).chain(calls).chain(others).collect();
        known += same(tool, &twice);
    }
    assert!(known > 1_000, "the memory is used: {known}");
}

const NAMES: [&str; 12] =
    ["path", "query", "sql", "where", "command", "url", "name", "force", "action", "pinned", "$where", "a/b~c"];
const TEXTS: [&str; 20] = [
    "src/main.rs", "/home/ada/.ssh/id_rsa", "how to do this", "SELECT 1", "DROP TABLE users", "true", "delete",
    "rm -rf /", "https://example.org/?q=1", "http://169.254.169.254/", "../../x", "a\u{200b}b", "GET", "", "-o",
    "{\"a\": \"b\"}", "{\"sql\": \"DELETE FROM t\"}", "_method: DELETE", "ZHJvcCB0YWJsZSB1c2Vycw==", "x = 1",
];

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        8 => prop::sample::select(TEXTS.to_vec()).prop_map(str::to_owned),
        1 => "[a-z /.:=<>()]{0,40}",
        1 => "\\PC{0,20}",
        1 => (1_usize..400).prop_map(|length| "x".repeat(length)),
    ];
    prop_oneof![
        8 => text.prop_map(Value::from),
        1 => any::<i32>().prop_map(Value::from),
        1 => Just(json!({ "path": "src/main.rs", "sql": "DROP TABLE users" })),
        1 => Just(json!(["src/main.rs", "-o"])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_sequence_of_calls_comes_out_the_same_by_memory(
        calls in prop::collection::vec(prop::collection::vec((prop::sample::select(NAMES.to_vec()), value()), 0..6), 1..30),
        spoken in prop::sample::select(vec!["Reads notes.", "Runs SQL on the database.", "Runs a shell command."]),
    ) {
        let schema = json!({ "type": "object", "properties": {
            "path": {}, "query": { "type": "string" }, "sql": {}, "action": { "enum": ["GET", "delete"] }, "pinned": {} } });
        let definition = json!({ "name": "search_notes", "description": spoken, "inputSchema": schema });
        let tool = Tool::read(definition).unwrap();
        let calls: Vec<Value> = calls
            .into_iter()
            .map(|fields| Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
            .collect();
        same(&tool, &calls.iter().collect::<Vec<_>>());
    }
}

/// Beyond what is listed nothing more is counted, so nothing is learnt there either.
#[test]
fn what_was_not_listed_among_many_findings_is_not_remembered() {
    let tool = json!({ "name": "search_notes", "description": "Reads notes.", "inputSchema": { "type": "object",
        "properties": { "all": {}, "method": { "type": "string" }, "code": { "type": "string" } } } });
    let tool = Tool::read(tool).unwrap();
    let many: Vec<Value> = (0..70).map(|_| json!({ "sql": "DROP TABLE users" })).collect();
    for (name, text) in [("method", "GET"), ("code", "reboot"), ("code", "shutdown")] {
        same(&tool, &[&json!({ "all": many, name: text }), &json!({ name: text })]);
    }
}

/// What goes with an address is bounded by the whole call, so the address is counted every time.
#[test]
fn an_address_that_came_before_still_bounds_what_goes_with_it() {
    let tool = json!({ "name": "fetch_page", "description": "Fetches a web page and returns its text.",
        "inputSchema": { "type": "object",
            "properties": { "url": { "type": "string" }, "selector": { "type": "string" } } } });
    let tool = Tool::read(tool).unwrap();
    let first = json!({ "url": "https://example.org/news" });
    let second = json!({ "url": "https://example.org/news", "selector": "a7Bq9ZxK2mP4rT8vW1yC3eF5gH6jL0nQ" });
    same(&tool, &[&first, &second]);
    let alone = judged(&tool, &Said::of(&tool, &[]), &second, &mut Memory::default());
    assert!(!alone.behavior.explanation.holds(), "the text beside the address asks");
}
