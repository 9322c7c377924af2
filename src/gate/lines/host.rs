//! What a line of the host can be, and what follows from it: a call is held where the session and the scope allow it and
//! denied at once where they do not, other lines pass, and what is none of these is refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::audit::{By, Kind, VerdictWord};
use crate::behavior::request::carried;
use crate::gate::Gate;
use crate::gate::call::judge::own_meta;
use crate::gate::data::effect::{Effect, OwnLine, Passing};
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::deadline::FIRST_HEARTBEAT;
use crate::gate::held::wait::{self, Heartbeat, HostWait};
use crate::gate::held::{
    Approved, AskRecord, Describing, Held, Next, Opening, Seen, Stage, StageKind as _, Withdrawal, context::Context,
    entries, out::Out, replies, table::Calls, target,
};
use crate::gate::lines::requests::{holds, restricts};
use crate::gate::lines::{answer, search};
use crate::gate::server::catalog::Catalog;
use crate::gate::server::discovery::{ListChange, SEARCH};
use crate::gate::server::flight::AnswerOf;
use crate::gate::state::{Forms, Host, HostRecord, PLAIN, WrapperEnd, passed::Form};
use crate::gate::waiting::Waiting;
use crate::gate::waiting::come_back::{self, ComeBack, longest_wait, request_ends};
use crate::gate::waiting::question::{self, record_ineffective_answer};
use crate::gate::waiting::requests::{self, TaskStep};
use crate::mcp::{InSession, Revision, lifecycle, request};
use crate::policy::scope::{Asks, Outside};
use crate::wire::message::{self, Sorted};
use crate::wire::{Call, Gist, Id, Line, Origin, Plain, Refusal, rename, reply};

#[derive(Debug)]
enum HostLine {
    /// Nothing: it is blank, or the server takes nothing more.
    Nothing,
    Refused(Refusal, Line),
    Call(Box<Call>),
    /// A call of our search tool.
    Search(Box<Call>),
    /// A call that brings back a state of ours.
    Return(Box<Call>, String),
    /// Another request that must be decided on.
    Ruled(Box<Call>),
    Outside(Box<Call>, NotHeld),
    /// A request about a task of ours.
    Task(Plain, Id, String),
    /// A request that passes, as a call too if rules could be about it.
    Request(Plain, Id, String, Option<Box<Call>>),
    /// It cancels our question to the host.
    CancelsForm,
    CancelsHeld(u64),
    CancelsSearch(Id),
    CancelsTaskRequest(Id),
    /// It cancels a call that the server knows by this other id.
    CancelsRenamed(Plain, Id),
    Notification(Plain, String, Option<Id>),
    /// The answer to our question.
    FormAnswer(Line, Id, Failed),
    Answer(Plain, Option<Id>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failed {
    No,
    Yes,
}

impl HostLine {
    fn call_mut(&mut self) -> Option<&mut Call> {
        match self {
            Self::Call(call)
            | Self::Search(call)
            | Self::Return(call, _)
            | Self::Ruled(call)
            | Self::Outside(call, _)
            | Self::Request(.., Some(call)) => Some(call),
            Self::Nothing
            | Self::Refused(..)
            | Self::Task(..)
            | Self::Request(.., None)
            | Self::CancelsForm
            | Self::CancelsHeld(_)
            | Self::CancelsSearch(_)
            | Self::CancelsTaskRequest(_)
            | Self::CancelsRenamed(..)
            | Self::Notification(..)
            | Self::FormAnswer(..)
            | Self::Answer(..) => None,
        }
    }
}

impl Gate {
    /// A call is held; anything else that is canonical passes at once; the rest is refused.
    pub(in crate::gate) fn on_host_line(&mut self, line: Line) {
        let mut sorted = sort(line.keyed(self.out.secrets.key()), self.context(), &self.waiting);
        if let Some(call) = sorted.call_mut() {
            self.out.secrets.take(call);
        }
        self.on_sorted(sorted);
    }

    fn on_sorted(&mut self, line: HostLine) {
        match line {
            HostLine::Nothing => {}
            HostLine::Refused(refusal, line) => self.out.refuse_line(&refusal, &line),
            HostLine::Call(call) => self.on_call(call),
            HostLine::Search(call) => self.on_search(call),
            HostLine::Return(call, state) => self.on_return(&call, &state),
            HostLine::Ruled(request) => self.arrive(request),
            HostLine::Outside(request, not_held) => {
                deny(&request, not_held, &mut self.calls, &mut self.out);
            }
            HostLine::Task(request, id, method) => self.on_task_request(request, &id, &method),
            HostLine::Request(plain, id, method, request) => {
                request.iter().for_each(|request| self.record_single(request));
                let line = (&plain, &id, method.as_str(), request.as_deref());
                note_request(line, &mut self.host, &mut self.catalog, &mut self.out);
                self.out.push(Effect::Relay(Passing::ToServer(plain)));
            }
            // The server must not learn the id: it could guess the next one, and ask under that itself.
            HostLine::CancelsForm => {
                let why = "it cancels a request that only mcp-approve may cancel";
                record_ineffective_answer(&mut self.out, None, why);
            }
            HostLine::CancelsHeld(number) => self.withdraw(number, Withdrawal::Cancelled),
            HostLine::CancelsSearch(id) => self.discovery.forget(&id),
            HostLine::CancelsTaskRequest(id) => self.waiting.tasks.stop_waiting(&id),
            HostLine::CancelsRenamed(plain, first) => self.cancel_renamed(&plain, &first),
            HostLine::Notification(plain, method, cancels) => self.on_notification(plain, &method, cancels),
            HostLine::FormAnswer(line, id, failed) => self.on_elicited(&id, failed, &line),
            HostLine::Answer(plain, id) => {
                id.iter().for_each(|id| self.host.roots.host_answers(id, plain.line().content()));
                self.out.passes((Origin::Host, Form::Response, ""), plain.line());
                self.out.push(Effect::Relay(Passing::ToServer(plain)));
            }
        }
    }

    /// A call, or another request that must be decided on, has come: it is held where that is allowed.
    pub(in crate::gate) fn arrive(&mut self, call: Box<Call>) {
        match admit(self.context(), &call) {
            Ok(session) => {
                let next = hold(call, session, (&self.host, &self.waiting), &mut self.calls, &mut self.out);
                self.drive(next);
            }
            Err(not_held) => deny(&call, not_held, &mut self.calls, &mut self.out),
        }
    }

    fn on_call(&mut self, call: Box<Call>) {
        self.out.status.calls += 1;
        if call.is_modern() {
            self.out.status.era = Revision::V2026_07_28.word().to_owned();
        }
        self.arrive(call);
    }

    /// The agent searches: it is answered by the server's whole list, which is asked for where it is not known.
    fn on_search(&mut self, call: Box<Call>) {
        if !self.catalog.is_whole() && !self.catalog.is_asking() && self.ends.server.reason().is_none() {
            let question = self.catalog.ask(self.out.now, own_meta(&call));
            self.out.extend(question.map(Effect::WriteToServer));
            self.out.wake_by(self.catalog.wake_at());
        }
        if let Err(call) = self.discovery.wait(call) {
            self.out.push(Effect::WriteToHost(replies::too_many(&call)));
        }
    }

    /// Answers the searches that waited, once nothing more is to come of the server's list.
    pub(in crate::gate) fn answer_searches(&mut self) {
        let is_over = self.ends.server.reason().is_some() || self.ends.wrapper != WrapperEnd::Runs;
        if self.discovery.is_empty() || !is_over && (self.catalog.is_asking() || self.catalog.is_reading()) {
            return;
        }
        for call in self.discovery.take_waiting() {
            let Some(profiles) = self.context().search_profiles() else {
                // The list has a tool of this name: it is the server's.
                self.on_call(Box::new(call));
                continue;
            };
            let answered = search::answer(self.context(), profiles, &call);
            self.out.record(answered.entry);
            if self.discovery.list(answered.names.iter().map(String::as_str)) == ListChange::Some {
                answer::tell_list_changed(&self.host, &mut self.out);
            }
            self.out.push(Effect::WriteToHost(answered.reply));
        }
    }

    fn on_return(&mut self, call: &Call, state: &str) {
        match come_back::take(&mut self.waiting, call, state, &mut self.out) {
            ComeBack::Answered => {}
            ComeBack::Refused(why, reply, number) => {
                deny(call, NotHeld { by: By::Fault, why, reply }, &mut self.calls, &mut self.out);
                number.into_iter().for_each(|number| self.withdraw(number, Withdrawal::OtherReturn));
            }
            ComeBack::WaitsOn(number, answered) => {
                come_back::reopen(&self.waiting, &self.host, &mut self.calls, (number, call), &mut self.out);
                if let Some((form, said)) = answered {
                    self.on_form_answered(&form, said);
                }
                if let Some((held, approved)) = self.calls.take::<Approved>(number) {
                    self.resume(held, approved);
                }
            }
        }
    }

    /// Records a request that passes, unless a counter says enough.
    pub(in crate::gate) fn record_single(&mut self, request: &Call) {
        let revision = self.context().revision_of(request);
        self.out.record_single(request, (&self.config.scope, revision));
    }

    fn on_task_request(&mut self, request: Plain, id: &Id, method: &str) {
        match requests::step(self.context(), &self.waiting, &request, (id, method)) {
            TaskStep::Answer(line) => self.out.push(Effect::WriteToHost(line)),
            TaskStep::Refuse(refusal) => self.out.refuse_line(&refusal, request.line()),
            TaskStep::Wait(task) => requests::wait(&mut self.waiting, &task, request, id, &mut self.out),
            TaskStep::CancelHeld(task, number) => {
                let held = self.calls.get::<Stage>(number).map_or(Origin::Host, |(held, _)| held.call.origin());
                let answer = requests::cancel(&mut self.waiting, &task, (id, held), self.out.now.wall);
                self.withdraw(number, Withdrawal::Cancelled);
                self.out.extend(answer.map(Effect::WriteToHost));
            }
            TaskStep::CancelRunning(call) => {
                answer::cancelled_in_flight(&call, &mut self.flights, &mut self.waiting, &mut self.out);
                let cancel = reply::cancelled(call.raw(), "the host cancelled the task");
                self.out.push(Effect::WriteToServer(OwnLine(cancel)));
                self.out.push(Effect::WriteToHost(crate::wire::task::taken(id)));
            }
            TaskStep::Pass(ours, theirs) => {
                let (calls, flights, plain) = (&self.calls, &self.flights, &self.host.plain);
                let is_owed =
                    |id: &Id| plain.contains_key(id) || flights.contains(id) || calls.by_host_id(id).is_some();
                match requests::renamed(&mut self.waiting, (&ours, &theirs), &request, id, is_owed) {
                    Ok(plain) => {
                        let sorted = sort_plain(plain, self.context(), &self.waiting);
                        self.on_sorted(sorted);
                    }
                    Err(reply) => self.out.push(Effect::WriteToHost(reply)),
                }
            }
        }
    }

    /// Answers or passes on the requests about tasks that waited, and wait no longer.
    pub(in crate::gate) fn answer_ready(&mut self) {
        for request in self.waiting.take_ready() {
            if let Gist::Request { id, method, .. } = request.gist().clone() {
                self.on_task_request(request, &id, &method);
            }
        }
    }

    /// The host cancels a call that the server knows by its first request.
    fn cancel_renamed(&mut self, plain: &Plain, first: &Id) {
        answer::cancelled_in_flight(first, &mut self.flights, &mut self.waiting, &mut self.out);
        self.out.passes((Origin::Host, Form::Notification, "notifications/cancelled"), plain.line());
        let line = rename::with_param(plain.line(), "requestId", first.raw());
        self.out.extend(line.map(|line| Effect::WriteToServer(OwnLine(line))));
    }

    fn on_notification(&mut self, plain: Plain, method: &str, cancels: Option<Id>) {
        if let Some(id) = cancels {
            self.waiting.tasks.forget(&id);
            let stays = self.rules.policy.rules_results();
            forget_request(&id, stays, &mut self.host.plain, &mut self.catalog);
            answer::cancelled_in_flight(&id, &mut self.flights, &mut self.waiting, &mut self.out);
        }
        learn_host(&plain, method, &mut self.host, &mut self.out);
        self.out.passes((Origin::Host, Form::Notification, method), plain.line());
        self.out.push(Effect::Relay(Passing::ToServer(plain)));
    }

    /// The host answers a question of ours. No answer of that kind reaches the server, whenever it comes.
    fn on_elicited(&mut self, id: &Id, failed: Failed, line: &Line) {
        match (self.waiting.forms.answered(id), failed) {
            (None, _) => {
                let why = "the question was answered or taken back before";
                record_ineffective_answer(&mut self.out, None, why);
            }
            (Some(form), Failed::Yes) => {
                // The host declared forms, and failed. The call waits for a console, as it would without forms.
                self.host.forms = Forms::No;
                let why = "the host could not ask its user, and is not asked again in this session";
                record_ineffective_answer(&mut self.out, Some(&form), why);
            }
            (Some(form), Failed::No) => self.on_form_answered(&form, question::answer(line.content())),
        }
    }
}

/// Why a call is not worth holding, and what its sender is answered.
#[derive(Debug)]
struct NotHeld {
    by: By,
    why: String,
    reply: Line,
}

/// The proof that the session allows a call; `None` while the server has not answered `initialize` yet.
fn admit(context: Context<'_>, call: &Call) -> Result<Option<InSession>, NotHeld> {
    let not_held = |by, why: &str, reply| Err(NotHeld { by, why: why.to_owned(), reply });
    if context.ends.wrapper != WrapperEnd::Runs {
        return not_held(By::Shutdown, "the wrapper stops", replies::stopping(call));
    }
    let lifecycle = &context.host.lifecycle;
    let session = match lifecycle.call(call) {
        Ok(session) => Some(session),
        Err(_) if lifecycle.is_pending() => None,
        Err(phase) => {
            return not_held(By::Fault, &phase.to_string(), replies::wrong_phase(call, lifecycle.phase(), &phase));
        }
    };
    if call.method().is_none()
        && let Err(Outside(why)) = context.scope.may_name(call.name())
    {
        return not_held(By::Scope, &why, replies::out_of_scope(call, &why));
    }
    if context.calls.is_full(call.line().bytes().len()) || context.flights.is_full() {
        let why = "too many calls wait, for a decision or for the server";
        return not_held(By::Fault, why, replies::too_many(call));
    }
    Ok(session)
}

fn hold(
    call: Box<Call>,
    session: Option<InSession>,
    (host, waiting): (&Host, &Waiting),
    calls: &mut Calls,
    out: &mut Out,
) -> Next {
    let number = calls.next_number();
    // A request of the server has no host that stops waiting for it.
    let has_token = call.origin() == Origin::Host && call.meta().progress_token.is_some();
    let now = out.now.mono;
    let mut held = Held {
        number,
        ticket: out.ticket(number).into(),
        deadline: now.saturating_add(waiting.limits.approval),
        call,
        arrived: out.now,
        asked: AskRecord::NotAsked,
        original: None,
        wait: HostWait {
            heartbeat: has_token.then_some(Heartbeat { next: now + FIRST_HEARTBEAT, sent: 0 }),
            opened: now,
            ..HostWait::default()
        },
        seen: Seen::default(),
        asked_again: None,
        signed: Vec::new(),
        challenges: 0,
    };
    held.deadline = held.deadline.min(longest_wait(waiting, host, &held));
    held.wait.ends = request_ends(waiting, host, &held);
    match session {
        Some(session) => Next::Describe(held, Describing { session, before: None }),
        None => {
            out.wake_for(&held);
            Next::Wait(held, Opening.into_stage())
        }
    }
}

/// Denies a call that is not worth holding: one decision record, one answer.
fn deny(call: &Call, not_held: NotHeld, calls: &mut Calls, out: &mut Out) {
    let NotHeld { by, why, reply } = not_held;
    let number = calls.next_number();
    let mut entry = out.entry(Kind::Decision);
    entry.ticket = Some(out.ticket(number).into());
    entry.tool = Some(call.shared_name());
    let target = target::of_unjudged(call);
    entry.target = target.as_deref().map(Arc::from);
    entry.digest = Some(call.digest());
    entry.verdict = Some(VerdictWord::Deny);
    entry.by = Some(by);
    entry.arguments = Some(call.arguments());
    entries::add_request(&mut entry, call);
    out.record(entry.with("reason", why.as_str()));
    out.status.denied += 1;
    out.push(replies::answer(call, reply));
    out.show(Direction::ToServer, ActivityKind::Call, |one| {
        one.what = call.name().to_owned();
        one.target = target;
        one.verdict = Some(VerdictWord::Deny);
        one.by = Some(by);
        one.bytes = call.line().content().len() as u64;
        one.failed = true;
        one.reason = why;
    });
}

fn sort(line: Line, context: Context<'_>, waiting: &Waiting) -> HostLine {
    match message::sort(line) {
        Sorted::Call(call) => {
            if is_live(context, waiting, call.id()) || context.host.plain.contains_key(call.id()) {
                return HostLine::Refused(duplicate(call.id().clone()), call.into_line());
            }
            let is_legal = context.host.lifecycle.call(&call).is_ok();
            if call.name() == SEARCH && is_legal && context.search_profiles().is_some() {
                return HostLine::Search(call);
            }
            match wait::brought_back(&call) {
                Some(state) if !context.flights.gave_state(&call) => HostLine::Return(call, state),
                Some(_) | None => HostLine::Call(call),
            }
        }
        Sorted::Plain(plain) => sort_plain(plain, context, waiting),
        Sorted::Refused { refusal, line } => HostLine::Refused(refusal, line),
        Sorted::Blank => HostLine::Nothing,
    }
}

/// Sorts a message that is no `tools/call`.
fn sort_plain(plain: Plain, context: Context<'_>, waiting: &Waiting) -> HostLine {
    let takes_nothing = context.ends.server.reason().is_some();
    let refuse = |what: &str, plain: Plain| HostLine::Refused(Refusal::of(what, None, false), plain.into_line());
    match plain.gist().clone() {
        // Our own tasks need no server: a host may still fetch the result of a call that waited as one.
        Gist::Request { id, method, .. } if requests::is_ours(waiting, &plain) && !is_live(context, waiting, &id) => {
            HostLine::Task(plain, id, method)
        }
        Gist::Request { .. } | Gist::Notification { .. } | Gist::Response { .. } | Gist::Unreadable
            if takes_nothing =>
        {
            HostLine::Nothing
        }
        Gist::Request { id, .. } if is_live(context, waiting, &id) || is_ruled(context, &id) => {
            HostLine::Refused(duplicate(id), plain.into_line())
        }
        Gist::Request { id, method, .. } => sort_request(plain, id, method, context),
        Gist::Notification { method, cancels } => {
            if cancels.as_ref().is_some_and(|id| waiting.forms.is_ours(id)) {
                return HostLine::CancelsForm;
            }
            if let Some(number) = cancels.as_ref().and_then(|id| context.calls.by_host_id(id)) {
                return HostLine::CancelsHeld(number);
            }
            match cancels {
                Some(id) if context.discovery.has_waiting(&id) => HostLine::CancelsSearch(id),
                Some(id) if waiting.tasks.has_waiting(&id) => HostLine::CancelsTaskRequest(id),
                _ if restricts(context.rules, &method) || is_request(context, &method, &plain) => {
                    refuse(message::NO_ANSWER, plain)
                }
                Some(id) => match context.flights.first_of(&id) {
                    Some(first) => HostLine::CancelsRenamed(plain, first.clone()),
                    None => HostLine::Notification(plain, method, Some(id)),
                },
                None => HostLine::Notification(plain, method, None),
            }
        }
        Gist::Response { id, failed } if waiting.forms.is_ours(&id) => {
            HostLine::FormAnswer(plain.into_line(), id, if failed { Failed::Yes } else { Failed::No })
        }
        Gist::Response { id, .. } if context.calls.by_origin(Origin::Server, &id).is_some() => {
            refuse("the server's request of this id has not reached the host yet", plain)
        }
        Gist::Response { id, failed } => HostLine::Answer(plain, (!failed).then_some(id)),
        Gist::Unreadable => HostLine::Answer(plain, None),
    }
}

fn sort_request(plain: Plain, id: Id, method: String, context: Context<'_>) -> HostLine {
    if method == "tools/list" && context.catalog.cuts_pages() && !context.catalog.has_room() {
        // We could not follow this one, so its answer could not be cut to the scope.
        let what = "too many tools/list requests wait for their answers; ask again when one has come";
        return HostLine::Refused(Refusal::of(what, Some(id), true), plain.into_line());
    }
    // With an id it waits for an answer, also by such a name.
    let is_ruled = request::is_ruled(&method) || method.starts_with("notifications/");
    let Some(request) = is_ruled.then(|| plain.request(Origin::Host)).flatten().map(Box::new) else {
        return HostLine::Request(plain, id, method, None);
    };
    if holds(context, &request) {
        return HostLine::Ruled(request);
    }
    let asks = Asks::Request(&context.config.server, context.revision_of(&request));
    match context.scope.admit(&request, asks) {
        Ok(_) => HostLine::Request(plain, id, method, Some(request)),
        Err(Outside(why)) => {
            let reply = replies::out_of_scope(&request, &why);
            HostLine::Outside(request, NotHeld { by: By::Scope, why, reply })
        }
    }
}

fn is_live(context: Context<'_>, waiting: &Waiting, id: &Id) -> bool {
    context.calls.by_host_id(id).is_some()
        || context.flights.contains(id)
        || context.flights.first_of(id).is_some()
        || waiting.tasks.has_waiting(id)
        || context.discovery.has_waiting(id)
}

/// A second call under an id that is still in flight.
fn duplicate(id: Id) -> Refusal {
    Refusal::of("a call with this id is already in flight; ids must be unique", Some(id), true)
}

/// Whether a notification is a request that leaves its id out: it carries a tool call, or a scope or a stop would ask about its method.
fn is_request(context: Context<'_>, method: &str, notification: &Plain) -> bool {
    if request::is_notification(method) {
        return false;
    }
    let message: serde_json::Value = serde_json::from_slice(notification.line().content()).unwrap_or_default();
    let params = message.get("params").unwrap_or(&serde_json::Value::Null);
    let asks = !context.scope.is_whole() || context.rules.stops.frozen.is_some();
    asks || carried(method, params, |name| context.catalog.could_have(name)).is_some()
}

/// A request passes: its answer is expected.
fn note_request(
    (plain, id, method, request): (&Plain, &Id, &str, Option<&Call>),
    host: &mut Host,
    catalog: &mut Catalog,
    out: &mut Out,
) {
    if method == "tools/list" {
        catalog.host_asks(id, !has_cursor(plain.line().content()));
    }
    learn_host(plain, method, host, out);
    if matches!(method, "initialize" | "server/discover") {
        host.introduction = Some(id.clone());
    }
    if host.plain.len() < PLAIN {
        let answer = AnswerOf::request(method, request, out.now.mono);
        // Of two requests under one id, the one whose answer rules can be about counts.
        let known = host.plain.entry(id.clone()).or_default();
        *known = known.take().or(answer);
    }
    out.passes((Origin::Host, Form::Request, method), plain.line());
}

/// Whether a request of this id is open, while rules are about answers: which of two is answered could not be told.
fn is_ruled(context: Context<'_>, id: &Id) -> bool {
    context.rules.policy.rules_results() && (context.host.plain.contains_key(id) || context.catalog.awaits(id))
}

/// A notification that cancels a request passes: no answer to that is expected any more. While rules are about answers, its id stays
/// taken until one comes.
fn forget_request(id: &Id, stays: bool, plain: &mut BTreeMap<Id, Option<AnswerOf>>, catalog: &mut Catalog) {
    if !stays {
        plain.remove(id);
    }
    if catalog.cuts_pages() {
        catalog.host_cancels(id);
    }
}

/// Lets the lifecycle see what the host says, and records who the host is once it is known.
fn learn_host(plain: &Plain, method: &str, host: &mut Host, out: &mut Out) {
    let content = plain.line().content();
    host.lifecycle.on_host_line(plain.gist(), content);
    if method != "initialize" {
        return;
    }
    host.forms = if lifecycle::shows_forms(content) { Forms::Shows } else { Forms::No };
    if host.recorded == HostRecord::Missing
        && let Some((name, version)) = host.lifecycle.host()
    {
        let entry = out.entry(Kind::Host).with("name", name).with("version", version);
        out.record(entry.with("features", lifecycle::of_host(content)));
        host.recorded = HostRecord::Made;
    }
}

fn has_cursor(content: &[u8]) -> bool {
    let request: serde_json::Value = serde_json::from_slice(content).unwrap_or_default();
    request.pointer("/params/cursor").is_some_and(|cursor| !cursor.is_null())
}
