//! The console's side of the link: finds every wrapper of this user, listens to all, speaks to one. No tokio.
//!
//! One thread watches the folder and owns every connection's writing end; one thread per wrapper reads. What they
//! find is told through one callback.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::error::LinkError;
use super::folder;
use super::message::{FromConsole, FromWrapper, PROTOCOL, Wrapper};
use super::reader::{self, Admission};

/// How often the folder is looked at: a read of a small directory.
const SCAN: Duration = Duration::from_millis(200);
/// How long a wrapper that hung up before its greeting is left alone.
const SHUNNED: Duration = Duration::from_secs(5);
/// How long a verdict may take to be written: a stopped wrapper must not stop the console.
const WRITE: Duration = Duration::from_secs(2);

/// What happens on the link. Names and words of wrappers are foreign text.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// A wrapper is here; what it says carries its session.
    Connected(Wrapper),
    /// A connected wrapper spoke. Never a `Hello`.
    Said {
        session: String,
        message: FromWrapper,
    },
    /// A wrapper speaks otherwise than this console: it takes no verdict from here, and its calls are not shown.
    Incompatible {
        name: String,
        protocol: u32,
        version: String,
    },
    /// A wrapper is gone. For one that was [`ClientEvent::Incompatible`], `session` is its name.
    Gone { session: String },
    /// Something the operator must be told, with its mend.
    Trouble(String),
}

/// Who this console is, as wrappers record it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Me {
    pub operator: String,
    pub version: String,
    pub pid: u32,
}

/// Called from several threads; must not wait for the console.
pub(super) type Callback = dyn Fn(ClientEvent) + Send + Sync;

/// Every wrapper of this user. Dropping it ends all connections; nothing is told after that.
#[derive(Debug)]
pub struct Clients {
    tell: mpsc::Sender<Task>,
    watcher: Option<JoinHandle<()>>,
    ended: Arc<AtomicBool>,
}

impl Clients {
    /// Starts to watch the runtime folder, making it where it is missing.
    ///
    /// # Errors
    /// The folder is not safe, or no thread can be started.
    pub fn watch(
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
        let mut hello = serde_json::to_vec(&FromConsole::Hello {
            protocol: PROTOCOL,
            version: me.version,
            operator: me.operator,
            pid: me.pid,
        })?;
        hello.push(b'\n');
        let (tell, tasks) = mpsc::channel();
        let watcher = Watcher {
            run: run.to_owned(),
            hello,
            on,
            tell: tell.clone(),
            found: HashMap::new(),
            complained: None,
        };
        let watcher = thread::Builder::new()
            .name("link watcher".to_owned())
            .spawn(move || watcher.run(&tasks))
            .map_err(LinkError::Watcher)?;
        Ok(Self {
            tell,
            watcher: Some(watcher),
            ended,
        })
    }

    /// Says something to the wrapper of a session. That it arrived is known from the wrapper's answer alone; a wrapper
    /// that is gone is told as [`ClientEvent::Trouble`].
    ///
    /// # Errors
    /// The message cannot be written as JSON, or the watcher has ended.
    pub fn send(&self, session: &str, message: &FromConsole) -> Result<(), LinkError> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let session = session.to_owned();
        self.tell
            .send(Task::Send { session, line })
            .map_err(|_| LinkError::Ended)
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        let _ = self.tell.send(Task::End);
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
    }
}

/// What the watcher is asked to do.
pub(super) enum Task {
    Send {
        session: String,
        line: Vec<u8>,
    },
    /// A reader has heard a greeting and asks whether its session may be connected.
    Met {
        key: Key,
        session: String,
        answer: mpsc::Sender<Admission>,
    },
    /// A reader no longer understands its wrapper, which takes no verdict from here any more.
    Mute {
        key: Key,
    },
    /// A reader has come to an end.
    Lost {
        key: Key,
        parting: Parting,
    },
    End,
}

/// How a connection ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Parting {
    /// Before a greeting: it will not be better at once.
    AtTheDoor,
    Later,
}

/// One socket as it was found: a new one in the same place is another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    path: PathBuf,
    inode: (u64, u64),
    changed: (i64, i64),
}

struct Found {
    key: Key,
    state: State,
}

enum State {
    Open {
        stream: UnixStream,
        session: Option<String>,
    },
    /// Not to be tried before this time; `None` for as long as it stays the same.
    Shun(Option<Instant>),
}

struct Watcher {
    run: PathBuf,
    hello: Vec<u8>,
    on: Arc<Callback>,
    tell: mpsc::Sender<Task>,
    found: HashMap<PathBuf, Found>,
    /// The last complaint about the folder, so that it is made once.
    complained: Option<String>,
}

impl Watcher {
    fn run(mut self, tasks: &mpsc::Receiver<Task>) {
        let mut next = Instant::now();
        loop {
            if Instant::now() >= next {
                self.scan();
                next = Instant::now() + SCAN;
            }
            match tasks.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(Task::Send { session, line }) => self.send(&session, &line),
                Ok(Task::Met {
                    key,
                    session,
                    answer,
                }) => {
                    // A reader that has ended meanwhile needs no answer.
                    let _ = answer.send(self.meet(&key, session));
                }
                Ok(Task::Mute { key }) => self.mute(&key),
                Ok(Task::Lost { key, parting }) => self.lose(&key, parting),
                Ok(Task::End) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        for found in self.found.values() {
            found.hang_up();
        }
    }

    fn scan(&mut self) {
        let names = match fs::read_dir(&self.run) {
            Ok(names) => names,
            Err(error) => {
                let what = format!(
                    "the folder {:?} cannot be read: {error}; make it readable for you",
                    self.run
                );
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
            if path
                .extension()
                .is_some_and(|extension| extension == "sock")
            {
                self.look_at(&path);
                seen.push(path);
            }
        }
        // A connection outlives its name; its reader says when it ends.
        self.found
            .retain(|path, found| matches!(found.state, State::Open { .. }) || seen.contains(path));
    }

    fn look_at(&mut self, path: &Path) {
        let Ok(is) = fs::symlink_metadata(path) else {
            return;
        };
        let key = Key {
            path: path.to_owned(),
            inode: (is.dev(), is.ino()),
            changed: (is.ctime(), is.ctime_nsec()),
        };
        if let Some(found) = self.found.get(path) {
            let same = found.key == key;
            match &found.state {
                State::Open { .. } if same => return,
                State::Shun(None) if same => return,
                State::Shun(Some(until)) if same && Instant::now() < *until => return,
                State::Open { .. } | State::Shun(_) => {}
            }
        }
        if let Err(what) = folder::check_socket(&is) {
            return self.shun(
                key,
                format!("{path:?} {what}, so it is not talked to; look at it, then remove it"),
            );
        }
        match UnixStream::connect(path) {
            Ok(stream) => self.open(key, stream),
            // Nobody listens: a dead wrapper's, or one that is just starting.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
                ) => {}
            Err(error) => self.shun(key, format!("{path:?} cannot be talked to: {error}")),
        }
    }

    fn open(&mut self, key: Key, stream: UnixStream) {
        let path = key.path.clone();
        match self.start(&key, &stream) {
            Ok(()) => {
                let session = None;
                let state = State::Open { stream, session };
                let before = self.found.insert(path, Found { key, state });
                // A new wrapper has the name; the old one's connection is of no use.
                if let Some(before) = before {
                    before.hang_up();
                }
            }
            Err(error) => self.shun(key, format!("{path:?} cannot be talked to: {error}")),
        }
    }

    fn start(&self, key: &Key, stream: &UnixStream) -> io::Result<()> {
        stream.set_write_timeout(Some(WRITE))?;
        (&*stream).write_all(&self.hello)?;
        let (reading, key) = (stream.try_clone()?, key.clone());
        let (tell, on) = (self.tell.clone(), Arc::clone(&self.on));
        thread::Builder::new()
            .name("link reader".to_owned())
            .spawn(move || reader::listen(&reading, key, &tell, &*on))
            .map(drop)
    }

    fn shun(&mut self, key: Key, what: String) {
        (self.on)(ClientEvent::Trouble(what));
        let state = State::Shun(None);
        self.found.insert(key.path.clone(), Found { key, state });
    }

    /// A session belongs to the first that names it: another that claims it could only confuse the operator.
    fn meet(&mut self, key: &Key, session: String) -> Admission {
        let taken = self.found.values().any(|found| found.is_session(&session));
        match self.found.get_mut(&key.path) {
            Some(found) if found.key == *key && !taken => match &mut found.state {
                State::Open { session: mine, .. } => {
                    *mine = Some(session);
                    Admission::Connect
                }
                State::Shun(_) => Admission::Refuse,
            },
            _ => Admission::Refuse,
        }
    }

    fn mute(&mut self, key: &Key) {
        if let Some(found) = self
            .found
            .get_mut(&key.path)
            .filter(|found| found.key == *key)
            && let State::Open { session, .. } = &mut found.state
        {
            *session = None;
        }
    }

    fn lose(&mut self, key: &Key, parting: Parting) {
        if self
            .found
            .get(&key.path)
            .is_some_and(|found| found.key == *key)
        {
            match parting {
                Parting::Later => drop(self.found.remove(&key.path)),
                Parting::AtTheDoor => {
                    let key = key.clone();
                    let state = State::Shun(Some(Instant::now() + SHUNNED));
                    self.found.insert(key.path.clone(), Found { key, state });
                }
            }
        }
    }

    fn send(&mut self, to: &str, line: &[u8]) {
        let sent = self
            .found
            .values()
            .find(|found| found.is_session(to))
            .map(|found| match &found.state {
                State::Open { stream, .. } => {
                    (&*stream).write_all(line).inspect_err(|_| found.hang_up())
                }
                State::Shun(_) => Err(io::ErrorKind::NotConnected.into()),
            });
        let why = match sent {
            Some(Ok(())) => return,
            // Half a line may be on its way, so the connection is ended with it.
            Some(Err(error)) => {
                format!("the wrapper takes nothing ({error}); the connection was ended")
            }
            None => "the wrapper is gone".to_owned(),
        };
        (self.on)(ClientEvent::Trouble(format!(
            "not delivered, so not decided here: {why}"
        )));
    }
}

impl Found {
    fn is_session(&self, wanted: &str) -> bool {
        match &self.state {
            State::Open { session, .. } => session.as_deref() == Some(wanted),
            State::Shun(_) => false,
        }
    }

    /// Ends the connection; its reader finds out.
    fn hang_up(&self) {
        if let State::Open { stream, .. } = &self.state {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }
}
