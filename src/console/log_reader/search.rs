//! One page of the log, looked for a slice at a time: what is found is told as it is found. Where the index reaches, it
//! says which records are worth a look; the rest is read from end to end.

use std::ops::ControlFlow;

use super::SLICE;
use crate::audit::chain::Row;
use crate::audit::index::{Ask, Index, SEGMENT};
use crate::audit::query::{Fields, Found};
use crate::audit::search::Search;
use crate::audit::store::{Order, Reader, StoreError};
use crate::console::found::{Edge, Line, Page, Progress, Wanted, field, millis};

/// Slices without a find after which the screen is told how far the search has come.
const QUIET: u64 = 8;
/// Segments looked up, and records compared, before the next question is looked at.
const SEGMENTS: u64 = 64;
const COMPARED: u64 = 512;

/// A search that goes on.
pub(super) struct Searching {
    wanted: Wanted,
    order: Order,
    /// The next record to read.
    at: u64,
    newest: u64,
    found: usize,
    quiet: u64,
    ask: Option<Ask>,
}

/// What a step came to.
pub(super) enum Stepped {
    /// What was found, where there is something to tell.
    On(Option<Page>),
    Over(Page),
    /// The index is of no use any more.
    Astray,
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
        Ok(Self { wanted, order, at, newest, found: 0, quiet: 0, ask: None })
    }

    /// Reads on by a slice.
    pub(super) fn step(&mut self, reader: &Reader, index: Option<&Index>) -> Result<Stepped, StoreError> {
        let covered = index.filter(|index| !self.wanted.search.is_empty() && (1..=index.upto()).contains(&self.at));
        let (mut lines, last, at_the_end) = match covered {
            Some(index) => match self.look(reader, index)? {
                Some(looked) => looked,
                None => return Ok(Stepped::Astray),
            },
            None => self.scan(reader, index.map_or(0, Index::upto))?,
        };
        self.found += lines.len();
        let progress = if self.found >= self.wanted.most {
            Progress::Full
        } else if at_the_end {
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
            return Ok(Stepped::On(None));
        }
        self.quiet = 0;
        let page =
            Page { id: self.wanted.id, from: self.wanted.from, lines, searched: last, newest: self.newest, progress };
        Ok(if over { Stepped::Over(page) } else { Stepped::On(Some(page)) })
    }

    /// How many are missing from the page.
    fn missing(&self) -> usize {
        self.wanted.most.saturating_sub(self.found)
    }

    /// Reads every record of a slice: what was found, the last one read, whether the log ends there.
    fn scan(&self, reader: &Reader, covered: u64) -> Result<(Vec<Line>, u64, bool), StoreError> {
        let search = &self.wanted.search;
        let most = match self.order {
            Order::NewestFirst if !search.is_empty() && self.at > covered => SLICE.min(self.at - covered),
            Order::NewestFirst | Order::OldestFirst => SLICE,
        };
        let mut lines = Vec::new();
        let (mut read, mut last) = (0, self.at);
        reader.each_from(self.order, self.at, most, &mut |row| {
            read += 1;
            last = u64::try_from(row.seq).unwrap_or(last);
            if is_wanted(search, &row) {
                lines.push(Line::of(&Found::new(&row)));
            }
            if lines.len() < self.missing() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let at_the_end = read < most || self.order == Order::NewestFirst && last <= 1;
        Ok((lines, last, at_the_end))
    }

    /// Reads what the index names, as [`Self::scan`] does; `None` when it names nothing any more.
    fn look(&mut self, reader: &Reader, index: &Index) -> Result<Option<(Vec<Line>, u64, bool)>, StoreError> {
        let ask = self.ask.get_or_insert_with(|| index.ask(&self.wanted.search)).clone();
        let mut lines = Vec::new();
        let (mut at, mut last, mut compared) = (self.at, self.at, 0);
        for _ in 0..SEGMENTS {
            let segment = at.saturating_sub(1) / SEGMENT;
            let Some(mut named) = index.named(segment, &ask) else { return Ok(None) };
            match self.order {
                Order::NewestFirst => {
                    named.retain(|seq| *seq <= at);
                    named.reverse();
                }
                Order::OldestFirst => named.retain(|seq| *seq >= at),
            }
            for seq in named {
                let line =
                    reader.one(seq, |row| is_wanted(&self.wanted.search, &row).then(|| Line::of(&Found::new(&row))))?;
                lines.extend(line.flatten());
                last = seq;
                compared += 1;
                if lines.len() >= self.missing() || compared >= COMPARED {
                    return Ok(Some((lines, last, self.order == Order::NewestFirst && last <= 1)));
                }
            }
            match self.order {
                Order::NewestFirst => last = segment * SEGMENT + 1,
                Order::OldestFirst => last = (segment + 1) * SEGMENT,
            }
            if self.order == Order::NewestFirst && segment == 0 {
                return Ok(Some((lines, last, true)));
            }
            at = if self.order == Order::NewestFirst { last - 1 } else { last + 1 };
            if at > index.upto() {
                break;
            }
        }
        Ok(Some((lines, last, false)))
    }
}

fn is_wanted(search: &Search, row: &Row<'_>) -> bool {
    search.is_empty()
        || search.may_want(row.body)
            && match serde_json::from_slice::<Fields<'_>>(row.body) {
                Ok(fields) => search.wants(millis(&fields.time), |name| field(&fields, name), row.body),
                // What cannot be read is news to everyone.
                Err(_) => true,
            }
}
