//! Answers of the server: to calls, which are recorded, and to everything else that the host asked. Where tools are hidden, a
//! page of the list is cut once read.

use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;

use crate::audit::{Entry, Kind, Outcome};
use crate::behavior::hazards::reading;
use crate::capability::schema::Fits;
use crate::gate::config::Config;
use crate::gate::data::effect::{Effect, Passing};
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::held::out::Out;
use crate::gate::held::replies::{self, answer_lost};
use crate::gate::lines::requests::{drop_odd, embeds, names_a_method};
use crate::gate::server::discovery::{DEFINITION, Discovery, Shown};
use crate::gate::server::flight::{Flight, Flights, Later, Wanted};
use crate::gate::server::{catalog::Catalog, described::Visibility, pages::Whole};
use crate::gate::state::{Host, ServerTasks, passed::Form};
use crate::gate::waiting::Waiting;
use crate::gate::waiting::answer::{answer_flight, cancel_task, end_task};
use crate::gate::waiting::tasks::{DAY, Progress};
use crate::mcp::{Answer, lifecycle, tool};
use crate::wire::reply::{self, INTERNAL};
use crate::wire::{Call, Digest, Gist, Id, Line, Origin, call::AnswerTo, digest::StreamDigest, inputs, rename, task};

/// Beyond this size `structuredContent` is not checked against the output schema.
const CHECKED: usize = 1 << 20;

/// How a line of the server reaches its host.
#[derive(Debug)]
pub(in crate::gate) enum Relay {
    AsItIs(Line),
    Instead(Line),
    Nothing,
}

impl Relay {
    pub fn push(self, out: &mut Out) {
        match self {
            Self::AsItIs(line) => out.push(Effect::Relay(Passing::ToHost(line))),
            Self::Instead(line) => out.push(Effect::WriteToHost(line)),
            Self::Nothing => {}
        }
    }
}

/// The server answers a request of the host, or one of ours: what it says of itself is noted.
pub(in crate::gate) fn note_answer(id: &Id, content: &[u8], host: &mut Host, out: &mut Out) {
    if host.introduction.take_if(|asked| asked == id).is_some() {
        introduced(content, host, out);
    }
}

/// Records what the server says that it can do, unless it said the same before.
fn introduced(content: &[u8], host: &mut Host, out: &mut Out) {
    let said = lifecycle::of_server(content);
    if lifecycle::makes_tasks(content) {
        host.server_tasks = ServerTasks::OfCalls;
    }
    if said.is_none() || said == host.introduced {
        return;
    }
    let mut entry = out.entry(Kind::Session);
    const NAMES: [&str; 5] = ["revision", "server", "server_version", "features", "instructions"];
    for name in NAMES {
        said.as_ref().and_then(|said| said.get(name)).inspect(|value| entry.detail.add(name, value));
    }
    out.record(entry);
    host.introduced = said;
}

/// An answer to a call, or to another request, that the host gets under the request that waits now.
pub(in crate::gate) fn pass(
    line: Line,
    instead: Option<Line>,
    id: &Id,
    failed: bool,
    flights: &mut Flights,
    out: &mut Out,
) -> Relay {
    let flight = land(&line, id, failed, flights, out);
    if instead.is_some() && flight.as_ref().is_some_and(|flight| flight.wanted == Wanted::Cancelled) {
        return Relay::Nothing;
    }
    match flight.as_ref().and_then(|flight| flight.later.last()) {
        None => instead.map_or_else(|| Relay::AsItIs(line), Relay::Instead),
        Some(Later { id, .. }) => Relay::Instead(
            rename::with_id(instead.as_ref().unwrap_or(&line), id)
                .unwrap_or_else(|| answer_lost(id, "its id is unknown")),
        ),
    }
}

/// The answer to a request has come: it is recorded or counted, and what it answers is removed.
pub(in crate::gate) fn land(
    line: &Line,
    id: &Id,
    failed: bool,
    flights: &mut Flights,
    out: &mut Out,
) -> Option<Box<Flight>> {
    let flight = flights.land(id);
    match &flight {
        Some(flight) if flight.wanted == Wanted::Yes => landed(flight, line, failed, flights, out),
        Some(_) | None => {
            if let Some(brought) = reading::brought(line.content()) {
                flights.reading = Some(format!("after an answer of the server that has {brought}"));
            }
            out.passes((Origin::Server, Form::Response, ""), line);
        }
    }
    flight
}

/// The server answers a call whose host was given a task for it.
pub(in crate::gate) fn for_task(
    (id, line, failed): (&Id, Line, bool),
    instead: Option<Line>,
    restricts_methods: bool,
    flights: &mut Flights,
    waiting: &mut Waiting,
    out: &mut Out,
) {
    let Some(flight) = flights.land(id) else { return };
    let Some(task) = flight.task.clone().filter(|_| flight.wanted == Wanted::Yes) else {
        return out.passes((Origin::Server, Form::Response, ""), &line);
    };
    landed(&flight, &line, failed, flights, out);
    let line = instead.unwrap_or(line);
    let (content, now) = (line.content(), out.now);
    let may_ask = embeds(content) || restricts_methods && names_a_method(content);
    let asks = may_ask && !matches!(inputs::read(content), Ok(None));
    let fits = waiting.tasks.has_room(content.len());
    let end = match Answer::read(content) {
        Answer::Complete { .. } | Answer::Failed { .. } if !asks && !fits => {
            answer_lost(id, "too many results wait already for their hosts to fetch them")
        }
        Answer::Complete { .. } | Answer::Failed { .. } if task::End::read(content).is_none() => {
            answer_lost(id, "it cannot be read")
        }
        Answer::Complete { .. } | Answer::Failed { .. } if !asks => line,
        Answer::Task { id: theirs } if waiting.tasks.get(&theirs).is_none() => {
            waiting.tasks.note_foreign(&theirs);
            waiting.tasks.keep_beside(&task, now.mono.saturating_add(DAY));
            return waiting.advance(&task, Progress::Theirs(theirs), now.wall);
        }
        Answer::InputRequired { .. } | Answer::Complete { .. } | Answer::Failed { .. } => {
            waiting.tasks.note_asking(&flight.tool);
            replies::asks_for_more(id, &flight)
        }
        Answer::Task { .. } | Answer::Unreadable => answer_lost(id, "it cannot be read"),
    };
    end_task(waiting, &task, end, now.wall);
}

/// The answer to a call streamed past, too long to be read; only the record is left to make.
pub(in crate::gate) fn streamed(
    (flight, id, failed): (&Flight, &Id, bool),
    (bytes, digest): (u64, StreamDigest),
    waiting: &mut Waiting,
    out: &mut Out,
) {
    if flight.task.is_some() {
        let lost = answer_lost(id, &format!("it has {bytes} bytes, which is too much to keep for a task"));
        answer_flight(waiting, flight, lost, out);
    } else if let Some(Later { id, .. }) = flight.later.last() {
        let why = format!("it has {bytes} bytes, and its id would have to be changed in it");
        out.push(Effect::WriteToHost(answer_lost(id, &why)));
    }
    let outcome = if failed { Outcome::Error } else { Outcome::Streamed };
    let digest = digest.keyed(out.secrets.key()).to_string();
    let mut entry = outcome_entry(flight, outcome, out).with("bytes", bytes).with("answer", digest);
    let schema = flight.described.as_ref().and_then(|known| known.output());
    entry.add("output_schema", schema.map(|_| "not checked: the answer is too long"));
    out.record(entry);
    out.status.failed += u64::from(failed);
    show_outcome(flight, bytes, failed, out);
}

/// The server has answered with requests in the answer that are held: the call to hold, under the id that its host waits under.
pub(in crate::gate) fn hold_inside(
    call: Box<Call>,
    (to, era): (AnswerTo, Option<&str>),
    flights: &mut Flights,
    host: &mut Host,
    out: &mut Out,
) -> Option<Box<Call>> {
    let id = call.id().clone();
    let Some(flight) = flights.land(&id) else {
        host.plain.remove(&id);
        out.passes((Origin::Server, Form::Response, ""), call.line());
        return Some(call);
    };
    landed(&flight, call.line(), false, flights, out);
    let open = flight.open_id(&id);
    flights.suspend(&flight.ticket, open);
    if *open == id {
        return Some(call);
    }
    // The answer is shown, decided on and passed under the id of the request that the host came back with.
    let renamed = inside_renamed(&call, open, (to, era));
    if renamed.is_none() {
        let why = "it cannot be passed under the id of the request that waits for it";
        out.push(Effect::WriteToHost(replies::withheld(open, Some(&flight), why)));
        drop_odd(why, call.line(), out);
    }
    renamed.map(Box::new)
}

fn inside_renamed(call: &Call, id: &Id, (to, era): (AnswerTo, Option<&str>)) -> Option<Call> {
    let line = rename::with_id(call.line(), id)?;
    let inputs = inputs::read(line.content()).ok()??;
    Some(Call::inside(line, id.clone(), inputs, to, era))
}

/// Answers the host for an answer of the server's that does not pass.
pub(in crate::gate) fn withheld(
    (id, why): (&Id, &str),
    host: &mut Host,
    catalog: &mut Catalog,
    flights: &mut Flights,
    waiting: &mut Waiting,
    out: &mut Out,
) {
    if catalog.is_ours(id) {
        return;
    }
    if host.lifecycle.is_pending() {
        // For the host, `initialize` has failed.
        host.lifecycle.on_server_line(&Gist::Response { id: id.clone(), failed: true }, b"");
    }
    let flight = flights.land(id);
    let is_plain = host.plain.remove(id).is_some();
    if is_plain && catalog.awaits(id) {
        catalog.host_cancels(id);
    }
    match &flight {
        Some(flight) if flight.wanted == Wanted::Yes => {
            out.record(outcome_entry(flight, Outcome::Unreadable, out).with("reason", why));
            out.status.failed += 1;
            let reply = replies::withheld(flight.open_id(id), Some(flight), why);
            answer_flight(waiting, flight, reply, out);
        }
        None if is_plain => out.push(Effect::WriteToHost(replies::withheld(id, None, why))),
        Some(_) | None => {}
    }
}

/// The server has ended: what its calls did is unknown.
pub(in crate::gate) fn lost(how: &str, flights: &mut Flights, waiting: &mut Waiting, out: &mut Out) {
    for (id, flight) in flights.drain() {
        let entry = outcome_entry(&flight, Outcome::Unknown, out).with("reason", format!("the server ended: {how}"));
        out.record(entry);
        answer_flight(waiting, &flight, replies::outcome_unknown(&id, &flight, how), out);
    }
}

/// The host cancelled a call that runs: the cancellation passes, and the record says that the host no longer waits.
pub(in crate::gate) fn cancelled_in_flight(id: &Id, flights: &mut Flights, waiting: &mut Waiting, out: &mut Out) {
    let Some(flight) = flights.cancel(id) else { return };
    let entry = outcome_entry(flight, Outcome::Cancelled, out);
    out.record(entry.with("reason", "the host cancelled the call while it ran"));
    if let Some(task) = &flight.task {
        cancel_task(waiting, task, replies::cancelled_running_task(id), out.now.wall);
    }
}

fn landed(flight: &Flight, line: &Line, failed: bool, flights: &mut Flights, out: &mut Out) {
    let content = line.content();
    let schema = flight.described.as_ref().and_then(|known| known.output());
    let answer = if failed || schema.is_some() || flight.task.is_some() || says_more(content) {
        Answer::read(content)
    } else {
        Answer::Complete { is_error: false, structured: None }
    };
    flights.expect_more(out.now, flight, &answer);
    let outcome = outcome(&answer);
    let mut entry = outcome_entry(flight, outcome, out);
    entry.detail.add("bytes", content.len());
    entry.detail.add("answer", line.digest());
    if let Some(brought) = reading::brought(content) {
        let target = flight.target.as_deref().map(|target| format!(" {target}")).unwrap_or_default();
        flights.reading =
            Some(format!("after {}{target} ({}), whose answer has {brought}", flight.tool, flight.ticket));
        entry.detail.add("brings", brought);
    }
    if let (Some(schema), Answer::Complete { is_error: false, structured }) = (schema, &answer) {
        let checked = match structured {
            _ if content.len() > CHECKED => "not checked: the answer is too long",
            Some(value) => match schema.check(value) {
                Fits::Yes => "fits",
                Fits::No(_) => "does not fit",
                Fits::Unchecked => "not checked: the schema takes too much work",
            },
            None => "missing structuredContent",
        };
        entry.detail.add("output_schema", checked);
    }
    out.record(entry);
    let failed = outcome.is_failure();
    out.status.failed += u64::from(failed);
    show_outcome(flight, content.len() as u64, failed, out);
}

fn outcome_entry(flight: &Flight, outcome: Outcome, out: &Out) -> Entry {
    let mut entry = out.entry(Kind::Outcome);
    // Its decision names it; another may be in force by now.
    entry.policy = None;
    entry.ticket = Some(Arc::clone(&flight.ticket));
    entry.tool = Some(flight.tool.clone());
    entry.target.clone_from(&flight.target);
    entry.digest = Some(flight.digest);
    entry.badge = Some(flight.badge);
    entry.identity = Some(flight.identity);
    entry.latency_us = Some(out.now.mono.saturating_sub(flight.forwarded.mono));
    entry.detail.add("result", outcome.word());
    entry.add("gate_us", flight.held_us);
    entry
}

fn show_outcome(flight: &Flight, bytes: u64, failed: bool, out: &mut Out) {
    let latency_us = Some(out.now.mono.saturating_sub(flight.forwarded.mono));
    out.show(Direction::ToHost, ActivityKind::Outcome, |one| {
        one.what = flight.tool.as_ref().into();
        one.ticket = Some(flight.ticket.to_string());
        one.target = flight.target.as_deref().map(str::to_owned);
        one.badge = Some(flight.badge);
        one.by = Some(flight.by);
        one.rule.clone_from(&flight.rule);
        one.bytes = bytes;
        one.latency_us = latency_us;
        one.failed = failed;
    });
}

/// Gives the host its page without the tools that are hidden from it, or says under its id why it gets none.
pub(in crate::gate) fn offer(
    page: Result<(Id, Whole), Id>,
    config: &Config,
    catalog: &Catalog,
    discovery: &mut Discovery,
    out: &mut Out,
) {
    let (id, whole) = match page {
        Ok((id, whole)) => (id, Some(whole)),
        Err(id) => (id, None),
    };
    let shown = discovery.shown(config, catalog);
    let is_listed =
        |tool: Option<&(String, Digest)>| is_offered(tool, catalog) && tool.is_some_and(|(name, _)| shown.has(name));
    let keep: Vec<bool> = whole.iter().flat_map(|whole| &whole.tools).map(|tool| is_listed(tool.as_ref())).collect();
    let hidden = keep.iter().filter(|keep| !**keep).count();
    let searched = matches!(shown, Shown::Found(_));
    let own = whole.as_ref().is_some_and(|whole| whole.first && searched).then_some(DEFINITION);
    match whole.as_ref().and_then(|whole| tool::cut_page(&whole.line, &keep, own)) {
        Some(line) if hidden == 0 && own.is_none() => out.push(Effect::Relay(Passing::ToHost(line))),
        Some(line) => {
            let what = match searched {
                true => "left tools that no search has found out of the list that the host asked for",
                false => "left tools outside the scope out of the list that the host asked for",
            };
            out.record(out.entry(Kind::Tools).with("what", what).with("hidden", hidden));
            out.push(Effect::WriteToHost(line));
            if own.is_some() {
                discovery.note_offered();
            }
        }
        None => {
            let what = "the server's list of tools is too long, or not canonical JSON, so it cannot be cut to what may be shown";
            out.record(out.fault(what, None));
            out.push(Effect::WriteToHost(reply::error(Some(&id), INTERNAL, what)));
        }
    }
}

/// Tells a host that its list of tools is another now, where its revision has such a message outside of a subscription.
pub(in crate::gate) fn tell_list_changed(host: &Host, out: &mut Out) {
    if host.lifecycle.revision().is_some() {
        out.push(Effect::WriteToHost(reply::list_changed()));
    }
}

/// The answer to `initialize` passes; it says that the list of tools may change, which hosts heed only if it was said.
pub(in crate::gate) fn announce_changes(line: Line, out: &mut Out) -> Relay {
    out.passes((Origin::Server, Form::Response, ""), &line);
    let changed = lifecycle::with_list_changes(&line);
    let Some(changed) = changed.filter(|changed| changed != &line) else { return Relay::AsItIs(line) };
    let mut entry = out.entry(Kind::Event).with("what", "said to the host that the list of tools may change");
    entry.digest = Some(line.digest());
    let sent = changed.clone().keyed(out.secrets.key()).digest();
    out.record(entry.with("sent", sent));
    Relay::Instead(changed)
}

/// Whether a tool as a page has it is in the scope. A tool that is not known with exactly this definition is not.
fn is_offered(tool: Option<&(String, Digest)>, catalog: &Catalog) -> bool {
    let Some((name, digest)) = tool else { return false };
    catalog.seen(name).is_some_and(|known| known.digest == *digest && known.visibility == Visibility::Listed)
}

fn outcome(answer: &Answer) -> Outcome {
    match answer {
        Answer::Complete { is_error: false, .. } => Outcome::Ok,
        Answer::Complete { is_error: true, .. } => Outcome::ToolError,
        Answer::InputRequired { .. } => Outcome::InputRequired,
        Answer::Task { .. } => Outcome::Task,
        Answer::Failed { .. } => Outcome::Error,
        Answer::Unreadable => Outcome::Unreadable,
    }
}

/// Whether an answer may be anything but a plain success: worth reading whole. A miss only costs detail in a record.
fn says_more(content: &[u8]) -> bool {
    static TELLING: LazyLock<[Finder<'_>; 2]> =
        LazyLock::new(|| [Finder::new(b"\"isError\""), Finder::new(b"\"resultType\"")]);
    let head = content.get(..64 << 10).unwrap_or(content);
    TELLING.iter().any(|word| word.find(head).is_some())
}
