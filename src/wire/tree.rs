//! The value of a JSON text, read by the strict reader alone: what it refuses has none. Arguments are judged by this value,
//! so that no second reader can disagree with the one that let the line pass.

use serde_json::{Map, Number, Value};

use super::flaw::Fault;
use super::strict::{Kind, Reader};

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
