//! Verifies the log whole, against the note of its head, a link noted elsewhere, and the journals beside it: a session without an
//! end must have one. Owns what is wrong with it in one sentence, and no SQL; what it reads is not trusted.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use serde::Deserialize;

use super::agreed::{self, Said};
use super::chain::{Break, Head, Row, Verifier, Writer, is_of};
use super::fields::{Fields, SessionTurn, kind_of, session_turn};
use super::kept_texts::{self, Names};
use super::removed::{self, Removed};
use super::store::noted::Noted;
use super::store::{Damage, Left, ReadOrder, Reader, StoreError};
use crate::wire::{counted, digest::Digest};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The head of the part that holds, from the first record on.
    pub head: Head,
    pub broken: Option<Break>,
    /// What follows the break, if only single records were changed or removed and all others follow from the links there.
    pub beyond: Option<Beyond>,
    pub anchor: Anchor,
    pub unended: Unended,
    pub removed: Option<Removed>,
    /// Records of what was removed that cannot be true, or that are taken for the last word on what was agreed to and are not; and why.
    pub untrue: Vec<(i64, String)>,
    pub texts: kept_texts::Found,
}

/// Sessions that began, and neither ended nor run; and the faults that say that entries are not in the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unended {
    /// Their journals are gone, or not as they were written: their last records did not reach the log.
    pub lost: Vec<SessionStart>,
    /// The same, which an operator has acknowledged.
    pub acknowledged: Vec<SessionStart>,
    /// How many are of earlier versions, which did not record the end of a wrapper that was killed.
    pub earlier: u64,
}

/// The start of a session, or a fault that names a journal. All of it is foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStart {
    pub seq: i64,
    pub time: String,
    pub server: String,
    pub session: String,
    /// The journal that it writes; `None` for earlier versions, which named journals by chance alone.
    pub journal: Option<Writer>,
    pub fault: Option<JournalFault>,
    is_acknowledged: bool,
}

/// What a fault says of a journal that was not as it was written. It stays a finding, whatever becomes of the file that is kept aside.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct JournalFault {
    pub what: String,
    /// The beginning of its name.
    pub journal: String,
}

/// The sessions that have no end in the records that were read, and the faults that name a journal.
#[derive(Clone, Debug, Default)]
pub struct OpenSessions {
    sessions: BTreeMap<String, SessionStart>,
    faults: Vec<SessionStart>,
}

impl OpenSessions {
    /// Takes the next record, the oldest first.
    pub fn take(&mut self, row: &Row<'_>) {
        let turn = session_turn(row.body);
        if turn.is_none() && !is_journal_fault(row.body) {
            return;
        }
        let Some(fields) = Fields::of(row.body) else { return };
        let own = || row.writer.try_into().ok().filter(|writer: &Writer| is_of(writer, &fields.session));
        let start = |fault| SessionStart {
            seq: row.seq,
            time: fields.time.to_string(),
            server: fields.server.to_string(),
            session: fields.session.to_string(),
            journal: fields.next_journal().or_else(own),
            fault,
            is_acknowledged: false,
        };
        let Some(turn) = turn else {
            self.faults.extend(fields.detail().map(|fault| start(Some(fault))));
            return;
        };
        match turn {
            SessionTurn::End => drop(self.sessions.remove(&*fields.session)),
            SessionTurn::Lost => {
                let named = fields.detail().map(|Acknowledged { start }| start);
                if let Some(fault) = self.faults.iter_mut().find(|fault| Some(fault.seq) == named) {
                    fault.is_acknowledged = true;
                } else if let Some(start) = self.sessions.get_mut(&*fields.session) {
                    start.is_acknowledged = true;
                }
            }
            // A session that could not fold its journal was taken for a dead one, and goes on all the same.
            SessionTurn::GoesOn if self.sessions.contains_key(&*fields.session) => {
                if let Some((start, next)) = self.sessions.get_mut(&*fields.session).zip(fields.next_journal()) {
                    start.journal = Some(next);
                }
            }
            SessionTurn::Start | SessionTurn::GoesOn => {
                drop(self.sessions.insert(fields.session.to_string(), start(None)));
            }
        }
    }

    /// What an operator may yet have to look at: sessions of this version, and faults.
    pub fn held(&self) -> impl Iterator<Item = &SessionStart> {
        let is_open =
            |start: &&SessionStart| !start.is_acknowledged && (start.journal.is_some() || start.fault.is_some());
        self.sessions.values().chain(&self.faults).filter(is_open)
    }

    /// Those that do not run: the journal that they write is not beside the log. `read` is the last record that was taken.
    pub fn unended(mut self, reader: &Reader, read: u64) -> Result<Unended, StoreError> {
        if self.sessions.is_empty() && self.faults.is_empty() {
            return Ok(Unended::default());
        }
        let mut journals = reader.journals()?;
        // A journal is removed once the log has all of it: the end of a session without one is in the log by now.
        reader.each_from(ReadOrder::OldestFirst, read + 1, u64::MAX, &mut |row| {
            self.take(&row);
            ControlFlow::Continue(())
        })?;
        // One that was made meanwhile is named in what was read since.
        journals.extend(reader.journals()?);
        // No wrapper holds one that could not be read.
        journals.retain(|journal| reader.left().iter().all(|left| left.unfolded() != Some(*journal)));
        let mut unended = Unended::default();
        for start in self.sessions.into_values().chain(self.faults) {
            match start.journal {
                None if start.fault.is_none() => unended.earlier += 1,
                // Any other file is not what it writes.
                Some(journal) if start.fault.is_none() && journals.contains(&journal) => {}
                _ if start.is_acknowledged => unended.acknowledged.push(start),
                _ => unended.lost.push(start),
            }
        }
        unended.lost.sort_by_key(|start| start.seq);
        unended.acknowledged.sort_by_key(|start| start.seq);
        Ok(unended)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// At how many places a record does not carry the link it must have, or is missing.
    pub changed: u64,
    pub head: Head,
}

impl Verified {
    /// Of a log that is not there.
    pub fn nothing(anchor: Anchor) -> Self {
        Self {
            head: Head::EMPTY,
            broken: None,
            beyond: None,
            anchor,
            unended: Unended::default(),
            removed: None,
            untrue: Vec::new(),
            texts: kept_texts::Found::default(),
        }
    }

    /// The last record that is linked to those before it, apart from changed ones.
    pub fn last(&self) -> Head {
        self.beyond.as_ref().map_or(self.head, |beyond| beyond.head)
    }

    /// The worst that happened to entries that are kept aside and of which no record of this log says so; `None` where there are none.
    pub fn damage(&self, left: &[Left]) -> Option<Damage> {
        let Unended { lost, acknowledged, .. } = &self.unended;
        let said: Vec<&JournalFault> = lost.iter().chain(acknowledged).filter_map(|one| one.fault.as_ref()).collect();
        let is_said = |path: &Path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            said.iter().any(|fault| !fault.journal.is_empty() && name.starts_with(&fault.journal))
        };
        let damages = left.iter().filter_map(|one| match one {
            Left::Aside { path, damage } => (!is_said(path)).then_some(*damage),
            Left::Unfolded { .. } => None,
        });
        damages.min_by_key(|damage| *damage != Damage::Changed)
    }

    /// What is wrong with the log, in one sentence with foreign text; `noted` was read before the log was.
    pub fn wrong(&self, noted: &Noted, reader: &Reader) -> Result<Option<String>, StoreError> {
        let lost = &self.unended.lost;
        Ok(if let Some(broken) = &self.broken {
            Some(format!("the chain is broken: {broken}"))
        } else if is_lost(noted, self.last(), reader)? {
            Some("records are missing: the noted head is not in the log, or cannot be read".to_owned())
        } else if let Some(first) = lost.iter().find(|one| one.fault.is_none()) {
            let sessions = counted(lost.iter().filter(|one| one.fault.is_none()).count() as u64, "session");
            Some(format!("the last records of {sessions} are missing, first of {}", first.server))
        } else if let Some((seq, fault)) = lost.iter().find_map(|one| Some((one.seq, one.fault.as_ref()?))) {
            Some(format!("entries are missing, as record {seq} says: {}", fault.what))
        } else if let Some((seq, why)) = self.untrue.first() {
            Some(format!("record {seq} is not true: {why}"))
        } else if let Some(seq) = self.texts.other.first() {
            Some(format!("the text in record {seq} is not the one that its digest names"))
        } else {
            self.damage(reader.left()).map(|damage| damage.to_string())
        })
    }
}

/// What a record says is acknowledged: the record of a start, or of a fault.
#[derive(Deserialize)]
struct Acknowledged {
    start: i64,
}

/// Whether a body is of a fault that names a journal.
fn is_journal_fault(body: &[u8]) -> bool {
    kind_of(body).is_some_and(|kind| kind.starts_with(b"fault\""))
        && memchr::memmem::find(body, b"\"journal\":\"").is_some()
}

/// Whether a link noted earlier is still in the part that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    NotAsked,
    Found {
        seq: u64,
    },
    /// The log says that it was removed up to there. Whoever can write the log can write that.
    Claimed {
        seq: u64,
    },
    Missing,
}

/// Verifies every record, and now and then tells which one it has reached. `expected` is a link noted earlier.
/// Errors: why the log could not be read; a broken chain is no error here.
pub fn verify(reader: &Reader, expected: Option<Digest>, tell: &mut dyn FnMut(u64)) -> Result<Verified, StoreError> {
    const OFTEN: u64 = 4096;
    let mut verifying = Verifying::new(reader, expected);
    reader.each(ReadOrder::OldestFirst, &mut |row| {
        let flow = verifying.take(&row);
        let seq = verifying.verifier.head().seq;
        if seq.is_multiple_of(OFTEN) {
            tell(seq);
        }
        flow
    })?;
    verifying.done(reader)
}

/// What is known while the records come, the oldest first.
pub struct Verifying {
    verifier: Verifier,
    pub(super) sessions: OpenSessions,
    texts: Names,
    /// What the log was opened with, and what its records say since.
    begin: Option<Removed>,
    removed: Option<Removed>,
    untrue: Vec<(i64, String)>,
    /// The last word on each agreement, and its record.
    agreed: BTreeMap<Digest, (u64, Said)>,
    read: u64,
    expected: Option<Digest>,
    anchor: Anchor,
    broken: Option<Break>,
    /// The head before the first break.
    holds: Option<Head>,
    /// At how many places the chain breaks; `None` once what follows can no longer be checked.
    changed: Option<u64>,
}

impl Verifying {
    /// Begins with the first record that this log has. `expected` is a link noted earlier.
    pub fn new(reader: &Reader, expected: Option<Digest>) -> Self {
        let begin = reader.removed().cloned();
        let of_stretch = |link: Digest| {
            let stretch = begin.iter().flat_map(|removed| &removed.stretches).find(|one| one.head == link);
            stretch.map_or(Anchor::Missing, |one| Anchor::Claimed { seq: one.last })
        };
        let head = begin.as_ref().map_or(Head::EMPTY, Removed::end);
        Self {
            verifier: Verifier::after(head),
            sessions: OpenSessions::default(),
            texts: Names::default(),
            removed: None,
            untrue: Vec::new(),
            agreed: BTreeMap::new(),
            read: head.seq,
            expected,
            anchor: expected.map_or(Anchor::NotAsked, of_stretch),
            begin,
            broken: None,
            holds: None,
            changed: Some(0),
        }
    }

    /// The last record that was taken.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Where the chain breaks first.
    pub fn broken(&self) -> Option<&Break> {
        self.broken.as_ref()
    }

    /// Takes the next record; breaks off once nothing more can be checked.
    pub fn take(&mut self, row: &Row<'_>) -> ControlFlow<()> {
        self.sessions.take(row);
        self.texts.take(row);
        if removed::is_one(row.body) {
            match removed::read(row)
                .ok_or("it cannot be read")
                .and_then(|said| said.fault(self.removed.as_ref()).map_or(Ok(said), Err))
            {
                Ok(said) => self.removed = Some(said),
                Err(why) => self.untrue.push((row.seq, of_removed(why))),
            }
        }
        self.read = u64::try_from(row.seq).unwrap_or(self.read);
        if let Some(said) = std::str::from_utf8(row.body).ok().and_then(agreed::read) {
            match said.after(self.agreed.get(&said.digest).map(|(_, last)| last)) {
                Some(said) => drop(self.agreed.insert(said.digest, (self.read, said))),
                None => self.untrue.push((row.seq, COPY.to_owned())),
            }
        }
        let found = match self.verifier.take(row) {
            Ok(head) => {
                if self.expected == Some(head.link) && self.broken.is_none() {
                    self.anchor = Anchor::Found { seq: head.seq };
                }
                return ControlFlow::Continue(());
            }
            Err(found) => found,
        };
        let carried = <[u8; 32]>::try_from(row.link).ok().map(Digest::from_bytes);
        self.holds.get_or_insert(self.verifier.head());
        let at = match &found {
            Break::Changed { seq } => Some(*seq),
            Break::Missing { expected, found } => u64::try_from(*found).ok().filter(|found| found > expected),
            Break::Malformed { .. } => None,
        };
        self.broken.get_or_insert(found);
        match (at, carried, &mut self.changed) {
            // The next record was linked to the link that this one carries.
            (Some(seq), Some(link), Some(changed)) => {
                *changed += 1;
                self.verifier = Verifier::after(Head { seq, link });
                ControlFlow::Continue(())
            }
            _ => {
                self.changed = None;
                ControlFlow::Break(())
            }
        }
    }

    pub fn done(mut self, reader: &Reader) -> Result<Verified, StoreError> {
        // Where the log was not read to its end, the record that says so was not reached.
        if self.removed != self.begin && self.changed.is_some() {
            let seq = self.begin.as_ref().or(self.removed.as_ref()).map_or(0, |removed| removed.seq);
            self.untrue.push((seq, of_removed("it is not the last that does")));
        }
        // What finds a record is no part of the chain: whoever can write the log's file can have it find one that was taken back.
        for (agreement, (last, _)) in &self.agreed {
            // What came since it was read is not looked at.
            if let Some(named) = reader.looked_up(agreement)?.filter(|named| named != last && *named <= self.read) {
                let why =
                    format!("it is taken for the last word on something that was agreed to, and record {last} is");
                self.untrue.push((i64::try_from(named).unwrap_or(i64::MAX), why));
            }
        }
        let texts = self.texts.found();
        let last = self.verifier.head();
        let beyond = self.changed.filter(|_| self.broken.is_some()).map(|changed| Beyond { changed, head: last });
        let unended = self.sessions.unended(reader, self.read)?;
        Ok(Verified {
            head: self.holds.unwrap_or(last),
            broken: self.broken,
            beyond,
            anchor: self.anchor,
            unended,
            removed: self.begin,
            untrue: self.untrue,
            texts,
        })
    }
}

const COPY: &str = "it agrees, with a signature from before, to what was taken back since";

fn of_removed(why: &str) -> String {
    format!("it says what was removed, and {why}")
}

/// Whether the head that was noted beside the log is not in the part of it that holds, up to `head`.
pub fn is_lost(noted: &Noted, head: Head, reader: &Reader) -> Result<bool, StoreError> {
    match noted {
        Noted::Nothing => Ok(false),
        Noted::Unreadable(_) => Ok(true),
        Noted::Head(noted) => {
            let same = |row: Row<'_>| row.link == noted.link.as_bytes();
            Ok(noted.seq > head.seq || reader.one(noted.seq, same)? != Some(true))
        }
    }
}
