//! What verbs do to their objects. Owns the word lists; `reading` finds the verb among the words.
//!
//! The lists (`verbs`, `turns`) are about the language, not about any server. A verb that is not listed is unknown, which means MUTATES.

mod turns;
mod verbs;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::taxonomy::Action;
use super::words::among;
use turns::TURNS;
use verbs::{FOREIGN_STEMS, LISTS};

/// What a verb tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verb {
    /// Its base form.
    pub base: &'static str,
    pub effect: Effect,
    pub firmness: Firmness,
}

/// What the act does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Reads(Action),
    /// Changes something.
    Changes(Action),
    /// Depends on its object or on the rest of the definition; the action if it should change something.
    Depends(Action),
}

/// Whether the word is surely a verb where one may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firmness {
    /// Hardly ever a noun: `delete`, `fetch`.
    Verb,
    /// A verb, though a noun of that form exists: `start`, `run`, `deploy`.
    Mostly,
    /// As often a noun: `order`, `comment`, `report`.
    Either,
}

/// The verb that a base form is.
pub fn verb(word: &str) -> Option<Verb> {
    if let Some(found) = VERBS.get(word) {
        return Some(*found);
    }
    if !word.is_ascii()
        && let Some((_, found)) = FOREIGN.iter().find(|(known, _)| word.starts_with(*known))
    {
        return Some(*found);
    }
    // `reassign`, `undeploy`, `bulk-delete`: the prefix does not make a change harmless.
    const PREFIXES: &[&str] = &[
        "re", "un", "de", "dis", "auto", "bulk", "batch", "multi", "soft", "hard", "force", "mass", "quick", "co",
        "over",
    ];
    PREFIXES.iter().find_map(|prefix| {
        let rest = word.strip_prefix(prefix)?.trim_start_matches('-');
        let found = VERBS.get(rest).filter(|_| rest.len() > 3)?;
        match found.effect {
            Changes(_) => Some(Verb { firmness: Firm, ..*found }),
            Reads(_) | Depends(_) => None,
        }
    })
}

/// What the verb does to this object, where the object decides: `resolve` a host, or `resolve` a comment.
pub fn with_object(verb: Verb, object: &[String]) -> Effect {
    // The object itself ends at a preposition; what follows says where or how.
    let end = object
        .iter()
        .position(|word| among(word, "with by on via using against when if that which"))
        .unwrap_or(object.len());
    let near: Vec<&str> = object[..end].iter().map(String::as_str).filter(|word| !is_filler(word)).take(7).collect();
    let fits = |(_, nouns, _): &&(&str, &str, Effect)| {
        nouns.split_ascii_whitespace().any(|noun| match noun.strip_prefix('^') {
            Some(next) => object.first().is_some_and(|word| word == next),
            None => near.iter().any(|word| *word == noun || word.strip_suffix('s') == Some(noun)),
        })
    };
    TURNS.iter().filter(|(verbs, ..)| among(verb.base, verbs)).find(fits).map_or(verb.effect, |(.., effect)| *effect)
}

fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "a" | "an" | "the" | "of" | "all" | "this" | "your" | "new" | "one" | "," | "(" | ")" | "/" | "and" | "or"
    )
}

use Effect::{Changes, Depends, Reads};
use Firmness::Verb as Firm;

static VERBS: LazyLock<HashMap<&'static str, Verb>> = LazyLock::new(|| {
    let rows = LISTS.iter().flat_map(|(effect, firmness, words)| {
        words.split_whitespace().map(|base| (base, Verb { base, effect: *effect, firmness: *firmness }))
    });
    rows.collect()
});

/// First verbs of other scripts, by their stems: those have no word ends that an English eye could cut.
static FOREIGN: LazyLock<Vec<(&'static str, Verb)>> = LazyLock::new(|| {
    let rows = FOREIGN_STEMS.iter().flat_map(|(effect, words)| {
        words.split_whitespace().map(|base| (base, Verb { base, effect: *effect, firmness: Firm }))
    });
    rows.collect()
});
