//! Entries written out and hashed once, on their way from a journal into the log. Pure; stores nothing.

use super::body::BodyWriter;
use super::chain::{self, Writer};
use super::record::Entry;
use super::redact::Redactor;
use crate::wire::digest::Digest;

/// Bodies, a line each, and their digests.
#[derive(Debug, Default)]
pub(super) struct Sealed {
    text: String,
    /// Where each line ends.
    ends: Vec<(usize, Digest)>,
}

impl Sealed {
    /// Takes what `write` appends as the next body.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        let digest = chain::body_digest(&self.text.as_bytes()[start..]);
        self.text.push('\n');
        self.ends.push((self.text.len(), digest));
    }

    /// Forgets all bodies after the first `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        self.ends.truncate(count);
        self.text.truncate(self.start(count));
    }

    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The bodies after the first `skipped`.
    pub(super) fn after(&self, skipped: usize) -> impl Iterator<Item = (&str, Digest)> {
        let mut start = self.start(skipped);
        self.ends
            .iter()
            .skip(skipped)
            .map(move |&(end, digest)| (&self.text[std::mem::replace(&mut start, end)..end - 1], digest))
    }

    /// All lines after the first `skipped`, and the digests of their bodies.
    pub(super) fn lines_after(&self, skipped: usize) -> (&str, impl Iterator<Item = Digest>) {
        (&self.text[self.start(skipped)..], self.ends.iter().skip(skipped).map(|(_, digest)| *digest))
    }

    /// Where the body after the first `at` begins.
    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |(end, _)| *end)
    }
}

/// Some entries of one journal, in order, to be folded into the log.
#[derive(Debug)]
pub struct Part {
    pub(super) writer: Writer,
    /// The number of the first of them within its journal.
    pub(super) first: u64,
    pub(super) sealed: Sealed,
}

impl Part {
    pub(super) fn new(writer: Writer, first: u64) -> Self {
        Self { writer, first, sealed: Sealed::default() }
    }

    /// Writes an entry out and hashes it.
    pub(super) fn push(&mut self, entry: &Entry, bodies: &mut BodyWriter, redactor: &Redactor) {
        self.sealed.push(|out| bodies.write(entry, redactor, out));
    }

    /// The number of the last of them; the one before the first when there are none.
    pub(super) fn last(&self) -> u64 {
        self.first - 1 + self.sealed.count() as u64
    }

    /// The journal that they are of.
    pub fn writer(&self) -> Writer {
        self.writer
    }

    /// How many bytes its lines have.
    pub fn bytes(&self) -> usize {
        self.sealed.bytes()
    }
}
