//! Requests of the server to its host (sampling, elicitation): held if a rule asks about them or denies them. Then a
//! line that only a laxer reader takes for a request does not pass either. Without such a rule no line is looked at.

use std::sync::LazyLock;

use memchr::memchr2_iter;
use memchr::memmem::Finder;

use crate::audit::record::Outcome;
use crate::gate::Gate;
use crate::gate::call::judgement;
use crate::gate::data::effect::{Effect, OwnLine};
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::held::replies;
use crate::gate::held::{Seen, Withdrawal};
use crate::gate::server::flight::Wanted;
use crate::gate::state::passed::Form;
use crate::mcp::lifecycle::Revision;
use crate::mcp::request;
use crate::policy::rule::{Decision, Rule};
use crate::wire::call::{AnswerTo, Call, Origin};
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::{Gist, Plain, Refusal, Sorted};
use crate::wire::reply::INVALID_REQUEST;
use crate::wire::{inputs, message, rename, reply};

impl Gate {
    /// Holds or drops a line of the server that rules may be about; returns any that passes.
    pub(in crate::gate) fn screen(&mut self, line: Line, gist: &Gist) -> Option<Line> {
        // While our own question to the host is open, no request of the server may be taken for it.
        let is_response = matches!(gist, Gist::Response { .. });
        if !self.rules.restricts_methods && (is_response || !self.elicited.is_open()) {
            return match gist {
                Gist::Response { id, .. } if embeds(line.content()) => self.screen_answer(line, id),
                Gist::Response { .. } | Gist::Request { .. } | Gist::Notification { .. } | Gist::Unreadable => {
                    Some(line)
                }
            };
        }
        match gist {
            // Hosts wait for answers, and many are written carelessly: only one that names a method is suspicious.
            Gist::Response { .. } if !names_a_method(line.content()) => Some(line),
            Gist::Response { id, .. } => match message::sort(line) {
                Sorted::Plain(plain) => self.screen_answer(plain.into_line(), id),
                Sorted::Call(call) => Some(call.into_line()),
                Sorted::Refused { refusal, line } => self.withhold(id, &refusal.what, &line),
                Sorted::Blank => None,
            },
            Gist::Request { .. } | Gist::Notification { .. } | Gist::Unreadable => match message::sort(line) {
                Sorted::Plain(plain) => self.screen_request(plain),
                Sorted::Call(call) if self.elicited.is_ours(call.id()) => {
                    self.drop_odd("its id is one of ours", call.line())
                }
                // A `tools/call` from the server: no host accepts one, and rules about calls do not cover it.
                Sorted::Call(call) => Some(call.into_line()),
                Sorted::Refused { refusal, line } => {
                    self.answer_odd(&refusal);
                    self.drop_odd(&refusal.what, &line)
                }
                Sorted::Blank => None,
            },
        }
    }

    fn screen_request(&mut self, plain: Plain) -> Option<Line> {
        match plain.gist() {
            Gist::Request { id, .. } if self.elicited.is_ours(id) => {
                self.drop_odd("its id is one of ours", plain.line())
            }
            Gist::Notification { cancels: Some(id), .. } if self.elicited.is_ours(id) => {
                self.drop_odd("it cancels a request of ours", plain.line())
            }
            Gist::Request { method, .. } if request::is_ruled(method) => {
                let Some(call) = plain.request(Origin::Server).filter(|call| self.holds(call)) else {
                    return Some(plain.into_line());
                };
                if self.calls.by_origin(Origin::Server, call.id()).is_some() {
                    let what = "a request with this id is already held; ids must be unique";
                    self.answer_odd(&Refusal::of(what, Some(call.id().clone()), true));
                    return self.drop_odd(what, call.line());
                }
                self.take_up(Box::new(call));
                None
            }
            Gist::Notification { method, .. } if self.restricts(method) => {
                self.drop_odd(message::NO_ANSWER, plain.line())
            }
            Gist::Notification { .. } => self.screen_notification(plain.into_line()),
            Gist::Request { .. } | Gist::Response { .. } | Gist::Unreadable => Some(plain.into_line()),
        }
    }

    /// The server cancels something. If that is a held request of its own, the request is withdrawn, and the host gets
    /// neither.
    #[must_use = "the cancellation of anything else passes"]
    pub(in crate::gate) fn cancels_held(&mut self, id: &Id) -> bool {
        let number = self.calls.by_origin(Origin::Server, id);
        if let Some(number) = number {
            self.withdraw(number, Withdrawal::Cancelled);
        }
        number.is_some()
    }

    /// Whether a request other than a call must be held: it is not allowed, it carries a call, or a rule counts it, which takes a
    /// decision.
    pub(in crate::gate) fn holds(&self, call: &Call) -> bool {
        if self
            .rules
            .policy
            .rules
            .iter()
            .any(|rule| rule.counts() && call.questions().any(|(method, _)| rule.is_about(Some(method))))
        {
            return true;
        }
        let judged = judgement::judge(call, None, self.context(), &Seen::default());
        judged.ruling.decision != Decision::Allow || !judged.wanted.real.is_empty() || judged.inside.is_some()
    }

    /// Whether some rule could ask about a method, deny it or count it; then a line that cannot be held is dropped.
    pub(in crate::gate) fn restricts(&self, method: &str) -> bool {
        let policy = &self.rules.policy;
        let restricts = |rule: &Rule| rule.holds_requests() && rule.is_about(Some(method));
        self.rules.restricts_methods
            && request::is_ruled(method)
            && (!policy.allows_count || policy.rules.iter().any(restricts))
    }

    /// Drops and records a line on which no rule can decide.
    pub(in crate::gate) fn drop_odd(&mut self, why: &str, line: &Line) -> Option<Line> {
        let what = "dropped a line of the server: a rule covers requests of the server, and the line is not a \
             canonical message";
        let entry = self.out.fault(what, line.digest()).with("reason", why);
        self.out.record(entry.with("bytes", line.content().len()));
        None
    }

    /// Records that a long request of the server did not pass, and tells the server.
    pub(in crate::gate) fn too_long(&mut self, gist: &Gist, bytes: u64) {
        let what = "dropped a line of the server: a rule covers its requests, and the line is too long to be held";
        self.out.record(self.out.fault(what, None).with("bytes", bytes));
        match gist {
            Gist::Request { id, .. } => {
                let line =
                    reply::error(Some(id), INVALID_REQUEST, "the request is too long for mcp-approve to show it");
                self.out.push(Effect::WriteToServer(OwnLine(line)));
            }
            Gist::Response { id, .. } => {
                self.answer_withheld(id, "it is too long to be searched for requests of the server");
            }
            Gist::Notification { .. } | Gist::Unreadable => {}
        }
    }

    fn answer_odd(&mut self, refusal: &Refusal) {
        if let (true, Some(id)) = (refusal.answer, &refusal.id) {
            self.out.push(Effect::WriteToServer(OwnLine(reply::error(Some(id), refusal.code, &refusal.what))));
        }
    }

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

/// Whether some bytes could hold requests inside a result: this key, its first letter in either case, any letter of it
/// escaped. Where a rule is about requests, [`names_a_method`] finds other spellings too.
pub(in crate::gate) fn embeds(content: &[u8]) -> bool {
    static WORD: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"nputRequests\""));
    // Honest servers escape no letter, so these are rare; their escapes of signs (`\u003c`) are not.
    static ESCAPE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\\u00"));
    let is_letter = |at: usize| matches!(content.get(at + 4), Some(b'4'..=b'7'));
    WORD.find(content).is_some() || ESCAPE.find_iter(content).any(is_letter)
}

/// Whether some bytes could hold a key `method` in any case, or one that is escaped.
pub(in crate::gate) fn names_a_method(content: &[u8]) -> bool {
    let word = |at: usize| content.get(at..at + 6).is_some_and(|six| six.eq_ignore_ascii_case(b"method"));
    memchr2_iter(b'm', b'M', content).any(word) || content.windows(2).any(|two| two == b"\\u")
}

/// What is known of a request that the server answers.
#[derive(Clone, Copy)]
struct Answered {
    to: AnswerTo,
    modern: bool,
}

/// The same requests inside the same answer under another id.
fn inside_renamed(call: &Call, id: &Id, (to, era): (AnswerTo, Option<&str>)) -> Option<Call> {
    let line = rename::with_id(call.line(), id)?;
    let inputs = inputs::read(line.content()).ok()??;
    Some(Call::inside(line, id.clone(), inputs, to, era))
}
