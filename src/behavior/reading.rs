//! Reads the act off a name or a sentence: which word is its verb. Knows word order, not meanings.

use super::lexicon::{Effect, Firmness, verb};
use super::words::{self, Form};

/// The act that some words speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    pub effect: Effect,
    /// The word, as it stands.
    pub word: String,
    /// The words after the verb: what it is done to.
    pub object: Vec<String>,
    pub sure: Sure,
}

/// How sure it is that this word is the verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sure {
    /// The word may as well be a noun here.
    Perhaps,
    Yes,
}

/// A verb at its place.
struct Found {
    at: usize,
    effect: Effect,
    firmness: Firmness,
    form: Form,
}

fn found(words: &[String]) -> Vec<Found> {
    words
        .iter()
        .enumerate()
        .filter_map(|(at, word)| {
            let (verb, form) = words::base(word, verb)?;
            Some(Found { at, effect: verb.effect, firmness: verb.firmness, form })
        })
        .collect()
}

/// The act a tool's name speaks of.
pub fn of_name(words: &[String]) -> Option<Act> {
    let verbs = found(words);
    let firm = |v: &&Found| v.firmness == Firmness::Verb && v.form == Form::Base;
    let joined = |v: &&Found| {
        v.at > 0
            && matches!(words[v.at - 1].as_str(), "and" | "or" | "then" | "n")
            && matches!(v.effect, Effect::Changes(_))
    };
    // `get_or_create`, `find_and_replace`: the change is the act.
    if let Some(v) = verbs.iter().filter(|v| v.form == Form::Base).find(joined) {
        return Some(act(words, v, Sure::Yes));
    }
    if let Some(v) = verbs.iter().find(firm) {
        return Some(act(words, v, Sure::Yes));
    }
    // `image_generator`, `file_reader`: the act as a thing, at the end.
    let last = words.len().checked_sub(1)?;
    let agent = verbs.iter().find(|v| v.at == last && v.form == Form::Agent && v.firmness == Firmness::Verb);
    let either = verbs
        .iter()
        .find(|v| v.at == 0 && matches!(v.form, Form::Base))
        .or_else(|| verbs.iter().rev().find(|v| v.form == Form::Base));
    let third = verbs
        .iter()
        .find(|v| v.at == 0 && matches!(v.form, Form::Third | Form::Gerund) && v.firmness == Firmness::Verb);
    agent.or(either).or(third).map(|v| act(words, v, Sure::Perhaps))
}

/// The act a sentence of a description speaks of: its first verb, where one may stand.
pub fn of_sentence(words: &[String]) -> Option<Act> {
    let start = opening(words);
    let verbs = found(words);
    let may_lead = |v: &&Found| v.at >= start && matches!(v.form, Form::Base | Form::Third | Form::Gerund);
    let lead = verbs.iter().find(|v| v.at == start).filter(may_lead).or_else(|| {
        // "Safely and quickly removes …": adverbs may stand before it.
        let skipped = words[start..].iter().take_while(|word| is_adverb(word)).count();
        verbs.iter().find(|v| v.at == start + skipped).filter(may_lead)
    })?;
    // "Finds or creates", "Validate, then save": a later change of the same form is what the call does too.
    let also = verbs.iter().find(|v| {
        v.at > lead.at
            && v.at <= lead.at + 14
            && matches!(v.effect, Effect::Changes(_))
            && v.firmness == Firmness::Verb
            && v.form == lead.form
            && joins(words, v.at)
    });
    match (lead.effect, also) {
        (Effect::Reads(_) | Effect::Depends(_), Some(change)) => Some(act(words, change, Sure::Perhaps)),
        _ => {
            let sure = match (lead.firmness, lead.form) {
                (Firmness::Verb, _) | (Firmness::Either, Form::Third | Form::Gerund) => Sure::Yes,
                (Firmness::Either, _) => Sure::Perhaps,
            };
            Some(act(words, lead, sure))
        }
    }
}

fn act(words: &[String], verb: &Found, sure: Sure) -> Act {
    Act { effect: verb.effect, word: words[verb.at].clone(), object: words[verb.at + 1..].to_vec(), sure }
}

/// Whether the word at `at` continues a chain of verbs: after `and`, `or`, `then`, a comma or a slash.
fn joins(words: &[String], at: usize) -> bool {
    let mut before = words[..at].iter().rev().skip_while(|word| is_adverb(word) || *word == "also" || *word == "then");
    matches!(before.next().map(String::as_str), Some("and" | "or" | "/" | "&" | ","))
        || matches!(words[at - 1].as_str(), "then" | "and" | "or")
}

fn is_adverb(word: &str) -> bool {
    (word.len() > 4 && word.ends_with("ly") && !matches!(word, "apply" | "reply" | "supply" | "multiply"))
        || matches!(
            word,
            "also" | "soft" | "hard" | "bulk" | "batch" | "auto" | "first" | "then" | "just" | "and" | "or" | ","
        )
}

/// Where the sentence proper begins: after "This tool", "Use this to", "Allows you to", "[Beta]" and the like.
fn opening(words: &[String]) -> usize {
    const OPENERS: &[&str] = &[
        "this",
        "tool",
        "the",
        "a",
        "an",
        "it",
        "will",
        "can",
        "to",
        "that",
        "which",
        "use",
        "used",
        "useful",
        "for",
        "allows",
        "allow",
        "lets",
        "let",
        "enables",
        "you",
        "users",
        "user",
        "us",
        "agent",
        "agents",
        "ability",
        "able",
        "helps",
        "help",
        "api",
        "endpoint",
        "function",
        "utility",
        "helper",
        "command",
        "method",
        "operation",
        "should",
        "when",
        "whenever",
        "please",
        "simply",
        "be",
        "is",
        "provides",
        "provide",
        "way",
        "note",
        "beta",
        "experimental",
        "deprecated",
        "new",
        "advanced",
        ":",
        ",",
        "(",
        ")",
        "model",
        "llm",
        "assistant",
        "ai",
        "me",
        "mcp",
        "server",
        "one-shot",
        "need",
        "want",
        "if",
        "in",
        "order",
        "and",
        "legacy",
        "primary",
        "unified",
    ];
    // Only as many as an opening has; "the user" alone opens nothing.
    let skipped = words.iter().take(12).take_while(|word| OPENERS.contains(&word.as_str())).count();
    let leads_to_verb =
        |at: usize| words.get(at).is_some_and(|word| words::base(word, verb).is_some() || is_adverb(word));
    if leads_to_verb(0)
        && !matches!(
            words[0].as_str(),
            "use" | "allow" | "allows" | "help" | "helps" | "let" | "lets" | "provide" | "provides"
        )
    {
        return 0;
    }
    if skipped > 0 && leads_to_verb(skipped) { skipped } else { 0 }
}
