//! The description voter's words: verbs by what they do, and phrases that say it outright. Words only.

use crate::behavior::words::section;

const WORDS: &str = include_str!("../../../../assets/words/description.txt");

/// Verbs that open no statement of an act when a preposition follows: "Log of commits", "Order by date".
pub(super) const AS_NOUNS: &str = section(WORDS, "as-nouns");
/// Nouns that say what is known of a thing, where a sentence opens with one instead of a verb.
pub(super) const ANSWERS: &str = section(WORDS, "answers");
/// Verbs of what is lost or given away: a sentence with one in the passive states an act of the call.
pub(super) const LOST: &str = section(WORDS, "lost");
/// Verbs that in the third person are said of nothing but what a tool does to things.
pub(super) const UNMISTAKABLE: &str = section(WORDS, "unmistakable");
/// Verbs besides those of loss, whose "-ing" with an object names an act of this very call.
pub(super) const ACCOMPANYING: &str = section(WORDS, "accompanying");
/// Nothing at all is changed.
pub(super) const ONLY_READS: &str = section(WORDS, "only-reads");
/// Something is changed.
pub(super) const SAYS_CHANGES: &str = section(WORDS, "says-changes");
/// Something is saved.
pub(super) const SAYS_SAVES: &str = section(WORDS, "says-saves");
/// Verbs that say how an answer is made or what it has, and no act upon anything.
pub(super) const NEUTRAL: &str = section(WORDS, "neutral");
/// Words that are no verbs of an act: articles, prepositions, pronouns, conjunctions, auxiliaries.
pub(super) const FUNCTION: &str = section(WORDS, "function");
/// The commonest words of other languages in the same letters, and of English.
pub(super) const FOREIGN: &str = section(WORDS, "foreign");
pub(super) const ENGLISH: &str = section(WORDS, "english");
/// Parameters that name where a result is written.
pub(super) const PLACES: &str = section(WORDS, "places");
/// Verbs that look at code or statements without running them.
pub(super) const ANALYSES: &str = section(WORDS, "analyses");
pub(super) const RECIPIENTS: &str = section(WORDS, "recipients");
/// Words that make a clause no statement of what is done.
pub(super) const CONDITIONS: &str = section(WORDS, "conditions");
