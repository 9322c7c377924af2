//! One `[[rule]]`: its keys, and what must hold between them. Conditions are read next door.

use std::collections::BTreeMap;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml::value::Datetime;

use super::condition::{self, Example};
use crate::behavior::identity::Identity;
use crate::behavior::taxonomy::{Action, Mutability, OutputDomain};
use crate::mcp::request;
use crate::policy::fit::conditions_on_arguments;
use crate::policy::glob::Glob;
use crate::policy::reading::{Reading, Span, any_of, globs};
use crate::policy::rule::{Decision, Rule, ToolGlob};
use crate::policy::under::Roots;
use crate::policy::when::Predicate;

const KEYS: &[&str] = &[
    "id", "decision", "server", "method", "tool", "mutability", "action", "output_domain", "identity", "capability",
    "when", "unless", "expires", "note", "disabled", "match", "not_match",
];

/// The part of a rule that was read. Its id and decision are in it once they are known to be usable.
#[derive(Default)]
struct Draft {
    rule: Rule,
    id: Option<(Span, Option<String>)>,
    decision: Option<Option<Decision>>,
    tool_at: Option<Span>,
    unless_at: Option<Span>,
    disabled: bool,
    examples: Vec<(Span, Example, Value)>,
}

/// Reads all rules of a document: those that decide, and those that are switched off.
pub(super) fn read_all<'t>(
    reading: &mut Reading<'t>,
    value: &Spanned<DeValue<'t>>,
    roots: &Roots,
) -> (Vec<Rule>, Vec<Rule>) {
    let Some(list) = value.get_ref().as_array() else {
        reading.wrong_type(value, "rule", "`[[rule]]`, with two brackets on each side");
        return (Vec::new(), Vec::new());
    };
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let (mut rules, mut disabled) = (Vec::new(), Vec::new());
    for item in list {
        let Some(table) = reading.table(item, "rule") else {
            continue;
        };
        let draft = read(reading, table);
        let list = if draft.disabled { &mut disabled } else { &mut rules };
        let Some((at, rule)) = finish(reading, draft, &item.span(), roots) else {
            continue;
        };
        if let Some(first) = lines.insert(rule.id.clone(), rule.line) {
            let what = format!("the id {:?} is taken by the rule in line {first}", rule.id);
            reading.problem(at, what, "give each rule its own id: the log names rules by it");
        }
        list.push(rule);
    }
    (rules, disabled)
}

fn read<'t>(reading: &mut Reading<'t>, table: &DeTable<'t>) -> Draft {
    let mut draft = Draft::default();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "id" => draft.id = Some((value.span(), read_id(reading, value))),
            "decision" => draft.decision = Some(reading.word(value, "decision", Decision::WORDS)),
            "server" => draft.rule.server = globs(reading, value, "server", Glob::new),
            "method" => draft.rule.method = methods(reading, value),
            "tool" => {
                draft.rule.tool = globs(reading, value, "tool", ToolGlob::new);
                draft.tool_at = Some(key.span());
            }
            "mutability" => draft.rule.mutability = reading.word(value, "mutability", Mutability::WORDS),
            "action" => draft.rule.action = any_of(reading, value, "action", Action::WORDS),
            "output_domain" => {
                draft.rule.output_domain = any_of(reading, value, "output_domain", OutputDomain::WORDS);
            }
            "identity" => draft.rule.identity = identities(reading, value),
            "capability" => draft.rule.capability = globs(reading, value, "capability", Glob::new),
            "when" => draft.rule.when = condition::read_all(reading, value, "when"),
            "unless" => {
                draft.rule.unless = condition::read_all(reading, value, "unless");
                draft.unless_at = Some(key.span());
            }
            "expires" => draft.rule.expires = end_of(reading, value),
            "note" => draft.rule.note = reading.text(value, "note"),
            "disabled" => draft.disabled = reading.switch(value, "disabled").unwrap_or_default(),
            "match" => draft.examples.extend(condition::read_examples(reading, value, Example::Matches)),
            "not_match" => draft.examples.extend(condition::read_examples(reading, value, Example::Differs)),
            other => reading.unknown_key(key.span(), other, KEYS),
        }
    }
    draft
}

/// Makes the rule, with the place of its id; `None` when it has no usable id or decision.
fn finish(reading: &mut Reading<'_>, draft: Draft, at: &Span, roots: &Roots) -> Option<(Span, Rule)> {
    if draft.id.is_none() {
        let hint = "add `id = \"a-short-name\"`: the log names rules by it";
        reading.problem(at.clone(), "a rule without an id", hint);
    }
    if draft.decision.is_none() {
        let hint = "add `decision = \"allow\"`, \"ask\" or \"deny\"";
        reading.problem(at.clone(), "a rule without a decision", hint);
    }
    let decision = draft.decision??;
    if decision == Decision::Allow {
        if let Some(at) = draft.unless_at {
            let hint = "say in `when` what it is for";
            reading.problem(at, "`unless` loosens an ask or a deny; an allow has nothing to loosen", hint);
        }
        condition::check_allow(reading, at, &draft.rule.when);
    }
    if let (Some(at), false) = (draft.tool_at, draft.rule.method.is_empty()) {
        let hint = "leave `method` out: a rule without it is about tools/call; another request's name is an argument, \
            `when = [{ arg = \"name\", eq = \"...\" }]`";
        reading.problem(at, "only tools/call has a tool, and this rule names a `method`", hint);
    }
    let (place, id) = draft.id?;
    let (line, _) = reading.place(at.start);
    let rule = Rule { id: id?, decision, line, ..draft.rule };
    // An example has only arguments: it is taken to have the hazards, the effect and the rate that the rule asks for.
    let on_arguments = |list: &[Predicate]| list.iter().filter(|one| one.is_about_arguments()).cloned().collect();
    let tested = Rule { when: on_arguments(&rule.when), unless: on_arguments(&rule.unless), ..rule.clone() };
    for (at, example, arguments) in draft.examples {
        let part = conditions_on_arguments(&tested, &arguments, roots);
        condition::check_example(reading, at, example, part, &tested);
    }
    Some((place, rule))
}

/// Reasons, records and answers to the agent name the id, so it is a plain word.
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

/// Globs over methods. One that could only name what is never held would be a rule that never decides.
fn methods(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>) -> Vec<Glob> {
    reading.each(value, "method", |text| match Glob::new(text) {
        Ok(_) if !request::is_ruled(text) => Err((
            format!("a rule cannot cover {text:?}: the session and its notifications depend on it"),
            "name a request like resources/read, sampling/createMessage or tasks/*",
        )),
        Ok(glob) => Ok(glob),
        Err(error) => Err((
            format!("`method` cannot be {text:?}: {error}"),
            "write a method like resources/read, with * where it may vary",
        )),
    })
}

/// There are few enough identities to know the hash of each, so a typing mistake is a problem instead of a rule that never matches.
fn identities(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>) -> Vec<Identity> {
    const HINT: &str = "write its 16 hex characters, or its words like MUTATES|UPDATE|CONTENT";
    reading.each(value, "identity", |text| {
        let found = text.parse().ok().or_else(|| Identity::all().find(|identity| identity.hash() == text));
        found.ok_or_else(|| (format!("{text:?} is not a behavioral identity"), HINT))
    })
}

/// The first moment after a day (UTC), or a moment itself, in milliseconds since 1970.
fn end_of(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>) -> Option<i64> {
    let end = value.get_ref().as_datetime().and_then(moment);
    if end.is_none() {
        reading.cannot_be(
            value,
            "expires",
            "a day like 2026-12-31 (the last one, UTC) or a time like 2026-12-31T18:00:00Z, without quotes",
        );
    }
    end
}

fn moment(written: &Datetime) -> Option<i64> {
    let text = written.to_string();
    if written.time.is_some() {
        return text.parse::<jiff::Timestamp>().ok().map(|moment| moment.as_millisecond());
    }
    let day: jiff::civil::Date = text.parse().ok()?;
    let next = day.tomorrow().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(next.timestamp().as_millisecond())
}
