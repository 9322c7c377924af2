//! Entries on their way to the scribe: one that something waits for is passed on at once, the others soon after.

use crate::audit::record::{Entry, Kind};

/// How long an entry that nothing waits for may stay here, in microseconds.
const PATIENCE: u64 = 10_000;
/// How many such entries may wait together.
const MOST: usize = 256;

/// The entries not passed on yet, in order.
#[derive(Debug, Default)]
pub struct EntryBuffer {
    entries: Vec<(u64, Box<Entry>)>,
    urgent: bool,
    since: Option<u64>,
}

impl EntryBuffer {
    /// Takes one entry at `now` (monotonic microseconds).
    pub fn take(&mut self, now: u64, id: u64, entry: Box<Entry>) {
        self.urgent |= matches!(entry.kind, Kind::Decision | Kind::DecisionAsked);
        self.since.get_or_insert(now);
        self.entries.push((id, entry));
    }

    /// The batch to pass on now; `None` while it may wait.
    pub fn due(&mut self, now: u64) -> Option<Vec<(u64, Box<Entry>)>> {
        let late = self.since.is_some_and(|since| now >= since + PATIENCE);
        if self.urgent || late || self.entries.len() >= MOST { self.all() } else { None }
    }

    /// Everything, at the end.
    pub fn all(&mut self) -> Option<Vec<(u64, Box<Entry>)>> {
        self.urgent = false;
        self.since = None;
        let entries = std::mem::take(&mut self.entries);
        (!entries.is_empty()).then_some(entries)
    }

    /// When the oldest entry must be passed on.
    pub fn wake_at(&self) -> Option<u64> {
        self.since.map(|since| since + PATIENCE)
    }
}
