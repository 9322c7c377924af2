//! Arguments that choose what the tool does: an HTTP method, an `action`, an `operation`. Judges one value, not the call.

use unicode_normalization::UnicodeNormalization;

use crate::behavior::taxonomy::Action;
use crate::behavior::voters::name::{self, Effect, Firmness};
use crate::behavior::words::{self, section};

const WORDS: &str = include_str!("../../../assets/words/choice.txt");

/// What an argument of this name chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    #[default]
    Nothing,
    /// The method of a request. Only a method that is known to read counts as a read.
    Method,
    /// An act, or a filter by one: a known change counts, an unknown word tells nothing.
    Act,
    /// An act or a command under a less certain name: `bulk_action`, `do`.
    Named,
}

/// What an argument chooses whose name has these words, in lower case.
pub fn of_words(words: &[&str]) -> Choice {
    let last = words.last().copied().unwrap_or_default();
    let is_method = |word: &str| {
        let is_one = matches!(word, "method" | "methods" | "verb" | "verbs" | "methodname");
        is_one || ["httpmethod", "requestmethod", "httpverb", "methodoverride"].iter().any(|known| word.contains(known))
    };
    // The name of a stored thing (`paymentMethodId`) is no choice.
    if matches!(last, "id" | "ids" | "guid" | "uuid") {
        Choice::Nothing
    } else if words.iter().any(|word| is_method(word)) {
        Choice::Method
    } else if matches!(words, ["action" | "operation" | "op"]) {
        Choice::Act
    } else if matches!(
        last,
        "action" | "actions" | "operation" | "operations" | "op" | "ops" | "procedure" | "rpc" | "subcommand"
    ) || matches!(words, ["act" | "do" | "then" | "command" | "cmd" | "run" | "exec" | "execute"])
    {
        Choice::Named
    } else {
        Choice::Nothing
    }
}

/// Whether every part of a value is an act that is known to read: `list`, `GET`, `get_items`.
pub fn is_known_read(value: &str) -> bool {
    const FIRST: &str = section(WORDS, "first");
    let folded: String = value.trim().nfkc().collect();
    let mut parts = folded.split(|c: char| c.is_whitespace() || c == ',').filter(|part| !part.is_empty()).peekable();
    let reads = |part: &str| {
        let words = words::of_name(part);
        part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
            // `eth_getBalance`: a name of what is asked may be before the act.
            && words.iter().take(2).any(|word| words::among(word, FIRST))
            && !words.iter().any(|word| word == "and" || word == "or" || changes(word))
    };
    folded.len() <= 64 && parts.peek().is_some() && parts.all(reads)
}

/// Whether a word is a verb that changes something.
pub fn changes(word: &str) -> bool {
    is_firm_change(word) || name::change(word).is_some_and(|firmness| firmness != Firmness::Either)
}

/// Whether a word is a verb that changes something, and hardly ever a noun.
pub fn is_firm_change(word: &str) -> bool {
    words::among(word, const { section(WORDS, "firm-change") })
}

/// The change that this value chooses; `None` where it is a read, or tells nothing.
///
/// Values that are too long to be one act, and unknown methods, are [`Action::Unknown`].
pub fn changing(choice: Choice, value: &str) -> Option<Action> {
    let value = value.trim();
    if value.is_empty() {
        return None;
    }
    if value.len() > 64 {
        return Some(Action::Unknown);
    }
    let folded: String = value.nfkc().collect();
    let (mut change, mut unknown) = (None, false);
    // "GET,DELETE" is two: one server takes the first, another the last.
    for part in folded.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '|' | '&' | '+')) {
        match of_word(part) {
            Some(Effect::Changes(action)) if change.is_none_or(|before| before == action) => change = Some(action),
            Some(Effect::Changes(_)) => return Some(Action::Unknown),
            Some(Effect::Reads(_)) => {}
            None => unknown |= !part.is_empty(),
        }
    }
    if unknown && choice == Choice::Method { Some(Action::Unknown) } else { change }
}

/// Whether the value is a method of HTTP.
pub fn is_http(value: &str) -> bool {
    method(&value.trim().to_ascii_uppercase()).is_some()
}

fn of_word(word: &str) -> Option<Effect> {
    method(&word.to_ascii_uppercase()).or_else(|| name::effect(word))
}

/// The effect of one of HTTP's methods (the IANA registry), in capitals.
fn method(word: &str) -> Option<Effect> {
    let mut rows = words::rows(const { section(WORDS, "methods") });
    rows.find(|(_, methods)| words::among(word, methods)).and_then(|(action, _)| Effect::named(action))
}

/// Whether a value is a method of HTTP, or a change.
pub fn is_act(choice: &str) -> bool {
    is_http(choice) || matches!(of_word(choice), Some(Effect::Changes(_)))
}
