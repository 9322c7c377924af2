//! The writer to the host's pipe. Whole lines only: our own never land inside a long one that streams past. Owns the two limits
//! on a line of the server that does not end while our own lines wait.
//!
//! A line that the host gets in pieces cannot be interrupted: whatever we wrote would be read as part of it. So our
//! answers wait; and if the server stops in the middle of the line, or never ends it, the server is ended. Then its
//! open line gets a line end, so that the host sees one broken message, and our answers follow whole.

use super::stdio::Outbox;
use crate::wire::Line;

#[derive(Debug)]
pub struct Host {
    outbox: Outbox,
    /// Whether a long line of the server is being streamed; whole lines wait for its end.
    streaming: bool,
    /// Bytes of that line so far.
    streamed: u64,
    waiting: Vec<Line>,
    waiting_bytes: usize,
}

impl Host {
    pub fn new(outbox: Outbox) -> Self {
        Self { outbox, streaming: false, streamed: 0, waiting: Vec::new(), waiting_bytes: 0 }
    }

    pub fn write(&mut self, line: Line) {
        if self.streaming {
            self.waiting_bytes += line.bytes().len();
            self.waiting.push(line);
        } else {
            self.outbox.push(line.into_bytes());
        }
    }

    /// Writes a piece of a long line; `last` ends it, and then the waiting lines are written.
    pub fn stream(&mut self, bytes: &[u8], last: bool) {
        self.streaming = true;
        self.streamed += bytes.len() as u64;
        self.outbox.push(bytes.to_vec());
        self.outbox.flush();
        if last {
            self.streaming = false;
            self.streamed = 0;
            self.waiting_bytes = 0;
            for line in std::mem::take(&mut self.waiting) {
                self.outbox.push(line.into_bytes());
            }
        }
    }

    /// Writes what a dead server left of its last line. Our own lines may follow, each on a separate line.
    pub fn write_open(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.stream(bytes, false);
        }
    }

    /// The server is gone: a line it began is closed, if anything of ours follows it.
    pub fn close_open_line(&mut self) {
        if self.streaming && !self.waiting.is_empty() {
            self.stream(b"\n", true);
        }
    }

    /// The long line of the server that is being streamed, and whether our own lines wait for its end.
    pub fn open_line(&self) -> OpenLine {
        OpenLine {
            streamed: self.streamed,
            withholds: self.streaming && !self.waiting.is_empty(),
            written: self.outbox.queued() == 0,
        }
    }

    pub fn flush(&mut self) {
        self.outbox.flush();
    }

    /// Waits until the pipe takes more.
    pub async fn writable(&self) {
        self.outbox.writable().await;
    }

    pub fn queued(&self) -> usize {
        self.outbox.queued() + self.waiting_bytes
    }

    pub fn is_gone(&self) -> bool {
        self.outbox.is_broken()
    }
}

/// Microseconds without a byte of the open line.
const SILENCE: u64 = 30_000_000;
/// Microseconds that an answer of ours may wait in all, however many bytes come.
const WHOLE: u64 = 300_000_000;
/// Microseconds between two looks, once one is due.
const AGAIN: u64 = 1_000_000;

/// The line on its way to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenLine {
    /// Bytes of the open line so far.
    pub streamed: u64,
    /// Whether lines of our own wait for its end.
    pub withholds: bool,
    /// Whether everything was written: if not, it is the host that does not read.
    pub written: bool,
}

/// Since when nothing has moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    streamed: u64,
    moved: u64,
    waits: Option<u64>,
    next: Option<u64>,
}

impl Stall {
    /// Takes note of the line at `now` (monotonic microseconds).
    pub fn look(&mut self, now: u64, line: OpenLine) {
        if line.streamed != self.streamed || !line.written {
            (self.streamed, self.moved) = (line.streamed, now);
        }
        if !line.withholds {
            (self.waits, self.next) = (None, None);
            return;
        }
        let waits = *self.waits.get_or_insert(now);
        self.next = Some((self.moved.max(waits) + SILENCE).min(waits + WHOLE).max(now + AGAIN));
    }

    /// What is wrong with the server, if its line has lasted too long by `now`.
    pub fn fault(&self, now: u64, line: OpenLine) -> Option<&'static str> {
        let waits = self.waits.filter(|_| line.withholds && line.written)?;
        if now >= self.moved.max(waits) + SILENCE {
            Some("it stopped in the middle of a line for 30 s, and answers could not pass")
        } else if now >= waits + WHOLE {
            Some("one line of it lasted for 5 min, and answers could not pass")
        } else {
            None
        }
    }

    pub fn wake_at(&self) -> Option<u64> {
        self.next
    }
}
