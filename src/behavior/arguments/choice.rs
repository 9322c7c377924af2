//! Arguments that choose what the tool does: an HTTP method, an `action`, an `operation`. Judges one value, not the call.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use crate::behavior::taxonomy::Action;
use crate::behavior::voters::name::{self, Effect};
use crate::behavior::words;
use crate::mcp::tool::Tool;

/// What an argument of this name chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The method of a request: what is not known to read is not taken for a read.
    Method,
    /// An act, or a filter by one: an unknown word tells nothing.
    Act,
}

/// What an argument of this name chooses, if it chooses anything.
pub fn of_key(key: &str) -> Option<Choice> {
    const ACTS: &[&str] = &["action", "operation", "op"];
    if ACTS.iter().any(|known| key.eq_ignore_ascii_case(known)) {
        return Some(Choice::Act);
    }
    // Few keys get past this line, which allocates nothing.
    let holds = |part: &[u8]| key.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part));
    if !holds(b"method") && !holds(b"verb") {
        return None;
    }
    let words = words::of_name(key);
    // The name of a stored thing (`paymentMethodId`) is no choice.
    if words.last().is_some_and(|word| words::among(word, "id ids guid uuid")) {
        return None;
    }
    let names = |word: &String| {
        words::among(
            word,
            "method methods verb verbs httpmethod httpmethods requestmethod httpverb methodname methodoverride",
        )
    };
    words.iter().any(names).then_some(Choice::Method)
}

/// The change that this value chooses; `None` where it is a read, or tells nothing.
///
/// Values that are too long to be one act, and methods that nobody knows, are [`Action::Unknown`].
pub fn changing(choice: Choice, key: &str, value: &str, tool: Option<&Tool>) -> Option<Action> {
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
    if unknown && choice == Choice::Method && !listed(key, value, tool) { Some(Action::Unknown) } else { change }
}

/// Whether the value is a method of HTTP.
pub fn is_http(value: &str) -> bool {
    let upper = value.trim().to_ascii_uppercase();
    METHODS.iter().any(|(_, methods)| words::among(&upper, methods))
}

fn of_word(word: &str) -> Option<Effect> {
    let upper = word.to_ascii_uppercase();
    if let Some((effect, _)) = METHODS.iter().find(|(_, methods)| words::among(&upper, methods)) {
        return Some(*effect);
    }
    name::effect(word)
}

/// HTTP's methods (the IANA registry) where a name's words do not tell their effect.
const METHODS: &[(Effect, &str)] = &[
    (Effect::Reads(Action::Read), "GET HEAD OPTIONS TRACE PROPFIND REPORT"),
    (Effect::Reads(Action::Search), "SEARCH QUERY"),
    (Effect::Changes(Action::Create), "POST MKCOL MKCALENDAR MKACTIVITY MKWORKSPACE MKREDIRECTREF"),
    (Effect::Changes(Action::Overwrite), "PUT"),
    (
        Effect::Changes(Action::Update),
        "PATCH PROPPATCH ORDERPATCH ACL LOCK UNLOCK UPDATEREDIRECTREF VERSION-CONTROL BASELINE-CONTROL",
    ),
    (Effect::Changes(Action::Delete), "DELETE PURGE"),
    (Effect::Changes(Action::Execute), "CONNECT"),
];

/// Whether the tool lists this value among others of which none is a method of HTTP or a change: `pearson`, `kendall`.
fn listed(key: &str, value: &str, tool: Option<&Tool>) -> bool {
    let listed = || tool?.input_schema.get("properties")?.get(key)?.get("enum")?.as_array();
    let harmless = |choice: &Value| {
        choice.as_str().is_some_and(|choice| {
            let upper = choice.to_ascii_uppercase();
            !METHODS.iter().any(|(_, methods)| words::among(&upper, methods))
                && !matches!(of_word(choice), Some(Effect::Changes(_)))
        })
    };
    listed().is_some_and(|choices| choices.iter().any(|choice| choice == value) && choices.iter().all(harmless))
}
