//! What it takes to record: the log, the key by which secrets are hidden from it, and chance for names. Owns no thread.

use std::path::Path;

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
        let store = Store::open(log, key::random().map_err(RecordingError::Chance)?)?;
        let found = key::key(key);
        let found = found.map_err(|why| RecordingError::Key { path: key.display().to_string(), why })?;
        Ok(Self { store, redactor: Redactor::new(&found) })
    }

    /// Makes a journal.
    ///
    /// # Errors
    /// Why there can be none.
    pub fn journal(&mut self) -> Result<Journal, RecordingError> {
        Ok(self.store.journal(key::random().map_err(RecordingError::Chance)?)?)
    }

    /// Records entries that no call waits for, and syncs them.
    ///
    /// # Errors
    /// Why the disk may not have them.
    pub fn record(&mut self, entries: &[(u64, Entry)]) -> Result<(), RecordingError> {
        if !entries.is_empty() {
            self.store.append(entries, &self.redactor)?;
        }
        Ok(self.store.sync()?)
    }
}
