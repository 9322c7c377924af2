//! Requests that a server puts inside an answer (`inputRequests`, 2026-07-28): the rules for separate requests of the
//! server apply to them. The answer passes with all of them or not at all; then the host gets an error instead.

use crate::audit::record::Outcome;
use crate::gate::Gate;
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::server::flight::Wanted;
use crate::gate::state::passed::Form;
use crate::mcp::lifecycle::Revision;
use crate::wire::call::{AnswerTo, Call, Origin};
use crate::wire::id::Id;
use crate::wire::inputs;
use crate::wire::line::Line;
use crate::wire::message::Gist;
use crate::wire::rename;

/// What is known of a request that the server answers.
#[derive(Clone, Copy)]
struct Answered {
    to: AnswerTo,
    modern: bool,
}

impl Gate {
    /// Holds the requests inside an answer if a rule has to decide on them; returns an answer that passes. Requests
    /// that pass are recorded like separate ones.
    pub(in crate::gate) fn screen_answer(&mut self, line: Line, id: &Id) -> Option<Line> {
        let inputs = match inputs::read(line.content()) {
            Ok(Some(inputs)) => inputs,
            Ok(None) => return Some(line),
            Err(_) if !self.rules.restricts_methods => return Some(line),
            Err(odd) => return self.withhold(id, &odd.to_string(), &line),
        };
        let answered = self.answered(id);
        let Answered { to, modern } = answered.unwrap_or(Answered { to: AnswerTo::Request, modern: true });
        // Without a handshake only the stateless era has requests at all.
        let modern = modern || self.host.lifecycle.revision().is_none();
        let era = modern.then(|| Revision::V2026_07_28.word());
        let call = Call::inside(line, id.clone(), inputs, to, era);
        if !self.rules.restricts_methods || !self.holds(&call) {
            self.asks_pass(&call);
            return Some(call.into_line());
        }
        if answered.is_none() {
            let why = "it asks the host for something, under an id that the host does not wait for";
            return self.withhold(id, why, call.line());
        }
        // The server has answered, whether or not the host will get the answer.
        match self.flights.land(id) {
            Some(flight) => {
                self.landed(&flight, call.line(), false);
                let open = flight.open_id(id);
                self.flights.suspend(&flight.ticket, open);
                if open != id {
                    // The answer is shown, decided on and passed under the id of the request that the host came back
                    // with.
                    let Some(renamed) = inside_renamed(&call, open, (to, era)) else {
                        let why = "it cannot be passed under the id of the request that waits for it";
                        self.out.push(Effect::WriteToHost(replies::withheld(open, Some(&flight), why)));
                        return self.drop_odd(why, call.line());
                    };
                    self.take_up(Box::new(renamed));
                    return None;
                }
            }
            None => {
                self.host.plain_ids.remove(id);
                self.log.passes(&mut self.out, (Origin::Server, Form::Response, ""), call.line());
            }
        }
        self.take_up(Box::new(call));
        None
    }

    /// What the server answers under this id, if the answer may hold requests and the host still waits for it.
    fn answered(&self, id: &Id) -> Option<Answered> {
        if let Some(flight) = self.flights.get(id) {
            let to = if flight.method.is_none() { AnswerTo::Call } else { AnswerTo::Request };
            return (flight.wanted == Wanted::Yes).then_some(Answered { to, modern: flight.modern });
        }
        let is_ours =
            self.catalog.is_ours(id) || self.catalog.awaits(id) || self.host.introduction.as_ref() == Some(id);
        (!is_ours && self.host.plain_ids.contains(id)).then_some(Answered { to: AnswerTo::Request, modern: false })
    }

    /// Counts and records requests that pass inside an answer.
    fn asks_pass(&mut self, call: &Call) {
        self.record_single(call);
        for (method, params) in call.questions() {
            let counted = (Origin::Answer, Form::Request, method);
            let bytes = params.len() as u64;
            let at = self.log.passed.take(self.out.now.mono, counted, bytes, None);
            self.out.wake_by(at);
            self.out.show_plain(Direction::ToHost, ActivityKind::Request, method, bytes);
        }
    }

    /// Passes a notification on, unless it carries requests that a rule could restrict: a message that gets no answer
    /// cannot be held. The host finds them in the answer to its next `tasks/get`.
    pub(in crate::gate) fn screen_notification(&mut self, line: Line) -> Option<Line> {
        match inputs::read(line.content()) {
            Ok(Some(inputs)) if inputs.methods().any(|method| self.restricts(method)) => {
                let why = "it asks the host for something that a rule covers, and a notification cannot wait";
                self.drop_odd(why, &line)
            }
            Ok(_) => Some(line),
            Err(odd) => self.drop_odd(&odd.to_string(), &line),
        }
    }

    /// Withholds an answer: it is recorded, and the host that waits for it gets an error instead.
    pub(in crate::gate) fn withhold(&mut self, id: &Id, why: &str, line: &Line) -> Option<Line> {
        let none = self.drop_odd(why, line);
        self.answer_withheld(id, why);
        none
    }

    /// Answers the host for an answer of the server's that does not pass.
    pub(in crate::gate) fn answer_withheld(&mut self, id: &Id, why: &str) {
        if self.catalog.is_ours(id) {
            return;
        }
        if self.host.lifecycle.is_pending() {
            // For the host, `initialize` has failed.
            self.host.lifecycle.on_server_line(&Gist::Response { id: id.clone(), failed: true }, b"");
            self.early_calls();
        }
        let flight = self.flights.land(id);
        let is_plain = self.host.plain_ids.remove(id);
        if is_plain && self.catalog.awaits(id) {
            self.catalog.host_cancels(id);
        }
        match &flight {
            Some(flight) if flight.wanted == Wanted::Yes => {
                self.out.record(self.outcome_entry(flight, Outcome::Unreadable).with("reason", why));
                self.out.status.failed += 1;
            }
            None if is_plain => {}
            Some(_) | None => return,
        }
        let open = flight.as_ref().map_or(id, |flight| flight.open_id(id));
        let reply = replies::withheld(open, flight.as_deref(), why);
        match &flight {
            Some(flight) => self.answer_flight(flight, reply),
            None => self.out.push(Effect::WriteToHost(reply)),
        }
    }
}

/// The same requests inside the same answer under another id.
fn inside_renamed(call: &Call, id: &Id, (to, era): (AnswerTo, Option<&str>)) -> Option<Call> {
    let line = rename::with_id(call.line(), id)?;
    let inputs = inputs::read(line.content()).ok()??;
    Some(Call::inside(line, id.clone(), inputs, to, era))
}
