//! Reads a host's file: JSON with comments, TOML and YAML. Changes nothing, and refuses a text with the same key twice, for
//! hosts differ on which of the two counts. A YAML value that is written once and meant twice, by anchors, is never edited.

use std::ops::Range;

use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};
use toml_edit::{Document, Item, Table, TableLike};

use crate::hosts::tree::{Field, Node, Refusal, Syntax, Value, table};

/// Reads a whole text, an empty one as an empty table. Errors: why it cannot be read, with nothing of the text but keys.
pub fn parse(syntax: Syntax, text: &str) -> Result<Node, Refusal> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read = match syntax {
        Syntax::Json => json(body)?,
        Syntax::Toml => toml(body)?,
        Syntax::Yaml => yaml(body)?,
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

/// How deep values may be nested.
const DEEPEST: usize = 200;

/// Reads a text of at most one document; `None` where it has none.
fn yaml(text: &str) -> Result<Option<Node>, Refusal> {
    let mut reader = Reader { events: Parser::new_from_str(text), places: places(text), text };
    let mut read = None;
    loop {
        match reader.next()? {
            (Event::StreamEnd, _) => return Ok(read),
            (Event::DocumentStart(_), _) if read.is_some() => return Err("it holds several documents".into()),
            (Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd, _) => {}
            (event, span) => read = Some(reader.node(event, span, 0)?),
        }
    }
}

/// Where each character begins, unless each is one byte.
fn places(text: &str) -> Option<Vec<usize>> {
    (!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at).collect())
}

struct Reader<'a> {
    events: Parser<'a, StrInput<'a>>,
    places: Option<Vec<usize>>,
    text: &'a str,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Range<usize>), Refusal> {
        let why = |error: ScanError| format!("line {}: {}", error.marker().line(), error.info());
        let (event, span) = self.events.next_event().ok_or("it ends too early")?.map_err(why)?;
        Ok((event, self.bytes(span)))
    }

    fn bytes(&self, span: Span) -> Range<usize> {
        let byte = |index: usize| match &self.places {
            Some(places) => places.get(index).copied().unwrap_or(self.text.len()),
            None => index.min(self.text.len()),
        };
        byte(span.start.index())..byte(span.end.index())
    }

    /// A scalar's own bytes, without the rest of its line, which the parser counts in.
    fn scalar(&self, span: Range<usize>, style: ScalarStyle) -> Result<Range<usize>, Refusal> {
        let written = self.text.get(span.start..).unwrap_or_default();
        let length = match style {
            ScalarStyle::Plain => Some(self.text.get(span.clone()).unwrap_or_default().trim_end().len()),
            ScalarStyle::Literal | ScalarStyle::Folded => return Ok(span),
            ScalarStyle::SingleQuoted => {
                let mut quotes = written.match_indices('\'').skip(1).map(|(at, _)| at).peekable();
                let end = std::iter::from_fn(|| quotes.next().map(|at| (at, quotes.next_if_eq(&(at + 1)).is_some())));
                let end = end.into_iter().find(|(_, doubled)| !doubled).map(|(at, _)| at + 1);
                end.filter(|_| written.starts_with('\''))
            }
            ScalarStyle::DoubleQuoted => {
                let mut escaped = false;
                let closes = |(at, c): (usize, char)| {
                    let closes = c == '"' && !escaped && at > 0;
                    escaped = c == '\\' && !escaped;
                    closes.then_some(at + 1)
                };
                written.char_indices().find_map(closes).filter(|_| written.starts_with('"'))
            }
        };
        let length = length.ok_or("a text between quotes is not where it was read")?;
        Ok(span.start..span.start + length)
    }

    fn shared(&self, span: &Range<usize>) -> Value {
        Value::Shared(self.text.get(span.clone()).unwrap_or_default().to_owned())
    }

    fn node(&mut self, event: Event<'a>, span: Range<usize>, depth: usize) -> Result<Node, Refusal> {
        if depth > DEEPEST {
            return Err("its values are nested too deeply".into());
        }
        let start = span.start;
        Ok(match event {
            Event::Scalar(text, style, anchor, tag) => {
                let span = self.scalar(span, style)?;
                let value = match style {
                    _ if anchor != 0 || tag.is_some() => self.shared(&span),
                    ScalarStyle::Plain if !is_text(&text) => Value::Other(text.into_owned()),
                    _ => Value::Text(text.into_owned()),
                };
                Node { span, value }
            }
            Event::SequenceStart(anchor, tag) => {
                let (mut items, mut end) = (Vec::new(), span.end);
                loop {
                    match self.next()? {
                        // A flow list (`[…]`) ends behind its bracket, a block list with its last item.
                        (Event::SequenceEnd, last) => {
                            break end = end.max(if last.is_empty() { end } else { last.end });
                        }
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                    end = items.last().map_or(end, |item| item.span.end);
                }
                let value = if anchor == 0 && tag.is_none() { Value::List(items) } else { self.shared(&(start..end)) };
                Node { span: start..end, value }
            }
            Event::MappingStart(anchor, tag) => {
                let (mut fields, mut end) = (Vec::<Field>::new(), span.end);
                loop {
                    let (event, span) = self.next()?;
                    if event == Event::MappingEnd {
                        end = end.max(if span.is_empty() { end } else { span.end });
                        break;
                    }
                    let name = self.node(event, span, depth + 1)?;
                    let (Value::Text(key) | Value::Other(key)) = name.value else {
                        return Err("a key is neither a text nor a number".into());
                    };
                    let (event, span) = self.next()?;
                    let node = self.node(event, span, depth + 1)?;
                    end = node.span.end;
                    fields.push(Field { key, key_span: name.span, node, own: true });
                }
                let shared = anchor != 0 || tag.is_some() || fields.iter().any(|field| field.key == "<<");
                Node { span: start..end, value: if shared { self.shared(&(start..end)) } else { table(fields)? } }
            }
            Event::Alias(_) => Node { value: self.shared(&span), span },
            _ => return Err("its structure is broken".into()),
        })
    }
}

/// Whether every reader of YAML takes a plain word for a text: 1.1 and 1.2 differ on `yes`, numbers and dates.
fn is_text(word: &str) -> bool {
    const WORDS: [&str; 11] = ["", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let number = word.contains(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_hexdigit() || "+-._: xXoOtTzZ".contains(c));
    !number && !WORDS.iter().any(|one| one.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Node, Value};

    fn leaves<'t>(text: &'t str, node: &Node, out: &mut Vec<&'t str>) {
        match &node.value {
            Value::List(items) => items.iter().for_each(|item| leaves(text, item, out)),
            Value::Table(fields) => fields.iter().for_each(|field| {
                out.push(&text[field.key_span.clone()]);
                leaves(text, &field.node, out);
            }),
            Value::Text(_) | Value::Other(_) | Value::Shared(_) => out.push(&text[node.span.clone()]),
        }
        if matches!(node.value, Value::List(_) | Value::Table(_)) && text[node.span.clone()].starts_with(['[', '{']) {
            assert!(text[node.span.clone()].ends_with([']', '}']), "{:?}", &text[node.span.clone()]);
        }
    }

    #[test]
    fn every_value_has_its_own_bytes_and_no_more() {
        let text = "a: 'x ''y'  # c\n\"b\" : \"q\\\"ü\"   # d\nc: plain word   # e\nü: [ 'f' , \"g\" , h ]  # ]\nd: {i: 'j' , k: 1 }  # }\n'l':\n- m # n\n\n- \"o\"\n# p\nq: ~\n";
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let mut found = Vec::new();
            leaves(&text, &super::yaml(&text).unwrap().unwrap(), &mut found);
            let wanted = [
                "a", "'x ''y'", "\"b\"", "\"q\\\"ü\"", "c", "plain word", "ü", "'f'", "\"g\"", "h", "d", "i", "'j'",
                "k", "1", "'l'", "m", "\"o\"", "q", "~",
            ];
            assert_eq!(found, wanted);
        }
    }
}
