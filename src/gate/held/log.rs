//! What the log is told of lines that are no held calls: those that pass are counted, and shown on the consoles' Activity
//! screen; those that are refused are recorded, and answered if an answer is due.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::audit::record::{Kind, RefusedLines};
use crate::behavior::agreed::Agreement;
use crate::behavior::identity::Identity;
use crate::behavior::request::of_request;
use crate::behavior::taxonomy::Mutability;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Said;
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::held::entries;
use crate::gate::held::out::Out;
use crate::gate::state::passed::{Form, Passed};
use crate::gate::state::refusals::{Recorded, Refusals, Run};
use crate::mcp::lifecycle::Revision;
use crate::mcp::request::{Standing, standing};
use crate::policy::scope::Scope;
use crate::wire::call::{Call, Origin};
use crate::wire::digest::Digest;
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::Refusal;
use crate::wire::reply;

/// What went to the log.
#[derive(Debug, Default)]
pub struct Log {
    /// Why the log takes no entries; cleared when it takes one again.
    pub trouble: Option<Arc<str>>,
    /// What operators said with held calls, by the id of the entry that is to record it.
    pub said: BTreeMap<u64, Said>,
    /// What was agreed to and used on this day (days since 1970): its use is noted once a day.
    pub used: (i64, HashSet<Agreement>),
    /// Refused lines that are not recorded one by one.
    pub refusals: Refusals,
    /// Lines that pass and are only counted in the log.
    pub passed: Passed,
}

impl Log {
    /// Counts a line that passes, for the log, and shows it.
    pub fn passes(&mut self, out: &mut Out, (from, form, method): (Origin, Form, &str), line: &Line) {
        let payload = (form == Form::Notification).then(|| line.digest().to_string());
        let bytes = line.content().len() as u64;
        let at = self.passed.take(out.now.mono, (from, form, method), bytes, payload);
        out.wake_by(at);
        let direction = match from {
            Origin::Host => Direction::ToServer,
            Origin::Server | Origin::Answer => Direction::ToHost,
        };
        let (kind, what) = match form {
            Form::Request => (ActivityKind::Request, method),
            Form::Notification => (ActivityKind::Notification, method),
            Form::Response => (ActivityKind::Response, "response"),
            Form::Unreadable => return,
        };
        out.show_plain(direction, kind, what, bytes);
    }

    /// Records a request that passes and does more than read, or whose content a scope gives: a counter alone would not say what
    /// it was.
    pub fn record_single(&mut self, out: &mut Out, request: &Call, (scope, revision): (&Scope, Revision)) {
        let Some(method) = request.method() else { return };
        let identities = request.questions().map(|(method, params)| {
            let params = serde_json::from_str(params).unwrap_or_default();
            of_request(method, &params).identity
        });
        let is_given =
            !scope.is_whole() && request.origin() == Origin::Host && standing(method, revision) == Standing::Contents;
        let is_shown = |identity: &Identity| is_given || identity.mutability != Mutability::Pure;
        let Some(identity) = identities.filter(is_shown).last() else { return };
        if !self.passed.takes_single() {
            return;
        }
        let mut entry = out.entry(Kind::Passed);
        entry.tool = Some(method.into());
        entry.digest = Some(request.digest());
        entry.identity = Some(identity);
        entries::add_request(&mut entry, request);
        let mut entry = entry.with("bytes", request.line().content().len());
        entries::add_provenance(&mut entry, request);
        out.record(entry);
    }

    /// Records how many lines have passed since the last such record.
    pub fn record_passed(&mut self, out: &mut Out) {
        if let Some(rows) = self.passed.drain() {
            out.record(out.entry(Kind::Passed).with("passed", rows));
        }
    }

    pub fn refuse_line(&mut self, out: &mut Out, refusal: &Refusal, line: &Line) {
        self.refuse(out, refusal, Some(line.digest()), line.content().len() as u64);
    }

    /// Refuses a line: recorded, answered where an answer is due, never forwarded. One that was not kept has no digest.
    pub fn refuse(&mut self, out: &mut Out, refusal: &Refusal, digest: Option<Digest>, bytes: u64) {
        out.status.refused_lines += 1;
        match self.refusals.take(out.now.mono, refusal, bytes) {
            Recorded::Whole => {
                let entry = out.fault(RefusedLines::One.word(), digest).with("reason", refusal.what.as_str());
                out.record(entry.with("code", refusal.code).with("bytes", bytes));
            }
            Recorded::Counted { by } => out.wake_by(by),
        }
        if refusal.answer {
            out.push(Effect::WriteToHost(reply::error(refusal.id.as_ref(), refusal.code, &refusal.what)));
        }
        out.show(Direction::ToServer, ActivityKind::Refused, |one| {
            one.what.clone_from(&refusal.what);
            one.bytes = bytes;
            one.failed = true;
        });
    }

    /// Records runs of refused lines that were only counted.
    pub fn record_refused_runs(out: &mut Out, runs: Vec<Run>) {
        for run in runs {
            let entry = out.fault(RefusedLines::More.word(), None).with("reason", run.reason);
            out.record(entry.with("code", run.code).with("lines", run.lines).with("bytes", run.bytes));
        }
    }
}

/// A second call under an id that is still in flight.
pub(in crate::gate) fn duplicate(id: Id) -> Refusal {
    Refusal::of("a call with this id is already in flight; ids must be unique", Some(id), true)
}
