//! The audit's own thread: opens the log, and does what takes time (durable commits, waiting for other wrappers, syncs,
//! checkpoints), so that the loop never waits for a disk.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use super::key::{key, random};
use super::{Ack, Done, Job, Leisure, Tools};
use crate::audit::record::Entry;
use crate::audit::redact::Redactor;
use crate::audit::store::Store;

/// At most so many entries share a commit: the first of them waits for the last.
const BATCH: usize = 512;
/// So much of a write-ahead log is worth a checkpoint when idle. Below it the next call would pay for a log begun anew.
const IDLE_BACKLOG: u64 = 4 << 20;
/// So much is worth one in the middle of the work.
const BUSY_BACKLOG: u64 = 64 << 20;

/// The thread's side.
pub(super) struct Desk<F> {
    pub(super) path: Result<PathBuf, String>,
    pub(super) key_path: PathBuf,
    pub(super) inbox: Receiver<Job>,
    pub(super) on_done: F,
    pub(super) hold: Hold,
}

/// Where the store is, as the thread knows it.
pub(super) enum Hold {
    /// Not opened yet, or closed by an error: the next job opens it.
    Nowhere,
    Here(Box<Tools>),
    /// The loop has it; it comes back with a job.
    Lent,
}

impl<F: FnMut(Done)> Desk<F> {
    pub(super) fn work(mut self) {
        // Opened ahead of the first entry, which then need not wait. A failure is told with that entry.
        if let Ok(tools) = self.open() {
            self.hold = Hold::Here(tools);
            self.lend();
        }
        let mut kept = Vec::new();
        while let Ok(job) = self.inbox.recv() {
            let mut leisure = job.leisure;
            self.take(job.tools);
            kept.extend(job.batch);
            while let Ok(more) = self.inbox.try_recv() {
                leisure = more.leisure;
                self.take(more.tools);
                kept.extend(more.batch);
            }
            if matches!(self.hold, Hold::Lent) {
                // The store is on its way here: the loop sends it after whatever it has sent before.
                continue;
            }
            self.record(&std::mem::take(&mut kept));
            self.rest(leisure);
            self.lend();
        }
        if !kept.is_empty() {
            self.hold = Hold::Nowhere;
            self.record(&kept);
        }
        self.rest(Leisure::Synced);
    }

    fn take(&mut self, tools: Option<Box<Tools>>) {
        if let Some(tools) = tools {
            self.hold = Hold::Here(tools);
        }
    }

    /// Gives the store to the loop, for commits that need no disk.
    fn lend(&mut self) {
        if let Hold::Here(tools) = std::mem::replace(&mut self.hold, Hold::Lent) {
            (self.on_done)(Done { acks: Vec::new(), tools: Some(tools) });
        } else {
            self.hold = Hold::Nowhere;
        }
    }

    fn record(&mut self, batch: &[(u64, Entry)]) {
        for batch in batch.chunks(BATCH) {
            let acks = match self.append(batch) {
                Ok(acks) => acks,
                Err(why) => {
                    tracing::error!(why, entries = batch.len(), "nothing was recorded");
                    super::refuse(batch, &why)
                }
            };
            (self.on_done)(Done { acks, tools: None });
        }
    }

    fn append(&mut self, batch: &[(u64, Entry)]) -> Result<Vec<Ack>, String> {
        let mut tools = match std::mem::replace(&mut self.hold, Hold::Nowhere) {
            Hold::Here(tools) => tools,
            Hold::Nowhere | Hold::Lent => self.open()?,
        };
        let done = tools.store.append(batch, &tools.redactor);
        self.hold = Hold::Here(tools);
        let receipts = done.map_err(|error| format!("{error}; {}", error.hint()))?;
        Ok(receipts.into_iter().map(Ack::Recorded).collect())
    }

    fn open(&self) -> Result<Box<Tools>, String> {
        let path = self.path.as_ref().map_err(Clone::clone)?;
        let writer = random().map_err(|error| format!("no randomness: {error}"))?;
        let store = Store::open(path, writer).map_err(|error| format!("{error}; {}", error.hint()))?;
        let key = key(&self.key_path).map_err(|error| {
            let path = self.key_path.display();
            format!(
                "the key {path}, by which secrets are hidden from the log, cannot be used: {error}; make its folder \
                 writable for your user"
            )
        })?;
        Ok(Box::new(Tools { store, redactor: Redactor::new(&key) }))
    }

    /// Syncs and checkpoints, as far as there is leisure for it.
    fn rest(&mut self, leisure: Leisure) {
        let Hold::Here(tools) = &mut self.hold else { return };
        if leisure != Leisure::None
            && let Err(error) = tools.store.sync()
        {
            tracing::error!(%error, "records of the last moment may not survive a loss of power");
        }
        let worth = if leisure == Leisure::Idle { IDLE_BACKLOG } else { BUSY_BACKLOG };
        if tools.store.backlog() >= worth
            && let Err(error) = tools.store.checkpoint()
        {
            tracing::warn!(%error, "the write-ahead log could not be moved into the database");
        }
    }
}
