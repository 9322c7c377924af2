//! Lists, and values side by side, that are one statement or one command. Owns no text by itself.

use serde_json::{Map, Value};

use super::choice::Choice;
use super::effect::{Language, Meaning};
use super::explain::key::{Key, Role};
use super::explain::place::Place;
use super::language::{self, Languages};
use super::statement::{self, Joined};
use super::texts::kind_of;
use super::walk::{At, Walk};
use super::{http, mongo, redis, shell};
use crate::wire::fields::Fields;

impl Walk<'_> {
    /// Reads a list that is one thing: a pipeline, an argument vector. Returns whether it was one.
    pub(super) fn list(&mut self, at: &At<'_>, items: &[Value]) -> bool {
        if items.is_empty() {
            return false;
        }
        if at.possible.has(Language::MongoDb) && items.iter().all(Value::is_object) {
            let found = mongo::pipeline(items);
            self.whole(Language::MongoDb, at.name, found);
            return true;
        }
        let words = |item: &'_ Value| {
            item.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        };
        // Lists of commands, one list each.
        if at.key.role == Role::Open
            && items.iter().filter_map(words).any(|words| {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                words.len() > 1 && !redis::read(&words).effect.reads()
            })
        {
            self.unexplained("holds a list that may be a command, and is not known to only read");
        }
        // A header and its value.
        if at.key.role == Role::Headers
            && let [name, value] = items
            && let (Some(name), Some(value)) = (name.as_str(), value.as_str())
            && !name.contains(':')
        {
            if let Some(method) = http::overriding(name, value) {
                self.method(name, method);
                self.unexplained("replaces the request's own method");
            } else if !http::is_plain_header(name) {
                self.unexplained("is a header that is not known to be harmless");
            }
        }
        let is_args = at.name.eq_ignore_ascii_case("args");
        let plural = at.name.ends_with(['s', 'S']);
        let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        let Some(words) = words.filter(|_| !plural || is_args) else { return false };
        if at.possible.has(Language::Redis) {
            self.whole(Language::Redis, at.name, redis::read(&words));
            return true;
        }
        if at.possible.has(Language::Shell) && !is_args {
            self.whole(Language::Shell, at.name, shell::read_words(&words));
            return true;
        }
        false
    }

    /// Reads a program and its arguments side by side: `{ command: "rm", args: ["-rf", "/"] }`. Returns the keys that
    /// it read as one command.
    pub(super) fn command_with_words(&mut self, fields: Fields<'_>) -> Option<[&'static str; 2]> {
        let words = ["args", "argv", "arguments"].into_iter().find_map(|key| Some((key, fields.get(key)?.as_array()?)));
        let program = ["command", "cmd", "program", "executable"]
            .into_iter()
            .find_map(|key| Some((key, fields.get(key)?.as_str()?)));
        let (Some((list, words)), Some((key, program))) = (words, program) else { return None };
        let all: Vec<&str> =
            std::iter::once(program).chain(words.iter().filter_map(Value::as_str)).take(1_000).collect();
        let mut at = At { name: key, key: Key::of(key), ..At::default() };
        self.languages(&mut at, &Place::default());
        if at.possible.has(Language::Redis) {
            self.whole(Language::Redis, key, redis::read(&all));
        } else if at.possible.has(Language::Shell) || shell::plainly_changes(&all.join(" ")) {
            self.whole(Language::Shell, key, shell::read_words(&all));
        } else {
            return None;
        }
        Some([key, list])
    }

    /// The act that only says in which language the statement beside it is, where that was read to its end:
    /// `{ op: "sql", query: "SELECT …" }`.
    pub(super) fn act_of_language(fields: &Map<String, Value>) -> Option<&str> {
        let names_sql = |value: &Value| value.as_str().is_some_and(|text| language::named(text).has(Language::Sql));
        let (name, _) = fields.iter().find(|(name, value)| names_sql(value) && Key::of(name).choice == Choice::Act)?;
        let sql = Languages::of(Language::Sql);
        let is_read = |text: &str| matches!(statement::read(sql, text, None), Joined::Reads(..));
        let is_beside = |(key, value): (&String, &Value)| key != name && value.as_str().is_some_and(is_read);
        fields.iter().any(is_beside).then_some(name.as_str())
    }

    /// Notes one statement that is written as several values.
    fn whole(&mut self, language: Language, name: &str, found: Meaning) {
        if found.effect.reads() {
            self.explained(kind_of(language, &found));
        } else {
            self.unexplained("is a statement or a command that is not known to only read");
        }
        self.push(language, name, found);
    }
}
