//! Finds records in the log, and counts what they say. Owns no SQL and no printing; what it reads is not trusted.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

use memchr::memmem;
use serde::Deserialize;

use super::chain::Row;
use super::fields::{Call, Field, Fields, HazardDetail, Record};
use super::index::{Index, Walk};
use super::kept_texts::{self, Kept, State};
use super::record::Kind;
use super::redact::push_string;
use super::search::Search;
use super::store::{ReadOrder, Reader, StoreError, Visit};
use super::tally::{Exact, Numbers as _, Servers, Tally};
use super::verified::{Verified, Verifying};
use crate::behavior::hazards::HazardKind;
use crate::wire::digest::Digest;

/// The newest records that the search wants, at most `limit`, the newest last. The index saves reading the others.
pub fn last(reader: &Reader, index: Option<&Index>, search: &Search, limit: usize) -> Result<Vec<Record>, StoreError> {
    newest(reader, index, search, limit, &mut |_| Place::Row)
}

/// The newest calls of which the search wants a record, at most `limit`, the newest last: each by its decision,
/// otherwise by the record that shows its state. Records that cannot be read are included.
pub fn last_calls(
    reader: &Reader,
    index: Option<&Index>,
    search: &Search,
    limit: usize,
) -> Result<Vec<Record>, StoreError> {
    let (mut calls, mut questions) = (CallRows::default(), Questions::default());
    let found = newest(reader, index, search, limit, &mut |record| {
        if !questions.want(reader, index, search, record) {
            return Place::Behind;
        }
        calls.place(record.fields().map(|fields| (fields.kind(), fields.call())))
    })?;
    questions.check()?;
    Ok(found)
}

fn newest(
    reader: &Reader,
    index: Option<&Index>,
    search: &Search,
    limit: usize,
    place: &mut dyn FnMut(&Record) -> Place,
) -> Result<Vec<Record>, StoreError> {
    let mut found: Vec<Record> = Vec::new();
    if limit == 0 {
        return Ok(found);
    }
    let walk = Walk::new(search.clone(), ReadOrder::NewestFirst, reader.newest()?);
    walk.to_the_end(reader, index, &mut |row| {
        if search.takes_row(&row) {
            let record = Record::new(&row);
            match place(&record) {
                Place::Row => found.push(record),
                Place::InsteadOf(at) => {
                    if let Some(there) = found.get_mut(at) {
                        *there = record;
                    }
                }
                Place::Behind => {}
            }
        }
        if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    found.reverse();
    Ok(found)
}

/// Decides which questions that a search finds belong to calls that it wants: a question has no verdict, so
/// `-verdict:deny` alone would leave the question of a denied call in the list.
#[derive(Debug, Default)]
pub struct Questions {
    decided: HashSet<Call>,
    /// Why a call could not be looked up.
    failed: Option<StoreError>,
}

impl Questions {
    /// Whether the record may be its call's row: the decision of a question's call is wanted, or still to come.
    pub fn want(&mut self, reader: &Reader, index: Option<&Index>, search: &Search, record: &Record) -> bool {
        let Some(fields) = record.fields().filter(|_| search.leaves_out()) else { return true };
        let call = fields.call();
        match (fields.kind(), &fields.ticket) {
            (Some(Kind::Decision), _) => self.decided.insert(call),
            (Some(Kind::DecisionAsked), Some(ticket)) if !self.decided.contains(&call) => {
                let is_decision = |one: &Fields<'_>| one.kind() == Some(Kind::Decision) && one.call() == call;
                let records = of_ticket(reader, index, ticket).unwrap_or_else(|error| {
                    self.failed = Some(error);
                    Vec::new()
                });
                let decision = records.iter().find(|one| one.fields().is_some_and(|one| is_decision(&one)));
                return decision.is_none_or(|one| search.takes_record(one));
            }
            _ => true,
        };
        true
    }

    pub fn check(&mut self) -> Result<(), StoreError> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

/// Which records, read the newest first, are the rows of a list that has one row a call.
#[derive(Debug, Default)]
pub struct CallRows {
    calls: HashMap<Call, usize>,
    rows: usize,
}

/// Where a record goes in a list that has one row a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is the next row.
    Row,
    /// It says more of its call than this row.
    InsteadOf(usize),
    /// Its call has a row that says it already, or it is of no call.
    Behind,
}

impl CallRows {
    /// The place of a record by its kind and call; `None` for one that cannot be read, which is a row of its own.
    pub fn place(&mut self, known: Option<(Option<Kind>, Call)>) -> Place {
        if let Some((kind, call)) = known {
            match (kind.filter(|kind| is_row(*kind)), self.calls.get(&call)) {
                (None, _) => return Place::Behind,
                // A call may be withdrawn after its decision, which says more.
                (Some(Kind::Decision), Some(at)) => return Place::InsteadOf(*at),
                (Some(_), Some(_)) => return Place::Behind,
                (Some(_), None) => self.calls.insert(call, self.rows),
            };
        }
        self.rows += 1;
        Place::Row
    }
}

/// Whether a record of this kind can be its call's row.
pub fn is_row(kind: Kind) -> bool {
    matches!(kind, Kind::Decision | Kind::Withdrawn | Kind::DecisionAsked)
}

/// Shows the records that the search wants, oldest first, until `see` breaks off; verifies every record on the way.
pub fn each(reader: &Reader, search: &Search, see: Visit<'_>) -> Result<Verified, StoreError> {
    let (mut verifying, mut goes_on) = (Verifying::new(reader, None), true);
    reader.each(ReadOrder::OldestFirst, &mut |row| {
        goes_on = goes_on && verifying.take(&row).is_continue();
        if search.takes_row(&row) { see(row) } else { ControlFlow::Continue(()) }
    })?;
    verifying.done(reader)
}

/// The texts of these digests that the log keeps, each the best of its records; and those that a list of files among them names.
pub fn texts(
    reader: &Reader,
    index: Option<&Index>,
    wanted: &BTreeSet<Digest>,
) -> Result<BTreeMap<Digest, Kept>, StoreError> {
    let mut found: BTreeMap<Digest, Kept> = BTreeMap::new();
    let search = Search::default().with(Field::Kind, Some(Kind::Text.word()));
    Walk::new(search, ReadOrder::NewestFirst, reader.newest()?).to_the_end(reader, index, &mut |row| {
        if let Some(text) = kept_texts::read(&row).filter(|text| wanted.contains(&text.digest)) {
            let known = found.entry(text.digest).or_insert_with(|| text.clone());
            if known.state < text.state {
                *known = text;
            }
        }
        ControlFlow::Continue(())
    })?;
    let lists = found.values().filter(|text| text.is_list() && text.state == State::Whole);
    let listed: BTreeSet<Digest> = lists.flat_map(|list| kept_texts::digests(&list.text)).collect();
    let others: BTreeSet<Digest> = listed.difference(wanted).copied().collect();
    if !others.is_empty() {
        found.extend(self::texts(reader, index, &others)?);
    }
    Ok(found)
}

pub fn at(reader: &Reader, seq: u64) -> Result<Option<Record>, StoreError> {
    reader.one(seq, |row| Record::new(&row))
}

/// All records of a ticket, the oldest first. Two runs of a wrapper may have given out the same name.
pub fn of_ticket(reader: &Reader, index: Option<&Index>, ticket: &str) -> Result<Vec<Record>, StoreError> {
    // Far quicker to find than to parse every body. No value can contain it, since its quotes would be escaped.
    let mut field = String::from("\"ticket\":");
    push_string(&mut field, ticket);
    let finder = memmem::Finder::new(&field);
    let search = Search::default().with(Field::Ticket, Some(ticket));
    let mut found = Vec::new();
    Walk::new(search, ReadOrder::NewestFirst, reader.newest()?).to_the_end(reader, index, &mut |row| {
        if finder.find(row.body).is_some() {
            let row = Record::new(&row);
            if row.fields().is_some_and(|fields| fields.ticket.as_deref() == Some(ticket)) {
                found.push(row);
            }
        }
        ControlFlow::Continue(())
    })?;
    found.reverse();
    Ok(found)
}

/// Counts what was decided, of the records that the search wants; how calls were answered is not counted.
pub fn decisions(reader: &Reader, index: Option<&Index>, search: &Search) -> Result<Tally<Exact>, StoreError> {
    let mut tally = Tally::new(Servers::Apart);
    Walk::new(search.clone(), ReadOrder::OldestFirst, 1).to_the_end(reader, index, &mut |row| {
        decided(&mut tally, search, &row);
        ControlFlow::Continue(())
    })?;
    Ok(tally)
}

fn decided(tally: &mut Tally<Exact>, search: &Search, row: &Row<'_>) {
    if !search.takes_row(row) {
        return;
    }
    let Some(fields) = Fields::of_row(row) else {
        tally.unreadable += 1;
        return;
    };
    if fields.kind() == Some(Kind::Outcome) {
        tally.take_time(&fields);
    } else {
        tally.take(&fields);
    }
}

/// Counts how calls were answered, over the newest `most` records.
pub fn answers(reader: &Reader, most: u64) -> Result<Tally<Exact>, StoreError> {
    let mut tally = Tally::new(Servers::Together);
    let outcome = memmem::Finder::new("\"kind\":\"outcome\"");
    reader.each_from(ReadOrder::NewestFirst, reader.newest()?, most, &mut |row| {
        if outcome.find(row.body).is_some()
            && let Some(fields) = Fields::of(row.body)
        {
            tally.take(&fields);
        }
        ControlFlow::Continue(())
    })?;
    Ok(tally)
}

/// A session that gave out a ticket, and when. Both are foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfSession {
    pub session: String,
    /// Where it is from, in a log that has those of many machines.
    pub machine: Option<String>,
    pub since: String,
}

/// Of all records of a ticket, those of one session: the newest, or the newest whose name begins with `wanted`. And
/// which others gave out the same ticket, the oldest first: each run of a wrapper counts from 1.
pub fn of_one_session(found: Vec<Record>, wanted: Option<&str>) -> (Vec<Record>, Vec<OfSession>) {
    let session = |row: &Record| {
        let name = row.fields().map(|fields| fields.session.into_owned()).unwrap_or_default();
        (row.machine().map(str::to_owned), name)
    };
    let wanted = wanted.unwrap_or_default();
    let Some(chosen) = found.iter().rev().map(session).find(|(_, name)| name.starts_with(wanted)) else {
        return (Vec::new(), Vec::new());
    };
    let mut others: Vec<OfSession> = Vec::new();
    let (of_it, rest): (Vec<Record>, Vec<Record>) = found.into_iter().partition(|row| session(row) == chosen);
    for row in &rest {
        if let Some(fields) = row.fields()
            && others.iter().all(|other| other.session != fields.session || other.machine.as_deref() != row.machine())
        {
            let machine = row.machine().map(str::to_owned);
            others.push(OfSession { session: fields.session.into_owned(), machine, since: fields.time.into_owned() });
        }
    }
    (of_it, others)
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detections {
    /// How many calls had a hazard, by its word.
    pub hazards: BTreeMap<&'static str, u64>,
    /// How long calls were held that ran without a question, in microseconds: judged, and committed to the log.
    pub gate: Exact,
    /// Calls whose evidence contradicted itself.
    pub disputed: u64,
    /// Calls of another behavior than the task expects.
    pub unexpected: u64,
    /// Calls whose arguments did not fit the schema.
    pub violations: u64,
    /// Definitions that changed since they were trusted, and tools that a known server added.
    pub changed: u64,
    pub added: u64,
    /// Tools that an operator said to read, or to change something.
    pub confirmed: u64,
    pub refused: u64,
}

/// The reason in a decision on arguments that do not fit.
pub const VIOLATION: &str = "the arguments do not fit the tool's input schema";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Detail {
    disputed: bool,
    hazards: Vec<HazardDetail>,
    gate_us: Option<u64>,
    reason: String,
    definition: String,
    review: String,
}

pub fn detections(reader: &Reader, index: Option<&Index>, search: &Search) -> Result<Detections, StoreError> {
    let of_tools = format!("\"kind\":\"{}\"", Kind::Tools.word());
    let finders = ["\"disputed\":true", "\"hazards\":[", "\"gate_us\":", VIOLATION, &of_tools].map(memmem::Finder::new);
    let mut found = Detections::default();
    // A call that was edited, or asked again, has several such records.
    let [mut disputed, mut violations] = [const { BTreeSet::new() }; 2];
    let mut hazards: BTreeMap<&'static str, BTreeSet<Call>> = BTreeMap::new();
    Walk::new(search.clone(), ReadOrder::NewestFirst, reader.newest()?).to_the_end(reader, index, &mut |row| {
        let may_say_so = finders.iter().any(|finder| finder.find(row.body).is_some()) && search.takes_row(&row);
        let Some(fields) = Fields::of_row(&row).filter(|_| may_say_so) else { return ControlFlow::Continue(()) };
        let Some(detail) = fields.detail::<Detail>() else { return ControlFlow::Continue(()) };
        match fields.kind() {
            Some(Kind::Decision | Kind::DecisionAsked) => {
                let call = || Some(fields.call());
                disputed.extend(call().filter(|_| detail.disputed));
                for kind in detail.hazards.iter().filter_map(|one| HazardKind::from_word(&one.hazard)) {
                    hazards.entry(kind.word()).or_default().extend(call());
                }
                violations.extend(call().filter(|_| detail.reason == VIOLATION));
            }
            Some(Kind::Outcome) => detail.gate_us.into_iter().for_each(|held| found.gate.take(held)),
            Some(Kind::Tools) => {
                let says = |words: &str| u64::from(detail.review.starts_with(words));
                found.changed += u64::from(detail.definition == "changed");
                found.added += u64::from(detail.definition == "new");
                found.confirmed += says("pinned as PURE|");
                found.refused += says("pinned as MUTATES|") + says("refused the definition");
            }
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    let count = |calls: BTreeSet<Call>| calls.len() as u64;
    (found.disputed, found.violations) = (count(disputed), count(violations));
    found.hazards = hazards.into_iter().map(|(kind, calls)| (kind, count(calls))).collect();
    found.unexpected = found.hazards.get(HazardKind::UnexpectedBehavior.word()).copied().unwrap_or_default();
    Ok(found)
}
