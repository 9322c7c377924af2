//! What the server says of tasks: its answers to calls whose hosts were given one, and its own tasks, which keep the ids that hosts
//! know. Decides nothing.

use crate::gate::Gate;
use crate::gate::call::tasks::DAY;
use crate::gate::call::{replies, request};
use crate::gate::config::Polling;
use crate::gate::data::effect::Effect;
use crate::gate::server::answer::answer_lost;
use crate::gate::server::flight::{Flight, Wanted};
use crate::gate::state::passed;
use crate::gate::state::tasks::{Changed, PREFIX, Progress};
use crate::mcp::result::Answer;
use crate::wire::call::Origin;
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::Gist;
use crate::wire::task::{self, End};
use crate::wire::{inputs, rename};

impl Gate {
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
