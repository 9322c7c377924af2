//! Reads one text in every language that it may hold, and joins what the readers say. Knows no schema and no other argument.

use super::effect::{Effect, Language, Meaning};
use super::language::Languages;
use super::sql::Dialect;
use super::{grammar, graphql, mongo, redis, shell, sql};
use crate::behavior::words::{Words, count, folded};

/// What one reader says of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It read the text to its end, and the text only reads.
    Reads(Meaning),
    /// The text changes something, runs something, or could.
    Changes(Meaning),
    /// It did not read the text to its end.
    Unread(Meaning),
    /// No program of that language would take the text.
    Foreign(Meaning),
}

/// What all readers say of a text together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Joined {
    /// One read it, and all others read it or would not take it.
    Reads(Language, Meaning),
    Changes(Language, Meaning),
    /// No one read it to its end; the one language it may be in, where there is one alone.
    Unread(Option<(Language, Meaning)>),
    /// No program of any of them would take it.
    Foreign,
}

/// Reads a text in every language of a set.
pub fn read(languages: Languages, text: &str, dialect: Option<Dialect>) -> Joined {
    let outcomes: Vec<(Language, Outcome)> =
        languages.each().map(|language| (language, read_in(language, text, dialect))).collect();
    let worst = outcomes.iter().filter_map(|(language, outcome)| match outcome {
        Outcome::Changes(found) => Some((*language, found)),
        Outcome::Reads(_) | Outcome::Unread(_) | Outcome::Foreign(_) => None,
    });
    if let Some((language, found)) = worst.max_by_key(|(_, found)| (found.effect, found.action.caution())) {
        return Joined::Changes(language, found.clone());
    }
    if outcomes.iter().all(|(_, outcome)| matches!(outcome, Outcome::Reads(_) | Outcome::Foreign(_))) {
        let first = outcomes.iter().find_map(|(language, outcome)| match outcome {
            Outcome::Reads(found) => Some((*language, found.clone())),
            Outcome::Changes(_) | Outcome::Unread(_) | Outcome::Foreign(_) => None,
        });
        if let Some((language, found)) = first {
            return Joined::Reads(language, found);
        }
        if outcomes.len() > 1 {
            return Joined::Foreign;
        }
    }
    match outcomes.into_iter().next() {
        Some((language, Outcome::Unread(found) | Outcome::Foreign(found))) if languages == Languages::of(language) => {
            Joined::Unread(Some((language, found)))
        }
        Some(_) => Joined::Unread(None),
        None => Joined::Foreign,
    }
}

/// Reads a text in one language.
pub fn read_in(language: Language, text: &str, dialect: Option<Dialect>) -> Outcome {
    match language {
        Language::Sql => {
            let found = sql::read(text, dialect).meaning;
            if graphql::begins(text) && !found.effect.reads() { Outcome::Foreign(found) } else { judged(found) }
        }
        Language::GraphQl => {
            let found = graphql::read(text);
            if graphql::is_none(&found) { Outcome::Foreign(found) } else { judged(found) }
        }
        Language::Redis => {
            let words = redis::words(text);
            let words: Vec<&str> = words.iter().flatten().map(String::as_str).collect();
            let found = redis::read(&words);
            // Redis' own SELECT takes one number.
            let is_sql = words.first().is_some_and(|word| word.eq_ignore_ascii_case("SELECT")) && words.len() > 2;
            if is_sql { Outcome::Foreign(found) } else { judged(found) }
        }
        Language::Shell => Outcome::Changes(shell::read(text)),
        Language::MongoDb => match mongo::shell(text) {
            Some(found) => judged(found),
            None => Outcome::Foreign(none(text, "not a call of MongoDB's shell")),
        },
        // Conditions change nothing, and a text that is not one may be words.
        Language::Filter => Outcome::Foreign(none(text, "a condition")),
        Language::Cypher
        | Language::Sparql
        | Language::Kql
        | Language::Elasticsearch
        | Language::PromQl
        | Language::InfluxQl
        | Language::Jq
        | Language::Http
        | Language::Act
        | Language::Unread
        | Language::Other => match grammar::change(language, text) {
            Some(found) => Outcome::Changes(found),
            None => Outcome::Unread(none(text, "a statement in a language that mcp-approve does not parse")),
        },
    }
}

fn judged(found: Meaning) -> Outcome {
    match found.effect {
        Effect::ReadHere | Effect::ReadElsewhere => Outcome::Reads(found),
        Effect::Unlisted | Effect::Unknown => Outcome::Unread(found),
        Effect::Write | Effect::Execute | Effect::Administer => Outcome::Changes(found),
    }
}

fn none(text: &str, says: &str) -> Meaning {
    Meaning::unknown(text.chars().take(60).collect::<String>(), says)
}

/// The words that [`by_shape`] knows.
const BEGINNING: &str = "select describe explain show desc pragma table values with";
static BEGINNINGS: Words<{ count(BEGINNING) }> = Words::of(BEGINNING);

/// The language whose shape a text has, where nothing names one.
pub fn by_shape(text: &str) -> Option<Language> {
    let text = text.trim_start();
    let end = text.bytes().take(12).take_while(u8::is_ascii_alphabetic).count();
    if graphql::begins(text) {
        Some(Language::GraphQl)
    } else if text.starts_with("db.") {
        Some(Language::MongoDb)
    } else {
        BEGINNINGS.has(folded(text.get(..end)?.as_bytes())).then_some(Language::Sql)
    }
}
