//! A host's file as a tree of values, each with its place in the text.

use std::ops::Range;

use super::refusal::Refusal;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    Json,
    Toml,
    Yaml,
}

/// A value and the bytes it takes.
#[derive(Clone, Debug)]
pub struct Node {
    pub span: Range<usize>,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub enum Value {
    Text(String),
    /// A number, a truth value, a date or nothing, as it is written.
    Other(String),
    List(Vec<Node>),
    Table(Vec<Field>),
    /// YAML that stands for a value written elsewhere, or that another value refers to, as it is written.
    Shared(String),
}

#[derive(Clone, Debug)]
pub struct Field {
    pub key: String,
    pub key_span: Range<usize>,
    pub node: Node,
    /// Whether it is written among its table's own fields, and not as a table with a header of its own.
    pub own: bool,
}

impl Node {
    /// A table's fields; none of anything else.
    pub fn fields(&self) -> &[Field] {
        if let Value::Table(fields) = &self.value { fields } else { &[] }
    }

    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields().iter().find(|field| field.key == key)
    }

    pub fn get(&self, key: &str) -> Option<&Self> {
        self.field(key).map(|field| &field.node)
    }

    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Whether both mean the same, wherever they are written.
    pub fn same(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Text(one), Value::Text(two))
            | (Value::Other(one), Value::Other(two))
            | (Value::Shared(one), Value::Shared(two)) => one == two,
            (Value::List(one), Value::List(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.same(two))
            }
            (Value::Table(one), Value::Table(two)) => {
                one.len() == two.len()
                    && one.iter().all(|field| two.iter().any(|two| two.key == field.key && two.node.same(&field.node)))
            }
            _ => false,
        }
    }

    pub(super) fn moved(&mut self, by: usize) {
        self.span = self.span.start + by..self.span.end + by;
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.moved(by)),
            Value::Table(fields) => fields.iter_mut().for_each(|field| {
                field.key_span = field.key_span.start + by..field.key_span.end + by;
                field.node.moved(by);
            }),
            Value::Text(_) | Value::Other(_) | Value::Shared(_) => {}
        }
    }
}

/// Takes the fields of a table, if no key is there twice.
pub(super) fn table(fields: Vec<Field>) -> Result<Value, Refusal> {
    let mut keys: Vec<&str> = fields.iter().map(|field| field.key.as_str()).collect();
    keys.sort_unstable();
    match keys.windows(2).find(|two| two[0] == two[1]) {
        Some(two) => Err(format!("the key {:?} is there twice in one object", two[0]).into()),
        None => Ok(Value::Table(fields)),
    }
}
