//! A sentence as the description voter reads it: where it begins, the verb that it opens with, and what verbs do (`description.txt`).

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::behavior::taxonomy::Action;
use crate::behavior::voters::name;
use crate::behavior::words::{self, Form, among, section};

pub(super) const WORDS: &str = include_str!("../../../../assets/words/description.txt");

/// Sentences of a description, without its markup; no more than a reader would read.
pub fn sentences(description: &str) -> impl Iterator<Item = &str> {
    let end = description.char_indices().nth(6_000).map_or(description.len(), |(end, _)| end);
    description[..end]
        .split(['\n', ';', '!', '?', '。'])
        .flat_map(|line| line.split(". "))
        .map(|sentence| sentence.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '(' | ')' | '`' | '"')))
        .filter(|sentence| !sentence.is_empty())
}

/// What a verb of this voter's lists does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Reads(Action),
    Changes(Action),
    /// An answer, unless it is media: those are kept, or paid for.
    Makes,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Verb {
    pub(super) base: &'static str,
    pub(super) effect: Effect,
}

/// The verb that a sentence opens with, where it is one there.
pub(super) fn lead(words: &[String]) -> Option<(Verb, usize, Form)> {
    let start = opening(words);
    let adverbs = words[start..].iter().take_while(|word| is_adverb(word)).count();
    [start, start + adverbs].into_iter().find_map(|at| {
        // "Gets rid of".
        let at = if words.get(at + 1).is_some_and(|next| next == "rid") { at + 1 } else { at };
        let (verb, form) = words::base(words.get(at)?, verb)?;
        if !matches!(form, Form::Base | Form::Third | Form::Gerund) {
            return None;
        }
        let next = words.get(at + 1).map_or("", String::as_str);
        let nounlike = among(next, "of between by per , : ( for in from is are was to with via at on")
            || next.is_empty() && words.len() > 1;
        let noun =
            among(verb.base, AS_NOUNS) && (nounlike && !among(verb.base, "check look search") || next.is_empty());
        // "Clicks and impressions", but "Posts a message".
        let plural = form == Form::Third
            && among(verb.base, AS_NOUNS)
            && matches!(verb.effect, Effect::Changes(_))
            && !among(next, DETERMINERS);
        // "Run this tool first" is said to the model.
        let to_model =
            among(next, "here this") && among(words.get(at + 2).map_or("", String::as_str), "tool first with when");
        (!noun && !plural && !to_model).then_some((verb, at, form))
    })
}

/// Where the sentence proper begins: after "This tool", "Use this to", "Allows you to", "Label:" and the like.
fn opening(words: &[String]) -> usize {
    const OPENERS: &str = section(WORDS, "openers");
    let is_verb = |at: usize| {
        words
            .get(at)
            .is_some_and(|word| words::base(word, verb).is_some_and(|(_, form)| form != Form::Agent) || is_adverb(word))
    };
    if is_verb(0) && !among(&words[0], "start") {
        return 0;
    }
    // "Goal Seek: change the cell": a label of a few words.
    let colon = words.iter().take(5).position(|word| word == ":" || word == "—");
    if let Some(colon) = colon.filter(|colon| *colon > 0 && is_verb(colon + 1)) {
        return colon + 1;
    }
    let skipped = words.iter().take(12).take_while(|word| among(word, OPENERS)).count();
    if skipped > 0 && is_verb(skipped) { skipped } else { 0 }
}

pub(super) fn is_adverb(word: &str) -> bool {
    (word.len() > 4 && word.ends_with("ly") && !among(word, "apply reply supply multiply comply assembly family"))
        || among(word, "also soft hard bulk batch auto first then just and or ,")
}

/// Words that open the object of a verb.
pub(super) const DETERMINERS: &str = section(WORDS, "determiners");

/// The verb that a base form is.
pub(super) fn verb(word: &str) -> Option<Verb> {
    VERBS.get(word).copied().or_else(|| match name::stem(word)? {
        (base, name::Effect::Changes(action)) => Some(Verb { base, effect: Effect::Changes(action) }),
        (_, name::Effect::Reads(_)) => None,
    })
}

static VERBS: LazyLock<HashMap<&'static str, Verb>> = LazyLock::new(|| {
    let of = |words: &'static str, effect| words.split_whitespace().map(move |base| (base, Verb { base, effect }));
    let makes = of("generate produce synthesize render", Effect::Makes);
    let row = |(action, words)| {
        let effect = match name::Effect::named(action)? {
            name::Effect::Reads(action) => Effect::Reads(action),
            name::Effect::Changes(action) => Effect::Changes(action),
        };
        Some(of(words, effect))
    };
    makes.chain(words::rows(section(WORDS, "verbs")).filter_map(row).flatten()).collect()
});

/// Verbs that open no statement of an act when a preposition follows: "Log of commits", "Order by date".
pub(super) const AS_NOUNS: &str = section(WORDS, "as-nouns");
