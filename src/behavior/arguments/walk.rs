//! Walks the arguments of one call once: every leaf and every key, within a budget. `texts` reads a text.

use serde_json::{Map, Value};

use super::choice::Choice;
use super::effect::{Analysis, Language, Meaning};
use super::key::{Key, Role, Said};
use super::language::Languages;
use super::reading::{Part, Reading};
use super::schema::{Declared, Place, Schema};
use super::sql::Dialect;
use super::{MOST, choice, grammar, http, language, shell};
use crate::mcp::tool::Tool;

/// How much text of one call is read, in bytes, keys included.
const MAX_TEXT: usize = 256 * 1024;
/// How many leaves of one call are read.
const MAX_LEAVES: usize = 100_000;
/// How deep a call is read. The wire refuses deeper calls.
const MAX_DEPTH: usize = 64;

pub(super) struct Walk<'a> {
    pub(super) tool: Option<&'a Tool>,
    pub(super) said: &'a Said,
    pub(super) found: Vec<Analysis>,
    /// The texts part by part, where they are wanted for display.
    pub(super) readings: Option<Vec<Reading>>,
    pub(super) schema: Schema<'a>,
    /// How many texts of JSON we are in.
    pub(super) inner: usize,
    left: usize,
    leaves: usize,
}

/// What is known of a value by the names above it.
#[derive(Clone, Debug, Default)]
pub(super) struct At<'n> {
    /// The nearest name.
    pub(super) name: &'n str,
    pub(super) key: Key,
    /// Languages that the name, or the tool's own name, says.
    pub(super) sure: Languages,
    /// Those and the ones that descriptions say.
    pub(super) possible: Languages,
    pub(super) dialect: Option<Dialect>,
    /// The address beside it, for the eye.
    pub(super) url: Option<&'n str>,
}

impl<'a> Walk<'a> {
    pub(super) fn over(
        tool: Option<&'a Tool>,
        said: &'a Said,
        arguments: &'a Value,
        readings: Option<Vec<Reading>>,
    ) -> Self {
        let mut walk = Self {
            tool,
            said,
            found: Vec::new(),
            readings,
            schema: Schema::new(tool.map(|tool| &tool.input_schema)),
            inner: 0,
            left: MAX_TEXT,
            leaves: MAX_LEAVES,
        };
        let top = walk.schema.top();
        walk.value(&At::default(), &top, arguments, 0);
        walk
    }

    /// One value, whatever it is.
    pub(super) fn value(&mut self, at: &At<'_>, place: &Place<'a>, value: &Value, depth: usize) {
        if !self.step(depth) {
            return;
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.text(at, place, text, depth),
            Value::Array(items) if self.list(at, items) => {}
            Value::Array(items) => {
                let place = self.schema.items(place);
                for item in items {
                    if self.leaves == 0 {
                        return;
                    }
                    self.value(at, &place, item, depth + 1);
                }
            }
            Value::Object(fields) => self.object(at, place, fields, depth),
        }
    }

    fn object(&mut self, at: &At<'_>, place: &Place<'a>, fields: &Map<String, Value>, depth: usize) {
        if at.possible.has(Language::MongoDb)
            && !at.name.eq_ignore_ascii_case("filter")
            && !at.name.eq_ignore_ascii_case("query")
            && let Some(found) = grammar::mongo_command(fields)
        {
            self.push(Language::MongoDb, at.name, found);
        }
        let text = |keys: &[&str]| {
            let named = fields.iter().find(|(key, _)| keys.iter().any(|known| key.eq_ignore_ascii_case(known)));
            named.and_then(|(_, value)| value.as_str())
        };
        // Headers as pairs: `{ name: "X-HTTP-Method-Override", value: "DELETE" }`.
        if let (Some(name), Some(value)) = (text(&["name", "key", "header"]), text(&["value"]))
            && let Some(method) = http::overriding(name, value)
        {
            self.method(name, method);
        }
        let url = text(&["url", "uri", "endpoint", "path"]);
        let paired = self.command_with_words(fields);
        for (name, field) in fields {
            if self.leaves == 0 {
                return;
            }
            if !paired.is_some_and(|paired| paired.contains(&name.as_str())) {
                self.field(at, place, (name, field), url, depth);
            }
        }
    }

    fn field(
        &mut self,
        above: &At<'_>,
        place: &Place<'a>,
        (name, field): (&str, &Value),
        url: Option<&str>,
        depth: usize,
    ) {
        if !self.spend(name.len()) {
            return;
        }
        if let Some(found) = grammar::mongo_operator(name, field) {
            self.push(Language::MongoDb, name, found);
        }
        if matches!(field, Value::Null | Value::Bool(_) | Value::Number(_)) {
            self.step(depth + 1);
            return;
        }
        let mut key = self.said.key(name);
        let (below, declared) = self.schema.field(place, name);
        // Code stays code below its name, and undeclared options stay options.
        if above.key.role == Role::Code || (above.key.role == Role::Options && declared == Declared::Free) {
            key.role = above.key.role;
        }
        let mut at = At { name, key, url, ..At::default() };
        self.languages(&mut at, &below);
        self.value(&at, &below, field, depth + 1);
    }

    /// Which languages a value of this name may hold: decided once for all that is below it.
    pub(super) fn languages(&mut self, at: &mut At<'_>, place: &Place<'a>) {
        at.sure = at.key.languages;
        at.possible = at.key.languages;
        let role = at.key.role;
        if at.sure.is_empty() && !(role.may_state() || role.may_run() || role == Role::Names) {
            return;
        }
        let Some(tool) = self.tool else { return };
        if at.sure.is_empty() {
            let spoken = self.said.spoken.with(place);
            let fits = |languages: Languages| {
                let kept = languages.each().filter(|language| match language {
                    Language::Shell => role.may_run(),
                    Language::Redis => role != Role::Condition,
                    _ => role != Role::Options,
                });
                kept.map(Languages::of).fold(Languages::default(), Languages::with)
            };
            at.sure = fits(spoken.by_name);
            at.possible = fits(spoken.all());
        }
        if at.possible.has(Language::Sql) {
            at.dialect = language::dialect(tool, place);
        }
    }

    /// A method that a header or an address puts in the place of the request's own.
    pub(super) fn method(&mut self, name: &str, method: &str) {
        let change = choice::changing(Choice::Method, method);
        if change.is_some() {
            self.push(Language::Http, name, http::request(method, None, change));
        }
    }

    /// Takes so many bytes of text from what is left; false, and said once, where that is not enough.
    pub(super) fn spend(&mut self, bytes: usize) -> bool {
        if let Some(left) = self.left.checked_sub(bytes).filter(|_| self.leaves > 0) {
            self.left = left;
            return true;
        }
        self.beyond();
        false
    }

    fn step(&mut self, depth: usize) -> bool {
        if depth > MAX_DEPTH || self.leaves <= 1 {
            self.beyond();
            return false;
        }
        self.leaves -= 1;
        true
    }

    /// Ends the reading at its limits, and notes that the rest could be anything.
    fn beyond(&mut self) {
        if self.leaves > 0 {
            self.leaves = 0;
            self.push(Language::Unread, "", Meaning::unknown("…", "more than mcp-approve reads"));
        }
    }

    /// Reads a list that is one thing: an argument vector. Returns whether it was one.
    fn list(&mut self, at: &At<'_>, items: &[Value]) -> bool {
        // A header and its value.
        if let [Value::String(name), Value::String(value)] = items
            && let Some(method) = http::overriding(name, value)
        {
            self.method(name, method);
        }
        let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        let runs = at.possible.has(Language::Shell) || at.possible.has(Language::Redis);
        let is_one = runs && !items.is_empty() && !at.name.ends_with(['s', 'S']);
        words.is_some_and(|words| is_one && self.command_of_words(at, &words))
    }

    /// Reads a program and its arguments side by side: `{ command: "rm", args: ["-rf", "/"] }`. Returns the keys that
    /// it read as one command.
    fn command_with_words(&mut self, fields: &Map<String, Value>) -> Option<[&'static str; 2]> {
        let words = ["args", "argv", "arguments"].into_iter().find_map(|key| Some((key, fields.get(key)?.as_array()?)));
        let program = ["command", "cmd", "program", "executable"]
            .into_iter()
            .find_map(|key| Some((key, fields.get(key)?.as_str()?)));
        let (Some((list, words)), Some((key, program))) = (words, program) else { return None };
        let all: Vec<&str> =
            std::iter::once(program).chain(words.iter().filter_map(Value::as_str)).take(1_000).collect();
        let mut at = At { name: key, key: Key::of(key), ..At::default() };
        self.languages(&mut at, &Place::default());
        self.command_of_words(&at, &all).then_some([key, list])
    }

    fn command_of_words(&mut self, at: &At<'_>, words: &[&str]) -> bool {
        let is_shell = at.possible.has(Language::Shell) || shell::plainly_changes(&words.join(" "));
        if at.possible.has(Language::Redis) {
            if let Some(found) = grammar::redis(words) {
                self.push(Language::Redis, at.name, found);
            }
        } else if is_shell {
            self.push(Language::Shell, at.name, shell::read_words(words));
        } else {
            return false;
        }
        true
    }

    /// Notes what was found in a text; its parts only where the walk wants them.
    pub(super) fn read(
        &mut self,
        language: Language,
        key: &str,
        text: &str,
        found: Meaning,
        parts: impl FnOnce() -> Vec<Part>,
    ) {
        if let Some(readings) = self.readings.as_mut().filter(|readings| readings.len() <= MOST) {
            // One entry for all texts beyond those that are listed.
            let is_listed = readings.len() < MOST;
            let (language, text) = if is_listed { (language, text) } else { (Language::Unread, "") };
            let parts = if is_listed { parts() } else { Vec::new() };
            readings.push(Reading::new(Analysis::new(language, key, found.clone()), text, parts));
        }
        self.push(language, key, found);
    }

    /// Notes a finding; beyond those that are listed, in the place of the mildest of them, if that is milder.
    pub(super) fn push(&mut self, language: Language, key: &str, found: Meaning) {
        let analysis = Analysis::new(language, key, found);
        if self.found.len() < MOST {
            return self.found.push(analysis);
        }
        if self.found.len() == MOST {
            let more = Meaning::unknown("…", "more statements than can be listed one by one");
            self.found.push(Analysis::new(Language::Unread, key, more));
        }
        let mildest = self.found.iter_mut().take(MOST).min_by_key(|one| one.effect);
        if let Some(mildest) = mildest.filter(|mildest| mildest.effect < analysis.effect) {
            *mildest = analysis;
        }
    }
}
