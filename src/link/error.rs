//! What can go wrong before wrapper and console exchange messages, each with its hint.

use std::io;
use std::path::PathBuf;

/// Why there is no runtime folder, or no connection through it.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The folder, or one above it, cannot be made or read.
    #[error("the folder {path:?} cannot be used: {source}; make it writable for you, or choose another with --home")]
    Unusable { path: PathBuf, source: io::Error },
    /// The runtime folder itself is a symbolic link.
    #[error("the folder {path:?} is a symbolic link, so something else decides where it leads; remove the link")]
    Linked { path: PathBuf },
    /// Something else is where the runtime folder belongs.
    #[error("{path:?} is not a folder; move it away")]
    NotAFolder { path: PathBuf },
    /// Another user owns the folder or one above it.
    #[error("the folder {path:?} belongs to user {owner}, not to you; choose another with --home")]
    Foreign { path: PathBuf, owner: u32 },
    /// Others may look into the folder, or replace one above it.
    #[error("the folder {path:?} is open to others (mode {mode:03o}); run: chmod {hint} {path:?}")]
    Loose { path: PathBuf, mode: u32, hint: &'static str },
    /// The socket path is too long for the system.
    #[error(
        "the socket path {path:?} has {bytes} bytes, but this system takes {limit}; choose a shorter --home or --name"
    )]
    TooLong { path: PathBuf, bytes: usize, limit: usize },
    /// Something that no wrapper made is where a lock or socket belongs.
    #[error("{path:?} is {what}; mcp-approve did not make it: look at it, then remove it")]
    Squatted { path: PathBuf, what: &'static str },
    /// Every numbered form of the name is in use.
    #[error("{count} running servers are called {name:?} already; end some, or choose another --name")]
    NamesTaken { name: String, count: u32 },
    /// The socket cannot be opened.
    #[error("no console can be reached at {path:?}: {source}; check that its folder is on a local disk")]
    Socket { path: PathBuf, source: io::Error },
    /// A thread or the socket's watcher could not be started.
    #[error("the consoles' watcher cannot run: {0}; end other programs and try again")]
    Watcher(io::Error),
    /// A message could not be serialised.
    #[error("a message could not be written as JSON: {0}; this is a defect, please report it")]
    Unsayable(#[from] serde_json::Error),
    /// The watcher has ended.
    #[error("the link to the wrappers has ended; start the console again")]
    Ended,
}
