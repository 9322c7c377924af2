//! What the log is told of lines that are no held calls: those that pass are counted, and shown on the consoles' Activity
//! screen; those that are refused are recorded, and answered if an answer is due.

use std::sync::Arc;

use crate::audit::{Kind, record::RefusedLines};
use crate::behavior::{Identity, Mutability, request::of_request, secrets};
use crate::gate::data::effect::Effect;
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::held::{entries, out::Out};
use crate::gate::state::passed::{Form, Recorded, Run, side};
use crate::mcp::Revision;
use crate::mcp::request::{self, Standing, standing};
use crate::policy::Scope;
use crate::wire::{Call, Digest, Line, Origin, Refusal, json, reply};

/// A longer notification is counted and has its digest, in bytes.
const EVENT: usize = 64 * 1024;
/// How many characters of what one is about are kept, and of its payload shown.
const ABOUT: usize = 120;
const SHOWN: usize = 400;

impl Out {
    /// Counts a line that passes, for the log, and shows it.
    pub fn passes(&mut self, (from, form, method): (Origin, Form, &str), line: &Line) {
        let payload = (form == Form::Notification).then(|| line.digest().to_string());
        let bytes = line.content().len() as u64;
        let at = self.log.passed.take(self.now.mono, (from, form, method), bytes, payload);
        self.wake_by(at);
        let direction = match from {
            Origin::Host => Direction::ToServer,
            Origin::Server | Origin::Answer | Origin::Result => Direction::ToHost,
        };
        let (kind, what) = match form {
            Form::Request => (ActivityKind::Request, method),
            Form::Notification => (ActivityKind::Notification, method),
            Form::Response => (ActivityKind::Response, "response"),
            Form::Unreadable => return,
        };
        let said = (from == Origin::Server && form == Form::Notification).then(|| self.record_event(method, line));
        self.show(direction, kind, |one| {
            one.what = what.to_owned();
            one.bytes = bytes;
            (one.target, one.reason) = said.unwrap_or_default();
        });
    }

    /// Records what the server tells its host, with its payload, unless too much of it comes at once; the rest is counted. Returns
    /// what it is about, and the beginning of the payload without secrets.
    fn record_event(&mut self, method: &str, line: &Line) -> (Option<String>, String) {
        let is_shown = self.attached > 0;
        let is_recorded = self.log.passed.takes_event(method);
        if !is_shown && !is_recorded {
            return (None, String::new());
        }
        // What readers may take differently has its digest alone.
        let message = str::from_utf8(line.content()).ok().filter(|text| text.len() <= EVENT).and_then(json::value);
        let params = message.as_ref().and_then(|message| message.get("params"));
        let about = params.and_then(request::event).map(|about| hidden(about).chars().take(ABOUT).collect::<String>());
        if is_recorded {
            let mut entry = self.entry(Kind::Event);
            (entry.tool, entry.target) = (Some(method.into()), about.as_deref().map(Arc::from));
            entry.digest = Some(line.digest());
            entry.arguments = params.and_then(|params| params.to_string().parse().ok());
            self.record(entry.with("from", side(Origin::Server)).with("bytes", line.content().len()));
        }
        // Of a log message its level and its logger say least.
        let payload = params.filter(|_| is_shown).map(|params| params.get("data").unwrap_or(params));
        let payload = payload.map(|payload| hidden(&payload.to_string())).unwrap_or_default();
        (about, payload)
    }

    /// Records a request that does more than read, or reads what a scope gives: a counter alone would not say what it was.
    pub fn record_single(&mut self, request: &Call, (scope, revision): (&Scope, Revision)) {
        let Some(method) = request.method() else { return };
        let identities = request.questions().map(|(method, params)| {
            let params = serde_json::from_str(params).unwrap_or_default();
            of_request(method, &params).identity
        });
        let is_given =
            !scope.is_whole() && request.origin() == Origin::Host && standing(method, revision) == Standing::Contents;
        let is_shown = |identity: &Identity| is_given || identity.mutability != Mutability::Pure;
        let Some(identity) = identities.filter(is_shown).last() else { return };
        if !self.log.passed.takes_single() {
            return;
        }
        let mut entry = self.entry(Kind::Passed);
        entry.tool = Some(method.into());
        entry.digest = Some(request.digest());
        entry.identity = Some(identity);
        entries::add_request(&mut entry, request);
        let mut entry = entry.with("bytes", request.line().content().len());
        entries::add_provenance(&mut entry, request);
        self.record(entry);
    }

    /// Records how many lines have passed since the last such record.
    fn record_passed(&mut self) {
        if let Some(rows) = self.log.passed.drain() {
            self.record(self.entry(Kind::Passed).with("passed", rows));
        }
    }

    pub fn refuse_line(&mut self, refusal: &Refusal, line: &Line) {
        self.refuse(refusal, Some(line.digest()), line.content().len() as u64);
    }

    /// Refuses a line: recorded, answered where an answer is due, never forwarded. One that was not kept has no digest.
    pub fn refuse(&mut self, refusal: &Refusal, digest: Option<Digest>, bytes: u64) {
        self.status.refused_lines += 1;
        match self.log.refusals.take(self.now.mono, refusal, bytes) {
            Recorded::Whole => {
                let entry = self.fault(RefusedLines::One.word(), digest).with("reason", refusal.what.as_str());
                self.record(entry.with("code", refusal.code).with("bytes", bytes));
            }
            Recorded::Counted { by } => self.wake_by(by),
        }
        if refusal.answer {
            self.push(Effect::WriteToHost(reply::error(refusal.id.as_ref(), refusal.code, &refusal.what)));
        }
        self.show(Direction::ToServer, ActivityKind::Refused, |one| {
            one.what.clone_from(&refusal.what);
            one.bytes = bytes;
            one.failed = true;
        });
    }

    /// Records the counters whose time has come.
    pub fn record_due(&mut self) {
        let runs = self.log.refusals.due(self.now.mono);
        self.record_refused_runs(runs);
        self.wake_by(self.log.refusals.wake_at());
        match self.log.passed.wake_at() {
            Some(at) if at <= self.now.mono => self.record_passed(),
            Some(at) => self.wake_by(at),
            None => {}
        }
    }

    /// Records all that is only counted: the session ends.
    pub fn record_counted(&mut self) {
        let runs = self.log.refusals.all();
        self.record_refused_runs(runs);
        self.record_passed();
    }

    fn record_refused_runs(&mut self, runs: Vec<Run>) {
        for run in runs {
            let entry = self.fault(RefusedLines::More.word(), None).with("reason", run.reason);
            self.record(entry.with("code", run.code).with("lines", run.lines).with("bytes", run.bytes));
        }
    }
}

/// The beginning of a text, with a word of ours in the place of each secret in it.
fn hidden(text: &str) -> String {
    let mut shown = text.to_owned();
    for span in secrets::spans(text).into_iter().rev() {
        shown.replace_range(span, "[secret]");
    }
    shown.chars().take(SHOWN).collect()
}
