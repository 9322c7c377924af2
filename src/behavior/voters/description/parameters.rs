//! What the parameters say: code or a statement to run, a place to write to, a confirmation. Names and descriptions only.

use serde_json::Value;

use super::lists::{ANALYSES, PLACES, RECIPIENTS};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{self, among};

/// What the parameters let one do.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    /// A parameter says that something is changed.
    changes: Option<(Action, String)>,
    /// Carries code, a command or a statement to be run.
    pub(super) runs: Option<String>,
    /// One that mostly changing tools have: `dry_run`, `force`.
    pub(super) may_change: bool,
}

impl Parameters {
    /// The change that they show, given that the text says it only reads, and its reading verb.
    ///
    /// Under a reading verb a statement still counts as run ("queries" runs its SQL); a `code` may be just a name.
    pub(super) fn changes(&self, only_reads: bool, verb: Option<&str>) -> Option<(Action, String)> {
        let analyses = |verb: &str| words::base(verb, |base| among(base, ANALYSES).then_some(())).is_some();
        let runs = self
            .runs
            .clone()
            .filter(|name| !only_reads && !verb.is_some_and(|verb| analyses(verb) || !is_statement(name)));
        self.changes.clone().or(runs.map(|span| (Action::Execute, span)))
    }
}

/// Reads the parameters of an input schema.
pub(super) fn read(schema: &Value, description: &str) -> Parameters {
    let mut found = Parameters::default();
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (name, property) in properties {
        let plain = words::of_name(name).join("_");
        let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
        let said = property.get("description").and_then(Value::as_str).unwrap_or_default();
        match plain.as_str() {
            "confirm" | "confirmed" | "confirmation" | "idempotency_key" => {
                found.changes = Some((Action::Unknown, name.clone()));
            }
            "dry_run" | "dryrun" | "force" | "overwrite" => found.may_change = true,
            "query" | "queries" if speaks_of_statements(description) || speaks_of_statements(said) => {
                found.runs = Some(name.clone());
            }
            "command" | "cmd" | "code" | "script" | "sql" | "statement" | "shell_command" | "commands"
                if kind != "boolean" && property.get("enum").is_none() =>
            {
                found.runs = Some(name.clone());
            }
            place
                if among(place, PLACES)
                    || (["path", "file", "dir"].iter().any(|part| place.contains(part)) && says_it_saves(said)) =>
            {
                found.changes = Some((Action::Create, name.clone()));
            }
            _ => {}
        }
    }
    found
}

/// A parameter that names who receives something, or carries what would be written; under a verb of these that looks at texts,
/// content is only looked at.
pub(super) fn written(schema: &Value, verbs: &[String; 2]) -> Option<String> {
    let properties = schema.get("properties")?.as_object()?;
    let plain = |name: &str| words::of_name(name).join("_");
    let looks = verbs.iter().any(|verb| words::base(verb, |base| among(base, ANALYSES).then_some(())).is_some());
    // "from" and "to" are a range, or a way.
    let ranges = || properties.keys().any(|name| words::of_name(name).iter().any(|word| among(word, RANGE)));
    let found = properties.iter().find(|(name, property)| {
        let name = plain(name);
        let is_text = !matches!(property.get("type").and_then(Value::as_str), Some("boolean" | "integer"));
        let content = among(&name, CONTENT) || name.starts_with("new_");
        is_text
            && property.get("enum").is_none()
            && (among(&name, RECIPIENTS) || (name == "to" && !ranges()) || (content && !looks))
    });
    found.map(|(name, _)| name.clone())
}

/// Whether a parameter of this name carries a statement, not code or a command.
fn is_statement(name: &str) -> bool {
    words::of_name(name).iter().any(|word| among(word, "sql query queries statement command commands cmd"))
}

/// Whether a text speaks of a language whose statements may change things.
fn speaks_of_statements(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        among(word, "sql cypher gremlin aql n1ql mutation") || word.ends_with("sql") && !word.starts_with("no")
    })
}

/// Whether a path parameter is where a result is written.
fn says_it_saves(said: &str) -> bool {
    let lower = said.to_lowercase();
    ["save to", "saved", "to save", "write to", "written to", "output to", "download to"]
        .iter()
        .any(|phrase| lower.contains(phrase))
}

const CONTENT: &str = "content body message amount payload";
const RANGE: &str = "from since start after source begin";
