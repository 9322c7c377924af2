//! Refused lines as the log has them: the first ones of each reason whole, a run of more as one counted record.
//! Otherwise a host that sends nothing but garbage would fill the disk, and calls would fail for want of a record.

use crate::wire::message::Refusal;

/// How many lines of one reason are recorded whole in each [`WINDOW`].
const WHOLE: u64 = 20;
/// Microseconds in which a run is counted before it is recorded.
const WINDOW: u64 = 10_000_000;
/// How many reasons are counted separately; the others are counted together.
const REASONS: usize = 64;

/// The runs of this moment, by reason, in the order they began.
#[derive(Debug, Default)]
pub struct Refusals {
    runs: Vec<(String, Run)>,
}

/// Refused lines of one reason that were not recorded one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    since: u64,
    seen: u64,
    /// How many are not in the log yet, and how many bytes they had.
    pub lines: u64,
    pub bytes: u64,
    pub code: i32,
    /// The reason of the last one.
    pub reason: String,
}

/// What becomes of a refused line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    Whole,
    /// Recorded with its run, at this time (monotonic microseconds) at the latest.
    Counted {
        by: u64,
    },
}

impl Refusals {
    /// Takes a refused line at `now` (monotonic microseconds).
    pub fn take(&mut self, now: u64, refusal: &Refusal, bytes: u64) -> Recorded {
        let mut key = kind(&refusal.what);
        if self.runs.len() >= REASONS && !self.runs.iter().any(|(known, _)| *known == key) {
            key.clear();
        }
        let run = match self.runs.iter_mut().find(|(known, _)| *known == key) {
            Some((_, run)) => run,
            None => &mut self.runs.push_mut((key, Run { since: now, code: refusal.code, ..Run::default() })).1,
        };
        if run.lines == 0 && run.since + WINDOW <= now {
            (run.since, run.seen) = (now, 0);
        }
        run.seen += 1;
        if run.seen <= WHOLE {
            return Recorded::Whole;
        }
        run.lines += 1;
        run.bytes += bytes;
        run.reason.clone_from(&refusal.what);
        Recorded::Counted { by: run.since + WINDOW }
    }

    /// Removes the runs whose time is over, and returns them.
    pub fn due(&mut self, now: u64) -> Vec<Run> {
        let over = |run: &Run| run.since + WINDOW <= now;
        self.runs.extract_if(.., |(_, run)| over(run)).map(|(_, run)| run).filter(|run| run.lines > 0).collect()
    }

    pub fn all(&mut self) -> Vec<Run> {
        std::mem::take(&mut self.runs).into_iter().map(|(_, run)| run).filter(|run| run.lines > 0).collect()
    }

    /// When the first run is due.
    pub fn wake_at(&self) -> Option<u64> {
        self.runs.iter().map(|(_, run)| run).filter(|run| run.lines > 0).map(|run| run.since + WINDOW).min()
    }
}

/// A reason without its numbers: places and sizes differ from line to line.
fn kind(reason: &str) -> String {
    reason.chars().filter(|c| !c.is_ascii_digit()).take(120).collect()
}
