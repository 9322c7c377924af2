//! How a wrapper ends: with its host, by a signal, with its server, or killed; never with an orphan or a lost answer.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use mcp_approve::wire::digest::Digest;
use serde_json::{Value, json};

use crate::fake::host::Host;
use crate::fake::operator::Operator;
use crate::fake::server::{Server, reader, writer};
use crate::fake::{log, processes};

/// A server that writes its own process id and that of a child down; neither cares for signals or the end of input.
const STUBBORN: &str =
    "trap '' TERM INT HUP; sleep 600 & printf '%s\\n%s\\n' $$ $! > \"$0\"; while :; do sleep 600; done";

fn stubborn(home: &Path) -> (Host, Vec<u32>) {
    let list = home.join("pids");
    let host = Host::wrapping(home, &["--name", "s"], &["sh", "-c", STUBBORN, list.to_str().unwrap()]);
    let pids = processes::awaits(&list, 2);
    (host, pids)
}

fn shell(home: &Path, script: &str) -> Host {
    Host::wrapping(home, &["--name", "s"], &["sh", "-c", script])
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

/// A wrapper with one call held and one in the server's hands.
fn busy(server: &Server, home: &Path) -> Host {
    busy_with(server, home, &server.command())
}

fn busy_with(server: &Server, home: &Path, command: &[String]) -> Host {
    let mut host = Host::wrapping(home, &["--name", "s"], command);
    let mut operator = Operator::attach(home, "ada");
    host.handshake("2025-06-18");
    host.call("runs", "read", &json!({}));
    host.call("held", "write", &json!({}));
    operator.asked("write");
    crate::fake::until("the first call runs", || (server.executed().len() == 1).then_some(()));
    host
}

#[test]
fn the_end_of_the_host_ends_the_server_with_its_code() {
    let home = tempfile::tempdir().unwrap();
    for code in [0, 7] {
        let mut host = shell(home.path(), &format!("cat >/dev/null; exit {code}"));
        host.hang_up();
        assert_eq!(host.wait().code(), Some(code));
    }
}

#[test]
fn the_wrapper_ends_as_its_server_does() {
    let home = tempfile::tempdir().unwrap();
    for (script, code) in [("exit 0", 0), ("exit 42", 42), ("kill -KILL $$", 137), ("kill -SEGV $$", 139)] {
        let mut host = shell(home.path(), script);
        assert_eq!(host.wait().code(), Some(code), "{script}");
    }
}

#[test]
fn each_signal_ends_the_server_and_answers_what_was_held() {
    for (signal, code) in [("TERM", 143), ("INT", 143), ("HUP", 143)] {
        let server = Server::with(&[reader("read"), writer("write")]).silent("read").staying();
        let home = tempfile::tempdir().unwrap();
        let mut host = busy(&server, home.path());
        host.signal(signal);
        let (one, other) = (host.line(), host.line());
        let (held, runs) = if one["id"] == "held" { (one, other) } else { (other, one) };
        assert!(text(&held).contains("NOT executed"), "{signal}: {held}");
        assert!(text(&runs).contains("UNKNOWN"), "{signal}: {runs}");
        assert_eq!(host.wait().code(), Some(code), "{signal}");
        assert!(host.so_far().is_empty());
        assert_eq!(log::of_kind(home.path(), "fault").len(), 0, "an ordinary end is no fault");
        let [end] = &log::of_kind(home.path(), "server-end")[..] else { panic!("one end") };
        assert!(end.to_string().contains(&format!("stopped by SIG{signal}")), "{end}");
        log::verifies(home.path());
    }
}

#[test]
fn a_server_that_will_not_end_is_gone_in_four_seconds_with_its_children() {
    for how in ["eof", "TERM", "KILL"] {
        let home = tempfile::tempdir().unwrap();
        let (mut host, pids) = stubborn(home.path());
        // The promise is four seconds; each wait below has the bed's own deadline, for machines under load.
        match how {
            "eof" => host.hang_up(),
            signal => host.signal(signal),
        }
        let status = host.wait();
        match how {
            "KILL" => assert_eq!(status.signal(), Some(9)),
            _ => assert_eq!(status.code(), Some(137), "{how}"),
        }
        processes::are_gone(&pids);
    }
}

#[test]
fn what_a_dead_server_left_behind_is_ended_too() {
    let home = tempfile::tempdir().unwrap();
    let list = home.path().join("pids");
    let script = format!("trap '' TERM; sleep 600 & echo $! > '{}'; exit 3", list.display());
    let mut host = shell(home.path(), &script);
    assert_eq!(host.wait().code(), Some(3));
    processes::are_gone(&processes::listed(&list));
}

#[test]
fn a_daemon_that_keeps_the_servers_pipe_does_not_keep_the_wrapper() {
    let home = tempfile::tempdir().unwrap();
    let list = home.path().join("pids");
    // A session of its own: no longer in the group that is ended, but still at the pipe.
    let script = "import os, sys, time\n\
                  if os.fork() == 0:\n os.setsid()\n open(sys.argv[1], 'w').write(f'{os.getpid()}\\n')\n time.sleep(600)\n\
                  while not os.path.exists(sys.argv[1]): time.sleep(0.01)\n\
                  os._exit(5)\n";
    let Ok(_) = std::process::Command::new("python3").arg("--version").output() else { return };
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &["python3", "-c", script, list.to_str().unwrap()]);
    let status = host.wait();
    processes::listed(&list).into_iter().for_each(processes::kill);
    assert_eq!(status.code(), Some(5));
}

#[test]
fn a_server_that_dies_in_a_call_leaves_one_true_answer_each() {
    let server =
        Server::with(&[reader("read"), writer("write"), reader("read_fatal")]).silent("read").dying("read_fatal", 9);
    let home = tempfile::tempdir().unwrap();
    let mut host = busy(&server, home.path());
    host.call("fatal", "read_fatal", &json!({}));
    assert_eq!(host.wait().code(), Some(9));
    let mut answers: Vec<Value> = host.rest().iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].to_string());
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, ["fatal", "held", "runs"]);
    assert!(text(&answers[0]).contains("UNKNOWN") && text(&answers[2]).contains("UNKNOWN"), "{answers:?}");
    assert!(text(&answers[1]).contains("NOT executed"), "{answers:?}");
    assert_eq!(server.executed().len(), 2);
    assert_eq!(log::of_kind(home.path(), "withdrawn").len(), 1);
    let unknown = log::of_kind(home.path(), "outcome");
    assert_eq!(unknown.iter().filter(|record| record.to_string().contains("unknown")).count(), 2, "{unknown:?}");
    log::verifies(home.path());
}

#[test]
fn a_server_killed_in_a_call_leaves_one_true_answer_each() {
    let server = Server::with(&[reader("read"), writer("write")]).silent("read");
    let home = tempfile::tempdir().unwrap();
    let list = home.path().join("pids");
    let script = "echo $$ > \"$0\"; exec \"$@\"";
    let words = ["sh", "-c", script, list.to_str().unwrap()].map(String::from);
    let mut host = busy_with(&server, home.path(), &[&words, &server.command()[..]].concat());
    processes::kill(processes::listed(&list)[0]);
    assert_eq!(host.wait().code(), Some(137));
    let answers: Vec<Value> = host.rest().iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
    assert_eq!(answers.len(), 2, "{answers:?}");
    for answer in &answers {
        let says = if answer["id"] == "held" { "NOT executed" } else { "UNKNOWN" };
        assert!(text(answer).contains(says) && text(answer).contains("signal 9"), "{answer}");
    }
    assert_ne!(answers[0]["id"], answers[1]["id"]);
    assert_eq!(server.executed().len(), 1);
    log::verifies(home.path());
}

#[test]
fn a_host_that_leaves_withdraws_what_it_asked() {
    let server = Server::with(&[reader("read"), writer("write")]);
    let home = tempfile::tempdir().unwrap();
    let mut host = busy(&server, home.path());
    let mut operator = Operator::attach(home.path(), "bob");
    let asked = operator.asked("write");
    host.hang_up();
    assert_eq!(operator.settled(&asked.call.ticket).verdict, None);
    assert!(host.wait().success());
    assert_eq!(server.executed().len(), 1);
    assert_eq!(log::of_kind(home.path(), "withdrawn").len(), 1);
    assert!(log::decisions(home.path(), "write").is_empty());
}

/// The chance of this test: a small generator, started anew by the clock's nanoseconds and shown when it fails.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[test]
fn a_wrapper_killed_at_any_moment_ran_nothing_unrecorded_and_left_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let policy = home.path().join("config/policy.toml");
    fs::create_dir_all(policy.parent().unwrap()).unwrap();
    fs::write(&policy, "version = 1\n[[rule]]\nid = \"w\"\ndecision = \"allow\"\ntool = \"write\"\n").unwrap();
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    let mut chance = Chance(u64::from(seed) | 1);
    let server = Server::with(&[reader("read"), writer("write"), writer("put")]);
    let list = home.path().join("pids");
    let script = "echo $$ >> \"$0\"; exec \"$@\"";
    let command =
        [&["sh".into(), "-c".into(), script.into(), list.display().to_string()], &server.command()[..]].concat();
    for round in 0..30_u64 {
        let mut host = Host::wrapping(home.path(), &["--name", "s"], &command);
        if round % 5 != 0 {
            host.handshake("2025-06-18");
        }
        let mut lines = String::new();
        for n in 0..40 {
            let tool = ["read", "write", "put"][usize::try_from(chance.below(3)).unwrap()];
            let call = json!({ "jsonrpc": "2.0", "id": n, "method": "tools/call",
                "params": { "name": tool, "arguments": { "title": format!("{round}-{n}") } } });
            lines.push_str(&format!("{call}\n"));
        }
        host.send_bytes(lines.as_bytes());
        for _ in 0..chance.below(20) {
            host.line_bytes();
        }
        let moment = Instant::now() + Duration::from_micros(chance.below(4_000));
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        host.signal("KILL");
        assert_eq!(host.wait().signal(), Some(9));
    }
    processes::are_gone(&processes::listed(&list));
    log::verifies(home.path());
    let decided = log::of_kind(home.path(), "decision");
    let approved: Vec<&Value> = decided.iter().filter(|record| record["verdict"] == "approve").collect();
    let executed = server.executed();
    assert!(!executed.is_empty(), "every round was killed before its first call: seed {seed}");
    for line in executed {
        let call: Value = serde_json::from_str(&line).unwrap();
        assert_ne!(call["params"]["name"], "put", "seed {seed}");
        let digest = json!(Digest::of(line.trim_end().as_bytes()));
        let records = approved.iter().filter(|record| record["digest"] == digest).count();
        assert_eq!(records, 1, "seed {seed}: {line}");
    }
}

/// Under load a server dies while calls stand in the pipe that nobody has read yet; they are answered all the same.
#[test]
fn calls_that_were_not_read_when_the_server_died_are_answered() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::with(&[reader("read")]);
    let list = home.path().join("pids");
    let script = "echo $$ > \"$0\"; exec \"$@\"";
    let words: Vec<String> = server.command();
    let mut command = vec!["sh", "-c", script, list.to_str().unwrap()];
    command.extend(words.iter().map(String::as_str));
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &command);
    host.handshake("2025-06-18");
    let wrapper = rustix::process::Pid::from_raw(i32::try_from(host.pid()).unwrap()).unwrap();
    rustix::process::kill_process(wrapper, rustix::process::Signal::STOP).unwrap();
    for id in 1..=5 {
        host.call(id, "read", &json!({ "title": "t" }));
    }
    processes::kill(processes::awaits(&list, 1)[0]);
    rustix::process::kill_process(wrapper, rustix::process::Signal::CONT).unwrap();
    host.wait();
    let mut answered: Vec<u64> =
        host.rest().iter().filter_map(|line| serde_json::from_slice::<Value>(line).unwrap()["id"].as_u64()).collect();
    answered.sort_unstable();
    assert_eq!(answered, [1, 2, 3, 4, 5]);
    assert!(server.executed().is_empty());
}

/// What is remembered cannot be read yet when the host has its list and leaves: the list waits for it, for a moment.
#[test]
fn a_list_that_the_host_has_is_remembered_though_the_host_leaves_at_once() {
    let home = tempfile::tempdir().unwrap();
    let pins = home.path().join("state/pins.db");
    let mut first = shell(home.path(), "cat >/dev/null");
    first.hang_up();
    first.wait();
    let locked = rusqlite::Connection::open(&pins).unwrap();
    locked.execute_batch("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT").unwrap();
    let server = Server::with(&[reader("read"), writer("write")]);
    let mut host = Host::wrapping(home.path(), &["--name", "listed"], &server.command());
    host.handshake("2025-06-18");
    host.request(1, "tools/list", &json!({}));
    host.answer(1);
    host.hang_up();
    std::thread::sleep(Duration::from_millis(300));
    drop(locked);
    host.wait();
    let store = mcp_approve::pins::PinStore::open(&pins).unwrap();
    let names: Vec<String> = store.tools().unwrap().into_iter().map(|stored| stored.tool.name).collect();
    assert_eq!(names, ["read", "write"]);
}
