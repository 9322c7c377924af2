//! Tools that say they return secrets: keys, tokens, the environment (`definition.txt`). Knows no place and no argument.

use super::definition::WORDS;
use crate::behavior::words::{self, among, are_pair, section};

/// What a tool's name or first sentence says it returns, where that is a secret or the environment.
pub fn found(name: &str, first_sentence: &str) -> Option<String> {
    let name_words = words::of_name(name);
    let sentence_words = words::of_sentence(first_sentence);
    secret(&name_words, Place::Name).or_else(|| secret(&sentence_words, Place::Sentence))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Name,
    Sentence,
}

fn secret(words: &[String], place: Place) -> Option<String> {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    for at in 0..words.len() {
        let (this, next) = (word(at), word(at + 1));
        // "Using your credentials", "with an API key": what it takes, not what it returns.
        let taken = words[at.saturating_sub(4)..at].iter().any(|before| among(before, TAKES));
        if taken && place == Place::Sentence {
            continue;
        }
        let found = match (this, next) {
            ("env", "") if place == Place::Name => this.to_owned(),
            ("session", "cookies") | ("cookies", "") => format!("{this} {next}").trim_end().to_owned(),
            _ if among(this, SECRETS) => this.to_owned(),
            _ if are_pair(PAIRS, this, next) => format!("{this} {next}"),
            _ => continue,
        };
        return Some(found);
    }
    None
}

/// Words before what a tool takes.
const TAKES: &str = "using with via requires require needs from by without in this current no valid";
const SECRETS: &str = section(WORDS, "secrets");
/// Two words that name a secret together.
const PAIRS: &str = section(WORDS, "secret-pairs");
