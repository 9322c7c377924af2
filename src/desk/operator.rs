//! The operator's side of the desk: a thread that reads what all machines say, as a console hears it from wrappers, and writes what the
//! operator decides, signed. It checks no signature and decides nothing: the wrapper that holds the call does.

mod asked;
mod heard;
mod load;
mod outbox;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::engine::{Engine, EngineError, Program, Target};
use super::run::UNWOKEN;
use super::told::Word;
use crate::gate::data::snapshot::Snapshot;
use crate::link::message::{Around, At, ClientEvent, FromConsole, FromWrapper, OperatorVerdict};
use asked::BEGINNING;
use heard::{Heard, News};
use outbox::{Outbox, Undelivered};

/// How many calls of all machines wait.
pub(super) static WAITING: LazyLock<String> = LazyLock::new(|| {
    let count = "count(*) FILTER (WHERE part = 2) + coalesce(sum(place) FILTER (WHERE part = 4), 0)";
    format!("SELECT ({count})::bigint FROM ({}) AS all_rows", *BEGINNING)
});

/// The shortest time between two readings, and between two wakes that are sent.
const READ: Duration = Duration::from_millis(50);
const WAKE: Duration = Duration::from_millis(100);
/// How long it waits after a break before it connects again, at first and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));

/// Why a message of a console has no effect through the desk.
pub const ONLY_THERE: &str = "this can be done only at its machine: through the desk a call is approved or denied";
pub const UNSIGNED: &str = "not sent: through the desk every verdict is signed (`mcp-approve help signing`)";
/// Why a call of which something is withheld cannot be approved.
pub const WITHHELD: &str =
    "something of it is redacted or cut here: it can be denied here, and approved only at its machine";

/// Why a console's message cannot be sent through the desk, whatever its call; `None` where it can.
pub const fn refusal(message: &FromConsole) -> Option<&'static str> {
    match message {
        FromConsole::Decide { .. } | FromConsole::Look { .. } => None,
        FromConsole::Hello { .. }
        | FromConsole::Peek { .. }
        | FromConsole::Edit { .. }
        | FromConsole::Grant { .. }
        | FromConsole::Pin { .. }
        | FromConsole::Extend { .. }
        | FromConsole::EndGrant { .. }
        | FromConsole::AcceptPolicy { .. } => Some(ONLY_THERE),
    }
}

/// All machines of a desk, as an operator sees them. Dropping it ends the connection; nothing is reported after that.
#[derive(Debug)]
pub struct Operator {
    jobs: UnboundedSender<(String, FromConsole)>,
    /// Dropped, it ends whatever the thread waits for.
    close: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    ended: Arc<AtomicBool>,
}

impl Operator {
    /// Connects, and begins to read. `on` is called from the thread, and must not block.
    ///
    /// # Errors
    /// Why the desk cannot be used. Once it was reached, it is tried again whenever the connection breaks.
    pub fn watch(
        target: Target,
        now: fn() -> i64,
        on: impl Fn(ClientEvent) + Send + 'static,
    ) -> Result<Self, EngineError> {
        let (jobs, inbox) = unbounded_channel();
        let ended = Arc::new(AtomicBool::new(false));
        let quiet = Arc::clone(&ended);
        let (began, begin) = mpsc::channel();
        let (close, closed) = oneshot::channel::<()>();
        let on = move |event| {
            if !quiet.load(Ordering::Acquire) {
                on(event);
            }
        };
        let run = move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(began.send(Err(EngineError::Unreachable(error.to_string())))),
            };
            runtime.block_on(async move {
                match target.connect(Program::Console).await {
                    Err(error) => drop(began.send(Err(error))),
                    Ok(engine) => {
                        // Whoever began it waits for this.
                        let _ = began.send(Ok(()));
                        let mut desk =
                            Desk { on, now, inbox, heard: Heard::default(), outbox: Outbox::default(), around: None };
                        tokio::select! {
                            () = desk.run(&target, engine) => {}
                            _ = closed => {}
                        }
                    }
                }
            });
        };
        let thread = thread::Builder::new().name("desk".to_owned()).spawn(run);
        let thread = thread.map_err(|error| EngineError::Unreachable(error.to_string()))?;
        let gone = || Err(EngineError::Unreachable("its thread ended".to_owned()));
        begin.recv().unwrap_or_else(|_| gone())?;
        Ok(Self { jobs, close: Some(close), thread: Some(thread), ended })
    }

    /// Sends a message about a call of a session. What comes of it is an event: only the wrapper's answer shows that it had an effect.
    pub fn send(&self, session: &str, message: &FromConsole) {
        // A thread that has ended has said why.
        let _ = self.jobs.send((session.to_owned(), message.clone()));
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        self.close = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The operator has closed the console.
struct Closed;

/// Why a connection is left.
enum Left {
    Closed,
    Broken(EngineError),
}

impl From<EngineError> for Left {
    fn from(error: EngineError) -> Self {
        Self::Broken(error)
    }
}

impl From<Closed> for Left {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

struct Desk<F> {
    on: F,
    now: fn() -> i64,
    inbox: UnboundedReceiver<(String, FromConsole)>,
    heard: Heard,
    outbox: Outbox,
    /// As it was said last.
    around: Option<Around>,
}

impl<F: Fn(ClientEvent)> Desk<F> {
    /// Serves one connection after the other, until the console is closed.
    async fn run(&mut self, target: &Target, first: Engine) {
        let mut engine = Ok(first);
        let mut wait = AGAIN.0;
        loop {
            let left = match engine {
                Ok(engine) => {
                    wait = AGAIN.0;
                    self.serve(&engine).await
                }
                Err(error) => Left::Broken(error),
            };
            let Left::Broken(error) = left else { return };
            let around = self.around.clone().unwrap_or_default();
            self.say(Around { broken: around.broken.or_else(|| Some(error.to_string())), ..around });
            let until = Instant::now() + wait;
            wait = (wait * 2).min(AGAIN.1);
            while Instant::now() < until {
                let next = until.min(Instant::now() + Duration::from_millis(500));
                if self.wait(next).await.is_err() {
                    return;
                }
                self.lapse();
            }
            engine = target.connect(Program::Console).await;
        }
    }

    async fn serve(&mut self, engine: &Engine) -> Left {
        let Err(left) = self.serve_it(engine).await;
        left
    }

    async fn serve_it(&mut self, engine: &Engine) -> Result<Infallible, Left> {
        engine.listen_as_operator().await;
        let mut wakes = engine.wakes.clone();
        let (mut read_at, mut woke_at) = (Instant::now(), Instant::now());
        let mut looked_at: Option<Instant> = None;
        loop {
            self.deliver(engine).await?;
            let now = Instant::now();
            if (self.outbox.wakes_operators || !self.outbox.wake.is_empty()) && now >= woke_at {
                self.wake(engine).await;
                woke_at = now + WAKE;
            }
            if now >= read_at {
                self.read(engine).await?;
                // Who is there need not be asked for with every row.
                if looked_at.is_none_or(|at| now >= at + Duration::from_millis(500)) {
                    let around = self.heard.around(engine).await?;
                    self.say(around);
                    looked_at = Some(now);
                }
                read_at = now + if self.heard.is_behind() { READ } else { UNWOKEN };
            }
            self.lapse();
            let until = match self.outbox.wakes_operators || !self.outbox.wake.is_empty() {
                true => read_at.min(woke_at),
                false => read_at,
            };
            tokio::select! {
                waited = self.wait(until) => waited?,
                changed = wakes.changed() => match changed {
                    Ok(()) => read_at = read_at.min(now + READ),
                    Err(_) => return Err(EngineError::Unreachable("the connection was closed".to_owned()).into()),
                },
            }
        }
    }

    /// Waits for a message of the console, at most until then.
    async fn wait(&mut self, until: Instant) -> Result<(), Closed> {
        tokio::select! {
            job = self.inbox.recv() => match job {
                Some((session, message)) => self.take(session, message),
                None => return Err(Closed),
            },
            () = sleep_until(until) => {}
        }
        Ok(())
    }

    fn take(&mut self, session: String, message: FromConsole) {
        let ticket = message.ticket().to_owned();
        let why = match message {
            FromConsole::Decide { ticket, digest, verdict, signed: Some(signed) } => {
                let approves = matches!(verdict, OperatorVerdict::Approve { .. });
                if !(approves && self.heard.is_withheld(&session, &ticket)) {
                    let taken = self.outbox.take(session, Word { ticket, digest, verdict }, signed);
                    return taken.unwrap_or_else(|undelivered| self.undelivered(undelivered));
                }
                WITHHELD
            }
            FromConsole::Look { ticket, .. } => return self.outbox.look(session, ticket, (self.now)()),
            FromConsole::Decide { signed: None, .. } => UNSIGNED,
            other => refusal(&other).unwrap_or(ONLY_THERE),
        };
        self.undelivered(Undelivered { session, ticket, why: why.to_owned() });
    }

    async fn deliver(&mut self, engine: &Engine) -> Result<(), EngineError> {
        let undelivered = self.outbox.deliver(engine).await?;
        undelivered.into_iter().for_each(|one| self.undelivered(one));
        Ok(())
    }

    async fn wake(&mut self, engine: &Engine) {
        for machine in std::mem::take(&mut self.outbox.wake) {
            engine.wake_machine(&machine).await;
        }
        if std::mem::take(&mut self.outbox.wakes_operators) {
            engine.wake_operators().await;
        }
    }

    async fn read(&mut self, engine: &Engine) -> Result<(), EngineError> {
        let Self { on, heard, outbox, .. } = self;
        let mut take = |news| match news {
            News::Refused { session, ticket, statement, why } => {
                if outbox.refused(&session, &ticket, statement) {
                    on(refused(Undelivered { session, ticket, why }));
                }
            }
            News::Event(event) => {
                match &event {
                    ClientEvent::Withheld { session, call }
                    | ClientEvent::Said { session, message: FromWrapper::Held { call } } => {
                        outbox.answered(session, &call.ticket);
                    }
                    ClientEvent::Said { session, message: FromWrapper::Settled(end) } => {
                        outbox.answered(session, &end.ticket);
                    }
                    ClientEvent::Gone { session } => outbox.gone(session),
                    _ => {}
                }
                on(event);
            }
        };
        heard.read(engine, &mut take).await
    }

    fn lapse(&mut self) {
        let now = (self.now)();
        self.outbox.lapsed(now).into_iter().for_each(|one| self.undelivered(one));
    }

    fn undelivered(&self, undelivered: Undelivered) {
        (self.on)(refused(undelivered));
    }

    /// Says what is around, if that has changed.
    fn say(&mut self, around: Around) {
        if self.around.as_ref() != Some(&around) {
            self.around = Some(around.clone());
            (self.on)(ClientEvent::Around(around));
        }
    }
}

fn refused(Undelivered { session, ticket, why }: Undelivered) -> ClientEvent {
    ClientEvent::Said { session, message: FromWrapper::Refused { ticket, why } }
}

/// A call that waits on a machine of the desk.
#[derive(Debug)]
pub struct WaitingThere {
    pub at: Arc<At>,
    pub card: Box<Snapshot>,
}

/// What waits on all machines, the oldest first; and what is left out.
///
/// # Errors
/// Why the desk cannot be used.
pub async fn waiting(target: &Target) -> Result<(Vec<WaitingThere>, Option<String>), EngineError> {
    let engine = target.connect(Program::Command).await?;
    let mut heard = Heard::default();
    let (mut wrappers, mut calls) = (BTreeMap::new(), Vec::new());
    let mut take = |news| match news {
        News::Event(ClientEvent::Connected(wrapper)) => drop(wrappers.insert(wrapper.session.clone(), wrapper)),
        News::Event(
            ClientEvent::Withheld { session, call: card }
            | ClientEvent::Said { session, message: FromWrapper::Held { call: card } },
        ) => {
            let Some(wrapper) = wrappers.get(&session) else { return };
            let Some(at) = wrapper.at.clone() else { return };
            calls.push(WaitingThere { at, card });
        }
        News::Event(_) | News::Refused { .. } => {}
    };
    heard.read(&engine, &mut take).await?;
    calls.sort_by_key(|one| one.card.arrived);
    Ok((calls, heard.left_out()))
}
