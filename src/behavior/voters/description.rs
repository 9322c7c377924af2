//! Votes by what the definition says in words: title, every sentence, and parameters. A word on none of its lists
//! (`description.txt`) is unknown and says nothing; a sentence that only repeats the name is the name's word, not a second one.

mod clauses;

use std::sync::LazyLock;

use serde_json::Value;

use super::{Says, Vote, name};
use crate::behavior::evidence::{Claim, Evidence, Source, Strength};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{self, Form, Hyphens, Phrases, among, plain, section};
use crate::mcp::tool::Tool;
use clauses::{Effect, Verb, WORDS, lead};
pub use clauses::{names_one_act, sentences, unexplained};

pub fn vote(tool: &Tool) -> Vote {
    let description = tool.description.as_deref().unwrap_or_default();
    let name = words::of_name(&tool.name);
    let mut reads: Option<(Says, Action, String)> = None;
    let mut only_reads = None;
    let mut heading = true;
    let title = words::of_sentence(tool.title.as_deref().unwrap_or_default());
    let by = |says, action: Action, span| Vote { voter: Source::Description, says, action: Some(action), span };
    if let Some((verb, at, _)) = lead(&title)
        && let Effect::Changes(action) = verb.effect
        && !asks_only(&title[at..], verb)
    {
        return by(Says::Changes, action, title[at].clone());
    }
    for sentence in sentences(description) {
        let words = words::of_sentence(sentence);
        let mut rest = words.as_slice();
        if let Some((verb, at, form)) = lead(&words) {
            let span = words[at].clone();
            let chained = (heading || form == Form::Third).then(|| clauses::chained(&words, at, form)).flatten();
            match (verb.effect, chained) {
                (Effect::Reads(_) | Effect::Makes, Some((action, span))) => return by(Says::Changes, action, span),
                (Effect::Makes, None)
                    if heading
                        && words[at..].iter().take(12).any(|word| among(word, const { section(WORDS, "media") })) =>
                {
                    return by(Says::Changes, Action::Create, span);
                }
                (Effect::Changes(action), _) if heading && !asks_only(&words[at..], verb) => {
                    return by(Says::Changes, action, span);
                }
                (Effect::Reads(action), None) if reads.is_none() && heading && !repeats(sentence, &name) => {
                    reads = Some((Says::Reads, action, span));
                }
                (Effect::Changes(_), _) if heading => {
                    // "Executes a query": what follows the verb is only asked for.
                    rest = &words[at + 1..];
                    if reads.is_none() && !repeats(sentence, &name) {
                        reads = Some((Says::MayRead, Action::Read, span));
                    }
                }
                (Effect::Changes(_) | Effect::Reads(_) | Effect::Makes, _) => {}
            }
        } else if heading && reads.is_none() && !repeats(sentence, &name) {
            reads = answer(&words).map(|noun| (Says::Reads, Action::Read, noun.clone()));
        }
        if let Some((action, span)) = clauses::change(rest) {
            return by(Says::Changes, action, span);
        }
        let flat = plain(sentence, Hyphens::Kept);
        let conditional = ["by default", "unless", "optional", "except"].iter().any(|word| flat.contains(word));
        for (at, phrase, assertion) in PHRASES.found(&flat) {
            let span = phrase.trim_end_matches('*').to_owned();
            match assertion {
                Assertion::Changes(action) if !denied(&flat[..at]) => return by(Says::Changes, action, span),
                Assertion::OnlyReads if !conditional && only_reads.is_none() => only_reads = Some(span),
                Assertion::Changes(_) | Assertion::OnlyReads => {}
            }
        }
        if READING_SQL.iter().any(|phrase| sentence.contains(phrase)) && !conditional {
            only_reads.get_or_insert_with(|| "SELECT".to_owned());
        }
        heading = heading && (words.len() <= 4 || repeats(sentence, &name)) && reads.is_none();
    }
    let found = parameters(&tool.input_schema, description);
    if let Some((action, span)) = found.changes(only_reads.is_some(), reads.as_ref().map(|(_, _, verb)| verb.as_str()))
    {
        return by(Says::Changes, action, span);
    }
    if (reads.is_some() || only_reads.is_some()) && unexplained(tool).is_some() {
        let action = reads.map(|(_, action, _)| action);
        return Vote { action, ..Vote::silent(Source::Description) };
    }
    match (reads, only_reads) {
        (Some((says, action, span)), None) if says == Says::Reads && !found.may_change => by(Says::Reads, action, span),
        (Some((_, action, _)), Some(span)) => by(Says::Reads, action, span),
        (None, Some(span)) => by(Says::Reads, Action::Read, span),
        (Some((_, action, span)), None) => by(Says::MayRead, action, span),
        (None, None) => Vote::silent(Source::Description),
    }
}

/// The verb that a description opens with, empty where it is unknown, and what it is done to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    pub verb: String,
    pub object: Vec<String>,
}

/// Reads the opening of a description: its first sentence that is more than a heading.
pub fn opened(tool: &Tool) -> Opened {
    let mut first = None;
    for sentence in sentences(tool.description.as_deref().unwrap_or_default()).take(3) {
        let words = words::of_sentence(sentence);
        if let Some((_, at, _)) = lead(&words) {
            return Opened { verb: words[at].clone(), object: words[at + 1..].to_vec() };
        }
        first.get_or_insert(words);
    }
    Opened { verb: String::new(), object: first.unwrap_or_default() }
}

/// The parameter that carries code or a statement, as words joined by `_`.
pub fn runs(tool: &Tool) -> Option<String> {
    let description = tool.description.as_deref().unwrap_or_default();
    parameters(&tool.input_schema, description).runs.map(|name| words::of_name(&name).join("_"))
}

/// The parameter by which a tool that looks like a read would write or deliver something: it is likely to read at best.
pub fn written(tool: &Tool) -> Option<Evidence> {
    let verbs = [opened(tool).verb, name::of_name(&words::of_name(&tool.name)).verb];
    let span = written_with(&tool.input_schema, &verbs)?;
    Some(Evidence { source: Source::Description, says: Claim::default(), span, strength: Strength::Weak })
}

/// A sentence that only names what is answered: "Details for one package", "An overview of all servers".
fn answer(words: &[String]) -> Option<&String> {
    let start = words.iter().take_while(|word| among(word, "a an the : ,")).count();
    let noun = words.get(start).filter(|word| among(word, const { section(WORDS, "answers") }))?;
    words.get(start + 1).is_some_and(|next| among(next, "of for about on")).then_some(noun)
}

/// "Runs a search": what is run is only asked for.
fn asks_only(words: &[String], verb: Verb) -> bool {
    // "Executes GET /orders", as frameworks write it of an interface that says no more.
    let sent = || words.iter().skip(1).find(|word| !among(word, "a an the http https"));
    among(verb.base, "run execute perform make call")
        && (sent().is_some_and(|method| among(method, "get head"))
            || words.iter().skip(1).take(8).any(|word| among(word, const { section(WORDS, "asked") })))
}

/// Whether the sentence only repeats the name, as frameworks write it; "Gets the order" has an ending and an article of its own.
pub(super) fn repeats(sentence: &str, name: &[String]) -> bool {
    let known = |word: &String| name.iter().any(|said| said == word || said.strip_suffix('s') == Some(word));
    words::of_name(sentence).iter().all(known)
}

/// Whether the words right before a phrase deny it: "does not", "without", "never".
fn denied(before: &str) -> bool {
    const DENIALS: &str = "not no never without non nothing cannot doesnt dont wont isnt before";
    before.ends_with("non-") || before.split_whitespace().rev().take(4).any(|word| among(word, DENIALS))
}

#[derive(Clone, Copy)]
enum Assertion {
    OnlyReads,
    Changes(Action),
}

static PHRASES: LazyLock<Phrases<Assertion>> = LazyLock::new(|| {
    Phrases::new(&[
        (const { section(WORDS, "only-reads") }, Assertion::OnlyReads),
        (const { section(WORDS, "says-changes") }, Assertion::Changes(Action::Unknown)),
        (const { section(WORDS, "says-saves") }, Assertion::Changes(Action::Create)),
    ])
});

const READING_SQL: &[&str] = &[
    "SELECT quer", "SELECT statement", "SELECT-only", "only SELECT", "a SELECT", "(SELECT)", "SELECT only",
    "SELECT SQL", "only `SELECT",
];

#[derive(Debug, Default)]
struct Parameters {
    changes: Option<(Action, String)>,
    /// Carries code, a command or a statement to be run.
    runs: Option<String>,
    /// One that mostly changing tools have: `dry_run`, `force`.
    may_change: bool,
}

impl Parameters {
    /// The change that they show, given that the text says it only reads, and its reading verb.
    ///
    /// Under a reading verb a statement still counts as run ("queries" runs its SQL); a `code` may be just a name.
    fn changes(&self, only_reads: bool, verb: Option<&str>) -> Option<(Action, String)> {
        let analyses = |verb: &str| words::base(verb, |base| among(base, ANALYSES).then_some(())).is_some();
        let runs = self
            .runs
            .clone()
            .filter(|name| !only_reads && !verb.is_some_and(|verb| analyses(verb) || !is_statement(name)));
        self.changes.clone().or(runs.map(|span| (Action::Execute, span)))
    }
}

fn parameters(schema: &Value, description: &str) -> Parameters {
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
                if among(place, const { section(WORDS, "places") })
                    || (["path", "file", "dir"].iter().any(|part| place.contains(part)) && says_it_saves(said)) =>
            {
                found.changes = Some((Action::Create, name.clone()));
            }
            _ => {}
        }
    }
    found
}

/// A parameter that names a receiver, or carries what would be written; under these verbs, content is only looked at.
fn written_with(schema: &Value, verbs: &[String; 2]) -> Option<String> {
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
            && (among(&name, const { section(WORDS, "recipients") })
                || (name == "to" && !ranges())
                || (content && !looks))
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
/// Verbs that look at code or statements without running them.
const ANALYSES: &str = section(WORDS, "analyses");
