//! `mcp-approve demo`: placeholder.

use std::io::Write;
use std::process::ExitCode;

/// Who decides in the demo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Person,
    Automatic,
}

/// Arguments of the hidden command `demo-server`.
#[derive(Clone, Debug, clap::Args)]
pub struct ServerArgs {}

/// Arguments of the hidden command `demo-agent`.
#[derive(Clone, Debug, clap::Args)]
pub struct AgentArgs {}

/// What can stop the demo.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DemoError(#[from] std::io::Error);

impl DemoError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        ""
    }
}

/// Plays the demo.
///
/// # Errors
/// [`DemoError`].
pub fn run(_operator: Operator, _out: &mut dyn Write) -> Result<ExitCode, DemoError> {
    Ok(ExitCode::SUCCESS)
}

/// The demo's server.
///
/// # Errors
/// [`DemoError`].
pub fn serve(_args: &ServerArgs) -> Result<ExitCode, DemoError> {
    Ok(ExitCode::SUCCESS)
}

/// The demo's agent.
///
/// # Errors
/// [`DemoError`].
pub fn agent(_args: &AgentArgs) -> Result<ExitCode, DemoError> {
    Ok(ExitCode::SUCCESS)
}
