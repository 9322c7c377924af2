//! `mcp-approve demo`: a real server, a scripted agent and the console in a temporary folder, all processes of this binary,
//! started as a host would: `demo-agent -- mcp-approve -- mcp-approve demo-server`. Only the agent's wishes are simulated.

mod agent;
mod summary;
mod tools;

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use super::console;
use super::error::{Error, Exit, done};
use super::look::Here;
use crate::home::places::Places;
use crate::home::replace::replace;
pub use agent::AgentArgs;
use agent::{END_LIMIT, wait_for};
use summary::Workspace;
use tools::{Tools, failed};

/// What the agent reads of the database, statement by statement, passes by this policy.
const POLICY: &str = include_str!("../../assets/demo/policy.toml");

const NEXT: &str = "
To put it in front of the servers that your agent uses already:
    mcp-approve install
and open the console in any terminal:
    mcp-approve";

/// Plays the demo to its closing summary in a folder below `home`; everything it started has ended when it returns.
pub(super) fn run(home: Option<&Path>, now: i64, out: &mut dyn Write) -> Exit {
    if !console::is_here() {
        return Err(Error::wrong(
            "the demo needs a terminal for its console",
            "run it at a terminal: `mcp-approve demo`",
        ));
    }
    let root = folder(&home.map_or_else(std::env::temp_dir, Path::to_path_buf)).map_err(failed)?;
    let (work, places) = (root.join("work"), Places::under(&root.join("home"))?);
    replace(&places.policy_file(), POLICY).map_err(failed)?;
    private(&work).map_err(failed)?;
    tools::furnish(&work)?;
    let before = Workspace::of(&work)?;
    let mut agent = start(&root, &work).map_err(failed)?;
    let shown = Command::new(me()?).arg("--home").arg(root.join("home")).arg("demo-console").status();
    drop(agent.stdin.take());
    let left = wait_for(&mut agent, END_LIMIT).map_err(failed)?;
    let shown = shown.map_err(failed)?;
    if !left.is_some_and(|status| status.success()) {
        let _ = agent.kill();
        let hint = "run `mcp-approve doctor`; agent.err says what the wrapper printed";
        return Err(Error::wrong(format!("the demo's agent did not leave as it should ({})", root.display()), hint));
    }
    let chain = summary::write(&before, &Workspace::of(&work)?, Here { places: &places, now }, out)?;
    writeln!(out, "\nAll of it stays in {} until you remove it:", root.display())?;
    writeln!(out, "    {}\n{NEXT}", places.command("log list"))?;
    Ok(if shown.success() { chain } else { ExitCode::FAILURE })
}

pub(super) fn serve(work: &Path) -> Exit {
    tools::furnish(work)?;
    done(tools::serve(io::stdin().lock(), io::stdout(), &mut Tools::over(work)?))
}

pub(super) fn agent(args: &AgentArgs) -> Exit {
    agent::run(args)
}

/// A folder that this demo alone uses, by its absolute path: the demo's processes work in other folders.
fn folder(around: &Path) -> io::Result<PathBuf> {
    DirBuilder::new().mode(0o700).recursive(true).create(around)?;
    let around = around.canonicalize()?;
    let made = (0..100).map(|number| around.join(format!("mcp-demo-{}-{number}", std::process::id())));
    made.map(|root| private(&root).map(|()| root))
        .find(|made| !matches!(made, Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists))
        .unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))
}

fn private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

/// Starts the agent in a process group of its own: the terminal's ^C is not for it. It leaves when its stdin ends.
fn start(root: &Path, work: &Path) -> io::Result<Child> {
    let me = std::env::current_exe()?;
    Command::new(&me)
        .args(["demo-agent".as_ref(), "--diary".as_ref(), root.join("agent.log").as_os_str(), "--".as_ref()])
        .args([me.as_os_str(), "--home".as_ref(), root.join("home").as_os_str()])
        // An agent that waits for a reader of this demo has patience.
        .args(["--name", "demo", "--host-timeout", "1h", "--approval-timeout", "1h", "--"])
        .args([me.as_os_str(), "demo-server".as_ref(), work.as_os_str()])
        // Relative paths are the workspace's, for the server and for what the card shows of them.
        .current_dir(work)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(File::create(root.join("agent.err"))?)
        .process_group(0)
        .spawn()
}

fn me() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(failed)
}
