//! `mcp-approve -- CMD`: settles the options and starts the wrapper.

use std::path::Path;
use std::process::ExitCode;

use super::args::{Unattended, WrapOptions};
use super::config::{self, Drawing, Mode};
use super::console;
use crate::cli::error::Error;
use crate::console::run::restore;
use crate::gate;
use crate::home::layers::{Keeps, Layers};
use crate::home::places::Places;
use crate::home::user;
use crate::interpose::reload::{Order, Reader, Told};
use crate::interpose::secrecy;
use crate::interpose::start::{self, Setup, StartError};
use crate::interpose::stdio::HostPipe;

/// Wraps one server until it or the host ends; the exit code is the server's.
///
/// # Errors
/// The settings are not usable, or the server cannot be run.
pub fn run(options: &WrapOptions, places: &Places) -> Result<ExitCode, Error> {
    let core = secrecy::keep_memory_private();
    let settings = config::settle(options, places)?;
    // A state folder that is not the user's alone costs every call its record, and so its run; the answers say so.
    let state = places.create_state().map_err(|error| format!("{error}; {}", error.hint()));
    if let Err(why) = &state {
        crate::interpose::notice::say(&format!("no call can run: {why}, and start this server again"));
    }
    let folder = std::env::current_dir().ok();
    let mut layers = Layers::of(places, folder.as_deref(), &settings.policy);
    let keeps = if state.is_ok() { Keeps::Copies } else { Keeps::Nothing };
    let setup = Setup {
        launch: crate::home::name::launch(&settings.name, &settings.command),
        expected: settings.expect,
        pins: state.is_ok().then(|| places.pins_db()),
        policy: layers.load(keeps),
        reader: Reader::new(move |order| match order {
            Order::Look => layers.changed().map_or(Told::Same, |policy| Told::Policy(Box::new(policy))),
            Order::Accept { file, digest, console } => match layers.accept(Path::new(&file), digest) {
                Ok(()) => layers.changed().map_or(Told::Same, |policy| Told::Policy(Box::new(policy))),
                Err(why) => Told::Refused { console, why },
            },
        }),
        command: settings.command,
        core,
        name: settings.name,
        approvers: settings.approvers,
        approval_timeout: settings.approval_timeout,
        host_timeout: settings.host_timeout,
        unattended: match settings.unattended {
            Unattended::Wait => gate::Unattended::Wait,
            Unattended::Deny => gate::Unattended::Deny,
        },
        mode: match settings.mode {
            Mode::Guard => gate::Mode::Enforce,
            Mode::Observe => gate::Mode::Observe,
        },
        trust: settings.trust,
        log_dir: state.is_ok().then(|| places.log_dir()),
        audit_db: state.map(|()| settings.audit_db),
        key: places.state_dir().join("redaction.key"),
        run_dir: places.run_dir(),
        home: user::current().ok().map(|user| user.home),
    };
    let (pipe, beside) = match settings.drawing {
        Drawing::Never => (HostPipe::take().map_err(|error| cannot_start(error.into()))?, None),
        Drawing::Inline => console::inline(places).map(|(pipe, beside)| (pipe, Some(beside)))?,
    };
    let ended = start::run(setup, pipe, beside);
    if settings.drawing == Drawing::Inline {
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
