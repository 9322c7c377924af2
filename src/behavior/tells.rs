//! Tell-tale phrases and parameters: what a definition gives away besides its verb. Judges nothing.

use serde_json::Value;

use super::lexicon::{Effect, verb};
use super::taxonomy::Action;
use super::words;

/// Something a definition gives away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tell {
    pub gives: Gives,
    /// The phrase or the parameter, as it stands.
    pub span: String,
}

/// What is given away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// It says in so many words that nothing is changed.
    OnlyReads,
    /// It says of one act that it is not done: "does not create", "without executing".
    Denies,
    /// It says in so many words, or by a parameter, that something is changed.
    Changes,
    /// A parameter that changing tools have: `dry_run`, `force`.
    MayChange,
    /// A parameter names a place where a result may be written.
    WritesFile,
    /// A parameter selects the act, and this choice changes something.
    Selects(Action),
    /// A parameter selects the act, and no choice changes anything.
    SelectsReads,
    /// A parameter carries code, a command or a statement to be run.
    RunsCode,
    /// A sentence of its own says what comes back.
    Returns,
}

/// Sentences of a description, without its markup; no more than a reader would read.
pub fn sentences(description: &str) -> impl Iterator<Item = &str> {
    let end = description.char_indices().nth(6_000).map_or(description.len(), |(end, _)| end);
    description[..end]
        .split(['\n', ';', '!', '?', '。'])
        .flat_map(|line| line.split(". "))
        .map(|sentence| sentence.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '(' | ')' | '`' | '"')))
        .filter(|sentence| !sentence.is_empty())
}

/// Everything the description gives away.
pub fn of_description(description: &str) -> Vec<Tell> {
    let mut tells = Vec::new();
    for sentence in sentences(description) {
        if let Some(tell) = of_own_act(sentence) {
            tells.push(tell);
        }
        if READING_SQL.iter().any(|phrase| sentence.contains(phrase)) {
            tells.push(Tell { gives: Gives::OnlyReads, span: "SELECT".to_owned() });
        }
        let lower = sentence.to_lowercase();
        for (phrases, gives) in [(ONLY_READS, Gives::OnlyReads), (DENIES, Gives::Denies), (CHANGES, Gives::Changes)] {
            for phrase in phrases {
                if let Some(at) = lower.find(phrase)
                    && !(gives == Gives::Changes && denied(&lower[..at]))
                {
                    tells.push(Tell { gives, span: (*phrase).to_owned() });
                }
            }
        }
    }
    tells
}

/// What a sentence that speaks of the tool in the third person says it does: "Creates the file if it is missing".
fn of_own_act(sentence: &str) -> Option<Tell> {
    let words = words::of_sentence(sentence);
    let skipped = words
        .iter()
        .take(2)
        .take_while(|word| matches!(word.as_str(), "it" | "also" | "this" | "then" | "automatically"))
        .count();
    let word = words.get(skipped)?;
    if matches!(word.as_str(), "returns" | "return" | "outputs" | "output") {
        return Some(Tell { gives: Gives::Returns, span: word.clone() });
    }
    let (found, form) = words::base(word, verb)?;
    let object = words.get(skipped + 1).map(String::as_str);
    let has_object = matches!(
        object,
        Some("a" | "an" | "the" | "it" | "its" | "all" | "any" | "new" | "existing" | "your" | "every" | "each")
    );
    let own = form == words::Form::Third && words::among(found.base, UNMISTAKABLE) && has_object;
    match found.effect {
        Effect::Changes(_) if own => Some(Tell {
            gives: Gives::Changes,
            span: words.iter().skip(skipped).take(4).cloned().collect::<Vec<_>>().join(" "),
        }),
        Effect::Changes(_) | Effect::Reads(_) | Effect::Depends(_) => None,
    }
}

/// Verbs that in the third person are said of nothing but what a tool does to things.
pub const UNMISTAKABLE: &str = "create delete remove write overwrite store modify send insert replace install update append publish merge \
    deploy start stop restart cancel terminate execute trigger enable disable move rename erase purge revoke \
    register submit upload launch queue enqueue provision mutate";

/// Everything the parameters give away.
pub fn of_parameters(schema: &Value, description: &str) -> Vec<Tell> {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return Vec::new();
    };
    let mut tells = Vec::new();
    for (name, property) in properties {
        let plain = words::of_name(name).join("_");
        let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
        let mut tell = |gives| tells.push(Tell { gives, span: name.clone() });
        match plain.as_str() {
            "confirm" | "confirmed" | "confirmation" | "idempotency_key" => tell(Gives::Changes),
            "dry_run" | "dryrun" | "force" | "overwrite" => tell(Gives::MayChange),
            "query" | "queries" if carries_statements(property, description) => tell(Gives::RunsCode),
            "output_path" | "output_file" | "save_path" | "save_to" | "local_path" | "output_dir"
            | "output_directory" | "download_path" | "save_to_file" | "destination_path" | "save_directory"
            | "save_dir" | "out_path" | "outfile" | "download_dir" => tell(Gives::WritesFile),
            place if ["path", "file", "dir"].iter().any(|part| place.contains(part)) && says_it_saves(property) => {
                tell(Gives::WritesFile);
            }
            "command" | "cmd" | "code" | "script" | "sql" | "statement" | "shell_command" | "commands"
                if kind != "boolean" && choices(property).is_empty() =>
            {
                tell(Gives::RunsCode);
            }
            "action" | "method" | "operation" | "op" | "mode" | "command" | "http_method" | "verb" | "actions"
            | "subcommand" => {
                if let Some(gives) = selected(property) {
                    tell(gives);
                }
            }
            _ => {}
        }
    }
    tells
}

/// Whether a text speaks of a language whose statements may change things.
fn speaks_of_statements(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        matches!(word, "sql" | "cypher" | "gremlin" | "aql" | "n1ql" | "mutation")
            || word.ends_with("sql") && !word.starts_with("no")
    })
}

fn carries_statements(property: &Value, description: &str) -> bool {
    let said = property.get("description").and_then(Value::as_str);
    speaks_of_statements(description) || said.is_some_and(speaks_of_statements)
}

/// Whether a path parameter is where a result is written.
fn says_it_saves(property: &Value) -> bool {
    let Some(text) = property.get("description").and_then(Value::as_str) else { return false };
    let lower = text.to_lowercase();
    ["save", "write to", "written to", "output to", "download to", "store the"]
        .iter()
        .any(|phrase| lower.contains(phrase))
}

/// What a parameter that selects the act lets one select.
fn selected(property: &Value) -> Option<Gives> {
    let choices = choices(property);
    let mut reading = 0;
    for choice in &choices {
        let act = super::reading::of_name(&words::of_name(choice)).map(|act| act.effect);
        match act.or_else(|| verb(&choice.to_lowercase()).map(|verb| verb.effect)) {
            Some(Effect::Changes(action)) => return Some(Gives::Selects(action)),
            Some(Effect::Reads(_)) => reading += 1,
            Some(Effect::Depends(_)) | None => {}
        }
    }
    (reading > 0 && reading == choices.len()).then_some(Gives::SelectsReads)
}

fn choices(property: &Value) -> Vec<&str> {
    let inner = property.get("items").unwrap_or(property);
    let listed = inner.get("enum").and_then(Value::as_array).into_iter().flatten();
    let branches = ["oneOf", "anyOf"].iter().filter_map(|key| inner.get(*key)).filter_map(Value::as_array).flatten();
    let consts = branches.clone().filter_map(|branch| branch.get("const"));
    let nested = branches.filter_map(|branch| branch.get("enum")).filter_map(Value::as_array).flatten();
    listed.chain(consts).chain(nested).filter_map(Value::as_str).take(64).collect()
}

/// Whether the words right before a phrase deny it: "does not", "without", "never", "no".
fn denied(before: &str) -> bool {
    before.split_whitespace().rev().take(4).any(|word| {
        matches!(
            word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\''),
            "not"
                | "no"
                | "never"
                | "without"
                | "non"
                | "nothing"
                | "cannot"
                | "doesn't"
                | "don't"
                | "won't"
                | "isn't"
                | "before"
        )
    }) || before.ends_with("non-")
}

const ONLY_READS: &[&str] = &[
    "read-only",
    "readonly",
    "is read only",
    "read only tool",
    "read only operation",
    "(read only)",
    "no side effect",
    "without side effect",
    "side-effect-free",
    "side-effect free",
    "makes no changes",
    "make no changes",
    "no changes are made",
    "nothing is changed",
    "nothing is written",
    "nothing is modified",
    "nothing is saved",
    "changes nothing",
    "writes nothing",
    "no state change",
    "no mutation",
    "never mutates",
    "does not mutate",
    "只读",
    "不产生任何变更",
    "읽기 전용",
    "読み取り専用",
    "solo lectura",
    "nur lesend",
    "lecture seule",
    "somente leitura",
    "только чтение",
];

const DENIES: &[&str] = &[
    "does not modify",
    "doesn't modify",
    "does not change",
    "doesn't change",
    "does not alter",
    "does not write",
    "does not create",
    "does not execute",
    "does not send",
    "does not save",
    "never modifies",
    "never changes",
    "never writes",
    "without modifying",
    "without changing",
    "without executing",
    "without creating",
    "without saving",
];

const CHANGES: &[&str] = &[
    "destructive",
    "irreversible",
    "cannot be undone",
    "can't be undone",
    "permanently",
    "write operation",
    "write action",
    "mutating",
    "mutates",
    "this will delete",
    "this will overwrite",
    "requires confirmation",
    "requires approval",
    "requires user confirmation",
    "overwrites",
    "side effects:",
    "real money",
    "state-changing",
];

const READING_SQL: &[&str] = &[
    "SELECT quer",
    "SELECT statement",
    "SELECT-only",
    "only SELECT",
    "a SELECT",
    "(SELECT)",
    "SELECT only",
    "SELECT SQL",
    "only `SELECT",
];
