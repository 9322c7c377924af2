//! A sync that another thread does: what it is to cover, and the proof that it did. Owns no time and no thread.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::StoreError;
use crate::audit::place;

/// Records that were committed and that the disk may not have.
#[derive(Debug)]
pub struct Unsynced {
    wal: Arc<File>,
    path: PathBuf,
    upto: u64,
}

impl Unsynced {
    pub(super) fn new(wal: Arc<File>, path: &Path, upto: u64) -> Self {
        Self { wal, path: path.to_path_buf(), upto }
    }

    /// Syncs them to disk. The store may be in use meanwhile.
    ///
    /// # Errors
    /// Why the disk may not have them.
    pub fn sync(self) -> Result<Synced, StoreError> {
        self.wal.sync_data().map_err(|error| place::told(&self.path, &error))?;
        Ok(Synced { wal: self.wal, upto: self.upto })
    }
}

/// Proof that the disk has all records up to one.
#[derive(Debug)]
pub struct Synced {
    wal: Arc<File>,
    upto: u64,
}

impl Synced {
    /// Whether it was this very opening of the log that was synced.
    pub(super) fn is_of(&self, wal: &Arc<File>) -> bool {
        Arc::ptr_eq(&self.wal, wal)
    }

    pub(super) fn upto(&self) -> u64 {
        self.upto
    }
}
