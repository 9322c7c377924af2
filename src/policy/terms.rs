//! What an approval of an asked call needs beside one operator: how many signers, which ones, and whether the machine's own
//! user counts. Written in rules that ask; of several rules the strictest of each counts. Checks no signature.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::wire::words::words;

pub const MOST_APPROVALS: u32 = 9;

words! {
    /// Whose approval counts. Ordered by strictness.
    #[derive(Default)]
    ApproverKind {
        #[default]
        Anybody = "anybody",
        /// Not the user whose calls wait.
        Others = "others",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalTerms {
    /// How many different signers must approve: 1 to [`MOST_APPROVALS`].
    pub approvals: u32,
    /// Principals of the list of allowed signers; `None` where each of the list may sign. Empty, no one can approve.
    pub signers: Option<BTreeSet<String>>,
    pub by: ApproverKind,
}

impl Default for ApprovalTerms {
    fn default() -> Self {
        Self { approvals: 1, signers: None, by: ApproverKind::Anybody }
    }
}

impl ApprovalTerms {
    /// The terms where both apply: the larger number of approvals, by signers that both name.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        let signers = match (&self.signers, &other.signers) {
            (Some(one), Some(other)) => Some(one & other),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        Self { approvals: self.approvals.max(other.approvals), signers, by: self.by.max(other.by) }
    }

    /// Whether one approval by any operator is enough. Other terms need signatures: only they tell people apart.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    pub fn can_be_met(&self) -> bool {
        self.signers.as_ref().is_none_or(|signers| signers.len() as u64 >= u64::from(self.approvals))
    }

    /// `2 different signers out of ada, bob, the user of this machine not counted`; `None` where they are plain.
    pub fn words(&self) -> Option<String> {
        if self.is_plain() {
            return None;
        }
        let who = match self.approvals {
            1 => "a signer".to_owned(),
            many => format!("{many} different signers"),
        };
        let named = match &self.signers {
            None => String::new(),
            Some(none) if none.is_empty() => " whom all matching rules name, and there is none".to_owned(),
            Some(signers) => format!(" out of {}", signers.iter().map(String::as_str).collect::<Vec<_>>().join(", ")),
        };
        let others = match self.by {
            ApproverKind::Anybody => "",
            ApproverKind::Others => ", the user of this machine not counted",
        };
        Some(format!("{who}{named}{others}"))
    }
}
