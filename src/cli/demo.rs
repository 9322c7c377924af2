//! `mcp-approve demo`: a real server, a scripted agent and an operator together in a temporary folder.
//!
//! The chain is made of processes of this very binary, started as a host would start them:
//! `demo-agent -- mcp-approve -- mcp-approve demo-server`. Nothing in it is simulated but the agent's wishes.

mod agent;
mod chain;
mod cues;
mod database;
mod effects;
mod error;
mod folder;
mod ledger;
mod operator;
mod server;
mod stage;
mod story;
mod summary;
mod tools;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::error::{Error, Exit, done};
use super::person;
use chain::Chain;
use ledger::Chained;
use stage::Stage;

/// Who decides in the demo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The person at this terminal, in the console.
    Person,
    /// A scripted one, attached to the wrapper as a console is; needs no terminal.
    Automatic,
}

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
pub(super) fn run(operator: Operator, home: Option<&Path>, out: &mut dyn Write) -> Exit {
    let around = home.map_or_else(std::env::temp_dir, Path::to_path_buf);
    match operator {
        Operator::Person if !person::is_here() => Err(Error::wrong(
            "the demo needs a terminal for its console",
            "run it at a terminal, or let an automatic operator play it: `mcp-approve demo --auto`",
        )),
        Operator::Person => with_person(&Stage::set(&around)?, out),
        Operator::Automatic => automatically(Stage::set(&around)?, out),
    }
}

/// Runs the demo's server over the workspace `dir`, on this process's stdin and stdout.
pub(super) fn serve(dir: &Path) -> Exit {
    done(server::serve(io::stdin().lock(), io::stdout(), &tools::Tools::over(dir)?))
}

/// Runs the scripted agent over the wrapped command in `args`.
pub(super) fn agent(args: &AgentArgs) -> Exit {
    agent::run(args)
}

fn with_person(stage: &Stage, out: &mut dyn Write) -> Exit {
    let before = effects::State::of(&stage.work)?;
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

fn automatically(stage: Stage, out: &mut dyn Write) -> Exit {
    let before = effects::State::of(&stage.work)?;
    writeln!(out, "mcp-approve demo, played by an automatic operator\n")?;
    let mut chain = Chain::start(&stage)?;
    let mut play = operator::Play::new(&stage, out)?;
    let played = play.perform(&mut chain);
    let left = chain.leave();
    played?;
    let mut wrong = play.close()?;
    wrong.extend(left.err().map(|error| error.to_string()));
    match summary::write(&stage, &before, out) {
        Ok(Chained::Verifies) => {}
        Ok(Chained::Broken) => wrong.push("the log does not verify".into()),
        Err(error) => wrong.push(error.to_string()),
    }
    if wrong.is_empty() {
        writeln!(out, "\nEvery decision had its effect, and nothing else happened.")?;
        return done(stage.strike());
    }
    writeln!(out, "\nNot as expected:")?;
    for what in &wrong {
        writeln!(out, "  - {what}")?;
    }
    stage.keep();
    writeln!(out, "The folder is kept: {}", stage.root.display())?;
    Ok(ExitCode::FAILURE)
}
