//! One page of the log, looked for a slice at a time: what is found is shown as it is found.

use std::ops::ControlFlow;

use crate::audit::index::{Index, Walk, Walked};
use crate::audit::{ReadOrder, Reader, Record, StoreError, query::Questions};
use crate::operator::found::{Edge, Line, LogRows, Page, Progress, Wanted};

/// After how many slices without a hit the screen shows how far the search has come.
const QUIET: u64 = 8;

pub(super) struct Searching {
    wanted: Wanted,
    order: ReadOrder,
    walk: Walk,
    newest: u64,
    found: usize,
    quiet: u64,
    questions: Questions,
}

impl Searching {
    pub(super) fn begin(wanted: Wanted, reader: &Reader) -> Result<Self, StoreError> {
        let newest = reader.newest()?;
        let (order, at) = match wanted.from {
            Edge::Newest => (ReadOrder::NewestFirst, newest),
            Edge::Below(seq) => (ReadOrder::NewestFirst, seq.saturating_sub(1)),
            Edge::Oldest => (ReadOrder::OldestFirst, 1),
            Edge::Above(seq) => (ReadOrder::OldestFirst, seq.saturating_add(1)),
        };
        let walk = Walk::new(wanted.search.clone(), order, at);
        Ok(Self { wanted, order, walk, newest, found: 0, quiet: 0, questions: Questions::default() })
    }

    /// Reads the next slice; returns what was found, if the screen should show it.
    pub(super) fn step(&mut self, reader: &Reader, index: Option<&Index>) -> Result<Option<Page>, StoreError> {
        let mut lines = Vec::new();
        let missing = self.wanted.most.saturating_sub(self.found);
        let (search, rows, questions) = (&self.wanted.search, self.wanted.rows, &mut self.questions);
        let walked = self.walk.step(reader, index, &mut |row| {
            if search.takes(row.body) {
                let record = Record::new(&row);
                let line = Line::of(&record);
                if rows == LogRows::Records || line.is_row() && questions.want(reader, index, search, &record) {
                    lines.push(line);
                }
            }
            if lines.len() < missing { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        self.questions.check()?;
        self.found += lines.len();
        let progress = match walked {
            _ if self.found >= self.wanted.most => Progress::Full,
            Walked::ToTheEnd => Progress::AtTheEnd,
            Walked::On => Progress::Searching,
        };
        if self.order == ReadOrder::OldestFirst {
            lines.reverse();
        }
        self.quiet += 1;
        if lines.is_empty() && progress == Progress::Searching && self.quiet < QUIET {
            return Ok(None);
        }
        self.quiet = 0;
        let (id, from, searched) = (self.wanted.id, self.wanted.from, self.walk.reached());
        Ok(Some(Page { id, from, lines, searched, newest: self.newest, progress }))
    }
}
