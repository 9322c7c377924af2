//! The calls of a log, the newest first, a slice at a time.

use std::ops::ControlFlow;

use memchr::memmem;

use crate::audit::fields::Field;
use crate::audit::index::Index;
use crate::audit::past::Gathering;
use crate::audit::search::Search;
use crate::audit::store::{Order, Reader, StoreError};
use crate::audit::walk::{Walk, Walked};
use crate::policy::past::PastCall;

/// A way through the calls of a log.
pub(super) struct Calls<'w> {
    reader: Reader,
    index: Option<Index>,
    walk: Walk,
    /// What every record of the one tool has in its body.
    has: Option<String>,
    gathering: Gathering,
    wanted: &'w dyn Fn(&str, &str) -> bool,
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
        // JSON may write another name in another way; of those everything is read.
        let plain = |tool: &&str| tool.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:/".contains(&b));
        let tool = tool.filter(plain);
        let walk = Walk::new(Search::default().with(Field::Tool, tool), Order::NewestFirst, newest);
        let has = tool.map(|tool| format!("\"tool\":\"{tool}\""));
        Self { reader, index, walk, has, gathering: Gathering::new(Order::NewestFirst), wanted }
    }

    /// The calls of the next slice.
    pub(super) fn step(&mut self) -> Result<(Vec<PastCall>, Walked), StoreError> {
        let mut calls = Vec::new();
        let (gathering, wanted) = (&mut self.gathering, self.wanted);
        let finder = self.has.as_deref().map(memmem::Finder::new);
        let walked = self.walk.step(&self.reader, self.index.as_ref(), &mut |row| {
            if finder.as_ref().is_none_or(|finder| finder.find(row.body).is_some()) {
                calls.extend(gathering.take(&row, Some(wanted)));
            }
            ControlFlow::Continue(())
        })?;
        Ok((calls, walked))
    }
}
