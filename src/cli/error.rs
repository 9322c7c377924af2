//! What can stop the program, each with its cause, its hint and its exit code. Only `main` prints one.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::audit::{StoreError, search::Meaningless};
use crate::home::agreed::{AgreedError, RecordError};
use crate::home::places::{PlaceError, under};
use crate::home::{change::ChangeError, config::ConfigError, offered::OfferError, policy_file::Broken};
use crate::interpose::child::SpawnError;
use crate::operator::settle::SettleError;
use crate::pins::PinsError;
use crate::text::plain::visible_lines;

pub type Exit = Result<ExitCode, Error>;

pub fn done<E>(last: Result<(), E>) -> Exit
where
    Error: From<E>,
{
    Ok(last.map(|()| ExitCode::SUCCESS)?)
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line; the text is whole, with usage and tips.
    #[error("{0}")]
    Usage(String),
    /// What was asked for makes no sense here, or a command cannot do it.
    #[error("{what}")]
    Wrong { what: String, hint: String },
    /// A command gave its answer, and found that it may be untrue.
    #[error("{what}")]
    Untrue { what: String, hint: String },
    /// `mcp-approve` alone, without a terminal that the console can be drawn on.
    #[error("the console needs a terminal{0}")]
    NoTerminal(&'static str),
    /// Under `--home`: what to do next is to be done there too.
    #[error("{1}")]
    Under(PathBuf, Box<Self>),
    #[error("{} cannot be read: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Settle(#[from] SettleError),
    #[error("there is no audit log yet at {0}")]
    NoLog(PathBuf),
    #[error("the audit log {0} is missing: the note of its head beside it says that there was one")]
    LogGone(PathBuf),
    #[error(transparent)]
    Search(#[from] Meaningless),
    #[error("nothing in the audit log is called {0}")]
    NotInLog(String),
    #[error(transparent)]
    CannotRun(SpawnError),
    /// The bridge to a server's URL.
    #[error("{0}")]
    NoBridge(SpawnError),
    #[error("{what}: {cause}")]
    Failed { what: String, cause: Box<dyn std::error::Error + Send + Sync>, hint: String },
    #[error("the output could not be written: {0}")]
    Output(io::Error),
    /// The reader of our output went away (`| head`): nothing to say.
    #[error("the reader of the output is gone")]
    Unheard,
}

impl Error {
    pub fn wrong(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Wrong { what: what.into(), hint: hint.into() }
    }

    pub fn failed(
        what: impl Into<String>,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
        hint: impl Into<String>,
    ) -> Self {
        Self::Failed { what: what.into(), cause: cause.into(), hint: hint.into() }
    }

    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            // What settles tools says what to do with why it did not.
            Self::Usage(_) | Self::Unheard | Self::Settle(_) => return None,
            Self::Under(home, error) => return error.hint().map(|hint| under(Some(home), &hint)),
            Self::Config(error) => &error.hint(),
            Self::Record(error) => &error.hint(),
            Self::Wrong { hint, .. } | Self::Untrue { hint, .. } | Self::Failed { hint, .. } => hint,
            Self::NoTerminal(_) => {
                "run `mcp-approve` in one; `mcp-approve -- CMD` wraps a server, `mcp-approve help` says more"
            }
            Self::Unreadable { .. } => "check the path, and that you may read the file",
            Self::NoLog(_) => {
                "it begins with the first wrapped server: `mcp-approve -- CMD`; name another place with --home or --audit-db"
            }
            Self::LogGone(_) => {
                "`mcp-approve log verify` says what is missing; put the log back, or name its place with --audit-db"
            }
            Self::Search(_) => "`mcp-approve log list --help` lists the fields of a search",
            Self::NotInLog(_) => "`mcp-approve log list` lists calls by SEQ; with --wide, by TICKET too",
            Self::NoBridge(_) => {
                "a server behind a URL is reached through mcp-remote, which needs Node.js: install it, and see that `npx` is on the PATH that the host gives"
            }
            Self::CannotRun(SpawnError::NoInterpreter { .. }) => {
                "install it, or name it before the script: mcp-approve -- INTERPRETER SCRIPT"
            }
            Self::CannotRun(_) => {
                "check the command after `--`; a host may give a smaller PATH than your shell, so an absolute path helps"
            }
            Self::Output(_) => "look at where the output goes",
        };
        Some(hint.to_owned())
    }

    /// The exit code: 2 for wrong usage or configuration and whatever kept a command from its answer.
    pub fn exit_code(&self) -> u8 {
        match self {
            // What a shell reports of a program that a broken pipe ended: the answer may not be whole.
            Self::Unheard => 141,
            Self::Under(_, error) => error.exit_code(),
            Self::Untrue { .. } => 1,
            Self::CannotRun(error) | Self::NoBridge(error) => error.exit_code(),
            _ => 2,
        }
    }

    pub fn report(&self) -> String {
        match self {
            Self::Unheard => String::new(),
            Self::Usage(text) => text.clone(),
            Self::Under(_, error) if error.hint().is_none() => error.report(),
            _ => match self.hint() {
                // Errors quote files, logs and servers: no byte of those reaches a terminal as it is.
                Some(hint) => visible_lines(&format!("error: {self}\n  hint: {hint}\n")),
                None => visible_lines(&format!("error: {self}\n")),
            },
        }
    }
}

impl From<io::Error> for Error {
    /// Only writing output yields a bare I/O error; everything else names its file.
    fn from(cause: io::Error) -> Self {
        if cause.kind() == io::ErrorKind::BrokenPipe { Self::Unheard } else { Self::Output(cause) }
    }
}

/// Errors of the layers below that no command tells apart, each with its own hint.
macro_rules! hinted {
    ($($error:ty),*) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::wrong(error.to_string(), error.hint())
            }
        })*
    };
}

hinted! { PlaceError, Broken, ChangeError, PinsError, AgreedError, OfferError, StoreError }
