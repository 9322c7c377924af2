//! The binary around a server: folders and files that must not be used, words that must not reach the terminal raw.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::fake::host::Host;
use crate::fake::server::{Server, reader, says};
use crate::fake::{BINARY, log, until};

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// One PURE call through a wrapper under `home`: its answer, and what was said on stderr.
fn one_read(home: &Path, options: &[&str], server: &Server) -> (Value, String) {
    let mut host = Host::wrapping(home, &[&["--name", "s"], options].concat(), &server.command());
    host.handshake("2025-06-18");
    host.call(1, "read", &json!({}));
    let answer = host.answer(1);
    host.hang_up();
    host.wait();
    (answer, host.last_words())
}

fn server() -> Server {
    Server::with(&[reader("read"), reader("die")]).on("read", json!({ "answer": { "result": says("done") } }))
}

#[test]
fn e13_below_a_state_folder_that_is_a_link_nothing_runs_and_nothing_is_made() {
    for entry in ["state", "state/log", "state/run"] {
        let (home, elsewhere, server) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), server());
        let link = home.path().join(entry);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(elsewhere.path(), &link).unwrap();
        let (answer, words) = one_read(home.path(), &[], &server);
        assert_eq!(answer["result"]["isError"], true, "{entry}: {answer}");
        assert!(text(&answer).contains("NOT executed") && text(&answer).contains("it is a link"), "{entry}: {answer}");
        assert!(words.contains("no call can run") && words.contains("it is a link"), "{entry}: {words}");
        assert!(server.executed().is_empty(), "{entry}");
        assert_eq!(names(elsewhere.path()), Vec::<String>::new(), "{entry}: something was made behind the link");
        assert!(!home.path().join("state/audit.db").exists(), "{entry}");
    }
}

#[test]
fn e13_a_log_or_key_that_is_not_ours_alone_is_not_used() {
    type Spoil = fn(&Path);
    let link: Spoil = |file| {
        fs::rename(file, file.with_extension("moved")).unwrap();
        symlink(file.with_extension("moved"), file).unwrap();
    };
    let loosen: Spoil = |file| fs::set_permissions(file, fs::Permissions::from_mode(0o666)).unwrap();
    let give: Spoil = |file| std::os::unix::fs::chown(file, Some(4321), None).unwrap();
    for file in ["audit.db", "redaction.key", "audit.lock"] {
        for (what, spoil, says) in
            [("a link", link, "it is a link"), ("loose", loosen, "others than you"), ("another's", give, "user 4321")]
        {
            // What the lock holds is of no interest, only where it is.
            if (file == "audit.lock" && what != "a link")
                || (what == "another's" && !rustix::process::geteuid().is_root())
            {
                continue;
            }
            let (home, server) = (tempfile::tempdir().unwrap(), server());
            assert_eq!(text(&one_read(home.path(), &[], &server).0), "done");
            spoil(&home.path().join("state").join(file));
            let (answer, _) = one_read(home.path(), &[], &server);
            assert_eq!(answer["result"]["isError"], true, "{file} {what}: {answer}");
            assert!(text(&answer).contains(says) && text(&answer).contains(file), "{file} {what}: {answer}");
            assert_eq!(server.executed().len(), 1, "{file} {what}");
        }
    }
}

#[test]
fn a_log_of_ones_own_choice_still_works() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let db = home.path().join("my log.sqlite");
    for _ in 0..2 {
        assert_eq!(text(&one_read(home.path(), &["--audit-db", db.to_str().unwrap()], &server).0), "done");
    }
    assert!(db.exists() && !home.path().join("state/audit.db").exists());
    let nowhere = home.path().join("no-folder/log.db");
    let wrap = ["--home", home.path().to_str().unwrap(), "--audit-db", nowhere.to_str().unwrap(), "--", "true"];
    let out = std::process::Command::new(BINARY).args(wrap).output().unwrap();
    let says = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(2) && says.contains("there is no folder"), "{says}");
    assert!(!home.path().join("no-folder").exists());
}

#[test]
fn b1_a_program_that_cannot_run_is_named_without_its_control_sequences() {
    let home = tempfile::tempdir().unwrap();
    let broken = home.path().join("\u{1b}[31mbroken\u{202e}");
    fs::write(&broken, "").unwrap();
    for program in ["no\u{1b}]0;such\u{7}\u{202e}", broken.to_str().unwrap()] {
        let mut host = Host::wrapping(home.path(), &["--name", "s"], &[program]);
        host.wait();
        let words = host.last_words();
        let raw: Vec<char> = words.chars().filter(|&c| (c.is_control() && c != '\n') || c == '\u{202e}').collect();
        assert!(raw.is_empty(), "{words:?}");
        assert!(words.contains("\\u{1b}"), "{words}");
    }
}

/// A server that is started by a shell, after `script`, which finds this test binary as `$AGAIN`.
fn after(home: &Path, script: &str, server: &Server) -> Command {
    let mut command = Command::new(BINARY);
    command
        .arg("--home")
        .arg(home)
        .args(["--name", "s", "--", "sh", "-c", &format!("{script}\nexec \"$@\""), "sh"])
        .args(server.command())
        .env("AGAIN", std::env::current_exe().unwrap())
        .env("DAEMON", home);
    command
}

/// Forks, starts a session, forks again: nobody's child and in nobody's group, as far as the system shows.
const DAEMON: &str = r#"(setsid sh -c '"$AGAIN" --exact cli::wrapped::daemon --ignored >/dev/null 2>&1 &' &)"#;

#[test]
#[ignore = "a daemon of the wrapped server that wants to decide: run by the test below"]
fn daemon() {
    let Some(home) = std::env::var_os("DAEMON").map(PathBuf::from) else { return };
    until("it is an orphan", || {
        let parent = std::os::unix::process::parent_id();
        let name = fs::read_to_string(format!("/proc/{parent}/comm")).unwrap_or_default();
        (!["sh\n", "setsid\n", ""].contains(&name.as_str())).then_some(())
    });
    let stream = until("the socket", || UnixStream::connect(home.join("state/run/s.sock")).ok());
    let mut first = String::new();
    BufReader::new(stream).read_line(&mut first).unwrap();
    fs::write(home.join("heard.part"), first).unwrap();
    fs::rename(home.join("heard.part"), home.join("heard")).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn e2_a_daemon_of_the_server_is_known_as_the_servers() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let mut host = Host::over(after(home.path(), DAEMON, &server));
    host.handshake("2025-06-18");
    let heard = until("the daemon is done", || fs::read_to_string(home.path().join("heard")).ok());
    assert!(heard.contains("refused") && heard.contains("ALARM"), "{heard}");
    host.hang_up();
    host.wait();
    assert!(host.last_words().contains("ALARM"));
}

#[test]
#[cfg(target_os = "linux")]
fn orphans_of_the_server_are_buried_and_its_own_status_is_not_lost() {
    let (home, server) = (tempfile::tempdir().unwrap(), server().dying("die", 7));
    let list = home.path().join("pids");
    let script = format!(
        "for n in 1 2 3 4 5; do (setsid sh -c 'echo $$ >> \"{0}\"' &); done; \
         (setsid sh -c 'echo $$ >> \"{0}\"; exec sleep 600' &)",
        list.display()
    );
    let mut host = Host::over(after(home.path(), &script, &server));
    host.handshake("2025-06-18");
    let pids = until("six daemons have started", || {
        let text = fs::read_to_string(&list).unwrap_or_default();
        (text.lines().count() == 6 && text.ends_with('\n')).then_some(text)
    });
    let is_there = |pid: &&str| Path::new("/proc").join(pid).exists();
    let sleeper = until("the dead are buried", || {
        let mut there = pids.lines().filter(is_there);
        let one = there.next();
        if there.next().is_none() { one } else { None }
    });
    assert_eq!(text(&one_more_read(&mut host)), "done");
    let raw = rustix::process::Pid::from_raw(sleeper.parse().unwrap()).unwrap();
    rustix::process::kill_process(raw, rustix::process::Signal::KILL).unwrap();
    host.call(2, "die", &json!({}));
    assert_eq!(host.wait().code(), Some(7));
}

fn one_more_read(host: &mut Host) -> Value {
    host.call(1, "read", &json!({}));
    host.answer(1)
}

#[test]
fn e4_a_log_that_was_removed_between_two_calls_is_found() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let verify = || {
        let out = Command::new(BINARY).arg("--home").arg(home.path()).args(["log", "verify"]).output().unwrap();
        (out.status.code(), String::from_utf8(out.stdout).unwrap())
    };
    one_read(home.path(), &[], &server);
    let (code, said) = verify();
    assert!(code == Some(0) && said.contains("The chain holds") && said.contains("audit.head"), "{said}");
    for file in ["audit.db", "audit.db-wal", "audit.db-shm"] {
        // The last connection takes the others with it.
        let _ = fs::remove_file(home.path().join("state").join(file));
    }
    let (code, said) = verify();
    assert!(code == Some(1) && said.contains("RECORDS ARE MISSING"), "{said}");
    assert_eq!(text(&one_read(home.path(), &[], &server).0), "done");
    let (code, said) = verify();
    assert!(code == Some(1) && said.contains("RECORDS ARE MISSING"), "{said}");
}

#[test]
fn a_scope_lets_only_its_tools_be_called_and_one_that_cannot_be_read_starts_nothing() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let file = home.path().join("scope.json");
    let option = file.to_str().unwrap();
    for (scope, runs) in [(r#"["read"]"#, true), (r#"{"tools":[{"name":"die"}]}"#, false)] {
        fs::write(&file, scope).unwrap();
        let (answer, _) = one_read(home.path(), &["--scope", option], &server);
        assert_eq!(answer["error"]["code"] == -32000, !runs, "{scope}: {answer}");
    }
    assert_eq!(server.executed().len(), 1);
    for (scope, why) in [("{}", "not a list of tools"), ("[1]", "no name")] {
        fs::write(&file, scope).unwrap();
        let mut wrapped = Command::new(BINARY);
        wrapped.arg("--home").arg(home.path()).args(["--scope", option, "--", "true"]);
        let out = wrapped.output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && said.contains(why) && said.contains("JSON array"), "{scope}: {said}");
    }
}

#[test]
fn what_an_earlier_session_was_approved_to_do_is_expected_of_the_next_one() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    assert_eq!(text(&one_read(home.path(), &[], &server).0), "done");
    let decisions = log::decisions(home.path(), "read");
    let expect = format!("session:{}", decisions[0]["session"].as_str().unwrap());
    // The same behavior passes; another one would be asked, and nobody is there.
    let asked = &["--unattended", "deny", "--expect"];
    assert_eq!(text(&one_read(home.path(), &[&asked[..], &[&expect]].concat(), &server).0), "done");
    let list = one_read(home.path(), &[&asked[..], &["DELETE,MUTATES|*|*|BINARY"]].concat(), &server).0;
    assert!(text(&list).contains("no console is open"), "{list}");
    let last = log::decisions(home.path(), "read");
    let hazard = &last.last().unwrap()["detail"]["hazards"][0];
    assert_eq!(hazard["hazard"], "unexpected-behavior");
    // A session that approved nothing is no expectation, and the server is not started for it.
    let out = Command::new(BINARY)
        .arg("--home")
        .arg(home.path())
        .args(["--expect", "session:0123abcd", "--"])
        .args(server.command())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(2) && error.contains("no approved call of this session"), "{error}");
}

/// Two agents, each with a wrapper of its own, in one trace and one context.
#[test]
fn what_calls_belong_to_is_searched_and_listed_together_across_agents() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (agent, turn) in [("planner", "t-1"), ("executor", "t-2")] {
        let mut host = Host::wrapping(home.path(), &["--name", agent], &server.command());
        host.handshake("2025-06-18");
        for (id, context) in [(1, "exp-42"), (2, "exp-43")] {
            let meta =
                json!({ "context_id": context, "traceparent": trace, "aiInvocation": { "id": turn, "prompt": "p" } });
            let params = json!({ "name": "read", "arguments": { "n": id }, "_meta": meta });
            host.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string());
        }
        host.hang_up();
        host.wait();
    }
    let found = |search: &str| {
        let out = log::run(home.path(), &["list", "--jsonl", search]);
        let servers = String::from_utf8(out.stdout).unwrap();
        let servers = servers.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["server"].to_string());
        servers.collect::<std::collections::BTreeSet<String>>().len()
    };
    for (search, servers) in
        [("context:exp-42", 2), ("context:=exp-4", 0), ("trace:=0af7651916cd43dd8448eb211c80319c", 2), ("turn:t-2", 1)]
    {
        assert_eq!(found(search), servers, "{search}");
    }
    let out = log::run(home.path(), &["list", "--together", "context"]);
    let listed = String::from_utf8(out.stdout).unwrap();
    let headings: Vec<&str> = listed.lines().filter(|line| line.starts_with("context ")).collect();
    assert_eq!(
        headings,
        ["context exp-42 · 2 records, as the host says", "context exp-43 · 2 records, as the host says"]
    );
    let out = log::run(home.path(), &["list", "--together", "colour"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("context, trace, turn, agent, session"));
}

#[test]
fn who_asked_is_a_field_of_the_record_and_of_the_search() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    host.handshake("2025-06-18");
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (id, agent) in [(1, "reviewer"), (2, "writer")] {
        let meta = json!({ "acme.dev/agentName": "planner", "sub_agent": agent, "user": "ada", "traceparent": trace });
        let params = json!({ "name": "read", "arguments": {}, "_meta": meta });
        host.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string());
        host.answer(id);
    }
    host.hang_up();
    host.wait();
    let detail = &log::decisions(home.path(), "read")[0]["detail"];
    let caller = json!({ "agent": "planner", "sub-agent": "reviewer", "user": "ada" });
    assert_eq!((&detail["caller"], &detail["traceparent"]), (&caller, &json!(trace)));
    for (search, found) in [("agent:reviewer", 1), ("agent:planner", 2), ("agent:planner/writer", 1), ("agent:eve", 0)]
    {
        let out = log::run(home.path(), &["list", "--jsonl", "--kind", "decision", search]);
        assert_eq!(String::from_utf8_lossy(&out.stdout).lines().count(), found, "{search}");
    }
    // What host and server said that they can do is a record of the session, and what passed is counted at its end.
    let records = log::records(home.path());
    let of_kind = |kind: &str| records.iter().find(|record| record["kind"] == kind).unwrap_or_else(|| panic!("{kind}"));
    assert!(of_kind("session")["detail"]["features"].as_array().is_some_and(|all| all.contains(&json!("tools"))));
    assert!(of_kind("host")["detail"]["features"].is_array());
    let passed = of_kind("passed")["detail"]["passed"].to_string();
    assert!(passed.contains("notifications/initialized") && passed.contains("\"digests\""), "{passed}");
}
