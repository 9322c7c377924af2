//! A call waits as a task: its host gets an id at once and asks for the result later (2025-11-25, or the extension of
//! 2026-07-28). Requests about such a task end here; once the server has made its own task of the call, they go there
//! under the server's id. What the server says of tasks keeps the ids that hosts know. Owns no verdict.
//!
//! What reaches the server of a call is its first request, byte for byte, as for any other. A request about the server's task is
//! the host's own with one string replaced: it is sorted and judged again as it is then, it can only be about the task that the
//! server made of the approved call, and the rules on `tasks/*` apply to it.

use std::sync::Arc;

use crate::audit::moment::rfc3339;
use crate::audit::record::Kind;
use crate::gate::Gate;
use crate::gate::call::request;
use crate::gate::config::Polling;
use crate::gate::data::effect::{Effect, OwnLine};
use crate::gate::held::replies;
use crate::gate::held::{Approved, Held, Withdrawal};
use crate::gate::server::answer::answer_lost;
use crate::gate::server::flight::{Flight, Wanted};
use crate::gate::state::{ServerTasks, passed};
use crate::gate::waiting::tasks::{Changed, PREFIX, Progress, Tasks};
use crate::mcp::lifecycle::Revision;
use crate::mcp::result::Answer;
use crate::wire::call::{Call, Origin};
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::{Gist, Plain, Refusal, Sorted};
use crate::wire::reply::{INTERNAL, INVALID_PARAMS, INVALID_REQUEST, NO_METHOD};
use crate::wire::task::{End, Form, Status, View};
use crate::wire::{inputs, message, rename, reply, task};

/// For how long a result is kept after the last moment at which its call could be decided, in microseconds.
const RESULT: u64 = 3_600_000_000;
/// How long a task is kept at most at its host's request, and at least once the server has made its own task of it.
pub(in crate::gate) const DAY: u64 = 86_400_000_000;

impl Gate {
    /// Answers the host of a call that has to wait with a task, if the host supports that.
    pub(in crate::gate) fn give_task(&mut self, held: &mut Held) {
        let Some(form) = self.task_form(held) else { return };
        held.deadline = held.arrived.mono.saturating_add(self.config.approval_timeout);
        held.round_trips.ends = None;
        held.round_trips.task = Some(self.open_task(held, form));
    }

    /// The form of task that the host of a call supports; `None` if it must wait in another way, or does so already.
    fn task_form(&self, held: &Held) -> Option<Form> {
        let (call, trips) = (&held.call, &held.round_trips);
        let is_fresh = trips.task.is_none() && trips.away.is_none() && trips.later.is_empty();
        let is_possible = self.config.polling == Polling::Declared
            && self.ends.host_gone.is_none()
            && call.origin() == Origin::Host
            && call.method().is_none();
        if !is_fresh || !is_possible || self.tasks.is_full() || self.tasks.is_asking(call.name()) {
            return None;
        }
        self.declared(call)
    }

    fn declared(&self, call: &Call) -> Option<Form> {
        if let Some(version) = &call.meta().protocol_version {
            // A retry answers what the server asked for before it would make a task: we make none either.
            let is_retry = call.request_state_text().is_some() || call.input_responses_text().is_some();
            let meta = serde_json::from_str(call.meta_text()?).unwrap_or_default();
            let takes = version == Revision::V2026_07_28.word() && !is_retry && task::declares(&meta);
            return takes.then_some(Form::Extension);
        }
        let is_agreed = self.host.lifecycle.revision() == Some(Revision::V2025_11_25)
            && self.host.server_tasks == ServerTasks::OfCalls;
        (is_agreed && task::requested(call.task_text()?).is_some()).then_some(Form::Core)
    }

    /// Makes a task of a call, and answers its request with it.
    fn open_task(&mut self, held: &Held, form: Form) -> Arc<str> {
        let id = Tasks::id(&self.config.secret, &held.ticket);
        self.tasks.give(Arc::clone(&id), held.number, (Arc::clone(&held.ticket), form), self.out.now.wall);
        self.keep_task(&id, held);
        let to_model = format!(
            "mcp-approve holds this call ({}) until the user decides it. The tool has NOT been executed yet. The result comes \
             with the task; do not call again before that.",
            held.ticket
        );
        if let Some(created) = self.with_view(&id, |view| task::created(held.call.id(), view, &to_model)) {
            self.out.push(Effect::WriteToHost(created));
        }
        let mut entry = self.out.entry(Kind::Task);
        (entry.ticket, entry.tool) = (Some(Arc::clone(&held.ticket)), Some(held.call.shared_name()));
        entry.digest = Some(held.call.digest());
        self.out.record(entry.with("what", "gave the host a task, for which it polls").with("task", &*id));
        id
    }

    /// Keeps a task for as long as its call may wait and its host needs to fetch the result.
    pub(in crate::gate) fn keep_task(&mut self, id: &str, held: &Held) {
        let wanted = held.call.task_text().and_then(task::requested).unwrap_or_default();
        let wanted = held.arrived.mono.saturating_add(wanted.saturating_mul(1000).min(DAY));
        let until = held.deadline.saturating_add(RESULT).max(wanted);
        self.tasks.keep(id, until, until.saturating_sub(held.arrived.mono) / 1000);
        self.out.wake_by(until);
    }

    /// Answers the host of a call that ends now by its task, if it waits by one. A host that must get a task gets one
    /// for the answer. Returns the answer if it goes to the request itself.
    pub(in crate::gate) fn answer_by_task(&mut self, held: &Held, reply: Line) -> Option<Line> {
        let id = match (&held.round_trips.task, self.task_form(held)) {
            (Some(id), _) => Arc::clone(id),
            // A host that asked for a task in this form reads no other result.
            (None, Some(Form::Core)) if matches!(End::read(reply.content()), Some(End::Result(_))) => {
                self.open_task(held, Form::Core)
            }
            (None, _) => return Some(reply),
        };
        self.end_task(&id, reply);
        None
    }

    /// A task is over, with this answer to its call.
    pub(in crate::gate) fn end_task(&mut self, id: &str, reply: Line) {
        let status = match End::read(reply.content()) {
            Some(End::Result(_)) => Status::Completed,
            Some(End::Error(_)) | None => Status::Failed,
        };
        self.advance_task(id, Progress::Over(reply, status));
    }

    /// The host cancelled a task; the answer says what the call did until then.
    pub(in crate::gate) fn cancel_task(&mut self, id: &str, reply: Line) {
        self.advance_task(id, Progress::Over(reply, Status::Cancelled));
    }

    pub(in crate::gate) fn advance_task(&mut self, id: &str, progress: Progress) {
        for waited in self.tasks.advance(id, progress, self.out.now.wall) {
            self.on_task_request(waited);
        }
    }

    /// A request of the host's. One about a task of ours is answered here, or goes to the server under the server's own
    /// id; any other is returned.
    #[must_use = "any other passes"]
    pub(in crate::gate) fn take_task_request(&mut self, request: Plain) -> Option<Plain> {
        let Gist::Request { method, .. } = request.gist() else { return Some(request) };
        if self.config.polling == Polling::Never || !method.starts_with("tasks/") {
            return Some(request);
        }
        match task::named(request.line().content()) {
            Some((id, _))
                if id.starts_with(PREFIX) && (self.tasks.get(&id).is_some() || !self.tasks.is_foreign(&id)) =>
            {
                self.on_task_request(request);
                None
            }
            Some(_) | None => Some(request),
        }
    }

    fn on_task_request(&mut self, request: Plain) {
        let Gist::Request { id, method, .. } = request.gist() else { return };
        let (id, method) = (id.clone(), method.clone());
        let Some((name, declares)) = task::named(request.line().content()) else { return };
        let Some(task) = self.tasks.get(&name) else {
            let what = "mcp-approve has no task of this id: it never gave it, or the task's time is over".to_owned();
            let refusal = Refusal { code: INVALID_PARAMS, what, id: Some(id), answer: true };
            return self.log.refuse_line(&mut self.out, &refusal, request.line());
        };
        if task.form == Form::Extension && !declares {
            return self.out.push(Effect::WriteToHost(task::undeclared(&id)));
        }
        let answer = match (method.as_str(), &task.progress, task.form) {
            (_, Progress::Theirs(theirs), _) => {
                let theirs = theirs.clone();
                return self.ask_about_theirs((&name, &theirs), &request);
            }
            ("tasks/get", Progress::Over(line, _), _) => {
                let end = End::read(line.content());
                self.with_view(&name, |view| task::state(&id, view, end))
            }
            ("tasks/get", Progress::Held(_) | Progress::Runs(_), _) => {
                self.with_view(&name, |view| task::state(&id, view, None))
            }
            ("tasks/result", Progress::Over(line, _), Form::Core) => {
                End::read(line.content()).map(|end| task::result(&id, &name, end))
            }
            ("tasks/cancel", Progress::Over(_, status), Form::Core) => {
                let why = format!("the task is {} already", status.word());
                Some(reply::error(Some(&id), INVALID_PARAMS, &why))
            }
            ("tasks/cancel", Progress::Held(number), _) => {
                let number = *number;
                self.cancel_task(&name, replies::cancelled_task(&id));
                self.withdraw(number, Withdrawal::Cancelled);
                self.with_view(&name, |view| match view.form {
                    Form::Core => task::state(&id, view, None),
                    Form::Extension => task::taken(&id),
                })
            }
            ("tasks/cancel", Progress::Runs(call), Form::Extension) => {
                let call = call.clone();
                self.cancelled_in_flight(&call);
                let cancel = reply::cancelled(call.raw(), "the host cancelled the task");
                self.out.push(Effect::WriteToServer(OwnLine(cancel)));
                Some(task::taken(&id))
            }
            ("tasks/result" | "tasks/cancel", Progress::Held(_) | Progress::Runs(_), Form::Core) => {
                match self.tasks.wait(&name, request) {
                    Ok(()) => return,
                    Err(_) => Some(reply::error(Some(&id), INVALID_REQUEST, "too many requests wait for this task")),
                }
            }
            ("tasks/cancel" | "tasks/update", _, Form::Extension) => Some(task::taken(&id)),
            (_, Progress::Held(_) | Progress::Runs(_) | Progress::Over(..), _) => {
                let why = format!("{method} is not a request about a task of this revision");
                Some(reply::error(Some(&id), NO_METHOD, &why))
            }
        };
        let lost = || reply::error(Some(&id), INTERNAL, "mcp-approve cannot answer this request");
        self.out.push(Effect::WriteToHost(answer.unwrap_or_else(lost)));
    }

    /// Passes a request about a task of ours on under the server's own id: one string is replaced, and the line is
    /// treated like any other line of the host.
    fn ask_about_theirs(&mut self, (ours, theirs): (&str, &str), request: &Plain) {
        let renamed = rename::with_text(request.line(), &["params", "taskId"], ours, theirs).map(message::sort);
        let Gist::Request { id, .. } = request.gist() else { return };
        if let Some(how) = self.ends.server.reason() {
            let why = format!("the server that ran the call as a task of its own takes nothing more: {how}");
            return self.out.push(Effect::WriteToHost(reply::error(Some(id), INTERNAL, &why)));
        }
        let (calls, flights, plain_ids) = (&self.calls, &self.flights, &self.host.plain_ids);
        let is_owed = |id: &Id| plain_ids.contains(id) || flights.contains(id) || calls.by_host_id(id).is_some();
        self.tasks.keep_owed(is_owed);
        match renamed {
            Some(Sorted::Plain(plain)) if self.tasks.forward(id, ours) => self.plain(plain),
            Some(Sorted::Plain(_) | Sorted::Call(_) | Sorted::Refused { .. } | Sorted::Blank) | None => {
                let why = "too many requests about this task wait for the server";
                self.out.push(Effect::WriteToHost(reply::error(Some(id), INVALID_REQUEST, why)));
            }
        }
    }

    /// Forgets the tasks whose time is over; a call that still waits as one is withdrawn.
    pub(in crate::gate) fn expire_tasks(&mut self) {
        for task in self.tasks.due(self.out.now.mono) {
            if let Progress::Held(number) = task.progress {
                self.withdraw(number, Withdrawal::TaskOver);
            }
            for request in task.waiting {
                self.on_task_request(request);
            }
        }
        self.out.wake_by(self.tasks.wake_at());
    }

    fn with_view(&self, id: &str, make: impl FnOnce(&View<'_>) -> Line) -> Option<Line> {
        let task = self.tasks.get(id)?;
        let ticket = &task.ticket;
        let (status, message) = match &task.progress {
            Progress::Held(number) if self.calls.get::<Approved>(*number).is_some() => {
                (Status::Working, format!("Approved in mcp-approve: {ticket} runs after an earlier call"))
            }
            Progress::Held(_) if self.out.attached > 0 => {
                (Status::Working, format!("Waiting for approval in mcp-approve: {ticket}"))
            }
            Progress::Held(_) => {
                let console = &self.config.console;
                (
                    Status::Working,
                    format!("Waiting for approval in mcp-approve: {ticket}. Run `{console}` in a terminal"),
                )
            }
            Progress::Runs(_) | Progress::Theirs(_) => {
                (Status::Working, format!("Approved in mcp-approve: the server runs {ticket}"))
            }
            Progress::Over(_, Status::Cancelled) => (Status::Cancelled, format!("{ticket} was cancelled")),
            Progress::Over(_, status) => (*status, format!("{ticket} is answered")),
        };
        let (created, updated) = (rfc3339(task.created), rfc3339(task.updated));
        Some(make(&View {
            id,
            form: task.form,
            status,
            message: &message,
            created: &created,
            updated: &updated,
            ttl_ms: task.ttl_ms,
        }))
    }

    /// The server answers a call whose host was given a task for it.
    pub(in crate::gate) fn on_task_answer(&mut self, id: &Id, line: Line, failed: bool) {
        let Some(flight) = self.flights.land(id) else { return };
        let Some(task) = flight.task.clone().filter(|_| flight.wanted == Wanted::Yes) else {
            return self.log.passes(&mut self.out, (Origin::Server, passed::Form::Response, ""), &line);
        };
        self.landed(&flight, &line, failed);
        let content = line.content();
        let may_ask = request::embeds(content) || self.rules.restricts_methods && request::names_a_method(content);
        let asks = may_ask && !matches!(inputs::read(content), Ok(None));
        let fits = self.tasks.has_room(content.len());
        match Answer::read(content) {
            Answer::Complete { .. } | Answer::Failed { .. } if !asks && !fits => {
                let why = "too many results wait already for their hosts to fetch them";
                self.end_task(&task, answer_lost(id, why));
            }
            Answer::Complete { .. } | Answer::Failed { .. } if End::read(content).is_none() => {
                self.end_task(&task, answer_lost(id, "it cannot be read"));
            }
            Answer::Complete { .. } | Answer::Failed { .. } if !asks => self.end_task(&task, line),
            Answer::Task { id: theirs } if self.tasks.get(&theirs).is_none() => {
                if theirs.starts_with(PREFIX) {
                    self.tasks.note_foreign(&theirs);
                }
                self.tasks.keep_beside(&task, self.out.now.mono.saturating_add(DAY));
                self.advance_task(&task, Progress::Theirs(theirs));
            }
            Answer::InputRequired { .. } | Answer::Complete { .. } | Answer::Failed { .. } => {
                self.tasks.note_asking(&flight.tool);
                self.end_task(&task, replies::asks_for_more(id, &flight));
            }
            Answer::Task { .. } | Answer::Unreadable => {
                self.end_task(&task, answer_lost(id, "it cannot be read"));
            }
        }
    }

    /// The host cancels the task of a call that the server has already received.
    pub(in crate::gate) fn cancel_running_task(&mut self, task: &str, call: &Id) {
        self.cancel_task(task, replies::cancelled_running_task(call));
    }

    /// Answers the host that waits, by a request or by a task, for a call that the server has received.
    pub(in crate::gate) fn answer_flight(&mut self, flight: &Flight, reply: Line) {
        match &flight.task {
            Some(task) => self.end_task(task, reply),
            None => self.out.push(Effect::WriteToHost(reply)),
        }
    }

    /// A line of the server as the host must get it: a task that the server made of a call keeps the id that the host
    /// was given, and no line names a task of ours as the server's own. Returns it and whether it was changed; `None`
    /// if it does not pass.
    pub(in crate::gate) fn under_our_id(&mut self, line: Line, gist: &Gist) -> Option<(Line, Changed)> {
        if self.config.polling == Polling::Never {
            return Some((line, Changed::No));
        }
        let has = |text: &str| memchr::memmem::find(line.content(), text.as_bytes()).is_some();
        // An escape may spell the prefix, too.
        let may_name_one = has(PREFIX) || has("\\u");
        // Of two equal keys, some readers take the first and some the last.
        let is_unclear = may_name_one && rename::span(line.content(), &[]).is_err();
        let names_ours = || task::named_laxly(line.content()).iter().any(|id| self.tasks.get(id).is_some());
        let names_ours = may_name_one && !self.tasks.is_empty() && names_ours();
        let renamed = match gist {
            Gist::Response { id, .. } => match self.tasks.answered(id) {
                Some((ours, theirs)) => {
                    let put = |line: &Line, path: &[&str]| rename::with_text(line, path, &theirs, &ours);
                    let related = ["result", "_meta", task::RELATED, "taskId"];
                    let first = put(&line, &["result", "taskId"]);
                    let second = put(first.as_ref().unwrap_or(&line), &related);
                    second.or(first)
                }
                None if names_ours => return self.withhold_task(id, &line),
                None if may_name_one && let Answer::Task { id: theirs } = Answer::read(line.content()) => {
                    if is_unclear {
                        return self.withhold_task(id, &line);
                    }
                    if theirs.starts_with(PREFIX) {
                        self.tasks.note_foreign(&theirs);
                    }
                    None
                }
                None => None,
            },
            Gist::Notification { .. } | Gist::Unreadable if names_ours => {
                self.names_ours(&line);
                return None;
            }
            Gist::Notification { method, .. } if task::tells(method) => {
                let (theirs, _) = task::named(line.content()).unwrap_or_default();
                if is_unclear {
                    self.names_ours(&line);
                    return None;
                }
                let ours = self.tasks.ours(&theirs);
                ours.and_then(|ours| rename::with_text(&line, &["params", "taskId"], &theirs, ours))
            }
            Gist::Notification { .. } | Gist::Request { .. } | Gist::Unreadable => None,
        };
        Some(renamed.map_or((line, Changed::No), |line| (line, Changed::Id)))
    }

    fn withhold_task<T>(&mut self, id: &Id, line: &Line) -> Option<T> {
        self.names_ours(line);
        self.answer_withheld(id, "it names a task of mcp-approve as its own");
        None
    }

    fn names_ours(&mut self, line: &Line) {
        let what = "dropped a line of the server that names a task of mcp-approve as its own";
        self.out.record(self.out.fault(what, line.digest()).with("bytes", line.content().len()));
    }
}
