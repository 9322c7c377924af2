//! `mcp-approve demo`: a real server, a scripted agent and an operator together in a temporary folder.
//!
//! The chain is made of processes of this very binary, started as a host would start them:
//! `demo-agent -- mcp-approve -- mcp-approve demo-server`. Nothing in it is simulated but the agent's wishes.

mod agent;
mod chain;
mod cues;
mod database;
mod effects;
mod folder;
mod ledger;
mod operator;
mod scripted;
mod server;
mod stage;
mod story;
mod summary;
mod tools;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use chain::Chain;
use stage::Stage;

/// Who decides in the demo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The person at this terminal, in the console.
    Person,
    /// A scripted one, attached to the wrapper as a console is; needs no terminal.
    Automatic,
}

/// Arguments of the hidden command `demo-server`.
#[derive(Clone, Debug, clap::Args)]
pub struct ServerArgs {
    /// The workspace that `demo` made.
    #[arg(required_unless_present = "script")]
    pub dir: Option<PathBuf>,
    /// Plays this JSON script instead, for tests.
    #[arg(long, conflicts_with = "dir")]
    pub script: Option<PathBuf>,
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

/// What can stop the demo.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error("{doing} {}: {cause}", path.display())]
    Io { doing: &'static str, path: PathBuf, cause: io::Error },
    #[error("the demo's own processes could not be run: {0}")]
    Process(io::Error),
    #[error("the output could not be written: {0}")]
    Output(#[from] io::Error),
    #[error("the demo's database failed: {0}")]
    Database(String),
    #[error("the demo's tool definitions are not readable: {0}")]
    Definitions(serde_json::Error),
    #[error("the script {} is not readable: {cause}", path.display())]
    Script { path: PathBuf, cause: serde_json::Error },
    #[error("no server command was given")]
    NoCommand,
    #[error("the demo needs a terminal for its console")]
    NoTerminal,
    #[error("{0}")]
    Chain(String),
    #[error("the automatic operator could not attach: {0}")]
    Attach(String),
    #[error("the audit log of the demo could not be read: {0}")]
    Log(String),
}

impl From<DemoError> for super::error::Error {
    fn from(error: DemoError) -> Self {
        Self::Wrong { what: error.to_string(), hint: error.hint().to_owned() }
    }
}

impl DemoError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } | Self::Database(_) => "check that the temporary folder is writable and has room",
            Self::Process(_) => "run `mcp-approve doctor`, then try again",
            Self::Output(_) => "the reader of the output may be gone; run the demo at a terminal",
            Self::Definitions(_) => "this build is broken; please report it",
            Self::Script { .. } => "give a file that holds one JSON object",
            Self::NoCommand => "put the server's command after `--`",
            Self::NoTerminal => "run it at a terminal, or let an automatic operator play it: `mcp-approve demo --auto`",
            Self::Chain(_) | Self::Attach(_) | Self::Log(_) => {
                "run `mcp-approve doctor`; the agent's diary says what the wrapper printed"
            }
        }
    }

    fn io(doing: &'static str, path: &Path, cause: io::Error) -> Self {
        Self::Io { doing, path: path.into(), cause }
    }
}

impl From<database::ShopError> for DemoError {
    fn from(error: database::ShopError) -> Self {
        Self::Database(error.to_string())
    }
}

/// Plays the demo from start to closing summary; everything it started has ended when it returns.
///
/// # Errors
/// What kept it from playing. A play that went wrong is no error: it says what, and returns exit code 1.
pub fn run(operator: Operator, out: &mut dyn Write) -> Result<ExitCode, DemoError> {
    match operator {
        Operator::Person if !(io::stdin().is_terminal() && io::stdout().is_terminal()) => Err(DemoError::NoTerminal),
        Operator::Person => with_person(&Stage::set()?, out),
        Operator::Automatic => automatically(Stage::set()?, out),
    }
}

/// Runs the demo's server on this process's stdin and stdout.
///
/// # Errors
/// A workspace or script that cannot be read; a broken pipe.
pub fn serve(args: &ServerArgs) -> Result<ExitCode, DemoError> {
    let (input, output) = (io::stdin().lock(), io::stdout());
    match (&args.script, &args.dir) {
        (Some(script), _) => scripted::serve(script, input, output),
        (None, Some(dir)) => {
            server::serve(input, output, &tools::Tools::over(dir)?)?;
            Ok(ExitCode::SUCCESS)
        }
        (None, None) => Err(DemoError::NoCommand),
    }
}

/// Runs the scripted agent over the wrapped command in `args`.
///
/// # Errors
/// A command that cannot be run, a diary that cannot be written, a pipe that broke.
pub fn agent(args: &AgentArgs) -> Result<ExitCode, DemoError> {
    agent::run(args)
}

fn with_person(stage: &Stage, out: &mut dyn Write) -> Result<ExitCode, DemoError> {
    let before = effects::State::of(&stage.work())?;
    let chain = Chain::start(stage)?;
    let shown = chain::console(stage);
    chain.leave()?;
    let shown = shown?;
    let found = summary::write(stage, &before, out)?;
    stage.keep();
    writeln!(out, "\nAll of it stays in {} until you remove it.\n{}", stage.root().display(), summary::NEXT)?;
    Ok(match found {
        summary::Log::Verifies if shown.success() => ExitCode::SUCCESS,
        summary::Log::Verifies | summary::Log::Broken => ExitCode::FAILURE,
    })
}

fn automatically(stage: Stage, out: &mut dyn Write) -> Result<ExitCode, DemoError> {
    let before = effects::State::of(&stage.work())?;
    writeln!(out, "mcp-approve demo, played by an automatic operator\n")?;
    let mut chain = Chain::start(&stage)?;
    let mut play = operator::Play::new(&stage, out)?;
    let played = play.perform(&mut chain);
    let left = chain.leave();
    played?;
    let mut wrong = play.close()?;
    wrong.extend(left.err().map(|error| error.to_string()));
    match summary::write(&stage, &before, out) {
        Ok(summary::Log::Verifies) => {}
        Ok(summary::Log::Broken) => wrong.push("the log does not verify".into()),
        Err(error) => wrong.push(error.to_string()),
    }
    if wrong.is_empty() {
        writeln!(out, "\nEvery decision had its effect, and nothing else happened.")?;
        stage.strike()?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "\nNot as it should be:")?;
    for what in &wrong {
        writeln!(out, "  - {what}")?;
    }
    stage.keep();
    writeln!(out, "The folder is kept: {}", stage.root().display())?;
    Ok(ExitCode::FAILURE)
}

/// Waits for a process to end, at most so long; `None` when it still runs.
fn wait_for(process: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        match process.try_wait()? {
            None if Instant::now() < deadline => thread::sleep(Duration::from_millis(10)),
            status => return Ok(status),
        }
    }
}
