//! The set of types itself.

use std::collections::BTreeMap;

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
    Text(Option<Format>),
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
    /// This, or null.
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

/// One property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name on the wire.
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
    Format {
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
    /// The shape without any schema.
    pub const ANY: Self = Self { of: Type::Any, definitions: BTreeMap::new(), cut: false };
}

impl PartialEq for Doc {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Doc {}
