//! The calls of a log, the newest first, a slice at a time; where the index reaches, only the records it names are read.

use std::ops::ControlFlow;

use crate::audit::index::{Ask, Index, SEGMENT};
use crate::audit::past::Gathering;
use crate::audit::search::{Search, exactly};
use crate::audit::store::{Order, Reader, StoreError};
use crate::policy::past::PastCall;

/// Records read at a time.
const SLICE: u64 = 4_096;
/// Records that the index names and that are read at a time.
const NAMED: usize = 512;

/// A way through the log.
pub(super) struct Calls<'w> {
    reader: Reader,
    index: Option<Index>,
    /// What finds the calls of one tool sooner.
    sooner: Option<Sooner>,
    gathering: Gathering,
    wanted: &'w dyn Fn(&str, &str) -> bool,
    /// The next record to read; 0 at the end.
    at: u64,
}

struct Sooner {
    search: Search,
    ask: Option<Ask>,
}

/// How far a step has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walked {
    On,
    ToTheEnd,
}

impl<'w> Calls<'w> {
    /// Begins at the newest record. `wanted` tells whose calls are wanted, by server and tool; `tool` finds them sooner.
    pub(super) fn newest_first(
        reader: Reader,
        newest: u64,
        index: Option<Index>,
        wanted: &'w dyn Fn(&str, &str) -> bool,
        tool: Option<&str>,
    ) -> Self {
        // A search or JSON may write another name in another way; of those everything is read.
        let plain = |tool: &&str| tool.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:/".contains(&b));
        let search = tool.filter(plain).and_then(|tool| Search::read(&exactly("tool", tool), 0).ok());
        let sooner = search.map(|search| Sooner { ask: index.as_ref().map(|index| index.ask(&search)), search });
        Self { reader, index, sooner, gathering: Gathering::new(Order::NewestFirst), wanted, at: newest }
    }

    /// The calls of the next slice.
    pub(super) fn step(&mut self) -> Result<(Vec<PastCall>, Walked), StoreError> {
        let mut calls = Vec::new();
        let asks = self.sooner.as_ref().is_some_and(|sooner| sooner.ask.is_some());
        let upto = self.index.as_ref().filter(|_| asks).map_or(0, Index::upto);
        if self.at > upto {
            let most = SLICE.min(self.at - upto);
            let (gathering, wanted, sooner) = (&mut self.gathering, self.wanted, &self.sooner);
            self.reader.each_from(Order::NewestFirst, self.at, most, &mut |row| {
                if sooner.as_ref().is_none_or(|sooner| sooner.search.may_want(row.body)) {
                    calls.extend(gathering.take(&row, Some(wanted)));
                }
                ControlFlow::Continue(())
            })?;
            self.at -= most;
        } else {
            self.named(&mut calls)?;
        }
        Ok((calls, if self.at == 0 { Walked::ToTheEnd } else { Walked::On }))
    }

    fn named(&mut self, calls: &mut Vec<PastCall>) -> Result<(), StoreError> {
        let mut read = 0;
        while self.at > 0 && read < NAMED {
            let segment = (self.at - 1) / SEGMENT;
            let ask = self.sooner.as_ref().and_then(|sooner| sooner.ask.as_ref());
            let named = self.index.as_ref().zip(ask).and_then(|(index, ask)| index.named(segment, ask));
            let Some(named) = named else {
                // It is of no use any more: everything else is read.
                self.index = None;
                return Ok(());
            };
            for seq in named.into_iter().rev().filter(|seq| *seq <= self.at) {
                read += 1;
                let (gathering, wanted) = (&mut self.gathering, self.wanted);
                calls.extend(self.reader.one(seq, |row| gathering.take(&row, Some(wanted)))?.flatten());
            }
            self.at = segment * SEGMENT;
        }
        Ok(())
    }
}
