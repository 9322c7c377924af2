//! Acts that a sentence mentions beside its point: in the passive, after an "and also", in a clause with "-ing". Knows word
//! order; that such an act outweighs a read is the recogniser's business.

use super::lexicon::{Effect, Firmness, Verb, verb};
use super::taxonomy::Action;
use super::words::{self, Form, among};

/// The words that name such an act: "is then deleted", "and marks it", ", creating them".
pub fn aside(words: &[String]) -> Option<String> {
    (0..words.len()).find_map(|at| {
        // Nearly every word begins none of these.
        let length = match words[at].as_str() {
            "will" | "shall" | "is" | "are" | "get" | "gets" => passive(words, at),
            "and" | "then" | "also" | "automatically" => coordinated(words, at),
            "," | "after" | "besides" => accompanying(words, at),
            "not" | "never" | "nothing" => excepted(words, at),
            "true" => switched(words, at),
            _ => None,
        }?;
        let end = (at + length + 1).min(words.len());
        Some(words[at..end].join(" "))
    })
}

/// "The message is then deleted from the server": how many words from `at` on say it.
fn passive(words: &[String], at: usize) -> Option<usize> {
    let is = |offset: usize, list: &str| words.get(at + offset).is_some_and(|word| among(word, list));
    let auxiliary = match (is(0, "will shall"), is(1, "be")) {
        (true, true) => 2,
        (true, false) => return None,
        (false, _) => 1,
    };
    let adverbs = words.iter().skip(at + auxiliary).take_while(|word| is_adverb(word)).count();
    let done = words.get(at + auxiliary + adverbs)?;
    let length = auxiliary + adverbs + 1;
    let next = words.get(at + length).map_or("", String::as_str);
    let after_next = words.get(at + length + 1).map_or("", String::as_str);
    let (found, form) = words::base(done, verb)?;
    // What is taken out of an answer is no loss: "duplicates are removed". Out of a place, it is.
    let lost = among(found.base, LOST)
        || (found.base == "remove" && next == "from" && among(after_next, "the your its this our"))
        || (found.base == "mark" && next == "as")
        || (found.base == "close" && auxiliary == 2);
    // By somebody, or in time by itself: that is no act of this call.
    let by_itself = among(next, "by after every once when if upon within unless");
    let clause = words[..at].iter().rev().take_while(|word| *word != ",");
    let of_the_call = clause.clone().all(|word| !among(word, CONDITIONS)) && clause.count() > 0;
    (form == Form::Participle && lost && !by_itself && of_the_call).then_some(length)
}

/// "… and marks it", "also revokes".
fn coordinated(words: &[String], at: usize) -> Option<usize> {
    let next = words.get(at + 2)?;
    let (found, form) = words::base(words.get(at + 1)?, verb)?;
    let pronoun = among(next, "it them");
    let counts = match found.effect {
        Effect::Changes(_) if pronoun => removes(found) || among(found.base, "mark flag"),
        Effect::Changes(_) => words[at] == "also" && removes(found) && !among(next, "and or ,"),
        Effect::Reads(_) | Effect::Depends(_) => false,
    };
    (form == Form::Third && counts).then_some(2)
}

/// "…, creating one if there is none", "after transferring the amount".
fn accompanying(words: &[String], at: usize) -> Option<usize> {
    if !words.get(at + 2).is_some_and(|word| among(word, "it them the one any all your its each every")) {
        return None;
    }
    let (found, form) = words::base(words.get(at + 1)?, verb)?;
    let said_to_reader = words.first().is_some_and(|word| among(word, "use call run only always best useful ideal"));
    let told = match words[at].as_str() {
        "besides" => true,
        "after" => at > 1 && !said_to_reader,
        _ => at > 1,
    };
    let counts = matches!(found.effect, Effect::Changes(_)) && (removes(found) || among(found.base, ACCOMPANYING));
    (form == Form::Gerund && told && counts).then_some(2)
}

/// "Does not delete anything except …": that it does.
fn excepted(words: &[String], at: usize) -> Option<usize> {
    let but = words.iter().skip(at).position(|word| among(word, "except besides"))?;
    let change =
        |word: &String| words::base(word, verb).is_some_and(|(verb, _)| matches!(verb.effect, Effect::Changes(_)));
    words[at..at + but].iter().any(change).then_some(but)
}

/// "Pass capture=true to seed the file": what a switch makes of it.
fn switched(words: &[String], at: usize) -> Option<usize> {
    let (found, form) = words::base(words.get(at + 2).filter(|_| words[at + 1] == "to")?, verb)?;
    // What is made may be only the answer: "true to create a short version".
    let changes = match found.effect {
        Effect::Changes(Action::Create) => among(found.base, "seed save store persist register upload"),
        Effect::Changes(_) => found.firmness == Firmness::Verb && !among(found.base, "opt extend adjust"),
        Effect::Reads(_) | Effect::Depends(_) => false,
    };
    (form == Form::Base && changes).then_some(2)
}

/// Whether the verb takes something away, or out of the house, and is hardly ever a noun.
fn removes(found: Verb) -> bool {
    let Effect::Changes(action) = found.effect else { return false };
    let takes = matches!(action, Action::Delete | Action::Send | Action::Move | Action::Overwrite);
    takes && found.firmness == Firmness::Verb && !among(found.base, "remove replace clean say empty speak put respond")
}

fn is_adverb(word: &str) -> bool {
    (word.len() > 4 && word.ends_with("ly")) || among(word, "then also")
}

/// What is lost when it is done.
const LOST: &str =
    "delete erase purge destroy wipe revoke invalidate obliterate shred overwrite terminate evict consume";

/// Verbs besides those that take away, whose "-ing" with an object names an act of this very call.
const ACCOMPANYING: &str =
    "create transfer charge reset mark submit update insert register revoke publish disable restart";

/// Words that make a clause no statement of what is done.
const CONDITIONS: &str = "that which who whom whose if whether when where once until unless while after before because as since not never \
    no cannot how what why may can could must should would might or example e.g like note ensure make sure list";
