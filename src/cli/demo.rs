//! `mcp-approve demo`: a real server, a scripted agent and an operator together in a temporary folder.
//!
//! The chain is made of processes of this very binary, started as a host would start them:
//! `demo-agent -- mcp-approve -- mcp-approve demo-server`. Nothing in it is simulated but the agent's wishes.

mod agent;
mod chain;
mod error;
mod server;
mod stage;
mod summary;
mod tools;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::console;
use super::error::{Error, Exit, done};
use chain::Chain;
use stage::Stage;
use summary::{Chained, State};

/// Arguments of the hidden command `demo-agent`.
#[derive(Clone, Debug, clap::Args)]
pub struct AgentArgs {
    /// Where the agent writes what it does.
    #[arg(long)]
    pub diary: PathBuf,
    /// The server command, usually a wrapped one.
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

/// Plays the demo from start to closing summary, in a folder of its own below `home` or where temporary files go;
/// everything it started has ended when it returns. A play that went wrong is no error: it says what, with exit code 1.
pub(super) fn run(home: Option<&Path>, out: &mut dyn Write) -> Exit {
    let around = home.map_or_else(std::env::temp_dir, Path::to_path_buf);
    if !console::is_here() {
        let hint = "run it at a terminal: `mcp-approve demo`";
        return Err(Error::wrong("the demo needs a terminal for its console", hint));
    }
    let stage = &Stage::set(&around)?;
    let before = State::of(&stage.work)?;
    let chain = Chain::start(stage)?;
    let shown = chain::console(stage);
    chain.leave()?;
    let shown = shown?;
    let found = summary::write(stage, &before, out)?;
    stage.keep();
    let log = format!("mcp-approve --home {} log list", stage.home.display());
    writeln!(out, "\nAll of it stays in {} until you remove it:", stage.root.display())?;
    writeln!(out, "    {log}\n{}", summary::NEXT)?;
    Ok(match found {
        Chained::Verifies if shown.success() => ExitCode::SUCCESS,
        Chained::Verifies | Chained::Broken => ExitCode::FAILURE,
    })
}

/// Runs the demo's server over the workspace `dir`, on this process's stdin and stdout.
pub(super) fn serve(dir: &Path) -> Exit {
    done(server::serve(io::stdin().lock(), io::stdout(), &tools::Tools::over(dir)?))
}

/// Runs the scripted agent over the wrapped command in `args`.
pub(super) fn agent(args: &AgentArgs) -> Exit {
    agent::run(args)
}
