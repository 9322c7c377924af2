//! How often calls were let run lately, as data. Owns no clock: times come in.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The most calls that a rate can speak of.
pub const MOST: usize = 1000;
/// The longest time that a rate can speak of, in milliseconds: a day.
pub const LONGEST: i64 = 24 * 3600 * 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub bound: Bound,
    /// In milliseconds, at most [`LONGEST`].
    pub per: i64,
}

/// Which side of the bound is meant; the call in question counts too. At most [`MOST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Holds of the first so many calls.
    Most(usize),
    /// Holds of every call after so many.
    Over(usize),
}

impl Rate {
    /// Whether it holds of a call before which so many others ran.
    pub fn holds(self, earlier: usize) -> bool {
        match self.bound {
            Bound::Most(most) => earlier < most,
            Bound::Over(over) => earlier >= over,
        }
    }
}

/// A call, or another request with its `method`, as rates count it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Counted {
    pub server: Arc<str>,
    pub method: Option<Arc<str>>,
    pub tool: Arc<str>,
}

/// The calls that were let run lately, of one wrapper or of a log. Remembers no more than a [`Rate`] can ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recent {
    /// Times in milliseconds since 1970, UTC, by name; the newest last.
    calls: BTreeMap<Counted, VecDeque<i64>>,
}

impl Recent {
    /// Notes a call, or another request with its `method`, that was approved at `time`.
    pub fn note(&mut self, server: impl Into<Arc<str>>, method: Option<&str>, tool: impl Into<Arc<str>>, time: i64) {
        self.add(Counted { server: server.into(), method: method.map(Arc::from), tool: tool.into() }, time);
    }

    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        let mut times: Vec<(i64, &Counted)> = [self, other].into_iter().flat_map(Self::all).collect();
        times.sort();
        let mut both = Self::default();
        times.into_iter().for_each(|(time, call)| both.add(call.clone(), time));
        both
    }

    fn all(&self) -> impl Iterator<Item = (i64, &Counted)> {
        self.calls.iter().flat_map(|(call, times)| times.iter().map(move |time| (*time, call)))
    }

    pub fn add(&mut self, call: Counted, time: i64) {
        // Very many tools were called: those whose last call is longer ago than any rate counts are forgotten.
        if self.calls.len() >= 10 * MOST {
            self.calls.retain(|_, times| times.back().is_some_and(|last| *last > time - LONGEST));
        }
        let times = self.calls.entry(call).or_default();
        // In order, even where the clock was set back, so that they can be searched.
        times.push_back(times.back().map_or(time, |last| time.max(*last)));
        if times.len() > MOST {
            times.pop_front();
        }
    }

    /// How many calls ran after `since` that `counts` (of server, method and tool) says yes to; exact up to [`MOST`].
    pub fn count(&self, since: i64, counts: impl Fn(&str, Option<&str>, &str) -> bool) -> usize {
        let counted = self.calls.iter().filter(|(call, _)| counts(&call.server, call.method.as_deref(), &call.tool));
        counted.map(|(_, times)| times.len() - times.partition_point(|time| *time <= since)).sum()
    }
}
