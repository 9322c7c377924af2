//! `mcp-approve` alone, and `--inline`: the console on this terminal, over every wrapper in the run folder.

use std::fs::OpenOptions;
use std::io;

use rustix::process::getpgrp;
use rustix::stdio::{dup2_stdin, dup2_stdout};
use rustix::termios::tcgetpgrp;

use crate::cli::error::{Error, Exit, done};
use crate::console::outside::Process;
use crate::console::run::open;
use crate::home::places::Places;
use crate::interpose::clock;
use crate::interpose::guardian;
use crate::interpose::stdio::HostPipe;

/// Opens the console on standard input and output, until the operator leaves.
pub(super) fn run(places: &Places, process: Process) -> Exit {
    // An editor that the operator opens from here holds a call's arguments, and inherits this limit.
    let _ = guardian::keep_memory_private();
    places.create_state()?;
    let hint = "`mcp-approve doctor` looks at the terminal and the run folder";
    done(open(places, clock::wall_ms, process).map_err(|error| Error::failed("the console could not run", error, hint)))
}

/// Moves the host's pipe away and puts the controlling terminal in its place, for a console beside the wrapper.
pub(super) fn inline(places: &Places) -> Result<(HostPipe, impl FnOnce() + Send + use<>), Error> {
    let hint = "leave out --inline, and run `mcp-approve` in another terminal";
    let failed = |cause: io::Error| Error::failed("--inline has no terminal to draw on", cause, hint);
    let pipe = HostPipe::take().map_err(failed)?;
    let tty = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(failed)?;
    let foreground = tcgetpgrp(&tty).map_err(|error| failed(error.into()))?;
    // Drawing from the background would stop the whole wrapper (SIGTTOU).
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
