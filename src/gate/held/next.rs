//! What a step of a call may lead to. Each way carries all that is known of the call by then, so that no step can be
//! left out. Decides nothing.

use std::sync::Arc;

use crate::audit::record::{By, Receipt};
use crate::gate::data::facts::Look;
use crate::gate::held::{Approval, Case, Decided, Denial, Describing, Held, Judged, Stage, Verdict, Withdrawal};
use crate::gate::server::described::Described;
use crate::mcp::lifecycle::InSession;
use crate::wire::line::Line;

/// What comes next for a held call, with all that is known of it by then.
#[derive(Debug)]
pub(in crate::gate) enum Next {
    /// Its tool's description is looked for.
    Describe(Held, Describing),
    AskServer(Held, Describing),
    /// It is judged by its tool's description; the server may have given none.
    Judge(Held, InSession, Option<Arc<Described>>),
    /// It is judged by what is known now.
    JudgeAgain(Held, Case),
    /// The shell looks at what it would touch, so that it can be judged.
    Look(Held, Case, Look),
    /// These approvers are asked.
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
    /// It goes to the server.
    Forward(Held, Approval, Receipt),
    /// The approval is in the log, and still it does not run.
    Stop(Held, Stopped),
    /// The denial is in the log.
    Refuse(Held, Denial),
    /// It ends without a decision that counts.
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
    /// What its host is answered.
    pub reply: Line,
}

impl Next {
    pub fn deny(held: Held, judged: Option<Box<Judged>>, verdict: Verdict, reply: Line) -> Self {
        Self::Decide(held, Decided::Deny(Denial { judged, verdict, reply }))
    }

    pub fn stop(held: Held, judged: Box<Judged>, (by, why): (By, String), reply: Line) -> Self {
        Self::Stop(held, Stopped { judged, by, why, reply })
    }
}
