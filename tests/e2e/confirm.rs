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
    terminal.shows(&["◌ PURE?", "not confirmed that", "p remember", "armed"]);
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

fn review(home: &Path, words: &[&str]) -> Terminal {
    let mut command = CommandBuilder::new(BINARY);
    command.args(["--home".as_ref(), home.as_os_str()]);
    command.args(["tools", "review"]);
    command.args(words);
    Terminal::running(command, (120, 40))
}

#[test]
fn the_tools_of_a_new_server_are_confirmed_at_one_look() {
    let home = tempfile::tempdir().unwrap();
    let tools = [
        glance("glance_at_board", "Looks at the board."),
        glance("glance_at_cards", "Looks at the cards."),
        glance("glance_at_lists", "Looks at the lists."),
    ];
    let server = Server::with(&tools);
    let mut host = session(home.path(), &server);
    host.call(1, "glance_at_board", &json!({ "id": 1 }));
    host.call(2, "glance_at_cards", &json!({ "id": 2 }));
    let mut terminal = Terminal::console(home.path(), (100, 40), &[]);
    terminal.shows(&["2 waiting"]);
    terminal.types("4");
    terminal.shows(&["1 page to answer", "page     s", "◌ PURE?    glance_at_board"]);
    terminal.types("\r");
    terminal.shows(&["The page of s", "[ ] glance_at_board", "[ ] glance_at_cards", "Nothing is marked"]);
    terminal.types("  ");
    terminal.shows(&["[x] glance_at_board", "[x] glance_at_cards", "Enter agrees to the 2 marked lines"]);
    arms(&terminal);
    terminal.types("\r");
    terminal.shows(&["Agreed to 2 lines of s.", "1 to confirm"]);
    // What waits is judged again by it, and nothing is pressed for it.
    host.answer(1);
    host.answer(2);

    let mut review = review(home.path(), &["s"]);
    review.shows(&[" ✓  glance_at_board", "[ ] glance_at_lists"]);
    review.types("\u{1b}");
    review.shows(&["Nothing was agreed to of s."]);
    assert!(review.wait().success());
    let words = said(home.path());
    assert!(words.len() == 2 && words.iter().all(|one| one.starts_with("pinned as PURE|")), "{words:?}");
}

#[test]
fn with_ask_once_a_page_answers_for_the_tools_agreed_to_and_no_others() {
    let home = tempfile::tempdir().unwrap();
    let policy = home.path().join("config/policy.toml");
    std::fs::create_dir_all(policy.parent().unwrap()).unwrap();
    std::fs::write(&policy, "version = 1\n[defaults]\nfirst_use = \"ask-once\"\n").unwrap();
    let plain = |name: &str| {
        json!({ "name": name, "description": "Returns the stored text.", "annotations": { "readOnlyHint": true },
            "inputSchema": { "type": "object", "properties": { "title": { "type": "string" } } } })
    };
    let server = Server::with(&[plain("get_one"), plain("get_other"), plain("get_third")]);
    let start = || {
        let mut host = Host::wrapping(home.path(), &["--name", "s", "--unattended", "deny"], &server.command());
        host.handshake("2025-06-18");
        host
    };
    let mut host = start();
    host.call(1, "get_one", &json!({ "title": "x" }));
    let denied = "mcp-approve is set not to wait";
    assert!(host.answer(1).to_string().contains(denied), "before an answer nothing runs unasked");
    // An agent that runs the command agrees to nothing.
    let (code, _, err) = run(home.path(), &["s", "--agree"]);
    assert!(code == Some(2) && log::of_kind(home.path(), "agreed").is_empty(), "{err}");

    let mut review = review(home.path(), &[]);
    review.shows(&["each asks once until you agree · 3 marked", "[x] get_one", "[x] get_other", "[x] get_third"]);
    review.types("j ");
    review.shows(&["[ ] get_other", "Enter agrees to the 2 marked lines"]);
    arms(&review);
    review.types("\r");
    review.shows(&["Agreed to 2 lines of s."]);
    assert!(review.wait().success());
    let tools: Vec<Value> = log::of_kind(home.path(), "agreed").iter().map(|one| one["tool"].clone()).collect();
    assert_eq!(tools, ["get_one", "get_third"]);
    until("the running wrapper knows it", || {
        host.call(2, "get_one", &json!({ "title": "x" }));
        (!host.answer(2).to_string().contains(denied)).then_some(())
    });
    host.call(3, "get_third", &json!({ "title": "x" }));
    assert!(!host.answer(3).to_string().contains(denied));
    host.call(4, "get_other", &json!({ "title": "x" }));
    assert!(host.answer(4).to_string().contains(denied), "it was not agreed to");
    log::verifies(home.path());
}

#[test]
fn what_was_observed_is_offered_and_nothing_of_it_is_marked() {
    let home = tempfile::tempdir().unwrap();
    let of = json!({ "title": { "type": "string" }, "mood": { "type": "string" }, "api_key": { "type": "string" } });
    let get = json!({ "name": "get_text", "description": "Returns the stored text.",
        "inputSchema": { "type": "object", "properties": of } });
    let delete = json!({ "name": "delete_text", "description": "Deletes the stored text.",
        "inputSchema": { "type": "object", "properties": of } });
    let server = Server::with(&[get, delete]);
    let mut host = Host::wrapping(home.path(), &["--name", "s", "--observe"], &server.command());
    host.handshake("2025-06-18");
    for (id, tool, arguments) in [
        (1, "get_text", json!({ "title": "x", "mood": "grim" })),
        (2, "get_text", json!({ "mood": "grim", "api_key": "hunter22hunter22" })),
        (3, "delete_text", json!({ "mood": "gay" })),
    ] {
        host.call(id, tool, &arguments);
        host.answer(id);
    }
    host.hang_up();
    host.wait();
    let (code, out, err) = run(home.path(), &["--from-log", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    let rows: Vec<Value> = serde_json::from_str(&out).unwrap();
    let seen: Vec<&Value> = rows.iter().filter(|row| row["why"].as_str().unwrap().contains("seen in")).collect();
    assert!(seen.len() == 1 && seen[0]["why"] == "mood = grim · seen in 2 calls", "{seen:?}");
    assert!(seen[0]["marked"] == false && seen[0]["tool"] == "get_text" && !out.contains("hunter22"));
    let (_, out, _) = run(home.path(), &["--from-log"]);
    assert!(out.contains("[ ] get_text") && out.contains("To answer, run this at a terminal"), "{out}");

    let mut review = review(home.path(), &["--from-log"]);
    review.shows(&["[ ] get_text", "mood = grim · seen in 2 calls"]);
    review.types("j ");
    review.shows(&["Enter agrees to the 2 marked lines"]);
    arms(&review);
    review.types("\r");
    review.shows(&["Agreed to 2 lines of s."]);
    assert!(review.wait().success());
    let says: Vec<Value> =
        log::of_kind(home.path(), "agreed").iter().map(|one| one["detail"]["says"].clone()).collect();
    assert!(says.contains(&json!("mood = grim")) && says.contains(&json!("runs unasked")), "{says:?}");
}

fn run(home: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let out = std::process::Command::new(BINARY)
        .args(["--home".as_ref(), home.as_os_str()])
        .args(["tools", "review"])
        .args(words)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (out.status.code(), text(out.stdout), text(out.stderr))
}
