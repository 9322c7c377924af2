//! Schemas and signatures in tables: what compiles, what fits, and how a tool's type reads.

mod undeclared;
mod workflow;

mod codegen;
mod generated;
#[path = "fake/libraries.rs"]
mod libraries;
mod manifests;
mod scope;
mod set;
mod shape;
mod typed;

use mcp_approve::capability::schema::{Fits, Schema, Violation};
use mcp_approve::capability::types::signature;
use mcp_approve::mcp::tool::Tool;
use serde_json::{Value, json};

fn tool(definition: Value) -> Tool {
    Tool::read(definition).expect("a definition with a name")
}

fn fits(schema: &Schema, value: &Value) -> bool {
    schema.check(value) == Fits::Yes
}

fn violations(schema: &Schema, value: &Value) -> Vec<Violation> {
    match schema.check(value) {
        Fits::No(violations) => violations,
        Fits::Yes | Fits::Unchecked => Vec::new(),
    }
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
        let mut paths: Vec<String> = violations(&schema, value).into_iter().map(|violation| violation.path).collect();
        let mut expected: Vec<String> = expected.iter().map(|path| (*path).to_owned()).collect();
        paths.sort();
        expected.sort();
        assert_eq!(paths, expected, "{value}");
        assert_eq!(fits(&schema, value), expected.is_empty(), "{value}");
    }
}

#[test]
fn at_most_twenty_violations_each_of_readable_length() {
    let schema = Schema::compile(&json!({ "items": { "type": "integer" } })).expect("a schema");
    let long = "x".repeat(100_000);
    let violations = violations(&schema, &json!(vec![long; 30]));
    assert_eq!(violations.len(), 20);
    assert!(violations.iter().all(|violation| violation.what.chars().count() <= 301));
}

#[test]
fn the_draft_is_2020_12_unless_the_schema_says_otherwise() {
    let tuple = json!({ "prefixItems": [{ "type": "integer" }] });
    assert!(!fits(&Schema::compile(&tuple).expect("2020-12"), &json!(["a"])));
    let mut old = tuple;
    old["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    assert!(fits(&Schema::compile(&old).expect("draft 7 ignores prefixItems"), &json!(["a"])));
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
    assert!(fits(&schema, &json!({ "child": { "child": { "name": "a" } } })));
    assert!(!fits(&schema, &json!({ "child": { "child": { "name": 1 } } })));
    let itself = Schema::compile(&json!({ "$ref": "#" }));
    assert!(itself.is_err() || itself.is_ok_and(|schema| violations(&schema, &json!(1)).len() <= 20));
    for pattern in ["^(a+)+$", "^(?=(a+)+$)b"] {
        let schema = Schema::compile(&json!({ "pattern": pattern })).expect("a pattern");
        assert!(!fits(&schema, &json!(format!("{}!", "a".repeat(5_000)))), "{pattern}");
    }
}

#[test]
fn counts_of_patterns_are_written_out_and_nested_ones_multiply() {
    // Patterns may have twenty thousand states together.
    for (pattern, most) in [
        ("(a{1,100}){1,100}", 2),
        ("((a{9}){9}){9}", 27),
        ("[a-z0-9_-]{1,64}", 77),
        ("[]a]{33}", 150),
        (r"\{9999\}", 400),
    ] {
        let usable = |count: usize| {
            let properties = (0..count).map(|n| (format!("p{n}"), json!({ "pattern": pattern })));
            let properties: serde_json::Map<_, _> = properties.collect();
            Schema::compile(&json!({ "properties": properties })).is_ok()
        };
        assert!(usable(most), "{pattern}");
        assert!(pattern.contains("9999") || !usable(most + most / 10 + 1), "{pattern}");
    }
    let long = json!("a".repeat(200));
    for (pattern, fits) in
        [("^(?=.*a).*$", Fits::Unchecked), ("^.*a.*$", Fits::Yes), ("(?:ab)*", Fits::Yes), ("(?i)a", Fits::Yes)]
    {
        let items = json!({ "items": { "pattern": pattern } });
        let found = Schema::compile(&items).expect("a schema").check(&json!(vec![long.clone(); 300]));
        assert_eq!(found, fits, "{pattern}: what looks around may go through a text again and again");
    }
}

/// A budget ends each of these; without one some take minutes and gigabytes, and one the stack.
#[test]
fn what_would_take_too_much_work_is_not_checked_and_what_is_honest_is() {
    let loops = |branches: &Value| json!({ "$ref": "#/$defs/a", "$defs": { "a": branches } });
    let twice = json!([{ "$ref": "#/$defs/a" }, { "$ref": "#/$defs/a" }]);
    let nested = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({ "x": inner }));
    let again =
        json!([{ "properties": { "x": { "$ref": "#/$defs/a" } } }, { "properties": { "x": { "$ref": "#/$defs/a" } } }]);
    let patterns: serde_json::Map<_, _> = (0..300).map(|n| (format!("^a{n}"), json!({ "type": "string" }))).collect();
    let words: Vec<String> = (0..500).map(|n| format!("word-{n}")).collect();
    let many = |item: &str| json!(vec![item; 50_000]);
    let keys: serde_json::Map<_, _> = (0..20_000).map(|n| (format!("a{n}"), json!("x"))).collect();
    let rows = [
        ("itself, twice, in the same place", loops(&json!({ "anyOf": twice })), json!("a")),
        ("itself in not", loops(&json!({ "not": { "$ref": "#/$defs/a" } })), json!("a")),
        ("itself in if", loops(&json!({ "if": { "$ref": "#/$defs/a" } })), json!("a")),
        ("twice at each level", loops(&json!({ "oneOf": again })), nested(40)),
        (
            "twice at each level, unevaluated",
            loops(&json!({ "unevaluatedProperties": { "$ref": "#/$defs/a" } })),
            nested(40),
        ),
        ("patterns by keys", json!({ "patternProperties": patterns }), Value::Object(keys)),
        ("words by items", json!({ "items": { "enum": words } }), many("word-x")),
        ("look-around", json!({ "pattern": "^(?=(a+)+$)b" }), json!("a".repeat(50_000))),
        ("many states by bytes", json!({ "pattern": "(a|b)*a(a|b){16}c" }), json!("ab".repeat(1_000_000))),
    ];
    for (what, schema, value) in rows {
        let schema = Schema::compile(&schema).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(schema.check(&value), Fits::Unchecked, "{what}");
    }
    let honest = [
        (json!({ "items": { "type": "string" } }), many("a")),
        (
            json!({ "items": { "pattern": "^[0-9a-f-]{36}$" } }),
            json!(vec!["0b7d5c1e-3f2a-4a5b-9c8d-7e6f5a4b3c2d"; 1_000]),
        ),
        (json!({ "pattern": r"^(?!.*\.\.)[a-z./-]{1,255}$" }), json!("src/main.rs")),
        (json!({ "properties": { "x": { "$ref": "#" } } }), nested(60)),
        (json!({ "maxLength": 100_000_000 }), json!("x".repeat(10_000_000))),
        (json!({ "uniqueItems": true }), json!((0..100_000).collect::<Vec<_>>())),
    ];
    for (schema, value) in honest {
        assert_eq!(Schema::compile(&schema).expect("a schema").check(&value), Fits::Yes, "{schema}");
    }
}

/// Where we cannot tell where a reference leads, its work cannot be counted.
#[test]
fn references_that_are_no_pointers_into_the_document_make_a_schema_unusable() {
    for schema in [
        json!({ "$dynamicAnchor": "n", "anyOf": [{ "$dynamicRef": "#n" }] }),
        json!({ "$ref": "#name", "$defs": { "a": { "$anchor": "name" } } }),
        json!({ "$ref": "#/$defs/%61", "$defs": { "a": {} } }),
        json!({ "properties": { "a": { "$id": "https://example.org/a", "$ref": "#/$defs/b", "$defs": { "b": {} } } } }),
    ] {
        assert!(Schema::compile(&schema).is_err(), "{schema}");
    }
    assert!(
        Schema::compile(&json!({ "$id": "https://example.org/a", "properties": { "id": { "type": "string" } } }))
            .is_ok()
    );
}

#[test]
fn many_places_that_do_not_fit_are_not_each_written_down() {
    let schema = Schema::compile(&json!({ "items": { "type": "integer" } })).expect("a schema");
    let found = violations(&schema, &many_texts(100_000));
    assert!(found.len() == 1 && found[0].what.contains("too large"), "{found:?}");
}

fn many_texts(count: usize) -> Value {
    json!(vec!["a"; count])
}

#[test]
fn numbers_too_long_to_compare_are_a_violation_with_its_path() {
    let schema = Schema::compile(&json!({ "properties": { "n": { "multipleOf": 2 } } })).expect("a schema");
    let value: Value = serde_json::from_str("{\"list\": [{\"n\": 1e999999999}]}").expect("json");
    let violations = violations(&schema, &value);
    assert_eq!(violations.iter().map(|violation| violation.path.as_str()).collect::<Vec<_>>(), ["/list/0/n"]);
    assert!(!fits(&schema, &value));
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
