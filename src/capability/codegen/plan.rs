//! Gives every type of a server a name: which types there are, what each is called, and which of them are one.

use std::collections::BTreeMap;

use serde_json::Value;

use super::CodeLanguage;
use crate::capability::names::{Taken, plain, reserved, snake, type_name};
use crate::capability::set::Capability;
use crate::capability::shape::{Doc, Record, Shape, TextFormat, Type};
use crate::mcp::tool::{Annotations, Tool};

#[derive(Debug)]
pub struct Plan {
    /// As its manifest names it, made plain.
    pub server: String,
    pub name: String,
    /// What a reader of the generated code should know, each a line.
    pub notes: Vec<String>,
    pub tools: Vec<PlannedTool>,
    pub types: Vec<PlannedType>,
}

#[derive(Debug)]
pub struct PlannedTool {
    /// The name on the wire: foreign text.
    pub wire: String,
    pub title: Option<String>,
    pub doc: Option<String>,
    pub hints: Annotations,
    pub pascal: String,
    pub snake: String,
    pub arguments: Use,
    /// `None`: the server does not say.
    pub result: Option<Use>,
    /// Its definition says that a guardrail adds nothing to a call.
    pub is_unguarded: bool,
}

#[derive(Debug)]
pub struct PlannedType {
    pub name: String,
    /// What it is, in a sentence with names of the server.
    pub doc: String,
    pub body: Body,
}

#[derive(Debug)]
pub enum Body {
    Record {
        fields: Vec<PlannedField>,
        rest: Option<Use>,
    },
    /// Each variant's name and its text on the wire.
    Choice(Vec<(String, String)>),
    Union(Vec<(String, Use)>),
    /// The field that tells; each variant's name, its text on the wire and its record.
    Tagged {
        tag: String,
        variants: Vec<(String, String, Use)>,
    },
    /// Another type, which needs a name because it is recursive.
    Wraps(Use),
    Never,
}

#[derive(Debug)]
pub struct PlannedField {
    pub wire: String,
    pub required: bool,
    pub of: Use,
    pub doc: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Use {
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    Text(Option<TextFormat>),
    List(Box<Use>),
    Map(Box<Use>),
    Nullable(Box<Use>),
    Named(String),
    /// A recursive type, by its name.
    Again(String),
}

pub fn plan(server: &str, tools: &[Tool], language: CodeLanguage) -> Plan {
    let name = type_name(server, "Server");
    // The names that the generated items take, before any type within a schema does.
    let (names, result, able) = match language {
        CodeLanguage::Rust => ("rust", "Success", "Can"),
        CodeLanguage::CSharp => ("csharp", "Result", "ICan"),
    };
    let mut planner = Planner { taken: Taken::with(&reserved(names)), types: Vec::new(), known: BTreeMap::new() };
    let own = ["Agent", "Caps", "Handlers", "Registration", "Tools"].map(|end| format!("{name}{end}"));
    for part in own.into_iter().chain(["Caps", "Guardrails"].map(|end| format!("I{name}{end}"))) {
        planner.taken.take(&part);
    }
    let mut notes = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    let mut planned = Vec::new();
    for tool in tools {
        if !seen.insert(Capability::of(tool)) {
            notes.push(format!("`{}` is listed twice, and is here once.", plain(&tool.name)));
            continue;
        }
        let wanted = type_name(&tool.name, "Tool");
        let all = |pascal: &str| {
            vec![pascal.to_owned(), format!("{pascal}Args"), format!("{pascal}{result}"), format!("{able}{pascal}")]
        };
        let pascal = planner.taken.take_with(&wanted, all);
        if pascal != wanted {
            let same = "another name is the same in this language";
            notes.push(format!("`{}` is {pascal} here: {same}.", plain(&tool.name)));
        }
        planned.push((tool, pascal));
    }
    let tools = planned.into_iter().map(|(tool, pascal)| {
        let arguments = Shape::read(&tool.input_schema);
        let answer = tool.output_schema.as_ref().map(Shape::read);
        if arguments.cut || answer.as_ref().is_some_and(|shape| shape.cut) {
            let cut = "is too large to be read whole; parts of it are untyped";
            notes.push(format!("The schema of `{}` {cut}.", plain(&tool.name)));
        }
        PlannedTool {
            wire: tool.name.clone(),
            title: tool.title.clone(),
            doc: tool.description.clone(),
            hints: tool.annotations,
            arguments: planner.whole(&arguments, &format!("{pascal}Args"), "The arguments", &tool.name),
            result: answer.map(|shape| planner.whole(&shape, &format!("{pascal}{result}"), "The result", &tool.name)),
            is_unguarded: is_unguarded(&tool.definition),
            snake: snake(&pascal),
            pascal,
        }
    });
    let tools = tools.collect();
    Plan { server: plain(server), name, notes, tools, types: planner.types }
}

/// Whether its author says in a tool's definition, at the top or in `_meta`, that a guardrail adds nothing to a call of it.
fn is_unguarded(definition: &Value) -> bool {
    let said = definition.get("guardrail").or_else(|| definition.get("_meta")?.get("guardrail"));
    said.and_then(Value::as_str) == Some("not_required")
}

struct Planner {
    taken: Taken,
    types: Vec<PlannedType>,
    /// The name of each type that has one, by its canonical text.
    known: BTreeMap<String, String>,
}

/// The document that a type is in, and the names of its recursive definitions.
struct Document<'a> {
    shape: &'a Shape,
    open: BTreeMap<&'a str, String>,
}

impl Planner {
    /// The type of a whole document, under a name that is kept for it.
    fn whole(&mut self, shape: &Shape, name: &str, part: &str, tool: &str) -> Use {
        let mut document = Document { shape, open: BTreeMap::new() };
        match &shape.of {
            Type::Record(_) | Type::Choice(_) | Type::Union(_) | Type::Tagged(_) | Type::Never => {
                // It keeps its own name, even if another type is the same.
                let doc = format!("{part} of `{}`.", plain(tool));
                self.named(&shape.of, &mut document, name.to_owned(), doc, canonical(&shape.of, shape))
            }
            other => self.of(other, &mut document, name, ""),
        }
    }

    /// A type where it is used: in `owner`, as `field`.
    fn of<'a>(&mut self, of: &'a Type, document: &mut Document<'a>, owner: &str, field: &str) -> Use {
        match of {
            Type::Any => Use::Any,
            Type::Null => Use::Null,
            Type::Boolean => Use::Boolean,
            Type::Integer => Use::Integer,
            Type::Number => Use::Number,
            Type::Text(format) => Use::Text(*format),
            Type::List(items) => Use::List(Box::new(self.of(items, document, owner, field))),
            Type::Map(values) => Use::Map(Box::new(self.of(values, document, owner, field))),
            Type::Nullable(inner) => Use::Nullable(Box::new(self.of(inner, document, owner, field))),
            Type::Choice(values) => kind_of(values).unwrap_or_else(|| self.nested(of, document, owner, field)),
            Type::Record(_) | Type::Union(_) | Type::Tagged(_) | Type::Never => self.nested(of, document, owner, field),
            Type::Named(pointer) => self.again(pointer, document),
        }
    }

    /// A recursive definition: planned when it is first met.
    fn again<'a>(&mut self, pointer: &'a str, document: &mut Document<'a>) -> Use {
        if let Some(name) = document.open.get(pointer) {
            return Use::Again(name.clone());
        }
        let Some((key, of)) = document.shape.definitions.get_key_value(pointer) else { return Use::Any };
        let text = canonical(of, document.shape);
        if let Some(name) = self.known.get(&text) {
            return Use::Again(name.clone());
        }
        let wanted = type_name(pointer.rsplit('/').next().unwrap_or_default(), "Node");
        let name = self.taken.take(&wanted);
        document.open.insert(key, name.clone());
        self.known.insert(text, name.clone());
        let body = self.body(of, document, &name);
        self.types.push(PlannedType { name: name.clone(), doc: String::new(), body });
        Use::Again(name)
    }

    /// A type inside of another: called after its field, or after both where that name is taken.
    fn nested<'a>(&mut self, of: &'a Type, document: &mut Document<'a>, owner: &str, field: &str) -> Use {
        let text = canonical(of, document.shape);
        if let Some(name) = self.known.get(&text) {
            return Use::Named(name.clone());
        }
        let short = type_name(field, "Value");
        let wanted = if self.taken.is_free(&short) { short } else { format!("{owner}{short}") };
        let name = self.taken.take(&wanted);
        let part = plain(field.strip_prefix(owner).unwrap_or(field).trim_start());
        let doc = if part.is_empty() { part } else { format!("`{part}` of [`{owner}`].") };
        self.named(of, document, name, doc, text)
    }

    fn named<'a>(&mut self, of: &'a Type, document: &mut Document<'a>, name: String, doc: String, text: String) -> Use {
        self.known.entry(text).or_insert_with(|| name.clone());
        // Its place is before the types within it, so that a reader meets them in order.
        let place = self.types.len();
        let body = self.body(of, document, &name);
        let why = if matches!(body, Body::Never) { " Its schema contradicts itself: there is none." } else { "" };
        self.types.insert(place, PlannedType { name: name.clone(), doc: doc + why, body });
        Use::Named(name)
    }

    fn body<'a>(&mut self, of: &'a Type, document: &mut Document<'a>, name: &str) -> Body {
        match of {
            Type::Record(record) => self.record(record, document, name),
            Type::Choice(values) => choice(values),
            Type::Union(parts) => {
                let mut taken = Taken::default();
                let mut parts: Vec<&Type> = parts.iter().collect();
                // A record that requires more is tried first: one that requires nothing fits everything.
                parts.sort_by_key(|part| std::cmp::Reverse(requires(part)));
                let variant = |(at, part): (usize, &'a Type)| {
                    let of = self.of(part, document, name, &format!("{name} option {}", at + 1));
                    let variant = variant_name(&of);
                    let short = variant.strip_prefix(name).filter(|rest| rest.starts_with(char::is_uppercase));
                    (taken.take(short.unwrap_or(&variant)), of)
                };
                Body::Union(parts.into_iter().enumerate().map(variant).collect())
            }
            Type::Tagged(tagged) => {
                let mut taken = Taken::default();
                let variant = |(text, record): &'a (String, Record)| {
                    let variant = taken.take(&type_name(text, "Empty"));
                    let inner = self.taken.take(&format!("{name}{variant}"));
                    let body = self.record(record, document, &inner);
                    let doc = format!("[`{name}`] where `{}` is `{}`.", plain(&tagged.tag), plain(text));
                    self.types.push(PlannedType { name: inner.clone(), doc, body });
                    (variant, text.clone(), Use::Named(inner))
                };
                Body::Tagged { tag: tagged.tag.clone(), variants: tagged.variants.iter().map(variant).collect() }
            }
            Type::Never => Body::Never,
            other => Body::Wraps(self.of(other, document, name, "")),
        }
    }

    fn record<'a>(&mut self, record: &'a Record, document: &mut Document<'a>, name: &str) -> Body {
        let mut fields = Vec::new();
        for field in &record.fields {
            let Doc(doc) = field.doc.clone();
            let of = self.of(&field.of, document, name, &field.name);
            fields.push(PlannedField { wire: field.name.clone(), required: field.required, of, doc });
        }
        Body::Record { fields, rest: record.rest.as_deref().map(|rest| self.of(rest, document, name, "other")) }
    }
}

fn canonical(of: &Type, shape: &Shape) -> String {
    Shape { of: of.clone(), definitions: shape.definitions.clone(), cut: false }.canonical()
}

/// The plain type of a choice between other values than texts.
fn kind_of(values: &[String]) -> Option<Use> {
    let all = |fits: fn(u8) -> bool| values.iter().all(|value| value.bytes().next().is_some_and(fits));
    if all(|head| head == b'"') {
        None
    } else if all(|head| matches!(head, b't' | b'f')) {
        Some(Use::Boolean)
    } else if all(|head| matches!(head, b'-' | b'0'..=b'9')) {
        let whole = values.iter().all(|value| value.parse::<i64>().is_ok());
        Some(if whole { Use::Integer } else { Use::Number })
    } else {
        Some(Use::Any)
    }
}

fn choice(values: &[String]) -> Body {
    let mut taken = Taken::default();
    let read = |value: &String| {
        let text: String = serde_json::from_str(value).unwrap_or_default();
        (taken.take(&type_name(&text, if text.is_empty() { "Empty" } else { "Value" })), text)
    };
    Body::Choice(values.iter().map(read).collect())
}

fn requires(of: &Type) -> usize {
    match of {
        Type::Record(record) => record.fields.iter().filter(|field| field.required).count(),
        _ => usize::MAX,
    }
}

fn variant_name(of: &Use) -> String {
    match of {
        Use::Any | Use::Null | Use::Boolean | Use::Integer | Use::Number => format!("{of:?}"),
        Use::Text(_) => "Text".to_owned(),
        Use::List(items) => format!("{}List", variant_name(items)),
        Use::Map(values) => format!("{}Map", variant_name(values)),
        Use::Nullable(inner) => variant_name(inner),
        Use::Named(name) | Use::Again(name) => name.clone(),
    }
}
