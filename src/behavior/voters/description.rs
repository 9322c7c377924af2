//! Votes by what the definition says in words: title, every sentence, and parameters. A word on none of its lists is unknown
//! and says nothing; a sentence that only repeats the name is the name's word, not a second one.

mod clauses;
mod lists;
mod parameters;
mod whole;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Says, Vote, name};
use crate::behavior::evidence::{Claim, Evidence, Source, Strength};
use crate::behavior::phrases::{Hyphens, Phrases, plain};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{self, Form, among, section};
use crate::mcp::tool::Tool;
use lists::{ANSWERS, AS_NOUNS, ONLY_READS, SAYS_CHANGES, SAYS_SAVES};
pub use whole::{names_one_act, unexplained};

const WORDS: &str = include_str!("../../../assets/words/description.txt");

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
enum Effect {
    Reads(Action),
    Changes(Action),
    /// An answer, unless it is media: those are kept, or paid for.
    Makes,
}

#[derive(Clone, Copy, Debug)]
struct Verb {
    base: &'static str,
    effect: Effect,
}

/// Votes by title, description and parameters.
pub fn vote(tool: &Tool) -> Vote {
    let description = tool.description.as_deref().unwrap_or_default();
    let name = words::of_name(&tool.name);
    let mut reads: Option<(Says, Action, String)> = None;
    let mut only_reads = None;
    let mut heading = true;
    let title = words::of_sentence(tool.title.as_deref().unwrap_or_default());
    let by = |says, action: Action, span| Vote { voter: Source::Description, says, action: Some(action), span };
    if let Some((verb, at, _)) = lead(&title)
        && let Effect::Changes(action) = verb.effect
        && !asks_only(&title[at..], verb)
    {
        return by(Says::Changes, action, title[at].clone());
    }
    for sentence in sentences(description) {
        let words = words::of_sentence(sentence);
        let mut rest = words.as_slice();
        if let Some((verb, at, form)) = lead(&words) {
            let span = words[at].clone();
            let chained = (heading || form == Form::Third).then(|| clauses::chained(&words, at, form)).flatten();
            match (verb.effect, chained) {
                (Effect::Reads(_) | Effect::Makes, Some((action, span))) => return by(Says::Changes, action, span),
                (Effect::Makes, None) if heading && words[at..].iter().take(12).any(|word| among(word, MEDIA)) => {
                    return by(Says::Changes, Action::Create, span);
                }
                (Effect::Changes(action), _) if heading && !asks_only(&words[at..], verb) => {
                    return by(Says::Changes, action, span);
                }
                (Effect::Reads(action), None) if reads.is_none() && heading && !repeats(sentence, &name) => {
                    reads = Some((Says::Reads, action, span));
                }
                (Effect::Changes(_), _) if heading => {
                    // "Executes a query": what follows the verb is only asked for.
                    rest = &words[at + 1..];
                    if reads.is_none() && !repeats(sentence, &name) {
                        reads = Some((Says::MayRead, Action::Read, span));
                    }
                }
                (Effect::Changes(_) | Effect::Reads(_) | Effect::Makes, _) => {}
            }
        } else if heading && reads.is_none() && !repeats(sentence, &name) {
            reads = answer(&words).map(|noun| (Says::Reads, Action::Read, noun.clone()));
        }
        if let Some((action, span)) = clauses::change(rest) {
            return by(Says::Changes, action, span);
        }
        let flat = plain(sentence, Hyphens::Kept);
        let conditional = ["by default", "unless", "optional", "except"].iter().any(|word| flat.contains(word));
        for (at, phrase, assertion) in PHRASES.found(&flat) {
            let span = phrase.trim_end_matches('*').to_owned();
            match assertion {
                Assertion::Changes(action) if !denied(&flat[..at]) => return by(Says::Changes, action, span),
                Assertion::OnlyReads if !conditional && only_reads.is_none() => only_reads = Some(span),
                Assertion::Changes(_) | Assertion::OnlyReads => {}
            }
        }
        if READING_SQL.iter().any(|phrase| sentence.contains(phrase)) && !conditional {
            only_reads.get_or_insert_with(|| "SELECT".to_owned());
        }
        heading = heading && (words.len() <= 4 || repeats(sentence, &name)) && reads.is_none();
    }
    let found = parameters::read(&tool.input_schema, description);
    if let Some((action, span)) = found.changes(only_reads.is_some(), reads.as_ref().map(|(_, _, verb)| verb.as_str()))
    {
        return by(Says::Changes, action, span);
    }
    if (reads.is_some() || only_reads.is_some()) && unexplained(tool).is_some() {
        let action = reads.map(|(_, action, _)| action);
        return Vote { action, ..Vote::silent(Source::Description) };
    }
    match (reads, only_reads) {
        (Some((says, action, span)), None) if says == Says::Reads && !found.may_change => by(Says::Reads, action, span),
        (Some((_, action, _)), Some(span)) => by(Says::Reads, action, span),
        (None, Some(span)) => by(Says::Reads, Action::Read, span),
        (Some((_, action, span)), None) => by(Says::MayRead, action, span),
        (None, None) => Vote::silent(Source::Description),
    }
}

/// The verb that a description opens with, empty where it is unknown, and what it is done to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    pub verb: String,
    pub object: Vec<String>,
}

/// Reads the opening of a description: its first sentence that is more than a heading.
pub fn opened(tool: &Tool) -> Opened {
    let mut first = None;
    for sentence in sentences(tool.description.as_deref().unwrap_or_default()).take(3) {
        let words = words::of_sentence(sentence);
        if let Some((_, at, _)) = lead(&words) {
            return Opened { verb: words[at].clone(), object: words[at + 1..].to_vec() };
        }
        first.get_or_insert(words);
    }
    Opened { verb: String::new(), object: first.unwrap_or_default() }
}

/// The parameter that carries code or a statement, as words joined by `_`.
pub fn runs(tool: &Tool) -> Option<String> {
    let description = tool.description.as_deref().unwrap_or_default();
    parameters::read(&tool.input_schema, description).runs.map(|name| words::of_name(&name).join("_"))
}

/// The parameter by which a tool that looks like a read would write or deliver something: it is likely to read at best.
pub fn written(tool: &Tool) -> Option<Evidence> {
    let verbs = [opened(tool).verb, name::of_name(&words::of_name(&tool.name)).verb];
    let span = parameters::written(&tool.input_schema, &verbs)?;
    Some(Evidence { source: Source::Description, says: Claim::default(), span, strength: Strength::Weak })
}

/// The verb that a sentence opens with, where it is one there.
fn lead(words: &[String]) -> Option<(Verb, usize, Form)> {
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

/// A sentence that only names what is answered: "Details for one package", "An overview of all servers".
fn answer(words: &[String]) -> Option<&String> {
    let start = words.iter().take_while(|word| among(word, "a an the : ,")).count();
    let noun = words.get(start).filter(|word| among(word, ANSWERS))?;
    words.get(start + 1).is_some_and(|next| among(next, "of for about on")).then_some(noun)
}

/// "Runs a search": what is run is only asked for.
fn asks_only(words: &[String], verb: Verb) -> bool {
    const ASKED: &str = section(WORDS, "asked");
    // "Executes GET /orders", as frameworks write it of an interface that says no more.
    let sent = || words.iter().skip(1).find(|word| !among(word, "a an the http https"));
    among(verb.base, "run execute perform make call")
        && (sent().is_some_and(|method| among(method, "get head"))
            || words.iter().skip(1).take(8).any(|word| among(word, ASKED)))
}

/// Whether the sentence only repeats the name, as frameworks generate it. "Gets the order" does not: the ending and the
/// article show that its first word is a verb.
pub(super) fn repeats(sentence: &str, name: &[String]) -> bool {
    let known = |word: &String| name.iter().any(|said| said == word || said.strip_suffix('s') == Some(word));
    words::of_name(sentence).iter().all(known)
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

fn is_adverb(word: &str) -> bool {
    (word.len() > 4 && word.ends_with("ly") && !among(word, "apply reply supply multiply comply assembly family"))
        || among(word, "also soft hard bulk batch auto first then just and or ,")
}

/// Whether the words right before a phrase deny it: "does not", "without", "never".
fn denied(before: &str) -> bool {
    const DENIALS: &str = "not no never without non nothing cannot doesnt dont wont isnt before";
    before.ends_with("non-") || before.split_whitespace().rev().take(4).any(|word| among(word, DENIALS))
}

/// Words that open the object of a verb.
const DETERMINERS: &str = section(WORDS, "determiners");

/// The verb that a base form is.
fn verb(word: &str) -> Option<Verb> {
    VERBS.get(word).copied().or_else(|| match name::stem(word)? {
        (base, name::Effect::Changes(action)) => Some(Verb { base, effect: Effect::Changes(action) }),
        (_, name::Effect::Reads(_)) => None,
    })
}

#[derive(Clone, Copy)]
enum Assertion {
    OnlyReads,
    Changes(Action),
}

static PHRASES: LazyLock<Phrases<Assertion>> = LazyLock::new(|| {
    Phrases::new(&[
        (ONLY_READS, Assertion::OnlyReads),
        (SAYS_CHANGES, Assertion::Changes(Action::Unknown)),
        (SAYS_SAVES, Assertion::Changes(Action::Create)),
    ])
});

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

const MEDIA: &str = section(WORDS, "media");

const READING_SQL: &[&str] = &[
    "SELECT quer", "SELECT statement", "SELECT-only", "only SELECT", "a SELECT", "(SELECT)", "SELECT only",
    "SELECT SQL", "only `SELECT",
];
