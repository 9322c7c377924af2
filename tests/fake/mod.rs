//! Everyone around the wrapper for end-to-end tests: a scripted host, server and operator, a terminal, the log's readers.
//!
//! Needs nothing but the built binary. Every wait has a deadline; none is a fixed sleep.

#![allow(dead_code, reason = "each test uses the part it needs")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken test bed fails the test")]

pub mod host;
pub mod libraries;
pub mod log;
pub mod nested;
pub mod operator;
pub mod processes;
pub mod scripted;
pub mod server;
pub mod shown;
pub mod terminal;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How long any one wait may take on a busy machine before the test fails.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// The binary under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_mcp-approve");

/// Polls until `look` finds something; panics with `what` when it never does.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = std::time::Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(std::time::Instant::now() < deadline, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Writes a program that tests run. Another process writes it: were it this one, a child that another test starts meanwhile
/// would have it open for a moment, and no system runs a file that is open for writing.
pub fn program(path: &Path, text: &str) {
    let write =
        Command::new("sh").args(["-c", r#"printf %s "$1" >"$0" && chmod 755 "$0""#]).arg(path).arg(text).status();
    assert!(write.unwrap().success());
}

/// Copies the binary under test, for the same reason by another process.
pub fn copy_binary(path: &Path) {
    assert!(Command::new("cp").args(["-p", BINARY]).arg(path).status().unwrap().success());
}
