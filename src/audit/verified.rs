//! Verifies the log whole: record after record, against the note of its head, and against a link noted elsewhere. Owns no
//! SQL and no wording; what it reads is not trusted.

use std::ops::ControlFlow;

use super::chain::{Break, Head, Row, Verifier};
use super::store::noted::Noted;
use super::store::{ReadOrder, Reader, StoreError};
use crate::wire::digest::Digest;

/// The result of verifying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The head of the part that holds, from the first record on.
    pub head: Head,
    pub broken: Option<Break>,
    /// What follows the break, if only single records were changed or removed and all others follow from the links that
    /// are there.
    pub beyond: Option<Beyond>,
    pub anchor: Anchor,
}

/// What follows a break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// At how many places a record does not carry the link it must have, or is missing.
    pub changed: u64,
    /// The last record.
    pub head: Head,
}

impl Verified {
    /// The last record that is linked to those before it, apart from changed ones.
    pub fn last(&self) -> Head {
        self.beyond.as_ref().map_or(self.head, |beyond| beyond.head)
    }
}

/// Whether a link noted earlier is still in the part that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    NotAsked,
    Found { seq: u64 },
    Missing,
}

/// Verifies every record, and now and then tells which one it has reached. `expected` is a link noted earlier.
///
/// # Errors
/// Why the log could not be read; a broken chain is no error here.
pub fn verify(reader: &Reader, expected: Option<Digest>, tell: &mut dyn FnMut(u64)) -> Result<Verified, StoreError> {
    const OFTEN: u64 = 4096;
    let mut verifying = Verifying::new(expected);
    reader.each(ReadOrder::OldestFirst, &mut |row| {
        let flow = verifying.take(&row);
        let seq = verifying.verifier.head().seq;
        if seq.is_multiple_of(OFTEN) {
            tell(seq);
        }
        flow
    })?;
    Ok(verifying.done())
}

/// What is known while the records come, the oldest first.
pub(super) struct Verifying {
    verifier: Verifier,
    expected: Option<Digest>,
    anchor: Anchor,
    broken: Option<Break>,
    /// The head before the first break.
    holds: Option<Head>,
    /// At how many places the chain breaks; `None` once what follows can no longer be checked.
    changed: Option<u64>,
}

impl Verifying {
    pub(super) fn new(expected: Option<Digest>) -> Self {
        let anchor = expected.map_or(Anchor::NotAsked, |_| Anchor::Missing);
        Self { verifier: Verifier::default(), expected, anchor, broken: None, holds: None, changed: Some(0) }
    }

    /// Takes the next record; breaks off once nothing more can be checked.
    pub(super) fn take(&mut self, row: &Row<'_>) -> ControlFlow<()> {
        let found = match self.verifier.take(row) {
            Ok(head) => {
                if self.expected == Some(head.link) && self.broken.is_none() {
                    self.anchor = Anchor::Found { seq: head.seq };
                }
                return ControlFlow::Continue(());
            }
            Err(found) => found,
        };
        let carried = <[u8; 32]>::try_from(row.link).ok().map(Digest::from_bytes);
        self.holds.get_or_insert(self.verifier.head());
        let at = match &found {
            Break::Changed { seq } => Some(*seq),
            Break::Missing { expected, found } => u64::try_from(*found).ok().filter(|found| found > expected),
            Break::Malformed { .. } => None,
        };
        self.broken.get_or_insert(found);
        match (at, carried, &mut self.changed) {
            // The next record was linked to the link that this one carries.
            (Some(seq), Some(link), Some(changed)) => {
                *changed += 1;
                self.verifier = Verifier::after(Head { seq, link });
                ControlFlow::Continue(())
            }
            _ => {
                self.changed = None;
                ControlFlow::Break(())
            }
        }
    }

    pub(super) fn done(self) -> Verified {
        let last = self.verifier.head();
        let beyond = self.changed.filter(|_| self.broken.is_some()).map(|changed| Beyond { changed, head: last });
        Verified { head: self.holds.unwrap_or(last), broken: self.broken, beyond, anchor: self.anchor }
    }
}

/// Whether the head that was noted beside the log is not in the part of it that holds, up to `head`.
pub fn is_lost(noted: &Noted, head: Head, reader: &Reader) -> Result<bool, StoreError> {
    match noted {
        Noted::Nothing => Ok(false),
        Noted::Unreadable(_) => Ok(true),
        Noted::Head(noted) => {
            let same = |row: Row<'_>| row.link == noted.link.as_bytes();
            Ok(noted.seq > head.seq || reader.one(noted.seq, same)? != Some(true))
        }
    }
}
