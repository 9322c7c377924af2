//! A change that waits for the operator: read to its end, then accepted with Enter twice. Owns how far the reading is.

use super::rule::RuleStage;
use crate::policy::rule::Pending;

/// The open review.
#[derive(Clone, Debug)]
pub struct Review {
    pub change: Change,
    /// The first row on screen.
    pub top: usize,
    pub stage: RuleStage,
}

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A policy file that loosens something, as the wrapper of this session showed it.
    Policy { session: String, pending: Pending },
}
