//! JSON as values and as texts that are certain to be JSON: the value of a text by the strict reader alone, which arguments are
//! judged by (what it refuses has none), and JSON with comments and commas before a closing bracket, as editors keep their
//! settings, which is never read so from a pipe.

use std::ops::Deref;
use std::str::FromStr;

use serde::de::IgnoredAny;
use serde_json::{Map, Number, Value};

use super::strict::{Fault, Kind, Reader};

/// The exact text of one JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// A value that [`super::strict`] has read.
    pub(super) fn of_strict(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl FromStr for Json {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str::<IgnoredAny>(text).map(|_| Self(text.to_owned()))
    }
}

impl Deref for Json {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// The names that the outermost object has room for at once: most calls have no more.
const ROOM: usize = 8;

/// The value of a text; `None` where the strict reader refuses it.
pub fn value(text: &str) -> Option<Value> {
    let mut reader = Reader::of_text(text).ok()?;
    let value = next(&mut reader, ROOM).ok()??;
    reader.end().ok().map(|()| value)
}

/// The next value; `None` for a number that a [`Value`] cannot hold, which no number of JSON is.
fn next(reader: &mut Reader<'_>, room: usize) -> Result<Option<Value>, Fault> {
    Ok(match reader.kind()? {
        Kind::Object => {
            let mut members = reader.enter()?;
            let mut fields = Map::with_capacity(room);
            while let Some(name) = reader.member(&mut members)? {
                let name = reader.decoded(&name).into_owned();
                let Some(value) = next(reader, 0)? else { return Ok(None) };
                fields.insert(name, value);
            }
            Some(Value::Object(fields))
        }
        Kind::Array => {
            let mut items = Vec::new();
            let mut list = reader.begin()?;
            while reader.item(&mut list)? {
                let Some(item) = next(reader, 0)? else { return Ok(None) };
                items.push(item);
            }
            Some(Value::Array(items))
        }
        Kind::Text => {
            let text = reader.string()?;
            Some(Value::String(reader.decoded(&text).into_owned()))
        }
        Kind::Number => {
            let span = reader.skip()?;
            number(reader.raw(span))
        }
        Kind::Literal => {
            let span = reader.skip()?;
            match reader.raw(span) {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                _ => Some(Value::Null),
            }
        }
    })
}

/// A number with its text. Most are short and whole: those are written as they are read.
fn number(text: &str) -> Option<Value> {
    let whole = if text.len() < 19 { text.parse::<u64>().ok() } else { None };
    whole.map(Number::from).or_else(|| text.parse().ok()).map(Value::Number)
}

/// Reads such a text.
///
/// # Errors
/// The text is no JSON even without its comments and trailing commas.
pub fn relaxed(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&without_comments(text))
}

/// The same text as plain JSON; line breaks stay, so that an error names the right line.
pub fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let token = string_length(rest);
                out.push_str(&rest[..token]);
                token
            }
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => {
                let end = rest[2..].find("*/").map_or(rest.len(), |end| end + 4);
                // Two tokens with a comment between them stay two.
                out.push(' ');
                out.extend(rest[..end].matches('\n'));
                end
            }
            '}' | ']' => {
                let trimmed = out.trim_end().len();
                if out[..trimmed].ends_with(',') {
                    out.replace_range(trimmed - 1..trimmed, " ");
                }
                out.push(first);
                1
            }
            other => {
                out.push(other);
                other.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    out
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}
