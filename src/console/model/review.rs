//! A change that waits for the operator: read to its end, then accepted with Enter twice. Owns how far the reading is.

use super::rule::RuleStage;
use crate::console::pinned::{PinnedProgram, PinnedTool};
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
}

/// What has changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A policy file that loosens something, as the wrapper of this session showed it.
    Policy { session: String, pending: Pending },
    /// A tool's definition is not the trusted one.
    Definition(Box<PinnedTool>),
    /// A server's program or command line is not the trusted one.
    Program(Box<PinnedProgram>),
}
