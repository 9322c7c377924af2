//! A rule made from a call of the log: `r` on its record, at three sizes as text, and its keys.

use insta::assert_snapshot;
use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::behavior::hazards::HazardKind;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::operator::found::{Edge, Finding, Line, LogRequest, LogRows, Page, Progress};
use mcp_approve::operator::tried::Trial;
use mcp_approve::policy::past::{Ended, PastCall};
use mcp_approve::policy::rule::Decision;
use serde_json::json;

use crate::desk::*;
use crate::screens::lists::scenes::{awaited, line};

fn call() -> PastCall {
    let behavior = Behavior { identity: write("filesystem-1").identity, ..Behavior::unknown() };
    PastCall {
        method: None,
        seq: 52,
        time: NINE,
        ticket: "filesystem-13".into(),
        server: "filesystem".into(),
        tool: "write_file".into(),
        arguments: json!({ "path": "/home/ada/notes/a.md", "content": "x" }),
        behavior,
        analysed: true,
        ruling: Decision::Ask,
        rule: None,
        ended: Ended::Refused,
        by: "operator".into(),
    }
}

/// The Log with two records of a call and one of none, the newest selected.
fn log(desk: &mut Desk) {
    desk.model.log.chosen_rows = LogRows::Records;
    let id = awaited(&desk.keys("3"));
    let none = Line { tool: None, ticket: None, ..line(51, "policy") };
    let lines = vec![line(53, "outcome"), line(52, "decision"), none];
    let (from, progress) = (Edge::Newest, Progress::AtTheEnd);
    desk.send(Msg::Found(Finding::Page(Page { id, from, lines, searched: 1, newest: 53, progress })));
}

fn open(desk: &mut Desk, call: PastCall) {
    log(desk);
    desk.keys("r");
    desk.send(Msg::Found(Finding::PastCall(53, Ok(Box::new(call)))));
}

#[test]
fn a_rule_from_a_past_call_is_read_and_asked_about_before_it_is_written() {
    for (width, height) in [(80, 24), (120, 40), (40, 12)] {
        let mut desk = Desk::connected(width, height);
        open(&mut desk, call());
        assert_snapshot!(format!("past_rule_{width}x{height}"), desk.screen());
    }
    let mut desk = Desk::connected(80, 24);
    log(&mut desk);
    assert_eq!(desk.keys("r"), [Command::Look(LogRequest::PastCall { seq: 53 })]);
    let commands = desk.send(Msg::Found(Finding::PastCall(53, Ok(Box::new(call())))));
    assert!(matches!(&commands[..], [Command::Look(LogRequest::Try(Trial::Rules { .. })), ..]), "{commands:?}");
    desk.line("▸ c allow this exact call");
    desk.keys("f");
    desk.line("▸ f allow this tool with path under");
    desk.now += 400;
    desk.line("▲ this call was denied then");
    assert_eq!(desk.tap(Key::Enter)[0], Command::Drain);
    desk.line("Add exactly this text to your policy file?");
    assert_eq!(desk.press(Key::Enter), [], "the question has just come up");
    desk.now += 400;
    let [Command::WriteRule { toml, except: None }] = &desk.press(Key::Enter)[..1] else {
        panic!("no rule is written")
    };
    assert!(toml.contains("under = ") && toml.contains("made in the console from filesystem-13"), "{toml}");
    // To look at another offer takes the question back.
    let mut desk = Desk::connected(80, 24);
    open(&mut desk, call());
    desk.now += 400;
    desk.press(Key::Enter);
    desk.keys("t");
    desk.line("Enter, twice, adds this text");
}

#[test]
fn what_cannot_become_a_rule_says_why() {
    let mut desk = Desk::connected(80, 24);
    log(&mut desk);
    desk.keys("jj");
    assert_eq!(desk.keys("r"), []);
    desk.line("A rule is made from a call, and this record is not about one.");
    let mut desk = Desk::connected(80, 24);
    let mut hidden = call();
    hidden.behavior.hazards = vec![hazard(HazardKind::HiddenCharacters, "one")];
    open(&mut desk, hidden);
    desk.look();
    desk.line("No rule can be made from this call: no rule can allow a call with the hazard");
    let mut desk = Desk::connected(80, 24);
    log(&mut desk);
    desk.keys("r");
    desk.send(Msg::Found(Finding::PastCall(53, Err("no policy ruled on it".into()))));
    desk.line("No rule can be made from this call: no policy ruled on it");
}

#[test]
fn who_has_gone_on_is_not_called_back() {
    let mut desk = Desk::connected(80, 24);
    log(&mut desk);
    desk.keys("r4");
    desk.send(Msg::Found(Finding::PastCall(53, Ok(Box::new(call())))));
    assert!(desk.model.overlay.is_none());
    desk.keys("3r");
    desk.send(Msg::Found(Finding::PastCall(7, Ok(Box::new(call())))));
    assert!(desk.model.overlay.is_none(), "another record's call");
}

#[test]
fn beside_the_list_stands_the_record_and_who_runs_through_it_leaves_no_queue() {
    let record = |commands: &[Command]| {
        commands.iter().find_map(|command| match command {
            Command::Look(LogRequest::Record { seq }) => Some(*seq),
            _ => None,
        })
    };
    let mut narrow = Desk::connected(119, 40);
    log(&mut narrow);
    assert_eq!(record(&narrow.press(Key::Down)), None, "where there is no room, nothing is read that nobody opened");
    let mut desk = Desk::connected(120, 40);
    log(&mut desk);
    desk.line("│ Enter scrolls this");
    // The first is still being read: the next waits for it.
    assert_eq!(record(&desk.press(Key::Down)), None);
    assert_eq!(record(&desk.send(Msg::Found(Finding::Record(53, None)))), None);
    desk.now += 1_000;
    assert_eq!(record(&desk.send(Msg::Tick)), Some(52));
}
