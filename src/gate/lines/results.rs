//! The rules about answers of the server: which of them are about one, and what its host gets: the answer, a line of ours, or
//! nothing until an operator has answered. An answer that is held waits as a call does, under the requests of its own call.

use std::sync::Arc;

use crate::audit::{By, Entry, Kind};
use crate::gate::call::judgement::rules_about;
use crate::gate::held::wait::{Heartbeat, HostWait};
use crate::gate::held::{AskRecord, Describing, Held, Next, Seen, context::Context, out::Out, replies};
use crate::gate::lines::answer;
use crate::gate::lines::requests::embeds;
use crate::gate::server::flight::{AnswerOf, Flights, Gives, Wanted};
use crate::gate::state::{Host, PLAIN, WrapperEnd};
use crate::gate::waiting::tasks::Progress;
use crate::gate::waiting::{Waiting, answer::keep_task, come_back};
use crate::mcp::{Answer, InSession};
use crate::policy::Rule;
use crate::policy::result::{Read, ResultAct, ResultTest};
use crate::wire::{Call, Gist, Id, Line, call::AnswerTo, reply};

/// What follows from the rules about an answer.
pub(in crate::gate) enum Ruled {
    /// The host gets this instead, and the log has why.
    Instead(Entry, Line),
    /// A rule asks about it, or about what another rule left of it; then the log has that too.
    Asks(Option<Entry>, Box<AskedAnswer>),
}

/// An answer to be held, and the proof that its session allows it.
pub(in crate::gate) struct AskedAnswer {
    call: Call,
    session: InSession,
    of: AnswerOf,
}

/// What the rules say of an answer to the request of this id; `None` where they say nothing.
pub(in crate::gate) fn ruled(line: &Line, id: &Id, context: Context<'_>) -> Option<Ruled> {
    let of = request_of(id, context)?;
    let mut about = rules_about(&of, context).peekable();
    about.peek()?;
    let read = Read::of(line.content());
    if of.gives == Gives::TaskState && read.is_bare_state() {
        return None;
    }
    let met: Vec<(&Rule, &ResultTest)> = about.filter(|(_, test)| test.holds(&read)).collect();
    let first = |act: ResultAct| met.iter().find(|(_, test)| test.act == act).copied();
    let (flight, key) = (context.flights.get(id), context.out.secrets.key());
    let is_wanted = flight.is_none_or(|flight| flight.wanted == Wanted::Yes);
    let instead = |(rule, test): (&Rule, &ResultTest), act: ResultAct, reply: &Line| {
        let mut entry = context.out.entry(Kind::ResultDecision);
        entry.ticket.clone_from(&of.ticket);
        entry.tool = Some(Arc::clone(&of.tool));
        entry.target.clone_from(&of.target);
        entry.digest = flight.map(|flight| flight.digest);
        entry.by = Some(By::Rule);
        entry.rule = Some(rule.id.clone());
        let entry = entry.with("result", act.word()).with("found", test.words());
        let mut entry = entry.with("bytes", line.content().len()).with("answer", line.digest());
        // The host of a cancelled call gets nothing at all.
        entry.add("sent", is_wanted.then(|| reply.digest()));
        entry
    };
    let withhold = |by: (&Rule, &ResultTest)| {
        let reply = replies::result_withheld(id, flight, &by.0.id).keyed(key);
        Some(Ruled::Instead(instead(by, ResultAct::Deny, &reply), reply))
    };
    if let Some(denies) = first(ResultAct::Deny) {
        return withhold(denies);
    }
    let (mut left, mut entry) = (line.clone(), None);
    if let Some(redacts) = first(ResultAct::Redact) {
        let tests: Vec<&ResultTest> =
            met.iter().map(|(_, test)| *test).filter(|test| test.act == ResultAct::Redact).collect();
        let Some(result) = read.redacted(&tests) else { return withhold(redacts) };
        left = reply::result_of(id, &result).keyed(key);
        entry = Some(instead(redacts, ResultAct::Redact, &left));
    }
    match (first(ResultAct::Ask), entry) {
        (None, entry) => entry.map(|entry| Ruled::Instead(entry, left)),
        (Some(asks), entry) => {
            match to_be_asked(left, id, AnswerOf { asked_by: asks.0.id.clone(), ..of.clone() }, context) {
                Some(asked) => Some(Ruled::Asks(entry, Box::new(asked))),
                None => withhold(asks),
            }
        }
    }
}

/// Something that can be held of an answer; `None` where no operator could decide on it: it is too long or not read alike by all
/// readers, it is no final answer, no host waits for it, or no more can be held.
fn to_be_asked(line: Line, id: &Id, of: AnswerOf, context: Context<'_>) -> Option<AskedAnswer> {
    let content = line.content();
    let is_final = matches!(Answer::read(content), Answer::Complete { .. } | Answer::Failed { .. }) && !embeds(content);
    let runs = context.ends.wrapper == WrapperEnd::Runs;
    if !is_final || !runs || !Read::of(content).is_read() || context.calls.is_full(line.bytes().len()) {
        return None;
    }
    // Nobody waits for the answer to a cancelled call.
    let flight = context.flights.get(id);
    if flight.is_some_and(|flight| flight.wanted == Wanted::Cancelled) {
        return None;
    }
    let to = flight.filter(|flight| flight.method.is_none()).map_or(AnswerTo::Request, |_| AnswerTo::Call);
    let call = Call::result(line, id.clone(), &of.tool, to, of.meta.clone())?;
    let session = context.host.lifecycle.call(&call).ok()?;
    Some(AskedAnswer { call, session, of })
}

/// Holds an answer until an operator decides; the request that it answers has landed. `line` is what the server wrote.
pub(in crate::gate) fn hold(
    (number, asked): (u64, AskedAnswer),
    (line, gist): (&Line, &Gist),
    host: &Host,
    flights: &mut Flights,
    waiting: &mut Waiting,
    out: &mut Out,
) -> Next {
    let AskedAnswer { call, session, of } = asked;
    let failed = matches!(gist, Gist::Response { failed: true, .. });
    let flight = answer::land(line, call.id(), failed, flights, out);
    let mut wait = HostWait { opened: of.since, ..HostWait::default() };
    if let Some(flight) = flight {
        // Progress never falls: ours goes on above what the server has reported.
        let sent = |(_, ours): &(Id, u32)| flight.reached.max(*ours);
        let next = out.now.mono;
        wait.heartbeat = flight.reported.as_ref().map(|reported| Heartbeat { next, sent: sent(reported) });
        wait = HostWait { later: flight.later, task: flight.task, repeated: flight.repeated, ..wait };
        wait.responses = flight.responses;
    }
    let mut held = Held {
        number,
        ticket: out.ticket(number).into(),
        deadline: out.now.mono.saturating_add(waiting.limits.approval),
        call: Box::new(call),
        arrived: out.now,
        asked: AskRecord::NotAsked,
        original: None,
        wait,
        seen: Seen { answer: Some(Box::new(of)), ..Seen::default() },
        asked_again: None,
        signed: Vec::new(),
        challenges: 0,
    };
    match held.wait.task.clone() {
        Some(task) => {
            keep_task(waiting, &task, &held, out);
            waiting.advance(&task, Progress::Held(number), out.now.wall);
        }
        None => {
            held.deadline = held.deadline.min(come_back::longest_wait(waiting, host, &held));
            held.wait.ends = come_back::request_ends(waiting, host, &held);
        }
    }
    Next::Describe(held, Describing { session, before: None })
}

/// Whether the answer to the request of this id has to be read whole before the host may get it.
pub(in crate::gate) fn is_about(id: &Id, context: Context<'_>) -> bool {
    request_of(id, context).is_some_and(|of| rules_about(&of, context).next().is_some())
}

/// Whether an answer may come that rules about answers decide on.
pub(in crate::gate) fn may_come(context: Context<'_>) -> bool {
    let is_ruled = context.rules.policy.rules_results();
    is_ruled && (!context.flights.is_empty() || context.host.plain.values().any(Option::is_some))
}

/// The request of this id, where its host still waits for an answer that rules can be about.
fn request_of(id: &Id, context: Context<'_>) -> Option<AnswerOf> {
    if !context.rules.policy.rules_results() {
        return None;
    }
    match context.flights.get(id) {
        Some(flight) => flight.answered(),
        None => match context.host.plain.get(id) {
            Some(plain) => plain.clone(),
            // It is the answer to one that was too many to be remembered: it may be of any tool.
            None if context.host.plain.len() >= PLAIN => AnswerOf::request("tasks/result", None, 0),
            None => None,
        },
    }
}
