//! The signals that end a wrapper: catches them and reports their names. Decides nothing about what follows.

use std::future;
use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// The signals that end a wrapper, caught from [`Signals::catch`] on.
#[derive(Debug)]
pub struct Signals(mpsc::UnboundedReceiver<&'static str>);

impl Signals {
    /// Catches them. Call it before the server starts, so that no signal ends the wrapper without its cleanup.
    pub fn catch() -> io::Result<Self> {
        let (tell, told) = mpsc::unbounded_channel();
        let signals = [
            (SignalKind::terminate(), "SIGTERM"),
            (SignalKind::interrupt(), "SIGINT"),
            (SignalKind::hangup(), "SIGHUP"),
        ];
        for (kind, name) in signals {
            let (mut signal, tell) = (signal(kind)?, tell.clone());
            // Each on a separate task: the loop polls one queue, several times per call, and not three signals.
            tokio::spawn(async move { while signal.recv().await.is_some() && tell.send(name).is_ok() {} });
        }
        Ok(Self(told))
    }

    /// The name of the next one that comes.
    pub async fn next(&mut self) -> &'static str {
        match self.0.recv().await {
            Some(name) => name,
            None => future::pending().await,
        }
    }
}
