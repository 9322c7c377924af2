//! What the operator has agreed to, once, of a tool's parameters or a whole server: data, and the digest of its record.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::behavior::identity::Identity;
use crate::wire::{Digest, words::words};

words! {
    What {
        /// This tool may run unasked (`first_use = "ask-once"`).
        Tool = "tool",
        /// This value under this key: a JSON text.
        Value = "value",
        /// Any value of this [`Kind`] under this key.
        Kind = "kind",
        Text = "text",
        /// Statements of this outline under this key.
        Outline = "outline",
        Folder = "folder",
        File = "file",
        /// This host, with its port or the first part of its path where these belong to it.
        Host = "host",
        /// This key of `_meta`, from this host program.
        Meta = "meta",
        /// A definition of the tool is what the operator says of it, in the words of an identity: kept where that must be signed.
        Definition = "definition",
    }
}

words! {
    Kind {
        Number = "number",
        Date = "date",
        Word = "word",
        Path = "path",
    }
}

/// One thing that was agreed to. Texts in it are foreign, raw.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    pub what: What,
    /// The tool it is about; empty where it is about the whole server.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The parameter: a JSON Pointer in which each index of a list is `*`. The key, for [`What::Meta`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// SHA-256 of the schema of the parameter at the top, or of the definition for [`What::Tool`]: 64 hex characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub schema: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
}

impl Agreement {
    pub fn of_server(what: What, value: impl Into<String>) -> Self {
        let nothing = String::new;
        Self { what, tool: nothing(), key: nothing(), schema: nothing(), value: value.into() }
    }

    pub fn of_definition(tool: &str, definition: &Digest, says: Identity) -> Self {
        let (tool, schema, value) = (tool.to_owned(), definition.to_string(), says.to_string());
        Self { what: What::Definition, tool, key: String::new(), schema, value }
    }

    /// Whether both are of one kind, and about one parameter.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.what, &self.tool, &self.key, &self.schema) == (other.what, &other.tool, &other.key, &other.schema)
    }

    /// What is agreed to, in a few words: `city = Oslo`, `any word under city`, `the folder /src/x`. Foreign text in it, raw.
    pub fn says(&self) -> String {
        let (key, value) = (named(&self.key), &self.value);
        match self.what {
            What::Tool => "runs unasked".to_owned(),
            What::Value => format!("{key} = {}", plain(value)),
            What::Kind if Kind::from_word(value) == Some(Kind::Path) => {
                format!("any path in an agreed place under {key}")
            }
            What::Kind => format!("any {value} under {key}"),
            What::Text => format!("any text under {key}"),
            What::Outline => value.clone(),
            What::Folder => format!("the folder {value}"),
            What::File => format!("{value} alone"),
            What::Host => format!("the host {value}"),
            What::Meta => format!("{} in _meta from {value}", self.key),
            What::Definition => format!("its definition is {value}"),
        }
    }

    pub fn check(&self) -> Result<(), &'static str> {
        const LONGEST: usize = 64 << 10;
        let Self { what, tool, key, schema, value } = self;
        let is_of_key = matches!(what, What::Value | What::Kind | What::Text | What::Outline);
        let is_of_tool = is_of_key || matches!(what, What::Tool | What::Definition);
        let is_digest = |text: &str| text.parse::<Digest>().is_ok();
        let is_whole = |path: &str| path.starts_with('/') && !path.split('/').any(|part| part == "..");
        if [tool, key, schema, value].iter().any(|text| text.len() > LONGEST) {
            return Err("it is too long");
        }
        match what {
            _ if is_of_tool && tool.is_empty() => Err("`tool` is missing"),
            _ if !is_of_tool && !tool.is_empty() => Err("`tool` does not belong to this kind"),
            _ if is_of_key && !key.starts_with('/') => Err("`key` is not a JSON Pointer"),
            What::Meta if key.is_empty() => Err("`key` is missing"),
            _ if !is_of_key && *what != What::Meta && !key.is_empty() => Err("`key` does not belong to this kind"),
            _ if is_of_tool && !is_digest(schema) => Err("`schema` is not a digest (64 hex characters)"),
            _ if !is_of_tool && !schema.is_empty() => Err("`schema` does not belong to this kind"),
            What::Tool | What::Text if !value.is_empty() => Err("`value` does not belong to this kind"),
            What::Tool | What::Text => Ok(()),
            _ if value.is_empty() => Err("`value` is missing"),
            What::Value if serde_json::from_str::<serde_json::Value>(value).is_err() => Err("`value` is not JSON"),
            What::Definition if value.parse::<Identity>().is_err() => Err("`value` is not an identity"),
            What::Kind if Kind::from_word(value).is_none() => Err("`value` is not one of number, date, word, path"),
            What::Folder | What::File if !is_whole(value) => Err("`value` is not an absolute path"),
            What::Folder if value.trim_matches('/').is_empty() => Err("the root is never agreed to as a whole"),
            What::Value
            | What::Kind
            | What::Outline
            | What::Folder
            | What::File
            | What::Host
            | What::Meta
            | What::Definition => Ok(()),
        }
    }

    /// The digest that its record has. `fingerprint` is that of the server's command line; what holds for a host program has none.
    pub fn digest(&self, fingerprint: &str) -> Digest {
        let fingerprint = if self.what == What::Meta { "" } else { fingerprint };
        Digest::of_parts(&[fingerprint, self.what.word(), &self.tool, &self.key, &self.schema, &self.value])
    }
}

/// A JSON Pointer for people: `/where/*/city` is `where.*.city`.
fn named(pointer: &str) -> String {
    let pointer = pointer.strip_prefix('/').unwrap_or(pointer);
    pointer.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect::<Vec<_>>().join(".")
}

/// A JSON text for people: a string without its quotes, unless it could be taken for another value.
fn plain(value: &str) -> String {
    match serde_json::from_str::<String>(value) {
        Ok(text) if !text.trim().is_empty() && serde_json::from_str::<serde_json::Value>(&text).is_err() => text,
        _ => value.to_owned(),
    }
}

/// How many days an agreement stays without being used.
pub const LAPSES_AFTER: i64 = 90;

/// The day of a time: `wall` is milliseconds since 1970, UTC; days are counted from then.
pub fn day_of(wall: i64) -> i64 {
    wall.div_euclid(24 * 60 * 60 * 1000)
}

/// Whether what was last used on the day `used` has lapsed by `today`. A use in the future, by a clock put back, is one of today.
pub fn has_lapsed(used: i64, today: i64) -> bool {
    today.saturating_sub(used) > LAPSES_AFTER
}

/// What an agreement rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing {
    /// Its record in the log.
    Recorded,
    /// A record with a signature that counts.
    Signed,
}

/// Everything that is agreed to and holds for one server.
pub type Agreements = HashSet<Agreement>;
