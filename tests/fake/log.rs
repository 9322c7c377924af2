//! The audit log as its readers see it: through `mcp-approve log`, never through the database.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{BINARY, until};

/// Every record under `home`, the oldest first, with those that living wrappers are about to fold into the log.
pub fn records(home: &Path) -> Vec<Value> {
    let started = Instant::now();
    let mut all = folded(home);
    while fs::read_dir(home.join("state/audit.d")).is_ok_and(|mut journals| journals.next().is_some()) {
        // Three times as long as a wrapper takes at most, and longer on a machine on which reading takes long: when nothing
        // has come by then, nothing was on its way.
        thread::sleep(Duration::from_millis(150).max(started.elapsed() * 3));
        let now = folded(home);
        if now.len() == all.len() {
            break;
        }
        all = now;
    }
    all
}

fn folded(home: &Path) -> Vec<Value> {
    let out = run(home, &["list", "--jsonl", "--limit", "1000000"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The records of one kind.
pub fn of_kind(home: &Path, kind: &str) -> Vec<Value> {
    records(home).into_iter().filter(|record| record["kind"] == kind).collect()
}

/// The decisions on one tool.
pub fn decisions(home: &Path, tool: &str) -> Vec<Value> {
    of_kind(home, "decision").into_iter().filter(|record| record["tool"] == tool).collect()
}

/// Waits for a record: entries that nothing waits for follow a moment later.
pub fn awaits(home: &Path, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    until(what, || records(home).into_iter().find(&wanted))
}

/// Fails unless the chain holds.
pub fn verifies(home: &Path) {
    let out = run(home, &["verify"]);
    let (said, error) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}{error}");
}

/// Runs `mcp-approve log` with these words.
pub fn run(home: &Path, words: &[&str]) -> Output {
    Command::new(BINARY).arg("--home").arg(home).arg("log").args(words).output().unwrap()
}
