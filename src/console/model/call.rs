//! One held call as this console knows it: its state, how much of its card was on screen, and what binds a key to it.

use std::ops::Range;
use std::sync::Arc;

use crate::audit::record::VerdictWord;
use crate::gate::data::snapshot::Snapshot;
use crate::link::message::CallEnd;
use crate::wire::digest::Digest;

/// Names a held call over all wrappers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallKey {
    pub session: String,
    pub ticket: String,
}

/// A call on the Waiting screen.
#[derive(Clone, Debug)]
pub struct Held {
    pub key: CallKey,
    pub snapshot: Arc<Snapshot>,
    pub state: CallState,
    pub seen: Seen,
    /// Calls with the same number are identical but for their ticket and time.
    pub class: u64,
    /// A hash of what makes a class.
    pub likeness: u64,
}

impl Held {
    /// Whether it waits for a decision.
    pub fn waits(&self) -> bool {
        self.state == CallState::Waiting
    }

    /// Whether nothing can be decided any more.
    pub fn is_over(&self) -> bool {
        matches!(self.state, CallState::Settled(_) | CallState::Gone)
    }
}

/// The state of a call, as this console knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallState {
    Waiting,
    /// This console decided; the wrapper has not answered yet.
    Sent(VerdictWord),
    /// This console sent an edit; the changed card has not come yet.
    EditSent,
    /// Over. It stays on screen only while it is selected.
    Settled(CallEnd),
    /// Over: its wrapper has ended.
    Gone,
}

/// The call that a key is about, with the bytes and the card it had then. One that a key decides comes from [`Model::armed`], one that
/// a panel is opened for from [`Model::chosen`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Armed {
    key: CallKey,
    digest: Digest,
    /// The class of its card: the same bytes may get another card when rules, definitions or files change.
    class: u64,
}

impl Armed {
    /// Which call it is.
    pub fn key(&self) -> &CallKey {
        &self.key
    }

    /// The digest of the bytes that were shown.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// This call, as it is now.
    pub(super) fn of(held: &Held) -> Self {
        Self { key: held.key.clone(), digest: held.snapshot.digest, class: held.class }
    }

    /// Whether the card is still the one that was shown.
    pub(super) fn is_alike(&self, held: &Held) -> bool {
        held.class == self.class
    }
}

/// Whether the operator says they have read what they approve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    Read,
    Unread,
}

/// What the last frame showed as selected.
#[derive(Clone, Debug)]
pub struct Drawn {
    pub armed: Armed,
    /// Since when it has been shown without a break.
    pub since: i64,
    /// Whether its confirmation was on screen too.
    pub question: Question,
    /// What had been seen of it before: a card that only flashed by was not read.
    pub before: Seen,
}

/// Whether a frame asked for a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    Asked,
    NotAsked,
}

/// What is to become of the listed calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Approve(Reading),
    Deny { reason: String },
}

/// Calls that are decided together, and how far their list is scrolled.
#[derive(Clone, Debug)]
pub struct Batch {
    pub fate: Fate,
    pub members: Vec<Armed>,
    pub top: usize,
}

/// What the last frames showed of a list.
#[derive(Clone, Debug)]
pub struct Listed {
    pub members: Vec<Armed>,
    pub since: i64,
    pub shown: ShownTo,
}

/// How far a list was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownTo {
    Partly,
    ToItsEnd,
}

/// How much of a card, up to the end of its arguments, was on screen. Keys, lists and texts on screen all go by this.
/// What was seen stays seen until the card changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seen {
    /// Its end was not on screen: until it is, `a` does not approve the call.
    #[default]
    Partly,
    /// Its end was on screen, but this many rows before were not: `a` approves the call, and the record says so.
    Skipping(usize),
    Whole,
}

impl Seen {
    /// What was seen in all, once this was seen too.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Whole, _) | (_, Self::Whole) => Self::Whole,
            (Self::Skipping(one), Self::Skipping(two)) => Self::Skipping(one.min(two)),
            (Self::Skipping(rows), Self::Partly) | (Self::Partly, Self::Skipping(rows)) => Self::Skipping(rows),
            (Self::Partly, Self::Partly) => Self::Partly,
        }
    }
}

/// The rows of a laid card that were on screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Ascending; no two touch.
    spans: Vec<Range<usize>>,
}

impl Shown {
    /// These rows are on screen.
    pub fn add(&mut self, rows: Range<usize>) {
        if rows.is_empty() {
            return;
        }
        let mut joined = rows;
        self.spans.retain(|span| {
            let apart = span.end < joined.start || joined.end < span.start;
            if !apart {
                joined = joined.start.min(span.start)..joined.end.max(span.end);
            }
            apart
        });
        let at = self.spans.partition_point(|span| span.start < joined.start);
        self.spans.insert(at, joined);
    }

    /// What was seen of a card whose rows before `end` must be read.
    pub fn seen(&self, end: usize) -> Seen {
        if !self.spans.iter().any(|span| span.start < end && end <= span.end) {
            return Seen::Partly;
        }
        let shown: usize = self.spans.iter().map(|span| span.end.min(end).saturating_sub(span.start)).sum();
        match end - shown {
            0 => Seen::Whole,
            rows => Seen::Skipping(rows),
        }
    }

    /// The rows from this one on have changed.
    pub fn keep_before(&mut self, row: usize) {
        self.spans.retain_mut(|span| {
            span.end = span.end.min(row);
            span.start < span.end
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Seen, Shown};

    #[test]
    fn rows_between_two_pages_are_skipped_until_they_were_shown() {
        let mut shown = Shown::default();
        assert_eq!(shown.seen(1), Seen::Partly);
        shown.add(0..10);
        assert_eq!((shown.seen(10), shown.seen(8), shown.seen(11)), (Seen::Whole, Seen::Whole, Seen::Partly));
        shown.add(30..40);
        assert_eq!(shown.seen(40), Seen::Skipping(20));
        shown.add(25..30);
        shown.add(9..20);
        assert_eq!(shown.seen(35), Seen::Skipping(5));
        shown.add(20..25);
        assert_eq!((shown.seen(40), shown.seen(41)), (Seen::Whole, Seen::Partly));
        shown.keep_before(12);
        assert_eq!((shown.seen(12), shown.seen(40)), (Seen::Whole, Seen::Partly));
    }
}
