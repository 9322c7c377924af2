//! Texts that records name by their digest: a policy's, a tool's definition. Each becomes a record of its own, once, so that the
//! log itself shows years later what was in force; and which of them a log has. Pure; stores nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use memchr::memmem;
use serde::Deserialize;

use super::chain::Row;
use super::fields::{Fields, kind_of};
use super::record::{Entry, Kind};
use super::record::{NamedText, TextKind};
use super::redact::Redactor;
use crate::wire::digest::Digest;

/// The longest text that is kept, in bytes. Of a longer one its record has the size alone.
pub const LONGEST: usize = 256 << 10;

/// The record that keeps a text. Secrets in it are replaced, and then its digest cannot be checked any more.
pub fn entry(one: &NamedText, (time, server, session): (i64, &Arc<str>, &Arc<str>), redactor: &Redactor) -> Entry {
    let mut entry = Entry::new(time, Kind::Text, server, session).with("what", one.what.word());
    entry.digest = Some(one.digest());
    if one.text.len() > LONGEST {
        return entry.with("too_long", one.text.len());
    }
    let shown = redactor.text(&one.text);
    if let Cow::Owned(_) = shown {
        entry.detail.add("redacted", true);
    }
    entry.uncut.add("text", shown);
    entry
}

/// A text as the log has it. All of it may be foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub seq: i64,
    /// What it is, as a word of [`TextKind`].
    pub what: String,
    server: String,
    session: String,
    pub digest: Digest,
    pub state: State,
    /// Empty where it was too long.
    pub text: String,
}

/// What a kept text is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It is not the text of its digest.
    Other,
    TooLong,
    /// Secrets in it were replaced: the chain alone vouches for it.
    Redacted,
    /// It has the digest that records name.
    Whole,
}

/// Reads the record of a text; `None` for any other.
pub fn read(row: &Row<'_>) -> Option<Kept> {
    #[derive(Deserialize)]
    struct Detail {
        #[serde(default)]
        what: String,
        text: Option<String>,
        #[serde(default)]
        redacted: bool,
    }
    if !is_text(row.body) {
        return None;
    }
    let fields = Fields::of(row.body)?;
    let digest: Digest = fields.digest.as_deref()?.parse().ok()?;
    let Detail { what, text, redacted } = fields.detail()?;
    let state = match &text {
        None => State::TooLong,
        Some(text) if Digest::of(text.as_bytes()) == digest => State::Whole,
        Some(_) if redacted => State::Redacted,
        Some(_) => State::Other,
    };
    let (server, session) = (fields.server.to_string(), fields.session.to_string());
    Some(Kept { seq: row.seq, what, server, session, digest, state, text: text.unwrap_or_default() })
}

impl Kept {
    /// Whether it lists the files of a policy.
    pub fn is_list(&self) -> bool {
        self.what == TextKind::PolicyFiles.word()
    }

    /// The entry that keeps it again, because its record goes.
    pub fn sealed_anew(&self, now: i64) -> Entry {
        let (server, session) = (self.server.as_str().into(), self.session.as_str().into());
        let mut entry = Entry::new(now, Kind::Text, &server, &session).with("what", &self.what);
        entry.digest = Some(self.digest);
        entry.add("redacted", (self.state == State::Redacted).then_some(true));
        entry.add("too_long", (self.state == State::TooLong).then_some(true));
        if self.state != State::TooLong {
            entry.uncut.add("text", &self.text);
        }
        entry.with("was_record", self.seq)
    }
}

fn is_text(body: &[u8]) -> bool {
    kind_of(body).is_some_and(|kind| kind.starts_with(b"text\""))
}

/// Which texts the records of a log name, and which of them it has. Takes its records one by one.
#[derive(Clone, Debug, Default)]
pub struct Names {
    named: HashSet<Digest>,
    /// The best that is kept of each, and in which record.
    kept: BTreeMap<Digest, (State, i64)>,
    /// What was looked at last of each member: most records name the same.
    last: [Option<[u8; HEX]>; MEMBERS.len()],
}

/// The hexadecimal characters of a digest.
const HEX: usize = 64;
/// The members by which records name a text.
const MEMBERS: [&[u8]; 3] = [b"\"policy\":\"", b"\"definition\":\"", b"\"text\":\""];

impl Names {
    pub fn take(&mut self, row: &Row<'_>) {
        if let Some(kept) = read(row) {
            if kept.is_list() && kept.state == State::Whole {
                self.add(digests(&kept.text));
            }
            let best = self.kept.entry(kept.digest).or_insert((kept.state, kept.seq));
            *best = (*best).max((kept.state, kept.seq));
        }
        if kind_of(row.body).is_some_and(|kind| kind.starts_with(b"tools\"")) {
            self.named.extend(named(row.body));
        }
        for (member, last) in MEMBERS.iter().zip(&mut self.last) {
            for at in memmem::find_iter(row.body, member) {
                let value = row.body.get(at + member.len()..).and_then(|rest| rest.first_chunk::<HEX>());
                // Arguments may have such a member as well: only a body that is read decides.
                if let Some(value) =
                    value.filter(|value| last.as_ref() != Some(*value) && value.iter().all(u8::is_ascii_hexdigit))
                {
                    *last = Some(*value);
                    self.named.extend(named(row.body));
                }
            }
        }
    }

    /// Adds what something else than a record names.
    pub fn add(&mut self, digests: impl IntoIterator<Item = Digest>) {
        self.named.extend(digests);
    }

    /// The texts that are named, without those that are empty.
    pub fn named(&self) -> impl Iterator<Item = &Digest> {
        let empty = Digest::of(b"");
        self.named.iter().filter(move |named| **named != empty)
    }

    pub fn has(&self, digest: &Digest) -> bool {
        self.named.contains(digest)
    }

    pub fn found(&self) -> Found {
        let of = |wanted: State| move |(state, _): &&(State, i64)| *state == wanted;
        let missing = self.named().filter(|named| !self.kept.contains_key(*named)).count();
        Found {
            whole: self.kept.values().filter(of(State::Whole)).count() as u64,
            redacted: self.kept.values().filter(of(State::Redacted)).count() as u64,
            too_long: self.kept.values().filter(of(State::TooLong)).count() as u64,
            missing: missing as u64,
            other: self.kept.values().filter(of(State::Other)).map(|(_, seq)| *seq).collect(),
        }
    }
}

/// What a log has of the texts that its records name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub whole: u64,
    /// Texts with secrets that were replaced.
    pub redacted: u64,
    pub too_long: u64,
    /// Named and not there: records of earlier versions, and of wrappers that were killed as they began.
    pub missing: u64,
    /// The records of texts that are not what their digest says.
    pub other: Vec<i64>,
}

/// The digests of the texts that a record names.
pub fn named(body: &[u8]) -> Vec<Digest> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Detail {
        definition: Option<String>,
        text: Option<String>,
    }
    let Some(fields) = Fields::of(body) else { return Vec::new() };
    let Detail { definition, text } = fields.detail().unwrap_or_default();
    let (definition, of_tool) = match fields.kind() {
        Some(Kind::Text) => return Vec::new(),
        Some(Kind::Tools) => (None, fields.digest.as_deref()),
        _ => (definition, None),
    };
    let all = [fields.policy.as_deref(), of_tool, definition.as_deref(), text.as_deref()];
    all.into_iter().flatten().filter_map(|one| one.parse().ok()).collect()
}

pub fn digests(text: &str) -> impl Iterator<Item = Digest> {
    text.split_ascii_whitespace().filter_map(|word| word.parse().ok())
}
