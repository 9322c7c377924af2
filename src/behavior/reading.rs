//! Reads the act off a name or a sentence: which word is its verb, and whether it is one. Knows word order, not meanings.

use super::lexicon::{self, Effect, Firmness, Verb, verb};
use super::taxonomy::Action;
use super::words::{self, Form, among};

/// The act that some words speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    pub effect: Effect,
    /// The word, as written.
    pub word: String,
    /// Its base form.
    pub base: &'static str,
    /// What it is done to: the words after the verb, else those before it.
    pub object: Vec<String>,
    pub sure: Sure,
    pub firmness: Firmness,
    pub form: Form,
    /// Whether it is the first word.
    pub place: Place,
}

/// The verb's place among the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    First,
    Later,
}

/// How sure it is that this word is the verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sure {
    /// The word may as well be a noun here.
    Perhaps,
    Yes,
}

/// What the opening of a sentence is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It begins with a verb: "Deletes the file".
    Act(Act),
    /// It names a thing or asks a question: "One publisher's books", "Where the moon is". What is named comes back.
    Thing,
    /// Neither is plain.
    Unclear,
}

struct VerbAt {
    at: usize,
    verb: Verb,
    form: Form,
}

fn found(words: &[String]) -> Vec<VerbAt> {
    let of = |(at, word): (usize, &String)| words::base(word, verb).map(|(verb, form)| VerbAt { at, verb, form });
    words.iter().enumerate().filter_map(of).collect()
}

/// The act a tool's name speaks of.
pub fn of_name(words: &[String]) -> Option<Act> {
    // "Read-only" says how, not what.
    let says_how = |v: &VerbAt| words[v.at] == "read" && words.get(v.at + 1).is_some_and(|word| word == "only");
    let verbs: Vec<VerbAt> = found(words).into_iter().filter(|v| !says_how(v)).collect();
    let firm = |v: &&VerbAt| v.verb.firmness != Firmness::Either && v.form == Form::Base;
    let changes = |v: &&VerbAt| matches!(v.verb.effect, Effect::Changes(_));
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let previous = |v: &&VerbAt| v.at.checked_sub(1).map_or("", word);
    // `get_or_create`, `find_and_replace`, `search_replace`: the change is the act.
    let joined = |v: &&VerbAt| {
        changes(v)
            && v.form == Form::Base
            && (matches!(previous(v), "and" | "or" | "then")
                || (matches!(previous(v), "find" | "search") && matches!(v.verb.base, "replace" | "delete" | "remove")))
    };
    if let Some(v) = verbs.iter().find(joined) {
        return Some(act(words, v, Sure::Yes));
    }
    if let Some(act) = of_shape(words, &verbs) {
        return Some(act);
    }
    let last = words.len().checked_sub(1)?;
    let leads = verbs.iter().find(|v| v.at == 0 && v.form == Form::Base);
    if let Some(v) = verbs.iter().find(firm) {
        // `run_get`, `deploy_list`: a thing, and then the act. `vote_on_poll`: the act, and then a thing.
        let ends = verbs.iter().find(|end| end.at == last && firm(end) && end.verb.firmness == Firmness::Verb);
        let noun = v.verb.firmness == Firmness::Mostly && !changes(&v);
        return match (v.verb.firmness, ends, leads) {
            (Firmness::Mostly, Some(end), _) if end.at > v.at => Some(act(words, end, Sure::Perhaps)),
            (Firmness::Mostly, _, Some(lead)) if noun && changes(&lead) => Some(act(words, lead, Sure::Perhaps)),
            _ => Some(act(words, v, Sure::Yes)),
        };
    }
    // `image_generator`, `file_reader`: the act as a thing, at the end.
    let agent =
        verbs.iter().find(|v| v.at == last && v.form == Form::Agent && v.verb.firmness == Firmness::Verb && v.at > 0);
    let inflected =
        |v: &&VerbAt| v.at == 0 && matches!(v.form, Form::Third | Form::Gerund) && v.verb.firmness == Firmness::Verb;
    let trailing = verbs.iter().rev().find(|v| v.form == Form::Base);
    leads.or(agent).or_else(|| verbs.iter().find(inflected)).or(trailing).map(|v| act(words, v, Sure::Perhaps))
}

/// Names whose shape tells the act without a verb: `is_valid`, `text_to_speech`, `user_by_id`.
fn of_shape(words: &[String], verbs: &[VerbAt]) -> Option<Act> {
    let shaped = |at: usize, effect, sure| Act {
        effect,
        word: words[at].clone(),
        base: "",
        object: words[at + 1..].to_vec(),
        sure,
        firmness: Firmness::Either,
        form: Form::Base,
        place: if at == 0 { Place::First } else { Place::Later },
    };
    let asks = |word: &&String| among(word, "is has can does should are was how what which who where when why");
    let asked = words.iter().take(2).position(|word| asks(&word));
    if let Some(at) = asked.or_else(|| words.iter().take(4).position(|word| among(word, "is has can does should")))
        && at + 1 < words.len()
        && !verbs.iter().any(|v| v.at < at)
    {
        return Some(shaped(at, Effect::Reads(Action::Read), Sure::Yes));
    }
    let firm = verbs.iter().any(|v| v.verb.firmness != Firmness::Either && v.form == Form::Base);
    let to = words.iter().position(|word| word == "to" || word == "2").filter(|at| *at > 0 && at + 1 < words.len());
    if let Some(at) = to.filter(|_| !firm) {
        let media = words[at + 1..]
            .iter()
            .any(|word| among(word, "speech audio voice image video music song 3d sound picture animation"));
        let effect = if media { Effect::Changes(Action::Create) } else { Effect::Reads(Action::Read) };
        return Some(shaped(at, effect, if media { Sure::Yes } else { Sure::Perhaps }));
    }
    let by = words.iter().position(|word| among(word, "by near nearby")).filter(|at| *at > 0);
    let by = by.filter(|_| {
        !verbs.iter().any(|v| v.form == Form::Base && matches!(v.verb.effect, Effect::Changes(_) | Effect::Depends(_)))
            && !firm
    });
    let narrow = |at: usize| if words[at] == "by" { Action::Read } else { Action::Search };
    by.map(|at| shaped(at, Effect::Reads(narrow(at)), Sure::Perhaps))
}

/// What a sentence of a description opens with, and which act that is.
pub fn of_sentence(words: &[String]) -> Opening {
    let asks = words.first().is_some_and(|word| among(word, "which what how where who whether is are was does"));
    if asks && words.get(1).is_none_or(|word| word != "not") {
        return Opening::Thing;
    }
    let start = opening(words);
    let verbs = found(words);
    let adverbs = words[start..].iter().take_while(|word| is_adverb(word)).count();
    let lead = [start, start + adverbs].into_iter().find_map(|at| verbs.iter().find(|v| v.at == at && leads(words, v)));
    let Some(lead) = lead else {
        return if is_thing(&words[start..]) { Opening::Thing } else { Opening::Unclear };
    };
    // "Finds or creates", "Validate, then save the file": a later change of the same form is what the call does too.
    let also = verbs.iter().find(|v| {
        v.at > lead.at
            && v.at <= lead.at + 30
            && !matches!(lexicon::with_object(v.verb, &words[v.at + 1..]), Effect::Reads(_))
            && v.verb.firmness != Firmness::Either
            && v.form == lead.form
            && continues(words, lead.at, v)
    });
    let sure = match (lead.verb.firmness, lead.form) {
        (Firmness::Verb | Firmness::Mostly, _) | (Firmness::Either, Form::Third | Form::Gerund) => Sure::Yes,
        (Firmness::Either, _) if is_determiner(words.get(lead.at + 1)) => Sure::Yes,
        (Firmness::Either, _) => Sure::Perhaps,
    };
    let first = act(words, lead, sure);
    match (first.effect, also) {
        (Effect::Reads(_), Some(change)) => Opening::Act(act(words, change, Sure::Yes)),
        (Effect::Depends(_), Some(change)) if matches!(change.verb.effect, Effect::Changes(_)) => {
            Opening::Act(act(words, change, Sure::Yes))
        }
        _ => Opening::Act(first),
    }
}

fn act(words: &[String], found: &VerbAt, sure: Sure) -> Act {
    let after = &words[found.at + 1..];
    let bare = after.iter().all(|word| among(word, "tool v1 v2 v3 api"));
    let object = if bare { &words[..found.at] } else { after };
    Act {
        effect: lexicon::with_object(found.verb, object),
        word: words[found.at].clone(),
        base: found.verb.base,
        object: object.to_vec(),
        sure,
        firmness: found.verb.firmness,
        form: found.form,
        place: if found.at == 0 { Place::First } else { Place::Later },
    }
}

/// Whether this word, at the head of a sentence, is a verb there: "Books a room", not "Books by one author".
fn leads(words: &[String], found: &VerbAt) -> bool {
    if !matches!(found.form, Form::Base | Form::Third | Form::Gerund) {
        return false;
    }
    let next = words.get(found.at + 1).map_or("", String::as_str);
    // "Check and install", "Scans and removes" are chains of verbs; "Checks and balances" is not.
    let follows = words.get(found.at + 2).and_then(|word| words::base(word, verb));
    let chained = match found.form {
        Form::Base => follows.is_some_and(|(_, form)| form == Form::Base),
        form => follows.is_some_and(|(verb, other)| form == other && verb.firmness == Firmness::Verb),
    } && matches!(next, "and" | "or" | ",");
    let noun_like = !chained && matches!(next, "of" | "between" | "by" | "per" | "and" | "," | ":" | "(" | "");
    let may_be_noun = found.verb.firmness != Firmness::Verb || among(&words[found.at], NOUNS_IN_PLURAL);
    !(may_be_noun && noun_like)
}

/// Firm verbs whose `-s` form is as well the plural of a noun.
const NOUNS_IN_PLURAL: &str = "books trains stops starts reads writes checks lists shows views moves fills fixes finds updates displays \
    resets restarts clones copies searches queries matches filters dumps polls";

/// Whether a later verb belongs to the same chain: right after the first verb's conjunction, or with an object of its own.
fn continues(words: &[String], lead: usize, found: &VerbAt) -> bool {
    let before =
        words[..found.at].iter().rev().find(|word| !is_adverb(word) || matches!(word.as_str(), "and" | "or" | ","));
    let joined = matches!(before.map(String::as_str), Some("and" | "or" | "/" | "&" | "," | "then"));
    let close = found.at <= lead + 3;
    let own_object = is_determiner(words.get(found.at + 1));
    joined
        && (found.form != Form::Base || close || own_object)
        && !(found.form == Form::Base && words[found.at - 1] == "/" && !close)
}

fn is_determiner(word: Option<&String>) -> bool {
    word.is_some_and(|word| {
        matches!(
            word.as_str(),
            "a" | "an"
                | "the"
                | "it"
                | "them"
                | "its"
                | "all"
                | "your"
                | "this"
                | "that"
                | "any"
                | "each"
                | "every"
                | "new"
                | "existing"
                | "multiple"
                | "one"
                | "specific"
                | "these"
                | "those"
                | "their"
                | "some"
                | "both"
                | "several"
                | "up"
                | "whether"
                | "if"
        )
    })
}

fn is_adverb(word: &str) -> bool {
    (word.len() > 4
        && word.ends_with("ly")
        && !matches!(word, "apply" | "reply" | "supply" | "multiply" | "comply" | "assembly" | "family"))
        || matches!(
            word,
            "also" | "soft" | "hard" | "bulk" | "batch" | "auto" | "first" | "then" | "just" | "and" | "or" | ","
        )
}

/// Whether words without a leading verb name a thing: "The latest decisions", "Tickets waiting for review".
fn is_thing(words: &[String]) -> bool {
    const STARTS: &str = "the a an one all every each your its current latest newest recent best top full complete cheapest similar \
    detailed basic raw available total number how what where which who when why whether is are does do up \
    list details information info status overview summary most popular live historical daily per any some \
    site-wide model-friendly real-time one-shot quick at";
    const AFTER: &str = "of for by between on from at with about per in waiting : ( , de del por des du da do von für der und y \
    via — plus";
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    if among(word(0), STARTS) || word(0).starts_with(|c: char| c.is_ascii_digit()) {
        return true;
    }
    // An unknown word before a determiner is an unknown verb; before a preposition it is a noun.
    let until = words.iter().take(5).position(|word| among(word, AFTER));
    // "X tool for …" speaks of the tool, and says nothing of what comes back.
    const SELF: &str = "tool wrapper interface client assistant agent extension workflow helper engine sandbox repl";
    until.is_some_and(|until| {
        until > 0 && !words[..until].iter().any(|word| is_determiner(Some(word)) || among(word, SELF))
    })
}

/// Where the sentence proper begins: after "This tool", "Use this to", "Allows you to", "Label:" and the like.
fn opening(words: &[String]) -> usize {
    const OPENERS: &str = "this tool the a an it will can to that which use used useful for allows allow lets let enables you users \
    user us agent agents ability able helps help api endpoint function utility helper command method \
    operation should when whenever please simply be is provides provide way note beta experimental deprecated \
    new advanced : , ( ) model llm assistant ai me mcp server one-shot need want wants if in order and legacy \
    primary unified here start preferred claude";
    const MAY_OPEN: &str = "use used allow allows help helps let lets provide provides start new order model command";
    let is_verb = |at: usize| {
        words
            .get(at)
            .is_some_and(|word| words::base(word, verb).is_some_and(|(_, form)| form != Form::Agent) || is_adverb(word))
    };
    let opens = |at: usize| words.get(at).is_some_and(|word| among(word, MAY_OPEN));
    if is_verb(0) && !opens(0) {
        return 0;
    }
    // "Goal Seek: change the cell": a label of a few words.
    if let Some(colon) = words.iter().take(5).position(|word| word == ":" || word == "—")
        && colon > 0
        && is_verb(colon + 1)
    {
        return colon + 1;
    }
    let skipped = words.iter().take(12).take_while(|word| among(word, OPENERS)).count();
    let here = words.first().is_some_and(|word| word == "start") && words.get(1).is_some_and(|word| word == "here");
    if skipped > 0 && (is_verb(skipped) || here) {
        return skipped;
    }
    // "Start here: …", "Use the X to …": the last opener may itself be the verb.
    0
}
