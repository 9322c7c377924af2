//! What is new about one call, by one walk over its arguments: each leaf is proven by the role of its key, agreed to, or new.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::address::{self, Address, Bare};
use super::form::{self, Statement, Takes};
use super::key::{self, Keys, Role, Roles};
use super::place::{self, PathStates, Places, Verdict};
use crate::behavior::agreed::{Agreement, Agreements, Kind, What};
use crate::behavior::arguments::base::{self, Bases};
use crate::behavior::arguments::schema::{Declared, Place, Schema};
use crate::behavior::arguments::{choice, grammar};
use crate::behavior::secrets;
use crate::behavior::words;
use crate::capability::names::shortened;
use crate::mcp::tool::Tool;
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
/// What a user may answer.
const ANSWER: Takes = Takes { search: true, slash: true, words: true };
/// How many leaves are listed as explained.
const LISTED: usize = 32;

/// How many new things of one call are listed one by one, and may be agreed to with one key.
pub const MOST: usize = 8;

/// One thing that is new about a call. Texts in it are foreign, raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct New {
    /// JSON Pointer into the arguments.
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
    /// How many more things are new.
    pub more: usize,
    /// How each leaf that is not new is explained: its pointer, and a closed kind of ours.
    pub explained: Vec<(String, &'static str)>,
    /// What was agreed to and is used here.
    pub used: Vec<Agreement>,
    /// The paths that this depends on: the shell has to look at all of them before it counts.
    pub wanted: Vec<String>,
}

impl Shape {
    /// Whether nothing is new.
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

    /// Adds something that asks every time.
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

/// What a call is compared with.
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
    let mut walk = Walk {
        tool,
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
    let mut left = vec![(String::new(), "", answers)];
    let mut leaves = MOST_LEAVES;
    while let Some((pointer, key, value)) = left.pop() {
        leaves -= 1;
        if leaves == 0 {
            shape.asks("", "more than is read of one call");
            break;
        }
        let new = |text: &str| format!("{} = {}", pointer.trim_start_matches('/'), shortened(text, SHOWN));
        let says_yes = !matches!(value, Value::Null | Value::Bool(false) | Value::Object(_) | Value::Array(_));
        if says_yes && words::of_name(key).iter().any(|word| choice::changes(word)) {
            shape.asks(&pointer, new(&value.to_string()));
            continue;
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => {
                let is_plain =
                    form::fits(text, Roles::answer(), ANSWER) && address::read(text, Bare::Counts) == Address::None;
                if !is_plain || !secrets::spans(text).is_empty() {
                    shape.asks(&pointer, new(text));
                }
            }
            Value::Array(items) => {
                left.extend(items.iter().enumerate().map(|(at, item)| (format!("{pointer}/{at}"), key, item)));
            }
            Value::Object(fields) => {
                left.extend(
                    fields.iter().map(|(key, field)| (format!("{pointer}/{}", in_pointer(key)), key.as_str(), field)),
                );
            }
        }
    }
    shape
}

struct Walk<'a> {
    tool: Option<&'a Tool>,
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

/// Where a leaf is: the parameter at the top, its own key, and what that is for.
#[derive(Clone, Copy)]
struct At<'n> {
    top: &'n str,
    key: &'n str,
    roles: Roles,
    declared: Declared,
}

impl<'a> Walk<'a> {
    fn fields(&mut self, place: &Place<'a>, fields: &Map<String, Value>, top: Option<&str>, depth: usize) {
        for (key, value) in fields {
            let (below, declared) = self.schema.field(place, key);
            let text = top.map(|top| self.keys.roles(top)).filter(|roles| roles.has(Role::Text));
            let roles = text.unwrap_or_else(|| self.keys.roles(key));
            let at = At { top: top.unwrap_or(key), key, roles, declared };
            self.below(&in_pointer(key), |walk| walk.value(at, &below, value, depth + 1));
            if self.leaves == 0 {
                return;
            }
        }
    }

    fn value(&mut self, at: At<'_>, place: &Place<'a>, value: &Value, depth: usize) {
        self.leaves = self.leaves.saturating_sub(1);
        if self.leaves == 0 || depth > DEEPEST {
            return self.shape.asks(&self.pointer, "more than is read of one call");
        }
        match value {
            Value::Null if !at.roles.is_none() || at.declared == Declared::Named => self.explained("null"),
            _ if self.keys.is_known_read(at.key, value) => self.explained("known to read"),
            // `read_only: false` says that more than reading is wanted.
            Value::Bool(is_on) if at.roles.has(Role::Switch) && (*is_on || !key::reads_only(at.key)) => {
                self.explained("a switch that reads either way");
            }
            Value::Bool(_) if is_default(place, value) => self.explained("its default"),
            Value::Number(number) if form::takes_number(at.roles, number.as_str()) => self.explained("a number"),
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
            Value::Object(fields) if !at.roles.is_none() || key::wraps(at.key) => {
                self.fields(place, fields, Some(at.top), depth);
            }
            Value::Object(_) => self.new_value(at, value),
        }
    }

    fn string(&mut self, at: At<'_>, place: &Place<'a>, text: &str, value: &Value) {
        match self.text.checked_sub(text.len()) {
            Some(left) => self.text = left,
            None => return self.shape.asks(&self.pointer, "more text than is read of one call"),
        }
        if text.is_empty() {
            return self.explained("empty");
        }
        let is_short = text.len() <= 64 && !at.roles.has(Role::Path) && !at.roles.has(Role::Address);
        if is_short && is_default(place, value) {
            return self.explained("its default");
        }
        if text.len() > 8 && !secrets::spans(text).is_empty() {
            let says = format!("{}: what looks like a secret", self.name());
            return self.shape.asks(&self.pointer, says);
        }
        if at.roles.has(Role::Path) {
            return self.path(at, text, value);
        }
        if at.roles.has(Role::Text) && form::is_data(text) {
            return self.explained("a text that is data to its server");
        }
        let is_text = at.roles == Roles::of(Role::Search) || key::has_no_host(at.key);
        let bare = if is_text { Bare::No } else { Bare::Counts };
        match address::read(text, bare) {
            Address::None => {}
            Address::To(host) => return self.host(at, host, value),
            Address::File(path) if at.roles.has(Role::Address) => return self.path(at, &path, value),
            Address::File(_) => return self.new_value(at, value),
            Address::Asks(why) => return self.shape.asks(&self.pointer, why),
        }
        let spoken = self.keys.languages(at.top, at.key);
        let is_statement = || grammar::is_statement(text);
        let takes = Takes { search: self.keys.searches, slash: key::takes_slash(at.key), words: spoken.is_empty() };
        if form::fits(text, at.roles, takes) {
            // Words that are a statement by themselves, where words are looked for.
            let is_free = at.roles.has(Role::Search) && text.contains(' ');
            if !(is_free && is_statement() || self.chooses_an_act(at, place, text)) {
                return self.explained(kind_of(at.roles));
            }
        }
        match form::statement(text, spoken, self.keys.given.dialect) {
            Statement::None => {}
            Statement::Reads => return self.explained("a statement that reads"),
            Statement::Outline { value, says } => {
                let one = self.about(at, What::Outline, value);
                return self.agreed_or_new(at, one, says);
            }
            Statement::Sources { head, all } => return self.sources(at, &head, &all),
        }
        self.new_value(at, value);
    }

    /// Whether the schema lists this text among values of which one is an act, and it is not known to read. Of kinds of
    /// things a few have the name of an act: `init` among the symbols of a language.
    fn chooses_an_act(&mut self, at: At<'_>, place: &Place<'a>, text: &str) -> bool {
        let listed = place.iter().filter_map(|schema| schema.get("enum")?.as_array()).flatten();
        let (mut all, mut acts) = (0, 0);
        for value in listed.filter_map(Value::as_str) {
            all += 1;
            acts += usize::from(choice::is_act(value));
        }
        let are_kinds = key::names_kinds(at.key) && acts * 3 < all && !choice::is_act(text);
        acts > 0 && !are_kinds && !choice::is_known_read(text)
    }

    fn path(&mut self, at: At<'_>, text: &str, value: &Value) {
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

    /// A path by what the shell found there.
    fn look(&mut self, at: At<'_>, path: &str, value: &Value) {
        let pointer = self.pointer.clone();
        if base::is_relative(path) && !self.bases().leave(&pointer) {
            return self.new_value(at, value);
        }
        self.shape.wanted.push(path.to_owned());
        let Some(path_state) = self.known.path_states.get(path) else { return self.new_value(at, value) };
        let must_exist = !self.keys.is_curated;
        match place::judge(path_state, must_exist, self.known.places, self.known.roots, self.known.agreed) {
            Verdict::In => self.explained("a path in a place"),
            Verdict::Agreed(one) => self.used(one, "a path that was agreed to"),
            Verdict::New(one) => {
                self.finds(one.says(), Some(one), None);
            }
            Verdict::Words => self.new_value(at, value),
        }
    }

    /// Whether other arguments choose the folder that relative paths start from.
    fn bases(&mut self) -> &Bases {
        self.bases.get_or_insert_with(|| Bases::of(self.arguments))
    }

    fn host(&mut self, at: At<'_>, host: String, value: &Value) {
        let one = Agreement::of_server(What::Host, host);
        if self.keys.given.hosts.contains(&one.value) {
            self.explained("an address on a host of our list");
        } else if self.known.agreed.contains(&one) {
            self.used(one, "an address on a host that was agreed to");
        } else {
            self.finds(one.says(), Some(one), None);
        }
        // A key without a role is new besides: it may say where something is sent.
        if at.roles.is_none() {
            self.new_value(at, value);
        }
    }

    /// A value that no role proves: agreed to as it is or by its kind, or new.
    fn new_value(&mut self, at: At<'_>, value: &Value) {
        let text = value.to_string();
        if text.len() > LONGEST {
            let says = format!("{}: {} bytes", self.name(), text.len());
            return self.new_text(at, value, None, says);
        }
        let one = self.about(at, What::Value, text);
        if self.known.agreed.contains(&one) {
            return self.used(one, "agreed to");
        }
        if value.is_string() {
            let any = self.about(at, What::Text, "");
            if self.known.agreed.contains(&any) {
                return self.used(any, "any text, agreed to");
            }
        }
        let kind =
            form::kind_of(value).filter(|_| !words::of_name(at.key).iter().any(|word| address::is_destination(word)));
        let of_kind = kind.map(|kind| self.about(at, What::Kind, kind.word()));
        if let Some(of_kind) = of_kind.as_ref().filter(|of_kind| self.known.agreed.contains(of_kind)) {
            return self.used(of_kind.clone(), "agreed to");
        }
        let offered = match (of_kind, kind) {
            (Some(of_kind), Some(kind)) if self.seen(&one, kind) >= ENOUGH => of_kind,
            _ => one.clone(),
        };
        let says = if offered.what == What::Kind {
            format!("{} = {}, or {}", self.name(), shortened(&one.value, SHOWN), offered.says())
        } else {
            format!("{} = {}", self.name(), shortened(&one.value, SHOWN))
        };
        self.new_text(at, value, Some(offered), says);
    }

    fn new_text(&mut self, at: At<'_>, value: &Value, agree: Option<Agreement>, says: String) {
        let any = value.is_string().then(|| self.about(at, What::Text, ""));
        self.finds(says, agree, any);
    }

    fn finds(&mut self, says: String, agree: Option<Agreement>, any: Option<Agreement>) {
        self.shape.add(New { pointer: self.pointer.clone(), says, agree, any });
    }

    /// Does this with one word more in the pointer.
    fn below(&mut self, word: &str, then: impl FnOnce(&mut Self)) {
        let end = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(word);
        then(self);
        self.pointer.truncate(end);
    }

    fn agreed_or_new(&mut self, at: At<'_>, one: Agreement, says: String) {
        let any = self.about(at, What::Text, "");
        if let Some(agreed) = [&one, &any].into_iter().find(|one| self.known.agreed.contains(one)) {
            return self.used(agreed.clone(), "a statement that was agreed to");
        }
        self.finds(says, Some(one), Some(any));
    }

    /// What a statement reads: each may have been agreed to with another statement.
    fn sources(&mut self, at: At<'_>, head: &str, all: &[String]) {
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

    /// An agreement about the parameter where we are.
    fn about(&self, at: At<'_>, what: What, value: impl Into<String>) -> Agreement {
        let words = self.pointer.split('/').map(|word| if base::is_index(word) { "*" } else { word });
        Agreement {
            what,
            tool: self.keys.tool.clone(),
            key: words.collect::<Vec<_>>().join("/"),
            schema: self.keys.schema(self.tool, at.top),
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

    /// Where we are, as people read it.
    fn name(&self) -> String {
        shortened(self.pointer.strip_prefix('/').unwrap_or(&self.pointer), SHOWN).into_owned()
    }
}

/// Whether the schema declares this value as its default.
fn is_default(place: &Place<'_>, value: &Value) -> bool {
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
