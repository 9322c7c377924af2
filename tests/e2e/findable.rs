//! What was decided is found with few keys, and what waits is told to whoever asks without a console. Keys are counted.

use std::path::Path;
use std::process::{Command, Output};

use jiff::{Timestamp, ToSpan as _};
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::store::Store;
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::home::places::Places;
use mcp_approve::policy::rule::Decision;
use portable_pty::CommandBuilder;
use serde_json::{Value, json};

use crate::e2e::console::{console, text, wrapped};
use crate::fake::terminal::Terminal;
use crate::fake::{BINARY, log};

fn run(home: &Path, words: &[&str]) -> Output {
    Command::new(BINARY).arg("--home").arg(home).args(words).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A log in which Ada approved one write yesterday, and denied one of the same file today.
fn yesterday(home: &Path) {
    let places = Places::under(home).unwrap();
    places.create_state().unwrap();
    let now = Timestamp::now();
    let decision = |n: u64, at: Timestamp, verdict| {
        let mut entry = Entry::new(at.as_millisecond(), Kind::Decision, &"files".into(), &"s1".into());
        (entry.ticket, entry.tool) = (Some(format!("files-{n}").into()), Some("write_file".into()));
        entry.target = Some("/home/ada/notes/README.md".into());
        entry.arguments = Some(r#"{"path":"/home/ada/notes/README.md"}"#.parse().unwrap());
        (entry.badge, entry.ruling) = (Some(Badge::Mutates), Some(Decision::Ask));
        (entry.verdict, entry.by) = (Some(verdict), Some(By::Operator));
        (n, entry.with("operator", "ada (pid 7)").with("reason", format!("reason {n}")))
    };
    let before = now.checked_sub(24.hours()).unwrap();
    let entries = [decision(1, before, VerdictWord::Approve), decision(2, now, VerdictWord::Deny)];
    let mut store = Store::open(&places.audit_db(), *b"a writer's name.").unwrap();
    store.append(&entries, &Redactor::new(&[7; 32])).unwrap();
}

#[test]
fn who_approved_a_path_yesterday_takes_three_keys_and_the_text() {
    let home = tempfile::tempdir().unwrap();
    yesterday(home.path());
    let mut terminal = console(home.path());
    terminal.shows(&["No server is wrapped yet"]);
    terminal.types("3");
    terminal.shows(&["Log", "README.md", "denied"]);
    let words = "README.md verdict:approved since:yesterday until:yesterday";
    terminal.types("/");
    terminal.types(words);
    terminal.types("\r");
    terminal.awaits("who approved it", |screen| {
        let row =
            |line: &str| ["approved", "ada", "write_file", "notes/README.md"].iter().all(|one| line.contains(one));
        screen.lines().any(row) && !screen.contains("denied  ")
    });
    assert_eq!(terminal.keys_but(words), 3);
    // The same words where no console is.
    let words = ["log", "list", "README.md", "verdict:approved", "since:yesterday", "until:yesterday"];
    let list = said(&run(home.path(), &words));
    assert!(list.lines().count() == 2 && list.contains("approved ada"), "{list}");
    assert!(list.contains("/home/ada/notes/README.md") && !list.contains("denied"), "{list}");
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    let denied = said(&run(home.path(), &["log", "list", "/README.md verdict:deny"]));
    assert!(denied.contains("denied  ada") && denied.contains("reason 2"), "{denied}");
    let table = said(&run(home.path(), &["log", "export", "--format", "csv", "target:README.md"]));
    let row = table.lines().nth(1).unwrap();
    assert!(row.contains("/home/ada/notes/README.md") && row.contains("ada (pid 7),reason 1"), "{table}");
}

#[test]
fn why_something_passed_by_itself_takes_one_key_from_its_row() {
    let (home, _server, mut host) = wrapped();
    host.call(1, "read", &json!({}));
    assert_eq!(text(&host.answer(1)), "done");
    log::awaits(home.path(), "its answer is in the log", |record| record["kind"] == "outcome");
    let mut terminal = console(home.path());
    terminal.shows(&["No call waits for you", "· s"]);
    let why = ["approved by policy", "it only reads", "the whole call", "answered"];
    // From Activity, then from the Log itself.
    terminal.types("2");
    terminal.shows(&["answered", "read"]);
    terminal.keys_but("");
    terminal.types("\r");
    terminal.shows(&why[2..]);
    terminal.shows(&["approved by policy"]);
    assert_eq!(terminal.keys_but(""), 1);
    terminal.types("\x1b");
    terminal.types("3");
    terminal.shows(&["newest first", "answered"]);
    terminal.keys_but("");
    terminal.types("\r");
    terminal.shows(&["the whole call", "approved by policy"]);
    assert_eq!(terminal.keys_but(""), 1);
}

#[test]
fn what_waits_is_told_without_a_console() {
    let (home, _server, mut host) = wrapped();
    let nothing = run(home.path(), &["waiting"]);
    assert!(nothing.status.success() && nothing.stdout.is_empty(), "{nothing:?}");
    host.call(1, "delete_folder", &json!({ "path": "/srv/old\u{1b}[2J" }));
    let waiting = crate::fake::until("it waits", || {
        let output = run(home.path(), &["waiting"]);
        (output.status.code() == Some(1)).then_some(output)
    });
    let line = said(&waiting);
    assert!(line.starts_with("1 call waits · s: deletes") && line.contains("/srv/old"), "{line}");
    assert!(line.lines().count() == 1 && !line.contains('\u{1b}'), "{line:?}");
    let json: Value = serde_json::from_str(&said(&run(home.path(), &["waiting", "--json"]))).unwrap();
    assert_eq!((&json["waiting"], &json["calls"][0]["server"]), (&json!(1), &json!("s")));
    assert_eq!((&json["calls"][0]["tool"], &json["silent"]), (&json!("delete_folder"), &json!([])));
    assert!(json["calls"][0]["target"].as_str().unwrap().starts_with("/srv/old"), "{json}");
    host.call(2, "delete_folder", &json!({ "path": "/srv/older" }));
    let two = crate::fake::until("both wait", || {
        let line = said(&run(home.path(), &["waiting"]));
        line.starts_with("2 calls wait · s: deletes").then_some(line)
    });
    assert!(two.contains("/srv/old␛") && two.trim_end().ends_with(" left"), "the oldest, and its time: {two}");
    // Who asks is no console: nobody attached, and no intruder either.
    let kinds: Vec<Value> = log::records(home.path()).into_iter().map(|record| record["kind"].clone()).collect();
    assert!(!kinds.iter().any(|kind| kind == "attach" || kind == "fault"), "{kinds:?}");
}

#[test]
fn a_list_has_colours_and_a_pager_at_a_terminal_only() {
    let home = tempfile::tempdir().unwrap();
    yesterday(home.path());
    assert!(!said(&run(home.path(), &["log", "list"])).contains('\u{1b}'));
    let paged = home.path().join("paged");
    let pager = home.path().join("pager.sh");
    std::fs::write(&pager, format!("#!/bin/sh\ncat > '{}'\n", paged.display())).unwrap();
    let at_terminal = |environment: &[(&str, &str)], more: &[&str]| {
        let mut command = CommandBuilder::new(BINARY);
        command.args(["--home", home.path().to_str().unwrap(), "log", "list"]);
        command.args(more);
        command.env("PAGER", format!("sh {}", pager.display()));
        command.env_remove("NO_COLOR");
        environment.iter().for_each(|(name, value)| command.env(name, value));
        let mut terminal = Terminal::running(command, (100, 24));
        assert!(terminal.wait().success());
        terminal
    };
    at_terminal(&[], &[]);
    assert!(std::fs::read_to_string(&paged).unwrap().contains("\u{1b}[32mapproved\u{1b}[m"));
    std::fs::remove_file(&paged).unwrap();
    let terminal = at_terminal(&[], &["--no-pager"]);
    terminal.shows(&["approved", "notes/README.md"]);
    assert!(terminal.wrote("\u{1b}[32m") == 1 && !paged.exists());
    let terminal = at_terminal(&[("NO_COLOR", "1"), ("PAGER", "no such pager")], &[]);
    terminal.shows(&["approved", "notes/README.md"]);
    assert_eq!(terminal.wrote("\u{1b}["), 0);
}
