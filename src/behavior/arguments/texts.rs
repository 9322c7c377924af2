//! Judges one text among the arguments: what it chooses, which statement it is, which closed kind explains it.

use serde_json::Value;

use super::choice::{self, Choice, Choices};
use super::effect::{Effect, Language, Meaning};
use super::explain::key::{self, Acts, Role};
use super::explain::place::{Declared, Place};
use super::explain::shape::{self, Reads};
use super::explain::{Kind, address, carried, encoded, prose, text};
use super::statement::{self, Joined};
use super::walk::{At, Walk};
use super::{grammar, graphql, http, shell, sql};
use crate::behavior::signs::Signs;
use crate::behavior::taxonomy::Action;
use crate::behavior::words;
use crate::wire::fields::member;
use crate::wire::strict::Reader;

/// How deep JSON in a string of JSON is followed; deeper ones are not explained.
const MOST_TEXTS_IN_TEXTS: usize = 4;

/// What reading a statement costs besides its bytes: the readers take some time even for the shortest.
const STATEMENT: usize = 128;

const CONDITION: Kind = Kind::Borrowed("a condition");
const IN_FIELDS: Kind = Kind::Borrowed("words to search for, some in fields");

/// Why a leaf is not explained.
type Why = &'static str;

impl<'a> Walk<'a> {
    /// The kind that explains a text, or why none does.
    pub(super) fn text(&mut self, at: &At<'_>, place: &Place<'a>, text: &str, depth: usize) -> Result<Kind, Why> {
        if !self.spend(text.len()) {
            return Err("is too long to be read");
        }
        let is_listed = self.schema.lists(place, text);
        let chosen = self.choice(at, place, text, is_listed);
        let signs = Signs::of(text);
        let assigns = signs.has(http::ASSIGNS);
        let overrides = || http::overriding_line(text).or_else(|| http::method_of_query(text));
        if let Some(method) = if assigns { overrides() } else { None } {
            self.method(at.name, method);
            return Err("replaces the request's own method");
        }
        if let Some(found) = if assigns { http::code(text) } else { None } {
            self.push(Language::Http, at.name, found);
            return Err("is an address that runs code");
        }
        if let Some(chosen) = chosen {
            return chosen;
        }
        match at.key.acts {
            Acts::Changes if key::is_true(text) || at.name.eq_ignore_ascii_case("mark") => {
                return Err("turns a change on");
            }
            Acts::Holds if key::is_false(text) => return Err("permits a change"),
            Acts::Changes | Acts::Holds | Acts::No => {}
        }
        if is_listed {
            // Sorts of events are listed as well, so a filter by one of them asks.
            let reads = !choice::is_change(text);
            return if reads { Ok(Kind::Borrowed("one of the tool's choices")) } else { Err("chooses a change") };
        }
        // `env: "prod"`: one of the operator's environments, and no setting of a variable.
        let is_word = || text.len() <= 40 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if matches!(at.name, "env" | "environment") && is_word() {
            return Ok(Kind::Borrowed("an identifier"));
        }
        if let Some(judged) = self.json(at, text, depth) {
            return judged;
        }
        if at.key.role == Role::Headers && !http::is_plain_line(text) {
            return Err("is a header that is not known to be harmless");
        }
        match self.statement(at, text, signs) {
            Some(judged) => judged,
            None if at.declared == Declared::Free && text.contains('/') && names_a_host(text) => {
                Err("may be an address without its scheme")
            }
            None => self.of_shape(at, place, text, depth),
        }
    }

    /// What explains a text that is no statement: its own shape, and what it hides.
    fn of_shape(&mut self, at: &At<'_>, place: &Place<'a>, text: &str, depth: usize) -> Result<Kind, Why> {
        let kind = match text::of_read(text, at.key.role, self.reads(at), 0) {
            // `acme%2Fplatform`.
            Err(why) if text.contains('%') => match address::decoded(text).filter(|plain| !plain.contains('%')) {
                Some(plain) => text::of_read(&plain, at.key.role, self.reads(at), 0).map_err(|_| why)?,
                None => return Err(why),
            },
            judged => judged?,
        };
        match kind {
            "a web address" => self.carried.address(text.trim_matches(' '))?,
            // `//host/path`: a browser adds the scheme of the current page.
            "a path and its query" if text.starts_with("//") => self.carried.address(text.trim_start_matches('/'))?,
            "a path and its query" => self.carried.path(text)?,
            _ if at.key.role == Role::Headers => carried::header(at.name, text)?,
            _ if (at.key.role == Role::Address || names_a_site(at.name)) && is_host(kind, text) => {
                self.carried.address(text)?;
            }
            _ => {}
        }
        let may_be_one = matches!(at.key.role, Role::Open | Role::Condition);
        if kind == "plain words" && may_be_one && (self.said.runs || acts_on_a_record(text)) {
            return Err("may be a statement in an unnamed language");
        }
        let hidden = if kind == "an identifier" { encoded::text(text) } else { None };
        if let Some(hidden) = hidden {
            if self.inner >= MOST_TEXTS_IN_TEXTS || !self.spend(hidden.len()) {
                return Err("holds encoded text nested too deeply to be read");
            }
            self.inner += 1;
            let judged = self.text(at, place, &hidden, depth + 1);
            self.inner -= 1;
            return judged.map_err(|_| "is encoded text that is not explained");
        }
        Ok(Kind::Borrowed(kind))
    }

    /// What a text chooses, where its name says that it does.
    fn choice(&mut self, at: &At<'_>, place: &Place<'a>, text: &str, is_listed: bool) -> Option<Result<Kind, Why>> {
        let choice = at.key.choice;
        if choice == Choice::Nothing || text.trim().is_empty() {
            return None;
        }
        let listed = place.schemas.iter().filter_map(|schema| member(schema, "enum")?.as_array()).flatten();
        let choices = if is_listed { choice::choices(listed.filter_map(Value::as_str)) } else { Choices::Acts };
        if matches!(choice, Choice::Method | Choice::Act) {
            let change = choice::changing(choice, text, choices);
            match (choice, change) {
                (Choice::Method, Some(_)) => self.push(Language::Http, at.name, http::request(text, at.url, change)),
                (Choice::Method, None) if choice::is_http(text) => {
                    self.push(Language::Http, at.name, http::request(text, at.url, None));
                }
                (_, Some(action)) => {
                    let effect = if action == Action::Unknown { Effect::Unknown } else { Effect::Write };
                    let says = format!("{}: {}", at.name, text.trim().chars().take(40).collect::<String>());
                    self.push(Language::Act, at.name, Meaning::new(effect, action, text.trim(), says));
                }
                (_, None) => {}
            }
            if change.is_some() {
                return Some(Err("chooses a change or an unknown action"));
            }
        }
        if is_listed && !matches!(choice, Choice::Act | Choice::Runs) {
            return None;
        }
        if choice == Choice::Runs {
            return choice::names_a_change(text).then_some(Err("names an action that changes something"));
        }
        let reads = choice::is_known_read(text) || (choice == Choice::Method && choice::is_http(text));
        match choice {
            _ if reads => Some(Ok(Kind::Borrowed("an action that reads"))),
            Choice::Sort if choice::is_known_sort(text) => Some(Ok(Kind::Borrowed("a kind of thing"))),
            // A command line of a language has a reader of its own.
            Choice::Named if !at.possible.is_empty() => None,
            // What is listed is no change that is known; that it reads is not known either.
            Choice::Act if is_listed => Some(Err("chooses an action that is not known to only read")),
            Choice::Method | Choice::Act | Choice::Named => {
                self.command(at, text);
                Some(Err("chooses an action that is not known to only read"))
            }
            Choice::Sort => Some(Err("chooses an unknown kind of thing or action")),
            Choice::Runs | Choice::Nothing => None,
        }
    }

    /// JSON inside a text is read as what it holds: a body, a batch of requests.
    fn json(&mut self, at: &At<'_>, text: &str, depth: usize) -> Option<Result<Kind, Why>> {
        let trimmed = text.trim_start();
        let is_data = at.sure.is_empty() || at.sure.has(Language::MongoDb) || at.sure.has(Language::Elasticsearch);
        if !trimmed.starts_with(['{', '[']) || !is_data {
            return None;
        }
        let inner = serde_json::from_str::<Value>(text).ok().filter(|inner| inner.is_object() || inner.is_array())?;
        if self.inner >= MOST_TEXTS_IN_TEXTS || !self.spend(text.len()) {
            return Some(Err("holds JSON in JSON, nested too deeply to be read"));
        }
        // Where a key comes twice, programs differ in which they take.
        let strict = Reader::new(text.as_bytes()).and_then(|mut reader| {
            reader.skip()?;
            reader.end()
        });
        if strict.is_err() {
            self.unexplained("holds JSON that programs parse differently");
        }
        self.inner += 1;
        self.value(at, &Place::default(), &inner, depth + 1);
        self.inner -= 1;
        Some(Ok(Kind::Borrowed("JSON, each part explained on its own")))
    }

    /// What the readers say of a text that is, or may be, a statement.
    fn statement(&mut self, at: &At<'_>, text: &str, signs: Signs) -> Option<Result<Kind, Why>> {
        if signs.has(http::ASSIGNS) && http::act_of_form(text).is_some() {
            return Some(Err("chooses an action that is not known to only read"));
        }
        let may = at.key.role.may_state() || at.name.eq_ignore_ascii_case("text");
        if at.possible.is_empty() {
            if at.key.role.may_run() {
                self.command(at, text);
                return None;
            }
            return self.by_shape(at, text, may);
        }
        if at.key.role == Role::Names && text::of(text, Role::Names, 0).is_ok() {
            return None;
        }
        if matches!(at.key.role, Role::Condition | Role::Selector) {
            if grammar::filter::reads(text) {
                return Some(Ok(CONDITION));
            }
            // One word is no condition of any language, unless it is a statement by itself.
            let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if is_word && !shape::is_statement(text, Reads::Statements) {
                return None;
            }
        }
        if !self.spend(STATEMENT) {
            return Some(Err("is too long to be read"));
        }
        let joined = statement::read(at.possible, text, at.dialect);
        // A condition by itself is no statement of a language that only a description names.
        let may_be_one = at.sure.is_empty() && may && !at.possible.has(Language::Other);
        if matches!(joined, Joined::Unread(_)) && may_be_one {
            if grammar::filter::reads(text) {
                return Some(Ok(CONDITION));
            }
            if self.are_words_in_fields(at, text) {
                return Some(Ok(IN_FIELDS));
            }
        }
        match joined {
            Joined::Reads(language, _) if statement::may_be_a_command(language, text, at.key.choice) => {
                Some(Err("is one word, and may be a command"))
            }
            Joined::Reads(language, found) => {
                let kind = kind_of(language, &found);
                self.read_statement(language, at, text, found);
                Some(Ok(kind))
            }
            Joined::Changes(language, found) => {
                self.read_statement(language, at, text, found);
                Some(Err("is a statement or a command that changes or runs something"))
            }
            // A tool that looks for words, whose description alone speaks of a language.
            Joined::Unread(_) if self.are_words(at, text) => None,
            Joined::Unread(one) => {
                if let Some((language, found)) = one.filter(|(language, _)| was_always_read(*language, at)) {
                    self.read_statement(language, at, text, found);
                }
                Some(Err("may be a statement, and no parser read it to its end"))
            }
            Joined::Foreign => None,
        }
    }

    /// A text in no language that anything names.
    fn by_shape(&mut self, at: &At<'_>, text: &str, may: bool) -> Option<Result<Kind, Why>> {
        if may {
            if graphql::plainly_changes(text) {
                self.read_statement(Language::GraphQl, at, text, graphql::read(text));
                return Some(Err("is a statement that changes something"));
            }
            if sql::plainly_changes(text) {
                self.read_statement(Language::Sql, at, text, sql::read(text, at.dialect).meaning);
                return Some(Err("is a statement, or looks like one"));
            }
            if grammar::filter::reads(text) {
                return Some(Ok(CONDITION));
            }
            if self.are_words_in_fields(at, text) {
                return Some(Ok(IN_FIELDS));
            }
        }
        let shape = statement::by_shape(text);
        let is_statement = || {
            shape.has(Language::GraphQl) || shape.has(Language::MongoDb) || shape::is_statement(text, self.reads(at))
        };
        if shape.is_empty() || !is_statement() {
            return None;
        }
        match statement::read(shape, text, at.dialect) {
            Joined::Reads(language, found) => {
                let kind = kind_of(language, &found);
                self.read_statement(language, at, text, found);
                Some(Ok(kind))
            }
            Joined::Changes(..) | Joined::Unread(_) => Some(Err("is a statement, or has the shape of one")),
            Joined::Foreign => None,
        }
    }

    /// A command line that plainly destroys, whatever the tool says it runs.
    fn command(&mut self, at: &At<'_>, text: &str) {
        if at.possible.is_empty() && shell::plainly_changes(text) {
            self.read_statement(Language::Shell, at, text, shell::read(text));
        }
    }

    fn read_statement(&mut self, language: Language, at: &At<'_>, text: &str, found: Meaning) {
        match language {
            Language::Sql => self.read(language, at.name, text, found, || sql::parts(text, at.dialect)),
            Language::Shell => self.read(language, at.name, text, found, || shell::parts(text)),
            _ => self.push(language, at.name, found),
        }
    }

    /// Whether a statement may be expected under this name.
    fn reads(&self, at: &At<'_>) -> Reads {
        if at.key.role == Role::Open && !self.said.searches { Reads::Statements } else { Reads::Words }
    }

    /// Whether a text is words to look for, some in fields. `delete person:7` is not: its first word is an act, and
    /// some databases run it.
    fn are_words_in_fields(&self, at: &At<'_>, text: &str) -> bool {
        let first = || text.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        grammar::search::reads(text)
            && !self.said.runs
            && !shape::is_statement(text, self.reads(at))
            && !choice::changes(&first().to_lowercase())
    }

    /// Whether words are looked for: the tool's own name says so, no name says a language, and the text is prose alone.
    fn are_words(&self, at: &At<'_>, text: &str) -> bool {
        at.sure.is_empty()
            && self.said.searches
            && prose::is_plain(text)
            && !shape::is_statement(text, Reads::Statements)
            && !sql::plainly_changes(text)
    }
}

/// Whether a text is an act and a record or a key by its name: `unlink user:1`.
fn acts_on_a_record(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let acts = words.next().is_some_and(|first| choice::changes(&first.to_lowercase()));
    acts && words.next().is_some_and(|next| next.contains(':') && !next.ends_with(':'))
}

/// Whether a text is a host and a path on it: `example.org/solr`.
fn names_a_host(text: &str) -> bool {
    let (host, _) = text.split_once('/').unwrap_or((text, ""));
    let end = host.rsplit('.').next().unwrap_or_default();
    host.contains('.') && !host.starts_with('.') && end.len() >= 2 && end.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Whether a text of this kind is a host where an address is expected: also with a port, a query or a fragment, by its number,
/// or in another script.
fn is_host(kind: &str, text: &str) -> bool {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let authority = text.get(..end).unwrap_or(text);
    let has_port = authority.split_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    let is_other = matches!(kind, "a number" | "a version" | "a time" | "numbers") || text.contains(' ');
    names_a_host(text) || (!is_other && !authority.starts_with('.') && (has_port || authority.contains('.')))
}

/// Whether a name says that a text may be the host of a page or a name to look up: `site`, `domain_name`.
fn names_a_site(name: &str) -> bool {
    let is_site =
        |word: &String| words::among(word, "site sites domain domains hostname hostnames fqdn page pages web");
    words::of_name(name).iter().any(is_site)
}

/// How a statement that reads is called.
pub(super) fn kind_of(language: Language, found: &Meaning) -> Kind {
    let name = match language {
        Language::Sql => "SQL, ",
        Language::GraphQl => "GraphQL, ",
        Language::MongoDb => "MongoDB, ",
        Language::Redis => "Redis, ",
        _ => "",
    };
    Kind::Owned(format!("{name}{}", found.says))
}

/// Whether a text in this language that was not read counts as an unknown one: such a call is dangerous, not only
/// unexplained.
fn was_always_read(language: Language, at: &At<'_>) -> bool {
    matches!(language, Language::Sql | Language::GraphQl | Language::Redis)
        && !matches!(at.key.role, Role::Condition | Role::Selector)
}
