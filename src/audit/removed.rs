//! The record that a stretch of records at the beginning of the log was removed: which one, where the chain goes on, and what proves
//! a copy of it. Such a record is itself in the chain, and repeats what the one before it said. Pure; removes nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::chain::{Head, Row};
use super::fields::{Fields, kind_of};
use super::record::{Entry, Kind};
use crate::wire::digest::{Digest, Hasher};

/// A stretch that was removed. Its times are as its records had them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    pub first: u64,
    pub last: u64,
    pub count: u64,
    /// The link before its first record.
    pub before: Digest,
    /// The link of its last record: it binds all of them.
    pub head: Digest,
    pub from: String,
    pub to: String,
    /// SHA-256 of the links of all its records, one after the other.
    pub digest: Digest,
}

impl Stretch {
    /// Where the chain goes on.
    pub fn end(&self) -> Head {
        Head { seq: self.last, link: self.head }
    }
}

/// What a record says was removed, all stretches from the first record of the log on. Foreign text but for the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The record that says so.
    pub seq: i64,
    pub time: String,
    pub operator: String,
    pub stretches: Vec<Stretch>,
}

impl Removed {
    /// Where the chain goes on.
    pub fn end(&self) -> Head {
        self.stretches.last().map_or(Head::EMPTY, Stretch::end)
    }

    pub fn count(&self) -> u64 {
        self.end().seq
    }

    /// What is wrong with it, if it follows what `earlier` said.
    pub fn fault(&self, earlier: Option<&Self>) -> Option<&'static str> {
        let known = earlier.map_or(&[][..], |earlier| &earlier.stretches);
        let mut end = Head::EMPTY;
        for stretch in &self.stretches {
            if stretch.first != end.seq + 1 || stretch.before != end.link {
                return Some("what it says was removed does not follow from what was removed before");
            }
            if stretch.last < stretch.first || stretch.count != stretch.last - stretch.first + 1 {
                return Some("it counts another number of records than it says were removed");
            }
            end = stretch.end();
        }
        match u64::try_from(self.seq) {
            _ if self.stretches.len() <= known.len() || !self.stretches.starts_with(known) => {
                Some("it contradicts an earlier record of what was removed")
            }
            Ok(seq) if seq > end.seq => None,
            _ => Some("it says that records after it were removed"),
        }
    }
}

/// Made of the records of a stretch, the oldest first.
#[derive(Clone)]
pub struct Measure {
    before: Head,
    end: Head,
    times: Option<(String, String)>,
    links: Hasher,
}

impl Measure {
    pub fn after(before: Head) -> Self {
        Self { before, end: before, times: None, links: Hasher::default() }
    }

    /// Takes the record that makes this head.
    pub fn take(&mut self, head: Head, time: &str) {
        self.links.update(head.link.as_bytes());
        self.end = head;
        match &mut self.times {
            Some((_, to)) => time.clone_into(to),
            None => self.times = Some((time.to_owned(), time.to_owned())),
        }
    }

    pub fn stretch(self) -> Option<Stretch> {
        let (from, to) = self.times?;
        let (first, last) = (self.before.seq + 1, self.end.seq);
        let (before, head, count) = (self.before.link, self.end.link, last - self.before.seq);
        Some(Stretch { first, last, count, before, head, from, to, digest: self.links.finish() })
    }
}

/// The record that these stretches were removed.
pub fn entry(now: i64, operator: &str, stretches: &[Stretch]) -> Entry {
    let (server, session): (Arc<str>, Arc<str>) = ("mcp-approve".into(), "log prune".into());
    let mut entry = Entry::new(now, Kind::Removed, &server, &session).with("operator", operator);
    entry.uncut.add("stretches", stretches);
    entry
}

/// Reads such a record; `None` for any other.
pub fn read(row: &Row<'_>) -> Option<Removed> {
    #[derive(Deserialize)]
    struct Detail {
        #[serde(default)]
        operator: String,
        stretches: Vec<Stretch>,
    }
    if !is_one(row.body) {
        return None;
    }
    let fields = Fields::of(row.body)?;
    let Detail { operator, stretches } = fields.detail()?;
    Some(Removed { seq: row.seq, time: fields.time.to_string(), operator, stretches })
}

/// Whether a body is of such a record, readable or not.
pub fn is_one(body: &[u8]) -> bool {
    kind_of(body).is_some_and(|kind| kind.starts_with(b"removed\""))
}
