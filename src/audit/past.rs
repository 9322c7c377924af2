//! The calls of a log, each put together from its records, for rules to be tried on. Owns no judgement.

use std::collections::HashMap;
use std::ops::ControlFlow;

use serde_json::Value;

use super::chain::Row;
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
    let mut gathering = Gathering::new(Order::OldestFirst);
    let mut calls = Vec::new();
    reader.each(Order::OldestFirst, &mut |row| {
        calls.extend(gathering.take(&row, None).filter(|call| since.is_none_or(|at| call.time >= at)));
        ControlFlow::Continue(())
    })?;
    Ok(calls)
}

/// Puts calls together from records that come one by one, in either order.
pub struct Gathering {
    order: Order,
    /// Oldest first: what was asked, and is not decided yet.
    asked: HashMap<(String, String), Arrival>,
    /// Newest first: what was decided, its arrival not seen yet.
    decided: HashMap<(String, String), (i64, String)>,
}

/// Whose calls are wanted: what `server` and `tool` of a record say.
pub type Wanted<'a> = &'a dyn Fn(&str, &str) -> bool;

impl Gathering {
    /// Nothing yet; records will come in this order.
    pub fn new(order: Order) -> Self {
        Self { order, asked: HashMap::new(), decided: HashMap::new() }
    }

    /// Takes a record; gives the call that is whole with it, where it is wanted.
    pub fn take(&mut self, row: &Row<'_>, wanted: Option<Wanted<'_>>) -> Option<PastCall> {
        let fields: Fields<'_> = serde_json::from_slice(row.body).ok()?;
        let is = |kind: Kind| *fields.kind == *kind.word();
        let (asks, decides) = (is(Kind::DecisionAsked), is(Kind::Decision));
        let tool = fields.tool.as_deref().unwrap_or_default();
        if !(asks || decides) || wanted.is_some_and(|wanted| !wanted(&fields.server, tool)) {
            return None;
        }
        let key = || Some((fields.session.to_string(), fields.ticket.clone()?));
        match (self.order, asks) {
            (Order::OldestFirst, true) => {
                if let (Some(key), Some(arrival)) = (key(), arrival(&fields)) {
                    self.asked.insert(key, arrival);
                }
                None
            }
            (Order::OldestFirst, false) => decided(row.seq, &fields, &mut self.asked),
            (Order::NewestFirst, true) => {
                let arrival = arrival(&fields)?;
                let (seq, body) = self.decided.remove(&key()?)?;
                made(seq, &serde_json::from_str(&body).ok()?, arrival)
            }
            (Order::NewestFirst, false) => {
                if let Some(arrival) = arrival(&fields) {
                    return made(row.seq, &fields, arrival);
                }
                let body = String::from_utf8_lossy(row.body).into_owned();
                self.decided.insert(key()?, (row.seq, body));
                None
            }
        }
    }
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
