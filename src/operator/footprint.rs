//! How much memory a process and everything it started take. Known on Linux only.

use std::fs;

/// How many processes of one tree are added up; for a server with more, the number shown is too low.
const MOST: usize = 256;

/// Bytes that are resident of this process and its descendants; `None` where the system does not say.
pub(super) fn of(pid: u32) -> Option<u64> {
    let (mut all, mut open) = (resident(pid)?, children(pid));
    for _ in 1..MOST {
        let Some(pid) = open.pop() else { break };
        // A child may have ended meanwhile.
        all = all.saturating_add(resident(pid).unwrap_or(0));
        open.extend(children(pid));
    }
    Some(all)
}

fn resident(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let of_thread = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    let children: String = threads.flatten().map(of_thread).collect::<Vec<_>>().join(" ");
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
