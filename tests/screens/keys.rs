//! The console key by key: transcripts of what was pressed and what was sent.

use mcp_approve::console::keymap::{Key, Place};
use mcp_approve::console::model::{CallState, Model, Screen};
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::link::message::OperatorVerdict;

use crate::desk::*;

pub const APPROVE: OperatorVerdict = OperatorVerdict::Approve { unread: false };

pub const UNREAD: OperatorVerdict = OperatorVerdict::Approve { unread: true };

pub fn deny(reason: &str) -> OperatorVerdict {
    OperatorVerdict::Deny { reason: reason.into() }
}

/// Ticket and verdict of what was sent.
pub fn sent(commands: &[Command]) -> Vec<(String, OperatorVerdict)> {
    verdicts(commands).into_iter().map(|(_, ticket, _, verdict)| (ticket, verdict)).collect()
}

pub fn selected(model: &Model) -> &str {
    model.queue.selected.as_ref().map_or("", |key| &key.ticket)
}

/// A desk with harmless writes waiting, the first on screen and armed.
pub fn waiting(tickets: &[&str]) -> Desk {
    let mut desk = Desk::connected(80, 24);
    for ticket in tickets {
        desk.hold(own(ticket));
    }
    desk.look();
    desk
}

#[test]
fn one_key_approves_what_was_shown_whole() {
    let mut desk = waiting(&["filesystem-1", "filesystem-2"]);
    let commands = desk.keys("a");
    let expected = ("files".into(), "filesystem-1".into(), own("filesystem-1").digest, APPROVE);
    assert_eq!(verdicts(&commands), [expected]);
    assert!(commands.contains(&Command::Drain));
    assert_eq!(selected(&desk.model), "filesystem-2");
}

#[test]
fn the_next_call_is_not_armed_at_once() {
    let mut desk = waiting(&["filesystem-1", "filesystem-2"]);
    assert_eq!(sent(&desk.types("aaa", 0)), [("filesystem-1".into(), APPROVE)]);
    assert!(desk.screen().contains("no key decides this card yet"));
    desk.look();
    assert_eq!(sent(&desk.keys("a")), [("filesystem-2".into(), APPROVE)]);
}

#[test]
fn a_denial_asks_for_a_reason() {
    let mut desk = waiting(&["filesystem-1"]);
    assert_eq!(desk.keys("dwrong folder"), []);
    assert_eq!(sent(&desk.press(Key::Enter)), [("filesystem-1".into(), deny("wrong folder"))]);
}

#[test]
fn a_reason_may_be_empty_mended_or_dropped() {
    let mut desk = waiting(&["filesystem-1"]);
    desk.keys("dab");
    desk.press(Key::Backspace);
    desk.press(Key::Esc);
    assert_eq!(desk.model.place(), Place::Queue);
    desk.keys("dx");
    desk.press(Key::Ctrl('u'));
    assert_eq!(sent(&desk.press(Key::Enter)), [("filesystem-1".into(), deny("no reason given"))]);
}

#[test]
fn letters_of_a_reason_are_not_keys() {
    let mut desk = waiting(&["filesystem-1", "filesystem-2"]);
    assert_eq!(desk.keys("djqaAy?1"), []);
    assert_eq!(selected(&desk.model), "filesystem-1");
}

#[test]
fn enter_never_approves() {
    for call in [write("filesystem-1"), delete("filesystem-1")] {
        let mut desk = Desk::connected(80, 24);
        desk.hold(call);
        desk.look();
        for _ in 0..6 {
            assert_eq!(desk.press(Key::Enter), []);
            desk.look();
        }
        desk.keys("A");
        desk.look();
        assert_eq!(sent(&desk.press(Key::Enter)), [].as_slice().to_vec());
    }
}

#[test]
fn a_paste_decides_nothing() {
    for paste in ["a", "A", "ay", "d\r", "\r", "y"] {
        let mut desk = waiting(&["filesystem-1"]);
        assert_eq!(desk.send(Msg::Paste(paste.into())), [], "{paste:?}");
        assert_eq!(
            desk.model.queue.call(&desk.model.queue.selected.clone().unwrap()).unwrap().state,
            CallState::Waiting
        );
    }
    let mut desk = waiting(&["filesystem-1"]);
    desk.keys("d");
    assert_eq!(desk.send(Msg::Paste("not\r\nhere\u{1b}".into())), []);
    assert_eq!(sent(&desk.press(Key::Enter)), [("filesystem-1".into(), deny("not  here"))]);
}

#[test]
fn a_dangerous_call_takes_the_end_of_its_arguments_then_a_then_y() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(long(delete("filesystem-1")));
    desk.look();
    assert_eq!(desk.keys("ya"), []);
    assert!(desk.screen().contains("Not read yet"), "{}", desk.screen());
    assert_eq!((desk.model.screen, desk.model.place()), (Screen::Queue, Place::Queue), "the queue stays");
    for _ in 0..8 {
        desk.press(Key::PageDown);
    }
    assert_eq!(desk.keys("a"), []);
    assert_eq!(desk.model.place(), Place::Confirm);
    assert_eq!(sent(&desk.keys("y")), [("filesystem-1".into(), APPROVE)]);
}

#[test]
fn what_end_skipped_is_said_before_and_on_record() {
    for (dangerous, keys) in [(false, "a"), (true, "ay")] {
        let mut desk = Desk::connected(80, 24);
        desk.hold(long(if dangerous { delete("filesystem-1") } else { write("filesystem-1") }));
        desk.look();
        desk.press(Key::End);
        let screen = desk.screen();
        assert!(screen.contains("rows skipped · armed"), "{screen}");
        assert_eq!(sent(&desk.keys(keys)), [("filesystem-1".into(), UNREAD)]);
    }
}

#[test]
fn the_details_gate_nothing() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(delete("filesystem-1"));
    desk.look();
    for hidden in ["DeleteFolderSuccess", "evidence · 2", "guardrail", "Deletes a folder and"] {
        assert!(!desk.screen().contains(hidden), "{}", desk.screen());
    }
    desk.line("all shown · armed");
    desk.keys("i");
    let screen = desk.screen();
    assert!(screen.contains("DeleteFolderSuccess"), "{screen}");
    assert_eq!(sent(&desk.keys("ay")), [("filesystem-1".into(), APPROVE)], "they need no reading");
    // They stay unfolded for the next card.
    desk.hold(own("filesystem-2"));
    desk.look();
    assert!(desk.model.card.laid.as_ref().unwrap().rows > 20);
    desk.keys("i");
    assert!(desk.model.card.laid.as_ref().unwrap().rows < 20);
}

#[test]
fn a_dangerous_call_shown_whole_beside_the_queue_needs_no_scrolling() {
    let mut desk = Desk::connected(120, 40);
    desk.hold(delete("filesystem-1"));
    desk.look();
    assert_eq!(sent(&desk.keys("ay")), [("filesystem-1".into(), APPROVE)]);
}

#[test]
fn approving_unread_is_its_own_key_and_still_asks_when_dangerous() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(long(own("filesystem-1")));
    desk.look();
    assert_eq!(sent(&desk.keys("A")), [("filesystem-1".into(), UNREAD)]);
    let mut desk = Desk::connected(80, 24);
    desk.hold(long(delete("filesystem-2")));
    desk.look();
    assert_eq!(desk.keys("A"), []);
    assert!(desk.screen().contains("UNREAD"));
    assert_eq!(sent(&desk.keys("y")), [("filesystem-2".into(), UNREAD)]);
}

/// `A` on a card that was shown whole is `a`: the record does not say that it was not read.
#[test]
fn what_was_all_shown_is_not_called_unread() {
    let mut desk = Desk::connected(200, 50);
    desk.hold(delete("filesystem-1"));
    desk.look();
    assert!(!desk.screen().contains("unread"), "{}", desk.screen());
    assert_eq!(desk.keys("A"), []);
    assert!(!desk.screen().contains("UNREAD"), "{}", desk.screen());
    assert_eq!(sent(&desk.keys("y")), [("filesystem-1".into(), APPROVE)]);
    desk.hold(own("filesystem-2"));
    desk.hold(own("filesystem-3"));
    desk.look();
    desk.keys("  A");
    assert!(!desk.screen().contains("UNREAD"), "{}", desk.screen());
}

#[test]
fn a_confirmation_must_have_been_on_screen() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(delete("filesystem-1"));
    desk.look();
    // Both keys in one read of the terminal: no frame between them.
    desk.send(Msg::Key(Key::Char('A')));
    assert_eq!(desk.send(Msg::Key(Key::Char('y'))), []);
    desk.press(Key::Esc);
    assert_eq!(desk.keys("y"), []);
}

#[test]
fn the_key_line_says_arming_while_it_is() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(own("filesystem-1"));
    assert!(desk.line("a approve").starts_with(" arming  a approve"), "{}", desk.screen());
    desk.look();
    assert!(desk.line("a approve").starts_with(" a approve"), "{}", desk.screen());
}

#[test]
fn a_clipped_call_is_read_before_it_is_approved() {
    let arguments = serde_json::json!({ "content": "line\n".repeat(80) }).to_string();
    let mut desk = Desk::connected(80, 24);
    desk.hold(with_arguments(write("filesystem-1"), &arguments));
    desk.look();
    assert_eq!(desk.keys("a"), []);
    assert_eq!(desk.model.screen, Screen::Queue);
    desk.look();
    assert_eq!(desk.keys("a"), []);
    for _ in 0..8 {
        desk.press(Key::PageDown);
    }
    assert_eq!(sent(&desk.keys("a")), [("filesystem-1".into(), APPROVE)]);
}

#[test]
fn a_resize_disarms_nothing_but_shows_all_anew() {
    let mut desk = waiting(&["filesystem-1"]);
    for (width, height) in [(120, 40), (40, 12), (20, 5), (1, 1), (200, 60), (80, 24)] {
        desk.resize(width, height);
        desk.look();
        desk.press(Key::Enter);
        desk.keys("?");
        desk.keys("?");
        desk.keys("2");
        desk.keys("1");
    }
    assert_eq!(desk.model.queue.calls.len(), 1);
}

#[test]
fn a_frame_of_another_size_arms_nothing() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(write("filesystem-1"));
    desk.send(Msg::Drawn(60, 20));
    desk.now += 1000;
    desk.send(Msg::Drawn(60, 20));
    assert_eq!(desk.send(Msg::Key(Key::Char('a'))), []);
}

#[test]
fn help_and_activity_hide_the_card_and_disarm_it() {
    for keys in ["??", "21"] {
        let mut desk = waiting(&["filesystem-1"]);
        desk.types(keys, 0);
        assert_eq!(verdicts(&desk.types("a", 0)), [], "{keys}");
    }
}

#[test]
fn quitting_leaves_held_calls_alone() {
    let mut desk = waiting(&["filesystem-1"]);
    assert_eq!(desk.keys("qy"), [Command::Quit]);
    assert_eq!(desk.press(Key::Ctrl('c')), [Command::Quit]);
}
