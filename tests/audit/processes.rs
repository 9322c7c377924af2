//! Several processes on one log: killed, full, without permission, and all at once. Each child is this test binary.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use mcp_approve::audit::store::{Commit, Store, StoreError};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::audit::{folder, head, numbered, read, redactor, tickets, write};

const ROLE: &str = "AUDIT_TEST_ROLE";
const LOG: &str = "AUDIT_TEST_LOG";

/// Not a test: what a child process does. Without a role it does nothing.
#[test]
fn child() {
    let (Ok(role), Some(db)) = (std::env::var(ROLE), std::env::var_os(LOG)) else {
        return;
    };
    let db = PathBuf::from(db);
    match role.as_str() {
        "endless" => endless(&db),
        "quiet" => quiet(&db),
        "two-threads" => std::thread::scope(|scope| {
            for thread in 1..=2 {
                let db = &db;
                scope.spawn(move || two_thousand(db, thread));
            }
        }),
        "size-limit" => size_limit(&db),
        "no-permission" => no_permission(&db),
        other => panic!("no such role: {other}"),
    }
}

fn spawn(role: &str, db: &Path) -> Child {
    command(role, db).spawn().unwrap()
}

fn command(role: &str, db: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["audit::processes::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(LOG, db)
        .stdout(Stdio::piped());
    command
}

/// Records until it is killed; every receipt is said aloud. It folds now and then, and changes its journal, so that a kill
/// may come between any two of commit, fold and removal.
fn endless(db: &Path) {
    // The harness has begun a line of its own.
    println!();
    let run = i64::from(std::process::id()) << 32;
    let mut store = Store::open(db, [2; 16]).unwrap();
    let mut journal = store.journal(name(0)).unwrap();
    for n in 1_u32.. {
        let entry = if n % 3 == 0 { write(run + i64::from(n)) } else { read(run + i64::from(n)) };
        let receipts = match journal.record(&[(u64::from(n), entry)], &redactor()).unwrap() {
            Commit::Recorded(receipts) => receipts,
            Commit::Unsynced(unsynced) => unsynced.sync().unwrap(),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "recorded {}", run + i64::try_from(receipts[0].entry()).unwrap()).unwrap();
        out.flush().unwrap();
        if n % 4 == 0 {
            store.fold(&[&journal.take()]).unwrap();
        }
        if n % 8 == 0 {
            store.sync().unwrap();
            std::mem::replace(&mut journal, store.journal(name(n)).unwrap()).remove();
        }
    }
}

/// A journal's name that no other process has.
fn name(n: u32) -> [u8; 16] {
    let mut name = [0; 16];
    name[..4].copy_from_slice(&std::process::id().to_be_bytes());
    name[4..8].copy_from_slice(&n.to_be_bytes());
    name
}

#[test]
fn a_kill_at_any_point_loses_no_receipt_and_records_nothing_twice() {
    let (_folder, db) = folder();
    let mut recorded = Vec::new();
    for round in 1..=12_u64 {
        let mut child = spawn("endless", &db);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut next = || lines.find_map(|line| line.strip_prefix("recorded ").map(|n| n.parse::<i64>().unwrap()));
        for _ in 0..round * 5 {
            recorded.push(next().unwrap());
        }
        child.kill().unwrap();
        child.wait().unwrap();
        recorded.extend(std::iter::from_fn(next));
        let records = tickets(&db);
        let once: HashSet<&String> = records.iter().collect();
        assert_eq!(once.len(), records.len(), "round {round}: something was folded twice");
        for n in &recorded {
            assert!(once.contains(&format!("filesystem-{n}")), "round {round}: {n} has a receipt and no record");
        }
        let most = recorded.len() + usize::try_from(round).unwrap();
        assert!(records.len() <= most, "at most one commit of each round had no receipt yet");
        assert_eq!(std::fs::read_dir(db.with_extension("d")).unwrap().count(), 0, "a journal is left");
    }
}

/// A journal is not touched while its wrapper lives, though another process opens the log.
#[test]
fn a_living_wrapper_keeps_its_journal() {
    let (_folder, db) = folder();
    let mut child = spawn("quiet", &db);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "ready"));
    assert_eq!(tickets(&db), Vec::<String>::new(), "its wrapper lives");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(tickets(&db), ["filesystem-1"]);
}

/// Records once, folds nothing, and waits for its end.
fn quiet(db: &Path) {
    let mut store = Store::open(db, [2; 16]).unwrap();
    let mut journal = store.journal([7; 16]).unwrap();
    journal.record(&numbered([read(1)]), &redactor()).unwrap();
    println!("\nready");
    loop {
        std::thread::park();
    }
}

fn two_thousand(db: &Path, thread: u8) {
    let mut store = Store::open(db, [thread; 16]).unwrap();
    let mut journal = store.journal(name(u32::from(thread))).unwrap();
    for n in 0..2000 {
        let entry = if n % 200 == 0 { write(n) } else { read(n) };
        journal.record(&numbered([entry]), &redactor()).unwrap();
        if n % 5 == 4 {
            store.fold(&[&journal.take()]).unwrap();
        }
    }
}

#[test]
fn two_processes_with_two_threads_each_lose_nothing() {
    let (_folder, db) = folder();
    let children = [spawn("two-threads", &db), spawn("two-threads", &db)];
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(head(&db).seq, 8000);
}

/// Meets the file size limit as another would meet a full disk, then has it lifted.
fn size_limit(db: &Path) {
    let mut store = Store::open(db, [3; 16]).unwrap();
    let limit = |bytes| {
        let limit = Rlimit { current: Some(bytes), maximum: None };
        setrlimit(Resource::Fsize, limit).unwrap();
    };
    limit(256 * 1024);
    let mut recorded = 0;
    let error = loop {
        match store.append(&numbered([read(1), write(2)]), &redactor()) {
            Ok(seq) => recorded = seq,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(recorded > 10);
    assert_eq!(head(db).seq, recorded, "the log holds what was recorded and no more");
    limit(1 << 30);
    assert_eq!(store.append(&numbered([read(1)]), &redactor()), Ok(recorded + 1));
}

#[test]
fn a_full_disk_fails_and_recovers() {
    let (_folder, db) = folder();
    let output = spawn("size-limit", &db).wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    head(&db);
}

fn no_permission(db: &Path) {
    let error = Store::open(db, [4; 16]).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert!(error.hint().contains("writable"));
}

#[test]
fn a_folder_without_permission_is_told() {
    let (folder, db) = folder();
    let mode = |bits| std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(bits)).unwrap();
    mode(0o555);
    let mut command = command("no-permission", &db);
    if rustix::process::getuid().is_root() {
        // Permissions do not bind root; nobody's do. Where nobody cannot even run this binary, there is nothing to see.
        command.uid(65_534).gid(65_534);
    }
    match command.spawn() {
        Ok(child) => {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
    }
    mode(0o755);
}
