//! Pipes and sockets as non-blocking ends for the loop: our own stdin and stdout, and the server's.
//!
//! Not tokio's stdin: that is a blocking thread. What epoll refuses (files, /dev/null) never blocks, and is used as it is.
//! What others share with us must stay blocking for them: a terminal, which outlives even our `kill -9`, and whatever
//! is the server's stderr as well. Only for those a thread copies to or from a pipe of our own.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::{fcntl_dupfd_cloexec, read, write};
use rustix::termios::isatty;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Four times the usual. A megabyte would be a little faster, but twenty wrappers with four pipes each would then use
/// up what one user may have, and every later pipe of that user would get a single page.
#[cfg(target_os = "linux")]
const PIPE: usize = 256 << 10;
/// How long a bridge may take to write what is left: a terminal may be stopped.
const FAREWELL: Duration = Duration::from_secs(1);

/// The two ends of the host's pipe: our own stdin and stdout, moved out of everybody's reach.
#[derive(Debug)]
pub struct HostPipe {
    pub input: OwnedFd,
    pub output: OwnedFd,
}

impl HostPipe {
    /// Takes copies of descriptors 0 and 1.
    ///
    /// # Errors
    /// The system's, when one is closed or there are no descriptors left.
    pub fn take() -> io::Result<Self> {
        Ok(Self {
            input: fcntl_dupfd_cloexec(io::stdin().as_fd(), 3)?,
            output: fcntl_dupfd_cloexec(io::stdout().as_fd(), 3)?,
        })
    }
}

/// An end to read from.
#[derive(Debug)]
pub struct AsyncIn(End);

/// An end to write to. Dropping it waits, a second at most, for what a bridge has still to write.
#[derive(Debug)]
pub struct AsyncOut {
    /// `None` only while it is dropped.
    end: Option<End>,
    bridge: Option<Bridge>,
}

#[derive(Debug)]
enum End {
    /// A pipe or a socket.
    Polled(AsyncFd<NonBlocking>),
    /// A file or /dev/null: always ready.
    Ready(OwnedFd),
}

impl AsyncIn {
    /// Any readable descriptor.
    ///
    /// # Errors
    /// The system's.
    pub fn new(fd: OwnedFd) -> io::Result<Self> {
        if !is_shared(fd.as_fd(), io::stdout().as_fd()) {
            return Ok(Self(End::new(fd, Interest::READABLE)?));
        }
        let (ours, far) = io::pipe()?;
        bridge("from the host", File::from(fd), far)?;
        Ok(Self(End::new(ours.into(), Interest::READABLE)?))
    }

    /// Reads what is there, waiting for it if need be; 0 at the end.
    ///
    /// # Errors
    /// The system's.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.0 {
            End::Polled(fd) => fd.async_io(Interest::READABLE, |inner| Ok(read(&inner.fd, &mut *buffer)?)).await,
            End::Ready(fd) => Ok(read(fd, buffer)?),
        }
    }
}

impl AsyncOut {
    /// Any writable descriptor.
    ///
    /// # Errors
    /// The system's.
    pub fn new(fd: OwnedFd) -> io::Result<Self> {
        if !is_shared(fd.as_fd(), io::stdin().as_fd()) {
            return Ok(Self { end: Some(End::new(fd, Interest::WRITABLE)?), bridge: None });
        }
        let (far, ours) = io::pipe()?;
        let bridge = Some(bridge("to the host", far, File::from(fd))?);
        Ok(Self { end: Some(End::new(ours.into(), Interest::WRITABLE)?), bridge })
    }

    /// Writes what fits now.
    ///
    /// # Errors
    /// `WouldBlock` when nothing fits; else the system's.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let fd = match &self.end {
            Some(End::Polled(fd)) => &fd.get_ref().fd,
            Some(End::Ready(fd)) => fd,
            None => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        Ok(write(fd, bytes)?)
    }

    /// Waits until something fits.
    ///
    /// # Errors
    /// The system's.
    pub async fn writable(&self) -> io::Result<()> {
        let Some(End::Polled(fd)) = &self.end else { return Ok(()) };
        loop {
            // What epoll remembers may be an old story: it is forgotten until the next edge when nothing fits now.
            let mut guard = fd.writable().await?;
            if is_writable_now(fd.get_ref().fd.as_fd()) {
                return Ok(());
            }
            guard.clear_ready();
        }
    }
}

impl Drop for AsyncOut {
    fn drop(&mut self) {
        // The bridge ends once its pipe has ended and is empty.
        self.end = None;
        if let Some(bridge) = self.bridge.take() {
            let _ = bridge.ended.recv_timeout(FAREWELL);
        }
    }
}

/// A thread that copies between a pipe of ours and what must stay blocking.
#[derive(Debug)]
struct Bridge {
    ended: mpsc::Receiver<()>,
}

fn bridge(name: &str, mut from: impl Read + Send + 'static, mut to: impl Write + Send + 'static) -> io::Result<Bridge> {
    let (end, ended) = mpsc::channel();
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        // The end of either side ends the other; there is nobody to tell more.
        let _ = copy(&mut from, &mut to);
        drop(to);
        let _ = end.send(());
    })?;
    Ok(Bridge { ended })
}

/// Not `io::copy`: between a socket or terminal and a pipe it splices, and a splice that waits for data holds the pipe's
/// lock, so that the loop, which reads or writes the other end, would wait with it (and never see what is in it).
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => to.write_all(&buffer[..n])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether others would notice if a descriptor did not block: it is a terminal, or a pipe or socket that is stderr or
/// the `other` standard stream too. What epoll refuses (files, /dev/null) is never made non-blocking for long.
fn is_shared(fd: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    let place = |fd: BorrowedFd<'_>| fstat(fd).ok().map(|is| (is.st_dev, is.st_ino));
    let kind = fstat(fd).map(|is| FileType::from_raw_mode(is.st_mode));
    let is_stream = matches!(kind, Ok(FileType::Fifo | FileType::Socket));
    isatty(fd) || (is_stream && (place(fd) == place(io::stderr().as_fd()) || place(fd) == place(other)))
}

impl End {
    #[allow(deprecated, reason = "its successor is unsafe; an OwnedFd always gives the same descriptor")]
    fn new(fd: OwnedFd, interest: Interest) -> io::Result<Self> {
        let again = fcntl_dupfd_cloexec(&fd, 3)?;
        match AsyncFd::with_interest(NonBlocking::new(fd)?, interest) {
            Ok(fd) => Ok(Self::Polled(fd)),
            Err(err) if err.kind() == io::ErrorKind::PermissionDenied => Ok(Self::Ready(again)),
            Err(err) => Err(err),
        }
    }
}

/// A descriptor in non-blocking mode, put back as it was at the end: others may share it.
#[derive(Debug)]
struct NonBlocking {
    fd: OwnedFd,
    before: OFlags,
}

impl NonBlocking {
    fn new(fd: OwnedFd) -> io::Result<Self> {
        let before = fcntl_getfl(&fd)?;
        fcntl_setfl(&fd, before | OFlags::NONBLOCK)?;
        // Only a pipe has this size, and a system may not allow it: then it is a little slower.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&fd, PIPE);
        Ok(Self { fd, before })
    }
}

impl AsRawFd for NonBlocking {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

impl Drop for NonBlocking {
    fn drop(&mut self) {
        // Nothing can be done about a descriptor that is gone already.
        let _ = fcntl_setfl(&self.fd, self.before);
    }
}

fn is_writable_now(fd: BorrowedFd<'_>) -> bool {
    let mut one = [PollFd::new(&fd, PollFlags::OUT)];
    poll(&mut one, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}
