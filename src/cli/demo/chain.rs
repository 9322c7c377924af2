//! The demo's processes: agent, wrapper and server in a chain, and the console beside them; all of this very binary.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::error;
use super::stage::Stage;
use crate::cli::error::Error;

/// How long the agent may take to end: it waits for the wrapper, which waits for the server, each within its own limit.
const END_LIMIT: Duration = Duration::from_secs(10);

/// The agent with everything below it. It leaves when its stdin ends, so also when this process dies.
#[derive(Debug)]
pub(super) struct Chain {
    agent: Child,
}

impl Chain {
    /// Starts the agent over the wrapped server, in a process group of its own: the terminal's ^C is not for it.
    pub(super) fn start(stage: &Stage) -> Result<Self, Error> {
        let words = stage.root.join("agent.err");
        let words = File::create(&words).map_err(|cause| error::io("creating", &words, cause))?;
        let me = std::env::current_exe().map_err(error::process)?;
        let agent = Command::new(&me)
            .args(["demo-agent".as_ref(), "--diary".as_ref(), stage.root.join("agent.log").as_os_str(), "--".as_ref()])
            .args([me.as_os_str(), "--home".as_ref(), stage.home.as_os_str()])
            // An agent that waits for a reader of this demo has patience.
            .args(["--name", "demo", "--host-timeout", "1h", "--approval-timeout", "1h", "--"])
            .args([me.as_os_str(), "demo-server".as_ref(), stage.work.as_os_str()])
            // Relative paths are the workspace's, for the server and for what the card shows of them.
            .current_dir(&stage.work)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(words)
            .process_group(0)
            .spawn()
            .map_err(error::process)?;
        Ok(Self { agent })
    }

    /// Tells the agent to leave; without waiting.
    fn dismiss(&mut self) {
        drop(self.agent.stdin.take());
    }

    /// Tells the agent to leave and waits until it has; one that stays is killed and reported.
    pub(super) fn leave(mut self) -> Result<(), Error> {
        self.dismiss();
        match wait_for(&mut self.agent, END_LIMIT).map_err(error::process)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(error::between(format!("the agent ended with {status}"))),
            None => Err(error::between("the agent did not leave in time")),
        }
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        self.dismiss();
        if let Ok(None) = wait_for(&mut self.agent, END_LIMIT) {
            // If this fails, the agent has ended or cannot be killed: nothing is left to do.
            let _ = self.agent.kill();
            let _ = self.agent.wait();
        }
    }
}

/// Runs the console on this terminal, as a user would in another one, until the person quits.
pub(super) fn console(stage: &Stage) -> Result<ExitStatus, Error> {
    command(&stage.home)?.arg("demo-console").status().map_err(error::process)
}

/// Runs one command over the demo's home and takes its output.
pub(super) fn ask(home: &Path, arguments: &[&str]) -> Result<Output, Error> {
    command(home)?.args(arguments).stdin(Stdio::null()).output().map_err(error::process)
}

fn command(home: &Path) -> Result<Command, Error> {
    let mut command = Command::new(std::env::current_exe().map_err(error::process)?);
    command.arg("--home").arg(home);
    Ok(command)
}

/// Waits for a process to end, at most so long; `None` when it still runs.
pub(super) fn wait_for(process: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        match process.try_wait()? {
            None if Instant::now() < deadline => thread::sleep(Duration::from_millis(10)),
            status => return Ok(status),
        }
    }
}
