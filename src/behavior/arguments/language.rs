//! Tells which languages an argument may hold: by its name, and by what its tool says it speaks. Reads no argument.
//!
//! A description adds languages and never takes one away: it is the server's word, and may be an attacker's.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::effect::Language;
use super::sql::Dialect;
use crate::behavior::words::{self, among, section};
use crate::mcp::tool::Tool;

pub(super) const WORDS: &str = include_str!("../../../assets/words/language.txt");
/// How much of one text of a definition is read, in bytes.
const MAX_TEXT: usize = 16 * 1024;

/// Some of the languages.
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

/// What a tool says it speaks.
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

    /// With what the schema of one parameter says.
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

/// The languages that a text names.
fn in_text(text: &str) -> Languages {
    let words = head(text).split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() <= 16);
    let of_word = |word: &str| match word {
        "SELECT" => Languages::of(Language::Sql),
        word => named(&word.to_ascii_lowercase()),
    };
    words.map(of_word).fold(Languages::default(), Languages::with)
}
