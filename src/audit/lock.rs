//! The lock file between all wrappers: one writes at a time, in the order they came. Knows nothing of what is written.
//!
//! SQLite's own waiting sleeps ever longer and lets a writer starve among busy ones; asking again and again, as a
//! hundred wrappers would, leaves no time for the one that writes. So whoever finds the lock taken is in the
//! kernel's queue: on a thread of its own, because that wait has no end, and this one must.

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

/// How long to be in the queue while the log does not change: a wrapper that was stopped while it held the lock must not
/// keep all others from answering their hosts.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to be in it however much the log changes: hosts commonly give up on a call after sixty seconds, and are to hear
/// the reason before.
const AT_MOST: Duration = Duration::from_secs(40);

/// The lock of one log.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
    /// What changes while others get on: the write-ahead log, and the folder of the journals.
    signs: [PathBuf; 2],
    queue: OnceCell<Queue>,
}

/// The lock, held until dropped, and by no one once this process is dead.
pub(super) struct Held<'a>(&'a File);

/// The thread that waits, and the descriptor it waits with: one of its own, because a descriptor that was given up
/// waiting for may still get the lock, and must not take it from whoever has it by then.
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

    /// Takes the lock, waiting forty seconds while others get on, and ten seconds for one that does not.
    pub(super) fn hold(&self) -> Result<Held<'_>, StoreError> {
        let mut seen = self.signs();
        self.hold_while(PATIENCE, AT_MOST, || std::mem::replace(&mut seen, self.signs()) != seen)
    }

    /// Takes the lock, waiting so long at most.
    pub(super) fn hold_within(&self, patience: Duration) -> Result<Held<'_>, StoreError> {
        self.hold_while(patience, patience, || false)
    }

    /// What is seen of the work of others.
    fn signs(&self) -> [Option<(u64, i64, i64)>; 2] {
        let sign = |found: Metadata| (found.len(), found.mtime(), found.mtime_nsec());
        self.signs.each_ref().map(|path| std::fs::metadata(path).ok().map(sign))
    }

    /// Takes the lock, waiting so long, and as long again while `goes_on`, until it is `at_most`.
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
        // It ends with its lock, or, should the lock never come free, with the process.
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
        // Without room: what arrives was taken, and what no one waits for any more is known to the sender.
        let (tell, comes) = mpsc::sync_channel(0);
        self.ask.send(tell).map_err(|_| RecvTimeoutError::Disconnected)?;
        loop {
            match comes.recv_timeout(patience) {
                // It keeps its place in the queue.
                Err(RecvTimeoutError::Timeout) if Instant::now() < until && goes_on() => {}
                came => return came,
            }
        }
    }
}

/// Waits for the lock each time it is asked to, and gives it back where it came too late.
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
        // It can only fail for a closed descriptor, and then the lock is gone too.
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

    /// Others may go on without end: whoever waits hears of it, and takes nothing later.
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
