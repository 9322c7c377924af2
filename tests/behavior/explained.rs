//! Which calls of a tool that is proven to read pass: changing arguments never, ordinary ones nearly always, and each only
//! with an explanation for every leaf. The tables were written by somebody who had not seen the code they test.

use std::sync::LazyLock;

use mcp_approve::behavior::arguments::judge;
use mcp_approve::behavior::arguments::memory::Memory;
use mcp_approve::behavior::arguments::said::Said;
use mcp_approve::behavior::conclude::{Behavior, Overrides, Trust, of_call, of_described_call, of_tool_with};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::{Action, Mutability, OutputDomain};
use mcp_approve::mcp::tool::Tool;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::tool;

/// A call of a table, judged as if an operator had pinned its tool PURE: only the arguments can make it ask.
struct Row {
    row: Value,
    name: String,
    /// How many hazards the definition has by itself: whoever pinned the tool has seen them.
    known: usize,
    behavior: Behavior,
}

/// Long texts stand in the tables as their pieces: `{"repeated": ["SELECT ", ["x", 70000]]}`.
fn whole(value: &Value) -> Value {
    match value {
        Value::Object(fields) => match fields.get("repeated").and_then(Value::as_array) {
            Some(pieces) => Value::String(pieces.iter().map(piece).collect()),
            None => Value::Object(fields.iter().map(|(name, field)| (name.clone(), whole(field))).collect()),
        },
        Value::Array(items) => Value::Array(items.iter().map(whole).collect()),
        other => other.clone(),
    }
}

fn piece(piece: &Value) -> String {
    match piece {
        Value::String(text) => text.clone(),
        run => {
            let times = run[1].as_u64().and_then(|times| usize::try_from(times).ok()).expect("how often");
            run[0].as_str().expect("a text").repeat(times)
        }
    }
}

fn table(text: &str) -> Vec<Row> {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of a table is JSON"));
    let (tools, calls): (Vec<Value>, Vec<Value>) = lines.partition(|line| line.get("tool").is_some());
    let tools: Vec<_> = tools.iter().map(|line| tool(line["tool"].clone())).collect();
    let pinned =
        Some(Identity { mutability: Mutability::Pure, action: Action::Read, output_domain: OutputDomain::Data });
    let judged = |mut row: Value| {
        row["arguments"] = whole(&row["arguments"]);
        let tool = &tools[row["of"].as_u64().and_then(|at| usize::try_from(at).ok()).expect("a number of a tool")];
        let described = of_tool_with(tool, Trust::Corroborate, Overrides { pinned, ..Overrides::default() });
        let behavior = of_call(Some(tool), &described, &row["arguments"]);
        Row { name: tool.name.clone(), known: described.hazards.len(), row, behavior }
    };
    calls.into_iter().map(judged).collect()
}

impl Row {
    /// Whether its arguments let it run unasked: nothing raised it, every leaf is explained, and they hold no hazard.
    fn runs(&self) -> bool {
        self.behavior.runs_unasked() && self.behavior.hazards.len() == self.known
    }

    fn shown(&self) -> String {
        let arguments: String = self.row["arguments"].to_string().chars().take(300).collect();
        let hazards: Vec<&str> = self.behavior.hazards.iter().map(|hazard| hazard.kind.word()).collect();
        let line: String = self.behavior.explanation.line().chars().take(200).collect();
        let found: Vec<String> = self
            .behavior
            .analyses
            .iter()
            .filter(|one| !one.effect.reads())
            .map(|one| one.says.clone())
            .take(3)
            .collect();
        format!(
            "{}\t{}\t{arguments}\t{line}\t{found:?} {hazards:?}",
            self.row["class"].as_str().unwrap_or_default(),
            self.name
        )
    }
}

#[test]
fn no_changing_argument_runs_unasked() {
    let rows = table(include_str!("../fixtures/arguments/attacks.jsonl"));
    let clear = rows.iter().filter(|row| row.row["severity"] == "clear");
    let ran: Vec<String> = clear.clone().filter(|row| row.runs()).map(Row::shown).collect();
    let arguable =
        rows.iter().filter(|row| row.row["severity"] != "clear" && row.runs()).map(Row::shown).collect::<Vec<_>>();
    eprintln!("{} arguable ran\n{}", arguable.len(), arguable.join("\n"));
    assert!(clear.count() >= 400);
    // Only who knows the device, the service or the tool's other arguments can tell these: the number may only fall.
    let known = rows.iter().filter(|row| row.row["severity"] == "known" && row.runs()).count();
    assert!(known <= 18, "{known} of the rows that are known to run do");
    assert!(ran.is_empty(), "{} ran\n{}", ran.len(), ran.join("\n"));
}

#[test]
fn at_most_four_of_a_hundred_ordinary_reads_are_asked() {
    let rows = table(include_str!("../fixtures/arguments/ordinary.jsonl"));
    let asked: Vec<String> = rows.iter().filter(|row| !row.runs()).map(Row::shown).collect();
    assert!(asked.len() * 100 <= rows.len() * 4, "{} of {}\n{}", asked.len(), rows.len(), asked.join("\n"));
}

/// Schemas in the shape of real ones: flat, nested, referring, of several types, free.
fn schemas() -> Vec<Value> {
    let text = json!({ "type": "string" });
    vec![
        json!({ "type": "object", "properties": { "path": text, "head": { "type": "integer" }, "recursive": { "type": "boolean" } } }),
        json!({ "type": "object", "properties": { "query": text, "filters": { "type": "object" }, "tags": { "type": "array", "items": text } } }),
        json!({ "type": "object", "properties": { "sql": text, "params": { "type": "array" }, "mode": { "enum": ["fast", "exact"] } } }),
        json!({
            "type": "object",
            "properties": { "where": { "$ref": "#/$defs/node" }, "value": { "anyOf": [text, { "type": "number" }, { "type": "null" }] } },
            "$defs": { "node": { "type": "object", "properties": { "field": text, "and": { "type": "array", "items": { "$ref": "#/$defs/node" } } } } },
        }),
        json!({ "type": "object", "properties": { "url": text, "method": { "enum": ["GET", "POST"] }, "headers": { "type": "object" } } }),
        json!({ "type": "object", "additionalProperties": true }),
    ]
}

/// Texts that one kind or another explains, texts that none does, and anything.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a", "list", "docs/a.md", " ", "2026-01-31", "42", "-1", "--output=x", ";", "|", "$(", "{{", "}}", "\"", "'",
        "DROP TABLE t", "SELECT 1", "https://example.org/a", "file:///etc", "?_method=DELETE", "MATCH (n)", "DELETE n",
        "{", "}", "[", "]", ":", ",", "\n", "é", "漢字", "\u{202e}", "=", "how to", "the", "delete",
    ]);
    prop_oneof![prop::collection::vec(pieces, 0..6).prop_map(|pieces| pieces.concat()), any::<String>()]
}

fn values() -> impl Strategy<Value = Value> {
    let keys = prop::sample::select(vec![
        "path", "query", "q", "sql", "where", "filters", "tags", "url", "headers", "method", "mode", "value", "field",
        "and", "params", "options", "args", "code", "output_path", "$gt", "$out", "delete", "name", "--x", "text",
        "dry_run",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..5).prop_map(|fields| Value::Object(
                fields.into_iter().map(|(key, field)| (key.to_owned(), field)).collect()
            )),
        ]
    })
}

/// JSON Pointers of every leaf.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| leaves(item, &format!("{at}/{index}"), found));
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                leaves(field, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => found.push(at.to_owned()),
    }
}

/// A leaf of a call that passes without an explanation; `None` where there is none.
fn unexplained(tool: &Tool, arguments: &Value) -> Option<String> {
    let explanation = judge(Some(tool), arguments, &[]).explanation;
    assert!(explanation.leaves.len() <= 32 && explanation.unexplained.len() <= 8);
    let mut all = Vec::new();
    leaves(arguments, "", &mut all);
    // What is not listed is counted, and its leaves cannot be told apart.
    let passes = explanation.holds() && explanation.more == 0;
    let explains = |pointer: &str, leaf: &str| leaf == pointer || leaf.starts_with(&format!("{pointer}/"));
    let is_explained = |leaf: &&String| explanation.leaves.iter().any(|one| explains(&one.pointer, leaf));
    all.iter().find(|leaf| passes && !is_explained(leaf)).map(|leaf| format!("{leaf} of {arguments}"))
}

/// The tools of the table of ordinary calls, as their servers describe them.
static REAL: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let lines = include_str!("../fixtures/arguments/ordinary.jsonl").lines();
    let rows = lines.map(|line| serde_json::from_str::<Value>(line).expect("a line of a table is JSON"));
    rows.filter_map(|row| Some(tool(row.get("tool")?.clone()))).collect()
});

/// Texts and choices for arguments.
struct Chance {
    texts: Vec<String>,
    seed: u64,
}

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.seed >> 33).unwrap() % most.max(1)
    }
}

/// A value of a schema's types, listed values and properties. Bounds and patterns are left aside.
fn fitting(root: &Value, schema: &Value, chance: &mut Chance, depth: usize) -> Value {
    if depth > 6 {
        return Value::Null;
    }
    if let Some(target) = schema["$ref"].as_str().and_then(|text| root.pointer(text.trim_start_matches('#'))) {
        return fitting(root, target, chance, depth + 1);
    }
    if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
        return values[chance.below(values.len())].clone();
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(branches) = schema[key].as_array().filter(|branches| !branches.is_empty()) {
            return fitting(root, &branches[chance.below(branches.len())], chance, depth + 1);
        }
    }
    let of = match &schema["type"] {
        Value::Array(types) => types[chance.below(types.len())].as_str().unwrap_or_default(),
        one => one.as_str().unwrap_or_default(),
    };
    match of {
        "object" => {
            let none = serde_json::Map::new();
            let properties = schema["properties"].as_object().unwrap_or(&none);
            let chosen: Vec<_> = properties.iter().filter(|_| chance.below(3) > 0).collect();
            let fields = chosen.into_iter().map(|(name, of)| (name.clone(), fitting(root, of, chance, depth + 1)));
            Value::Object(fields.collect())
        }
        "array" => (0..chance.below(3)).map(|_| fitting(root, &schema["items"], chance, depth + 1)).collect(),
        "integer" | "number" => chance.below(1_000).into(),
        "boolean" => (chance.below(2) == 1).into(),
        "null" => Value::Null,
        _ => {
            let at = chance.below(chance.texts.len());
            chance.texts[at].clone().into()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    /// What passes has an explanation for each of its leaves, or for the statement that they are parts of.
    #[test]
    fn a_call_passes_only_with_an_explanation_for_every_leaf(schema in prop::sample::select(schemas()), arguments in values()) {
        let tool: Tool = tool(json!({ "name": "search_things", "description": "Searches.", "inputSchema": schema }));
        prop_assert_eq!(unexplained(&tool, &arguments), None);
    }

    /// The same of real tools, and of arguments that fit their schemas.
    #[test]
    fn a_call_of_a_real_tool_passes_only_with_an_explanation_for_every_leaf(
        tool in prop::sample::select(&*REAL),
        texts in prop::collection::vec(texts(), 8),
        seed in any::<u64>(),
    ) {
        let arguments = fitting(&tool.input_schema, &tool.input_schema, &mut Chance { texts, seed }, 0);
        prop_assert_eq!(unexplained(&tool, &arguments), None);
    }

    /// A word that changes or injects is never hidden by what stands around it.
    #[test]
    fn nothing_around_it_explains_what_injects(
        before in "[a-zA-Z0-9 .,]{0,12}",
        after in "[a-zA-Z0-9 .,]{0,12}",
        injected in prop::sample::select(vec!["; rm -rf x", "$(id)", "`id`", "&& id", "| sh", "{{7*7}}", "${x}", "<% x %>", "\nDELETE x", "'; DROP TABLE t --", "> /etc/x"]),
        key in prop::sample::select(vec!["query", "name", "path", "url", "title", "pattern", "filter", "id", "value"]),
    ) {
        let arguments = json!({ key: format!("{before}{injected}{after}") });
        prop_assert!(!judge(None, &arguments, &[]).explanation.holds(), "{}", arguments);
    }
}

#[test]
fn the_line_names_each_leaf_and_its_kind() {
    let tool =
        tool(json!({ "name": "read_rows", "description": "Reads rows by SQL.", "inputSchema": { "type": "object" } }));
    let line = |arguments: Value| judge(Some(&tool), &arguments, &[]).explanation.line();
    let arguments = json!({ "path": "docs/a.md", "limit": 5, "sql": "SELECT name FROM users", "since": "2026-01-31" });
    assert_eq!(line(arguments), "path: a path; limit: a number; sql: SQL, SELECT on users; since: a time");
    assert_eq!(line(json!({ "path": "-o" })), "path: begins with \"-\", so it may be an option");
    assert_eq!(line(json!({})), "");
    assert!(line(json!({ "n": vec![1; 40] })).ends_with("; n/31: a number; and 8 more"));
}

#[test]
fn a_parameter_that_is_pinned_as_plain_text_explains_what_is_in_it_and_nothing_else() {
    let tool =
        tool(json!({ "name": "search_notes", "description": "Searches notes.", "inputSchema": { "type": "object",
        "properties": { "query": {}, "more": {} } }, "annotations": { "readOnlyHint": true } }));
    let described = of_tool_with(&tool, Trust::Corroborate, Overrides::default());
    let said = Said::of(&tool, &["query".to_owned()]);
    for (arguments, holds) in [
        (json!({ "query": "--output=x" }), true),
        (json!({ "query": { "any": ["--output=x", "$(rm)"] } }), true),
        (json!({ "more": "--output=x" }), false),
        (json!({ "more": { "query": "--output=x" } }), false),
    ] {
        let call = of_described_call(Some(&tool), &said, &described, &arguments, &mut Memory::default());
        assert_eq!(call.behavior.explanation.holds(), holds, "{arguments}: {}", call.behavior.explanation.line());
    }
}

#[test]
fn whoever_looks_for_code_writes_a_declaration() {
    let tool =
        tool(json!({ "name": "search_code", "description": "Searches code.", "inputSchema": { "type": "object" } }));
    for (query, holds) in [
        ("fn main() -> Result<(), Box<dyn Error>>", true),
        ("pub fn read(&self, text: &str) -> Option<Vec<u8>>", true),
        ("def handle(request: Request, *args) -> Response:", true),
        ("func Serve(ctx context.Context)", true),
        ("fn main() -> Result > /tmp/x", false),
        ("fn main(); rm -rf /", false),
        ("fn main() | sh", false),
        ("function x() { steal() }", false),
        ("main() -> x", false),
        ("fn $(id)()", false),
        ("fn a(b", false),
    ] {
        let explanation = judge(Some(&tool), &json!({ "query": query }), &[]).explanation;
        assert_eq!(explanation.holds(), holds, "{query}: {}", explanation.line());
    }
}
