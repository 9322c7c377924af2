//! A wrapper that has nothing to do does nothing: no thread of it wakes, and a change still counts at once.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::fake::host::Host;
use crate::fake::server::{Server, reader, writer};
use crate::fake::{log, until};

/// How often the threads of a process went to sleep, in all.
fn sleeps(pid: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let of_thread = |thread: fs::DirEntry| {
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap_or_default();
        line.rsplit('\t').next().and_then(|number| number.parse::<u64>().ok()).unwrap_or_default()
    };
    threads.map(|thread| of_thread(thread.unwrap())).sum()
}

#[test]
fn a_wrapper_with_nothing_to_do_sleeps_and_wakes_with_a_change() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::with(&[reader("read"), writer("write")]);
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    host.handshake("2025-06-18");
    host.request("list", "tools/list", &serde_json::json!({}));
    host.answer("list");
    // What starts with the session comes to its end first: what it opened is closed after some seconds.
    let mut before = sleeps(host.pid());
    until("the start is over", || {
        thread::sleep(Duration::from_secs(6));
        let now = sleeps(host.pid());
        (std::mem::replace(&mut before, now) == now).then_some(())
    });
    thread::sleep(Duration::from_secs(3));
    let woken = sleeps(host.pid()) - before;
    assert!(woken == 0, "it woke {woken} times in three seconds in which nothing happened");
    // The folder of the policy was not even there: everything on the way to it counts.
    fs::create_dir(home.path().join("config")).unwrap();
    counts_at_once(home.path(), || fs::write(home.path().join("config/policy.toml"), denying("a")).unwrap());
    host.call("1", "write", &serde_json::json!({}));
    assert!(host.answer("1").to_string().contains("Denied by policy"));
}

/// A policy that denies writing, by a rule of this name.
fn denying(rule: &str) -> String {
    format!("version = 1\n[[rule]]\nid = \"{rule}\"\ndecision = \"deny\"\ntool = \"write\"\n")
}

/// Makes a change and waits until it counts. Without a report of it the wrapper would look after ten minutes: `until` gives
/// up long before.
fn counts_at_once(home: &Path, change: impl FnOnce()) {
    let before = log::of_kind(home, "policy").len();
    change();
    until("the new policy counts", || (log::of_kind(home, "policy").len() > before).then_some(()));
}

#[test]
fn a_policy_behind_links_is_watched_wherever_they_lead() {
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    for folder in ["config", "one", "other"] {
        fs::create_dir(at(folder)).unwrap();
        fs::write(at(folder).join("rules.toml"), denying("a")).unwrap();
    }
    symlink(at("one"), at("now")).unwrap();
    symlink("../now/rules.toml", at("config/policy.toml")).unwrap();
    let server = Server::with(&[reader("read"), writer("write")]);
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    host.handshake("2025-06-18");
    let changed = |change: &dyn Fn()| counts_at_once(home.path(), change);
    changed(&|| fs::write(at("one/rules.toml"), denying("b")).unwrap());
    changed(&|| {
        fs::write(at("one/draft"), denying("c")).unwrap();
        fs::rename(at("one/draft"), at("one/rules.toml")).unwrap();
    });
    changed(&|| {
        symlink(at("other"), at("draft")).unwrap();
        fs::rename(at("draft"), at("now")).unwrap();
    });
    changed(&|| fs::write(at("other/rules.toml"), denying("d")).unwrap());
    changed(&|| fs::rename(at("other"), at("gone")).unwrap());
}
