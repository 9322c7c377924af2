//! Schemas and signatures in tables: what compiles, what fits, and how a tool's type reads.

mod undeclared;
mod workflow;

mod codegen;
mod set;
mod shape;

use mcp_approve::capability::schema::Schema;
use mcp_approve::capability::types::signature;
use mcp_approve::mcp::tool::Tool;
use serde_json::{Value, json};

fn tool(definition: Value) -> Tool {
    Tool::read(definition).expect("a definition with a name")
}

#[test]
fn values_are_checked_with_every_failing_path() {
    let schema = Schema::compile(&json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            "lines": { "type": "array", "items": { "type": "integer" } },
            "a/b": { "type": "string" },
        },
        "required": ["path"],
        "additionalProperties": false,
    }))
    .expect("a schema");
    let rows: &[(Value, &[&str])] = &[
        (json!({ "path": "a" }), &[]),
        (json!({}), &[""]),
        (json!({ "path": "", "lines": [1, "2", 3.5] }), &["/path", "/lines/1", "/lines/2"]),
        (json!({ "path": "a", "a/b": 1 }), &["/a~1b"]),
        (json!({ "path": "a", "more": 1 }), &[""]),
        (json!("text"), &[""]),
    ];
    for (value, expected) in rows {
        let mut paths: Vec<String> = schema.violations(value).into_iter().map(|violation| violation.path).collect();
        let mut expected: Vec<String> = expected.iter().map(|path| (*path).to_owned()).collect();
        paths.sort();
        expected.sort();
        assert_eq!(paths, expected, "{value}");
        assert_eq!(schema.fits(value), expected.is_empty(), "{value}");
    }
}

#[test]
fn at_most_twenty_violations_each_of_readable_length() {
    let schema = Schema::compile(&json!({ "items": { "type": "integer" } })).expect("a schema");
    let long = "x".repeat(100_000);
    let violations = schema.violations(&json!(vec![long; 30]));
    assert_eq!(violations.len(), 20);
    assert!(violations.iter().all(|violation| violation.what.chars().count() <= 301));
}

#[test]
fn the_draft_is_2020_12_unless_the_schema_says_otherwise() {
    let tuple = json!({ "prefixItems": [{ "type": "integer" }] });
    assert!(!Schema::compile(&tuple).expect("2020-12").fits(&json!(["a"])));
    let mut old = tuple;
    old["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    assert!(Schema::compile(&old).expect("draft 7 ignores prefixItems").fits(&json!(["a"])));
}

#[test]
fn hostile_schemas_are_unusable_not_fatal() {
    let deep = (0..80).fold(json!({ "type": "string" }), |inner, _| json!({ "items": inner }));
    let wide = json!({ "enum": (0..200_000).map(|n| format!("value {n}")).collect::<Vec<_>>() });
    let patterns = json!({ "properties": (0..600).map(|n| (format!("p{n}"), json!({ "pattern": "a" }))).collect::<serde_json::Map<_, _>>() });
    let mut defs = serde_json::Map::new();
    for n in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
        defs.insert(format!("d{n}"), json!({ "allOf": [next, next] }));
    }
    defs.insert("d40".to_owned(), json!({ "type": "string" }));
    let rows = [
        ("no schema", json!({ "type": "no such type" })),
        ("a list", json!([])),
        ("leaves the document", json!({ "$ref": "https://example.org/schema.json" })),
        ("reads a file", json!({ "$ref": "file:///etc/passwd" })),
        ("a relative document", json!({ "properties": { "a": { "$ref": "other.json#/x" } } })),
        ("an unknown meta schema", json!({ "$schema": "https://example.org/meta" })),
        ("an anchor that is not there", json!({ "$ref": "#/$defs/none" })),
        ("no regular expression", json!({ "pattern": "(" })),
        ("a pattern as large as a book", json!({ "pattern": "(((a{500}){500}){500})" })),
        ("too deep", deep),
        ("too large", wide),
        ("too many patterns", patterns),
        ("references that double", json!({ "$defs": defs, "$ref": "#/$defs/d0" })),
        ("a number of astronomic size", serde_json::from_str("{\"multipleOf\": 1e999999}").expect("json")),
    ];
    for (what, schema) in rows {
        assert!(Schema::compile(&schema).is_err(), "{what}");
    }
}

#[test]
fn recursive_schemas_and_backtracking_patterns_end() {
    let tree = json!({ "properties": { "child": { "$ref": "#" }, "name": { "type": "string" } } });
    let schema = Schema::compile(&tree).expect("a recursive schema");
    assert!(schema.fits(&json!({ "child": { "child": { "name": "a" } } })));
    assert!(!schema.fits(&json!({ "child": { "child": { "name": 1 } } })));
    let itself = Schema::compile(&json!({ "$ref": "#" }));
    assert!(itself.is_err() || itself.is_ok_and(|schema| schema.violations(&json!(1)).len() <= 20));
    for pattern in ["^(a+)+$", "^(?=(a+)+$)b"] {
        let schema = Schema::compile(&json!({ "pattern": pattern })).expect("a pattern");
        assert!(!schema.fits(&json!(format!("{}!", "a".repeat(5_000)))), "{pattern}");
    }
}

#[test]
fn numbers_too_long_to_compare_are_a_violation_with_its_path() {
    let schema = Schema::compile(&json!({ "properties": { "n": { "multipleOf": 2 } } })).expect("a schema");
    let value: Value = serde_json::from_str("{\"list\": [{\"n\": 1e999999999}]}").expect("json");
    let violations = schema.violations(&value);
    assert_eq!(violations.iter().map(|violation| violation.path.as_str()).collect::<Vec<_>>(), ["/list/0/n"]);
    assert!(!schema.fits(&value));
}

#[test]
fn signatures_read_like_rust() {
    let rows = [
        (json!({ "name": "ping" }), "ping() -> Value"),
        (
            json!({
                "name": "read_file",
                "inputSchema": {
                    "properties": { "path": { "type": "string" }, "encoding": { "enum": ["utf8", "base64"] } },
                    "required": ["path"],
                },
                "outputSchema": { "type": "object" },
            }),
            "read_file(path: String, encoding: Option<Utf8 | Base64>) -> ReadFileSuccess",
        ),
        (
            json!({
                "name": "run-job",
                "inputSchema": {
                    "properties": {
                        "count": { "type": "integer" },
                        "ratio": { "type": "number" },
                        "dry": { "type": "boolean" },
                        "tags": { "type": "array", "items": { "type": "string" } },
                        "env": { "type": "object", "additionalProperties": { "type": "string" } },
                        "where": { "type": "object", "properties": { "x": { "type": "integer" } }, "required": ["x"] },
                        "id": { "oneOf": [{ "type": "string" }, { "type": "integer" }] },
                        "note": { "type": ["string", "null"] },
                        "any": {},
                    },
                    "required": ["count", "ratio", "dry", "tags", "env", "where", "id", "note", "any"],
                },
            }),
            "run-job(count: i64, ratio: f64, dry: bool, tags: Vec<String>, env: HashMap<String, String>, where: { x: i64 }, \
             id: String | i64, note: String | null, any: Value) -> Value",
        ),
        (
            json!({ "name": "walk", "inputSchema": { "properties": { "tree": { "$ref": "#" } }, "required": ["tree"] } }),
            "walk(tree: Self) -> Value",
        ),
        (
            json!({
                "name": "odd",
                "inputSchema": {
                    "properties": { "case": { "enum": ["a", "A"] }, "may": { "type": "string", "nullable": true } },
                    "required": ["unseen"],
                },
            }),
            "odd(case: Option<\"a\" | \"A\">, may: Option<String | null>, unseen: Value) -> Value",
        ),
    ];
    for (definition, expected) in rows {
        assert_eq!(signature(&tool(definition)), expected);
    }
}

#[test]
fn a_signature_never_outgrows_a_screen() {
    let many: serde_json::Map<_, _> =
        (0..10_000).map(|n| (format!("parameter_{n}"), json!({ "type": "string" }))).collect();
    let doubling = json!({ "oneOf": [{ "$ref": "#/properties/deep" }, { "$ref": "#/properties/deep" }] });
    for properties in
        [Value::Object(many), json!({ "wide": { "enum": (0..5_000).collect::<Vec<_>>() }, "deep": doubling })]
    {
        let line = signature(&tool(json!({ "name": "n".repeat(5_000), "inputSchema": { "properties": properties } })));
        assert!(line.chars().count() <= 500, "{} characters", line.chars().count());
        assert!(line.ends_with(") -> Value"), "{line}");
    }
}
