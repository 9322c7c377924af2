//! Entries into the log without making the loop wait, each acknowledged once it is recorded or failed.
//!
//! One store, and it is always in one place: with the loop, which commits at once what needs no disk while no other
//! wrapper is writing; or with the audit's thread, which does everything that takes time, and sends it back.

mod key;
mod thread;

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::audit::record::{Entry, Receipt};
use crate::audit::redact::Redactor;
use crate::audit::store::Store;
use thread::{Desk, Hold};

/// Microseconds after which a commit that was not synced is synced: well within the promised 100 ms.
const SYNC_AFTER: u64 = 60_000;
/// Microseconds without an entry after which there is time for a checkpoint.
const IDLE: u64 = 1_000_000;
/// How long [`Scribe::finish`] waits for a disk that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What became of an entry.
#[derive(Debug, PartialEq, Eq)]
pub enum Ack {
    /// It is in the log.
    Recorded(Receipt),
    /// It is not in the log. `why` says what happened and what to do.
    Failed { entry: u64, why: String },
}

/// What the thread has done: acknowledgements, and perhaps the store on its way back. Give it to [`Scribe::done`].
pub struct Done {
    acks: Vec<Ack>,
    tools: Option<Box<Tools>>,
}

/// What is needed to record.
struct Tools {
    store: Store,
    redactor: Redactor,
}

/// What the loop asks of the thread.
struct Job {
    batch: Vec<(u64, Entry)>,
    tools: Option<Box<Tools>>,
    leisure: Leisure,
}

/// How much time there is beside recording.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leisure {
    /// None.
    None,
    /// Enough to sync.
    Synced,
    /// Enough for a checkpoint.
    Idle,
}

/// The loop's side.
pub struct Scribe {
    jobs: Sender<Job>,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
    /// The store, while it is here.
    tools: Option<Box<Tools>>,
    /// Entries with the thread.
    away: usize,
    /// When to sync, and when to take it easy (monotonic microseconds).
    sync_at: Option<u64>,
    idle_at: Option<u64>,
}

impl Scribe {
    /// Starts the thread, which opens the log: starting costs nothing. `path` is the log, or why there can be none, and
    /// then every entry fails for that reason; `key_path` is the key of redaction (made when missing). `on_done` is
    /// called on the thread.
    pub fn start(path: Result<PathBuf, String>, key_path: PathBuf, on_done: impl FnMut(Done) + Send + 'static) -> Self {
        let (jobs, inbox) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let desk = Desk { path, key_path, inbox, on_done, hold: Hold::Nowhere };
        let thread = Builder::new().name("scribe".to_owned()).spawn(move || {
            desk.work();
            // Nobody listens any more when the wrapper gave up waiting.
            let _ = end.send(());
        });
        if let Err(error) = &thread {
            tracing::error!(%error, "the audit thread could not be started; every call will be refused");
        }
        Self { jobs, ended, thread: thread.ok(), tools: None, away: 0, sync_at: None, idle_at: None }
    }

    /// Records a batch at `now` (monotonic microseconds): at once, and then the acknowledgements are returned, or on
    /// the thread, and then they come with [`Self::done`]. Never waits.
    #[must_use]
    pub fn record(&mut self, now: u64, batch: Vec<(u64, Entry)>) -> Vec<Ack> {
        self.idle_at = None;
        if let Some(tools) = &mut self.tools
            && !batch.iter().any(|(_, entry)| entry.is_durable())
            // Another wrapper is writing, or something is wrong: the thread has the patience for it.
            && let Ok(Some(receipts)) = tools.store.try_append(&batch, &tools.redactor)
        {
            self.rest_later(now);
            return receipts.into_iter().map(Ack::Recorded).collect();
        }
        self.send(batch, Leisure::None)
    }

    /// Takes what the thread has done; the acknowledgements in it.
    #[must_use]
    pub fn done(&mut self, now: u64, done: Done) -> Vec<Ack> {
        self.away = self.away.saturating_sub(done.acks.len());
        if let Some(tools) = done.tools {
            self.tools = Some(tools);
            if self.away > 0 {
                // Entries were sent while it was on its way here.
                return self.send(Vec::new(), Leisure::None);
            }
            self.rest_later(now);
        }
        done.acks
    }

    /// Whether the store is here, so that the next commit may be made at once.
    pub fn is_at_home(&self) -> bool {
        self.tools.is_some()
    }

    /// When [`Self::rest`] is due.
    pub fn wake_at(&self) -> Option<u64> {
        [self.sync_at, self.idle_at].into_iter().flatten().min()
    }

    /// Lets the thread sync, or checkpoint, when it is time.
    pub fn rest(&mut self, now: u64) {
        let due = |at: Option<u64>| at.is_some_and(|at| at <= now);
        let leisure = match (due(self.idle_at), due(self.sync_at)) {
            (true, _) => Leisure::Idle,
            (false, true) => Leisure::Synced,
            (false, false) => return,
        };
        self.sync_at = None;
        self.idle_at = if leisure == Leisure::Idle { None } else { Some(now + IDLE) };
        if self.tools.is_some() {
            // Without entries there is nothing to refuse.
            let _ = self.send(Vec::new(), leisure);
        }
    }

    /// Has everything recorded and synced, and ends the thread. Gives up after two seconds, then with `Err`.
    ///
    /// # Errors
    /// The disk did not answer in time; what was not acknowledged may be lost.
    pub fn finish(mut self) -> Result<(), Unfinished> {
        let _ = self.send(Vec::new(), Leisure::Synced);
        drop(self.jobs);
        let Some(thread) = self.thread else {
            return Err(Unfinished);
        };
        match self.ended.recv_timeout(PATIENCE) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => thread.join().map_err(|_| Unfinished),
            Err(RecvTimeoutError::Timeout) => Err(Unfinished),
        }
    }

    fn rest_later(&mut self, now: u64) {
        if self.tools.as_ref().is_some_and(|tools| tools.store.needs_sync()) {
            self.sync_at.get_or_insert(now + SYNC_AFTER);
        }
    }

    fn send(&mut self, batch: Vec<(u64, Entry)>, leisure: Leisure) -> Vec<Ack> {
        self.away += batch.len();
        self.sync_at = None;
        let job = Job { batch, tools: self.tools.take(), leisure };
        match self.jobs.send(job) {
            Ok(()) => Vec::new(),
            Err(mpsc::SendError(job)) => {
                self.away -= job.batch.len();
                refuse(&job.batch, "the audit thread is gone; start mcp-approve again")
            }
        }
    }
}

/// The audit's thread did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit log was not closed in time; its last records may be missing")]
pub struct Unfinished;

fn refuse(batch: &[(u64, Entry)], why: &str) -> Vec<Ack> {
    let failed = |(entry, _): &(u64, Entry)| Ack::Failed { entry: *entry, why: why.to_owned() };
    batch.iter().map(failed).collect()
}
