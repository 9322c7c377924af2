//! Reads one text among the arguments: what it chooses, which statement it is. Proves nothing of a text that it does not read.

use serde_json::Value;

use super::choice::{self, Choice};
use super::effect::{Effect, Language, Meaning};
use super::key::Role;
use super::language::Languages;
use super::likeness;
use super::schema::Place;
use super::walk::{At, Walk};
use super::{grammar, graphql, http, shell, sql};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::among;
use crate::wire::fields::member;

/// How deep JSON in a string of JSON is followed.
const MOST_TEXTS_IN_TEXTS: usize = 4;

/// What reading a statement costs besides its bytes: the readers take some time even for the shortest.
const STATEMENT: usize = 128;

impl<'a> Walk<'a> {
    /// Notes what a text would do.
    pub(super) fn text(&mut self, at: &At<'_>, place: &Place<'a>, text: &str, depth: usize) {
        if !self.spend(text.len()) {
            return;
        }
        let is_listed = self.schema.lists(place, text);
        let is_chosen = self.chooses(at, place, text, is_listed);
        // Without one of these no text replaces a method or is code.
        if text.contains([':', '=']) {
            if let Some(method) = http::overriding_line(text).or_else(|| http::method_of_query(text)) {
                return self.method(at.name, method);
            }
            if let Some(found) = http::code(text) {
                return self.push(Language::Http, at.name, found);
            }
        }
        if !is_chosen && !is_listed && !self.json(at, text, depth) {
            self.statement(at, text);
        }
    }

    /// Notes what a text chooses, where its name says that it does. Whether it is that alone, and no statement.
    fn chooses(&mut self, at: &At<'_>, place: &Place<'a>, text: &str, is_listed: bool) -> bool {
        let choice = at.key.choice;
        if choice == Choice::Nothing || text.trim().is_empty() {
            return false;
        }
        if matches!(choice, Choice::Method | Choice::Act) {
            let mut listed = place.iter().filter_map(|schema| member(schema, "enum")?.as_array()).flatten();
            // Among others of which none is a method or a change (`pearson`, `kendall`), an unknown word is no method.
            let is_harmless = is_listed && !listed.any(|value| value.as_str().is_some_and(choice::is_act));
            let change = choice::changing(if is_harmless { Choice::Act } else { choice }, text);
            match (choice, change) {
                (Choice::Method, change) if change.is_some() || choice::is_http(text) => {
                    self.push(Language::Http, at.name, http::request(text, at.url, change));
                }
                (_, Some(action)) => {
                    let effect = if action == Action::Unknown { Effect::Unknown } else { Effect::Write };
                    let says = format!("{}: {}", at.name, text.trim().chars().take(40).collect::<String>());
                    self.push(Language::Act, at.name, Meaning::new(effect, action, text.trim(), says));
                }
                (_, None) => {}
            }
            if change.is_some() {
                return true;
            }
        }
        // A command line of a language has a reader of its own.
        let is_alone = choice != Choice::Named || at.possible.is_empty() || choice::is_known_read(text);
        if is_alone {
            self.command(at, text);
        }
        is_alone
    }

    /// JSON inside a text is read as what it holds: a body, a batch of requests. Whether it was JSON.
    fn json(&mut self, at: &At<'_>, text: &str, depth: usize) -> bool {
        let is_data = at.sure.is_empty() || at.sure.has(Language::MongoDb) || at.sure.has(Language::Elasticsearch);
        if !text.trim_start().starts_with(['{', '[']) || !is_data {
            return false;
        }
        let inner = serde_json::from_str::<Value>(text).ok().filter(|inner| inner.is_object() || inner.is_array());
        let Some(inner) = inner else { return false };
        if self.inner < MOST_TEXTS_IN_TEXTS && self.spend(text.len()) {
            self.inner += 1;
            self.value(at, &Place::default(), &inner, depth + 1);
            self.inner -= 1;
        }
        true
    }

    /// Notes what the readers say of a text that is, or may be, a statement.
    fn statement(&mut self, at: &At<'_>, text: &str) {
        if at.possible.is_empty() {
            return match at.key.role.may_run() {
                true => self.command(at, text),
                false => self.by_shape(at, text),
            };
        }
        // One word is no condition of any language, unless it is a statement by itself.
        let is_word = || text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_part = match at.key.role {
            Role::Names => is_plain(text),
            Role::Condition => is_word() && !likeness::is_statement(text),
            Role::Plain | Role::Open | Role::Command | Role::Options | Role::Code => false,
        };
        if is_part || !self.spend(STATEMENT) {
            return;
        }
        let read = |language| Some((language, read(language, text, at)?));
        let found: Vec<(Language, Meaning)> = at.possible.each().filter_map(read).collect();
        let worst = found.iter().max_by_key(|(_, found)| (found.effect, found.action.caution()));
        let Some((language, worst)) = worst.cloned() else { return };
        // What is not read to its end is noted where it is sure to be of this language: words to look for and conditions are no
        // statement of one that only a description names.
        let is_noted = match worst.effect {
            Effect::Unlisted | Effect::Unknown => {
                let may_be_words = at.sure.is_empty() && is_plain(text) && !graphql::begins(text);
                at.possible == Languages::of(language) && at.key.role != Role::Condition && !may_be_words
            }
            // What only reads in one language may change something in another that we do not read.
            Effect::ReadHere | Effect::ReadElsewhere => at.possible.each().all(is_read),
            Effect::Write | Effect::Execute | Effect::Administer => true,
        };
        if is_noted {
            self.note(language, at, text, worst);
        }
    }

    /// A text in no language that anything names.
    fn by_shape(&mut self, at: &At<'_>, text: &str) {
        let may_change = at.key.role.may_state() || at.name.eq_ignore_ascii_case("text");
        if graphql::begins(text) || may_change && text.contains("mutation") && text.contains('{') {
            let found = graphql::read(text);
            if found.effect.reads() || may_change && found.effect == Effect::Write {
                return self.note(Language::GraphQl, at, text, found);
            }
        }
        let changes = may_change && sql::plainly_changes(text);
        if changes || begins_as_query(text) && likeness::is_statement(text) {
            let found = sql::read(text, at.dialect).meaning;
            if changes || found.effect.reads() {
                self.note(Language::Sql, at, text, found);
            }
        }
    }

    /// A command line that plainly destroys, whatever the tool says it runs.
    fn command(&mut self, at: &At<'_>, text: &str) {
        if at.possible.is_empty() && shell::plainly_changes(text) {
            self.note(Language::Shell, at, text, shell::read(text));
        }
    }

    fn note(&mut self, language: Language, at: &At<'_>, text: &str, found: Meaning) {
        match language {
            Language::Sql => self.read(language, at.name, text, found, || sql::parts(text, at.dialect)),
            Language::Shell => self.read(language, at.name, text, found, || shell::parts(text)),
            _ => self.push(language, at.name, found),
        }
    }
}

/// Reads a text in one language; `None` where no program of that language would take it, or nothing in it is known.
fn read(language: Language, text: &str, at: &At<'_>) -> Option<Meaning> {
    let is_alone = at.possible == Languages::of(language);
    match language {
        Language::Sql => {
            let found = Some(sql::read(text, at.dialect).meaning);
            found.filter(|found| found.effect.reads() || is_alone || !graphql::begins(text))
        }
        Language::GraphQl => Some(graphql::read(text)).filter(|found| is_alone || !graphql::is_none(found)),
        Language::Shell => Some(shell::read(text)),
        // Redis' own SELECT takes one number.
        Language::Redis if begins_as_query(text) && text.split_whitespace().count() > 2 => None,
        _ => grammar::change(language, text),
    }
}

/// Whether a text of this language is read to its end, or is none of it.
fn is_read(language: Language) -> bool {
    use Language::{Filter, GraphQl, MongoDb, Redis, Sql};
    matches!(language, Sql | GraphQl | Redis | MongoDb | Filter)
}

/// Whether a text begins as a query of SQL does.
fn begins_as_query(text: &str) -> bool {
    let word: String = text.trim_start().chars().take(12).take_while(char::is_ascii_alphabetic).collect();
    among(&word.to_ascii_lowercase(), "select describe explain show desc pragma table values with")
}

/// Whether a text is one line of words, names and comparisons, and has the shape of no statement.
fn is_plain(text: &str) -> bool {
    let calls = text.as_bytes().windows(2).any(|pair| matches!(pair, [before, b'('] if *before != b' '));
    text.contains(char::is_alphanumeric)
        && text.chars().all(|c| c.is_alphanumeric() || " _-.,:'\"@#/=<>!?&+%()[]{}*".contains(c))
        && !["--", "/*", "*/"].iter().any(|comment| text.contains(comment))
        && !calls
        && !likeness::is_statement(text)
        && !sql::plainly_changes(text)
}
