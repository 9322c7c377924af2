//! Attacks of an agent with a shell (E): on commands, the socket, the log, the environment, processes and folders.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken test bed fails the test")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::CommandFactory as _;
use mcp_approve::cli::args::Cli;
use mcp_approve::link::client::{Clients, Me};
use mcp_approve::wire::digest::Digest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake::host::Host;
use crate::fake::operator::Operator;
use crate::fake::server::{Server, reader, writer};
use crate::fake::terminal::Terminal;
use crate::fake::{BINARY, log, processes, until};

/// The call that every attack here wants to run.
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{}}}"#;

fn server() -> Server {
    Server::with(&[reader("read"), writer("write")])
}

/// A wrapper of that server with the call held.
fn holding() -> (TempDir, Server, Host, Operator) {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    let mut operator = Operator::attach(home.path(), "ada");
    host.handshake("2025-06-18");
    host.send(CALL);
    operator.asked("write");
    (home, server, host, operator)
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

/// Every command that can be given, hidden ones too, as its words.
fn leaves(command: &clap::Command, above: &[String], found: &mut Vec<Vec<String>>) {
    let mut has_own = false;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        has_own = true;
        leaves(sub, &[above, &[sub.get_name().to_owned()]].concat(), found);
    }
    if !has_own {
        found.push(above.to_vec());
    }
}

#[test]
fn e1_no_command_approves_a_call() {
    let (home, server, mut host, _operator) = holding();
    let mut commands = Vec::new();
    leaves(&Cli::command(), &[], &mut commands);
    assert!(commands.len() > 8, "{commands:?}");
    for command in commands {
        for word in &command {
            assert!(
                // Accepting a policy is E3's: it needs a terminal, which nobody has here.
                command == ["rules", "accept"] || !["approve", "accept", "decide", "verdict"].contains(&word.as_str()),
                "{command:?} needs a row here"
            );
        }
        if command == ["demo"] {
            // It plays on a stage of its own, never in this home.
            continue;
        }
        for words in [&[][..], &["s-1"], &["s-1", "approve"], &["--approve", "s-1"]] {
            let run = Command::new(BINARY)
                .args(&command)
                // Without that it would follow the log until it is ended.
                .args((command == ["log", "follow"]).then_some("--once"))
                .arg("--home")
                .arg(home.path())
                .args(words)
                .current_dir(home.path())
                .stdin(Stdio::null())
                .output()
                .unwrap();
            assert!(server.executed().is_empty(), "{command:?} {words:?} ran the call: {run:?}");
        }
    }
    host.request(2, "ping", &json!({}));
    assert_eq!(host.line()["id"], 2, "the held call was answered");
    assert!(log::decisions(home.path(), "write").is_empty());
}

const INTRUDER: &str = "MCP_APPROVE_TEST_INTRUDER";

/// Not a test: what the process that the server starts does. Without its role it does nothing.
#[test]
fn intruder() {
    let Some(home) = std::env::var_os(INTRUDER) else { return };
    let home = Path::new(&home);
    let stream = until("the socket", || UnixStream::connect(home.join("state/run/s.sock")).ok());
    let digest = Digest::of(CALL.as_bytes());
    let verdict = json!({ "say": "decide", "ticket": "s-1", "digest": digest,
        "verdict": { "verdict": "approve", "unread": false } });
    let hello =
        json!({ "say": "hello", "protocol": 1, "version": env!("CARGO_PKG_VERSION"), "operator": "ada", "pid": 1 });
    // Turned away or not, it goes on.
    let _ = (&stream).write_all(format!("{hello}\n{verdict}\n").as_bytes());
    let heard: Vec<String> = BufReader::new(&stream).lines().map_while(Result::ok).take(1).collect();
    fs::write(home.join("heard.part"), heard.join("\n")).unwrap();
    fs::rename(home.join("heard.part"), home.join("heard")).unwrap();
}

#[test]
fn e2_what_the_server_starts_is_turned_away_with_an_alarm() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    // A shell within the server's family, with the intruder as its child.
    let script = "\"$0\" attacks::process::intruder --exact >/dev/null 2>&1 & exec \"$@\"";
    let exe = std::env::current_exe().unwrap();
    let mut command = Command::new(BINARY);
    command
        .arg("--home")
        .arg(home.path())
        .args(["--name", "s", "--", "sh", "-c", script])
        .arg(exe)
        .args(server.command())
        .env(INTRUDER, home.path());
    let mut host = Host::over(command);
    let mut operator = Operator::attach(home.path(), "ada");
    host.handshake("2025-06-18");
    host.send(CALL);
    let asked = operator.asked("write");
    assert_eq!((asked.call.ticket.as_str(), asked.call.digest), ("s-1", Digest::of(CALL.as_bytes())));
    let heard = until("the intruder is done", || fs::read_to_string(home.path().join("heard")).ok());
    assert!(heard.contains("ALARM") && heard.contains("refused"), "{heard}");
    let fault = log::awaits(home.path(), "the alarm is recorded", |record| record.to_string().contains("ALARM"));
    assert_eq!(fault["kind"], "fault", "{fault}");
    assert!(server.executed().is_empty());
    operator.deny(&asked, "no");
    assert!(text(&host.answer(1)).contains("NOT executed"));
    host.hang_up();
    host.wait();
    assert!(server.executed().is_empty());
    assert!(host.last_words().contains("ALARM"));
}

#[test]
fn e4_an_edited_or_shortened_log_is_found() {
    let changes = [
        "UPDATE record SET body = replace(body, 'deny', 'approve') WHERE body LIKE '%\"deny\"%'",
        "DELETE FROM record WHERE seq = (SELECT seq FROM record WHERE body LIKE '%\"deny\"%')",
        "DELETE FROM record WHERE seq = (SELECT max(seq) FROM record)",
    ];
    for change in changes {
        let (home, _server, mut host, mut operator) = holding();
        let other =
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write","arguments":{"text":"b"}}}"#;
        host.send(other);
        let asked = operator.asked("write");
        operator.deny(&asked, "no");
        host.answer(2);
        host.hang_up();
        host.wait();
        let head =
            |out: &[u8]| serde_json::from_slice::<Value>(out).unwrap()["head"]["link"].as_str().unwrap().to_owned();
        let before = log::run(home.path(), &["verify", "--json"]);
        assert!(before.status.success());
        let anchor = head(&before.stdout);
        assert!(log::run(home.path(), &["verify", "--expect-head", &anchor]).status.success());

        let db = rusqlite::Connection::open(home.path().join("state/audit.db")).unwrap();
        assert!(db.execute(change, []).is_err(), "the log lets an honest mistake through: {change}");
        for trigger in ["changed", "removed", "replaced"] {
            db.execute(&format!("DROP TRIGGER record_is_not_{trigger}"), []).unwrap();
        }
        assert_eq!(db.execute(change, []).unwrap(), 1, "{change}");
        drop(db);
        let after = log::run(home.path(), &["verify", "--expect-head", &anchor]);
        assert_eq!(after.status.code(), Some(1), "{change}: {}", String::from_utf8_lossy(&after.stdout));
    }
}

/// A home whose files allow everything.
fn permissive(home: &Path) {
    for folder in ["config", ".config/mcp-approve"] {
        let folder = home.join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join("policy.toml"),
            "version = 1\n[[rule]]\nid = \"x\"\ndecision = \"allow\"\ntool = \"*\"\n",
        )
        .unwrap();
        fs::write(folder.join("config.toml"), "observe = true\n").unwrap();
    }
}

#[test]
fn e5_no_environment_moves_a_folder_or_weakens_a_verdict() {
    let (home, trap, server) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), server());
    permissive(trap.path());
    let poison = |command: &mut Command| {
        for name in
            ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "MCP_APPROVE_HOME"]
        {
            command.env(name, trap.path());
        }
        command.env("MCP_APPROVE_POLICY", trap.path().join("config/policy.toml"));
        for name in ["OBSERVE", "MCP_APPROVE_OBSERVE", "MCP_APPROVE_AUTO", "MCP_APPROVE_UNATTENDED", "CI", "DEBUG"] {
            command.env(name, "1");
        }
    };
    let place = |poisoned: bool| {
        let mut command = Command::new(BINARY);
        command.args(["rules", "path"]);
        if poisoned {
            poison(&mut command);
        }
        command.output().unwrap().stdout
    };
    assert_eq!(place(true), place(false), "the environment says where the policy is");

    let mut command = Command::new(BINARY);
    command.arg("--home").arg(home.path()).args(["--name", "s", "--unattended", "deny", "--"]).args(server.command());
    poison(&mut command);
    let mut host = Host::over(command);
    host.handshake("2025-06-18");
    host.send(CALL);
    assert!(text(&host.answer(1)).contains("NOT"), "the call ran");
    assert!(server.executed().is_empty());
    assert_eq!(log::decisions(home.path(), "write")[0]["verdict"], "deny");
}

/// What may not be read by its own user belongs to root in /proc; the server is left as it would be without us.
#[test]
#[cfg(target_os = "linux")]
fn e10_no_process_of_the_same_user_reads_the_memory_of_wrapper_or_console() {
    use std::os::unix::fs::MetadataExt as _;
    use std::os::unix::process::CommandExt as _;
    let nobody = 65_534;
    let bed = tempfile::tempdir().unwrap();
    let is_root = rustix::process::getuid().is_root();
    // To root all is open, so it is played as nobody, with a program and folders that nobody can reach.
    let (program, home) = (bed.path().join("mcp-approve"), bed.path().join("home"));
    crate::fake::copy_binary(&program);
    fs::create_dir(&home).unwrap();
    let me = if is_root { nobody } else { rustix::process::getuid().as_raw() };
    if is_root {
        chown(&home, Some(nobody), Some(nobody)).unwrap();
        fs::set_permissions(bed.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let list = home.join("pids");
    let script = "echo $$ > \"$0\"; exec sleep 600";
    // Where the system lets us, with core files allowed, of 4 KiB at most: the server keeps that.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -S -c 8 || :; exec \"$0\" \"$@\""]).arg(&program);
    command.arg("--home").arg(&home).args(["--name", "s", "--", "sh", "-c", script]).arg(&list);
    if is_root {
        command.uid(nobody).gid(nobody);
    }
    let host = Host::over(command);
    let server = processes::awaits(&list, 1)[0];
    let owner = |pid: u32| fs::metadata(format!("/proc/{pid}/mem")).unwrap().uid();
    until("the server runs its program", || (owner(server) == me).then_some(()));
    assert_eq!(owner(host.pid()), 0, "the wrapper's memory is open to its user");
    let given = Command::new("sh").args(["-c", "ulimit -S -c 8; cat /proc/self/limits"]).output().unwrap().stdout;
    let given = core_limit(&String::from_utf8(given).unwrap());
    let core = |pid: u32| core_limit(&fs::read_to_string(format!("/proc/{pid}/limits")).unwrap());
    assert_eq!(core(host.pid()), "0", "a crash of the wrapper leaves its memory on the disk");
    assert_eq!(core(server), given, "the server's limit is not the one it was given");
    let mut console = portable_pty::CommandBuilder::new("/bin/sh");
    let id = if is_root { "setpriv --reuid=65534 --regid=65534 --clear-groups" } else { "" };
    let (program, home) = (program.display(), home.display());
    console.args(["-c", &format!("echo $$ > {home}/console; exec {id} {program} --home {home}")]);
    let terminal = Terminal::running(console, (100, 30));
    terminal.shows(&["mcp-approve"]);
    let pid = processes::awaits(Path::new(&format!("{home}/console")), 1)[0];
    assert_eq!(owner(pid), 0, "the console's memory is open to its user");
    assert_eq!(core(pid), "0", "a crash of the console leaves its memory on the disk");
}

/// The soft limit on core files, as /proc tells it: bytes, or `unlimited`.
#[cfg(target_os = "linux")]
fn core_limit(limits: &str) -> String {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max core file size")).unwrap();
    line.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn e9_a_terminal_that_others_can_type_into_is_told() {
    let home = tempfile::tempdir().unwrap();
    let terminal = Terminal::console(home.path(), (100, 24), &[("TMUX", "/tmp/tmux-0/default,1,0")]);
    terminal.shows(&["this terminal is in tmux", "can type into it"]);
    if ["TMUX", "STY", "ZELLIJ"].iter().any(|variable| std::env::var_os(variable).is_some()) {
        // Whoever runs this test in one is told so as well.
        return;
    }
    let plain = Terminal::console(home.path(), (100, 24), &[]);
    plain.shows(&["none waiting"]);
    assert!(!plain.screen().contains("can type into it"));
}

#[test]
fn e12_a_killed_console_decides_nothing_and_a_killed_wrapper_runs_nothing() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let list = home.path().join("pids");
    let script = "echo $$ >> \"$0\"; exec \"$@\"";
    let list_word = list.display().to_string();
    let command: Vec<String> =
        [["sh", "-c", script, &list_word].map(String::from).as_slice(), &server.command()].concat();
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &command);
    host.handshake("2025-06-18");
    host.send(CALL);
    let mut console = Terminal::console(home.path(), (80, 24), &[]);
    console.shows(&["s-1", "write"]);
    console.kill();
    log::awaits(home.path(), "the console is gone", |record| record["kind"] == "detach");
    let mut operator = Operator::attach(home.path(), "ada");
    operator.asked("write");
    assert!(server.executed().is_empty());

    host.signal("KILL");
    host.wait();
    processes::are_gone(&processes::listed(&list));
    assert!(server.executed().is_empty());
    assert!(host.rest().is_empty(), "a dead wrapper answered");
    log::verifies(home.path());
    assert!(log::decisions(home.path(), "write").is_empty());
}

#[test]
fn e13_a_foreign_loose_or_linked_runtime_folder_is_refused() {
    let elsewhere = tempfile::tempdir().unwrap();
    for attack in ["loose", "linked", "foreign"] {
        let (home, server) = (tempfile::tempdir().unwrap(), server());
        let run = home.path().join("state/run");
        fs::create_dir_all(run.parent().unwrap()).unwrap();
        fs::set_permissions(run.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
        match attack {
            "linked" => symlink(elsewhere.path(), &run).unwrap(),
            _ => fs::create_dir(&run).unwrap(),
        }
        match attack {
            "loose" => fs::set_permissions(&run, fs::Permissions::from_mode(0o777)).unwrap(),
            // Only root can give a folder away.
            "foreign" if chown(&run, Some(12_345), None).is_err() => continue,
            _ => {}
        }
        let me = Me { operator: "ada".into(), version: "1".into(), pid: 1 };
        assert!(Clients::watch(&run, me, |_| {}).is_err(), "{attack}: a console uses it");
        let mut host = Host::wrapping(home.path(), &["--name", "s", "--unattended", "deny"], &server.command());
        host.handshake("2025-06-18");
        host.send(CALL);
        assert!(text(&host.answer(1)).contains("NOT"), "{attack}");
        host.hang_up();
        assert!(host.wait().success(), "{attack}");
        assert!(server.executed().is_empty(), "{attack}");
        let words = host.last_words();
        assert!(words.contains("no console can attach") && words.contains("run"), "{attack}: {words}");
        let found = fs::read_dir(&run).unwrap().count();
        assert_eq!(found, 0, "{attack}: something was put there");
    }
}
