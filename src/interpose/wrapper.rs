//! The wrapper's loop: bytes, time, consoles and the log go in as events; effects are performed in order.
//! Owns no decision: the gate makes them all.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::child::{Child, Ended};
use super::clock::Clock;
use super::host::Host;
use super::ledger::Ledger;
use super::link::{Link, Registration, is_probe};
use super::longline::{LongLine, Passed};
use super::notice;
use super::scribe::{Ack, Scribe};
use super::server::Server;
use super::signals::Signals;
use super::stdio::AsyncIn;
use super::stopping::Stopping;
use crate::gate::Gate;
use crate::gate::effect::{Effect, Passing};
use crate::gate::event::{Event, Now, Side};
use crate::link::message::{FromConsole, FromWrapper};
use crate::link::server::{ConsoleId, FromConsoles};
use crate::wire::line::{Beyond, Cutter, Line, Piece};

/// The longest line a host may send.
const HOST_LINE: usize = 16 << 20;
/// Beyond this a server's line streams through.
const STREAM: usize = 64 << 10;
/// How much is read at once.
const CHUNK: usize = 128 << 10;
/// How much may wait for one end before the other end is not read for a while.
const BACKLOG: usize = 1 << 20;
/// How long the last lines may take to leave after the server has ended.
const DRAIN: Duration = Duration::from_millis(1500);
/// Microseconds for what a server that has ended left behind in its group.
const LEFTOVERS: u64 = 200_000;
/// Microseconds between two reports of how the wrapper stands.
const STATUS: u64 = 100_000;

/// Everything the loop is started with.
pub struct Wrapper {
    pub gate: Gate,
    pub scribe: Scribe,
    pub acks: mpsc::UnboundedReceiver<Vec<Ack>>,
    pub child: Child,
    pub server_output: AsyncIn,
    pub server: Server,
    pub host_input: AsyncIn,
    pub host: Host,
    pub clock: Clock,
    pub registration: Registration,
}

/// The loop's own state beside the gate.
struct Running {
    wrapper: Wrapper,
    ledger: Ledger,
    link: Option<Link>,
    /// Who is attached, by connection.
    consoles: BTreeMap<ConsoleId, Arc<str>>,
    from_consoles: mpsc::UnboundedSender<FromConsoles>,
    registered: bool,
    wake: Option<u64>,
    /// When the consoles are told how the wrapper stands.
    status_at: Option<u64>,
    status_sent: u64,
    stopping: Option<Stopping>,
    waiting: notice::Waiting,
}

impl Wrapper {
    /// Runs until the server is gone or the host is; gives the exit code.
    ///
    /// # Errors
    /// Only what keeps the loop from starting: no signals to be had.
    pub async fn run(self) -> io::Result<u8> {
        let mut signals = Signals::new()?;
        let (to_us, mut consoles) = mpsc::unbounded_channel();
        let mut host_cutter = Some(Cutter::new(HOST_LINE, Beyond::Drop));
        let mut server_cutter = Cutter::new(STREAM, Beyond::Stream);
        let mut long = None;
        let (mut from_host, mut from_server) = (vec![0; CHUNK], vec![0; CHUNK]);
        let mut server_open = true;
        let mut ended: Option<Ended> = None;
        let mut run = Running {
            wrapper: self,
            ledger: Ledger::default(),
            link: None,
            consoles: BTreeMap::new(),
            from_consoles: to_us,
            registered: false,
            wake: None,
            status_at: None,
            status_sent: 0,
            stopping: None,
            waiting: notice::Waiting::default(),
        };
        while server_open || ended.is_none() {
            let wake = run.wake_at();
            let read_host = host_cutter.is_some() && run.wrapper.server.queued() < BACKLOG;
            let read_server = server_open && run.wrapper.host.queued() < BACKLOG;
            tokio::select! {
                read = run.wrapper.host_input.read(&mut from_host), if read_host => match read {
                    Ok(n) if n > 0 => run.host_bytes(&mut host_cutter, &from_host[..n]),
                    _ => run.host_end(host_cutter.take()),
                },
                read = run.wrapper.server_output.read(&mut from_server), if read_server => match read {
                    Ok(n) if n > 0 => run.server_bytes(&mut server_cutter, &mut long, &from_server[..n]),
                    _ => server_open = false,
                },
                Some(acks) = run.wrapper.acks.recv() => run.acknowledged(acks),
                Some(said) = consoles.recv() => run.console(said),
                () = run.wrapper.server.writable() => {}
                () = run.wrapper.host.writable() => {}
                status = run.wrapper.child.wait(), if ended.is_none() => {
                    ended = Some(status);
                    // What it wrote last is read before its group is ended and the pipe closes.
                    run.server_ended();
                }
                () = sleep_until(wake) => run.time_passed(),
                name = signals.next() => run.signalled(name),
            }
            run.flush();
            if !server_open && ended.is_none() && run.stopping.is_none() {
                // A server without stdout can answer nothing: it is asked to end.
                run.close_server();
            }
        }
        let ended = ended.unwrap_or_else(Ended::unknown);
        run.finish(&ended).await;
        Ok(ended.exit_code())
    }
}

impl Running {
    fn host_bytes(&mut self, cutter: &mut Option<Cutter>, bytes: &[u8]) {
        let Some(cutter) = cutter else { return };
        let now = self.wrapper.clock.now();
        cutter.feed(bytes, &mut |piece| match piece {
            Piece::Line(line) => self.host_line(now, line),
            Piece::Overlong { head, bytes } => self.step(now, Event::HostOverlong { head, bytes, cap: HOST_LINE }),
            // A host's line is never streamed: its cutter drops what is too long.
            Piece::Start(_) | Piece::More { .. } => {}
        });
    }

    fn host_line(&mut self, now: Now, line: Line) {
        if !self.registered && !is_probe(line.content()) {
            self.register(now);
        }
        self.step(now, Event::HostLine(line));
    }

    fn host_end(&mut self, cutter: Option<Cutter>) {
        let now = self.wrapper.clock.now();
        if let Some(tail) = cutter.and_then(Cutter::finish) {
            self.step(now, Event::HostPartial { bytes: tail.len() as u64 });
        }
        self.step(now, Event::Closed { side: Side::Host, how: "the host closed the pipe".into() });
    }

    fn server_bytes(&mut self, cutter: &mut Cutter, long: &mut Option<LongLine>, bytes: &[u8]) {
        let now = self.wrapper.clock.now();
        cutter.feed(bytes, &mut |piece| match piece {
            Piece::Line(line) => self.step(now, Event::ServerLine(line)),
            Piece::Start(head) => {
                let line = long.insert(LongLine::new(self.wrapper.gate.wants_whole()));
                line.push(&head, false, &mut self.wrapper.host);
            }
            Piece::More { bytes, last } => {
                if let Some(line) = long.as_mut() {
                    line.push(bytes, last, &mut self.wrapper.host);
                }
                match long.take_if(|_| last).map(LongLine::end) {
                    Some(Passed::Whole(line)) => self.step(now, Event::ServerLine(line)),
                    Some(Passed::Streamed { gist, bytes, digest }) => {
                        self.step(now, Event::ServerStreamed { gist, bytes, digest });
                    }
                    None => {}
                }
            }
            Piece::Overlong { .. } => {}
        });
    }

    fn acknowledged(&mut self, acks: Vec<Ack>) {
        let now = self.wrapper.clock.now();
        for ack in acks {
            match ack {
                Ack::Recorded(receipt) => self.step(now, Event::Recorded(receipt)),
                Ack::Failed { entry, why } => self.step(now, Event::RecordFailed { entry, why: why.into() }),
            }
        }
    }

    fn console(&mut self, said: FromConsoles) {
        let now = self.wrapper.clock.now();
        let attached = self.link.as_ref().map_or(0, |link| link.server.attached());
        match said {
            FromConsoles::Attached { console, operator, pid, .. } => {
                let who: Arc<str> = format!("{operator} (pid {pid})").into();
                self.consoles.insert(console, Arc::clone(&who));
                for call in self.wrapper.gate.snapshots() {
                    self.say(console, &FromWrapper::Held { call: Box::new(call) });
                }
                self.say(console, &FromWrapper::Status(self.wrapper.gate.status()));
                self.step(now, Event::Attached { who, attached });
            }
            FromConsoles::Detached { console } => {
                if let Some(who) = self.consoles.remove(&console) {
                    self.step(now, Event::Detached { who, attached });
                }
            }
            FromConsoles::Rejected { why } => {
                if why.is_alarm() {
                    notice::say(&why.to_string());
                }
                self.step(now, Event::Intruded { what: why.to_string() });
            }
            FromConsoles::Said { console, message } => {
                let Some(who) = self.consoles.get(&console).cloned() else { return };
                let console = console.0;
                match message {
                    FromConsole::Decide { ticket, digest, verdict } => {
                        self.step(now, Event::Decided { ticket, digest, verdict, who, console });
                    }
                    FromConsole::Edit { ticket, digest, arguments } => {
                        self.step(now, Event::Edited { ticket, digest, arguments, who, console });
                    }
                    FromConsole::Hello { .. } => {}
                }
            }
        }
    }

    fn time_passed(&mut self) {
        let now = self.wrapper.clock.now();
        if self.wake.is_some_and(|at| at <= now.mono) {
            self.wake = None;
            self.step(now, Event::Woke);
        }
        if let Some(stopping) = &mut self.stopping {
            stopping.advance(now.mono, &self.wrapper.child);
        }
    }

    fn signalled(&mut self, name: &'static str) {
        let now = self.wrapper.clock.now();
        self.step(now, Event::Shutdown { why: name.into() });
        self.stopping = Some(Stopping::terminate(now.mono, &self.wrapper.child));
    }

    /// Becomes visible: a name, a socket, the first record. Trouble here only costs visibility, never a verdict.
    fn register(&mut self, now: Now) {
        self.registered = true;
        let registration = &self.wrapper.registration;
        let link = Link::open(registration, self.from_consoles.clone(), self.wrapper.child.id());
        let server: Arc<str> = match &link {
            Ok(link) => link.claim.name().into(),
            Err(_) => registration.name.as_str().into(),
        };
        match link {
            Ok(link) => self.link = Some(link),
            Err(err) => {
                tracing::error!(%err, "no console can attach");
                notice::say(&format!("no console can attach: {err}"));
            }
        }
        let registration = &self.wrapper.registration;
        let (command, pid) = (registration.command.clone(), std::process::id());
        self.step(now, Event::Started { server, command, pid });
    }

    fn step(&mut self, now: Now, event: Event) {
        for effect in self.wrapper.gate.step(now, event) {
            self.perform(now, effect);
        }
        if self.status_at.is_none() && self.link.as_ref().is_some_and(|link| link.server.attached() > 0) {
            self.status_at = Some(now.mono.max(self.status_sent + STATUS));
        }
    }

    fn perform(&mut self, now: Now, effect: Effect) {
        match effect {
            Effect::Relay(Passing::ToServer(plain)) => self.wrapper.server.relay(plain),
            Effect::Relay(Passing::ToHost(line)) | Effect::Answer(line) => self.wrapper.host.write(line),
            Effect::Forward(token, call) => {
                if let Err(err) = self.wrapper.server.forward(token, *call) {
                    // A defect of ours; the call is lost, not run, and the host's own timeout ends it.
                    tracing::error!(%err, "a call was not forwarded");
                }
            }
            Effect::Query(question) => self.wrapper.server.ask(question),
            Effect::Record(id, entry) => self.ledger.take(now.mono, id, *entry),
            Effect::Ask(call) => {
                if self.link.as_ref().is_none_or(|link| link.server.attached() == 0) {
                    self.waiting.say(now, &call.ticket);
                }
                self.broadcast(&FromWrapper::Held { call });
            }
            Effect::Settle(settled) => self.broadcast(&FromWrapper::Settled(settled)),
            Effect::Refuse { console, ticket, why } => {
                self.say(ConsoleId(console), &FromWrapper::Refused { ticket, why });
            }
            Effect::Show(activity) => self.broadcast(&FromWrapper::Activity(*activity)),
            Effect::WakeAt(at) => self.wake = Some(at),
            Effect::Close(Side::Server) => self.close_server(),
            // The loop ends with the server; the pipe closes with the process.
            Effect::Close(Side::Host) => {}
        }
    }

    /// Tells every console that we know of. One that attached, but whose arrival we have not read yet, is left out: it is
    /// told what is held when we do, and would hear of the same call twice.
    fn broadcast(&self, message: &FromWrapper) {
        let consoles = self.consoles.keys().copied();
        let told = self.link.as_ref().map_or(Ok(()), |link| link.server.tell(consoles, message));
        if let Err(err) = told {
            tracing::error!(%err, "the consoles were not told");
        }
    }

    fn say(&self, console: ConsoleId, message: &FromWrapper) {
        let told = self.link.as_ref().map_or(Ok(()), |link| link.server.send(console, message));
        if let Err(err) = told {
            tracing::error!(%err, "a console was not told");
        }
    }

    /// Hands entries to the scribe and bytes to the pipes.
    fn flush(&mut self) {
        let now = self.wrapper.clock.now();
        if let Some(batch) = self.ledger.due(now.mono) {
            self.wrapper.scribe.record(batch);
        }
        self.wrapper.server.flush();
        self.wrapper.host.flush();
        if self.status_at.is_some_and(|at| at <= now.mono) {
            self.status_at = None;
            self.status_sent = now.mono;
            self.broadcast(&FromWrapper::Status(self.wrapper.gate.status()));
        }
    }

    /// Closes the server's stdin once everything for it is written, and starts its end.
    fn close_server(&mut self) {
        let now = self.wrapper.clock.now();
        self.wrapper.server.close_when_written();
        self.stopping.get_or_insert_with(|| Stopping::asked(now.mono));
    }

    fn server_ended(&mut self) {
        let now = self.wrapper.clock.now();
        self.stopping = Some(Stopping::leftovers(now.mono, LEFTOVERS));
    }

    /// Says goodbye to host, log and consoles, each within its time.
    async fn finish(mut self, ended: &Ended) {
        let now = self.wrapper.clock.now();
        self.wrapper.host.end_stream();
        self.step(now, Event::Closed { side: Side::Server, how: ended.to_string() });
        let until = Instant::now() + DRAIN;
        loop {
            self.flush();
            if self.wrapper.gate.is_quiet() && (self.wrapper.host.queued() == 0 || self.wrapper.host.is_gone()) {
                break;
            }
            tokio::select! {
                Some(acks) = self.wrapper.acks.recv() => self.acknowledged(acks),
                () = self.wrapper.host.writable() => {}
                () = sleep_until(until) => break,
            }
        }
        self.wrapper.child.kill();
        if let Some(batch) = self.ledger.all() {
            self.wrapper.scribe.record(batch);
        }
        if let Err(err) = self.wrapper.scribe.finish() {
            tracing::error!(%err, "the log was left");
            notice::say(&err.to_string());
        }
    }

    fn wake_at(&self) -> Instant {
        let stop = self.stopping.as_ref().and_then(Stopping::next);
        let first = [self.wake, self.ledger.wake_at(), self.status_at, stop].into_iter().flatten().min();
        first.map_or_else(far, |at| self.wrapper.clock.instant(at))
    }
}

/// A time that does not come.
fn far() -> Instant {
    Instant::now() + Duration::from_secs(86_400 * 365)
}
