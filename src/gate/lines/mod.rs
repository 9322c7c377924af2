//! Lines from both ends: each is sorted once, and what follows is one step for each thing that a line can be.

pub mod answer;
pub mod host;
pub mod requests;
pub mod server;

use crate::audit::record::By;
use crate::gate::Gate;
use crate::gate::call::arrive::{self, NotHeld};
use crate::gate::data::effect::{Effect, OwnLine, Passing};
use crate::gate::held::next::Next;
use crate::gate::held::{Approved, Withdrawal};
use crate::gate::server::flight::Wanted;
use crate::gate::state::passed::Form;
use crate::gate::state::{Forms, ListOutcome};
use crate::gate::waiting::come_back::{self, ComeBack};
use crate::gate::waiting::question::{self, record_ineffective_answer};
use crate::gate::waiting::relayed::{self, Passage};
use crate::gate::waiting::requests::TaskStep;
use crate::mcp::lifecycle::Revision;
use crate::wire::call::{Call, Origin};
use crate::wire::digest::StreamDigest;
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::{self, Gist, Plain, Sorted};
use crate::wire::{rename, reply};
use host::{Failed, HostLine};
use requests::Screened;
use server::{Relay, ServerLine};

/// How a line that passes reaches the host: as the server wrote it, or as a line of ours.
type HowRelayed = fn(Line) -> Relay;

impl Gate {
    /// A call is held; anything else that is canonical passes at once; the rest is refused.
    pub(in crate::gate) fn on_host_line(&mut self, line: Line) {
        let sorted = host::sort(line, self.context(), &self.waiting);
        self.on_sorted(sorted);
    }

    fn on_sorted(&mut self, line: HostLine) {
        match line {
            HostLine::Nothing => {}
            HostLine::Refused(refusal, line) => self.out.refuse_line(&refusal, &line),
            HostLine::Call(call) => self.on_call(call),
            HostLine::Return(call, state) => self.on_return(&call, &state),
            HostLine::Ruled(request) => self.drive(Next::Arrive(request)),
            HostLine::Outside(request, not_held) => {
                arrive::deny(&request, not_held, &mut self.calls, &mut self.out);
            }
            HostLine::Task(request, id, method) => self.on_task_request(request, &id, &method),
            HostLine::Request(plain, id, method, request) => {
                request.iter().for_each(|request| self.record_single(request));
                let line = (&plain, &id, method.as_str());
                host::note_request(line, &mut self.host, &mut self.catalog, &mut self.out);
                self.out.push(Effect::Relay(Passing::ToServer(plain)));
            }
            // The server must not learn the id: it could guess the next one, and ask under that itself.
            HostLine::CancelsForm => {
                let why = "it cancels a request that only mcp-approve may cancel";
                record_ineffective_answer(&mut self.out, None, why);
            }
            HostLine::CancelsHeld(number) => self.withdraw(number, Withdrawal::Cancelled),
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

    fn on_call(&mut self, call: Box<Call>) {
        self.out.status.calls += 1;
        if call.is_modern() {
            self.out.status.era = Revision::V2026_07_28.word().to_owned();
        }
        self.drive(Next::Arrive(call));
    }

    /// A request brings back a state of ours.
    fn on_return(&mut self, call: &Call, state: &str) {
        match come_back::take(&mut self.waiting, call, state, &mut self.out) {
            ComeBack::Answered => {}
            ComeBack::Refused(why, reply, number) => {
                arrive::deny(call, NotHeld { by: By::Fault, why, reply }, &mut self.calls, &mut self.out);
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

    fn on_task_request(&mut self, request: Plain, id: &Id, method: &str) {
        use crate::gate::waiting::requests;
        match requests::step(self.context(), &self.waiting, &request, (id, method)) {
            TaskStep::Answer(line) => self.out.push(Effect::WriteToHost(line)),
            TaskStep::Refuse(refusal) => self.out.refuse_line(&refusal, request.line()),
            TaskStep::Wait(task) => requests::wait(&mut self.waiting, &task, request, id, &mut self.out),
            TaskStep::CancelHeld(task, number) => {
                let answer = requests::cancel(&mut self.waiting, &task, id, self.out.now.wall);
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
                let (calls, flights, plain_ids) = (&self.calls, &self.flights, &self.host.plain_ids);
                let is_owed =
                    |id: &Id| plain_ids.contains(id) || flights.contains(id) || calls.by_host_id(id).is_some();
                match requests::renamed(&mut self.waiting, (&ours, &theirs), &request, id, is_owed) {
                    Ok(plain) => {
                        let sorted = host::sort_plain(plain, self.context(), &self.waiting);
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
            host::forget_request(&id, &mut self.host.plain_ids, &mut self.catalog, &self.config.scope);
            answer::cancelled_in_flight(&id, &mut self.flights, &mut self.waiting, &mut self.out);
        }
        host::learn_host(&plain, method, &mut self.host, &mut self.out);
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

    /// A line of the server reaches the host at once, unless the host must not get it so.
    pub(in crate::gate) fn on_server_line(&mut self, line: Line) {
        let gist = message::peek(line.content());
        let sorted = server::sort(&gist, self.context(), &self.waiting);
        let Some((line, relay)) = self.let_through(line, &gist, &sorted) else { return };
        if let Gist::Response { id, failed } = &gist {
            self.note_answer(id, *failed, line.content(), &sorted);
        }
        let passed = match sorted {
            ServerLine::Forged => Relay::Nothing,
            ServerLine::OwnList(id) => {
                self.catalog.receive(id, is_error(&gist), line);
                Relay::Nothing
            }
            ServerLine::ForTask(id) => {
                let (flights, waiting) = (&mut self.flights, &mut self.waiting);
                let restricts = self.rules.restricts_methods;
                answer::for_task((&id, line, is_error(&gist)), restricts, flights, waiting, &mut self.out);
                Relay::Nothing
            }
            ServerLine::Page(id) => {
                self.out.passes((Origin::Server, Form::Response, ""), &line);
                let is_cut = server::cuts(&gist, self.context());
                server::page(line, &gist, id, is_cut, &mut self.catalog)
            }
            ServerLine::Answer(id) => answer::pass(line, &id, is_error(&gist), &mut self.flights, &mut self.out),
            ServerLine::CancelsHeld(number) => {
                self.withdraw(number, Withdrawal::Cancelled);
                Relay::Nothing
            }
            ServerLine::ListChanged => self.on_list_changed(line),
            ServerLine::Progress => server::progress(line, &mut self.flights, &mut self.out),
            ServerLine::Notification(method) => {
                self.out.passes((Origin::Server, Form::Notification, &method), &line);
                Relay::AsItIs(line)
            }
            ServerLine::Request(id, method) => {
                if let Sorted::Plain(plain) = message::sort(line.clone())
                    && let Some(request) = plain.request(Origin::Server)
                {
                    self.record_single(&request);
                }
                server::request(line, (id, &method), &mut self.host, &mut self.out)
            }
            ServerLine::Unreadable => {
                self.out.passes((Origin::Server, Form::Unreadable, ""), &line);
                Relay::AsItIs(line)
            }
        };
        match passed {
            Relay::AsItIs(line) => relay(line).push(&mut self.out),
            Relay::Instead(_) | Relay::Nothing => passed.push(&mut self.out),
        }
    }

    /// The line as the host may get it, and how; `None` if it was dropped or is held.
    fn let_through(&mut self, line: Line, gist: &Gist, sorted: &ServerLine) -> Option<(Line, HowRelayed)> {
        if matches!(sorted, ServerLine::Forged) {
            server::record_forged(line.content().len() as u64, Some(line.digest()), &mut self.out);
            return None;
        }
        if matches!(sorted, ServerLine::ForTask(_)) {
            return Some((line, Relay::AsItIs));
        }
        let (line, relay): (Line, HowRelayed) =
            match relayed::under_our_id(&mut self.waiting, line, gist, &mut self.out) {
                Passage::AsItIs(line) => (line, Relay::AsItIs),
                Passage::Renamed(line) => (line, Relay::Instead),
                Passage::Withheld(id) => {
                    self.withheld(&id, "it names a task of mcp-approve as its own");
                    return None;
                }
                Passage::Dropped => return None,
            };
        match requests::screen(line, gist, self.context(), &self.waiting.forms) {
            Screened::Passes(line) => return Some((line, relay)),
            Screened::PassesWith(call) => {
                self.record_single(&call);
                requests::count(&call, &mut self.out);
                return Some((call.into_line(), relay));
            }
            Screened::Holds(call) => self.drive(Next::Arrive(call)),
            Screened::HoldsAnswer(call, to, era) => {
                let flights = &mut self.flights;
                let held = answer::hold_inside(call, (to, era), flights, &mut self.host, &mut self.out);
                held.into_iter().for_each(|call| self.drive(Next::Arrive(call)));
            }
            Screened::Drops(why, line) => requests::drop_odd(&why, &line, &mut self.out),
            Screened::Refuses(refusal, line) => requests::refuse(&refusal, &line, &mut self.out),
            Screened::Withholds(id, why, line) => {
                requests::drop_odd(&why, &line, &mut self.out);
                self.withheld(&id, &why);
            }
            Screened::Nothing => {}
        }
        None
    }

    /// The host gets our reason instead of the server's answer.
    fn withheld(&mut self, id: &Id, why: &str) {
        let (host, catalog) = (&mut self.host, &mut self.catalog);
        answer::withheld((id, why), host, catalog, &mut self.flights, &mut self.waiting, &mut self.out);
    }

    /// The server answers: the handshake may be over, and the request no longer waits.
    fn note_answer(&mut self, id: &Id, failed: bool, content: &[u8], sorted: &ServerLine) {
        if self.host.lifecycle.is_pending() {
            self.host.lifecycle.on_server_line(&Gist::Response { id: id.clone(), failed }, content);
        }
        let is_plain = self.host.plain_ids.remove(id);
        let is_owed = is_plain || matches!(sorted, ServerLine::OwnList(_)) || self.flights.contains(id);
        if is_owed && !failed {
            server::note_first_answer(&mut self.ends, &mut self.out);
        }
        answer::note_answer(id, content, &mut self.host, &mut self.out);
    }

    fn on_list_changed(&mut self, line: Line) -> Relay {
        self.catalog.changed();
        if let Some(queue) = &mut self.describe_queue {
            // The calls that are left are judged by the list that is to come.
            queue.outcome = ListOutcome::NotAsked;
        }
        self.out.passes((Origin::Server, Form::Notification, "notifications/tools/list_changed"), &line);
        Relay::AsItIs(line)
    }

    /// Records a request that passes, unless a counter says enough.
    fn record_single(&mut self, request: &Call) {
        let revision = self.context().revision_of(request);
        self.out.record_single(request, (&self.config.scope, revision));
    }

    /// A long line has passed already (or was kept back); only the record is left to make.
    pub(in crate::gate) fn on_server_streamed(&mut self, gist: &Gist, bytes: u64, digest: StreamDigest) {
        let (context, waiting) = (self.context(), &self.waiting);
        if server::forges(gist, context, waiting) {
            return server::record_forged(bytes, None, &mut self.out);
        }
        if server::may_report_our_task(gist, waiting) {
            let what =
                "dropped a line of the server about a task: it is too long to be searched for tasks of mcp-approve";
            self.out.record(self.out.fault(what, None).with("bytes", bytes));
            return;
        }
        if server::keeps_back(gist, context, waiting) {
            requests::too_long(gist, bytes, &mut self.out);
            if let Gist::Response { id, .. } = gist {
                self.withheld(id, "it is too long to be searched for requests of the server");
            }
            return;
        }
        let is_cut = server::cuts(gist, context);
        let (form, method) = match gist {
            Gist::Request { method, .. } => (Form::Request, method.as_str()),
            Gist::Notification { method, .. } => (Form::Notification, method.as_str()),
            Gist::Response { .. } => (Form::Response, ""),
            Gist::Unreadable => (Form::Unreadable, ""),
        };
        if !matches!(gist, Gist::Response { id, .. } if self.flights.contains(id)) {
            let payload = (form == Form::Notification).then(|| digest.to_string());
            let counted = (Origin::Server, form, method);
            let at = self.out.log.passed.take(self.out.now.mono, counted, bytes, payload);
            self.out.wake_by(at);
        }
        let Gist::Response { id, failed } = gist else {
            return;
        };
        if self.host.lifecycle.is_pending() {
            self.host.lifecycle.on_server_line(gist, b"");
        }
        self.host.plain_ids.remove(id);
        if is_cut {
            self.catalog.host_cancels(id);
            return answer::offer(Err(id.clone()), &self.catalog, &mut self.out);
        }
        if let Some(flight) = self.flights.land(id).filter(|flight| flight.wanted == Wanted::Yes) {
            answer::streamed((&flight, id, *failed), (bytes, digest), &mut self.waiting, &mut self.out);
        }
    }
}

fn is_error(gist: &Gist) -> bool {
    matches!(gist, Gist::Response { failed: true, .. })
}
