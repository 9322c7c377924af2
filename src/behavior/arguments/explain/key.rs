//! What an argument's name says of its value, in any spelling. Reads no value and no description.

pub use super::role::Role;
use super::role::{conditions, is_destination, role};
use crate::behavior::arguments::choice::{self, Choice};
use crate::behavior::arguments::language::{self, Languages};
use crate::behavior::voters::name::{self as verbs, Firmness};
use crate::behavior::words::{Words, count};

/// A longer name says nothing, and what it names must be explained by its value alone.
const LONGEST: usize = 96;

/// A name, read once for all that is below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    pub role: Role,
    /// The languages that the name itself says.
    pub languages: Languages,
    /// Whether the name chooses what is done.
    pub choice: Choice,
    /// Whether its first word is an act: `delete: true`.
    pub acts: Acts,
    /// The same for any of its words: an undeclared key may be an operator.
    pub within: Acts,
}

/// Whether a name says that a change is made where its value is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acts {
    #[default]
    No,
    Changes,
    /// It holds a change back: `dry_run`.
    Holds,
}

impl Key {
    /// Reads a name.
    pub fn of(name: &str) -> Self {
        let spelled = spelled(name);
        let words: Vec<&str> = spelled.split('_').filter(|word| !word.is_empty()).collect();
        // The last word says what it is, unless it only says in which form: `query_text`.
        let heads = words.iter().rev();
        let head = heads.clone().find(|word| !FORMS.holds(word)).or(words.last()).copied().unwrap_or_default();
        let joined = if words.len() > 1 { words.concat() } else { String::new() };
        let role = if is_destination(&words) {
            Role::Destination
        } else {
            role(head).or_else(|| role(&joined)).or_else(|| conditions(&words)).unwrap_or_default()
        };
        let last = words.last().copied().unwrap_or_default();
        let names_language = role.may_state()
            || role.may_run()
            || FORMS.holds(last)
            || !language::named(head).is_empty()
            || words.len() == 1;
        let mut languages = Languages::default();
        if names_language {
            for word in &words {
                languages = languages.with(language::in_word(word));
            }
        }
        if languages.is_empty() && names_language {
            languages = language::in_word(&joined);
        }
        let acts = acts(&words);
        let within = if words.iter().any(|word| choice::is_firm_change(word)) { Acts::Changes } else { Acts::No };
        Self { role, languages, choice: choice::of_words(&words), acts, within }
    }
}

/// The words of a name in lower case with `_` between them: `rawSQLQuery` to `raw_sql_query`.
fn spelled(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len() + 4);
    let bytes = name.as_bytes();
    let mut before = b'_';
    for (at, c) in name.char_indices() {
        if at >= LONGEST {
            break;
        }
        let byte = if c.is_ascii() { c as u8 } else { b'x' };
        if !c.is_alphanumeric() {
            spelled.push('_');
        } else {
            let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            let is_hump = byte.is_ascii_uppercase()
                && (before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && next_is_lower));
            if is_hump {
                spelled.push('_');
            }
            spelled.extend(c.to_lowercase());
        }
        before = byte;
    }
    spelled
}

/// Words that say in which form a value is given, not what it is.
const FORM: &str = "text texts string strings str raw body value values input content line lines json list array data payload source \
    src src2 block batch extra";
static FORMS: Words<{ count(FORM) }> = Words::of(FORM);

/// What a name says of a value that switches something: an act as its first word, or behind one that leads to an act.
fn acts(words: &[&str]) -> Acts {
    const LEADS: &[&str] = &["auto", "and", "then", "also", "force", "should", "do", "if", "on", "after", "when", "to"];
    const LOOKS: &[&str] =
        &["read", "validate", "preview", "plan", "simulate", "simulation", "check", "test", "scan", "report", "list"];
    // `dry_run`, `simulate_only`, `what_if`: what they hold back happens where they are false.
    let holds = match words {
        ["dry", "run", ..] | ["what", "if"] | ["no", "op"] => true,
        ["dryrun" | "simulate" | "simulation" | "readonly" | "noop"] => true,
        [first, "only", ..] => LOOKS.contains(first),
        _ => false,
    };
    if holds {
        return Acts::Holds;
    }
    let leads = |at: usize| at == 0 || words.get(at - 1).is_some_and(|before| LEADS.contains(before));
    let is_act = |(at, word): (usize, &&str)| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        // `created_by` is a fact and `update_id` an identifier; `enable_paragraphs` says how an answer looks.
        let names = matches!(next, "by" | "at" | "id" | "ids" | "date" | "time" | "type" | "name" | "status" | "count");
        let enables = matches!(*word, "enable" | "disable") && !next.is_empty();
        leads(at)
            && !names
            && !enables
            && (CHANGES.holds(word)
                || verbs::change(word).is_some_and(|firmness| firmness != Firmness::Either)
                || SWITCHES.holds(word))
    };
    if words.iter().enumerate().any(is_act) { Acts::Changes } else { Acts::No }
}

/// Words that may be nouns elsewhere, but are verbs in the name of a switch.
const SWITCH: &str = "rotate share consume ack lock claim close open start stop";
static SWITCHES: Words<{ count(SWITCH) }> = Words::of(SWITCH);

/// Whether a text switches on what its name says.
pub fn is_true(text: &str) -> bool {
    ["true", "yes", "y", "1", "on", "t", "enabled", "always"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// Whether a text switches off what its name says.
pub fn is_false(text: &str) -> bool {
    ["false", "no", "n", "0", "off", "f", "disabled", "never"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// Words that name a change where they are the first of a name.
const FIRST: &str = "delete remove drop purge overwrite write apply commit create insert update execute send destroy truncate erase \
    clear save upsert autocommit kill reset replace publish push install wipe prune rewrite cleanup mark fix notify \
    autofix repair upgrade sync archive email deploy rebuild regenerate subscribe unlock enable disable approve \
    accept merge restart vacuum flush evict acknowledge ack";
static CHANGES: Words<{ count(FIRST) }> = Words::of(FIRST);
