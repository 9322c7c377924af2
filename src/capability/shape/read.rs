//! Reads a JSON Schema (2020-12, older drafts, OpenAPI) into a type; beyond its bounds of work [`Type::Any`], which is wider.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::types::{Doc, Field, Record, Shape, TextFormat, Type, meet, size, union};

/// Schema nodes that are read of one document, each `$ref` followed anew.
const MAX_NODES: usize = 20_000;
/// How deep schemas are followed into one another.
const MAX_DEPTH: usize = 48;
/// A text for people is carried up to this many bytes.
const MAX_DOC: usize = 2_000;

impl Shape {
    /// Reads a schema document: an object, `true` or `false`.
    pub fn read(schema: &Value) -> Self {
        let mut reader =
            Reader { root: schema, left: MAX_NODES, cut: false, open: Vec::new(), definitions: BTreeMap::new() };
        let of = reader.of(schema, 0);
        // Each definition was read when its reference was first met.
        Self { of, definitions: reader.definitions, cut: reader.cut }
    }
}

struct Reader<'a> {
    root: &'a Value,
    left: usize,
    cut: bool,
    /// The references we are in, and whether each was met again inside itself.
    open: Vec<(String, bool)>,
    definitions: BTreeMap<String, Type>,
}

impl<'a> Reader<'a> {
    fn of(&mut self, schema: &'a Value, depth: usize) -> Type {
        if self.left == 0 || depth > MAX_DEPTH {
            self.cut = true;
            return Type::Any;
        }
        self.left -= 1;
        match schema {
            Value::Bool(false) => Type::Never,
            Value::Object(schema) => self.of_object(schema, depth),
            Value::Bool(true) | Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => Type::Any,
        }
    }

    fn of_object(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Type {
        let mut of = self.own(schema, depth);
        if let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
            of = meet(of, self.referred(pointer, depth));
        }
        if let Some(branches) = list(schema, "allOf") {
            for branch in branches {
                of = meet(of, self.of(branch, depth + 1));
            }
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(branches) = list(schema, key).filter(|branches| !branches.iter().all(only_constrains)) {
                if branches.len() * size(&of) > MAX_NODES {
                    self.cut = true;
                    continue;
                }
                let read: Vec<Type> = branches.iter().map(|branch| self.of(branch, depth + 1)).collect();
                of = union(read.into_iter().map(|branch| meet(of.clone(), branch)));
            }
        }
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            of = union([of, Type::Null]);
        }
        of
    }

    /// What the keywords beside `$ref`, `allOf`, `oneOf` and `anyOf` say.
    fn own(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Type {
        let typed = match schema.get("type") {
            Some(Value::String(name)) => self.of_type(name, schema, depth),
            Some(Value::Array(names)) => {
                let names: Vec<&str> = names.iter().filter_map(Value::as_str).take(8).collect();
                let read: Vec<Type> = names.iter().map(|name| self.of_type(name, schema, depth)).collect();
                if read.is_empty() { Type::Any } else { union(read) }
            }
            _ if ["properties", "required", "additionalProperties", "patternProperties"]
                .iter()
                .any(|key| schema.contains_key(*key)) =>
            {
                self.of_type("object", schema, depth)
            }
            _ if schema.contains_key("items") || schema.contains_key("prefixItems") => {
                self.of_type("array", schema, depth)
            }
            _ => Type::Any,
        };
        let listed = match (schema.get("const"), schema.get("enum")) {
            (Some(value), _) => choice(std::slice::from_ref(value)),
            (None, Some(Value::Array(values))) => choice(values),
            (None, _) => Type::Any,
        };
        meet(typed, listed)
    }

    fn of_type(&mut self, name: &str, schema: &'a Map<String, Value>, depth: usize) -> Type {
        match name {
            "string" => Type::Text(format(schema)),
            "integer" => Type::Integer,
            "number" => Type::Number,
            "boolean" => Type::Boolean,
            "null" => Type::Null,
            "array" => Type::List(Box::new(self.items(schema, depth))),
            "object" => self.object(schema, depth),
            // A word that no draft knows says nothing.
            _ => Type::Any,
        }
    }

    fn items(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Type {
        let rest = match schema.get("items") {
            // Draft 7 writes what 2020-12 calls `prefixItems` here.
            Some(Value::Array(first)) => return self.tuple(first, schema.get("additionalItems"), depth),
            other => other,
        };
        match list(schema, "prefixItems") {
            Some(first) => self.tuple(first, rest, depth),
            None => rest.map_or(Type::Any, |items| self.of(items, depth + 1)),
        }
    }

    /// A list whose first items have types of their own: a list of any of them.
    fn tuple(&mut self, first: &'a [Value], rest: Option<&'a Value>, depth: usize) -> Type {
        let mut read: Vec<Type> = first.iter().map(|item| self.of(item, depth + 1)).collect();
        read.push(rest.map_or(Type::Any, |rest| self.of(rest, depth + 1)));
        union(read)
    }

    fn object(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Type {
        let required = || list(schema, "required").unwrap_or_default().iter().filter_map(Value::as_str);
        let mut fields: Vec<Field> = Vec::new();
        let is_required: BTreeSet<&str> = required().collect();
        if let Some(Value::Object(properties)) = schema.get("properties") {
            for (name, property) in properties {
                fields.push(Field {
                    name: name.clone(),
                    required: is_required.contains(name.as_str()),
                    of: self.of(property, depth + 1),
                    doc: doc(property),
                });
            }
        }
        let mut known: BTreeSet<String> = fields.iter().map(|field| field.name.clone()).collect();
        // A property that is only required can be anything.
        for name in required().filter(|name| known.insert((*name).to_owned())) {
            fields.push(Field { name: name.to_owned(), required: true, of: Type::Any, doc: Doc::default() });
        }
        let rest = self.rest(schema, depth);
        match (fields.is_empty(), rest) {
            (true, Some(rest)) => Type::Map(Box::new(rest)),
            // Its properties are declared, and there are none.
            (true, None)
                if schema.contains_key("properties")
                    || schema.get("additionalProperties") == Some(&Value::Bool(false)) =>
            {
                Type::Record(Record::default())
            }
            (true, None) => Type::Map(Box::new(Type::Any)),
            (false, rest) => Type::Record(Record { fields, rest: rest.map(Box::new) }),
        }
    }

    /// The type that the schema gives to properties it does not name.
    fn rest(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Option<Type> {
        let mut read = Vec::new();
        if let Some(Value::Object(patterns)) = schema.get("patternProperties") {
            read.extend(patterns.values().map(|one| self.of(one, depth + 1)).collect::<Vec<_>>());
        }
        match schema.get("additionalProperties") {
            Some(additional @ Value::Object(_)) => read.push(self.of(additional, depth + 1)),
            Some(Value::Bool(false)) => {}
            // Others may come, and be anything.
            _ if !read.is_empty() => read.push(Type::Any),
            _ => {}
        }
        (!read.is_empty()).then(|| union(read))
    }

    /// The type that a local `$ref` (`#`, `#/a/pointer`) names; nothing is fetched. A recursive one becomes a named definition.
    fn referred(&mut self, reference: &str, depth: usize) -> Type {
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target else { return Type::Any };
        let pointer = reference.trim_start_matches('#').to_owned();
        if self.definitions.contains_key(&pointer) {
            return Type::Named(pointer);
        }
        if let Some((_, met)) = self.open.iter_mut().find(|(open, _)| *open == pointer) {
            *met = true;
            return Type::Named(pointer);
        }
        self.open.push((pointer.clone(), false));
        let of = self.of(target, depth + 1);
        match self.open.pop() {
            Some((_, true)) if of != Type::Named(pointer.clone()) => {
                self.definitions.insert(pointer.clone(), of);
                Type::Named(pointer)
            }
            // A reference to nothing but itself rules no value out.
            Some((_, true)) => {
                self.definitions.insert(pointer, Type::Any);
                Type::Any
            }
            Some((_, false)) | None => of,
        }
    }
}

fn list<'a>(schema: &'a Map<String, Value>, key: &str) -> Option<&'a [Value]> {
    schema.get(key)?.as_array().map(Vec::as_slice)
}

/// Whether a branch says nothing of types, but which properties must be there together.
fn only_constrains(branch: &Value) -> bool {
    const TYPES: [&str; 12] = [
        "type", "properties", "items", "prefixItems", "enum", "const", "$ref", "allOf", "anyOf", "oneOf",
        "additionalProperties", "patternProperties",
    ];
    branch.as_object().is_some_and(|branch| !TYPES.iter().any(|key| branch.contains_key(*key)))
}

fn choice(values: &[Value]) -> Type {
    let mut seen = BTreeSet::new();
    let mut read: Vec<String> = values.iter().filter(|value| !value.is_null()).map(Value::to_string).collect();
    read.retain(|text| seen.insert(text.clone()));
    match (read.is_empty(), values.contains(&Value::Null)) {
        (true, true) => Type::Null,
        (true, false) => Type::Never,
        (false, true) => Type::Nullable(Box::new(Type::Choice(read))),
        (false, false) => Type::Choice(read),
    }
}

fn format(schema: &Map<String, Value>) -> Option<TextFormat> {
    if schema.get("contentEncoding").and_then(Value::as_str) == Some("base64") {
        return Some(TextFormat::Base64);
    }
    match schema.get("format")?.as_str()? {
        "idn-email" => Some(TextFormat::Email),
        "idn-hostname" => Some(TextFormat::Hostname),
        "url" | "iri" => Some(TextFormat::Uri),
        "byte" => Some(TextFormat::Base64),
        // No format of JSON Schema, but our word for the encoding.
        "base64" => None,
        word => TextFormat::from_word(word),
    }
}

fn doc(schema: &Value) -> Doc {
    let text = schema.get("description").or_else(|| schema.get("title")).and_then(Value::as_str);
    Doc(text.map(|text| text.get(..text.floor_char_boundary(MAX_DOC)).unwrap_or_default().to_owned()))
}
