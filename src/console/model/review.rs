//! What is read before it counts: a change that waits, what the written policy would change, a suggested rule. Owns how
//! far the reading is.

use std::sync::Arc;

use super::rule::RuleStage;
use crate::console::pinned::{PinnedProgram, PinnedTool};
use crate::console::tried::{Attempt, Replayed, SuggestedRule};
use crate::policy::rule::Pending;

/// The open review.
#[derive(Clone, Debug)]
pub struct Review {
    pub change: Change,
    /// The first row on screen.
    pub top: usize,
    pub stage: RuleStage,
    /// When it was opened, in milliseconds since 1970.
    pub opened: i64,
    /// What it would change of past rulings, where it is about the policy.
    pub past: Attempt<Replayed>,
}

/// What is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A policy file that loosens something, as the wrapper of this session showed it.
    Policy { session: String, pending: Pending },
    /// A tool's definition is not the trusted one.
    Definition(Box<PinnedTool>),
    /// A server's program or command line is not the trusted one.
    Program(Box<PinnedProgram>),
    /// The files as they are written, against the log; there is nothing to accept.
    Written,
    /// A rule that the log suggests.
    Suggested(Arc<SuggestedRule>),
}

impl Review {
    /// Nothing is read yet; `trial` tells what it would change of past rulings, 0 where nothing does.
    pub fn of(change: Change, trial: u64, now: i64) -> Self {
        Self { change, top: 0, stage: RuleStage::Choosing, opened: now, past: Attempt::asked(trial) }
    }
}
