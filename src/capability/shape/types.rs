//! The set of types itself, and how two of them join: what fits both (`allOf`), and what fits either (`anyOf`). Both may come out wider
//! than the schemas, never narrower. And whether one type is as narrow as another: what cannot be shown is not so.

use std::collections::{BTreeMap, BTreeSet};

use crate::wire::words::words;

/// One type. Names in it are foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Any JSON value: an untyped schema, or one beyond what is read.
    Any,
    /// No value at all: the schema contradicts itself.
    Never,
    Null,
    Boolean,
    Integer,
    Number,
    Text(Option<TextFormat>),
    List(Box<Type>),
    /// An object whose keys are free, and whose values have this type.
    Map(Box<Type>),
    Record(Record),
    /// One of these values, as JSON text, in the schema's order.
    Choice(Vec<String>),
    /// One of these, distinguished by trying.
    Union(Vec<Type>),
    /// One of these records, distinguished by a field of theirs.
    Tagged(Tagged),
    Nullable(Box<Type>),
    /// A recursive definition, by its JSON Pointer in the document.
    Named(String),
}

/// An object with known properties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// In the order of the schema.
    pub fields: Vec<Field>,
    /// The type of every other property, where the schema gives one.
    pub rest: Option<Box<Type>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub required: bool,
    pub of: Type,
    /// What the schema says of it, for people. No part of the type.
    pub doc: Doc,
}

/// A text for people. Two types that differ in it alone are one type, so it is equal to every other.
#[derive(Clone, Debug, Default)]
pub struct Doc(pub Option<String>);

/// A choice between records by the text in one of their fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tagged {
    /// The field that tells.
    pub tag: String,
    /// Each text and its record without that field, in the order of the schema.
    pub variants: Vec<(String, Record)>,
}

words! {
    /// A format of JSON Schema 2020-12 (section 7.3) that a language has a type for, or that says what a text is.
    TextFormat {
        DateTime = "date-time",
        Date = "date",
        Time = "time",
        Duration = "duration",
        Email = "email",
        Hostname = "hostname",
        Ipv4 = "ipv4",
        Ipv6 = "ipv6",
        Uri = "uri",
        Uuid = "uuid",
        /// Base64 (OpenAPI's `byte`, JSON Schema's `contentEncoding: base64`).
        Base64 = "base64",
    }
}

/// The type of one schema document, with its recursive definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    pub of: Type,
    /// By JSON Pointer; what [`Type::Named`] names.
    pub definitions: BTreeMap<String, Type>,
    /// Whether a part of the schema was beyond what is read, and is [`Type::Any`] here.
    pub cut: bool,
}

impl Shape {
    pub const ANY: Self = Self { of: Type::Any, definitions: BTreeMap::new(), cut: false };
}

impl PartialEq for Doc {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Doc {}

/// Parts that one union is read for; more are [`Type::Any`].
pub const MAX_PARTS: usize = 256;
/// Pairs that are compared where two unions meet; beyond it the smaller of them is taken for both, which is wider.
const MAX_PAIRS: usize = 1_024;

pub fn meet(one: Type, other: Type) -> Type {
    use Type::{Any, Boolean, Choice, Integer, List, Map, Named, Never, Null, Nullable, Number, Tagged, Text, Union};
    if one == other {
        return one;
    }
    match (one, other) {
        (Any, other) | (other, Any) => other,
        (Never, _) | (_, Never) => Never,
        // Definitions are not looked into here. The result is one side alone, which may be wider than what fits both.
        (Named(name), Type::Record(record)) | (Type::Record(record), Named(name)) => {
            if record.fields.is_empty() {
                Named(name)
            } else {
                Type::Record(record)
            }
        }
        (Named(name), _) | (_, Named(name)) => Named(name),
        (Nullable(one), Nullable(other)) => union([meet(*one, *other), Null]),
        (Nullable(_), Null) | (Null, Nullable(_)) => Null,
        (Nullable(one), other) | (other, Nullable(one)) => meet(*one, other),
        (Union(one), Union(other)) if one.len() * other.len() > MAX_PAIRS => {
            Union(if one.len() <= other.len() { one } else { other })
        }
        (Union(parts), other) | (other, Union(parts)) => union(parts.into_iter().map(|part| meet(part, other.clone()))),
        (Integer, Number) | (Number, Integer) => Integer,
        (Choice(values), other) | (other, Choice(values)) => chosen(values, &other),
        (Text(one), Text(other)) => Text(one.or(other)),
        (List(one), List(other)) => List(Box::new(meet(*one, *other))),
        (Map(one), Map(other)) => Map(Box::new(meet(*one, *other))),
        (Type::Record(one), Type::Record(other)) => Type::Record(records(one, other)),
        (Type::Record(record), Map(rest)) | (Map(rest), Type::Record(record)) => {
            let rest = (*rest != Any).then_some(rest);
            Type::Record(Record { rest: record.rest.or(rest), fields: record.fields })
        }
        (Tagged(tagged), Type::Record(record)) | (Type::Record(record), Tagged(tagged)) => {
            let without = Record {
                fields: record.fields.into_iter().filter(|field| field.name != tagged.tag).collect(),
                rest: record.rest,
            };
            let variants = tagged.variants.into_iter().map(|(text, one)| (text, records(one, without.clone())));
            Tagged(self::Tagged { tag: tagged.tag, variants: variants.collect() })
        }
        (Tagged(tagged), Map(_)) | (Map(_), Tagged(tagged)) => Tagged(tagged),
        (Tagged(one), Tagged(_)) => Tagged(one),
        (Null | Boolean | Integer | Number | Text(_) | List(_) | Map(_) | Type::Record(_) | Tagged(_), _) => Never,
    }
}

/// The values of a choice that have a type. Structures are compared by kind alone.
fn chosen(values: Vec<String>, of: &Type) -> Type {
    let others: BTreeSet<&String> = match of {
        Type::Choice(others) => others.iter().collect(),
        _ => BTreeSet::new(),
    };
    let fits = |text: &String| match of {
        Type::Choice(_) => others.contains(text),
        Type::Any | Type::Named(_) | Type::Union(_) | Type::Nullable(_) => true,
        _ => is_of_kind(text, of),
    };
    let left: Vec<String> = values.into_iter().filter(fits).collect();
    if left.is_empty() { Type::Never } else { Type::Choice(left) }
}

/// Whether a value, as JSON text, is of this kind: a text, a number, a list. What is in it is not looked into.
pub(super) fn is_of_kind(value: &str, of: &Type) -> bool {
    let head = value.bytes().next().unwrap_or_default();
    let is_number = matches!(head, b'-' | b'0'..=b'9');
    match of {
        Type::Text(_) => head == b'"',
        Type::Boolean => matches!(head, b't' | b'f'),
        Type::Null => head == b'n',
        Type::Number => is_number,
        Type::Integer => is_number && value.bytes().skip(1).all(|byte| byte.is_ascii_digit()),
        Type::List(_) => head == b'[',
        Type::Map(_) | Type::Record(_) | Type::Tagged(_) => head == b'{',
        Type::Any | Type::Never | Type::Choice(_) | Type::Union(_) | Type::Nullable(_) | Type::Named(_) => false,
    }
}

fn records(one: Record, other: Record) -> Record {
    let mut fields = one.fields;
    let places: BTreeMap<String, usize> =
        fields.iter().enumerate().map(|(place, field)| (field.name.clone(), place)).collect();
    for field in other.fields {
        match places.get(&field.name).and_then(|place| fields.get_mut(*place)) {
            Some(known) => {
                known.required |= field.required;
                known.of = meet(std::mem::replace(&mut known.of, Type::Any), field.of);
                if known.doc.0.is_none() {
                    known.doc = field.doc;
                }
            }
            None => fields.push(field),
        }
    }
    let rest = match (one.rest, other.rest) {
        (Some(one), Some(other)) => Some(Box::new(meet(*one, *other))),
        (one, other) => one.or(other),
    };
    Record { fields, rest }
}

/// What fits any of these: without repeats, null apart, and records distinguished by a field where they can be.
pub fn union(parts: impl IntoIterator<Item = Type>) -> Type {
    let mut flat: Vec<Type> = Vec::new();
    let mut null = false;
    for part in parts {
        add(part, &mut flat, &mut null);
    }
    if flat.contains(&Type::Any) || flat.len() > MAX_PARTS {
        return Type::Any;
    }
    if flat.contains(&Type::Number) {
        flat.retain(|part| *part != Type::Integer);
    }
    let of = match flat.len() {
        0 if null => return Type::Null,
        0 => return Type::Never,
        1 => flat.swap_remove(0),
        _ => match tagged(&flat) {
            Some(tagged) => Type::Tagged(tagged),
            None => choices(flat),
        },
    };
    if null { Type::Nullable(Box::new(of)) } else { of }
}

fn add(part: Type, flat: &mut Vec<Type>, null: &mut bool) {
    match part {
        Type::Never => {}
        Type::Null => *null = true,
        Type::Nullable(inner) => {
            *null = true;
            add(*inner, flat, null);
        }
        Type::Union(parts) => parts.into_iter().for_each(|part| add(part, flat, null)),
        Type::Tagged(tagged) => {
            let whole = tagged.variants.into_iter().map(|(text, record)| with_tag(&tagged.tag, &text, record));
            whole.map(Type::Record).for_each(|part| add(part, flat, null));
        }
        // One more than is read is enough to know that there are too many.
        part => {
            if flat.len() <= MAX_PARTS && !flat.contains(&part) {
                flat.push(part);
            }
        }
    }
}

fn choices(flat: Vec<Type>) -> Type {
    let mut values: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut rest = Vec::new();
    for part in flat {
        match part {
            Type::Choice(more) => values.extend(more.into_iter().filter(|value| seen.insert(value.clone()))),
            part => rest.push(part),
        }
    }
    match (values.is_empty(), rest.is_empty()) {
        (true, _) => Type::Union(rest),
        (false, true) => Type::Choice(values),
        (false, false) => {
            rest.push(Type::Choice(values));
            Type::Union(rest)
        }
    }
}

/// The records as a choice by a field that each requires with one text of its own.
fn tagged(parts: &[Type]) -> Option<Tagged> {
    let records = parts.iter().map(|part| if let Type::Record(record) = part { Some(record) } else { None });
    let records: Vec<&Record> = records.collect::<Option<_>>()?;
    let (first, _) = records.split_first()?;
    let tag = first.fields.iter().map(|field| &field.name).find(|name| {
        let texts: Option<BTreeSet<String>> = records.iter().map(|record| text_of(record, name)).collect();
        texts.is_some_and(|texts| texts.len() == records.len())
    })?;
    let variant = |record: &&Record| {
        let fields = record.fields.iter().filter(|field| field.name != *tag).cloned().collect();
        Some((text_of(record, tag)?, Record { fields, rest: record.rest.clone() }))
    };
    Some(Tagged { tag: tag.clone(), variants: records.iter().map(variant).collect::<Option<_>>()? })
}

/// The one text that a required field of a record may have.
fn text_of(record: &Record, name: &str) -> Option<String> {
    let field = record.fields.iter().find(|field| field.required && field.name == name)?;
    let Type::Choice(values) = &field.of else { return None };
    let [one] = values.as_slice() else { return None };
    serde_json::from_str(one).ok()
}

/// A variant as the record that it is, its tag among the fields.
pub(super) fn with_tag(tag: &str, text: &str, mut record: Record) -> Record {
    let of = Type::Choice(vec![serde_json::Value::from(text).to_string()]);
    record.fields.insert(0, Field { name: tag.to_owned(), required: true, of, doc: Doc::default() });
    record
}

/// How many parts a type has, itself among them.
pub fn size(of: &Type) -> usize {
    let of_record = |record: &Record| {
        record.fields.iter().map(|field| size(&field.of)).sum::<usize>() + record.rest.as_deref().map_or(0, size)
    };
    1 + match of {
        Type::List(inner) | Type::Map(inner) | Type::Nullable(inner) => size(inner),
        Type::Record(record) => of_record(record),
        Type::Union(parts) => parts.iter().map(size).sum(),
        Type::Tagged(tagged) => tagged.variants.iter().map(|(_, record)| 1 + of_record(record)).sum(),
        Type::Choice(values) => values.len(),
        _ => 0,
    }
}

/// Pairs of types that one comparison looks at; beyond it nothing is shown.
const PAIRS: usize = 20_000;
/// How deep it goes, definitions looked into: the stack holds no more.
const DEPTH: usize = 200;

/// Whether every value of one shape is a value of the other. A shape that was cut is within nothing, and holds nothing.
pub fn is_within(one: &Shape, other: &Shape) -> bool {
    let mut order = Order { one, other, assumed: Vec::new(), left: PAIRS, depth: 0 };
    !one.cut && !other.cut && order.holds(&one.of, &other.of)
}

struct Order<'s> {
    one: &'s Shape,
    other: &'s Shape,
    /// Definitions that are being compared, or were shown to hold: a recursive one is compared once.
    assumed: Vec<(&'s str, &'s Type)>,
    left: usize,
    depth: usize,
}

impl<'s> Order<'s> {
    fn holds(&mut self, one: &'s Type, other: &'s Type) -> bool {
        let Some(left) = self.left.checked_sub(1).filter(|_| self.depth < DEPTH) else { return false };
        self.left = left;
        self.depth += 1;
        let holds = self.compares(one, other);
        self.depth -= 1;
        holds
    }

    fn compares(&mut self, one: &'s Type, other: &'s Type) -> bool {
        match (one, other) {
            (_, Type::Any) | (Type::Never, _) => true,
            (Type::Named(name), _) => {
                let (shape, before) = (self.one, self.assumed.len());
                if self.assumed.iter().any(|(known, of)| known == name && std::ptr::eq(*of, other)) {
                    return true;
                }
                // Assumed to hold while it is looked into, as recursive types are compared.
                self.assumed.push((name, other));
                let holds = shape.definitions.get(name).is_some_and(|one| self.holds(one, other));
                if !holds {
                    self.assumed.truncate(before);
                }
                holds
            }
            (_, Type::Named(name)) => {
                let shape = self.other;
                shape.definitions.get(name).is_some_and(|other| self.holds(one, other))
            }
            (Type::Nullable(one), _) => self.holds(&Type::Null, other) && self.holds(one, other),
            (Type::Union(parts), _) => parts.iter().all(|part| self.holds(part, other)),
            (Type::Null, Type::Nullable(_)) => true,
            (_, Type::Nullable(other)) => self.holds(one, other),
            (_, Type::Union(parts)) if parts.iter().any(|part| self.holds(one, part)) => true,
            (Type::Choice(values), _) => values.iter().all(|value| is_value(value, other)),
            (Type::Null, Type::Null) | (Type::Boolean, Type::Boolean) => true,
            (Type::Integer, Type::Integer | Type::Number) | (Type::Number, Type::Number) => true,
            (Type::Text(one), Type::Text(other)) => other.is_none() || one == other,
            (Type::List(one), Type::List(other)) | (Type::Map(one), Type::Map(other)) => self.holds(one, other),
            (Type::Record(one), Type::Record(other)) => self.records(one, other),
            (Type::Record(one), Type::Map(other)) => {
                one.fields.iter().all(|field| self.holds(&field.of, other))
                    && one.rest.as_deref().is_none_or(|rest| self.holds(rest, other))
            }
            (Type::Tagged(one), Type::Tagged(other)) => {
                let variant = |text: &String| other.variants.iter().find(|(known, _)| known == text);
                one.tag == other.tag
                    && one
                        .variants
                        .iter()
                        .all(|(text, one)| variant(text).is_some_and(|(_, other)| self.records(one, other)))
            }
            (Type::Tagged(one), Type::Record(_)) => one.variants.iter().all(|(text, record)| {
                let whole = Shape { of: Type::Record(with_tag(&one.tag, text, record.clone())), ..self.one.clone() };
                is_within(&whole, &Shape { of: other.clone(), ..self.other.clone() })
            }),
            _ => false,
        }
    }

    /// Fields that only one side has: the first may have none that the second does not know, and must have what it requires.
    fn records(&mut self, one: &'s Record, other: &'s Record) -> bool {
        let fits = one.fields.iter().all(|field| match other.fields.iter().find(|known| known.name == field.name) {
            Some(known) => (field.required || !known.required) && self.holds(&field.of, &known.of),
            None => other.rest.as_deref().is_some_and(|rest| self.holds(&field.of, rest)),
        });
        let mut missing = other.fields.iter().filter(|known| one.fields.iter().all(|field| field.name != known.name));
        fits && match (one.rest.as_deref(), other.rest.as_deref()) {
            (None, _) => missing.all(|known| !known.required),
            (Some(rest), Some(others)) => {
                self.holds(rest, others) && missing.all(|known| !known.required && self.holds(rest, &known.of))
            }
            (Some(_), None) => false,
        }
    }
}

/// Whether a value of a choice has a type. Structures are not looked into.
fn is_value(value: &str, of: &Type) -> bool {
    match of {
        Type::Choice(values) => values.iter().any(|one| one == value),
        Type::Union(parts) => parts.iter().any(|part| is_value(value, part)),
        Type::Text(None) | Type::Boolean | Type::Null | Type::Number | Type::Integer => is_of_kind(value, of),
        _ => false,
    }
}
