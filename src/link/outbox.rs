//! What is still to be written to one console: bounded, so that a console that does not read costs little.
//!
//! Much may wait for a console that does read, and a flood of held calls must not keep the operator out. So a new
//! console is sent them one at a time (the writer reports when one is written), and a console is disconnected only when
//! much waits and nothing moves, or when far too much waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::error::LinkError;
use super::message::FromWrapper;

/// Beyond this many waiting bytes, activity is left out: a console can do without.
const ACTIVITY: usize = 1024 * 1024;
/// Beyond this many waiting bytes, a console that has not read for [`STALL`] is disconnected.
const MUCH: usize = 64 * 1024 * 1024;
const STALL: Duration = Duration::from_secs(2);
/// Beyond this many waiting bytes, any console is disconnected.
const MOST: usize = 512 * 1024 * 1024;

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

/// What happens once a line is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    Tell,
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
    lines: mpsc::UnboundedSender<(Arc<[u8]>, Then)>,
    gauge: Arc<Gauge>,
}

/// The writer's progress.
struct Gauge {
    start: Instant,
    waiting: AtomicUsize,
    /// When the console last took something, in milliseconds since `start`.
    moved: AtomicU64,
}

impl Outbox {
    /// Starts the writer, which calls `written` after every line with [`Then::Tell`].
    pub(super) fn open(stream: OwnedWriteHalf, written: impl Fn() + Send + 'static) -> (Self, JoinHandle<()>) {
        let (lines, queue) = mpsc::unbounded_channel();
        let gauge = Gauge { start: Instant::now(), waiting: AtomicUsize::new(0), moved: AtomicU64::new(0) };
        let gauge = Arc::new(gauge);
        let writer = tokio::spawn(write(stream, queue, Arc::clone(&gauge), written));
        (Self { lines, gauge }, writer)
    }

    /// Queues a line, if there is room for its weight.
    pub(super) fn put(&self, line: &Line, then: Then) -> Put {
        let length = line.bytes.len();
        let waiting = self.gauge.waiting.load(Ordering::Relaxed);
        let with = waiting.saturating_add(length);
        if line.weight == Weight::Activity && with > ACTIVITY {
            return Put::LeaveOut;
        }
        if waiting == 0 {
            // There was nothing to read until now.
            self.gauge.move_now();
        }
        if with > MOST || (with > MUCH && self.gauge.is_stalled()) {
            return Put::LetGo;
        }
        self.gauge.waiting.fetch_add(length, Ordering::Relaxed);
        match self.lines.send((Arc::clone(&line.bytes), then)) {
            Ok(()) => Put::Queue,
            Err(_) => Put::LetGo,
        }
    }
}

impl Gauge {
    fn since_start(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn move_now(&self) {
        self.moved.store(self.since_start(), Ordering::Relaxed);
    }

    fn is_stalled(&self) -> bool {
        let still = self.since_start().saturating_sub(self.moved.load(Ordering::Relaxed));
        Duration::from_millis(still) > STALL
    }
}

async fn write(
    mut stream: OwnedWriteHalf,
    mut queue: mpsc::UnboundedReceiver<(Arc<[u8]>, Then)>,
    gauge: Arc<Gauge>,
    written: impl Fn(),
) {
    while let Some((line, then)) = queue.recv().await {
        let mut rest = &line[..];
        while !rest.is_empty() {
            match stream.write(rest).await {
                Ok(0) | Err(_) => return,
                Ok(put) => {
                    rest = &rest[put..];
                    gauge.waiting.fetch_sub(put, Ordering::Relaxed);
                    gauge.move_now();
                }
            }
        }
        if then == Then::Tell {
            written();
        }
    }
}

/// A message as one line; `None` if it cannot be serialised, which is a defect of ours.
pub(super) fn said(message: &FromWrapper) -> Option<Line> {
    line(message).inspect_err(|error| tracing::error!(%error, "a message did not reach the consoles")).ok()
}

pub(super) fn line(message: &FromWrapper) -> Result<Line, LinkError> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    let weight = match message {
        FromWrapper::Activity(_) => Weight::Activity,
        FromWrapper::Hello { .. }
        | FromWrapper::Held { .. }
        | FromWrapper::Settled(_)
        | FromWrapper::Status(_)
        | FromWrapper::Refused { .. }
        | FromWrapper::Waiting { .. }
        | FromWrapper::Tools { .. } => Weight::Needed,
    };
    Ok(Line { bytes: bytes.into(), weight })
}
