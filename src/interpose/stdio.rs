//! Pipes and sockets as non-blocking ends for the loop. What could not be written yet waits here, in order.
//!
//! Not tokio's stdin, which is a blocking thread. Files, which epoll refuses, never block and are used as they are.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{fcntl_dupfd_cloexec, read, write};
use rustix::net::sockopt::socket_type;
use rustix::net::{RecvFlags, SendFlags, SocketType, recv, send};
use rustix::stdio::{dup2_stdin, dup2_stdout, stdin, stdout};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The two ends of the host's pipe: our own stdin and stdout.
#[derive(Debug)]
pub struct HostPipe {
    pub input: Descriptor,
    pub output: Descriptor,
}

/// A descriptor that is ours, or 0 or 1, which stay open to the end: no file may ever get their numbers.
#[derive(Debug)]
pub enum Descriptor {
    Own(OwnedFd),
    Standard(BorrowedFd<'static>),
}

impl HostPipe {
    /// Copies of descriptors 0 and 1; if possible, ones that share no mode with the originals, which others may use too
    /// (`2>&1` makes our stdout the server's stderr). Errors: The system's, if one is closed or none are left.
    pub fn copy() -> io::Result<Self> {
        Ok(Self {
            input: Descriptor::Own(own(stdin(), OFlags::RDONLY)?),
            output: Descriptor::Own(own(stdout(), OFlags::WRONLY)?),
        })
    }

    /// The same in the place of descriptors 0 and 1, which nothing else here uses then.
    pub fn take() -> io::Result<Self> {
        let Self { input, output } = Self::copy()?;
        dup2_stdin(&input)?;
        dup2_stdout(&output)?;
        Ok(Self { input: Descriptor::Standard(stdin()), output: Descriptor::Standard(stdout()) })
    }
}

impl Descriptor {
    fn again(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Own(fd) => Self::Own(fcntl_dupfd_cloexec(fd, 3)?),
            Self::Standard(fd) => Self::Standard(*fd),
        })
    }
}

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Own(fd) => fd.as_fd(),
            Self::Standard(fd) => *fd,
        }
    }
}

impl From<OwnedFd> for Descriptor {
    fn from(fd: OwnedFd) -> Self {
        Self::Own(fd)
    }
}

/// The same pipe, opened again; anything else is duplicated.
fn own(fd: BorrowedFd<'_>, access: OFlags) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    if rustix::fs::fstat(fd).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Fifo) {
        let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
        // Opened without waiting for the other end; another user's pipe may not be opened at all.
        let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC;
        if let Ok(opened) = rustix::fs::open(path, flags, rustix::fs::Mode::empty()) {
            return Ok(opened);
        }
    }
    let _ = access;
    Ok(fcntl_dupfd_cloexec(fd, 3)?)
}

/// Lets a pipe that carries results hold more, for fewer turns between its ends. What may not grow stays as it is.
#[cfg(target_os = "linux")]
pub fn widen(pipe: impl AsFd) {
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

    const PIPE: usize = 256 << 10;
    let pipe = pipe.as_fd();
    if fcntl_getpipe_size(pipe).is_ok_and(|size| size < PIPE) {
        let _ = fcntl_setpipe_size(pipe, PIPE);
    }
}

/// Pipes of other systems grow by themselves.
#[cfg(not(target_os = "linux"))]
pub fn widen(_: impl AsFd) {}

#[derive(Debug)]
pub struct AsyncIn(End);

#[derive(Debug)]
pub struct AsyncOut(End);

#[derive(Debug)]
enum End {
    /// A pipe, a socket, a terminal.
    Polled(AsyncFd<NonBlocking>),
    /// A file or /dev/null: always ready.
    Ready(Descriptor),
}

impl AsyncIn {
    pub fn new(fd: impl Into<Descriptor>) -> io::Result<Self> {
        Ok(Self(End::new(fd.into(), Interest::READABLE)?))
    }

    /// Reads what is there, waiting for it if need be; 0 at the end.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let fd = match &self.0 {
            End::Polled(fd) => fd,
            End::Ready(fd) => return Ok(read(fd, buffer)?),
        };
        loop {
            let mut guard = fd.readable().await?;
            match guard.try_io(|fd| fd.get_ref().read(buffer)) {
                Ok(Ok(read)) => {
                    if (1..buffer.len()).contains(&read) && guard.get_inner().short == Short::Drained {
                        // Whatever comes from now on is a new edge, so there is no need to read again.
                        guard.clear_ready();
                    }
                    return Ok(read);
                }
                Ok(Err(error)) => return Err(error),
                Err(_would_block) => {}
            }
        }
    }

    /// Reads what is there already; `None` if nothing is, at the end, and for files, which are always ready.
    pub fn read_now(&self, buffer: &mut [u8]) -> Option<usize> {
        match &self.0 {
            End::Polled(fd) => fd.get_ref().read(buffer).ok().filter(|read| *read > 0),
            End::Ready(_) => None,
        }
    }
}

impl AsyncOut {
    pub fn new(fd: impl Into<Descriptor>) -> io::Result<Self> {
        Ok(Self(End::new(fd.into(), Interest::WRITABLE)?))
    }

    /// Writes what fits now.
    /// Errors: `WouldBlock` when nothing fits; otherwise the system's.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0 {
            End::Polled(fd) => fd.get_ref().write(bytes),
            End::Ready(fd) => Ok(write(fd, bytes)?),
        }
    }

    /// Waits until something fits.
    pub async fn writable(&self) -> io::Result<()> {
        let End::Polled(fd) = &self.0 else { return Ok(()) };
        loop {
            // What epoll reported may be outdated: if nothing fits now, it is cleared until the next edge.
            let mut guard = fd.writable().await?;
            if is_writable_now(fd.get_ref().fd.as_fd()) {
                return Ok(());
            }
            guard.clear_ready();
        }
    }
}

impl End {
    #[allow(deprecated, reason = "its successor is unsafe; a Descriptor always gives the same descriptor")]
    fn new(fd: Descriptor, interest: Interest) -> io::Result<Self> {
        let again = fd.again()?;
        match AsyncFd::with_interest(NonBlocking::new(fd)?, interest) {
            Ok(fd) => Ok(Self::Polled(fd)),
            Err(err) if err.kind() == io::ErrorKind::PermissionDenied => Ok(Self::Ready(again)),
            Err(err) => Err(err),
        }
    }
}

#[derive(Debug)]
struct NonBlocking {
    fd: Descriptor,
    how: How,
    short: Short,
}

/// What it means that less was read than there was room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Short {
    /// Nothing is left: a pipe or a stream.
    Drained,
    /// Perhaps a terminal's next line, or a socket's next packet.
    Unknown,
}

/// What keeps it from blocking.
#[derive(Clone, Copy, Debug)]
enum How {
    /// Each call says so: a socket's mode, which others may share, is left alone.
    Each,
    /// Its mode, which is restored at the end.
    Mode { before: OFlags },
}

impl NonBlocking {
    fn new(fd: Descriptor) -> io::Result<Self> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
        if kind == FileType::Socket {
            let is_stream = socket_type(&fd).is_ok_and(|kind| kind == SocketType::STREAM);
            let short = if is_stream { Short::Drained } else { Short::Unknown };
            return Ok(Self { fd, how: How::Each, short });
        }
        let before = fcntl_getfl(&fd)?;
        fcntl_setfl(&fd, before | OFlags::NONBLOCK)?;
        let short = if kind == FileType::Fifo { Short::Drained } else { Short::Unknown };
        Ok(Self { fd, how: How::Mode { before }, short })
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.how {
            How::Each => Ok(recv(&self.fd, buffer, RecvFlags::DONTWAIT)?.0),
            How::Mode { .. } => Ok(read(&self.fd, buffer)?),
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self.how {
            How::Each => Ok(send(&self.fd, bytes, SendFlags::DONTWAIT)?),
            How::Mode { .. } => Ok(write(&self.fd, bytes)?),
        }
    }
}

impl AsRawFd for NonBlocking {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_fd().as_raw_fd()
    }
}

impl Drop for NonBlocking {
    fn drop(&mut self) {
        // Nothing can be done about a descriptor that is gone already.
        if let How::Mode { before } = self.how {
            let _ = fcntl_setfl(&self.fd, before);
        }
    }
}

fn is_writable_now(fd: BorrowedFd<'_>) -> bool {
    let mut one = [PollFd::new(&fd, PollFlags::OUT)];
    poll(&mut one, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

/// Lines up to this size share one write.
const SHARED: usize = 64 << 10;

#[derive(Debug)]
pub struct Outbox {
    pipe: Option<AsyncOut>,
    queue: VecDeque<Vec<u8>>,
    /// How much of the first buffer is written already.
    written: usize,
    queued: usize,
    broken: bool,
    /// Close once the queue is empty.
    closing: bool,
}

impl Outbox {
    pub fn new(pipe: AsyncOut) -> Self {
        let queue = VecDeque::new();
        Self { pipe: Some(pipe), queue, written: 0, queued: 0, broken: false, closing: false }
    }

    pub fn queued(&self) -> usize {
        self.queued
    }

    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Queues whole bytes; nothing is written before [`Self::flush`]. A pipe that is gone takes nothing.
    pub fn push(&mut self, bytes: Vec<u8>) {
        if self.closing || self.pipe.is_none() || bytes.is_empty() {
            return;
        }
        self.queued += bytes.len();
        match self.queue.back_mut() {
            Some(last) if last.len() + bytes.len() <= SHARED => last.extend_from_slice(&bytes),
            _ => self.queue.push_back(bytes),
        }
    }

    pub fn flush(&mut self) {
        while let (Some(pipe), Some(first)) = (&mut self.pipe, self.queue.front()) {
            match pipe.try_write(&first[self.written..]) {
                Ok(n) => {
                    self.written += n;
                    self.queued -= n;
                    if self.written == first.len() {
                        self.written = 0;
                        self.queue.pop_front();
                    }
                }
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => return,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.give_up(),
            }
        }
        if self.closing {
            self.pipe = None;
        }
    }

    /// Waits until the pipe takes more; for ever when nothing waits.
    pub async fn writable(&self) {
        match &self.pipe {
            Some(pipe) if self.queued > 0 => {
                if pipe.writable().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
            _ => std::future::pending().await,
        }
    }

    /// Closes the pipe as soon as the queue is empty; takes nothing more.
    pub fn close_when_written(&mut self) {
        self.closing = true;
        self.flush();
    }

    fn give_up(&mut self) {
        self.broken = true;
        self.pipe = None;
        self.queue.clear();
        self.written = 0;
        self.queued = 0;
    }
}
