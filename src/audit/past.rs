//! The calls of a log, each put together from its records, for rules to be tried on. Owns no judgement.

use std::collections::HashMap;
use std::ops::ControlFlow;

use serde_json::Value;

use super::index::Index;
use super::query::{Fields, Found};
use super::record::{By, Kind, VerdictWord};
use super::store::{Order, Reader, StoreError};
use crate::behavior::arguments;
use crate::behavior::arguments::effect::Analysis;
use crate::behavior::conclude::Behavior;
use crate::behavior::hazards::{Hazard, HazardKind};
use crate::behavior::identity::Identity;
use crate::policy::past::{Ended, PastCall};
use crate::policy::rule::Decision;

/// What a call's first record tells: how it was judged, and with what arguments.
#[derive(Clone)]
struct Arrival {
    arguments: Value,
    behavior: Behavior,
    analysed: bool,
}

/// Puts together every call that was decided since then (milliseconds since 1970, UTC), the oldest first.
///
/// Calls that no policy ruled on (outside the scope, malformed) and records that cannot be read are left out.
///
/// # Errors
/// Why the log could not be read.
pub fn calls(reader: &Reader, since: Option<i64>) -> Result<Vec<PastCall>, StoreError> {
    let mut asked: HashMap<(String, String), Arrival> = HashMap::new();
    let mut calls = Vec::new();
    reader.each(Order::OldestFirst, &mut |row| {
        if let Ok(fields) = serde_json::from_slice::<Fields<'_>>(row.body) {
            let kind = &*fields.kind;
            if kind == Kind::DecisionAsked.word() {
                if let (Some(ticket), Some(arrival)) = (fields.ticket.clone(), arrival(&fields)) {
                    asked.insert((fields.session.to_string(), ticket), arrival);
                }
            } else if kind == Kind::Decision.word() {
                calls.extend(
                    decided(row.seq, &fields, &mut asked).filter(|call| since.is_none_or(|at| call.time >= at)),
                );
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(calls)
}

/// The call of one record of it, decided or still asked; `None` where that record is of no call that was judged.
///
/// # Errors
/// Why the log could not be read.
pub fn call_of(reader: &Reader, index: Option<&Index>, found: &Found) -> Result<Option<PastCall>, StoreError> {
    let Some(fields) = found.fields() else { return Ok(None) };
    let Some(ticket) = fields.ticket.clone() else { return Ok(None) };
    let all = super::query::of_ticket(reader, index, &ticket)?;
    let mut asked = HashMap::new();
    let (mut call, mut last) = (None, None);
    for record in &all {
        let Some(of) = record.fields().filter(|of| of.session == fields.session) else { continue };
        if &*of.kind == Kind::DecisionAsked.word() {
            if let Some(arrival) = arrival(&of) {
                last = Some((record.seq, arrival.clone()));
                asked.insert((of.session.to_string(), ticket.clone()), arrival);
            }
        } else if &*of.kind == Kind::Decision.word() {
            call = decided(record.seq, &of, &mut asked);
        }
    }
    Ok(call.or_else(|| {
        let (seq, arrival) = last?;
        made(seq, &fields, arrival)
    }))
}

fn decided(seq: i64, fields: &Fields<'_>, asked: &mut HashMap<(String, String), Arrival>) -> Option<PastCall> {
    let before = asked.remove(&(fields.session.to_string(), fields.ticket.clone()?));
    made(seq, fields, arrival(fields).or(before)?)
}

fn made(seq: i64, fields: &Fields<'_>, arrival: Arrival) -> Option<PastCall> {
    let time: jiff::Timestamp = fields.time.parse().ok()?;
    let word = |of: &Option<String>| of.as_deref().unwrap_or_default().to_owned();
    Some(PastCall {
        seq,
        time: time.as_millisecond(),
        ticket: word(&fields.ticket),
        server: fields.server.to_string(),
        tool: fields.tool.clone()?,
        arguments: arrival.arguments,
        behavior: arrival.behavior,
        analysed: arrival.analysed,
        ruling: ruling(fields.ruling.as_deref()?)?,
        rule: fields.rule.clone(),
        ended: ended(fields),
        by: word(&fields.by),
    })
}

fn ruling(word: &str) -> Option<Decision> {
    [Decision::Allow, Decision::Ask, Decision::Deny].into_iter().find(|decision| decision.word() == word)
}

fn ended(fields: &Fields<'_>) -> Ended {
    let by: Option<By> = fields.by.as_deref().and_then(|by| by.parse().ok());
    match fields.verdict.as_deref().and_then(|verdict| verdict.parse().ok()) {
        Some(VerdictWord::Approve) => Ended::Ran,
        Some(VerdictWord::Deny) => match by {
            Some(By::Expiry | By::Cancel | By::Shutdown | By::Fault) => Ended::Unanswered,
            // Who is not known may have been a person.
            Some(By::Default | By::Rule | By::Operator | By::Approver | By::Scope | By::Observe) | None => {
                Ended::Refused
            }
        },
        None => Ended::Unanswered,
    }
}

fn arrival(fields: &Fields<'_>) -> Option<Arrival> {
    let arguments: Value = serde_json::from_str(fields.arguments?.get()).ok()?;
    let detail: Value = serde_json::from_str(fields.detail?.get()).ok()?;
    if arguments.is_null() {
        return None;
    }
    let identity = Identity::from_words(detail.get("words")?.as_str()?)?;
    let list = |key: &str| detail.get(key).and_then(Value::as_array).into_iter().flatten();
    let hazards = list("hazards").filter_map(hazard).collect();
    let disputed = detail.get("disputed").and_then(Value::as_bool).unwrap_or_default();
    // The tool's definition is not in the record, and may have said more of the arguments: then it shows here.
    let analyses = arguments::found(None, &arguments);
    let then = list("evidence").filter_map(Value::as_str).filter(|line| line.starts_with("arguments "));
    let analysed = then.eq(analyses.iter().map(shown));
    let behavior = Behavior { identity, hazards, disputed, analyses, ..Behavior::unknown() };
    Some(Arrival { arguments, behavior, analysed })
}

fn hazard(entry: &Value) -> Option<Hazard> {
    let kind: HazardKind = serde_json::from_value(entry.get("hazard")?.clone()).ok()?;
    Some(Hazard { kind, what: entry.get("what").and_then(Value::as_str).unwrap_or_default().to_owned() })
}

/// An analysis as a record tells it: `arguments MUTATES DELETE: sql: DELETE`.
fn shown(analysis: &Analysis) -> String {
    let evidence = analysis.evidence();
    let mutability = evidence.says.mutability.map(|word| format!(" {}", word.word())).unwrap_or_default();
    let action = evidence.says.action.map(|word| format!(" {}", word.word())).unwrap_or_default();
    format!("arguments{mutability}{action}: {}", evidence.span)
}
