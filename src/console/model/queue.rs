//! The queue in its order, and identical calls as one row. Owns what is identical; selection and drawing are elsewhere.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{CallKey, Grouping, Held, Model, Sort, Standing};
use crate::console::risk::Risk;
use crate::gate::snapshot::Snapshot;

/// One row of the queue: a call, and those that wait beside it and are identical but for their ticket and time.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    pub lead: &'a Held,
    pub rest: Vec<&'a Held>,
}

impl<'a> Group<'a> {
    /// All of it, in the order of the queue.
    pub fn members(&self) -> impl Iterator<Item = &'a Held> {
        std::iter::once(self.lead).chain(self.rest.iter().copied())
    }

    /// How many calls it is.
    pub fn len(&self) -> usize {
        1 + self.rest.len()
    }

    /// Never: a group has its lead.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Whether this call is in it.
    pub fn has(&self, key: &CallKey) -> bool {
        self.members().any(|held| held.key == *key)
    }
}

impl Model {
    /// The queue in its order.
    pub fn queue(&self) -> Vec<&Held> {
        let mut queue: Vec<&Held> = self.calls.iter().collect();
        match self.sort {
            Sort::Oldest => queue.sort_by_key(|held| held.snapshot.arrived),
            Sort::Risk => {
                queue.sort_by_cached_key(|held| (std::cmp::Reverse(Risk::of(&held.snapshot)), held.snapshot.arrived));
            }
        }
        queue
    }

    /// The rows of the queue: identical waiting calls are one, where the oldest of them stands.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::with_capacity(self.calls.len());
        let mut open: HashMap<u64, usize> = HashMap::new();
        for held in self.queue() {
            if self.grouping == Grouping::Identical && held.standing == Standing::Waiting {
                match open.get(&held.class) {
                    Some(at) => {
                        groups[*at].rest.push(held);
                        continue;
                    }
                    None => open.insert(held.class, groups.len()),
                };
            }
            groups.push(Group { lead: held, rest: Vec::new() });
        }
        groups
    }

    /// The first row on screen where so many fit: as before, unless the selected one would be off it.
    pub fn first_row(&self, groups: &[Group<'_>], page: usize) -> usize {
        let page = page.max(1);
        let here = self.selected.as_ref();
        let at = here.and_then(|here| groups.iter().position(|group| group.has(here))).unwrap_or(0);
        let top = self.queue_top.min(groups.len().saturating_sub(page));
        top.clamp((at + 1).saturating_sub(page), at)
    }

    /// The row that this call stands in.
    pub fn group_of(&self, key: &CallKey) -> Option<Group<'_>> {
        let lead = self.call(key)?;
        let mut rest = Vec::new();
        if self.grouping == Grouping::Identical && lead.standing == Standing::Waiting {
            let alike =
                |held: &&Held| held.class == lead.class && held.key != lead.key && held.standing == Standing::Waiting;
            rest.extend(self.calls.iter().filter(alike));
            rest.sort_by_key(|held| held.snapshot.arrived);
        }
        Some(Group { lead, rest })
    }

    /// The class for a call that has just come or changed: that of the calls it is identical with, else a new one.
    pub(in crate::console) fn classify(&mut self, session: &str, snapshot: &Snapshot) -> (u64, u64) {
        let hash = hash(session, snapshot);
        let same =
            |held: &&Held| held.likeness == hash && held.key.session == session && identical(&held.snapshot, snapshot);
        match self.calls.iter().find(same) {
            Some(held) => (held.class, hash),
            None => {
                self.last_class += 1;
                (self.last_class, hash)
            }
        }
    }
}

/// A first sieve only: what is equal by it is compared whole.
fn hash(session: &str, snapshot: &Snapshot) -> u64 {
    let mut hasher = DefaultHasher::new();
    (session, &snapshot.tool, &snapshot.arguments).hash(&mut hasher);
    hasher.finish()
}

/// Whether two cards differ in nothing that an operator decides by: only ticket, digest, length, times and who asks.
fn identical(one: &Snapshot, other: &Snapshot) -> bool {
    let Snapshot {
        ticket: _,
        digest: _,
        bytes: _,
        arrived: _,
        deadline: _,
        caller: _,
        arguments,
        tool,
        server,
        title,
        description,
        signature,
        identity,
        content_type,
        evidence,
        disputed,
        hazards,
        effect,
        about,
        ruling,
        safe,
        undeclared,
        host,
        danger,
        edited_from,
        original_arguments,
        facts,
        asked_again,
    } = one;
    (arguments, tool, server) == (&other.arguments, &other.tool, &other.server)
        && (title, description, signature) == (&other.title, &other.description, &other.signature)
        && (identity, content_type, evidence) == (&other.identity, &other.content_type, &other.evidence)
        && (disputed, hazards, effect, about) == (&other.disputed, &other.hazards, &other.effect, &other.about)
        && (ruling, safe, undeclared) == (&other.ruling, &other.safe, &other.undeclared)
        && (host, danger) == (&other.host, &other.danger)
        && (edited_from, original_arguments) == (&other.edited_from, &other.original_arguments)
        && (facts, asked_again) == (&other.facts, &other.asked_again)
}
