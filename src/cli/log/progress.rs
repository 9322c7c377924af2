//! How far the index of a long log has come, on a terminal's stderr, after half a second of waiting.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::audit::index::Index;
use crate::audit::store::{Reader, StoreError};

/// A wait too short to explain.
const PATIENCE: Duration = Duration::from_millis(500);

/// Opens the index of this log and takes in what it lacks, as [`Index::brought_on`] does.
pub(in crate::cli) fn index(log: &Path, reader: &Reader) -> Result<Option<Index>, StoreError> {
    with_progress("indexing the log, for quick searches", reader.newest()?, |tell| Index::brought_on(log, reader, tell))
}

/// Does what may take long, and says how far it is: what is done, up to which record.
pub(super) fn with_progress<T>(what: &'static str, newest: u64, work: impl FnOnce(&mut dyn FnMut(u64)) -> T) -> T {
    let mut progress = Progress::new(what, io::stderr().is_terminal(), Instant::now());
    let done = work(&mut |upto| {
        if let Some(line) = progress.line(upto, newest, Instant::now()) {
            say(&line);
        }
    });
    if let Some(line) = progress.over() {
        say(&line);
    }
    done
}

/// A terminal that does not take it loses nothing.
pub(super) fn say(line: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(line.as_bytes()).and_then(|()| stderr.flush());
}

/// When something is shown.
struct Progress {
    what: &'static str,
    is_terminal: bool,
    next: Instant,
    shown: bool,
}

impl Progress {
    fn new(what: &'static str, is_terminal: bool, now: Instant) -> Self {
        Self { what, is_terminal, next: now + PATIENCE, shown: false }
    }

    /// The line that replaces the one before, twice a second; `None` while that is too early.
    fn line(&mut self, upto: u64, newest: u64, now: Instant) -> Option<String> {
        if !self.is_terminal || now < self.next {
            return None;
        }
        self.next = now + PATIENCE;
        self.shown = true;
        let hundredth = upto.saturating_mul(100) / newest.max(1);
        Some(format!("\r{}: record {upto} of {newest} ({hundredth} %) \x1b[K", self.what))
    }

    /// What takes the line away again.
    fn over(&self) -> Option<String> {
        self.shown.then(|| "\r\x1b[K".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_half_a_second_at_a_terminal_is_told_and_nobody_else() {
        let start = Instant::now();
        let mut progress = Progress::new("checking the log", true, start);
        assert_eq!(progress.line(1, 10, start + Duration::from_millis(499)), None);
        assert_eq!(progress.over(), None, "nothing was shown, so nothing is taken away");
        let line = progress.line(5, 10, start + Duration::from_millis(500));
        assert!(line.is_some_and(|line| line.contains("record 5 of 10 (50 %)")));
        assert_eq!(progress.line(6, 10, start + Duration::from_millis(600)), None, "twice a second");
        assert!(progress.over().is_some());
        let mut piped = Progress::new("checking the log", false, start);
        assert_eq!(piped.line(5, 10, start + Duration::from_secs(9)), None);
    }
}
