//! `mcp-approve -- CMD`: placeholder.

use std::process::ExitCode;

use super::args::WrapOptions;
use super::config;
use super::places::Places;
use crate::error::Error;

/// Wraps one server.
///
/// # Errors
/// The settings are not usable.
#[allow(clippy::needless_pass_by_value)]
pub fn run(options: WrapOptions, places: &Places) -> Result<ExitCode, Error> {
    config::settle(&options, places)?;
    Ok(ExitCode::SUCCESS)
}
