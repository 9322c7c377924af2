//! What the arguments of one call would do: one walk over every leaf and every key, within a budget; one reading of each text. What is
//! found raises and never lowers; what finds nothing proves nothing.

use serde_json::{Map, Value};

use super::choice::{self, Choice};
use super::effect::{Analysis, Effect, Language, Meaning};
use super::key::{Key, Languages, Role, Said};
use super::reading::{Part, Reading};
use super::schema::{Declared, Schema, Schemas};
use super::{grammar, graphql, shell, sql};
use crate::behavior::taxonomy::Action;
use crate::mcp::tool::Tool;

/// How many findings one call lists; that there are more is one of them.
pub const MOST: usize = 64;
/// How much text of one call is read, in bytes, keys included.
const MAX_TEXT: usize = 256 * 1024;
/// How many leaves of one call are read.
const MAX_LEAVES: usize = 100_000;
/// How deep a call is read. The wire refuses deeper calls.
const MAX_DEPTH: usize = 64;
/// How deep JSON in a string of JSON is followed.
const MOST_TEXTS_IN_TEXTS: usize = 4;

/// What reading a statement costs besides its bytes: the readers take some time even for the shortest.
const STATEMENT: usize = 128;

/// What every argument would do that holds a text in a language we read, in their order.
pub fn found(tool: Option<&Tool>, arguments: &Value) -> Vec<Analysis> {
    found_as_said(tool, &said_of(tool), arguments)
}

/// The same, given what the tool's words say.
pub fn found_as_said(tool: Option<&Tool>, said: &Said, arguments: &Value) -> Vec<Analysis> {
    ArgumentReader::over(tool, said, arguments, None).found
}

/// The texts of statements and commands among the arguments, each as [`found`] read it, part by part.
pub fn readings(tool: Option<&Tool>, arguments: &Value) -> Vec<Reading> {
    ArgumentReader::over(tool, &said_of(tool), arguments, Some(Vec::new())).readings.unwrap_or_default()
}

fn said_of(tool: Option<&Tool>) -> Said {
    tool.map(Said::of).unwrap_or_default()
}

struct ArgumentReader<'a> {
    tool: Option<&'a Tool>,
    said: &'a Said,
    found: Vec<Analysis>,
    /// The texts part by part, where they are wanted for display.
    readings: Option<Vec<Reading>>,
    schema: Schema<'a>,
    /// How many texts of JSON we are in.
    inner: usize,
    left: usize,
    leaves: usize,
}

/// What is known of a value by the names above it.
#[derive(Clone, Debug, Default)]
struct At<'n> {
    name: &'n str,
    key: Key,
    /// The address beside it, for the eye.
    url: Option<&'n str>,
}

impl<'a> ArgumentReader<'a> {
    fn over(tool: Option<&'a Tool>, said: &'a Said, arguments: &'a Value, readings: Option<Vec<Reading>>) -> Self {
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

    fn value(&mut self, at: &At<'_>, place: &Schemas<'a>, value: &Value, depth: usize) {
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

    fn object(&mut self, at: &At<'_>, place: &Schemas<'a>, fields: &Map<String, Value>, depth: usize) {
        if at.key.possible.has(Language::MongoDb)
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
            && let Some(method) = choice::overriding(name, value)
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
        place: &Schemas<'a>,
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
        let (below, declared) = self.schema.field(place, name);
        let read_ahead = self.said.parameter(name).filter(|_| depth == 0);
        let key = read_ahead.unwrap_or_else(|| {
            let mut key = Key::of(name);
            // Code stays code below its name, and undeclared options stay options.
            if above.key.role == Role::Code || (above.key.role == Role::Options && declared == Declared::Free) {
                key.role = above.key.role;
            }
            key.described(self.tool, self.said, &below)
        });
        self.value(&At { name, key, url }, &below, field, depth + 1);
    }

    /// A method that a header or an address puts in the place of the request's own.
    fn method(&mut self, name: &str, method: &str) {
        let change = choice::changing(Choice::Method, method);
        if change.is_some() {
            self.push(Language::Http, name, choice::request(method, None, change));
        }
    }

    /// Takes so many bytes of text from what is left; false, and said once, where that is not enough.
    fn spend(&mut self, bytes: usize) -> bool {
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
            && let Some(method) = choice::overriding(name, value)
        {
            self.method(name, method);
        }
        let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        let runs = at.key.possible.has(Language::Shell) || at.key.possible.has(Language::Redis);
        let is_one = runs && !items.is_empty() && !at.name.ends_with(['s', 'S']);
        words.is_some_and(|words| is_one && self.command_of_words(at, &words))
    }

    /// Reads `{ command: "rm", args: ["-rf", "/"] }` as one command; returns the two keys.
    fn command_with_words(&mut self, fields: &Map<String, Value>) -> Option<[&'static str; 2]> {
        let words = ["args", "argv", "arguments"].into_iter().find_map(|key| Some((key, fields.get(key)?.as_array()?)));
        let program = ["command", "cmd", "program", "executable"]
            .into_iter()
            .find_map(|key| Some((key, fields.get(key)?.as_str()?)));
        let (Some((list, words)), Some((key, program))) = (words, program) else { return None };
        let all: Vec<&str> =
            std::iter::once(program).chain(words.iter().filter_map(Value::as_str)).take(1_000).collect();
        let at = At { name: key, key: Key::of(key).described(self.tool, self.said, &[]), url: None };
        self.command_of_words(&at, &all).then_some([key, list])
    }

    fn command_of_words(&mut self, at: &At<'_>, words: &[&str]) -> bool {
        let is_shell = at.key.possible.has(Language::Shell) || shell::plainly_changes(&words.join(" "));
        if at.key.possible.has(Language::Redis) {
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
    fn read(&mut self, language: Language, key: &str, text: &str, found: Meaning, parts: impl FnOnce() -> Vec<Part>) {
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
    fn push(&mut self, language: Language, key: &str, found: Meaning) {
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

    fn text(&mut self, at: &At<'_>, place: &Schemas<'a>, text: &str, depth: usize) {
        if !self.spend(text.len()) {
            return;
        }
        let is_listed = self.schema.lists(place, text);
        let is_chosen = self.chooses(at, place, text, is_listed);
        // Without one of these no text replaces a method or is code.
        if text.contains([':', '=']) {
            if let Some(method) = choice::overriding_line(text).or_else(|| choice::method_of_query(text)) {
                return self.method(at.name, method);
            }
            if let Some(found) = choice::code(text) {
                return self.push(Language::Http, at.name, found);
            }
        }
        if !is_chosen && !is_listed && !self.json(at, text, depth) {
            self.statement(at, text);
        }
    }

    /// Notes what a text chooses, where its name says that it does. Whether it is that alone, and no statement.
    fn chooses(&mut self, at: &At<'_>, place: &Schemas<'a>, text: &str, is_listed: bool) -> bool {
        let choice = at.key.choice;
        if choice == Choice::Nothing || text.trim().is_empty() {
            return false;
        }
        if matches!(choice, Choice::Method | Choice::Act) {
            let mut listed = place.iter().filter_map(|schema| schema.get("enum")?.as_array()).flatten();
            // Among others of which none is a method or a change (`pearson`, `kendall`), an unknown word is no method.
            let is_harmless = is_listed && !listed.any(|value| value.as_str().is_some_and(choice::is_act));
            let change = choice::changing(if is_harmless { Choice::Act } else { choice }, text);
            match (choice, change) {
                // `merge_method: "squash"` is no request.
                (Choice::Method, change)
                    if choice::is_http(text)
                        || change == Some(Action::Unknown)
                        || at.url.is_some() && change.is_some() =>
                {
                    self.push(Language::Http, at.name, choice::request(text, at.url, change));
                }
                (_, Some(action)) => {
                    let effect = Effect::of(action);
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
        let is_alone = choice != Choice::Named || at.key.possible.is_empty() || choice::is_known_read(text);
        if is_alone {
            self.command(at, text);
        }
        is_alone
    }

    /// JSON inside a text is read as what it holds: a body, a batch of requests. Whether it was JSON.
    fn json(&mut self, at: &At<'_>, text: &str, depth: usize) -> bool {
        let is_data =
            at.key.sure.is_empty() || at.key.sure.has(Language::MongoDb) || at.key.sure.has(Language::Elasticsearch);
        if !text.trim_start().starts_with(['{', '[']) || !is_data {
            return false;
        }
        let inner = serde_json::from_str::<Value>(text).ok().filter(|inner| inner.is_object() || inner.is_array());
        let Some(inner) = inner else { return false };
        if self.inner < MOST_TEXTS_IN_TEXTS && self.spend(text.len()) {
            self.inner += 1;
            self.value(at, &Schemas::default(), &inner, depth + 1);
            self.inner -= 1;
        }
        true
    }

    /// Notes what the readers say of a text that is, or may be, a statement.
    fn statement(&mut self, at: &At<'_>, text: &str) {
        if at.key.possible.is_empty() {
            return match at.key.role.may_run() {
                true => self.command(at, text),
                false => self.by_shape(at, text),
            };
        }
        // One word is no condition of any language, unless it is a statement by itself.
        let is_word = || text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_part = match at.key.role {
            Role::Names => is_plain(text),
            Role::Condition => is_word() && !grammar::is_statement(text),
            Role::Plain | Role::Open | Role::Command | Role::Options | Role::Code => false,
        };
        if is_part || !self.spend(STATEMENT) {
            return;
        }
        let read = |language| Some((language, read(language, text, at)?));
        let found: Vec<(Language, Meaning)> = at.key.possible.each().filter_map(read).collect();
        let worst = found.iter().max_by_key(|(_, found)| (found.effect, found.action.caution()));
        let Some((language, worst)) = worst.cloned() else { return };
        // What is not read to its end is noted where it is sure to be of this language: words to look for and conditions are no
        // statement of one that only a description names.
        let is_noted = match worst.effect {
            Effect::Unlisted | Effect::Unknown => {
                let may_be_words = at.key.sure.is_empty() && is_plain(text) && !graphql::begins(text);
                at.key.possible == Languages::of(language) && at.key.role != Role::Condition && !may_be_words
            }
            // What only reads in one language may change something in another that we do not read.
            Effect::ReadHere | Effect::ReadElsewhere => at.key.possible.each().all(is_read),
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
        if changes || sql::begins(text) && grammar::is_statement(text) {
            let found = sql::read(text, at.key.dialect).meaning;
            if changes || found.effect.reads() {
                self.note(Language::Sql, at, text, found);
            }
        }
    }

    /// A command line that plainly destroys, whatever the tool says it runs.
    fn command(&mut self, at: &At<'_>, text: &str) {
        if at.key.possible.is_empty() && shell::plainly_changes(text) {
            self.note(Language::Shell, at, text, shell::read(text));
        }
    }

    fn note(&mut self, language: Language, at: &At<'_>, text: &str, found: Meaning) {
        match language {
            Language::Sql => self.read(language, at.name, text, found, || sql::parts(text, at.key.dialect)),
            Language::Shell => self.read(language, at.name, text, found, || shell::parts(text)),
            _ => self.push(language, at.name, found),
        }
    }
}

/// Reads a text in one language; `None` where no program of that language would take it, or nothing in it is known.
fn read(language: Language, text: &str, at: &At<'_>) -> Option<Meaning> {
    let is_alone = at.key.possible == Languages::of(language);
    match language {
        Language::Sql => {
            let found = Some(sql::read(text, at.key.dialect).meaning);
            found.filter(|found| found.effect.reads() || is_alone || !graphql::begins(text))
        }
        Language::GraphQl => Some(graphql::read(text)).filter(|found| is_alone || !graphql::is_none(found)),
        Language::Shell => Some(shell::read(text)),
        // Redis' own SELECT takes one number.
        Language::Redis if sql::begins(text) && text.split_whitespace().count() > 2 => None,
        _ => grammar::change(language, text),
    }
}

/// Whether a text of this language is read to its end, or is none of it.
fn is_read(language: Language) -> bool {
    use Language::{Filter, GraphQl, MongoDb, Redis, Sql};
    matches!(language, Sql | GraphQl | Redis | MongoDb | Filter)
}

/// Whether a text is one line of words, names and comparisons, and has the shape of no statement.
fn is_plain(text: &str) -> bool {
    let calls = text.as_bytes().windows(2).any(|pair| matches!(pair, [before, b'('] if *before != b' '));
    text.contains(char::is_alphanumeric)
        && text.chars().all(|c| c.is_alphanumeric() || " _-.,:'\"@#/=<>!?&+%()[]{}*".contains(c))
        && !["--", "/*", "*/"].iter().any(|comment| text.contains(comment))
        && !calls
        && !grammar::is_statement(text)
        && !sql::plainly_changes(text)
}
