//! Calls that have no outcome yet: what is known of each, and what each waits for. Owns the table; decides nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::audit::record::{By, Receipt, VerdictWord};
use crate::capability::scope::InScope;
use crate::gate::call::judged::Judged;
use crate::gate::data::event::{ConsoleId, Now};
use crate::gate::data::facts::{Findings, Look};
use crate::gate::data::opinion::Opinion;
use crate::gate::data::terms::GrantTerms;
use crate::mcp::lifecycle::InSession;
use crate::wire::call::Call;
use crate::wire::digest::Digest;
use crate::wire::id::Id;
use crate::wire::line::Line;

/// A held call.
#[derive(Debug)]
pub struct Held {
    pub ticket: Arc<str>,
    pub call: Box<Call>,
    /// The proof that the session allows it; `None` while the server still owes the answer to `initialize`.
    pub session: Option<InSession>,
    pub scope: InScope,
    pub arrived: Now,
    /// Monotonic microseconds; denied then for want of an answer.
    pub deadline: u64,
    pub judged: Option<Judged>,
    pub stage: Stage,
    /// Whether the record that it was asked is on the disk, arguments and all.
    pub arrival: Arrival,
    /// What the host sent, when the operator has edited it.
    pub original: Option<Original>,
    /// The next heartbeat and how many were sent; `None` where the host gave no progress token.
    pub beat: Option<Beat>,
    /// What was looked at, and what was found there: as the policy or the operator knew it.
    pub look: Look,
    pub found: Option<Findings>,
    /// What the approvers said of it; `None` while nobody was asked.
    pub opinions: Option<Vec<Opinion>>,
    /// What had changed since the operator saw it first, where it is asked again for that.
    pub asked_again: Option<&'static str>,
}

/// Whether the log has the arguments of an asked call already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It was not put before the operator, so no console has to hear of its end.
    Unasked,
    /// Not for certain: the decision carries them again.
    Unrecorded,
    Recorded,
}

/// The line as received, before the operator's edit.
#[derive(Debug)]
pub struct Original {
    pub digest: Digest,
    pub arguments: String,
}

/// Heartbeats of one held call.
#[derive(Clone, Copy, Debug)]
pub struct Beat {
    pub next: u64,
    pub sent: u32,
}

/// What a held call waits for.
#[derive(Debug)]
pub enum Stage {
    /// The server's answer to `initialize`.
    Opening,
    /// The server's description of the tool.
    Describing,
    /// The shell's look at what it would touch.
    Looking { look: u64, after: After },
    /// The approvers that the operator registered.
    Consulting { consult: u64 },
    /// The operator. `entry` is the record that it was asked.
    Asking { entry: u64 },
    /// The log. Then the verdict counts.
    Deciding { entry: u64, verdict: Verdict },
    /// The log; but the call was withdrawn since, so an approval comes too late.
    Withdrawn { entry: u64, verdict: Verdict, why: Withdrawal },
}

/// What a look at the disk is for.
#[derive(Debug)]
pub enum After {
    /// It is judged by what is found.
    Judging,
    /// The operator has approved: if all is as it was shown.
    Approving(Verdict),
    /// The approval is in the log: it is forwarded if all is still as it was.
    Forwarding { verdict: Verdict, receipt: Receipt },
}

/// Why a call was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    /// The host cancelled it: no answer is due.
    Cancelled,
    /// The host is gone: nobody is left to answer.
    HostGone,
    /// The server is gone: the host is told that nothing ran.
    ServerGone,
    /// The wrapper stops: the host is told that nothing ran.
    Stopping,
}

/// A verdict on its way to the log.
#[derive(Debug)]
pub struct Verdict {
    pub word: VerdictWord,
    pub by: By,
    pub rule: Option<String>,
    /// Why, for the record and for the consoles.
    pub reason: String,
    /// The operator; empty where no person decided.
    pub who: Arc<str>,
    /// The operator's console; 0 where no person decided.
    pub console: ConsoleId,
    /// Approved without having been read to its end.
    pub unread: bool,
    /// What was approved beyond this call.
    pub grant: Option<GrantTerms>,
    /// What the host is answered when it is denied.
    pub reply: Option<Line>,
}

/// How many calls, and how many bytes of them, may wait at once; what comes beyond is denied.
const CALLS: usize = 20_000;
const BYTES: usize = 256 << 20;

/// All held calls, by number, by request id and by the record each waits for.
#[derive(Debug, Default)]
pub struct Table {
    calls: BTreeMap<u64, Held>,
    by_id: HashMap<Id, u64>,
    by_entry: HashMap<u64, u64>,
    last: u64,
    /// Bytes of all held lines together.
    bytes: usize,
}

impl Table {
    /// The next ticket's number.
    pub fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Holds a call under its number.
    pub fn insert(&mut self, number: u64, held: Held) {
        self.by_id.insert(held.call.id().clone(), number);
        self.bytes += held.call.line().bytes().len();
        if let Some(entry) = held.stage.entry() {
            self.by_entry.insert(entry, number);
        }
        self.calls.insert(number, held);
    }

    /// Lets a call go.
    pub fn remove(&mut self, number: u64) -> Option<Held> {
        let held = self.calls.remove(&number)?;
        self.by_id.remove(held.call.id());
        self.bytes = self.bytes.saturating_sub(held.call.line().bytes().len());
        if let Some(entry) = held.stage.entry() {
            self.by_entry.remove(&entry);
        }
        Some(held)
    }

    /// Moves a call to another stage.
    pub fn set_stage(&mut self, number: u64, stage: Stage) {
        if let Some(held) = self.calls.get_mut(&number) {
            if let Some(entry) = held.stage.entry() {
                self.by_entry.remove(&entry);
            }
            if let Some(entry) = stage.entry() {
                self.by_entry.insert(entry, number);
            }
            held.stage = stage;
        }
    }

    pub fn get(&self, number: u64) -> Option<&Held> {
        self.calls.get(&number)
    }

    pub fn get_mut(&mut self, number: u64) -> Option<&mut Held> {
        self.calls.get_mut(&number)
    }

    /// The number behind a request id.
    pub fn by_id(&self, id: &Id) -> Option<u64> {
        self.by_id.get(id).copied()
    }

    /// The number of the call that waits for a record.
    pub fn by_entry(&self, entry: u64) -> Option<u64> {
        self.by_entry.get(&entry).copied()
    }

    /// The number behind a ticket's name.
    pub fn by_ticket(&self, ticket: &str) -> Option<u64> {
        let number = ticket.rsplit_once('-')?.1.parse().ok()?;
        (*self.calls.get(&number)?.ticket == *ticket).then_some(number)
    }

    /// The numbers of the calls for which `wanted` holds, oldest first.
    pub fn numbers(&self, wanted: impl Fn(&Held) -> bool) -> Vec<u64> {
        self.calls.iter().filter(|(_, held)| wanted(held)).map(|(number, _)| *number).collect()
    }

    /// All held calls, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Held> {
        self.calls.values()
    }

    /// Whether one more call of this size would be too much to keep in memory.
    pub fn is_full(&self, more: usize) -> bool {
        self.calls.len() >= CALLS || self.bytes + more > BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}

impl Verdict {
    /// An approval that no person gave.
    pub fn approve(by: By, rule: Option<String>, reason: String) -> Self {
        Self {
            word: VerdictWord::Approve,
            by,
            rule,
            reason,
            who: "".into(),
            console: 0,
            unread: false,
            grant: None,
            reply: None,
        }
    }

    /// A denial that no person gave, with what the host is answered.
    pub fn deny(by: By, rule: Option<String>, reason: &str, reply: Line) -> Self {
        let reason = reason.to_owned();
        Self {
            word: VerdictWord::Deny,
            by,
            rule,
            reason,
            who: "".into(),
            console: 0,
            unread: false,
            grant: None,
            reply: Some(reply),
        }
    }
}

impl Stage {
    fn entry(&self) -> Option<u64> {
        match self {
            Self::Opening | Self::Describing | Self::Looking { .. } | Self::Consulting { .. } => None,
            Self::Asking { entry } | Self::Deciding { entry, .. } | Self::Withdrawn { entry, .. } => Some(*entry),
        }
    }
}
