//! Runs the command that the arguments name, and returns its exit code. The only place that prints an error.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut out = std::io::stdout();
    let outcome = mcp_approve::cli::run(std::env::args_os(), &mut out);
    let outcome = outcome.and_then(|code| Ok(out.flush().map(|()| code)?));
    outcome.unwrap_or_else(|error| {
        // If stderr is gone, the error can be shown nowhere.
        let _ = std::io::stderr().write_all(mcp_approve::cli::report(&error).as_bytes());
        error.exit_code().into()
    })
}
