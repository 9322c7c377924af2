//! Writes an entry as the canonical JSON that is sealed: one line, fixed field order, nulls written out. Pure.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;

use jiff::Timestamp;

use super::record::{Assurance, By, Entry, Kind, VerdictWord};
use super::redact::{Redactor, push_string};
use crate::behavior::identity::Identity;
use crate::behavior::taxonomy::Badge;
use crate::policy::rule::Decision;
use crate::wire::digest::Digest;
use crate::wire::number::push_number;

/// What is kept of a name, in bytes: a host may call a tool by one of many megabytes.
const LONGEST: usize = 1024;

/// How many details are remembered, and how long each may be in bytes.
const REMEMBERED: usize = 16;
const REMEMBERED_BYTES: usize = 4096;

/// Writes bodies, and keeps the text of members that are commonly the same in the next entry: its time, what it is of, and
/// details without a secret.
#[derive(Clone, Debug, Default)]
pub struct BodyWriter {
    millis: i64,
    /// `2026-11-21T10:00:00.000Z`; empty before the first time.
    stamp: String,
    origin: Kept<(Arc<str>, Arc<str>)>,
    subject: Kept<Subject>,
    ruled: Kept<Ruled>,
    policy: Kept<Digest>,
    /// Details in which there was nothing to redact, the newest last.
    harmless: VecDeque<Box<str>>,
}

impl BodyWriter {
    /// Appends the entry's body to `out`.
    pub fn write(&mut self, entry: &Entry, redactor: &Redactor, out: &mut String) {
        // Writing to a String does not fail.
        out.push_str("{\"time\":\"");
        self.time(entry.time, out);
        out.push_str("\",\"kind\":\"");
        out.push_str(entry.kind.word());
        out.push('"');
        let is_same = |kept: &(Arc<str>, Arc<str>)| kept.0 == entry.server && kept.1 == entry.session;
        self.origin.push(out, is_same, |out| {
            text(out, r#","server":"#, Some(&entry.server));
            text(out, r#","session":"#, Some(&entry.session));
            Some((Arc::clone(&entry.server), Arc::clone(&entry.session)))
        });
        text(out, r#","ticket":"#, entry.ticket.as_deref());
        self.subject.push(out, |kept| kept.is_of(entry), |out| Subject::write(entry, redactor, out));
        if Ruled::NONE.is_of(entry) {
            // Every outcome has these nulls. `ruled` keeps what the last call had, which the next one often repeats.
            out.push_str(r#","ruling":null,"verdict":null,"by":null,"rule":null"#);
        } else {
            self.ruled.push(out, |kept| kept.is_of(entry), |out| Some(Ruled::write(entry, out)));
        }
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
            Some(arguments) => redactor.redact(arguments, out),
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
        word(out, r#","assurance":"#, Some(Assurance::L0.word()));
        match entry.policy {
            Some(policy) => self.policy.push(
                out,
                |kept| *kept == policy,
                |out| {
                    digest(out, r#","policy":"#, Some(&policy));
                    Some(policy)
                },
            ),
            None => out.push_str(",\"policy\":null"),
        }
        out.push_str(",\"detail\":");
        self.detail(entry, redactor, out);
        out.push('}');
    }

    /// The details, redacted like arguments: they may quote a command line or the arguments before an edit.
    fn detail(&mut self, entry: &Entry, redactor: &Redactor, out: &mut String) {
        let json = entry.detail.json();
        let is_ours = entry.kind == Kind::Outcome && entry.detail.is_ours();
        if is_ours || self.harmless.iter().any(|known| **known == *json) {
            out.push_str(json);
            return;
        }
        let start = out.len();
        redactor.redact(json, out);
        if entry.kind == Kind::Decision && json.len() <= REMEMBERED_BYTES && out[start..] == *json {
            if self.harmless.len() == REMEMBERED {
                self.harmless.pop_front();
            }
            self.harmless.push_back(json.into());
        }
    }

    /// RFC 3339, UTC, milliseconds. A time beyond the calendar becomes its beginning.
    fn time(&mut self, millis: i64, out: &mut String) {
        if self.stamp.is_empty() || millis != self.millis {
            let second = millis.div_euclid(1000);
            if self.stamp.is_empty() || second != self.millis.div_euclid(1000) {
                let time = Timestamp::from_second(second).unwrap_or(Timestamp::UNIX_EPOCH);
                self.stamp.clear();
                let _ = write!(self.stamp, "{time}");
                self.stamp.truncate(self.stamp.len() - "Z".len());
            } else {
                self.stamp.truncate(self.stamp.len() - ".000Z".len());
            }
            self.stamp.push('.');
            push_number(&mut self.stamp, millis.rem_euclid(1000).unsigned_abs(), 3);
            self.stamp.push('Z');
            self.millis = millis;
        }
        out.push_str(&self.stamp);
    }
}

/// Members as they were written last, and what they say.
#[derive(Clone, Debug)]
struct Kept<T> {
    what: Option<T>,
    text: String,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { what: None, text: String::new() }
    }
}

impl<T> Kept<T> {
    /// Appends the members: as kept if they are the same, otherwise by `write`, which returns what may be kept.
    fn push(
        &mut self,
        out: &mut String,
        is_same: impl FnOnce(&T) -> bool,
        write: impl FnOnce(&mut String) -> Option<T>,
    ) {
        if !self.what.as_ref().is_some_and(is_same) {
            self.text.clear();
            self.what = write(&mut self.text);
        }
        out.push_str(&self.text);
    }
}

/// How a call was ruled and decided, by whom, and by which rule.
#[derive(Clone, Debug)]
struct Ruled {
    ruling: Option<Decision>,
    verdict: Option<VerdictWord>,
    by: Option<By>,
    rule: Option<String>,
}

impl Ruled {
    const NONE: Self = Self { ruling: None, verdict: None, by: None, rule: None };

    fn is_of(&self, entry: &Entry) -> bool {
        self.ruling == entry.ruling && self.verdict == entry.verdict && self.by == entry.by && self.rule == entry.rule
    }

    fn write(entry: &Entry, out: &mut String) -> Self {
        word(out, r#","ruling":"#, entry.ruling.map(|ruling| ruling.word()));
        word(out, r#","verdict":"#, entry.verdict.map(|verdict| verdict.word()));
        word(out, r#","by":"#, entry.by.map(|by| by.word()));
        text(out, r#","rule":"#, entry.rule.as_deref());
        Self { ruling: entry.ruling, verdict: entry.verdict, by: entry.by, rule: entry.rule.clone() }
    }
}

/// What an entry is about.
#[derive(Clone, Debug)]
struct Subject {
    tool: Option<Arc<str>>,
    target: Option<Arc<str>>,
    badge: Option<Badge>,
    identity: Option<Identity>,
}

impl Subject {
    fn is_of(&self, entry: &Entry) -> bool {
        self.tool == entry.tool
            && self.target == entry.target
            && self.badge == entry.badge
            && self.identity == entry.identity
    }

    /// Nothing is kept of a hidden secret, which the next entry may hide with another key, nor of a long text.
    fn write(entry: &Entry, redactor: &Redactor, out: &mut String) -> Option<Self> {
        let target = entry.target.as_deref().map(|target| redactor.text(target));
        text(out, r#","tool":"#, entry.tool.as_deref());
        text(out, r#","target":"#, target.as_deref());
        word(out, r#","badge":"#, entry.badge.map(|badge| badge.word()));
        word(out, r#","identity":"#, entry.identity.map(|identity| identity.hash()));
        let is_long = |text: &Option<Arc<str>>| text.as_ref().is_some_and(|text| text.len() > LONGEST);
        if matches!(target, Some(Cow::Owned(_))) || is_long(&entry.tool) || is_long(&entry.target) {
            return None;
        }
        let (tool, target) = (entry.tool.clone(), entry.target.clone());
        Some(Self { tool, target, badge: entry.badge, identity: entry.identity })
    }
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
