//! The one door to SQLite: appends records and reads them back. Has no way to change or remove one.
//!
//! One log for all wrappers of a user. A batch is one transaction under the lock file, its head read inside; receipts are
//! made only once `COMMIT` has said yes. SQLite's automatic checkpoints are off, so that no append pays for one.

mod commit;
mod fault;
pub(super) mod index_db;
pub mod noted;
mod reader;
mod wal;

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::body::BodyWriter;
use super::chain::Writer;
use super::lock::Lock;
use super::place::{self, Identity};
use super::record::{Entry, Receipt};
use super::redact::Redactor;
use commit::{Level, Sealed, State};
use fault::Fault;

pub use fault::StoreError;
pub use reader::{Order, Reader};
pub use wal::{Synced, Unsynced};

const SCHEMA: &str = include_str!("../../assets/audit.sql");
const VERSION: i64 = 1;
/// `mcpa`, for file(1), and so that another program's database is told from a log.
const APPLICATION: i64 = 0x6d63_7061;

/// How long another program may hold SQLite's own lock. Our own writers take turns by the lock file.
const PATIENCE: Duration = Duration::from_secs(2);
/// Room for bodies that is kept from one batch to the next, in bytes.
const KEPT: usize = 256 * 1024;

/// The log, for one writer. After an error it is closed; the next append opens it again.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    writer: Writer,
    bodies: BodyWriter,
    sealed: Sealed,
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
        let (bodies, sealed) = (BodyWriter::default(), Sealed::default());
        Ok(Self { path: path.to_path_buf(), writer, bodies, sealed, open: Some(Open::new(path)?), unnoted: false })
    }

    /// Appends a batch in one commit, synced to disk when any entry [`Entry::is_durable`]. All of it, or nothing.
    ///
    /// # Errors
    /// Why nothing was recorded.
    pub fn append(&mut self, batch: &[(u64, Entry)], redactor: &Redactor) -> Result<Vec<Receipt>, StoreError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        // Bodies and their digests are made before the lock is taken, because others wait for it.
        self.seal(batch, redactor);
        let level = if batch.iter().any(|(_, entry)| entry.is_durable()) { Level::Full } else { Level::Normal };
        let mut open = self.take_open()?;
        let held = open.lock.hold()?;
        let first = open.state.commit(&held, &self.sealed, &self.writer, level)?;
        drop(held);
        self.open = Some(open);
        self.unnoted = true;
        Ok(receipts(first, batch))
    }

    /// Appends a batch as [`Self::append`] does, but only where that takes no waiting: `None`, and nothing recorded,
    /// when another writer is at it, when an entry must be synced, or when the log has to be opened first.
    ///
    /// # Errors
    /// Why nothing was recorded.
    pub fn try_append(
        &mut self,
        batch: &[(u64, Entry)],
        redactor: &Redactor,
    ) -> Result<Option<Vec<Receipt>>, StoreError> {
        let ready = self.open.as_ref().is_some_and(Open::is_in_place);
        if !ready || batch.iter().any(|(_, entry)| entry.is_durable()) {
            return Ok(None);
        }
        if batch.is_empty() {
            return Ok(Some(Vec::new()));
        }
        self.seal(batch, redactor);
        let Some(mut open) = self.open.take() else {
            return Ok(None);
        };
        let Some(held) = open.lock.try_hold()? else {
            self.open = Some(open);
            return Ok(None);
        };
        let first = match open.state.commit_at_once(&held, &self.sealed, &self.writer) {
            Ok(first) => Some(first),
            Err(StoreError::Busy { .. }) => None,
            Err(error) => return Err(error),
        };
        drop(held);
        self.open = Some(open);
        self.unnoted |= first.is_some();
        Ok(first.map(|first| receipts(first, batch)))
    }

    /// Writes the bodies of a batch where those of the last one were.
    fn seal(&mut self, batch: &[(u64, Entry)], redactor: &Redactor) {
        self.sealed.clear(KEPT);
        for (_, entry) in batch {
            self.sealed.push(|out| self.bodies.write(entry, redactor, out));
        }
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
        let Ok(Some(_held)) = open.lock.try_hold() else { return };
        self.unnoted = false;
        if let Err(error) = noted::note(open.state.db(), &self.path) {
            tracing::warn!(%error, "the head of the chain was not noted");
        }
    }

    /// Whether something was committed and not synced.
    pub fn needs_sync(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.state.unsynced.is_some())
    }

    /// What is to be synced, for another thread to do so while this one goes on; `None` when nothing is.
    ///
    /// Until [`Self::note`] has heard of it, it counts as not done.
    pub fn wal(&self) -> Option<Unsynced> {
        let open = self.open.as_ref()?;
        let upto = open.state.unsynced?;
        Some(Unsynced::new(Arc::clone(&open.wal), &self.path, upto))
    }

    /// Notes what [`Unsynced::sync`] has done. What was committed since [`Self::wal`] still needs a sync.
    pub fn note(&mut self, synced: &Synced) {
        if let Some(open) = &mut self.open
            && synced.is_of(&open.wal)
            && open.state.unsynced == Some(synced.upto())
        {
            open.state.unsynced = None;
        }
    }

    /// About how many bytes wait in the write-ahead log for a checkpoint.
    pub fn backlog(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.state.backlog)
    }

    /// Moves the write-ahead log into the database, as far as no reader is in the way. It syncs, so it is slow.
    ///
    /// # Errors
    /// Why it could not be moved. Nothing is lost by that.
    pub fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.with(|open| open.state.checkpoint())?;
        self.note_head();
        Ok(())
    }

    /// Does something with the open log; closes it on an error, whereby SQLite rolls back whatever was begun.
    fn with<T>(&mut self, act: impl FnOnce(&mut Open) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut open = self.take_open()?;
        let done = act(&mut open)?;
        self.open = Some(open);
        Ok(done)
    }

    fn take_open(&mut self) -> Result<Open, StoreError> {
        // Closed before it is opened again: within one process SQLite shares its memory between both.
        match self.open.take().filter(Open::is_in_place) {
            Some(open) => Ok(open),
            None => Open::new(&self.path),
        }
    }
}

fn receipts(first: u64, batch: &[(u64, Entry)]) -> Vec<Receipt> {
    (first..).zip(batch).map(|(seq, (id, entry))| Receipt::new(*id, entry).at(seq)).collect()
}

#[derive(Debug)]
struct Open {
    state: State,
    lock: Lock,
    path: PathBuf,
    identity: Option<Identity>,
    /// The write-ahead log. SQLite keeps no lock on this file, so it may be opened and closed beside it.
    wal: Arc<File>,
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
        let (path, identity) = (path.to_path_buf(), place::identity(path));
        Ok(Self { state: State::new(db, path.clone(), backlog), lock, path, identity, wal: Arc::new(wal) })
    }

    /// Whether the log is still the file of its name. A log that was removed takes no more records: nobody would find
    /// them.
    fn is_in_place(&self) -> bool {
        self.identity.is_some()
            && place::identity(&self.path) == self.identity
            && self.wal.metadata().is_ok_and(|wal| wal.nlink() > 0)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.wal.sync_data().map_err(|error| place::told(&self.path, &error))?;
        self.state.unsynced = None;
        Ok(())
    }
}

fn connect(path: &Path, access: OpenFlags) -> Result<Connection, Fault> {
    let db = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(PATIENCE)?;
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
