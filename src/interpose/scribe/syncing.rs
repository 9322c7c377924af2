//! The thread that syncs what must be on the disk, so that it waits for no fold.

use std::sync::mpsc::Receiver;

use tokio::sync::mpsc::UnboundedSender;

use super::{Ack, Done, What, tell};
use crate::audit::store::Unsynced;

/// Works until the loop is gone.
pub(super) fn work(jobs: &Receiver<Unsynced>, to_loop: &UnboundedSender<Done>) {
    while let Ok(job) = jobs.recv() {
        let mut unsynced = Vec::new();
        for batch in std::iter::once(job).chain(jobs.try_iter()) {
            join(&mut unsynced, batch);
        }
        for batch in unsynced {
            tell(to_loop, What::Acks(sync(batch)));
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
