//! What the arguments of one call would do: each argument in the language it holds. Evidence from here raises; it never lowers.

pub mod choice;
pub mod effect;
pub mod explain;
pub mod graphql;
pub mod http;
pub mod language;
pub mod mongo;
pub mod named;
pub mod path;
pub mod reading;
pub mod redis;
pub mod shell;
pub mod sql;

use std::cmp::Ordering;

use serde_json::Value;

use super::taxonomy::Action;
use crate::mcp::tool::Tool;
use effect::{Analysis, Effect, Found, Language};
use language::Carries;
use reading::{Part, Reading};

/// As much text of one call as is analysed; what is beyond could be anything.
const MAX_TEXT: usize = 256 * 1024;
/// As many findings as one call is told of: more are no news.
pub const MOST: usize = 64;
/// How often a text of JSON in a text of JSON is followed.
const MOST_TEXTS_IN_TEXTS: usize = 3;

/// What every argument would do that holds a text in a language we read, in their order.
pub fn found(tool: Option<&Tool>, arguments: &Value) -> Vec<Analysis> {
    Finder::look(tool, arguments, None).found
}

/// The texts of statements and commands among the arguments, each as [`found`] read it, part by part.
pub fn readings(tool: Option<&Tool>, arguments: &Value) -> Vec<Reading> {
    Finder::look(tool, arguments, Some(Vec::new())).readings.unwrap_or_default()
}

struct Finder<'a> {
    tool: Option<&'a Tool>,
    found: Vec<Analysis>,
    /// The same part by part, where somebody wants to see it.
    readings: Option<Vec<Reading>>,
    /// How many bytes of text may still be analysed.
    left: usize,
    /// How many texts of JSON we are in.
    inner: usize,
}

impl<'a> Finder<'a> {
    fn look(tool: Option<&'a Tool>, arguments: &Value, readings: Option<Vec<Reading>>) -> Self {
        let mut finder = Self { tool, found: Vec::new(), readings, left: MAX_TEXT, inner: 0 };
        finder.fields(arguments, 0);
        finder
    }

    fn fields(&mut self, value: &Value, depth: usize) {
        if depth > 64 {
            return;
        }
        match value {
            Value::Object(fields) => {
                let text = |keys: &[&str]| {
                    fields
                        .iter()
                        .find(|(key, _)| keys.iter().any(|known| key.eq_ignore_ascii_case(known)))
                        .and_then(|(_, value)| value.as_str())
                };
                // Headers as pairs: `{ name: "X-HTTP-Method-Override", value: "DELETE" }`.
                if let Some(name) = text(&["name", "key", "header"])
                    && let Some(method) = text(&["value"]).and_then(|value| http::overriding(name, value))
                {
                    self.method(name, method, None);
                }
                let url = text(&["url", "uri", "endpoint", "path"]);
                let paired = self.command_with_words(fields);
                for (key, field) in fields {
                    if let Some(found) = mongo::operator(key, field) {
                        self.push(Language::MongoDb, key, found);
                    }
                    if !paired.contains(&key.as_str()) {
                        self.field(key, field, url, depth);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.fields(item, depth + 1)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn field(&mut self, key: &str, field: &Value, url: Option<&str>, depth: usize) {
        match field {
            Value::String(text) => self.text(key, text, url, depth),
            // What is listed under a key, however deep, is under that key.
            Value::Array(items) if depth <= 64 => {
                if !self.list(key, items) {
                    items.iter().for_each(|item| self.field(key, item, url, depth + 1));
                }
            }
            Value::Object(command)
                if self.carries(key).mongo == Carries::Statement
                    && !key.eq_ignore_ascii_case("filter")
                    && !key.eq_ignore_ascii_case("query") =>
            {
                self.push(Language::MongoDb, key, mongo::command(command));
            }
            other => self.fields(other, depth + 1),
        }
    }

    fn carries(&self, key: &str) -> language::Languages {
        language::of(key, self.tool)
    }

    /// A list that is one thing: a pipeline, an argument vector. Whether it was.
    fn list(&mut self, key: &str, items: &[Value]) -> bool {
        if items.is_empty() {
            return false;
        }
        let carries = self.carries(key);
        if carries.mongo == Carries::Statement && items.iter().all(Value::is_object) {
            self.push(Language::MongoDb, key, mongo::pipeline(items));
            return true;
        }
        let plural = key.ends_with('s') || key.ends_with('S');
        let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        let Some(words) = words.filter(|_| !plural || key.eq_ignore_ascii_case("args")) else { return false };
        if carries.redis == Carries::Statement {
            self.push(Language::Redis, key, redis::read(&words));
            return true;
        }
        if carries.shell == Carries::Statement && !key.eq_ignore_ascii_case("args") {
            self.push(Language::Shell, key, shell::read_words(&words));
            return true;
        }
        false
    }

    /// A program and its words side by side: `{ command: "rm", args: ["-rf", "/"] }`. The keys that were read as one.
    fn command_with_words(&mut self, fields: &serde_json::Map<String, Value>) -> [&'static str; 2] {
        let words = ["args", "argv", "arguments"].into_iter().find_map(|key| Some((key, fields.get(key)?.as_array()?)));
        let program = ["command", "cmd", "program", "executable"]
            .into_iter()
            .find_map(|key| Some((key, fields.get(key)?.as_str()?)));
        let (Some((list, words)), Some((key, program))) = (words, program) else { return ["", ""] };
        let all: Vec<&str> =
            std::iter::once(program).chain(words.iter().filter_map(Value::as_str)).take(1_000).collect();
        let carries = self.carries(key);
        if carries.redis == Carries::Statement {
            self.push(Language::Redis, key, redis::read(&all));
        } else if carries.shell == Carries::Statement || shell::plainly_changes(&all.join(" ")) {
            self.push(Language::Shell, key, shell::read_words(&all));
        } else {
            return ["", ""];
        }
        [key, list]
    }

    fn text(&mut self, key: &str, text: &str, url: Option<&str>, depth: usize) {
        let carries = self.carries(key);
        self.languages(key, text, carries);
        if let Some(choice) = choice::of_key(key) {
            let change = choice::changing(choice, key, text, self.tool);
            let is_method = choice == choice::Choice::Method && !text.trim().is_empty();
            match change {
                Some(_) if is_method => self.push(Language::Http, key, http::request(text, url, change)),
                Some(action) => {
                    let effect = if action == Action::Unknown { Effect::Unknown } else { Effect::Write };
                    let says = format!("{key}: {}", text.trim().chars().take(40).collect::<String>());
                    self.push(Language::Act, key, Found::new(effect, action, text.trim(), says));
                }
                None if is_method && choice::is_http(text) => {
                    self.push(Language::Http, key, http::request(text, url, None));
                }
                None => {}
            }
        }
        if let Some(method) = http::overriding_line(text).or_else(|| http::method_of_query(text)) {
            self.method(key, method, None);
        }
        if let Some(found) = http::code(text) {
            self.push(Language::Http, key, found);
        }
        self.text_in_text(text, depth);
    }

    /// Reads a text in every language that its argument may hold.
    fn languages(&mut self, key: &str, text: &str, carries: language::Languages) {
        let language::Languages { sql, graphql, redis, mongo, shell, dialect } = carries;
        if [sql, graphql, redis, mongo, shell].iter().all(|carries| *carries == Carries::No) {
            return;
        }
        if text.len() > self.left {
            self.left = 0;
            let says = "more text than is read".to_owned();
            let action = Action::Unknown;
            let found = Found::new(Effect::Unknown, action, "…", says);
            self.read(Language::Unread, key, text, found, Vec::new);
            return;
        }
        self.left -= text.len();
        let counts = |carries: Carries, plainly: fn(&str) -> bool| match carries {
            Carries::Statement => true,
            Carries::Perhaps => plainly(text),
            Carries::No => false,
        };
        // A tool that speaks both is told by the text's own head.
        let both = sql == Carries::Statement && graphql == Carries::Statement;
        if (!both || looks_like_graphql(text)) && counts(graphql, graphql::plainly_changes) {
            self.push(Language::GraphQl, key, graphql::read(text));
            return;
        }
        if redis == Carries::Statement {
            let words = redis::words(text);
            let words: Vec<&str> = words.iter().flatten().map(String::as_str).collect();
            self.push(Language::Redis, key, redis::read(&words));
            return;
        }
        if let Some(found) = mongo::shell(text).filter(|_| mongo != Carries::No) {
            self.push(Language::MongoDb, key, found);
            return;
        }
        if counts(sql, sql::plainly_changes) {
            self.read(Language::Sql, key, text, sql::read(text, dialect).found(), || sql::parts(text, dialect));
            return;
        }
        if counts(shell, shell::plainly_changes) {
            self.read(Language::Shell, key, text, shell::read(text), || shell::parts(text));
        }
    }

    /// A method that a header or an address puts in the place of the request's own.
    fn method(&mut self, key: &str, method: &str, url: Option<&str>) {
        let change = choice::changing(choice::Choice::Method, "method", method, None);
        if change.is_some() {
            self.push(Language::Http, key, http::request(method, url, change));
        }
    }

    /// JSON inside a text is read as what it holds: a body, a batch of requests.
    fn text_in_text(&mut self, text: &str, depth: usize) {
        let trimmed = text.trim_start();
        if self.inner >= MOST_TEXTS_IN_TEXTS
            || !trimmed.starts_with(['{', '['])
            || text.len() > self.left
            || trimmed.len() < 8
        {
            return;
        }
        let Ok(inner) = serde_json::from_str::<Value>(text) else { return };
        self.left -= text.len();
        self.inner += 1;
        self.fields(&inner, depth + 1);
        self.inner -= 1;
    }

    /// A text and what was found in it, with its parts where somebody wants to see them.
    fn read(&mut self, language: Language, key: &str, text: &str, found: Found, parts: impl FnOnce() -> Vec<Part>) {
        if let Some(readings) = &mut self.readings {
            match readings.len().cmp(&MOST) {
                Ordering::Less => {
                    readings.push(Reading::new(Analysis::new(language, key, found.clone()), text, parts()));
                }
                Ordering::Equal => readings.push(Reading::beyond(Analysis::new(Language::Unread, key, found.clone()))),
                Ordering::Greater => {}
            }
        }
        self.push(language, key, found);
    }

    fn push(&mut self, language: Language, key: &str, found: Found) {
        let analysis = Analysis::new(language, key, found);
        // The worst is never crowded out by the many.
        if self.found.len() < MOST {
            self.found.push(analysis);
        } else if let Some(mildest) = self.found.iter_mut().min_by_key(|one| one.effect)
            && mildest.effect < analysis.effect
        {
            *mildest = analysis;
        }
    }
}

fn looks_like_graphql(text: &str) -> bool {
    let text = text.trim_start();
    ["{", "query", "mutation", "subscription", "fragment", "#"].iter().any(|head| text.starts_with(head))
}
