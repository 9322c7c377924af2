//! Bytes on their way out of a non-blocking pipe: what could not be written yet waits here, in order.

use std::collections::VecDeque;
use std::io;

use super::stdio::AsyncOut;

/// Lines up to this size share one write.
const SHARED: usize = 64 << 10;

/// The queue in front of one pipe.
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
    /// An empty queue in front of `pipe`.
    pub fn new(pipe: AsyncOut) -> Self {
        let queue = VecDeque::new();
        Self { pipe: Some(pipe), queue, written: 0, queued: 0, broken: false, closing: false }
    }

    /// How many bytes wait.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Whether the other end is gone.
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

    /// Writes as many bytes as the pipe takes at once, and queues the rest: for pieces of a long line.
    pub fn pass(&mut self, mut bytes: &[u8]) {
        self.flush();
        if self.queue.is_empty() {
            while let (Some(pipe), false, false) = (&mut self.pipe, self.broken, bytes.is_empty()) {
                match pipe.try_write(bytes) {
                    Ok(n) => bytes = &bytes[n..],
                    Err(err) if err.kind() == io::ErrorKind::WouldBlock => break,
                    Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => self.give_up(),
                }
            }
        }
        self.push(bytes.to_vec());
    }

    /// Writes as much as the pipe takes now.
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
