//! What the screens beside Waiting know: each one's list, its search and its open sheet, and what the log reader found.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use crate::audit::fields::Field;
use crate::audit::search::Search;
use crate::audit::tally::SessionTally;
use crate::behavior::taxonomy::Badge;
use crate::home::agreed::Known;
use crate::link::message::{GrantCard, KnownTool, PinState};
use crate::operator::found::{Checked, Counts, Edge, Line, LogRequest, LogRows, Opened, RuleBook, Unwrapped};
use crate::operator::pinned::{PinBook, PinReview, PinnedTool, Shown, wants_word};
use crate::operator::tried::{Attempt, Suggested, SuggestedRule};
use crate::policy::rule::Pending;
use crate::wire::digest::Digest;

use super::{Connected, Model, Screen};

/// A screen's list, and how it is looked at.
#[derive(Clone, Debug, Default)]
pub struct ListState {
    /// Which line is selected.
    pub at: usize,
    /// The first line on screen.
    pub top: usize,
    /// The selected line's sheet, when it is open: its first row on screen.
    pub sheet: Option<usize>,
    /// The search as it was typed.
    pub find: String,
    pub sought: Sought,
    pub search: Search,
    /// Why the typed search is not valid.
    pub problem: Option<String>,
}

/// Where a screen's search comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sought {
    /// The operator typed it, or it is empty.
    #[default]
    Typed,
    /// A step from another screen set it, to show one thing there. A new search begins without it.
    Led,
}

/// The lists of all screens, and what they show.
#[derive(Debug, Default)]
pub struct Browse {
    /// The filter of the queue; its selection and scrolling are the model's.
    pub queue: ListState,
    pub activity: ListState,
    pub log: ListState,
    pub tools: ListState,
    pub rules: ListState,
    pub servers: ListState,
    pub window: Window,
    /// What the log's list has a row for, where the search names no kind of record.
    pub log_rows: LogRows,
    /// The record that a rule is to be made from, while its call is looked up.
    pub rule_from: Option<u64>,
    pub opened: Option<(u64, Option<Box<Opened>>)>,
    /// When it was asked for, in milliseconds since 1970.
    pub opened_at: i64,
    pub counts: Option<Arc<Counts>>,
    pub book: Option<Arc<RuleBook>>,
    pub checked: Option<Checked>,
    /// Up to which record searches use the index, while it is being filled.
    pub indexing: Option<u64>,
    pub pins: Option<Arc<PinBook>>,
    /// Why what is remembered of tools cannot be read.
    pub forgotten: Option<String>,
    /// Tools that are marked, by their definitions on show.
    pub marked: BTreeSet<Shown>,
    /// The line of what is agreed to that is selected on a sheet of Tools, by the digest of its record.
    pub picked: Option<Digest>,
    /// What undoes the last settling in this console.
    pub undo: Option<PinReview>,
    /// Why the log cannot be read.
    pub trouble: Option<String>,
    pub log_missing: bool,
    /// What each session's server has described.
    pub known: BTreeMap<String, Vec<KnownTool>>,
    /// The latest latencies of each session's answers, in microseconds, the newest last.
    pub latencies: BTreeMap<String, VecDeque<u64>>,
    /// Bytes by wrapper's process.
    pub footprints: BTreeMap<u32, u64>,
    /// Servers that hosts start without mcp-approve.
    pub unwrapped: Vec<Unwrapped>,
    /// Wrappers that ended while this console looked, with the moment.
    pub ended: Vec<(Connected, i64)>,
    /// The lines of Tools, Rules and Servers that the searches want.
    pub tool_lines: Vec<ToolLine>,
    pub rule_lines: Vec<RuleEntry>,
    pub server_lines: Vec<ServerLine>,
    /// Gives each trial its number.
    pub trials: u64,
    pub suggested: Attempt<Suggested>,
    /// The number of the newest record when suggestions were last asked for: the same log suggests nothing new.
    pub suggested_upto: Option<u64>,
    /// Suggestions that the operator has put aside.
    pub declined: Vec<Arc<SuggestedRule>>,
    /// When the log reader was last asked for each kind of thing, in milliseconds since 1970.
    pub asked: HashMap<Discriminant<LogRequest>, i64>,
}

/// The part of the log that is in memory, the newest first: without gaps for what the search wants.
#[derive(Clone, Debug, Default)]
pub struct Window {
    pub lines: VecDeque<Line>,
    /// The number of the newest record of the log.
    pub newest: u64,
    /// Where it must begin again; `None` when it is as wanted.
    pub wants: Option<Edge>,
    /// The page that is awaited.
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

/// Whether a sheet opens by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opens {
    #[default]
    Nothing,
    TheFirst,
}

/// A tool as its screen lists it.
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

/// What a line of Tools is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// A tool that no server remembered here has described.
    #[default]
    Tool,
    /// A tool, by its place in the book of pins.
    Pinned(usize),
    /// A server's program, by its place in the book of pins.
    Program(usize),
    /// A server's page, by its place in the book of pins.
    Page(usize),
}

/// Where a tool is known from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolSource {
    /// A running server describes it now.
    Offered,
    /// Only the log knows it.
    #[default]
    Remembered,
}

/// A rule with what it has decided.
#[derive(Clone, Debug)]
pub struct RuleHits {
    pub id: String,
    /// Its place in the book; `None` for a rule that only the log knows.
    pub at: Option<usize>,
    pub hits: u64,
    pub last: Option<i64>,
}

/// A line of Rules.
#[derive(Clone, Debug)]
pub enum RuleEntry {
    /// A changed policy file waits; `session` is one of those that report it.
    Waits {
        session: String,
        pending: Box<Pending>,
    },
    /// What an operator has approved beforehand.
    Grant {
        session: String,
        server: String,
        card: Box<GrantCard>,
    },
    Rule(RuleHits),
    /// What the log suggests; it is in no file.
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

/// A line of Servers.
#[derive(Clone, Debug)]
pub enum ServerLine {
    /// The place of a connected wrapper.
    Running(usize),
    /// One that ended while we looked.
    Ended(usize),
    /// The place of one that a host starts without mcp-approve.
    Unwrapped(usize),
    /// One that only the log knows.
    Past(String, Box<SessionTally>),
}

impl ToolLine {
    /// Whether the operator's word on the tool would save questions: it looks like a read, or it is new.
    pub fn wants_word(&self) -> bool {
        let said = matches!(self.subject, Subject::Pinned(_)).then_some(self.pin.zip(self.badge)).flatten();
        said.is_some_and(|(pin, badge)| wants_word(pin, badge))
    }

    /// Whether its definition is not the trusted one: no allow rule covers it until an operator has reviewed it.
    pub fn wants_review(&self) -> bool {
        matches!(self.subject, Subject::Program(_)) || self.pin.is_some_and(|pin| pin != PinState::Trusted)
    }
}

/// The list of a screen, borrowed in a way; `None` for the card.
macro_rules! list_of {
    ($browse:ident, $screen:ident, $($borrow:tt)+) => {
        match $screen {
            Screen::Detail => None,
            Screen::Queue => Some($($borrow)+ $browse.queue),
            Screen::Activity => Some($($borrow)+ $browse.activity),
            Screen::Log => Some($($borrow)+ $browse.log),
            Screen::Tools => Some($($borrow)+ $browse.tools),
            Screen::Rules => Some($($borrow)+ $browse.rules),
            Screen::Servers => Some($($borrow)+ $browse.servers),
        }
    };
}

impl Browse {
    pub fn list(&self, screen: Screen) -> Option<&ListState> {
        list_of!(self, screen, &)
    }

    pub fn list_mut(&mut self, screen: Screen) -> Option<&mut ListState> {
        list_of!(self, screen, &mut)
    }

    /// What the log's list has a row for. A search for a kind of record wants records.
    pub fn rows(&self) -> LogRows {
        if self.log.search.asks_for(Field::Kind) { LogRows::Records } else { self.log_rows }
    }

    /// What is remembered of a line's tool.
    pub fn pinned(&self, line: &ToolLine) -> Option<&PinnedTool> {
        match line.subject {
            Subject::Pinned(at) => self.pins.as_ref()?.tools.get(at),
            Subject::Tool | Subject::Program(_) | Subject::Page(_) => None,
        }
    }

    /// What is agreed to for the tool of a line, or for its server.
    pub fn agreed(&self, line: &ToolLine) -> Vec<&Known> {
        let Some(book) = &self.pins else { return Vec::new() };
        match line.subject {
            Subject::Program(at) => book
                .programs
                .get(at)
                .map(|program| book.agreed_of(&program.server.fingerprint, None))
                .unwrap_or_default(),
            _ => self
                .pinned(line)
                .map(|tool| book.agreed_of(&tool.fingerprint, Some(&tool.known.tool)))
                .unwrap_or_default(),
        }
    }

    /// Something was changed from here: everything that is asked for regularly is due now.
    pub fn ask_again(&mut self) {
        self.asked.retain(|request, _| *request == discriminant(&LogRequest::Recent));
    }

    /// A number for the next trial.
    pub fn next_trial(&mut self) -> u64 {
        self.trials += 1;
        self.trials
    }
}

impl Model {
    /// The changes of policy files that are not accepted yet, each with a session whose wrapper can accept it. Without any
    /// wrapper they are those of the files, and no session is named.
    pub fn pending(&self) -> impl Iterator<Item = (&str, &Pending)> {
        let of_wrappers = self
            .wrappers
            .iter()
            .flat_map(|one| one.status.pending.iter().map(|pending| (one.wrapper.session.as_str(), pending)));
        let of_files = self.browse.book.iter().filter(|_| self.wrappers.is_empty()).flat_map(|book| &book.pending);
        of_wrappers.chain(of_files.map(|pending| ("", pending)))
    }
}
