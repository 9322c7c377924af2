//! The wrapper's loop: bytes, time, consoles and the log go in as events; effects are performed in order. The gate decides.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use super::child::{Child, Ended, Stopping};
use super::clock::Clock;
use super::consoles::Consoles;
use super::facts::FactReader;
use super::host::{Host, Stall};
use super::longline::{LongLine, Passed, Way, way};
use super::pin_writer::PinWriter;
use super::programs::Notifier;
use super::reload::{Accept, Reload};
use super::scribe::{Ack, Done, EntryBuffer, Scribe};
use super::server::Server;
use super::signals::Signals;
use super::stdio::AsyncIn;
use super::threads::{FromThreads, ToLoop};
use super::watch::{Files, Watch};
use super::{notice, programs};
use crate::gate::Gate;
use crate::gate::data::effect::{Effect, Passing};
use crate::gate::data::event::{Event, Now, Place, Side};
use crate::home::config::approver::Callback;
use crate::link::{message::FromWrapper, server::FromConsoles};
use crate::signing::standing::Standing;
use crate::wire::message::{self, BeyondCap, Cutter, Piece};
use crate::wire::{Gist, Line, Origin};

const HOST_LINE: usize = 16 << 20;
/// Beyond this many bytes a server's line is streamed.
const STREAM: usize = 64 << 10;
const FROM_SERVER: usize = 256 << 10;
/// How much is read of the host at once: it is judged and recorded together, which takes many times its size in memory.
const FROM_HOST: usize = 16 << 10;
/// How much may wait for one end before the other end is not read for a while.
const BACKLOG: usize = 1 << 20;
/// How much may wait for a server that does not read: above it the host is not read.
const TO_SERVER: usize = 64 << 20;
/// How long consoles have to be told how the server ended.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_millis(30);
/// How long writing the last lines may take after the server has ended.
const DRAIN: Duration = Duration::from_millis(1500);
/// Microseconds for what is left in the group of a server that has ended.
const LEFTOVERS: u64 = 200_000;

/// The gate, and everything that its effects are performed with.
pub struct Wrapper {
    pub gate: Gate,
    /// What operators had signed for this machine when the wrapper started.
    pub standing: Option<Standing>,
    pub scribe: Scribe,
    /// What is remembered between sessions.
    pub pin_writer: Option<PinWriter>,
    pub child: Child,
    pub server: Server,
    pub host: Host,
    pub clock: Clock,
    pub entry_buffer: EntryBuffer,
    pub consoles: Consoles,
    pub facts: FactReader,
    pub watch: Watch,
    pub reload: Reload,
    pub callbacks: Vec<Callback>,
    /// The operator's program that hears of waiting calls.
    pub notifier: Option<Notifier>,
    /// Where approvers' opinions go.
    pub to_loop: ToLoop,
    pub wake: Option<u64>,
    pub stopping: Option<Stopping>,
    pub stall: Stall,
}

/// What the loop waits for, besides the time.
pub struct Incoming {
    pub host_input: AsyncIn,
    pub server_output: AsyncIn,
    pub signals: Signals,
    pub consoles: UnboundedReceiver<FromConsoles>,
    pub done: UnboundedReceiver<Done>,
    pub threads: UnboundedReceiver<FromThreads>,
}

impl Wrapper {
    /// Runs until the server or the host is gone; returns the exit code.
    pub async fn run(mut self, mut from: Incoming) -> u8 {
        if let Some(standing) = self.standing.take() {
            self.step(self.clock.now(), Event::Standing(Box::new(standing)));
        }
        let mut host_cutter = Some(Cutter::new(HOST_LINE, BeyondCap::Drop));
        let mut server_cutter = Cutter::new(STREAM, BeyondCap::Stream);
        let mut long = None;
        let (mut from_host, mut from_server) = (vec![0; FROM_HOST], vec![0; FROM_SERVER]);
        let mut server_open = true;
        let mut ended: Option<Ended> = None;
        // A daemon that the server left may hold its pipe for ever: the loop does not wait for that once stopping is
        // over. Kept while it is early enough: setting an earlier time is a system call.
        let alarm = sleep_until(far());
        tokio::pin!(alarm);
        while (server_open || ended.is_none()) && !self.stopping.as_ref().is_some_and(Stopping::is_over) {
            let wake = self.wake_at();
            if wake < alarm.deadline() || alarm.is_elapsed() {
                alarm.as_mut().reset(wake);
            }
            let read_server = self.host.queued() < BACKLOG;
            let read_host = read_server && self.server.queued() < TO_SERVER && self.scribe.has_room();
            tokio::select! {
                read = from.host_input.read(&mut from_host), if read_host && host_cutter.is_some() => match read {
                    Ok(n) if n > 0 => self.host_bytes(&mut host_cutter, &from_host[..n]),
                    _ => self.host_end(host_cutter.take()),
                },
                read = from.server_output.read(&mut from_server), if read_server && server_open => match read {
                    Ok(n) if n > 0 => self.server_bytes(&mut server_cutter, &mut long, &from_server[..n]),
                    _ => server_open = false,
                },
                Some(done) = from.done.recv() => self.recorded(done),
                Some(said) = from.consoles.recv() => self.console(said),
                Some(what) = from.threads.recv() => self.hear(what),
                () = self.watch.reported() => self.watch.take(self.clock.now().mono),
                () = self.server.writable() => {}
                () = self.host.writable() => {}
                status = self.child.wait(), if ended.is_none() => {
                    ended = Some(status);
                    // Its last bytes are read before its group is ended and the pipe closes.
                    self.server_ended(&status);
                }
                () = &mut alarm => self.time_passed(),
                name = from.signals.next() => self.signalled(name),
            }
            self.flush();
            if !server_open && ended.is_none() && self.stopping.is_none() {
                // A server that closed its stdout can answer nothing: it is asked to end.
                self.close_server();
            }
        }
        // What the host has sent by now is answered too, without being run: at most as much as its pipe holds.
        for _ in 0..8 {
            let Some(n) = from.host_input.read_now(&mut from_host) else { break };
            self.host_bytes(&mut host_cutter, &from_host[..n]);
        }
        self.server_tail(long, server_cutter);
        let ended = ended.unwrap_or_else(Ended::unknown);
        self.finish(&ended, &mut from).await;
        ended.exit_code()
    }
}

impl Wrapper {
    fn host_bytes(&mut self, cutter: &mut Option<Cutter>, bytes: &[u8]) {
        let Some(cutter) = cutter else { return };
        let now = self.clock.now();
        cutter.feed(bytes, &mut |piece| match piece {
            Piece::Line(line) => self.host_line(now, line),
            Piece::Overlong { head, bytes } => self.step(now, Event::HostOverlong { head, bytes, cap: HOST_LINE }),
            // A host's line is never streamed: its cutter drops what is too long.
            Piece::Start(_) | Piece::More { .. } => {}
        });
    }

    fn host_line(&mut self, now: Now, line: Line) {
        if !self.consoles.is_registered()
            && !is_probe(line.content())
            && let Some(started) = self.consoles.register(self.child.id())
        {
            self.step(now, started);
        }
        self.step(now, Event::HostLine(line));
    }

    fn host_end(&mut self, cutter: Option<Cutter>) {
        let now = self.clock.now();
        if let Some(tail) = cutter.and_then(Cutter::finish) {
            self.step(now, Event::HostPartial { bytes: tail.len() as u64 });
        }
        self.step(now, Event::Closed { side: Side::Host, how: "the host closed the pipe".into() });
    }

    fn server_bytes(&mut self, cutter: &mut Cutter, long: &mut Option<LongLine>, bytes: &[u8]) {
        let now = self.clock.now();
        cutter.feed(bytes, &mut |piece| match piece {
            Piece::Line(line) => self.step(now, Event::ServerLine(line)),
            Piece::Start(head) => {
                let line = long.insert(LongLine::new(self.gate.wants_whole()));
                line.push(&head, false, &mut self.host, way(&self.gate));
            }
            Piece::More { bytes, last } => {
                if let Some(line) = long.as_mut() {
                    line.push(bytes, last, &mut self.host, way(&self.gate));
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

    fn time_passed(&mut self) {
        let now = self.clock.now();
        if self.wake.is_some_and(|at| at <= now.mono) {
            self.wake = None;
            self.step(now, Event::Woke);
        }
        for facts in self.facts.overdue(now.mono) {
            self.step(now, facts);
        }
        self.look_at_files(now);
        let acks = self.scribe.rest(now.mono);
        self.acknowledged(now, acks);
        if let Some(how) = self.stall.fault(now.mono, self.host.open_line()).filter(|_| self.stopping.is_none()) {
            notice::say(&format!("mcp-approve ends the server: {how}"));
            self.step(now, Event::ServerInputClosed { how: how.into() });
            self.stopping = Some(Stopping::terminate(now.mono, &self.child));
        }
        if let Some(stopping) = &mut self.stopping {
            stopping.advance(now.mono, &self.child);
        }
    }

    fn signalled(&mut self, name: &'static str) {
        let now = self.clock.now();
        self.step(now, Event::Shutdown { why: name.into() });
        match &mut self.stopping {
            Some(stopping) => stopping.hurry(now.mono, &self.child),
            None => self.stopping = Some(Stopping::terminate(now.mono, &self.child)),
        }
    }

    fn step(&mut self, now: Now, event: Event) {
        for effect in self.gate.step(now, event) {
            self.perform(now, effect);
        }
        self.consoles.changed(now);
    }

    fn perform(&mut self, now: Now, effect: Effect) {
        match effect {
            Effect::Relay(Passing::ToServer(plain)) => self.server.relay(plain),
            Effect::Relay(Passing::ToHost(line)) | Effect::WriteToHost(line) => self.host.write(line),
            Effect::Forward(token, call) => {
                let forwarded = match call.origin() {
                    Origin::Host => self.server.forward(token, *call),
                    Origin::Server | Origin::Answer | Origin::Result => {
                        self.server.release(token, *call).map(|it| self.host.write(it))
                    }
                };
                if let Err(err) = forwarded {
                    // A defect of ours: the call is lost without being run, and the host's own timeout ends it.
                    tracing::error!(%err, "a call was not forwarded");
                }
            }
            Effect::WriteToServer(line) => self.server.write_own(line),
            Effect::Record(id, entry) => self.entry_buffer.take(now.mono, id, entry),
            Effect::Ask(call) => {
                if let Some(notifier) = &mut self.notifier {
                    notifier.asked(now, &call);
                }
                self.consoles.ask(now, call, &self.gate);
            }
            Effect::Settle(settled) => {
                if let Some(notifier) = &mut self.notifier {
                    notifier.settled(&settled);
                }
                self.consoles.broadcast(&FromWrapper::Settled(settled));
            }
            Effect::Refuse { console, ticket, place: Place::Here, why } => self.refuse(console, ticket, why),
            Effect::Refuse { console, ticket, place: Place::Desk(statement), why } => {
                self.consoles.tell(console, &FromWrapper::NotCounted { ticket, statement, why });
            }
            Effect::AcceptPolicy { file, digest, signed, console } => {
                if !self.reload.accept(Accept { file, digest, signed, console }) {
                    let why = "the policy cannot be read again now: look at the limit on processes (ulimit -u), and try again";
                    self.refuse(console, String::new(), why.to_owned());
                }
            }
            Effect::Show(activity) => self.consoles.broadcast(&FromWrapper::Activity(*activity)),
            Effect::LookUp { ticket, look, wanted } => self.facts.look(now.mono, ticket, look, wanted),
            Effect::Consult { ticket, consult, names, call } => {
                programs::consult(&self.callbacks, &names, (ticket, consult), &call, self.to_loop.clone());
            }
            Effect::Remember(update) => drop(self.pin_writer.as_ref().map(|pins| pins.keep(*update))),
            Effect::Agree { agreed, backing, console } => {
                let is_kept =
                    self.pin_writer.as_ref().is_some_and(|pin_writer| pin_writer.agree(agreed, backing, console));
                if !is_kept {
                    let why = "what is remembered of this server cannot be written, so this is asked about again";
                    self.refuse(console, String::new(), why.to_owned());
                }
            }
            Effect::UseAgreed(used) => drop(self.pin_writer.as_ref().map(|pins| pins.use_agreed(used))),
            Effect::NoteServer => drop(self.pin_writer.as_ref().map(PinWriter::note_server)),
            Effect::Pin { pinning, console } => {
                let is_kept = self.pin_writer.as_ref().is_some_and(|pin_writer| pin_writer.pin(*pinning, console));
                if !is_kept {
                    let why = "what is remembered of this server cannot be written, so the tool is asked about again";
                    self.refuse(console, String::new(), why.to_owned());
                }
            }
            Effect::WakeAt(at) => self.wake = Some(at),
            Effect::Close(Side::Server) => self.close_server(),
            // The loop ends with the server; the pipe closes with the process.
            Effect::Close(Side::Host) => {}
        }
    }

    /// Passes entries to the scribe and bytes to the pipes.
    fn flush(&mut self) {
        let now = self.clock.now();
        if let Some(batch) = self.entry_buffer.due(now.mono) {
            let acks = self.scribe.record(now.mono, batch);
            self.acknowledged(now, acks);
        }
        self.server.flush();
        self.host.flush();
        self.stall.look(now.mono, self.host.open_line());
        if self.server.is_gone() && self.stopping.is_none() {
            // The server closed its stdin: nothing can reach it any more, so it is ended.
            self.step(now, Event::ServerInputClosed { how: "it closed its input".into() });
            self.stopping = Some(Stopping::asked(now.mono));
        }
        if self.goes_on() {
            // One piece at a time, so that new input does not wait for all of them.
            self.step(now, Event::GoOn);
            self.server.flush();
            self.host.flush();
        }
        self.consoles.report(now, &self.gate);
        if let Some(notifier) = &mut self.notifier {
            notifier.advance(now);
        }
    }

    /// Whether there is work left, and room for the entries that follow from it.
    fn goes_on(&self) -> bool {
        self.gate.has_work_left() && self.scribe.has_room()
    }

    fn wake_at(&self) -> Instant {
        if self.goes_on() {
            return Instant::now();
        }
        let stop = self.stopping.as_ref().and_then(Stopping::next);
        let first = [
            self.wake,
            self.entry_buffer.wake_at(),
            self.consoles.wake_at(),
            self.scribe.wake_at(),
            self.facts.wake_at(),
            self.stall.wake_at(),
            self.watch.wake_at(),
            self.notifier.as_ref().and_then(Notifier::wake_at),
            stop,
        ]
        .into_iter()
        .flatten()
        .min();
        first.map_or_else(far, |at| self.clock.instant(at))
    }
}

/// Whether a message is only a probe: hosts start extra, short-lived servers for it, which need not be shown anywhere.
fn is_probe(content: &[u8]) -> bool {
    matches!(message::peek(content), Gist::Request { method, .. } if method == "server/discover")
}

/// A time that does not come.
fn far() -> Instant {
    Instant::now() + Duration::from_secs(86_400 * 365)
}

impl Wrapper {
    pub(super) fn recorded(&mut self, done: Done) {
        let now = self.clock.now();
        let acks = self.scribe.done(now.mono, done);
        self.acknowledged(now, acks);
    }

    pub(super) fn acknowledged(&mut self, now: Now, acks: Vec<Ack>) {
        for ack in acks {
            match ack {
                Ack::Recorded(receipt) => self.step(now, Event::Recorded(receipt)),
                Ack::Failed { entry, why } => self.step(now, Event::RecordFailed { entry, why: why.into() }),
            }
        }
    }

    pub(super) fn hear(&mut self, what: FromThreads) {
        let now = self.clock.now();
        match what {
            FromThreads::Event(event) => self.step(now, event),
            FromThreads::Looked { look, found } => {
                if let Some(facts) = self.facts.came(look, found) {
                    self.step(now, facts);
                }
            }
            FromThreads::Policy(policy) => {
                if let Some(banner) = &policy.banner {
                    notice::say(banner);
                }
                let (server, session) = self.gate.names();
                self.scribe.keep_policy(&policy, &server, &session);
                self.step(now, Event::PolicyChanged(Arc::from(policy)));
            }
            FromThreads::Refused { console, why } => self.refuse(console, String::new(), why),
            FromThreads::Notified(failed) => {
                if let Some(notifier) = &mut self.notifier {
                    notifier.ran();
                }
                if let Some(why) = failed {
                    self.step(now, Event::NoticeFailed { why });
                }
            }
            FromThreads::Watched(added) => self.watch.added(now.mono, added),
        }
    }

    /// Has the threads look at files that may have changed.
    pub(super) fn look_at_files(&mut self, now: Now) {
        if self.watch.is_due(now.mono, Files::Policy) {
            if !self.reload.look() {
                self.watch.again(now.mono, Files::Policy);
            }
            if let Some(pin_writer) = &self.pin_writer {
                pin_writer.weigh();
            }
        }
        if self.watch.is_due(now.mono, Files::Pins)
            && let Some(pin_writer) = &self.pin_writer
        {
            pin_writer.look();
        }
    }

    pub(super) fn refuse(&self, console: u64, ticket: String, why: String) {
        self.consoles.tell(console, &FromWrapper::Refused { ticket, why });
    }

    pub(super) fn console(&mut self, said: FromConsoles) {
        let now = self.clock.now();
        if let Some(event) = self.consoles.hear(said, &self.gate) {
            self.step(now, event);
        }
    }
}

impl Wrapper {
    /// What the server left of a line when it ended: passed on, unless the host could take it for an answer to a held call.
    pub(super) fn server_tail(&mut self, long: Option<LongLine>, cutter: Cutter) {
        let way = way(&self.gate);
        if let Some(line) = long {
            self.host.write_open(&line.tail(&way));
        }
        if let Some(tail) = cutter.finish().filter(|tail| way(&message::peek(tail)) == Way::ToHost) {
            self.host.write_open(&tail);
        }
    }

    /// Closes the server's stdin once everything for it is written, and starts its end.
    pub(super) fn close_server(&mut self) {
        let now = self.clock.now();
        self.server.close_when_written();
        self.stopping.get_or_insert_with(|| Stopping::asked(now.mono));
    }

    pub(super) fn server_ended(&mut self, ended: &Ended) {
        let now = self.clock.now();
        self.step(now, Event::ServerInputClosed { how: ended.to_string() });
        self.stopping = Some(Stopping::leftovers(now.mono, LEFTOVERS));
    }

    /// Closes host, log and consoles, each within its time.
    pub(super) async fn finish(mut self, ended: &Ended, from: &mut Incoming) {
        let until = Instant::now() + DRAIN;
        // A host may leave as soon as it has a list of tools: what that says is still read and remembered.
        while self.gate.is_reading_lists() && Instant::now() < until {
            self.flush();
            if self.goes_on() {
                continue;
            }
            tokio::select! {
                Some(done) = from.done.recv() => self.recorded(done),
                Some(what) = from.threads.recv() => self.hear(what),
                () = sleep_until(until) => break,
            }
        }
        let now = self.clock.now();
        self.step(now, Event::Closed { side: Side::Server, how: ended.to_string() });
        self.consoles.report_end(&self.gate);
        // The links write while this waits.
        sleep_until(Instant::now() + LAST_WORDS).await;
        loop {
            self.host.close_open_line();
            self.flush();
            if self.gate.is_quiet() && (self.host.queued() == 0 || self.host.is_gone()) {
                break;
            }
            tokio::select! {
                Some(done) = from.done.recv() => self.recorded(done),
                () = self.host.writable() => {}
                () = sleep_until(until) => break,
            }
        }
        self.child.kill();
        if let Some(notifier) = &mut self.notifier {
            notifier.last().await;
        }
        if let Some(batch) = self.entry_buffer.all() {
            // These are the last entries; nothing waits for their receipts.
            let _ = self.scribe.record(self.clock.now().mono, batch);
        }
        if let Err(err) = self.scribe.finish() {
            tracing::error!(%err, "the log was left");
            notice::say(&err.to_string());
        }
    }
}
