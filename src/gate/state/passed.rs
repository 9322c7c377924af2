//! What passes without being held, counted by direction, form and method, so that the log has a trace of all of it: one
//! record now and then, and one at the end. Payloads of notifications leave their digests. And refused lines: the first ones of each
//! reason whole, a run of more as one counted record, so that a host that sends nothing but garbage does not fill the disk.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::wire::{Digest, Origin, Refusal, words::words};

/// Microseconds in which lines are counted before they are recorded.
const WINDOW: u64 = 30_000_000;
/// The same at the start of a session: most wrappers have nothing to do after it, and sleep.
const FIRST_WINDOW: u64 = 2_000_000;
/// How many methods are counted separately in one window; the others are counted together.
const METHODS: usize = 64;
/// How many characters of a method are kept.
const LONGEST: usize = 128;
/// For how many payloads of one method a digest each is kept, beside one digest over all of them.
const DIGESTS: usize = 16;
/// How many notifications of a server are recorded one by one in one window, of one method and in all; the rest is only counted.
const EVENTS: u64 = 8;
const EVENTS_IN_ALL: u32 = 32;
/// How many requests that change something are recorded one by one in a session; the rest is only counted.
const SINGLE: u32 = 256;

words! {
    Form {
        Request = "request",
        Notification = "notification",
        Response = "response",
        /// No message that we can read.
        Unreadable = "unreadable",
    }
}

/// The lines of this window.
#[derive(Debug, Default)]
pub struct Passed {
    rows: BTreeMap<(&'static str, &'static str, String), Count>,
    /// When the window ends.
    until: Option<u64>,
    had_one: bool,
    single: u32,
    /// Notifications recorded one by one in this window.
    events: u32,
}

#[derive(Debug, Default)]
struct Count {
    lines: u64,
    bytes: u64,
    digests: Vec<String>,
    /// Over the digests of all payloads, in order.
    all: Option<Digest>,
}

impl Passed {
    /// Counts a line at `now` (monotonic µs); `payload`: a notification's digest. Returns the window's end if it begins one.
    pub fn take(
        &mut self,
        now: u64,
        (from, form, method): (Origin, Form, &str),
        bytes: u64,
        payload: Option<String>,
    ) -> Option<u64> {
        let mut key = (side(from), form.word(), method.chars().take(LONGEST).collect());
        if self.rows.len() >= METHODS && !self.rows.contains_key(&key) {
            key.2 = "(other methods)".to_owned();
        }
        let count = self.rows.entry(key).or_default();
        count.lines += 1;
        count.bytes += bytes;
        if let Some(payload) = payload {
            let before = count.all.map(|all| all.to_string()).unwrap_or_default();
            count.all = Some(Digest::of(format!("{before}{payload}").as_bytes()));
            if count.digests.len() < DIGESTS {
                count.digests.push(payload);
            }
        }
        if self.until.is_some() {
            return None;
        }
        let window = if std::mem::replace(&mut self.had_one, true) { WINDOW } else { FIRST_WINDOW };
        self.until = Some(now + window);
        self.until
    }

    /// Whether one more notification of this method may have a record of its own in this window. It has been counted.
    pub fn takes_event(&mut self, method: &str) -> bool {
        let name = method.chars().take(LONGEST).collect();
        let row = self.rows.get(&(side(Origin::Server), Form::Notification.word(), name));
        let is_early = row.is_some_and(|row| row.lines <= EVENTS) && self.events < EVENTS_IN_ALL;
        self.events += u32::from(is_early);
        is_early
    }

    /// Whether one more request may have a record of its own.
    pub fn takes_single(&mut self) -> bool {
        self.single += 1;
        self.single <= SINGLE
    }

    pub fn wake_at(&self) -> Option<u64> {
        self.until
    }

    /// Takes what was counted since the last record, for the next one; `None` if nothing was.
    pub fn drain(&mut self) -> Option<Value> {
        (self.until, self.events) = (None, 0);
        let row = |((from, form, method), count): ((&str, &str, String), Count)| {
            let Count { lines, bytes, digests, all } = count;
            let mut row = json!({ "from": from, "form": form, "method": method, "lines": lines, "bytes": bytes });
            if let (Some(row), Some(all)) = (row.as_object_mut(), all) {
                row.insert("digests".to_owned(), digests.into());
                row.insert("all".to_owned(), all.to_string().into());
            }
            row
        };
        let rows = std::mem::take(&mut self.rows);
        (!rows.is_empty()).then(|| rows.into_iter().map(row).collect())
    }
}

/// The word for a side in records.
pub fn side(origin: Origin) -> &'static str {
    match origin {
        Origin::Host => "host",
        Origin::Server | Origin::Answer | Origin::Result => "server",
    }
}

/// How many lines of one reason are recorded whole in each [`RUN`].
const WHOLE: u64 = 20;
/// Microseconds in which a run is counted before it is recorded.
const RUN: u64 = 10_000_000;
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
        if run.lines == 0 && run.since + RUN <= now {
            (run.since, run.seen) = (now, 0);
        }
        run.seen += 1;
        if run.seen <= WHOLE {
            return Recorded::Whole;
        }
        run.lines += 1;
        run.bytes += bytes;
        run.reason.clone_from(&refusal.what);
        Recorded::Counted { by: run.since + RUN }
    }

    /// Removes the runs whose time is over, and returns them.
    pub fn due(&mut self, now: u64) -> Vec<Run> {
        let over = |run: &Run| run.since + RUN <= now;
        self.runs.extract_if(.., |(_, run)| over(run)).map(|(_, run)| run).filter(|run| run.lines > 0).collect()
    }

    pub fn all(&mut self) -> Vec<Run> {
        std::mem::take(&mut self.runs).into_iter().map(|(_, run)| run).filter(|run| run.lines > 0).collect()
    }

    /// When the first run is due.
    pub fn wake_at(&self) -> Option<u64> {
        self.runs.iter().map(|(_, run)| run).filter(|run| run.lines > 0).map(|run| run.since + RUN).min()
    }
}

/// A reason without its numbers: places and sizes differ from line to line.
fn kind(reason: &str) -> String {
    reason.chars().filter(|c| !c.is_ascii_digit()).take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_requests_have_a_record_of_their_own_and_no_more() {
        let mut passed = Passed::default();
        let single = (0..2 * SINGLE).filter(|_| passed.takes_single()).count();
        assert_eq!(single, SINGLE as usize);
    }
}
