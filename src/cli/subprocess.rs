//! A program that is started to be asked something: it reads and writes JSON, one value a line. Dropping this ends it.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A running program.
pub(super) struct Subprocess {
    child: Child,
    input: ChildStdin,
    lines: mpsc::Receiver<String>,
}

impl Subprocess {
    /// Starts it. A line of it that has more than `longest` bytes, or is no UTF-8, is the last that is read.
    pub(super) fn start(command: &mut Command, longest: u64) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no stdin or stdout"));
        };
        let (sender, lines) = mpsc::sync_channel(64);
        thread::spawn(move || {
            let (mut output, mut line) = (BufReader::new(output), String::new());
            while matches!(output.by_ref().take(longest).read_line(&mut line), Ok(1..)) {
                let is_whole = line.ends_with('\n');
                if sender.send(std::mem::take(&mut line)).is_err() || !is_whole {
                    break;
                }
            }
        });
        Ok(Self { child, input, lines })
    }

    /// Writes it a line.
    pub(super) fn write(&mut self, line: &Value) -> io::Result<()> {
        self.input.write_all(format!("{line}\n").as_bytes())
    }

    /// Its next line.
    pub(super) fn next(&self, within: Duration) -> Result<String, RecvTimeoutError> {
        self.lines.recv_timeout(within)
    }
}

impl Drop for Subprocess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
