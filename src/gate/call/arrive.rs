//! A line from the host: a call is held; anything else that is canonical passes at once; the rest is refused.

use std::sync::Arc;

use crate::audit::record::{By, Kind, VerdictWord};
use crate::behavior::request::carried;
use crate::gate::Gate;
use crate::gate::data::effect::{Effect, OwnLine, Passing};
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::deadline::FIRST_HEARTBEAT;
use crate::gate::held::log::duplicate;
use crate::gate::held::next::Next;
use crate::gate::held::wait::RoundTrips;
use crate::gate::held::{AskRecord, Describing, Heartbeat, Held, Opening, Seen, Withdrawal};
use crate::gate::held::{entries, replies, target, wait};
use crate::gate::state::passed::Form;
use crate::gate::state::{Forms, HostRecord, WrapperEnd};
use crate::mcp::lifecycle::Revision;
use crate::mcp::{lifecycle, request};
use crate::policy::scope::{Asks, Outside};
use crate::wire::call::{Call, Origin};
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::{Gist, Plain, Refusal, Sorted};
use crate::wire::number::push_number;
use crate::wire::{message, rename};

/// How many unanswered requests of the host are remembered by their ids.
const PLAIN_IDS: usize = 65_536;

impl Gate {
    pub(in crate::gate) fn on_host_line(&mut self, line: Line) {
        match message::sort(line) {
            Sorted::Call(call) => self.on_call(call),
            Sorted::Plain(plain) => self.plain(plain),
            Sorted::Refused { refusal, line } => self.log.refuse_line(&mut self.out, &refusal, &line),
            Sorted::Blank => {}
        }
    }

    /// A call: held from here on, until a decision exists.
    fn on_call(&mut self, call: Box<Call>) {
        if self.is_live(call.id()) || self.host.plain_ids.contains(call.id()) {
            return self.log.refuse_line(&mut self.out, &duplicate(call.id().clone()), call.line());
        }
        if let Some(state) = wait::brought_back(&call)
            && !self.flights.gave_state(&call)
        {
            return self.on_return(&call, &state);
        }
        self.out.status.calls += 1;
        if call.is_modern() {
            self.out.status.era = Revision::V2026_07_28.word().to_owned();
        }
        self.take_up(call);
    }

    /// Takes up a call, or another request that must be decided on: held where the session and the scope allow it.
    pub(in crate::gate) fn take_up(&mut self, call: Box<Call>) {
        if self.ends.wrapper != WrapperEnd::Runs {
            return self.deny_unheld(&call, By::Shutdown, "the wrapper stops", replies::stopping(&call));
        }
        let session = match self.host.lifecycle.call(&call) {
            Ok(session) => Some(session),
            Err(_) if self.host.lifecycle.is_pending() => None,
            Err(phase) => {
                let reply = replies::wrong_phase(&call, self.host.lifecycle.phase(), &phase);
                return self.deny_unheld(&call, By::Fault, &phase.to_string(), reply);
            }
        };
        if call.method().is_none()
            && let Err(Outside(why)) = self.config.scope.may_name(call.name())
        {
            return self.deny_unheld(&call, By::Scope, &why, replies::out_of_scope(&call));
        }
        if self.calls.is_full(call.line().bytes().len()) || self.flights.is_full() {
            let reply = replies::too_many(&call);
            return self.deny_unheld(&call, By::Fault, "too many calls wait, for a decision or for the server", reply);
        }
        let held = self.hold(call);
        match session {
            Some(session) => self.drive(Next::Describe(held, Describing { session, before: None })),
            None => {
                self.out.wake_for(&held);
                self.calls.put(held, Opening);
            }
        }
    }

    fn hold(&mut self, call: Box<Call>) -> Held {
        let number = self.calls.next_number();
        // A request of the server has no host that stops waiting for it.
        let has_token = call.origin() == Origin::Host && call.meta().progress_token.is_some();
        let longest = self.longest_wait(&call, self.out.now.mono);
        let mut held = Held {
            number,
            ticket: self.ticket(number).into(),
            deadline: self.out.now.mono.saturating_add(self.config.approval_timeout).min(longest),
            call,
            arrived: self.out.now,
            asked: AskRecord::NotAsked,
            original: None,
            heartbeat: has_token.then_some(Heartbeat { next: self.out.now.mono + FIRST_HEARTBEAT, sent: 0 }),
            round_trips: RoundTrips { opened: self.out.now.mono, ..RoundTrips::default() },
            seen: Seen::default(),
            asked_again: None,
        };
        held.round_trips.ends = self.round_trip_ends(&held);
        held
    }

    pub(in crate::gate) fn ticket(&self, number: u64) -> String {
        let mut ticket = String::with_capacity(self.config.server.len() + 21);
        ticket.push_str(&self.config.server);
        ticket.push('-');
        push_number(&mut ticket, number, 1);
        ticket
    }

    /// Denies a call that is not worth holding: one decision record, one answer.
    pub(in crate::gate) fn deny_unheld(&mut self, call: &Call, by: By, reason: &str, reply: Line) {
        let number = self.calls.next_number();
        let mut entry = self.out.entry(Kind::Decision);
        entry.ticket = Some(self.ticket(number).into());
        entry.tool = Some(call.shared_name());
        let target = target::of_unjudged(call);
        entry.target = target.as_deref().map(Arc::from);
        entry.digest = Some(call.digest());
        entry.verdict = Some(VerdictWord::Deny);
        entry.by = Some(by);
        entry.arguments = Some(call.arguments());
        entries::add_request(&mut entry, call);
        self.out.record(entry.with("reason", reason));
        self.out.status.denied += 1;
        self.out.push(replies::answer(call, reply));
        self.out.show(Direction::ToServer, ActivityKind::Call, |one| {
            one.what = call.name().to_owned();
            one.target = target;
            one.verdict = Some(VerdictWord::Deny);
            one.by = Some(by);
            one.bytes = call.line().content().len() as u64;
            one.failed = true;
            one.reason = reason.to_owned();
        });
    }
    /// A message that is not held: it passes at once.
    pub(in crate::gate) fn plain(&mut self, mut plain: Plain) {
        if self.ends.server.reason().is_some() {
            // Our own tasks need no server: a host may still fetch the result of a call that waited as one.
            let is_new = matches!(plain.gist(), Gist::Request { id, .. } if !self.is_live(id));
            drop(is_new.then(|| self.take_task_request(plain)));
            return;
        }
        match plain.gist().clone() {
            Gist::Request { id, method, .. } => {
                if self.is_live(&id) {
                    return self.log.refuse_line(&mut self.out, &duplicate(id), plain.line());
                }
                if method == "tools/list" {
                    if !self.config.scope.is_whole() && !self.catalog.has_room() {
                        // We could not follow this one, so its answer could not be cut to the scope.
                        let what = "too many tools/list requests wait for their answers; ask again when one has come";
                        return self.log.refuse_line(&mut self.out, &Refusal::of(what, Some(id), true), plain.line());
                    }
                    let first = !has_cursor(plain.line().content());
                    self.catalog.host_asks(&id, first);
                }
                let Some(same) = self.take_task_request(plain) else { return };
                plain = same;
                let request = request::is_ruled(&method).then(|| plain.request(Origin::Host)).flatten();
                if let Some(request) = request {
                    if self.holds(&request) {
                        return self.take_up(Box::new(request));
                    }
                    let asks = Asks::Request(&self.config.server, self.context().revision_of(&request));
                    if let Err(Outside(why)) = self.config.scope.admit(&request, asks) {
                        return self.deny_unheld(&request, By::Scope, &why, replies::out_of_scope(&request));
                    }
                    self.record_single(&request);
                }
                self.learn_host(&plain, &method);
                if matches!(method.as_str(), "initialize" | "server/discover") {
                    self.host.introduction = Some(id.clone());
                }
                if self.host.plain_ids.len() < PLAIN_IDS {
                    self.host.plain_ids.insert(id);
                }
                self.log.passes(&mut self.out, (Origin::Host, Form::Request, &method), plain.line());
            }
            Gist::Notification { cancels: Some(id), .. } if self.elicited.is_ours(&id) => {
                // The server must not learn the id: it could guess the next one, and ask under that itself.
                return self.record_ineffective_answer(None, "it cancels a request that only mcp-approve may cancel");
            }
            Gist::Notification { method, cancels } => {
                if let Some(number) = cancels.as_ref().and_then(|id| self.calls.by_host_id(id)) {
                    self.withdraw(number, Withdrawal::Cancelled);
                    return;
                }
                if cancels.as_ref().is_some_and(|id| self.tasks.stop_waiting(id)) {
                    return;
                }
                if self.restricts(&method) || self.is_request(&method, &plain) {
                    return self.log.refuse_line(
                        &mut self.out,
                        &Refusal::of(message::NO_ANSWER, None, false),
                        plain.line(),
                    );
                }
                if let Some(first) = cancels.as_ref().and_then(|id| self.flights.first_of(id)).cloned() {
                    // The server knows the call by its first request.
                    self.cancelled_in_flight(&first);
                    self.log.passes(&mut self.out, (Origin::Host, Form::Notification, &method), plain.line());
                    let line = rename::with_param(plain.line(), "requestId", first.raw());
                    return self.out.extend(line.map(|line| Effect::WriteToServer(OwnLine(line))));
                }
                if let Some(id) = cancels {
                    self.host.plain_ids.remove(&id);
                    self.tasks.forget(&id);
                    if !self.config.scope.is_whole() {
                        self.catalog.host_cancels(&id);
                    }
                    self.cancelled_in_flight(&id);
                }
                self.learn_host(&plain, &method);
                self.log.passes(&mut self.out, (Origin::Host, Form::Notification, &method), plain.line());
            }
            Gist::Response { id, failed } => {
                if self.elicited.is_ours(&id) {
                    return self.on_elicited(&id, failed, plain.line());
                }
                if self.calls.by_origin(Origin::Server, &id).is_some() {
                    let refusal =
                        Refusal::of("the server's request of this id has not reached the host yet", None, false);
                    return self.log.refuse_line(&mut self.out, &refusal, plain.line());
                }
                if !failed {
                    self.host.roots.host_answers(&id, plain.line().content());
                }
                self.log.passes(&mut self.out, (Origin::Host, Form::Response, ""), plain.line());
            }
            Gist::Unreadable => {
                self.log.passes(&mut self.out, (Origin::Host, Form::Response, ""), plain.line());
            }
        }
        self.out.push(Effect::Relay(Passing::ToServer(plain)));
    }

    /// Whether a notification is a request that leaves its id out: it carries a tool call, or a scope would ask about its method.
    fn is_request(&self, method: &str, notification: &Plain) -> bool {
        if request::is_notification(method) {
            return false;
        }
        let message: serde_json::Value = serde_json::from_slice(notification.line().content()).unwrap_or_default();
        let params = message.get("params").unwrap_or(&serde_json::Value::Null);
        !self.config.scope.is_whole() || carried(method, params, |name| self.catalog.could_have(name)).is_some()
    }

    /// Records a request that passes, unless a counter says enough.
    pub(in crate::gate) fn record_single(&mut self, request: &Call) {
        let revision = self.context().revision_of(request);
        self.log.record_single(&mut self.out, request, (&self.config.scope, revision));
    }

    /// Whether a call under this id has no answer yet.
    fn is_live(&self, id: &Id) -> bool {
        self.calls.by_host_id(id).is_some()
            || self.flights.contains(id)
            || self.flights.first_of(id).is_some()
            || self.tasks.has_waiting(id)
    }

    /// Lets the lifecycle see what the host says, and records who the host is once it is known.
    fn learn_host(&mut self, plain: &Plain, method: &str) {
        self.host.lifecycle.on_host_line(plain.gist(), plain.line().content());
        if method == "initialize" {
            let shows = lifecycle::shows_forms(plain.line().content());
            self.host.forms = if shows { Forms::Shows } else { Forms::No };
        }
        if method == "initialize"
            && self.host.recorded == HostRecord::Missing
            && let Some((name, version)) = self.host.lifecycle.host()
        {
            let features = lifecycle::of_host(plain.line().content());
            let entry = self.out.entry(Kind::Host).with("name", name).with("version", version);
            let entry = entry.with("features", features);
            self.host.recorded = HostRecord::Made;
            self.out.record(entry);
        }
    }
}

/// Whether a `tools/list` asks for a later page.
fn has_cursor(content: &[u8]) -> bool {
    let request: serde_json::Value = serde_json::from_slice(content).unwrap_or_default();
    request.pointer("/params/cursor").is_some_and(|cursor| !cursor.is_null())
}
