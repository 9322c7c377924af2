//! A line from the host: a call is held; anything else that is canonical passes; the rest is refused.

use crate::audit::record::Kind;
use crate::gate::Gate;
use crate::gate::call::held::Withdrawal;
use crate::gate::call::refusals::{Recorded, Run};
use crate::gate::data::effect::{Effect, Passing};
use crate::gate::data::event::Now;
use crate::gate::data::report::{ActivityKind, Direction};
use crate::wire::digest::Digest;
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::{self, Gist, Plain, Refusal, Sorted};
use crate::wire::reply;

/// JSON-RPC: the request is not acceptable.
const INVALID_REQUEST: i32 = -32600;

/// How many unanswered requests of the host are remembered by their ids.
const PLAIN_IDS: usize = 65_536;

impl Gate {
    pub(in crate::gate) fn on_host_line(&mut self, now: Now, line: Line, out: &mut Vec<Effect>) {
        match message::sort(line) {
            Sorted::Call(call) => self.call(now, call, out),
            Sorted::Plain(plain) => self.plain(now, plain, out),
            Sorted::Refused { refusal, line } => {
                let (digest, bytes) = (line.digest(), line.content().len() as u64);
                self.refuse(now, &refusal, Some(digest), bytes, out);
            }
            Sorted::Blank => {}
        }
    }

    pub(in crate::gate) fn on_host_overlong(
        &mut self,
        now: Now,
        head: &[u8],
        bytes: u64,
        cap: usize,
        out: &mut Vec<Effect>,
    ) {
        self.refuse(now, &message::overlong(head, bytes, cap), None, bytes, out);
    }

    pub(in crate::gate) fn on_host_partial(&mut self, now: Now, bytes: u64, out: &mut Vec<Effect>) {
        let what = "the host ended in mid-line; the last line had no line end".to_owned();
        let refusal = Refusal { code: INVALID_REQUEST, what, id: None, answer: false };
        self.refuse(now, &refusal, None, bytes, out);
    }

    /// Refuses a line: recorded, answered where an answer is due, never forwarded.
    pub(in crate::gate) fn refuse(
        &mut self,
        now: Now,
        refusal: &Refusal,
        digest: Option<Digest>,
        bytes: u64,
        out: &mut Vec<Effect>,
    ) {
        self.status.refused_lines += 1;
        match self.refusals.take(now.mono, refusal, bytes) {
            Recorded::Whole => {
                let entry = self.refused_entry(now, refusal, digest, bytes);
                self.record(entry, out);
            }
            Recorded::Counted { by } => self.wake_by(by, out),
        }
        if refusal.answer {
            out.push(Effect::Answer(reply::error(refusal.id.as_ref(), refusal.code, &refusal.what)));
        }
        self.show(now, Direction::ToServer, ActivityKind::Refused, out, |one| {
            one.what.clone_from(&refusal.what);
            one.bytes = bytes;
            one.failed = true;
        });
    }

    /// Records runs of refused lines that were only counted.
    pub(in crate::gate) fn record_refused_runs(&mut self, now: Now, runs: Vec<Run>, out: &mut Vec<Effect>) {
        for run in runs {
            let entry = self.refused_run_entry(now, &run);
            self.record(entry, out);
        }
    }

    /// A message that is not held: it passes at once.
    fn plain(&mut self, now: Now, plain: Plain, out: &mut Vec<Effect>) {
        if self.server_gone.is_some() {
            return;
        }
        let bytes = plain.line().content().len() as u64;
        match plain.gist().clone() {
            Gist::Request { id, method, .. } => {
                if self.is_live(&id) {
                    let refusal = duplicate(id);
                    self.refuse(now, &refusal, Some(plain.line().digest()), bytes, out);
                    return;
                }
                if method == "tools/list" {
                    let first = !has_cursor(plain.line().content());
                    self.catalog.host_asks(&id, first);
                }
                self.learn_host(now, &plain, &method, out);
                if self.plain_ids.len() < PLAIN_IDS {
                    self.plain_ids.insert(id);
                }
                self.show_plain(now, Direction::ToServer, ActivityKind::Request, &method, bytes, out);
            }
            Gist::Notification { method, cancels } => {
                if let Some(number) = cancels.as_ref().and_then(|id| self.held.by_id(id)) {
                    self.withdraw(now, number, Withdrawal::Cancelled, out);
                    return;
                }
                if let Some(id) = cancels {
                    self.plain_ids.remove(&id);
                    self.cancelled_in_flight(now, &id, out);
                }
                self.learn_host(now, &plain, &method, out);
                self.show_plain(now, Direction::ToServer, ActivityKind::Notification, &method, bytes, out);
            }
            Gist::Response { id, failed } => {
                if !failed {
                    self.roots.host_answers(&id, plain.line().content());
                }
                self.show_plain(now, Direction::ToServer, ActivityKind::Response, "response", bytes, out);
            }
            Gist::Unreadable => {
                self.show_plain(now, Direction::ToServer, ActivityKind::Response, "response", bytes, out);
            }
        }
        out.push(Effect::Relay(Passing::ToServer(plain)));
    }

    /// Whether a call under this id has no answer yet.
    pub(in crate::gate) fn is_live(&self, id: &Id) -> bool {
        self.held.by_id(id).is_some() || self.flights.contains(id)
    }

    /// Lets the lifecycle see what the host says, and records who the host is once it is known.
    fn learn_host(&mut self, now: Now, plain: &Plain, method: &str, out: &mut Vec<Effect>) {
        self.lifecycle.on_host_line(plain.gist(), plain.line().content());
        if method == "initialize"
            && !self.host_recorded
            && let Some((name, version)) = self.lifecycle.host()
        {
            let entry = self.entry(now, Kind::Host).with("name", name).with("version", version);
            self.host_recorded = true;
            self.record(entry, out);
        }
    }
}

/// A second call under an id that is still in flight.
pub(in crate::gate) fn duplicate(id: Id) -> Refusal {
    let what = "a call with this id is already in flight; ids must be unique".to_owned();
    Refusal { code: INVALID_REQUEST, what, id: Some(id), answer: true }
}

/// Whether a `tools/list` asks for a later page.
fn has_cursor(content: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Request {
        params: Option<Params>,
    }
    #[derive(serde::Deserialize)]
    struct Params {
        cursor: Option<serde_json::Value>,
    }
    let request: Result<Request, _> = serde_json::from_slice(content);
    request
        .is_ok_and(|request| request.params.is_some_and(|params| params.cursor.is_some_and(|cursor| !cursor.is_null())))
}
