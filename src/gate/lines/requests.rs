//! Requests of the server to its host (sampling, elicitation): held if a rule asks about them or denies them. Then a
//! line that only a laxer reader takes for a request does not pass either. Without such a rule no line is looked at.

use std::sync::LazyLock;

use memchr::memchr2_iter;
use memchr::memmem::Finder;

use crate::gate::call::judge;
use crate::gate::data::effect::{Effect, OwnLine};
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::held::{Seen, context::Context, out::Out};
use crate::gate::server::flight::Wanted;
use crate::gate::state::{Rules, passed::Form};
use crate::gate::waiting::given::FormQuestions;
use crate::mcp::{Revision, request};
use crate::policy::{Decision, Rule};
use crate::wire::{
    Call, Gist, Id, Line, Origin, Plain, Refusal, call::AnswerTo, inputs, json, message, message::Sorted, reply,
    reply::INVALID_REQUEST, task,
};

/// What becomes of a line of the server that rules may be about.
#[derive(Debug)]
pub(in crate::gate) enum Screened {
    Passes(Line),
    PassesWith(Box<Call>),
    Holds(Box<Call>),
    HoldsAnswer(Box<Call>, AnswerTo, Option<&'static str>),
    /// No rule can decide on it, for this reason.
    Drops(String, Line),
    /// The same, and the server gets an error.
    Refuses(Refusal, Line),
    /// The same for an answer: the host that waits for it gets an error.
    Withholds(Id, String, Line),
    Nothing,
}

pub(in crate::gate) fn screen(line: Line, gist: &Gist, context: Context<'_>, forms: &FormQuestions) -> Screened {
    // While our own question to the host is open, no request of the server may be taken for it.
    let is_response = matches!(gist, Gist::Response { .. });
    let restricts = context.rules.restricts_methods;
    if !restricts && !may_end_a_task(gist, context) && (is_response || forms.open.is_none()) {
        return match gist {
            Gist::Response { id, .. } if embeds(line.content()) => screen_answer(line, id, context),
            Gist::Response { .. } | Gist::Request { .. } | Gist::Notification { .. } | Gist::Unreadable => {
                Screened::Passes(line)
            }
        };
    }
    match gist {
        // Hosts wait for answers, and many are written carelessly: only one that names a method is suspicious.
        Gist::Response { .. } if !names_a_method(line.content()) => Screened::Passes(line),
        Gist::Response { id, .. } => match message::sort(line) {
            Sorted::Plain(plain) => screen_answer(plain.into_line(), id, context),
            Sorted::Call(call) => Screened::Passes(call.into_line()),
            Sorted::Refused { refusal, line } => Screened::Withholds(id.clone(), refusal.what, line),
            Sorted::Blank => Screened::Nothing,
        },
        Gist::Request { .. } | Gist::Notification { .. } | Gist::Unreadable => match message::sort(line) {
            Sorted::Plain(plain) => screen_request(plain, context, forms),
            Sorted::Call(call) if forms.is_ours(call.id()) => {
                Screened::Drops("its id is one of ours".to_owned(), call.into_line())
            }
            // A `tools/call` from the server: no host accepts one, and rules about calls do not cover it.
            Sorted::Call(call) => Screened::Passes(call.into_line()),
            Sorted::Refused { refusal, line } => Screened::Refuses(refusal, line),
            Sorted::Blank => Screened::Nothing,
        },
    }
}

fn screen_request(plain: Plain, context: Context<'_>, forms: &FormQuestions) -> Screened {
    let is_ours = |id: &Id| forms.is_ours(id);
    let drops = |why: &str, plain: Plain| Screened::Drops(why.to_owned(), plain.into_line());
    match plain.gist() {
        Gist::Request { id, .. } if is_ours(id) => drops("its id is one of ours", plain),
        Gist::Notification { cancels: Some(id), .. } if is_ours(id) => drops("it cancels a request of ours", plain),
        Gist::Request { method, .. } if request::is_ruled(method) => {
            match plain.request(Origin::Server).filter(|call| holds(context, call)) {
                None => Screened::Passes(plain.into_line()),
                Some(call) if context.calls.by_origin(Origin::Server, call.id()).is_some() => {
                    let what = "a request with this id is already held; ids must be unique";
                    Screened::Refuses(Refusal::of(what, Some(call.id().clone()), true), call.into_line())
                }
                Some(call) => Screened::Holds(Box::new(call)),
            }
        }
        Gist::Notification { method, .. } if restricts(context.rules, method) => drops(message::NO_ANSWER, plain),
        // The host finds it in the answer to its next `tasks/get`, which the rules are about.
        Gist::Notification { .. }
            if may_end_a_task(plain.gist(), context) && !says_only_how_far(plain.line().content()) =>
        {
            drops("it may say what a task ended with, and a rule is about results", plain)
        }
        // A message that gets no answer cannot be held; the host finds such requests in the answer to its next `tasks/get`.
        Gist::Notification { .. } => match inputs::read(plain.line().content()) {
            Ok(Some(inputs)) if inputs.methods().any(|method| restricts(context.rules, method)) => {
                drops("it asks the host for something that a rule covers, and a notification cannot wait", plain)
            }
            Ok(_) => Screened::Passes(plain.into_line()),
            Err(odd) => drops(&odd.to_string(), plain),
        },
        Gist::Request { .. } | Gist::Response { .. } | Gist::Unreadable => Screened::Passes(plain.into_line()),
    }
}

/// Whether a report of the server may have the end of a task, while rules are about results.
pub(in crate::gate) fn may_end_a_task(gist: &Gist, context: Context<'_>) -> bool {
    matches!(gist, Gist::Notification { method, .. } if task::tells(method)) && context.rules.policy.rules_results()
}

fn says_only_how_far(content: &[u8]) -> bool {
    let message = str::from_utf8(content).ok().and_then(json::value);
    message.as_ref().and_then(|message| message.get("params")).is_some_and(task::is_bare_state)
}

/// The requests inside an answer are held if a rule has to decide on them.
fn screen_answer(line: Line, id: &Id, context: Context<'_>) -> Screened {
    let restricts = context.rules.restricts_methods;
    let inputs = match inputs::read(line.content()) {
        Ok(Some(inputs)) => inputs,
        Ok(None) => return Screened::Passes(line),
        Err(_) if !restricts => return Screened::Passes(line),
        Err(odd) => return Screened::Withholds(id.clone(), odd.to_string(), line),
    };
    let answered = answered(id, context);
    let (to, modern) = answered.unwrap_or((AnswerTo::Request, true));
    // Without a handshake only the stateless era has requests at all.
    let modern = modern || context.host.lifecycle.revision().is_none();
    let era = modern.then(|| Revision::V2026_07_28.word());
    let call = Box::new(Call::inside(line, id.clone(), inputs, to, era));
    if !restricts || !holds(context, &call) {
        return Screened::PassesWith(call);
    }
    match answered {
        Some(_) => Screened::HoldsAnswer(call, to, era),
        None => {
            let why = "it asks the host for something, under an id that the host does not wait for";
            Screened::Withholds(id.clone(), why.to_owned(), call.into_line())
        }
    }
}

/// What the server answers under this id, if it may hold requests and the host still waits, and whether in the stateless era.
fn answered(id: &Id, context: Context<'_>) -> Option<(AnswerTo, bool)> {
    let (host, catalog) = (context.host, context.catalog);
    if let Some(flight) = context.flights.get(id) {
        let to = if flight.method.is_none() { AnswerTo::Call } else { AnswerTo::Request };
        return (flight.wanted == Wanted::Yes).then_some((to, flight.modern));
    }
    let is_ours = catalog.is_ours(id) || catalog.awaits(id) || host.introduction.as_ref() == Some(id);
    (!is_ours && host.plain.contains_key(id)).then_some((AnswerTo::Request, false))
}

/// Whether a request other than a call must be held: it is not allowed, it carries a call, or a rule counts it.
pub(in crate::gate) fn holds(context: Context<'_>, call: &Call) -> bool {
    let counts = |rule: &Rule| rule.counts() && call.questions().any(|(method, _)| rule.is_about(Some(method)));
    if context.rules.policy.rules.iter().any(counts) {
        return true;
    }
    let judged = judge::judgement(call, None, context, &Seen::default());
    judged.ruling.decision != Decision::Allow || !judged.wanted.real.is_empty() || judged.inside.is_some()
}

/// Whether some rule could ask about a method, deny it or count it; then a line that cannot be held is dropped.
pub(in crate::gate) fn restricts(rules: &Rules, method: &str) -> bool {
    let restricts = |rule: &Rule| rule.holds_requests() && rule.is_about(Some(method));
    rules.restricts_methods
        && request::is_ruled(method)
        && (!rules.policy.allows_count || rules.policy.rules.iter().any(restricts))
}

/// Counts and shows the requests that pass inside an answer.
pub(in crate::gate) fn count(call: &Call, out: &mut Out) {
    for (method, params) in call.questions() {
        let bytes = params.len() as u64;
        let at = out.log.passed.take(out.now.mono, (Origin::Answer, Form::Request, method), bytes, None);
        out.wake_by(at);
        out.show_plain(Direction::ToHost, ActivityKind::Request, method, bytes);
    }
}

/// Drops and records a line on which no rule can decide.
pub(in crate::gate) fn drop_odd(why: &str, line: &Line, out: &mut Out) {
    let what = "dropped a line of the server: a rule covers requests of the server, and the line is not a \
         canonical message";
    let entry = out.fault(what, line.digest()).with("reason", why);
    out.record(entry.with("bytes", line.content().len()));
}

pub(in crate::gate) fn refuse(refusal: &Refusal, line: &Line, out: &mut Out) {
    if let (true, Some(id)) = (refusal.answer, &refusal.id) {
        out.push(Effect::WriteToServer(OwnLine(reply::error(Some(id), refusal.code, &refusal.what))));
    }
    drop_odd(&refusal.what, line, out);
}

/// Records that a long line did not pass, and tells the server if it was a request.
pub(in crate::gate) fn too_long(gist: &Gist, bytes: u64, out: &mut Out) {
    let what = "dropped a line of the server: a rule covers its requests, and the line is too long to be held";
    out.record(out.fault(what, None).with("bytes", bytes));
    if let Gist::Request { id, .. } = gist {
        let line = reply::error(Some(id), INVALID_REQUEST, "the request is too long for mcp-approve to show it");
        out.push(Effect::WriteToServer(OwnLine(line)));
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
