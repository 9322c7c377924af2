//! The writer to the host's pipe. Whole lines only: our own never land inside a long one that streams past.

use super::outbox::Outbox;
use super::stall::OpenLine;
use crate::wire::line::Line;

/// Our stdout.
#[derive(Debug)]
pub struct Host {
    outbox: Outbox,
    /// Whether a long line of the server is being streamed; whole lines wait for its end.
    streaming: bool,
    /// Bytes of that line so far.
    streamed: u64,
    waiting: Vec<Line>,
    /// Bytes of the waiting lines.
    waiting_bytes: usize,
}

impl Host {
    /// The writer in front of our stdout.
    pub fn new(outbox: Outbox) -> Self {
        Self { outbox, streaming: false, streamed: 0, waiting: Vec::new(), waiting_bytes: 0 }
    }

    /// Writes one whole line, the server's or our own.
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
        self.outbox.pass(bytes);
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

    /// Writes as much as the pipe takes now.
    pub fn flush(&mut self) {
        self.outbox.flush();
    }

    /// Waits until the pipe takes more.
    pub async fn writable(&self) {
        self.outbox.writable().await;
    }

    /// How many bytes wait to be written.
    pub fn queued(&self) -> usize {
        self.outbox.queued() + self.waiting_bytes
    }

    /// Whether its reader is gone.
    pub fn is_gone(&self) -> bool {
        self.outbox.is_broken()
    }
}
