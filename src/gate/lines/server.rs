//! What a line of the server can be, and which lines its host must not get as they are.

use crate::gate::Gate;
use crate::gate::config::Discover;
use crate::gate::data::effect::Effect;
use crate::gate::held::{Withdrawal, context::Context, out::Out};
use crate::gate::lines::answer::{self, Relay};
use crate::gate::lines::requests::{self, Screened, restricts};
use crate::gate::lines::results::{self, Ruled};
use crate::gate::server::catalog::Catalog;
use crate::gate::server::flight::{Flights, Progress, Wanted};
use crate::gate::state::{Answered, Ends, Host, ListOutcome, passed::Form};
use crate::gate::waiting::Waiting;
use crate::gate::waiting::requests::{Passage, under_our_id};
use crate::wire::message::{self, Sorted};
use crate::wire::{Digest, Gist, Id, Line, Origin, digest::StreamDigest, task};

/// How a line that passes reaches the host: as the server wrote it, or as a line of ours.
type HowRelayed = fn(Line) -> Relay;

#[derive(Debug)]
enum FromServer {
    /// A host could take it for the answer to a call that the server was never asked.
    Forged,
    /// The answer to our own question about its tools.
    OwnList(Id),
    /// The answer to a call whose host waits by a task.
    ForTask(Id),
    /// A page of tools that the host asked for.
    Page(Id),
    /// The answer to any other request of the host.
    Answer(Id),
    /// It cancels its own request of this number, which is held.
    CancelsHeld(u64),
    ListChanged,
    Progress,
    Notification(String),
    Request(Id, String),
    Unreadable,
}

impl Gate {
    pub fn keeps_back(&self, gist: &Gist) -> bool {
        keeps_back(gist, self.context(), &self.waiting)
    }

    /// Whether a line that is too long to be held reaches the host.
    pub fn streams(&self, gist: &Gist) -> bool {
        let is_renamed = matches!(gist, Gist::Response { id, .. } if self.flights.renames(id));
        !self.keeps_back(gist) && !cuts(gist, self.context()) && !is_renamed
    }

    /// Up to how many bytes the next long line of the server should be buffered whole, rather than streamed. While a call is
    /// held the end of a line counts too: a second id there would make it another call's answer.
    pub fn wants_whole(&self) -> usize {
        const LIST: usize = 64 << 20;
        const CHECKED: usize = 1 << 20;
        let is_held = !self.calls.is_empty() || self.flights.has_later() || !self.waiting.tasks.is_empty();
        let is_ruled = results::may_come(self.context());
        if self.catalog.is_listening() || is_held || self.rules.restricts_methods || is_ruled {
            LIST
        } else if self.host.lifecycle.is_pending() || self.flights.wants_whole_answers() {
            CHECKED
        } else {
            0
        }
    }

    /// A line of the server reaches the host at once, unless the host must not get it so.
    pub(in crate::gate) fn on_server_line(&mut self, line: Line) {
        let line = line.keyed(self.out.secrets.key());
        let gist = message::peek(line.content());
        let sorted = sort(&gist, self.context(), &self.waiting);
        let opens = matches!(&sorted, FromServer::Answer(id) if self.host.introduction.as_ref() == Some(id));
        if let FromServer::Answer(id) | FromServer::ForTask(id) = &sorted
            && let Some(ruled) = results::ruled(&line, id, self.context())
        {
            return match ruled {
                Ruled::Instead(entry, reply) => {
                    self.out.record(entry);
                    self.answer_instead((line, reply), id, is_error(&gist), &sorted);
                }
                Ruled::Asks(entry, asked) => {
                    if let Some(entry) = entry {
                        self.out.record(entry);
                    }
                    self.note_answer(id, is_error(&gist), line.content(), &sorted);
                    let (number, host) = (self.calls.next_number(), &self.host);
                    let (flights, waiting) = (&mut self.flights, &mut self.waiting);
                    let next = results::hold((number, *asked), (&line, &gist), host, flights, waiting, &mut self.out);
                    self.drive(next);
                }
            };
        }
        let Some((line, relay)) = self.let_through(line, &gist, &sorted) else { return };
        if let Gist::Response { id, failed } = &gist {
            self.note_answer(id, *failed, line.content(), &sorted);
        }
        let passed = match sorted {
            FromServer::Forged => Relay::Nothing,
            FromServer::OwnList(id) => {
                self.catalog.receive(id, is_error(&gist), line);
                Relay::Nothing
            }
            FromServer::ForTask(id) => {
                let (flights, waiting) = (&mut self.flights, &mut self.waiting);
                let restricts = self.rules.restricts_methods;
                answer::for_task((&id, line, is_error(&gist)), None, restricts, flights, waiting, &mut self.out);
                Relay::Nothing
            }
            FromServer::Page(id) => {
                self.out.passes((Origin::Server, Form::Response, ""), &line);
                let is_cut = cuts(&gist, self.context());
                page(line, &gist, id, is_cut, &mut self.catalog)
            }
            FromServer::Answer(_) if opens && self.config.discover != Discover::Off => {
                answer::announce_changes(line, &mut self.out)
            }
            FromServer::Answer(id) => answer::pass(line, None, &id, is_error(&gist), &mut self.flights, &mut self.out),
            FromServer::CancelsHeld(number) => {
                self.withdraw(number, Withdrawal::Cancelled);
                Relay::Nothing
            }
            FromServer::ListChanged => self.on_list_changed(line),
            FromServer::Progress => progress(line, &mut self.flights, &mut self.out),
            FromServer::Notification(method) => {
                self.out.passes((Origin::Server, Form::Notification, &method), &line);
                Relay::AsItIs(line)
            }
            FromServer::Request(id, method) => {
                if let Sorted::Plain(plain) = message::sort(line.clone())
                    && let Some(request) = plain.request(Origin::Server)
                {
                    self.record_single(&request);
                }
                request(line, (id, &method), &mut self.host, &mut self.out)
            }
            FromServer::Unreadable => {
                self.out.passes((Origin::Server, Form::Unreadable, ""), &line);
                Relay::AsItIs(line)
            }
        };
        match passed {
            Relay::AsItIs(line) => relay(line).push(&mut self.out),
            Relay::Instead(_) | Relay::Nothing => passed.push(&mut self.out),
        }
    }

    /// The server has answered a call, and a rule about answers gives its host a line of ours instead.
    fn answer_instead(&mut self, (line, reply): (Line, Line), id: &Id, failed: bool, sorted: &FromServer) {
        self.note_answer(id, failed, line.content(), sorted);
        if let FromServer::ForTask(_) = sorted {
            let (flights, waiting) = (&mut self.flights, &mut self.waiting);
            let restricts = self.rules.restricts_methods;
            return answer::for_task((id, line, failed), Some(reply), restricts, flights, waiting, &mut self.out);
        }
        answer::pass(line, Some(reply), id, failed, &mut self.flights, &mut self.out).push(&mut self.out);
    }

    /// The line as the host may get it, and how; `None` if it was dropped or is held.
    fn let_through(&mut self, line: Line, gist: &Gist, sorted: &FromServer) -> Option<(Line, HowRelayed)> {
        if matches!(sorted, FromServer::Forged) {
            record_forged(line.content().len() as u64, Some(line.digest()), &mut self.out);
            return None;
        }
        if matches!(sorted, FromServer::ForTask(_)) {
            return Some((line, Relay::AsItIs));
        }
        let (line, relay): (Line, HowRelayed) = match under_our_id(&mut self.waiting, line, gist, &mut self.out) {
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
            Screened::Holds(call) => self.arrive(call),
            Screened::HoldsAnswer(call, to, era) => {
                let flights = &mut self.flights;
                let held = answer::hold_inside(call, (to, era), flights, &mut self.host, &mut self.out);
                held.into_iter().for_each(|call| self.arrive(call));
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
    fn note_answer(&mut self, id: &Id, failed: bool, content: &[u8], sorted: &FromServer) {
        if self.host.lifecycle.is_pending() {
            self.host.lifecycle.on_server_line(&Gist::Response { id: id.clone(), failed }, content);
        }
        let is_plain = self.host.plain.remove(id).is_some();
        let is_owed = is_plain || matches!(sorted, FromServer::OwnList(_)) || self.flights.contains(id);
        if is_owed && !failed {
            note_first_answer(&mut self.ends, &mut self.out);
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

    /// A long line has passed already (or was kept back); only the record is left to make.
    pub(in crate::gate) fn on_server_streamed(&mut self, gist: &Gist, bytes: u64, digest: StreamDigest) {
        let (context, waiting) = (self.context(), &self.waiting);
        if forges(gist, context, waiting) {
            return record_forged(bytes, None, &mut self.out);
        }
        if may_report_our_task(gist, waiting) {
            let what =
                "dropped a line of the server about a task: it is too long to be searched for tasks of mcp-approve";
            self.out.record(self.out.fault(what, None).with("bytes", bytes));
            return;
        }
        if keeps_back(gist, context, waiting) {
            requests::too_long(gist, bytes, &mut self.out);
            if let Gist::Response { id, .. } = gist {
                self.withheld(id, "it is too long to be read, and a rule is about what may be in it");
            }
            return;
        }
        let is_cut = cuts(gist, context);
        let (form, method) = match gist {
            Gist::Request { method, .. } => (Form::Request, method.as_str()),
            Gist::Notification { method, .. } => (Form::Notification, method.as_str()),
            Gist::Response { .. } => (Form::Response, ""),
            Gist::Unreadable => (Form::Unreadable, ""),
        };
        if !matches!(gist, Gist::Response { id, .. } if self.flights.contains(id)) {
            let payload = (form == Form::Notification).then(|| digest.keyed(self.out.secrets.key()).to_string());
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
        self.host.plain.remove(id);
        if is_cut {
            self.catalog.host_cancels(id);
            return answer::offer(Err(id.clone()), &self.config, &self.catalog, &mut self.discovery, &mut self.out);
        }
        if let Some(flight) = self.flights.land(id).filter(|flight| flight.wanted == Wanted::Yes) {
            answer::streamed((&flight, id, *failed), (bytes, digest), &mut self.waiting, &mut self.out);
        }
    }
}

fn sort(gist: &Gist, context: Context<'_>, waiting: &Waiting) -> FromServer {
    match gist {
        Gist::Response { id, .. } if context.catalog.is_ours(id) => FromServer::OwnList(id.clone()),
        Gist::Response { .. } | Gist::Unreadable if forges(gist, context, waiting) => FromServer::Forged,
        Gist::Response { id, .. } if context.flights.get(id).is_some_and(|flight| flight.task.is_some()) => {
            FromServer::ForTask(id.clone())
        }
        // The answer to a call is no list, whatever the host asked for under this id before.
        Gist::Response { id, .. } if context.catalog.awaits(id) && !context.flights.contains(id) => {
            FromServer::Page(id.clone())
        }
        Gist::Response { id, .. } => FromServer::Answer(id.clone()),
        Gist::Notification { method, cancels } => {
            let held = cancels.as_ref().and_then(|id| context.calls.by_origin(Origin::Server, id));
            match (held, method.as_str()) {
                (Some(number), _) => FromServer::CancelsHeld(number),
                (None, "notifications/tools/list_changed") => FromServer::ListChanged,
                (None, "notifications/progress") => FromServer::Progress,
                (None, _) => FromServer::Notification(method.clone()),
            }
        }
        Gist::Request { id, method, .. } => FromServer::Request(id.clone(), method.clone()),
        Gist::Unreadable => FromServer::Unreadable,
    }
}

/// Whether a host could take a line of the server's for the answer to a call that the server was never asked.
fn forges(gist: &Gist, context: Context<'_>, waiting: &Waiting) -> bool {
    let Context { calls, flights, host, catalog, .. } = context;
    // What a rule withholds must not reach the host in a second answer, or in a line that only a laxer reader takes for one.
    let is_ruled = context.rules.policy.rules_results();
    let is_changed = flights.has_later() || waiting.tasks.changes_answers() || catalog.cuts_pages();
    let is_strict = !calls.is_empty() || is_ruled || is_changed;
    match gist {
        Gist::Response { id, .. } => {
            let is_owed = || flights.contains(id) || host.plain.contains_key(id);
            let is_held = || calls.by_id(id).is_some();
            catalog.is_ours(id) || waiting.forms.is_ours(id) || is_strict && (is_held() || !is_owed())
        }
        Gist::Unreadable => is_strict,
        Gist::Request { .. } | Gist::Notification { .. } => false,
    }
}

/// Whether a line of the server must not reach the host: an answer to our own question; while a call is held, any answer that the
/// host could take for that call's: hosts read ids more laxly than we do (`"5"`, `5.0` and the last of two ids pass for `5`), so
/// only the exact id of a request that is owed an answer passes then; where a scope hides tools, a list that is not cut; and a
/// request that a rule is about.
fn keeps_back(gist: &Gist, context: Context<'_>, waiting: &Waiting) -> bool {
    let has_form = waiting.forms.open.is_some();
    forges(gist, context, waiting)
        || match gist {
            Gist::Request { method, .. } | Gist::Notification { method, .. } => {
                let is_of_task = may_report_our_task(gist, waiting) || requests::may_end_a_task(gist, context);
                has_form || restricts(context.rules, method) || is_of_task
            }
            // Requests may be inside an answer.
            Gist::Response { id, .. } => context.rules.restricts_methods || results::is_about(id, context),
            Gist::Unreadable => has_form || context.rules.restricts_methods,
        }
}

/// Whether a line that is too long to be read could report the status of a task of ours to the host.
fn may_report_our_task(gist: &Gist, waiting: &Waiting) -> bool {
    !waiting.tasks.is_empty() && matches!(gist, Gist::Notification { method, .. } if task::tells(method))
}

/// Whether the host gets a line of the server only after tools were cut out of it: a page of `tools/list`.
fn cuts(gist: &Gist, context: Context<'_>) -> bool {
    match gist {
        Gist::Response { id, failed: false } => context.catalog.cuts_pages() && context.catalog.awaits(id),
        Gist::Response { .. } | Gist::Request { .. } | Gist::Notification { .. } | Gist::Unreadable => false,
    }
}

/// Records that a line was dropped which could pass for the answer to a call that the server never received.
fn record_forged(bytes: u64, digest: Option<Digest>, out: &mut Out) {
    let what = "dropped an answer of the server to a call that it never received";
    out.record(out.fault(what, digest).with("bytes", bytes));
}

/// The first answer to a request shows that the server works.
fn note_first_answer(ends: &mut Ends, out: &mut Out) {
    if std::mem::replace(&mut ends.answered, Answered::Once) == Answered::NotYet {
        out.push(Effect::NoteServer);
    }
}

/// A page of tools that the host asked for: it is read, and reaches the host at once unless tools are to be cut out of it.
fn page(line: Line, gist: &Gist, id: Id, is_cut: bool, catalog: &mut Catalog) -> Relay {
    match gist {
        Gist::Response { failed, .. } if is_cut => {
            catalog.receive(id, *failed, line);
            return Relay::Nothing;
        }
        // An error describes no tool.
        Gist::Response { failed: true, .. } => catalog.host_cancels(&id),
        Gist::Response { .. } => catalog.receive(id, false, line.clone()),
        Gist::Request { .. } | Gist::Notification { .. } | Gist::Unreadable => {}
    }
    Relay::AsItIs(line)
}

/// A report of progress reaches the request that is open now, if any.
fn progress(line: Line, flights: &mut Flights, out: &mut Out) -> Relay {
    out.passes((Origin::Server, Form::Notification, "notifications/progress"), &line);
    match flights.progress(&line) {
        Progress::Passes => Relay::AsItIs(line),
        Progress::Changed(line) => Relay::Instead(line),
        Progress::Drops => Relay::Nothing,
    }
}

fn request(line: Line, (id, method): (Id, &str), host: &mut Host, out: &mut Out) -> Relay {
    if method == "roots/list" {
        host.roots.server_asks(id);
    }
    out.passes((Origin::Server, Form::Request, method), &line);
    Relay::AsItIs(line)
}

fn is_error(gist: &Gist) -> bool {
    matches!(gist, Gist::Response { failed: true, .. })
}
