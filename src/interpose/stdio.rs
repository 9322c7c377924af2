//! Pipes and sockets as tokio reads and writes them: the host's two ends, and the same types for the server's.
//!
//! Hosts give pipes (most), socket pairs (the TypeScript SDK), and people terminals and files. Pipes and sockets are
//! watched by epoll, without a thread between. What epoll refuses, or what must not be made non-blocking because
//! another shares it, is bridged to a pipe by a thread. Owns no bytes and knows no lines.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::fs::{FileType, OFlags};
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, Ready};

/// Four times the usual. A megabyte would be a little faster, but twenty wrappers with four pipes each would then use
/// up what one user may have, and every later pipe of that user would get a single page.
#[cfg(target_os = "linux")]
const PIPE: usize = 256 * 1024;
/// How long a bridge may take to write what is left: a terminal may be stopped.
const FAREWELL: Duration = Duration::from_secs(1);

/// A descriptor to read from.
#[derive(Debug)]
pub struct AsyncIn(Watched);

/// A descriptor to write to.
#[derive(Debug)]
pub struct AsyncOut(Watched);

/// The wrapper's stdin. The descriptor is copied; 0 itself stays as it is.
#[derive(Debug)]
pub struct HostInput(AsyncIn);

/// The wrapper's stdout. The descriptor is copied; 1 itself stays as it is. Dropping it waits, a second at most, for
/// what a bridge has still to write.
#[derive(Debug)]
pub struct HostOutput {
    out: Option<AsyncOut>,
    bridge: Option<Bridge>,
}

impl AsyncIn {
    /// Takes a pipe or socket. Must be called within a tokio runtime with io.
    ///
    /// # Errors
    /// The descriptor is neither, or the system refuses to watch it.
    pub fn new(descriptor: OwnedFd) -> io::Result<Self> {
        Watched::new(descriptor, Interest::READABLE).map(Self)
    }

    /// Reads what is there, waiting until something is. Zero is the end. Nothing is lost when it is dropped.
    ///
    /// # Errors
    /// The read's own.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut guard = self.0.descriptor.readable().await?;
            match guard.try_io(|descriptor| read(descriptor.get_ref(), buffer)) {
                Ok(Ok(got)) => {
                    // The rest comes with a new event: no second read to learn that there is nothing.
                    if got > 0 && got < buffer.len() {
                        guard.clear_ready_matching(Ready::READABLE);
                    }
                    return Ok(got);
                }
                Ok(Err(error)) => return Err(error),
                Err(_would_block) => {}
            }
        }
    }

    /// Reads what is there, or fails with [`io::ErrorKind::WouldBlock`].
    ///
    /// # Errors
    /// The read's own.
    pub fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        read(self.0.descriptor.get_ref(), buffer)
    }
}

impl AsyncOut {
    /// Takes a pipe or socket. Must be called within a tokio runtime with io.
    ///
    /// # Errors
    /// The descriptor is neither, or the system refuses to watch it.
    pub fn new(descriptor: OwnedFd) -> io::Result<Self> {
        Watched::new(descriptor, Interest::WRITABLE).map(Self)
    }

    /// Writes as much as there is room for now, or fails with [`io::ErrorKind::WouldBlock`]: then wait for
    /// [`AsyncOut::writable`].
    ///
    /// # Errors
    /// The write's own; [`io::ErrorKind::BrokenPipe`] when nobody reads any more.
    pub fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Through tokio, so that a full pipe is remembered as not writable.
        self.0.descriptor.try_io(Interest::WRITABLE, |descriptor| write(descriptor, bytes))
    }

    /// Waits until there may be room.
    ///
    /// # Errors
    /// The runtime is shutting down.
    pub async fn writable(&self) -> io::Result<()> {
        self.0.descriptor.writable().await.map(drop)
    }
}

impl HostInput {
    /// Takes the wrapper's stdin. Must be called within a tokio runtime with io.
    ///
    /// # Errors
    /// There is no stdin, or the system gives no pipe or thread.
    pub fn take() -> io::Result<Self> {
        let stdin = io::stdin();
        let copy = stdin.as_fd().try_clone_to_owned()?;
        if may_be_watched(stdin.as_fd(), io::stdout().as_fd())? {
            return AsyncIn::new(copy).map(Self);
        }
        let (reader, writer) = io::pipe()?;
        bridge("host's stdin", File::from(copy), writer)?;
        AsyncIn::new(reader.into()).map(Self)
    }

    /// As [`AsyncIn::read`].
    ///
    /// # Errors
    /// The read's own.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).await
    }

    /// As [`AsyncIn::try_read`].
    ///
    /// # Errors
    /// The read's own.
    pub fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }
}

impl HostOutput {
    /// Takes the wrapper's stdout. Must be called within a tokio runtime with io.
    ///
    /// # Errors
    /// There is no stdout, or the system gives no pipe or thread.
    pub fn take() -> io::Result<Self> {
        let stdout = io::stdout();
        let copy = stdout.as_fd().try_clone_to_owned()?;
        if may_be_watched(stdout.as_fd(), io::stdin().as_fd())? {
            let out = Some(AsyncOut::new(copy)?);
            return Ok(Self { out, bridge: None });
        }
        let (reader, writer) = io::pipe()?;
        let bridge = Some(bridge("host's stdout", reader, File::from(copy))?);
        let out = Some(AsyncOut::new(writer.into())?);
        Ok(Self { out, bridge })
    }

    /// As [`AsyncOut::try_write`].
    ///
    /// # Errors
    /// The write's own.
    pub fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Some(out) => out.try_write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// As [`AsyncOut::writable`].
    ///
    /// # Errors
    /// The runtime is shutting down.
    pub async fn writable(&self) -> io::Result<()> {
        match &self.out {
            Some(out) => out.writable().await,
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Drop for HostOutput {
    fn drop(&mut self) {
        // The bridge ends once its pipe has ended and is empty.
        self.out = None;
        if let Some(bridge) = self.bridge.take() {
            let _ = bridge.ended.recv_timeout(FAREWELL);
        }
    }
}

/// A non-blocking descriptor that epoll watches; blocking again, if it was, once it is dropped.
#[derive(Debug)]
struct Watched {
    descriptor: AsyncFd<OwnedFd>,
    before: OFlags,
}

impl Watched {
    fn new(descriptor: OwnedFd, interest: Interest) -> io::Result<Self> {
        if !is_pipe_or_socket(descriptor.as_fd())? {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "neither pipe nor socket"));
        }
        let before = rustix::fs::fcntl_getfl(&descriptor)?;
        rustix::fs::fcntl_setfl(&descriptor, before | OFlags::NONBLOCK)?;
        // A socket has no such size, and a system may not allow it: then it is a little slower.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&descriptor, PIPE);
        #[allow(
            deprecated,
            reason = "what replaces it is unsafe, for types whose descriptor may change; an OwnedFd keeps its own"
        )]
        let descriptor = AsyncFd::with_interest(descriptor, interest)?;
        Ok(Self { descriptor, before })
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // The flag belongs to the open file, which others may have too.
        let _ = rustix::fs::fcntl_setfl(self.descriptor.get_ref(), self.before);
    }
}

/// Whether a standard stream may be made non-blocking: a pipe or socket that is not another standard stream as well.
/// The server inherits stderr, and would see the flag.
fn may_be_watched(stream: BorrowedFd<'_>, other: BorrowedFd<'_>) -> io::Result<bool> {
    let mine = rustix::fs::fstat(stream)?;
    let is_same =
        |fd: BorrowedFd<'_>| rustix::fs::fstat(fd).is_ok_and(|is| (is.st_dev, is.st_ino) == (mine.st_dev, mine.st_ino));
    Ok(is_pipe_or_socket(stream)? && !is_same(other) && !is_same(io::stderr().as_fd()))
}

fn is_pipe_or_socket(descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    let mode = rustix::fs::fstat(descriptor)?.st_mode;
    Ok(matches!(FileType::from_raw_mode(mode), FileType::Fifo | FileType::Socket))
}

/// A thread that copies what cannot be watched.
#[derive(Debug)]
struct Bridge {
    ended: mpsc::Receiver<()>,
}

fn bridge(name: &str, mut from: impl Read + Send + 'static, mut to: impl Write + Send + 'static) -> io::Result<Bridge> {
    let (end, ended) = mpsc::channel();
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        // The end of either side ends the other; there is nobody to tell more.
        let _ = io::copy(&mut from, &mut to);
        drop(to);
        let _ = end.send(());
    })?;
    Ok(Bridge { ended })
}

fn read(from: &impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::retry_on_intr(|| rustix::io::read(from, &mut *buffer))?)
}

fn write(to: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::retry_on_intr(|| rustix::io::write(to, bytes))?)
}
