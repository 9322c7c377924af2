//! The thread that seals large entries and syncs what must be on the disk, so that neither waits for a fold.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use tokio::sync::mpsc::UnboundedSender;

use super::{Ack, Done, What, tell};
use crate::audit::record::Entry;
use crate::audit::redact::Redactor;
use crate::audit::store::{Large, Unsynced};

/// What the loop asks of it.
pub(super) enum Sync {
    Sync(Unsynced),
    Seal(Arc<(u64, Box<Entry>)>, Redactor),
}

/// Works until the loop is gone.
pub(super) fn work(jobs: &Receiver<Sync>, to_loop: &UnboundedSender<Done>) {
    while let Ok(job) = jobs.recv() {
        let (mut unsynced, mut seals): (Vec<Unsynced>, _) = (Vec::new(), Vec::new());
        // All waiting syncs are joined, and done before anything is sealed, because a sealed entry is synced later.
        for job in std::iter::once(job).chain(jobs.try_iter()) {
            match job {
                Sync::Sync(batch) => join(&mut unsynced, batch),
                Sync::Seal(entry, redactor) => seals.push((entry, redactor)),
            }
        }
        for batch in unsynced {
            tell(to_loop, What::Acks(sync(batch)));
        }
        for (entry, redactor) in seals {
            tell(to_loop, What::Sealed(Box::new(Large::seal(entry.0, &entry.1, &redactor))));
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
