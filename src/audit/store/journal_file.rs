//! The two files of a journal: whether they are still ours, what the disk has of them, and the lock that shows that
//! their wrapper lives. Reads and writes no entry.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::audit::place::{self, Identity};

/// Where a journal is.
#[derive(Debug)]
pub struct JournalFile {
    pub(super) path: PathBuf,
    identity: Option<Identity>,
    /// The database. Open for as long as SQLite has it open: to close it sooner would give up SQLite's lock (fcntl(2)).
    db: File,
    pub(super) wal: File,
    /// Whether the disk has the database and its name: the write-ahead log is worth nothing without them.
    rooted: AtomicBool,
    /// Whether a sync has failed. The system reports that once and then marks the lost pages as clean: no later sync is
    /// worth anything.
    has_failed: AtomicBool,
}

impl JournalFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let (db, wal) = (File::open(path)?, File::options().read(true).append(true).open(wal_of(path))?);
        // The lock shows others quickly that this wrapper lives. Waiting is safe: others hold it only for such a look.
        flock(&wal, FlockOperation::LockExclusive)?;
        let (path, identity) = (path.to_path_buf(), place::identity(path));
        Ok(Self { path, identity, db, wal, rooted: AtomicBool::new(false), has_failed: AtomicBool::new(false) })
    }

    /// Whether the path still names this file: otherwise no one would find it after our death.
    pub fn is_in_place(&self) -> bool {
        self.identity.is_some() && place::identity(&self.path) == self.identity
    }

    /// Syncs the database, its name and that of its folder, unless the disk has them: a sync of entries is then one of the
    /// write-ahead log alone.
    ///
    /// # Errors
    /// Why the disk may not have them. The journal takes no entry any more that has to be synced.
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

fn wal_of(path: &Path) -> PathBuf {
    place::beside(path, "-wal")
}

/// Whether its wrapper certainly lives. `false` says nothing: SQLite's own lock then decides.
pub(super) fn is_in_use(path: &Path) -> bool {
    let wal = File::open(wal_of(path));
    wal.is_ok_and(|wal| flock(&wal, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK))
}
