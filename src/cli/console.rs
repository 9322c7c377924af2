//! `mcp-approve` alone, and `--inline`: the console on this terminal, over every wrapper in the run folder.

use std::fs::OpenOptions;
use std::io;
use std::process::ExitCode;

use rustix::process::getpgrp;
use rustix::stdio::{dup2_stdin, dup2_stdout};
use rustix::termios::tcgetpgrp;

use crate::cli::error::Error;
use crate::console::open::open;
use crate::console::outside::Process;
use crate::home::places::Places;
use crate::interpose::clock;
use crate::interpose::secrecy;
use crate::interpose::stdio::HostPipe;

/// Opens the console on standard input and output, until the operator leaves.
///
/// # Errors
/// The terminal or the run folder is not usable.
pub fn run(places: &Places, process: Process) -> Result<ExitCode, Error> {
    // An editor that the operator opens from here holds a call's arguments: it keeps our limit.
    let _ = secrecy::keep_memory_private();
    places.create_state()?;
    open(places, clock::wall_ms, process).map_err(|error| Error::Failed {
        what: "the console could not run".to_owned(),
        cause: error.into(),
        hint: "`mcp-approve doctor` looks at the terminal and the run folder".to_owned(),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Moves the host's pipe away and puts the controlling terminal in its place, for a console beside the wrapper.
///
/// # Errors
/// There is no terminal, or it is in another job's hands: drawing would stop the whole wrapper (SIGTTOU).
pub fn inline(places: &Places) -> Result<(HostPipe, impl FnOnce() + Send + use<>), Error> {
    let failed = |cause: io::Error| Error::Failed {
        what: "--inline has no terminal to draw on".to_owned(),
        cause: cause.into(),
        hint: "leave out --inline, and run `mcp-approve` in another terminal".to_owned(),
    };
    let pipe = HostPipe::take().map_err(failed)?;
    let tty = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(failed)?;
    let foreground = tcgetpgrp(&tty).map_err(|error| failed(error.into()))?;
    if foreground != getpgrp() {
        return Err(failed(io::Error::other("another job has the terminal")));
    }
    dup2_stdin(&tty).map_err(|error| failed(error.into()))?;
    dup2_stdout(&tty).map_err(|error| failed(error.into()))?;
    let places = places.clone();
    let beside = move || {
        if let Err(error) = open(&places, clock::wall_ms, Process::Shared) {
            tracing::error!(%error, "the inline console ended");
        }
    };
    Ok((pipe, beside))
}
