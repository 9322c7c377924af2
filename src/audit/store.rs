//! The one door to SQLite: takes entries into the log and reads them back. Has no way to change or remove one.
//!
//! Each wrapper commits its entries to a [`Journal`] of its own, without a lock between wrappers. The one log of a user has
//! all of them in one chain: [`Store::fold`] moves them there, a batch in one transaction under the lock file, and whoever
//! opens the log first folds what dead wrappers left. SQLite's automatic checkpoints are off, so that no fold pays for one.

mod frames;
pub(super) mod index_db;
mod journal;
mod leftover;
pub mod noted;
mod open;
mod reader;
mod state;

use std::borrow::Borrow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use super::body::JournalPart;
use super::body::write_body;
use super::chain::{Head, Writer};
use super::place::{self, Held, Identity, Lock};
use super::record::Entry;
use super::redact::Redactor;
use crate::wire::digest::Digest;
use open::folder_of;
use state::State;

pub use super::place::StoreError;
pub use journal::{Commit, Journal, JournalFile, Unsynced};
pub use leftover::{Damage, Left, fold_left};
pub use reader::{Found, ReadOrder, Reader, Rows, Unlinked, Visit};

/// How often the head is noted while records come without end.
const NOTE_EVERY: Duration = Duration::from_secs(1);

/// The log, for one writer. After an error it is closed; the next use opens it again.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    writer: Writer,
    open: Option<Open>,
    /// The head that this process saw last: a log without it lost records.
    known: Head,
    /// Whether something was recorded since the head was noted.
    unnoted: bool,
    noted_at: Option<Instant>,
}

impl Store {
    /// Opens the log, makes it where there is none, and folds what dead wrappers left.
    pub fn open(path: &Path, writer: Writer) -> Result<Self, StoreError> {
        let open = Open::new(path)?;
        let known = open.state.head()?;
        Ok(Self { path: path.to_path_buf(), writer, open: Some(open), known, unnoted: false, noted_at: None })
    }

    /// Makes a journal for this wrapper. `writer` is its name: random and unique.
    pub fn journal(&mut self, writer: Writer) -> Result<Journal, StoreError> {
        let folder = folder_of(&self.path);
        self.locked(|_, held| Journal::create(&folder, writer, held))
    }

    /// Puts those entries of journals into the log that are not in it yet: all, or none. Syncs nothing.
    pub fn fold(&mut self, parts: &[&JournalPart]) -> Result<(), StoreError> {
        self.locked(|state, held| state.fold(held, parts))?;
        self.unnoted = true;
        Ok(())
    }

    /// Appends entries that come from no journal, in one commit, not synced; returns the place of the last record.
    pub fn append(&mut self, batch: &[(u64, impl Borrow<Entry>)], redactor: &Redactor) -> Result<u64, StoreError> {
        // Sealed before the lock is taken, because others wait for it.
        let mut part = JournalPart::new(self.writer, 1);
        for (_, entry) in batch {
            part.push(|out| write_body(entry.borrow(), redactor, out));
        }
        let last = self.locked(|state, held| state.append(held, &part))?;
        self.unnoted = true;
        Ok(last)
    }

    /// Appends those of these entries, each known by its digest, that the log has no record of; not synced.
    pub fn append_new(&mut self, entries: &[Entry], redactor: &Redactor) -> Result<(), StoreError> {
        // Looked at without the lock first: mostly the log has them all.
        let new = |state: &State| -> Result<Vec<&Entry>, StoreError> {
            let mut new: Vec<&Entry> = Vec::new();
            for entry in entries {
                let comes = |digest: &Digest| new.iter().any(|one| one.digest.as_ref() == Some(digest));
                let is_there = |digest| Ok::<_, StoreError>(comes(digest) || state.has_text(digest)?);
                if !entry.digest.as_ref().map(is_there).transpose()?.unwrap_or(false) {
                    new.push(entry);
                }
            }
            Ok(new)
        };
        if self.with(|open| new(&open.state).map(|new| new.is_empty()))? {
            return Ok(());
        }
        let writer = self.writer;
        self.locked(|state, held| {
            let mut part = JournalPart::new(writer, 1);
            new(state)?.into_iter().for_each(|entry| part.push(|out| write_body(entry, redactor, out)));
            state.append(held, &part)
        })?;
        self.unnoted = true;
        Ok(())
    }

    /// Removes the oldest records, in one commit with what `last` says under the lock: up to which one, and the entries that follow
    /// from that. Its room on the disk is given back, where no other process reads the log at this moment.
    pub fn remove(
        &mut self,
        redactor: &Redactor,
        last: impl FnOnce() -> Result<(u64, Vec<Entry>), StoreError>,
    ) -> Result<(), StoreError> {
        let (writer, path) = (self.writer, self.path.clone());
        self.locked(|state, held| {
            // A head that was noted in the stretch would look like a loss.
            noted::note(state.db(), &path)?;
            let (last, entries) = last()?;
            let mut part = JournalPart::new(writer, 1);
            entries.iter().for_each(|entry| part.push(|out| write_body(entry, redactor, out)));
            state.remove(held, last, &part)?;
            state.sync()?;
            noted::note(state.db(), &path)?;
            index_db::IndexDb::remove(&index_db::place_of(&path));
            state.shrink();
            Ok(())
        })
    }

    /// Syncs to disk what was committed, and now and then notes the chain's head ([`noted`]).
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.with(|open| open.state.sync())?;
        // A note makes a new file and renames it: doing so each time would, under load, cost more than the sync.
        if self.is_note_due() {
            self.note_head();
        }
        Ok(())
    }

    /// Whether it is time to note the head: neither we nor another process did it a moment ago.
    fn is_note_due(&self) -> bool {
        let Some(at) = self.noted_at else { return true };
        let by_another = || std::fs::metadata(noted::place_of(&self.path)).ok()?.modified().ok()?.elapsed().ok();
        at.elapsed() >= NOTE_EVERY && by_another().is_none_or(|since| since >= NOTE_EVERY)
    }

    /// Whether something was recorded since the head was noted.
    pub fn is_unnoted(&self) -> bool {
        self.unnoted
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Closes the log's files until the next use. What this process saw of the log is still known: see [`Self::with`].
    pub fn close(&mut self) {
        self.open = None;
    }

    /// Notes the chain's head beside the log, unless another process has the lock and will. A failure costs a later proof only.
    pub fn note_head(&mut self) {
        let Some(open) = self.open.as_ref().filter(|_| self.unnoted) else { return };
        let Ok(Some(_held)) = open.lock.try_hold() else { return };
        (self.unnoted, self.noted_at) = (false, Some(Instant::now()));
        if let Err(error) = noted::note(open.state.db(), &self.path) {
            tracing::warn!(%error, "the head of the chain was not noted");
        }
    }

    /// About how many bytes wait in the write-ahead log for a checkpoint.
    pub fn backlog(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.state.backlog)
    }

    /// Moves the write-ahead log into the database, where no reader is in the way. It syncs, so it is slow.
    /// Errors: why it could not be moved. Nothing is lost by that.
    pub fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.with(|open| open.state.checkpoint())?;
        self.note_head();
        Ok(())
    }

    /// Does something with the log under the lock between writers.
    fn locked<T>(&mut self, act: impl FnOnce(&mut State, &Held) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let known = self.known;
        let done = self.with(|open| {
            let held = open.lock.hold()?;
            open.state.must_have(known)?;
            let done = act(&mut open.state, &held)?;
            Ok((done, open.state.head()?))
        });
        // The head was noted up to a second ago; later records would be gone without a trace.
        if let Err(StoreError::Lost { .. }) = &done
            && let Err(error) = noted::note_lost(&self.path, known)
        {
            tracing::warn!(%error, "the head that is lost was not noted");
        }
        let (done, head) = done?;
        self.known = head;
        Ok(done)
    }

    /// Does something with the open log; closes it on an error, so that SQLite rolls back whatever was begun.
    fn with<T>(&mut self, act: impl FnOnce(&mut Open) -> Result<T, StoreError>) -> Result<T, StoreError> {
        // Closed before it is opened again: within one process SQLite shares its memory between both.
        let mut open = match self.open.take().filter(Open::is_in_place) {
            Some(open) => open,
            None if self.known != Head::EMPTY && place::identity(&self.path).is_none() => {
                return Err(StoreError::Lost { path: self.path.clone(), why: "it was removed".to_owned() });
            }
            None => Open::new(&self.path)?,
        };
        let done = act(&mut open)?;
        self.open = Some(open);
        Ok(done)
    }
}

#[derive(Debug)]
struct Open {
    state: State,
    lock: Lock,
    path: PathBuf,
    identity: Option<Identity>,
}

impl Open {
    fn new(path: &Path) -> Result<Self, StoreError> {
        place::survive_size_limit();
        place::prepare(path)?;
        let lock = Lock::of(path);
        let held = lock.hold()?;
        let mut state = State::open(path, &held)?;
        leftover::fold_before_writing(path, &mut state, &held)?;
        drop(held);
        Ok(Self { state, lock, path: path.to_path_buf(), identity: place::identity(path) })
    }

    /// Whether the paths still name this log. A removed log takes no more records: no one would find them.
    fn is_in_place(&self) -> bool {
        self.identity.is_some()
            && place::identity(&self.path) == self.identity
            && place::is_named(&self.state.wal, &place::beside(&self.path, "-wal"))
    }
}
