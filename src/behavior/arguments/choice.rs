//! Arguments that choose what the tool does: an HTTP method, an `action`, an `operation`; and the requests of HTTP that they make.
//! Judges one value, not the call; what the server makes of a request is its own.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::effect::{Effect, Meaning};
use super::path::decoded;
use crate::behavior::taxonomy::Action;
use crate::behavior::voters::name::{self, Firmness};
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
    let folded: String = value.trim().nfkc().collect();
    let mut parts = folded.split(|c: char| c.is_whitespace() || c == ',').filter(|part| !part.is_empty()).peekable();
    let reads = |part: &str| {
        let words = words::of_name(part);
        part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
            // `eth_getBalance`: a name of what is asked may be before the act.
            && words.iter().take(2).any(|word| words::among(word, const { section(WORDS, "first") }))
            && !words.iter().any(|word| word == "and" || word == "or" || changes(word))
    };
    folded.len() <= 64 && parts.peek().is_some() && parts.all(reads)
}

pub fn changes(word: &str) -> bool {
    is_firm_change(word) || name::change(word).is_some_and(|firmness| firmness != Firmness::Either)
}

/// Whether a word is a verb that changes something, and hardly ever a noun.
pub fn is_firm_change(word: &str) -> bool {
    static FIRM: LazyLock<HashSet<&str>> = LazyLock::new(|| section(WORDS, "firm-change").split_whitespace().collect());
    FIRM.contains(word)
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
            Some(name::Effect::Changes(action)) if change.is_none_or(|before| before == action) => {
                change = Some(action);
            }
            Some(name::Effect::Changes(_)) => return Some(Action::Unknown),
            Some(name::Effect::Reads(_)) => {}
            None => unknown |= !part.is_empty(),
        }
    }
    if unknown && choice == Choice::Method { Some(Action::Unknown) } else { change }
}

pub fn is_http(value: &str) -> bool {
    method(&value.trim().to_ascii_uppercase()).is_some()
}

fn of_word(word: &str) -> Option<name::Effect> {
    method(&word.to_ascii_uppercase()).or_else(|| name::effect(word))
}

/// The effect of one of HTTP's methods (the IANA registry), in capitals.
fn method(word: &str) -> Option<name::Effect> {
    let mut rows = words::rows(const { section(WORDS, "methods") });
    rows.find(|(_, methods)| words::among(word, methods)).and_then(|(action, _)| name::Effect::named(action))
}

/// Whether a value is a method of HTTP, or a change.
pub fn is_act(choice: &str) -> bool {
    is_http(choice) || matches!(of_word(choice), Some(name::Effect::Changes(_)))
}

/// A request with this method, that does `change` or, where that is `None`, reads.
pub fn request(method: &str, url: Option<&str>, change: Option<Action>) -> Meaning {
    let method = method.trim();
    let shown: String = method.chars().take(24).collect::<String>().to_uppercase();
    let says = match url.and_then(host) {
        Some(host) => format!("{shown} to {host}"),
        None => format!("an HTTP {shown}"),
    };
    let (effect, action) = change.map_or((Effect::ReadElsewhere, Action::Read), |one| (Effect::of(one), one));
    Meaning::new(effect, action, method, says)
}

/// The host of an address, without its user and path; the path alone where there is no host.
fn host(url: &str) -> Option<String> {
    let url = url.trim();
    if url.is_empty() {
        return None;
    }
    let rest = url.split_once("://").map(|(_, rest)| rest);
    let authority = rest.map(|rest| rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest));
    let host = authority.map(|authority| authority.rsplit_once('@').map_or(authority, |(_, host)| host));
    Some(host.unwrap_or_else(|| url.split(['?', '#']).next().unwrap_or(url)).chars().take(60).collect())
}

/// The method that a header's name and value put in the place of the request's own.
pub fn overriding<'a>(name: &str, value: &'a str) -> Option<&'a str> {
    is_override(name).then(|| value.trim())
}

/// As [`overriding`], of any line of a text: `X-HTTP-Method-Override: DELETE`.
pub fn overriding_line(text: &str) -> Option<&str> {
    text.split(['\r', '\n']).find_map(|line| {
        let (name, value) = line.split_once(':').or_else(|| line.split_once('='))?;
        overriding(name, value)
    })
}

/// The method that an address's query puts in the place of the request's own: `?_method=DELETE`.
pub fn method_of_query(url: &str) -> Option<&str> {
    let (_, query) = url.split_once('?')?;
    query.split(['&', ';', '#', '?']).find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let name = decoded(name)?;
        is_override(&name).then_some(value)
    })
}

/// Whether a name, in any spelling, replaces the request's own method. `method` alone is the request's own.
pub fn is_override(name: &str) -> bool {
    let name = name.trim();
    let is_in_header = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b' ');
    if !name.bytes().all(is_in_header) || name.len() > 64 {
        return false;
    }
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    (plain == "method" && name.starts_with(['_', '-']))
        || ["methodoverride", "httpmethod", "overridemethod", "xmethod", "httpverb", "verboverride"]
            .iter()
            .any(|known| plain.contains(known))
}

/// An address that is code: `javascript:…`.
pub fn code(url: &str) -> Option<Meaning> {
    if !url.contains(':') {
        return None;
    }
    let plain: String = url.chars().filter(|c| !c.is_whitespace() && !c.is_control()).take(12).collect();
    let lower = plain.to_ascii_lowercase();
    let scheme = ["javascript:", "vbscript:"].into_iter().find(|scheme| lower.starts_with(scheme))?;
    let says = format!("runs the code of a {scheme} address");
    Some(Meaning::runs(url.chars().take(60).collect::<String>(), says))
}
