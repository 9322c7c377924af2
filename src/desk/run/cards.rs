//! What waits on this machine, told to the desk; what operators say of it, brought to the wrapper that holds it, which checks it.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep_until};

use super::part::{SOONEST, Served, Site, UNWOKEN};
use super::useless::Useless;
use super::verdicts::{Found, Verdicts};
use crate::audit::recording;
use crate::audit::redact::Redactor;
use crate::audit::repeats::Seen;
use crate::desk::engine::{Engine, EngineError};
use crate::desk::told::{EVERY_SESSION, Remote, Told};
use crate::desk::withheld::{self, Fit, Secrets};
use crate::gate::data::snapshot::Snapshot;
use crate::home::places::Places;
use crate::home::user;
use crate::link::client::{Clients, Me};
use crate::link::message::{ClientEvent, ConsoleKind, FromConsole, FromWrapper, Status, Wrapper};
use crate::wire::Digest;

/// Between two wakes of the operators.
const WAKES: Duration = Duration::from_millis(100);
/// Between two rows on the state of one wrapper.
const STATUSES: Duration = Duration::from_secs(10);
/// How often we say to a role of one call that its verdict is of no use: whoever fills a table has no more than that sent.
const MOST_USELESS: u32 = 64;
/// How many ends of calls are kept while the desk is out of reach, the latest.
const MOST_UNSAID: usize = 10_000;

pub(super) struct Cards {
    clients: Clients,
    heard: UnboundedReceiver<ClientEvent>,
    redactor: Redactor,
    /// The machine's own name and the user's, as statements have them.
    here: (String, String),
    sessions: BTreeMap<String, Session>,
    /// What is still to be told, in order.
    unsaid: VecDeque<Row>,
    connection: Connection,
    verdicts: Verdicts,
    useless: Useless,
    places: Places,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Connection {
    Up,
    Down,
}

/// One wrapper that is here.
struct Session {
    wrapper: Wrapper,
    /// The secrets that its cards had.
    seen: Seen,
    /// What waits there, by ticket.
    waiting: BTreeMap<String, Waiting>,
    /// Its state now; and what operators were told of it last, and when.
    status: Option<Status>,
    told: Option<(Status, Instant)>,
}

struct Waiting {
    row: Row,
    secrets: Secrets,
    /// How often we said so to each role.
    told: BTreeMap<String, u32>,
}

/// One row of `told`.
#[derive(Clone)]
struct Row {
    session: String,
    ticket: String,
    kind: &'static str,
    said: String,
}

impl Row {
    fn new(session: &str, Fit { told, said }: Fit) -> Self {
        Self { session: session.to_owned(), ticket: told.ticket().to_owned(), kind: told.kind(), said }
    }

    /// Whether it tells of an end: that is not told again after a break, as what is there is.
    fn is_end(&self) -> bool {
        matches!(self.kind, "settled" | "refused" | "gone")
    }
}

impl Cards {
    /// Attaches to every wrapper of this user, now and later.
    pub(super) fn new(site @ Site { places, .. }: &Site) -> Result<Self, EngineError> {
        let key = recording::redactor(&places.redaction_key());
        let redactor = key.map_err(|error| {
            here(error.to_string(), "without this key no secret can be replaced, so nothing is sent to the desk")
        })?;
        let (tell, heard) = unbounded_channel();
        let me = Me { operator: "desk".into(), version: env!("CARGO_PKG_VERSION").into(), pid: std::process::id() };
        let on = move |event| {
            // This fails only once nothing listens any more.
            let _ = tell.send(event);
        };
        let clients = Clients::watch_as(ConsoleKind::Desk, &places.run_dir(), me, on);
        let clients =
            clients.map_err(|error| here(error.to_string(), "make the folder yours; wrappers are found there"))?;
        let mut this = Self {
            clients,
            heard,
            redactor,
            here: (user::machine(), user::name()),
            sessions: BTreeMap::new(),
            unsaid: VecDeque::new(),
            connection: Connection::Down,
            verdicts: Verdicts::new(),
            useless: Useless::new(site),
            places: places.clone(),
        };
        // What a process before this one told of may be gone, and nothing said so.
        this.say(EVERY_SESSION, withheld::all(&this.redactor, &Secrets::default(), &Told::Gone));
        Ok(this)
    }

    /// Keeps up with the wrappers while the desk is out of reach.
    pub(super) async fn idle(&mut self) -> Infallible {
        self.connection = Connection::Down;
        self.unsaid.retain(Row::is_end);
        loop {
            match self.heard.recv().await {
                Some(event) => self.hear(event),
                None => std::future::pending().await,
            }
        }
    }

    pub(super) async fn serve(&mut self, engine: &Engine) -> Served {
        self.connection = Connection::Up;
        self.tell_all();
        let mut wakes = engine.wakes.clone();
        let (mut woken, mut wake_at) = (Instant::now(), None);
        let mut read_at = Instant::now();
        let mut last_read = read_at;
        loop {
            if self.tell(engine).await? {
                wake_at.get_or_insert_with(|| Instant::now().max(woken + WAKES));
            }
            let now = Instant::now();
            if wake_at.is_some_and(|at| at <= now) {
                engine.wake_operators().await;
                (woken, wake_at) = (now, None);
            }
            if read_at <= now || self.verdicts.has_fresh() {
                let live: Vec<String> = self.sessions.keys().cloned().collect();
                self.verdicts.look(engine, &live).await?;
                last_read = Instant::now();
                read_at = last_read + UNWOKEN;
            }
            // One page, and then what is to be told: what waits for nothing is not told late.
            let is_behind = self.verdicts.is_behind();
            if is_behind {
                self.bring(engine).await?;
            }
            self.useless.write();
            let next = is_behind.then(Instant::now);
            let due = [next, wake_at, self.status_due(), self.useless.due()];
            let due = due.into_iter().flatten().fold(read_at, Instant::min);
            tokio::select! {
                Some(event) = self.heard.recv() => {
                    self.hear(event);
                    while let Ok(event) = self.heard.try_recv() {
                        self.hear(event);
                    }
                }
                woke = wakes.changed() => match woke {
                    Ok(()) => read_at = read_at.min(Instant::now().max(last_read + SOONEST)),
                    Err(_) => return Err(EngineError::Unreachable("the connection has ended".to_owned())),
                },
                () = sleep_until(due) => self.say_statuses(),
            }
        }
    }

    /// Writes what is unsaid; returns whether there was anything.
    async fn tell(&mut self, engine: &Engine) -> Result<bool, EngineError> {
        const INSERT: &str = "INSERT INTO mcp_approve.told (session, ticket, kind, said) VALUES ($1, $2, $3, $4)";
        let mut any = false;
        // A row is let go once it is written: this may end in the middle.
        while let Some(Row { session, ticket, kind, said }) = self.unsaid.front() {
            match engine.client.execute(INSERT, &[session, ticket, kind, said]).await {
                Ok(_) => {}
                Err(error) if is_about_the_row(&error) => {
                    tracing::warn!(%error, %session, %ticket, "the desk does not take a row");
                }
                Err(error) => return Err(error.into()),
            }
            self.unsaid.pop_front();
            any = true;
        }
        Ok(any)
    }

    /// Brings a page of new verdicts to the wrappers.
    async fn bring(&mut self, engine: &Engine) -> Result<(), EngineError> {
        for found in self.verdicts.page(engine, &self.places).await? {
            let Remote { session, word, signed } = match found {
                Found::Verdict(remote) => *remote,
                Found::Useless { role, why, of } => {
                    self.useless.count(role.clone(), &why);
                    if let Some(remote) = of {
                        self.say_useless(role, why, *remote);
                    }
                    continue;
                }
            };
            let message = FromConsole::Decide {
                ticket: word.ticket,
                digest: word.digest,
                verdict: word.verdict,
                signed: Some(signed),
            };
            if let Err(error) = self.clients.send(&session, &message) {
                tracing::warn!(%error, %session, "a verdict was not delivered");
            }
        }
        Ok(())
    }

    /// Tells who wrote a verdict on a call that waits why it is of no use: each role so often, so that none takes another's word.
    fn say_useless(&mut self, role: String, why: String, Remote { session, word, signed }: Remote) {
        let ticket = word.ticket;
        let Some(waiting) = self.sessions.get_mut(&session).and_then(|found| found.waiting.get_mut(&ticket)) else {
            return;
        };
        let told = waiting.told.entry(role).or_default();
        if *told == MOST_USELESS {
            return;
        }
        *told += 1;
        let statement = Digest::of(signed.statement.as_bytes());
        let refused = withheld::all(&self.redactor, &waiting.secrets, &Told::Refused { ticket, statement, why });
        self.say(&session, refused);
    }

    fn hear(&mut self, event: ClientEvent) {
        match event {
            ClientEvent::Connected(wrapper) => {
                let session = wrapper.session.clone();
                self.verdicts.begin(&session);
                let seen = Seen::of_command(&withheld::of_command(&self.redactor, &wrapper.command));
                let new = Session { wrapper, seen, waiting: BTreeMap::new(), status: None, told: None };
                let hello = self.hello(&new.wrapper);
                self.sessions.insert(session.clone(), new);
                self.say(&session, hello);
            }
            ClientEvent::Said { session, message } => self.hear_wrapper(&session, message),
            ClientEvent::Gone { session } => {
                if self.sessions.remove(&session).is_some() {
                    self.unsaid.retain(|row| row.session != session || row.is_end());
                    self.say(&session, withheld::all(&self.redactor, &Secrets::default(), &Told::Gone));
                }
            }
            ClientEvent::Incompatible { name, version, .. } => {
                tracing::warn!(%name, %version, "a wrapper has another version, so nothing of it is sent to the desk");
            }
            ClientEvent::Trouble(what) => tracing::warn!(%what, "a wrapper"),
            // Only a desk says these.
            ClientEvent::Withheld { .. } | ClientEvent::Around(_) | ClientEvent::Witness(_) => {}
        }
    }

    fn hear_wrapper(&mut self, session: &str, message: FromWrapper) {
        let Some(found) = self.sessions.get_mut(session) else { return };
        let told = match message {
            FromWrapper::Held { call } => return self.held(session, &call),
            FromWrapper::Settled(end) => {
                // Most calls end without a card.
                let Some(Waiting { secrets, .. }) = found.waiting.remove(&end.ticket) else { return };
                withheld::all(&self.redactor, &secrets, &Told::Settled(end))
            }
            FromWrapper::NotCounted { ticket, statement, why } => {
                let waiting = found.waiting.get(&ticket);
                let secrets = waiting.map(|waiting| waiting.secrets.clone()).unwrap_or_default();
                withheld::all(&self.redactor, &secrets, &Told::Refused { ticket, statement, why })
            }
            FromWrapper::Status(status) => {
                found.status = Some(status);
                return self.say_statuses();
            }
            FromWrapper::Refused { ticket, why } => {
                tracing::warn!(%session, %ticket, %why, "a wrapper refuses what the desk said");
                return;
            }
            FromWrapper::Hello { .. }
            | FromWrapper::Activity(_)
            | FromWrapper::Tools { .. }
            | FromWrapper::Waiting { .. } => return,
        };
        self.say(session, told);
    }

    fn held(&mut self, session: &str, call: &Snapshot) {
        let Some(found) = self.sessions.get_mut(session) else { return };
        let Some(secrets) = Secrets::of(&self.redactor, call, &mut found.seen) else {
            return tracing::warn!(ticket = %call.ticket, "a card with so many secrets is not sent: its call waits at this machine");
        };
        let Some(fit) = withheld::card(&self.redactor, &secrets, call) else {
            return tracing::warn!(ticket = %call.ticket, "a card cannot be sent without a secret in it");
        };
        let row = Row::new(session, fit);
        let told = found.waiting.remove(&call.ticket).map(|before| before.told).unwrap_or_default();
        found.waiting.insert(call.ticket.clone(), Waiting { row: row.clone(), secrets, told });
        self.push(row);
    }

    fn hello(&self, wrapper: &Wrapper) -> Option<Fit> {
        withheld::hello(&self.redactor, wrapper, (&self.here.0, &self.here.1))
    }

    /// Tells the states of wrappers that have changed and may be told again.
    fn say_statuses(&mut self) {
        if self.connection == Connection::Down {
            return;
        }
        let now = Instant::now();
        let mut all = Vec::new();
        for (name, session) in &mut self.sessions {
            if session.due(now).is_some_and(|at| at <= now)
                && let Some(status) = &session.status
            {
                session.told = Some((essence(status), now));
                all.push((name.clone(), Told::Status(Box::new(status.clone()))));
            }
        }
        for (session, told) in all {
            self.say(&session, withheld::all(&self.redactor, &Secrets::default(), &told));
        }
    }

    fn status_due(&self) -> Option<Instant> {
        let now = Instant::now();
        self.sessions.values().filter_map(|session| session.due(now)).min()
    }

    /// Tells of all that is here and waits.
    fn tell_all(&mut self) {
        self.unsaid.retain(Row::is_end);
        for (name, session) in &mut self.sessions {
            session.told = None;
            let hello = withheld::hello(&self.redactor, &session.wrapper, (&self.here.0, &self.here.1));
            self.unsaid.extend(hello.map(|fit| Row::new(name, fit)));
            self.unsaid.extend(session.waiting.values().map(|waiting| waiting.row.clone()));
        }
        self.say_statuses();
    }

    fn say(&mut self, session: &str, fit: Option<Fit>) {
        if let Some(fit) = fit {
            self.push(Row::new(session, fit));
        }
    }

    fn push(&mut self, row: Row) {
        // All that is there is sent again once the desk is in reach.
        if self.connection == Connection::Up || row.is_end() {
            self.unsaid.push_back(row);
        }
        if self.connection == Connection::Down && self.unsaid.len() > MOST_UNSAID {
            self.unsaid.pop_front();
        }
    }
}

impl Session {
    /// When its state is sent again, if it is another than operators know.
    fn due(&self, now: Instant) -> Option<Instant> {
        match (&self.status, &self.told) {
            (None, _) => None,
            (Some(_), None) => Some(now),
            (Some(status), Some((told, at))) => (essence(status) != *told).then(|| *at + STATUSES),
        }
    }
}

/// What of a state operators must know, without the numbers that change with every call.
fn essence(status: &Status) -> Status {
    // Every field by name: for a new one this must be decided.
    let Status {
        waiting: _,
        calls: _,
        approved_by_policy: _,
        approved_by_operator: _,
        denied: _,
        refused_lines: _,
        failed: _,
        era,
        phase,
        scope,
        host,
        level,
        banner,
        mut grants,
        pending,
        ended,
    } = status.clone();
    for grant in &mut grants {
        (grant.used, grant.left) = (0, grant.left.map(|_| 0));
    }
    Status { era, phase, scope, host, level, banner, grants, pending, ended, ..Status::default() }
}

fn here(what: String, hint: &'static str) -> EngineError {
    EngineError::Here { what, hint }
}

/// Whether the engine refuses this row, and would the next time (SQLSTATE classes 22 and 23): too long, or no text that it can keep.
fn is_about_the_row(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| ["22", "23"].iter().any(|class| code.code().starts_with(class)))
}
