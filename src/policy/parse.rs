//! Policy text to rules: one strict constructor, every problem at once, each with its line and its mend.
//!
//! Nothing is skipped: a key that is not understood is a problem, because a rule half understood could allow.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::glob::{Glob, GlobError};
pub use super::reading::Problem;
use super::reading::{Reading, Span};
use super::rule::{Decision, Defaults, Policy, Rule, ToolGlob};
use crate::behavior::taxonomy::{Action, Mutability};
use crate::wire::digest::Digest;

const BUILT_IN: &str = include_str!("../../assets/policy.toml");
const TOP: &[&str] = &["version", "defaults", "rule"];
const DEFAULTS: &[&str] = &["pure", "mutates", "hazard"];
const RULE: &[&str] = &["id", "decision", "server", "tool", "mutability", "action", "note"];
/// Keys of the language that this version does not know how to judge.
const LATER: &[&str] = &["output_domain", "identity", "capability", "when", "unless", "expires", "match", "not_match"];
const DECISIONS: &[(&str, Decision)] = &[("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny)];
const ASKING: Defaults = Defaults { pure: Decision::Ask, mutates: Decision::Ask, hazard: Decision::Ask };

/// The built-in default (assets/policy.toml): PURE is allowed, MUTATES and hazards ask.
pub fn built_in() -> Policy {
    parse(BUILT_IN).unwrap_or_else(|_| everything_asks("the built-in policy of this build is broken".to_owned()))
}

/// Reads a policy.
///
/// # Errors
/// Every problem in the text, in order of line.
pub fn parse(text: &str) -> Result<Policy, Vec<Problem>> {
    let (mut reading, document) = Reading::new(text);
    let mut defaults = Defaults { pure: Decision::Allow, ..ASKING };
    let mut rules = Vec::new();
    let mut versioned = false;
    for (key, value) in document.get_ref() {
        match key.get_ref().as_ref() {
            "version" => {
                versioned = true;
                version(&mut reading, value);
            }
            "defaults" => read_defaults(&mut reading, value, &mut defaults),
            "rule" => read_rules(&mut reading, value, &mut rules),
            other => reading.unknown_key(key.span(), other, TOP),
        }
    }
    if !versioned {
        reading.problem(0..0, "the file does not say its version", "begin it with `version = 1`");
    }
    let problems = reading.finish();
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Policy { defaults, rules, allows_stand: true, digest: Digest::of(text.as_bytes()), banner: None })
}

/// What stands in for a file that cannot be read at start: everything asks; `banner` says why.
pub fn everything_asks(banner: String) -> Policy {
    Policy { defaults: ASKING, rules: Vec::new(), allows_stand: false, digest: Digest::of(b""), banner: Some(banner) }
}

/// What stands after an invalid reload: the last valid denies and asks, its allows suspended; `banner` says why.
pub fn suspended(last: &Policy, banner: String) -> Policy {
    Policy { allows_stand: false, banner: Some(banner), ..last.clone() }
}

fn version(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>) {
    match value.get_ref().as_integer() {
        None => reading.wrong_type(value, "version", "`version = 1`"),
        Some(number) if number.as_str() == "1" => {}
        Some(_) => reading.problem(
            value.span(),
            "this program reads version 1 of the policy language",
            "write `version = 1`, or use a newer mcp-approve",
        ),
    }
}

fn read_defaults<'t>(reading: &mut Reading<'t>, value: &Spanned<DeValue<'t>>, defaults: &mut Defaults) {
    let Some(table) = reading.table(value, "defaults") else {
        return;
    };
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "pure" => set(&mut defaults.pure, reading.word(value, "pure", DECISIONS)),
            "hazard" => set(&mut defaults.hazard, reading.word(value, "hazard", DECISIONS)),
            "mutates" if value.get_ref().as_str() == Some("allow") => reading.problem(
                value.span(),
                "`mutates` can never be \"allow\": every change would run unseen",
                "write \"ask\" or \"deny\", and a [[rule]] with decision = \"allow\" for the calls that may run",
            ),
            "mutates" => set(&mut defaults.mutates, reading.word(value, "mutates", &DECISIONS[1..])),
            other => reading.unknown_key(key.span(), other, DEFAULTS),
        }
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn read_rules<'t>(reading: &mut Reading<'t>, value: &Spanned<DeValue<'t>>, rules: &mut Vec<Rule>) {
    let Some(list) = value.get_ref().as_array() else {
        reading.wrong_type(value, "rule", "`[[rule]]`, with two brackets on each side");
        return;
    };
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for item in list {
        let Some(table) = reading.table(item, "rule") else {
            continue;
        };
        let (line, _) = reading.place(item.span().start);
        let Some((at, rule)) = read_rule(reading, item.span(), table, line) else {
            continue;
        };
        if let Some(first) = lines.insert(rule.id.clone(), line) {
            let what = format!("the id {:?} is taken by the rule in line {first}", rule.id);
            reading.problem(at, what, "give each rule its own id: the log names rules by it");
        }
        rules.push(rule);
    }
}

/// Reads one rule with the place of its id; `None` when it has no usable id or decision.
fn read_rule<'t>(reading: &mut Reading<'t>, at: Span, table: &DeTable<'t>, line: usize) -> Option<(Span, Rule)> {
    let (mut id, mut decision, mut note, mut mutability) = (None, None, None, None);
    let (mut server, mut tool, mut action) = (Vec::new(), Vec::new(), Vec::new());
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "id" => id = Some((value.span(), read_id(reading, value))),
            "decision" => decision = Some(reading.word(value, "decision", DECISIONS)),
            "server" => server = globs(reading, value, "server", Glob::new),
            "tool" => tool = globs(reading, value, "tool", ToolGlob::new),
            "mutability" => mutability = reading.word(value, "mutability", &words(Mutability::ALL, Mutability::word)),
            "action" => {
                let known = words(Action::ALL, Action::word);
                let found = reading.texts(value, "action");
                action =
                    found.iter().filter_map(|(at, word)| reading.one_of(at.clone(), word, "action", &known)).collect();
            }
            "note" => note = reading.text(value, "note"),
            later if LATER.contains(&later) => reading.problem(
                key.span(),
                format!(
                    "`{later}` is not understood by this version, so the rule could allow too much or deny too little"
                ),
                "take the rule out, or use a newer mcp-approve",
            ),
            other => reading.unknown_key(key.span(), other, &[RULE, LATER].concat()),
        }
    }
    if id.is_none() {
        reading.problem(at.clone(), "a rule without an id", "add `id = \"a-short-name\"`: the log names rules by it");
    }
    if decision.is_none() {
        reading.problem(at, "a rule without a decision", "add `decision = \"allow\"`, \"ask\" or \"deny\"");
    }
    let (place, id) = id?;
    let (id, decision) = (id?, decision??);
    Some((place, Rule { id, decision, server, tool, mutability, action, note, line }))
}

/// An id stands in reasons, records and answers to the agent, so it is a plain word.
fn read_id(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>) -> Option<String> {
    let id = reading.text(value, "id")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if id.is_empty() || id.len() > 64 || !id.chars().all(plain) {
        let what = format!("`id` cannot be {id:?}");
        reading.problem(value.span(), what, "use 1 to 64 of the characters a-z A-Z 0-9 - _ .");
        return None;
    }
    Some(id)
}

fn globs<T>(
    reading: &mut Reading<'_>,
    value: &Spanned<DeValue<'_>>,
    key: &str,
    new: impl Fn(&str) -> Result<T, GlobError>,
) -> Vec<T> {
    let mut found = Vec::new();
    for (at, text) in reading.texts(value, key) {
        match new(&text) {
            Ok(glob) => found.push(glob),
            Err(error) => reading.problem(
                at,
                format!("`{key}` cannot be {text:?}: {error}"),
                "write a name, with * ? [a-z] where it may vary and \\ before a literal one of these",
            ),
        }
    }
    found
}

fn words<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> Vec<(&'static str, T)> {
    all.iter().map(|value| (word(*value), *value)).collect()
}
