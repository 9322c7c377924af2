//! `mcp-approve`: placeholder.

use std::process::ExitCode;

use super::places::Places;
use crate::error::Error;

/// Opens the console.
///
/// # Errors
/// The terminal or the run folder is not usable.
pub fn run(places: &Places) -> Result<ExitCode, Error> {
    places.create_state()?;
    Ok(ExitCode::SUCCESS)
}
