//! The server's process, ended with its whole group: it is asked, then gets SIGTERM, then SIGKILL; under four seconds.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitStatus, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::Notify;

use super::guardian::{CoreLimit, Guardian};
use super::stdio::{AsyncIn, AsyncOut, widen};

#[derive(Debug)]
pub struct Child {
    child: process::Child,
    /// Told whenever a child of ours has ended.
    reported: Arc<Notify>,
    group: Option<Pid>,
}

#[derive(Clone, Copy, Debug)]
pub struct Ended(Option<ExitStatus>);

#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is no such program.
    #[error("there is no program `{0}`")]
    NotFound(String),
    /// It is a script, and what its first line names is not there.
    #[error("the script `{program}` cannot be run: its interpreter `{interpreter}` is missing")]
    NoInterpreter { program: String, interpreter: String },
    /// It is there, and cannot be run.
    #[error("the program `{program}` cannot be run: {cause}")]
    NotRunnable { program: String, cause: io::Error },
}

impl SpawnError {
    /// The exit code a shell would give: 127 or 126.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NotFound(_) => 127,
            Self::NoInterpreter { .. } | Self::NotRunnable { .. } => 126,
        }
    }
}

impl Child {
    /// Starts a server with `environment` added to ours, stdin and stdout piped. The guardian knows its group before it runs, `core`
    /// limits its core files, `reported` hears of each child that has ended. `command` is not empty.
    pub fn spawn(
        command: &[OsString],
        environment: Vec<(OsString, OsString)>,
        (guardian, core): (&Guardian, CoreLimit),
        reported: Arc<Notify>,
    ) -> Result<Self, SpawnError> {
        let [program, arguments @ ..] = command else {
            return Err(SpawnError::NotFound(String::new()));
        };
        let name = shown(program);
        let mut command = Command::new(program);
        command.envs(environment);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).process_group(0);
        guardian.enlist(&mut command, core);
        let child = command.spawn().map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => match unread_script(program).as_deref().map(interpreter) {
                None => SpawnError::NotFound(name),
                Some(Some(interpreter)) => SpawnError::NoInterpreter { program: name, interpreter },
                Some(None) => SpawnError::NotRunnable { program: name, cause },
            },
            _ => SpawnError::NotRunnable { program: name, cause },
        })?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok(Self { child, reported, group })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The pipe to write to the server; can be taken once.
    pub fn input(&mut self) -> io::Result<AsyncOut> {
        let pipe = self.child.stdin.take().ok_or_else(|| io::Error::other("the server's stdin is taken"))?;
        AsyncOut::new(OwnedFd::from(pipe))
    }

    /// The pipe to read from the server; can be taken once.
    pub fn output(&mut self) -> io::Result<AsyncIn> {
        let pipe = self.child.stdout.take().ok_or_else(|| io::Error::other("the server's stdout is taken"))?;
        let pipe = OwnedFd::from(pipe);
        widen(&pipe);
        AsyncIn::new(pipe)
    }

    /// Waits until the server's own process has ended.
    pub async fn wait(&mut self) -> Ended {
        loop {
            match self.child.try_wait() {
                Ok(None) => self.reported.notified().await,
                ended => return Ended(ended.ok().flatten()),
            }
        }
    }

    /// Asks the whole group to end.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // An error is fine: the group has no process left.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// The beginning of the program's file. If there is one, something other than the program was not found.
fn unread_script(program: &OsStr) -> Option<Vec<u8>> {
    // The longest first line that systems read (execve(2)), and more.
    const FIRST_LINE: u64 = 4096;
    let path = Path::new(program);
    let places: Vec<PathBuf> = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => vec![path.to_owned()],
        _ => std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(path)).collect(),
    };
    let file = places.iter().find(|place| place.is_file())?;
    let mut head = Vec::new();
    File::open(file).and_then(|file| file.take(FIRST_LINE).read_to_end(&mut head)).ok()?;
    Some(head)
}

/// What the first line of a script names; `None` when it is no script.
fn interpreter(head: &[u8]) -> Option<String> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    // A carriage return belongs to the name, as the system reads it.
    let word = line.trim_ascii_start().split(|byte| matches!(byte, b' ' | b'\t')).next()?;
    Some(shown(OsStr::from_bytes(word)))
}

/// A name as it may be shown: it may be foreign text.
fn shown(name: &OsStr) -> String {
    name.to_string_lossy().chars().flat_map(char::escape_debug).collect()
}

impl Ended {
    /// An end that could not be observed.
    pub fn unknown() -> Self {
        Self(None)
    }

    /// The wrapper's own exit code: the server's, or 128 and its signal.
    pub fn exit_code(&self) -> u8 {
        let Some(status) = self.0 else { return 1 };
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
        u8::try_from(code).unwrap_or(1)
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            None => f.write_str("its status is unknown"),
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => write!(f, "exit status {code}"),
                (None, Some(signal)) => match Signal::from_named_raw(signal) {
                    // It prints itself as `"Signal::KILL"`.
                    Some(named) => {
                        let name = format!("{named:?}").replace("Signal::", "SIG");
                        write!(f, "signal {signal} ({})", name.trim_matches('"'))
                    }
                    None => write!(f, "signal {signal}"),
                },
                (None, None) => f.write_str("unknown status"),
            },
        }
    }
}

/// Microseconds a server has after its stdin was closed.
const ASKED: u64 = 1_200_000;
/// Microseconds it has after SIGTERM.
const TERMINATED: u64 = 800_000;

/// Microseconds after SIGKILL for the last bytes in the pipe, and for the system to reap the process.
const KILLED: u64 = 500_000;

#[derive(Debug)]
pub struct Stopping {
    step: Step,
    next: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Its stdin is closed; it may end by itself.
    Asked,
    /// SIGTERM was sent to its group.
    Terminated,
    /// SIGKILL was sent to its group.
    Killed,
    /// Nothing more is waited for: a process that still holds its pipes has left its group.
    Over,
}

impl Stopping {
    /// Its stdin was closed at `now` (monotonic microseconds).
    pub fn asked(now: u64) -> Self {
        Self { step: Step::Asked, next: now + ASKED }
    }

    /// Its group gets SIGTERM at once.
    pub fn terminate(now: u64, child: &Child) -> Self {
        child.terminate();
        Self { step: Step::Terminated, next: now + TERMINATED }
    }

    /// The same for an end that is on its way already: never later than it would have been.
    pub fn hurry(&mut self, now: u64, child: &Child) {
        if self.step == Step::Asked {
            *self = Self::terminate(now, child);
        }
    }

    /// The program itself has ended; what it left behind in its group has `grace` microseconds.
    pub fn leftovers(now: u64, grace: u64) -> Self {
        Self { step: Step::Terminated, next: now + grace }
    }

    /// When the next step is due; `None` once everything was done.
    pub fn next(&self) -> Option<u64> {
        (self.step != Step::Over).then_some(self.next)
    }

    /// Whether nothing more is waited for, even if the server's pipe is still open.
    pub fn is_over(&self) -> bool {
        self.step == Step::Over
    }

    pub fn advance(&mut self, now: u64, child: &Child) {
        if now < self.next {
            return;
        }
        match self.step {
            Step::Asked => *self = Self::terminate(now, child),
            Step::Terminated => {
                child.kill();
                *self = Self { step: Step::Killed, next: now + KILLED };
            }
            Step::Killed => self.step = Step::Over,
            Step::Over => {}
        }
    }
}
