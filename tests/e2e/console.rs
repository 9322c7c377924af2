//! The console in a real pseudo-terminal: what it shows, what its keys decide, and that it leaves the terminal as it was.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use portable_pty::CommandBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake::host::Host;
use crate::fake::server::{Server, reader};
use crate::fake::terminal::Terminal;
use crate::fake::{BINARY, log, program};

pub const END: &str = "\x1b[F";

pub fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

/// A tool that changes something, but nothing that was there.
pub fn note() -> Value {
    json!({ "name": "add_note", "description": "Adds a note.",
        "inputSchema": { "type": "object", "properties": { "title": { "type": "string" } } },
        "annotations": { "readOnlyHint": false, "destructiveHint": false, "openWorldHint": false } })
}

/// A wrapped server that waits to be called.
pub fn wrapped() -> (TempDir, Server, Host) {
    let home = tempfile::tempdir().unwrap();
    let danger = json!({ "name": "delete_folder", "description": "Deletes a folder and everything in it.",
        "inputSchema": { "type": "object", "properties": { "path": { "type": "string" } } },
        "annotations": { "readOnlyHint": false, "destructiveHint": true } });
    let (server, host) = wrapping(home.path(), &[reader("read"), note(), danger]);
    (home, server, host)
}

/// A server with these tools, wrapped as `s` and ready to be called.
pub fn wrapping(home: &Path, tools: &[Value]) -> (Server, Host) {
    let server = Server::with(tools);
    let mut host = Host::wrapping(home, &["--name", "s"], &server.command());
    host.handshake("2025-06-18");
    (server, host)
}

pub fn console(home: &Path) -> Terminal {
    Terminal::console(home, (80, 24), &[])
}

/// Waits until a key answers what is on screen, and past calls are counted, as the screen says.
#[track_caller]
pub fn arms(terminal: &Terminal) {
    let not_yet = ["arming", "still counting", "Keys are ignored"];
    terminal.awaits("a key answers", |screen| !not_yet.iter().any(|words| screen.contains(words)));
}

#[test]
fn an_empty_console_says_what_to_do_and_leaves_the_terminal_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let mut terminal = console(home.path());
    let install = format!("mcp-approve --home {} install", home.path().display());
    terminal.shows(&["No server is wrapped yet", &install, "-- npx", "? help"]);
    assert!(terminal.is_alternate());
    terminal.types("?");
    terminal.shows(&["Keys", "Approves the call on screen"]);
    terminal.types("?");
    terminal.shows(&["No server is wrapped yet"]);
    terminal.types("q");
    assert!(terminal.wait().success());
    terminal.is_given_back();
}

#[test]
fn one_key_approves_what_was_read() {
    let (home, server, mut host) = wrapped();
    let mut terminal = console(home.path());
    terminal.shows(&["No call waits for you", "· s"]);
    // Typed ahead of the call: it decides nothing.
    terminal.types("a");
    terminal.shows(&["Nothing is selected"]);
    host.call(1, "add_note", &json!({ "title": "buy milk" }));
    terminal.shows(&["1 waiting", "MUTATES", "s-1", "buy milk", "· armed"]);
    assert!(server.executed().is_empty());
    terminal.types("a");
    assert_eq!(text(&host.answer(1)), "done");
    terminal.shows(&["none waiting"]);
    assert_eq!(server.executed().len(), 1);
    let decision = &log::decisions(home.path(), "add_note")[0];
    assert_eq!((&decision["verdict"], &decision["by"]), (&json!("approve"), &json!("operator")));
    terminal.types("2");
    terminal.shows(&["Activity", "add_note"]);
}

#[test]
fn what_was_decided_is_reviewed_in_the_same_console() {
    let (home, _server, mut host) = wrapped();
    let mut terminal = console(home.path());
    host.call(1, "add_note", &json!({ "title": "buy milk" }));
    terminal.shows(&["s-1", "· armed"]);
    terminal.types("dtoo late\r");
    host.answer(1);
    terminal.types("3");
    terminal.shows(&["Log ·", "add_note", "denied", "too late", "1 asked"]);
    terminal.types("/kind:decision\r");
    terminal.shows(&["/kind:decision", "records in all", "too late"]);
    terminal.types("\r");
    terminal.shows(&["denied by", "ticket      s-1", "the whole call"]);
    terminal.types(END);
    terminal.shows(&["its link follows from record"]);
    // From the record to its tool, and to all records of the tool.
    terminal.types("4");
    terminal.shows(&["tool        add_note", "a running server describes it now", "1 decided, 1 denied"]);
    terminal.types("3");
    terminal.shows(&["/tool:=add_note server:s", "asked", "denied"]);
    terminal.types("6\r");
    terminal.shows(&["lifecycle   Active", "wrapper and server together"]);
    terminal.types(":verify\r");
    terminal.shows(&["the chain holds to"]);
    terminal.types("5");
    terminal.shows(&["There are no rules yet."]);
}

#[test]
fn the_tour_is_shown_until_it_is_dismissed_once() {
    let home = tempfile::tempdir().unwrap();
    let mut terminal = console(home.path());
    terminal.shows(&["dismisses these lines for good"]);
    terminal.types("\x1b");
    terminal.awaits("no tour", |screen| !screen.contains("dismisses these lines"));
    terminal.types("q");
    assert!(terminal.wait().success());
    let mut terminal = console(home.path());
    terminal.shows(&["No server is wrapped yet"]);
    assert!(!terminal.screen().contains("dismisses these lines"));
    terminal.types("q");
}

#[test]
fn a_mistake_in_the_console_s_configuration_is_told_and_keeps_nothing_shut() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config");
    fs::create_dir(&config).unwrap();
    fs::write(config.join("config.toml"), "[console.keys]\napprove = \"j\"\n").unwrap();
    let mut terminal = Terminal::console(home.path(), (120, 40), &[]);
    terminal.shows(&["config.toml:2:1: j is bound to approve and to down", "No server is wrapped yet"]);
    terminal.types("q");
    assert!(terminal.wait().success());
}

#[test]
fn a_denial_takes_the_typed_reason_to_the_agent() {
    let (home, server, mut host) = wrapped();
    let mut terminal = console(home.path());
    host.call(1, "add_note", &json!({ "title": "t" }));
    terminal.shows(&["s-1", "· armed"]);
    terminal.types("d");
    terminal.shows(&["Deny, because"]);
    // Letters are text here, whatever they decide elsewhere.
    terminal.types("a y q, use the archive");
    terminal.shows(&["a y q, use the archive"]);
    terminal.types("\r");
    let answer = host.answer(1);
    assert!(text(&answer).contains("a y q, use the archive"), "{answer}");
    terminal.shows(&["none waiting"]);
    assert!(server.executed().is_empty());
}

#[test]
fn what_was_not_read_is_not_approved() {
    let (home, server, mut host) = wrapped();
    let mut terminal = console(home.path());
    let long: Vec<String> = (0..200).map(|n| format!("line {n}")).collect();
    host.call(1, "add_note", &json!({ "title": long.join("\n") }));
    terminal.shows(&["s-1", "line 0", "read on to approve"]);
    terminal.types("a");
    terminal.shows(&["Not read yet", "Keys are ignored until you pause"]);
    assert!(server.executed().is_empty());
    arms(&terminal);
    terminal.types(END);
    terminal.shows(&["line 199", "· armed"]);
    terminal.types("a");
    assert_eq!(text(&host.answer(1)), "done");
    assert_eq!(server.executed().len(), 1);
}

#[test]
fn a_dangerous_call_takes_two_keys() {
    let (home, server, mut host) = wrapped();
    let mut terminal = console(home.path());
    host.call(1, "delete_folder", &json!({ "path": "src" }));
    terminal.shows(&["◆ DELETES", "delete_folder", "all shown · armed"]);
    // What is typed without looking decides nothing.
    terminal.types("ayayayay");
    terminal.shows(&["Approve this dangerous call?", "Keys are ignored until you pause"]);
    terminal.types("\x1b");
    terminal.awaits("the question is gone", |screen| !screen.contains("Approve this dangerous call?"));
    assert!(server.executed().is_empty());
    arms(&terminal);
    terminal.types("a");
    terminal.shows(&["y yes"]);
    arms(&terminal);
    terminal.types("y");
    assert_eq!(text(&host.answer(1)), "done");
    assert_eq!(server.executed().len(), 1);
}

#[test]
fn an_edit_shows_both_and_sends_the_new_one() {
    let (home, server, mut host) = wrapped();
    let editor = home.path().join("editor");
    program(&editor, "#!/bin/sh\nprintf '{\"title\":\"after\"}' > \"$1\"\n");
    let editor = editor.to_str().unwrap();
    let mut terminal = Terminal::console(home.path(), (80, 24), &[("EDITOR", editor), ("VISUAL", "")]);
    host.call(1, "add_note", &json!({ "title": "before" }));
    terminal.shows(&["s-1", "· armed"]);
    terminal.types("e");
    terminal.shows(&["edited", "- title", "+ title", "\"before\"", "\"after\"", "· armed"]);
    assert!(server.executed().is_empty());
    terminal.types("a");
    assert_eq!(text(&host.answer(1)), "done");
    let executed = server.executed();
    assert!(executed.len() == 1 && executed[0].contains(r#""arguments":{"title":"after"}"#), "{executed:?}");
    let left: Vec<_> = fs::read_dir(home.path().join("state")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.iter().all(|path| path.extension().is_none_or(|ext| ext != "json")), "a draft was left: {left:?}");
}

#[test]
fn every_size_shows_the_call_and_its_keys() {
    let (home, _server, mut host) = wrapped();
    let mut terminal = console(home.path());
    host.call(1, "add_note", &json!({ "title": "milk" }));
    terminal.shows(&["s-1", "· armed"]);
    for (size, words) in [((120, 40), ["s-1", "evidence", "a approve"]), ((40, 12), ["s-1", "add_note", "a approve"])] {
        terminal.resize(size);
        terminal.shows(&words);
        let in_footer = |screen: &str| screen.lines().last().is_some_and(|line| line.contains("a approve"));
        terminal.awaits("the keys in the last line", in_footer);
    }
    terminal.types(END);
    terminal.types("d");
    terminal.shows(&["Deny, because"]);
    terminal.types("\r");
    assert!(text(&host.answer(1)).contains("Denied by the operator"));
}

#[test]
fn who_leaves_leaves_the_calls_held() {
    let (home, server, mut host) = wrapped();
    host.call(1, "add_note", &json!({ "title": "t" }));
    let mut terminal = console(home.path());
    terminal.shows(&["s-1", "· armed"]);
    terminal.types("q");
    terminal.shows(&["1 call still waits for you. Leave the console?"]);
    terminal.types("y");
    assert!(terminal.wait().success());
    log::awaits(home.path(), "the console is gone", |record| record["kind"] == "detach");
    assert!(server.executed().is_empty());
    let mut next = console(home.path());
    next.shows(&["1 waiting", "s-1", "· armed"]);
    next.types("a");
    assert_eq!(text(&host.answer(1)), "done");
}

#[test]
fn inline_draws_on_the_terminal_and_keeps_the_pipe_clean() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::with(&[reader("read"), note()]);
    let (into, out) = (home.path().join("in"), home.path().join("out"));
    assert!(Command::new("mkfifo").args([&into, &out]).status().unwrap().success());
    let mut command = CommandBuilder::new("sh");
    // A copy of the terminal stays open: without any it would be gone before the wrapper opens it again.
    let script = "exec \"$@\" 9<&0 <\"$IN\" >\"$OUT\" 2>\"$ERR\"";
    command.args(["-c", script, "sh", BINARY, "--home"]);
    command.arg(home.path());
    command.args(["--name", "s", "--inline", "--"]);
    command.args(server.command());
    command.env("IN", &into);
    command.env("OUT", &out);
    command.env("ERR", home.path().join("err"));
    let mut terminal = Terminal::running(command, (80, 24));
    // In the shell's own order: each open waits for the other side.
    let to = File::options().write(true).open(&into).unwrap();
    let mut host = Host::at(to, File::open(&out).unwrap());
    host.handshake("2025-06-18");
    host.call(1, "add_note", &json!({ "title": "buy milk" }));
    terminal.shows(&["s-1", "buy milk", "· armed"]);
    terminal.types("a");
    assert_eq!(text(&host.answer(1)), "done");
    host.request(2, "ping", &json!({}));
    assert_eq!(host.line_bytes(), b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");
    host.hang_up();
    assert!(terminal.wait().success());
    terminal.is_given_back();
    assert!(host.rest().is_empty());
    assert_eq!(server.executed().len(), 1);
}

#[test]
fn identical_calls_are_listed_and_each_is_recorded_by_itself() {
    let (home, server, mut host) = wrapped();
    let mut terminal = console(home.path());
    for id in 1..=3 {
        host.call(id, "add_note", &json!({ "title": "t" }));
    }
    terminal.shows(&["3 waiting", "×3", "and 2 identical", "· armed"]);
    terminal.types("a");
    terminal.shows(&["Approve these 3 calls?", "s-1", "s-2", "s-3", "y approves 3"]);
    assert!(server.executed().is_empty());
    terminal.types("y");
    for id in 1..=3 {
        assert_eq!(text(&host.answer(id)), "done");
    }
    let decisions = log::decisions(home.path(), "add_note");
    let tickets: Vec<&Value> = decisions.iter().map(|decision| &decision["ticket"]).collect();
    assert_eq!(tickets.len(), 3, "{tickets:?}");
    assert!(decisions.iter().all(|decision| decision["by"] == "operator"));
    // Marked ones go the same way.
    host.call(4, "add_note", &json!({ "title": "u" }));
    host.call(5, "add_note", &json!({ "title": "v" }));
    terminal.shows(&["2 waiting", "s-4", "· armed"]);
    terminal.types("  ");
    terminal.shows(&["2 marked"]);
    terminal.types("dnot these");
    terminal.shows(&["Deny 2 calls, because", "not these"]);
    terminal.types("\r");
    terminal.shows(&["Deny these 2 calls, because not these", "y sends a verdict for each"]);
    terminal.types("y");
    assert!(text(&host.answer(4)).contains("not these"));
    assert!(text(&host.answer(5)).contains("not these"));
    assert_eq!(server.executed().len(), 3);
}

#[test]
fn a_server_that_is_killed_says_by_which_signal() {
    let home = tempfile::tempdir().unwrap();
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &["sh", "-c", "read line; sleep 5; kill -KILL $$"]);
    let terminal = console(home.path());
    host.request(1, "ping", &json!({}));
    terminal.shows(&["s: the server ended by itself: signal 9 (SIGKILL)"]);
}
