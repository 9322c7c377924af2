//! Finds records in the log, and verifies it whole. Owns no SQL and no printing; what it reads is not trusted.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::str::FromStr;

use globset::GlobMatcher;
use memchr::memmem;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::chain::{Break, Head, Row, Verifier};
use super::index::{Index, Shape};
use super::record::{By, Kind, VerdictWord};
use super::redact::push_string;
use super::store::{Order, Reader, StoreError};
use crate::wire::digest::Digest;

/// Which records are wanted; `None` wants any. A record that cannot be read is always wanted: it is news.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub server: Option<GlobMatcher>,
    pub tool: Option<GlobMatcher>,
    pub kind: Option<Kind>,
    pub verdict: Option<VerdictWord>,
    pub by: Option<By>,
    /// Milliseconds since 1970, UTC.
    pub since: Option<i64>,
}

/// A record as found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub seq: i64,
    /// 64 hex characters, where it has the form of a link.
    pub link: Option<Digest>,
    pub body: String,
}

/// The fields of a body. All of it may be foreign text.
#[derive(Debug, Deserialize)]
pub struct Fields<'a> {
    #[serde(borrow)]
    pub time: Cow<'a, str>,
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
    #[serde(borrow)]
    pub server: Cow<'a, str>,
    #[serde(borrow)]
    pub session: Cow<'a, str>,
    pub ticket: Option<String>,
    pub tool: Option<String>,
    pub badge: Option<String>,
    pub identity: Option<String>,
    pub ruling: Option<String>,
    pub verdict: Option<String>,
    pub by: Option<String>,
    pub rule: Option<String>,
    pub digest: Option<String>,
    #[serde(borrow)]
    pub latency_ms: Option<&'a RawValue>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub cut: Option<&'a RawValue>,
    pub assurance: Option<String>,
    pub policy: Option<String>,
    #[serde(borrow)]
    pub detail: Option<&'a RawValue>,
}

impl Found {
    /// A row, kept.
    pub fn new(row: &Row<'_>) -> Self {
        Self {
            seq: row.seq,
            link: <[u8; 32]>::try_from(row.link).ok().map(Digest::from_bytes),
            body: String::from_utf8_lossy(row.body).into_owned(),
        }
    }

    /// The body's fields; `None` when it is not a body.
    pub fn fields(&self) -> Option<Fields<'_>> {
        serde_json::from_str(&self.body).ok()
    }

    /// One JSON object: the body with `seq` before it; what is no body stands in it as text.
    pub fn json(&self) -> String {
        let seq = self.seq;
        // A body is one line; anything else is not of our making.
        let is_json =
            serde_json::from_str::<IgnoredAny>(&self.body).is_ok() && self.body.bytes().all(|byte| byte >= 0x20);
        match self.body.strip_prefix('{') {
            Some(rest) if is_json && !rest.trim_start().starts_with('}') => {
                format!("{{\"seq\":{seq},{rest}")
            }
            _ => {
                let mut text = format!("{{\"seq\":{seq},\"unreadable\":");
                push_string(&mut text, &self.body);
                text.push('}');
                text
            }
        }
    }
}

impl Filter {
    /// Whether it wants everything.
    pub fn is_empty(&self) -> bool {
        let Self { server, tool, kind, verdict, by, since } = self;
        server.is_none() && tool.is_none() && kind.is_none() && verdict.is_none() && by.is_none() && since.is_none()
    }

    /// Whether it wants a shape, whatever its time.
    pub(super) fn fits(&self, shape: &Shape) -> bool {
        let is = |field: &Option<String>, word: &str| field.as_deref() == Some(word);
        self.kind.is_none_or(|kind| shape.kind == kind.word())
            && self.verdict.is_none_or(|v| is(&shape.verdict, v.word()))
            && self.by.is_none_or(|by| is(&shape.by, by.word()))
            && self.server.as_ref().is_none_or(|glob| glob.is_match(&shape.server))
            && self.tool.as_ref().is_none_or(|glob| shape.tool.as_ref().is_some_and(|tool| glob.is_match(tool)))
    }

    fn wants(&self, row: &Row<'_>, since: Option<&str>) -> bool {
        let Ok(fields) = serde_json::from_slice::<Fields<'_>>(row.body) else {
            return true;
        };
        let is = |field: &Option<String>, word: &str| field.as_deref() == Some(word);
        self.kind.is_none_or(|kind| fields.kind == kind.word())
            && self.verdict.is_none_or(|v| is(&fields.verdict, v.word()))
            && self.by.is_none_or(|by| is(&fields.by, by.word()))
            && self.server.as_ref().is_none_or(|glob| glob.is_match(&*fields.server))
            && self.tool.as_ref().is_none_or(|glob| {
                fields.tool.as_ref().is_some_and(|tool| glob.is_match(tool))
            })
            // Times of one width compare as text.
            && since.is_none_or(|since| &*fields.time >= since)
    }
}

/// The newest records that the filter wants, at most `limit`, the newest last. The index saves reading the others.
///
/// # Errors
/// Why the log could not be read.
pub fn last(reader: &Reader, index: Option<&Index>, filter: &Filter, limit: usize) -> Result<Vec<Found>, StoreError> {
    let since = filter.since.map(rfc3339);
    let mut found = Vec::new();
    if limit == 0 {
        return Ok(found);
    }
    let mut see = |row: Row<'_>| {
        if filter.wants(&row, since.as_deref()) {
            found.push(Found::new(&row));
        }
        if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    match index.filter(|_| !filter.is_empty()) {
        Some(index) => index.newest_first(reader, &index.ask_filter(filter), &mut see)?,
        None => reader.each(Order::NewestFirst, &mut see)?,
    }
    found.reverse();
    Ok(found)
}

/// Shows every record that the filter wants, the oldest first, as it stands, until `see` breaks off.
///
/// # Errors
/// Why the log could not be read.
pub fn each(
    reader: &Reader,
    filter: &Filter,
    see: &mut dyn FnMut(Row<'_>) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    each_after(reader, filter, 0, see)
}

/// As [`each`], from the record after this one on.
pub(super) fn each_after(
    reader: &Reader,
    filter: &Filter,
    seq: u64,
    see: &mut dyn FnMut(Row<'_>) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let since = filter.since.map(rfc3339);
    let mut look = |row: Row<'_>| {
        if filter.wants(&row, since.as_deref()) { see(row) } else { ControlFlow::Continue(()) }
    };
    match seq {
        // Foreign rows may have numbers below one.
        0 => reader.each(Order::OldestFirst, &mut look),
        _ => reader.each_from(Order::OldestFirst, seq + 1, u64::MAX, &mut look),
    }
}

/// Shows the record of this number, if the filter wants it.
pub(super) fn one(reader: &Reader, filter: &Filter, seq: u64, see: &mut dyn FnMut(Row<'_>)) -> Result<(), StoreError> {
    let since = filter.since.map(rfc3339);
    let look = |row: Row<'_>| {
        if filter.wants(&row, since.as_deref()) {
            see(row);
        }
    };
    reader.one(seq, look).map(|_| ())
}

/// The record of this number.
///
/// # Errors
/// Why the log could not be read.
pub fn at(reader: &Reader, seq: u64) -> Result<Option<Found>, StoreError> {
    reader.one(seq, |row| Found::new(&row))
}

/// All records of a ticket, the oldest first. Two runs of a wrapper may have given out the same name.
///
/// # Errors
/// Why the log could not be read.
pub fn of_ticket(reader: &Reader, index: Option<&Index>, ticket: &str) -> Result<Vec<Found>, StoreError> {
    // As a body has it; far quicker than to parse every one. A value cannot hold it: its quotes would be escaped.
    let mut field = String::from("\"ticket\":");
    push_string(&mut field, ticket);
    let finder = memmem::Finder::new(&field);
    let mut found = Vec::new();
    let mut see = |row: Row<'_>| {
        if finder.find(row.body).is_some() {
            let row = Found::new(&row);
            if row.fields().is_some_and(|fields| fields.ticket.as_deref() == Some(ticket)) {
                found.push(row);
            }
        }
        ControlFlow::Continue(())
    };
    match index {
        Some(index) => index.newest_first(reader, &index.ask_ticket(ticket), &mut see)?,
        None => reader.each(Order::NewestFirst, &mut see)?,
    }
    found.reverse();
    Ok(found)
}

/// A session that gave out a ticket, and when. Both are foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfSession {
    pub session: String,
    pub since: String,
}

/// Of all records of a ticket, those of one session: the newest, or the newest whose name begins so. And which others
/// have given out the same ticket, the oldest first: numbers start anew with each run of a wrapper.
pub fn of_one_session(found: Vec<Found>, wanted: Option<&str>) -> (Vec<Found>, Vec<OfSession>) {
    let session = |row: &Found| row.fields().map(|fields| fields.session.into_owned()).unwrap_or_default();
    let wanted = wanted.unwrap_or_default();
    let Some(chosen) = found.iter().rev().map(session).find(|name| name.starts_with(wanted)) else {
        return (Vec::new(), Vec::new());
    };
    let mut others: Vec<OfSession> = Vec::new();
    let (of_it, rest): (Vec<Found>, Vec<Found>) = found.into_iter().partition(|row| session(row) == chosen);
    for row in &rest {
        if let Some(fields) = row.fields()
            && others.iter().all(|other| other.session != fields.session)
        {
            others.push(OfSession { session: fields.session.into_owned(), since: fields.time.into_owned() });
        }
    }
    (of_it, others)
}

/// What became of verifying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The head of the part that holds, from the first record on.
    pub head: Head,
    pub broken: Option<Break>,
    pub anchor: Anchor,
}

/// Whether a link noted earlier is still in the part that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    NotAsked,
    Found { seq: u64 },
    Missing,
}

/// Verifies every record. `expected` is a link noted earlier.
///
/// # Errors
/// Why the log could not be read; a broken chain is no error here.
pub fn verify(reader: &Reader, expected: Option<Digest>) -> Result<Verified, StoreError> {
    let mut verifier = Verifier::default();
    let mut broken = None;
    let mut anchor = match expected {
        Some(_) => Anchor::Missing,
        None => Anchor::NotAsked,
    };
    reader.each(Order::OldestFirst, &mut |row| match verifier.take(&row) {
        Ok(head) => {
            if expected == Some(head.link) {
                anchor = Anchor::Found { seq: head.seq };
            }
            ControlFlow::Continue(())
        }
        Err(found) => {
            broken = Some(found);
            ControlFlow::Break(())
        }
    })?;
    let head = verifier.head();
    Ok(Verified { head, broken, anchor })
}

/// A moment as a person names it: `30d`, `12h`, `5m`, `90s`, `2w` ago, or an RFC 3339 time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// So many milliseconds ago.
    Ago(i64),
    /// Milliseconds since 1970, UTC.
    At(i64),
}

impl Since {
    /// The moment, in milliseconds since 1970, UTC.
    pub fn moment(self, now: i64) -> i64 {
        match self {
            Self::Ago(millis) => now.saturating_sub(millis),
            Self::At(moment) => moment,
        }
    }
}

/// A text that names no moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("say how long ago (30d, 12h, 5m, 90s, 2w), or a time like 2026-11-21T10:00:00Z")]
pub struct NotAMoment;

impl FromStr for Since {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        const SECOND: i64 = 1000;
        const UNITS: &[(char, i64)] = &[
            ('s', SECOND),
            ('m', 60 * SECOND),
            ('h', 3600 * SECOND),
            ('d', 86_400 * SECOND),
            ('w', 7 * 86_400 * SECOND),
        ];
        for (unit, millis) in UNITS {
            if let Some(number) = text.strip_suffix(*unit)
                && let Ok(number) = number.parse::<u32>()
            {
                return Ok(Self::Ago(i64::from(number).saturating_mul(*millis)));
            }
        }
        let time: jiff::Timestamp = text.parse().map_err(|_| NotAMoment)?;
        Ok(Self::At(time.as_millisecond()))
    }
}

pub(super) fn rfc3339(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}
