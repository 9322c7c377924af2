//! What is still to be written to one console: bounded, so that a console that does not read costs little.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Beyond this many waiting bytes, activity is left out: a console can do without.
const ACTIVITY: usize = 1024 * 1024;
/// Beyond this many waiting bytes, the console is let go: it does not read.
const MOST: usize = 64 * 1024 * 1024;

/// One line, shared by all consoles it goes to.
#[derive(Clone)]
pub(super) struct Line {
    /// With its line end.
    pub(super) bytes: Arc<[u8]>,
    pub(super) weight: Weight,
}

/// Whether a console can do without a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Needed,
    Activity,
}

/// What became of a line.
#[derive(PartialEq, Eq)]
pub(super) enum Put {
    Queue,
    LeaveOut,
    /// The console does not read, or is gone.
    LetGo,
}

/// The queue of one console. Its writer ends when this is dropped and all is written.
pub(super) struct Outbox {
    lines: mpsc::UnboundedSender<Arc<[u8]>>,
    waiting: Arc<AtomicUsize>,
}

impl Outbox {
    /// Starts the writer.
    pub(super) fn open(stream: OwnedWriteHalf) -> (Self, JoinHandle<()>) {
        let (lines, queue) = mpsc::unbounded_channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let writer = tokio::spawn(write(stream, queue, Arc::clone(&waiting)));
        (Self { lines, waiting }, writer)
    }

    /// Queues a line, if there is room for its weight.
    pub(super) fn put(&self, line: &Line) -> Put {
        let waiting = self.waiting.load(Ordering::Relaxed);
        let with = waiting.saturating_add(line.bytes.len());
        if line.weight == Weight::Activity && with > ACTIVITY {
            return Put::LeaveOut;
        }
        // One line alone always goes: the bound is on what piles up.
        if waiting > 0 && with > MOST {
            return Put::LetGo;
        }
        self.waiting.fetch_add(line.bytes.len(), Ordering::Relaxed);
        match self.lines.send(Arc::clone(&line.bytes)) {
            Ok(()) => Put::Queue,
            Err(_) => Put::LetGo,
        }
    }
}

async fn write(
    mut stream: OwnedWriteHalf,
    mut queue: mpsc::UnboundedReceiver<Arc<[u8]>>,
    waiting: Arc<AtomicUsize>,
) {
    while let Some(line) = queue.recv().await {
        if stream.write_all(&line).await.is_err() {
            return;
        }
        waiting.fetch_sub(line.len(), Ordering::Relaxed);
    }
}
