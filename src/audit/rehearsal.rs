//! Receipts without a disk, for tests of the gate. Nothing in `src/` uses it; the tidy test says so.

use super::record::Receipt;

/// Numbers entries as a log would.
#[derive(Clone, Debug, Default)]
pub struct Rehearsal {
    seq: u64,
}

impl Rehearsal {
    /// Acknowledges one entry.
    pub fn receipt(&mut self, entry: u64) -> Receipt {
        self.seq += 1;
        Receipt::new(entry, self.seq)
    }
}
