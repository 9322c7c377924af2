//! The console's side of the link: finds every wrapper of this user, reads from all, writes to one at a time. Or only asks what
//! waits there: such an asker does not count as attached, and is not recorded. No tokio.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::folder::{self, LinkError};
pub use super::message::ClientEvent;
use super::message::{Callback, ConsoleKind, FromConsole, FromWrapper, PROTOCOL, WaitingCall};
use super::watcher::{Watcher, WatcherJob};

/// Who this console is, as wrappers record it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Me {
    pub operator: String,
    pub version: String,
    pub pid: u32,
}

/// Every wrapper of this user. Dropping it ends all connections; nothing is reported after that.
#[derive(Debug)]
pub struct Clients {
    tell: mpsc::Sender<WatcherJob>,
    watcher: Option<JoinHandle<()>>,
    ended: Arc<AtomicBool>,
}

impl Clients {
    /// Starts to watch the runtime folder, making it where it is missing.
    pub fn watch(run: &Path, me: Me, on: impl Fn(ClientEvent) + Send + Sync + 'static) -> Result<Self, LinkError> {
        Self::watch_as(ConsoleKind::Local, run, me, on)
    }

    /// The same for one that is not the usual console.
    pub fn watch_as(
        kind: ConsoleKind,
        run: &Path,
        me: Me,
        on: impl Fn(ClientEvent) + Send + Sync + 'static,
    ) -> Result<Self, LinkError> {
        folder::prepare(run)?;
        let ended = Arc::new(AtomicBool::new(false));
        let quiet = Arc::clone(&ended);
        let on: Arc<Callback> = Arc::new(move |event| {
            if !quiet.load(Ordering::Acquire) {
                on(event);
            }
        });
        let Me { operator, version, pid } = me;
        let hello = line(&FromConsole::Hello { protocol: PROTOCOL, version, operator, pid, kind })?;
        let (tell, jobs) = mpsc::channel();
        let watcher = Watcher::new(run.to_owned(), hello, on, tell.clone());
        let watcher = thread::Builder::new()
            .name("link watcher".to_owned())
            .spawn(move || watcher.run(&jobs))
            .map_err(LinkError::Watcher)?;
        Ok(Self { tell, watcher: Some(watcher), ended })
    }

    /// Sends a message to the wrapper of a session. Only its answer shows that it arrived; a gone one is [`ClientEvent::Trouble`].
    pub fn send(&self, session: &str, message: &FromConsole) -> Result<(), LinkError> {
        let (session, line) = (session.to_owned(), line(message)?);
        self.tell.send(WatcherJob::Send { session, line }).map_err(|_| LinkError::Ended)
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        let _ = self.tell.send(WatcherJob::End);
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
    }
}

/// How long one wrapper may take for each line.
const PATIENCE: Duration = Duration::from_millis(500);
/// The longest answer: some hundred bytes for each call.
const LONGEST: u64 = 16 * 1024 * 1024;

#[derive(Debug, Default)]
pub struct Peeked {
    /// The oldest first.
    pub calls: Vec<WaitingCall>,
    /// What approvers are asked about: it may never wait for an operator.
    pub consulted: Vec<WaitingCall>,
    /// Wrappers that did not answer, by their sockets: what waits there is unknown.
    pub silent: Vec<PathBuf>,
}

/// Asks all wrappers whose sockets are in the folder.
pub fn peek(run: &Path) -> Result<Peeked, LinkError> {
    let mut peeked = Peeked::default();
    let names = match fs::read_dir(run) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(peeked),
        Err(source) => return Err(LinkError::Unusable { path: run.to_owned(), source }),
    };
    for path in names.flatten().map(|entry| entry.path()) {
        let is_socket = path.extension().is_some_and(|extension| extension == "sock");
        if !is_socket || !fs::symlink_metadata(&path).is_ok_and(|found| folder::check_socket(&found).is_ok()) {
            continue;
        }
        match UnixStream::connect(&path) {
            Ok(stream) => match ask(&stream) {
                Some((calls, consulted)) => {
                    peeked.calls.extend(calls);
                    peeked.consulted.extend(consulted);
                }
                None => peeked.silent.push(path),
            },
            // No process listens: this is a dead wrapper's socket.
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {}
            Err(_) => peeked.silent.push(path),
        }
    }
    peeked.calls.sort_by_key(|call| call.arrived);
    Ok(peeked)
}

/// `None` where there is no answer that can be understood.
fn ask(stream: &UnixStream) -> Option<(Vec<WaitingCall>, Vec<WaitingCall>)> {
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    { stream }.write_all(&line(&FromConsole::Peek { protocol: PROTOCOL }).ok()?).ok()?;
    let mut lines = BufReader::new(stream).take(LONGEST);
    loop {
        let mut answer = Vec::new();
        // An empty one, at the end, is no message.
        lines.read_until(b'\n', &mut answer).ok()?;
        match serde_json::from_slice(&answer).ok()? {
            FromWrapper::Hello { protocol: PROTOCOL, .. } => {}
            FromWrapper::Waiting { calls, consulted } => return Some((calls, consulted)),
            _ => return None,
        }
    }
}

fn line(message: &FromConsole) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}
