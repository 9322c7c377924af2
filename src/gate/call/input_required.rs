//! A call waits for longer than its host waits for one request: the request is answered with a state, the host comes back with
//! it, and the same held call waits on. What reaches the server is the first request, byte for byte. Owns no verdict.

use std::sync::Arc;

use crate::audit::record::{By, Kind};
use crate::gate::data::effect::{Effect, OwnLine};
use crate::gate::deadline::{FIRST_HEARTBEAT, RETURN};
use crate::gate::held::wait::MOST;
use crate::gate::held::{Approved, Heartbeat, Held, Stage, Withdrawal};
use crate::gate::held::{replies, wait};
use crate::gate::server::flight::Later;
use crate::gate::waiting::question;
use crate::gate::waiting::returns::{Owed, Return, ShownForm};
use crate::gate::{Gate, deadline};
use crate::wire::call::{Call, Origin};
use crate::wire::digest::Digest;
use crate::wire::line::Line;
use crate::wire::{rename, reply};

impl Gate {
    /// How long one request of a call is held at most; `None`: as long as the operator takes.
    fn held_per_request(&self, call: &Call, has_token: bool) -> Option<u64> {
        let host = self.host.of(call).map(|(name, _)| name);
        deadline::hold(self.config.host_timeout, host, has_token)
    }

    /// The last moment at which an answer reaches the host through all its requests for the call (monotonic
    /// microseconds).
    pub(in crate::gate) fn longest_wait(&self, call: &Call, arrived: u64) -> u64 {
        // A request of the server has no host that stops waiting for it.
        let has_token = call.origin() == Origin::Host && call.meta().progress_token.is_some();
        let requests = if wait::are_possible(call) { MOST + 1 } else { 1 };
        let hold = self.held_per_request(call, has_token).map_or(u64::MAX, |hold| hold.saturating_mul(requests));
        arrived.saturating_add(hold)
    }

    /// When the open request is answered with a state; `None` where it waits until the call's deadline.
    pub(in crate::gate) fn round_trip_ends(&self, held: &Held) -> Option<u64> {
        let trips = &held.round_trips;
        if !trips.may_end(&held.call) {
            return None;
        }
        let ends = trips.opened.saturating_add(self.held_per_request(&held.call, held.open_token().is_some())?);
        (ends < held.deadline).then_some(ends)
    }

    /// Answers each open request whose time is over with a state, and gives up the calls that no host came back for.
    pub(in crate::gate) fn end_round_trips(&mut self) {
        for number in self.calls.numbers(Stage::may_take_long) {
            let Some(held) = self.calls.held_mut::<Stage>(number) else { continue };
            match held.round_trips.ends {
                Some(ends) if ends > self.out.now.mono => self.out.wake_by(ends),
                Some(_) => self.end_round_trip(number, None),
                None => {}
            }
        }
        for what in self.returns.due(self.out.now.mono) {
            if let Owed::Wait(number) = what.owed {
                self.withdraw(number, Withdrawal::NoReturn);
            }
        }
        self.out.wake_by(self.returns.wake_at());
    }

    /// Answers the open request of a call with a state, and with a form where its host is to ask its user.
    pub(in crate::gate) fn end_round_trip(&mut self, number: u64, form: Option<ShownForm>) {
        let Some(held) = self.calls.held_mut::<Stage>(number) else { return };
        let nth = held.round_trips.later.len() + 1;
        let state = wait::state(&self.config.secret, &held.ticket, nth);
        (held.round_trips.ends, held.round_trips.away) = (None, Some(Arc::clone(&state)));
        // A person may answer until the deadline; a host that comes back soon after that still learns the end.
        let until = if form.is_some() { held.deadline } else { self.out.now.mono }.saturating_add(RETURN);
        let what_for = if form.is_some() { "ask its user and come back" } else { "come back" };
        let text = form.as_ref().map(|form| form.text.as_str());
        self.out.push(Effect::WriteToHost(reply::come_back(held.open_id(), &state, text)));
        let what = Return {
            ticket: Arc::clone(&held.ticket),
            owed: Owed::Wait(number),
            form,
            until,
            repeated: *held.round_trips.repeated.get_or_insert_with(|| held.call.repeated()),
            responses: held.call.input_responses_text().map(str::to_owned),
            client: held.call.meta().client.clone(),
        };
        let (ticket, call) = (Arc::clone(&held.ticket), (held.call.shared_name(), held.call.digest()));
        self.returns.give(state, what);
        self.record_round_trip(&ticket, call, &format!("asked the host to {what_for}, {nth} of {MOST}"));
        self.out.wake_by(until);
    }

    /// A request brings back a state of ours: its host waits on, or gets the answer that came in the meantime. Each state counts
    /// once, and only for the same call.
    pub(in crate::gate) fn on_return(&mut self, call: &Call, state: &str) {
        let Some(what) = self.returns.take(state) else {
            let why = "it brings back a state of mcp-approve that was used before or has expired";
            return self.deny_unheld(call, By::Fault, why, replies::stale_state(call));
        };
        if !what.fits(call) {
            let why = format!("it brings back the state of {}, and is another call", what.ticket);
            self.deny_unheld(call, By::Fault, &why, replies::other_call(call, &what.ticket));
            if let Owed::Wait(number) = what.owed {
                self.withdraw(number, Withdrawal::OtherReturn);
            }
            return;
        }
        self.record_round_trip(&what.ticket, (call.shared_name(), call.digest()), "the host came back");
        match what.owed {
            Owed::Answer(answer) => {
                if what.form.is_some() {
                    self.record_ineffective_answer(what.form.as_ref(), "the call no longer waits");
                }
                self.out.push(Effect::WriteToHost(rename::with_id(&answer, call.id()).unwrap_or(answer)));
            }
            Owed::Wait(number) => {
                self.reopen(number, call);
                if let Some(form) = what.form {
                    let answer = question::answer_inside(call.input_responses_text());
                    self.on_form_answered(&form, answer);
                }
                if let Some((held, approved)) = self.calls.take::<Approved>(number) {
                    self.resume(held, approved);
                }
            }
        }
    }

    /// The held call waits on, under the request that the host came back with.
    fn reopen(&mut self, number: u64, call: &Call) {
        let Some((mut held, stage)) = self.calls.take::<Stage>(number) else { return };
        let token = call.meta().progress_token.clone();
        let sent = held.heartbeat.map_or(0, |beat| beat.sent);
        held.heartbeat = token.is_some().then_some(Heartbeat { next: self.out.now.mono + FIRST_HEARTBEAT, sent });
        (held.round_trips.away, held.round_trips.opened) = (None, self.out.now.mono);
        held.round_trips.later.push(Later { id: call.id().clone(), token });
        held.round_trips.ends = self.round_trip_ends(&held);
        self.out.wake_for(&held);
        self.calls.put(held, stage);
    }

    fn record_round_trip(&mut self, ticket: &Arc<str>, (tool, digest): (Arc<str>, Digest), what: &str) {
        let mut entry = self.out.entry(Kind::RoundTrip);
        (entry.ticket, entry.tool, entry.digest) = (Some(Arc::clone(ticket)), Some(tool), Some(digest));
        self.out.record(entry.with("what", what));
    }

    /// Answers the host or server that waits for a held call: by its task, under the open request, or once its host
    /// comes back.
    pub(in crate::gate) fn answer(&mut self, held: &Held, reply: Line) {
        let Some(reply) = self.answer_by_task(held, reply) else { return };
        match (&held.round_trips.away, held.call.origin()) {
            (Some(state), _) => self.returns.answer(state, reply),
            (None, Origin::Host | Origin::Answer) => {
                let reply =
                    if held.round_trips.later.is_empty() { None } else { rename::with_id(&reply, held.open_id()) }
                        .unwrap_or(reply);
                self.out.push(Effect::WriteToHost(reply));
            }
            (None, Origin::Server) => self.out.push(Effect::WriteToServer(OwnLine(reply))),
        }
    }
}
