//! Values as TOML writes them, so that a person reading the file sees every character. Owns no file and no rule.

use serde_json::{Map, Value};

use crate::capability::names::literal;

/// A text in quotes. What does not show itself is escaped.
pub fn text(text: &str) -> String {
    literal(text, |c| match u32::from(c) {
        code @ ..=0xffff => format!("\\u{code:04X}"),
        code => format!("\\U{code:08X}"),
    })
}

pub fn texts(all: &[String]) -> String {
    match all {
        [one] => text(one),
        many => format!("[{}]", many.iter().map(|one| text(one)).collect::<Vec<_>>().join(", ")),
    }
}

/// A JSON value on one line; `None` for what TOML cannot hold: null, and numbers out of its range.
pub fn value(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(switch) => switch.to_string(),
        Value::Number(number) => {
            let written = number.to_string();
            let float = written.contains(['.', 'e', 'E']) && written.parse::<f64>().is_ok_and(f64::is_finite);
            if !float && written.parse::<i64>().is_err() {
                return None;
            }
            written
        }
        Value::String(string) => text(string),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(self::value).collect::<Option<Vec<_>>>()?.join(", "))
        }
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(fields) => {
            let field = |(name, field): (&String, &Value)| Some(format!("{} = {}", key(name), self::value(field)?));
            format!("{{ {} }}", fields.iter().map(field).collect::<Option<Vec<_>>>()?.join(", "))
        }
    })
}

/// A line for each field; `None` if TOML cannot hold one.
pub fn lines(fields: &Map<String, Value>) -> Option<String> {
    fields.iter().map(|(name, field)| Some(format!("{} = {}\n", key(name), value(field)?))).collect()
}

/// A key, in quotes where TOML needs them.
pub fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_bare { name.to_owned() } else { text(name) }
}

/// A moment in milliseconds since 1970 as `expires` takes it; a midnight as the day before it, which is its last.
pub fn moment(millis: i64) -> Option<String> {
    const DAY: i64 = 24 * 3600 * 1000;
    let whole = millis.rem_euclid(DAY) == 0;
    let second = jiff::Timestamp::from_second((if whole { millis - DAY } else { millis }).div_euclid(1000)).ok()?;
    Some(second.to_string().chars().take(if whole { 10 } else { usize::MAX }).collect())
}
