//! A way through the log in one order, a slice at a time. Where the index reaches, only records that it names are read.

use std::ops::ControlFlow;

use super::index::{Ask, Index};
use super::search::Search;
use super::store::{ReadOrder, Reader, StoreError, Visit};

/// Records read in one step.
pub const SLICE: u64 = 4_096;
/// How many records that the index names are read in one step.
const NAMED: usize = 512;
/// Among how many records so many are read quicker one after the other than by their numbers.
const DENSE: u64 = 2_048;

/// A way through the log.
#[derive(Debug)]
pub struct Walk {
    search: Search,
    order: ReadOrder,
    /// The next record to read.
    at: u64,
    /// What the search asks of the index, when it had come so far.
    ask: Option<(u64, Ask)>,
    index: IndexUse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IndexUse {
    WhereItReaches,
    /// There is nothing to ask it, or it did not answer.
    Never,
}

/// How far a step has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    On,
    /// The index is of no use any more: what is left is read without it.
    WithoutIndex,
    ToTheEnd,
}

impl Walk {
    /// Begins at this record. Whatever the search does not want may be left out.
    pub fn new(search: Search, order: ReadOrder, at: u64) -> Self {
        let index = if search.is_empty() { IndexUse::Never } else { IndexUse::WhereItReaches };
        Self { search, order, at, ask: None, index }
    }

    /// The record that was reached last.
    pub fn reached(&self) -> u64 {
        match self.order {
            ReadOrder::NewestFirst => self.at.saturating_add(1),
            ReadOrder::OldestFirst => self.at.saturating_sub(1),
        }
    }

    /// Shows the records of the next slice that the search may want, and some others, until `visit` breaks off.
    pub fn step(&mut self, reader: &Reader, index: Option<&Index>, visit: Visit<'_>) -> Result<Walked, StoreError> {
        let index = index.filter(|_| self.index == IndexUse::WhereItReaches);
        match index.filter(|index| (1..=index.upto()).contains(&self.at)) {
            Some(index) => self.named(reader, index, visit),
            None => self.scan(reader, index.map_or(0, Index::upto), visit),
        }
    }

    /// Goes on as [`Self::step`] does, to the end or until `visit` breaks off.
    pub fn to_the_end(mut self, reader: &Reader, index: Option<&Index>, visit: Visit<'_>) -> Result<(), StoreError> {
        let mut flow = ControlFlow::Continue(());
        let mut walked = Walked::On;
        while walked != Walked::ToTheEnd && flow.is_continue() {
            walked = self.step(reader, index, &mut |row| {
                flow = visit(row);
                flow
            })?;
        }
        Ok(())
    }

    /// Reads every record of a slice.
    fn scan(&mut self, reader: &Reader, covered: u64, visit: Visit<'_>) -> Result<Walked, StoreError> {
        let most = match self.order {
            ReadOrder::NewestFirst if self.at > covered => SLICE.min(self.at - covered),
            ReadOrder::NewestFirst | ReadOrder::OldestFirst => SLICE,
        };
        let (mut read, mut flow, mut at) = (0, ControlFlow::Continue(()), self.at);
        reader.each_from(self.order, self.at, most, &mut |row| {
            read += 1;
            at = u64::try_from(row.seq).map_or(at, |seq| after(self.order, seq));
            flow = visit(row);
            flow
        })?;
        self.at = at;
        let ended = flow.is_continue() && read < most;
        Ok(if ended || at == 0 { Walked::ToTheEnd } else { Walked::On })
    }

    /// Reads what the index names next.
    fn named(&mut self, reader: &Reader, index: &Index, visit: Visit<'_>) -> Result<Walked, StoreError> {
        // Records that were added since may have words that the index did not know before.
        let known = self.ask.take().filter(|(upto, _)| *upto == index.upto());
        let Some((_, ask)) = known.or_else(|| Some((index.upto(), index.ask(&self.search)?))) else {
            self.index = IndexUse::Never;
            return Ok(Walked::WithoutIndex);
        };
        if ask.is_empty() {
            self.index = IndexUse::Never;
            return self.scan(reader, 0, visit);
        }
        let among = match self.order {
            ReadOrder::NewestFirst => 1..=self.at,
            ReadOrder::OldestFirst => self.at..=index.upto(),
        };
        let end = match self.order {
            ReadOrder::NewestFirst => 0,
            ReadOrder::OldestFirst => index.upto() + 1,
        };
        let Some(named) = index.named(&ask, among, self.order, NAMED) else {
            self.index = IndexUse::Never;
            return Ok(Walked::WithoutIndex);
        };
        self.ask = Some((index.upto(), ask));
        let last = named.last().filter(|_| named.len() == NAMED);
        if last.is_some_and(|last| last.abs_diff(self.at) < DENSE) {
            return self.scan(reader, 0, visit);
        }
        let next = last.map_or(end, |last| after(self.order, *last));
        for seq in named {
            let mut flow = ControlFlow::Continue(());
            reader.one(seq, |row| flow = visit(row))?;
            self.at = after(self.order, seq);
            if flow.is_break() {
                return Ok(if self.at == 0 { Walked::ToTheEnd } else { Walked::On });
            }
        }
        self.at = next;
        Ok(if self.at == 0 { Walked::ToTheEnd } else { Walked::On })
    }
}

/// The number that follows in this order.
fn after(order: ReadOrder, seq: u64) -> u64 {
    match order {
        ReadOrder::NewestFirst => seq.saturating_sub(1),
        ReadOrder::OldestFirst => seq.saturating_add(1),
    }
}
