//! The tasks that hosts were given for calls that wait, by our id: bounded in number, bytes and time. Decides nothing.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::audit::rfc3339;
use crate::gate::waiting::given::Kept;
use crate::wire::task::{Form, TaskStatus, View};
use crate::wire::{Digest, Id, Line, Plain};

/// What our ids begin with: a request about one never reaches the server, unless that is a wrapper too and gave it.
pub const PREFIX: &str = "mcp-approve-task-";
/// How long, in microseconds, a task is kept at most at its host's request, and at least once the server has its own task of it.
pub const DAY: u64 = 86_400_000_000;
/// How many tasks are kept at once; a further call is held as if its host could not poll.
const TASKS: usize = 256;
/// How many bytes of results are kept until their hosts fetch them.
const KEPT: usize = 64 << 20;
/// How many requests may wait for the end of one task, and how many bytes of requests for the ends of all tasks.
const WAITING: usize = 16;
const WAITING_BYTES: usize = 4 << 20;
/// How many of the server's ids that begin like ours, and of the tools that no task is made for, are remembered.
const REMEMBERED: usize = 256;

#[derive(Debug, Default)]
pub struct Tasks {
    given: Kept<Task>,
    /// Requests that went to the server under its own id of a task, and our id of it.
    forwarded: HashMap<Id, Arc<str>>,
    /// The ids of the server's own tasks that begin like ours.
    foreign: VecDeque<String>,
    /// Tools that ask for more input before they answer, which our tasks cannot do.
    asking: HashSet<String>,
}

#[derive(Debug)]
pub struct Task {
    pub ticket: Arc<str>,
    pub form: Form,
    /// Milliseconds since 1970, UTC.
    pub created: i64,
    pub updated: i64,
    pub ttl_ms: u64,
    pub progress: Progress,
    /// Requests about it that wait for its end, or for the server's own task.
    pub waiting: Vec<Plain>,
}

#[derive(Debug)]
pub enum Progress {
    Held(u64),
    /// The server has the call, under the request of this id.
    Runs(Id),
    /// The server has made its own task of the call, under this id.
    Theirs(String),
    /// It is over; this is the answer that its request would have had.
    Over(Line, TaskStatus),
}

impl Tasks {
    /// Our id of the task for a call: `secret` makes it impossible to guess.
    pub fn id(secret: &str, ticket: &str) -> Arc<str> {
        format!("{PREFIX}{}", Digest::of(format!("task\0{secret}\0{ticket}").as_bytes())).into()
    }

    pub fn is_full(&self) -> bool {
        self.given.len() >= TASKS
    }

    pub fn give(&mut self, id: Arc<str>, number: u64, (ticket, form): (Arc<str>, Form), created: i64) {
        let (progress, waiting) = (Progress::Held(number), Vec::new());
        self.given.give(id, u64::MAX, Task { ticket, form, created, updated: created, ttl_ms: 0, progress, waiting });
    }

    pub fn get(&self, id: &str) -> Option<&Task> {
        self.given.get(id)
    }

    fn all(&self) -> impl Iterator<Item = &Task> {
        self.given.iter().map(|(_, task)| task)
    }

    /// Keeps a task until this time, which is `ttl_ms` after it was created.
    pub fn keep(&mut self, id: &str, until: u64, ttl_ms: u64) {
        self.given.keep(id, until);
        self.given.get_mut(id).into_iter().for_each(|task| task.ttl_ms = ttl_ms);
    }

    /// Keeps a task until this time at least, whatever time its host was given.
    pub fn keep_beside(&mut self, id: &str, until: u64) {
        self.given.extend(id, until);
    }

    /// Sets how far a task is; returns the requests that waited, if they can be answered or passed on now.
    pub fn advance(&mut self, id: &str, progress: Progress, now: i64) -> Vec<Plain> {
        let Some(task) = self.given.get_mut(id) else { return Vec::new() };
        if let Progress::Over(..) = task.progress {
            return Vec::new();
        }
        (task.progress, task.updated) = (progress, now);
        match task.progress {
            Progress::Held(_) | Progress::Runs(_) => Vec::new(),
            Progress::Theirs(_) | Progress::Over(..) => std::mem::take(&mut task.waiting),
        }
    }

    pub fn has_room(&self, more: usize) -> bool {
        let kept: usize = self.all().map(Task::bytes).sum();
        kept + more <= KEPT
    }

    /// Lets a request wait for the end of a task; returns it if too many wait.
    pub fn wait(&mut self, id: &str, request: Plain) -> Result<(), Plain> {
        let bytes = |one: &Plain| one.line().bytes().len();
        let waiting: usize = self.all().flat_map(|task| &task.waiting).map(bytes).sum();
        let has_room = waiting + bytes(&request) <= WAITING_BYTES;
        match self.given.get_mut(id) {
            Some(task) if task.waiting.len() < WAITING && has_room => {
                task.waiting.push(request);
                Ok(())
            }
            Some(_) | None => Err(request),
        }
    }

    pub fn has_waiting(&self, id: &Id) -> bool {
        self.all().any(|task| task.waiting.iter().any(|one| one.is_request(id)))
    }

    /// The host no longer waits under this id.
    pub fn stop_waiting(&mut self, id: &Id) {
        self.given.values_mut().for_each(|task| task.waiting.retain(|one| !one.is_request(id)));
    }

    /// A request goes to the server under its own id of this task, unless too many have no answer yet.
    #[must_use = "one request too many does not go"]
    pub fn forward(&mut self, request: &Id, id: &str) -> bool {
        let has_room = self.forwarded.len() < TASKS * WAITING;
        if has_room {
            self.forwarded.insert(request.clone(), id.into());
        }
        has_room
    }

    /// Forgets the requests that the server will not answer: one that was denied never reached it.
    pub fn keep_owed(&mut self, is_owed: impl Fn(&Id) -> bool) {
        self.forwarded.retain(|request, _| is_owed(request));
    }

    /// The host wants no answer to a request any more.
    pub fn forget(&mut self, request: &Id) {
        self.forwarded.remove(request);
    }

    /// Our id and the server's of the task that a request was about; it is answered now.
    pub fn answered(&mut self, request: &Id) -> Option<(Arc<str>, String)> {
        let id = self.forwarded.remove(request)?;
        match &self.get(&id)?.progress {
            Progress::Theirs(theirs) => Some((id, theirs.clone())),
            Progress::Held(_) | Progress::Runs(_) | Progress::Over(..) => None,
        }
    }

    pub fn ours(&self, theirs: &str) -> Option<&Arc<str>> {
        let is_it = |task: &Task| matches!(&task.progress, Progress::Theirs(id) if id == theirs);
        self.given.iter().find(|(_, task)| is_it(task)).map(|(id, _)| id)
    }

    /// The server has this task. If its id begins like ours, the server is a wrapper too.
    pub fn note_foreign(&mut self, id: &str) {
        if id.starts_with(PREFIX) && !self.is_foreign(id) {
            if self.foreign.len() >= REMEMBERED {
                self.foreign.pop_front();
            }
            self.foreign.push_back(id.to_owned());
        }
    }

    pub fn is_foreign(&self, id: &str) -> bool {
        self.foreign.iter().any(|known| known == id)
    }

    /// A tool asks for more before it answers: no task is made of its calls from here on.
    pub fn note_asking(&mut self, tool: &str) {
        if self.asking.len() < REMEMBERED {
            self.asking.insert(tool.to_owned());
        }
    }

    pub fn is_asking(&self, tool: &str) -> bool {
        self.asking.contains(tool)
    }

    /// Whether an answer of the server is due that must be read whole or changed.
    pub fn changes_answers(&self) -> bool {
        !self.forwarded.is_empty() || self.all().any(|task| matches!(task.progress, Progress::Runs(_)))
    }

    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// The tasks whose time is over by `now`, the oldest first: they are forgotten.
    pub fn due(&mut self, now: u64) -> Vec<Task> {
        let due = self.given.due(now);
        self.forwarded.retain(|_, id| self.given.get(id).is_some());
        due
    }

    pub fn wake_at(&self) -> Option<u64> {
        self.given.wake_at()
    }
}

impl Task {
    /// As its host is to see it; `held` says what a held call waits for.
    pub fn view<T>(&self, id: &str, held: &str, make: impl FnOnce(&View<'_>) -> T) -> T {
        let ticket = &self.ticket;
        let (status, message) = match &self.progress {
            Progress::Held(_) => (TaskStatus::Working, held.to_owned()),
            Progress::Runs(_) | Progress::Theirs(_) => {
                (TaskStatus::Working, format!("Approved in mcp-approve: the server runs {ticket}"))
            }
            Progress::Over(_, TaskStatus::Cancelled) => (TaskStatus::Cancelled, format!("{ticket} was cancelled")),
            Progress::Over(_, status) => (*status, format!("{ticket} is answered")),
        };
        let (created, updated) = (rfc3339(self.created), rfc3339(self.updated));
        let Self { form, ttl_ms, .. } = *self;
        make(&View { id, form, status, message: &message, created: &created, updated: &updated, ttl_ms })
    }

    fn bytes(&self) -> usize {
        match &self.progress {
            Progress::Over(line, _) => line.bytes().len(),
            Progress::Held(_) | Progress::Runs(_) | Progress::Theirs(_) => 0,
        }
    }
}

/// What a call that must be asked waits for.
pub fn waits(ticket: &str, attached: usize, console: &str) -> String {
    let how = if attached > 0 { String::new() } else { format!(". Run `{console}` in a terminal") };
    format!("Waiting for approval in mcp-approve: {ticket}{how}")
}
