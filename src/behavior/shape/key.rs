//! The reading roles of a key: what a key of a reading tool is for, by its words, each of which is in a closed vocabulary
//! (`assets/words/roles.txt`) or a noun of the tool's own name; and all keys of one definition. Reads no value.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::address;
use crate::behavior::agreed::{Agreement, What};
use crate::behavior::arguments::key::{Languages, Spoken, in_word};
use crate::behavior::arguments::{base, choice, sql::Dialect};
use crate::behavior::evidence::{Evidence, Source};
use crate::behavior::secrets;
use crate::behavior::taxonomy::Action;
use crate::behavior::voters::name;
use crate::behavior::words::{self, section};
use crate::mcp::Tool;
use crate::wire::{Digest, words::words};

const ROLES: &str = include_str!("../../../assets/words/roles.txt");

words! {
    /// What a key of a reading tool is for. A key may have several; a value is proven by any of them whose form it has.
    Role {
        Id = "id",
        Name = "name",
        Number = "number",
        Time = "time",
        Sort = "sort",
        Format = "format",
        Fields = "fields",
        Filter = "filter",
        Search = "search",
        Path = "path",
        Address = "address",
        Statement = "statement",
        /// On or off, both of which read.
        Switch = "switch",
        /// Any text: the server was seen to take it as data. No key has it by its words.
        Text = "text",
    }
}

/// The roles of one key; none: it is new in every call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles(u16);

impl Roles {
    pub const NONE: Self = Self(0);

    pub const fn of(role: Role) -> Self {
        Self(1 << role as u16)
    }

    pub const fn has(self, role: Role) -> bool {
        self.0 & Self::of(role).0 != 0
    }

    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Those that a list names: `id`, `id|name`. `None` where a word names no role.
    pub fn from_words(words: &str) -> Option<Self> {
        words.split('|').try_fold(Self::NONE, |all, word| Some(all.with(Role::from_word(word)?)))
    }

    /// Those of what a user answers: a name, a number, a time, a short text.
    pub(super) const fn answer() -> Self {
        Self::of(Role::Name).with(Role::Number).with(Role::Time).with(Role::Search)
    }

    const fn with(self, role: Role) -> Self {
        Self(self.0 | Self::of(role).0)
    }
}

/// What a reviewer found of the parameters of one definition that reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Reading roles of keys, instead of those that their words have.
    pub roles: HashMap<String, Roles>,
    /// Values of keys that are known to read.
    pub reads: HashMap<String, Vec<Value>>,
    /// What a statement among the arguments is written in.
    pub dialect: Option<Dialect>,
    /// Hosts that the server may read from unasked.
    pub hosts: Arc<[String]>,
}

/// What one word of the vocabulary is: its roles at the head of a key, and where it may be.
#[derive(Clone, Copy, Debug, Default)]
struct VocabularyWord {
    roles: Roles,
    /// It says something of another word: `max`, `created`.
    qualifies: bool,
    /// It has its role only beside another word of the vocabulary: `code` is one in `country_code`.
    joined: bool,
    /// It begins a switch: `include_archived`.
    leads: bool,
    /// It may be in the key of a path: `source_file`.
    of_path: bool,
    /// It may be before the word of an id alone: `run_id`.
    of_id: bool,
}

static VOCABULARY: LazyLock<HashMap<&'static str, VocabularyWord>> = LazyLock::new(|| {
    let mut all: HashMap<&'static str, VocabularyWord> = HashMap::new();
    for (name, role) in Role::WORDS.iter().filter(|(_, role)| *role != Role::Text) {
        for word in section(ROLES, name).split_whitespace() {
            let known = all.entry(word).or_default();
            known.roles = known.roles.with(*role);
        }
    }
    let mut mark = |name: &str, set: fn(&mut VocabularyWord)| {
        section(ROLES, name).split_whitespace().for_each(|word| set(all.entry(word).or_default()));
    };
    mark("word", |known| known.qualifies = true);
    mark("joined", |known| known.joined = true);
    mark("switch-lead", |known| known.leads = true);
    mark("path-word", |known| known.of_path = true);
    mark("of-id", |known| known.of_id = true);
    all
});

/// A word of the vocabulary; a plural counts as its singular.
fn known(word: &str) -> Option<VocabularyWord> {
    // `commit1`, `date2`.
    let numbered = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let word = if numbered.len() > 2 { numbered } else { word };
    let find = |word: &str| VOCABULARY.get(word).copied();
    find(word).or_else(|| if word.len() > 2 { words::singular(word, find) } else { None })
}

/// Whether a list has this word, whose plural and number do not matter.
fn is_in(word: &str, list: &str) -> bool {
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
    words::among(word.strip_suffix('s').unwrap_or(word), list)
}

/// What a key of a reading tool says by its words: read once for each key of a definition.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Key {
    pub(super) roles: Roles,
    /// The languages that its own words name.
    pub(super) languages: Languages,
    /// A value may hold one `/`: `ada/engine`, `Europe/Oslo`.
    pub(super) takes_slash: bool,
    /// It says which kind of thing is read: `symbolType`, `platform`.
    pub(super) names_kinds: bool,
    /// A value names no host, though a dot is in it: `NESN.SW`.
    pub(super) has_no_host: bool,
    /// It may hold other keys, which then decide: `params`, `filter`.
    pub(super) wraps: bool,
    /// It keeps a call from changing anything where it is on: `read_only`.
    pub(super) reads_only: bool,
    /// It names a program, a user or a destination: its values are agreed to one by one.
    pub(super) is_one_by_one: bool,
}

impl Key {
    /// Of a tool with these nouns in its name.
    fn of(key: &str, nouns: &[String]) -> Self {
        let words = words::of_name(key);
        let any = |list: &str| words.iter().any(|word| is_in(word, list));
        let ends = |list: &str| words.last().is_some_and(|word| is_in(word, list));
        Self {
            languages: words.iter().map(|word| in_word(word)).fold(Languages::default(), Languages::with),
            takes_slash: any(const { section(ROLES, "slash") }),
            names_kinds: ends(const { section(ROLES, "kind") }),
            has_no_host: ends(const { section(ROLES, "no-host") }),
            wraps: words.iter().all(|word| words::among(word, const { section(ROLES, "wrap") })),
            reads_only: words.concat().ends_with("readonly"),
            is_one_by_one: words.iter().any(|word| address::is_destination(word)),
            roles: roles(key, words, nouns),
        }
    }
}

/// The nouns of a tool's name: its words but for the first verb, and but for words that are acts.
fn nouns(tool: &str) -> Vec<String> {
    let mut all = words::of_name(tool);
    let verb = all.iter().position(|word| name::effect(word).is_some());
    if let Some(verb) = verb {
        all.remove(verb);
    }
    all.retain(|word| word.len() > 2 && !choice::changes(word) && !address::is_destination(word));
    all
}

fn roles(key: &str, words: Vec<String>, nouns: &[String]) -> Roles {
    let is_plain = key.len() <= 64 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if !is_plain || secrets::is_secret_key(key) {
        return Roles::NONE;
    }
    let all = joined(words);
    let one = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    let is_noun = |word: &str| nouns.iter().any(|noun| one(noun) == one(word));
    let mut found = Vec::with_capacity(all.len());
    let is_exact = all
        .last()
        .is_some_and(|last| words::among(last.strip_suffix('s').unwrap_or(last), const { section(ROLES, "exact") }));
    for (at, word) in all.iter().enumerate() {
        match known(word) {
            Some(known) => found.push((known, false)),
            None if is_noun(word) => found.push((VocabularyWord::default(), true)),
            None if all.len() > 1 && base::is_index(word)
                // `output_format`, `target_language`: how, and not where.
                || words::among(word, "output target") && says_how(&all)
                // Which one, when, or how many, of anything.
                || at + 1 < all.len() && is_exact && says_nothing(word) =>
            {
                found.push((VocabularyWord { qualifies: true, ..VocabularyWord::default() }, false));
            }
            None => return Roles::NONE,
        }
    }
    // `id_or_name`: either.
    if let Some(at) = all.iter().position(|word| word == "or").filter(|at| *at > 0 && *at + 1 < all.len()) {
        let head = |at: usize| found[at].0.roles;
        let (one, other) = (head(at - 1), head(at + 1));
        return if one.has(Role::Path) || other.has(Role::Path) { Roles::NONE } else { Roles(one.0 | other.0) };
    }
    // `run_id`, but neither `run` nor `run_name`.
    let is_id = all.last().is_some_and(|last| words::among(last, const { section(ROLES, "id-head") }));
    if !is_id && found.iter().any(|(known, _)| known.of_id && known.roles.is_none() && !known.qualifies) {
        return Roles::NONE;
    }
    let [(first, _), rest @ ..] = found.as_slice() else { return Roles::NONE };
    if rest.is_empty() && (first.joined || first.leads && first.roles.is_none()) {
        return Roles::NONE;
    }
    if first.leads && !rest.is_empty() {
        return Roles::of(Role::Switch).with(Role::Fields);
    }
    // `in_place`, `on_done`: what it does besides.
    let is_when = |roles: Roles| roles.has(Role::Time) || roles.has(Role::Number);
    if !rest.is_empty()
        && all.first().is_some_and(|word| words::among(word, "in on at"))
        && !found.iter().any(|(one, _)| is_when(one.roles))
    {
        return Roles::NONE;
    }
    // `sort_by`, `orderBy`.
    let by = all.len() > 1 && all.last().is_some_and(|last| last == "by");
    let head = found.iter().rev().find(|(known, noun)| *noun || !known.roles.is_none());
    let Some((head, is_noun)) = head else { return Roles::NONE };
    let roles = if *is_noun { Roles::of(Role::Name).with(Role::Id) } else { head.roles };
    if roles.has(Role::Path) {
        let fits = found.iter().all(|(known, noun)| !noun && (known.of_path || known.roles.has(Role::Path)));
        return if fits { Roles::of(Role::Path) } else { Roles::NONE };
    }
    if by && !roles.has(Role::Sort) && !roles.has(Role::Filter) {
        return Roles::of(Role::Name).with(Role::Id);
    }
    roles
}

/// Two words that the vocabulary knows as one: `checkIn`, `timeZone`.
fn joined(all: Vec<String>) -> Vec<String> {
    let mut whole: Vec<String> = Vec::with_capacity(all.len());
    for word in all {
        match whole.last_mut() {
            Some(before)
                if known(before).is_none_or(|one| one.roles.is_none())
                    && VOCABULARY.contains_key(format!("{before}{word}").as_str()) =>
            {
                before.push_str(&word);
            }
            _ => whole.push(word),
        }
    }
    whole
}

/// Whether a word that the vocabulary does not have names neither an act nor a program, a user or a destination.
fn says_nothing(word: &str) -> bool {
    word.len() > 1 && name::effect(word).is_none() && !choice::changes(word) && !address::is_destination(word)
}

/// Whether a key ends in how something is written: its format, its language, its unit.
fn says_how(all: &[String]) -> bool {
    all.last().is_some_and(|last| known(last).is_some_and(|one| one.roles.has(Role::Format)) && last != "type")
}

/// What the definition of a tool says of its keys: read once.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    pub(super) tool: String,
    nouns: Vec<String>,
    /// It may be given a text to search for.
    pub(super) searches: bool,
    /// Our list of well-known servers says what the tool is.
    pub(super) is_curated: bool,
    spoken: Languages,
    /// What our list of well-known servers says of the keys.
    pub(super) given: Arc<Given>,
    parameters: Vec<Parameter>,
}

#[derive(Clone, Debug)]
struct Parameter {
    name: String,
    key: Key,
    /// The languages that the tool or its own description names.
    spoken: Languages,
    /// SHA-256 of its schema's text.
    schema: String,
}

impl Keys {
    /// Reads a definition, of which this action was concluded from this evidence, and `given` by our list of well-known servers.
    pub fn of(tool: &Tool, action: Action, evidence: &[Evidence], given: Option<&Arc<Given>>) -> Self {
        let is_curated = evidence.iter().any(|one| one.source == Source::Curated);
        let spoken = Spoken::of(tool);
        let properties =
            || tool.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten().take(256);
        let of_journey = |name: &str| {
            let words = joined(words::of_name(name));
            words.first().is_some_and(|word| words::among(word, const { section(ROLES, "journey") }))
        };
        let travels = properties().any(|(name, _)| of_journey(name));
        let mut keys = Self {
            tool: tool.name.clone(),
            nouns: nouns(&tool.name),
            searches: action == Action::Search || is_curated,
            is_curated,
            spoken: spoken.all(),
            given: given.filter(|_| is_curated).cloned().unwrap_or_default(),
            parameters: Vec::new(),
        };
        let parameter = |(name, schema): (&String, &Value)| {
            let mut key = keys.key(name);
            // Beside a key that only a journey has, a destination is a place on a map, and nothing is sent there.
            let is_goal =
                words::of_name(name).first().is_some_and(|word| words::among(word, "destination destinations"));
            if travels && is_goal && !keys.given.roles.contains_key(name) {
                key.roles = Roles::of(Role::Name);
            }
            Parameter {
                key,
                spoken: spoken.with(&[schema]).all(),
                name: name.clone(),
                schema: digest(&schema.to_string()),
            }
        };
        keys.parameters = properties().map(parameter).collect();
        keys
    }

    fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|one| one.name == name)
    }

    /// What a key says, at any depth.
    pub(super) fn key(&self, name: &str) -> Key {
        self.parameter(name).map_or_else(
            || {
                let key = Key::of(name, &self.nouns);
                Key { roles: self.given.roles.get(name).copied().unwrap_or(key.roles), ..key }
            },
            |one| one.key,
        )
    }

    pub fn roles(&self, name: &str) -> Roles {
        self.key(name).roles
    }

    pub(super) fn is_known_read(&self, key: &str, value: &Value) -> bool {
        self.given.reads.get(key).is_some_and(|reads| reads.contains(value))
    }

    /// The digest of the schema of this parameter; of nothing where it is not declared.
    pub(super) fn schema(&self, parameter: &str) -> String {
        self.parameter(parameter).map_or_else(|| digest(""), |one| one.schema.clone())
    }

    /// The languages that the tool or this parameter names.
    pub(super) fn spoken(&self, parameter: &str) -> Languages {
        self.parameter(parameter).map_or(self.spoken, |one| one.spoken)
    }
}

fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

/// That this tool may run unasked at all, where that has to be agreed to once.
pub fn first_use(tool: &str, definition: Digest) -> Agreement {
    Agreement { tool: tool.to_owned(), schema: definition.to_string(), ..Agreement::of_server(What::Tool, "") }
}
