//! Receipts without a disk, for tests of the gate. Nothing in `src/` uses it; the tidy test says so.

use std::sync::Arc;

use super::record::{Entry, Kind, Receipt};

/// Acknowledges entries as a journal would.
#[derive(Clone, Debug, Default)]
pub struct Rehearsal(());

impl Rehearsal {
    /// Acknowledges one entry.
    pub fn receipt(&mut self, entry: u64) -> Receipt {
        Receipt::new(entry, &Entry::new(0, Kind::Decision, &Arc::from(""), &Arc::from("")))
    }
}
