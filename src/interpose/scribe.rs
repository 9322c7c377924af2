//! Writes entries into the wrapper's journal, and the loop never waits. Each is acknowledged once recorded or failed.
//!
//! The loop alone writes the journal. Two threads do what takes time: one makes journals and folds them into the log; the
//! other, started with its first job, syncs what must be on the disk before anything follows from it.

mod folding;

use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use crate::audit::record::{NamedText, TextKind};
use crate::audit::store::{Commit, Journal, Unsynced};
use crate::audit::{Entry, Kind, StoreError, chain::name_of, recording::ToKeep, redact::Redactor};
use crate::interpose::clock::wall_ms;
use crate::interpose::notice;
use crate::policy::Policy;
use crate::wire::Digest;
pub use folding::{Ack, Done};
use folding::{Fold, Folder, What, sync_all};

/// Microseconds after which what was committed is folded: together with the fold, within the promised 50 ms.
const FOLD_AFTER: u64 = 40_000;
/// From how many bytes on it is folded earlier.
const FOLD_FROM: usize = 128 << 10;
/// How many bytes may wait to be folded; beyond that new entries wait.
const UNFOLDED: usize = 1 << 20;
/// Microseconds after which an entry that waits for folds is tried again.
const RETRY: u64 = 2_000;
/// How many entries may share a commit: the first of them waits for the last.
const BATCH: usize = 128;
/// And how many bytes of arguments: a commit is one row, of which SQLite makes two copies in memory.
const BATCH_ARGUMENTS: usize = 128 << 10;
/// How many bytes of arguments may wait with their entries; beyond that no more calls are taken.
const ARGUMENTS: usize = 1 << 20;
/// How long [`Scribe::finish`] waits for a disk that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many bytes of texts one session may have the log keep: a server can change its definitions without end.
const TO_KEEP: usize = 8 << 20;
const GONE: &str = "the audit thread is gone; start mcp-approve again";

enum Place {
    /// There is no journal, and none was asked for.
    Nowhere,
    /// The folding thread makes one.
    Coming,
    /// The log lost records of ours: nothing is recorded any more, so no call goes on.
    Lost(String),
    Here(Box<Open>),
}

struct Open {
    journal: Journal,
    redactor: Redactor,
    /// Whether a new one was asked for, because this one has grown.
    replaced: bool,
}

/// The loop's side.
pub struct Scribe {
    folds: Sender<Fold>,
    /// `None` until the first job: then the syncing thread is started.
    syncs: Option<Sender<Unsynced>>,
    to_loop: UnboundedSender<Done>,
    /// Each thread says here that it has ended.
    end: Sender<()>,
    ended: Receiver<()>,
    threads: Vec<JoinHandle<()>>,
    place: Place,
    /// Entries that are not committed, in order: there is no journal, or the log is behind.
    waiting: VecDeque<(u64, Box<Entry>)>,
    /// Bytes that the folding thread has not folded yet.
    folding: Arc<AtomicUsize>,
    /// Server and session of what was recorded last.
    of: Option<(Arc<str>, Arc<str>)>,
    /// The texts that were passed on to be kept, and how many bytes more of them may be.
    kept: HashSet<Digest>,
    to_keep: usize,
    fold_at: Option<u64>,
    retry_at: Option<u64>,
}

impl Scribe {
    /// Starts the thread that opens the log, so starting costs the loop nothing. `path` is the log, or why there can be
    /// none, and then every entry fails for that reason; `key_path` is the key of redaction (made when missing); `session`
    /// is this run of the wrapper. What the threads have done goes to the loop.
    pub fn start(
        path: Result<PathBuf, String>,
        key_path: PathBuf,
        session: &str,
        to_loop: UnboundedSender<Done>,
    ) -> Self {
        let (folds, fold_jobs) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let folding = Arc::new(AtomicUsize::new(0));
        let folder =
            Folder::new((path, key_path, session.to_owned()), fold_jobs, Arc::clone(&folding), to_loop.clone());
        let (mut threads, mut place) = (Vec::new(), Place::Coming);
        match start("audit fold", end.clone(), move || folder.work()) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                tracing::error!(%error, "an audit thread could not be started; calls will be refused");
                place = Place::Nowhere;
            }
        }
        Self {
            folds,
            syncs: None,
            to_loop,
            end,
            ended,
            threads,
            place,
            waiting: VecDeque::new(),
            folding,
            of: None,
            kept: HashSet::new(),
            to_keep: TO_KEEP,
            fold_at: None,
            retry_at: None,
        }
    }

    /// Records a batch at `now` (monotonic microseconds). What is recorded at once is acknowledged in the result; what
    /// needs a thread is acknowledged by [`Self::done`]. Never waits.
    #[must_use]
    pub fn record(&mut self, now: u64, batch: Vec<(u64, impl Into<Box<Entry>>)>) -> Vec<Ack> {
        for (id, entry) in batch {
            let entry = entry.into();
            if let Some(named) = &entry.names
                && !self.kept.contains(&named.digest())
                && let Some(text) = ToKeep::of(&entry)
            {
                self.keep(text);
            }
            self.waiting.push_back((id, entry));
        }
        self.go_on(now)
    }

    /// Has the log keep a text that records name, once in a session. Never waits.
    pub fn keep(&mut self, text: ToKeep) {
        if let Some(left) = self.to_keep.checked_sub(text.text.len())
            && self.kept.insert(text.text.digest())
        {
            self.to_keep = left;
            // If that thread is gone, nothing is recorded either.
            let _ = self.folds.send(Fold::Keep(Box::new(text)));
        }
    }

    /// Has the log keep the texts of a policy that is in force from now on.
    pub fn keep_policy(&mut self, policy: &Policy, server: &Arc<str>, session: &Arc<str>) {
        for text in &policy.texts {
            let (server, session) = (Arc::clone(server), Arc::clone(session));
            let is_list = policy.texts.len() > 1 && Digest::of(text.as_bytes()) == policy.digest;
            let what = if is_list { TextKind::PolicyFiles } else { TextKind::Policy };
            self.keep(ToKeep { time: wall_ms(), server, session, text: NamedText::new(what, Arc::clone(text)) });
        }
    }

    /// Takes what a thread has done; returns the acknowledgements that follow.
    #[must_use]
    pub fn done(&mut self, now: u64, done: Done) -> Vec<Ack> {
        let mut acks = Vec::new();
        match done.0 {
            What::Acks(synced) => {
                if synced.iter().any(|ack| matches!(ack, Ack::Failed { .. })) {
                    // The disk may have lost more than these.
                    self.retire();
                }
                return synced;
            }
            What::Journal(..) if matches!(self.place, Place::Lost(_)) => {}
            What::Journal(mut journal, redactor) => {
                let named = self.name(&mut journal, &redactor);
                self.retire();
                self.place = Place::Here(Box::new(Open { journal: *journal, redactor, replaced: false }));
                if let Err(error) = named {
                    self.retire();
                    return self.fail_all(&format!("{error}; {}", error.hint()));
                }
            }
            What::NoJournal { why } => {
                if let Place::Here(open) = &mut self.place {
                    // The grown journal stays in use.
                    open.replaced = false;
                } else if !matches!(self.place, Place::Lost(_)) {
                    self.place = Place::Nowhere;
                    return self.fail_all(&why);
                }
            }
            // The journal is folded before the next one is made.
            What::NotFolded => self.retire(),
            What::Lost { why } => return self.stop(&why),
        }
        acks.extend(self.go_on(now));
        acks
    }

    /// Has the log name a journal in which a session goes on, before it is used: the journal before says so last, or, where that
    /// takes nothing any more, this one first. A journal that the log does not name ends no session.
    fn name(&mut self, next: &mut Journal, redactor: &Redactor) -> Result<(), StoreError> {
        let Some((server, session)) = &self.of else { return Ok(()) };
        let mut entry = Entry::new(wall_ms(), Kind::NextJournal, server, session);
        entry.uncut.add("journal", name_of(&next.writer()));
        let batch = [(0, entry)];
        if let Place::Here(open) = &mut self.place
            && open.journal.record(&batch, &open.redactor).is_ok()
        {
            return Ok(());
        }
        next.record(&batch, redactor).map(drop)
    }

    /// Whether there is a journal, so that the next commit is made at once.
    pub fn is_open(&self) -> bool {
        matches!(self.place, Place::Here(_))
    }

    /// Whether there is room for more entries before those that wait are committed.
    pub fn has_room(&self) -> bool {
        self.waiting.len() < BATCH && self.waiting.iter().map(arguments).sum::<usize>() < ARGUMENTS
    }

    /// When [`Self::rest`] is due.
    pub fn wake_at(&self) -> Option<u64> {
        [self.fold_at, self.retry_at].into_iter().flatten().min()
    }

    #[must_use]
    pub fn rest(&mut self, now: u64) -> Vec<Ack> {
        if self.fold_at.is_some_and(|at| at <= now) {
            self.fold();
        }
        if self.retry_at.is_some_and(|at| at <= now) { self.go_on(now) } else { Vec::new() }
    }

    /// Has everything recorded, folded and synced, and ends the threads. Gives up after two seconds, then with `Err`.
    /// Errors: the disk did not answer in time; what was not acknowledged may be lost.
    pub fn finish(mut self) -> Result<(), Unfinished> {
        self.retire();
        let rest = self.waiting.drain(..).collect();
        let told = self.folds.send(Fold::Last(rest)).map_err(|_| Unfinished);
        drop((self.folds, self.syncs));
        told?;
        let until = Instant::now() + PATIENCE;
        for _ in &self.threads {
            match self.ended.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(()) | Err(RecvTimeoutError::Disconnected) => {}
                Err(RecvTimeoutError::Timeout) => return Err(Unfinished),
            }
        }
        self.threads.into_iter().try_for_each(|thread| thread.join()).map_err(|_| Unfinished)
    }

    fn go_on(&mut self, now: u64) -> Vec<Ack> {
        self.retry_at = None;
        let mut acks = Vec::new();
        while !self.waiting.is_empty() {
            let open = match &mut self.place {
                Place::Here(open) => open,
                Place::Coming => break,
                Place::Lost(why) => {
                    let why = why.clone();
                    acks.extend(self.fail_all(&why));
                    break;
                }
                Place::Nowhere => {
                    self.place = Place::Coming;
                    if self.folds.send(Fold::Journal).is_err() {
                        self.place = Place::Nowhere;
                        acks.extend(self.fail_all(GONE));
                    }
                    break;
                }
            };
            if open.journal.unfolded() + self.folding.load(Ordering::Relaxed) >= UNFOLDED {
                self.fold();
                self.retry_at = Some(now + RETRY);
                break;
            }
            let mut bytes = 0;
            let fits = |waiting: &&(u64, Box<Entry>)| {
                bytes += arguments(waiting);
                bytes <= BATCH_ARGUMENTS
            };
            let many = self.waiting.iter().take(BATCH).take_while(fits).count().max(1);
            let batch: Vec<_> = self.waiting.drain(..many).collect();
            let committed = open.journal.record(&batch, &open.redactor);
            if let Some((_, last)) = batch.last().filter(|_| committed.is_ok()) {
                self.of = Some((Arc::clone(&last.server), Arc::clone(&last.session)));
            }
            acks.extend(self.after_commit(committed, batch.iter().map(|(entry, _)| *entry)));
            self.fold_later(now);
        }
        acks
    }

    fn fold_later(&mut self, now: u64) {
        match &self.place {
            Place::Here(open) if open.journal.unfolded() >= FOLD_FROM => self.fold(),
            Place::Here(open) if open.journal.unfolded() > 0 => drop(self.fold_at.get_or_insert(now + FOLD_AFTER)),
            Place::Here(_) | Place::Coming | Place::Nowhere | Place::Lost(_) => {}
        }
    }

    fn after_commit(&mut self, committed: Result<Commit, StoreError>, ids: impl Iterator<Item = u64>) -> Vec<Ack> {
        let failed = |why: String| ids.map(move |entry| Ack::Failed { entry, why: why.clone() }).collect();
        let commit = match committed {
            Ok(commit) => commit,
            Err(error) => {
                tracing::error!(%error, "nothing was recorded");
                let why = format!("{error}; {}", error.hint());
                if let StoreError::Lost { .. } = error {
                    let mut acks: Vec<_> = failed(why.clone());
                    acks.extend(self.stop(&why));
                    return acks;
                }
                self.retire();
                return failed(why);
            }
        };
        if let Place::Here(open) = &mut self.place
            && open.journal.has_grown()
            && !std::mem::replace(&mut open.replaced, true)
        {
            // If that thread is gone, nothing is folded either, so entries soon wait.
            let _ = self.folds.send(Fold::Journal);
        }
        match commit {
            Commit::Recorded(receipts) => receipts.into_iter().map(Ack::Recorded).collect(),
            Commit::Unsynced(unsynced) => match self.sync(unsynced) {
                Ok(()) => Vec::new(),
                Err(why) => failed(why),
            },
        }
    }

    /// Has the syncing thread sync a batch, and starts it for the first.
    fn sync(&mut self, batch: Unsynced) -> Result<(), String> {
        let syncs = match self.syncs.take() {
            Some(syncs) => syncs,
            None => {
                let (syncs, jobs) = mpsc::channel();
                let to_loop = self.to_loop.clone();
                let started = start("audit sync", self.end.clone(), move || sync_all(&jobs, &to_loop));
                let thread = started.map_err(|error| format!("no thread can be started to sync the log: {error}"))?;
                self.threads.push(thread);
                syncs
            }
        };
        self.syncs.insert(syncs).send(batch).map_err(|_| GONE.to_owned())
    }

    fn fold(&mut self) {
        self.fold_at = None;
        if let Place::Here(open) = &mut self.place
            && open.journal.unfolded() > 0
        {
            let part = open.journal.take();
            self.folding.fetch_add(part.bytes(), Ordering::Relaxed);
            // If the thread is gone, nothing is folded: the next process that opens the log folds the journal.
            let _ = self.folds.send(Fold::Part(part, open.journal.file()));
        }
    }

    /// Gives the journal up; it is removed once all of it is folded.
    fn retire(&mut self) {
        self.fold();
        match std::mem::replace(&mut self.place, Place::Nowhere) {
            Place::Here(open) => drop(self.folds.send(Fold::Retired(Box::new(open.journal)))),
            // A journal that was asked for still comes.
            none => self.place = none,
        }
    }

    /// Records nothing any more: the log lost records of ours, and what follows would hide that.
    fn stop(&mut self, why: &str) -> Vec<Ack> {
        if !matches!(self.place, Place::Lost(_)) {
            notice::say(&format!("no call is forwarded any more: {why}"));
            self.retire();
            self.place = Place::Lost(why.to_owned());
        }
        self.fail_all(why)
    }

    fn fail_all(&mut self, why: &str) -> Vec<Ack> {
        self.waiting.drain(..).map(|(entry, _)| Ack::Failed { entry, why: why.to_owned() }).collect()
    }
}

fn arguments((_, entry): &(u64, Box<Entry>)) -> usize {
    entry.arguments.as_ref().map_or(0, |arguments| arguments.len())
}

/// Starts a thread that works until the loop is gone, and then says that it has ended.
fn start(name: &str, end: Sender<()>, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name.to_owned()).spawn(move || {
        work();
        // No one listens if the wrapper gave up waiting.
        let _ = end.send(());
    })
}

/// The audit's threads did not end in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit log was not closed in time; its last records may be missing")]
pub struct Unfinished;

/// How long an entry that nothing waits for may stay here, in microseconds.
const PASS_AFTER: u64 = 10_000;
/// How many such entries may wait together.
const PASS_FROM: usize = 256;

/// The entries not passed on yet, in order.
#[derive(Debug, Default)]
pub struct EntryBuffer {
    entries: Vec<(u64, Box<Entry>)>,
    urgent: bool,
    since: Option<u64>,
}

impl EntryBuffer {
    /// Takes one entry at `now` (monotonic microseconds).
    pub fn take(&mut self, now: u64, id: u64, entry: Box<Entry>) {
        self.urgent |= matches!(entry.kind, Kind::Decision | Kind::DecisionAsked);
        self.since.get_or_insert(now);
        self.entries.push((id, entry));
    }

    /// The batch to pass on now; `None` while it may wait.
    pub fn due(&mut self, now: u64) -> Option<Vec<(u64, Box<Entry>)>> {
        let late = self.since.is_some_and(|since| now >= since + PASS_AFTER);
        if self.urgent || late || self.entries.len() >= PASS_FROM { self.all() } else { None }
    }

    pub fn all(&mut self) -> Option<Vec<(u64, Box<Entry>)>> {
        self.urgent = false;
        self.since = None;
        let entries = std::mem::take(&mut self.entries);
        (!entries.is_empty()).then_some(entries)
    }

    /// When the oldest entry must be passed on.
    pub fn wake_at(&self) -> Option<u64> {
        self.since.map(|since| since + PASS_AFTER)
    }
}
