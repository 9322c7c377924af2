//! Processes: what is left of a server when its wrapper is killed, how a server starts and ends, what carries bytes.
//!
//! A wrapper to be killed is this test binary itself, run again with a test that is ignored otherwise.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Pid;

mod guardian;

const DEADLINE: Duration = Duration::from_secs(20);

fn poll(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < until, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A process that only waits to be reaped is dead: in a container there may be nobody to do it.
fn is_alive(pid: i32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit_once(')').unwrap().1.starts_with(" Z"),
        Err(_) if Path::new("/proc/self/stat").exists() => false,
        Err(_) => rustix::process::test_kill_process(Pid::from_raw(pid).unwrap()).is_ok(),
    }
}

/// Waits until a script has written `count` process ids, one a line.
fn pids(file: &Path, count: usize) -> Vec<i32> {
    let mut found = Vec::new();
    poll("the script names its processes", || {
        let text = fs::read_to_string(file).unwrap_or_default();
        found = text.lines().filter_map(|line| line.parse().ok()).collect();
        found.len() == count && text.ends_with('\n')
    });
    found
}

/// This test binary again, as one of its ignored tests.
fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command
}
