//! What the log reader is asked and what it finds: plain data between the screens and the thread that reads the disk.

use std::path::PathBuf;
use std::sync::Arc;

use crate::audit::tally::{Histogram, Sessions, Tally};
use crate::audit::{By, Kind, Outcome, Record, Search, VerdictWord, chain::Break, fields::Call, query};
use crate::behavior::Badge;
use crate::policy::{
    Decision, Pending, Ruling, decide::Near, lint::Warning, past::PastCall, result::ResultAct, rule::Defaults,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pinned::PinBook;
use super::tried::{Trial, Tried};

#[derive(Clone, Debug, PartialEq)]
pub enum LogRequest {
    // A page of the log. A newer one takes its place.
    Page(Wanted),
    Record { seq: u64 },
    // The call that a record is of, for a rule.
    PastCall { seq: u64 },
    // Counts on, up to the newest record.
    Count,
    Verify,
    Rules,
    Pins,
    // How much memory these wrappers and what they started take.
    Footprints(Vec<u32>),
    // Which servers hosts start without mcp-approve.
    Hosts,
    Recent,
    // What operators decided of calls of this tool.
    Before { server: String, tool: String },
    // The operator has dismissed the tour.
    TourSeen,
    // Tries something on past calls; another thread does that.
    Try(Trial),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Returned with the page, so that a late page is not taken for the awaited one.
    pub id: u64,
    pub search: Search,
    pub rows: LogRows,
    pub from: Edge,
    pub most: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogRows {
    /// Each call, by its decision or by another record that says its state.
    #[default]
    Calls,
    Records,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    Newest,
    Oldest,
    Below(u64),
    Above(u64),
}

#[derive(Clone, Debug)]
pub enum Finding {
    Page(Page),
    // `None`: the log has no such record.
    Record(u64, Option<Box<Opened>>),
    // The call that a record is of; why there is none.
    PastCall(u64, Result<Box<PastCall>, String>),
    Counts(Arc<Counts>),
    Verified(Checked),
    // Up to which record searches use the index, and whether no more can be added to it now.
    Indexed { upto: u64, level: bool },
    Rules(Arc<RuleBook>),
    Pins(Arc<PinBook>),
    // What is remembered of tools cannot be read: why, and what to do.
    PinsTrouble(String),
    Footprints(Vec<(u32, u64)>),
    Hosts(Vec<Unwrapped>),
    Recent(Vec<Line>),
    Before(Before),
    Tried(Tried),
    // The log could not be read: why, and what to do.
    Trouble(String),
    NoLog,
}

/// What operators decided of a tool's calls in the last days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    pub server: String,
    pub tool: String,
    pub approved: usize,
    pub denied: usize,
    /// The last decision, by whom (foreign text), and when: milliseconds since 1970, UTC.
    pub last: Option<(VerdictWord, String, i64)>,
}

impl Before {
    /// Decisions that are counted at most.
    pub const MOST: usize = 200;
    /// How many days back they are looked for.
    pub const DAYS: i64 = 30;
}

/// A page of the log, or the part of it found so far.
#[derive(Clone, Debug)]
pub struct Page {
    pub id: u64,
    pub from: Edge,
    /// The newest first.
    pub lines: Vec<Line>,
    /// How far the search has come: records from here on in its direction were not read.
    pub searched: u64,
    pub newest: u64,
    pub progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Searching,
    /// As many as were wanted; there may be more beyond.
    Full,
    AtTheEnd,
}

/// A record as one line. Everything in it may be foreign text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub seq: u64,
    /// Whose record it is, in a log that has those of many machines.
    pub machine: Option<String>,
    /// Milliseconds since 1970, UTC; `None` if the record has no time.
    pub time: Option<i64>,
    pub kind: Option<Kind>,
    /// The kind's word, also of one that this program does not know.
    pub kind_word: String,
    pub server: String,
    pub session: String,
    pub ticket: Option<String>,
    pub tool: Option<String>,
    pub target: Option<String>,
    pub badge: Option<Badge>,
    pub ruling: Option<Decision>,
    pub verdict: Option<VerdictWord>,
    pub by: Option<By>,
    pub rule: Option<String>,
    pub latency_us: Option<u64>,
    pub outcome: Option<Outcome>,
    /// Reason, result, or what happened.
    pub note: String,
    /// How each leaf of a read's arguments was explained.
    pub explained: String,
    /// The operator, where one decided.
    pub who: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Detail {
    reason: Option<String>,
    /// How a server ended.
    how: Option<String>,
    result: Option<String>,
    what: Option<String>,
    operator: Option<String>,
    explained: Option<String>,
    why: Option<String>,
    /// How many consoles were attached when it was asked; older records do not say.
    consoles: Option<u64>,
    /// How many connections to a desk it had then: it knows no more of the consoles there.
    desks: Option<u64>,
    banner: Option<String>,
    review: Option<String>,
    name: Option<String>,
    /// The state of a definition, from the gate.
    definition: Option<String>,
    edited_from: Option<String>,
    /// A host's own word, or a definition's number.
    version: Option<Value>,
    /// Of a change of rules: the file, or the grant.
    file: Option<String>,
    grant: Option<Grant>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Grant {
    id: String,
    tool: String,
}

impl Line {
    /// The line of a record; one that cannot be read says so.
    pub fn of(record: &Record) -> Self {
        let seq = u64::try_from(record.seq).unwrap_or(0);
        let Some(fields) = record.fields() else {
            let machine = record.machine().map(str::to_owned);
            return Self { seq, machine, note: "this record cannot be read".to_owned(), ..Self::default() };
        };
        let detail: Detail = fields.detail().unwrap_or_default();
        let kind = fields.kind();
        let version = detail.version.map(|version| match version {
            Value::String(version) => version,
            other => other.to_string(),
        });
        let outcome = detail.result.as_deref().and_then(|word| word.parse().ok());
        let joined = |one: Option<String>, by: &str, other: Option<String>| {
            [one, other].into_iter().flatten().reduce(|one, other| one + by + &other)
        };
        let note = match kind {
            Some(Kind::Outcome) => detail.result.or(detail.reason),
            Some(Kind::DecisionAsked) => {
                let is_on_desk = detail.desks.is_some_and(|desks| desks > 0);
                let shown = detail.consoles.map(|consoles| match consoles {
                    0 if is_on_desk => "no console was open on its machine".to_owned(),
                    0 => "no console was open".to_owned(),
                    1 => "shown in 1 console".to_owned(),
                    more => format!("shown in {more} consoles"),
                });
                let desk = is_on_desk.then(|| "the desk was connected".to_owned());
                let shown = joined(shown, "; ", desk);
                let edited = detail.edited_from.map(|_| "with edited arguments".to_owned());
                joined(joined(detail.why, "; ", edited), "; ", shown)
            }
            Some(Kind::Fault) => joined(detail.what, ": ", detail.reason),
            Some(Kind::Host) => joined(detail.name, " ", version),
            Some(Kind::ServerEnd) => joined(detail.how, ": ", detail.reason),
            Some(Kind::Policy) => {
                let grant = detail.grant.map(|grant| format!("{} for {}", grant.id, grant.tool));
                let what = joined(detail.what, ": ", grant.or(detail.file));
                let why = detail.reason.or(detail.banner);
                if what.is_none() { why } else { joined(what, " ", why.map(|why| format!("({why})"))) }
            }
            Some(Kind::Tools) => detail.review.or_else(|| {
                let (state, version) = detail.definition.zip(version)?;
                Some(format!("{state} definition, version {version}"))
            }),
            _ => detail.reason.or(detail.what),
        };
        Self {
            seq,
            machine: record.machine().map(str::to_owned),
            time: fields.millis(),
            kind,
            badge: fields.badge.as_deref().and_then(Badge::from_word),
            ruling: fields.ruling.as_deref().and_then(Decision::from_word),
            verdict: fields.verdict(),
            by: fields.by(),
            latency_us: fields.latency_us(),
            kind_word: fields.kind.into_owned(),
            server: fields.server.into_owned(),
            session: fields.session.into_owned(),
            ticket: fields.ticket,
            tool: fields.tool,
            target: fields.target,
            rule: fields.rule,
            outcome,
            note: note.unwrap_or_default(),
            explained: detail.explained.unwrap_or_default(),
            who: detail.operator.unwrap_or_default(),
        }
    }

    /// Whether it can be its call's row. One that cannot be read is a row, too.
    pub fn is_row(&self) -> bool {
        self.kind.map_or(self.kind_word.is_empty(), query::is_row)
    }

    /// Its kind and its call; `None` where it cannot be read.
    pub fn of_call(&self) -> Option<(Option<Kind>, Call)> {
        (!self.kind_word.is_empty()).then(|| (self.kind, Call::of(&self.session, self.ticket.as_deref())))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// The number of the last record counted.
    pub upto: u64,
    /// The number of the newest record when the log was last looked at.
    pub newest: u64,
    pub tally: Tally<Histogram>,
    pub sessions: Sessions,
}

#[derive(Clone, Debug)]
pub struct Opened {
    pub line: Line,
    pub record: Record,
    /// The number of the newest record.
    pub newest: u64,
    /// Whether its link follows from the record before it and from its own bytes.
    pub link: Result<(), Break>,
    /// The other records of the same call, the oldest first.
    pub beside: Vec<Line>,
    /// What the policy as it is written says of the call; `None` where it is no call, or there is no such policy.
    pub explained: Option<Explained>,
}

#[derive(Clone, Debug)]
pub struct Explained {
    pub ruling: Ruling,
    /// The rules for its tool that did not decide, the nearest first.
    pub near: Vec<Near>,
    /// Whether the record has all of the arguments: secrets and long texts are not in the log.
    pub certain: Certain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certain {
    Yes,
    /// A part of the arguments was replaced or cut.
    Perhaps,
}

/// A server that a host starts without mcp-approve. Foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwrapped {
    pub server: String,
    pub host: String,
    /// The list it is in, and for which project.
    pub list: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How many records hold, from the first on.
    pub holds: u64,
    /// `None` when it is over.
    pub until: Option<u64>,
    /// What is wrong with it, in one sentence.
    pub wrong: Option<String>,
}

#[derive(Clone, Debug)]
pub struct RuleBook {
    pub files: Vec<PathBuf>,
    pub rules: Vec<RuleLine>,
    pub defaults: Defaults,
    /// What is wrong with the policy, and how to fix it.
    pub broken: Option<String>,
    /// No file: the built-in default applies.
    pub built_in: bool,
    /// Changes that are not accepted yet, of the files that count for every server.
    pub pending: Vec<Pending>,
}

/// A rule as one line. Its texts come from the file.
#[derive(Clone, Debug)]
pub struct RuleLine {
    pub id: String,
    pub decision: Decision,
    /// Of a rule about results: what becomes of them.
    pub result: Option<ResultAct>,
    pub disabled: bool,
    pub file: usize,
    pub line: usize,
    /// What it is for: each selector and predicate, `tool` and `write_*`.
    pub selects: Vec<(&'static str, String)>,
    pub expires: Option<i64>,
    pub note: Option<String>,
    pub warnings: Vec<Warning>,
}
