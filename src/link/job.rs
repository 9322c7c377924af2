//! What the watcher of sockets and the readers of connections tell each other.

use std::path::PathBuf;
use std::sync::mpsc;

/// Whether a session may be connected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Connect,
    Refuse,
}

/// What the watcher is asked to do.
pub(super) enum WatcherJob {
    Send {
        session: String,
        line: Vec<u8>,
    },
    /// A reader has received a `Hello` and asks whether its session may be connected.
    Met {
        key: Key,
        session: String,
        answer: mpsc::Sender<Admission>,
    },
    /// A reader no longer understands its wrapper, which takes no verdict from here any more.
    Mute {
        key: Key,
    },
    /// A reader has come to an end.
    Lost {
        key: Key,
        parting: Parting,
    },
    End,
}

/// How a connection ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Parting {
    /// Before it was connected: trying again at once would not help.
    Unconnected,
    Later,
}

/// One socket as it was found; a new one at the same path has another key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) path: PathBuf,
    pub(super) inode: (u64, u64),
    pub(super) changed: (i64, i64),
}
