//! Looks at processes from outside: whether one is alive, and which ones a shell wrote down.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::until;

/// Whether a process is there and no zombie.
pub fn is_alive(pid: u32) -> bool {
    let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    if test_kill_process(raw).is_err() {
        return false;
    }
    // Nobody may be there to bury an orphan: in a container the first process often does not.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

/// The process ids in a file, one a line; whole lines only.
pub fn listed(file: &Path) -> Vec<u32> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).filter_map(|line| line.trim().parse().ok()).collect()
}

/// Waits until so many processes have written themselves down.
pub fn awaits(file: &Path, count: usize) -> Vec<u32> {
    until("the processes start", || Some(listed(file)).filter(|pids| pids.len() >= count))
}

/// Waits until all of them are gone.
pub fn are_gone(pids: &[u32]) {
    until("all processes are gone", || pids.iter().all(|pid| !is_alive(*pid)).then_some(()));
}

/// Kills a process without a last word.
pub fn kill(pid: u32) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
}
