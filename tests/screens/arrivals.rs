//! What arrives while a card is on screen: other calls, the end of this one, a refusal, another deadline, another reading.

use mcp_approve::audit::record::VerdictWord;
use mcp_approve::console::keymap::{Key, Place};
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::{FromConsole, FromWrapper};

use crate::desk::*;
use crate::screens::keys::{APPROVE, selected, sent, waiting};

#[test]
fn arrivals_move_neither_selection_nor_reading() {
    let mut desk = waiting(&["filesystem-1", "filesystem-2"]);
    desk.keys("j");
    desk.press(Key::PageDown);
    let scroll = desk.model.card.scroll;
    desk.keys("s");
    for i in 3..40 {
        let mut call = own_delete(&format!("filesystem-{i}"));
        call.arrived = NINE - 100_000;
        desk.hold(call);
        desk.draw();
        assert_eq!((selected(&desk.model), desk.model.card.scroll), ("filesystem-2", scroll));
    }
    assert!(desk.screen().contains("▸"));
}

#[test]
fn the_bell_rings_for_the_first_call_only() {
    let mut desk = Desk::connected(80, 24);
    assert!(desk.hold(write("filesystem-1")).contains(&Command::Bell));
    assert!(!desk.hold(write("filesystem-2")).contains(&Command::Bell));
}

#[test]
fn a_settled_call_stays_until_the_operator_moves() {
    let mut desk = waiting(&["filesystem-1", "filesystem-2"]);
    desk.settle("filesystem-1", VerdictWord::Approve, "ada at pts/3");
    desk.look();
    assert!(desk.screen().contains("settled: approved by an operator · ada at pts/3"));
    assert_eq!(desk.keys("aAd"), []);
    assert_eq!((selected(&desk.model), desk.model.place()), ("filesystem-1", Place::Queue));
    desk.keys("j");
    assert_eq!((selected(&desk.model), desk.model.queue.calls.len()), ("filesystem-2", 1));
}

#[test]
fn the_last_settled_call_can_be_left_too() {
    for key in [Key::Down, Key::Up, Key::Esc] {
        let mut desk = waiting(&["filesystem-1"]);
        desk.settle("filesystem-1", VerdictWord::Deny, "");
        desk.look();
        desk.press(key);
        assert!(desk.screen().contains("No call waits for you."), "{key:?}");
    }
}

#[test]
fn a_question_about_a_settled_call_sends_nothing_and_keeps_the_keys() {
    let mut desk = waiting(&["filesystem-1", "filesystem-2"]);
    desk.keys("dbe");
    desk.settle("filesystem-1", VerdictWord::Approve, "ada");
    desk.look();
    // The rest of the word is no key: j would move, a would approve.
    assert_eq!(desk.keys("cause ja"), []);
    assert!(desk.screen().contains("Too late"));
    assert_eq!(desk.press(Key::Enter), []);
    assert_eq!(selected(&desk.model), "filesystem-1");
    let mut desk = Desk::connected(120, 40);
    desk.hold(delete("filesystem-1"));
    desk.look();
    desk.keys("a");
    desk.settle("filesystem-1", VerdictWord::Deny, "ada");
    desk.look();
    assert_eq!(desk.keys("y"), []);
}

#[test]
fn a_refused_decision_brings_the_call_back() {
    let mut desk = waiting(&["filesystem-1"]);
    desk.keys("a");
    desk.say("files", FromWrapper::Refused { ticket: "filesystem-1".into(), why: "the log cannot be written".into() });
    desk.look();
    assert!(desk.screen().contains("nothing was done: the log cannot be written"));
    assert_eq!(sent(&desk.keys("a")), [("filesystem-1".into(), APPROVE)]);
    let mut desk = waiting(&["filesystem-1", "filesystem-2", "filesystem-3", "filesystem-4", "filesystem-5"]);
    let decided = |desk: &Desk| desk.model.queue.decisions.figures(desk.model.now).map(|figures| figures.all);
    for _ in 0..5 {
        desk.keys("a");
        desk.look();
    }
    assert_eq!(decided(&desk), Some(5));
    desk.say("files", FromWrapper::Refused { ticket: "filesystem-5".into(), why: "it changed; look again".into() });
    assert_eq!((selected(&desk.model), decided(&desk)), ("filesystem-5", None), "no approval, and it is on screen");
}

#[test]
fn an_ended_wrapper_takes_its_calls_along() {
    let mut desk = waiting(&["filesystem-1", "filesystem-2"]);
    desk.link(ClientEvent::Gone { session: "files".into() });
    desk.look();
    assert!(desk.screen().contains("over: its wrapper has ended"));
    assert_eq!(desk.keys("a"), []);
    desk.keys("j");
    assert!(desk.screen().contains("No wrapped server is running."));
}

#[test]
fn a_wrapper_of_another_version_is_named_until_it_ends() {
    let mut desk = Desk::connected(80, 24);
    let other = ClientEvent::Incompatible { name: "memory".into(), protocol: 2, version: "0.9.0".into() };
    desk.link(other.clone());
    desk.link(other);
    assert_eq!(desk.screen().matches("memory: its wrapper is version 0.9.0").count(), 1);
    desk.link(ClientEvent::Gone { session: "memory".into() });
    assert!(!desk.screen().contains("memory"));
}

#[test]
fn what_a_card_would_touch_is_looked_at_again_while_it_is_on_screen() {
    let looks = |commands: &[Command]| {
        commands.iter().any(|one| matches!(one, Command::Send { message: FromConsole::Look { .. }, .. }))
    };
    let tick = |desk: &mut Desk, millis: i64| {
        desk.now += millis;
        let commands = desk.send(Msg::Tick);
        desk.draw();
        looks(&commands)
    };
    let mut desk = Desk::connected(80, 24);
    desk.hold(overwrite("filesystem-1", "a\n", "b\n"));
    desk.look();
    assert!(!tick(&mut desk, 500), "it has just come up");
    assert!(tick(&mut desk, 2000));
    assert!(!tick(&mut desk, 1000));
    desk.keys("2");
    assert!(!tick(&mut desk, 5000), "it is not on screen");
    desk.keys("1");
    desk.look();
    // The file changed: the card says so and is read anew.
    let mut changed = overwrite("filesystem-1", "c\n", "b\n");
    changed.asked_again = Some("what it would touch has another content".into());
    desk.hold(changed);
    assert_eq!(sent(&desk.keys("a")), []);
    desk.look();
    desk.line("asked again ▲ what it would touch has another content since you saw it first");
    assert!(!tick(&mut desk, 5000), "what changes all the time is looked at less often");
    assert!(tick(&mut desk, 30_000));
}

#[test]
fn another_deadline_leaves_a_card_read_and_armed() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(long(write("filesystem-1")));
    desk.look();
    for _ in 0..8 {
        desk.press(Key::PageDown);
    }
    let scroll = desk.model.card.scroll;
    let mut later = long(write("filesystem-1"));
    later.deadline = Some(NINE + 600_000);
    desk.hold(later);
    desk.draw();
    assert_eq!((desk.model.card.scroll, desk.model.note.is_none()), (scroll, true));
    assert_eq!(sent(&desk.keys("a")), [("filesystem-1".into(), APPROVE)]);
}

#[test]
fn one_cause_is_one_banner() {
    let mut desk = Desk::connected(120, 40);
    for name in ["git", "memory", "time", "web"] {
        desk.link(ClientEvent::Connected(wrapper(name, name)));
    }
    let says = |desk: &mut Desk, name: &str, words: &str| {
        let banner = Some(words.to_owned());
        desk.status(name, mcp_approve::link::message::Status { banner, ..status() });
    };
    for name in ["git", "memory", "time", "web"] {
        says(&mut desk, name, "the policy cannot be read: line 3");
    }
    assert_eq!(desk.screen().matches("the policy cannot be read").count(), 1, "{}", desk.screen());
    assert!(desk.line("the policy cannot be read").starts_with(" ▲ git, memory, time and 1 more: the policy"));
    says(&mut desk, "files", "the policy cannot be read: line 3");
    assert!(desk.line("the policy cannot be read").starts_with(" ▲ the policy"), "it is true of every server");
    says(&mut desk, "web", "the log cannot be written");
    assert!(desk.line("the log cannot be written").starts_with(" ▲ web: "));
}
