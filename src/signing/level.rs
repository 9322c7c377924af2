//! What protects the verdicts on a machine, for `doctor`, the console's header and the page of a server alike.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::signing::grade::{Grade, Required};
use crate::signing::signers::{EntryKey, InForce};
use crate::signing::statement::NAMESPACE;

/// What protects the verdicts on a machine: the grade of the weakest key that may sign, and for which calls one must.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Level {
    pub grade: Grade,
    required: Required,
}

impl Level {
    /// The level where signatures are required by the machine's policy, and these lists are in force.
    pub fn of(required: Required, lists: Option<&InForce>) -> Self {
        let entries =
            lists.into_iter().flat_map(|lists| lists.signers.entries().iter().map(move |entry| (entry, lists)));
        let usable = entries.filter(|(entry, _)| entry.is_for(NAMESPACE));
        let grades = usable.filter_map(|(entry, lists)| match &entry.key {
            EntryKey::Supported(key) if !lists.signers.is_revoked(key) => Some(Grade::of_key(lists.owner, key.kind())),
            EntryKey::Supported(_) | EntryKey::Unsupported { .. } => None,
        });
        match (required, grades.min()) {
            (Required::Never, _) | (_, None) => Self::default(),
            (required, Some(grade)) => Self { grade, required },
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.required {
            Required::Dangerous => write!(f, "dangerous calls {}, others L0", self.grade.word()),
            Required::Never | Required::Always => f.write_str(self.grade.word()),
        }
    }
}
