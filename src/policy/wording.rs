//! A condition of a rule in words, for people. Owns no meaning: what holds is [`super::when`]'s.

use toml::{Table, Value};

use super::when::Predicate;

impl Predicate {
    /// `exactly 2 arguments`, `path is under ~/scratch`: what it says, in words; as the file has it where it is none of
    /// the forms known here.
    pub fn words(&self) -> String {
        let table = toml::from_str::<Table>(&format!("p = {}", self.text)).ok();
        let said = table.as_ref().and_then(|table| table.get("p")?.as_table()).and_then(said);
        said.unwrap_or_else(|| self.text.clone())
    }
}

fn said(fields: &Table) -> Option<String> {
    let arg = fields.get("arg").and_then(Value::as_str);
    let each = |(key, value): (&String, &Value)| match (key.as_str(), arg) {
        ("arg", _) => None,
        ("len", Some("")) if value.as_integer() == Some(1) => Some(Some("exactly 1 argument".to_owned())),
        ("len", Some("")) => Some(length(value).map(|length| format!("{length} arguments"))),
        (key, Some(arg)) => Some(test(key, value).map(|test| format!("{} {test}", name(arg)))),
        ("hazard", None) => Some(Some(format!("the hazard is {}", any(value)))),
        ("effect", None) => Some(Some(format!("every effect is {}", any(value)))),
        ("sql", None) => Some(Some(format!("every statement is like {}", any(value)))),
        ("rate", None) => Some(rate(value)),
        (_, None) => Some(None),
    };
    let parts = fields.iter().filter_map(each).collect::<Option<Vec<String>>>()?;
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// An argument's name; an empty one means all the arguments.
fn name(arg: &str) -> &str {
    if arg.is_empty() { "the arguments together" } else { arg }
}

fn test(key: &str, value: &Value) -> Option<String> {
    Some(match key {
        "eq" => format!("is {}", one(value)),
        "in" => format!("is {}", any(value)),
        "glob" => format!("matches {}", any(value)),
        "under" => format!("is under {}", any(value)),
        "lt" => format!("is less than {}", one(value)),
        "gt" => format!("is more than {}", one(value)),
        "len" => format!("is {} long", length(value)?),
        "present" => "is given".to_owned(),
        "absent" => "is not given".to_owned(),
        _ => return None,
    })
}

/// `exactly 2`, `more than 2 and less than 5`.
fn length(value: &Value) -> Option<String> {
    let bound = |word: &str| value.get(word).and_then(Value::as_integer);
    match (value.as_integer(), bound("gt"), bound("lt")) {
        (Some(exactly), ..) => Some(format!("exactly {exactly}")),
        (None, Some(more), Some(less)) => Some(format!("more than {more} and less than {less}")),
        (None, Some(more), None) => Some(format!("more than {more}")),
        (None, None, Some(less)) => Some(format!("less than {less}")),
        (None, None, None) => None,
    }
}

fn rate(value: &Value) -> Option<String> {
    let table = value.as_table()?;
    let per = table.get("per")?.as_str()?;
    let count = |word: &str| table.get(word).and_then(Value::as_integer);
    match (count("most"), count("over")) {
        (Some(most), None) => Some(format!("among the first {most} calls in {per}")),
        (None, Some(over)) => Some(format!("after {over} calls in {per}")),
        _ => None,
    }
}

fn any(value: &Value) -> String {
    match value.as_array() {
        Some(all) => all.iter().map(one).collect::<Vec<_>>().join(" or "),
        None => one(value),
    }
}

fn one(value: &Value) -> String {
    match value.as_str() {
        // Quotes only where the text would be taken for part of the words around it.
        Some(text) if !text.is_empty() && !text.contains(char::is_whitespace) => text.to_owned(),
        _ => serde_json::to_string(value).unwrap_or_else(|_| "…".to_owned()),
    }
}
