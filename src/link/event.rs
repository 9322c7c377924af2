//! What each end of the link hears: a console of its wrappers, a wrapper of its consoles.

use super::message::{FromConsole, FromWrapper, PROTOCOL, Wrapper};
use crate::gate::data::event::ConsoleId;

/// What happens on the link. Names and words of wrappers are foreign text.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// A wrapper is here; what it says carries its session.
    Connected(Wrapper),
    /// A connected wrapper spoke. Never a `Hello`.
    Said { session: String, message: FromWrapper },
    /// A wrapper speaks another version of our protocol: it takes no verdict from here, and its calls are not shown.
    Incompatible { name: String, protocol: u32, version: String },
    /// A wrapper is gone. For one that was [`ClientEvent::Incompatible`], `session` is its name.
    Gone { session: String },
    /// A problem that the operator must see, with its hint.
    Trouble(String),
}

/// Called from several threads; must not block.
pub(super) type Callback = dyn Fn(ClientEvent) + Send + Sync;

/// What consoles do.
#[derive(Debug)]
pub enum FromConsoles {
    /// A console of our version is attached and may decide; it was shown nothing yet.
    Attached {
        console: ConsoleId,
        /// The operator's name as the console gives it: foreign text.
        operator: String,
        /// As the kernel gives it, or else as the console says.
        pid: u32,
    },
    /// A program that is not a console asks what waits.
    Peeked { console: ConsoleId },
    /// An attached console spoke. Never a second `Hello`.
    Said { console: ConsoleId, message: FromConsole },
    /// The last message of [`Server::show`] to this console is written.
    Shown { console: ConsoleId },
    /// An attached console is gone.
    Detached { console: ConsoleId },
    /// A connection was rejected, or may not decide.
    Rejected { why: Rejection },
}

/// Why a connection may not decide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("ALARM: a process of user {uid} tried to attach as a console")]
    ForeignUser { uid: u32 },
    #[error("ALARM: process {pid}, started by the wrapped server, tried to attach as a console")]
    FromServer { pid: u32 },
    #[error("a process tried to attach as a console, but its user is unknown ({0})")]
    Unknown(String),
    #[error(
        "the console has version {version:?} (link protocol {theirs}), this wrapper {ours:?} (link protocol {PROTOCOL}): it cannot decide calls; start the console of the wrapper's version, or restart the host's server",
        ours = env!("CARGO_PKG_VERSION")
    )]
    OtherProtocol { theirs: u32, version: String },
    #[error("a console sent an unknown message ({what}) and was disconnected")]
    Garbage { what: String },
    #[error("a process connected as a console, sent no greeting, and was disconnected")]
    Silent,
    #[error("{most} consoles are connected already: one more was turned away")]
    TooMany { most: usize },
}

impl Rejection {
    /// Whether to alarm the operator: a process that is not the operator's tried to decide.
    pub fn is_alarm(&self) -> bool {
        match self {
            Self::ForeignUser { .. } | Self::FromServer { .. } | Self::Unknown(_) => true,
            Self::OtherProtocol { .. } | Self::Garbage { .. } | Self::Silent | Self::TooMany { .. } => false,
        }
    }
}
