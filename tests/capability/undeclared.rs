//! Arguments that a tool's schema does not declare: named with their paths, at any depth, and never for nothing.

use mcp_approve::capability::undeclared::{Reach, undeclared};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn found(schema: &Value, arguments: &Value) -> Vec<String> {
    let found = undeclared(schema, arguments);
    assert_eq!(found.reach, Reach::Whole, "{schema}");
    found.keys
}

#[test]
fn undeclared_keys_are_those_no_branch_declares() {
    let rows = [
        (json!({ "properties": { "a": {} } }), vec!["/b"]),
        (json!({ "properties": { "a": {} }, "additionalProperties": false }), vec!["/b"]),
        (json!({ "properties": {} }), vec!["/a", "/b"]),
        (json!({ "properties": { "a": {} }, "additionalProperties": true }), vec![]),
        (json!({ "properties": { "a": {} }, "additionalProperties": { "type": "string" } }), vec![]),
        (json!({ "properties": { "a": {} }, "patternProperties": { "^x": {} } }), vec![]),
        (json!({ "anyOf": [{ "properties": { "a": {} } }, { "properties": { "b": {} } }] }), vec![]),
        (json!({ "anyOf": [{ "properties": { "a": {} } }, { "type": "object" }] }), vec![]),
        (json!({ "anyOf": [{ "properties": { "a": {} } }, { "type": "string" }] }), vec!["/b"]),
        (json!({ "anyOf": [{ "properties": { "a": {} } }, true] }), vec![]),
        (json!({ "properties": { "a": {} }, "allOf": [{ "required": ["a"] }] }), vec!["/b"]),
        (json!({ "properties": { "a": {} }, "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }), vec!["/b"]),
        (json!({ "$ref": "#/$defs/x", "$defs": { "x": { "properties": { "a": {} } } } }), vec!["/b"]),
        (json!({ "$ref": "#anchor", "properties": { "a": {} } }), vec![]),
        (json!({ "type": "object" }), vec![]),
        (json!({}), vec![]),
        (json!(true), vec![]),
    ];
    for (schema, expected) in rows {
        assert_eq!(found(&schema, &json!({ "a": 1, "b": 2 })), expected, "{schema}");
    }
}

#[test]
fn keys_below_the_top_are_named_with_their_path() {
    let options = json!({ "type": "object", "properties": { "depth": { "type": "integer" } } });
    let within = |property: Value| json!({ "type": "object", "properties": { "options": property } });
    let nested = json!({ "options": { "depth": 1, "force": true } });
    let listed = json!({ "options": [{ "depth": 1 }, { "depth": 2, "force": true }] });
    let force = vec!["/options/force"];
    let second = vec!["/options/1/force"];
    let defined = |reference: Value| json!({ "properties": { "options": reference }, "$defs": { "o": options, "many": { "items": { "$ref": "#/$defs/o" } } } });
    let rows = [
        (within(options.clone()), &nested, force.clone()),
        (defined(json!({ "$ref": "#/$defs/o" })), &nested, force.clone()),
        (defined(json!({ "allOf": [{ "$ref": "#/$defs/o" }], "description": "how" })), &nested, force.clone()),
        (defined(json!({ "anyOf": [{ "$ref": "#/$defs/o" }, { "type": "null" }] })), &nested, force.clone()),
        (defined(json!({ "oneOf": [{ "$ref": "#/$defs/o" }, { "type": "string" }] })), &nested, force.clone()),
        (within(json!({ "oneOf": [options.clone(), { "properties": { "force": {} } }] })), &nested, vec![]),
        (within(json!({ "anyOf": [options.clone(), { "type": "object" }] })), &nested, vec![]),
        (within(json!({ "anyOf": [options.clone(), { "additionalProperties": true }] })), &nested, vec![]),
        // Two branches that share a definition say no more than one.
        (defined(json!({ "anyOf": [{ "$ref": "#/$defs/o" }, { "$ref": "#/$defs/o" }] })), &nested, force.clone()),
        (within(json!({ "type": "array", "items": options.clone() })), &listed, second.clone()),
        (defined(json!({ "$ref": "#/$defs/many" })), &listed, second.clone()),
        (within(json!({ "prefixItems": [true, options.clone()] })), &listed, second.clone()),
        (within(json!({ "prefixItems": [options.clone()], "items": true })), &listed, vec![]),
        (within(json!({ "type": "array" })), &listed, vec![]),
        // Values under keys of their own: what each must be is said once for all.
        (json!({ "type": "object", "additionalProperties": options.clone() }), &nested, force.clone()),
        (json!({ "properties": { "options": options }, "additionalProperties": true }), &nested, force),
        // "Some object", as it is written by hand or by a library.
        (within(json!({})), &nested, vec![]),
        (within(json!({ "type": "object" })), &nested, vec![]),
        (within(json!({ "type": "object", "properties": {} })), &nested, vec![]),
        (
            within(json!({ "type": "object", "properties": {}, "additionalProperties": false })),
            &nested,
            vec!["/options/depth", "/options/force"],
        ),
        (within(json!({ "type": "object", "additionalProperties": {} })), &nested, vec![]),
        (within(json!({ "type": ["string", "object"] })), &nested, vec![]),
    ];
    for (schema, arguments, expected) in rows {
        assert_eq!(found(&schema, arguments), expected, "{schema}");
    }
    let odd = json!({ "properties": { "a/b": { "properties": { "c": {} } } } });
    assert_eq!(found(&odd, &json!({ "a/b": { "d~e": 1 } })), ["/a~1b/d~0e"], "names are escaped");
}

#[test]
fn a_schema_that_refers_to_itself_is_followed_as_far_as_the_arguments_go() {
    let schema = json!({ "$ref": "#/$defs/node", "$defs": { "node": { "type": "object", "properties": {
        "name": {}, "children": { "type": "array", "items": { "$ref": "#/$defs/node" } } } } } });
    let tree = json!({ "name": 1, "children": [{ "children": [{ "name": 2, "exec": "x" }] }] });
    assert_eq!(found(&schema, &tree), ["/children/0/children/0/exec"]);
    let circle = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "anyOf": [{ "$ref": "#/$defs/a" }, { "properties": { "x": {} } }] } } });
    assert_eq!(found(&circle, &json!({ "y": 1 })), ["/y"]);
}

#[test]
fn names_and_branches_without_end_cost_what_they_may() {
    let closed = json!({ "type": "object", "properties": { "a": {} } });
    let schema = json!({ "additionalProperties": closed });
    let inside: Map<String, Value> = (0..90).map(|n| (format!("u{n}"), json!(1))).collect();
    let told = undeclared(&schema, &json!({ ("k".repeat(100_000)): inside }));
    assert!(told.reach == Reach::Bounded && told.keys.iter().map(String::len).sum::<usize>() <= 1 << 20);
    let many = json!({ "anyOf": vec![json!(false); 40_000] });
    let items = vec![json!({ "$ref": "#/$defs/many" }); 4_000];
    let schema = json!({ "properties": { "a": { "prefixItems": items } }, "$defs": { "many": many } });
    assert_eq!(undeclared(&schema, &json!({ "a": vec![json!({}); 4_000] })).reach, Reach::Bounded);
}

#[test]
fn what_is_too_large_to_compare_is_said_to_be() {
    let items = json!({ "properties": { "list": { "items": { "properties": { "a": {} } } } } });
    let many: Vec<Value> = (0..60_000).map(|n| json!({ "a": n })).collect();
    assert_eq!(undeclared(&items, &json!({ "list": many })).reach, Reach::Bounded);
    let keys: Map<String, Value> = (0..5_000).map(|n| (format!("k{n}"), json!(1))).collect();
    let found = undeclared(&json!({ "properties": { "a": {} } }), &Value::Object(keys));
    assert_eq!((found.keys.len(), found.reach), (100, Reach::Bounded));
    let branches: Vec<Value> = (0..3_000).map(|n| json!({ "properties": { format!("p{n}"): {} } })).collect();
    assert_eq!(undeclared(&json!({ "oneOf": branches }), &json!({ "z": 1 })).reach, Reach::Bounded);
}

/// A schema, and arguments that it declares to the last key.
fn declared() -> impl Strategy<Value = (Value, Value)> {
    let leaf = prop_oneof![
        Just((json!({ "type": "string" }), json!("x"))),
        Just((json!({}), json!({ "any": { "thing": 1 } }))),
        Just((json!({ "type": "object" }), json!({ "any": 1 }))),
        Just((json!({ "additionalProperties": { "type": "integer" } }), json!({ "n": 1 }))),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let members = prop::collection::vec(("[a-c~/]{1,3}", inner.clone(), any::<bool>()), 1..4);
        let object = (members, any::<bool>()).prop_map(|(members, closed)| {
            let (mut properties, mut fields) = (Map::new(), Map::new());
            for (name, (schema, value), given) in members {
                if !properties.contains_key(&name) {
                    properties.insert(name.clone(), schema);
                    if given {
                        fields.insert(name, value);
                    }
                }
            }
            let mut schema = json!({ "type": "object", "properties": properties });
            if closed {
                schema["additionalProperties"] = json!(false);
            }
            (schema, Value::Object(fields))
        });
        prop_oneof![
            3 => object,
            1 => inner.clone().prop_map(|(schema, value)| (json!({ "type": "array", "items": schema }), json!([value, value]))),
            1 => (inner.clone(), inner.clone(), any::<bool>()).prop_map(|((one, value), (other, _), first)| {
                let branches = if first { json!([one, other]) } else { json!([other, one]) };
                (json!({ "anyOf": branches }), value)
            }),
            1 => inner.prop_map(|(schema, value)| (json!({ "allOf": [schema], "title": "T" }), value)),
        ]
    })
}

/// Every object in a value, by its pointer.
fn objects(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            out.push(path.to_owned());
            for (key, field) in fields {
                objects(field, &format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| objects(item, &format!("{path}/{at}"), out));
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn nothing_declared_is_called_undeclared((schema, value) in declared()) {
        prop_assert_eq!(found(&schema, &value), Vec::<String>::new(), "{} {}", schema, value);
    }

    /// Where JSON Schema itself, read strictly, takes a new key nowhere, it is named with its path; and nothing else is.
    #[test]
    fn a_key_put_where_none_is_taken_is_named((schema, value) in declared(), at in any::<prop::sample::Index>()) {
        let mut places = Vec::new();
        objects(&value, "", &mut places);
        prop_assume!(!places.is_empty());
        let place = at.get(&places);
        let mut with = value.clone();
        with.pointer_mut(place).unwrap().as_object_mut().unwrap().insert("zz".to_owned(), json!(1));
        let validator = mcp_approve::capability::schema::Schema::compile(&schema).unwrap();
        let named = found(&schema, &with);
        // A branch that takes more keys counts, though another of its words keeps it from holding here.
        let text = schema.to_string();
        let some_take_more = text.contains(r#""additionalProperties":{"#)
            || text.contains(r#""anyOf""#) && text.contains(r#"{"type":"object"}"#);
        if !super::fits(&validator, &with) && super::fits(&validator, &value) && !some_take_more {
            prop_assert_eq!(named, vec![format!("{place}/zz")], "{} {}", schema, with);
        } else {
            prop_assert!(named.is_empty() || named == [format!("{place}/zz")], "{} {}", schema, with);
        }
    }

    /// Whatever a server calls a schema: no crash, and every path leads to a key of the arguments.
    #[test]
    fn no_schema_is_too_odd(words in prop::collection::vec(odd(), 3), arguments in odd()) {
        let schema = json!({ "properties": words[0], "$defs": { "a": words[1] }, "anyOf": [words[2], { "$ref": "#/$defs/a" }] });
        for schema in [&schema, &words[0]] {
            for key in undeclared(schema, &arguments).keys {
                prop_assert!(arguments.pointer(&key).is_some(), "{} {} {}", key, schema, arguments);
            }
        }
    }
}

fn odd() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!("object")),
        Just(json!("#")),
        Just(json!("#/$defs/a")),
        Just(json!(1))
    ];
    leaf.prop_recursive(5, 30, 4, |inner| {
        let key = prop::sample::select(vec![
            "type", "properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "if", "$ref",
            "additionalProperties", "patternProperties", "dependentSchemas", "a", "b",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((key, inner), 0..4).prop_map(|members| Value::Object(
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}
