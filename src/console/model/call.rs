//! One held call as this console knows it: its state, how much of its card was on screen, and what binds a key to it. And
//! what was decided lately: how many approvals, how fast, and when a rule would save the next question.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use crate::audit::record::VerdictWord;
use crate::console::card::{OnDesk, Withheld};
use crate::gate::data::snapshot::Snapshot;
use crate::link::message::{At, CallEnd};
use crate::text::row::{Row, Tone};
use crate::wire::digest::Digest;

/// How long a card, or a question about it, is on screen with no key pressed before one decides it, in milliseconds.
pub const ARMING: i64 = 300;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallKey {
    pub session: String,
    pub ticket: String,
}

#[derive(Clone, Debug)]
pub struct Held {
    pub key: CallKey,
    pub snapshot: Arc<Snapshot>,
    pub state: CallState,
    pub seen: Seen,
    /// Calls with the same number are identical but for their ticket and time.
    pub class: u64,
    /// A hash of what makes a class.
    pub likeness: u64,
    /// The server's name as every list has it: on a desk, with [`Held::place`] before it.
    pub server: String,
    /// Where it waits, if that is not this machine.
    pub desk: Option<OnDesk>,
}

impl Held {
    /// On a desk, the user and the host that its signature will name: `user@host`.
    pub fn place(&self) -> Option<String> {
        self.desk.as_ref().map(|desk| place(&desk.at, &self.snapshot))
    }

    pub fn waits(&self) -> bool {
        self.state == CallState::Waiting
    }

    /// Whether something of it is not here: it may be denied, and not approved.
    pub fn is_withheld(&self) -> bool {
        self.desk.as_ref().is_some_and(|desk| desk.withheld == Withheld::Something)
    }

    pub fn is_over(&self) -> bool {
        matches!(self.state, CallState::Settled(_) | CallState::Gone)
    }
}

/// What a signature on a card names. Only what asks for a signature comes over a desk.
pub(in crate::console) fn place(at: &At, snapshot: &Snapshot) -> String {
    snapshot.signs.as_ref().map_or_else(|| at.signed(), |signs| format!("{}@{}", signs.user, signs.machine))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallState {
    Waiting,
    /// This console decided; the wrapper has not answered yet.
    Sent(VerdictWord),
    /// This console sent an edit; the changed card has not come yet.
    EditSent,
    /// Over. It stays on screen only while it is selected.
    Settled(CallEnd),
    /// Over: its wrapper has ended.
    Gone,
}

/// The call that a key is about, with the bytes and the card it had: from `Model::armed`, for a panel from `Model::chosen`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Armed {
    key: CallKey,
    digest: Digest,
    /// The class of its card: the same bytes may get another card when rules, definitions or files change.
    class: u64,
}

impl Armed {
    pub fn key(&self) -> &CallKey {
        &self.key
    }

    pub fn digest(&self) -> Digest {
        self.digest
    }

    pub(super) fn of(held: &Held) -> Self {
        Self { key: held.key.clone(), digest: held.snapshot.digest, class: held.class }
    }

    pub(super) fn is_alike(&self, held: &Held) -> bool {
        held.class == self.class
    }

    /// Whether the cards of both are identical but for their ticket and time.
    pub fn is_like(&self, other: &Self) -> bool {
        self.class == other.class
    }
}

/// Whether the operator says they have read what they approve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    Read,
    Unread,
}

#[derive(Clone, Debug)]
pub struct Drawn {
    pub armed: Armed,
    /// Since when it has been shown without a break.
    pub since: i64,
    /// Whether its confirmation was on screen too.
    pub question: Question,
    /// What had been seen of it before: a card that only flashed by was not read.
    pub before: Seen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    Asked,
    NotAsked,
}

/// How much of a card, up to the end of its arguments, was on screen. What was seen stays seen until the card changes.
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
pub struct Shown(BTreeSet<usize>);

impl Shown {
    pub fn add(&mut self, rows: Range<usize>) {
        self.0.extend(rows);
    }

    pub fn seen(&self, end: usize) -> Seen {
        if !end.checked_sub(1).is_some_and(|last| self.0.contains(&last)) {
            return Seen::Partly;
        }
        match end - self.0.range(..end).count() {
            0 => Seen::Whole,
            rows => Seen::Skipping(rows),
        }
    }

    /// The rows from this one on have changed.
    pub fn keep_before(&mut self, row: usize) {
        self.0.split_off(&row);
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub at: i64,
    pub verdict: VerdictWord,
    /// How long its card was on screen, in milliseconds.
    pub took: i64,
    pub server: String,
    pub tool: String,
}

#[derive(Clone, Debug, Default)]
pub struct Decisions {
    lately: VecDeque<Decision>,
}

/// How far back the figures look, in milliseconds.
pub const WINDOW: i64 = 20 * 60_000;
/// From fewer decisions, no numbers are shown.
const FEWEST: usize = 5;
/// From how many decisions on, nearly all approved within moments, the numbers are a warning.
const MANY: usize = 20;
/// No one reads a card faster than this, in milliseconds.
const MOMENT: i64 = 2_000;
/// After how many approvals of one tool in a row a rule is offered.
const OFFERED: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    pub approved: usize,
    pub all: usize,
    pub minutes: i64,
    /// Half of the cards were on screen no longer than this, in milliseconds.
    pub median: i64,
    /// Quiet, or a danger if so many were approved so fast that no one can have read them.
    pub tone: Tone,
}

impl Decisions {
    pub fn took(&mut self, decision: Decision) {
        self.lately.retain(|old| decision.at - old.at < WINDOW);
        self.lately.push_back(decision);
    }

    /// Forgets the last decision about such a call: it had no effect.
    pub fn take_back(&mut self, verdict: VerdictWord, server: &str, tool: &str) {
        let is_it = |one: &Decision| one.verdict == verdict && one.server == server && one.tool == tool;
        if let Some(at) = self.lately.iter().rposition(is_it) {
            self.lately.remove(at);
        }
    }

    /// The numbers of the last minutes; `None` while there are too few decisions.
    pub fn figures(&self, now: i64) -> Option<Figures> {
        let lately: Vec<&Decision> = self.lately.iter().filter(|one| now - one.at < WINDOW).collect();
        if lately.len() < FEWEST {
            return None;
        }
        let approved = lately.iter().filter(|one| one.verdict == VerdictWord::Approve).count();
        let mut took: Vec<i64> = lately.iter().map(|one| one.took).collect();
        took.sort_unstable();
        let median = took[took.len() / 2];
        let since = lately.first().map_or(0, |one| now - one.at);
        let careless = lately.len() >= MANY && approved * 20 >= lately.len() * 19 && median < MOMENT;
        Some(Figures {
            approved,
            all: lately.len(),
            minutes: (since + 59_999) / 60_000,
            median,
            tone: if careless { Tone::Danger } else { Tone::Quiet },
        })
    }

    /// How often a tool was approved in a row, when that is often enough to offer a rule for it now.
    pub fn offer(&self, server: &str, tool: &str) -> Option<usize> {
        let same = self.lately.iter().rev().filter(|one| one.server == server && one.tool == tool);
        let row = same.take_while(|one| one.verdict == VerdictWord::Approve).count();
        (row >= OFFERED && row.is_multiple_of(OFFERED)).then_some(row)
    }
}

impl Figures {
    /// `61 of 61 approved in 20 min, median 0.8 s on screen`: what was decided here, and how long the cards were shown.
    pub fn words(&self) -> Row {
        let Self { approved, all, minutes, median, tone } = self;
        let mark = if *tone == Tone::Danger { "▲ " } else { "" };
        let median = format!("median {}.{} s on screen", median / 1000, median % 1000 / 100);
        Row::of(*tone, format!("{mark}{approved} of {all} approved in {minutes} min, {median}"))
    }
}
