//! The card in a real pseudo-terminal: parts that fold, a word that is typed, a console that is killed over it, and how
//! it calls for attention.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::e2e::console::arms;
use crate::fake::host::Host;
use crate::fake::server::{Server, reader};
use crate::fake::terminal::Terminal;
use crate::fake::{log, until};

const END: &str = "\x1b[F";

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

/// A wrapped server with a tool that adds and one that deletes, and `[console]` in config.toml.
fn wrapped(console: &str) -> (TempDir, Server, Host) {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config");
    fs::create_dir(&config).unwrap();
    fs::write(config.join("config.toml"), format!("[console]\n{console}\n")).unwrap();
    let tool = |name: &str, description: &str, destructive: bool| {
        json!({ "name": name, "description": description, "inputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": false, "destructiveHint": destructive, "openWorldHint": false } })
    };
    let tools =
        [reader("read"), tool("add_note", "Adds a note.", false), tool("delete_folder", "Deletes a folder.", true)];
    let server = Server::with(&tools);
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    host.handshake("2025-06-18");
    (home, server, host)
}

fn console(home: &Path) -> Terminal {
    Terminal::console(home, (80, 24), &[("TERM_PROGRAM", ""), ("DISPLAY", ""), ("WAYLAND_DISPLAY", "")])
}

#[test]
fn what_is_folded_is_unfolded_before_it_is_approved() {
    let (home, server, mut host) = wrapped("");
    let mut terminal = console(home.path());
    let lines: Vec<String> = (0..60).map(|n| format!("line {n}")).collect();
    host.call(1, "add_note", &json!({ "title": "list", "lines": lines }));
    terminal.shows(&["▸ 60 items", "1 part folded, not read: Z"]);
    terminal.types("a");
    terminal.shows(&["Not read yet: a part is folded. Z unfolds it"]);
    arms(&terminal);
    // By the cursor, closed again, then all of them.
    terminal.types("\tz");
    terminal.shows(&["▾ 60 items", "\"line 0\"", "read on to approve"]);
    terminal.types("z");
    terminal.shows(&["▸ 60 items"]);
    terminal.types("Z");
    terminal.shows(&["1 part unfolded", "▾ 60 items"]);
    assert!(server.executed().is_empty());
    terminal.types(END);
    terminal.shows(&["\"line 59\"", "skipped · armed"]);
    terminal.types("a");
    assert_eq!(text(&host.answer(1)), "done");
}

#[test]
fn a_dangerous_call_takes_its_word_where_config_asks_for_one() {
    let (home, server, mut host) = wrapped("confirm = \"word\"");
    let mut terminal = console(home.path());
    host.call(1, "delete_folder", &json!({ "path": "src/old" }));
    terminal.shows(&["◆ DELETES", "· armed"]);
    terminal.types("a");
    terminal.shows(&["Approve this dangerous call?", "Type old to approve it"]);
    arms(&terminal);
    // y is a letter here, Enter is nothing, and what is pasted is not typed.
    terminal.types("y\r");
    terminal.types("\x7f\x1b[200~old\x1b[201~");
    terminal.shows(&["A paste decides nothing"]);
    assert!(server.executed().is_empty());
    arms(&terminal);
    terminal.types("old");
    assert_eq!(text(&host.answer(1)), "done");
    let decision = &log::decisions(home.path(), "delete_folder")[0];
    assert_eq!((&decision["verdict"], &decision["by"]), (&json!("approve"), &json!("operator")));
}

#[test]
fn a_console_killed_over_its_question_decides_nothing_and_the_next_one_begins_anew() {
    let (home, server, mut host) = wrapped("");
    let mut terminal = console(home.path());
    host.call(1, "delete_folder", &json!({ "path": "src" }));
    terminal.shows(&["◆ DELETES", "· armed"]);
    terminal.types("a");
    terminal.shows(&["Approve this dangerous call?"]);
    terminal.kill();
    log::awaits(home.path(), "the console is gone", |record| record["kind"] == "detach");
    assert!(server.executed().is_empty());
    let mut next = console(home.path());
    next.shows(&["1 waiting", "· armed"]);
    // The question does not outlive the console.
    next.types("y");
    next.shows(&["Keys are ignored until you pause"]);
    arms(&next);
    next.types("a");
    next.shows(&["Approve this dangerous call?"]);
    arms(&next);
    next.types("y");
    assert_eq!(text(&host.answer(1)), "done");
    assert_eq!(server.executed().len(), 1);
    assert_eq!(log::decisions(home.path(), "delete_folder").len(), 1);
}

#[test]
fn a_notice_calls_who_looks_elsewhere_and_only_then() {
    let (home, _server, mut host) = wrapped("notice = \"osc9\"");
    let mut terminal = console(home.path());
    terminal.shows(&["· s"]);
    let notices = |terminal: &Terminal| terminal.wrote("\x1b]9;mcp-approve: s: creates a note — t\x1b\\");
    let mut ask = |terminal: &mut Terminal, id: i64| {
        host.call(id, "add_note", &json!({ "title": "t" }));
        terminal.shows(&[&format!("s-{id}"), "· armed"]);
        terminal.types("d\r");
        host.answer(id);
        terminal.shows(&["none waiting"]);
    };
    // Of a terminal that has told nothing nobody knows; one that has the focus has the operator's eye.
    ask(&mut terminal, 1);
    until("the first notice", || (notices(&terminal) == 1).then_some(()));
    // The key behind it tells when it was heard.
    let focus = |terminal: &mut Terminal, event: &str| {
        terminal.types(&format!("{event}?"));
        terminal.shows(&["Keys"]);
        terminal.types("?");
        terminal.shows(&["none waiting", "No call waits"]);
    };
    focus(&mut terminal, "\x1b[I");
    ask(&mut terminal, 2);
    assert_eq!(notices(&terminal), 1);
    focus(&mut terminal, "\x1b[O");
    ask(&mut terminal, 3);
    until("the second notice", || (notices(&terminal) == 2).then_some(()));
    terminal.types(":quiet\r");
    terminal.shows(&["Quiet: no bell and no notice"]);
    ask(&mut terminal, 4);
    terminal.types("q");
    assert!(terminal.wait().success());
    // Its last bytes may be read a moment after it has ended.
    until("focus is no longer told of", || (terminal.wrote("\x1b[?1004l") == 1).then_some(()));
    assert_eq!(notices(&terminal), 2);
}
