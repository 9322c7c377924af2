//! One commit: sealed bodies into the table, linked to its last record. Owns no file and no lock; the caller holds both.
//!
//! The last record's place and link are remembered. What was remembered is compared with the table within the very
//! statement that inserts, so under SQLite's own lock; where it differs, nothing was inserted and it is read afresh.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};

use super::PATIENCE;
use super::fault::{Fault, StoreError};
use crate::audit::chain::{self, Head, Writer};
use crate::audit::lock::Held;
use crate::wire::digest::Digest;

const INSERT: &str = "INSERT INTO record (seq, writer, body, link) VALUES (?1, ?2, ?3, ?4)";
/// Inserts only after the record ?5 with the link ?6; else its own link is null, which no record's may be.
const INSERT_AFTER: &str = "INSERT INTO record (seq, writer, body, link) VALUES (?1, ?2, ?3, \
     CASE WHEN (SELECT seq, link FROM record ORDER BY seq DESC LIMIT 1) = (?5, ?6) THEN ?4 END)";
const LAST: &str = "SELECT seq, link FROM record ORDER BY seq DESC LIMIT 1";

/// Bodies and their digests, in one buffer.
#[derive(Debug, Default)]
pub(super) struct Sealed {
    text: String,
    /// Where each body ends.
    ends: Vec<(usize, Digest)>,
}

impl Sealed {
    /// Forgets the bodies, and keeps their room as far as it is not above `most` bytes.
    pub(super) fn clear(&mut self, most: usize) {
        self.text.clear();
        self.text.shrink_to(most);
        self.ends.clear();
    }

    /// Takes what `write` appends as the next body.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        self.ends.push((self.text.len(), chain::body_digest(&self.text.as_bytes()[start..])));
    }

    fn bodies(&self) -> impl Iterator<Item = (&str, Digest)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, digest)| (&self.text[std::mem::replace(&mut start, end)..end], digest))
    }
}

/// What a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// The operating system has it: it survives the death of the process.
    Normal,
    /// The disk has it.
    Full,
}

/// The connection, and what is known of the log behind it.
#[derive(Debug)]
pub(super) struct State {
    db: Connection,
    path: PathBuf,
    level: Level,
    /// The last record, as far as this connection knows.
    head: Option<Head>,
    /// The place of the last record that the disk may not have; `None` when it has all.
    pub(super) unsynced: Option<u64>,
    pub(super) backlog: u64,
}

impl State {
    pub(super) fn new(db: Connection, path: PathBuf, backlog: u64) -> Self {
        Self { db, path, level: Level::Normal, head: None, unsynced: None, backlog }
    }

    /// The connection, to read.
    pub(super) fn db(&self) -> &Connection {
        &self.db
    }

    /// Commits bodies; returns the place of the first.
    pub(super) fn commit(
        &mut self,
        _held: &Held<'_>,
        sealed: &Sealed,
        writer: &Writer,
        level: Level,
    ) -> Result<u64, StoreError> {
        let committed = set_level(&self.db, self.level, level).and_then(|()| self.insert(sealed, writer));
        self.roll_back();
        let (first, head) = committed.map_err(|fault| fault.told(&self.path))?;
        self.level = level;
        self.head = Some(head);
        self.unsynced = match level {
            Level::Full => None,
            Level::Normal => Some(head.seq),
        };
        // A commit writes whole pages: its last leaf again, and what the bodies fill.
        self.backlog += 4096 + sealed.text.len() as u64;
        Ok(first)
    }

    /// [`Self::commit`] without a sync, and `Busy` at once where another program holds SQLite's lock.
    pub(super) fn commit_at_once(
        &mut self,
        held: &Held<'_>,
        sealed: &Sealed,
        writer: &Writer,
    ) -> Result<u64, StoreError> {
        let impatient = self.db.busy_timeout(Duration::ZERO);
        impatient.map_err(|error| Fault::from(error).told(&self.path))?;
        let committed = self.commit(held, sealed, writer, Level::Normal);
        // What is committed stays so, whatever becomes of this; without it only another program is waited for less.
        let _ = self.db.busy_timeout(PATIENCE);
        committed
    }

    /// Moves the write-ahead log into the database, as far as no reader is in the way.
    pub(super) fn checkpoint(&mut self) -> Result<(), StoreError> {
        let (busy, all, moved) = self
            .db
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
            })
            .map_err(|error| Fault::from(error).told(&self.path))?;
        self.backlog = 0;
        // Only what was moved was synced for it; a reader, or another's checkpoint, may have kept some back.
        if busy == 0 && all == moved {
            self.unsynced = None;
        }
        Ok(())
    }

    /// One transaction. On an error it may be left open, for the caller to roll back.
    fn insert(&mut self, sealed: &Sealed, writer: &Writer) -> Result<(u64, Head), Fault> {
        if let Some(head) = self.head.take() {
            match self.insert_after(head, sealed, writer) {
                // Another wrote in between, or what stands there is not what we left.
                Err(Fault::Sqlite(error)) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                    self.roll_back();
                }
                done => return done.map(|last| (head.seq + 1, last)),
            }
        }
        self.db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let head = last(&self.db)?;
        let last = self.insert_all(head, sealed.bodies(), writer)?;
        self.db.prepare_cached("COMMIT")?.execute([])?;
        Ok((head.seq + 1, last))
    }

    /// Inserts when the remembered head is the last record, else fails with a violated constraint.
    fn insert_after(&self, head: Head, sealed: &Sealed, writer: &Writer) -> Result<Head, Fault> {
        let mut bodies = sealed.bodies();
        let Some((body, digest)) = bodies.next() else {
            return Ok(head);
        };
        // A statement alone is a transaction of its own.
        let several = sealed.ends.len() > 1;
        if several {
            self.db.prepare_cached("BEGIN")?.execute([])?;
        }
        let next = head.next(writer, digest);
        let (before, link) = (head.link.as_bytes(), next.link.as_bytes());
        let parameters = params![place(next)?, writer, body, link, place(head)?, before];
        self.db.prepare_cached(INSERT_AFTER)?.execute(parameters)?;
        if !several {
            return Ok(next);
        }
        let last = self.insert_all(next, bodies, writer)?;
        self.db.prepare_cached("COMMIT")?.execute([])?;
        Ok(last)
    }

    fn insert_all<'a>(
        &self,
        mut head: Head,
        bodies: impl Iterator<Item = (&'a str, Digest)>,
        writer: &Writer,
    ) -> Result<Head, Fault> {
        let mut statement = self.db.prepare_cached(INSERT)?;
        for (body, digest) in bodies {
            head = head.next(writer, digest);
            statement.execute(params![place(head)?, writer, body, head.link.as_bytes()])?;
        }
        Ok(head)
    }

    fn roll_back(&self) {
        if !self.db.is_autocommit() {
            // Should this fail as well, closing does the same.
            let _ = self.db.execute_batch("ROLLBACK");
        }
    }
}

fn last(db: &Connection) -> Result<Head, Fault> {
    let last = db
        .prepare_cached(LAST)?
        .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, [u8; 32]>(1)?)))
        .optional()?;
    Ok(match last {
        None => Head::EMPTY,
        Some((seq, link)) => Head {
            seq: u64::try_from(seq).map_err(|_| Fault::Shape("its last record has no place"))?,
            link: Digest::from_bytes(link),
        },
    })
}

fn place(head: Head) -> Result<i64, Fault> {
    i64::try_from(head.seq).map_err(|_| Fault::Shape("it is full of records"))
}

fn set_level(db: &Connection, now: Level, wanted: Level) -> Result<(), Fault> {
    match wanted {
        _ if now == wanted => {}
        Level::Normal => db.execute_batch("PRAGMA synchronous=NORMAL")?,
        Level::Full => db.execute_batch("PRAGMA synchronous=FULL")?,
    }
    Ok(())
}
