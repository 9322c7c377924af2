//! Hazards in a tool's definition: text that addresses the model, praise that lures it, text that cannot be seen.
//!
//! Every string is read: titles, descriptions, names and defaults of parameters, enum values.

use std::sync::LazyLock;

use serde_json::Value;

use super::characters::{deceiving, is_plain};
use super::{Hazard, HazardKind};
use crate::behavior::phrases::{Hyphens, Phrases, plain};
use crate::behavior::words::section;

pub(super) const WORDS: &str = include_str!("../../../assets/words/definition.txt");

/// Every hazard that a definition alone shows; one per kind.
pub fn found(definition: &Value) -> Vec<Hazard> {
    let mut reader = Reader::default();
    reader.value(definition, 0);
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
    fn value(&mut self, value: &Value, depth: usize) {
        if depth > 128 {
            return;
        }
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter().for_each(|item| self.value(item, depth + 1)),
            Value::Object(fields) => {
                for (key, field) in fields {
                    self.text(key);
                    self.value(field, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        let text = if is_plain(text) { text.to_owned() } else { self.seen(text) };
        // A phrase is at least two words: single names and short values have no room for one.
        if text.len() < 12 {
            return;
        }
        let plain = plain(&text, Hyphens::Cut);
        for (_, phrase, kind) in PHRASES.found(&plain) {
            let seen = match kind {
                Kind::Directive => &mut self.directive,
                Kind::Praise => &mut self.praise,
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

/// What a phrase of the lists is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Directive,
    Praise,
}

static PHRASES: LazyLock<Phrases<Kind>> =
    LazyLock::new(|| Phrases::new(&[(DIRECTIVES, Kind::Directive), (PRAISE, Kind::Praise)]));

/// Commands to the model that a description of a tool has no need of.
const DIRECTIVES: &str = section(WORDS, "directives");
/// Praise that steers a model's choice of tool.
const PRAISE: &str = section(WORDS, "praise");
