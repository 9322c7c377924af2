//! A host's file as a tree of values, each with its place in the text, and the replacing of text at places, so that every other
//! byte stays. And why a file, or a server in it, is left alone.

use std::ops::Range;

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

/// Why a file is not read, or is left as it is, or a server in it: in words for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

/// It has no `Display` of its own, so whatever has one can become it.
impl<T: ToString> From<T> for Refusal {
    fn from(why: T) -> Self {
        Self(why.to_string())
    }
}

/// Why a server is left alone that is reached over the network.
pub const REMOTE: &str = "it is reached over the network";

/// Text that replaces what is at a place.
#[derive(Debug)]
pub(super) struct Splice {
    at: Range<usize>,
    put: String,
}

pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| splice.at.start);
    let mut text = text.to_owned();
    for splice in splices.into_iter().rev() {
        text.replace_range(splice.at, &splice.put);
    }
    text
}

impl Splice {
    pub(super) fn of(at: Range<usize>, put: impl Into<String>) -> Self {
        Self { at, put: put.into() }
    }

    pub(super) fn within(&self, other: &Self) -> bool {
        other.at.start <= self.at.start && self.at.end <= other.at.end
    }
}

/// The change that removes a field we put before another, if nothing was written between the two since.
pub(super) fn without_field(text: &str, fields: &[Field], key: &str) -> Option<Splice> {
    let field = fields.iter().find(|field| field.key == key)?;
    let next = fields.iter().filter(|next| next.key_span.start > field.key_span.start);
    let next = next.min_by_key(|next| next.key_span.start)?;
    let between = text.get(field.node.span.end..next.key_span.start)?;
    let plain = between.chars().all(|c| c == ',' || c.is_whitespace());
    plain.then(|| Splice::of(field.key_span.start..next.key_span.start, ""))
}

/// A text as all three formats write it between double quotes.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
