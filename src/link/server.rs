//! The wrapper's end of the link: a socket any number of consoles attach to. Owns who may talk; decides nothing.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;

use super::folder::{FolderError, NameClaim, RuntimeFolder};
use super::message::{FromConsole, FromWrapper, PROTOCOL, Wrapper};
use super::peer;

/// The longest line a console may send: an edit of a 16 MiB call, escaped.
const LINE: u64 = 64 << 20;
/// A console that has so much unread is let go.
const UNREAD: usize = 64 << 20;
/// A console that has so much unread gets no more Activity.
const UNREAD_ACTIVITY: usize = 1 << 20;

/// One attached console.
pub type ConsoleId = u64;

/// What consoles do.
#[derive(Debug)]
pub enum FromConsoles {
    /// One attached, and speaks our protocol. `queue` is where its messages go.
    Attached { console: ConsoleId, who: String, queue: Queue },
    /// It said something.
    Said { console: ConsoleId, who: String, message: FromConsole },
    /// It went away.
    Detached { console: ConsoleId, who: String },
    /// Somebody was turned away.
    Rejected { why: String },
}

/// What keeps consoles from attaching.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("the console's socket {path} cannot be made: {cause}")]
    Socket { path: String, cause: io::Error },
}

/// The socket, and who is attached.
#[derive(Debug)]
pub struct Server {
    claim: NameClaim,
    consoles: BTreeMap<ConsoleId, Queue>,
}

/// Messages on their way to one console.
#[derive(Clone, Debug)]
pub struct Queue {
    lines: mpsc::UnboundedSender<Arc<[u8]>>,
    unread: Arc<AtomicUsize>,
}

impl Server {
    /// Takes a name and listens under it. `wrapper` tells who we are once the name is known; `on` hears the consoles.
    ///
    /// # Errors
    /// [`LinkError`]: no console can attach then.
    pub fn start(
        run: &Path,
        base: &str,
        wrapper: impl FnOnce(&str) -> Wrapper,
        on: mpsc::UnboundedSender<FromConsoles>,
    ) -> Result<Self, LinkError> {
        let claim = RuntimeFolder::open(run)?.claim(base)?;
        let path = claim.free_socket()?;
        let socket = |cause| LinkError::Socket { path: path.display().to_string(), cause };
        let listener = UnixListener::bind(path).map_err(socket)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(socket)?;
        let hello = FromWrapper::Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            wrapper: wrapper(claim.name()),
        };
        tokio::spawn(accept(listener, line_of(&hello), on));
        Ok(Self { claim, consoles: BTreeMap::new() })
    }

    /// The name that was taken.
    pub fn server_name(&self) -> &str {
        self.claim.name()
    }

    /// Keeps the list of the attached by what was heard.
    pub fn hear(&mut self, said: &FromConsoles) {
        match said {
            FromConsoles::Attached { console, queue, .. } => {
                self.consoles.insert(*console, queue.clone());
            }
            FromConsoles::Detached { console, .. } => {
                self.consoles.remove(console);
            }
            FromConsoles::Said { .. } | FromConsoles::Rejected { .. } => {}
        }
    }

    /// How many consoles are attached.
    pub fn attached(&self) -> usize {
        self.consoles.len()
    }

    /// Says something to one console.
    pub fn send(&self, console: ConsoleId, message: &FromWrapper) {
        if let Some(queue) = self.consoles.get(&console) {
            queue.push(message, &line_of(message));
        }
    }

    /// Says something to every console.
    pub fn broadcast(&self, message: &FromWrapper) {
        if self.consoles.is_empty() {
            return;
        }
        let line = line_of(message);
        for queue in self.consoles.values() {
            queue.push(message, &line);
        }
    }
}

impl Queue {
    /// Queues a line unless the console reads too slowly: Activity is dropped first, then the console itself (its
    /// writer sees the size and ends).
    fn push(&self, message: &FromWrapper, line: &Arc<[u8]>) {
        let unread = self.unread.fetch_add(line.len(), Ordering::Relaxed);
        if matches!(message, FromWrapper::Activity(_)) && unread > UNREAD_ACTIVITY {
            self.unread.fetch_sub(line.len(), Ordering::Relaxed);
            return;
        }
        // The console is going away; its Detached is under way.
        let _ = self.lines.send(Arc::clone(line));
    }
}

async fn accept(listener: UnixListener, hello: Arc<[u8]>, on: mpsc::UnboundedSender<FromConsoles>) {
    let mut next: ConsoleId = 0;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                next += 1;
                tokio::spawn(attend(next, stream, Arc::clone(&hello), on.clone()));
            }
            // No descriptors left, most likely: others may be closed meanwhile.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(200)).await,
        }
    }
}

/// One console from attaching to leaving.
async fn attend(console: ConsoleId, stream: UnixStream, hello: Arc<[u8]>, on: mpsc::UnboundedSender<FromConsoles>) {
    let pid = match peer::check(&stream) {
        Ok(pid) => pid,
        Err(why) => {
            let _ = on.send(FromConsoles::Rejected { why: why.to_string() });
            return;
        }
    };
    let (read, mut write) = stream.into_split();
    if write.write_all(&hello).await.is_err() {
        return;
    }
    let mut read = BufReader::new(read);
    let Some(FromConsole::Hello { protocol, version, operator, .. }) = next_line(&mut read).await else {
        return;
    };
    if protocol != PROTOCOL {
        let why = format!("a console of version {version} speaks link {protocol}, not {PROTOCOL}");
        let _ = on.send(FromConsoles::Rejected { why });
        return;
    }
    let who = format!("{operator} (pid {pid})");
    let (lines, queue) = mpsc::unbounded_channel();
    let unread = Arc::new(AtomicUsize::new(0));
    let attached =
        FromConsoles::Attached { console, who: who.clone(), queue: Queue { lines, unread: Arc::clone(&unread) } };
    let _ = on.send(attached);
    let writer = tokio::spawn(write_all(write, queue, unread));
    while let Some(message) = next_line(&mut read).await {
        if on.send(FromConsoles::Said { console, who: who.clone(), message }).is_err() {
            break;
        }
    }
    writer.abort();
    let _ = on.send(FromConsoles::Detached { console, who });
}

/// The next message; `None` at the end, and for anything that is none.
async fn next_line(read: &mut BufReader<OwnedReadHalf>) -> Option<FromConsole> {
    let mut line = Vec::new();
    let n = read.take(LINE).read_until(b'\n', &mut line).await.ok()?;
    if n == 0 { None } else { serde_json::from_slice(&line).ok() }
}

async fn write_all(mut write: OwnedWriteHalf, mut queue: mpsc::UnboundedReceiver<Arc<[u8]>>, unread: Arc<AtomicUsize>) {
    while let Some(line) = queue.recv().await {
        if unread.load(Ordering::Relaxed) > UNREAD || write.write_all(&line).await.is_err() {
            // Dropping the half shuts the stream down; the reader sees it and tells.
            return;
        }
        unread.fetch_sub(line.len(), Ordering::Relaxed);
    }
}

fn line_of(message: &FromWrapper) -> Arc<[u8]> {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line.into()
}
