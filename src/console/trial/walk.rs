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
const NAMED: usize = 2_048;

/// A way through the log.
pub(super) struct Calls<'w> {
    reader: Reader,
    index: Option<(Index, Ask)>,
    gathering: Gathering,
    wanted: &'w dyn Fn(&str, &str) -> bool,
    /// The next record to read; 0 at the end.
    at: u64,
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
        index: Option<Index>,
        wanted: &'w dyn Fn(&str, &str) -> bool,
        tool: Option<&str>,
    ) -> Result<Self, StoreError> {
        let at = reader.newest()?;
        let search = tool.and_then(|tool| Search::read(&exactly("tool", tool), 0).ok());
        let index = index.zip(search).map(|(index, search)| {
            let ask = index.ask(&search);
            (index, ask)
        });
        Ok(Self { reader, index, gathering: Gathering::new(Order::NewestFirst), wanted, at })
    }

    /// The calls of the next slice.
    pub(super) fn step(&mut self) -> Result<(Vec<PastCall>, Walked), StoreError> {
        let mut calls = Vec::new();
        let upto = self.index.as_ref().map_or(0, |(index, _)| index.upto());
        if self.at > upto {
            let most = SLICE.min(self.at - upto);
            let (gathering, wanted) = (&mut self.gathering, self.wanted);
            self.reader.each_from(Order::NewestFirst, self.at, most, &mut |row| {
                calls.extend(gathering.take(&row, Some(wanted)));
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
            let named = self.index.as_ref().and_then(|(index, ask)| index.named(segment, ask));
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
