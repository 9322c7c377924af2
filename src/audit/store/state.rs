//! The open log: entries of journals go into the table, linked to its last record. The caller holds the lock.

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, config::DbConfig, params};

use super::frames::Room;
use super::open::{Fault, PAGE, connect, row_of, set_up};
use crate::audit::agreed;
use crate::audit::body::JournalPart;
use crate::audit::chain::{Head, Writer, is_of};
use crate::audit::fields::{Fields, SessionTurn, looked_up_by, session_turn};
use crate::audit::kept_texts;
use crate::audit::place::{self, Held, StoreError};
use crate::wire::digest::Digest;

/// SQLite gives a record the place after the last one: finding a given place takes longer.
const INSERT: &str = "INSERT INTO record (writer, body, link) VALUES (?1, ?2, ?3)";
const LOOKED_UP: &str =
    "INSERT INTO agreed (digest, seq) VALUES (?1, ?2) ON CONFLICT (digest) DO UPDATE SET seq = excluded.seq";
const UPTO: &str = "SELECT upto FROM fold WHERE writer = ?1";
const NOW_UPTO: &str =
    "INSERT INTO fold (writer, upto) VALUES (?1, ?2) ON CONFLICT (writer) DO UPDATE SET upto = excluded.upto";

/// The connection, and what is known of the log behind it.
#[derive(Debug)]
pub(super) struct State {
    db: Connection,
    path: PathBuf,
    /// The write-ahead log. SQLite keeps no lock on this file, so it may be opened and closed beside it.
    pub(super) wal: File,
    /// Whether something was committed that the disk may not have.
    unsynced: bool,
    /// About how many bytes the write-ahead log holds.
    pub(super) backlog: u64,
    room: Room,
}

/// A session that has not ended, as the log has it.
pub(super) struct Running {
    pub server: String,
    pub session: String,
    /// The journal that it writes: the one of its start, or that was named since.
    pub journal: Option<Writer>,
    /// Milliseconds since 1970, UTC.
    pub began: Option<i64>,
}

impl State {
    /// Opens the log at a place that was prepared, and sets it up where it is empty.
    pub(super) fn open(path: &Path, _held: &Held) -> Result<Self, StoreError> {
        let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(|fault| fault.of(path))?;
        // The triggers guard against other programs: running them costs as much as the insert, and we only ever append.
        let without_triggers = || Ok(db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).map(drop)?);
        set_up(&db).and_then(|()| without_triggers()).map_err(|fault| fault.of(path))?;
        let wal_path = place::beside(path, "-wal");
        let failed = |error| place::failed(&wal_path, &error);
        let wal = File::options().read(true).append(true).open(&wal_path).map_err(failed)?;
        let backlog = wal.metadata().map_err(failed)?.len();
        // Another writer may have died before it could sync what it had committed.
        let path = path.to_path_buf();
        Ok(Self { db, path, wal, unsynced: backlog > 0, backlog, room: Room::default() })
    }

    pub(super) fn db(&self) -> &Connection {
        &self.db
    }

    pub(super) fn head(&self) -> Result<Head, StoreError> {
        last(&self.db).map(|head| head.unwrap_or(Head::EMPTY)).map_err(|fault| fault.of(&self.path))
    }

    /// Fails if the log has no record with this place and link.
    pub(super) fn must_have(&self, head: Head) -> Result<(), StoreError> {
        if head == Head::EMPTY || has(&self.db, head).map_err(|fault| fault.of(&self.path))? {
            return Ok(());
        }
        let why = format!("record {}, which it had, is no longer in it", head.seq);
        Err(StoreError::Lost { path: self.path.clone(), why })
    }

    /// The session of a journal, if the log has its start and not its end.
    pub(super) fn unended(&self, journal: &Writer) -> Result<Option<Running>, StoreError> {
        let read = || -> Result<Option<Running>, Fault> {
            let sql = "SELECT body, writer FROM record WHERE substr(writer, 1, 8) = substr(?1, 1, 8) ORDER BY seq DESC";
            let mut found = self.db.prepare(sql)?;
            let mut rows = found.query([journal])?;
            while let Some(row) = rows.next()? {
                let body = row.get_ref(0)?.as_bytes().unwrap_or_default();
                let turn = match session_turn(body) {
                    Some(SessionTurn::End | SessionTurn::Lost) => break,
                    Some(turn) => turn,
                    None => continue,
                };
                let Some(fields) = Fields::of(body).filter(|fields| is_of(journal, &fields.session)) else { break };
                let journal = match turn {
                    SessionTurn::GoesOn => fields.next_journal(),
                    _ => row.get(1).ok(),
                };
                let began = fields.millis();
                let (server, session) = (fields.server.into_owned(), fields.session.into_owned());
                return Ok(Some(Running { server, session, journal, began }));
            }
            Ok(None)
        };
        read().map_err(|fault| fault.of(&self.path))
    }

    /// Whether a journal of which the log has entries is named by its session.
    pub(super) fn names_session(&self, journal: &Writer) -> Result<bool, StoreError> {
        let sql = "SELECT body FROM record WHERE writer = ?1 ORDER BY seq DESC LIMIT 1";
        let body = self.db.query_row(sql, [journal], |row| row.get::<_, String>(0)).optional();
        let body = body.map_err(|error| Fault::from(error).of(&self.path))?.unwrap_or_default();
        Ok(Fields::of(body.as_bytes()).is_some_and(|fields| is_of(journal, &fields.session)))
    }

    /// Whether the log keeps the text of this digest. What finds it is no part of the chain, so its record is read.
    pub(super) fn has_text(&self, digest: &Digest) -> Result<bool, StoreError> {
        let has = || -> Result<bool, Fault> {
            let Some(seq) = looked_up(&self.db, digest)? else { return Ok(false) };
            let mut one = self.db.prepare_cached("SELECT seq, writer, body, link FROM record WHERE seq = ?1")?;
            let kept = one.query_row([number(seq)?], |row| Ok(kept_texts::read(&row_of(row)?))).optional()?.flatten();
            Ok(kept.is_some_and(|kept| kept.digest == *digest && kept.state != kept_texts::State::Other))
        };
        has().map_err(|fault| fault.of(&self.path))
    }

    /// Up to which entry a journal is in the log.
    pub(super) fn upto(&self, journal: &Writer) -> Result<u64, StoreError> {
        upto(&self.db, journal).map_err(|fault| fault.of(&self.path))
    }

    /// Puts into the log what it does not have yet of parts of journals, in one transaction.
    pub(super) fn fold(&mut self, _held: &Held, parts: &[&JournalPart]) -> Result<(), StoreError> {
        let bytes = parts.iter().map(|part| part.bytes()).sum();
        self.transact(bytes, |state| parts.iter().try_for_each(|part| state.fold_part(part)))
    }

    fn fold_part(&self, part: &JournalPart) -> Result<(), Fault> {
        let upto = upto(&self.db, &part.writer)?;
        let known = usize::try_from((upto + 1).saturating_sub(part.first)).unwrap_or(usize::MAX);
        self.insert(part, known)?;
        if part.last() > upto {
            self.db.prepare_cached(NOW_UPTO)?.execute(params![part.writer, number(part.last())?])?;
        }
        Ok(())
    }

    /// Puts into the log what comes from no journal; returns the place of the last record.
    pub(super) fn append(&mut self, _held: &Held, part: &JournalPart) -> Result<u64, StoreError> {
        self.transact(part.bytes(), |state| state.insert(part, 0))
    }

    /// Puts these records into the log, and removes all up to `last`.
    pub(super) fn remove(&mut self, _held: &Held, last: u64, part: &JournalPart) -> Result<(), StoreError> {
        // What is removed must not stay readable in pages that are free.
        self.db.execute_batch("PRAGMA secure_delete=ON").map_err(|error| Fault::from(error).of(&self.path))?;
        self.transact(part.bytes(), |state| {
            state.insert(part, 0)?;
            for sql in ["DELETE FROM record WHERE seq <= ?1", "DELETE FROM agreed WHERE seq <= ?1"] {
                state.db.execute(sql, [number(last)?])?;
            }
            Ok(())
        })
    }

    /// Gives the room of removed records back to the disk. Where another process reads the log, that happens another time.
    pub(super) fn shrink(&mut self) {
        let shrunk = self.db.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
        if let Err(error) = shrunk {
            tracing::warn!(%error, "the log's file was not made smaller");
        }
    }

    /// One transaction under SQLite's own lock as well: another program may write without ours.
    fn transact<T>(&mut self, bytes: usize, act: impl FnOnce(&Self) -> Result<T, Fault>) -> Result<T, StoreError> {
        // A commit writes whole pages: its last leaf again, and what the bodies fill.
        let backlog = self.backlog + PAGE + bytes as u64;
        // Where there is none, SQLite meets the same error when it writes, and then nothing is recorded.
        let _ = self.room.reach(&self.wal, backlog);
        let acted = || -> Result<T, Fault> {
            self.db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            let done = act(self)?;
            self.db.prepare_cached("COMMIT")?.execute([])?;
            Ok(done)
        };
        let acted = acted();
        if acted.is_err() && !self.db.is_autocommit() {
            // Should this fail as well, closing does the same.
            let _ = self.db.execute_batch("ROLLBACK");
        }
        let done = acted.map_err(|fault| fault.of(&self.path))?;
        (self.unsynced, self.backlog) = (true, backlog);
        Ok(done)
    }

    /// Inserts records after the last one; returns the place of the newest.
    fn insert(&self, part: &JournalPart, known: usize) -> Result<u64, Fault> {
        let mut head = last(&self.db)?.unwrap_or(Head::EMPTY);
        let mut insert = self.db.prepare_cached(INSERT)?;
        insert.raw_bind_parameter(1, part.writer)?;
        for (body, digest) in part.after(known) {
            head = head.next(&part.writer, digest);
            insert.raw_bind_parameter(2, body)?;
            insert.raw_bind_parameter(3, head.link.as_bytes())?;
            insert.raw_execute()?;
            if self.db.last_insert_rowid() != number(head.seq)? {
                return Err(Fault::Shape("a record did not get the place after the last one"));
            }
            if let Some(digest) = looked_up_by(body.as_bytes())
                && !self.repeats(&digest, body)?
            {
                self.db.prepare_cached(LOOKED_UP)?.execute(params![digest.as_bytes(), number(head.seq)?])?;
            }
        }
        Ok(head.seq)
    }

    /// Whether a body only repeats, with an older signature, what the last word on this agreement took back.
    fn repeats(&self, digest: &Digest, body: &str) -> Result<bool, Fault> {
        let Some((said, seq)) = agreed::read(body).zip(looked_up(&self.db, digest)?) else { return Ok(false) };
        let sql = "SELECT body FROM record WHERE seq = ?1";
        let last: Option<String> =
            self.db.prepare_cached(sql)?.query_row([number(seq)?], |row| row.get(0)).optional()?;
        let last = last.as_deref().and_then(agreed::read);
        Ok(said.after(last.as_ref()).is_none())
    }

    /// Forgets how far these journals are in the log: their files are gone for good.
    pub(super) fn forget(&self, _held: &Held, writers: &[Writer]) -> Result<(), StoreError> {
        let forget = || -> Result<(), Fault> {
            for writer in writers {
                self.db.prepare_cached("DELETE FROM fold WHERE writer = ?1")?.execute([writer])?;
            }
            Ok(())
        };
        forget().map_err(|fault| fault.of(&self.path))
    }

    /// The journals of which something is in the log.
    pub(super) fn folded(&self) -> Result<Vec<Writer>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Writer>> {
            self.db.prepare("SELECT writer FROM fold")?.query_map([], |row| row.get(0))?.collect()
        };
        read().map_err(|error| Fault::from(error).of(&self.path))
    }

    pub(super) fn sync(&mut self) -> Result<(), StoreError> {
        if self.unsynced {
            self.wal.sync_data().map_err(|error| place::failed(&self.path, &error))?;
            self.unsynced = false;
        }
        Ok(())
    }

    /// Moves the write-ahead log into the database, where no reader is in the way.
    pub(super) fn checkpoint(&mut self) -> Result<(), StoreError> {
        let (busy, all, moved) = self
            .db
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
            })
            .map_err(|error| Fault::from(error).of(&self.path))?;
        self.backlog = 0;
        // A checkpoint syncs only what it moves; a reader, or another process's checkpoint, may have held some back.
        if busy == 0 && all == moved {
            self.unsynced = false;
        }
        Ok(())
    }
}

fn upto(db: &Connection, journal: &Writer) -> Result<u64, Fault> {
    let upto: Option<i64> = db.prepare_cached(UPTO)?.query_row([journal], |row| row.get(0)).optional()?;
    Ok(upto.and_then(|upto| u64::try_from(upto).ok()).unwrap_or(0))
}

/// The latest record that is looked up by this digest.
pub(super) fn looked_up(db: &Connection, digest: &Digest) -> Result<Option<u64>, Fault> {
    let mut found = db.prepare_cached("SELECT seq FROM agreed WHERE digest = ?1")?;
    let seq: Option<i64> = found.query_row([digest.as_bytes()], |row| row.get(0)).optional()?;
    Ok(seq.and_then(|seq| u64::try_from(seq).ok()))
}

/// The last record's place and link; `None` in a log without records.
pub(super) fn last(db: &Connection) -> Result<Option<Head>, Fault> {
    head(db, "SELECT seq, link FROM record ORDER BY seq DESC LIMIT 1")
}

pub(super) fn head(db: &Connection, sql: &str) -> Result<Option<Head>, Fault> {
    let mut found = db.prepare_cached(sql)?;
    let found = found.query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, [u8; 32]>(1)?))).optional()?;
    let Some((seq, link)) = found else { return Ok(None) };
    let seq = u64::try_from(seq).map_err(|_| Fault::Shape("an entry has no place"))?;
    Ok(Some(Head { seq, link: Digest::from_bytes(link) }))
}

pub(super) fn number(n: u64) -> Result<i64, Fault> {
    i64::try_from(n).map_err(|_| Fault::Shape("it is full of records"))
}

/// Whether the log has a record with this place and link.
pub(super) fn has(db: &Connection, head: Head) -> Result<bool, Fault> {
    let Ok(seq) = i64::try_from(head.seq) else { return Ok(false) };
    let mut statement = db.prepare_cached("SELECT 1 FROM record WHERE seq = ?1 AND link = ?2")?;
    Ok(statement.exists(params![seq, head.link.as_bytes()])?)
}
