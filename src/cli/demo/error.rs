//! What can stop the demo, each with what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use super::database::ShopError;
use crate::cli::error::Error;

/// What can stop the demo.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error("{doing} {}: {cause}", path.display())]
    Io { doing: &'static str, path: PathBuf, cause: io::Error },
    #[error("the demo's own processes could not be run: {0}")]
    Process(io::Error),
    #[error("the output could not be written: {0}")]
    Output(#[from] io::Error),
    #[error("the demo's database failed: {0}")]
    Database(String),
    #[error("the demo's tool definitions are not readable: {0}")]
    Definitions(serde_json::Error),
    #[error("the script {} is not readable: {cause}", path.display())]
    Script { path: PathBuf, cause: serde_json::Error },
    #[error("no server command was given")]
    NoCommand,
    #[error("the demo needs a terminal for its console")]
    NoTerminal,
    #[error("{0}")]
    Chain(String),
    #[error("the automatic operator could not attach: {0}")]
    Attach(String),
    #[error("the audit log of the demo could not be read: {0}")]
    Log(String),
}

impl From<DemoError> for Error {
    fn from(error: DemoError) -> Self {
        if let DemoError::Output(cause) = error {
            return cause.into();
        }
        Self::Wrong { what: error.to_string(), hint: error.hint().to_owned() }
    }
}

impl DemoError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } | Self::Database(_) => "check that the temporary folder is writable and has room",
            Self::Process(_) => "run `mcp-approve doctor`, then try again",
            Self::Output(_) => "the reader of the output may be gone; run the demo at a terminal",
            Self::Definitions(_) => "this build is broken; please report it",
            Self::Script { .. } => "give a file that holds one JSON object",
            Self::NoCommand => "put the server's command after `--`",
            Self::NoTerminal => "run it at a terminal, or let an automatic operator play it: `mcp-approve demo --auto`",
            Self::Chain(_) | Self::Attach(_) | Self::Log(_) => {
                "run `mcp-approve doctor`; the agent's diary says what the wrapper printed"
            }
        }
    }

    pub(super) fn io(doing: &'static str, path: &Path, cause: io::Error) -> Self {
        Self::Io { doing, path: path.into(), cause }
    }
}

impl From<ShopError> for DemoError {
    fn from(error: ShopError) -> Self {
        Self::Database(error.to_string())
    }
}
