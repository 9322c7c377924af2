//! Runs a program of the operator's: one line of JSON on its stdin, what it writes on stdout. No shell, the system's PATH, no
//! terminal among its streams. Whoever drops the run ends the program with everything that it has started.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use crate::home::config::approver::PATH;

/// How long an answer may be, in bytes; a longer one is an error.
const ANSWER: u64 = 64 << 10;

/// Runs it to its end. It takes as long as the program does: the caller limits that.
///
/// # Errors
/// Why it did not run, or did not end well.
pub(super) async fn run(command: &[OsString], folder: &Path, line: &str) -> Result<Vec<u8>, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("it has no command".to_owned());
    };
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("PATH", PATH)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("it cannot be run: {error}"))?;
    let mut group = Group(child.id());
    let (mut to, from) = (child.stdin.take(), child.stdout.take());
    let line = format!("{line}\n");
    let write = async {
        if let Some(to) = &mut to {
            // It may not read, and close the pipe: what it writes counts all the same.
            let _ = to.write_all(line.as_bytes()).await;
        }
        drop(to.take());
    };
    let read = async {
        let mut text = Vec::new();
        if let Some(from) = from {
            from.take(ANSWER + 1).read_to_end(&mut text).await.map_err(|error| error.to_string())?;
        }
        Ok::<_, String>(text)
    };
    let ((), text) = tokio::join!(write, read);
    let text = text?;
    if text.len() as u64 > ANSWER {
        return Err(format!("its answer is longer than {ANSWER} bytes"));
    }
    let status = child.wait().await.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("it failed ({status})"));
    }
    group.0 = None;
    Ok(text)
}

/// The process group of a program that has not ended well; dropping it ends what is left of it.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        let leader = self.0.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(leader) = leader {
            // An error is fine: usually there is nothing left.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}
