//! Reads one text among the arguments: what it chooses, which statement it is. Proves nothing of a text that it does not read.

use serde_json::Value;

use super::choice::{self, Choice, Choices};
use super::effect::{Effect, Language, Meaning};
use super::key::Role;
use super::likeness::{self, Reads};
use super::schema::Place;
use super::statement::{self, Joined, Outcome};
use super::walk::{At, Walk};
use super::{graphql, http, shell, sql};
use crate::behavior::taxonomy::Action;
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
            let listed = place.schemas.iter().filter_map(|schema| member(schema, "enum")?.as_array()).flatten();
            let choices = if is_listed { choice::choices(listed.filter_map(Value::as_str)) } else { Choices::Acts };
            let change = choice::changing(choice, text, choices);
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
            Role::Condition => is_word() && !likeness::is_statement(text, Reads::Statements),
            Role::Plain | Role::Open | Role::Command | Role::Options | Role::Code => false,
        };
        if is_part || !self.spend(STATEMENT) {
            return;
        }
        match statement::read(at.possible, text, at.dialect) {
            Joined::Reads(language, found) | Joined::Changes(language, found) => self.note(language, at, text, found),
            // A text in the one language it may be in, which its reader does not read: what it does is unknown. Words to look
            // for and conditions are no statement of a language that only a description names.
            Joined::Unread(Some((language, found)))
                if matches!(language, Language::Sql | Language::GraphQl | Language::Redis)
                    && at.key.role != Role::Condition
                    && !(at.sure.is_empty()
                        && (language != Language::GraphQl || !text.contains('{'))
                        && (self.said.searches || text.contains([':', '=', '<', '>']))
                        && is_plain(text)) =>
            {
                self.note(language, at, text, found);
            }
            Joined::Unread(_) | Joined::Foreign => {}
        }
    }

    /// A text in no language that anything names.
    fn by_shape(&mut self, at: &At<'_>, text: &str) {
        if at.key.role.may_state() || at.name.eq_ignore_ascii_case("text") {
            if graphql::plainly_changes(text) {
                return self.note(Language::GraphQl, at, text, graphql::read(text));
            }
            if sql::plainly_changes(text) {
                return self.note(Language::Sql, at, text, sql::read(text, at.dialect).meaning);
            }
        }
        let Some(language) = statement::by_shape(text) else { return };
        let reads = if at.key.role == Role::Open { Reads::Statements } else { Reads::Words };
        if (language != Language::Sql || likeness::is_statement(text, reads))
            && let Outcome::Reads(found) = statement::read_in(language, text, at.dialect)
        {
            self.note(language, at, text, found);
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

/// Whether a text is one line of words, names and comparisons, and has the shape of no statement.
fn is_plain(text: &str) -> bool {
    let calls = text.as_bytes().windows(2).any(|pair| matches!(pair, [before, b'('] if *before != b' '));
    text.contains(char::is_alphanumeric)
        && text.chars().all(|c| c.is_alphanumeric() || " _-.,:'\"@#/=<>!?&+%()[]{}*".contains(c))
        && !["--", "/*", "*/"].iter().any(|comment| text.contains(comment))
        && !calls
        && !likeness::is_statement(text, Reads::Statements)
        && !sql::plainly_changes(text)
}
