//! Removes the oldest records of a log, a whole stretch at a time, with a record that says so. What later records need of it is
//! sealed anew first: agreements in force, and the texts that are still named. Owns no SQL.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;

use super::agreed::{self, Said, Says};
use super::chain::{Head, Row, Verifier};
use super::fields::Fields;
use super::kept_texts::{self, Kept, Names};
use super::record::Entry;
use super::recording::{Recording, RecordingError};
use super::removed::{self, Measure, Removed, Stretch};
use super::store::{ReadOrder, Reader, StoreError};
use super::verified::{SessionStart, Verifying};
use crate::signing::change::Proof;
use crate::wire::digest::Digest;

/// What is to be removed: all records that are older than this moment.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Milliseconds since 1970, UTC.
    pub before: i64,
    pub now: i64,
    pub operator: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// `None`: nothing is that old, or nothing of it can go.
    pub stretch: Option<Stretch>,
    /// How many records are sealed anew.
    pub sealed_anew: usize,
    /// The session that keeps later records from going: it has not ended.
    pub held_by: Option<SessionStart>,
}

#[derive(Debug, thiserror::Error)]
pub enum RetentionError {
    #[error(transparent)]
    Log(#[from] StoreError),
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error("the log does not hold: {0}")]
    Broken(String),
    #[error("it is not signed: {0}")]
    Unsigned(String),
}

/// The oldest records that may go together: up to which one, and why not further.
struct Limit {
    last: u64,
    held_by: Option<SessionStart>,
}

/// Finds what can be removed.
/// Errors: the log cannot be read, or it does not hold: then nothing of it must go.
pub fn plan(reader: &Reader, wanted: Wanted<'_>) -> Result<Plan, RetentionError> {
    let limit = limit(reader, wanted.before)?;
    let mut sorting = Sorting::new(reader, limit.last);
    sorting.read(reader)?;
    let (stretch, anew) = sorting.found(wanted.now);
    Ok(Plan { stretch, sealed_anew: anew.len(), held_by: limit.held_by })
}

/// Removes what [`plan`] finds, all in one commit with the record that says so. `prove` gives the proof that the records up to the
/// one with this link may go.
pub fn remove(
    log: &Path,
    recording: &mut Recording,
    wanted: Wanted<'_>,
    prove: impl FnOnce(Digest) -> Result<Proof, String>,
) -> Result<Plan, RetentionError> {
    let nothing = Plan { stretch: None, sealed_anew: 0, held_by: None };
    let Some(reader) = Reader::open(log)? else { return Ok(nothing) };
    let limit = limit(&reader, wanted.before)?;
    let mut sorting = Sorting::new(&reader, limit.last);
    sorting.read(&reader)?;
    let mut plan = Plan { held_by: limit.held_by, ..nothing };
    let Some(stretch) = sorting.measure.clone().stretch() else { return Ok(plan) };
    let proof = prove(stretch.head).map_err(RetentionError::Unsigned)?;
    let earlier = reader.removed().map_or(&[][..], |removed| &removed.stretches);
    recording.store.remove(&recording.redactor, || {
        // What came meanwhile may name more.
        sorting.read(&reader)?;
        let (stretch, mut entries) = sorting.found(wanted.now);
        (plan.sealed_anew, plan.stretch) = (entries.len(), stretch.clone());
        let stretches: Vec<Stretch> = earlier.iter().cloned().chain(stretch).collect();
        entries.push(removed::entry(wanted.now, wanted.operator, &stretches).proven(&proof));
        Ok((limit.last, entries))
    })?;
    Ok(plan)
}

/// Verifies the whole log, and finds up to which record it is old enough and has no session that runs or lost its end.
fn limit(reader: &Reader, before: i64) -> Result<Limit, RetentionError> {
    let mut verifying = Verifying::new(reader, None);
    let (mut last, mut newest, mut is_old) = (0, 0, true);
    reader.each(ReadOrder::OldestFirst, &mut |row| {
        newest = u64::try_from(row.seq).unwrap_or(0);
        // Once one is young enough, all after it stay.
        is_old = is_old && Fields::of(row.body).and_then(|fields| fields.millis()).is_some_and(|at| at < before);
        if is_old {
            last = newest;
        }
        verifying.take(&row)
    })?;
    let held_by = verifying.sessions.held().min_by_key(|start| start.seq).cloned();
    let verified = verifying.done(reader)?;
    if let Some(broken) = &verified.broken {
        return Err(RetentionError::Broken(broken.to_string()));
    }
    if let Some((seq, why)) = verified.untrue.first() {
        return Err(RetentionError::Broken(format!("record {seq} is not true: {why}")));
    }
    // The newest record stays: wrappers find by it that the log is theirs.
    let mut limit = Limit { last: last.min(newest.saturating_sub(1)), held_by: None };
    if let Some(start) = held_by
        && let Ok(seq) = u64::try_from(start.seq)
        && seq <= limit.last
    {
        limit = Limit { last: seq - 1, held_by: Some(start) };
    }
    Ok(limit)
}

/// Tells what of a stretch is needed by the records after it.
struct Sorting {
    last: u64,
    verifier: Verifier,
    measure: Measure,
    /// The last word of the stretch on each agreement, its record, and that record's body.
    agreed: HashMap<Digest, (Said, u64, String)>,
    texts: HashMap<Digest, Kept>,
    /// What records after it say again.
    later: HashSet<Digest>,
    names: Names,
}

impl Sorting {
    fn new(reader: &Reader, last: u64) -> Self {
        let begin = reader.removed().map_or(Head::EMPTY, Removed::end);
        Self {
            last,
            verifier: Verifier::after(begin),
            measure: Measure::after(begin),
            agreed: HashMap::new(),
            texts: HashMap::new(),
            later: HashSet::new(),
            names: Names::default(),
        }
    }

    fn read(&mut self, reader: &Reader) -> Result<(), StoreError> {
        let from = self.verifier.head().seq + 1;
        // They were verified: a break ends the stretch, at the latest.
        reader.each_from(ReadOrder::OldestFirst, from, u64::MAX, &mut |row| match self.verifier.take(&row) {
            Ok(head) => {
                self.take(head, &row);
                ControlFlow::Continue(())
            }
            Err(_) => ControlFlow::Break(()),
        })
    }

    fn take(&mut self, head: Head, row: &Row<'_>) {
        let body = std::str::from_utf8(row.body).unwrap_or_default();
        let (agreement, text) = (agreed::read(body), kept_texts::read(row));
        if head.seq > self.last {
            self.names.take(row);
            self.later.extend(agreement.map(|said| said.digest));
            self.later.extend(text.map(|text| text.digest));
            return;
        }
        let fields = Fields::of(row.body);
        self.measure.take(head, fields.as_ref().map_or("", |fields| &fields.time));
        let last = agreement.as_ref().and_then(|said| self.agreed.get(&said.digest)).map(|(last, ..)| last);
        if let Some(said) = agreement.and_then(|said| said.after(last)) {
            self.agreed.insert(said.digest, (said, head.seq, body.to_owned()));
        }
        if let Some(text) = text
            && self.texts.get(&text.digest).is_none_or(|known| known.state <= text.state)
        {
            self.texts.insert(text.digest, text);
        }
    }

    /// The stretch, and the records that say anew what is needed of it.
    fn found(&self, now: i64) -> (Option<Stretch>, Vec<Entry>) {
        let mut names = self.names.clone();
        // A list of files that is needed needs the texts that it names.
        let lists = self.texts.values().filter(|text| text.is_list() && names.has(&text.digest));
        let listed: Vec<Digest> = lists.flat_map(|list| kept_texts::digests(&list.text)).collect();
        names.add(listed);
        let is_needed = |text: &&Kept| names.has(&text.digest) && !self.later.contains(&text.digest);
        let mut texts: Vec<&Kept> = self.texts.values().filter(is_needed).collect();
        texts.sort_by_key(|text| text.seq);
        let in_force =
            |(said, ..): &&(Said, u64, String)| said.says == Says::Agreed && !self.later.contains(&said.digest);
        let mut agreed: Vec<_> = self.agreed.values().filter(in_force).collect();
        agreed.sort_by_key(|(_, seq, _)| *seq);
        let agreed = agreed.into_iter().filter_map(|(_, seq, body)| agreed::sealed_anew(now, *seq, body));
        (self.measure.clone().stretch(), agreed.chain(texts.into_iter().map(|text| text.sealed_anew(now))).collect())
    }
}
