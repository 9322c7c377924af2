//! Requests and reports about tasks of ours. A host's request is answered here, or passed on under the server's own id once the
//! server has made its own task of the call: it is sorted and judged again as it is then, it can only be about the task that the
//! server made of the approved call, and the rules on `tasks/*` apply to it. What the server says keeps the ids that hosts know, and
//! no line names a task of ours as the server's own.

use crate::gate::config::Polling;
use crate::gate::data::effect::Effect;
use crate::gate::held::{Approved, context::Context, out::Out, replies};
use crate::gate::waiting::tasks::{PREFIX, Progress, waits};
use crate::gate::waiting::{Waiting, answer::cancel_task};
use crate::mcp::Answer;
use crate::wire::message::{self, Sorted};
use crate::wire::reply::{self, INTERNAL, INVALID_PARAMS, INVALID_REQUEST, NO_METHOD};
use crate::wire::task::{self, End, Form};
use crate::wire::{Gist, Id, Line, Origin, Plain, Refusal, rename};

#[derive(Debug)]
pub(in crate::gate) enum TaskStep {
    Answer(Line),
    /// We never gave such a task, or its time is over.
    Refuse(Refusal),
    Wait(String),
    /// The host cancels this task, whose call of this number is held.
    CancelHeld(String, u64),
    /// The host cancels the task of a call that the server has under this id.
    CancelRunning(Id),
    /// It is about this task of ours, and goes to the server, whose own id follows.
    Pass(String, String),
}

/// Whether a line of the host is a request about a task of ours.
pub(in crate::gate) fn is_ours(waiting: &Waiting, line: &Plain) -> bool {
    let Gist::Request { method, .. } = line.gist() else { return false };
    let is_given =
        |id: &str| id.starts_with(PREFIX) && (waiting.tasks.get(id).is_some() || !waiting.tasks.is_foreign(id));
    waiting.limits.polling != Polling::Never
        && method.starts_with("tasks/")
        && task::named(line.line().content()).is_some_and(|(id, _)| is_given(&id))
}

/// What a request about a task of ours leads to; `id` and `method` are the request's.
pub(in crate::gate) fn step(
    context: Context<'_>,
    waiting: &Waiting,
    request: &Plain,
    (id, method): (&Id, &str),
) -> TaskStep {
    let (name, declares) = task::named(request.line().content()).unwrap_or_default();
    let Some(task) = waiting.tasks.get(&name) else {
        let what = "mcp-approve has no task of this id: it never gave it, or the task's time is over".to_owned();
        return TaskStep::Refuse(Refusal { code: INVALID_PARAMS, what, id: Some(id.clone()), answer: true });
    };
    if task.form == Form::Extension && !declares {
        return TaskStep::Answer(task::undeclared(id));
    }
    let answer = match (method, &task.progress, task.form) {
        (_, Progress::Theirs(theirs), _) => {
            return match context.ends.server.reason() {
                None => TaskStep::Pass(name, theirs.clone()),
                Some(how) => {
                    let why = format!("the server that ran the call as a task of its own takes nothing more: {how}");
                    TaskStep::Answer(reply::error(Some(id), INTERNAL, &why))
                }
            };
        }
        ("tasks/get", Progress::Over(line, _), _) => {
            let end = End::read(line.content());
            Some(task.view(&name, "", |view| task::state(id, view, end)))
        }
        ("tasks/get", Progress::Held(number), _) => {
            let says = match context.calls.get::<Approved>(*number) {
                Some(_) => format!("Approved in mcp-approve: {} runs after an earlier call", task.ticket),
                None => waits(&task.ticket, context.out.attached, &waiting.limits.console),
            };
            Some(task.view(&name, &says, |view| task::state(id, view, None)))
        }
        ("tasks/get", Progress::Runs(_), _) => Some(task.view(&name, "", |view| task::state(id, view, None))),
        ("tasks/result", Progress::Over(line, _), Form::Core) => {
            End::read(line.content()).map(|end| task::result(id, &name, end))
        }
        ("tasks/cancel", Progress::Over(_, status), Form::Core) => {
            let why = format!("the task is {} already", status.word());
            Some(reply::error(Some(id), INVALID_PARAMS, &why))
        }
        ("tasks/cancel", Progress::Held(number), _) => return TaskStep::CancelHeld(name, *number),
        ("tasks/cancel", Progress::Runs(call), Form::Extension) => return TaskStep::CancelRunning(call.clone()),
        ("tasks/result" | "tasks/cancel", Progress::Held(_) | Progress::Runs(_), Form::Core) => {
            return TaskStep::Wait(name);
        }
        ("tasks/cancel" | "tasks/update", _, Form::Extension) => Some(task::taken(id)),
        (_, Progress::Held(_) | Progress::Runs(_) | Progress::Over(..), _) => {
            let why = format!("{method} is not a request about a task of this revision");
            Some(reply::error(Some(id), NO_METHOD, &why))
        }
    };
    let lost = || reply::error(Some(id), INTERNAL, "mcp-approve cannot answer this request");
    TaskStep::Answer(answer.unwrap_or_else(lost))
}

pub(in crate::gate) fn wait(waiting: &mut Waiting, task: &str, request: Plain, id: &Id, out: &mut Out) {
    if waiting.tasks.wait(task, request).is_err() {
        let why = "too many requests wait for this task";
        out.push(Effect::WriteToHost(reply::error(Some(id), INVALID_REQUEST, why)));
    }
}

/// Cancels the task of a held call, or of its held result, for its host, and returns the answer to the request for that.
pub(in crate::gate) fn cancel(waiting: &mut Waiting, task: &str, (id, held): (&Id, Origin), now: i64) -> Option<Line> {
    cancel_task(waiting, task, replies::cancelled_task(id, held), now);
    let given = waiting.tasks.get(task)?;
    Some(match given.form {
        Form::Core => given.view(task, "", |view| task::state(id, view, None)),
        Form::Extension => task::taken(id),
    })
}

/// The request as it goes on to the server, under the server's own id of the task; if too many have no answer yet, its host is
/// told. `is_owed` says whether the server still owes an answer to a request.
pub(in crate::gate) fn renamed(
    waiting: &mut Waiting,
    (ours, theirs): (&str, &str),
    request: &Plain,
    id: &Id,
    is_owed: impl Fn(&Id) -> bool,
) -> Result<Plain, Line> {
    let renamed = rename::with_text(request.line(), &["params", "taskId"], ours, theirs).map(message::sort);
    waiting.tasks.keep_owed(is_owed);
    match renamed {
        Some(Sorted::Plain(plain)) if waiting.tasks.forward(id, ours) => Ok(plain),
        Some(Sorted::Plain(_) | Sorted::Call(_) | Sorted::Refused { .. } | Sorted::Blank) | None => {
            let why = "too many requests about this task wait for the server";
            Err(reply::error(Some(id), INVALID_REQUEST, why))
        }
    }
}

#[derive(Debug)]
pub(in crate::gate) enum Passage {
    AsItIs(Line),
    /// A task in it is named by our id.
    Renamed(Line),
    /// It is an answer that does not pass: the host that waits under this id learns why.
    Withheld(Id),
    Dropped,
}

/// A line of the server as the host must get it.
pub(in crate::gate) fn under_our_id(waiting: &mut Waiting, line: Line, gist: &Gist, out: &mut Out) -> Passage {
    if waiting.limits.polling == Polling::Never {
        return Passage::AsItIs(line);
    }
    let tasks = &mut waiting.tasks;
    let has = |text: &str| memchr::memmem::find(line.content(), text.as_bytes()).is_some();
    // An escape may spell the prefix, too.
    let may_name_one = has(PREFIX) || has("\\u");
    // Of two equal keys, some readers take the first and some the last.
    let is_unclear = may_name_one && rename::span(line.content(), &[]).is_err();
    let names_ours =
        may_name_one && !tasks.is_empty() && task::named_laxly(line.content()).iter().any(|id| tasks.get(id).is_some());
    let renamed = match gist {
        Gist::Response { id, .. } => match tasks.answered(id) {
            Some((ours, theirs)) => {
                let put = |line: &Line, path: &[&str]| rename::with_text(line, path, &theirs, &ours);
                let related = ["result", "_meta", task::RELATED, "taskId"];
                let first = put(&line, &["result", "taskId"]);
                let second = put(first.as_ref().unwrap_or(&line), &related);
                second.or(first)
            }
            None if names_ours => {
                record(&line, out);
                return Passage::Withheld(id.clone());
            }
            None if may_name_one && let Answer::Task { id: theirs } = Answer::read(line.content()) => {
                if is_unclear {
                    record(&line, out);
                    return Passage::Withheld(id.clone());
                }
                tasks.note_foreign(&theirs);
                None
            }
            None => None,
        },
        Gist::Notification { .. } | Gist::Unreadable if names_ours => {
            record(&line, out);
            return Passage::Dropped;
        }
        Gist::Notification { method, .. } if task::tells(method) => {
            if is_unclear {
                record(&line, out);
                return Passage::Dropped;
            }
            let (theirs, _) = task::named(line.content()).unwrap_or_default();
            let ours = tasks.ours(&theirs);
            ours.and_then(|ours| rename::with_text(&line, &["params", "taskId"], &theirs, ours))
        }
        Gist::Notification { .. } | Gist::Request { .. } | Gist::Unreadable => None,
    };
    renamed.map_or(Passage::AsItIs(line), Passage::Renamed)
}

fn record(line: &Line, out: &mut Out) {
    let what = "dropped a line of the server that names a task of mcp-approve as its own";
    out.record(out.fault(what, line.digest()).with("bytes", line.content().len()));
}
