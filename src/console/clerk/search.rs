//! One page of the log, looked for a slice at a time: what is found is told as it is found.

use std::ops::ControlFlow;

use super::SLICE;
use crate::audit::query::{Fields, Found};
use crate::audit::store::{Order, Reader, StoreError};
use crate::console::found::{Edge, Line, Page, Progress, Wanted, field, millis};

/// Slices without a find after which the screen is told how far the search has come.
const QUIET: u64 = 8;

/// A search that goes on.
pub(super) struct Searching {
    wanted: Wanted,
    order: Order,
    /// The next record to read.
    at: u64,
    newest: u64,
    found: usize,
    quiet: u64,
}

impl Searching {
    pub(super) fn begin(wanted: Wanted, reader: &Reader) -> Result<Self, StoreError> {
        let newest = reader.newest()?;
        let (order, at) = match wanted.from {
            Edge::Newest => (Order::NewestFirst, newest),
            Edge::Below(seq) => (Order::NewestFirst, seq.saturating_sub(1)),
            Edge::Oldest => (Order::OldestFirst, 1),
            Edge::Above(seq) => (Order::OldestFirst, seq.saturating_add(1)),
        };
        Ok(Self { wanted, order, at, newest, found: 0, quiet: 0 })
    }

    /// Reads on by a slice: what was found, where there is something to tell, and whether that was all.
    pub(super) fn step(&mut self, reader: &Reader) -> Result<(Option<Page>, bool), StoreError> {
        let search = &self.wanted.search;
        let missing = self.wanted.most.saturating_sub(self.found);
        let mut lines = Vec::new();
        let (mut read, mut last) = (0, self.at);
        reader.each_from(self.order, self.at, SLICE, &mut |row| {
            read += 1;
            last = u64::try_from(row.seq).unwrap_or(last);
            let is_wanted = search.is_empty()
                || search.may_want(row.body)
                    && match serde_json::from_slice::<Fields<'_>>(row.body) {
                        Ok(fields) => search.wants(millis(&fields.time), |name| field(&fields, name), row.body),
                        // What cannot be read is news to everyone.
                        Err(_) => true,
                    };
            if is_wanted {
                lines.push(Line::of(&Found::new(&row)));
            }
            if lines.len() < missing { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        self.found += lines.len();
        let progress = if self.found >= self.wanted.most {
            Progress::Full
        } else if read < SLICE || self.order == Order::NewestFirst && last <= 1 {
            Progress::AtTheEnd
        } else {
            Progress::Searching
        };
        self.at = match self.order {
            Order::NewestFirst => last.saturating_sub(1),
            Order::OldestFirst => last.saturating_add(1),
        };
        if self.order == Order::OldestFirst {
            lines.reverse();
        }
        self.quiet += 1;
        let over = progress != Progress::Searching;
        if lines.is_empty() && !over && self.quiet < QUIET {
            return Ok((None, false));
        }
        self.quiet = 0;
        let page =
            Page { id: self.wanted.id, from: self.wanted.from, lines, searched: last, newest: self.newest, progress };
        Ok((Some(page), over))
    }
}
