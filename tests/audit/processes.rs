//! Several processes on one log: killed, full, without permission, and all at once. Each child is this test binary.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use mcp_approve::audit::store::{Store, StoreError};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::audit::{folder, head, numbered, read, redactor, write};

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

/// Appends until it is killed; every receipt is said aloud.
fn endless(db: &Path) {
    let mut store = Store::open(db, [2; 16]).unwrap();
    for n in 0.. {
        let entry = if n % 3 == 0 { write(n) } else { read(n) };
        let receipts = store.append(&numbered([entry, read(n)]), &redactor()).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "seq {}", receipts[1].seq()).unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn a_kill_in_the_middle_leaves_a_log_that_verifies_with_every_receipt() {
    let (_folder, db) = folder();
    let mut least = 0;
    for round in 1..=6_u64 {
        let mut child = spawn("endless", &db);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut seen = || lines.find_map(|line| line.strip_prefix("seq ").map(|n| n.parse::<u64>().unwrap()));
        for _ in 0..round * 7 {
            least = seen().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        while let Some(seq) = seen() {
            least = seq;
        }
        let head = head(&db);
        assert!(head.seq >= least, "round {round}: {} records, receipt {least}", head.seq);
        assert!(head.seq <= least + 2, "at most one commit had no receipt yet");
    }
}

fn two_thousand(db: &Path, thread: u8) {
    let mut store = Store::open(db, [thread; 16]).unwrap();
    for n in 0..2000 {
        let entry = if n % 200 == 0 { write(n) } else { read(n) };
        store.append(&numbered([entry]), &redactor()).unwrap();
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
            Ok(receipts) => recorded = receipts[1].seq(),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(recorded > 10);
    assert_eq!(head(db).seq, recorded, "the log holds every receipt and no more");
    limit(1 << 30);
    let receipts = store.append(&numbered([read(1)]), &redactor()).unwrap();
    assert_eq!(receipts[0].seq(), recorded + 1);
}

#[test]
fn a_full_disk_fails_without_a_receipt_and_recovers() {
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
