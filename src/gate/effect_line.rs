//! Our own line on what a call does, from identity and arguments: it stands before anything the server says.

use serde_json::Value;

use crate::behavior::conclude::Behavior;
use crate::behavior::taxonomy::{Action, Mutability, OutputDomain};

/// Argument names that say what a call is about, the most telling first.
const TELLING: [&str; 24] = [
    "path",
    "file_path",
    "filename",
    "source",
    "destination",
    "command",
    "cmd",
    "script",
    "sql",
    "query",
    "statement",
    "url",
    "uri",
    "to",
    "recipient",
    "repo",
    "branch",
    "id",
    "name",
    "title",
    "key",
    "table",
    "topic",
    "paths",
];

/// How many characters of a value the line shows; the card shows all of it.
const SHOWN: usize = 80;

/// The line: `overwrites a content — path = "/tmp/a.txt"`. Values in it are foreign text, raw.
pub fn effect(behavior: &Behavior, tool: &str, arguments: &Value) -> String {
    let identity = behavior.identity;
    let object = object(identity.output_domain);
    let does = match (identity.mutability, identity.action) {
        (_, Action::Unknown) => format!("does something nobody described ({tool})"),
        (Mutability::Pure, Action::Search) => format!("searches {object}, changes nothing"),
        (Mutability::Pure, _) => format!("reads {object}, changes nothing"),
        (Mutability::Mutates, Action::Read) => format!("reads {object}, and may change something"),
        (Mutability::Mutates, Action::Search) => {
            format!("searches {object}, and may change something")
        }
        (Mutability::Mutates, Action::Create) => format!("creates {object}"),
        (Mutability::Mutates, Action::Update) => format!("changes {object}"),
        (Mutability::Mutates, Action::Delete) => format!("deletes {object}"),
        (Mutability::Mutates, Action::Merge) => format!("merges {object}"),
        (Mutability::Mutates, Action::Overwrite) => format!("replaces {object}"),
        (Mutability::Mutates, Action::Append) => format!("adds to {object}"),
        (Mutability::Mutates, Action::Execute) => format!("runs {object}"),
        (Mutability::Mutates, Action::Send) => format!("sends {object}"),
        (Mutability::Mutates, Action::Move) => format!("moves {object}"),
    };
    match telling(arguments) {
        Some(about) => format!("{does} — {about}"),
        None => does,
    }
}

fn object(domain: OutputDomain) -> &'static str {
    match domain {
        OutputDomain::Data => "data",
        OutputDomain::Content => "content",
        OutputDomain::Structure => "structure",
        OutputDomain::Diff => "differences",
        OutputDomain::Pr => "a pull request",
        OutputDomain::Issue => "an issue",
        OutputDomain::Ref => "a branch, tag or commit",
        OutputDomain::Repo => "a repository",
        OutputDomain::User => "a user",
        OutputDomain::Message => "a message",
        OutputDomain::Money => "money",
        OutputDomain::Infra => "infrastructure",
        OutputDomain::Model => "a model",
        OutputDomain::Ack | OutputDomain::Unknown => "something",
    }
}

/// What a call is about, as short as it can be said: the value of its most telling argument, or where it moves from and
/// to. Foreign text, raw.
pub fn about(arguments: &Value) -> Option<String> {
    let fields = arguments.as_object()?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    if let (Some(from), Some(to)) = (text("source"), text("destination")) {
        return Some(format!("{} → {}", head(from), head(to)));
    }
    let (name, value) = most_telling(arguments)?;
    Some(match value {
        Value::String(text) => head(text),
        // A bare number says nothing without its name.
        other => format!("{name} = {}", worded(other)),
    })
}

fn telling(arguments: &Value) -> Option<String> {
    let (name, value) = most_telling(arguments)?;
    let text = match value {
        Value::String(text) => short(text),
        other => worded(other),
    };
    Some(format!("{name} = {text}"))
}

/// The argument that says most, else the first that says anything on one row.
fn most_telling(arguments: &Value) -> Option<(&str, &Value)> {
    let arguments = arguments.as_object()?;
    let known = TELLING.iter().find_map(|name| Some((*name, arguments.get(*name)?)));
    let plain = |value: &Value| !matches!(value, Value::Null | Value::Object(_) | Value::Array(_));
    let any = || arguments.iter().find(|(_, value)| plain(value)).map(|(name, value)| (name.as_str(), value));
    known.or_else(any)
}

fn worded(value: &Value) -> String {
    match value {
        Value::Array(list) => format!("{} values", list.len()),
        Value::Object(map) => format!("{} fields", map.len()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// The beginning of a text, with a mark where it goes on.
fn head(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}…", &text[..cut]),
    }
}

fn short(text: &str) -> String {
    let total = text.chars().count();
    if total <= SHOWN {
        return format!("\"{text}\"");
    }
    let head: String = text.chars().take(SHOWN).collect();
    format!("\"{head}\" … {} more characters", total - SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_list_is_told_what_a_call_is_about() {
        for (arguments, told) in [
            (json!({ "content": "x", "path": "a/b.md" }), Some("a/b.md")),
            (json!({ "source": "a", "destination": "b" }), Some("a → b")),
            (json!({ "idle_days": 0 }), Some("idle_days = 0")),
            (json!({ "options": {}, "label": "bug" }), Some("bug")),
            (json!({}), None),
            (json!([1]), None),
        ] {
            assert_eq!(about(&arguments).as_deref(), told, "{arguments}");
        }
        assert_eq!(about(&json!({ "query": "x".repeat(300) })).map(|text| text.chars().count()), Some(201));
    }
}
