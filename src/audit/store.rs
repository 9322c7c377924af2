//! The one door to SQLite: appends records and reads them back. Has no way to change or remove one.
//!
//! One log for all wrappers of a user. A batch is one transaction under the lock file, its head read inside; receipts are
//! made only once `COMMIT` has said yes. SQLite's automatic checkpoints are off, so that no append pays for one.

mod fault;
pub mod noted;
mod reader;

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use super::body::BodyWriter;
use super::chain::{self, Head, Writer};
use super::place::{self, Identity, Lock};
use super::record::{Entry, Receipt};
use super::redact::Redactor;
use crate::wire::digest::Digest;
use fault::Fault;

pub use fault::StoreError;
pub use reader::{Order, Reader};

const SCHEMA: &str = include_str!("../../assets/audit.sql");
const VERSION: i64 = 1;
/// `mcpa`, for file(1), and so that another program's database is told from a log.
const APPLICATION: i64 = 0x6d63_7061;

/// The log, for one writer. After an error it is closed; the next append opens it again.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    writer: Writer,
    bodies: BodyWriter,
    open: Option<Open>,
    /// Whether something was appended since the head was noted.
    unnoted: bool,
}

impl Store {
    /// Opens the log, and makes it where there is none.
    ///
    /// # Errors
    /// Why this file cannot be the log.
    pub fn open(path: &Path, writer: Writer) -> Result<Self, StoreError> {
        Ok(Self {
            path: path.to_path_buf(),
            writer,
            bodies: BodyWriter::default(),
            open: Some(Open::new(path)?),
            unnoted: false,
        })
    }

    /// Appends a batch in one commit, synced to disk when any entry [`Entry::is_durable`]. All of it, or nothing.
    ///
    /// # Errors
    /// Why nothing was recorded.
    pub fn append(&mut self, batch: &[(u64, Entry)], redactor: &Redactor) -> Result<Vec<Receipt>, StoreError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let sealed = self.seal(batch, redactor);
        let level = if batch.iter().any(|(_, entry)| entry.is_durable()) { Level::Full } else { Level::Normal };
        let writer = self.writer;
        let first = self.with(|open| open.commit(&sealed, &writer, level))?;
        self.unnoted = true;
        Ok(receipts(first, batch))
    }

    /// Appends a batch that needs no disk, if that can be done at once; `None` when another wrapper is writing or the
    /// log must be opened anew, and for a batch with an entry that [`Entry::is_durable`]: [`Self::append`] has the
    /// patience for it. Never waits.
    ///
    /// # Errors
    /// Why nothing was recorded.
    pub fn try_append(
        &mut self,
        batch: &[(u64, Entry)],
        redactor: &Redactor,
    ) -> Result<Option<Vec<Receipt>>, StoreError> {
        if batch.is_empty() || batch.iter().any(|(_, entry)| entry.is_durable()) {
            return Ok(None);
        }
        if !self.open.as_ref().is_some_and(Open::is_in_place) {
            return Ok(None);
        }
        let sealed = self.seal(batch, redactor);
        let Some(mut open) = self.open.take() else { return Ok(None) };
        let first = open.try_commit(&sealed, &self.writer)?;
        self.open = Some(open);
        self.unnoted |= first.is_some();
        Ok(first.map(|first| receipts(first, batch)))
    }

    /// Bodies and their digests, made before the lock is taken, because others wait for it.
    fn seal(&mut self, batch: &[(u64, Entry)], redactor: &Redactor) -> Vec<(String, Digest)> {
        let seal = |(_, entry): &(u64, Entry)| {
            let mut body = String::with_capacity(640);
            self.bodies.write(entry, redactor, &mut body);
            let digest = chain::body_digest(body.as_bytes());
            (body, digest)
        };
        batch.iter().map(seal).collect()
    }

    /// Syncs to disk what was committed without a sync, and notes the chain's head ([`noted`]).
    ///
    /// # Errors
    /// Why the disk may not have it.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        if self.needs_sync() {
            self.with(Open::sync)?;
        }
        self.note_head();
        Ok(())
    }

    /// Notes the chain's head beside the log, if nobody else is at it: whoever is will note one as new. That it cannot
    /// be noted costs a later proof, and no record.
    fn note_head(&mut self) {
        let Some(open) = self.open.as_ref().filter(|_| self.unnoted) else { return };
        let Some(_held) = open.lock.try_hold() else { return };
        self.unnoted = false;
        if let Err(error) = noted::note(&open.db, &self.path) {
            tracing::warn!(%error, "the head of the chain was not noted");
        }
    }

    /// Whether something was committed and not synced.
    pub fn needs_sync(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.unsynced)
    }

    /// About how many bytes wait in the write-ahead log for a checkpoint.
    pub fn backlog(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.backlog)
    }

    /// Moves the write-ahead log into the database, as far as no reader is in the way. It syncs, so it is slow.
    ///
    /// # Errors
    /// Why it could not be moved. Nothing is lost by that.
    pub fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.with(Open::checkpoint)?;
        self.note_head();
        Ok(())
    }

    /// Does something with the open log; closes it on an error, whereby SQLite rolls back whatever was begun.
    fn with<T>(&mut self, act: impl FnOnce(&mut Open) -> Result<T, StoreError>) -> Result<T, StoreError> {
        // Closed before it is opened again: within one process SQLite shares its memory between both.
        let kept = self.open.take().filter(Open::is_in_place);
        let mut open = match kept {
            Some(open) => open,
            None => Open::new(&self.path)?,
        };
        let done = act(&mut open)?;
        self.open = Some(open);
        Ok(done)
    }
}

fn receipts(first: u64, batch: &[(u64, Entry)]) -> Vec<Receipt> {
    let receipt = |(seq, (entry, _)): (u64, &(u64, Entry))| Receipt::new(*entry, seq);
    (first..).zip(batch).map(receipt).collect()
}

/// What a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// The operating system has it: it survives the death of the process.
    Normal,
    /// The disk has it.
    Full,
}

#[derive(Debug)]
struct Open {
    db: Connection,
    lock: Lock,
    path: PathBuf,
    identity: Option<Identity>,
    level: Level,
    /// The write-ahead log. SQLite keeps no lock on this file, so it may be opened and closed beside it.
    wal: File,
    unsynced: bool,
    backlog: u64,
}

impl Open {
    fn new(path: &Path) -> Result<Self, StoreError> {
        place::survive_size_limit();
        place::prepare(path)?;
        let lock = Lock::open(path)?;
        let held = lock.hold()?;
        let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .and_then(|db| set_up(&db).map(|()| db))
            .map_err(|fault| fault.told(path))?;
        drop(held);
        let wal_path = place::beside(path, "-wal");
        let told = |error| place::told(&wal_path, &error);
        let wal = File::open(&wal_path).map_err(told)?;
        let backlog = wal.metadata().map_err(told)?.len();
        Ok(Self {
            db,
            lock,
            path: path.to_path_buf(),
            identity: place::identity(path),
            level: Level::Normal,
            wal,
            unsynced: false,
            backlog,
        })
    }

    /// Whether the log is still the file of its name. A log that was removed takes no more records: nobody would find
    /// them.
    fn is_in_place(&self) -> bool {
        self.identity.is_some()
            && place::identity(&self.path) == self.identity
            && self.wal.metadata().is_ok_and(|wal| wal.nlink() > 0)
    }

    /// Commits sealed bodies; returns the place of the first.
    fn commit(&mut self, sealed: &[(String, Digest)], writer: &Writer, level: Level) -> Result<u64, StoreError> {
        let held = self.lock.hold()?;
        let committed = self.transact(sealed, writer, level);
        drop(held);
        self.committed(committed, sealed, level)
    }

    /// The same without a sync, if nobody else is writing.
    fn try_commit(&mut self, sealed: &[(String, Digest)], writer: &Writer) -> Result<Option<u64>, StoreError> {
        let Some(held) = self.lock.try_hold() else { return Ok(None) };
        let committed = self.transact(sealed, writer, Level::Normal);
        drop(held);
        self.committed(committed, sealed, Level::Normal).map(Some)
    }

    /// One transaction, under the lock; rolled back when it fails.
    fn transact(&self, sealed: &[(String, Digest)], writer: &Writer, level: Level) -> Result<u64, Fault> {
        let committed = set_level(&self.db, self.level, level).and_then(|()| insert(&self.db, sealed, writer));
        if !self.db.is_autocommit() {
            // Should this fail as well, closing does the same.
            let _ = self.db.execute_batch("ROLLBACK");
        }
        committed
    }

    fn committed(
        &mut self,
        committed: Result<u64, Fault>,
        sealed: &[(String, Digest)],
        level: Level,
    ) -> Result<u64, StoreError> {
        let first = committed.map_err(|fault| fault.told(&self.path))?;
        self.level = level;
        self.unsynced = match level {
            Level::Full => false,
            Level::Normal => true,
        };
        // A commit writes whole pages: its last leaf again, and what the bodies fill.
        let bytes: usize = sealed.iter().map(|(body, _)| body.len()).sum();
        self.backlog += 4096 + bytes as u64;
        Ok(first)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.wal.sync_data().map_err(|error| place::told(&self.path, &error))?;
        self.unsynced = false;
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.db
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            .map_err(|error| Fault::from(error).told(&self.path))?;
        self.backlog = 0;
        self.unsynced = false;
        Ok(())
    }
}

fn set_level(db: &Connection, now: Level, wanted: Level) -> Result<(), Fault> {
    match wanted {
        _ if now == wanted => {}
        Level::Normal => db.execute_batch("PRAGMA synchronous=NORMAL")?,
        Level::Full => db.execute_batch("PRAGMA synchronous=FULL")?,
    }
    Ok(())
}

/// One transaction. On an error it may be left open, for the caller to roll back.
fn insert(db: &Connection, sealed: &[(String, Digest)], writer: &Writer) -> Result<u64, Fault> {
    db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let last = db
        .prepare_cached("SELECT seq, link FROM record ORDER BY seq DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, [u8; 32]>(1)?)))
        .optional()?;
    let mut head = match last {
        None => Head::EMPTY,
        Some((seq, link)) => Head {
            seq: u64::try_from(seq).map_err(|_| Fault::Shape("its last record has no place"))?,
            link: Digest::from_bytes(link),
        },
    };
    let first = head.seq + 1;
    let mut statement = db.prepare_cached("INSERT INTO record (seq, writer, body, link) VALUES (?1, ?2, ?3, ?4)")?;
    for (body, digest) in sealed {
        head = head.next(writer, *digest);
        let seq = i64::try_from(head.seq).map_err(|_| Fault::Shape("it is full of records"))?;
        statement.execute(params![seq, writer, body, head.link.as_bytes()])?;
    }
    db.prepare_cached("COMMIT")?.execute([])?;
    Ok(first)
}

fn connect(path: &Path, access: OpenFlags) -> Result<Connection, Fault> {
    let db = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(Duration::from_secs(2))?;
    db.execute_batch("PRAGMA trusted_schema=OFF")?;
    Ok(db)
}

/// What a database holds.
enum Contents {
    Nothing,
    Log,
}

fn examine(db: &Connection) -> Result<Contents, Fault> {
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0));
    let version = number("PRAGMA user_version")?;
    let application = number("PRAGMA application_id")?;
    let things = number("SELECT count(*) FROM sqlite_schema")?;
    match (application, version, things) {
        (0, 0, 0) => Ok(Contents::Nothing),
        (APPLICATION, VERSION, 1..) => Ok(Contents::Log),
        (APPLICATION, found, _) => Err(Fault::Version(found)),
        _ => Err(Fault::NotOurs),
    }
}

fn set_up(db: &Connection) -> Result<(), Fault> {
    let contents = examine(db)?;
    // fullfsync is for macOS, whose fsync leaves the data in the drive's cache.
    db.execute_batch("PRAGMA fullfsync=ON; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0")?;
    let mode: String = db.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(Fault::Shape("SQLite cannot keep a write-ahead log beside it"));
    }
    match contents {
        Contents::Log => Ok(()),
        Contents::Nothing => Ok(db.execute_batch(&format!(
            "BEGIN IMMEDIATE; {SCHEMA} PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION}; COMMIT"
        ))?),
    }
}
