//! What is new about one call, by one walk over its arguments: each leaf is proven by the role of its key, agreed to, or new.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::address::{self, Address, Bare};
use super::form::{self, StatementForm, Takes};
use super::key::{Key, Keys, Role, Roles};
use super::place::{self, PathStates, PathVerdict, Places};
use crate::behavior::agreed::{Agreement, Agreements, Kind, What};
use crate::behavior::arguments::base::{self, Bases};
use crate::behavior::arguments::schema::{Declared, Schema, Schemas};
use crate::behavior::arguments::{choice, grammar, path::visit};
use crate::behavior::{secrets, words};
use crate::capability::names::shortened;
use crate::mcp::Tool;
use crate::wire::fold::in_pointer;

/// How many leaves of one call are looked at, and how much text, in bytes.
const MOST_LEAVES: usize = 10_000;
const MOST_TEXT: usize = 256 * 1024;
/// Deeper arguments ask.
const DEEPEST: usize = 16;
/// How much of a value a line shows, and how long a value may be to be agreed to.
const SHOWN: usize = 60;
const LONGEST: usize = 4096;
/// Kinds are offered from this many values of the kind on.
const ENOUGH: usize = 2;
const ANSWER: Takes = Takes { search: true, slash: true, words: true };
/// How many leaves are listed as explained.
const LISTED: usize = 32;

/// How many new things of one call are listed one by one, and may be agreed to with one key.
pub const MOST: usize = 8;

/// One thing that is new about a call. Texts in it are foreign, raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct New {
    pub pointer: String,
    /// What it is, in one line: `charge = true`, `the host example.com`.
    pub says: String,
    /// What the operator may agree to, so that it is not new again; `None` where it asks every time.
    pub agree: Option<Agreement>,
    /// Any text under its key, where that may be agreed to.
    pub any: Option<Agreement>,
}

/// What is new about one call, and what makes the rest pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The first of what is new, in the order of the arguments.
    pub new: Vec<New>,
    pub more: usize,
    /// How each leaf that is not new is explained: its pointer, and a closed kind of ours.
    pub explained: Vec<(String, &'static str)>,
    pub used: Vec<Agreement>,
    /// The paths that this depends on: the shell has to look at all of them before it counts.
    pub wanted: Vec<String>,
}

impl Shape {
    pub fn holds(&self) -> bool {
        self.new.is_empty()
    }

    /// One line on what is new: `charge = true; the host example.com`. Foreign text in it, raw.
    pub fn line(&self) -> String {
        let mut all: Vec<&str> = self.new.iter().map(|one| one.says.as_str()).collect();
        let more = format!("{} more", self.more);
        if self.more > 0 {
            all.push(&more);
        }
        all.join("; ")
    }

    /// What every leaf is, for the record: what is new first.
    pub fn words(&self) -> String {
        let mut words = if self.holds() { String::new() } else { format!("new here: {}", self.line()) };
        for (pointer, kind) in &self.explained {
            words.push_str(if words.is_empty() { "" } else { "; " });
            words.push_str(pointer.strip_prefix('/').unwrap_or(pointer));
            words.push_str(": ");
            words.push_str(kind);
        }
        words
    }

    /// Everything that one key may agree to; `None` where something asks every time, or is not listed.
    pub fn agreements(&self) -> Option<Vec<Agreement>> {
        let all: Option<Vec<Agreement>> = self.new.iter().map(|one| one.agree.clone()).collect();
        all.filter(|all| !all.is_empty() && self.more == 0)
    }

    /// Any text under every key whose text is new; `None` where something else is new too.
    pub fn any_text(&self) -> Option<Vec<Agreement>> {
        let all: BTreeSet<Agreement> = self.new.iter().map(|one| one.any.clone()).collect::<Option<_>>()?;
        (!all.is_empty() && self.more == 0).then(|| all.into_iter().collect())
    }

    pub fn asks(&mut self, pointer: &str, says: impl Into<String>) {
        self.add(New { pointer: pointer.to_owned(), says: says.into(), agree: None, any: None });
    }

    fn add(&mut self, new: New) {
        if self.new.len() < MOST {
            self.new.push(new);
        } else {
            self.more += 1;
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    pub agreed: &'a Agreements,
    pub places: &'a Places,
    /// The folders that the host declared, absolute.
    pub roots: &'a [String],
    /// What the shell found of the paths; a path that is not among them is to be looked at.
    pub path_states: &'a PathStates,
}

/// What is new about one call of a tool. `tool` and `keys` are of one definition.
pub fn of_call<'a>(tool: Option<&'a Tool>, keys: &'a Keys, arguments: &'a Value, known: Known<'a>) -> Shape {
    let mut walk = NewFinder {
        keys,
        known,
        schema: Schema::new(tool.map(|tool| &tool.input_schema)),
        shape: Shape::default(),
        pointer: String::with_capacity(64),
        leaves: MOST_LEAVES,
        text: MOST_TEXT,
        arguments,
        bases: None,
    };
    match arguments {
        Value::Object(fields) => {
            let top = walk.schema.top();
            walk.fields(&top, fields, None, 0);
        }
        Value::Null => {}
        _ => walk.shape.asks("", "arguments that are not an object"),
    }
    walk.shape
}

/// What asks among a user's answers to a server's questions: whatever is no plain word, number, time or short text.
pub fn of_answers(answers: &Value) -> Shape {
    let mut shape = Shape::default();
    let mut leaves = MOST_LEAVES;
    let _ = visit(answers, "", &mut String::new(), &mut |pointer, name, value| {
        leaves -= 1;
        if leaves == 0 {
            shape.asks("", "more than is read of one call");
            return ControlFlow::Break(());
        }
        let says_yes = !matches!(value, Value::Null | Value::Bool(false) | Value::Object(_) | Value::Array(_));
        let changes = says_yes && words::of_name(name).iter().any(|word| choice::changes(word));
        let is_plain = value.as_str().is_none_or(|text| {
            form::fits(text, Roles::answer(), ANSWER)
                && address::read(text, Bare::Counts) == Address::None
                && secrets::spans(text).is_empty()
        });
        if changes || !is_plain {
            let text = value.as_str().filter(|_| !changes).map_or_else(|| value.to_string(), str::to_owned);
            shape.asks(pointer, format!("{} = {}", pointer.trim_start_matches('/'), shortened(&text, SHOWN)));
        }
        ControlFlow::Continue(())
    });
    shape
}

struct NewFinder<'a> {
    keys: &'a Keys,
    known: Known<'a>,
    schema: Schema<'a>,
    shape: Shape,
    pointer: String,
    leaves: usize,
    text: usize,
    arguments: &'a Value,
    bases: Option<Bases>,
}

/// Where a leaf is: the parameter at the top, its own key, and what that says.
#[derive(Clone, Copy)]
struct Position<'n> {
    top: &'n str,
    name: &'n str,
    key: Key,
    declared: Declared,
}

impl<'a> NewFinder<'a> {
    fn fields(&mut self, place: &Schemas<'a>, fields: &Map<String, Value>, top: Option<&str>, depth: usize) {
        for (name, value) in fields {
            let (below, declared) = self.schema.field(place, name);
            let mut key = self.keys.key(name);
            // All below what the server takes as data is that.
            if let Some(roles) = top.map(|top| self.keys.roles(top)).filter(|roles| roles.has(Role::Text)) {
                key.roles = roles;
            }
            let at = Position { top: top.unwrap_or(name), name, key, declared };
            self.below(&in_pointer(name), |walk| walk.value(at, &below, value, depth + 1));
            if self.leaves == 0 {
                return;
            }
        }
    }

    fn value(&mut self, at: Position<'_>, place: &Schemas<'a>, value: &Value, depth: usize) {
        self.leaves = self.leaves.saturating_sub(1);
        if self.leaves == 0 || depth > DEEPEST {
            return self.shape.asks(&self.pointer, "more than is read of one call");
        }
        match value {
            Value::Null if !at.key.roles.is_none() || at.declared == Declared::Named => self.explained("null"),
            _ if self.keys.is_known_read(at.name, value) => self.explained("known to read"),
            // `read_only: false` says that more than reading is wanted.
            Value::Bool(is_on) if at.key.roles.has(Role::Switch) && (*is_on || !at.key.reads_only) => {
                self.explained("a switch that reads either way");
            }
            Value::Bool(_) if is_default(place, value) => self.explained("its default"),
            Value::Number(number) if form::takes_number(at.key.roles, number.as_str()) => self.explained("a number"),
            Value::Number(_) if is_default(place, value) => self.explained("its default"),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.new_value(at, value),
            Value::String(text) => self.string(at, place, text, value),
            Value::Array(items) => {
                let below = self.schema.items(place);
                for (index, item) in items.iter().enumerate() {
                    self.below(&index.to_string(), |walk| walk.value(at, &below, item, depth + 1));
                    if self.leaves == 0 {
                        return;
                    }
                }
            }
            Value::Object(fields) if !at.key.roles.is_none() || at.key.wraps => {
                self.fields(place, fields, Some(at.top), depth);
            }
            Value::Object(_) => self.new_value(at, value),
        }
    }

    fn string(&mut self, at: Position<'_>, place: &Schemas<'a>, text: &str, value: &Value) {
        match self.text.checked_sub(text.len()) {
            Some(left) => self.text = left,
            None => return self.shape.asks(&self.pointer, "more text than is read of one call"),
        }
        if text.is_empty() {
            return self.explained("empty");
        }
        let is_short = text.len() <= 64 && !at.key.roles.has(Role::Path) && !at.key.roles.has(Role::Address);
        if is_short && is_default(place, value) {
            return self.explained("its default");
        }
        if text.len() > 8 && !secrets::spans(text).is_empty() {
            let says = format!("{}: what looks like a secret", self.name());
            return self.shape.asks(&self.pointer, says);
        }
        if at.key.roles.has(Role::Path) {
            return self.path(at, text, value);
        }
        if at.key.roles.has(Role::Text) && form::is_data(text) {
            return self.explained("a text that is data to its server");
        }
        let is_text = at.key.roles == Roles::of(Role::Search) || at.key.has_no_host;
        let bare = if is_text { Bare::No } else { Bare::Counts };
        match address::read(text, bare) {
            Address::None => {}
            Address::To(host) => return self.host(at, host, value),
            Address::File(path) if at.key.roles.has(Role::Address) => return self.path(at, &path, value),
            Address::File(_) => return self.new_value(at, value),
            Address::Asks(why) => return self.shape.asks(&self.pointer, why),
        }
        let spoken = self.keys.spoken(at.top).with(at.key.languages);
        let is_statement = || grammar::is_statement(text);
        let takes = Takes { search: self.keys.searches, slash: at.key.takes_slash, words: spoken.is_empty() };
        if form::fits(text, at.key.roles, takes) {
            // Words that are a statement by themselves, where words are looked for.
            let is_free = at.key.roles.has(Role::Search) && text.contains(' ');
            if !(is_free && is_statement() || self.chooses_an_act(at, place, text)) {
                return self.explained(kind_of(at.key.roles));
            }
        }
        match form::statement(text, spoken, self.keys.given.dialect) {
            StatementForm::None => {}
            StatementForm::Reads => return self.explained("a statement that reads"),
            StatementForm::Outline { value, says } => {
                let one = self.about(at, What::Outline, value);
                return self.agreed_or_new(at, one, says);
            }
            StatementForm::Sources { head, all } => return self.sources(at, &head, &all),
        }
        self.new_value(at, value);
    }

    /// Whether the schema lists this text among values of which one is an act, and it is not known to read. Of kinds of
    /// things a few have the name of an act: `init` among the symbols of a language.
    fn chooses_an_act(&mut self, at: Position<'_>, place: &Schemas<'a>, text: &str) -> bool {
        let listed = place.iter().filter_map(|schema| schema.get("enum")?.as_array()).flatten();
        let (mut all, mut acts) = (0, 0);
        for value in listed.filter_map(Value::as_str) {
            all += 1;
            acts += usize::from(choice::is_act(value));
        }
        let are_kinds = at.key.names_kinds && acts * 3 < all && !choice::is_act(text);
        acts > 0 && !are_kinds && !choice::is_known_read(text)
    }

    fn path(&mut self, at: Position<'_>, text: &str, value: &Value) {
        let is_plain = text.len() <= LONGEST
            && !text.contains(['*', '?', '[', '{', '$', '`', '\\', '\n', '\r', '\0', '|', '<', '>', '%', ';', '&'])
            && !text.split(char::is_whitespace).any(|word| word.starts_with('-') && word != "-")
            && text != "-"
            // An address, or a path on another machine or of another kind: `host:/path`, `msl:/path`.
            && !text.contains(":/")
            // `....//` and `..;/` are ways up to some programs.
            && !text.split('/').any(|word| word.len() > 2 && word.bytes().all(|byte| byte == b'.'));
        if !is_plain {
            return match address::read(text, Bare::No) {
                Address::File(path) if !path.contains(['*', '?', '[', '{', '$']) => self.look(at, &path, value),
                Address::To(host) => self.host(at, host, value),
                Address::Asks(why) => self.shape.asks(&self.pointer, why),
                Address::File(_) | Address::None => self.new_value(at, value),
            };
        }
        self.look(at, text, value);
    }

    fn look(&mut self, at: Position<'_>, path: &str, value: &Value) {
        let pointer = self.pointer.clone();
        if base::is_relative(path) && !self.bases().leave(&pointer) {
            return self.new_value(at, value);
        }
        self.shape.wanted.push(path.to_owned());
        let Some(path_state) = self.known.path_states.get(path) else { return self.new_value(at, value) };
        let must_exist = !self.keys.is_curated;
        match place::judge(path_state, must_exist, self.known.places, self.known.roots, self.known.agreed) {
            PathVerdict::In => self.explained("a path in a place"),
            PathVerdict::Agreed(one) => self.used(one, "a path that was agreed to"),
            PathVerdict::New(one) => {
                self.finds(one.says(), Some(one), None);
            }
            PathVerdict::Words => self.new_value(at, value),
        }
    }

    /// Whether other arguments choose the folder that relative paths start from.
    fn bases(&mut self) -> &Bases {
        self.bases.get_or_insert_with(|| Bases::of(self.arguments))
    }

    fn host(&mut self, at: Position<'_>, host: String, value: &Value) {
        let one = Agreement::of_server(What::Host, host);
        if self.keys.given.hosts.contains(&one.value) {
            self.explained("an address on a host of our list");
        } else if self.known.agreed.contains(&one) {
            self.used(one, "an address on a host that was agreed to");
        } else {
            self.finds(one.says(), Some(one), None);
        }
        // A key without a role is new besides: it may say where something is sent.
        if at.key.roles.is_none() {
            self.new_value(at, value);
        }
    }

    /// A value that no role proves: agreed to as it is or by its kind, or new.
    fn new_value(&mut self, at: Position<'_>, value: &Value) {
        let text = value.to_string();
        let is_long = text.len() > LONGEST;
        let any = self.about(at, What::Text, "");
        let of = |what, value: &str| Agreement { what, value: value.to_owned(), ..any.clone() };
        let one = of(What::Value, if is_long { "" } else { &text });
        let kind = form::kind_of(value).filter(|_| !is_long && !at.key.is_one_by_one);
        let of_kind = kind.map(|kind| of(What::Kind, kind.word()));
        let any = value.is_string().then_some(any);
        for (agreed, how) in
            [(Some(&one), "agreed to"), (any.as_ref(), "any text, agreed to"), (of_kind.as_ref(), "agreed to")]
        {
            if let Some(agreed) = agreed.filter(|agreed| !is_long && self.known.agreed.contains(agreed)) {
                return self.used(agreed.clone(), how);
            }
        }
        if is_long {
            return self.finds(format!("{}: {} bytes", self.name(), text.len()), None, any);
        }
        let mut says = format!("{} = {}", self.name(), shortened(&text, SHOWN));
        let offered = of_kind.filter(|_| kind.is_some_and(|kind| self.seen(&one, kind) >= ENOUGH));
        if let Some(of_kind) = &offered {
            says = format!("{says}, or {}", of_kind.says());
        }
        self.finds(says, Some(offered.unwrap_or(one)), any);
    }

    fn finds(&mut self, says: String, agree: Option<Agreement>, any: Option<Agreement>) {
        self.shape.add(New { pointer: self.pointer.clone(), says, agree, any });
    }

    fn below(&mut self, word: &str, then: impl FnOnce(&mut Self)) {
        let end = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(word);
        then(self);
        self.pointer.truncate(end);
    }

    fn agreed_or_new(&mut self, at: Position<'_>, one: Agreement, says: String) {
        let any = self.about(at, What::Text, "");
        if let Some(agreed) = [&one, &any].into_iter().find(|one| self.known.agreed.contains(one)) {
            return self.used(agreed.clone(), "a statement that was agreed to");
        }
        self.finds(says, Some(one), Some(any));
    }

    /// What a statement reads: each may have been agreed to with another statement.
    fn sources(&mut self, at: Position<'_>, head: &str, all: &[String]) {
        let any = self.about(at, What::Text, "");
        if self.known.agreed.contains(&any) {
            return self.used(any, "a statement that was agreed to");
        }
        let like = self.about(at, What::Outline, "");
        let agreed = self.known.agreed;
        let before: Vec<(&Agreement, Vec<&str>)> = agreed
            .iter()
            .filter(|one| one.is_like(&like))
            .filter_map(|one| Some((one, one.value.strip_prefix(head)?.split(", ").collect())))
            .collect();
        let missing: Vec<&str> = all
            .iter()
            .map(String::as_str)
            .filter(|source| !before.iter().any(|(_, known)| known.contains(source)))
            .collect();
        if !missing.is_empty() {
            let list = missing.join(", ");
            let (says, value) = (format!("SQL on {}", shortened(&list, 4 * SHOWN)), format!("{head}{list}"));
            return self.agreed_or_new(at, Agreement { value, ..like }, says);
        }
        for (one, known) in before {
            if all.iter().any(|source| known.contains(&source.as_str())) {
                self.used(one.clone(), "a statement on what was agreed to");
            }
        }
    }

    /// How many values of this kind are agreed to under the key.
    fn seen(&self, one: &Agreement, kind: Kind) -> usize {
        let kind_of = |other: &Agreement| form::kind_of(&serde_json::from_str::<Value>(&other.value).ok()?);
        self.known.agreed.iter().filter(|other| other.is_like(one) && kind_of(other) == Some(kind)).count()
    }

    fn about(&self, at: Position<'_>, what: What, value: impl Into<String>) -> Agreement {
        let words = self.pointer.split('/').map(|word| if base::is_index(word) { "*" } else { word });
        Agreement {
            what,
            tool: self.keys.tool.clone(),
            key: words.collect::<Vec<_>>().join("/"),
            schema: self.keys.schema(at.top),
            value: value.into(),
        }
    }

    fn used(&mut self, one: Agreement, kind: &'static str) {
        if !self.shape.used.contains(&one) {
            self.shape.used.push(one);
        }
        self.explained(kind);
    }

    fn explained(&mut self, kind: &'static str) {
        if self.shape.explained.len() < LISTED {
            self.shape.explained.push((self.pointer.clone(), kind));
        }
    }

    fn name(&self) -> String {
        shortened(self.pointer.strip_prefix('/').unwrap_or(&self.pointer), SHOWN).into_owned()
    }
}

fn is_default(place: &Schemas<'_>, value: &Value) -> bool {
    place.iter().any(|schema| schema.get("default") == Some(value))
}

fn kind_of(roles: Roles) -> &'static str {
    let all = [
        (Role::Search, "text to search for"),
        (Role::Id, "an id"),
        (Role::Name, "a name"),
        (Role::Number, "a number"),
        (Role::Time, "a time"),
        (Role::Sort, "an order"),
        (Role::Format, "a format"),
        (Role::Fields, "names of fields"),
        (Role::Filter, "a filter"),
        (Role::Switch, "a switch"),
    ];
    all.iter().find(|(role, _)| roles.has(*role)).map_or("plain", |(_, kind)| kind)
}
