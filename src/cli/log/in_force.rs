//! What was in force when a call was decided: who made the rule and how it read, the definition, what was agreed to.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::Deserialize;
use serde_json::Value;

use crate::audit::agreed::{self, Said, Says};
use crate::audit::kept_texts::{self, Kept, State};
use crate::audit::{By, Field, Fields, Kind, Reader, Record, Search, index::Index, query};
use crate::cli::error::Error;
use crate::cli::log::{named, named::LogPlace, print::indented_line};
use crate::cli::look::{Look, pretty, visible};
use crate::policy::{Glob, edit};
use crate::text::time;
use crate::wire::Digest;

pub(super) fn say(
    reader: &Reader,
    place: LogPlace<'_>,
    call: &[Record],
    look: Look<'_>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let is_decided = |fields: &Fields<'_>| matches!(fields.kind(), Some(Kind::Decision | Kind::DecisionAsked));
    let Some(decided) = call.iter().rev().filter_map(Record::fields).find(is_decided) else { return Ok(()) };
    let index = named::index(place, reader)?;
    let named: BTreeSet<Digest> = call.iter().flat_map(|record| kept_texts::named(record.body.as_bytes())).collect();
    let kept = query::texts(reader, index.as_ref(), &named)?;
    // A grant is no rule: it has records of its own.
    if let Some(rule) = decided.rule.as_deref().filter(|rule| !rule.starts_with("grant:")) {
        if decided.by() == Some(By::Rule) {
            author(reader, index.as_ref(), rule, &decided, look, out)?;
        }
        let policy = decided.policy.as_deref().and_then(|digest| digest.parse().ok());
        rule_then(rule, policy, &kept, out)?;
    }
    let mut of_call = call.iter().rev().filter_map(Record::fields);
    if let Some(definition) = of_call.find_map(|fields| definition_of(&fields)) {
        definition_then(&definition, &kept, out)?;
    }
    agreements(reader, index.as_ref(), &decided, look, out)
}

fn author(
    reader: &Reader,
    index: Option<&Index>,
    rule: &str,
    decided: &Fields<'_>,
    look: Look<'_>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let before = decided.millis().map(|at| at + 1);
    let search = Search::default().with(Field::Kind, Some(Kind::Policy.word())).before(before);
    let search = search.with(Field::Machine, decided.machine);
    let search = search.with_part(Field::Rule, Glob::new(rule).ok().as_ref());
    let made = query::last(reader, index, &search, usize::MAX)?;
    let is_of = |fields: &Fields<'_>| fields.rule.as_deref().is_some_and(|of| of.split(", ").any(|one| one == rule));
    let made = made.iter().rev().find(|record| record.fields().as_ref().is_some_and(is_of));
    let rule = visible(rule);
    let said = match made.and_then(|record| Some((record.seq, record.fields()?))) {
        Some((seq, fields)) => {
            let Made { what, operator } = fields.detail().unwrap_or_default();
            let time = fields.millis().map_or_else(String::new, |at| time::date(at, look.clock.offset));
            format!("Rule {rule}: {} by {}, {time}, record {seq}", visible(&what), visible(&operator))
        }
        None => format!("Rule {rule}: no record says who made it"),
    };
    Ok(writeln!(out, "{said}\n")?)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Made {
    what: String,
    operator: String,
}

fn rule_then(
    rule: &str,
    policy: Option<Digest>,
    kept: &BTreeMap<Digest, Kept>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let Some(policy) = policy else { return Ok(()) };
    let Some(whole) = kept.get(&policy) else {
        return Ok(writeln!(out, "How rule {} read then is not in this log\n", visible(rule))?);
    };
    // `user /home/ada/.config/mcp-approve/policy.toml is DIGEST`, a line for each file.
    let files: Vec<(&str, &Kept)> = match whole.is_list() {
        true => {
            whole.text.lines().filter_map(|line| Some((line, kept.get(&kept_texts::digests(line).next()?)?))).collect()
        }
        false => vec![("", whole)],
    };
    for (line, text) in files {
        let Ok(block) = edit::rule(&text.text, rule) else { continue };
        let file = line.rsplit_once(' ').map_or_else(String::new, |(file, _)| format!("{}, ", visible(file)));
        writeln!(out, "Rule {} as it read then ({file}record {}{}):", visible(rule), text.seq, worth(text))?;
        lines(&block, out)?;
    }
    Ok(())
}

/// What a text is worth, where it is not the one of its digest.
fn worth(text: &Kept) -> &'static str {
    match text.state {
        State::Whole => "",
        State::Redacted => "; secrets in it are replaced, so only the chain vouches for it",
        State::TooLong => "; it was too long to be kept",
        State::Other => "; NOT THE TEXT THAT ITS DIGEST NAMES",
    }
}

fn definition_of(fields: &Fields<'_>) -> Option<Digest> {
    #[derive(Deserialize)]
    struct Judged {
        definition: String,
    }
    fields.detail::<Judged>()?.definition.parse().ok()
}

fn definition_then(digest: &Digest, kept: &BTreeMap<Digest, Kept>, out: &mut dyn Write) -> Result<(), Error> {
    let Some(text) = kept.get(digest) else {
        return Ok(writeln!(out, "The tool's definition of then, {}, is not in this log\n", digest.short())?);
    };
    writeln!(out, "The tool's definition of then (record {}{}):", text.seq, worth(text))?;
    let json = serde_json::from_str::<Value>(&text.text).map(|json| pretty(&json));
    lines(json.as_deref().unwrap_or(&text.text), out)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AgreedDetail {
    says: String,
    operator: String,
}

/// Lists what had been agreed to of the call's tool, or of its server, before it was decided.
fn agreements(
    reader: &Reader,
    index: Option<&Index>,
    decided: &Fields<'_>,
    look: Look<'_>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let search = Search::default().with(Field::Kind, Some(Kind::Agreed.word())).before(decided.millis());
    // What another machine agreed to is nothing to this one.
    let search = search.with(Field::Machine, decided.machine);
    let mut in_force: BTreeMap<Digest, (Said, String)> = BTreeMap::new();
    for record in query::last(reader, index, &search, usize::MAX)? {
        let Some((fields, said)) = record.fields().zip(agreed::read(&record.body)) else { continue };
        let is_of_tool = fields.tool.is_none() || fields.tool == decided.tool;
        let last = in_force.get(&said.digest).map(|(last, _)| last);
        let Some(said) = said.after(last) else { continue };
        match said.says {
            Says::TakenBack => drop(in_force.insert(said.digest, (said, String::new()))),
            Says::Agreed if fields.server == decided.server && is_of_tool => {
                let AgreedDetail { says, operator } = fields.detail().unwrap_or_default();
                let time = fields.millis().map_or_else(String::new, |at| time::date(at, look.clock.offset));
                let line = format!("{}, by {}, {time}, record {}", visible(&says), visible(&operator), record.seq);
                in_force.insert(said.digest, (said, line));
            }
            Says::Agreed => {}
        }
    }
    in_force.retain(|_, (said, _)| said.says == Says::Agreed);
    if in_force.is_empty() {
        return Ok(());
    }
    writeln!(out, "Agreed to before it, of this tool or its server:")?;
    in_force.values().try_for_each(|(_, line)| writeln!(out, "  {line}"))?;
    Ok(writeln!(out)?)
}

fn lines(text: &str, out: &mut dyn Write) -> Result<(), Error> {
    text.trim_end().lines().try_for_each(|line| writeln!(out, "  {}", indented_line(line)))?;
    Ok(writeln!(out)?)
}
