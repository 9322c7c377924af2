//! A notice on the desktop, shown by the desktop's own program: from a console that the operator does not look at, or
//! from a wrapper while no console is open. Others choose the moment and the words.
//!
//! Not by the `notify-rust` crate: with its D-Bus it is 724 KiB of program, more than the whole terminal. Every desktop
//! has a small program for this; it runs beside us, we never wait for it, and it gets its words as one argument.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Where the system keeps its programs. Never the PATH: an agent may have put a folder in front of it.
const FOLDERS: &[&str] = &["/usr/bin", "/bin", "/run/current-system/sw/bin"];
/// Milliseconds between two notices.
const PAUSE: i64 = 15_000;
/// A program that hangs is ended after this many checks …
const LOOKS: u32 = 50;
/// … this far apart.
const LOOK: Duration = Duration::from_millis(100);
/// Where a program finds the desktop's session.
const BUS: &str = "DBUS_SESSION_BUS_ADDRESS";
/// The script takes the words as an argument, so that nothing in them is run.
const SCRIPT: &str = "on run argv\ndisplay notification (item 1 of argv) with title \"mcp-approve\"\nend run";

#[derive(Clone, Debug, PartialEq, Eq)]
struct Program {
    path: PathBuf,
    speaks: Speaks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaks {
    /// Linux and the BSDs: `notify-send`.
    NotifySend,
    /// macOS: `osascript`.
    AppleScript,
}

impl Program {
    fn in_folder(folder: &Path) -> Option<Self> {
        let known = [("notify-send", Speaks::NotifySend), ("osascript", Speaks::AppleScript)];
        known.into_iter().map(|(name, speaks)| Self { path: folder.join(name), speaks }).find(|one| one.path.is_file())
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(&self.path);
        match self.speaks {
            Speaks::NotifySend => {
                command.args(["--app-name=mcp-approve", "--expire-time=10000", "--", "mcp-approve"]);
                // The body of such a notice is markup.
                command.arg(words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"));
                // Hosts remove variables from their servers' environment, but a session's bus also has a fixed place.
                if std::env::var_os(BUS).is_none() {
                    command.env(BUS, format!("unix:path=/run/user/{}/bus", rustix::process::getuid().as_raw()));
                }
            }
            Speaks::AppleScript => {
                command.args(["-e", SCRIPT, "--", words]);
            }
        }
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// The desktop's program, and when it last showed a notice.
#[derive(Debug)]
pub struct Desktop {
    program: Option<Program>,
    last: Option<i64>,
}

impl Default for Desktop {
    fn default() -> Self {
        Self::within(FOLDERS)
    }
}

impl Desktop {
    /// The first program in one of these folders.
    pub fn within(folders: &[impl AsRef<Path>]) -> Self {
        Self { program: folders.iter().find_map(|folder| Program::in_folder(folder.as_ref())), last: None }
    }

    pub fn is_there(&self) -> bool {
        self.program.is_some()
    }

    /// Shows a notice, unless one was shown within `PAUSE`. Returns at once, whatever the program does.
    pub fn show(&mut self, words: &str, now: i64) {
        let Some(program) = &self.program else { return };
        if self.last.is_some_and(|last| (last..last + PAUSE).contains(&now)) {
            return;
        }
        self.last = Some(now);
        match program.command(words).spawn() {
            Ok(child) => {
                thread::spawn(move || see_off(child));
            }
            Err(error) => tracing::warn!(%error, "the desktop's notice could not be shown"),
        }
    }
}

/// Waits for the program's end, and ends it if it takes too long, so that no process stays behind.
fn see_off(mut child: Child) {
    for _ in 0..LOOKS {
        match child.try_wait() {
            Ok(None) => thread::sleep(LOOK),
            Ok(Some(_)) | Err(_) => return,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}
