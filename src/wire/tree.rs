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

/// The same, reusing the value of an earlier text: what both have in common is not allocated again. Calls of one tool
/// repeat the same names, and often the same texts.
pub fn value_over(mut before: Value, text: &str) -> Option<Value> {
    let mut reader = Reader::of_text(text).ok()?;
    match over(&mut reader, &mut before).ok()? {
        Some(()) => reader.end().ok().map(|()| before),
        None => value(text),
    }
}

/// Reads the next value into the place of another; `None` where an object has other names, or they come in another order.
fn over(reader: &mut Reader<'_>, place: &mut Value) -> Result<Option<()>, Fault> {
    let kind = reader.kind()?;
    match place {
        Value::Object(fields) if kind == Kind::Object => {
            let mut members = reader.enter()?;
            let mut known = fields.iter_mut();
            while let Some(name) = reader.member(&mut members)? {
                let Some((_, field)) = known.next().filter(|(known, _)| **known == *reader.decoded(&name)) else {
                    return Ok(None);
                };
                if over(reader, field)?.is_none() {
                    return Ok(None);
                }
            }
            Ok(known.next().is_none().then_some(()))
        }
        Value::String(known) if kind == Kind::Text => {
            let text = reader.string()?;
            let text = reader.decoded(&text);
            if *known != *text {
                known.clear();
                known.push_str(&text);
            }
            Ok(Some(()))
        }
        Value::Number(known) if kind == Kind::Number => {
            let span = reader.skip()?;
            let text = reader.raw(span);
            if known.as_str() == text {
                return Ok(Some(()));
            }
            Ok(number(text).map(|read| *place = read))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            Ok(next(reader, 0)?.map(|read| *place = read))
        }
    }
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

#[cfg(test)]
mod tests {
    use super::{value, value_over};

    #[test]
    fn a_value_made_of_another_one_is_the_value_of_its_own_text_alone() {
        let texts = [
            r#"{"path":"a","n":1}"#,
            r#"{"path":"b","n":1}"#,
            r#"{"path":"\u0062","n":10}"#,
            r#"{"path":"b","n":1.0}"#,
            r#"{"path":"b","n":1e400}"#,
            r#"{"path":"b","n":-0}"#,
            r#"{"n":1,"path":"b"}"#,
            r#"{"path":"b"}"#,
            r#"{"path":"b","n":1,"more":null}"#,
            r#"{"path":1,"n":"b"}"#,
            r#"{"path":["b"],"n":{"a":1,"b":true}}"#,
            r#"{"path":["b","c"],"n":{"b":true,"a":1}}"#,
            r#"{"path":{},"n":{"a":1}}"#,
            r#"{"path":"b","path":"c"}"#,
            r#"{"path":"b","n":1"#,
            r#"{"path":"b","n":01}"#,
            r#"{"path":"b","n":1} x"#,
            "{}",
            "[1,2]",
            "null",
            "",
        ];
        for before in texts.iter().filter_map(|text| value(text)) {
            for text in texts {
                let (own, over) = (value(text), value_over(before.clone(), text));
                assert_eq!(own, over, "{text} over {before}");
                // Equal objects may differ in their order.
                assert_eq!(own.map(|own| own.to_string()), over.map(|over| over.to_string()), "{text} over {before}");
            }
        }
    }
}
