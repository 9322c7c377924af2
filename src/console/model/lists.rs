//! What the screens beside Waiting know: for each its list, its search, its open sheet, and what its lines show.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::audit::{Field, Search, tally::SessionTally};
use crate::behavior::Badge;
use crate::home::agreed::Known;
use crate::link::message::{Activity, GrantCard, KnownTool, PinState, Status, Wrapper};
use crate::operator::found::{Checked, Counts, Edge, Line, LogRows, Opened, RuleBook, Unwrapped};
use crate::operator::pinned::{PinBook, PinReview, PinnedTool, Shown, wants_word};
use crate::operator::tried::{Attempt, Suggested, SuggestedRule};
use crate::policy::Pending;
use crate::wire::Digest;

#[derive(Clone, Debug, Default)]
pub struct ListState {
    pub at: usize,
    pub top: usize,
    /// The selected line's sheet, when it is open: its first row on screen.
    pub sheet: Option<usize>,
    pub find: String,
    pub sought: Sought,
    pub search: Search,
    pub problem: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sought {
    /// The operator typed it, or it is empty.
    #[default]
    Typed,
    /// A step from another screen set it, to show one thing there. A new search begins without it.
    Led,
}

#[derive(Debug, Default)]
pub struct ActivityPage {
    pub list: ListState,
    /// Oldest first.
    pub passed: VecDeque<Passed>,
    pub following: Following,
}

#[derive(Clone, Debug)]
pub struct Passed {
    pub server: String,
    pub session: String,
    pub activity: Activity,
    pub source: EntrySource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntrySource {
    Live,
    /// It passed before this console was there.
    FromLog,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Following {
    #[default]
    Newest,
    Stays,
}

impl ActivityPage {
    /// The entries that its search wants, by their place, oldest first.
    pub fn passing(&self) -> Vec<usize> {
        let search = &self.list.search;
        if search.is_empty() {
            return (0..self.passed.len()).collect();
        }
        let wanted = |passed: &Passed| {
            let activity = &passed.activity;
            let fields = [
                (Field::Server, Some(passed.server.as_str())),
                (Field::Session, Some(passed.session.as_str())),
                (Field::Ticket, activity.ticket.as_deref()),
                (Field::Tool, activity.ticket.as_ref().map(|_| activity.what.as_str())),
                (Field::Kind, Some(activity.kind.word())),
                (Field::Badge, activity.badge.map(Badge::word)),
                (Field::Ruling, activity.ruling.map(|ruling| ruling.word())),
                (Field::Verdict, activity.verdict.map(|verdict| verdict.word())),
                (Field::By, activity.by.map(|by| by.word())),
                (Field::Rule, activity.rule.as_deref()),
                (Field::Target, activity.target.as_deref()),
                (Field::Operator, Some(activity.who.as_str())),
                (Field::Reason, Some(activity.reason.as_str())),
            ];
            let parts = [&passed.server, &activity.what, &activity.reason, &activity.explained, &activity.who];
            let text = parts.into_iter().chain(&activity.rule).chain(&activity.ticket).chain(&activity.target);
            let text = || text.map(String::as_str).collect::<Vec<_>>().join("\n");
            search.wants(Some(activity.time), &fields, text)
        };
        self.passed.iter().enumerate().filter(|(_, passed)| wanted(passed)).map(|(at, _)| at).collect()
    }
}

#[derive(Debug, Default)]
pub struct LogPage {
    pub list: ListState,
    pub window: Window,
    /// What the list has a row for, where the search names no kind of record.
    pub chosen_rows: LogRows,
    /// The record that a rule is to be made from, while its call is looked up.
    pub rule_from: Option<u64>,
    pub opened: Option<(u64, Option<Box<Opened>>)>,
    /// When it was asked for, in milliseconds since 1970.
    pub opened_at: i64,
    pub counts: Option<Arc<Counts>>,
    pub checked: Option<Checked>,
    /// Up to which record searches use the index, while it is being filled.
    pub indexing: Option<u64>,
    pub trouble: Option<String>,
    pub missing: bool,
}

impl LogPage {
    /// What the list has a row for. A search for a kind of record wants records.
    pub fn rows(&self) -> LogRows {
        if self.list.search.asks_for(Field::Kind) { LogRows::Records } else { self.chosen_rows }
    }
}

/// The part of the log that is in memory, the newest first: without gaps for what the search wants.
#[derive(Clone, Debug, Default)]
pub struct Window {
    pub lines: VecDeque<Line>,
    /// The number of the newest record of the log.
    pub newest: u64,
    /// Where it must begin again; `None` when it is as wanted.
    pub wants: Option<Edge>,
    pub awaits: Option<u64>,
    /// Gives each wanted page its number.
    pub pages: u64,
    /// How far the search has come, while it goes on.
    pub searched: Option<u64>,
    /// Up to which record all newer ones are here, or were not wanted.
    pub above: Option<u64>,
    /// Below which record nothing was read yet; 0 at the end of the log.
    pub below: Option<u64>,
    /// When the last page was asked for or came.
    pub looked: i64,
    /// Whether the sheet of the first row is to open as soon as it is here.
    pub opens: Opens,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opens {
    #[default]
    Nothing,
    TheFirst,
}

#[derive(Debug, Default)]
pub struct ToolsPage {
    pub list: ListState,
    pub lines: Vec<ToolLine>,
    pub pins: Option<Arc<PinBook>>,
    /// Why what is remembered of tools cannot be read.
    pub forgotten: Option<String>,
    /// Tools that are marked, by their definitions on show.
    pub marked: BTreeSet<Shown>,
    /// The line of what is agreed to that is selected on a sheet, by the digest of its record.
    pub picked: Option<Digest>,
    /// What undoes the last settling in this console.
    pub undo: Option<PinReview>,
    /// What each session's server has described.
    pub known: BTreeMap<String, Vec<KnownTool>>,
}

impl ToolsPage {
    pub fn pinned(&self, line: &ToolLine) -> Option<&PinnedTool> {
        match line.subject {
            Subject::Pinned(at) => self.pins.as_ref()?.tools.get(at),
            Subject::Tool | Subject::Program(_) | Subject::Page(_) => None,
        }
    }

    pub fn agreed(&self, line: &ToolLine) -> Vec<&Known> {
        let Some(book) = &self.pins else { return Vec::new() };
        let of = match line.subject {
            Subject::Program(at) => book.programs.get(at).map(|one| (&one.server.fingerprint, None)),
            _ => self.pinned(line).map(|tool| (&tool.fingerprint, Some(tool.known.tool.as_str()))),
        };
        of.map(|(server, tool)| book.agreed_of(server, tool)).unwrap_or_default()
    }
}

#[derive(Clone, Debug, Default)]
pub struct ToolLine {
    pub subject: Subject,
    pub server: String,
    pub tool: String,
    pub signature: Option<String>,
    pub badge: Option<Badge>,
    /// The behavioral identity, 16 hex characters.
    pub identity: String,
    /// `MUTATES|CREATE|ACK`.
    pub words: String,
    pub evidence: Vec<String>,
    /// Name and what was found.
    pub hazards: Vec<(String, String)>,
    pub disputed: bool,
    /// `documents:read`, as a role would name it.
    pub tags: Vec<String>,
    /// Side effects and idempotence, in our words.
    pub effects: String,
    /// One more with every change of the definition, from 1.
    pub version: Option<u64>,
    /// How its definition compares with the trusted one; `None` where it is not remembered.
    pub pin: Option<PinState>,
    /// The digest of the canonical definition.
    pub definition: Option<String>,
    pub source: ToolSource,
    pub calls: u64,
    pub denied: u64,
    pub failed: u64,
    /// Latencies in microseconds that half and 95 % of the answers do not exceed.
    pub p50: Option<u64>,
    pub p95: Option<u64>,
    pub last: Option<i64>,
}

impl ToolLine {
    pub fn wants_word(&self) -> bool {
        let said = matches!(self.subject, Subject::Pinned(_)).then_some(self.pin.zip(self.badge)).flatten();
        said.is_some_and(|(pin, badge)| wants_word(pin, badge))
    }

    /// Whether its definition is not the trusted one: no allow rule covers it until an operator has reviewed it.
    pub fn wants_review(&self) -> bool {
        matches!(self.subject, Subject::Program(_)) || self.pin.is_some_and(|pin| pin != PinState::Trusted)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// A tool that no server remembered here has described.
    #[default]
    Tool,
    /// A tool; it and the next two by their place in the book of pins.
    Pinned(usize),
    Program(usize),
    Page(usize),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolSource {
    /// A running server describes it now.
    Offered,
    #[default]
    Remembered,
}

#[derive(Debug, Default)]
pub struct RulesPage {
    pub list: ListState,
    pub lines: Vec<RuleEntry>,
    pub book: Option<Arc<RuleBook>>,
    pub suggested: Attempt<Suggested>,
    /// The number of the newest record when suggestions were last asked for: the same log suggests nothing new.
    pub suggested_upto: Option<u64>,
    pub declined: Vec<Arc<SuggestedRule>>,
}

#[derive(Clone, Debug)]
pub struct RuleHits {
    pub id: String,
    /// Its place in the book; `None` for a rule that only the log knows.
    pub at: Option<usize>,
    pub hits: u64,
    pub last: Option<i64>,
}

#[derive(Clone, Debug)]
pub enum RuleEntry {
    // A changed policy file waits; `session` is one of those that report it.
    Waits { session: String, pending: Box<Pending> },
    Grant { session: String, server: String, card: Box<GrantCard> },
    Rule(RuleHits),
    Suggested(Arc<SuggestedRule>),
}

impl RuleEntry {
    /// The rule's name in records; `None` where no record can name it.
    pub fn rule(&self) -> Option<&str> {
        match self {
            Self::Waits { .. } | Self::Suggested(_) => None,
            Self::Grant { card, .. } => Some(&card.id),
            Self::Rule(line) => Some(&line.id),
        }
    }

    /// Whether it is the same line, though what it says may have changed.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Waits { pending: one, .. }, Self::Waits { pending: two, .. }) => one.file == two.file,
            (Self::Grant { session: one, card, .. }, Self::Grant { session: two, card: other, .. }) => {
                one == two && card.id == other.id
            }
            (Self::Rule(one), Self::Rule(two)) => one.id == two.id,
            (Self::Suggested(one), Self::Suggested(two)) => one.is_like(two),
            _ => false,
        }
    }
}

#[derive(Debug, Default)]
pub struct ServersPage {
    pub list: ListState,
    pub lines: Vec<ServerLine>,
    /// The latest latencies of each session's answers, in microseconds, the newest last.
    pub latencies: BTreeMap<String, VecDeque<u64>>,
    pub footprints: BTreeMap<u32, u64>,
    pub unwrapped: Vec<Unwrapped>,
    /// Wrappers that ended while this console looked, with the moment.
    pub ended: Vec<(Connected, i64)>,
}

#[derive(Clone, Debug)]
pub enum ServerLine {
    Running(Box<Connected>),
    /// The last run of one that ended while we looked, with the moment, and its runs before.
    Ended(Box<Connected>, i64, Earlier),
    Unwrapped(Unwrapped),
    /// One that only the log knows, by its session.
    Past(String, Box<SessionTally>, Earlier),
}

/// The runs of a server that ended before its last one: how many, and what they decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    pub runs: usize,
    pub calls: u64,
    pub failed: u64,
}

impl ServerLine {
    pub fn server(&self) -> &str {
        match self {
            Self::Running(one) | Self::Ended(one, ..) => &one.wrapper.server,
            Self::Unwrapped(one) => &one.server,
            Self::Past(_, session, _) => &session.server,
        }
    }

    /// How many ended runs this line is; `None` for one that runs or is not wrapped.
    pub fn runs(&self) -> Option<usize> {
        match self {
            Self::Ended(_, _, earlier) | Self::Past(_, _, earlier) => Some(earlier.runs + 1),
            Self::Running(_) | Self::Unwrapped(_) => None,
        }
    }

    /// Counts a run before the one on this line.
    pub fn count(&mut self, calls: u64, failed: u64) {
        if let Self::Ended(_, _, earlier) | Self::Past(_, _, earlier) = self {
            (earlier.runs, earlier.calls) = (earlier.runs + 1, earlier.calls + calls);
            earlier.failed += failed;
        }
    }
}

#[derive(Clone, Debug)]
pub struct Connected {
    pub wrapper: Wrapper,
    pub status: Status,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incompatible {
    pub name: String,
    pub protocol: u32,
    pub version: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    pub server: String,
    /// Our own line on what it does, with foreign text in it.
    pub effect: String,
    pub fate: LostFate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostFate {
    /// It was held, so nothing of it reached the server.
    NeverRan,
    /// It was approved just before.
    MayHaveRun,
}
