//! The console's side of the link: finds every wrapper of this user, reads from all, writes to one at a time. No tokio.
//!
//! One thread watches the folder and owns every connection's writing end (`watcher`); one thread per wrapper reads
//! (`reader`). What they find goes through one callback.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use super::error::LinkError;
use super::event::Callback;
use super::folder;
use super::job::WatcherJob;
use super::message::{FromConsole, PROTOCOL};
use super::watcher::Watcher;

pub use super::event::ClientEvent;

/// Who this console is, as wrappers record it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Me {
    pub operator: String,
    pub version: String,
    pub pid: u32,
}

/// Every wrapper of this user. Dropping it ends all connections; nothing is reported after that.
#[derive(Debug)]
pub struct Clients {
    tell: mpsc::Sender<WatcherJob>,
    watcher: Option<JoinHandle<()>>,
    ended: Arc<AtomicBool>,
}

impl Clients {
    /// Starts to watch the runtime folder, making it where it is missing.
    ///
    /// # Errors
    /// The folder is not safe, or no thread can be started.
    pub fn watch(run: &Path, me: Me, on: impl Fn(ClientEvent) + Send + Sync + 'static) -> Result<Self, LinkError> {
        folder::prepare(run)?;
        let ended = Arc::new(AtomicBool::new(false));
        let quiet = Arc::clone(&ended);
        let on: Arc<Callback> = Arc::new(move |event| {
            if !quiet.load(Ordering::Acquire) {
                on(event);
            }
        });
        let mut hello = serde_json::to_vec(&FromConsole::Hello {
            protocol: PROTOCOL,
            version: me.version,
            operator: me.operator,
            pid: me.pid,
        })?;
        hello.push(b'\n');
        let (tell, jobs) = mpsc::channel();
        let watcher = Watcher::new(run.to_owned(), hello, on, tell.clone());
        let watcher = thread::Builder::new()
            .name("link watcher".to_owned())
            .spawn(move || watcher.run(&jobs))
            .map_err(LinkError::Watcher)?;
        Ok(Self { tell, watcher: Some(watcher), ended })
    }

    /// Sends a message to the wrapper of a session. Only the wrapper's answer shows that it arrived; a wrapper that is
    /// gone is reported as [`ClientEvent::Trouble`].
    ///
    /// # Errors
    /// The message cannot be written as JSON, or the watcher has ended.
    pub fn send(&self, session: &str, message: &FromConsole) -> Result<(), LinkError> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let session = session.to_owned();
        self.tell.send(WatcherJob::Send { session, line }).map_err(|_| LinkError::Ended)
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        let _ = self.tell.send(WatcherJob::End);
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
    }
}
