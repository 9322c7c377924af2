//! Walks the arguments of one call once: every leaf and every key, within a budget. `texts` judges a text.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::effect::{Analysis, Language};
use super::explain::carried::{self, Carried};
use super::explain::key::{Acts, Key, Role};
use super::explain::place::{Declared, Place, Schema};
use super::explain::{Explanation, Kind, Leaves, name};
use super::findings::unread;
use super::language::Languages;
use super::memory::{Memory, Remembered};
use super::reading::Reading;
use super::said::Said;
use super::sql::Dialect;
use super::{choice, grammar, http, language, mongo};
use crate::mcp::tool::Tool;
use crate::wire::fields::{Fields, in_pointer, member};

/// How much text of one call is read, in bytes, keys included.
const MAX_TEXT: usize = 256 * 1024;
/// How many leaves of one call are read.
const MAX_LEAVES: usize = 100_000;
/// How deep a call is read. The wire refuses deeper calls.
const MAX_DEPTH: usize = 64;
/// A pointer grows no longer than this, in bytes.
const LONGEST_POINTER: usize = 1024;

pub(super) const TOO_MUCH: &str = "is too long to be read";

/// What a walk is made for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wants<'a> {
    /// A judgement, with the help of what is remembered of the tool's calls.
    Judgement(&'a Memory),
    /// The texts part by part too, for display.
    Parts,
}

pub(super) struct Walk<'a> {
    pub(super) tool: Option<&'a Tool>,
    pub(super) said: &'a Said,
    pub(super) found: Vec<Analysis>,
    pub(super) readings: Vec<Reading>,
    pub(super) explanation: Explanation,
    pub(super) schema: Schema<'a>,
    /// How many texts of JSON we are in.
    pub(super) inner: usize,
    pub(super) wants: Wants<'a>,
    /// What was not in the memory and may be added to it.
    pub(super) learnt: Vec<Remembered>,
    /// What its addresses could carry out.
    pub(super) carried: Carried,
    pub(super) pointer: String,
    pub(super) left: usize,
    pub(super) leaves: usize,
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
    /// Whether the tool's schema names it.
    pub(super) declared: Declared,
    /// The address beside it, for the eye.
    pub(super) url: Option<&'n str>,
}

impl<'a> Walk<'a> {
    pub(super) fn over(tool: Option<&'a Tool>, said: &'a Said, arguments: &'a Value, wants: Wants<'a>) -> Self {
        let mut walk = Self {
            tool,
            said,
            found: Vec::new(),
            readings: Vec::new(),
            explanation: Explanation { leaves: Leaves::with_room(), ..Explanation::default() },
            schema: Schema::new(tool.map(|tool| &tool.input_schema)),
            inner: 0,
            wants,
            learnt: Vec::new(),
            carried: Carried::default(),
            pointer: String::with_capacity(64),
            left: MAX_TEXT,
            leaves: MAX_LEAVES,
        };
        let top = walk.schema.top();
        walk.value(&At::default(), &top, arguments, 0);
        if walk.carried.leaves && walk.explanation.holds() {
            for (pointer, why) in walk.carried.beside(arguments, |_| false) {
                walk.explanation.unexplained(&pointer, why);
            }
        }
        walk
    }

    /// One value, whatever it is.
    pub(super) fn value(&mut self, at: &At<'_>, place: &Place<'a>, value: &Value, depth: usize) {
        if !self.step(depth) {
            return;
        }
        match value {
            Value::Null => self.explained("null"),
            Value::Bool(true) if at.key.acts == Acts::Changes => self.unexplained("turns a change on"),
            Value::Bool(false) if at.key.acts == Acts::Holds => self.unexplained("permits a change"),
            Value::Bool(_) => self.explained("true or false"),
            Value::Number(number) => match (at.key.acts, number.as_u64()) {
                (Acts::Changes, Some(1)) => self.unexplained("turns a change on"),
                (Acts::Holds, Some(0)) => self.unexplained("permits a change"),
                _ => self.explained("a number"),
            },
            Value::String(text) => match self.text(at, place, text, depth) {
                Ok(kind) => self.explained(kind),
                Err(why) => self.unexplained(why),
            },
            Value::Array(items) => {
                if !self.list(at, items) {
                    let place = self.schema.items(place);
                    for (index, item) in items.iter().enumerate() {
                        if self.leaves == 0 {
                            return;
                        }
                        let end = self.below(|pointer| {
                            let _ = write!(pointer, "{index}");
                        });
                        self.value(at, &place, item, depth + 1);
                        self.pointer.truncate(end);
                    }
                }
            }
            Value::Object(fields) => self.object(at, place, fields, depth),
        }
    }

    fn object(&mut self, at: &At<'_>, place: &Place<'a>, fields: &Map<String, Value>, depth: usize) {
        // A command to a database is judged as a whole: `mongo::command` looks at its parts.
        if at.possible.has(Language::MongoDb)
            && !at.name.eq_ignore_ascii_case("filter")
            && !at.name.eq_ignore_ascii_case("query")
        {
            let found = mongo::command(fields);
            if !found.effect.reads() {
                self.unexplained("is a database command that is not known to only read");
            }
            self.push(Language::MongoDb, at.name, found);
            return;
        }
        // An object where a command is expected names it by its first key.
        let is_free = !place.schemas.iter().any(|schema| member(schema, "properties").is_some());
        if at.key.role == Role::Command && is_free && !fields.is_empty() && !mongo::command(fields).effect.reads() {
            self.unexplained("may be a command");
        }
        let text = |keys: &[&str]| {
            let named = fields.iter().find(|(key, _)| keys.iter().any(|known| key.eq_ignore_ascii_case(known)));
            named.and_then(|(_, value)| value.as_str())
        };
        let known = Fields::of(fields);
        // Headers as pairs: `{ name: "X-HTTP-Method-Override", value: "DELETE" }`.
        if let Some(name) = text(&["name", "key", "header"]) {
            if let Some(method) = text(&["value"]).and_then(|value| http::overriding(name, value)) {
                self.method(name, method);
                self.unexplained("replaces the request's own method");
            } else if at.key.role == Role::Headers && !http::is_plain_header(name) {
                self.unexplained("is a header that is not known to be harmless");
            } else if at.key.role == Role::Headers
                && let Err(why) = text(&["value"]).map_or(Ok(()), |value| carried::header(name, value))
            {
                self.unexplained(why);
            }
        }
        let url = text(&["url", "uri", "endpoint", "path"]);
        let has_body = ["body", "data", "payload", "json"].iter().any(|key| known.get(key).is_some_and(is_filled));
        if has_body && url.is_some_and(grammar::elastic::takes_no_body) {
            self.unexplained("is a request with a body, and a read has none");
        }
        let paired = self.command_with_words(known);
        let act = Self::act_of_language(fields);
        for (name, field) in fields {
            if self.leaves == 0 {
                return;
            }
            let end = self.below(|pointer| pointer.push_str(&in_pointer(name)));
            if act == Some(name.as_str()) {
                self.explained("the language of the statement beside it");
            } else if !paired.is_some_and(|paired| paired.contains(&name.as_str())) {
                match (field, self.wants) {
                    (Value::String(text), Wants::Judgement(memory)) if depth == 0 && self.inner == 0 => {
                        self.remembered(memory, at, place, (name, text, field), url);
                    }
                    _ => self.field(at, place, (name, field), url, depth),
                }
            }
            self.pointer.truncate(end);
        }
    }

    pub(super) fn field(
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
        let operator = mongo::operator(name, field);
        let changes = operator.is_some();
        if let Some(found) = operator {
            self.push(Language::MongoDb, name, found);
        }
        let mut key = self.said.key(name);
        // A number, a truth value or null explains itself: the schema adds nothing.
        let is_plain = matches!(field, Value::Null | Value::Bool(_) | Value::Number(_))
            && !matches!(above.key.role, Role::Options | Role::Headers)
            && is_free_key(name, key);
        let (below, declared) =
            if is_plain { (Place::default(), Declared::Named) } else { self.schema.field(place, name) };
        let values = field.as_array().map_or(std::slice::from_ref(field), Vec::as_slice);
        if changes || (declared == Declared::Free && !is_free_key(name, key)) {
            self.unexplained("is under a key that is not a plain name");
        } else if declared == Declared::Free && above.key.role == Role::Options && !above.name.is_empty() {
            self.unexplained("may be an option of a program");
        } else if above.key.role == Role::Headers
            && !http::is_plain_header(name)
            && !matches!(name, "name" | "key" | "value" | "header")
        {
            self.unexplained("is a header that is not known to be harmless");
        } else if above.key.role == Role::Headers
            && let Some(why) =
                values.iter().filter_map(Value::as_str).find_map(|value| carried::header(name, value).err())
        {
            self.unexplained(why);
        }
        // Code stays code below its name, and undeclared options stay options.
        if matches!(above.key.role, Role::Code | Role::Script)
            || (above.key.role == Role::Options && declared == Declared::Free)
        {
            key.role = above.key.role;
        }
        let mut at = At { name, key, url, declared, ..At::default() };
        if matches!(field, Value::String(_) | Value::Array(_) | Value::Object(_)) {
            self.languages(&mut at, &below);
        }
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
            let spoken = self.said.spoken.with(&place.schemas);
            let fits = |languages: Languages| {
                let kept = languages.each().filter(|language| match language {
                    Language::Shell => role.may_run(),
                    Language::Redis => !matches!(role, Role::Condition | Role::Selector),
                    _ => role != Role::Options,
                });
                kept.map(Languages::of).fold(Languages::default(), Languages::with)
            };
            at.sure = fits(spoken.by_name);
            at.possible = fits(spoken.all());
        }
        if at.possible.has(Language::Sql) {
            at.dialect = language::dialect(tool, &place.schemas);
        }
    }

    /// A method that a header or an address puts in the place of the request's own.
    pub(super) fn method(&mut self, name: &str, method: &str) {
        let change = choice::changing(choice::Choice::Method, method, choice::Choices::Acts);
        if change.is_some() {
            self.push(Language::Http, name, http::request(method, None, change));
        }
    }

    pub(super) fn explained(&mut self, kind: impl Into<Kind>) {
        self.explanation.explained(&self.pointer, kind.into());
    }

    pub(super) fn unexplained(&mut self, why: &'static str) {
        self.explanation.unexplained(&self.pointer, why);
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
            self.unexplained(TOO_MUCH);
            self.push(Language::Unread, "", unread("more than mcp-approve reads"));
        }
    }

    /// Adds a word to the pointer; gives back where it ended before.
    fn below(&mut self, add: impl FnOnce(&mut String)) -> usize {
        let end = self.pointer.len();
        if end < LONGEST_POINTER {
            self.pointer.push('/');
            add(&mut self.pointer);
            let cut = self.pointer.floor_char_boundary(LONGEST_POINTER);
            self.pointer.truncate(cut);
        }
        end
    }
}

fn is_filled(body: &Value) -> bool {
    let is_text = body.as_str().is_some_and(|text| !text.trim().is_empty());
    is_text
        || body.as_array().is_some_and(|items| !items.is_empty())
        || body.as_object().is_some_and(|all| !all.is_empty())
}

/// Whether a key that no schema names can be a name only: no option, no operator but those that compare, no prototype.
fn is_free_key(name: &str, key: Key) -> bool {
    if name.starts_with('$') {
        return mongo::is_read_operator(name);
    }
    let plain =
        |c: char| name::is_letter(c) || matches!(c, '_' | '-' | '.' | ' ' | ':' | '[' | ']' | '(' | ')' | '*' | '#');
    name.len() <= 128
        && name.chars().next().is_some_and(|c| name::is_letter(c) || c == '*')
        && name.chars().all(plain)
        && !matches!(name, "constructor" | "prototype")
        && key.within == Acts::No
}
