//! The signals that end a wrapper: caught in time, told by name. Decides nothing about what follows.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end a wrapper, caught from [`Signals::catch`] on.
#[derive(Debug)]
pub struct Signals {
    term: Signal,
    int: Signal,
    hup: Signal,
}

impl Signals {
    /// Catches them. To be called before the server starts, so that no signal ends the wrapper without its last words.
    ///
    /// # Errors
    /// The system's.
    pub fn catch() -> io::Result<Self> {
        Ok(Self {
            term: signal(SignalKind::terminate())?,
            int: signal(SignalKind::interrupt())?,
            hup: signal(SignalKind::hangup())?,
        })
    }

    /// The name of the next one that comes.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.term.recv() => "SIGTERM",
            _ = self.int.recv() => "SIGINT",
            _ = self.hup.recv() => "SIGHUP",
        }
    }
}
