//! The lock file between all wrappers: one writes at a time, in the order they came. Knows nothing of what is written.
//!
//! SQLite's own waiting sleeps ever longer and lets a writer starve among busy ones; asking again and again, as a
//! hundred wrappers would, leaves no time for the one that writes. So a wrapper that finds the lock taken waits in the
//! kernel's queue, on a thread of its own: the kernel's wait has no time limit, and the wrapper's must have one.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::error::StoreError;
use super::place::{failed, linked};

/// How long to wait for the others before us in the queue. A wrapper that was stopped while it held the lock must not
/// keep all others from answering their hosts, which commonly give up on a call after sixty seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// The lock of one log.
#[derive(Debug)]
pub(super) struct Lock(PathBuf);

/// The lock, held until dropped; the kernel frees it when this process dies.
pub(super) struct Held(File);

impl Lock {
    /// The lock of the log at `db`: `audit.lock` beside it.
    pub(super) fn of(db: &Path) -> Self {
        Self(db.with_extension("lock"))
    }

    /// Takes the lock, waiting until those who came before have had it.
    pub(super) fn hold(&self) -> Result<Held, StoreError> {
        self.hold_within(PATIENCE)
    }

    /// Takes the lock, waiting for `patience` at most.
    pub(super) fn hold_within(&self, patience: Duration) -> Result<Held, StoreError> {
        if let Some(held) = self.try_hold()? {
            return Ok(held);
        }
        let file = self.open()?;
        // Without a buffer: what is sent was received, and what cannot be sent is released by being dropped.
        let (tell, comes) = mpsc::sync_channel(0);
        let wait = move || drop(tell.send(take(&file, FlockOperation::LockExclusive).map(|()| Held(file))));
        thread::Builder::new()
            .name("audit lock".to_owned())
            .spawn(wait)
            .and_then(|_| comes.recv_timeout(patience).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())))
            .map_err(|error| match error.kind() {
                io::ErrorKind::TimedOut => StoreError::Busy { path: self.0.clone() },
                _ => failed(&self.0, &error),
            })
    }

    /// Takes the lock when no one has it; `None` at once when another does.
    pub(super) fn try_hold(&self) -> Result<Option<Held>, StoreError> {
        let file = self.open()?;
        match take(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Held(file))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(failed(&self.0, &error)),
        }
    }

    fn open(&self) -> Result<File, StoreError> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        options.open(&self.0).map_err(|error| failed(&self.0, &linked(error)))
    }
}

fn take(file: &File, how: FlockOperation) -> io::Result<()> {
    loop {
        match flock(file, how) {
            Err(rustix::io::Errno::INTR) => {}
            taken => return taken.map_err(io::Error::from),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Closing the file is not enough: a process that is being started may have it as well. This can only fail for a
        // closed descriptor, and then the lock is released too.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}
