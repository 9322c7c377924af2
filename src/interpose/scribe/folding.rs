//! The two threads of the scribe: one opens the log, makes journals and folds them into the log, the other syncs what must be
//! on the disk. They wait for disks and for other wrappers, so that the loop never does, and the second waits for no fold.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use crate::audit::recording::{Recording, ToKeep};
use crate::audit::store::{Journal, JournalFile, JournalPart, Unsynced};
use crate::audit::{Entry, Kind, Receipt, StoreError, redact::Redactor};
use crate::interpose::clock::wall_ms;
use crate::interpose::memory::{give_back, unmap_program};

/// How long the log may hold what is not synced: together with the time to the fold, well within the promised 100 ms.
const SYNC_AFTER: Duration = Duration::from_millis(40);
/// After how long without work there is a checkpoint.
const IDLE: Duration = Duration::from_secs(1);
/// After how long without work the log is closed: its files and its memory are given back.
const QUIET: Duration = Duration::from_secs(5);
/// From how many bytes on a write-ahead log is worth a checkpoint when idle: beginning it again costs the next fold.
const IDLE_BACKLOG: u64 = 4 << 20;
/// The same in the middle of the work.
const BUSY_BACKLOG: u64 = 16 << 20;

#[derive(Debug, PartialEq, Eq)]
pub enum Ack {
    /// It is recorded.
    Recorded(Receipt),
    /// It is not. `why` says what happened and what to do.
    Failed { entry: u64, why: String },
}

/// What a thread has done. Give it to [`Scribe::done`].
pub struct Done(pub(super) What);

pub(super) enum What {
    /// A new, empty journal.
    Journal(Box<Journal>, Redactor),
    /// There can be no journal now.
    NoJournal { why: String },
    /// The log did not take what was recorded: no call may go on until it does.
    NotFolded,
    /// The log, or the journal, was removed or replaced: no call may go on.
    Lost { why: String },
    /// Entries were synced, or could not be.
    Acks(Vec<Ack>),
}

pub(super) enum Fold {
    /// A text that records name.
    Keep(Box<ToKeep>),
    /// Entries of the journal in this file.
    Part(JournalPart, Arc<JournalFile>),
    /// A new journal.
    Journal,
    /// A journal that gets no more entries; all of it was sent before.
    Retired(Box<Journal>),
    /// The last entries, for which there was no journal.
    Last(Vec<(u64, Box<Entry>)>),
}

/// What a fault says of a journal that is gone.
const REMOVED: &str = "the journal of this wrapper was removed while it ran; start this server again";

/// Why what was recorded is not in the log.
enum Unfolded {
    /// It can be tried again.
    Failed(String),
    /// The log, or the journal, was removed or replaced.
    Lost(String),
}

impl From<String> for Unfolded {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

pub(super) struct Folder {
    path: Result<PathBuf, String>,
    key_path: PathBuf,
    session: String,
    jobs: Receiver<Fold>,
    /// Bytes that were sent and are not folded.
    folding: Arc<AtomicUsize>,
    to_loop: UnboundedSender<Done>,
    /// The log; `None` before the first use and after an error.
    log: Option<Recording>,
    has_folded: bool,
    /// Whether the log or a journal was removed while this wrapper ran.
    is_lost: bool,
    /// Texts that the log may lack.
    texts: Vec<ToKeep>,
    parts: Vec<(JournalPart, Arc<JournalFile>)>,
    retired: Vec<Journal>,
    /// A folded journal that stays while the loop has no other: a session without a journal and an end was cut off.
    kept: Option<Journal>,
    /// How many journals the loop has.
    given: usize,
    sync_at: Option<Instant>,
    /// The last entries; `None` until the end.
    last: Option<Vec<(u64, Box<Entry>)>>,
}

impl Folder {
    pub(super) fn new(
        (path, key_path, session): (Result<PathBuf, String>, PathBuf, String),
        jobs: Receiver<Fold>,
        folding: Arc<AtomicUsize>,
        to_loop: UnboundedSender<Done>,
    ) -> Self {
        Self {
            path,
            key_path,
            session,
            jobs,
            folding,
            to_loop,
            log: None,
            has_folded: false,
            is_lost: false,
            texts: Vec::new(),
            parts: Vec::new(),
            retired: Vec::new(),
            kept: None,
            given: 0,
            sync_at: None,
            last: None,
        }
    }

    pub(super) fn work(mut self) {
        // The journal is made before the first entry, which then need not wait.
        let mut wanted = true;
        loop {
            match self.fold() {
                Ok(()) => {}
                Err(Unfolded::Failed(why)) => {
                    tracing::error!(why, "the log does not accept what was recorded");
                    tell(&self.to_loop, What::NotFolded);
                }
                Err(Unfolded::Lost(why)) => self.lost(why),
            }
            if std::mem::take(&mut wanted) {
                self.hand_out();
            }
            let Some(job) = self.next() else { break };
            for job in std::iter::once(job).chain(self.jobs.try_iter()) {
                match job {
                    Fold::Keep(text) => self.texts.push(*text),
                    Fold::Part(part, file) => self.parts.push((part, file)),
                    Fold::Retired(journal) => {
                        self.given = self.given.saturating_sub(1);
                        self.retired.push(*journal);
                    }
                    Fold::Journal => wanted = true,
                    Fold::Last(entries) => self.last = Some(entries),
                }
            }
        }
        let last = self.last.take().unwrap_or_default();
        let folded = self.fold();
        match folded.and_then(|()| Ok(self.record(&last)?)) {
            Ok(()) => drop(self.kept.take().map(Journal::remove)),
            Err(Unfolded::Failed(why) | Unfolded::Lost(why)) => {
                tracing::error!(why, "the last entries did not reach the log");
            }
        }
        self.sync();
        self.note_head();
    }

    /// The next job; `None` when the loop is gone. Until it comes, does what there is time for.
    fn next(&mut self) -> Option<Fold> {
        if let Some(at) = self.sync_at {
            let left = at.saturating_duration_since(Instant::now());
            match if left.is_zero() { Err(RecvTimeoutError::Timeout) } else { self.jobs.recv_timeout(left) } {
                Err(RecvTimeoutError::Timeout) => self.sync(),
                job => return job.ok(),
            }
        }
        if self.log.as_ref().is_some_and(|log| log.store.backlog() >= IDLE_BACKLOG || log.store.is_unnoted()) {
            match self.jobs.recv_timeout(IDLE) {
                Err(RecvTimeoutError::Timeout) => self.rest(),
                job => return job.ok(),
            }
        }
        if let Some(log) = self.log.as_mut().filter(|log| log.store.is_open()) {
            match self.jobs.recv_timeout(QUIET) {
                Err(RecvTimeoutError::Timeout) => log.store.close(),
                job => return job.ok(),
            }
            give_back();
            // Wrappers that started together have work with each other's changes until then.
            match self.jobs.recv_timeout(QUIET) {
                Err(RecvTimeoutError::Timeout) => give_back(),
                job => return job.ok(),
            }
        }
        self.jobs.recv().ok()
    }

    fn rest(&mut self) {
        // Synced first: only a head that the disk has is noted.
        self.sync();
        self.checkpoint(IDLE_BACKLOG);
        self.note_head();
    }

    fn note_head(&mut self) {
        if let Some(log) = &mut self.log {
            log.store.note_head();
        }
    }

    fn sync(&mut self) {
        self.sync_at = None;
        if let Some(log) = &mut self.log
            && let Err(error) = log.store.sync()
        {
            // The journals still have it; the next process that opens the log syncs it.
            tracing::error!(%error, "records of the last moment may not survive a loss of power");
        }
    }

    fn fold(&mut self) -> Result<(), Unfolded> {
        // Before the records that name them.
        self.keep();
        if self.parts.is_empty() && self.retired.is_empty() {
            return Ok(());
        }
        let parts = std::mem::take(&mut self.parts);
        if let Err(why) = self.fold_parts(&parts) {
            self.parts = parts;
            self.close();
            return Err(why);
        }
        if !std::mem::replace(&mut self.has_folded, true) {
            // The first call is recorded: later ones describe no tool, compile no schema and begin no log.
            unmap_program();
        }
        self.forget(&parts);
        // Checked before the retired journals are removed: only a removal by someone else is a fault.
        let in_place = parts.iter().all(|(_, file)| file.is_in_place())
            && self.retired.iter().all(|journal| journal.file().is_in_place());
        self.remove_retired();
        self.checkpoint(BUSY_BACKLOG);
        if in_place { Ok(()) } else { Err(Unfolded::Lost(REMOVED.to_owned())) }
    }

    /// Has the log keep the texts that it lacks. One that cannot be kept stops no call: the next session keeps it.
    fn keep(&mut self) {
        let texts = std::mem::take(&mut self.texts);
        if texts.is_empty() {
            return;
        }
        let kept = self.open().and_then(|log| log.keep(&texts).map_err(|error| error.to_string()));
        match kept {
            Ok(()) => drop(self.sync_at.get_or_insert_with(|| Instant::now() + SYNC_AFTER)),
            Err(error) => tracing::warn!(error, "the log does not keep a text that its records name"),
        }
    }

    /// Removes the journals that are folded, but the newest while the loop has none.
    fn remove_retired(&mut self) {
        let kept = if self.given == 0 { self.retired.pop().or_else(|| self.kept.take()) } else { None };
        self.retired.drain(..).chain(self.kept.take()).for_each(Journal::remove);
        self.kept = kept;
    }

    /// Tells the loop that no call may go on, and the log why, if it is still there.
    fn lost(&mut self, why: String) {
        if std::mem::replace(&mut self.is_lost, true) {
            return;
        }
        tracing::error!(why, "the log lost records of this wrapper");
        let entry = Entry::new(wall_ms(), Kind::Fault, &"mcp-approve".into(), &self.session.as_str().into());
        if let Err(error) = self.record(&[(0, Box::new(entry.with("what", &why)))]) {
            tracing::error!(error, "the log cannot say so");
        }
        tell(&self.to_loop, What::Lost { why });
    }

    /// Closes the journals that get no more entries: the next process that opens the log folds them from their files.
    fn close(&mut self) {
        let closed: Vec<_> = self.retired.extract_if(.., |journal| journal.file().is_in_place()).collect();
        let is_closed = |part: &JournalPart| closed.iter().any(|journal| journal.writer() == part.writer());
        let in_files: Vec<_> = self.parts.extract_if(.., |(part, _)| is_closed(part)).collect();
        self.forget(&in_files);
    }

    fn forget(&self, parts: &[(JournalPart, Arc<JournalFile>)]) {
        self.folding.fetch_sub(parts.iter().map(|(part, _)| part.bytes()).sum(), Ordering::Relaxed);
    }

    fn fold_parts(&mut self, parts: &[(JournalPart, Arc<JournalFile>)]) -> Result<(), Unfolded> {
        let must_sync = self.retired.iter().any(Journal::is_durable);
        let store = &mut self.open()?.store;
        let all: Vec<&JournalPart> = parts.iter().map(|(part, _)| part).collect();
        let mut folded = if all.is_empty() { Ok(()) } else { store.fold(&all) };
        if must_sync {
            // Before a journal is removed, everything durable in it must be on the disk.
            folded = folded.and_then(|()| store.sync());
        }
        self.sync_at.get_or_insert_with(|| Instant::now() + SYNC_AFTER);
        folded.map_err(|error| {
            let why = format!("{error}; {}", error.hint());
            if let StoreError::Lost { .. } = error { Unfolded::Lost(why) } else { Unfolded::Failed(why) }
        })
    }

    /// Makes a journal for the loop, and syncs its name here, where no caller waits: no later sync is worth anything without.
    fn hand_out(&mut self) {
        let opens = self.log.is_none();
        match self.journal() {
            Ok((journal, redactor)) => {
                let file = journal.file();
                self.given += 1;
                tell(&self.to_loop, What::Journal(Box::new(journal), redactor));
                if opens {
                    unmap_program();
                }
                if let Err(error) = file.root() {
                    tracing::warn!(%error, "the disk did not take a journal; another takes its place");
                }
            }
            Err(why) => tell(&self.to_loop, What::NoJournal { why }),
        }
    }

    fn journal(&mut self) -> Result<(Journal, Redactor), String> {
        let session = self.session.clone();
        let log = self.open()?;
        let journal = log.journal(&session).map_err(|error| error.to_string())?;
        Ok((journal, log.redactor.clone()))
    }

    fn record(&mut self, entries: &[(u64, Box<Entry>)]) -> Result<(), String> {
        if entries.is_empty() {
            return Ok(());
        }
        self.open()?.record(entries).map_err(|error| error.to_string())
    }

    fn open(&mut self) -> Result<&mut Recording, String> {
        let path = self.path.as_ref().map_err(Clone::clone)?;
        let log = match self.log.take() {
            Some(log) => log,
            None => Recording::of_session(path, &self.key_path, &self.session).map_err(|error| error.to_string())?,
        };
        Ok(self.log.insert(log))
    }

    fn checkpoint(&mut self, from: u64) {
        if let Some(log) = self.log.as_mut().filter(|log| log.store.backlog() >= from)
            && let Err(error) = log.store.checkpoint()
        {
            tracing::warn!(%error, "the write-ahead log could not be moved into the database");
        }
    }
}

/// Syncs batches until the loop is gone.
pub(super) fn sync_all(jobs: &Receiver<Unsynced>, to_loop: &UnboundedSender<Done>) {
    while let Ok(job) = jobs.recv() {
        let mut unsynced = Vec::new();
        for batch in std::iter::once(job).chain(jobs.try_iter()) {
            join(&mut unsynced, batch);
        }
        for batch in unsynced {
            tell(to_loop, What::Acks(sync(batch)));
        }
    }
}

fn join(unsynced: &mut Vec<Unsynced>, batch: Unsynced) {
    let rest = match unsynced.last_mut() {
        Some(last) => last.join(batch).err(),
        None => Some(batch),
    };
    unsynced.extend(rest);
}

fn sync(unsynced: Unsynced) -> Vec<Ack> {
    match unsynced.sync() {
        Ok(receipts) => receipts.into_iter().map(Ack::Recorded).collect(),
        Err((entries, error)) => {
            let why = format!("{error}; {}", error.hint());
            tracing::error!(why, entries = entries.len(), "entries could not be synced");
            entries.into_iter().map(|entry| Ack::Failed { entry, why: why.clone() }).collect()
        }
    }
}

fn tell(to_loop: &UnboundedSender<Done>, what: What) {
    // The loop outlives the threads; without the loop nothing waits for a receipt.
    let _ = to_loop.send(Done(what));
}
