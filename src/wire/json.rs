//! JSON as values and as texts that are certain to be JSON: the value of a text by the strict reader alone, which arguments are
//! judged by (what it refuses has none), and JSON with comments and commas before a closing bracket, as editors keep their
//! settings, which is never read so from a pipe.

use std::ops::Deref;
use std::str::FromStr;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::strict::Reader;

/// The exact text of one JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// A value that [`super::strict`] has read.
    pub(super) fn of_strict(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl FromStr for Json {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str::<IgnoredAny>(text).map(|_| Self(text.to_owned()))
    }
}

impl Deref for Json {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// The value of a text; `None` where the strict reader refuses it.
pub fn value(text: &str) -> Option<Value> {
    let mut reader = Reader::of_text(text).ok()?;
    reader.skip().ok()?;
    reader.end().ok()?;
    serde_json::from_str(text).ok()
}

pub fn relaxed(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&without_comments(text))
}

/// The same text as plain JSON; line breaks stay, so that an error names the right line.
pub fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let token = string_length(rest);
                out.push_str(&rest[..token]);
                token
            }
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => {
                let end = rest[2..].find("*/").map_or(rest.len(), |end| end + 4);
                // Two tokens with a comment between them stay two.
                out.push(' ');
                out.extend(rest[..end].matches('\n'));
                end
            }
            '}' | ']' => {
                let trimmed = out.trim_end().len();
                if out[..trimmed].ends_with(',') {
                    out.replace_range(trimmed - 1..trimmed, " ");
                }
                out.push(first);
                1
            }
            other => {
                out.push(other);
                other.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    out
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}
