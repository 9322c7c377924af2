//! JSON Schema to a typed signature, by the capability lattice's table, in Rust notation.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::mcp::tool::Tool;

/// No signature is longer, whatever the schema.
const MAX_CHARS: usize = 500;
const MAX_NAME: usize = 100;
const MAX_TYPE: usize = 120;
const MAX_DEPTH: usize = 6;
/// Schema nodes looked at for one signature.
const MAX_WORK: usize = 2_000;

/// The tool's signature on one line: `read_file(path: String, encoding: Option<Utf8 | Base64>) -> ReadFileSuccess`.
///
/// Required properties are plain types, others `Option<T>`. Foreign names are kept as they are: show them as such.
pub fn signature(tool: &Tool) -> String {
    let mut types = Types { root: &tool.input_schema, work: MAX_WORK };
    let result = match tool.output_schema {
        Some(_) => format!("{}Success", cut(&pascal(&tool.name), MAX_NAME)),
        None => "Value".to_owned(),
    };
    let mut line = format!("{}(", cut(&tool.name, MAX_NAME));
    let room = MAX_CHARS - result.chars().count() - ", …) -> ".chars().count();
    let fields = match types.followed(&tool.input_schema) {
        Value::Object(schema) => types.fields(schema, 0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Vec::new(),
    };
    let mut used = line.chars().count();
    for (index, field) in fields.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        let more = separator.len() + field.chars().count();
        if used + more > room {
            line.push_str(separator);
            line.push('…');
            break;
        }
        used += more;
        line.push_str(separator);
        line.push_str(field);
    }
    line + ") -> " + &result
}

/// Renders types of one document, within a budget of work.
struct Types<'a> {
    root: &'a Value,
    work: usize,
}

impl<'a> Types<'a> {
    /// `name: Type` for each property of an object schema.
    fn fields(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Vec<String> {
        let required: BTreeSet<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let Some(Value::Object(properties)) = schema.get("properties") else {
            return Vec::new();
        };
        properties
            .iter()
            .take(MAX_CHARS / 3)
            .map(|(name, property)| {
                let rendered = self.of(property, depth + 1);
                let name_shown = cut(name, MAX_NAME);
                if required.contains(name.as_str()) || rendered.starts_with("Option<") {
                    format!("{name_shown}: {rendered}")
                } else {
                    format!("{name_shown}: Option<{rendered}>")
                }
            })
            .collect()
    }

    /// The type of one schema; `Value` where it is deep, recursive, untyped or too long to read.
    fn of(&mut self, schema: &'a Value, depth: usize) -> String {
        if depth > MAX_DEPTH || self.work == 0 {
            return "Value".to_owned();
        }
        self.work -= 1;
        let rendered = match self.followed(schema) {
            Value::Object(schema) => self.of_object(schema, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        };
        match rendered {
            Some(rendered) if rendered.chars().count() <= MAX_TYPE => rendered,
            Some(_) | None => "Value".to_owned(),
        }
    }

    fn of_object(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Option<String> {
        if let Some(Value::Array(values)) = schema.get("enum") {
            return Some(joined(values.iter().map(variant)));
        }
        if let Some(value) = schema.get("const") {
            return Some(variant(value));
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(Value::Array(branches)) = schema.get(key) {
                let shown: Vec<String> = branches.iter().take(16).map(|branch| self.of(branch, depth + 1)).collect();
                return Some(joined(shown.into_iter()));
            }
        }
        if let Some(Value::Array(branches)) = schema.get("allOf")
            && let [only] = branches.as_slice()
        {
            return Some(self.of(only, depth + 1));
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.of_type(name, schema, depth),
            Some(Value::Array(names)) => {
                let shown: Vec<String> = names
                    .iter()
                    .take(8)
                    .filter_map(Value::as_str)
                    .filter_map(|name| self.of_type(name, schema, depth))
                    .collect();
                Some(joined(shown.into_iter()))
            }
            _ if schema.contains_key("properties") => self.of_type("object", schema, depth),
            _ => None,
        }
    }

    fn of_type(&mut self, name: &str, schema: &'a Map<String, Value>, depth: usize) -> Option<String> {
        Some(match name {
            "string" => "String".to_owned(),
            "integer" => "i64".to_owned(),
            "number" => "f64".to_owned(),
            "boolean" => "bool".to_owned(),
            "null" => "()".to_owned(),
            "array" => match schema.get("items") {
                Some(items) => format!("Vec<{}>", self.of(items, depth + 1)),
                None => "Vec<Value>".to_owned(),
            },
            "object"
                if schema.get("properties").and_then(Value::as_object).is_some_and(|fields| !fields.is_empty()) =>
            {
                format!("{{ {} }}", self.fields(schema, depth).join(", "))
            }
            "object" => match schema.get("additionalProperties") {
                Some(Value::Object(_)) => {
                    let rest = schema.get("additionalProperties")?;
                    format!("HashMap<String, {}>", self.of(rest, depth + 1))
                }
                _ => "HashMap<String, Value>".to_owned(),
            },
            _ => return None,
        })
    }

    /// Follows local references, a few steps far.
    fn followed(&self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..8 {
            match schema.get("$ref").and_then(|reference| resolve(self.root, reference)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }
}

fn resolve<'a>(root: &'a Value, reference: &Value) -> Option<&'a Value> {
    root.pointer(reference.as_str()?.strip_prefix('#')?)
}

/// `A | B`, with `()` among them turned into `Option`.
fn joined(parts: impl Iterator<Item = String>) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut optional = false;
    for part in parts {
        if part == "()" {
            optional = true;
        } else if !shown.contains(&part) {
            shown.push(part);
        }
    }
    match (shown.is_empty(), optional) {
        (true, true) => "()".to_owned(),
        (true, false) => "Value".to_owned(),
        (false, true) => format!("Option<{}>", shown.join(" | ")),
        (false, false) => shown.join(" | "),
    }
}

/// An enum value as a variant: `Utf8`; as JSON where it is no plain word.
fn variant(value: &Value) -> String {
    match value {
        Value::Null => "()".to_owned(),
        Value::String(text) if text.chars().any(|c| c.is_ascii_alphabetic()) && text.chars().all(is_plain) => {
            pascal(text)
        }
        other => other.to_string(),
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.' | '/' | ':')
}

/// `read_file` and `read-file` to `ReadFile`.
fn pascal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut upper = true;
    for c in name.chars() {
        if matches!(c, '_' | '-' | ' ' | '.' | '/' | ':') {
            upper = true;
        } else if upper {
            out.extend(c.to_uppercase());
            upper = false;
        } else {
            out.push(c);
        }
    }
    out
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
