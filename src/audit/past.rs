//! The calls of a log, each put together from its records, for rules to be tried on. Owns no judgement.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::chain::Row;
use super::fields::{Fields, HazardDetail, JudgedDetail, Record};
use super::record::{By, Kind, VerdictWord};
use super::store::{ReadOrder, Reader, StoreError};
use serde_json::Value;

use crate::behavior::{Badge, Behavior, Confidence, Hazard, HazardKind, Identity, arguments};
use crate::policy::past::{Ended, PastCall};
use crate::policy::{Decision, past};
use crate::wire::call::RESULT;

/// What a call's first record tells: how it was judged, and with what arguments.
#[derive(Clone)]
struct Arrival {
    arguments: Value,
    behavior: Behavior,
    analysed: bool,
    method: Option<String>,
}

/// Puts together every call that was decided since then (milliseconds since 1970, UTC), the oldest first.
///
/// Calls that no policy ruled on (outside the scope, malformed) and records that cannot be read are left out.
pub fn calls(reader: &Reader, since: Option<i64>) -> Result<Vec<PastCall>, StoreError> {
    let mut gathering = Gathering::new(ReadOrder::OldestFirst);
    let mut calls = Vec::new();
    reader.each(ReadOrder::OldestFirst, &mut |row| {
        calls.extend(gathering.take(&row, None).filter(|call| since.is_none_or(|at| call.time >= at)));
        ControlFlow::Continue(())
    })?;
    Ok(calls)
}

/// Puts calls together from records that come one by one, in either order.
pub struct Gathering {
    order: ReadOrder,
    /// Oldest first: what was asked, and is not decided yet.
    asked: HashMap<(String, String), Arrival>,
    /// Newest first: what was decided, its arrival not seen yet.
    decided: HashMap<(String, String), (i64, String)>,
}

/// Whose calls are wanted: what `server` and `tool` of a record say.
pub type Wanted<'a> = &'a dyn Fn(&str, &str) -> bool;

impl Gathering {
    pub fn new(order: ReadOrder) -> Self {
        Self { order, asked: HashMap::new(), decided: HashMap::new() }
    }

    /// Takes a record; returns the call that it completes, if that call is wanted.
    pub fn take(&mut self, row: &Row<'_>, wanted: Option<Wanted<'_>>) -> Option<PastCall> {
        let fields = Fields::of(row.body)?;
        let asks = match fields.kind()? {
            Kind::DecisionAsked => true,
            Kind::Decision => false,
            _ => return None,
        };
        let tool = fields.tool.as_deref().unwrap_or_default();
        if wanted.is_some_and(|wanted| !wanted(&fields.server, tool)) {
            return None;
        }
        let key = || Some((fields.session.to_string(), fields.ticket.clone()?));
        match (self.order, asks) {
            (ReadOrder::OldestFirst, true) => {
                if let (Some(key), Some(arrival)) = (key(), arrival(&fields)) {
                    self.asked.insert(key, arrival);
                }
                None
            }
            (ReadOrder::OldestFirst, false) => {
                let before = self.asked.remove(&key()?);
                made(row.seq, &fields, arrival(&fields).or(before)?)
            }
            (ReadOrder::NewestFirst, true) => {
                let arrival = arrival(&fields)?;
                let (seq, body) = self.decided.remove(&key()?)?;
                made(seq, &Fields::of(body.as_bytes())?, arrival)
            }
            (ReadOrder::NewestFirst, false) => {
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

/// The call of one record, from all records of its ticket; `None` where that record is of no call that was judged.
pub fn call_of(found: &Record, of_ticket: &[Record]) -> Option<PastCall> {
    let fields = found.fields()?;
    let (mut call, mut last) = (None, None);
    let mut asked = None;
    for record in of_ticket {
        let Some(of) = record.fields().filter(|of| of.session == fields.session && of.ticket == fields.ticket) else {
            continue;
        };
        match of.kind() {
            Some(Kind::DecisionAsked) => {
                if let Some(arrival) = arrival(&of) {
                    last = Some((record.seq, arrival.clone()));
                    asked = Some(arrival);
                }
            }
            Some(Kind::Decision) => {
                call = arrival(&of).or(asked.take()).and_then(|arrival| made(record.seq, &of, arrival));
            }
            _ => {}
        }
    }
    call.or_else(|| {
        let (seq, arrival) = last?;
        made(seq, &fields, arrival)
    })
}

fn made(seq: i64, fields: &Fields<'_>, arrival: Arrival) -> Option<PastCall> {
    let word = |of: &Option<String>| of.as_deref().unwrap_or_default().to_owned();
    Some(PastCall {
        seq,
        time: fields.millis()?,
        ticket: word(&fields.ticket),
        server: fields.server.to_string(),
        tool: fields.tool.clone()?,
        arguments: past::shown(arrival.method.as_deref(), arrival.arguments),
        method: arrival.method,
        behavior: arrival.behavior,
        analysed: arrival.analysed,
        ruling: Decision::from_word(fields.ruling.as_deref()?)?,
        rule: fields.rule.clone(),
        ended: ended(fields),
        by: word(&fields.by),
    })
}

fn ended(fields: &Fields<'_>) -> Ended {
    match fields.verdict() {
        Some(VerdictWord::Approve) => Ended::Ran,
        Some(VerdictWord::Deny) => match fields.by() {
            Some(By::Expiry | By::Cancel | By::Shutdown | By::Fault) => Ended::Unanswered,
            // If it is unknown who decided, it may have been a person.
            Some(By::Default | By::Rule | By::Operator | By::Approver | By::Scope | By::Observe | By::Elicitation)
            | None => Ended::Refused,
        },
        None => Ended::Unanswered,
    }
}

fn arrival(fields: &Fields<'_>) -> Option<Arrival> {
    let arguments: Value = serde_json::from_str(fields.arguments?.get()).ok()?;
    if arguments.is_null() {
        return None;
    }
    let JudgedDetail { words, method, confidence, evidence, hazards, disputed } = fields.detail()?;
    // A result that was asked about is no call.
    let identity = words.parse::<Identity>().ok().filter(|_| method.as_deref() != Some(RESULT))?;
    let hazard = |HazardDetail { hazard, what }| Some(Hazard { kind: HazardKind::from_word(&hazard)?, what });
    let hazards = hazards.into_iter().filter_map(hazard).collect();
    // The tool's definition is not in the record, and may have explained more arguments: then these lists differ.
    let analyses = if method.is_none() { arguments::found(None, &arguments) } else { Vec::new() };
    let then = evidence.iter().filter(|line| line.starts_with("arguments "));
    let analysed = then.eq(&analyses.iter().map(|one| one.evidence().to_string()).collect::<Vec<_>>());
    let badge = fields.badge.as_deref().and_then(Badge::from_word);
    let confidence = Confidence::from_word(&confidence).unwrap_or(match badge {
        Some(Badge::Pure) => Confidence::Proven,
        Some(Badge::Likely) => Confidence::Likely,
        Some(Badge::Mutates) | None => Confidence::None,
    });
    let mut behavior = Behavior { identity, confidence, hazards, disputed, analyses, ..Behavior::unknown() };
    if badge == Some(Badge::Likely) && confidence == Confidence::Proven {
        behavior.shape.asks("", "something was new then");
    }
    Some(Arrival { arguments, behavior, analysed, method })
}
