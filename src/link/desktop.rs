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
const FOLDERS: [&str; 3] = ["/usr/bin", "/bin", "/run/current-system/sw/bin"];
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

/// A program that shows notices.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Program {
    path: PathBuf,
    speaks: Speaks,
}

/// How a program takes its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaks {
    /// Linux and the BSDs: `notify-send`.
    NotifySend,
    /// macOS: `osascript`.
    AppleScript,
}

impl Program {
    /// The desktop's program on this system.
    fn find() -> Option<Self> {
        FOLDERS.iter().find_map(|folder| Self::in_folder(Path::new(folder)))
    }

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

/// Whether the desktop has a program that shows notices.
pub fn is_there() -> bool {
    Program::find().is_some()
}

/// The desktop's program, and when it last showed a notice.
#[derive(Debug)]
pub struct Desktop {
    program: Option<Program>,
    last: Option<i64>,
}

impl Default for Desktop {
    fn default() -> Self {
        Self { program: Program::find(), last: None }
    }
}

impl Desktop {
    /// The program in this folder instead: for tests.
    #[cfg(test)]
    pub fn in_folder(folder: &Path) -> Self {
        Self { program: Program::in_folder(folder), last: None }
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

/// Writes a program for a test, through another process: if this one wrote it, a child of another test could have the
/// file open for a moment, and no system runs a file that is open for writing.
#[cfg(test)]
pub fn write_program(path: &Path, text: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"printf %s "$1" >"$0" && chmod 755 "$0""#]).arg(path).arg(text);
    assert!(shell.status().is_ok_and(|status| status.success()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Instant;

    /// A folder with a program of this name that writes down its arguments, one a line, then does `then`.
    fn desktop(name: &str, then: &str) -> (tempfile::TempDir, Program, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("told");
        let script =
            format!("#!/bin/sh\nsaid=$(printf '%s\\n' \"$@\")\necho \"$said\" >> '{}'\n{then}\n", told.display());
        let path = folder.path().join(name);
        write_program(&path, &script);
        let program = Program::in_folder(folder.path()).unwrap();
        (folder, program, told)
    }

    fn read(told: &Path) -> String {
        let start = Instant::now();
        while !fs::read_to_string(told).is_ok_and(|said| said.ends_with('\n'))
            && start.elapsed() < Duration::from_secs(20)
        {
            thread::sleep(Duration::from_millis(5));
        }
        fs::read_to_string(told).unwrap_or_default()
    }

    #[test]
    fn its_words_are_one_argument_and_never_an_option_or_a_script() {
        for (name, last) in [("notify-send", "--\nmcp-approve\n"), ("osascript", "end run\n--\n")] {
            let (_folder, program, told) = desktop(name, "");
            Desktop { program: Some(program), last: None }.show("--help \"; display dialog \"x", 0);
            let said = read(&told);
            assert!(said.ends_with(&format!("{last}--help \"; display dialog \"x\n")), "{said}");
        }
    }

    #[test]
    fn what_a_call_names_is_no_markup() {
        let (_folder, program, told) = desktop("notify-send", "");
        Desktop { program: Some(program), last: None }.show("files: deletes <a href=\"x\">&b</a>", 0);
        let said = read(&told);
        assert!(said.ends_with("files: deletes &lt;a href=\"x\"&gt;&amp;b&lt;/a&gt;\n"), "{said}");
    }

    #[test]
    fn one_that_hangs_keeps_nobody_and_the_next_waits_its_turn() {
        let (_folder, program, told) = desktop("notify-send", "exec sleep 30");
        let mut desktop = Desktop { program: Some(program), last: None };
        let start = Instant::now();
        desktop.show("one", 1_000);
        assert!(start.elapsed() < Duration::from_secs(25), "it was waited for");
        assert!(read(&told).ends_with("one\n"));
        fs::remove_file(&told).unwrap();
        desktop.show("two", 1_000 + PAUSE - 1);
        desktop.show("three", 1_000 + PAUSE);
        let said = read(&told);
        assert!(said.ends_with("three\n") && !said.contains("two"), "{said}");
    }

    #[test]
    fn a_system_without_one_has_none() {
        assert_eq!(Program::in_folder(tempfile::tempdir().unwrap().path()), None);
    }
}
