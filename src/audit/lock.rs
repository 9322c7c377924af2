//! The lock file between all wrappers: one writes at a time, in the order they came. Knows nothing of what is written.
//!
//! SQLite's own waiting sleeps ever longer and lets a writer starve among busy ones; asking again and again, as a
//! hundred wrappers would, leaves no time for the one that writes. So a wrapper that finds the lock taken waits in the
//! kernel's queue, on a separate thread: the kernel's wait has no time limit, and the wrapper's must have one.

use std::cell::OnceCell;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use super::error::StoreError;
use super::place::{beside, failed, linked};

/// How long to wait while the log does not change: a wrapper that was stopped while it held the lock must not keep all
/// others from answering their hosts.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait at most, however much the log changes: hosts commonly give up on a call after sixty seconds, and
/// should learn the reason before.
const AT_MOST: Duration = Duration::from_secs(40);

/// The lock of one log.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
    /// What changes while others make progress: the write-ahead log, and the folder of the journals.
    signs: [PathBuf; 2],
    queue: OnceCell<Queue>,
}

/// The lock, held until dropped; the kernel frees it when this process dies.
pub(super) struct Held<'a>(&'a File);

/// The thread that waits, and the descriptor it waits with: a separate one, because a wait that was given up may still
/// end with the lock, and releasing that one must not release a lock that was taken here meanwhile.
#[derive(Debug)]
struct Queue {
    ask: Sender<SyncSender<io::Result<()>>>,
    file: Arc<File>,
}

impl Lock {
    /// Opens (or makes) `audit.lock` beside `audit.db`.
    pub(super) fn open(db: &Path) -> Result<Self, StoreError> {
        let path = db.with_extension("lock");
        let file = open(&path)?;
        let signs = [beside(db, "-wal"), db.with_extension("d")];
        Ok(Self { file, path, signs, queue: OnceCell::new() })
    }

    /// Takes the lock, waiting forty seconds while others make progress, and ten seconds while none does.
    pub(super) fn hold(&self) -> Result<Held<'_>, StoreError> {
        let mut seen = self.signs();
        self.hold_while(PATIENCE, AT_MOST, || std::mem::replace(&mut seen, self.signs()) != seen)
    }

    /// Takes the lock, waiting for `patience` at most.
    pub(super) fn hold_within(&self, patience: Duration) -> Result<Held<'_>, StoreError> {
        self.hold_while(patience, patience, || false)
    }

    /// The sizes and times that change with the work of others.
    fn signs(&self) -> [Option<(u64, i64, i64)>; 2] {
        let sign = |found: Metadata| (found.len(), found.mtime(), found.mtime_nsec());
        self.signs.each_ref().map(|path| std::fs::metadata(path).ok().map(sign))
    }

    /// Takes the lock, waiting for `patience`, and again for as long while `goes_on`, up to about `at_most`.
    fn hold_while(
        &self,
        patience: Duration,
        at_most: Duration,
        goes_on: impl FnMut() -> bool,
    ) -> Result<Held<'_>, StoreError> {
        if let Some(held) = self.try_hold()? {
            return Ok(held);
        }
        let queue = match self.queue.get() {
            Some(queue) => queue,
            None => {
                let queue = Queue::start(open(&self.path)?).map_err(|error| failed(&self.path, &error))?;
                self.queue.get_or_init(|| queue)
            }
        };
        match queue.wait(patience, at_most, goes_on) {
            Ok(Ok(())) => Ok(Held(&queue.file)),
            Ok(Err(error)) => Err(failed(&self.path, &error)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                Err(StoreError::Busy { path: self.path.clone() })
            }
        }
    }

    /// Takes the lock when no one has it; `None` at once when another does.
    pub(super) fn try_hold(&self) -> Result<Option<Held<'_>>, StoreError> {
        match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Held(&self.file))),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => Ok(None),
            Err(error) => Err(failed(&self.path, &error.into())),
        }
    }
}

impl Queue {
    fn start(file: File) -> io::Result<Self> {
        let file = Arc::new(file);
        let (ask, asked) = mpsc::channel();
        let waits = Arc::clone(&file);
        // The thread ends with its [`Lock`], or, should the lock never become free, with the process.
        thread::Builder::new().name("audit lock".to_owned()).spawn(move || wait_each_time(&waits, &asked))?;
        Ok(Self { ask, file })
    }

    fn wait(
        &self,
        patience: Duration,
        at_most: Duration,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<io::Result<()>, RecvTimeoutError> {
        let until = Instant::now() + at_most;
        // Without a buffer: what is sent was received, and the sender learns when no one waits any more.
        let (tell, comes) = mpsc::sync_channel(0);
        self.ask.send(tell).map_err(|_| RecvTimeoutError::Disconnected)?;
        loop {
            match comes.recv_timeout(patience) {
                // The thread keeps its place in the kernel's queue.
                Err(RecvTimeoutError::Timeout) if Instant::now() < until && goes_on() => {}
                came => return came,
            }
        }
    }
}

/// Waits for the lock each time it is asked to, and releases it if it came too late.
fn wait_each_time(file: &File, asked: &Receiver<SyncSender<io::Result<()>>>) {
    while let Ok(tell) = asked.recv() {
        let taken = loop {
            match flock(file, FlockOperation::LockExclusive) {
                Err(rustix::io::Errno::INTR) => {}
                taken => break taken.map_err(io::Error::from),
            }
        };
        if tell.send(taken).is_err() {
            drop(Held(file));
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // This can only fail for a closed descriptor, and then the lock is released too.
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

fn open(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options.open(path).map_err(|error| failed(path, &linked(error)))
}

#[cfg(test)]
mod tests {
    use super::{Duration, FlockOperation, Lock, StoreError, flock, open};

    /// Others may go on without end: the wait ends with an error all the same, and takes no lock later.
    #[test]
    fn a_turn_that_does_not_come_is_given_up_though_the_log_changes() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::open(&folder.path().join("audit.db")).unwrap();
        let other = open(&folder.path().join("audit.lock")).unwrap();
        flock(&other, FlockOperation::LockExclusive).unwrap();
        let wait = |at_most, goes_on: &mut dyn FnMut() -> bool| {
            lock.hold_while(Duration::from_millis(5), at_most, goes_on).map(drop)
        };
        for at_most in [Duration::ZERO, Duration::from_millis(50)] {
            assert!(matches!(wait(at_most, &mut || true), Err(StoreError::Busy { .. })), "{at_most:?}");
        }
        let mut asked = 0;
        let mut until_the_third = || {
            asked += 1;
            if asked == 3 {
                flock(&other, FlockOperation::Unlock).unwrap();
            }
            true
        };
        assert_eq!(wait(Duration::from_secs(600), &mut until_the_third), Ok(()));
        drop(lock.try_hold().unwrap().expect("nothing took it afterwards"));
    }
}
