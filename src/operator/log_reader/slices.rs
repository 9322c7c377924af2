//! The log reader's work that is done a slice at a time: one page of the log, whose rows are shown as they are found, and, while there
//! is no other task, the index beside the log, with the counts in it for the next console.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{LogReader, REPORT, Work};
use crate::audit::index::{Index, SEGMENT, SLICE, Step, Walk, Walked};
use crate::audit::query::{self, Questions};
use crate::audit::{ReadOrder, Reader, Record, StoreError};
use crate::operator::found::{Counts, Edge, Finding, Line, LogRows, Page, Progress, Wanted};
use crate::wire::Digest;

/// The name under which counts are noted; its number changes with their form.
const NOTE: &str = "tally 4";
/// How many records are counted again rather than noted each time.
const UNNOTED: u64 = 64 * SLICE;

/// Counts as they are noted. The link says of which log.
#[derive(Serialize, Deserialize)]
struct Noted<'a> {
    link: Digest,
    counts: Cow<'a, Counts>,
}

/// The index of the log as it is there now; a short log needs none.
pub(super) fn index(open: Option<Index>, log: &Path, reader: &Reader) -> Result<Option<Index>, StoreError> {
    match open.filter(|index| index.is_of(reader)) {
        Some(index) => Ok(Some(index)),
        None if reader.newest()? < SEGMENT => Ok(None),
        None => Ok(Index::open(log, reader)),
    }
}

impl LogReader {
    pub(super) fn begin_filling(&mut self) {
        if self.filling == Work::Idle && self.index.is_some() {
            self.filling = Work::Busy(0);
        }
    }

    pub(super) fn fill(&mut self) -> Result<(), StoreError> {
        let (Some(reader), Some(index), Work::Busy(segments)) = (&self.reader, &mut self.index, self.filling) else {
            self.filling = Work::Idle;
            return Ok(());
        };
        let step = index.extend(reader)?;
        let goes_on = step == Some(Step::Further);
        self.filling = if goes_on { Work::Busy((segments + 1) % REPORT) } else { Work::Idle };
        if !goes_on || segments == REPORT - 1 {
            (self.tell)(Finding::Indexed { upto: index.upto(), level: !goes_on });
        }
        if step.is_none() {
            self.index = None;
        }
        Ok(())
    }

    pub(super) fn load_counts(&mut self) {
        let (Some(reader), Some(index)) = (&self.reader, &self.index) else { return };
        if self.counts.upto > 0 {
            return;
        }
        let noted = index.note(NOTE).and_then(|text| serde_json::from_str::<Noted<'_>>(&text).ok());
        let Some(noted) = noted else { return };
        if link(reader, noted.counts.upto) == Some(noted.link) {
            self.remembered = noted.counts.upto;
            self.counts = noted.counts.into_owned();
        }
    }

    pub(super) fn save_counts(&mut self, over: bool) {
        let (Some(reader), Some(index)) = (&self.reader, &self.index) else { return };
        let news = self.counts.upto.saturating_sub(self.remembered);
        if news < if over { SEGMENT } else { UNNOTED } {
            return;
        }
        let Some(link) = link(reader, self.counts.upto) else { return };
        if let Ok(text) = serde_json::to_string(&Noted { link, counts: Cow::Borrowed(&self.counts) }) {
            index.set_note(NOTE, &text);
            self.remembered = self.counts.upto;
        }
    }
}

fn link(reader: &Reader, seq: u64) -> Option<Digest> {
    query::at(reader, seq).ok().flatten()?.link
}

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
            if search.takes_row(&row) {
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
