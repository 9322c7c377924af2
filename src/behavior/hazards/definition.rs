//! Hazards in a tool's definition: text that addresses or lures the model, hidden text, secrets that it returns (`definition.txt`).
//!
//! Every string is read: titles, descriptions, names and defaults of parameters, enum values.

use std::ops::ControlFlow;
use std::sync::LazyLock;

use serde_json::Value;

use super::lookalike::{deceiving, is_plain};
use super::{Hazard, HazardKind};
use crate::behavior::arguments::path::visit;
use crate::behavior::words::{self, Hyphens, Pairs, Phrases, among, pairs, plain, section};

const WORDS: &str = include_str!("../../../assets/words/definition.txt");

/// Every hazard that a definition alone shows; one per kind.
pub fn found(definition: &Value) -> Vec<Hazard> {
    let mut reader = Reader::default();
    let _: ControlFlow<()> = visit(definition, "", &mut String::new(), &mut |_, _, value| {
        match value {
            Value::String(text) => reader.text(text),
            Value::Object(fields) => fields.keys().for_each(|key| reader.text(key)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
        }
        ControlFlow::Continue(())
    });
    let mut hazards = Vec::new();
    let mut add = |kind, what| hazards.push(Hazard { kind, what });
    if let Some(first) = reader.hidden {
        let what = match reader.hidden_times {
            1 => format!("1 invisible character in the definition: {first}"),
            times => format!("{times} invisible characters in the definition, the first {first}"),
        };
        add(HazardKind::HiddenDescription, what);
    }
    if let Some(phrase) = reader.directive {
        add(HazardKind::PoisonedDescription, format!("the definition addresses the model: “{phrase}”"));
    }
    if let Some(phrase) = reader.praise {
        add(HazardKind::PreferenceManipulation, format!("the definition praises itself to the model: “{phrase}”"));
    }
    hazards
}

#[derive(Default)]
struct Reader {
    hidden: Option<String>,
    hidden_times: usize,
    directive: Option<String>,
    praise: Option<String>,
}

impl Reader {
    fn text(&mut self, text: &str) {
        let text = if is_plain(text) { text.to_owned() } else { self.seen(text) };
        // A phrase is at least two words: single names and short values have no room for one.
        if text.len() < 12 {
            return;
        }
        let plain = plain(&text, Hyphens::Cut);
        for (_, phrase, kind) in PHRASES.found(&plain) {
            let seen = match kind {
                PhraseKind::Directive => &mut self.directive,
                PhraseKind::Praise => &mut self.praise,
            };
            seen.get_or_insert_with(|| phrase.trim_end_matches('*').to_owned());
        }
    }

    /// Counts what cannot be seen, and returns the text without it: a phrase is not hidden by cutting it apart.
    fn seen(&mut self, text: &str) -> String {
        let mut hidden: Vec<char> = Vec::new();
        for (c, _) in deceiving(text) {
            self.hidden_times += 1;
            self.hidden.get_or_insert_with(|| format!("U+{:04X}", u32::from(c)));
            if !hidden.contains(&c) {
                hidden.push(c);
            }
        }
        text.chars().filter(|c| !hidden.contains(c)).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PhraseKind {
    Directive,
    Praise,
}

/// Two words that name a secret together.
static PAIRS: LazyLock<Pairs> = LazyLock::new(|| pairs(section(WORDS, "secret-pairs")));

static PHRASES: LazyLock<Phrases<PhraseKind>> = LazyLock::new(|| {
    Phrases::new(&[
        (const { section(WORDS, "directives") }, PhraseKind::Directive),
        (const { section(WORDS, "praise") }, PhraseKind::Praise),
    ])
});

/// What addresses the model in the text of a result: a phrase of the list, without those that an honest text may well have.
pub fn instruction(text: &str) -> Option<&'static str> {
    let text = if is_plain(text) { text.to_owned() } else { Reader::default().seen(text) };
    let plain = plain(&text, Hyphens::Cut);
    RESULT.found(&plain).next().map(|(_, phrase, ())| phrase.trim_end_matches('*'))
}

/// The phrases that [`instruction`] finds.
pub(super) fn instructions() -> impl Iterator<Item = &'static str> {
    const ORDINARY: &str = section(WORDS, "ordinary");
    let phrases = const { section(WORDS, "directives") }.lines();
    phrases.filter(|line| !line.is_empty() && !ORDINARY.lines().any(|one| one == *line))
}

static RESULT: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new(&instructions().map(|phrase| (phrase, ())).collect::<Vec<_>>()));

/// What a tool's name or first sentence says it returns, where that is a secret or the environment.
pub fn returned(name: &str, first_sentence: &str) -> Option<String> {
    secret(&words::of_name(name), FoundIn::Name)
        .or_else(|| secret(&words::of_sentence(first_sentence), FoundIn::Sentence))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FoundIn {
    Name,
    Sentence,
}

fn secret(all: &[String], place: FoundIn) -> Option<String> {
    for at in 0..all.len() {
        let (this, next) = (words::nth(all, at), words::nth(all, at + 1));
        // "Using your credentials", "with an API key": what it takes, not what it returns.
        let taken = all[at.saturating_sub(4)..at].iter().any(|before| among(before, TAKES));
        if taken && place == FoundIn::Sentence {
            continue;
        }
        let found = match (this, next) {
            ("env", "") if place == FoundIn::Name => this.to_owned(),
            ("session", "cookies") | ("cookies", "") => format!("{this} {next}").trim_end().to_owned(),
            _ if among(this, const { section(WORDS, "secrets") }) => this.to_owned(),
            _ if PAIRS.contains(&(this, next)) => format!("{this} {next}"),
            _ => continue,
        };
        return Some(found);
    }
    None
}

/// Words before what a tool takes.
const TAKES: &str = "using with via requires require needs from by without in this current no valid";
