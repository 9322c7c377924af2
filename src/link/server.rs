//! The wrapper's side of the link: accepts consoles, receives their messages and sends ours. Decides on no call.
//!
//! [`Server`] is a handle; the consoles live in one task (`console_task`). Nothing here waits for a console: one that does not read
//! gets no activity, and is disconnected when too much piles up.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::console_task::{ConsoleTask, TaskCommand, Then, line, said};
use super::folder::{self, LinkError, NameClaim};
use super::message::{FromWrapper, PROTOCOL, Wrapper};

pub use super::message::{FromConsoles, Rejection};
use crate::gate::data::event::ConsoleId;

/// The wrapper's socket. Dropping it ends all consoles' connections and removes the socket.
#[derive(Debug)]
pub struct Server {
    commands: mpsc::UnboundedSender<TaskCommand>,
    attached: Arc<AtomicUsize>,
    task: JoinHandle<()>,
    socket: PathBuf,
    /// Device and inode of our own socket: another socket in its place is not removed.
    inode: Option<(u64, u64)>,
}

impl Server {
    /// Opens the claimed name's socket in `run`, replacing what a dead wrapper left there.
    ///
    /// `me` is what every console receives first. Must be called within a tokio runtime with io and time.
    pub fn start(
        run: &Path,
        claim: &NameClaim,
        me: Wrapper,
        on: mpsc::UnboundedSender<FromConsoles>,
    ) -> Result<Self, LinkError> {
        folder::prepare(run)?;
        let socket = claim.socket().to_owned();
        let listener = UnixListener::from_std(claim.bind()?)
            .map_err(|source| LinkError::Socket { path: socket.clone(), source })?;
        let inode = inode(&socket);
        let hello = line(&FromWrapper::Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            wrapper: me,
        })?;
        let attached = Arc::new(AtomicUsize::new(0));
        let (commands, taken) = mpsc::unbounded_channel();
        let task = ConsoleTask::new(listener, hello, on, Arc::clone(&attached));
        Ok(Self { commands, attached, task: tokio::spawn(task.run(taken)), socket, inode })
    }

    pub fn send(&self, console: ConsoleId, message: &FromWrapper) {
        self.tell(std::iter::once(console), message);
    }

    /// Sends the same message to several consoles, except those that are gone.
    pub fn tell(&self, consoles: impl ExactSizeIterator<Item = ConsoleId>, message: &FromWrapper) {
        if consoles.len() > 0
            && let Some(line) = said(message)
        {
            consoles.for_each(|console| self.command(TaskCommand::Put(console, line.clone(), Then::Nothing)));
        }
    }

    /// As [`Server::send`]; [`FromConsoles::Shown`] comes once it is written, so that only one of many large messages waits.
    pub fn show(&self, console: ConsoleId, message: &FromWrapper) {
        if let Some(line) = said(message) {
            self.command(TaskCommand::Put(console, line, Then::Tell));
        }
    }

    /// How many consoles on this machine there are: the desk is none.
    pub fn attached(&self) -> usize {
        self.attached.load(Ordering::Relaxed)
    }

    /// Tells the link which process is the wrapped server: nothing that descends from it may attach, and any that has
    /// is disconnected. Call it right after [`Server::start`]: then it is known before any console is accepted.
    pub fn forbid(&self, server: u32) {
        self.command(TaskCommand::Forbid(server));
    }

    fn command(&self, command: TaskCommand) {
        if self.commands.send(command).is_err() {
            tracing::error!("the task that serves consoles has ended: they receive nothing more");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
        if self.inode.is_some() && inode(&self.socket) == self.inode {
            // If it stays, the next wrapper of this name finds it stale.
            let _ = fs::remove_file(&self.socket);
        }
    }
}

fn inode(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}
