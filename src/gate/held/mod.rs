//! A held call: what is known of it, what it was judged to be, and what it waits for. Each way of waiting carries what is known
//! by then, so that a verdict without a judgement, or an approval without its proofs, cannot be written down. Decides nothing.

pub(in crate::gate) mod context;
pub mod entries;
pub mod log;
pub mod out;
pub mod replies;
pub mod retry;
pub mod table;
pub mod target;
pub mod wait;

use std::borrow::Cow;
use std::sync::Arc;

use crate::audit::{By, Receipt, VerdictWord};
use crate::behavior::Behavior;
use crate::capability::schema::Violation;
use crate::gate::data::event::{Now, Operator};
use crate::gate::data::facts::{Findings, Look, Opinion};
use crate::gate::data::terms::GrantTerms;
use crate::gate::held::{retry::Retry, wait::HostWait};
use crate::gate::server::{described::Described, flight::AnswerOf};
use crate::mcp::InSession;
use crate::policy::{Ruling, decide::Near, scope::InScope};
use crate::signing::{CardTerms, Grade, verdict::SignedVerdict};
use crate::wire::{Call, Digest, Id, Line};

#[derive(Debug)]
pub struct Held {
    pub number: u64,
    pub ticket: Arc<str>,
    pub call: Box<Call>,
    pub arrived: Now,
    /// When the call is denied for want of an answer, in monotonic microseconds.
    pub deadline: u64,
    pub asked: AskRecord,
    /// What the host sent, when the operator has edited it.
    pub original: Option<Original>,
    pub wait: HostWait,
    pub seen: Seen,
    /// What changed after the operator first saw the call, if it is asked again for that reason.
    pub asked_again: Option<&'static str>,
    /// The approvals that were signed while others are missing.
    pub signed: Vec<GradedVerdict>,
    /// How many signatures were taken for it, also those that count no longer: each card has a challenge of its own.
    pub challenges: u64,
}

/// A signed verdict, and what it is worth.
#[derive(Debug)]
pub struct GradedVerdict {
    pub verdict: SignedVerdict,
    pub grade: Grade,
}

impl GradedVerdict {
    /// Whether it covers this state of the call, whichever approval it was and whatever its challenge.
    pub fn covers(&self, terms: &CardTerms) -> bool {
        let is_it = |card: &CardTerms| {
            CardTerms { approval: terms.approval, challenge: terms.challenge, ..card.clone() } == *terms
        };
        self.verdict.attested().statement().cards().any(is_it)
    }
}

/// Whether the call was put before the operator, and whether that record, arguments and all, is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskRecord {
    /// It was not put before the operator, so no console waits for its end.
    NotAsked,
    /// Not in the log for certain: the decision carries the arguments again.
    Sent,
    Recorded,
}

/// The line as received, before the operator's edit.
#[derive(Debug)]
pub struct Original {
    pub digest: Digest,
    pub arguments: String,
}

/// What is known of a call once it was judged: that its session and its scope allow it, and the judgement.
#[derive(Debug)]
pub struct Case {
    pub session: InSession,
    pub scope: InScope,
    pub judged: Box<Judged>,
}

/// The server has not answered `initialize` yet.
#[derive(Debug)]
pub struct Opening;

/// The call waits for the pins of the server, or for its description of the tool.
#[derive(Debug)]
pub struct Describing {
    pub session: InSession,
    /// The judgement by a definition that the server has changed since.
    pub before: Option<Box<Judged>>,
}

/// The shell looks at what the call would touch, so that it can be judged.
#[derive(Debug)]
pub struct Looking {
    pub case: Case,
    pub look: u64,
}

/// The registered approvers are asked.
#[derive(Debug)]
pub struct Consulting {
    pub case: Case,
    pub consult: u64,
}

/// The operator is asked. `entry` records that; `look` is the number of a look at what may have changed since.
#[derive(Debug)]
pub struct Asking {
    pub case: Case,
    pub entry: u64,
    pub look: Option<u64>,
}

/// The operator has approved, and the shell looks whether all is as it was shown.
#[derive(Debug)]
pub struct Approving {
    pub approval: Approval,
    pub look: u64,
}

/// The log has not confirmed the decision yet.
#[derive(Debug)]
pub struct Deciding {
    pub decision: Decided,
    pub entry: u64,
}

/// The same, but the call was withdrawn since: an approval comes too late.
#[derive(Debug)]
pub struct Withdrawn {
    pub decision: Decided,
    pub entry: u64,
    pub why: Withdrawal,
}

/// The approval is in the log, and the call waits for its turn.
#[derive(Debug)]
pub struct Approved {
    pub approval: Approval,
    pub receipt: Receipt,
}

/// The approval is in the log, and the shell looks whether all is still as it was approved.
#[derive(Debug)]
pub struct Forwarding {
    pub approval: Approval,
    pub receipt: Receipt,
    pub look: u64,
}

/// What was decided, sent to the log.
#[derive(Debug)]
pub enum Decided {
    Approve(Approval),
    Deny(Denial),
}

/// An approval, with all that a token needs but the receipt.
#[derive(Debug)]
pub struct Approval {
    pub case: Case,
    pub verdict: Verdict,
    /// Approved without having been read to its end.
    pub unread: bool,
    pub grant: Option<GrantTerms>,
    /// The signatures, where the policy asks for them or the approval came over the desk.
    pub signed: Vec<GradedVerdict>,
}

/// A denial. A call can be denied before it was judged.
#[derive(Debug)]
pub struct Denial {
    pub judged: Option<Box<Judged>>,
    pub verdict: Verdict,
    pub reply: Line,
    /// The signature of a denial that came over the desk.
    pub signed: Vec<GradedVerdict>,
}

#[derive(Debug)]
pub struct Verdict {
    pub by: By,
    pub rule: Option<String>,
    /// Why, for the record and for the consoles.
    pub reason: Cow<'static, str>,
    /// `None` where no person decided.
    pub operator: Option<Operator>,
}

/// Why a call was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    /// The host cancelled it: no answer is due.
    Cancelled,
    /// The host is gone: there is no one left to answer.
    HostGone,
    /// The server is gone: the host learns that nothing ran.
    ServerGone,
    /// The wrapper stops: the host learns that nothing ran.
    Stopping,
    /// The host did not come back with the state it was given.
    NoReturn,
    /// The host came back with another call, and has its answer.
    OtherReturn,
    /// The task that the host was given is not kept any longer.
    TaskOver,
    /// The rule or grant that approved the call no longer counts, and the call's turn had not come.
    Revoked,
    /// The host's user said no in a form, after the call was decided or judged anew.
    Declined(&'static str),
}

impl Held {
    /// The host's request that waits for the call, or waited last.
    pub fn open_id(&self) -> &Id {
        self.wait.later.last().map_or(self.call.id(), |later| &later.id)
    }

    /// The JSON token of that request's `progressToken`.
    pub fn open_token(&self) -> Option<&str> {
        let later = self.wait.later.last();
        later.map_or(&self.call.meta().progress_token, |later| &later.token).as_deref()
    }

    /// The ids of all requests under which its host waited for it.
    pub fn ids(&self) -> impl Iterator<Item = &Id> {
        std::iter::once(self.call.id()).chain(self.wait.later.iter().map(|later| &later.id))
    }

    pub fn target(&self, judged: Option<&Judged>) -> Option<Arc<str>> {
        judged.map_or_else(|| target::of_unjudged(&self.call).map(Arc::from), |judged| judged.target.clone())
    }

    /// Whether its judgement rests on what was found on the disk, so that it is looked at again before it runs.
    pub fn looks_again(&self) -> bool {
        !self.seen.look.is_empty() && self.seen.found.is_some()
    }

    /// When it is denied for want of an answer, in milliseconds since 1970, UTC; `None`: it waits as long as the host does.
    pub fn deadline_at(&self) -> Option<i64> {
        let waits_ms = self.deadline.saturating_sub(self.arrived.mono) / 1000;
        i64::try_from(waits_ms).ok().map(|waits| self.arrived.wall.saturating_add(waits))
    }
}

impl Decided {
    pub fn word(&self) -> VerdictWord {
        match self {
            Self::Approve(_) => VerdictWord::Approve,
            Self::Deny(_) => VerdictWord::Deny,
        }
    }

    pub fn verdict(&self) -> &Verdict {
        match self {
            Self::Approve(approval) => &approval.verdict,
            Self::Deny(denial) => &denial.verdict,
        }
    }

    pub fn judged(&self) -> Option<&Judged> {
        match self {
            Self::Approve(approval) => Some(&approval.case.judged),
            Self::Deny(denial) => denial.judged.as_deref(),
        }
    }
}

impl Verdict {
    pub fn by(by: By, rule: Option<String>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { by, rule, reason: reason.into(), operator: None }
    }

    /// The operator's name; the reason where no person decided.
    pub fn who(&self) -> String {
        self.operator.as_ref().map_or_else(|| self.reason.to_string(), |operator| operator.who.to_string())
    }
}

/// One way of waiting: only the code that handles this one takes its calls from the table.
pub trait StageKind: Sized {
    fn from_ref(stage: &Stage) -> Option<&Self>;
    /// The same by value; a stage of another type is returned as it is.
    fn from_stage(stage: Stage) -> Result<Self, Box<Stage>>;
    fn into_stage(self) -> Stage;
}

macro_rules! stages {
    ($($name:ident)*) => {
        /// What a held call waits for.
        #[derive(Debug)]
        pub enum Stage { $($name($name),)* }

        $(impl StageKind for $name {
            fn from_ref(stage: &Stage) -> Option<&Self> {
                if let Stage::$name(this) = stage { Some(this) } else { None }
            }

            fn from_stage(stage: Stage) -> Result<Self, Box<Stage>> {
                if let Stage::$name(this) = stage { Ok(this) } else { Err(Box::new(stage)) }
            }

            fn into_stage(self) -> Stage {
                Stage::$name(self)
            }
        })*
    };
}

stages! { Opening Describing Looking Consulting Asking Approving Deciding Withdrawn Approved Forwarding }

impl Stage {
    /// The record it waits for.
    pub fn entry(&self) -> Option<u64> {
        match self {
            Self::Asking(asking) => Some(asking.entry),
            Self::Deciding(deciding) => Some(deciding.entry),
            Self::Withdrawn(withdrawn) => Some(withdrawn.entry),
            Self::Opening(_)
            | Self::Describing(_)
            | Self::Looking(_)
            | Self::Consulting(_)
            | Self::Approving(_)
            | Self::Approved(_)
            | Self::Forwarding(_) => None,
        }
    }

    /// Whether the call may wait for longer than the log or the last look takes, so that its host needs heartbeats.
    pub fn may_take_long(&self) -> bool {
        match self {
            Self::Opening(_)
            | Self::Describing(_)
            | Self::Looking(_)
            | Self::Consulting(_)
            | Self::Asking(_)
            | Self::Approving(_)
            | Self::Approved(_) => true,
            Self::Deciding(_) | Self::Withdrawn(_) | Self::Forwarding(_) => false,
        }
    }

    pub fn judged(self) -> Option<Box<Judged>> {
        match self {
            Self::Opening(_) => None,
            Self::Describing(describing) => describing.before,
            Self::Looking(looking) => Some(looking.case.judged),
            Self::Consulting(consulting) => Some(consulting.case.judged),
            Self::Asking(asking) => Some(asking.case.judged),
            Self::Approving(Approving { approval, .. })
            | Self::Approved(Approved { approval, .. })
            | Self::Forwarding(Forwarding { approval, .. }) => Some(approval.case.judged),
            Self::Deciding(Deciding { decision, .. }) | Self::Withdrawn(Withdrawn { decision, .. }) => match decision {
                Decided::Approve(approval) => Some(approval.case.judged),
                Decided::Deny(denial) => denial.judged,
            },
        }
    }
}

impl StageKind for Stage {
    fn from_ref(stage: &Stage) -> Option<&Self> {
        Some(stage)
    }

    fn from_stage(stage: Stage) -> Result<Self, Box<Stage>> {
        Ok(stage)
    }

    fn into_stage(self) -> Stage {
        self
    }
}

/// Everything found out about one call.
#[derive(Clone, Debug)]
pub struct Judged {
    /// `None`: the server has not described the tool.
    pub described: Option<Arc<Described>>,
    pub behavior: Behavior,
    pub ruling: Ruling,
    /// JSON Pointers of the keys that the tool's schema does not declare.
    pub undeclared: Vec<String>,
    /// Where the arguments do not fit the tool's schema; such a call is refused whatever the ruling.
    pub violations: Vec<Violation>,
    /// What the call carries beside its arguments.
    pub retry: Retry,
    pub danger: Option<String>,
    /// What each leaf of the arguments is, what is new first, if the call only reads. Names in it are foreign text.
    pub explained: String,
    pub effect: String,
    pub target: Option<Arc<str>>,
    /// What must be looked at before this ruling counts.
    pub wanted: Look,
    /// Whether a grant may cover it once the files in `wanted` were looked at.
    pub awaits_look: bool,
    pub by_approver: Option<String>,
    /// If the ruling asks: the rules for this tool that did not decide, the nearest first.
    pub near: Vec<Near>,
    pub inside: Option<Inside>,
}

/// A tool call inside another request: its tool where that is clear, else the method, and what is known of the tool.
#[derive(Clone, Debug)]
pub struct Inside {
    pub tool: Arc<str>,
    pub described: Option<Arc<Described>>,
}

/// What was found out about one call since it came.
#[derive(Debug, Default)]
pub struct Seen {
    pub look: Look,
    /// What the shell found there, and the policy or the operator judged by.
    pub found: Option<Findings>,
    /// What the approvers said; `None` while none was asked.
    pub opinions: Option<Vec<Opinion>>,
    /// For a held answer: what it is to.
    pub answer: Option<Box<AnswerOf>>,
}

impl Judged {
    /// What is known of anything but a call.
    pub fn of(behavior: Behavior, ruling: Ruling, effect: String) -> Self {
        Self {
            described: None,
            behavior,
            ruling,
            undeclared: Vec::new(),
            violations: Vec::new(),
            retry: Retry::Plain,
            danger: None,
            explained: String::new(),
            effect,
            target: None,
            wanted: Look::default(),
            awaits_look: false,
            by_approver: None,
            near: Vec::new(),
            inside: None,
        }
    }

    pub fn definition(&self) -> Option<Digest> {
        self.described.as_ref().map(|known| known.digest)
    }
}

/// What comes next for a held call, with all that is known of it by then.
#[derive(Debug)]
pub(in crate::gate) enum Next {
    Describe(Held, Describing),
    AskServer(Held, Describing),
    /// It is judged by its tool's description; the server may have given none.
    Judge(Held, InSession, Option<Arc<Described>>),
    /// It is judged by what is known now.
    JudgeAgain(Held, Case),
    /// The shell looks at what it would touch, so that it can be judged.
    Look(Held, Case, Look),
    Consult(Held, Case, Vec<String>),
    /// The ruling is final.
    Act(Held, Case),
    Ask(Held, Case),
    /// A person has approved the card. The shell has looked again, and this is what has changed since.
    Confirm(Held, Approval, Option<&'static str>),
    /// A person has approved the card, and the shell looks whether all is as it was shown.
    LookAgain(Held, Approval),
    Approve(Held, Approval),
    /// The decision goes to the log.
    Decide(Held, Decided),
    /// The approval is in the log: it runs when its turn comes.
    AwaitTurn(Held, Approval, Receipt),
    /// Its turn has come: what was looked at is looked at once more.
    Run(Held, Approval, Receipt),
    Forward(Held, Approval, Receipt),
    /// The approval is in the log, and still it does not run.
    Stop(Held, Stopped),
    Refuse(Held, Denial),
    Withdraw(Held, Option<Box<Judged>>, Withdrawal),
    Wait(Held, Stage),
    /// It has ended, or there was none.
    Done,
}

/// Why an approved call does not run.
#[derive(Debug)]
pub(in crate::gate) struct Stopped {
    pub judged: Box<Judged>,
    pub by: By,
    pub why: String,
    pub reply: Line,
}

impl Next {
    pub fn deny(held: Held, judged: Option<Box<Judged>>, verdict: Verdict, reply: Line) -> Self {
        Self::Decide(held, Decided::Deny(Denial { judged, verdict, reply, signed: Vec::new() }))
    }

    pub fn stop(held: Held, judged: Box<Judged>, (by, why): (By, String), reply: Line) -> Self {
        Self::Stop(held, Stopped { judged, by, why, reply })
    }
}
