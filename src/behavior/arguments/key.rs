//! What an argument's name says of its value, in any spelling, by lists of words (`language.txt`). Reads no value and no
//! description.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::choice::{self, Choice};
use super::language::{self, Languages, Spoken, WORDS};
use crate::behavior::words::{self, among, section};
use crate::mcp::tool::Tool;

/// The rest of a longer name says nothing.
const LONGEST: usize = 96;
/// How many declared names are read ahead.
const MOST_KEYS: usize = 64;

/// What the words of one definition say: read once, not again for each call of it.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// What the tool says it speaks.
    pub(super) spoken: Spoken,
    keys: Vec<(String, Key)>,
}

impl Said {
    /// Reads a definition.
    pub fn of(tool: &Tool) -> Self {
        let declared = tool.input_schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        let keys = declared.take(MOST_KEYS).map(|name| (name.clone(), Key::of(name))).collect();
        Self { spoken: Spoken::of(tool), keys }
    }

    /// What a name says.
    pub(super) fn key(&self, name: &str) -> Key {
        self.keys.iter().find(|(known, _)| known == name).map_or_else(|| Key::of(name), |(_, key)| *key)
    }
}

/// A name, read once for all that is below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    pub role: Role,
    /// The languages that the name itself says.
    pub languages: Languages,
    /// Whether the name chooses what is done.
    pub choice: Choice,
}

impl Key {
    /// Reads a name.
    pub fn of(name: &str) -> Self {
        let name = name.get(..name.floor_char_boundary(LONGEST)).unwrap_or_default();
        let words = words::of_name(name);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // The last word says what it is, unless it only says in which form: `query_text`.
        let last = words.last().copied().unwrap_or_default();
        let head = words.iter().rev().find(|word| !among(word, FORMS)).copied().unwrap_or(last);
        let joined = if words.len() > 1 { words.concat() } else { String::new() };
        let role = role(head).or_else(|| role(&joined)).or_else(|| conditions(&words)).unwrap_or_default();
        let names_language = role.may_state()
            || role.may_run()
            || among(last, FORMS)
            || !language::named(head).is_empty()
            || words.len() == 1;
        let mut languages = Languages::default();
        if names_language {
            languages = words.iter().map(|word| language::in_word(word)).fold(languages, Languages::with);
            if languages.is_empty() {
                languages = language::in_word(&joined);
            }
        }
        Self { role, languages, choice: choice::of_words(&words) }
    }
}

/// Words that say in which form a value is given, not what it is.
const FORMS: &str = section(WORDS, "forms");

/// What kind of value a name announces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Plain,
    /// It may hold a statement: `query`, `expression`, `statement`.
    Open,
    /// It may hold a part of one: `where`, `filter`, `selector`.
    Condition,
    /// Names of columns or tables, and the order they come in: `order_by`.
    Names,
    /// A command of some program: `command`, `cmd`, `exec`.
    Command,
    /// Options that a program takes: `args`, `flags`, `options`.
    Options,
    /// Source code: `script`, `lua`, `formula`.
    Code,
}

impl Role {
    /// Whether it may be run: a command or code.
    pub fn may_run(self) -> bool {
        matches!(self, Self::Command | Self::Code | Self::Options)
    }

    /// Whether it may hold a statement, or a part of one.
    pub fn may_state(self) -> bool {
        matches!(self, Self::Open | Self::Condition)
    }
}

/// The kind that a word announces.
fn role(word: &str) -> Option<Role> {
    static ROLES: LazyLock<HashMap<&str, Role>> = LazyLock::new(|| {
        use Role::{Code, Command, Condition, Names, Open, Options};
        let all = [
            (Open, "open"),
            (Condition, "condition"),
            (Names, "names"),
            (Command, "command"),
            (Options, "options"),
            (Code, "code"),
        ];
        let words = |(role, name)| section(WORDS, name).split_whitespace().map(move |word| (word, role));
        // Of two roles of one word the first counts.
        all.into_iter().rev().flat_map(words).collect()
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
