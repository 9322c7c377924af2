//! Which of the kept agreements count: those whose record the log has, and that were used in the last ninety days.

use std::path::Path;

use super::agreed::Kept;
use crate::audit::agreed::Says;
use crate::audit::store::{Reader, StoreError};
use crate::behavior::agreed::has_lapsed;

/// Whether one agreement counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The log has its record.
    Proven,
    /// It was not used for ninety days.
    Lapsed,
    /// The log says that it was taken back.
    TakenBack,
    /// The log has no record of it.
    Unproven,
}

/// The log, for looking up records of agreements.
#[derive(Debug)]
pub struct Proofs(Result<Option<Reader>, StoreError>);

impl Proofs {
    /// Opens the log at `log`, and folds into it what dead wrappers left.
    pub fn open(log: &Path) -> Self {
        Self(Reader::open(log))
    }

    /// The same without folding, which waits for other wrappers.
    pub fn open_as_is(log: &Path) -> Self {
        Self(Reader::open_as_is(log))
    }

    /// Why no record can be looked up: then nothing is agreed to.
    pub fn trouble(&self) -> Option<&StoreError> {
        self.0.as_ref().err()
    }

    /// Whether each counts on this day (days since 1970, UTC).
    pub fn standings(&self, kept: &[Kept], today: i64) -> Vec<Standing> {
        let digests: Vec<_> = kept.iter().map(Kept::digest).collect();
        let says = match &self.0 {
            Ok(Some(reader)) => reader.agreed(&digests).unwrap_or_default(),
            Ok(None) | Err(_) => Vec::new(),
        };
        let standing = |(at, kept): (usize, &Kept)| match says.get(at).copied().flatten() {
            Some(Says::Agreed) if has_lapsed(kept.used, today) => Standing::Lapsed,
            Some(Says::Agreed) => Standing::Proven,
            Some(Says::TakenBack) => Standing::TakenBack,
            None => Standing::Unproven,
        };
        kept.iter().enumerate().map(standing).collect()
    }
}
