//! What can be wrong around a wrapper: its command, its folders, its log, its pipes, its environment.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::fake::host::Host;
use crate::fake::operator::Operator;
use crate::fake::server::{Server, reader, writer};
use crate::fake::{BINARY, log, program, until};

const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

fn wrapper(home: &Path, options: &[&str], server: &[String]) -> Command {
    let mut command = Command::new(BINARY);
    command.arg("--home").arg(home).args(options).arg("--").args(server);
    command
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

fn error(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

fn server() -> Server {
    Server::with(&[reader("read"), writer("write")])
}

#[test]
fn a_command_that_cannot_run_says_why() {
    let home = tempfile::tempdir().unwrap();
    let plain = home.path().join("plain.txt");
    fs::write(&plain, "no program").unwrap();
    let plain = plain.to_str().unwrap();
    let scripts = ["#!/no/such/shell -x\ntrue\n", "#! /bin/sh\r\ntrue\r\n"].map(|text| {
        let script = home.path().join(format!("script{}", text.len()));
        program(&script, text);
        script.to_str().unwrap().to_owned()
    });
    for (command, code, says) in [
        ("no-such-program-here", 127, "no-such-program-here"),
        (plain, 126, "cannot be run"),
        (&scripts[0], 126, "its interpreter `/no/such/shell` is missing"),
        (&scripts[1], 126, "its interpreter `/bin/sh\\r` is missing"),
    ] {
        let out = wrapper(home.path(), &[], &words(&[command])).stdin(Stdio::null()).output().unwrap();
        assert_eq!(out.status.code(), Some(code), "{}", error(&out));
        assert!(out.stdout.is_empty());
        assert!(error(&out).contains(says) && error(&out).contains("hint:"), "{}", error(&out));
    }
}

/// The runtime panics where a descriptor is missing at the wrong moment; nothing may have been started by then.
#[test]
fn without_descriptors_it_says_so_and_starts_nothing() {
    for limit in ["6", "10", "20", "30"] {
        let home = tempfile::tempdir().unwrap();
        let mark = home.path().join("started");
        let out = Command::new("sh")
            .args(["-c", "ulimit -n \"$0\"; exec \"$@\"", limit, BINARY, "--home"])
            .arg(home.path())
            .args(["--", "touch"])
            .arg(&mark)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(2), "{limit}: {}", error(&out));
        assert!(error(&out).contains("hint: look at the limits on processes and open files"), "{}", error(&out));
        assert!(!mark.exists(), "{limit}: the server was started");
    }
}

#[test]
fn without_a_place_for_the_log_calls_are_refused_and_the_rest_passes() {
    let bed = tempfile::tempdir().unwrap();
    // Permissions do not stop root, so the places are ones that nobody can make: below a file.
    let (file, stateless) = (bed.path().join("a-file"), bed.path().join("stateless"));
    fs::write(&file, "").unwrap();
    fs::create_dir(&stateless).unwrap();
    fs::write(stateless.join("state"), "").unwrap();
    let server = server();
    let log = file.join("below.db");
    let homes = [
        (bed.path().join("home"), vec!["--name", "s", "--audit-db", log.to_str().unwrap()]),
        (stateless, vec!["--name", "s"]),
    ];
    for (home, options) in homes {
        let mut host = Host::wrapping(&home, &options, &server.command());
        let home = home.display();
        host.handshake("2025-06-18");
        host.request(1, "tools/list", &json!({}));
        assert_eq!(host.answer(1)["result"]["tools"][0]["name"], "read", "{home}");
        for (id, tool) in [(2, "read"), (3, "write")] {
            host.call(id, tool, &json!({}));
            let answer = host.answer(id);
            assert_eq!(answer["result"]["isError"], true, "{home}: {answer}");
            assert!(
                text(&answer).contains("NOT executed") && text(&answer).contains(" doctor`; it says how"),
                "{answer}"
            );
        }
        host.hang_up();
        assert!(host.wait().success(), "{home}");
        assert!(server.executed().is_empty(), "{home}");
    }
}

#[test]
fn a_home_that_cannot_be_is_wrong_usage() {
    let bed = tempfile::tempdir().unwrap();
    let file = bed.path().join("a-file");
    fs::write(&file, "").unwrap();
    let out = wrapper(&file.join("home"), &[], &words(&["cat"])).stdin(Stdio::null()).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(error(&out).contains("a-file") && error(&out).contains("hint:"), "{}", error(&out));
}

#[test]
fn a_full_disk_refuses_calls_and_runs_none_without_its_record() {
    let home = tempfile::tempdir().unwrap();
    let server = server();
    // A limit on file sizes stands for the disk: the log may hold a few records and then no more.
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -f \"$0\"; exec \"$@\"", "256", BINARY, "--home"])
        .arg(home.path())
        .args(["--name", "s", "--"])
        .args(server.command());
    let mut host = Host::over(command);
    host.handshake("2025-06-18");
    let mut executed = 0;
    let refused = (0..2_000).find_map(|id| {
        host.call(id, "read", &json!({ "title": "x".repeat(190) }));
        let answer = host.answer(id);
        if answer["result"]["isError"] == true {
            return Some(answer);
        }
        executed += 1;
        None
    });
    let refused = refused.expect("the disk was never full");
    assert!(text(&refused).contains("NOT executed") && text(&refused).contains("cannot grow"), "{refused}");
    host.request("still", "ping", &json!({}));
    assert_eq!(host.answer("still")["result"], json!({}));
    assert_eq!(server.executed().len(), executed, "a call without a record ran");
    host.hang_up();
    assert!(host.wait().success());
    log::verifies(home.path());
    assert!(log::decisions(home.path(), "read").len() >= executed);
}

/// A small file system of its own, given back when dropped.
struct Disk(PathBuf);

impl Disk {
    /// `None` where this user may not mount, or the system knows no tmpfs.
    fn mounted(at: &Path, size: &str) -> Option<Self> {
        fs::create_dir(at).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", size, "tmpfs"]).arg(at).output().ok()?;
        mount.status.success().then(|| Self(at.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn calls_run_again_once_the_disk_has_room() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let Some(disk) = Disk::mounted(&home.path().join("disk"), "size=1m,mode=700") else { return };
    let (db, filler) = (disk.0.join("audit.db"), disk.0.join("filler"));
    let mut host = Host::wrapping(home.path(), &["--name", "s", "--audit-db", db.to_str().unwrap()], &server.command());
    host.handshake("2025-06-18");
    host.call("before", "read", &json!({}));
    assert_eq!(text(&host.answer("before")), "done");
    let mut file = File::create(&filler).unwrap();
    while file.write_all(&[0; 512]).is_ok() {}
    drop(file);
    // What is left of the last page may hold some more records.
    let refused = (0..200).find_map(|id| {
        host.call(id, "write", &json!({ "title": "x".repeat(2_000) }));
        host.call(format!("r{id}"), "read", &json!({ "title": "x".repeat(190) }));
        Some(host.answer(format!("r{id}"))).filter(|answer| answer["result"]["isError"] == true)
    });
    let refused = refused.expect("the disk was never full");
    assert!(text(&refused).contains("NOT executed"), "{refused}");
    assert!(server.executed().iter().all(|line| !line.contains("\"write\"")));
    fs::remove_file(&filler).unwrap();
    host.call("after", "read", &json!({}));
    assert_eq!(text(&host.answer("after")), "done");
    host.hang_up();
    assert!(host.wait().success());
    let verify = log::run(home.path(), &["verify", "--audit-db", db.to_str().unwrap()]);
    assert!(verify.status.success(), "{verify:?}");
}

#[test]
fn a_journal_that_is_removed_after_a_kill_is_a_finding_and_a_log_that_is_removed_stops_its_wrapper() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let begin = || {
        let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
        host.handshake("2025-06-18");
        host.call("before", "read", &json!({}));
        assert_eq!(text(&host.answer("before")), "done");
        host
    };
    // Killed, with its journal: whoever opens the log says so in it.
    let mut host = begin();
    log::awaits(home.path(), "the decision", |record| record["kind"] == "decision");
    host.signal("KILL");
    host.wait();
    let end = log::awaits(home.path(), "the end", |record| record["kind"] == "server-end");
    assert_eq!((&end["detail"]["killed"], &end["server"]), (&json!(true), &json!("s")), "{end}");
    log::verifies(home.path());
    // Killed, without its journal.
    let mut host = begin();
    let decisions = || log::decisions(home.path(), "read").len();
    until("the second decision", || (decisions() == 2).then_some(()));
    log::verifies(home.path());
    host.signal("KILL");
    host.wait();
    fs::remove_dir_all(home.path().join("state/audit.d")).unwrap();
    let verify = log::run(home.path(), &["verify"]);
    let said = String::from_utf8_lossy(&verify.stdout).into_owned();
    assert!(!verify.status.success() && said.contains("RECORDS ARE MISSING: 1 session began"), "{said}");
    let doctor = Command::new(BINARY).arg("--home").arg(home.path()).arg("doctor").output().unwrap();
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains("the last records of 1 session are missing"), "{said}");
    // While it runs: no call goes on, whatever happens to the folder then.
    let mut host = begin();
    until("an empty state folder", || fs::remove_dir_all(home.path().join("state")).ok());
    let refused = until("a call that is refused", || {
        host.call("next", "read", &json!({}));
        Some(host.answer("next")).filter(|answer| answer["result"]["isError"] == true)
    });
    assert!(text(&refused).contains("NOT executed") && text(&refused).contains("removed"), "{refused}");
    let executed = server.executed().len();
    for id in 0..3 {
        host.call(id, "read", &json!({}));
        assert_eq!(host.answer(id)["result"]["isError"], true);
    }
    assert_eq!(server.executed().len(), executed);
    host.hang_up();
    host.wait();
}

#[test]
fn a_second_wrapper_of_a_server_has_a_name_of_its_own() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (server(), server());
    let mut operator = Operator::attach(home.path(), "ada");
    let mut first = Host::wrapping(home.path(), &["--name", "s"], &one.command());
    first.handshake("2025-06-18");
    operator.meets("s");
    let mut second = Host::wrapping(home.path(), &["--name", "s"], &two.command());
    second.handshake("2025-06-18");
    operator.meets("s#2");
    second.call(1, "write", &json!({}));
    let asked = operator.asked("write");
    assert!(asked.call.ticket.starts_with("s#2-"), "{}", asked.call.ticket);
    operator.approve(&asked);
    second.answer(1);
    assert_eq!((one.executed().len(), two.executed().len()), (0, 1));
    log::verifies(home.path());
}

#[test]
fn garbage_is_answered_and_never_forwarded() {
    let home = tempfile::tempdir().unwrap();
    let server = server();
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    host.handshake("2025-06-18");
    let lines: [(&[u8], i64); 6] = [
        (b"hello?", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,", -32700),
        (b"\xff\xfe\xfd", -32700),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"Method\":\"tools/call\",\"id\":3,\"params\":{\"name\":\"write\"}}", -32600),
    ];
    for (line, code) in lines {
        host.send_bytes(&[line, b"\n"].concat());
        let answer = host.line();
        assert_eq!(answer["error"]["code"], code, "{}: {answer}", String::from_utf8_lossy(line));
    }
    host.call(7, "read", &json!({}));
    assert_eq!(text(&host.answer(7)), "done");
    assert_eq!(server.executed().len(), 1);
}

#[test]
fn stdin_may_be_empty_or_a_file_and_stdout_a_file() {
    let home = tempfile::tempdir().unwrap();
    let cat = words(&["cat"]);
    let out = wrapper(home.path(), &[], &cat).stdin(Stdio::null()).output().unwrap();
    assert!(out.status.success() && out.stdout.is_empty(), "{}", error(&out));

    let (script, heard) = (home.path().join("in"), home.path().join("out"));
    fs::write(&script, PING.repeat(10_000)).unwrap();
    let status = wrapper(home.path(), &[], &cat)
        .stdin(File::open(&script).unwrap())
        .stdout(File::create(&heard).unwrap())
        .status()
        .unwrap();
    assert!(status.success());
    assert!(fs::read(&heard).unwrap() == fs::read(&script).unwrap(), "what came out is not what went in");
}

#[test]
fn sockets_serve_as_well_as_pipes() {
    let home = tempfile::tempdir().unwrap();
    let server = server();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut child = wrapper(home.path(), &["--name", "s"], &server.command())
        .stdin(OwnedFd::from(theirs.try_clone().unwrap()))
        .stdout(OwnedFd::from(theirs))
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(&ours).lines();
    (&ours).write_all(PING.as_bytes()).unwrap();
    let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(answer["result"], json!({}));
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(lines.next().is_none());
}

/// A host that runs us with `2>&1` makes our stdout the server's stderr: were it non-blocking, the server's words would
/// fail with EAGAIN.
#[test]
#[cfg(target_os = "linux")]
fn what_others_share_keeps_its_mode() {
    let server = server();
    let (socket, their_socket) = UnixStream::pair().unwrap();
    let (pipe, their_pipe) = std::io::pipe().unwrap();
    let ends: [(OwnedFd, OwnedFd); 2] = [(socket.into(), their_socket.into()), (pipe.into(), their_pipe.into())];
    for (ours, theirs) in ends {
        let home = tempfile::tempdir().unwrap();
        let mut child = wrapper(home.path(), &["--name", "s"], &server.command())
            .stdin(Stdio::piped())
            .stdout(theirs.try_clone().unwrap())
            .stderr(theirs.try_clone().unwrap())
            .spawn()
            .unwrap();
        let mut to = child.stdin.take().unwrap();
        let mut lines = BufReader::new(File::from(ours)).lines();
        to.write_all(PING.as_bytes()).unwrap();
        let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["result"], json!({}));
        let flags = rustix::fs::fcntl_getfl(&theirs).unwrap();
        assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK), "{flags:?}");
        drop(to);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn no_environment_moves_a_folder() {
    let home = tempfile::tempdir().unwrap();
    let trap = tempfile::tempdir().unwrap();
    let server = server();
    for scrubbed in [true, false] {
        let mut command = wrapper(home.path(), &["--name", "s"], &server.command());
        if scrubbed {
            command.env_clear();
        } else {
            // What decides which code a server loads is pinned, and cargo sets this one for tests.
            command.env_remove("LD_LIBRARY_PATH");
            for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "TMPDIR"] {
                command.env(name, trap.path());
            }
        }
        let mut host = Host::over(command);
        host.handshake("2025-06-18");
        host.call(1, "read", &json!({}));
        assert_eq!(text(&host.answer(1)), "done");
        host.hang_up();
        assert!(host.wait().success());
    }
    assert_eq!(fs::read_dir(trap.path()).unwrap().count(), 0);
    assert_eq!(log::decisions(home.path(), "read").len(), 2);
    let mode = fs::metadata(home.path().join("state")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
