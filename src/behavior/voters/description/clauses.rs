//! Acts that a sentence mentions beside its opening: a chained verb, the passive, a clause with "-ing", an exception. Knows
//! word order; the lists are the voter's.

use super::lists::{ACCOMPANYING, AS_NOUNS, CONDITIONS, LOST, UNMISTAKABLE};
use super::{DETERMINERS, Effect, Verb, is_adverb, verb};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{self, Form, among};

/// A change that goes on from the reading verb at `lead`: "Finds or creates", "Validate, then save the file".
pub(super) fn chained(words: &[String], lead: usize, lead_form: Form) -> Option<(Action, String)> {
    (lead + 1..words.len().min(lead + 30)).find_map(|at| {
        let (found, form) = words::base(&words[at], verb)?;
        let Effect::Changes(action) = found.effect else { return None };
        let before = words[..at].iter().rev().find(|word| !is_adverb(word) || among(word, "and or ,"));
        let joined = before.is_some_and(|word| among(word, "and or / & , then"));
        let object = words.get(at + 1).is_some_and(|word| among(word, DETERMINERS));
        let close = at <= lead + 3 && words[at - 1] != "/";
        let noun = among(found.base, AS_NOUNS);
        let own = object || (!noun && (close || (lead_form != Form::Base && words[at - 1] == "and")));
        (form == lead_form && joined && own).then(|| (action, words[at - 1..=at].join(" ")))
    })
}

/// A change that the sentence states of the call.
pub(super) fn change(words: &[String]) -> Option<(Action, String)> {
    let own = own_act(words);
    own.or_else(|| {
        (0..words.len()).find_map(|at| {
            // Nearly every word begins none of these.
            let (action, length) = match words[at].as_str() {
                "will" | "shall" | "is" | "are" | "get" | "gets" => passive(words, at),
                "and" | "then" | "also" | "automatically" | "it" => coordinated(words, at),
                "," | "after" | "besides" => accompanying(words, at),
                "not" | "never" | "nothing" => excepted(words, at),
                "true" => switched(words, at),
                _ => None,
            }?;
            let end = (at + length + 1).min(words.len());
            Some((action, words[at..end].join(" ")))
        })
    })
}

fn changing(word: &str) -> Option<(Verb, Action, Form)> {
    let (found, form) = words::base(word, verb)?;
    match found.effect {
        Effect::Changes(action) => Some((found, action, form)),
        Effect::Reads(_) | Effect::Makes => None,
    }
}

/// A sentence that speaks of the tool in the third person: "Creates the file if it is missing".
fn own_act(words: &[String]) -> Option<(Action, String)> {
    let skipped = words.iter().take(2).take_while(|word| among(word, "it also this then automatically")).count();
    let (found, action, form) = changing(words.get(skipped)?)?;
    let object =
        words.get(skipped + 1).is_some_and(|word| among(word, "a an the it its all any new existing your every each"));
    (form == Form::Third && among(found.base, UNMISTAKABLE) && object)
        .then(|| (action, words.iter().skip(skipped).take(4).cloned().collect::<Vec<_>>().join(" ")))
}

/// "The message is then deleted from the server": how many words from `at` on say it.
fn passive(words: &[String], at: usize) -> Option<(Action, usize)> {
    let is = |offset: usize, list: &str| words.get(at + offset).is_some_and(|word| among(word, list));
    let auxiliary = match (is(0, "will shall"), is(1, "be")) {
        (true, true) => 2,
        (true, false) => return None,
        (false, _) => 1,
    };
    let adverbs =
        words.iter().skip(at + auxiliary).take_while(|word| word.ends_with("ly") || among(word, "then also")).count();
    let length = auxiliary + adverbs + 1;
    let next = words.get(at + length).map_or("", String::as_str);
    let after_next = words.get(at + length + 1).map_or("", String::as_str);
    let (found, action, form) = changing(words.get(at + auxiliary + adverbs)?)?;
    // What is taken out of an answer is no loss: "duplicates are removed". Out of a place, it is.
    let lost = among(found.base, LOST)
        || (found.base == "remove" && next == "from" && among(after_next, "the your its this our"))
        || (found.base == "mark" && next == "as")
        || (among(found.base, "close replace remove reset cancel") && auxiliary == 2);
    // What is done once the call is over is an act of the call.
    let follows = among(next, "afterwards afterward thereafter")
        || words.iter().skip(at + auxiliary).take(adverbs).any(|word| word == "then");
    let is_done = form == Form::Participle || among(found.base, "reset set put cut shut");
    // By somebody, or in time by itself: that is no act of this call.
    let by_itself = among(next, "by after every once when if upon within unless");
    let clause = words[..at].iter().rev().take_while(|word| *word != ",");
    let of_the_call = clause.clone().all(|word| !among(word, CONDITIONS)) && clause.count() > 0;
    (is_done && (lost || follows) && !by_itself && of_the_call).then_some((action, length))
}

/// "… and marks it", "also revokes".
fn coordinated(words: &[String], at: usize) -> Option<(Action, usize)> {
    let next = words.get(at + 2)?;
    let (found, action, form) = changing(words.get(at + 1)?)?;
    let own = among(found.base, UNMISTAKABLE) && among(next, "it them the a an its all any");
    let counts = match words[at].as_str() {
        "it" => own,
        "also" => own || (takes_away(action) && !among(next, "and or ,")),
        _ => own || (among(next, "it them") && (takes_away(action) || among(found.base, "mark flag"))),
    };
    (form == Form::Third && counts).then_some((action, 2))
}

/// "…, creating one if there is none", "after transferring the amount".
fn accompanying(words: &[String], at: usize) -> Option<(Action, usize)> {
    if !words.get(at + 2).is_some_and(|word| among(word, "it them the one any all your its each every")) {
        return None;
    }
    let (found, action, form) = changing(words.get(at + 1)?)?;
    let said_to_reader = words.first().is_some_and(|word| among(word, "use call run only always best useful ideal"));
    let is_subject = match words[at].as_str() {
        "besides" => true,
        "after" => at > 1 && !said_to_reader,
        _ => at > 1,
    };
    let counts = among(found.base, LOST) || among(found.base, ACCOMPANYING);
    (form == Form::Gerund && is_subject && counts).then_some((action, 2))
}

/// "Does not delete anything except …": that it does.
fn excepted(words: &[String], at: usize) -> Option<(Action, usize)> {
    let but = words.iter().skip(at).position(|word| among(word, "except besides"))?;
    let (_, action, _) = words[at..at + but].iter().find_map(|word| changing(word))?;
    Some((action, but))
}

/// "Pass capture=true to seed the file": what a switch makes of it.
fn switched(words: &[String], at: usize) -> Option<(Action, usize)> {
    let (found, action, form) = changing(words.get(at + 2).filter(|_| words[at + 1] == "to")?)?;
    // What is made may be only the answer: "true to create a short version".
    let changes = match action {
        Action::Create => among(found.base, "seed save store persist register upload"),
        _ => !among(found.base, super::AS_NOUNS) && !among(found.base, "extend adjust"),
    };
    (form == Form::Base && changes).then_some((action, 2))
}

fn takes_away(action: Action) -> bool {
    matches!(action, Action::Delete | Action::Send | Action::Overwrite)
}
