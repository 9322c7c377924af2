//! The server's side: its lines are relayed at once; answers to calls are recorded, answers to our own question swallowed. If a
//! scope hides tools, a page of the list is cut after it was read.

use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;

use crate::audit::record::{Entry, Kind, Outcome};
use crate::capability::schema::Fits;
use crate::gate::Gate;
use crate::gate::data::effect::{Effect, Passing};
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::server::described::Visibility;
use crate::gate::server::flight::{Flight, Later, Progress, Wanted};
use crate::gate::server::pages::{ListReply, Whole};
use crate::gate::state::passed::Form;
use crate::gate::state::{Answered, ListOutcome, ServerTasks};
use crate::gate::waiting::tasks::Changed;
use crate::mcp::result::Answer;
use crate::mcp::{lifecycle, tool};
use crate::wire::call::Origin;
use crate::wire::digest::{Digest, StreamDigest};
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::{Gist, Sorted};
use crate::wire::reply::INTERNAL;
use crate::wire::{message, rename, reply};

/// Beyond this size `structuredContent` is not checked against the output schema.
const CHECKED: usize = 1 << 20;

/// Bytes to reserve for the details of an outcome: most have no more.
const OUTCOME: usize = 128;

impl Gate {
    pub(in crate::gate) fn on_server_line(&mut self, line: Line) {
        let content = line.content();
        let bytes = content.len() as u64;
        let gist = message::peek(content);
        // Answers to our own questions are taken below.
        let is_ours = matches!(&gist, Gist::Response { id, .. } if self.catalog.is_ours(id));
        if !is_ours && self.forges(&gist) {
            return self.forged(bytes, Some(line.digest()));
        }
        let is_task = |id: &Id| self.flights.get(id).is_some_and(|flight| flight.task.is_some());
        let is_for_task = matches!(&gist, Gist::Response { id, .. } if is_task(id));
        let passes = if is_for_task { Some((line, Changed::No)) } else { self.under_our_id(line, &gist) };
        let Some((line, changed)) = passes else { return };
        let screened = if is_for_task { Some(line) } else { self.screen(line, &gist) };
        let Some(line) = screened else { return };
        let content = line.content();
        match gist {
            Gist::Response { id, failed } => {
                if self.host.lifecycle.is_pending() {
                    self.host.lifecycle.on_server_line(&Gist::Response { id: id.clone(), failed }, content);
                    self.early_calls();
                }
                let is_owed = self.host.plain_ids.remove(&id) || is_ours || self.flights.contains(&id);
                if is_owed && !failed && std::mem::replace(&mut self.ends.answered, Answered::Once) == Answered::NotYet
                {
                    self.out.push(Effect::NoteServer);
                }
                if self.host.introduction.take_if(|asked| *asked == id).is_some() {
                    self.introduced(line.content());
                }
                if is_for_task {
                    return self.on_task_answer(&id, line, failed);
                }
                if is_ours {
                    return self.catalog.receive(id, failed, line);
                }
                if self.catalog.awaits(&id) {
                    self.log.passes(&mut self.out, (Origin::Server, Form::Response, ""), &line);
                    if self.cuts(&Gist::Response { id: id.clone(), failed }) {
                        return self.catalog.receive(id, failed, line);
                    }
                    if failed {
                        // An error describes no tool.
                        self.catalog.host_cancels(&id);
                    } else {
                        self.catalog.receive(id, failed, line.clone());
                    }
                    return self.out.push(Effect::Relay(Passing::ToHost(line)));
                }
                match self.flights.land(&id) {
                    Some(flight) => {
                        match flight.wanted {
                            Wanted::Yes => self.landed(&flight, &line, failed),
                            Wanted::Cancelled => {
                                self.log.passes(&mut self.out, (Origin::Server, Form::Response, ""), &line);
                            }
                        }
                        if let Some(Later { id, .. }) = flight.later.last() {
                            let lost = || answer_lost(id, "its id is unknown");
                            return self.out.push(Effect::WriteToHost(rename::with_id(&line, id).unwrap_or_else(lost)));
                        }
                    }
                    None => self.log.passes(&mut self.out, (Origin::Server, Form::Response, ""), &line),
                }
            }
            Gist::Notification { method, cancels } => {
                if cancels.is_some_and(|id| self.cancels_held(&id)) {
                    return;
                }
                if method == "notifications/tools/list_changed" {
                    self.catalog.changed();
                    if let Some(queue) = &mut self.describe_queue {
                        // The calls that are left are judged by the list that is to come.
                        queue.outcome = ListOutcome::NotAsked;
                    }
                }
                self.log.passes(&mut self.out, (Origin::Server, Form::Notification, &method), &line);
                if method == "notifications/progress" {
                    match self.flights.progress(&line) {
                        Progress::Passes => {}
                        Progress::Changed(line) => return self.out.push(Effect::WriteToHost(line)),
                        Progress::Drops => return,
                    }
                }
            }
            Gist::Request { id, method, .. } => {
                if method == "roots/list" {
                    self.host.roots.server_asks(id);
                }
                if let Sorted::Plain(plain) = message::sort(line.clone())
                    && let Some(request) = plain.request(Origin::Server)
                {
                    self.record_single(&request);
                }
                self.log.passes(&mut self.out, (Origin::Server, Form::Request, &method), &line);
            }
            Gist::Unreadable => self.log.passes(&mut self.out, (Origin::Server, Form::Unreadable, ""), &line),
        }
        self.out.push(match changed {
            Changed::No => Effect::Relay(Passing::ToHost(line)),
            Changed::Id => Effect::WriteToHost(line),
        });
    }

    /// Records what the server says that it can do, unless it said the same before.
    fn introduced(&mut self, content: &[u8]) {
        let said = lifecycle::of_server(content);
        if lifecycle::makes_tasks(content) {
            self.host.server_tasks = ServerTasks::OfCalls;
        }
        if said.is_none() || said == self.host.introduced {
            return;
        }
        let mut entry = self.out.entry(Kind::Session);
        const NAMES: [&str; 5] = ["revision", "server", "server_version", "features", "instructions"];
        for name in NAMES {
            said.as_ref().and_then(|said| said.get(name)).inspect(|value| entry.detail.add(name, value));
        }
        self.out.record(entry);
        self.host.introduced = said;
    }

    /// Does a piece of the work that is left.
    pub(in crate::gate) fn on_go_on(&mut self) {
        if self.catalog.has_unparsed_lists() {
            self.parse_lists();
        } else {
            self.describe_slice();
        }
    }

    /// Reads a piece of the lists that the server gave.
    pub(in crate::gate) fn parse_lists(&mut self) {
        let reply = self.catalog.read(self.out.now);
        self.prune_grants();
        match reply {
            ListReply::Reading => {}
            ListReply::Relayed => self.describe_again(),
            ListReply::Page(page) => {
                self.offer(page);
                self.describe_again();
            }
            ListReply::More(question) => self.out.push(Effect::WriteToServer(question)),
            ListReply::Fresh => self.on_described(),
            ListReply::Failed => self.on_undescribed(),
        }
    }

    /// Records that a line was dropped which could pass for the answer to a call that the server never received.
    fn forged(&mut self, bytes: u64, digest: Option<Digest>) {
        let what = "dropped an answer of the server to a call that it never received";
        self.out.record(self.out.fault(what, digest).with("bytes", bytes));
    }

    /// A long line has passed already (or was kept back); only the record is left to make.
    pub(in crate::gate) fn on_server_streamed(&mut self, gist: &Gist, bytes: u64, digest: StreamDigest) {
        if self.forges(gist) {
            return self.forged(bytes, None);
        }
        if self.may_report_our_task(gist) {
            let what =
                "dropped a line of the server about a task: it is too long to be searched for tasks of mcp-approve";
            self.out.record(self.out.fault(what, None).with("bytes", bytes));
            return;
        }
        if self.keeps_back(gist) {
            return self.too_long(gist, bytes);
        }
        let (form, method) = match gist {
            Gist::Request { method, .. } => (Form::Request, method.as_str()),
            Gist::Notification { method, .. } => (Form::Notification, method.as_str()),
            Gist::Response { .. } => (Form::Response, ""),
            Gist::Unreadable => (Form::Unreadable, ""),
        };
        let is_call = matches!(gist, Gist::Response { id, .. } if self.flights.contains(id));
        if !is_call {
            let payload = (form == Form::Notification).then(|| digest.to_string());
            let at = self.log.passed.take(self.out.now.mono, (Origin::Server, form, method), bytes, payload);
            self.out.wake_by(at);
        }
        let Gist::Response { id, failed } = gist else {
            return;
        };
        if self.host.lifecycle.is_pending() {
            self.host.lifecycle.on_server_line(gist, b"");
            self.early_calls();
        }
        self.host.plain_ids.remove(id);
        if self.cuts(gist) {
            self.catalog.host_cancels(id);
            return self.offer(Err(id.clone()));
        }
        let Some(flight) = self.flights.land(id).filter(|flight| flight.wanted == Wanted::Yes) else {
            return;
        };
        if flight.task.is_some() {
            let lost = answer_lost(id, &format!("it has {bytes} bytes, which is too much to keep for a task"));
            self.answer_flight(&flight, lost);
        } else if let Some(Later { id, .. }) = flight.later.last() {
            let why = format!("it has {bytes} bytes, and its id would have to be changed in it");
            self.out.push(Effect::WriteToHost(answer_lost(id, &why)));
        }
        let outcome = if *failed { Outcome::Error } else { Outcome::Streamed };
        let mut entry = self.outcome_entry(&flight, outcome).with("bytes", bytes).with("answer", digest.to_string());
        let schema = flight.described.as_ref().and_then(|known| known.output());
        entry.add("output_schema", schema.map(|_| "not checked: the answer is too long"));
        self.out.record(entry);
        self.out.status.failed += u64::from(*failed);
        self.show_outcome(&flight, bytes, *failed);
    }

    pub(in crate::gate) fn landed(&mut self, flight: &Flight, line: &Line, failed: bool) {
        let content = line.content();
        let schema = flight.described.as_ref().and_then(|known| known.output());
        let answer = if failed || schema.is_some() || flight.task.is_some() || says_more(content) {
            Answer::read(content)
        } else {
            Answer::Complete { is_error: false, structured: None }
        };
        self.flights.expect_more(self.out.now, flight, &answer);
        let outcome = outcome(&answer);
        let mut entry = self.outcome_entry(flight, outcome);
        entry.detail.add("bytes", content.len());
        entry.detail.add("answer", line.digest());
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
        self.out.record(entry);
        let failed = outcome.is_failure();
        self.out.status.failed += u64::from(failed);
        self.show_outcome(flight, content.len() as u64, failed);
    }

    /// The host cancelled a call that runs: the cancellation passes, and the record says that the host no longer waits.
    pub(in crate::gate) fn cancelled_in_flight(&mut self, id: &Id) {
        if let Some(flight) = self.flights.cancel(id) {
            let flight = flight.clone();
            let entry = self
                .outcome_entry(&flight, Outcome::Cancelled)
                .with("reason", "the host cancelled the call while it ran");
            self.out.record(entry);
            if let Some(task) = &flight.task {
                self.cancel_running_task(task, id);
            }
        }
    }

    /// What a server answered to a forwarded call.
    pub(in crate::gate) fn outcome_entry(&self, flight: &Flight, outcome: Outcome) -> Entry {
        let mut entry = self.out.entry(Kind::Outcome);
        // Its decision names it; another may be in force by now.
        entry.policy = None;
        entry.ticket = Some(Arc::clone(&flight.ticket));
        entry.tool = Some(flight.tool.clone());
        entry.target.clone_from(&flight.target);
        entry.digest = Some(flight.digest);
        entry.badge = Some(flight.badge);
        entry.identity = Some(flight.identity);
        entry.latency_us = Some(self.out.now.mono.saturating_sub(flight.forwarded.mono));
        entry.detail.reserve(OUTCOME);
        entry.detail.add("result", outcome.word());
        entry
    }

    fn show_outcome(&mut self, flight: &Flight, bytes: u64, failed: bool) {
        let latency_us = Some(self.out.now.mono.saturating_sub(flight.forwarded.mono));
        self.out.show(Direction::ToHost, ActivityKind::Outcome, |one| {
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

    /// Whether the host gets a line of the server only after tools were cut out of it: a page of `tools/list`.
    pub(in crate::gate) fn cuts(&self, gist: &Gist) -> bool {
        match gist {
            Gist::Response { id, failed: false } => !self.config.scope.is_whole() && self.catalog.awaits(id),
            Gist::Response { .. } | Gist::Request { .. } | Gist::Notification { .. } | Gist::Unreadable => false,
        }
    }

    /// Gives the host its page without the tools outside the scope, or says under its id why it gets none.
    pub(in crate::gate) fn offer(&mut self, page: Result<(Id, Whole), Id>) {
        let (id, whole) = match page {
            Ok((id, whole)) => (id, Some(whole)),
            Err(id) => (id, None),
        };
        let keep: Vec<bool> =
            whole.iter().flat_map(|whole| &whole.tools).map(|tool| self.is_offered(tool.as_ref())).collect();
        let hidden = keep.iter().filter(|keep| !**keep).count();
        match whole.as_ref().and_then(|whole| tool::cut_page(&whole.line, &keep)) {
            Some(line) if hidden == 0 => self.out.push(Effect::Relay(Passing::ToHost(line))),
            Some(line) => {
                let what = "left tools outside the scope out of the list that the host asked for";
                self.out.record(self.out.entry(Kind::Tools).with("what", what).with("hidden", hidden));
                self.out.push(Effect::WriteToHost(line));
            }
            None => {
                let what =
                    "the server's list of tools is too long, or not canonical JSON, so it cannot be cut to the scope";
                self.out.record(self.out.fault(what, None));
                self.out.push(Effect::WriteToHost(reply::error(Some(&id), INTERNAL, what)));
            }
        }
    }

    /// Whether a tool as a page has it is in the scope. A tool that is not known with exactly this definition is not.
    fn is_offered(&self, tool: Option<&(String, Digest)>) -> bool {
        let Some((name, digest)) = tool else { return false };
        self.catalog.seen(name).is_some_and(|known| known.digest == *digest && known.visibility == Visibility::Listed)
    }
}

/// The server has answered, but the answer cannot be passed on to the request that waits now.
pub(in crate::gate) fn answer_lost(id: &Id, why: &str) -> Line {
    let text = format!(
        "The tool HAS run, but mcp-approve cannot pass the server's answer on: {why}. Check what it did before calling again."
    );
    reply::tool_error(id, &text, true)
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
