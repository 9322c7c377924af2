//! The audit's thread: takes entries without making anyone wait, and acknowledges each once it is recorded or failed.
//!
//! Whatever is queued when it turns to its work becomes one commit. It opens the log itself, so that starting costs
//! nothing; a log that cannot be opened is tried again at every commit, and fails every entry meanwhile.

use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::audit::record::{Entry, Receipt};
use crate::audit::redact::Redactor;
use crate::audit::store::Store;

/// At most so many entries share a commit: the first of them waits for the last.
const BATCH: usize = 512;
/// A commit that was not synced is synced this long after it, well within the promised 100 ms.
const SYNC_AFTER: Duration = Duration::from_millis(60);
/// The thread is idle when nothing came for so long.
const IDLE: Duration = Duration::from_secs(1);
/// So much of a write-ahead log is worth a checkpoint when idle. Below it the next call would pay for a log begun anew.
const IDLE_BACKLOG: u64 = 4 << 20;
/// So much is worth one in the middle of the work.
const BUSY_BACKLOG: u64 = 64 << 20;
/// How long [`Scribe::finish`] waits for a disk that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What became of an entry.
#[derive(Debug, PartialEq, Eq)]
pub enum Ack {
    /// It is in the log.
    Recorded(Receipt),
    /// It is not in the log. `why` says what happened and what to do.
    Failed { entry: u64, why: String },
}

/// The handle of the audit's thread.
pub struct Scribe {
    queue: Sender<Vec<(u64, Entry)>>,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
    on_ack: OnAck,
}

/// Shared, so that entries fail aloud even when the thread could not start or is gone.
type OnAck = Arc<Mutex<dyn FnMut(Vec<Ack>) + Send>>;

impl Scribe {
    /// Starts the thread. `path` is the log, `key_path` the key of redaction (made when missing). `on_ack` is called on
    /// the thread, with the entries of one commit in their order.
    pub fn start(path: PathBuf, key_path: PathBuf, on_ack: impl FnMut(Vec<Ack>) + Send + 'static) -> Self {
        let (queue, inbox) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let on_ack: OnAck = Arc::new(Mutex::new(on_ack));
        let mut desk = Desk { path, key_path, inbox, on_ack: Arc::clone(&on_ack), tools: None, unsynced_since: None };
        let thread = Builder::new().name("scribe".to_owned()).spawn(move || {
            desk.work();
            // Nobody listens any more when the wrapper gave up waiting.
            let _ = end.send(());
        });
        if let Err(error) = &thread {
            tracing::error!(%error, "the audit thread could not be started; every call will be refused");
        }
        Self { queue, ended, thread: thread.ok(), on_ack }
    }

    /// Hands entries over; each is acknowledged exactly once. Never blocks.
    pub fn record(&self, batch: Vec<(u64, Entry)>) {
        if let Err(mpsc::SendError(batch)) = self.queue.send(batch) {
            let why = "the audit thread is gone; start mcp-approve again";
            tell(&self.on_ack, refuse(&batch, why));
        }
    }

    /// Has everything recorded and synced, and ends the thread. Gives up after two seconds, then with `Err`.
    ///
    /// # Errors
    /// The disk did not answer in time; what was not acknowledged may be lost.
    pub fn finish(self) -> Result<(), Unfinished> {
        drop(self.queue);
        let Some(thread) = self.thread else {
            return Err(Unfinished);
        };
        match self.ended.recv_timeout(PATIENCE) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => thread.join().map_err(|_| Unfinished),
            Err(RecvTimeoutError::Timeout) => Err(Unfinished),
        }
    }
}

/// The audit's thread did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit log was not closed in time; its last records may be missing")]
pub struct Unfinished;

/// What the thread has before it.
struct Desk {
    path: PathBuf,
    key_path: PathBuf,
    inbox: Receiver<Vec<(u64, Entry)>>,
    on_ack: OnAck,
    tools: Option<Tools>,
    unsynced_since: Option<Instant>,
}

/// What is needed to record, and can be missing.
struct Tools {
    store: Store,
    redactor: Redactor,
}

impl Desk {
    fn work(&mut self) {
        // Opened ahead of the first entry, which then need not wait. A failure is told with that entry.
        let _ = self.tools();
        loop {
            match self.next() {
                Ok(batch) => self.record(batch),
                Err(RecvTimeoutError::Timeout) if self.unsynced_since.is_some() => self.sync(),
                Err(RecvTimeoutError::Timeout) => self.checkpoint_past(IDLE_BACKLOG),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // A stream of entries without a pause must not put the sync off.
            if self.unsynced_since.is_some_and(|since| since.elapsed() >= SYNC_AFTER) {
                self.sync();
            }
        }
        self.sync();
    }

    /// Waits for entries: as long as a sync can wait, or a checkpoint, or for ever when neither is due.
    fn next(&self) -> Result<Vec<(u64, Entry)>, RecvTimeoutError> {
        let backlog = self.tools.as_ref().map_or(0, |tools| tools.store.backlog());
        match self.unsynced_since {
            Some(since) => self.inbox.recv_timeout(SYNC_AFTER.saturating_sub(since.elapsed())),
            None if backlog >= IDLE_BACKLOG => self.inbox.recv_timeout(IDLE),
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Records a batch, and whatever else is queued by now, in as few commits as may be.
    fn record(&mut self, mut batch: Vec<(u64, Entry)>) {
        while batch.len() < BATCH {
            match self.inbox.try_recv() {
                Ok(mut more) => batch.append(&mut more),
                Err(_) => break,
            }
        }
        for batch in batch.chunks(BATCH) {
            let acks = match self.append(batch) {
                Ok(receipts) => receipts.into_iter().map(Ack::Recorded).collect(),
                Err(why) => {
                    tracing::error!(why, entries = batch.len(), "nothing was recorded");
                    refuse(batch, &why)
                }
            };
            tell(&self.on_ack, acks);
        }
        let needs_sync = self.tools.as_ref().is_some_and(|tools| tools.store.needs_sync());
        self.unsynced_since = match self.unsynced_since {
            _ if !needs_sync => None,
            None => Some(Instant::now()),
            since => since,
        };
        self.checkpoint_past(BUSY_BACKLOG);
    }

    fn append(&mut self, batch: &[(u64, Entry)]) -> Result<Vec<Receipt>, String> {
        let tools = self.tools()?;
        tools.store.append(batch, &tools.redactor).map_err(|error| format!("{error}; {}", error.hint()))
    }

    fn tools(&mut self) -> Result<&mut Tools, String> {
        let tools = match self.tools.take() {
            Some(tools) => tools,
            None => {
                let writer = random().map_err(|error| format!("no randomness: {error}"))?;
                let store = Store::open(&self.path, writer).map_err(|error| format!("{error}; {}", error.hint()))?;
                let key = key(&self.key_path).map_err(|error| {
                    let path = self.key_path.display();
                    format!("the key {path}, by which secrets are hidden from the log, cannot be used: {error}; make its folder writable for your user")
                })?;
                let redactor = Redactor::new(&key);
                Tools { store, redactor }
            }
        };
        Ok(self.tools.insert(tools))
    }

    fn sync(&mut self) {
        self.unsynced_since = None;
        if let Some(tools) = &mut self.tools
            && let Err(error) = tools.store.sync()
        {
            tracing::error!(%error, "records of the last moment may not survive a loss of power");
        }
    }

    fn checkpoint_past(&mut self, backlog: u64) {
        if let Some(tools) = &mut self.tools
            && tools.store.backlog() >= backlog
            && let Err(error) = tools.store.checkpoint()
        {
            tracing::warn!(%error, "the write-ahead log could not be moved into the database");
        }
    }
}

fn refuse(batch: &[(u64, Entry)], why: &str) -> Vec<Ack> {
    let failed = |(entry, _): &(u64, Entry)| Ack::Failed { entry: *entry, why: why.to_owned() };
    batch.iter().map(failed).collect()
}

fn tell(on_ack: &OnAck, acks: Vec<Ack>) {
    let mut on_ack = on_ack.lock().unwrap_or_else(PoisonError::into_inner);
    (*on_ack)(acks);
}

/// Random bytes from the system.
fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The redaction key, made when it is missing. Two wrappers that start at once agree on one: the file appears whole,
/// under its name, or not at all.
fn key(path: &Path) -> io::Result<[u8; 32]> {
    match std::fs::read(path) {
        Ok(bytes) => return exactly(&bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let suffix = u64::from_be_bytes(random()?);
    let draft = path.with_extension(format!("{suffix:016x}"));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written =
        file.write_all(&random::<32>()?).and_then(|()| file.sync_all()).and_then(|()| {
            match std::fs::hard_link(&draft, path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                _ => Ok(()),
            }
        });
    std::fs::remove_file(&draft)?;
    written?;
    exactly(&std::fs::read(path)?)
}

fn exactly(bytes: &[u8]) -> io::Result<[u8; 32]> {
    bytes.try_into().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it does not hold 32 bytes"))
}
