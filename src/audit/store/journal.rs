//! A wrapper's own file: entries are committed here before anything follows from them, and folded into the log soon after.
//!
//! No other process opens it while its wrapper lives: SQLite holds its exclusive lock from before the first entry on, so a
//! commit takes no lock, no shared memory and no look at the disk. A wrapper uses two by turns: one is emptied on a thread
//! while the other is written. Each overwrites its own write-ahead log: a file that grows costs far more.
//!
//! SQLite syncs nothing of it: we do, before a receipt that needs it. A loss of power at any other moment leaves entries up
//! to one of them, or none, in whatever order the disk took the writes: the write-ahead log begins with every page of the
//! database, and a frame of an earlier round does not carry the salt of this one. So the database and its name need to be
//! on the disk once, in whatever round, and a thread that no caller waits for sees to that ([`JournalFile::root`]).

use std::borrow::Borrow;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{Connection, OpenFlags, config::DbConfig, params};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::fault::Fault;
use super::open::connect;
use super::state::number;
use crate::audit::body::BodyWriter;
use crate::audit::chain::{Head, Writer};
use crate::audit::error::StoreError;
use crate::audit::lock::Held;
use crate::audit::place::{self, Identity};
use crate::audit::record::{Entry, Receipt};
use crate::audit::redact::Redactor;
use crate::audit::sealed::{Large, Part};

const SCHEMA: &str = include_str!("../../../assets/journal.sql");
pub(super) const VERSION: i64 = 1;
/// `mcpj`, so that no other program's database passes for a journal.
pub(super) const APPLICATION: i64 = 0x6d63_706a;
/// Bytes of a page: each commit writes its last page anew, and a new page costs three.
const PAGE: u64 = 8192;
/// A write-ahead log of so many bytes is begun anew.
const GROWN: u64 = 2 << 20;
const INSERT: &str = "INSERT INTO entry (n, body, link) VALUES (?1, ?2, ?3)";
/// A call's decision and the outcome of the call before it come together.
const INSERT_TWO: &str = "INSERT INTO entry (n, body, link) VALUES (?1, ?2, ?3), (?4, ?5, ?6)";

/// The open journal of this wrapper.
#[derive(Debug)]
pub struct Journal {
    db: Connection,
    file: Arc<JournalFile>,
    head: Head,
    /// The last entry before those in the file.
    base: u64,
    bodies: BodyWriter,
    /// What is committed here and was not taken for the log yet.
    unfolded: Part,
    /// About how many bytes the write-ahead log holds.
    size: u64,
    /// Whether the disk must have an entry of it.
    durable: bool,
}

/// A file that is to be a journal, under SQLite's exclusive lock.
pub(super) struct Claimed {
    db: Connection,
    path: PathBuf,
    writer: Writer,
}

/// Where a journal is.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    identity: Option<Identity>,
    /// The database. Open for as long as SQLite has it open: to close it sooner would give up SQLite's lock (fcntl(2)).
    db: File,
    wal: File,
    /// Whether the disk has the database and its name; the write-ahead log is worth nothing without them.
    rooted: AtomicBool,
}

impl JournalFile {
    fn open(path: &Path) -> io::Result<Self> {
        let (db, wal) = (File::open(path)?, File::open(place::beside(path, "-wal"))?);
        // So that others see quickly that its wrapper lives; no other process may have it for longer than such a look.
        flock(&wal, FlockOperation::LockExclusive)?;
        let (path, identity) = (path.to_path_buf(), place::identity(path));
        Ok(Self { path, identity, db, wal, rooted: AtomicBool::new(false) })
    }

    /// Whether it is still the file of its name: another would not be found after our death.
    pub fn is_in_place(&self) -> bool {
        self.identity.is_some() && place::identity(&self.path) == self.identity
    }

    /// Syncs the database, its name and that of its folder, unless the disk has them: a sync of entries is then one of the
    /// write-ahead log alone.
    ///
    /// # Errors
    /// Why the disk may not have them. Whoever syncs entries tries again.
    pub fn root(&self) -> io::Result<()> {
        if !self.rooted.load(Ordering::Acquire) {
            self.db.sync_all()?;
            for folder in self.path.ancestors().skip(1).take(2) {
                File::open(folder)?.sync_all()?;
            }
            self.rooted.store(true, Ordering::Release);
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.root()?;
        self.wal.sync_data()
    }
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
    /// Takes another batch in, so that both are one sync; gives it back where it is of another journal.
    ///
    /// # Errors
    /// The other batch.
    pub fn join(&mut self, other: Self) -> Result<(), Self> {
        if !Arc::ptr_eq(&self.file, &other.file) {
            return Err(other);
        }
        self.receipts.extend(other.receipts);
        Ok(())
    }

    /// Syncs it to disk. The journal may be in use meanwhile.
    ///
    /// # Errors
    /// The ids of the entries, and why the disk may not have them.
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
    /// Takes a file in this folder for a new journal. The caller holds the lock of the log until SQLite's is in place, so that
    /// no other process takes the file for a dead wrapper's.
    pub(super) fn claim(folder: &Path, writer: Writer, _held: &Held<'_>) -> Result<Claimed, StoreError> {
        let path = path_of(folder, &writer);
        place::prepare(&path)?;
        let claim = || -> Result<Connection, Fault> {
            let db = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            // Others wait for the lock, so nothing is synced under it: an empty file need not outlive a loss of power. The
            // exclusive mode comes before the write-ahead log: that is then without shared memory. What is not
            // finished holds nothing, so it needs no rollback journal on the disk. The cache is set as a number of pages, and
            // before they get their size: SQLite takes memory for twenty of them at once where it may.
            db.execute_batch(&format!(
                "PRAGMA synchronous=OFF; PRAGMA cache_size=8; PRAGMA page_size={PAGE}; PRAGMA locking_mode=EXCLUSIVE;
                 PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE; COMMIT"
            ))?;
            Ok(db)
        };
        match claim() {
            Ok(db) => Ok(Claimed { db, path, writer }),
            Err(fault) => {
                remove(&path);
                Err(fault.of(&path))
            }
        }
    }

    /// Makes the journal. It needs no lock between wrappers any more.
    pub(super) fn create(claimed: Claimed) -> Result<Self, StoreError> {
        let Claimed { db, path, writer } = claimed;
        let file = set_up(&db)
            .map_err(|fault| fault.of(&path))
            .and_then(|()| JournalFile::open(&path).map_err(|error| place::failed(&path, &error)));
        let file = Arc::new(file.inspect_err(|_| remove(&path))?);
        let (head, unfolded) = (Head::EMPTY, Part::new(writer, 1));
        Ok(Self { db, file, head, base: head.seq, bodies: BodyWriter::default(), unfolded, size: 0, durable: false })
    }

    /// Commits a batch: all of it, or nothing.
    ///
    /// # Errors
    /// Why nothing was recorded. The journal is then of no more use.
    pub fn record(&mut self, batch: &[(u64, impl Borrow<Entry>)], redactor: &Redactor) -> Result<Commit, StoreError> {
        let before = self.unfolded.sealed.count();
        for (_, entry) in batch {
            self.unfolded.push(entry.borrow(), &mut self.bodies, redactor);
        }
        self.commit(before)?;
        let receipts = batch.iter().map(|(id, entry)| Receipt::new(*id, entry.borrow())).collect();
        let durable = batch.iter().any(|(_, entry)| entry.borrow().is_durable());
        Ok(self.committed(receipts, durable))
    }

    /// Commits an entry that was sealed elsewhere.
    ///
    /// # Errors
    /// As [`Self::record`].
    pub fn record_large(&mut self, large: Large) -> Result<Commit, StoreError> {
        let before = self.unfolded.sealed.count();
        self.unfolded.push_large(&large);
        self.commit(before)?;
        Ok(self.committed(vec![large.receipt], large.durable))
    }

    /// What was committed since the last time, to be folded into the log; what is committed next is put into the memory of a
    /// part that is folded.
    pub fn take(&mut self, folded: Option<Part>) -> Part {
        let next = Part::after(&self.unfolded, folded);
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

    /// Where it is.
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

    /// Forgets the entries. The caller has folded all of them, and synced the log if one of them is durable.
    ///
    /// # Errors
    /// Why it is of no more use.
    pub fn empty(&mut self) -> Result<(), StoreError> {
        self.begin_anew().map_err(|fault| fault.of(&self.file.path))?;
        (self.base, self.size, self.durable) = (self.head.seq, 0, false);
        Ok(())
    }

    fn begin_anew(&self) -> Result<(), Fault> {
        // Without the pages that are then free: a checkpoint would write all of them to the disk.
        self.db.execute_batch("DELETE FROM entry; VACUUM")?;
        self.db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        // The first write after that begins the write-ahead log anew: with all pages, so that the database on the disk need not
        // be that of this round.
        let (n, link) = (number(self.head.seq)?, self.head.link);
        Ok(self.db.execute_batch(&format!(
            "BEGIN; PRAGMA user_version={VERSION}; UPDATE base SET n = {n}, link = x'{link}';
             INSERT INTO entry (n, body, link) VALUES (1, '', x'{link}'); DELETE FROM entry; COMMIT"
        ))?)
    }

    /// Removes the file. The caller has folded all of it, and synced the log if one of its entries is durable.
    pub fn remove(self) {
        remove(&self.file.path);
    }

    fn committed(&mut self, receipts: Vec<Receipt>, durable: bool) -> Commit {
        self.durable |= durable;
        if durable {
            Commit::Unsynced(Unsynced { file: Arc::clone(&self.file), receipts })
        } else {
            Commit::Recorded(receipts)
        }
    }

    /// Commits what was pushed after the first `before` of those not taken; on an error none of it was.
    fn commit(&mut self, before: usize) -> Result<(), StoreError> {
        let from = self.unfolded.sealed.start(before);
        match self.insert(before) {
            Ok(head) => {
                let bytes = (self.unfolded.sealed.bytes() - from) as u64;
                // The last page anew, and those that are filled; with such a one its parent and the first.
                self.size += PAGE + bytes + 2 * bytes.min(PAGE);
                self.head = head;
                Ok(())
            }
            Err(fault) => {
                self.unfolded.sealed.truncate(before);
                Err(fault.of(&self.file.path))
            }
        }
    }

    /// One transaction. On an error it may be left open: closing rolls it back.
    fn insert(&self, before: usize) -> Result<Head, Fault> {
        let mut new = self.unfolded.sealed.after(before);
        if let (Some((one, first)), Some((other, second)), None) = (new.next(), new.next(), new.next()) {
            let first = self.head.next_entry(&self.unfolded.writer, first);
            let second = first.next_entry(&self.unfolded.writer, second);
            let (first_link, second_link) = (first.link.as_bytes(), second.link.as_bytes());
            let values = params![number(first.seq)?, one, first_link, number(second.seq)?, other, second_link];
            self.db.prepare_cached(INSERT_TWO)?.execute(values)?;
            return Ok(second);
        }
        // A statement alone is a transaction of its own.
        let several = self.unfolded.sealed.count() - before > 1;
        if several {
            self.db.prepare_cached("BEGIN")?.execute([])?;
        }
        let mut head = self.head;
        let mut insert = self.db.prepare_cached(INSERT)?;
        for (body, digest) in self.unfolded.sealed.after(before) {
            head = head.next_entry(&self.unfolded.writer, digest);
            insert.execute(params![number(head.seq)?, body, head.link.as_bytes()])?;
        }
        if several {
            self.db.prepare_cached("COMMIT")?.execute([])?;
        }
        Ok(head)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.head.seq == self.base {
            // There is nothing in it that anyone would have to fold.
            remove(&self.file.path);
        }
    }
}

fn set_up(db: &Connection) -> Result<(), Fault> {
    let mode: String = db.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(Fault::Shape("SQLite cannot keep a write-ahead log beside it"));
    }
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(db.execute_batch(&format!(
        "PRAGMA wal_autocheckpoint=0; BEGIN; {SCHEMA} PRAGMA application_id={APPLICATION};
         PRAGMA user_version={VERSION}; INSERT INTO base (n, link) VALUES (0, x'{}'); COMMIT",
        Head::EMPTY.link
    ))?)
}

/// Whether its wrapper certainly lives. `false` says nothing: SQLite's own lock then decides.
pub(super) fn is_in_use(path: &Path) -> bool {
    let wal = File::open(place::beside(path, "-wal"));
    wal.is_ok_and(|wal| flock(&wal, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK))
}

/// Where the journal of a writer lies.
pub(super) fn path_of(folder: &Path, writer: &Writer) -> PathBuf {
    let name: String = writer.iter().map(|byte| format!("{byte:02x}")).collect();
    folder.join(name + ".db")
}

/// Removes a journal. The write-ahead log goes first: without the database no reader would look for it.
pub(super) fn remove(path: &Path) {
    for suffix in ["-wal", ""] {
        // What cannot be removed is found to be folded by whoever opens the log next.
        let _ = std::fs::remove_file(place::beside(path, suffix));
    }
}
