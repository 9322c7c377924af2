//! A wrapper's own file: entries are committed here before anything follows from them, and folded into the log soon after.
//!
//! No other process opens it while its wrapper lives: SQLite holds its exclusive lock, so a commit takes no lock and no shared
//! memory. One that has grown is replaced, and removed once all of it is in the log.
//!
//! The database stays as it was made, empty: entries are in the write-ahead log alone.
//!
//! SQLite syncs nothing of a journal: we do, before a receipt that needs it. A loss of power at any other moment leaves
//! the entries up to some point, or none, in whatever order the disk took the writes. The database and its name never change after they were made, so they need to be on
//! the disk once, and a thread that no caller waits for sees to that ([`JournalFile::root`]).

use std::borrow::Borrow;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, params};
use rustix::fs::{Mode, OFlags};

use super::frames::Room;
use super::open::{Fault, connect};
use super::state::number;
use crate::audit::body::{JournalPart, write_body};
use crate::audit::chain::{Head, Writer, name_of};
use crate::audit::place::{self, Held, StoreError};
use crate::audit::record::{Entry, Receipt};
use crate::audit::redact::Redactor;

const SCHEMA: &str = include_str!("../../../assets/journal.sql");
const VERSION: i64 = 2;
/// The versions that are read.
pub(super) const VERSIONS: [i64; 2] = [1, VERSION];
/// `mcpj`, so that no other program's database passes for a journal.
pub(super) const APPLICATION: i64 = 0x6d63_706a;
/// Bytes of a page: each commit writes its last page again, and a new page costs three.
const PAGE: u64 = 8192;
/// From how many bytes of its write-ahead log on a journal is replaced.
const GROWN: u64 = 4 << 20;
const INSERT: &str = "INSERT INTO entry (n, body, link) VALUES (?1, ?2, ?3)";

/// The open journal of this wrapper.
#[derive(Debug)]
pub struct Journal {
    db: Connection,
    file: Arc<JournalFile>,
    head: Head,
    /// What is committed here and was not yet taken to be folded.
    unfolded: JournalPart,
    /// About how many bytes the write-ahead log holds.
    size: u64,
    room: Room,
    /// Whether the disk must have an entry of it.
    durable: bool,
}

/// What became of a batch.
#[derive(Debug)]
pub enum Commit {
    /// It needs no sync.
    Recorded(Vec<Receipt>),
    /// The disk must have it first.
    Unsynced(Unsynced),
}

/// A batch that is committed, and its receipts, which are handed out once the disk has it.
#[derive(Debug)]
pub struct Unsynced {
    file: Arc<JournalFile>,
    receipts: Vec<Receipt>,
}

impl Unsynced {
    /// Joins another batch, so that one sync serves both; returns it if it is of another journal.
    /// Errors: the other batch.
    pub fn join(&mut self, other: Self) -> Result<(), Self> {
        if !Arc::ptr_eq(&self.file, &other.file) {
            return Err(other);
        }
        self.receipts.extend(other.receipts);
        Ok(())
    }

    /// Syncs it to disk; it may be in use. Errors: the ids of the entries, and why the disk may not have them.
    pub fn sync(self) -> Result<Vec<Receipt>, (Vec<u64>, StoreError)> {
        match self.file.sync() {
            Ok(()) => Ok(self.receipts),
            Err(error) => {
                let entries = self.receipts.iter().map(Receipt::entry).collect();
                Err((entries, place::failed(&self.file.path, &error)))
            }
        }
    }
}

impl Journal {
    /// Makes a journal. The caller holds the log's lock until SQLite's is in place, so that nobody takes it for a dead wrapper's.
    pub(super) fn create(folder: &Path, writer: Writer, _held: &Held) -> Result<Self, StoreError> {
        let path = path_of(folder, &writer);
        place::prepare(&path)?;
        let made = make(&path).map_err(|fault| fault.of(&path)).and_then(|db| {
            let file = JournalFile::open(&path).map_err(|error| place::failed(&path, &error))?;
            Ok((db, Arc::new(file)))
        });
        let (db, file) = made.inspect_err(|_| remove(&path))?;
        let (head, unfolded) = (Head::EMPTY, JournalPart::new(writer, 1));
        Ok(Self { db, file, head, unfolded, size: 0, room: Room::default(), durable: false })
    }

    /// Commits a batch: all of it, or nothing.
    /// Errors: why nothing was recorded. The journal is then of no more use.
    pub fn record(&mut self, batch: &[(u64, impl Borrow<Entry>)], redactor: &Redactor) -> Result<Commit, StoreError> {
        let before = self.unfolded.count();
        // Once for all entries that are folded together.
        if before == 0 && !self.file.is_in_place() {
            let (path, why) = (self.file.path.clone(), "the journal of this wrapper was removed".to_owned());
            return Err(StoreError::Lost { path, why });
        }
        for (_, entry) in batch {
            self.unfolded.push(|out| write_body(entry.borrow(), redactor, out));
        }
        self.commit(before)?;
        let receipts = batch.iter().map(|(id, entry)| Receipt::new(*id, entry.borrow())).collect();
        let durable = batch.iter().any(|(_, entry)| entry.borrow().is_durable());
        self.durable |= durable;
        Ok(if durable {
            Commit::Unsynced(Unsynced { file: self.file(), receipts })
        } else {
            Commit::Recorded(receipts)
        })
    }

    /// Takes what was committed since the last call, to be folded into the log.
    pub fn take(&mut self) -> JournalPart {
        let next = JournalPart::new(self.writer(), self.unfolded.last() + 1);
        std::mem::replace(&mut self.unfolded, next)
    }

    /// Bytes that were committed and not taken.
    pub fn unfolded(&self) -> usize {
        self.unfolded.bytes()
    }

    /// Whether it is time for a new file.
    pub fn has_grown(&self) -> bool {
        self.size >= GROWN
    }

    pub fn file(&self) -> Arc<JournalFile> {
        Arc::clone(&self.file)
    }

    /// Its name in the log.
    pub fn writer(&self) -> Writer {
        self.unfolded.writer
    }

    /// Whether the disk must have an entry of it.
    pub fn is_durable(&self) -> bool {
        self.durable
    }

    /// Removes the file. The caller has folded all of it, and synced the log if one of its entries is durable.
    pub fn remove(self) {
        remove(&self.file.path);
    }

    /// Commits what was pushed after the first `before` of those not taken; on an error none of it was.
    fn commit(&mut self, before: usize) -> Result<(), StoreError> {
        let bytes = self.unfolded.lines_after(before).len() as u64;
        // The last page again, and those that the entries fill; a new page also writes its parent and the first.
        let size = self.size + PAGE + bytes + 2 * bytes.min(PAGE);
        // Without room behind its last entry a journal would look as if its end had been cut off.
        let room = self.room.reach(&self.file.wal, size).map_err(|error| place::failed(&self.file.path, &error));
        match room.and_then(|()| self.insert(before).map_err(|fault| fault.of(&self.file.path))) {
            Ok(head) => {
                (self.size, self.head) = (size, head);
                Ok(())
            }
            Err(error) => {
                self.unfolded.truncate(before);
                Err(error)
            }
        }
    }

    fn insert(&self, before: usize) -> Result<Head, Fault> {
        let (part, lines) = (&self.unfolded, self.unfolded.lines_after(before));
        let head = part.after(before).fold(self.head, |head, (_, digest)| head.next_entry(&part.writer, digest));
        // A single statement is a transaction of its own.
        let values = params![number(self.head.seq + 1)?, lines, head.link.as_bytes()];
        self.db.prepare_cached(INSERT)?.execute(values)?;
        Ok(head)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.head == Head::EMPTY {
            // It holds nothing that would have to be folded.
            remove(&self.file.path);
        }
    }
}

fn make(path: &Path) -> Result<Connection, Fault> {
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Others wait for the lock, so nothing is synced under it: an empty file need not outlive a loss of power. The exclusive
    // mode comes before the write-ahead log, which then needs no shared memory; an unfinished journal needs no rollback. The
    // cache is set in pages, and before the page size: SQLite takes memory for twenty pages at once where it may.
    db.execute_batch(&format!(
        "PRAGMA synchronous=OFF; PRAGMA cache_size=8; PRAGMA page_size={PAGE}; PRAGMA locking_mode=EXCLUSIVE;
         PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE; COMMIT"
    ))?;
    let mode: String = db.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(Fault::Shape("SQLite cannot keep a write-ahead log beside it"));
    }
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.execute_batch(&format!(
        "PRAGMA wal_autocheckpoint=0; BEGIN; {SCHEMA} PRAGMA application_id={APPLICATION};
         PRAGMA user_version={VERSION}; INSERT INTO base (n, link) VALUES (0, x'{}'); COMMIT;
         PRAGMA wal_checkpoint(PASSIVE)",
        Head::EMPTY.link
    ))?;
    Ok(db)
}

/// Where the journal of a writer lies.
pub(super) fn path_of(folder: &Path, writer: &Writer) -> PathBuf {
    folder.join(name_of(writer) + ".db")
}

/// What the database of a journal is called while it is removed, since the log has all of it.
const FOLDED: &str = "folded";

/// Removes a journal that the log has whole. It is renamed first: the rest of a removal that was cut off is no loss. The
/// write-ahead log is emptied before it goes: if it outlives the database, it is not taken for lost entries.
pub(super) fn remove(path: &Path) {
    // What cannot be removed is folded by the next process that opens the log.
    let folded = path.with_extension(FOLDED);
    if std::fs::rename(path, &folded).is_ok() {
        finish_removal(&folded);
    }
}

/// Removes what is left of a journal whose database is called so already.
fn finish_removal(folded: &Path) {
    let wal = folded.with_extension("db-wal");
    let empties = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let _ = rustix::fs::open(&wal, empties, Mode::empty());
    let _ = std::fs::remove_file(wal);
    let _ = std::fs::remove_file(folded);
}

/// Whether a journal is being removed, or was. Asked in this order, since the new name goes last.
pub(super) fn is_removed(path: &Path) -> bool {
    let is_empty = |path: &Path| std::fs::metadata(path).map_or(true, |file| file.len() == 0);
    !path.exists() && (path.with_extension(FOLDED).exists() || is_empty(&place::beside(path, "-wal")))
}

/// Removes what processes that were killed had begun to remove.
pub(super) fn finish_removals(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|is| is == FOLDED)).for_each(|path| finish_removal(&path));
}

#[derive(Debug)]
pub struct JournalFile {
    pub(super) path: PathBuf,
    /// The database. Open for as long as SQLite has it open: to close it sooner would give up SQLite's lock (fcntl(2)).
    db: File,
    pub(super) wal: File,
    /// Whether the disk has the database and its name: the write-ahead log is worth nothing without them.
    rooted: AtomicBool,
    /// Whether a sync has failed: the system reports that once and marks lost pages as clean, so no later sync is worth anything.
    has_failed: AtomicBool,
}

impl JournalFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let wal = File::options().read(true).append(true).open(place::beside(path, "-wal"))?;
        let db = File::open(path)?;
        let path = path.to_path_buf();
        Ok(Self { path, db, wal, rooted: AtomicBool::new(false), has_failed: AtomicBool::new(false) })
    }

    /// Whether the paths still name these files: otherwise no one would find the entries after our death.
    pub fn is_in_place(&self) -> bool {
        place::is_named(&self.db, &self.path) && place::is_named(&self.wal, &place::beside(&self.path, "-wal"))
    }

    /// Syncs the database, its name and that of its folder once: a sync of entries is then one of the write-ahead log alone.
    /// Errors: why the disk may not have them. The journal takes no entry any more that has to be synced.
    pub fn root(&self) -> io::Result<()> {
        self.unless_failed(|| {
            if !self.rooted.load(Ordering::Acquire) {
                self.db.sync_all()?;
                for folder in self.path.ancestors().skip(1).take(2) {
                    File::open(folder)?.sync_all()?;
                }
                self.rooted.store(true, Ordering::Release);
            }
            Ok(())
        })
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.root()?;
        self.unless_failed(|| self.wal.sync_data())
    }

    /// Does something with the files unless the disk may have lost what is in them; a failure counts as such a loss.
    fn unless_failed(&self, act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if self.has_failed.load(Ordering::Acquire) {
            return Err(io::Error::other("the disk did not take it before"));
        }
        act().inspect_err(|_| self.has_failed.store(true, Ordering::Release))
    }
}
