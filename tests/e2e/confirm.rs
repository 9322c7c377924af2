//! A tool that is likely to read, in a real pseudo-terminal: asked once, confirmed by one key, remembered; and the tools of a
//! new server confirmed together, on the Tools screen and at `tools review`.

use std::path::Path;

use portable_pty::CommandBuilder;
use serde_json::{Value, json};

use super::console::arms;
use crate::fake::host::Host;
use crate::fake::server::{Server, reader};
use crate::fake::terminal::Terminal;
use crate::fake::{BINARY, log, until};

/// It says that it reads, and gives no hint.
fn glance(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description,
        "inputSchema": { "type": "object", "properties": { "id": { "type": "integer" }, "to": { "type": "string" } } } })
}

fn session(home: &Path, server: &Server) -> Host {
    let mut host = Host::wrapping(home, &["--name", "s"], &server.command());
    host.handshake("2025-06-18");
    host
}

fn said(home: &Path) -> Vec<String> {
    let word = |record: &Value| record["detail"]["review"].as_str().map(str::to_owned);
    log::records(home).iter().filter_map(word).collect()
}

#[test]
fn a_likely_read_is_confirmed_by_one_key_and_asked_no_more() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::with(&[glance("glance_at_board", "Looks at the board."), reader("read")]);
    let mut host = session(home.path(), &server);
    host.call(1, "glance_at_board", &json!({ "id": 1 }));
    let mut terminal = Terminal::console(home.path(), (100, 40), &[]);
    terminal.shows(&["◌ PURE?", "not confirmed that", "p it reads", "armed"]);
    arms(&terminal);
    terminal.types("p");
    host.answer(1);
    terminal.shows(&["Approved, and remembered: glance_at_board"]);
    until("the word is in the log", || (said(home.path()).len() == 1).then_some(()));
    assert!(said(home.path())[0].starts_with("pinned as PURE|"), "{:?}", said(home.path()));
    // Kept, and back: no operator answers from here on.
    terminal.types("q");
    until("the second call passes", || {
        host.call(2, "glance_at_board", &json!({ "id": 2 }));
        Some(host.answer(2))
    });
    host.hang_up();
    host.wait();
    let mut host = session(home.path(), &server);
    host.call(3, "glance_at_board", &json!({ "id": 3 }));
    host.answer(3);
    assert_eq!(server.executed().len(), 3, "after a restart, too");
    host.hang_up();
    host.wait();
    let server = server.now_with(&[glance("glance_at_board", "Looks at the board again and again."), reader("read")]);
    let mut host = session(home.path(), &server);
    host.call(4, "glance_at_board", &json!({ "id": 4 }));
    let terminal = Terminal::console(home.path(), (100, 40), &[]);
    terminal.shows(&["1 waiting", "the definition changed since it was trusted"]);
    assert_eq!(server.executed().len(), 3);
}

#[test]
fn what_is_said_at_one_wrapper_counts_at_the_others_of_its_server() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::with(&[glance("glance_at_board", "Looks at the board.")]);
    let (mut one, mut other) = (session(home.path(), &server), session(home.path(), &server));
    one.call(1, "glance_at_board", &json!({ "id": 1 }));
    let mut terminal = Terminal::console(home.path(), (100, 40), &[]);
    terminal.shows(&["1 waiting", "armed"]);
    other.call(2, "glance_at_board", &json!({ "id": 2 }));
    terminal.shows(&["2 waiting"]);
    arms(&terminal);
    terminal.types("p");
    one.answer(1);
    // Its wrapper reads the pins again, and judges what waits by them.
    other.answer(2);
    assert_eq!(said(home.path()).len(), 1);
}

#[test]
fn the_tools_of_a_new_server_are_confirmed_at_one_look() {
    let home = tempfile::tempdir().unwrap();
    let tools = [
        glance("glance_at_board", "Looks at the board."),
        glance("glance_at_lists", "Looks at the lists."),
        glance("glance_at_cards", "Looks at the cards."),
    ];
    let server = Server::with(&tools);
    let mut host = session(home.path(), &server);
    host.call(1, "glance_at_board", &json!({ "id": 1 }));
    host.call(2, "glance_at_cards", &json!({ "id": 2 }));
    let mut terminal = Terminal::console(home.path(), (100, 40), &[]);
    terminal.shows(&["2 waiting"]);
    terminal.types("4");
    terminal.shows(&["3 to confirm", "◌ PURE?    glance_at_board"]);
    terminal.types("  ");
    terminal.shows(&["2 marked"]);
    terminal.types("p");
    terminal.shows(&["Remembered: glance_at_board of s is PURE. And 1 more.", "1 to confirm"]);
    // What waits is judged again by it, and nothing is pressed for it.
    host.answer(1);
    host.answer(2);

    let mut command = CommandBuilder::new(BINARY);
    command.args(["--home".as_ref(), home.path().as_os_str()]);
    command.args(["tools", "review", "s"]);
    let mut review = Terminal::running(command, (120, 40));
    review.shows(&["s: not confirmed yet", "1  glance_at_lists", "PURE?"]);
    review.types("m 2\r");
    review.shows(&["Write a, or numbers"]);
    review.types("m 1\r");
    review.shows(&["glance_at_lists: MUTATES"]);
    assert!(review.wait().success());
    let words = said(home.path());
    assert!(words[2].starts_with("pinned as MUTATES|"), "{words:?}");
}
