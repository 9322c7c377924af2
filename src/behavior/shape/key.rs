//! The reading roles of a key: what a key of a reading tool is for, by its words, each of which is in a closed vocabulary
//! (`assets/words/roles.txt`) or a noun of the tool's own name; and all keys of one definition. Reads no value.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

use serde_json::Value;

use super::address;
use crate::behavior::agreed::{Agreement, What};
use crate::behavior::arguments::key::{Languages, Spoken, in_word};
use crate::behavior::arguments::sql::Dialect;
use crate::behavior::arguments::{base, choice};
use crate::behavior::evidence::{Evidence, Source};
use crate::behavior::secrets;
use crate::behavior::taxonomy::Action;
use crate::behavior::voters::name;
use crate::behavior::words::{self, section};
use crate::mcp::tool::Tool;
use crate::wire::digest::Digest;
use crate::wire::words::words;

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
        /// Text to search for.
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
struct Known {
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

static VOCABULARY: LazyLock<HashMap<&'static str, Known>> = LazyLock::new(|| {
    let mut all: HashMap<&'static str, Known> = HashMap::new();
    for (name, role) in Role::WORDS.iter().filter(|(_, role)| *role != Role::Text) {
        for word in section(ROLES, name).split_whitespace() {
            let known = all.entry(word).or_default();
            known.roles = known.roles.with(*role);
        }
    }
    let mut mark = |name: &str, set: fn(&mut Known)| {
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
fn known(word: &str) -> Option<Known> {
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

/// Whether a value under this key may hold one `/`: `ada/engine`, `Europe/Oslo`.
pub(super) fn takes_slash(key: &str) -> bool {
    words::of_name(key).iter().any(|word| is_in(word, const { section(ROLES, "slash") }))
}

/// Whether a key says which kind of thing is read: `symbolType`, `platform`.
pub(super) fn names_kinds(key: &str) -> bool {
    words::of_name(key).last().is_some_and(|word| is_in(word, const { section(ROLES, "kind") }))
}

/// Whether a value under this key names no host, though a dot is in it: `NESN.SW`.
pub(super) fn has_no_host(key: &str) -> bool {
    words::of_name(key).last().is_some_and(|word| is_in(word, const { section(ROLES, "no-host") }))
}

/// Whether a key may hold others: `params`, `filter`. Those decide.
pub(super) fn wraps(key: &str) -> bool {
    words::of_name(key).iter().all(|word| words::among(word, const { section(ROLES, "wrap") }))
}

/// Whether a key is one that only a journey has; a destination beside it is a place on a map, and nothing is sent there.
pub(super) fn is_of_journey(key: &str) -> bool {
    joined(words::of_name(key)).first().is_some_and(|word| words::among(word, const { section(ROLES, "journey") }))
}

/// Whether a key says where a way ends.
pub(super) fn is_goal(key: &str) -> bool {
    matches!(words::of_name(key).as_slice(), [word, ..] if matches!(word.as_str(), "destination" | "destinations"))
}

/// Whether a switch keeps a call from changing anything: `read_only`.
pub(super) fn reads_only(key: &str) -> bool {
    words::of_name(key).concat().ends_with("readonly")
}

/// The nouns of a tool's name: its words but for the first verb, and but for words that are acts.
pub(super) fn nouns(tool: &str) -> Vec<String> {
    let mut all = words::of_name(tool);
    let verb = all.iter().position(|word| name::effect(word).is_some());
    if let Some(verb) = verb {
        all.remove(verb);
    }
    all.retain(|word| word.len() > 2 && !choice::changes(word) && !address::is_destination(word));
    all
}

/// The roles of a key of a tool with these nouns in its name.
pub(super) fn roles(key: &str, nouns: &[String]) -> Roles {
    let is_plain = key.len() <= 64 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if !is_plain || secrets::is_secret_key(key) {
        return Roles::NONE;
    }
    let all = joined(words::of_name(key));
    let one = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    let is_noun = |word: &str| nouns.iter().any(|noun| one(noun) == one(word));
    let mut found = Vec::with_capacity(all.len());
    let is_exact = all
        .last()
        .is_some_and(|last| words::among(last.strip_suffix('s').unwrap_or(last), const { section(ROLES, "exact") }));
    for (at, word) in all.iter().enumerate() {
        match known(word) {
            Some(known) => found.push((known, false)),
            None if is_noun(word) => found.push((Known::default(), true)),
            None if all.len() > 1 && base::is_index(word)
                // `output_format`, `target_language`: how, and not where.
                || words::among(word, "output target") && says_how(&all)
                // Which one, when, or how many, of anything.
                || at + 1 < all.len() && is_exact && says_nothing(word) =>
            {
                found.push((Known { qualifies: true, ..Known::default() }, false));
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

/// One declared parameter.
#[derive(Clone, Debug)]
struct Parameter {
    key: String,
    roles: Roles,
    /// The languages that the tool or its own description names.
    spoken: Languages,
    /// SHA-256 of its schema's text: made when something about it is agreed to, or might be.
    schema: OnceLock<String>,
}

impl Keys {
    /// Reads a definition, of which this action was concluded from this evidence, and `given` by our list of well-known servers.
    pub fn of(tool: &Tool, action: Action, evidence: &[Evidence], given: Option<&Arc<Given>>) -> Self {
        let nouns = nouns(&tool.name);
        let is_curated = evidence.iter().any(|one| one.source == Source::Curated);
        let properties = tool.input_schema.get("properties").and_then(Value::as_object);
        let keys = || properties.into_iter().flat_map(|all| all.keys()).take(256);
        let travels = keys().any(|key| is_of_journey(key));
        let roles_of = |key: &str| if travels && is_goal(key) { Roles::of(Role::Name) } else { roles(key, &nouns) };
        let spoken = Spoken::of(tool);
        let parameter = |(key, schema): (&String, &Value)| Parameter {
            roles: roles_of(key),
            spoken: spoken.with(&[schema]).all(),
            key: key.clone(),
            schema: OnceLock::new(),
        };
        let parameters = properties.into_iter().flatten().take(256).map(parameter).collect();
        Self {
            tool: tool.name.clone(),
            searches: action == Action::Search || is_curated,
            is_curated,
            spoken: spoken.all(),
            given: given.filter(|_| is_curated).cloned().unwrap_or_default(),
            parameters,
            nouns,
        }
    }

    fn parameter(&self, key: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|one| one.key == key)
    }

    pub(super) fn roles(&self, key: &str) -> Roles {
        let by_words = || self.parameter(key).map_or_else(|| roles(key, &self.nouns), |one| one.roles);
        self.given.roles.get(key).copied().unwrap_or_else(by_words)
    }

    /// Whether this value of a key is known to read.
    pub(super) fn is_known_read(&self, key: &str, value: &Value) -> bool {
        self.given.reads.get(key).is_some_and(|reads| reads.contains(value))
    }

    /// The digest of the schema of the parameter at the top that this pointer is in; of nothing where it is not declared.
    pub(super) fn schema(&self, tool: Option<&Tool>, top: &str) -> String {
        let digest = |text: &str| Digest::of(text.as_bytes()).to_string();
        match self.parameter(top) {
            None => digest(""),
            Some(one) => {
                let schema = || tool.and_then(|tool| tool.input_schema.get("properties")?.get(top));
                one.schema.get_or_init(|| digest(&schema().map(Value::to_string).unwrap_or_default())).clone()
            }
        }
    }

    /// The languages that the tool, the parameter at the top or this key names.
    pub(super) fn languages(&self, top: &str, key: &str) -> Languages {
        let words = words::of_name(key);
        let spoken = self.parameter(top).map_or(self.spoken, |one| one.spoken);
        words.iter().map(|word| in_word(word)).fold(spoken, Languages::with)
    }
}

/// That this tool may run unasked at all, where that has to be agreed to once.
pub fn first_use(tool: &str, definition: Digest) -> Agreement {
    Agreement { tool: tool.to_owned(), schema: definition.to_string(), ..Agreement::of_server(What::Tool, "") }
}

#[cfg(test)]
mod tests {
    use super::{Role, Roles, nouns, roles};

    #[test]
    fn a_key_has_a_role_only_if_each_of_its_words_is_known() {
        let none: Vec<String> = Vec::new();
        for row in include_str!("../../../tests/behavior/keys.txt").lines().filter(|row| !row.starts_with("# ")) {
            let (role, keys) = row.split_once(' ').unwrap();
            for key in keys.split(' ') {
                let found = roles(key, &none);
                assert!(
                    Roles::from_words(role).map_or(found.is_none(), |role| found.0 & role.0 != 0),
                    "{key}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn a_noun_of_the_tools_own_name_is_known_and_its_verb_is_not() {
        let of = |tool: &str, key: &str| roles(key, &nouns(tool));
        assert!(of("get_zorblax_report", "zorblax_id").has(Role::Id));
        assert!(of("get_zorblax_report", "zorblax").has(Role::Name));
        assert!(of("zorblax_get", "get").is_none());
        assert!(of("get_user_delete", "delete").is_none(), "an act is no noun");
    }
}
