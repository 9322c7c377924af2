//! What an argument's name says of its value, in any spelling, and which languages it may hold: by its name, and by what its tool says
//! it speaks; by lists of words (`language.txt`). Reads no value.
//!
//! A description adds languages and never takes one away: it is the server's word, and may be an attacker's.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::choice::{self, Choice};
use super::effect::Language;
use super::schema::Schema;
use super::sql::Dialect;
use crate::behavior::words::{self, among, section};
use crate::mcp::tool::Tool;
use crate::wire::words::words;

const WORDS: &str = include_str!("../../../assets/words/language.txt");
/// How much of one text of a definition is read, in bytes.
const MAX_TEXT: usize = 16 * 1024;
const LONGEST: usize = 96;
const MOST_KEYS: usize = 64;

/// What the words of one definition say: read once, not again for each call of it.
#[derive(Clone, Debug, Default)]
pub struct Said {
    pub(super) spoken: Spoken,
    parameters: Vec<(String, Key)>,
}

impl Said {
    pub fn of(tool: &Tool) -> Self {
        let mut said = Self { spoken: Spoken::of(tool), parameters: Vec::new() };
        let mut schema = Schema::new(Some(&tool.input_schema));
        let top = schema.top();
        let declared = tool.input_schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        let read = |name: &String| {
            let (place, _) = schema.field(&top, name);
            (name.clone(), Key::of(name).described(Some(tool), &said, &place))
        };
        let parameters = declared.take(MOST_KEYS).map(read).collect();
        said.parameters = parameters;
        said
    }

    /// What is known of a parameter, if it was read ahead.
    pub(super) fn parameter(&self, name: &str) -> Option<Key> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, key)| *key)
    }
}

/// What is known of a value by its name, and by what its tool says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    pub role: Role,
    pub choice: Choice,
    /// The languages that the name, or else the tool's own name, says.
    pub sure: Languages,
    /// Those and the ones that descriptions say.
    pub possible: Languages,
    pub dialect: Option<Dialect>,
}

impl Key {
    pub fn of(name: &str) -> Self {
        let name = name.get(..name.floor_char_boundary(LONGEST)).unwrap_or_default();
        let words = words::of_name(name);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // The last word says what it is, unless it only says in which form: `query_text`.
        let last = words.last().copied().unwrap_or_default();
        let head = words.iter().rev().find(|word| !among(word, FORMS)).copied().unwrap_or(last);
        let joined = if words.len() > 1 { words.concat() } else { String::new() };
        let role = role(head).or_else(|| role(&joined)).or_else(|| conditions(&words)).unwrap_or_default();
        let names_language =
            role.may_state() || role.may_run() || among(last, FORMS) || !named(head).is_empty() || words.len() == 1;
        let mut languages = Languages::default();
        if names_language {
            languages = words.iter().map(|word| in_word(word)).fold(languages, Languages::with);
            if languages.is_empty() {
                languages = in_word(&joined);
            }
        }
        Self { role, choice: choice::of_words(&words), sure: languages, possible: languages, dialect: None }
    }

    /// With what its tool and this place of its schema say, where the name itself says no language.
    pub(super) fn described(mut self, tool: Option<&Tool>, said: &Said, place: &[&Value]) -> Self {
        let role = self.role;
        let may_hold_one = role.may_state() || role.may_run() || role == Role::Names;
        let Some(tool) = tool.filter(|_| may_hold_one || !self.sure.is_empty()) else { return self };
        if self.sure.is_empty() {
            let spoken = said.spoken.with(place);
            let fits = |languages: Languages| {
                let kept = languages.each().filter(|language| match language {
                    Language::Shell => role.may_run(),
                    Language::Redis => role != Role::Condition,
                    _ => role != Role::Options,
                });
                kept.map(Languages::of).fold(Languages::default(), Languages::with)
            };
            (self.sure, self.possible) = (fits(spoken.by_name), fits(spoken.all()));
        }
        if self.possible.has(Language::Sql) {
            self.dialect = dialect(tool, place);
        }
        self
    }
}

/// Words that say in which form a value is given, not what it is.
const FORMS: &str = section(WORDS, "forms");

words! {
    /// What kind of value a name announces.
    #[derive(Default)]
    Role {
        #[default]
        Plain = "plain",
        /// It may hold a statement: `query`, `expression`, `statement`.
        Open = "open",
        /// It may hold a part of one: `where`, `filter`, `selector`.
        Condition = "condition",
        /// Names of columns or tables, and the order they come in: `order_by`.
        Names = "names",
        /// A command of some program: `command`, `cmd`, `exec`.
        Command = "command",
        /// Options that a program takes: `args`, `flags`, `options`.
        Options = "options",
        /// Source code: `script`, `lua`, `formula`.
        Code = "code",
    }
}

impl Role {
    pub fn may_run(self) -> bool {
        matches!(self, Self::Command | Self::Code | Self::Options)
    }

    pub fn may_state(self) -> bool {
        matches!(self, Self::Open | Self::Condition)
    }
}

fn role(word: &str) -> Option<Role> {
    static ROLES: LazyLock<HashMap<&str, Role>> = LazyLock::new(|| {
        let all = Role::WORDS.iter().filter(|(_, role)| *role != Role::Plain);
        let words = |(name, role): &(&str, Role)| {
            let role = *role;
            section(WORDS, name).split_whitespace().map(move |word| (word, role))
        };
        // Of two roles of one word the first counts.
        all.rev().flat_map(words).collect()
    });
    ROLES.get(word).copied()
}

/// A condition by any word of the name: `filter_label`.
fn conditions(words: &[&str]) -> Option<Role> {
    let is_named =
        words.len() > 1 && matches!(words.last(), Some(&"id" | &"ids" | &"name" | &"names" | &"type" | &"mode"));
    let any = words.iter().any(|word| matches!(*word, "filter" | "where" | "selector"));
    (any && !is_named).then_some(Role::Condition)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Languages(u32);

impl Languages {
    pub const fn of(language: Language) -> Self {
        Self(1 << language as u32)
    }

    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn has(self, language: Language) -> bool {
        self.0 & Self::of(language).0 != 0
    }

    /// Each of them, in the order of the languages.
    pub fn each(self) -> impl Iterator<Item = Language> {
        Language::ALL.iter().copied().filter(move |language| self.has(*language))
    }
}

static NAMED: LazyLock<HashMap<&str, Language>> = LazyLock::new(|| {
    let known = words::rows(section(WORDS, "named"))
        .filter_map(|(language, words)| Some((Language::from_word(language)?, words)));
    known.flat_map(|(language, words)| words.split_whitespace().map(move |word| (word, language))).collect()
});

/// The languages that one word names, in lower case.
pub fn named(word: &str) -> Languages {
    let known = NAMED.get(word).copied();
    let known = known.or_else(|| {
        if word.len() > 3 && word.ends_with("sql") && !word.starts_with("no") {
            return Some(Language::Sql);
        }
        // A query language that no list has.
        (3..=12).contains(&word.len()).then_some(Language::Other).filter(|_| word.ends_with("ql"))
    });
    known.map(Languages::of).unwrap_or_default()
}

/// The same for a word of an argument's name, which may join two: `rawsql`, `cypherquery`, `luascript`.
pub fn in_word(word: &str) -> Languages {
    let found = named(word);
    if !found.is_empty() {
        return found;
    }
    if among(word, const { section(WORDS, "of-code") }) {
        return Languages::of(Language::Other);
    }
    let before =
        const { section(WORDS, "joined-before") }.split_ascii_whitespace().filter_map(|part| word.strip_suffix(part));
    let behind =
        const { section(WORDS, "joined-behind") }.split_ascii_whitespace().filter_map(|part| word.strip_prefix(part));
    before.chain(behind).map(named).fold(Languages::default(), Languages::with)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    /// Named by the tool's own name: its statements are that language.
    pub by_name: Languages,
    /// Named by its title, its description, or the parameter's.
    pub by_words: Languages,
}

impl Spoken {
    /// What a tool says for all of its arguments.
    pub fn of(tool: &Tool) -> Self {
        let all = |found: &mut dyn Iterator<Item = Languages>| found.fold(Languages::default(), Languages::with);
        let texts = [tool.title.as_deref(), tool.description.as_deref()];
        Self {
            by_name: all(&mut words::of_name(&tool.name).iter().map(|word| in_word(word))),
            by_words: all(&mut texts.into_iter().flatten().map(in_text)),
        }
    }

    pub fn with(mut self, parameter: &[&Value]) -> Self {
        for text in parameter.iter().filter_map(|schema| schema.get("description")?.as_str()) {
            self.by_words = self.by_words.with(in_text(text));
        }
        self
    }

    pub fn all(self) -> Languages {
        self.by_name.with(self.by_words)
    }
}

/// The dialect of SQL that a tool, or one of its parameters, names.
pub fn dialect(tool: &Tool, parameter: &[&Value]) -> Option<Dialect> {
    let described = parameter.iter().filter_map(|schema| schema.get("description")?.as_str());
    let texts = [Some(tool.name.as_str()), tool.title.as_deref(), tool.description.as_deref()];
    let texts: Vec<&str> = texts.into_iter().flatten().chain(described).map(head).collect();
    Dialect::named_in(&texts.join("\n"))
}

fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or_default()
}

fn in_text(text: &str) -> Languages {
    let words = head(text).split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() <= 16);
    let of_word = |word: &str| match word {
        "SELECT" => Languages::of(Language::Sql),
        word => named(&word.to_ascii_lowercase()),
    };
    words.map(of_word).fold(Languages::default(), Languages::with)
}
