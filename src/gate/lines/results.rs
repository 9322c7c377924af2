//! The rules about answers: what the host gets instead of an answer that one of them is about. The server's own line is
//! changed in no other way; what is passed instead is recorded as ours, with both digests.

use std::sync::Arc;

use crate::audit::record::{By, Entry, Kind};
use crate::gate::held::context::Context;
use crate::gate::held::replies;
use crate::gate::server::flight::{Flight, Wanted};
use crate::policy::fit::is_about_results;
use crate::policy::result::{Read, ResultAct, ResultTest};
use crate::policy::rule::Rule;
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::reply;

/// What the host gets instead, and its record.
pub(in crate::gate) struct Instead {
    pub reply: Line,
    pub entry: Entry,
}

/// What the host gets instead of an answer to the call of this id; `None` where no rule is about it.
pub(in crate::gate) fn judge(line: &Line, id: &Id, context: Context<'_>) -> Option<Instead> {
    let flight = waits(id, context)?;
    let mut about = about(flight, context).peekable();
    about.peek()?;
    let read = Read::of(line.content());
    let met: Vec<(&Rule, &ResultTest)> = about.filter(|(_, test)| test.holds(&read)).collect();
    let (rule, strictest) = met.iter().max_by_key(|(_, test)| test.act)?;
    let tests: Vec<&ResultTest> = met.iter().map(|(_, test)| *test).collect();
    let redacted = if strictest.act == ResultAct::Redact { read.redacted(&tests) } else { None };
    let (word, reply) = match redacted {
        Some(result) => (ResultAct::Redact, reply::result_of(id, &result)),
        None => (ResultAct::Deny, replies::result_withheld(id, flight, &rule.id)),
    };
    let mut entry = context.out.entry(Kind::ResultDecision);
    entry.ticket = Some(Arc::clone(&flight.ticket));
    entry.tool = Some(Arc::clone(&flight.tool));
    entry.target.clone_from(&flight.target);
    entry.digest = Some(flight.digest);
    entry.by = Some(By::Rule);
    entry.rule = Some(rule.id.clone());
    let entry = entry.with("result", word.word()).with("found", strictest.words());
    let entry = entry.with("bytes", line.content().len()).with("answer", line.digest());
    Some(Instead { entry: entry.with("sent", reply.digest()), reply })
}

/// Whether the answer to the call of this id has to be read whole before the host may get it.
pub(in crate::gate) fn is_about(id: &Id, context: Context<'_>) -> bool {
    waits(id, context).is_some_and(|flight| about(flight, context).next().is_some())
}

fn waits<'c>(id: &Id, context: Context<'c>) -> Option<&'c Flight> {
    let flight = context.flights.get(id).filter(|_| !context.rules.policy.results.is_empty())?;
    (flight.wanted == Wanted::Yes && flight.method.is_none()).then_some(flight)
}

/// The rules about answers of this call's tool.
fn about<'c>(flight: &'c Flight, context: Context<'c>) -> impl Iterator<Item = (&'c Rule, &'c ResultTest)> {
    let of = (context.config.server.as_ref(), flight.tool.as_ref());
    let is_about = move |rule: &&Rule| is_about_results(rule, of, flight.identity, context.now);
    let rules = context.rules.policy.results.iter().filter(is_about);
    rules.filter_map(|rule| Some((rule, rule.result.as_ref()?)))
}
