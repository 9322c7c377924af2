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

    /// All runs, at the end.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(what: &str) -> Refusal {
        Refusal::of(what, None, true)
    }

    #[test]
    fn a_run_is_counted_after_the_first_ones_and_its_time_is_one_window() {
        let mut refusals = Refusals::default();
        for _ in 0..WHOLE {
            assert_eq!(refusals.take(5, &refusal("key 1 twice"), 10), Recorded::Whole);
        }
        assert_eq!(refusals.wake_at(), None, "each is in the log");
        for _ in 0..3 {
            let counted = Recorded::Counted { by: 5 + WINDOW };
            assert_eq!(refusals.take(WINDOW + 4, &refusal("key 2 twice"), 10), counted);
        }
        assert_eq!(refusals.wake_at(), Some(5 + WINDOW));
        assert!(refusals.due(WINDOW + 4).is_empty());
        let mut at_the_end = Refusals { runs: refusals.runs.clone() };
        let due = refusals.due(WINDOW + 5);
        assert_eq!(
            due.iter().map(|run| (run.lines, run.bytes, &*run.reason)).collect::<Vec<_>>(),
            [(3, 30, "key 2 twice")]
        );
        assert_eq!(at_the_end.all(), due);
        assert_eq!((at_the_end.all(), refusals.wake_at()), (Vec::new(), None));
    }

    #[test]
    fn runs_come_in_the_order_they_began() {
        let mut refusals = Refusals::default();
        let reasons: Vec<String> = ('a'..='t').map(|letter| format!("no {letter}")).collect();
        for reason in reasons.iter().cycle().take(reasons.len() * (1 + usize::try_from(WHOLE).unwrap())) {
            refusals.take(0, &refusal(reason), 1);
        }
        let all: Vec<String> = refusals.all().into_iter().map(|run| run.reason).collect();
        assert_eq!(all, reasons);
    }

    #[test]
    fn a_reason_whose_window_is_over_is_recorded_whole_anew() {
        let mut refusals = Refusals::default();
        for now in [0, WINDOW, 2 * WINDOW] {
            for _ in 0..WHOLE {
                assert_eq!(refusals.take(now, &refusal("no JSON"), 1), Recorded::Whole, "{now}");
            }
        }
    }
}
