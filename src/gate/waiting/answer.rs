//! Answers whoever waits for a call: under the request that is open, by the task that its host polls for, or once the host comes
//! back. Also gives a host a task at once for a call that has to wait. Owns no verdict.

use std::sync::Arc;

use crate::audit::Kind;
use crate::gate::config::Polling;
use crate::gate::data::effect::{Effect, OwnLine};
use crate::gate::held::{Held, out::Out, replies};
use crate::gate::server::flight::Flight;
use crate::gate::state::{Host, ServerTasks};
use crate::gate::waiting::tasks::{DAY, Progress, Task, Tasks, waits};
use crate::gate::waiting::{Waiting, come_back, given::Owed};
use crate::mcp::Revision;
use crate::wire::task::{End, Form, TaskStatus};
use crate::wire::{Call, Line, Origin, rename, task};

/// For how long a result is kept after the last moment at which its call could be decided, in microseconds.
const RESULT: u64 = 3_600_000_000;

pub(in crate::gate) fn answer(waiting: &mut Waiting, held: &Held, reply: Line, host: &Host, out: &mut Out) {
    let task = match (&held.wait.task, task_form(waiting, held, host)) {
        (Some(id), _) => Some(Arc::clone(id)),
        // A host that asked for a task in this form reads no other result.
        (None, Some(Form::Core)) if matches!(End::read(reply.content()), Some(End::Result(_))) => {
            Some(open_task(waiting, held, Form::Core, out))
        }
        (None, _) => None,
    };
    match (task, &held.wait.away, held.call.origin()) {
        (Some(task), _, _) => end_task(waiting, &task, reply, out.now.wall),
        (None, Some(state), _) => {
            if let Some(given) = waiting.returns.get_mut(state) {
                given.owed = Owed::Answer(reply);
            }
        }
        (None, None, Origin::Host | Origin::Answer | Origin::Result) => {
            let renamed = (!held.wait.later.is_empty()).then(|| rename::with_id(&reply, held.open_id())).flatten();
            out.push(Effect::WriteToHost(renamed.unwrap_or(reply)));
        }
        (None, None, Origin::Server) => out.push(Effect::WriteToServer(OwnLine(reply))),
    }
}

/// Answers the host that waits, by a request or by a task, for a call that the server has received.
pub(in crate::gate) fn answer_flight(waiting: &mut Waiting, flight: &Flight, reply: Line, out: &mut Out) {
    match &flight.task {
        Some(task) => end_task(waiting, task, reply, out.now.wall),
        None => out.push(Effect::WriteToHost(reply)),
    }
}

/// No answer is due for a held call: its task is over, and a state of it no longer counts.
pub(in crate::gate) fn leave_unanswered(waiting: &mut Waiting, held: &Held, now: i64) {
    if let Some(task) = &held.wait.task {
        cancel_task(waiting, task, replies::cancelled_task(held.call.id(), held.call.origin()), now);
    }
    if let Some(state) = &held.wait.away {
        waiting.returns.take(state);
    }
}

pub(in crate::gate) fn end_task(waiting: &mut Waiting, id: &str, reply: Line, now: i64) {
    let status = match End::read(reply.content()) {
        Some(End::Result(_)) => TaskStatus::Completed,
        Some(End::Error(_)) | None => TaskStatus::Failed,
    };
    waiting.advance(id, Progress::Over(reply, status), now);
}

/// The host cancelled a task; the answer says what the call did until then.
pub(in crate::gate) fn cancel_task(waiting: &mut Waiting, id: &str, reply: Line, now: i64) {
    waiting.advance(id, Progress::Over(reply, TaskStatus::Cancelled), now);
}

/// Answers the host of a call that has to wait with a task, if the host supports that.
pub(in crate::gate) fn give_task(waiting: &mut Waiting, held: &mut Held, host: &Host, out: &mut Out) {
    let Some(form) = task_form(waiting, held, host) else { return };
    held.deadline = held.arrived.mono.saturating_add(waiting.limits.approval);
    held.wait.ends = None;
    held.wait.task = Some(open_task(waiting, held, form, out));
}

/// The form of task that the host of a call supports; `None` if it must wait in another way, or does so already.
fn task_form(waiting: &Waiting, held: &Held, host: &Host) -> Option<Form> {
    let (call, wait) = (&held.call, &held.wait);
    let is_fresh = wait.task.is_none() && wait.away.is_none() && wait.later.is_empty();
    let is_possible = waiting.limits.polling == Polling::Declared
        && host.gone.is_none()
        && call.origin() == Origin::Host
        && call.method().is_none();
    if !is_fresh || !is_possible || waiting.tasks.is_full() || waiting.tasks.is_asking(call.name()) {
        return None;
    }
    declared(call, host)
}

fn declared(call: &Call, host: &Host) -> Option<Form> {
    if let Some(version) = &call.meta().protocol_version {
        // A retry answers what the server asked for before it would make a task: we make none either.
        let is_retry = call.request_state_text().is_some() || call.input_responses_text().is_some();
        let meta = serde_json::from_str(call.meta_text()?).unwrap_or_default();
        let takes = version == Revision::V2026_07_28.word() && !is_retry && task::declares(&meta);
        return takes.then_some(Form::Extension);
    }
    let is_agreed =
        host.lifecycle.revision() == Some(Revision::V2025_11_25) && host.server_tasks == ServerTasks::OfCalls;
    (is_agreed && task::requested(call.task_text()?).is_some()).then_some(Form::Core)
}

/// Makes a task of a call, and answers its request with it.
fn open_task(waiting: &mut Waiting, held: &Held, form: Form, out: &mut Out) -> Arc<str> {
    let id = Tasks::id(&waiting.limits.secret, &held.ticket);
    waiting.tasks.give(Arc::clone(&id), held.number, (Arc::clone(&held.ticket), form), out.now.wall);
    keep_task(waiting, &id, held, out);
    let to_model = format!(
        "mcp-approve holds this call ({}) until the user decides it. The tool has NOT been executed yet. The result comes \
         with the task; do not call again before that.",
        held.ticket
    );
    let says = waits(&held.ticket, out.attached, &waiting.limits.console);
    let created = |given: &Task| given.view(&id, &says, |view| task::created(held.call.id(), view, &to_model));
    let created = waiting.tasks.get(&id).map(created);
    out.extend(created.map(Effect::WriteToHost));
    let mut entry = out.entry(Kind::Task);
    (entry.ticket, entry.tool) = (Some(Arc::clone(&held.ticket)), Some(held.call.shared_name()));
    entry.digest = Some(held.call.digest());
    out.record(entry.with("what", "gave the host a task, for which it polls").with("task", &*id));
    id
}

/// For how long a call waits at most while calls are frozen, where its host waits for ever, in microseconds.
const PAUSE: u64 = 7 * DAY;

/// The last moment at which a call can be decided (monotonic microseconds): one that is a task can wait for ever.
pub(in crate::gate) fn longest(waiting: &Waiting, held: &Held, host: &Host) -> u64 {
    match &held.wait.task {
        Some(_) => u64::MAX,
        None => come_back::longest_wait(waiting, host, held),
    }
}

/// Moves the deadline of a call that waits, with all that ends by it.
pub(in crate::gate) fn move_deadline(
    waiting: &mut Waiting,
    held: &mut Held,
    deadline: u64,
    host: &Host,
    out: &mut Out,
) {
    held.deadline = deadline;
    held.wait.ends = come_back::request_ends(waiting, host, held);
    if let Some(task) = held.wait.task.clone() {
        keep_task(waiting, &task, held, out);
    }
    if let Some(state) = &held.wait.away {
        waiting.returns.extend(state, deadline);
    }
    out.wake_for(held);
}

/// Calls are frozen: one waits for as long as its host does.
pub(in crate::gate) fn pause(waiting: &mut Waiting, held: &mut Held, host: &Host, out: &mut Out) {
    let deadline = longest(waiting, held, host).min(out.now.mono.saturating_add(PAUSE));
    move_deadline(waiting, held, deadline, host, out);
}

/// Calls are no longer frozen: the operator's time for one begins again.
pub(in crate::gate) fn resume(waiting: &mut Waiting, held: &mut Held, host: &Host, out: &mut Out) {
    let wanted = out.now.mono.saturating_add(waiting.limits.approval);
    let deadline = longest(waiting, held, host).min(wanted);
    move_deadline(waiting, held, deadline, host, out);
}

/// Keeps a task for as long as its call may wait and its host needs to fetch the result.
pub(in crate::gate) fn keep_task(waiting: &mut Waiting, id: &str, held: &Held, out: &mut Out) {
    let wanted = held.call.task_text().and_then(task::requested).unwrap_or_default();
    let wanted = held.arrived.mono.saturating_add(wanted.saturating_mul(1000).min(DAY));
    let until = held.deadline.saturating_add(RESULT).max(wanted);
    waiting.tasks.keep(id, until, until.saturating_sub(held.arrived.mono) / 1000);
    out.wake_by(until);
}
