//! Reads a host's file: JSON with comments, TOML and YAML. Changes nothing, and refuses a text with the same key twice, for
//! hosts differ on which of the two counts.

use jsonc_parser::ast;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use toml_edit::{Document, Item, Table, TableLike};

use super::refusal::Refusal;
use super::tree::{Field, Node, Syntax, Value, table};
use super::yaml;

/// Reads a whole text. An empty one is an empty table.
///
/// # Errors
/// Why it cannot be read, in words without anything from the text but keys.
pub fn parse(syntax: Syntax, text: &str) -> Result<Node, Refusal> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read = match syntax {
        Syntax::Json => json(body)?,
        Syntax::Toml => toml(body)?,
        Syntax::Yaml => yaml::parse(body)?,
    };
    let mut root = read.unwrap_or(Node { span: 0..0, value: Value::Table(Vec::new()) });
    root.moved(text.len() - body.len());
    Ok(root)
}

fn json(text: &str) -> Result<Option<Node>, Refusal> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let read = parse_to_ast(text, &CollectOptions::default(), &options);
    let read = read.map_err(|error| format!("line {}: {}", error.line_display(), error.kind()))?;
    read.value.map(of_json).transpose()
}

fn of_json(value: ast::Value<'_>) -> Result<Node, Refusal> {
    let (range, value) = match value {
        ast::Value::StringLit(one) => (one.range, Value::Text(one.value.into_owned())),
        ast::Value::NumberLit(one) => (one.range, Value::Other(one.value.to_owned())),
        ast::Value::BooleanLit(one) => (one.range, Value::Other(one.value.to_string())),
        ast::Value::NullKeyword(one) => (one.range, Value::Other("null".to_owned())),
        ast::Value::Array(one) => {
            (one.range, Value::List(one.elements.into_iter().map(of_json).collect::<Result<_, _>>()?))
        }
        ast::Value::Object(one) => {
            let field = |field: ast::ObjectProp<'_>| {
                let range = match &field.name {
                    ast::ObjectPropName::String(name) => name.range,
                    ast::ObjectPropName::Word(name) => name.range,
                };
                let (key, key_span) = (field.name.into_string(), range.start..range.end);
                Ok(Field { key, key_span, node: of_json(field.value)?, own: true })
            };
            (one.range, table(one.properties.into_iter().map(field).collect::<Result<_, Refusal>>()?)?)
        }
    };
    Ok(Node { span: range.start..range.end, value })
}

fn toml(text: &str) -> Result<Option<Node>, Refusal> {
    let read = Document::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        format!("line {line}: {}", error.message().replace('\n', ", "))
    })?;
    Ok(Some(Node { span: 0..text.len(), value: toml_table(read.as_table())? }))
}

fn toml_table(of: &dyn TableLike) -> Result<Value, Refusal> {
    let mut fields = Vec::new();
    for (name, item) in of.iter() {
        let key_span = of.key(name).and_then(toml_edit::Key::span).unwrap_or_default();
        let own = item.is_value();
        fields.push(Field { key: name.to_owned(), key_span, node: of_toml(item)?, own });
    }
    table(fields)
}

fn of_toml(item: &Item) -> Result<Node, Refusal> {
    let span = item.span().unwrap_or_default();
    let value = match item {
        Item::None => Value::Other(String::new()),
        Item::Table(one) => toml_table(one)?,
        Item::ArrayOfTables(all) => {
            let one = |one: &Table| Ok(Node { span: one.span().unwrap_or_default(), value: toml_table(one)? });
            Value::List(all.iter().map(one).collect::<Result<_, Refusal>>()?)
        }
        Item::Value(toml_edit::Value::String(text)) => Value::Text(text.value().clone()),
        Item::Value(toml_edit::Value::Array(all)) => {
            let one = |one: &toml_edit::Value| of_toml(&Item::Value(one.clone()));
            Value::List(all.iter().map(one).collect::<Result<_, Refusal>>()?)
        }
        Item::Value(toml_edit::Value::InlineTable(one)) => toml_table(one)?,
        Item::Value(other) => Value::Other(other.to_string().trim().to_owned()),
    };
    Ok(Node { span, value })
}
