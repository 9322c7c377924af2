//! A line of the host's that goes nowhere: recorded, and answered where an answer is due.

use crate::audit::record::{Entry, RefusedLines};
use crate::gate::Gate;
use crate::gate::data::effect::Effect;
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::state::refusals::{Recorded, Run};
use crate::wire::digest::Digest;
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::{self, Refusal};
use crate::wire::reply;

impl Gate {
    pub(in crate::gate) fn on_host_overlong(&mut self, head: &[u8], bytes: u64, cap: usize) {
        self.refuse(&message::overlong(head, bytes, cap), None, bytes);
    }

    pub(in crate::gate) fn on_host_partial(&mut self, bytes: u64) {
        self.refuse(&Refusal::of("the host ended in the middle of a line", None, false), None, bytes);
    }

    pub(in crate::gate) fn refuse_line(&mut self, refusal: &Refusal, line: &Line) {
        self.refuse(refusal, Some(line.digest()), line.content().len() as u64);
    }

    /// Refuses a line: recorded, answered where an answer is due, never forwarded.
    fn refuse(&mut self, refusal: &Refusal, digest: Option<Digest>, bytes: u64) {
        self.consoles.status.refused_lines += 1;
        match self.log.refusals.take(self.now.mono, refusal, bytes) {
            Recorded::Whole => {
                self.record(self.refused_entry(refusal, digest, bytes));
            }
            Recorded::Counted { by } => self.wake_by(by),
        }
        if refusal.answer {
            self.out.push(Effect::Answer(reply::error(refusal.id.as_ref(), refusal.code, &refusal.what)));
        }
        self.show(Direction::ToServer, ActivityKind::Refused, |one| {
            one.what.clone_from(&refusal.what);
            one.bytes = bytes;
            one.failed = true;
        });
    }

    /// Records runs of refused lines that were only counted.
    pub(in crate::gate) fn record_refused_runs(&mut self, runs: Vec<Run>) {
        for run in runs {
            self.record(self.refused_run_entry(&run));
        }
    }

    /// A line from the host that was refused.
    fn refused_entry(&self, refusal: &Refusal, digest: Option<Digest>, bytes: u64) -> Entry {
        self.fault(RefusedLines::One.word(), digest)
            .with("reason", refusal.what.as_str())
            .with("code", refusal.code)
            .with("bytes", bytes)
    }

    /// Refused lines of one reason that were not recorded one by one.
    fn refused_run_entry(&self, run: &Run) -> Entry {
        self.fault(RefusedLines::More.word(), None)
            .with("reason", run.reason.as_str())
            .with("code", run.code)
            .with("lines", run.lines)
            .with("bytes", run.bytes)
    }
}

/// A second call under an id that is still in flight.
pub(in crate::gate) fn duplicate(id: Id) -> Refusal {
    Refusal::of("a call with this id is already in flight; ids must be unique", Some(id), true)
}

/// One `tools/list` more than is followed: its answer could not be cut to the scope.
pub(in crate::gate) fn too_many_lists(id: Id) -> Refusal {
    Refusal::of("too many tools/list requests wait for their answers; ask again when one has come", Some(id), true)
}
