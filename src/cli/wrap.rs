//! `mcp-approve -- CMD`: settles the options and starts the wrapper.

use std::process::ExitCode;

use super::args::WrapOptions;
use super::console;
use crate::cli::error::Error;
use crate::console::run::restore;
use crate::home::config::{self, Drawing};
use crate::home::layers::{Keeps, Layers};
use crate::home::places::Places;
use crate::interpose::secrecy;
use crate::interpose::start::{self, Setup, StartError};
use crate::interpose::stdio::HostPipe;

/// Wraps one server until it or the host ends; the exit code is the server's.
///
/// # Errors
/// The settings are not usable, or the server cannot be run.
pub fn run(options: &WrapOptions, places: &Places) -> Result<ExitCode, Error> {
    if options.command.is_empty() {
        return Err(Error::Wrong {
            what: "no server command was given".to_owned(),
            hint: "put it after `--`: mcp-approve -- npx -y some-server".to_owned(),
        });
    }
    let core = secrecy::keep_memory_private();
    let settings = config::settle(&options.command, options.level(), places)?;
    // A state folder that is not the user's alone costs every call its record, and so its run; the answers say so.
    let state = places.create_state().map_err(|error| format!("{error}; {}", error.hint()));
    if let Err(why) = &state {
        crate::interpose::notice::say(&format!("no call can run: {why}, and start this server again"));
    }
    let folder = std::env::current_dir().ok();
    let mut layers = Layers::of(places, folder.as_deref(), &settings.policy);
    let keeps = if state.is_ok() { Keeps::Copies } else { Keeps::Nothing };
    let policy = layers.load(keeps);
    let drawing = settings.drawing;
    let command = options.command.clone();
    let setup = Setup { command, core, settings, places: places.clone(), state, policy, layers };
    let (pipe, beside) = match drawing {
        Drawing::Never => (HostPipe::take().map_err(|error| cannot_start(error.into()))?, None),
        Drawing::Inline => console::inline(places).map(|(pipe, beside)| (pipe, Some(beside)))?,
    };
    let ended = start::run(setup, pipe, beside);
    if drawing == Drawing::Inline {
        restore();
    }
    match ended {
        Ok(code) => Ok(code.into()),
        Err(StartError::Spawn(error)) => Err(Error::CannotRun(error)),
        Err(error @ StartError::System(_)) => Err(cannot_start(error.into())),
    }
}

fn cannot_start(cause: Box<dyn std::error::Error + Send + Sync>) -> Error {
    Error::Failed {
        what: "the wrapper could not start".to_owned(),
        cause,
        hint: "look at the limits on processes and open files (ulimit -a)".to_owned(),
    }
}
