//! A real journal on the disk, one for each thread: receipts come from nowhere else.

use std::cell::RefCell;

use mcp_approve::audit::record::{Entry, Receipt};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::store::{Commit, Journal, Store};

/// A journal of more entries is begun anew.
const MOST: usize = 2_000;

struct Log {
    journal: Journal,
    entries: usize,
    _folder: tempfile::TempDir,
}

impl Log {
    fn open() -> Self {
        let memory = std::path::Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.expect("a folder");
        let mut store = Store::open(&folder.path().join("audit.db"), [7; 16]).expect("a log");
        Self { journal: store.journal([7; 16]).expect("a journal"), entries: 0, _folder: folder }
    }
}

thread_local! {
    static LOG: RefCell<Option<Log>> = const { RefCell::new(None) };
}

/// Records the entry, and returns what the log acknowledges.
pub fn record(id: u64, entry: &Entry) -> Receipt {
    LOG.with_borrow_mut(|log| {
        if log.as_ref().is_none_or(|log| log.entries >= MOST) {
            *log = Some(Log::open());
        }
        let log = log.as_mut().expect("opened above");
        log.entries += 1;
        let receipts = match log.journal.record(&[(id, entry)], &Redactor::new(&[7; 32])).expect("it is recorded") {
            Commit::Recorded(receipts) => receipts,
            Commit::Unsynced(unsynced) => unsynced.sync().expect("it is synced"),
        };
        receipts.into_iter().next().expect("one receipt for one entry")
    })
}
