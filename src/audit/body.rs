//! Writes an entry as the canonical JSON that is sealed: one line, fixed field order, nulls written out. Entries are written
//! out and hashed once, on their way from a journal into the log. Pure; stores nothing.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::chain::{self, Writer};
use super::record::{Entry, OURS};
use super::redact::{Redactor, push_string};
use crate::wire::{Digest, number::push_number};

/// What is kept of a name, in bytes: a host may call a tool by one of many megabytes.
const LONGEST: usize = 1024;

/// Appends the entry's body to `out`.
pub fn write_body(entry: &Entry, redactor: &Redactor, out: &mut String) {
    let known = entry.known.as_deref().unwrap_or_default();
    // A time beyond the calendar becomes its beginning.
    let time = Timestamp::from_millisecond(entry.time).unwrap_or(Timestamp::UNIX_EPOCH);
    // Writing to a String does not fail.
    let _ = write!(out, "{{\"time\":\"{time:.3}\"");
    word(out, r#","kind":"#, Some(entry.kind.word()));
    text(out, r#","server":"#, Some(&entry.server));
    text(out, r#","session":"#, Some(&entry.session));
    text(out, r#","ticket":"#, entry.ticket.as_deref());
    text(out, r#","tool":"#, entry.tool.as_deref());
    let target = entry.target.as_deref().map(|target| redactor.without_parts(target, known));
    text(out, r#","target":"#, target.as_deref().map(|target| redactor.text(target)).as_deref());
    word(out, r#","badge":"#, entry.badge.map(|badge| badge.word()));
    word(out, r#","identity":"#, entry.identity.map(|identity| identity.hash()));
    word(out, r#","ruling":"#, entry.ruling.map(|ruling| ruling.word()));
    word(out, r#","verdict":"#, entry.verdict.map(|verdict| verdict.word()));
    word(out, r#","by":"#, entry.by.map(|by| by.word()));
    text(out, r#","rule":"#, entry.rule.as_deref());
    digest(out, r#","digest":"#, entry.digest.as_ref());
    match entry.latency_us {
        Some(us) => {
            out.push_str(",\"latency_ms\":");
            push_number(out, us / 1000, 1);
            out.push('.');
            push_number(out, us % 1000, 3);
        }
        None => out.push_str(",\"latency_ms\":null"),
    }
    out.push_str(",\"arguments\":");
    let cut = match &entry.arguments {
        Some(arguments) => redactor.redact_all(arguments, (known, &[]), out),
        None => {
            out.push_str("null");
            None
        }
    };
    match cut {
        Some(cut) => {
            let (bytes, digest) = (cut.bytes, cut.digest);
            let _ = write!(out, ",\"cut\":{{\"bytes\":{bytes},\"digest\":\"{digest}\"}}");
        }
        None => out.push_str(",\"cut\":null"),
    }
    word(out, r#","assurance":"#, Some(entry.assurance.word()));
    digest(out, r#","policy":"#, entry.policy.as_ref());
    out.push_str(",\"detail\":");
    // Redacted like arguments: details may quote a command line or the arguments before an edit.
    let start = out.len();
    redactor.redact_all(entry.detail.json(), (known, &OURS), out);
    if let Some(uncut) = entry.uncut.members() {
        // What did not fit at all has become a text.
        if out[start..].starts_with('"') {
            out.insert_str(start, "{\"cut\":");
            out.push('}');
        }
        let is_empty = out[start..].len() == "{}".len();
        out.pop();
        out.push_str(if is_empty { "" } else { "," });
        out.push_str(uncut);
        out.push('}');
    }
    out.push('}');
}

/// A member: its name as it is written, and its value.
fn text(out: &mut String, name: &str, value: Option<&str>) {
    out.push_str(name);
    match value {
        Some(value) if value.len() > LONGEST => {
            let head = &value[..value.floor_char_boundary(LONGEST)];
            push_string(out, &format!("{head}…[{} bytes in all]", value.len()));
        }
        Some(value) => push_string(out, value),
        None => out.push_str("null"),
    }
}

/// The same for a word of ours: there is nothing in it to escape.
fn word(out: &mut String, name: &str, value: Option<&'static str>) {
    out.push_str(name);
    match value {
        Some(value) => ["\"", value, "\""].into_iter().for_each(|part| out.push_str(part)),
        None => out.push_str("null"),
    }
}

fn digest(out: &mut String, name: &str, value: Option<&Digest>) {
    out.push_str(name);
    match value {
        Some(value) => {
            out.push('"');
            value.push_to(out);
            out.push('"');
        }
        None => out.push_str("null"),
    }
}

/// Some entries of one journal, in order, to be folded into the log: their bodies, a line each, and their digests.
#[derive(Debug)]
pub struct JournalPart {
    pub(super) writer: Writer,
    /// The number of the first of them within its journal.
    pub(super) first: u64,
    text: String,
    /// Where each line ends.
    ends: Vec<(usize, Digest)>,
}

impl JournalPart {
    pub(super) fn new(writer: Writer, first: u64) -> Self {
        Self { writer, first, text: String::new(), ends: Vec::new() }
    }

    /// Takes what `write` appends as the next body.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        let digest = chain::body_digest(&self.text.as_bytes()[start..]);
        self.text.push('\n');
        self.ends.push((self.text.len(), digest));
    }

    pub(super) fn truncate(&mut self, count: usize) {
        self.ends.truncate(count);
        self.text.truncate(self.start(count));
    }

    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// The number of the last of them; the one before the first when there are none.
    pub(super) fn last(&self) -> u64 {
        self.first - 1 + self.count() as u64
    }

    /// The bodies after the first `skipped`.
    pub(super) fn after(&self, skipped: usize) -> impl Iterator<Item = (&str, Digest)> {
        let mut start = self.start(skipped);
        self.ends
            .iter()
            .skip(skipped)
            .map(move |&(end, digest)| (&self.text[std::mem::replace(&mut start, end)..end - 1], digest))
    }

    pub(super) fn lines_after(&self, skipped: usize) -> &str {
        &self.text[self.start(skipped)..]
    }

    /// Where the body after the first `at` begins.
    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |(end, _)| *end)
    }

    pub fn writer(&self) -> Writer {
        self.writer
    }

    pub fn bytes(&self) -> usize {
        self.text.len()
    }
}
