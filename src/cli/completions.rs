//! `mcp-approve completions SHELL`: the completion script, made from the command line's own definition.

use std::io::{self, Write};

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::args::Cli;

/// Writes the script.
///
/// # Errors
/// The output cannot be written.
pub fn run(shell: Shell, out: &mut dyn Write) -> io::Result<()> {
    // clap_complete panics when its writer fails, so it writes into memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mcp-approve", &mut script);
    out.write_all(&script)
}
