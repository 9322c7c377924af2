//! How many keys a decision takes, counted in a real pseudo-terminal: what the console promises a newcomer.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use crate::e2e::console::{arms, console, text, wrapping};
use crate::fake::host::Host;
use crate::fake::server::Server;
use crate::fake::terminal::Terminal;
use crate::fake::{log, until};

/// A wrapped server that writes files, and a folder with one file in it.
fn wrapped() -> (TempDir, Server, Host, String) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("notes");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("old.md"), "milk\n").unwrap();
    let tool = |name: &str, description: &str, destructive: bool| {
        json!({ "name": name, "description": description,
            "inputSchema": { "type": "object", "properties": { "path": { "type": "string" }, "content": { "type": "string" }, "append": { "type": "boolean" } } },
            "annotations": { "readOnlyHint": false, "destructiveHint": destructive, "openWorldHint": false } })
    };
    let tools = [
        tool("create_note", "Creates a note.", false),
        tool("write_file", "Overwrites a file with new content.", true),
    ];
    let (server, host) = wrapping(home.path(), &tools);
    (home, server, host, folder.display().to_string())
}

#[test]
fn a_write_takes_one_key_and_a_replacement_two() {
    let (home, server, mut host, folder) = wrapped();
    let mut terminal = console(home.path());
    host.call(1, "create_note", &json!({ "path": format!("{folder}/new.md"), "content": "eggs\n" }));
    terminal.shows(&["s-1", "all shown · armed"]);
    terminal.types("a");
    assert_eq!(text(&host.answer(1)), "done");
    assert_eq!(terminal.keys_but(""), 1);
    terminal.shows(&["Approved: ", "· s-1"]);
    host.call(2, "write_file", &json!({ "path": format!("{folder}/old.md"), "content": "eggs\n" }));
    terminal.shows(&["s-2", "REPLACES", "- milk", "+ eggs", "all shown · armed"]);
    terminal.types("a");
    terminal.shows(&["Approve this dangerous call?"]);
    arms(&terminal);
    terminal.types("y");
    assert_eq!(text(&host.answer(2)), "done");
    assert_eq!(terminal.keys_but(""), 2);
    assert_eq!(server.executed().len(), 2);
}

#[test]
fn a_denial_takes_two_keys_and_its_reason() {
    let (home, server, mut host, folder) = wrapped();
    let mut terminal = console(home.path());
    host.call(1, "create_note", &json!({ "path": format!("{folder}/new.md"), "content": "eggs\n" }));
    terminal.shows(&["s-1", "all shown · armed"]);
    let why = "not in this folder";
    terminal.types("d");
    terminal.shows(&["Deny, because"]);
    terminal.types(&format!("{why}\r"));
    assert!(text(&host.answer(1)).contains(why));
    assert_eq!(terminal.keys_but(why), 2);
    assert!(server.executed().is_empty());
}

#[test]
fn an_append_is_no_replacement() {
    let (home, _server, mut host, folder) = wrapped();
    let mut terminal = console(home.path());
    host.call(1, "write_file", &json!({ "path": format!("{folder}/old.md"), "content": "eggs\n", "append": true }));
    terminal.shows(&["s-1", "◈ WRITES", "append", "all shown · armed"]);
    let screen = terminal.screen();
    assert!(!screen.contains("- milk") && !screen.contains("REPLACES") && !screen.contains("replaces"), "{screen}");
    terminal.types("d\r");
    host.answer(1);
    terminal.shows(&["Denied: "]);
    assert_eq!(log::decisions(home.path(), "write_file")[0]["verdict"], "deny");
}

#[test]
fn this_folder_and_fifteen_minutes_take_three_keys_each() {
    let (home, _server, mut host, folder) = wrapped();
    let mut terminal = console(home.path());
    let note = |name: &str| json!({ "path": format!("{folder}/{name}.md"), "content": "eggs\n" });
    host.call(1, "create_note", &note("a"));
    terminal.shows(&["s-1", "· armed"]);
    terminal.types("r");
    terminal.shows(&["Make a rule from s-1"]);
    terminal.types("m");
    terminal.shows(&["▸ m approve, and create_note", "for 15 min", "Enter approves the call and grants this"]);
    arms(&terminal);
    terminal.types("\r");
    assert_eq!(text(&host.answer(1)), "done");
    assert_eq!(terminal.keys_but(""), 3);
    host.call(2, "create_note", &note("b"));
    assert_eq!(text(&host.answer(2)), "done", "within the fifteen minutes it is not asked");
    // A rule for the folder, on another server's run.
    drop(host);
    let (home, _server, mut host, folder) = wrapped();
    let mut terminal = console(home.path());
    let note = |name: &str| json!({ "path": format!("{folder}/{name}.md"), "content": "eggs\n" });
    host.call(1, "create_note", &note("a"));
    terminal.shows(&["s-1", "· armed"]);
    terminal.types("r");
    terminal.shows(&["Make a rule from s-1"]);
    terminal.types("f");
    terminal.shows(&["id = \"allow-create-note-in-notes\"", "Enter adds this text"]);
    arms(&terminal);
    terminal.types("\r");
    assert_eq!(text(&host.answer(1)), "done", "it holds for the call that waits");
    assert_eq!(terminal.keys_but(""), 3);
    host.call(2, "create_note", &note("b"));
    assert_eq!(text(&host.answer(2)), "done");
}

#[test]
fn a_card_on_screen_follows_its_file() {
    let (home, server, mut host, folder) = wrapped();
    let mut terminal = console(home.path());
    let path = format!("{folder}/old.md");
    host.call(1, "write_file", &json!({ "path": path, "content": "eggs\n" }));
    terminal.shows(&["- milk", "· armed"]);
    fs::write(&path, "bread and butter\n").unwrap();
    terminal.shows(&["asked again", "another", "- bread and butter", "· armed"]);
    assert!(server.executed().is_empty());
    // A file that is emptied and written may be looked at between: the card then changes once more, and takes no key.
    while !terminal.screen().contains("Deny, because") {
        terminal.shows(&["· armed"]);
        terminal.types("d");
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    terminal.types("\r");
    host.answer(1);
}

/// Ten servers, six calls each: ten of them are alike.
fn sixty(home: &Path) -> (Vec<Server>, Vec<Host>) {
    let tool = |name: &str, description: &str| {
        json!({ "name": name, "description": description,
            "inputSchema": { "type": "object", "properties": { "title": { "type": "string" }, "text": { "type": "string" } } },
            "annotations": { "readOnlyHint": false, "destructiveHint": false, "openWorldHint": false } })
    };
    let danger = json!({ "name": "delete_folder", "description": "Deletes a folder and everything in it.",
        "inputSchema": { "type": "object", "properties": { "path": { "type": "string" } } },
        "annotations": { "readOnlyHint": false, "destructiveHint": true } });
    let tools = [tool("add_note", "Adds a note."), tool("create_card", "Creates a card."), danger];
    let (mut servers, mut hosts) = (Vec::new(), Vec::new());
    for n in 0..10 {
        let server = Server::with(&tools);
        let mut host = Host::wrapping(home, &["--name", &format!("s{n}")], &server.command());
        host.handshake("2025-06-18");
        // The first has ten alike, the last has two calls.
        let (alike, others) = if n == 0 { (10, 0) } else { (0, if n == 9 { 2 } else { 6 }) };
        for id in 1..=alike {
            host.call(id, "add_note", &json!({ "title": format!("note {id}"), "text": "buy milk\nand eggs\n" }));
        }
        for id in 1..=others {
            match id % 3 {
                0 => host.call(id, "delete_folder", &json!({ "path": format!("old/{n}/{id}") })),
                1 => host.call(
                    id,
                    "create_card",
                    &json!({ "title": format!("card {n}.{id}"), "text": "a line\n".repeat(4) }),
                ),
                _ => host.call(id, "add_note", &json!({ "title": format!("note {n}.{id}") })),
            }
        }
        servers.push(server);
        hosts.push(host);
    }
    (servers, hosts)
}

const PAGE_DOWN: &str = "\x1b[6~";

/// Reads a list of calls page by page, as fast as each page counts as read, and approves what was read; how many keys.
fn read_and_approve(terminal: &mut Terminal, mark: &str, calls: usize) -> usize {
    for key in mark.chars().map(String::from).chain(["a".to_owned()]) {
        terminal.types(&key);
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut keys = mark.chars().count() + 1;
    loop {
        arms(terminal);
        std::thread::sleep(Duration::from_millis(400));
        let before = terminal.screen();
        if before.contains("end of the list") {
            break;
        }
        terminal.types(PAGE_DOWN);
        keys += 1;
        terminal.awaits("the next page", |screen| screen != before);
    }
    terminal.shows(&[&format!("y approves {calls} that were read")]);
    terminal.types("y");
    terminal.shows(&[&format!("{calls} calls approved.")]);
    keys + 1
}

#[test]
fn ten_alike_take_twelve_keys_and_a_backlog_of_sixty_takes_sixty_and_all_are_read() {
    let home = tempfile::tempdir().unwrap();
    let (servers, _hosts) = sixty(home.path());
    let mut terminal = console(home.path());
    terminal.shows(&["60 waiting", "· armed"]);
    let alike = read_and_approve(&mut terminal, "gg*", 10);
    let ran = || servers.iter().map(|server| server.executed().len()).sum::<usize>();
    until("the ten have run", || (ran() == 10).then_some(()));
    assert!(alike <= 12, "{alike} keys");
    terminal.shows(&["50 waiting"]);
    arms(&terminal);
    let rest = read_and_approve(&mut terminal, "***", 50);
    until("all have run", || (ran() == 60).then_some(()));
    assert!(alike + rest <= 60, "{alike} and {rest} keys");
    println!("{alike} keys for ten alike, {rest} for the other fifty");
    terminal.shows(&["none waiting"]);
    let decisions = log::of_kind(home.path(), "decision");
    assert_eq!(decisions.len(), 60);
    for decision in &decisions {
        assert!(decision["verdict"] == "approve" && decision["by"] == "operator", "{decision}");
        assert!(!decision.to_string().contains("unread"), "{decision}");
    }
}

#[test]
fn a_reason_typed_fast_decides_nothing_but_its_call() {
    let home = tempfile::tempdir().unwrap();
    let (servers, _hosts) = sixty(home.path());
    let mut terminal = console(home.path());
    terminal.shows(&["60 waiting", "· armed"]);
    let why = "ay, Do not pay: A rule +applies* yes";
    for reason in [why, "", why] {
        for c in format!("d{reason}\r").chars() {
            terminal.types(&c.to_string());
            std::thread::sleep(Duration::from_millis(25));
        }
    }
    std::thread::sleep(Duration::from_millis(1_000));
    let decisions = log::of_kind(home.path(), "decision");
    assert!((1..=3).contains(&decisions.len()), "{decisions:?}");
    for decision in &decisions {
        assert_eq!(decision["verdict"], "deny", "{decision}");
        assert!(decision.to_string().contains(why) || decision.to_string().contains("no reason given"), "{decision}");
    }
    assert!(servers.iter().all(|server| server.executed().is_empty()));
}
