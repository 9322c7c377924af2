//! A type as text: in Rust notation for people, cut to a length; and whole, in one form only, to compare by.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::types::{Record, Shape, Type};
use crate::capability::names::pascal;

#[derive(Clone, Copy, Debug)]
pub struct ShownShape {
    /// A type longer than this many characters is `…`.
    pub chars: usize,
    pub depth: usize,
}

/// The type of one property or result in Rust notation. Foreign names in it are raw.
pub fn shown(of: &Type, within: ShownShape) -> String {
    let Some(deeper) = within.depth.checked_sub(1) else { return "…".to_owned() };
    let inner = |of: &Type| shown(of, ShownShape { depth: deeper, ..within });
    let text = match of {
        Type::Any => "Value".to_owned(),
        Type::Never => "!".to_owned(),
        Type::Null => "()".to_owned(),
        Type::Boolean => "bool".to_owned(),
        Type::Integer => "i64".to_owned(),
        Type::Number => "f64".to_owned(),
        Type::Text(_) => "String".to_owned(),
        Type::List(items) => format!("Vec<{}>", inner(items)),
        Type::Map(values) => format!("HashMap<String, {}>", inner(values)),
        Type::Record(record) => shown_record(record, ShownShape { depth: deeper, ..within }),
        Type::Choice(values) => variants(values),
        Type::Union(parts) => bounded(parts.iter().map(inner), " | ", within.chars),
        Type::Tagged(tagged) => {
            let variant = |(text, record): &(String, Record)| {
                format!("{} {}", pascal(text), shown_record(record, ShownShape { depth: deeper, ..within }))
            };
            bounded(tagged.variants.iter().map(variant), " | ", within.chars)
        }
        Type::Nullable(of) => format!("{} | null", inner(of)),
        Type::Named(pointer) if pointer.is_empty() => "Self".to_owned(),
        Type::Named(pointer) => pascal(pointer.rsplit('/').next().unwrap_or_default()),
    };
    if text.chars().count() <= within.chars {
        return text;
    }
    match of {
        Type::Record(_) | Type::Map(_) => "{ … }".to_owned(),
        Type::List(_) => "Vec<…>".to_owned(),
        _ => "…".to_owned(),
    }
}

/// The fields of a record as `name: Type`, each as it is asked for.
pub fn fields(record: &Record, within: ShownShape) -> impl Iterator<Item = String> {
    record.fields.iter().map(move |field| {
        let of = shown(&field.of, within);
        if field.required { format!("{}: {of}", field.name) } else { format!("{}: Option<{of}>", field.name) }
    })
}

fn shown_record(record: &Record, within: ShownShape) -> String {
    format!("{{ {} }}", bounded(fields(record, within), ", ", within.chars))
}

/// Joins parts, and stops once the text is longer than can be shown.
fn bounded(parts: impl Iterator<Item = String>, between: &str, chars: usize) -> String {
    let mut text = String::new();
    for part in parts {
        if text.len() > chars * 4 {
            break;
        }
        text.push_str(if text.is_empty() { "" } else { between });
        text.push_str(&part);
    }
    text
}

/// Values as variants, `Utf8 | Base64`; as JSON where that would make two of them alike, or is no name.
fn variants(values: &[String]) -> String {
    let named = |value: &String| {
        let text: String = serde_json::from_str(value).ok()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_- ./:".contains(c);
        let plain = text.chars().all(is_plain) && text.chars().any(|c| c.is_ascii_alphabetic());
        plain.then(|| pascal(&text))
    };
    let names: Vec<Option<String>> = values.iter().take(64).map(named).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    names.iter().flatten().for_each(|name| *counts.entry(name).or_default() += 1);
    let one = |(value, name): (&String, &Option<String>)| match name {
        Some(name) if counts.get(name.as_str()) == Some(&1) => name.clone(),
        Some(_) | None => value.clone(),
    };
    let mut text = values.iter().zip(&names).map(one).collect::<Vec<_>>().join(" | ");
    if values.len() > names.len() {
        text.push_str(" | …");
    }
    text
}

impl Shape {
    /// The type on one line, the same for every schema that says the same: fields and choices in byte order, definitions
    /// numbered as they are met. Equality of capabilities is equality of this text.
    pub fn canonical(&self) -> String {
        let mut writer = Canonical { definitions: &self.definitions, numbers: BTreeMap::new(), out: String::new() };
        writer.of(&self.of);
        // Writing a definition numbers those that it refers to.
        let mut written = 0;
        while let Some(pointer) = writer.numbered(written) {
            let _ = write!(writer.out, ";{written}=");
            match self.definitions.get(&pointer) {
                Some(of) => writer.of(of),
                None => writer.out.push_str("any"),
            }
            written += 1;
        }
        writer.out
    }
}

struct Canonical<'a> {
    definitions: &'a BTreeMap<String, Type>,
    /// The number of each definition, in the order in which they are met.
    numbers: BTreeMap<&'a str, usize>,
    out: String,
}

impl<'a> Canonical<'a> {
    fn numbered(&self, number: usize) -> Option<String> {
        self.numbers.iter().find(|(_, known)| **known == number).map(|(pointer, _)| (*pointer).to_owned())
    }

    fn of(&mut self, of: &'a Type) {
        match of {
            Type::Any => self.out.push_str("any"),
            Type::Never => self.out.push_str("never"),
            Type::Null => self.out.push_str("null"),
            Type::Boolean => self.out.push_str("boolean"),
            Type::Integer => self.out.push_str("integer"),
            Type::Number => self.out.push_str("number"),
            Type::Text(None) => self.out.push_str("string"),
            Type::Text(Some(format)) => {
                let _ = write!(self.out, "string({})", format.word());
            }
            Type::List(items) => self.within("[", items, "]"),
            Type::Map(values) => self.within("{*:", values, "}"),
            Type::Nullable(inner) => self.within("null|(", inner, ")"),
            Type::Record(record) => self.record(record),
            Type::Choice(values) => self.sorted(values.clone()),
            Type::Union(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.apart(part)).collect();
                self.sorted(parts);
            }
            Type::Tagged(tagged) => {
                let mut variants: Vec<&(String, Record)> = tagged.variants.iter().collect();
                variants.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
                let _ = write!(self.out, "<{}", serde_json::Value::from(tagged.tag.as_str()));
                for (text, record) in variants {
                    let _ = write!(self.out, "|{}:", serde_json::Value::from(text.as_str()));
                    self.record(record);
                }
                self.out.push('>');
            }
            Type::Named(pointer) => {
                let next = self.numbers.len();
                let key = self.definitions.get_key_value(pointer).map_or(pointer.as_str(), |(key, _)| key.as_str());
                let number = *self.numbers.entry(key).or_insert(next);
                let _ = write!(self.out, "#{number}");
            }
        }
    }

    fn within(&mut self, open: &str, of: &'a Type, close: &str) {
        self.out.push_str(open);
        self.of(of);
        self.out.push_str(close);
    }

    fn apart(&mut self, of: &'a Type) -> String {
        let before = std::mem::take(&mut self.out);
        self.of(of);
        std::mem::replace(&mut self.out, before)
    }

    fn sorted(&mut self, mut parts: Vec<String>) {
        parts.sort_unstable();
        let _ = write!(self.out, "({})", parts.join("|"));
    }

    fn record(&mut self, record: &'a Record) {
        let mut fields: Vec<&super::types::Field> = record.fields.iter().collect();
        fields.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        self.out.push('{');
        for field in fields {
            let _ = write!(self.out, "{}", serde_json::Value::from(field.name.as_str()));
            self.out.push_str(if field.required { ":" } else { "?:" });
            self.of(&field.of);
            self.out.push(',');
        }
        if let Some(rest) = &record.rest {
            self.within("*:", rest, "");
        }
        self.out.push('}');
    }
}
