//! Which rows of a card were on screen, and what is still to be read. Owns no drawing.

use std::ops::Range;

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
