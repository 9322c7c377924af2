//! The audit log: facts, in order, kept for good. Nothing in it is ever updated or deleted.

pub mod agreed;
pub mod body;
pub mod chain;
pub mod fields;
pub mod index;
pub mod kept_texts;
pub mod moment;
pub mod past;
pub mod place;
pub mod query;
pub mod record;
pub mod recording;
pub mod redact;
pub mod removed;
pub mod repeats;
pub mod retention;
pub mod search;
pub mod store;
pub mod tally;
pub mod verified;

// What most layers above use, under one name.
pub use fields::{Field, Fields, Record};
pub use moment::{Clock, rfc3339};
pub use record::{By, Entry, Kind, Outcome, Receipt, VerdictWord};
pub use search::Search;
pub use store::{ReadOrder, Reader, StoreError};

/// Receipts without a disk, for this crate's own tests: nobody who uses the library has it.
#[cfg(test)]
pub(crate) mod rehearsal {
    use super::record::{Entry, Receipt};

    /// Acknowledges one entry as the log would.
    pub fn receipt(id: u64, entry: &Entry) -> Receipt {
        Receipt::new(id, entry)
    }
}
