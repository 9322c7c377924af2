//! A dangerous call that is approved by a typed word, where config.toml asks for one.

use mcp_approve::behavior::arguments;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::model::Confirmation;
use mcp_approve::console::update::Msg;
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::message::OperatorVerdict;

use crate::desk::*;
use crate::screens::frames::at_every_size;

/// A delete whose card was read to its end, with the question on screen.
fn asked(desk: &mut Desk) {
    desk.model.settings.confirmation = Confirmation::Word;
    desk.hold(delete("filesystem-13"));
    desk.look();
    desk.press(Key::End);
    desk.press(Key::End);
    desk.look();
    desk.keys("a");
}

#[test]
fn the_question_says_which_word() {
    at_every_size("word", |desk| {
        asked(desk);
        desk.keys("sr");
    });
}

#[test]
fn the_last_letter_of_the_word_approves_and_nothing_else_does() {
    let mut desk = Desk::connected(80, 24);
    asked(&mut desk);
    assert!(verdicts(&desk.keys("y")).is_empty(), "a letter like any other");
    assert!(verdicts(&desk.press(Key::Enter)).is_empty(), "Enter never approves");
    assert!(verdicts(&desk.send(Msg::Paste("src".into()))).is_empty(), "a paste decides nothing");
    desk.press(Key::Backspace);
    assert!(verdicts(&desk.keys("Src")).is_empty(), "case counts");
    desk.press(Key::Ctrl('u'));
    assert!(verdicts(&desk.keys("sr")).is_empty());
    let sent = verdicts(&desk.keys("c"));
    assert!(matches!(sent.as_slice(), [(_, _, _, OperatorVerdict::Approve { unread: false })]), "{sent:?}");
}

#[test]
fn a_call_that_changed_or_is_over_is_not_approved_by_its_word() {
    let mut desk = Desk::connected(80, 24);
    asked(&mut desk);
    desk.keys("sr");
    desk.hold(with_arguments(delete("filesystem-13"), r#"{"path":"src","recursive":false}"#));
    assert!(verdicts(&desk.keys("c")).is_empty());
    desk.line("Too late");
}

#[test]
fn what_is_harmless_needs_no_word_and_several_dangerous_ones_are_not_approved_at_once() {
    let mut desk = Desk::connected(80, 24);
    desk.model.settings.confirmation = Confirmation::Word;
    desk.hold(own("filesystem-1"));
    desk.look();
    assert_eq!(verdicts(&desk.keys("a")).len(), 1);
    for ticket in ["filesystem-2", "filesystem-3"] {
        desk.hold(delete(ticket));
    }
    desk.look();
    desk.press(Key::End);
    desk.press(Key::End);
    desk.look();
    assert!(verdicts(&desk.keys("ya")).is_empty());
    desk.line("2 of 2 dangerous: approve each one by itself");
    // Denying needs none of this.
    desk.keys("d");
    desk.press(Key::Enter);
    desk.look();
    assert_eq!(verdicts(&desk.keys("y")).len(), 2);
}

#[test]
fn the_word_says_what_is_at_stake() {
    let word = |call: Snapshot| {
        let mut desk = Desk::connected(80, 24);
        desk.hold(call);
        desk.look();
        desk.model.word(&desk.model.chosen().unwrap()).unwrap()
    };
    for (effect, about, wanted) in [
        ("deletes the folder src and everything in it", "src", "src"),
        ("deletes /home/ada/shop/old.rs (12 lines)", "/home/ada/shop/old.rs", "old.rs"),
        ("replaces something — path = \"notes.md\"", "notes.md", "notes.md"),
        ("runs something — command = \"rm -rf /\"", "rm -rf /", "runs"),
        ("deletes \u{430}dmin.txt", "\u{430}dmin.txt", "deletes"),
        ("удаляет", "", "approve"),
        ("", "x", "approve"),
    ] {
        let (effect, target, facts) = (effect.to_owned(), Some(about.to_owned()), Vec::new());
        let call = with_arguments(delete("filesystem-1"), &serde_json::json!({ "about": about }).to_string());
        assert_eq!(word(Snapshot { effect: effect.clone(), target, facts, ..call }), wanted, "{effect}");
    }
    for (text, wanted) in [
        ("DELETE FROM users -- without", "users"),
        ("SELECT 1; DROP TABLE shop.old; INSERT INTO log VALUES (1)", "shop.old"),
        ("DELETE FROM [users WHERE id = 1]", "DELETE"),
    ] {
        let arguments = serde_json::json!({ "sql": text });
        let readings = arguments::readings(None, &arguments);
        let (effect, target, facts) = (readings[0].analysis.says.clone(), Some(text.to_owned()), Vec::new());
        let call = with_arguments(delete("filesystem-1"), &arguments.to_string());
        assert_eq!(word(Snapshot { effect, target, facts, readings, ..call }), wanted, "{text}");
    }
}
