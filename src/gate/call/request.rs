//! Requests of the server to its host (sampling, elicitation): held if a rule asks about them or denies them. Then a
//! line that only a laxer reader takes for a request does not pass either. Without such a rule no line is looked at.

use std::sync::LazyLock;

use memchr::memchr2_iter;
use memchr::memmem::Finder;

use crate::gate::Gate;
use crate::gate::call::held::Withdrawal;
use crate::gate::call::judged::Seen;
use crate::gate::call::judgement;
use crate::gate::data::effect::{Effect, OwnLine};
use crate::mcp::request;
use crate::policy::rule::{Decision, Rule};
use crate::wire::call::{Call, Origin};
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::{self, Gist, Plain, Refusal, Sorted};
use crate::wire::reply::{self, INVALID_REQUEST};

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
