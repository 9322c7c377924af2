//! Which roles of a desk say that they are which user of which host: one of each is what to expect. What is signed names user and host; the
//! role is a column that the owner of the database can write.

use std::collections::{BTreeMap, BTreeSet};

use crate::link::message::At;

/// All pairs that this console has read, of wrappers that are gone, too.
#[derive(Clone, Debug, Default)]
pub struct Places {
    of_role: BTreeMap<String, BTreeSet<String>>,
    of_place: BTreeMap<String, BTreeSet<String>>,
}

impl Places {
    pub(in crate::console) fn note(&mut self, at: &At) {
        self.of_role.entry(at.machine.clone()).or_default().insert(at.signed());
        self.of_place.entry(at.signed()).or_default().insert(at.machine.clone());
    }

    /// Whether its role has another user or host, too, or its user and host another role.
    pub fn is_mixed(&self, at: &At) -> bool {
        let many = |of: &BTreeMap<_, BTreeSet<_>>, name: &str| of.get(name).is_some_and(|others| others.len() > 1);
        many(&self.of_role, &at.machine) || many(&self.of_place, &at.signed())
    }

    /// Every `user@host`.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.of_place.keys().map(String::as_str)
    }

    /// Roles with several users or hosts.
    pub fn roles(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        mixed(&self.of_role)
    }

    /// Users of hosts with several roles.
    pub fn places(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        mixed(&self.of_place)
    }
}

fn mixed(of: &BTreeMap<String, BTreeSet<String>>) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
    of.iter().filter(|(_, others)| others.len() > 1).map(|(name, others)| (name.as_str(), others))
}
