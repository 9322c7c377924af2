//! What it takes to record: the log, the key by which secrets are hidden from it, and random names. Owns no thread.

use std::borrow::Borrow;
use std::path::Path;

use super::chain::Writer;
use super::key;
use super::record::Entry;
use super::redact::Redactor;
use super::store::{Journal, Store, StoreError};

/// The log, open to record.
pub struct Recording {
    pub store: Store,
    pub redactor: Redactor,
}

/// Why nothing can be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("{0}; {hint}", hint = .0.hint())]
    Store(#[from] StoreError),
    #[error("no randomness: {0}")]
    Chance(std::io::Error),
    #[error(
        "the key {path}, by which secrets are hidden from the log, cannot be used: {why}; make its folder writable for \
         your user"
    )]
    Key { path: String, why: std::io::Error },
}

impl Recording {
    /// Opens the log at `log`, and the key at `key`; each is made where it is missing.
    ///
    /// # Errors
    /// Why nothing can be recorded, and what to do.
    pub fn open(log: &Path, key: &Path) -> Result<Self, RecordingError> {
        let store = Store::open(log, random_writer()?)?;
        Ok(Self { store, redactor: redactor(key)? })
    }

    /// Opens the log, and makes a journal for a wrapper that starts.
    ///
    /// # Errors
    /// As [`Self::open`] and [`Self::journal`].
    pub fn open_with_journal(log: &Path, key: &Path) -> Result<(Self, Journal), RecordingError> {
        let redactor = redactor(key)?;
        let (store, journal) = Store::open_with_journal(log, random_writer()?, random_writer()?)?;
        Ok((Self { store, redactor }, journal))
    }

    /// Makes a journal.
    pub fn journal(&mut self) -> Result<Journal, RecordingError> {
        Ok(self.store.journal(random_writer()?)?)
    }

    /// Records entries that no call waits for, and syncs them.
    ///
    /// # Errors
    /// Why the disk may not have them.
    pub fn record(&mut self, entries: &[(u64, impl Borrow<Entry>)]) -> Result<(), RecordingError> {
        if !entries.is_empty() {
            self.store.append(entries, &self.redactor)?;
        }
        Ok(self.store.sync()?)
    }
}

fn random_writer() -> Result<Writer, RecordingError> {
    key::random().map_err(RecordingError::Chance)
}

fn redactor(key: &Path) -> Result<Redactor, RecordingError> {
    let found = key::key(key).map_err(|why| RecordingError::Key { path: key.display().to_string(), why })?;
    Ok(Redactor::new(&found))
}
