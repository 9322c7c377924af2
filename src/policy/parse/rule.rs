//! One `[[rule]]`: its keys, and what must hold between them. Conditions are read next door.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml::value::Datetime;

use super::condition::{self, Example};
use crate::behavior::{Action, Identity, Mutability, OutputDomain};
use crate::mcp::request;
use crate::policy::fit::conditions_on_arguments;
use crate::policy::glob::Glob;
use crate::policy::reading::{Reading, Span, any_of, globs};
use crate::policy::result::{ResultAct, ResultTest};
use crate::policy::rule::{Decision, Rule, ToolGlob};
use crate::policy::terms::{ApprovalTerms, ApproverKind, MOST_APPROVALS};
use crate::policy::under::Roots;
use crate::policy::when::Predicate;

const KEYS: &[&str] = &[
    "id", "decision", "server", "method", "tool", "mutability", "action", "output_domain", "identity", "capability",
    "when", "unless", "result", "approvals", "signers", "other", "expires", "note", "team", "disabled", "match",
    "not_match",
];

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
        let Some((at, rule)) = read(reading, table, &item.span(), roots) else {
            continue;
        };
        if let Some(first) = lines.insert(rule.id.clone(), rule.line) {
            let what = format!("the id {:?} is taken by the rule in line {first}", rule.id);
            reading.problem(at, what, "give each rule its own id: the log names rules by it");
        }
        let is_off = table.get("disabled").and_then(|value| reading.switch(value, "disabled")).unwrap_or_default();
        if is_off { &mut disabled } else { &mut rules }.push(rule);
    }
    (rules, disabled)
}

/// Reads one rule, with the place of its id; `None` when it has no usable id or decision.
fn read<'t>(reading: &mut Reading<'t>, table: &DeTable<'t>, at: &Span, roots: &Roots) -> Option<(Span, Rule)> {
    reading.check_keys(table, KEYS);
    let id = table.get("id").map(|value| (value.span(), read_id(reading, value)));
    if id.is_none() {
        let hint = "add `id = \"a-short-name\"`: the log names rules by it";
        reading.problem(at.clone(), "a rule without an id", hint);
    }
    let result = table.get("result").map(|value| condition::findings(reading, value));
    let decision = table.get("decision").map(|value| match &result {
        None => reading.word(value, "decision", Decision::WORDS),
        Some(_) => reading.word(value, "decision", ResultAct::WORDS).map(|act| match act {
            ResultAct::Ask => Decision::Ask,
            ResultAct::Redact | ResultAct::Deny => Decision::Deny,
        }),
    });
    if decision.is_none() {
        let hint = "add `decision = \"allow\"`, \"ask\" or \"deny\"; of a result \"redact\", \"ask\" or \"deny\"";
        reading.problem(at.clone(), "a rule without a decision", hint);
    }
    let mut rule = Rule {
        server: list(reading, table, "server", |reading, value, key| globs(reading, value, key, Glob::new)),
        method: list(reading, table, "method", methods),
        tool: list(reading, table, "tool", |reading, value, key| globs(reading, value, key, ToolGlob::new)),
        mutability: reading.word_at(table, "mutability", Mutability::WORDS),
        action: list(reading, table, "action", |reading, value, key| any_of(reading, value, key, Action::WORDS)),
        output_domain: list(reading, table, "output_domain", |reading, value, key| {
            any_of(reading, value, key, OutputDomain::WORDS)
        }),
        identity: list(reading, table, "identity", identities),
        capability: list(reading, table, "capability", |reading, value, key| globs(reading, value, key, Glob::new)),
        when: list(reading, table, "when", condition::read_all),
        unless: list(reading, table, "unless", condition::read_all),
        expires: table.get("expires").and_then(|value| end_of(reading, value)),
        note: table.get("note").and_then(|value| reading.text(value, "note")),
        team: table.get("team").and_then(|value| reading.text(value, "team")),
        ..Rule::default()
    };
    let mut examples = list(reading, table, Example::Matches.key(), condition::read_examples);
    let matching = examples.len();
    examples.extend(list(reading, table, Example::Differs.key(), condition::read_examples));
    rule.decision = decision??;
    rule.terms = terms(reading, table, rule.decision);
    if rule.decision == Decision::Allow {
        if let Some((key, _)) = table.get_key_value("unless") {
            let hint = "say in `when` what it is for";
            reading.problem(key.span(), "`unless` loosens an ask or a deny; an allow has nothing to loosen", hint);
        }
        condition::check_allow(reading, at, &rule.when);
    }
    if let (Some((key, _)), false) = (table.get_key_value("tool"), rule.method.is_empty()) {
        let hint = "leave `method` out: a rule without it is about tools/call; another request's name is an argument, \
            `when = [{ arg = \"name\", eq = \"...\" }]`";
        reading.problem(key.span(), "only tools/call has a tool, and this rule names a `method`", hint);
    }
    if let Some(findings) = result {
        condition::check_result_keys(reading, table);
        let act = table.get("decision").and_then(|value| ResultAct::from_word(value.get_ref().as_str()?));
        rule.result = Some(ResultTest { act: act?, findings });
    }
    let (place, id) = id?;
    (rule.line, _) = reading.place(at.start);
    rule.id = id?;
    // An example has only arguments: it is taken to have the hazards, the effect and the rate that the rule asks for.
    let on_arguments = |list: &[Predicate]| list.iter().filter(|one| one.is_about_arguments()).cloned().collect();
    let tested = Rule { when: on_arguments(&rule.when), unless: on_arguments(&rule.unless), ..rule.clone() };
    for (index, (at, arguments)) in examples.into_iter().enumerate() {
        let example = if index < matching { Example::Matches } else { Example::Differs };
        let part = conditions_on_arguments(&tested, &arguments, roots);
        condition::check_example(reading, at, example, part, &tested);
    }
    Some((place, rule))
}

/// What a reader makes of the value under a key; nothing where the key is missing.
fn list<'t, T>(
    reading: &mut Reading<'t>,
    table: &DeTable<'t>,
    key: &str,
    read: impl FnOnce(&mut Reading<'t>, &Spanned<DeValue<'t>>, &str) -> Vec<T>,
) -> Vec<T> {
    table.get(key).map(|value| read(reading, value, key)).unwrap_or_default()
}

/// What an approval needs; only a rule that asks has such keys.
fn terms<'t>(reading: &mut Reading<'t>, table: &DeTable<'t>, decision: Decision) -> ApprovalTerms {
    const TERMS: [&str; 3] = ["approvals", "signers", "other"];
    for (key, _) in TERMS.iter().filter_map(|key| table.get_key_value(*key)) {
        if decision != Decision::Ask {
            let what = format!("`{}` is about approvals, and this rule does not ask", key.get_ref());
            reading.problem(key.span(), what, "write decision = \"ask\", or take it out");
        }
    }
    let mut terms = ApprovalTerms::default();
    if let Some(value) = table.get("approvals") {
        let count = condition::count(value).and_then(|count| u32::try_from(count).ok());
        match count.filter(|count| (1..=MOST_APPROVALS).contains(count)) {
            Some(count) => terms.approvals = count,
            None => {
                let what = format!("`approvals` cannot be {}", reading.source(value.span()));
                reading.problem(value.span(), what, format!("write a number from 1 to {MOST_APPROVALS}"));
            }
        }
    }
    if table.get("other").and_then(|value| reading.switch(value, "other")).unwrap_or_default() {
        terms.by = ApproverKind::Others;
    }
    if let Some(value) = table.get("signers") {
        let named: BTreeSet<String> = reading.each(value, "signers", principal).into_iter().collect();
        let (needed, count, is_named) = (terms.approvals, named.len(), !named.is_empty());
        terms.signers = Some(named);
        if is_named && !terms.can_be_met() {
            let what = format!("this can never be approved: it needs {needed} different signers, and names {count}");
            reading.problem(value.span(), what, "name more signers, or ask for fewer approvals");
        }
    }
    terms
}

/// A name in the list of allowed signers, which is no pattern and no list.
fn principal(text: &str) -> Result<String, (String, &'static str)> {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | '"' | '*' | '?' | '!');
    if text.is_empty() || text.len() > 256 || text.contains(is_odd) {
        let hint = "write one principal of the list of allowed signers, like \"ada@example.org\", without wildcards";
        return Err((format!("`signers` cannot name {text:?}"), hint));
    }
    Ok(text.to_owned())
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
fn methods(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>, key: &str) -> Vec<Glob> {
    reading.each(value, key, |text| match Glob::new(text) {
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
fn identities(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>, key: &str) -> Vec<Identity> {
    const HINT: &str = "write its 16 hex characters, or its words like MUTATES|UPDATE|CONTENT";
    reading.each(value, key, |text| {
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
