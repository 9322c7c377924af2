//! The guardian: whatever kills a wrapper, nothing of its server is left.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mcp_approve::interpose::guardian::{CoreLimit, Guardian};

use super::{again, is_alive, pids, poll};

#[test]
fn a_killed_wrapper_leaves_no_orphan() {
    let table = [
        ("a server", "echo $$ >> $PIDS; exec sleep 600", 1),
        ("a runner and its server", "sleep 600 & echo $$ >> $PIDS; echo $! >> $PIDS; wait", 2),
        (
            "a server and a child, both ignoring SIGTERM",
            "trap '' TERM; (while :; do sleep 0.1; done) & echo $$ >> $PIDS; echo $! >> $PIDS; while :; do sleep 0.1; done",
            2,
        ),
        ("children whose server has ended", "sleep 600 & echo $! >> $PIDS", 1),
    ];
    for (what, script, count) in table {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let mut holder = again("process::guardian::holder")
            .env("HOLD", script)
            .env("PIDS", &file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let alive = pids(&file, count);
        assert!(alive.iter().all(|pid| is_alive(*pid)), "{what}");
        holder.kill().unwrap();
        holder.wait().unwrap();
        poll(what, || !alive.iter().any(|pid| is_alive(*pid)));
    }
}

#[test]
fn the_guardian_holds_nothing_but_its_pipe() {
    if !Path::new("/proc/self/fd").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let mut holder = again("process::guardian::holder")
        .env("HOLD", "echo $$ > $PIDS; exec sleep 600")
        .env("PIDS", &file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    pids(&file, 1);
    let guardians: Vec<_> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| fs::read_to_string(path.join("comm")).is_ok_and(|name| name == "mcp-guardian\n"))
        // Only this test's own kind: another's may be of another version.
        .filter(|path| fs::read_link(path.join("exe")).ok() == std::env::current_exe().ok())
        .collect();
    assert!(!guardians.is_empty());
    for guardian in guardians {
        // Another test's may end meanwhile.
        if let Ok(open) = fs::read_dir(guardian.join("fd")) {
            assert!(open.count() <= 1, "{guardian:?}");
        }
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
}

#[test]
fn a_guardian_ends_what_it_was_told_of_last_unless_it_was_dismissed() {
    let dismissed = Guardian::start().unwrap();
    let mut kept = led(&dismissed, "exec sleep 600");
    dismissed.dismiss().unwrap();
    let guardian = Guardian::start().unwrap();
    let mut ended = led(&guardian, "exec sleep 600");
    drop(guardian);
    poll("the dropped guardian ends its group", || ended.try_wait().unwrap().is_some());
    assert!(is_alive(i32::try_from(kept.id()).unwrap()));
    kept.kill().unwrap();
    kept.wait().unwrap();
}

#[test]
#[ignore = "a wrapper to be killed: run by the tests above"]
#[allow(clippy::zombie_processes, reason = "it is killed with its server still running; that is what is tried")]
fn holder() {
    let Some(script) = std::env::var_os("HOLD") else {
        return;
    };
    let guardian = Guardian::start().unwrap();
    let _server = led(&guardian, &script);
    std::thread::sleep(Duration::from_secs(600));
}

/// Starts a script as the leader of a group that the guardian knows.
fn led(guardian: &Guardian, script: impl AsRef<std::ffi::OsStr>) -> Child {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script).process_group(0);
    guardian.enlist(&mut command, CoreLimit::now());
    command.spawn().unwrap()
}
