//! What the reader of a text took it for, part by part and word by word: data for the card. Judges nothing.

use serde::{Deserialize, Serialize};

use super::effect::Analysis;

/// How many parts of one text are listed one by one; the rest are counted.
pub const MOST_PARTS: usize = 40;
/// A text that was not read is carried up to this many bytes; a longer one is in the arguments alone.
pub const MOST_RAW: usize = 4 * 1024;

/// One text among the arguments, as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    pub analysis: Analysis,
    /// The text up to the end of its last part: foreign, raw. All of it where no part was read.
    pub text: String,
    /// Its statements or commands in their order; none where the reader could not cut it.
    pub parts: Vec<Part>,
    /// How many more parts there are, and how many of those are grave.
    pub more: usize,
    pub grave: usize,
}

impl Reading {
    /// A text with its parts. What is beyond the first of them is counted.
    pub(super) fn new(analysis: Analysis, text: &str, mut parts: Vec<Part>) -> Self {
        let left = parts.split_off(parts.len().min(MOST_PARTS));
        let end = parts.iter().map(|part| part.end).max();
        let end = end.unwrap_or(if text.len() <= MOST_RAW { text.len() } else { 0 });
        Self {
            analysis,
            text: text.get(..end).unwrap_or_default().to_owned(),
            parts,
            more: left.len(),
            grave: left.iter().filter(|part| part.weight == Weight::Grave).count(),
        }
    }
}

/// The gravest part of all texts: the first of them where several are.
pub fn gravest(readings: &[Reading]) -> Option<&Part> {
    let parts = readings.iter().flat_map(|reading| &reading.parts);
    parts.reduce(|worst, one| if one.weight > worst.weight { one } else { worst })
}

/// One statement of a language, or one command of a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Our own line on it; foreign names in it are raw.
    pub says: String,
    /// What it acts on, as written: foreign, raw.
    pub object: Option<String>,
    pub weight: Weight,
    /// Where it is in the text, in bytes. A command in a command is within the other.
    pub start: usize,
    pub end: usize,
    /// What joins it to the part before: `&&`, `|`, `$(`; empty where it is alone.
    pub joint: String,
    /// Its words in their order. What is between them was passed over: white space and comments.
    pub words: Vec<Word>,
}

/// How grave a part is to the eye.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// It reads, or runs what no list calls risky.
    Plain,
    /// It adds, or changes some of something.
    Changes,
    /// It removes, changes all of something, runs what others wrote, or its effect is unknown.
    Grave,
}

/// One word of a part: where it is in the text, in bytes, and what it was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word(pub usize, pub usize, pub WordKind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WordKind {
    /// It makes the part as grave as it is.
    Verb,
    Keyword,
    /// A name, a number, a sign, a word of a command.
    Plain,
    Quoted,
    Target,
}
