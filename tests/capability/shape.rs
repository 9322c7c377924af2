//! JSON Schema to types: every row of the lattice's table, what schemas say around it, and what makes two of them one type.

use mcp_approve::capability::shape::{Shape, ShownShape, Type, is_within, shown};
use serde_json::{Value, json};

fn read(schema: &Value) -> String {
    shown(&Shape::read(schema).of, ShownShape { chars: 400, depth: 20 })
}

#[test]
fn every_row_of_the_table_has_its_type() {
    for (schema, expected) in [
        (json!({ "type": "string" }), "String"),
        (json!({ "type": "integer" }), "i64"),
        (json!({ "type": "number" }), "f64"),
        (json!({ "type": "boolean" }), "bool"),
        (json!({ "type": "null" }), "()"),
        (json!({ "type": "array", "items": { "type": "integer" } }), "Vec<i64>"),
        (json!({ "type": "array" }), "Vec<Value>"),
        (
            json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }], "items": false }),
            "Vec<String | i64>",
        ),
        (
            json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": {} }, "required": ["a"] }),
            "{ a: String, b: Option<Value> }",
        ),
        (json!({ "enum": ["utf8", "base64"] }), "Utf8 | Base64"),
        (json!({ "enum": [1, 2] }), "1 | 2"),
        (json!({ "const": "one" }), "One"),
        (json!({ "type": "object", "additionalProperties": { "type": "number" } }), "HashMap<String, f64>"),
        (
            json!({ "type": "object", "patternProperties": { "^x": { "type": "number" } }, "additionalProperties": false }),
            "HashMap<String, f64>",
        ),
        (json!({ "type": "object" }), "HashMap<String, Value>"),
        (json!({ "type": "object", "additionalProperties": false }), "{  }"),
        (json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }] }), "String | i64"),
        (
            json!({ "oneOf": [
                { "type": "object", "properties": { "kind": { "const": "file" }, "path": { "type": "string" } }, "required": ["kind", "path"] },
                { "type": "object", "properties": { "kind": { "const": "text" } }, "required": ["kind"] },
            ] }),
            "File { path: String } | Text {  }",
        ),
        (json!(true), "Value"),
        (json!(false), "!"),
    ] {
        assert_eq!(read(&schema), expected, "{schema}");
    }
}

#[test]
fn what_stands_around_a_type_counts() {
    for (schema, expected) in [
        // Null, in all the ways in which servers write it.
        (json!({ "type": ["string", "null"] }), "String | null"),
        (json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }), "String | null"),
        (json!({ "type": "string", "nullable": true }), "String | null"),
        (json!({ "enum": ["a", null] }), "A | null"),
        // References, and what stands beside them.
        (json!({ "$defs": { "id": { "type": "integer" } }, "$ref": "#/$defs/id" }), "i64"),
        (json!({ "$ref": "https://example.com/x.json" }), "Value"),
        (json!({ "$ref": "#/nowhere" }), "Value"),
        (
            json!({ "allOf": [{ "type": "object", "properties": { "a": { "type": "string" } } }, { "required": ["a"] }] }),
            "{ a: String }",
        ),
        (json!({ "allOf": [{ "type": "number" }, { "type": "integer" }] }), "i64"),
        (json!({ "type": "string", "allOf": [{ "enum": ["a", 1] }] }), "A"),
        // Branches that only say which properties must be there together.
        (
            json!({ "type": "object", "properties": { "a": {}, "b": {} }, "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
            "{ a: Option<Value>, b: Option<Value> }",
        ),
        // What belongs to every branch.
        (
            json!({ "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"],
                "oneOf": [{ "properties": { "a": { "type": "string" } } }, { "properties": { "b": { "type": "string" } } }] }),
            "{ id: i64, a: Option<String> } | { id: i64, b: Option<String> }",
        ),
        // Contradictions.
        (json!({ "type": "string", "enum": [1, 2] }), "!"),
        (json!({ "allOf": [{ "type": "string" }, { "type": "integer" }] }), "!"),
        (json!({ "enum": [] }), "!"),
        // A list of types, where one holds the other.
        (json!({ "type": ["number", "integer"] }), "f64"),
        (json!({ "type": "whatever" }), "Value"),
        // Itself, and nothing but itself.
        (json!({ "$ref": "#" }), "Value"),
        (
            json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } }, "$ref": "#/$defs/a" }),
            "Value",
        ),
        (
            json!({ "$defs": { "node": { "type": "object", "properties": { "next": { "$ref": "#/$defs/node" } } } }, "$ref": "#/$defs/node" }),
            "Node",
        ),
    ] {
        assert_eq!(read(&schema), expected, "{schema}");
    }
}

#[test]
fn schemas_that_say_the_same_are_one_type() {
    let canonical = |schema: &Value| Shape::read(schema).canonical();
    let node = |name: &str| {
        json!({ "$defs": { name: { "type": "object", "properties": { "next": { "$ref": format!("#/$defs/{name}") } } } },
            "type": "array", "items": { "$ref": format!("#/$defs/{name}") } })
    };
    for (one, other) in [
        (json!({ "enum": ["a", "b"] }), json!({ "enum": ["b", "a", "a"] })),
        (
            json!({ "type": ["string", "null"] }),
            json!({ "anyOf": [{ "type": "null" }, { "type": "string" }], "title": "T" }),
        ),
        (
            json!({ "properties": { "a": { "type": "string" }, "b": {} } }),
            json!({ "type": "object", "properties": { "b": { "description": "x" }, "a": { "type": "string", "default": "" } } }),
        ),
        (
            json!({ "$defs": { "n": { "type": "string" } }, "$ref": "#/$defs/n" }),
            json!({ "type": "string", "minLength": 1 }),
        ),
        (node("node"), node("other")),
    ] {
        assert_eq!(canonical(&one), canonical(&other), "{one} {other}");
    }
    for (one, other) in [
        (json!({ "enum": ["a"] }), json!({ "enum": ["A"] })),
        (json!({ "type": "string" }), json!({ "type": "string", "format": "date" })),
        (json!({ "type": "string" }), json!({ "type": ["string", "null"] })),
        (json!({ "properties": { "a": {} } }), json!({ "properties": { "a": {} }, "required": ["a"] })),
        (json!({ "type": "array", "items": { "type": "string" } }), json!({ "type": "array" })),
        // A key that looks like the text of a type.
        (json!({ "properties": { "a?:any,\"b": {} } }), json!({ "properties": { "a": {}, "b": {} } })),
    ] {
        assert_ne!(canonical(&one), canonical(&other), "{one} {other}");
    }
}

#[test]
fn hostile_schemas_cost_little_and_come_out_wider() {
    let doubling = |depth: usize| {
        let mut defs = serde_json::Map::new();
        for n in 0..depth {
            let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
            defs.insert(format!("d{n}"), json!({ "type": "object", "properties": { "a": next, "b": next } }));
        }
        defs.insert(format!("d{depth}"), json!({ "type": "string" }));
        json!({ "$defs": defs, "$ref": "#/$defs/d0" })
    };
    let branch = |n: usize| json!({ "type": "object", "properties": { format!("p{n}"): { "type": "string" } }, "required": [format!("p{n}")] });
    let wide = json!({ "oneOf": (0..250).map(branch).collect::<Vec<_>>() });
    for schema in [
        doubling(60),
        json!({ "allOf": vec![wide; 12] }),
        json!({ "oneOf": (0..50_000).map(branch).collect::<Vec<_>>() }),
        json!({ "allOf": [{ "enum": (0..50_000).collect::<Vec<_>>() }, { "enum": (1..50_001).collect::<Vec<_>>() }] }),
        json!({ "properties": { "x": { "anyOf": [{ "$ref": "#" }, { "$ref": "#/properties/x" }, { "type": "string" }] } } }),
        (0..120).fold(json!({}), |inner, _| json!({ "items": inner })),
    ] {
        let shape = Shape::read(&schema);
        assert!(!shape.canonical().is_empty());
    }
    let Shape { of, cut, .. } = Shape::read(&doubling(60));
    assert!(cut && of != Type::Never, "what is not read can be anything");
}

fn holds(one: &Value, other: &Value) -> bool {
    is_within(&Shape::read(one), &Shape::read(other))
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

#[test]
fn narrower_is_within_and_wider_is_not() {
    let text = json!({ "type": "string" });
    let path = object(&json!({ "path": text }), &["path"]);
    for (one, other) in [
        (json!({ "type": "integer" }), json!({ "type": "number" })),
        (json!({ "enum": ["a"] }), json!({ "enum": ["a", "b"] })),
        (json!({ "enum": ["a"] }), text.clone()),
        (json!({ "type": "string", "format": "uri" }), text.clone()),
        (text.clone(), json!({ "type": ["string", "null"] })),
        (path.clone(), json!(true)),
        (path.clone(), object(&json!({ "path": text }), &[])),
        (path, object(&json!({ "path": text, "head": { "type": "integer" } }), &["path"])),
        (
            json!({ "type": "array", "items": { "enum": [1] } }),
            json!({ "type": "array", "items": { "type": "integer" } }),
        ),
        (text, json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })),
    ] {
        assert!(holds(&one, &other), "{one} is within {other}");
        assert!(holds(&one, &one), "{one} is within itself");
        assert!(!holds(&other, &one), "{other} is wider than {one}");
    }
}

#[test]
fn a_definition_that_speaks_of_itself_is_compared_once() {
    let tree = |leaf: &str| {
        json!({ "$ref": "#/$defs/tree", "$defs": { "tree": object(&json!({
            "leaf": { "type": leaf }, "next": { "type": "array", "items": { "$ref": "#/$defs/tree" } },
        }), &["leaf"]) } })
    };
    assert!(holds(&tree("integer"), &tree("number")));
    assert!(!holds(&tree("number"), &tree("integer")));
}

#[test]
fn what_was_not_read_to_its_end_is_within_nothing() {
    let cut = Shape { cut: true, ..Shape::ANY };
    assert!(!is_within(&cut, &Shape::ANY) && !is_within(&Shape::read(&json!(false)), &cut));
}
