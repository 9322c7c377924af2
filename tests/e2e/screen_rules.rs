//! Rules and grants made on the console's screen, in a real pseudo-terminal, and taken back there.

use crate::fake::{BINARY, log};
use serde_json::json;
use std::fs;
use std::process::Command;

use super::console::*;

#[test]
fn a_rule_made_on_screen_with_two_keys_stands_in_the_policy_file_and_holds_for_the_call() {
    let (home, server, mut host) = wrapped();
    let mut terminal = console(home.path());
    host.call(1, "add_note", &json!({ "title": "buy milk" }));
    terminal.shows(&["s-1", "· armed"]);
    terminal.types("r");
    terminal.shows(&["allow this exact call", "[[rule]]", "no past call of this tool", "Enter adds this text"]);
    assert!(server.executed().is_empty());
    arms(&terminal);
    terminal.types("\r");
    terminal.shows(&["The rule was added to"]);
    assert_eq!(text(&host.answer(1)), "done");
    let policy = fs::read_to_string(home.path().join("config/policy.toml")).unwrap();
    assert!(policy.contains("tool = \"add_note\"") && policy.contains("buy milk"), "{policy}");
    let checked = Command::new(BINARY).arg("--home").arg(home.path()).args(["rules", "check"]).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn a_grant_lets_the_next_calls_pass_until_it_is_ended_on_screen() {
    let (home, server, mut host) = wrapped();
    let mut terminal = console(home.path());
    host.call(1, "add_note", &json!({ "title": "one" }));
    terminal.shows(&["s-1", "· armed"]);
    terminal.types("rk");
    terminal.shows(&["▸ s approve, and every add_note, for this session", "Then runs unasked", "Enter, twice"]);
    arms(&terminal);
    terminal.types("\r");
    terminal.shows(&["let those run unasked?"]);
    assert!(server.executed().is_empty());
    arms(&terminal);
    terminal.types("\r");
    assert_eq!(text(&host.answer(1)), "done");
    host.call(2, "add_note", &json!({ "title": "two" }));
    assert_eq!(text(&host.answer(2)), "done");
    terminal.types("5");
    terminal.shows(&["grant:1", "this session", "s/add_note"]);
    terminal.types("x");
    terminal.shows(&["There are no rules yet"]);
    terminal.types("1");
    host.call(3, "add_note", &json!({ "title": "three" }));
    terminal.shows(&["s-3", "· armed"]);
    assert_eq!(server.executed().len(), 2);
    let decisions = log::decisions(home.path(), "add_note");
    assert_eq!(decisions.iter().filter(|one| one["rule"] == "grant:1").count(), 1, "{decisions:?}");
}

#[test]
fn what_the_console_wrote_it_takes_back() {
    let (home, _server, mut host) = wrapped();
    let file = home.path().join("config/policy.toml");
    fs::create_dir_all(home.path().join("config")).unwrap();
    fs::write(&file, "version = 1\n").unwrap();
    let mut terminal = console(home.path());
    host.call(1, "add_note", &json!({ "title": "buy milk" }));
    terminal.shows(&["s-1", "· armed"]);
    terminal.types("r");
    terminal.shows(&["▸ c allow this exact call", "Enter adds this text"]);
    arms(&terminal);
    terminal.types("\r");
    terminal.shows(&["The rule was added to"]);
    assert!(fs::read_to_string(&file).unwrap().contains("buy milk"));
    // For ten seconds after it was written, on the screen where it was.
    terminal.types("u");
    terminal.shows(&["Taken back: added rule allow-add-note-this-call"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "version = 1\n");
    // A change by other means waits, with its diff; Enter twice accepts it.
    terminal.types("5");
    let text = "version = 1\n[[rule]]\nid = \"notes\"\ndecision = \"allow\"\ntool = \"add_note\"\n";
    fs::write(&file, text).unwrap();
    terminal.shows(&["1 change to accept", "user policy changed"]);
    terminal.types("\r");
    terminal.shows(&["What it newly allows:", "past call", "+decision = \"allow\"", "Enter, twice, accepts"]);
    arms(&terminal);
    terminal.types("\r");
    terminal.shows(&["Accept exactly this change?"]);
    arms(&terminal);
    terminal.types("\r");
    terminal.shows(&["Acceptance sent", "allow  notes"]);
    assert_eq!(self::text(&host.answer(1)), "done", "it passes by the rule now");
}
