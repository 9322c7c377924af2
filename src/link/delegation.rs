//! How a wrapper passes on its scope: each serves a record of what it may use, and a wrapper started underneath finds
//! it through its own ancestors, whatever its environment says (capability lattice, section 4.3). Joins no scopes.
//!
//! The record is served over a socket in the runtime folder, and the kernel names the process that listens: another
//! process of the same user can remove that socket or put its own in the place, and then nothing may be used. To get a
//! wider scope, a server would have to trace the wrapper (which the system refuses: see `interpose/guardian`), keep the
//! listening socket of an ended process whose number a wrapper gets later, or leave the tree of processes. A process
//! leaves it when all its parents have ended, except on Linux, where the wrapper becomes the parent of orphans (see
//! `interpose/signals`); and what another service of the system starts was never in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::folder::{self, LinkError};
use super::peer::{self, Kin};
use crate::policy::scope::Scope;

/// How far up ancestors are followed; deeper trees are only made to hide in.
const DEPTH: usize = 64;
/// How often they are followed again when one of them ends meanwhile.
const ATTEMPTS: usize = 8;
const LONGEST: u64 = 64 << 20;
/// How long either side of a request may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait after the system could not accept a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// What one wrapper may use, and who it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub server: String,
    pub session: String,
    /// Its own scope and that of all above it.
    pub scope: Scope,
    /// The wrappers above it, the outermost first, as names for people.
    pub above: Vec<String>,
}

/// A record that is served to every process that asks, until this is dropped.
#[derive(Debug)]
pub struct ServedRecord {
    place: PathBuf,
    task: JoinHandle<()>,
}

impl Record {
    /// The wrapper and those above it, as names for people: `agents (viewer)`. Foreign text.
    pub fn chain(&self) -> Vec<String> {
        let own = match self.scope.words() {
            Some(scope) => format!("{} ({scope}, session {})", self.server, self.session),
            None => format!("{} (session {})", self.server, self.session),
        };
        self.above.iter().cloned().chain([own]).collect()
    }

    /// This record underneath an outer one. A server can serve any record, so a record can only narrow what those above leave.
    #[must_use]
    pub fn under(self, outer: Self) -> Self {
        let mut above = outer.chain();
        for one in self.above {
            if !above.contains(&one) {
                above.push(one);
            }
        }
        Self { scope: self.scope.meet(outer.scope), above, ..self }
    }

    /// As it is served by the process with this number and start time.
    fn served(self, pid: u32, started: String) -> Result<String, serde_json::Error> {
        serde_json::to_string(&Served { version: VERSION, pid, started, record: self })
    }

    /// Reads what the process with this number and start time serves; `None` if it is invalid, or another process's.
    fn read(text: &str, pid: u32, started: &str) -> Option<Self> {
        let served: Served = serde_json::from_str(text).ok()?;
        let is_theirs = (served.version, served.pid, served.started.as_str()) == (VERSION, pid, started);
        is_theirs.then_some(served.record)
    }
}

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Served {
    version: u32,
    pid: u32,
    started: String,
    #[serde(flatten)]
    record: Record,
}

/// Serves this process's record to wrappers that will be started underneath it. Call it within a runtime.
/// Errors: the folder is not safe, or no socket can be made: whatever is started underneath may then use nothing.
pub fn serve(run: &Path, record: &Record) -> Result<ServedRecord, LinkError> {
    folder::prepare(run)?;
    sweep(run);
    let pid = std::process::id();
    let started = peer::kin(pid).map(|kin| kin.started).unwrap_or_default();
    let place = place(run, pid);
    // What a process of the same number left there before it died.
    let _ = fs::remove_file(&place);
    let listener = folder::listen(&place, &run.join(format!("{pid}.scope.new")))?;
    let listener =
        UnixListener::from_std(listener).map_err(|source| LinkError::Socket { path: place.clone(), source })?;
    let task = tokio::spawn(tell(listener, record.clone().served(pid, started)?));
    Ok(ServedRecord { place, task })
}

/// Sends a record to every process of this user that connects, one after the other.
async fn tell(listener: UnixListener, record: String) {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        if stream.peer_cred().is_ok_and(|peer| peer.uid() == folder::me()) {
            // A process that does not read it gets nothing.
            let _ = timeout(PATIENCE, stream.write_all(record.as_bytes())).await;
        }
    }
}

/// The runtime folder below what `--home` names, or that of the user.
pub type RunOf<'a> = &'a dyn Fn(Option<&Path>) -> Option<PathBuf>;

/// The record of all wrappers above a process together, in the name of the nearest; `None` if there are none.
/// Errors: why the record is unknown although there is a wrapper above: then nothing may be used.
pub async fn inherited(of: u32, run_of: RunOf<'_>) -> Result<Option<Record>, String> {
    // An ancestor may end while they are followed; its children then have another parent.
    for _ in 0..ATTEMPTS {
        if let Some(found) = follow(of, run_of).await {
            return found;
        }
    }
    Err("the processes above this wrapper come and go, so what it may use is not known; start it again".to_owned())
}

/// Follows the ancestors once; `None` where one of them has just ended.
async fn follow(of: u32, run_of: RunOf<'_>) -> Option<Result<Option<Record>, String>> {
    let (mut below, mut at) = (of, peer::kin(of)?.parent);
    let mut nearest: Option<Record> = None;
    for _ in 0..DEPTH {
        if at <= 1 {
            return Some(Ok(nearest));
        }
        let Some(kin) = peer::kin(at) else {
            // It is still the parent, so it lives: another user's process, which this system does not show.
            return (peer::kin(below)?.parent == at).then_some(Ok(nearest));
        };
        match record_of(at, &kin, run_of).await {
            Ok(None) => {}
            Ok(Some(outer)) => {
                nearest = Some(match nearest {
                    Some(inner) => inner.under(outer),
                    None => outer,
                });
            }
            Err(why) => return Some(Err(why)),
        }
        (below, at) = (at, kin.parent);
    }
    Some(Err(format!("more than {DEPTH} processes are above this wrapper, so what it may use is not known")))
}

/// The record of one ancestor; `None` where it is no wrapper.
async fn record_of(pid: u32, kin: &Kin, run_of: RunOf<'_>) -> Result<Option<Record>, String> {
    let words = peer::command(pid);
    let home = home_of(&words);
    let why = match run_of(home.as_deref()).map(|run| place(&run, pid)) {
        Some(place) => match timeout(PATIENCE, ask(&place, pid)).await {
            Ok(Ok(text)) => match Record::read(&text, pid, &kin.started) {
                Some(record) => return Ok(Some(record)),
                None => "its record is not its own, or of another version".to_owned(),
            },
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it does not answer".to_owned(),
        },
        None => "its folder is not known".to_owned(),
    };
    // A program other than a wrapper may have such a socket, but it has no say.
    if !wraps(&words, peer::name(pid).as_deref() == Some(NAME)) {
        return Ok(None);
    }
    Err(format!(
        "this wrapper was started underneath another (process {pid}), and what that one may use is not known: {why}; \
         restart the outer server in its host"
    ))
}

/// The process name of a wrapper, whatever the name of its file.
const NAME: &str = "mcp-approve";

/// Gives this process the name by which a wrapper underneath recognises it, on Linux: another process cannot change
/// that name. Call it before memory is kept private, or the system refuses.
pub fn take_name() {
    if cfg!(target_os = "linux") {
        // If this fails, only a wrapper whose file was renamed and whose socket was removed is taken for another program.
        let _ = fs::write("/proc/self/comm", NAME);
    }
}

/// Whether a command line is that of a wrapper; `is_named` where its process has the name of one.
pub fn wraps(words: &[String], is_named: bool) -> bool {
    let Some((program, words)) = words.split_first() else { return false };
    let is_ours = |program: &str| {
        Path::new(program).file_name().is_some_and(|name| name.to_string_lossy().starts_with("mcp-approve"))
    };
    let own =
        std::env::args_os().next().is_some_and(|own| Path::new(&own).file_name() == Path::new(program).file_name());
    let given: Vec<&str> = words.iter().map(String::as_str).take_while(|word| *word != "--").collect();
    let behind_home = match given.as_slice() {
        ["--home", _, rest @ ..] => rest,
        rest => rest,
    };
    // Every other command would have its name here.
    let is_other = behind_home.first().is_some_and(|word| !word.starts_with('-') && *word != "wrap");
    (is_named || own || is_ours(program)) && given.len() < words.len() && !is_other
}

/// What a wrapper's command line names as `--home`.
pub fn home_of(words: &[String]) -> Option<PathBuf> {
    let mut given = words.iter().skip(1).take_while(|word| *word != "--");
    let mut home = None;
    while let Some(word) = given.next() {
        match word.strip_prefix("--home") {
            Some("") => home = given.next(),
            Some(rest) if rest.starts_with('=') => return rest.get(1..).map(PathBuf::from),
            _ => {}
        }
    }
    home.map(PathBuf::from)
}

fn place(run: &Path, pid: u32) -> PathBuf {
    run.join(format!("{pid}.scope"))
}

/// Asks a process for its record. An answer from any other process does not count.
async fn ask(place: &Path, pid: u32) -> io::Result<String> {
    let stream = UnixStream::connect(place).await?;
    let peer = stream.peer_cred()?;
    if peer.uid() != folder::me() || peer.pid().and_then(|peer| u32::try_from(peer).ok()) != Some(pid) {
        return Err(io::Error::other("another process answers in its place"));
    }
    let mut text = String::new();
    stream.take(LONGEST).read_to_string(&mut text).await?;
    Ok(text)
}

/// Removes what killed wrappers left.
fn sweep(run: &Path) {
    for entry in fs::read_dir(run).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.split_once(".scope")?.0.parse().ok());
        if pid.is_some_and(|pid: u32| peer::kin(pid).is_none()) {
            // If it stays, no process listens there.
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Drop for ServedRecord {
    fn drop(&mut self) {
        self.task.abort();
        // If it stays, no process listens there.
        let _ = fs::remove_file(&self.place);
    }
}
