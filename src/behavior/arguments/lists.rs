//! Lists, and values side by side, that are one statement or one command. Owns no text by itself.

use serde_json::Value;

use super::effect::Language;
use super::key::Key;
use super::schema::Place;
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
            self.push(Language::MongoDb, at.name, found);
            return true;
        }
        // A header and its value.
        if let [Value::String(name), Value::String(value)] = items
            && let Some(method) = http::overriding(name, value)
        {
            self.method(name, method);
        }
        let is_args = at.name.eq_ignore_ascii_case("args");
        let plural = at.name.ends_with(['s', 'S']);
        let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        let Some(words) = words.filter(|_| !plural || is_args) else { return false };
        if at.possible.has(Language::Redis) {
            self.push(Language::Redis, at.name, redis::read(&words));
            return true;
        }
        if at.possible.has(Language::Shell) && !is_args {
            self.push(Language::Shell, at.name, shell::read_words(&words));
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
            self.push(Language::Redis, key, redis::read(&all));
        } else if at.possible.has(Language::Shell) || shell::plainly_changes(&all.join(" ")) {
            self.push(Language::Shell, key, shell::read_words(&all));
        } else {
            return None;
        }
        Some([key, list])
    }
}
