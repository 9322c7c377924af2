//! Sentences as the description voter reads them: the verb that one opens with, acts that its clauses mention (a chained verb, the
//! passive, a clause with "-ing", an exception), and whether a description is explained to its end (`description.txt`). What is not
//! explained proves nothing, and speaks against nothing.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::behavior::taxonomy::Action;
use crate::behavior::voters::name;
use crate::behavior::words::{self, Form, among, section};
use crate::mcp::tool::Tool;

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
        // "Run this tool first", "Start here to see…" is said to the model.
        let to_model = verb.base == "start" && next == "here"
            || among(next, "here this") && among(words::nth(words, at + 2), "tool first with when");
        (!noun && !plural && !to_model).then_some((verb, at, form))
    })
}

/// Where the sentence proper begins: after "This tool", "Use this to", "Allows you to", "Label:" and the like.
fn opening(words: &[String]) -> usize {
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
    let skipped = words.iter().take(12).take_while(|word| among(word, const { section(WORDS, "openers") })).count();
    if skipped > 0 && is_verb(skipped) { skipped } else { 0 }
}

pub(super) fn is_adverb(word: &str) -> bool {
    (word.len() > 4 && word.ends_with("ly") && !among(word, "apply reply supply multiply comply assembly family"))
        || among(word, "also soft hard bulk batch auto first then just and or ,")
}

pub(super) const DETERMINERS: &str = section(WORDS, "determiners");

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
    let of_the_call =
        clause.clone().all(|word| !among(word, const { section(WORDS, "conditions") })) && clause.count() > 0;
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
    let counts = among(found.base, LOST) || among(found.base, const { section(WORDS, "accompanying") });
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
        _ => !among(found.base, AS_NOUNS) && !among(found.base, "extend adjust"),
    };
    (form == Form::Base && changes).then_some((action, 2))
}

fn takes_away(action: Action) -> bool {
    matches!(action, Action::Delete | Action::Send | Action::Overwrite)
}

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

/// Whether a description is read to its end and names no act beside its opening verb, not even a denied one or one of others.
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
    others * 8 > letters || of(const { section(WORDS, "foreign") }) > of(const { section(WORDS, "english") })
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
        (reads || among(base, const { section(WORDS, "neutral") })).then_some(())
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

/// "Gets an invoice paid", "has the depot ship it": what is got or had is an act. "Gets the users added by …" is about users.
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
            thing && ends && (word(at).len() > 4 && word(at).ends_with("ed") || among(word(at), IRREGULAR))
        })
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
/// Verbs of what is lost or given away: a sentence with one in the passive states an act of the call.
const LOST: &str = section(WORDS, "lost");
/// Verbs that in the third person are said of nothing but what a tool does to things.
const UNMISTAKABLE: &str = section(WORDS, "unmistakable");
/// Words that are no verbs of an act: articles, prepositions, pronouns, conjunctions, auxiliaries.
const FUNCTION: &str = section(WORDS, "function");
/// Verbs that open no statement of an act when a preposition follows: "Log of commits", "Order by date".
pub(super) const AS_NOUNS: &str = section(WORDS, "as-nouns");
