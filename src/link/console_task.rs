//! The task that owns a wrapper's consoles: accepts and reads them, keeps their queues. Its only own messages are refusals.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::folder::LinkError;
use super::message::{
    ConsoleKind, FromConsole, FromConsoles, FromWrapper, Greeting, LONGEST_FROM_CONSOLE, PROTOCOL, Rejection, Subject,
};
use super::peer;
use crate::gate::data::event::ConsoleId;

/// A person opens one console or two; more are a mistake or an attack.
const MOST_CONSOLES: usize = 64;
/// How long a new connection may take to send its `Hello`: others than consoles must not use up places.
const GREETING: Duration = Duration::from_secs(2);
/// How long to wait when the system has no descriptor left for a new connection.
const NO_DESCRIPTOR_WAIT: Duration = Duration::from_millis(100);

pub(super) enum TaskCommand {
    /// A line for a console; with [`Then::Tell`], [`FromConsoles::Shown`] comes once it is written.
    Put(ConsoleId, Line, Then),
    /// Nothing that descends from this process may attach.
    Forbid(u32),
}

enum Incoming {
    Line(Vec<u8>),
    End,
    TooLong,
    /// No `Hello` came in time.
    Nothing,
}

enum Attachment {
    /// Its `Hello` has not come yet.
    NotGreeted,
    Attached(ConsoleKind),
    /// Its `Hello` has another protocol: it is sent the reason, and nothing else.
    OtherProtocol(String),
}

struct Console {
    attachment: Attachment,
    /// As the kernel gives it.
    pid: Option<u32>,
    outbox: Outbox,
    writer: JoinHandle<()>,
    reader: JoinHandle<()>,
}

pub(super) struct ConsoleTask {
    listener: UnixListener,
    hello: Line,
    on: mpsc::UnboundedSender<FromConsoles>,
    attached: Arc<AtomicUsize>,
    consoles: BTreeMap<ConsoleId, Console>,
    last: u64,
    server: Option<u32>,
    /// Consoles to which a line with [`Then::Tell`] was written: at most one such line each.
    written: mpsc::UnboundedSender<ConsoleId>,
    shown: mpsc::UnboundedReceiver<ConsoleId>,
}

impl ConsoleTask {
    pub(super) fn new(
        listener: UnixListener,
        hello: Line,
        on: mpsc::UnboundedSender<FromConsoles>,
        attached: Arc<AtomicUsize>,
    ) -> Self {
        let (written, shown) = mpsc::unbounded_channel();
        Self { listener, hello, on, attached, consoles: BTreeMap::new(), last: 0, server: None, written, shown }
    }

    /// Runs until the handle drops it.
    pub(super) async fn run(mut self, mut commands: mpsc::UnboundedReceiver<TaskCommand>) {
        // Bounded, so that what a flooding console sends waits in its own socket.
        let (tell, mut heard) = mpsc::channel(16);
        loop {
            tokio::select! {
                // In this order: the task learns which processes must not attach before it accepts any.
                biased;
                command = commands.recv() => match command {
                    Some(TaskCommand::Put(console, line, then)) => self.put(console, &line, then),
                    Some(TaskCommand::Forbid(server)) => self.forbid(server),
                    None => return,
                },
                came = self.listener.accept() => match came {
                    Ok((stream, _)) => self.admit(stream, &tell),
                    Err(error) => {
                        tracing::warn!(%error, "a console could not be let in");
                        tokio::time::sleep(NO_DESCRIPTOR_WAIT).await;
                    }
                },
                Some((console, what)) = heard.recv() => self.hear(console, what),
                Some(console) = self.shown.recv() => self.say(FromConsoles::Shown { console }),
            }
        }
    }

    /// Consoles that connected before the server's process was known are checked again.
    fn forbid(&mut self, server: u32) {
        self.server = Some(server);
        let known = self.consoles.iter().filter_map(|(id, console)| Some((*id, console.pid?)));
        let rejected: Vec<_> =
            known.filter_map(|(id, pid)| Some((id, peer::check_family(pid, server).err()?))).collect();
        for (id, why) in rejected {
            self.say(FromConsoles::Rejected { why });
            self.let_go(id);
        }
    }

    fn admit(&mut self, stream: UnixStream, tell: &mpsc::Sender<(ConsoleId, Incoming)>) {
        let most = MOST_CONSOLES;
        let checked = match peer::check(&stream, self.server) {
            Ok(_) if self.consoles.len() >= most => Err(Rejection::TooMany { most }),
            checked => checked,
        };
        let pid = match checked {
            Ok(pid) => pid,
            Err(why) => return self.turn_away(&stream, why),
        };
        self.last += 1;
        let id = self.last;
        let (read, write) = stream.into_split();
        let written = self.written.clone();
        let (outbox, writer) = Outbox::open(write, move || {
            // This fails only once the task has ended.
            let _ = written.send(id);
        });
        let reader = tokio::spawn(listen(read, id, tell.clone()));
        let console = Console { attachment: Attachment::NotGreeted, pid, outbox, writer, reader };
        self.consoles.insert(id, console);
        let hello = self.hello.clone();
        self.put(id, &hello, Then::Nothing);
    }

    /// Sends a new connection the reason, if the socket takes it at once, and closes it.
    fn turn_away(&self, stream: &UnixStream, why: Rejection) {
        if let Some(line) = said(&FromWrapper::Refused { ticket: String::new(), why: why.to_string() }) {
            let _ = stream.try_write(&line.bytes);
        }
        self.say(FromConsoles::Rejected { why });
    }

    fn hear(&mut self, id: ConsoleId, heard: Incoming) {
        let Some(console) = self.consoles.get(&id) else { return };
        let line = match heard {
            Incoming::Line(line) => line,
            Incoming::End => return self.let_go(id),
            Incoming::Nothing => {
                self.say(FromConsoles::Rejected { why: Rejection::Silent });
                return self.let_go(id);
            }
            Incoming::TooLong => return self.garbage(id, "a line that is too long".to_owned()),
        };
        match &console.attachment {
            Attachment::NotGreeted => self.greet(id, &line),
            Attachment::OtherProtocol(why) => {
                let subject: Subject = serde_json::from_slice(&line).unwrap_or_default();
                self.refuse(id, subject.ticket, why.clone());
            }
            Attachment::Attached(_) => match serde_json::from_slice(&line) {
                Ok(FromConsole::Hello { .. } | FromConsole::Peek { .. }) => {
                    self.garbage(id, "a second greeting".to_owned());
                }
                Ok(message) => self.say(FromConsoles::Said { console: id, message }),
                Err(error) => self.garbage(id, error.to_string()),
            },
        }
    }

    fn greet(&mut self, id: ConsoleId, line: &[u8]) {
        if let Ok(FromConsole::Peek { protocol: PROTOCOL }) = serde_json::from_slice(line) {
            return self.say(FromConsoles::Peeked { console: id });
        }
        let Some(greeting) = Greeting::read(line) else {
            return self.garbage(id, "no greeting".to_owned());
        };
        if greeting.protocol != PROTOCOL {
            let why = Rejection::OtherProtocol { theirs: greeting.protocol, version: greeting.version };
            self.set_attachment(id, Attachment::OtherProtocol(why.to_string()));
            self.refuse(id, String::new(), why.to_string());
            return self.say(FromConsoles::Rejected { why });
        }
        match serde_json::from_slice(line) {
            Ok(FromConsole::Hello { operator, pid, kind, .. }) => {
                let known = self.consoles.get(&id).and_then(|console| console.pid);
                self.set_attachment(id, Attachment::Attached(kind));
                if kind == ConsoleKind::Local {
                    self.attached.fetch_add(1, Ordering::Relaxed);
                }
                self.say(FromConsoles::Attached { console: id, operator, pid: known.unwrap_or(pid), kind });
            }
            Ok(_) => self.garbage(id, "no greeting".to_owned()),
            Err(error) => self.garbage(id, error.to_string()),
        }
    }

    fn set_attachment(&mut self, id: ConsoleId, attachment: Attachment) {
        if let Some(console) = self.consoles.get_mut(&id) {
            console.attachment = attachment;
        }
    }

    fn refuse(&mut self, id: ConsoleId, ticket: String, why: String) {
        if let Some(line) = said(&FromWrapper::Refused { ticket, why }) {
            self.put(id, &line, Then::Nothing);
        }
    }

    fn put(&mut self, id: ConsoleId, line: &Line, then: Then) {
        if self.consoles.get(&id).is_some_and(|console| console.outbox.put(line, then) == Put::LetGo) {
            tracing::warn!(console = %id, "a console does not read and is disconnected");
            self.let_go(id);
        }
    }

    fn garbage(&mut self, id: ConsoleId, what: String) {
        let why = Rejection::Garbage { what };
        self.say(FromConsoles::Rejected { why });
        self.let_go(id);
    }

    fn let_go(&mut self, id: ConsoleId) {
        let Some(console) = self.consoles.remove(&id) else { return };
        if let Attachment::Attached(kind) = console.attachment {
            if kind == ConsoleKind::Local {
                self.attached.fetch_sub(1, Ordering::Relaxed);
            }
            self.say(FromConsoles::Detached { console: id });
        }
    }

    fn say(&self, what: FromConsoles) {
        // No one receives this once the loop is ending.
        let _ = self.on.send(what);
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.reader.abort();
        self.writer.abort();
    }
}

/// Reads one console's lines until it ends, it breaks the rules, or this task disconnects it.
async fn listen(stream: OwnedReadHalf, id: ConsoleId, tell: mpsc::Sender<(ConsoleId, Incoming)>) {
    let mut stream = BufReader::new(stream);
    let mut heard = timeout(GREETING, next(&mut stream)).await.unwrap_or(Incoming::Nothing);
    loop {
        let last = !matches!(heard, Incoming::Line(_));
        if tell.send((id, heard)).await.is_err() || last {
            return;
        }
        heard = next(&mut stream).await;
    }
}

async fn next(stream: &mut BufReader<OwnedReadHalf>) -> Incoming {
    let mut line = Vec::new();
    match stream.take(LONGEST_FROM_CONSOLE as u64).read_until(b'\n', &mut line).await {
        Ok(0) | Err(_) => Incoming::End,
        Ok(_) if line.ends_with(b"\n") => Incoming::Line(line),
        Ok(n) if n == LONGEST_FROM_CONSOLE => Incoming::TooLong,
        Ok(_) => Incoming::End,
    }
}

/// Beyond this many waiting bytes, activity is left out: a console can do without.
const ACTIVITY: usize = 1024 * 1024;
/// Beyond this many waiting bytes, a console that has not read for [`STALL`] is disconnected.
const MUCH: usize = 64 * 1024 * 1024;
const STALL: Duration = Duration::from_secs(2);
/// Beyond this many waiting bytes, any console is disconnected.
const MOST: usize = 512 * 1024 * 1024;

/// One line, shared by all consoles it goes to.
#[derive(Clone)]
pub(super) struct Line {
    /// With its line end.
    pub(super) bytes: Arc<[u8]>,
    pub(super) weight: Weight,
}

/// Whether a console can do without a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Needed,
    Activity,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    Tell,
}

/// What to do with a console after a line.
#[derive(PartialEq, Eq)]
enum Put {
    Keep,
    /// It does not read, or is gone.
    LetGo,
}

/// What is still to be written to one console: bounded, so a slow one costs little. The writer ends when this is dropped.
///
/// Much may wait for a console that does read, and a flood of held calls must not keep the operator out. So a new
/// console is sent them one at a time (the writer reports when one is written), and a console is disconnected only when
/// much waits and nothing moves, or when far too much waits.
struct Outbox {
    lines: mpsc::UnboundedSender<(Arc<[u8]>, Then)>,
    gauge: Arc<Gauge>,
}

struct Gauge {
    waiting: AtomicUsize,
    /// When the console last took something.
    moved: Mutex<Instant>,
}

impl Outbox {
    /// Starts the writer, which calls `written` after every line with [`Then::Tell`].
    fn open(stream: OwnedWriteHalf, written: impl Fn() + Send + 'static) -> (Self, JoinHandle<()>) {
        let (lines, queue) = mpsc::unbounded_channel();
        let gauge = Arc::new(Gauge { waiting: AtomicUsize::new(0), moved: Mutex::new(Instant::now()) });
        let writer = tokio::spawn(write(stream, queue, Arc::clone(&gauge), written));
        (Self { lines, gauge }, writer)
    }

    fn put(&self, line: &Line, then: Then) -> Put {
        let length = line.bytes.len();
        let waiting = self.gauge.waiting.load(Ordering::Relaxed);
        let with = waiting.saturating_add(length);
        if line.weight == Weight::Activity && with > ACTIVITY {
            return Put::Keep;
        }
        if waiting == 0 {
            // There was nothing to read until now.
            *self.gauge.moved() = Instant::now();
        }
        if with > MOST || (with > MUCH && self.gauge.moved().elapsed() > STALL) {
            return Put::LetGo;
        }
        self.gauge.waiting.fetch_add(length, Ordering::Relaxed);
        match self.lines.send((Arc::clone(&line.bytes), then)) {
            Ok(()) => Put::Keep,
            Err(_) => Put::LetGo,
        }
    }
}

impl Gauge {
    fn moved(&self) -> MutexGuard<'_, Instant> {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write(
    mut stream: OwnedWriteHalf,
    mut queue: mpsc::UnboundedReceiver<(Arc<[u8]>, Then)>,
    gauge: Arc<Gauge>,
    written: impl Fn(),
) {
    while let Some((line, then)) = queue.recv().await {
        let mut rest = &line[..];
        while !rest.is_empty() {
            match stream.write(rest).await {
                Ok(0) | Err(_) => return,
                Ok(put) => {
                    rest = &rest[put..];
                    gauge.waiting.fetch_sub(put, Ordering::Relaxed);
                    *gauge.moved() = Instant::now();
                }
            }
        }
        if then == Then::Tell {
            written();
        }
    }
}

/// A message as one line; `None` if it cannot be serialised, which is a defect of ours.
pub(super) fn said(message: &FromWrapper) -> Option<Line> {
    line(message).inspect_err(|error| tracing::error!(%error, "a message did not reach the consoles")).ok()
}

pub(super) fn line(message: &FromWrapper) -> Result<Line, LinkError> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    let weight = if matches!(message, FromWrapper::Activity(_)) { Weight::Activity } else { Weight::Needed };
    Ok(Line { bytes: bytes.into(), weight })
}
