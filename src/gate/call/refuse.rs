//! Refuses lines of the host: each is recorded, and answered if an answer is due.

use crate::audit::record::RefusedLines;
use crate::gate::Gate;
use crate::gate::data::effect::Effect;
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::state::refusals::{Recorded, Run};
use crate::wire::digest::Digest;
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::Refusal;
use crate::wire::reply;

impl Gate {
    pub(in crate::gate) fn refuse_line(&mut self, refusal: &Refusal, line: &Line) {
        self.refuse(refusal, Some(line.digest()), line.content().len() as u64);
    }

    /// Refuses a line: recorded, answered where an answer is due, never forwarded. One that was not kept has no digest.
    pub(in crate::gate) fn refuse(&mut self, refusal: &Refusal, digest: Option<Digest>, bytes: u64) {
        self.out.status.refused_lines += 1;
        match self.log.refusals.take(self.out.now.mono, refusal, bytes) {
            Recorded::Whole => {
                let entry = self.out.fault(RefusedLines::One.word(), digest).with("reason", refusal.what.as_str());
                self.out.record(entry.with("code", refusal.code).with("bytes", bytes));
            }
            Recorded::Counted { by } => self.out.wake_by(by),
        }
        if refusal.answer {
            self.out.push(Effect::WriteToHost(reply::error(refusal.id.as_ref(), refusal.code, &refusal.what)));
        }
        self.out.show(Direction::ToServer, ActivityKind::Refused, |one| {
            one.what.clone_from(&refusal.what);
            one.bytes = bytes;
            one.failed = true;
        });
    }

    /// Records runs of refused lines that were only counted.
    pub(in crate::gate) fn record_refused_runs(&mut self, runs: Vec<Run>) {
        for run in runs {
            let entry = self.out.fault(RefusedLines::More.word(), None).with("reason", run.reason);
            self.out.record(entry.with("code", run.code).with("lines", run.lines).with("bytes", run.bytes));
        }
    }
}

/// A second call under an id that is still in flight.
pub(in crate::gate) fn duplicate(id: Id) -> Refusal {
    Refusal::of("a call with this id is already in flight; ids must be unique", Some(id), true)
}
