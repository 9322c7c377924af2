//! Several calls decided at once: each is bound as it was when listed, and the list is read before `y` counts.

use super::{ARMING, Armed, CallKey, Held, Model, Overlay, Reading};
use crate::console::screen::content_rows;

/// What is to become of the listed calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Approve(Reading),
    Deny { reason: String },
}

/// Calls that are decided together, and how far their list is scrolled.
#[derive(Clone, Debug)]
pub struct Batch {
    pub fate: Fate,
    pub members: Vec<Armed>,
    pub top: usize,
}

/// What the last frames showed of a list.
#[derive(Clone, Debug)]
pub struct Listed {
    pub members: Vec<Armed>,
    pub since: i64,
    pub shown: ShownTo,
}

/// How far a list was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownTo {
    Partly,
    ToItsEnd,
}

/// Why `y` does not count yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// Its list is not what the last frame showed, or not long enough without a key.
    TooSoon,
    /// Its last line was not on screen.
    Unread,
}

impl Model {
    /// The marked calls that still wait, in the order of the queue.
    pub fn marked_calls(&self) -> Vec<&Held> {
        if self.marked.is_empty() {
            return Vec::new();
        }
        self.waiting_where(|held| self.marked.contains(&held.key))
    }

    /// What a decision would be about: the marked calls, otherwise the selected row.
    pub fn targets(&self) -> Vec<&Held> {
        let marked = self.marked_calls();
        if !marked.is_empty() {
            return marked;
        }
        self.selected_group().map_or_else(Vec::new, |group| group.members().collect())
    }

    /// Every waiting call of one wrapper, in the order of the queue.
    pub fn waiting_of(&self, session: &str) -> Vec<&Held> {
        self.waiting_where(|held| held.key.session == session)
    }

    /// The waiting calls that are wanted, oldest first, including those that the queue's filter leaves out.
    fn waiting_where(&self, wanted: impl Fn(&Held) -> bool) -> Vec<&Held> {
        let wanted = |held: &&Held| held.waits() && wanted(held);
        let mut calls: Vec<&Held> = self.calls.iter().filter(wanted).collect();
        calls.sort_by_key(|held| (held.snapshot.arrived, &held.key.session));
        calls
    }

    /// Binds calls to a list that is about to be shown.
    pub fn bind(&self, keys: &[CallKey]) -> Vec<Armed> {
        keys.iter().filter_map(|key| self.call(key)).map(|held| self.identified(held)).collect()
    }

    /// A listed call, if it still waits, with the same card if it is to be approved.
    pub fn stands(&self, batch: &Batch, armed: &Armed) -> Option<&Held> {
        match batch.fate {
            Fate::Approve(_) => self.still(armed),
            Fate::Deny { .. } => self.waits(armed),
        }
    }

    /// The rows of the list that fit on the screen.
    pub fn list_rows(&self) -> usize {
        content_rows(self.areas().body)
    }

    /// Whether `y` counts for this list.
    ///
    /// # Errors
    /// Why it does not.
    pub fn listed(&self, batch: &Batch) -> Result<(), Unlisted> {
        let listed = self.listed.as_ref().filter(|listed| listed.members == batch.members);
        let listed = listed.ok_or(Unlisted::TooSoon)?;
        if listed.shown == ShownTo::Partly {
            return Err(Unlisted::Unread);
        }
        if self.now - listed.since < ARMING || !self.stood() {
            return Err(Unlisted::TooSoon);
        }
        Ok(())
    }

    /// Takes note of what a frame showed of a list.
    pub(super) fn note_list_drawn(&mut self) {
        let rows = self.list_rows();
        let Some(Overlay::Batch(batch)) = &self.overlay else {
            self.listed = None;
            return;
        };
        let reached = rows > 0 && batch.top + rows >= batch.members.len();
        let last = self.listed.take().filter(|listed| listed.members == batch.members);
        let seen = last.as_ref().is_some_and(|listed| listed.shown == ShownTo::ToItsEnd);
        let shown = if reached || seen { ShownTo::ToItsEnd } else { ShownTo::Partly };
        let since = last.map_or(self.now, |listed| listed.since);
        self.listed = Some(Listed { members: batch.members.clone(), since, shown });
    }
}
