//! Tell-tale phrases and parameters: what a definition gives away besides its verb. Judges nothing.

use std::sync::LazyLock;

use serde_json::Value;

use super::asides;
use super::lexicon::{Effect, verb};
use super::phrases::{Hyphens, Phrases, plain};
use super::taxonomy::Action;
use super::words;

/// Something a definition gives away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tell {
    pub gives: Gives,
    /// The phrase or the parameter, as it stands.
    pub span: String,
    /// Which sentence of the description it stands in, from 0; the last there is for parameters.
    pub sentence: usize,
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
    /// A sentence of its own says that it does something to things: "and updates them".
    Does,
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
    for (number, sentence) in sentences(description).enumerate() {
        let reads_sql = READING_SQL.iter().any(|phrase| sentence.contains(phrase));
        let words = words::of_sentence(sentence);
        if let Some((gives, span)) = of_own_act(&words)
            // To execute a SELECT is to read.
            && !(reads_sql && span.starts_with("execute"))
        {
            tells.push(Tell { gives, span, sentence: number });
        }
        if let Some(span) = asides::aside(&words) {
            tells.push(Tell { gives: Gives::Does, span, sentence: number });
        }
        if reads_sql {
            tells.push(Tell { gives: Gives::OnlyReads, span: "SELECT".to_owned(), sentence: number });
        }
        let only_reads = |span: &str| Tell { gives: Gives::OnlyReads, span: span.to_owned(), sentence: number };
        if !sentence.is_ascii()
            && let Some(phrase) = ONLY_READS_FOREIGN.iter().find(|phrase| sentence.to_lowercase().contains(**phrase))
        {
            tells.push(only_reads(phrase));
        }
        let plain = plain(sentence, Hyphens::Kept);
        let conditional = ["by default", "unless", "optional", "except"].iter().any(|word| plain.contains(word));
        for (at, phrase, gives) in PHRASES.found(&plain) {
            let counts = match gives {
                Gives::Changes => !denied(&plain[..at]),
                Gives::OnlyReads => !conditional,
                _ => true,
            };
            if counts {
                tells.push(Tell { gives, span: phrase.trim_end_matches('*').to_owned(), sentence: number });
            }
        }
    }
    tells
}

/// What a sentence that speaks of the tool in the third person says it does: "Creates the file if it is missing".
fn of_own_act(words: &[String]) -> Option<(Gives, String)> {
    let unmistakable = |word: &str| {
        words::base(word, verb)
            .is_some_and(|(found, form)| form == words::Form::Third && words::among(found.base, UNMISTAKABLE))
    };
    // "Resolves the addresses and updates them": the second act counts like the first.
    let coordinated = words.windows(3).find(|three| {
        words::among(&three[0], "and then also it automatically")
            && words::among(&three[2], "it them the a an its all any")
            && unmistakable(&three[1])
    });
    if let Some(three) = coordinated {
        return Some((Gives::Does, three.join(" ")));
    }
    let skipped = words
        .iter()
        .take(2)
        .take_while(|word| matches!(word.as_str(), "it" | "also" | "this" | "then" | "automatically"))
        .count();
    let word = words.get(skipped)?;
    if matches!(word.as_str(), "returns" | "return" | "outputs" | "output") {
        // Whoever gets the number of a job has started one.
        let job =
            |pair: &[String]| words::among(&pair[0], "job task run operation execution session") && pair[1] == "id";
        if words[..words.len().min(10)].windows(2).any(job) {
            return None;
        }
        let span = words.iter().skip(skipped).take(8).cloned().collect::<Vec<_>>().join(" ");
        return Some((Gives::Returns, span));
    }
    let (found, form) = words::base(word, verb)?;
    let object = words.get(skipped + 1).map(String::as_str);
    let has_object = matches!(
        object,
        Some("a" | "an" | "the" | "it" | "its" | "all" | "any" | "new" | "existing" | "your" | "every" | "each")
    );
    let own = form == words::Form::Third && words::among(found.base, UNMISTAKABLE) && has_object;
    match found.effect {
        Effect::Changes(_) if own => {
            Some((Gives::Does, words.iter().skip(skipped).take(4).cloned().collect::<Vec<_>>().join(" ")))
        }
        Effect::Changes(_) | Effect::Reads(_) | Effect::Depends(_) => None,
    }
}

/// Verbs that in the third person are said of nothing but what a tool does to things.
pub const UNMISTAKABLE: &str = "create delete remove write overwrite store modify send insert install update append publish merge \
    deploy start stop restart cancel terminate execute trigger disable move rename erase purge revoke \
    register submit upload queue enqueue provision mutate";

/// Everything the parameters give away.
pub fn of_parameters(schema: &Value, description: &str) -> Vec<Tell> {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return Vec::new();
    };
    let mut tells = Vec::new();
    for (name, property) in properties {
        let plain = words::of_name(name).join("_");
        let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
        let mut tell = |gives| tells.push(Tell { gives, span: name.clone(), sentence: usize::MAX });
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
                let must = schema
                    .get("required")
                    .and_then(Value::as_array)
                    .is_some_and(|must| must.iter().any(|key| key == name.as_str()));
                if let Some(gives) = selected(property, if must { Need::Must } else { Need::May }) {
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

/// Whether a parameter has to be given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Must,
    May,
}

/// What a parameter that selects the act lets one select.
///
/// An optional one that offers only changes is a filter: "events whose action is delete".
fn selected(property: &Value, need: Need) -> Option<Gives> {
    let choices = choices(property);
    let mut reading = 0;
    let mut changing = None;
    for choice in &choices {
        let act = super::reading::of_name(&words::of_name(choice)).map(|act| act.effect);
        match act.or_else(|| verb(&choice.to_lowercase()).map(|verb| verb.effect)) {
            Some(Effect::Changes(action)) => changing = changing.or(Some(action)),
            Some(Effect::Reads(_)) => reading += 1,
            Some(Effect::Depends(_)) | None => {}
        }
    }
    match changing {
        Some(action) if need == Need::Must || reading > 0 => Some(Gives::Selects(action)),
        Some(_) => Some(Gives::MayChange),
        None => (reading > 0 && reading == choices.len()).then_some(Gives::SelectsReads),
    }
}

fn choices<'a>(property: &'a Value) -> Vec<&'a str> {
    let inner = property.get("items").unwrap_or(property);
    // A list of acts, each an object that names its own: `{ type: "click" }`.
    let named = |of: &'a Value| ["type", "action"].iter().find_map(|key| of.get("properties")?.get(*key));
    let inner = named(inner).unwrap_or(inner);
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

static PHRASES: LazyLock<Phrases<Gives>> = LazyLock::new(|| {
    Phrases::new(&[(ONLY_READS, Gives::OnlyReads), (DENIES, Gives::Denies), (CHANGES, Gives::Changes)])
});

/// Nothing at all is changed.
const ONLY_READS: &str = "
    read-only
    readonly
    is read only
    read only tool*
    read only operation*
    no side effect*
    without side effect*
    side-effect-free
    side-effect free
    makes no changes
    make no changes
    no changes are made
    nothing is changed
    nothing is written
    nothing is modified
    nothing is saved
    changes nothing
    writes nothing
    no state change
    no mutation*
    never mutates
    does not mutate
    solo lectura
    nur lesend
    lecture seule
    somente leitura
";

/// "Read-only" where words are not cut by spaces, and elsewhere.
const ONLY_READS_FOREIGN: &[&str] = &["只读", "不产生任何变更", "읽기 전용", "読み取り専用", "только чтение"];

/// One act is not done.
const DENIES: &str = "
    does not modify
    doesnt modify
    does not change
    doesnt change
    does not alter
    does not write
    does not create
    does not execute
    does not send
    does not save
    never modifies
    never changes
    never writes
    without modifying
    without changing
    without executing
    without creating
    without saving
";

/// Something is changed.
const CHANGES: &str = "
    destructive
    irreversible
    cannot be undone
    cant be undone
    permanently
    write operation*
    write action*
    data-modifying
    state-changing
    mutating
    mutates
    this will delete
    this will overwrite
    requires confirmation
    requires approval
    requires user confirmation
    overwrites
    side effects
    real money
    consumes credits
    saved to disk
    saves to disk
    saved to a file
    will be saved
    it was saved
    is saved to
    are saved to
    is written to
    are written to
    to a local path
    to a local file
    to local disk
    to automatically generate
    to automatically create
";

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
