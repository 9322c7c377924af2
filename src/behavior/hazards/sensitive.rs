//! Finds the first place in a text where secrets are kept: a file, a table, a variable, a service. Which places is data,
//! `assets/sensitive.toml`.
//!
//! One pass reads the text as it is. Only a text with an escape, a detour, a pattern or an address pays for more.

mod address;
mod pattern;
mod spelling;

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

/// How many bytes of one call's texts are read for more than their words: in other spellings, as patterns, as
/// addresses. A bound, because letters beyond ASCII grow to as much as eighteen times their length when they are
/// normalized.
pub const BUDGET: usize = 256 << 10;

/// What a text was found to name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// No place where secrets are kept.
    None,
    /// The first thing in it that names one: a file, a variable, a metadata service.
    Named(String),
    /// No word of it does; it may in another spelling, and is longer than what is left of the budget.
    Unread,
}

/// Looks in a text for places where secrets are kept; `left` is what is left of [`BUDGET`].
pub fn places(text: &str, left: &mut usize) -> Places {
    let Some(list) = LIST.as_ref() else { return Places::Unread };
    if let Some(word) = list.first(text) {
        return Places::Named(word.to_owned());
    }
    if !list.odd.is_match(text.as_bytes()) {
        return Places::None;
    }
    let Some(rest) = left.checked_sub(text.len()) else { return Places::Unread };
    *left = rest;
    list.in_other_spellings(text).map_or(Places::None, Places::Named)
}

/// The list as it is applied; `None`, and no text is read, if the file were broken.
static LIST: LazyLock<Option<List>> = LazyLock::new(|| toml::from_str::<File>(TEXT).ok()?.compiled().ok());

const TEXT: &str = include_str!("../../../assets/sensitive.toml");

/// `assets/sensitive.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    copies: String,
    endings: String,
    ordinary: String,
    variables: String,
    examples: String,
    objects: String,
    keys: String,
    #[serde(rename = "place")]
    places: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    names: String,
    #[serde(default)]
    under: String,
    #[serde(default)]
    whole: bool,
    #[serde(default)]
    in_path: bool,
    #[serde(default)]
    word: bool,
}

struct List {
    /// Finds a place in its last group, with a byte before and behind it.
    place: Regex,
    /// What looks like a place and is none, by itself and where it is not in a path.
    none: Regex,
    none_out_of_path: Regex,
    /// What a text has that must be read for more than its words.
    odd: Regex,
    /// `/./`, `//`, `/../`.
    detour: Regex,
    names: pattern::Names,
}

/// A byte of a word, with letters beyond ASCII.
const WORD: &str = r"[0-9a-z_.\x80-\xff-]";
const ODD: &str = r"%[0-9a-f] | [\x80-\xff\\*?\[{] | [@+!/.]\( | [^:][/\\][/\\] | [/\\] \.{1,2} [/\\] | :[0-9a-f]*:";

impl File {
    fn compiled(&self) -> Result<List, regex::Error> {
        let of = |rows: &dyn Fn(&Row) -> bool| -> Vec<&str> {
            self.places.iter().filter(|row| rows(row)).flat_map(|row| row.names.split_ascii_whitespace()).collect()
        };
        let anywhere = of(&|row| row.under.is_empty() && !row.in_path);
        let in_path = of(&|row| row.in_path);
        let under = self.places.iter().filter(|row| !row.under.is_empty());
        let under: Vec<String> =
            under.map(|row| format!("(?: {} ) [/\\\\] ( (?: {} ) %copy )", any(&row.under), any(&row.names))).collect();
        let place = [
            format!("%start ( (?: {} ) %copy )", any(&anywhere.join(" "))),
            format!("[/\\\\] ( (?: {} ) %copy )", any(&in_path.join(" "))),
            format!("%start (?: {} )", under.join(" | ")),
            // Chromium's store of passwords has a space in its name.
            r"[/\\] login\x20 ( data %copy ) | // ( metadata \.* )".to_owned(),
            format!("%start ( (?: {} ) %word* )", any(&self.keys)),
            format!(r"%start ( \.env (?: [0-9]* | [._-] %word* ) | %word+ (?: \.env | {} ) %copy )", any(&self.endings)),
            format!("%start ( (?-i: [A-Z0-9_]* (?: {} ) ) )", any(&self.variables)),
            // Public name services answer with the address in the name.
            r"%start ( %word* (?: 169\.254\. | 169-254- | a9fe ) %word* ip\.io \.* | (?: [0-9]+ | 0x[0-9a-f]+ ) (?: \. [0-9a-fx]+ ){0,3} \.* )".to_owned(),
        ];
        let copy = format!("(?: [_.-]+ (?: {} | [0-9]+ ) )* [_.-]*", any(&self.copies));
        let regex = |pattern: &str| {
            let start = "(?: ^ | [^%word] )".replace("[^%word]", &WORD.replacen('[', "[^", 1));
            let whole = pattern.replace("%start", &start).replace("%copy", &copy).replace("%word", WORD);
            RegexBuilder::new(&whole).unicode(false).case_insensitive(true).ignore_whitespace(true).build()
        };
        let (examples, objects) = (any(&self.examples), any(&self.objects));
        Ok(List {
            place: regex(&format!("(?: {} ) (?: {} | $ )", place.join(" | "), WORD.replacen('[', "[^", 1)))?,
            none: regex(&format!(
                r"^ (?: \.env [._-] (?: .* [._-] )? (?: {examples} ) | (?: id_ .* \.pub | (?: {examples} ) \.env ) %copy ) $"
            ))?,
            none_out_of_path: regex(&format!(r"^ (?: {objects} ) \.env %copy $"))?,
            odd: regex(ODD)?,
            detour: regex(r"[/\\] \.{0,2} [/\\]")?,
            names: pattern::Names::of(self),
        })
    }
}

/// An alternative for each word of a list.
fn any(list: &str) -> String {
    list.split_ascii_whitespace().map(regex::escape).collect::<Vec<_>>().join(" | ")
}

impl List {
    /// The first word that names a place as it is written.
    fn first<'t>(&self, text: &'t str) -> Option<&'t str> {
        let mut at = 0;
        while let Some(groups) = self.place.captures_at(text.as_bytes(), at) {
            let place = groups.iter().skip(1).flatten().last()?;
            let word = text.get(place.range())?;
            let is_in_path = text[..place.start()].ends_with(['/', '\\']);
            let is_number = word.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'x' | b'X' | b'.'));
            let is_none = self.none.is_match(word.as_bytes())
                || !is_in_path && self.none_out_of_path.is_match(word.as_bytes())
                || is_number && !address::is_metadata_number(word);
            if !is_none {
                return Some(word);
            }
            at = place.end();
        }
        None
    }

    fn in_other_spellings(&self, text: &str) -> Option<String> {
        if let Some(found) = self.beyond_words(text) {
            return Some(found);
        }
        let mut plainest = None;
        // One round for each layer of encoding that a program on the way might decode; none decodes more.
        for _ in 0..4 {
            let Some(plainer) = spelling::plainer(plainest.as_deref().unwrap_or(text)) else { break };
            if let Some(found) = self.as_written(&plainer) {
                return Some(found);
            }
            plainest = Some(plainer);
        }
        let unescaped = spelling::without_escapes(plainest.as_deref().unwrap_or(text))?;
        self.as_written(&unescaped)
    }

    fn as_written(&self, text: &str) -> Option<String> {
        self.first(text).map(str::to_owned).or_else(|| self.beyond_words(text))
    }

    fn beyond_words(&self, text: &str) -> Option<String> {
        let address = address::first_of_six(text).map(str::to_owned);
        address.or_else(|| self.behind_detours(text)).or_else(|| pattern::first_reaching(text, self))
    }

    fn behind_detours(&self, text: &str) -> Option<String> {
        let has_one = self.detour.is_match(text.as_bytes());
        has_one.then(|| self.first(&spelling::straight(text)).map(str::to_owned))?
    }
}
