//! `[notify]`: a program of the operator's own that hears of calls that wait, through a real wrapper.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake::host::Host;
use crate::fake::operator::Operator;
use crate::fake::server::{Server, writer};
use crate::fake::{log, program, until};

fn configured(script: &str, more: &str) -> (TempDir, Server, Host, Operator) {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("config")).unwrap();
    program(&home.path().join("config/tell"), &format!("#!/bin/sh\n{script}\n"));
    let text = format!("[notify]\ncommand = [\"./tell\", \"word\"]\n{more}");
    fs::write(home.path().join("config/config.toml"), text).unwrap();
    let server = Server::with(&[writer("write")]);
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    let operator = Operator::attach(home.path(), "ada");
    host.handshake("2025-06-18");
    (home, server, host, operator)
}

/// Each line is one run.
const TELLS: &str = r#"cat >> "$0.$1""#;

fn told(home: &Path) -> Vec<Value> {
    let text = fs::read_to_string(home.join("config/tell.word")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn wait_for(home: &Path, count: usize) -> Vec<Value> {
    until("the program is told", || Some(told(home)).filter(|told| told.len() >= count))
}

#[test]
fn a_call_that_waits_is_told_once_without_its_arguments_and_taken_back() {
    let (home, server, mut host, mut operator) = configured(TELLS, "after = \"20ms\"\n");
    host.call(1, "write", &json!({ "title": "for-no-other-eyes" }));
    let asked = operator.asked("write");
    let waiting = &wait_for(home.path(), 1)[0];
    assert_eq!(
        (&waiting["version"], &waiting["event"], &waiting["ticket"]),
        (&json!(1), &json!("waiting"), &json!("s-1"))
    );
    assert!(waiting["line"].as_str().unwrap().starts_with("s write: "), "{waiting}");
    assert_eq!((&waiting["more"], &waiting["arguments"]), (&json!([]), &Value::Null));
    operator.approve(&asked);
    host.answer(1);
    let ended = wait_for(home.path(), 2)[1].clone();
    assert_eq!(
        (&ended["event"], &ended["verdict"], &ended["by"]),
        (&json!("decided"), &json!("approve"), &json!("operator"))
    );
    host.call(2, "write", &json!({ "title": "for-no-other-eyes" }));
    operator.asked("write");
    wait_for(home.path(), 3);
    host.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    assert_eq!(wait_for(home.path(), 4)[3]["event"], "withdrawn");
    let all = fs::read_to_string(home.path().join("config/tell.word")).unwrap();
    assert!(!all.contains("for-no-other-eyes"), "{all}");
    assert_eq!(server.executed().len(), 1);
    log::verifies(home.path());
}

#[test]
fn nobody_hears_of_a_call_that_is_decided_in_time() {
    let (home, _server, mut host, mut operator) = configured(TELLS, "after = \"1h\"\n");
    host.call(1, "write", &json!({ "title": "x" }));
    let asked = operator.asked("write");
    operator.approve(&asked);
    host.answer(1);
    host.hang_up();
    host.wait();
    assert_eq!(told(home.path()), Vec::<Value>::new());
}

#[test]
fn arguments_that_are_asked_for_come_without_their_secrets() {
    let (home, _server, mut host, mut operator) = configured(TELLS, "after = \"20ms\"\narguments = true\n");
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    host.call(1, "write", &json!({ "title": "plain", "token": secret }));
    operator.asked("write");
    let waiting = wait_for(home.path(), 1)[0].to_string();
    assert!(waiting.contains("plain") && waiting.contains("redacted:") && !waiting.contains(&secret), "{waiting}");
}

#[test]
fn one_that_fails_is_a_record_and_holds_nothing_up() {
    for script in ["exit 3", "exec sleep 60"] {
        let (home, server, mut host, mut operator) = configured(script, "after = \"1ms\"\n");
        host.call(1, "write", &json!({ "title": "x" }));
        let asked = operator.asked("write");
        let is_recorded = || {
            let out = log::run(home.path(), &["list", "--records", "kind:fault", "--json"]);
            String::from_utf8_lossy(&out.stdout).contains("[notify]").then_some(())
        };
        if script.starts_with("exit") {
            until("the failure is recorded", is_recorded);
        }
        operator.approve(&asked);
        host.answer(1);
        assert_eq!(server.executed().len(), 1, "{script}");
    }
}

#[test]
fn many_calls_are_one_notice() {
    let (home, _server, mut host, _operator) = configured(TELLS, "after = \"300ms\"\n");
    for id in 1..=40 {
        host.call(id, "write", &json!({ "title": id.to_string() }));
    }
    let first = &wait_for(home.path(), 1)[0];
    assert!(first["more"].as_array().unwrap().len() > 2, "{first}");
    host.hang_up();
    host.wait();
    until("all are taken back", || {
        let told = told(home.path());
        let count = |event: &str| {
            let of = told.iter().filter(|one| one["event"] == event);
            of.map(|one| 1 + one["more"].as_array().unwrap().len()).sum::<usize>()
        };
        (count("waiting") == count("withdrawn") + count("decided") && told.len() < 12).then_some(())
    });
}
