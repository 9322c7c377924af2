//! Numbers on the operator's own decisions: how many approvals, how fast, and when a rule would save the next question.

use std::collections::VecDeque;

use crate::audit::record::VerdictWord;
use crate::text::row::{Row, Tone};

/// One decision of this console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub at: i64,
    pub verdict: VerdictWord,
    /// How long its card was on screen, in milliseconds.
    pub took: i64,
    pub server: String,
    pub tool: String,
}

/// What was decided lately, oldest first.
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

/// What the figures say.
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
    /// Takes note of one decision.
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
