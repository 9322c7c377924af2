//! MongoDB in arguments: commands, pipelines, filters, shell calls, by allow lists. Knows no collection.

use serde_json::{Map, Value};

use super::effect::{Effect, Meaning};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{among, section};

const WORDS: &str = include_str!("../../../assets/words/mongo.txt");

/// Operators that change something or run code wherever they are, in whatever argument.
pub fn operator(key: &str, value: &Value) -> Option<Meaning> {
    if !key.starts_with('$') {
        return None;
    }
    let target = || match value {
        Value::String(name) => format!(" {name}"),
        Value::Object(fields) => {
            let into = fields.get("into").or_else(|| fields.get("coll"));
            into.and_then(|into| into.as_str().or_else(|| into.get("coll")?.as_str()))
                .map_or_else(String::new, |name| format!(" {name}"))
        }
        _ => String::new(),
    };
    Some(match key {
        "$out" => {
            Meaning::new(Effect::Write, Action::Overwrite, "$out", format!("$out replaces the collection{}", target()))
        }
        "$merge" => Meaning::new(
            Effect::Write,
            Action::Merge,
            "$merge",
            format!("$merge writes into the collection{}", target()),
        ),
        "$where" | "$function" | "$accumulator" => Meaning::runs(key, format!("{key} runs JavaScript in the database")),
        "$currentOp" | "$listLocalSessions" | "$listSessions" | "$changeStream" => {
            Meaning::unknown(key, format!("{key}, which is not known to only read"))
        }
        _ => return None,
    })
}

/// A whole pipeline of a tool that speaks MongoDB: every stage is known to read, or named.
pub fn pipeline(stages: &[Value]) -> Meaning {
    for stage in stages {
        let name = stage.as_object().filter(|stage| stage.len() == 1).and_then(|stage| stage.keys().next());
        match name {
            Some(name) if among(name, const { section(WORDS, "stages") }) => {}
            Some(name) => {
                return operator(name, &stage[name.as_str()])
                    .unwrap_or_else(|| Meaning::unknown(name, format!("{name}, an unknown stage")));
            }
            None => return Meaning::unknown("", "a stage without exactly one name".to_owned()),
        }
    }
    if let Some(found) = stages.iter().find_map(|stage| inside(stage, 0)) {
        return found;
    }
    Meaning::reads("pipeline", format!("aggregates in {} stages", stages.len()))
}

/// A database command: its name is its first key.
pub fn command(command: &Map<String, Value>) -> Meaning {
    let Some((name, target)) = command.iter().next() else { return Meaning::unknown("", "no command".to_owned()) };
    let on = target.as_str().map_or_else(|| name.clone(), |target| format!("{name} on {target}"));
    let lower = name.to_ascii_lowercase();
    if lower == "explain" {
        return match target.as_object() {
            Some(inner) if command.get("verbosity").and_then(Value::as_str) == Some("queryPlanner") => {
                let inner = self::command(inner);
                Meaning { says: format!("the plan of {}", inner.says), ..inner }
            }
            _ => Meaning::unknown(name, "explain, which may run what it explains".to_owned()),
        };
    }
    if among(&lower, const { section(WORDS, "commands-read") }) {
        let all = Value::Object(command.clone());
        if let Some(stages) = command.get("pipeline").and_then(Value::as_array) {
            let found = pipeline(stages);
            return Meaning { says: format!("{on}, {}", found.says), ..found };
        }
        return inside(&all, 0).unwrap_or_else(|| Meaning::reads(name.as_str(), on));
    }
    let found = |effect, action| Meaning::new(effect, action, name.as_str(), on.clone());
    match lower.as_str() {
        "insert" | "create" | "createindexes" | "clonecollectionascapped" => found(Effect::Write, Action::Create),
        "update" | "findandmodify" | "collmod" | "bulkwrite" => found(Effect::Write, Action::Update),
        "delete" | "drop" | "dropindexes" => found(Effect::Write, Action::Delete),
        "dropdatabase" => {
            Meaning::new(Effect::Write, Action::Delete, name.as_str(), "dropDatabase removes the database")
        }
        "renamecollection" => found(Effect::Write, Action::Move),
        "mapreduce" | "eval" | "$eval" => found(Effect::Execute, Action::Execute),
        _ if among(&lower, const { section(WORDS, "commands-administer") }) => {
            found(Effect::Administer, Action::Update)
        }
        _ => Meaning::unknown(name, format!("{name}, an unknown command")),
    }
}

/// A line for MongoDB's shell: `db.users.deleteMany({})`.
pub fn shell(text: &str) -> Option<Meaning> {
    let text = text.trim();
    if !text.starts_with("db.") && !text.starts_with("db[") {
        return None;
    }
    // Assignments, joined texts, escapes and templates hide what is called.
    if text.trim_end_matches(';').contains(['`', '=', '+', '\\', ';']) {
        return Some(Meaning::unknown("db", "a text for MongoDB's shell that is more than one call".to_owned()));
    }
    let mut worst: Option<Meaning> = None;
    for (at, _) in text.match_indices('(') {
        let before = &text[..at];
        let name = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        let lower = name.to_ascii_lowercase();
        let says = format!("{name} in MongoDB's shell");
        let one = if among(&lower, const { section(WORDS, "shell-reads") }) {
            Meaning::reads(name, says)
        } else if lower.starts_with("delete") || lower.starts_with("remove") || lower.starts_with("drop") {
            Meaning::new(Effect::Write, Action::Delete, name, says)
        } else if lower.starts_with("insert") || lower.starts_with("create") {
            Meaning::new(Effect::Write, Action::Create, name, says)
        } else if ["update", "replace", "findone", "findand", "bulk", "rename", "save"]
            .iter()
            .any(|verb| lower.starts_with(verb))
        {
            Meaning::new(Effect::Write, Action::Update, name, says)
        } else {
            Meaning::unknown(name, says)
        };
        if worst.as_ref().is_none_or(|before| before.effect < one.effect) {
            worst = Some(one);
        }
    }
    let runs = ["$where", "$function", "$accumulator", "$out", "$merge"].iter().find(|word| text.contains(**word));
    if let Some(word) = runs {
        return operator(word, &Value::Null);
    }
    Some(worst.unwrap_or_else(|| Meaning::unknown("db", "a text for MongoDB's shell".to_owned())))
}

/// The first changing operator anywhere below.
fn inside(value: &Value, depth: usize) -> Option<Meaning> {
    if depth > 64 {
        return Some(Meaning::unknown("", "nested too deep to be read".to_owned()));
    }
    match value {
        Value::Object(fields) => {
            fields.iter().find_map(|(key, field)| operator(key, field).or_else(|| inside(field, depth + 1)))
        }
        Value::Array(items) => items.iter().find_map(|item| inside(item, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
