//! Whether a description is read to its end: in English, and each clause an act that is known to read, or no act at all. What
//! is not explained proves nothing, and speaks against nothing.

use super::lists::{AS_NOUNS, ENGLISH, FOREIGN, FUNCTION, NEUTRAL};
use super::{Effect, is_adverb, lead, sentences, verb};
use crate::behavior::words::{self, Form, among};
use crate::mcp::tool::Tool;

/// The first words of a description that are not explained; `None` where all of it is.
pub fn unexplained(tool: &Tool) -> Option<String> {
    let description = tool.description.as_deref().unwrap_or_default();
    if is_foreign(description) {
        return Some("its language".to_owned());
    }
    sentences(description).enumerate().find_map(|(at, sentence)| {
        let words = words::of_sentence(sentence);
        let from = unexplained_part(&words, at == 0)?;
        Some(words[from..words.len().min(from + 3)].join(" "))
    })
}

/// Whether a description is read to its end, and names no act beside the verb that it opens with: not even one that it denies,
/// or speaks of as done by somebody else.
pub fn names_one_act(tool: &Tool) -> bool {
    let names_act = |words: &[String], at: usize| {
        let changes = words::base(&words[at], verb).filter(|(verb, _)| !matches!(verb.effect, Effect::Reads(_)));
        // "The comments of an issue" are things, "… and comments on it" is an act.
        let joined = at.checked_sub(1).is_some_and(|before| among(&words[before], "and or then to also , / &"));
        changes.is_some_and(|(verb, _)| joined || !among(verb.base, AS_NOUNS))
            || among(&words[at], "sent paid sold shut lost")
    };
    let description = tool.description.as_deref().unwrap_or_default();
    let acts = |sentence: &str| {
        let words = words::of_sentence(sentence);
        (0..words.len()).any(|at| names_act(&words, at))
    };
    unexplained(tool).is_none() && !sentences(description).any(acts)
}

/// Whether a text is in a language of which this voter knows only some words.
fn is_foreign(description: &str) -> bool {
    let letters = description.chars().filter(|c| c.is_alphabetic()).count();
    let others = description.chars().filter(|c| c.is_alphabetic() && !c.is_ascii()).count();
    let words = words::of_sentence(description);
    let of = |list: &str| words.iter().filter(|word| among(word, list)).count();
    others * 8 > letters || of(FOREIGN) > of(ENGLISH)
}

/// Where the first part begins that is not explained.
fn unexplained_part(words: &[String], first: bool) -> Option<usize> {
    let reading = lead(words).filter(|(verb, ..)| !matches!(verb.effect, Effect::Changes(_)));
    if let Some((verb, at, _)) = reading
        && first
        && ((among(words::nth(words, at + 1), PARTICLES) && !leads_on(verb.base, words::nth(words, at + 1)))
            || is_causative(words, at))
    {
        return Some(at);
    }
    let form = lead(words).map(|(_, _, form)| form);
    (0..words.len())
        .find(|at| among(words::nth(words, *at), "and then or but also , / &") && coordinates(words, *at, form))
}

/// Whether a word is a form of a verb that reads, or says how an answer is made or what it has.
fn is_known(words: &[String], at: usize) -> bool {
    let known = |base: &str| {
        let reads = verb(base).is_some_and(|verb| !matches!(verb.effect, Effect::Changes(_)));
        (reads || among(base, NEUTRAL)).then_some(())
    };
    words::base(words::nth(words, at), known).is_some()
}

/// "… and corrects it", "…, notifying the owner", "… and has it sent", "… and away with it": another act, and an unknown one.
fn coordinates(words: &[String], at: usize, lead: Option<Form>) -> bool {
    let skipped = |word: &&String| is_adverb(word) || among(word, "it to then also");
    let next = at + 1 + words.iter().skip(at + 1).take_while(skipped).count();
    let word = words::nth(words, next);
    let third = word.ends_with('s') && !word.ends_with("ss");
    let fits = word.ends_with("ing") || lead.is_none_or(|form| (form == Form::Third) == third);
    let act = !among(word, FUNCTION) && !is_known(words, next);
    let joined = among(words::nth(words, at), "and then");
    (fits && act && among(words::nth(words, next + 1), OBJECTS))
        || (joined && (among(word, "away off out back up down over") || is_causative(words, next)))
        || (words::nth(words, at) == "," && word == "having")
}

/// "Gets an invoice paid", "has the depot ship it", "gets them to sign it": what is got or had is an act. "Gets the users added
/// by …" speaks of the users.
fn is_causative(words: &[String], at: usize) -> bool {
    let word = |at| words::nth(words, at);
    let (has, gets) = (among(word(at), "have has make makes let lets"), among(word(at), "get gets"));
    let does = |at: usize| {
        let act = !among(word(at), FUNCTION) && !is_known(words, at) && among(word(at + 1), OBJECTS);
        let before = word(at - 1);
        act && (gets && before == "to" && word(at.saturating_sub(2)) != "how"
            || has && (among(before, "it them") || !among(before, FUNCTION)))
    };
    if (at + 2..words.len().min(at + 8)).any(does) {
        return true;
    }
    among(word(at), "get gets have has see sees make makes")
        && (at + 2..words.len().min(at + 12)).any(|at| {
            let before = word(at - 1);
            let thing = among(before, "it them") || !(among(before, FUNCTION) || is_adverb(before));
            let ends = word(at + 1).is_empty() || among(word(at + 1), "with for and again off out up");
            thing && ends && is_participle(word(at))
        })
}

fn is_participle(word: &str) -> bool {
    (word.len() > 4 && word.ends_with("ed")) || among(word, IRREGULAR)
}

/// "Look up", "search in": a reading verb with a word of place that leaves it one.
fn leads_on(verb: &str, particle: &str) -> bool {
    match verb {
        "look" => among(particle, "up at for through into"),
        "search" | "scan" | "browse" | "find" | "query" | "fetch" | "read" | "list" => {
            among(particle, "in on over through into back up")
        }
        _ => false,
    }
}

const PARTICLES: &str = "in out off away to over on up down back with rid into onto even";
const OBJECTS: &str = "a an the it its them their him her his your this these those any every each what whatever who whoever me us my one";
const IRREGULAR: &str = "sent paid put taken given made written kept sold done shut cut lost held left told brought";
