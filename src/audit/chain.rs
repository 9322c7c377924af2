//! The chains: how one record is linked to the one before it, and where a chain breaks. Pure; stores nothing.
//!
//! `link = H(1 ‖ previous ‖ seq ‖ writer ‖ H(0 ‖ body))` with SHA-256; `seq` is 8 bytes, big-endian. The leading byte tells links
//! from bodies (RFC 6962, section 2.1); a journal's links lead with 2. That the last records were cut off a chain cannot show alone:
//! that takes a link noted elsewhere (an anchor).

use crate::wire::digest::{Digest, Hasher};

/// The link before the first record.
pub const GENESIS: Digest = Digest::from_bytes(*b"mcp-approve audit chain, genesis");

/// The random name of a journal, or of another writer of the log.
pub type Writer = [u8; 16];

/// The name of a journal of this session: its first half tells of which, and `chance` tells it from the others.
pub fn journal_name(session: &str, chance: [u8; 8]) -> Writer {
    let mut name = [0; 16];
    let (of_session, rest) = name.split_at_mut(8);
    of_session.copy_from_slice(&mark(session));
    rest.copy_from_slice(&chance);
    name
}

/// Whether a writer is a journal of this session. Earlier versions named journals by chance alone.
pub fn is_of(writer: &[u8], session: &str) -> bool {
    writer.starts_with(&mark(session))
}

/// A journal's name in hexadecimal digits: as its file is named, and as records name it.
pub fn name_of(writer: &Writer) -> String {
    writer.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The journal of such a name.
pub fn named(name: &str) -> Option<Writer> {
    let digits = |at: usize| u8::from_str_radix(name.get(at * 2..at * 2 + 2)?, 16).ok();
    let writer: Option<Vec<u8>> = (0..16).map(digits).collect();
    writer?.try_into().ok().filter(|_| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn mark(session: &str) -> [u8; 8] {
    *Digest::of(session.as_bytes()).as_bytes().first_chunk().unwrap_or(&[0; 8])
}

/// Which chain a link belongs to: the byte that leads what is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Chain {
    Log = 1,
    Journal = 2,
}

/// The end of a chain: the last record's place and link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Records are numbered from 1; 0 is the empty chain.
    pub seq: u64,
    pub link: Digest,
}

impl Head {
    pub const EMPTY: Self = Self { seq: 0, link: GENESIS };

    /// The head after one more record. `body` is [`body_digest`] of its body.
    #[must_use]
    pub fn next(&self, writer: &Writer, body: Digest) -> Self {
        self.next_in(Chain::Log, writer, body)
    }

    /// The head of a journal after one more entry: as [`Self::next`], but no link of a journal is one of the log.
    #[must_use]
    pub fn next_entry(&self, writer: &Writer, body: Digest) -> Self {
        self.next_in(Chain::Journal, writer, body)
    }

    fn next_in(&self, chain: Chain, writer: &Writer, body: Digest) -> Self {
        let seq = self.seq.saturating_add(1);
        Self { seq, link: link(chain, self.link, seq, writer, body) }
    }
}

/// `H(0 ‖ body)`.
pub fn body_digest(body: &[u8]) -> Digest {
    let mut hasher = Hasher::default();
    hasher.update(&[0]);
    hasher.update(body);
    hasher.finish()
}

/// One record as it is in the log; nothing about it is trusted.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Its number in this log.
    pub seq: i64,
    pub writer: &'a [u8],
    pub body: &'a [u8],
    pub link: &'a [u8],
    /// Where it is from, in a log that has those of many machines.
    pub origin: Option<&'a Origin>,
}

impl<'a> Row<'a> {
    pub fn machine(&self) -> Option<&'a str> {
        self.origin.map(|origin| &*origin.machine)
    }
}

/// Which machine's log a record is of, and its number there. Foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub machine: String,
    pub seq: i64,
}

/// Where a chain breaks first, and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Break {
    #[error("record {expected} is missing: the next one found is {found}")]
    Missing { expected: u64, found: i64 },
    #[error("record {seq} is not a record: its writer, body or link has a wrong form")]
    Malformed { seq: u64 },
    #[error("record {seq} does not carry the link it must have: it, or its place, was changed after it was written")]
    Changed { seq: u64 },
}

impl Break {
    /// The first place at which the chain no longer holds.
    pub fn seq(&self) -> u64 {
        match self {
            Self::Missing { expected: seq, .. } | Self::Malformed { seq } | Self::Changed { seq } => *seq,
        }
    }
}

/// Checks records one after the other, from the first.
#[derive(Clone, Debug)]
pub struct Verifier {
    head: Head,
}

impl Default for Verifier {
    fn default() -> Self {
        Self::after(Head::EMPTY)
    }
}

impl Verifier {
    /// Checks from the record after this head on. What was before it is taken as it is.
    pub fn after(head: Head) -> Self {
        Self { head }
    }

    /// Takes the next record in order of `seq`, and returns its head. Errors: how the chain breaks here; the verifier stays.
    pub fn take(&mut self, row: &Row<'_>) -> Result<Head, Break> {
        self.head = follow_digest(self.head, row, body_digest(row.body))?;
        Ok(self.head)
    }

    pub fn head(&self) -> Head {
        self.head
    }
}

/// The head after a row whose body has this digest, if the row is the next one: for whoever compares one row with several heads.
pub fn follow_digest(head: Head, row: &Row<'_>, body: Digest) -> Result<Head, Break> {
    follow(head, row, |writer| head.next(writer, body))
}

/// Checks a row of a journal, which holds the entries of one commit, one a line; returns the head after it.
pub fn follow_commit(head: Head, row: &Row<'_>) -> Result<Head, Break> {
    follow(head, row, |writer| lines(row.body).fold(head, |head, body| head.next_entry(writer, body_digest(body))))
}

/// The entries of a row of a journal.
pub fn lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.strip_suffix(b"\n").unwrap_or(body).split(|&byte| byte == b'\n')
}

/// The head after a row, if the row is the next one and carries the link that `next` makes.
fn follow(head: Head, row: &Row<'_>, next: impl FnOnce(&Writer) -> Head) -> Result<Head, Break> {
    let expected = head.seq.saturating_add(1);
    if u64::try_from(row.seq) != Ok(expected) {
        let found = row.seq;
        return Err(Break::Missing { expected, found });
    }
    let (Ok(writer), Ok(stored)) = (<&Writer>::try_from(row.writer), <&[u8; 32]>::try_from(row.link)) else {
        return Err(Break::Malformed { seq: expected });
    };
    let next = next(writer);
    if next.link.as_bytes() == stored { Ok(next) } else { Err(Break::Changed { seq: expected }) }
}

fn link(chain: Chain, previous: Digest, seq: u64, writer: &Writer, body: Digest) -> Digest {
    let mut hasher = Hasher::default();
    hasher.update(&[chain as u8]);
    hasher.update(previous.as_bytes());
    hasher.update(&seq.to_be_bytes());
    hasher.update(writer);
    hasher.update(body.as_bytes());
    hasher.finish()
}
