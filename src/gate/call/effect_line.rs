//! Our own line on what a call does, from identity and arguments. It is shown before anything the server says.

use serde_json::Value;

use crate::behavior::arguments::effect::{Analysis, Effect, Language};
use crate::behavior::arguments::path::{self, Leads};
use crate::behavior::conclude::Behavior;
use crate::behavior::taxonomy::{Action, Mutability, OutputDomain};
use crate::gate::call::touched::replaces_whole;

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

/// The line: `overwrites a content — path = "/tmp/a.txt"`, or, where an argument shows what this very call would do,
/// that: `DELETE on users without WHERE — sql = "…"`. Values in it are foreign text, raw; it is one line.
pub fn effect(behavior: &Behavior, tool: &str, arguments: &Value) -> String {
    let does = computed(behavior).unwrap_or_else(|| described(behavior, tool, arguments));
    match telling(arguments) {
        Some(about) => format!("{does} — {about}"),
        None => does,
    }
}

/// The worst that the arguments show.
fn worst(behavior: &Behavior) -> Option<&Analysis> {
    let weight = |one: &Analysis| (one.effect, one.action.caution());
    behavior.analyses.iter().reduce(|worst, one| if weight(one) > weight(worst) { one } else { worst })
}

/// What the arguments show: the worst of it, and how much more there is.
fn computed(behavior: &Behavior) -> Option<String> {
    let worst = worst(behavior)?;
    if worst.language == Language::Act || worst.language == Language::Http && worst.effect.reads() {
        return None;
    }
    let says = spoken(worst);
    let more = behavior.analyses.iter().filter(|one| !one.effect.reads()).count().saturating_sub(1);
    Some(match (worst.effect.reads(), more) {
        // An argument that reads lowers nothing: the tool may do more with it than it says.
        (true, _) if behavior.identity.mutability == Mutability::Pure => format!("{says}, changes nothing"),
        (true, _) => format!("{says}, which only reads"),
        (false, 0) => says,
        (false, more) => format!("{says}, and {more} more"),
    })
}

fn spoken(analysis: &Analysis) -> String {
    let says = &analysis.says;
    match (analysis.language, analysis.effect) {
        (Language::Unread, _) => format!("hands over {says}"),
        (Language::Redis, Effect::ReadHere) => format!("Redis {says}"),
        (
            Language::Sql
            | Language::GraphQl
            | Language::Http
            | Language::MongoDb
            | Language::Redis
            | Language::Shell
            | Language::Cypher
            | Language::Sparql
            | Language::Kql
            | Language::Elasticsearch
            | Language::PromQl
            | Language::InfluxQl
            | Language::Jq
            | Language::Filter
            | Language::Other
            | Language::Act,
            _,
        ) => says.clone(),
    }
}

/// What the tool does by its identity.
fn described(behavior: &Behavior, tool: &str, arguments: &Value) -> String {
    let identity = behavior.identity;
    let object = object(identity.output_domain);
    match (identity.mutability, identity.action) {
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
        (Mutability::Mutates, Action::Overwrite) if replaces_whole(arguments) => format!("replaces {object}"),
        (Mutability::Mutates, Action::Overwrite) => format!("writes {object}"),
        (Mutability::Mutates, Action::Append) => format!("adds to {object}"),
        (Mutability::Mutates, Action::Execute) => format!("runs {object}"),
        (Mutability::Mutates, Action::Send) => format!("sends {object}"),
        (Mutability::Mutates, Action::Move) => format!("moves {object}"),
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
/// to; of a statement, what it does to which table. Foreign text, raw.
pub fn about(behavior: &Behavior, arguments: &Value) -> Option<String> {
    let statement = worst(behavior).filter(|worst| worst.language == Language::Sql);
    statement.map(|statement| brief(&statement.says)).or_else(|| named(arguments))
}

fn named(arguments: &Value) -> Option<String> {
    let fields = arguments.as_object()?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    if let (Some(from), Some(to)) = (text("source"), text("destination")) {
        return Some(format!("{} → {}", brief(from), brief(to)));
    }
    let (name, value) = most_telling(arguments)?;
    Some(match value {
        Value::String(text) => brief(text),
        // A bare number says nothing without its name.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            format!("{name} = {}", worded(value))
        }
    })
}

fn telling(arguments: &Value) -> Option<String> {
    let (name, value) = most_telling(arguments)?;
    let text = match value {
        Value::String(text) if path::is_path_key(name) && text.len() <= path::LONGEST => {
            format!("{}{}", short(text), led(text))
        }
        Value::String(text) => short(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => worded(value),
    };
    Some(format!("{name} = {text}"))
}

/// Where a path leads, when it leads out of where one would look for it.
fn led(path: &str) -> &'static str {
    match path::leads(path) {
        Leads::Climbs => ", which climbs out of where it starts",
        Leads::Home => ", in the home folder",
        Leads::Below | Leads::Absolute => "",
    }
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

/// Both ends of a text, with a mark where its middle is left out: a path tells most at its end.
fn brief(text: &str) -> String {
    const END: usize = 100;
    let cut = |nth: Option<(usize, char)>| nth.map(|(at, _)| at);
    match (cut(text.char_indices().nth(END)), cut(text.char_indices().nth_back(END - 1))) {
        (Some(head), Some(tail)) if head < tail => format!("{}…{}", &text[..head], &text[tail..]),
        _ => text.to_owned(),
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
            assert_eq!(named(&arguments).as_deref(), told, "{arguments}");
        }
        let long = format!("/{}/today.md", "deep/".repeat(60));
        let told = named(&json!({ "path": long })).unwrap();
        assert!(told.chars().count() == 201 && told.ends_with("/deep//today.md"), "{told}");
    }
}
