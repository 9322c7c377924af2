//! `mcp-approve log`: placeholder.

use std::io::{self, Write};
use std::path::Path;

/// What to do with the log.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum LogCommand {
    /// Lists records, the newest last
    List(ListOptions),
}

/// Which records to list, and how.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ListOptions {}

/// Whether the thing asked about is so: exit code 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    So,
    NotSo,
}

/// Why the log could not be reviewed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct LogError(#[from] io::Error);

impl LogError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        ""
    }
}

/// Runs one command.
///
/// # Errors
/// The output cannot be written.
pub fn run(
    _command: &LogCommand,
    _db: &Path,
    _now: i64,
    _out: &mut dyn Write,
) -> Result<Finding, LogError> {
    Ok(Finding::So)
}
