//! The wrapped server as a process: started in a group of its own, and ended with all its children. Reads and writes
//! nothing of what passes.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::guardian::Guardian;
use super::stdio::{AsyncIn, AsyncOut};

/// The server's stdin.
pub type ServerInput = AsyncOut;
/// The server's stdout.
pub type ServerOutput = AsyncIn;

/// From the end of the server's stdin to SIGTERM. All in all less than the four seconds that hosts give us.
const UNTIL_TERM: Duration = Duration::from_millis(1500);
/// From SIGTERM to SIGKILL.
const UNTIL_KILL: Duration = Duration::from_secs(1);
/// From SIGKILL until we go without having seen the end.
const UNTIL_LEAVE: Duration = Duration::from_millis(500);
/// How often it is asked whether a group has ended: the system tells of children only, not of theirs.
const LOOK: Duration = Duration::from_millis(10);
/// How long the last words of a dead server are read, while a child of its own still holds its stdout.
const DRAIN: Duration = Duration::from_millis(200);
/// And how many bytes of them: more than a pipe holds is not the dead server's.
const DRAIN_BYTES: usize = 1024 * 1024;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("there is no server command; write it after --, as in: mcp-approve -- npx some-server")]
    Nothing,
    #[error(
        "the server command {program:?} was not found; install it or write its whole path \
         (hosts with windows give a PATH that is shorter than your shell's)"
    )]
    NotFound { program: OsString },
    #[error(
        "the server command {program:?} cannot be run: {source}; make it executable (chmod +x), or name its interpreter before it"
    )]
    NotExecutable { program: OsString, source: io::Error },
    #[error("the server command {program:?} cannot be started: {source}; end other programs and try again")]
    NoProcess { program: OsString, source: io::Error },
}

impl SpawnError {
    /// What the wrapper exits with, as a shell would.
    pub fn code(&self) -> i32 {
        match self {
            Self::Nothing => 2,
            Self::NotFound { .. } => 127,
            Self::NotExecutable { .. } | Self::NoProcess { .. } => 126,
        }
    }
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

impl Exit {
    /// What the wrapper exits with: the server's own code, or 128 and the signal.
    pub fn code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }

    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            // Neither exists for a process that was waited for to its end.
            (None, None) => Self::Code(1),
        }
    }
}

/// How much time a server gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// The host has left: stdin ends, SIGTERM after 1.5 s, SIGKILL after one more.
    Patient,
    /// We were told to go: SIGTERM at once, SIGKILL after a second.
    Prompt,
}

/// A running server. Dropping it without [`Child::stop`] or [`Child::end_group`] leaves its end to the guardian.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    /// The number of the server and of its group.
    group: Pid,
    guardian: Option<Guardian>,
    life: Life,
}

/// Whether a group's number still means this group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Running,
    Over,
}

/// Starts the server: in its own process group, with our stderr, folder and environment. Must be called within a tokio
/// runtime with io and time.
///
/// # Errors
/// See [`SpawnError`]; its message says what to do and its code what to exit with.
pub fn spawn(
    command: &[OsString],
    guardian: Option<Guardian>,
) -> Result<(Child, ServerInput, ServerOutput), SpawnError> {
    let (program, arguments) = command.split_first().ok_or(SpawnError::Nothing)?;
    let no_process = |source| SpawnError::NoProcess { program: program.clone(), source };
    let (their_input, our_input) = io::pipe().map_err(no_process)?;
    let (our_output, their_output) = io::pipe().map_err(no_process)?;
    let input = AsyncOut::new(our_input.into()).map_err(no_process)?;
    let output = AsyncIn::new(our_output.into()).map_err(no_process)?;
    let mut command = std::process::Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::from(their_input))
        .stdout(Stdio::from(their_output))
        .stderr(Stdio::inherit())
        .process_group(0);
    // A guardian that somebody has ended would end the server too, by SIGPIPE: ask it first.
    let guardian = guardian.filter(|guardian| match guardian.forget() {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(%error, "the guardian is gone: a killed wrapper will leave its server behind");
            false
        }
    });
    if let Some(guardian) = &guardian {
        guardian.enlist(&mut command);
    }
    // Our copies of the server's ends are closed with the command.
    let process = match tokio::process::Command::from(command).spawn() {
        Ok(process) => process,
        Err(source) => {
            dismiss(guardian);
            return Err(cannot_run(program, source));
        }
    };
    let group = process
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw)
        .ok_or_else(|| no_process(io::ErrorKind::NotFound.into()))?;
    let child = Child { process, group, guardian, life: Life::Running };
    Ok((child, input, output))
}

impl Child {
    /// The server's process id, which is its group's number as well.
    pub fn id(&self) -> u32 {
        self.group.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits for the server's own end; its children may live on, see [`drain`] and [`Child::end_group`]. May be dropped
    /// and called again.
    ///
    /// # Errors
    /// The system does not say.
    pub async fn wait(&mut self) -> io::Result<Exit> {
        self.process.wait().await.map(Exit::of)
    }

    /// Ends the server and its children, within 3 s when patient, 1.5 s when prompt. Keep reading its output
    /// meanwhile: a server that cannot write cannot end.
    ///
    /// # Errors
    /// The system does not say how it ended.
    pub async fn stop(&mut self, input: Option<ServerInput>, manner: Manner) -> io::Result<Exit> {
        drop(input);
        match manner {
            Manner::Patient => {
                let _ = timeout(UNTIL_TERM, self.process.wait()).await;
            }
            Manner::Prompt => {}
        }
        self.end_group().await;
        match timeout(UNTIL_LEAVE, self.process.wait()).await {
            Ok(ended) => ended.map(Exit::of),
            // Killed, but held by the system, by a disk that does not answer for instance.
            Err(_) => Ok(Exit::Signal(Signal::KILL.as_raw())),
        }
    }

    /// Ends whatever is left of the group: SIGTERM, a second at most, SIGKILL. Then the guardian may go.
    pub async fn end_group(&mut self) {
        if !self.is_over() {
            self.signal(Signal::TERM);
            let until = Instant::now() + UNTIL_KILL;
            while !self.is_over() && Instant::now() < until {
                sleep(LOOK).await;
            }
            if !self.is_over() {
                self.signal(Signal::KILL);
            }
        }
        self.life = Life::Over;
        dismiss(self.guardian.take());
    }

    fn signal(&self, signal: Signal) {
        // An error means that the group has just ended.
        let _ = rustix::process::kill_process_group(self.group, signal);
    }

    /// Whether nothing of the group is left. A server that has ended counts until it was waited for.
    fn is_over(&mut self) -> bool {
        if self.life == Life::Running {
            let ended = !matches!(self.process.try_wait(), Ok(None));
            let empty = rustix::process::test_kill_process_group(self.group) == Err(rustix::io::Errno::SRCH);
            if ended && empty {
                self.life = Life::Over;
            }
        }
        self.life == Life::Over
    }
}

/// Reads the last words of a server that has ended: to the end, or for 200 ms when a child of its own still holds its
/// stdout.
///
/// # Errors
/// The read's own.
pub async fn drain(output: &mut ServerOutput, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let until = Instant::now() + DRAIN;
    let mut buffer = vec![0; 64 * 1024];
    let mut left = DRAIN_BYTES;
    while left > 0 {
        match timeout_at(until, output.read(&mut buffer)).await {
            Ok(Ok(0)) | Err(_) => break,
            Ok(Ok(got)) => {
                each(&buffer[..got]);
                left = left.saturating_sub(got);
            }
            Ok(Err(error)) => return Err(error),
        }
    }
    Ok(())
}

fn dismiss(guardian: Option<Guardian>) {
    // One that is gone already has nothing to end.
    if let Some(guardian) = guardian {
        let _ = guardian.dismiss();
    }
}

fn cannot_run(program: &OsStr, source: io::Error) -> SpawnError {
    let is_path = program.as_encoded_bytes().contains(&b'/');
    let program = program.to_owned();
    match source.kind() {
        // There it is, but what its first line names is not.
        io::ErrorKind::NotFound if is_path && Path::new(&program).exists() => SpawnError::NotExecutable {
            program,
            source: io::Error::new(source.kind(), "the interpreter it names was not found"),
        },
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => SpawnError::NotFound { program },
        io::ErrorKind::PermissionDenied | io::ErrorKind::IsADirectory => SpawnError::NotExecutable { program, source },
        _ if source.raw_os_error() == Some(libc::ENOEXEC) => SpawnError::NotExecutable { program, source },
        _ => SpawnError::NoProcess { program, source },
    }
}
