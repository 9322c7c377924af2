//! The console's threads: one scans the folder, connects and writes, and one for each wrapper reads its lines.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{fs, thread};

use super::folder;
use super::message::{Callback, ClientEvent, FromWrapper, Greeting, LONGEST_FROM_WRAPPER, PROTOCOL};

/// How often the folder is scanned: it is a small directory.
const SCAN: Duration = Duration::from_millis(200);
/// How long a wrapper that hung up before its `Hello` is left alone.
const LEFT_ALONE: Duration = Duration::from_secs(5);
/// How long a verdict may take to be written: a stopped wrapper must not stop the others' verdicts.
const WRITE: Duration = Duration::from_secs(2);

struct KnownSocket {
    key: Key,
    state: State,
}

enum State {
    Open {
        stream: UnixStream,
        session: Option<String>,
    },
    /// Not tried again before this time; `None`: not while the socket stays the same.
    LeftAlone(Option<Instant>),
}

pub(super) struct Watcher {
    run: PathBuf,
    hello: Vec<u8>,
    on: Arc<Callback>,
    tell: mpsc::Sender<WatcherJob>,
    sockets: HashMap<PathBuf, KnownSocket>,
    /// The last reported problem with the folder, so that it is reported once.
    complained: Option<String>,
}

impl Watcher {
    /// `hello` is said to every wrapper first; `tell` is how readers reach the watcher.
    pub(super) fn new(run: PathBuf, hello: Vec<u8>, on: Arc<Callback>, tell: mpsc::Sender<WatcherJob>) -> Self {
        Self { run, hello, on, tell, sockets: HashMap::new(), complained: None }
    }

    pub(super) fn run(mut self, jobs: &mpsc::Receiver<WatcherJob>) {
        let mut next = Instant::now();
        loop {
            if Instant::now() >= next {
                self.scan();
                next = Instant::now() + SCAN;
            }
            match jobs.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(WatcherJob::Send { session, line }) => self.send(&session, &line),
                Ok(WatcherJob::Met { key, session, admit }) => self.meet(&key, session, &admit),
                Ok(WatcherJob::Mute { key }) => self.mute(&key),
                Ok(WatcherJob::Lost { key, parting }) => self.lose(&key, parting),
                Ok(WatcherJob::End) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        for found in self.sockets.values() {
            found.hang_up();
        }
    }

    fn scan(&mut self) {
        let names = match fs::read_dir(&self.run) {
            Ok(names) => names,
            Err(error) => {
                let what = format!("the folder {:?} cannot be read: {error}; make it readable for you", self.run);
                if self.complained.as_ref() != Some(&what) {
                    self.complained = Some(what.clone());
                    (self.on)(ClientEvent::Trouble(what));
                }
                return;
            }
        };
        self.complained = None;
        let mut seen = Vec::new();
        for path in names.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|extension| extension == "sock") {
                self.look_at(&path);
                seen.push(path);
            }
        }
        // A connection outlives its socket's file; its reader says when it ends.
        self.sockets.retain(|path, found| matches!(found.state, State::Open { .. }) || seen.contains(path));
    }

    fn look_at(&mut self, path: &Path) {
        let Ok(is) = fs::symlink_metadata(path) else { return };
        let key = Key { path: path.to_owned(), inode: (is.dev(), is.ino()), changed: (is.ctime(), is.ctime_nsec()) };
        match self.sockets.get(path).filter(|found| found.key == key).map(|found| &found.state) {
            Some(State::Open { .. } | State::LeftAlone(None)) => return,
            Some(State::LeftAlone(Some(until))) if Instant::now() < *until => return,
            Some(State::LeftAlone(Some(_))) | None => {}
        }
        if let Err(what) = folder::check_socket(&is) {
            let what = format!("{path:?} {what}, so the console does not connect to it; look at it, then remove it");
            return self.leave_alone(key, what);
        }
        match UnixStream::connect(path).and_then(|stream| self.greet(&key, &stream).map(|()| stream)) {
            Ok(stream) => {
                // A new wrapper has the name; the old connection is useless.
                if let Some(before) = self.set(key, State::Open { stream, session: None }) {
                    before.hang_up();
                }
            }
            // No process listens: the socket is a dead wrapper's, or one is just starting.
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {}
            Err(error) => self.leave_alone(key, format!("{path:?} cannot be reached: {error}")),
        }
    }

    /// Says our `Hello`, and starts the connection's reader.
    fn greet(&self, key: &Key, stream: &UnixStream) -> io::Result<()> {
        stream.set_write_timeout(Some(WRITE))?;
        (&*stream).write_all(&self.hello)?;
        let (reading, key) = (stream.try_clone()?, key.clone());
        let (tell, on) = (self.tell.clone(), Arc::clone(&self.on));
        let reader = thread::Builder::new().name("link reader".to_owned());
        reader.spawn(move || listen(&reading, key, &tell, &*on)).map(drop)
    }

    fn leave_alone(&mut self, key: Key, what: String) {
        (self.on)(ClientEvent::Trouble(what));
        self.set(key, State::LeftAlone(None));
    }

    fn set(&mut self, key: Key, state: State) -> Option<KnownSocket> {
        self.sockets.insert(key.path.clone(), KnownSocket { key, state })
    }

    /// A session belongs to the first connection that names it: another that claims it could only confuse the operator.
    fn meet(&mut self, key: &Key, session: String, admit: &mpsc::Sender<()>) {
        let taken = self.sockets.values().any(|found| found.is_session(&session));
        if let Some(found) = self.sockets.get_mut(&key.path).filter(|found| found.key == *key && !taken)
            && let State::Open { session: its, .. } = &mut found.state
        {
            *its = Some(session);
            // If the reader has ended meanwhile, it needs no answer.
            let _ = admit.send(());
        }
    }

    fn mute(&mut self, key: &Key) {
        if let Some(found) = self.sockets.get_mut(&key.path).filter(|found| found.key == *key)
            && let State::Open { session, .. } = &mut found.state
        {
            *session = None;
        }
    }

    fn lose(&mut self, key: &Key, parting: Parting) {
        if self.sockets.get(&key.path).is_some_and(|found| found.key == *key) {
            drop(match parting {
                Parting::Later => self.sockets.remove(&key.path),
                Parting::Unconnected => self.set(key.clone(), State::LeftAlone(Some(Instant::now() + LEFT_ALONE))),
            });
        }
    }

    fn send(&mut self, to: &str, line: &[u8]) {
        let sent = self.sockets.values().find(|found| found.is_session(to)).map(|found| match &found.state {
            State::Open { stream, .. } => (&*stream).write_all(line).inspect_err(|_| found.hang_up()),
            State::LeftAlone(_) => Err(io::ErrorKind::NotConnected.into()),
        });
        let why = match sent {
            Some(Ok(())) => return,
            // Half a line may have been written, so the connection is closed.
            Some(Err(error)) => format!("the wrapper accepts no data ({error}); the connection was closed"),
            None => "the wrapper is gone".to_owned(),
        };
        (self.on)(ClientEvent::Trouble(format!("not delivered, so your answer did not count: {why}")));
    }
}

impl KnownSocket {
    fn is_session(&self, wanted: &str) -> bool {
        match &self.state {
            State::Open { session, .. } => session.as_deref() == Some(wanted),
            State::LeftAlone(_) => false,
        }
    }

    fn hang_up(&self) {
        if let State::Open { stream, .. } = &self.state {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }
}

pub(super) enum WatcherJob {
    Send {
        session: String,
        line: Vec<u8>,
    },
    /// A reader has received a `Hello` and asks whether its session may be connected.
    Met {
        key: Key,
        session: String,
        admit: mpsc::Sender<()>,
    },
    /// A reader no longer understands its wrapper, which takes no verdict from here any more.
    Mute {
        key: Key,
    },
    Lost {
        key: Key,
        parting: Parting,
    },
    End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Parting {
    /// Before it was connected: trying again at once would not help.
    Unconnected,
    Later,
}

/// One socket as it was found; a new one at the same path has another key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    path: PathBuf,
    inode: (u64, u64),
    changed: (i64, i64),
}

/// Reads until the wrapper ends or sends something invalid.
fn listen(stream: &UnixStream, key: Key, tell: &mpsc::Sender<WatcherJob>, on: &Callback) {
    let mut lines = Lines(BufReader::with_capacity(64 * 1024, stream));
    let parting = talk(&mut lines, &key, tell, on);
    // This fails only once the watcher has ended.
    let _ = tell.send(WatcherJob::Lost { key, parting });
}

fn talk(lines: &mut Lines<'_>, key: &Key, tell: &mpsc::Sender<WatcherJob>, on: &Callback) -> Parting {
    let Ok(first) = lines.next() else { return Parting::Unconnected };
    let Some(greeting) = Greeting::read(&first) else {
        let what = match serde_json::from_slice(&first) {
            Ok(FromWrapper::Refused { why, .. }) => why,
            _ => "a wrapper speaks a link protocol that this console does not know; install the same version for both"
                .to_owned(),
        };
        on(ClientEvent::Trouble(what));
        return Parting::Unconnected;
    };
    let (session, wrapper) = match serde_json::from_slice(&first) {
        Ok(FromWrapper::Hello { protocol: PROTOCOL, wrapper, .. }) => (wrapper.session.clone(), wrapper),
        _ => return listen_until_gone(lines, greeting, on),
    };
    let (admit, admitted) = mpsc::channel();
    // This fails only once the watcher has ended; then nothing is reported either.
    let _ = tell.send(WatcherJob::Met { key: key.clone(), session: session.clone(), admit });
    if admitted.recv().is_err() {
        let what = format!("a second wrapper calls itself session {session:?}; it is not shown: find out what it is");
        on(ClientEvent::Trouble(what));
        return Parting::Unconnected;
    }
    on(ClientEvent::Connected(wrapper));
    let parting = loop {
        let line = match lines.next() {
            Ok(line) => line,
            Err(Ending::Closed) => break Parting::Later,
            Err(Ending::TooLong) => {
                let what = "a wrapper sent more at once than a console accepts, so its calls cannot be shown here; they \
                    are denied at their deadline";
                on(ClientEvent::Trouble(what.to_owned()));
                // On a new connection it would send the same again.
                break Parting::Unconnected;
            }
        };
        match serde_json::from_slice(&line) {
            Ok(FromWrapper::Hello { .. }) | Err(_) => {
                let _ = tell.send(WatcherJob::Mute { key: key.clone() });
                on(ClientEvent::Gone { session });
                return listen_until_gone(lines, greeting, on);
            }
            Ok(message) => on(ClientEvent::Said { session: session.clone(), message }),
        }
    };
    on(ClientEvent::Gone { session });
    parting
}

/// Keeps the connection to an incompatible wrapper, so that the console can say when it is gone.
fn listen_until_gone(lines: &mut Lines<'_>, greeting: Greeting, on: &Callback) -> Parting {
    let name = greeting.wrapper.server;
    on(ClientEvent::Incompatible { name: name.clone(), protocol: greeting.protocol, version: greeting.version });
    let _ = std::io::copy(&mut lines.0, &mut std::io::sink());
    on(ClientEvent::Gone { session: name });
    Parting::Later
}

struct Lines<'a>(BufReader<&'a UnixStream>);

enum Ending {
    Closed,
    TooLong,
}

impl Lines<'_> {
    fn next(&mut self) -> Result<Vec<u8>, Ending> {
        let mut line = Vec::new();
        match (&mut self.0).take(LONGEST_FROM_WRAPPER as u64).read_until(b'\n', &mut line) {
            Ok(_) if line.ends_with(b"\n") => Ok(line),
            _ if line.len() == LONGEST_FROM_WRAPPER => Err(Ending::TooLong),
            Ok(_) | Err(_) => Err(Ending::Closed),
        }
    }
}
