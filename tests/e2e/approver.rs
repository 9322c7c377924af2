//! `[[approver]]`: a command of the operator's own that hears of each call, through a real wrapper.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake::host::Host;
use crate::fake::operator::Operator;
use crate::fake::server::{Server, reader, writer};
use crate::fake::{BINARY, log, program, until};

fn configured(script: &str, more: &str) -> (TempDir, Server, Host, Operator) {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("config")).unwrap();
    let script_at = home.path().join("config/check");
    program(&script_at, &format!("#!/bin/sh\n{script}\n"));
    let text = format!("[[approver]]\nname = \"check\"\ncommand = [\"./check\", \"word\"]\n{more}");
    fs::write(home.path().join("config/config.toml"), text).unwrap();
    let server = Server::with(&[reader("read"), writer("write")]);
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    let operator = Operator::attach(home.path(), "ada");
    host.handshake("2025-06-18");
    (home, server, host, operator)
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

fn said(home: &Path, tool: &str) -> Value {
    let decision = log::decisions(home, tool).pop().unwrap();
    let seq = decision["seq"].to_string();
    let out = log::run(home, &["show", &seq, "--json"]);
    serde_json::from_slice(&out.stdout).unwrap_or(Value::Null)
}

#[test]
fn an_approver_denies_with_its_reason_and_allows_nothing_by_itself() {
    let script = r#"cat > "$0.$1"; case "$(cat "$0.$1")" in *forbidden*) d=deny;; *) d=allow;; esac
        echo "{\"decision\":\"$d\",\"reason\":\"ticket 7\"}""#;
    let (home, server, mut host, mut operator) = configured(script, "");
    host.call(1, "read", &json!({ "title": "fine" }));
    assert_eq!(text(&host.answer(1)), "done");
    host.call(2, "read", &json!({ "title": "forbidden" }));
    let answer = host.answer(2);
    assert!(text(&answer).contains("approver check denies it: ticket 7"), "{answer}");
    host.call(3, "write", &json!({ "title": "fine" }));
    let asked = operator.asked("write");
    operator.deny(&asked, "no");
    host.answer(3);
    assert_eq!(server.executed().len(), 1);
    let told: Value =
        serde_json::from_str(&fs::read_to_string(home.path().join("config/check.word")).unwrap()).unwrap();
    assert_eq!((&told["tool"], &told["server"]), (&json!("write"), &json!("s")));
    assert_eq!((&told["badge"], &told["confidence"]), (&json!("MUTATES"), &json!("none")));
    let decision = log::decisions(home.path(), "read").pop().unwrap();
    assert_eq!((&decision["by"], &decision["verdict"]), (&json!("approver"), &json!("deny")));
    assert!(said(home.path(), "read").to_string().contains("latency_ms"));
    log::verifies(home.path());
}

#[test]
fn one_that_may_allow_approves_what_a_default_would_ask() {
    let (home, server, mut host, _operator) = configured("echo '{\"decision\":\"allow\"}'", "may_allow = true\n");
    host.call(1, "write", &json!({ "title": "x" }));
    assert_eq!(text(&host.answer(1)), "done");
    assert_eq!((server.executed().len(), &log::decisions(home.path(), "write")[0]["by"]), (1, &json!("approver")));
}

#[test]
fn an_approver_that_fails_or_takes_too_long_asks() {
    for (script, more) in [
        ("exit 3", ""),
        ("echo nonsense", ""),
        ("echo '{\"decision\":\"allow\"}'; exit 1", "may_allow = true\n"),
        ("head -c 100000 /dev/zero", "may_allow = true\n"),
        ("exec sleep 60", "timeout = \"300ms\"\n"),
    ] {
        let (home, server, mut host, mut operator) = configured(script, more);
        host.call(1, "read", &json!({}));
        let asked = operator.asked("read");
        assert!(
            asked.call.ruling.reason.contains("approver check gave no answer"),
            "{script}: {:?}",
            asked.call.ruling
        );
        assert!(server.executed().is_empty());
        operator.approve(&asked);
        assert_eq!(text(&host.answer(1)), "done");
        host.hang_up();
        let start = std::time::Instant::now();
        host.wait();
        // The script would sleep for a minute.
        assert!(start.elapsed() < Duration::from_secs(30), "it outlived its host");
        until("the chain", || log::run(home.path(), &["verify"]).status.success().then_some(()));
    }
}

#[test]
fn an_approver_runs_in_the_operators_folder_and_one_that_hangs_ends_with_what_it_started() {
    let script = "pwd > here; echo $PATH > path; sleep 61 & echo $! > forked; wait";
    let (home, _server, mut host, mut operator) = configured(script, "timeout = \"700ms\"\n");
    host.call(1, "read", &json!({}));
    let asked = operator.asked("read");
    operator.approve(&asked);
    assert_eq!(text(&host.answer(1)), "done");
    let config = home.path().join("config").canonicalize().unwrap();
    let here = fs::read_to_string(config.join("here")).expect("it ran in the folder of its configuration");
    assert_eq!(Path::new(here.trim()), config);
    // What it starts is not found by what the host, or its agent, put into the environment.
    let path = fs::read_to_string(config.join("path")).unwrap();
    assert_eq!(path.trim(), mcp_approve::home::config::approver::PATH);
    let forked: i32 = fs::read_to_string(config.join("forked")).unwrap().trim().parse().unwrap();
    let forked = rustix::process::Pid::from_raw(forked).unwrap();
    until("what it started ends", || rustix::process::test_kill_process(forked).is_err().then_some(()));
}

/// The blocks of a language in `mcp-approve help config`.
fn blocks(language: &str) -> Vec<&'static str> {
    let help = include_str!("../../assets/help/config.md");
    let fence = format!("```{language}\n");
    help.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

#[test]
fn an_approver_is_given_what_the_help_says() {
    let (home, _server, mut host, mut operator) = configured("cat > \"$0.$1\"; echo '{\"decision\":\"ask\"}'", "");
    host.call(1, "write", &json!({ "title": "fine" }));
    operator.asked("write");
    let given = fs::read_to_string(home.path().join("config/check.word")).unwrap();
    let given: Value = serde_json::from_str(&given).unwrap();
    let said: Value = serde_json::from_str(blocks("json")[0]).unwrap();
    let keys = |value: &Value| {
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(&given), keys(&said));
    assert_eq!(keys(&given["ruling"]), keys(&said["ruling"]));
    assert_eq!(given["version"], 1);
}

#[test]
fn what_an_approver_decides_is_told_and_does_not_wait_for_an_operator() {
    let script = r#"while [ ! -e go ]; do sleep 0.02; done; echo '{"decision":"allow"}'"#;
    let (home, _server, mut host, _operator) = configured(script, "timeout = \"60s\"\n");
    host.call(1, "read", &json!({ "title": "fine" }));
    let told = until("the approver is asked", || {
        let command = ["--home", home.path().to_str().unwrap(), "waiting", "--json"];
        let output = std::process::Command::new(BINARY).args(command).output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        (!told["approvers"].as_array().unwrap().is_empty()).then_some((output.status.code(), told))
    });
    let (code, told) = told;
    assert_eq!((code, &told["version"], &told["waiting"]), (Some(0), &json!(1), &json!(0)), "{told}");
    assert_eq!((&told["approvers"][0]["tool"], &told["calls"]), (&json!("read"), &json!([])), "{told}");
    fs::write(home.path().join("config/go"), "").unwrap();
    assert_eq!(text(&host.answer(1)), "done");
}

/// Only where Python is: `cargo test` needs nothing but Rust.
#[test]
fn the_webhook_of_the_help_decides() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let hook = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = hook.local_addr().unwrap();
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = hook.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut length, mut line) = (0, String::new());
        while reader.read_line(&mut line).unwrap() > 2 {
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = text.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = r#"{"decision":"deny","reason":"not on a Friday"}"#;
        let head =
            format!("HTTP/1.0 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", answer.len());
        stream.write_all((head + answer).as_bytes()).unwrap();
        serde_json::from_slice::<Value>(&body).unwrap()
    });
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("config")).unwrap();
    program(&home.path().join("config/webhook"), blocks("python")[0]);
    let approver =
        format!("[[approver]]\nname = \"hook\"\ncommand = [\"./webhook\", \"http://{address}\"]\ntimeout = \"20s\"\n");
    fs::write(home.path().join("config/config.toml"), approver).unwrap();
    let server = Server::with(&[reader("read")]);
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    host.handshake("2025-06-18");
    host.call(1, "read", &json!({ "title": "fine" }));
    let answer = host.answer(1);
    assert!(text(&answer).contains("approver hook denies it: not on a Friday"), "{answer}");
    assert_eq!(asked.join().unwrap()["tool"], "read");
    assert!(server.executed().is_empty());
}
