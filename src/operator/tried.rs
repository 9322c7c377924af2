//! What past calls say of a rule, a changed policy and what could be written: plain data between screens and log thread.

use std::sync::Arc;

use crate::policy::{Decision, Roots, maker::Scope, past::Ended, rule::Layer};
use crate::text::row::{Row, Tone, foreign};
use crate::wire::Digest;

/// What is to be tried on the log. A newer one of a kind takes the place of an older one.
#[derive(Clone, Debug, PartialEq)]
pub enum Trial {
    /// Which past calls of a tool each of these rules (the text of one `[[rule]]`) would have matched.
    Rules { id: u64, server: String, tool: String, roots: Roots, rules: Vec<String> },
    /// Which past rulings a policy would change.
    Policy { id: u64, which: Which },
    /// Which rules would have saved questions.
    Suggestions { id: u64 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The files as they are written, as if all of it were accepted.
    Written,
    /// The files as they are, and this one as it is written.
    Accepted {
        layer: Layer,
        file: String,
        digest: Digest,
        /// The server whose calls it is about; `None` for all.
        server: Option<String>,
    },
}

#[derive(Clone, Debug)]
pub enum Tried {
    // One for each rule, in their order.
    Rules { id: u64, matched: Arc<Vec<Matched>>, examined: Examined },
    Policy { id: u64, replayed: Arc<Replayed>, examined: Examined },
    Suggestions { id: u64, found: Arc<Suggested> },
    // It cannot be known: why, and what to do.
    Failed { id: u64, why: String },
}

/// One thing that was asked to be tried, and how far that has come.
#[derive(Clone, Debug)]
pub struct Attempt<T> {
    /// Which trial it is; 0 before any was asked for.
    pub id: u64,
    pub found: Option<Arc<T>>,
    pub examined: Examined,
    pub failed: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    pub calls: usize,
    pub coverage: Coverage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    #[default]
    Counting,
    Whole,
    /// Only the newest calls: there are more than are looked at.
    Newest,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    pub calls: usize,
    pub asked: usize,
    pub denied: usize,
    /// Calls for which this is unknown, because the log holds no secrets and no long texts.
    pub undecided: usize,
    /// Those that were denied, the newest first, and then the others.
    pub lines: Vec<PastLine>,
}

/// A past call on one line. Its names and its target are foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastLine {
    /// Milliseconds since 1970, UTC.
    pub time: i64,
    pub ticket: String,
    pub tool: String,
    pub target: String,
    pub ruling: Decision,
    pub ended: Ended,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// How many calls change from what to what, the most first.
    pub counts: Vec<(Decision, Decision, usize)>,
    /// How many calls would be ruled otherwise.
    pub changed: usize,
    pub undecided: usize,
    /// Calls that would be ruled otherwise, with the new ruling and the rule that makes it; the newest first.
    pub changes: Vec<(PastLine, Decision, String)>,
}

#[derive(Clone, Debug, Default)]
pub struct Suggested {
    pub calls: usize,
    pub rules: Vec<Arc<SuggestedRule>>,
}

/// A rule that would have saved questions, and covers no call that was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestedRule {
    pub id: String,
    pub scope: Scope,
    pub server: String,
    pub tool: String,
    pub toml: String,
    pub saves: usize,
    pub warnings: Vec<String>,
    /// Some of the calls it would have covered, the newest first.
    pub lines: Vec<PastLine>,
}

impl Trial {
    pub fn id(&self) -> u64 {
        match self {
            Self::Rules { id, .. } | Self::Policy { id, .. } | Self::Suggestions { id } => *id,
        }
    }

    /// Whether the other one asks for the same kind of thing, so that only the newer one is wanted.
    pub fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl SuggestedRule {
    pub fn covers(&self) -> Row {
        let row = foreign(Tone::Strong, &self.tool);
        match self.scope.narrowed() {
            Some(narrowed) => row.ours(" with ").and_foreign(Tone::Ours, &narrowed),
            None => row,
        }
    }

    /// Whether the other one covers the same calls, whatever it saves by now.
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.server, &self.tool, &self.scope) == (&other.server, &other.tool, &other.scope)
    }
}

impl<T> Default for Attempt<T> {
    fn default() -> Self {
        Self::asked(0)
    }
}

impl<T> Attempt<T> {
    pub fn asked(id: u64) -> Self {
        Self { id, found: None, examined: Examined::default(), failed: None }
    }

    pub fn goes_on(&self) -> bool {
        self.failed.is_none() && self.examined.coverage == Coverage::Counting
    }
}
