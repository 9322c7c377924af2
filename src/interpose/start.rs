//! Starts a wrapper: guardian, server, log, loop, in the order that lets the server's first byte flow soonest.

use std::ffi::OsString;
use std::io;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::child::{Child, SpawnError};
use super::clock::Clock;
use super::consoles::{Consoles, Registration};
use super::counts::Counts;
use super::facts::FactReader;
use super::guardian::{CoreLimit, Guardian};
use super::host::{Host, Stall};
use super::pin_writer::PinWriter;
use super::programs::Notifier;
use super::reload::Reload;
use super::scribe::{EntryBuffer, Scribe};
use super::server::Server;
use super::signals::{Adopted, Signals};
use super::stdio::{AsyncIn, AsyncOut, HostPipe, Outbox, widen};
use super::threads::ToLoop;
use super::watch::{Files, Watch};
use super::wrapper::{Incoming, Wrapper};
use super::{clock, memory, notice};
use tokio::sync::mpsc::unbounded_channel;

use crate::audit::{place, recording, redact::Redactor};
use crate::behavior::shape;
use crate::gate::{Config, Gate, Mode, data::pin::Pins};
use crate::home::config::{Notices, WrapSettings};
use crate::home::{layers::Layers, name, places::Places, standing, user};
use crate::link::delegation::{Record, ServedRecord};
use crate::link::{delegation, desktop::Desktop};
use crate::policy::{Policy, Scope, scope::Limit};

#[derive(Debug)]
pub struct Setup {
    /// The server's command line; not empty.
    pub command: Vec<OsString>,
    /// What is added to our environment for it.
    pub environment: Vec<(OsString, OsString)>,
    pub core: CoreLimit,
    pub settings: WrapSettings,
    pub places: Places,
    /// Why nothing may be written to the state folder: then nothing is, and every call is refused for that reason.
    pub state: Result<(), String>,
    pub policy: Policy,
    /// Where the policy was read, and is read again when it has changed.
    pub layers: Layers,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The server's program cannot be run.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The system gives us no process, pipe, signal or random bytes.
    #[error("the wrapper cannot start: {0}")]
    System(#[from] io::Error),
}

/// How many descriptors a wrapper takes with its server, its log and a console or two.
const NEEDED: usize = 32;

/// Wraps a server until it or the host ends; returns the exit code. `beside` is the console of `--inline`, on its own thread.
/// Errors: [`StartError`]: nothing was relayed then.
pub fn run(setup: Setup, pipe: HostPipe, beside: Option<impl FnOnce() + Send + 'static>) -> Result<u8, StartError> {
    there_is_room()?;
    memory::share_heap();
    // Forked before anything here has a thread.
    let guardian = Guardian::start()?;
    // Before anything here writes a file: the log, pins and diagnostics are written on other threads.
    place::survive_size_limit();
    // Failing to write diagnostics stops nothing; `doctor` reports it.
    if setup.state.is_ok() {
        notice::start_diagnostics(&setup.places.log_dir());
    }
    if let Some(beside) = beside {
        std::thread::Builder::new().name("console".into()).spawn(beside)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(wrap(setup, pipe, &guardian));
    // A server that could not be run has named its group to the guardian already, and another process may have that
    // number now. With any other failure there is a running server, which the guardian ends.
    if matches!(ended, Ok(_) | Err(StartError::Spawn(_))) {
        // A guardian that has ended already need not be dismissed.
        let _ = guardian.dismiss();
    }
    ended
}

/// Fails if the wrapper would run out of descriptors half-way: the runtime would panic beside a started server.
fn there_is_room() -> io::Result<()> {
    let probe = std::fs::File::open("/dev/null")?;
    let mut probes = Vec::with_capacity(NEEDED);
    for _ in 0..NEEDED {
        probes.push(probe.try_clone()?);
    }
    Ok(())
}

/// Where the server may read unasked: our working folder, which it inherits, and the folders that its own command names.
fn reading_places(command: &[OsString], places: &Places) -> shape::Places {
    let real = |path: &Path| path.canonicalize().ok().and_then(|path| path.into_os_string().into_string().ok());
    // What cannot be followed yet is excluded by its words: it may be made later.
    let as_written = |path: &Path| real(path).or_else(|| path.to_str().map(str::to_owned));
    let folder = |word: &OsString| {
        // `--root=DIR` names a folder as `--root DIR` does.
        let text = word.to_string_lossy();
        let path = text.split_once('=').filter(|(flag, _)| flag.starts_with('-')).map_or(&*text, |(_, path)| path);
        let path = Path::new(path);
        path.is_dir().then(|| real(path)).flatten()
    };
    let here = std::env::current_dir().ok().and_then(|here| real(&here));
    let home = user::current().ok().and_then(|user| as_written(&user.home));
    shape::Places {
        folders: here.into_iter().chain(command.iter().skip(1).filter_map(folder)).collect(),
        home,
        own: [places.state_dir(), places.config_dir()].into_iter().filter_map(as_written).collect(),
    }
}

async fn wrap(setup: Setup, pipe: HostPipe, guardian: &Guardian) -> Result<u8, StartError> {
    let Setup { command, environment, core, mut settings, places, state, policy, mut layers } = setup;
    let clock = Clock::start();
    // Before the server starts: from then on no signal ends us without ending the server.
    let signals = Signals::catch()?;
    let session: Arc<str> = random_hex()?.into();
    let (scope, above, _served) = delegated(settings.scope, &settings.name, &session, &places, &state).await;
    let adopted = Adopted::start()?;
    let mut child = Child::spawn(&command, environment, (guardian, core), Arc::clone(&adopted.reported))?;
    drop(tokio::spawn(adopted.reap(child.id())));
    let (to_us, done) = unbounded_channel();
    let has_state = state.is_ok();
    // Without the log's own key nothing is recorded, and no call runs.
    let redactor = state.as_ref().ok().and_then(|()| recording::redactor(&places.redaction_key()).ok());
    let redactor = redactor.map_or_else(|| recording::random().map(|key| Redactor::new(&key)), Ok)?;
    let log = settings.audit_db.clone();
    let mut scribe = Scribe::start(state.map(|()| settings.audit_db), places.redaction_key(), &session, to_us);
    let mut watch = Watch::new();
    let watcher = watch.watcher(Files::Policy);
    let mut stops = standing::Reader::new(&places);
    watch.begin(watcher.add(&[layers.paths(), stops.paths().into()].concat()));
    let standing = stops.changed(clock::wall_ms());
    // The policy was read before its files were watched.
    let policy = layers.changed().unwrap_or(policy);
    if let Some(banner) = &policy.banner {
        notice::say(banner);
    }
    if settings.mode == Mode::Observe && policy.asks_for_signatures() {
        notice::say("--observe has no effect: the policy asks for signatures, so its calls are held");
        settings.mode = Mode::Enforce;
    }
    scribe.keep_policy(&policy, &settings.name.as_str().into(), &session);
    if settings.mode == Mode::Observe {
        notice::say("OBSERVING: every call that would be asked is let through and recorded");
    }
    let (to_loop, threads) = unbounded_channel();
    let to_loop = ToLoop(to_loop);
    let (pins, pin_writer) = if has_state {
        let launch = name::launch(&settings.name, &command);
        let pins_watcher = watch.watcher(Files::Pins);
        let (pins, pin_writer) =
            PinWriter::start((places.clone(), log), launch, settings.trust, pins_watcher, to_loop.clone());
        (pins, Some(pin_writer))
    } else {
        // Without a state folder no call runs, whatever its tool.
        (Pins::default(), None)
    };
    let (approvers, callbacks) = settings.approvers.into_iter().unzip();
    let config = Config {
        server: settings.name.as_str().into(),
        console: places.console().into(),
        session: Arc::clone(&session),
        machine: user::machine().into(),
        user: user::name().into(),
        nonce: random_hex()?.into(),
        secret: random_hex()?.into(),
        approval_timeout: micros(settings.approval_timeout),
        host_timeout: settings.host_timeout.map(micros),
        order: settings.order,
        polling: settings.polling,
        unattended: settings.unattended,
        mode: settings.mode,
        trust: settings.trust,
        scope: Arc::new(scope),
        discover: settings.discover,
        above,
        approvers,
        pins,
        places: reading_places(&command, &places),
        expected: settings.expect,
        mismatch: settings.mismatch,
        redactor,
    };
    let notifier = match settings.notify {
        Some(notify) => {
            let names = (places.console(), user::machine());
            Some(Notifier::new(notify, names, &recording::random()?, to_loop.clone()))
        }
        None => None,
    };
    let counts = Counts { path: places.counts(), session: session.to_string() };
    let facts = FactReader::new(user::current().ok().map(|user| user.home), counts, to_loop.clone());
    let reload = Reload::new(layers, stops, watcher, to_loop.clone());
    let (to_us, consoles) = unbounded_channel();
    let registration = Registration {
        run_dir: places.run_dir(),
        places: places.clone(),
        waiting: notice::Waiting::new(
            places.console(),
            desktop(settings.notices, &places),
            bell(settings.notices, &places),
        ),
        name: settings.name,
        session: Arc::clone(&session),
        command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        started: clock::wall_ms(),
        mode: settings.mode,
    };
    widen(&pipe.output);
    memory::unmap_program();
    let incoming = Incoming {
        host_input: AsyncIn::new(pipe.input)?,
        server_output: child.output()?,
        signals,
        consoles,
        done,
        threads,
    };
    let wrapper = Wrapper {
        gate: Gate::new(config, Arc::new(policy)),
        standing,
        scribe,
        pin_writer,
        server: Server::new(Outbox::new(child.input()?), session),
        host: Host::new(Outbox::new(AsyncOut::new(pipe.output)?)),
        child,
        clock,
        entry_buffer: EntryBuffer::default(),
        consoles: Consoles::new(registration, to_us),
        facts,
        watch,
        reload,
        callbacks,
        notifier,
        to_loop,
        wake: None,
        stopping: None,
        stall: Stall::default(),
    };
    Ok(wrapper.run(incoming).await)
}

/// What may be used: the wrapper's own scope and that of every wrapper above it, with their names; and the record of
/// it, for wrappers that the server may start underneath. The record is served before the server starts.
async fn delegated(
    own: Scope,
    name: &str,
    session: &str,
    places: &Places,
    state: &Result<(), String>,
) -> (Scope, Vec<String>, Option<ServedRecord>) {
    let run_of = |home: Option<&Path>| {
        let places = home.map_or_else(Places::of_user, Places::under);
        places.ok().map(|places| places.run_dir())
    };
    let (scope, above) = match delegation::inherited(std::process::id(), &run_of).await {
        Ok(None) => (own, Vec::new()),
        Ok(Some(record)) => (own.meet(record.scope.clone()), record.chain()),
        Err(why) => {
            notice::say(&format!("no tool can be used: {why}"));
            (Scope::of(Limit::Nothing(why)), Vec::new())
        }
    };
    let record =
        Record { server: name.to_owned(), session: session.to_owned(), scope: scope.clone(), above: above.clone() };
    let served = match state.as_ref().map(|()| delegation::serve(&places.run_dir(), &record)) {
        Ok(Ok(served)) => Some(served),
        Ok(Err(error)) => {
            tracing::warn!(%error, "wrappers that are started underneath this one get nothing");
            None
        }
        // Without a state folder this wrapper runs no call either.
        Err(_) => None,
    };
    (scope, above, served)
}

/// The desktop, if the operator wants notices there. With another home (a test, the demo) they must be asked for.
fn desktop(wanted: Notices, places: &Places) -> Option<Desktop> {
    let is_here = || places.root().is_none() && std::env::var_os("SSH_CONNECTION").is_none();
    let shows = match wanted {
        Notices::Off => false,
        Notices::Auto => is_here(),
        Notices::Desktop => true,
    };
    shows.then(Desktop::default)
}

/// The host's own terminal, if its bell may be rung. With another home (a test, the demo) notices must be asked for.
fn bell(wanted: Notices, places: &Places) -> Option<PathBuf> {
    let rings = wanted == Notices::Desktop || wanted == Notices::Auto && places.root().is_none();
    rings.then(|| "/dev/tty".into())
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn random_hex() -> io::Result<String> {
    let mut bytes = [0u8; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
