//! The operator's edit, key by key: what goes out, what comes back, and what an editor may leave behind.

use crate::desk::*;
use mcp_approve::audit::record::VerdictWord;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::update::{Command, Edit, Msg};
use mcp_approve::link::message::FromConsole;

use super::keys::*;

#[test]
fn an_edit_goes_out_and_comes_back_as_another_card() {
    let mut desk = waiting(&["filesystem-1"]);
    let commands = desk.keys("e");
    let [Command::OpenEditor { armed, text }] = commands.as_slice() else { panic!("{commands:?}") };
    assert_eq!(
        text,
        "{\n  \"path\": \"notes/filesystem-1.md\",\n  \"content\": \"milk\\neggs\\n\",\n  \"mode\": 420\n}\n"
    );
    let outcome = Edit::Text(text.replace("filesystem-1", "archive"));
    let commands = desk.send(Msg::Edited { armed: armed.clone(), outcome });
    let [Command::Send { session, message: FromConsole::Edit { ticket, digest, arguments } }, Command::Drain] =
        commands.as_slice()
    else {
        panic!("{commands:?}")
    };
    assert_eq!((session.as_str(), ticket.as_str(), *digest), ("files", "filesystem-1", own("filesystem-1").digest));
    assert!(arguments.contains("notes/archive.md"));
    desk.look();
    assert_eq!(verdicts(&desk.keys("a")), []);
    let mut changed = with_arguments(write("filesystem-1"), r#"{"path":"notes/archive.md"}"#);
    changed.original_arguments = Some(write("filesystem-1").arguments);
    let digest = changed.digest;
    assert_eq!(desk.hold(changed), [Command::Drain]);
    assert_eq!(verdicts(&desk.keys("a")), []);
    desk.look();
    desk.press(Key::End);
    assert_eq!(verdicts(&desk.keys("a"))[0].2, digest);
}

#[test]
fn an_edit_that_changes_nothing_sends_nothing() {
    let mut desk = waiting(&["filesystem-1"]);
    let commands = desk.keys("e");
    let [Command::OpenEditor { armed, .. }] = commands.as_slice() else { panic!("{commands:?}") };
    let same = own("filesystem-1").arguments.replace(',', " ,\n");
    for outcome in [Edit::Unchanged, Edit::Text(same), Edit::Failed("The editor ended with 1.".into())] {
        assert_eq!(desk.send(Msg::Edited { armed: armed.clone(), outcome }), []);
    }
    desk.look();
    assert_eq!(sent(&desk.keys("a")), [("filesystem-1".into(), APPROVE)]);
}

#[test]
fn an_edit_that_is_no_json_can_be_edited_again() {
    for (text, problem) in [
        ("{\n  \"path\": \"x\",\n  nope\n}", "line 3, column 3: key must be a string"),
        ("[1]", "line 1: arguments are one JSON object"),
        ("", "line 1, column 0: EOF while parsing a value"),
    ] {
        let mut desk = waiting(&["filesystem-1"]);
        let commands = desk.keys("e");
        let [Command::OpenEditor { armed, .. }] = commands.as_slice() else { panic!("{commands:?}") };
        let outcome = Edit::Text(text.into());
        assert_eq!(desk.send(Msg::Edited { armed: armed.clone(), outcome }), []);
        assert!(desk.screen().contains(problem), "{}", desk.screen());
        assert_eq!(desk.keys("a"), []);
        let again = desk.keys("e");
        assert_eq!(again, [Command::OpenEditor { armed: armed.clone(), text: text.into() }]);
    }
}

#[test]
fn an_edit_of_a_call_that_is_over_is_dropped() {
    let mut desk = waiting(&["filesystem-1"]);
    let commands = desk.keys("e");
    let [Command::OpenEditor { armed, .. }] = commands.as_slice() else { panic!("{commands:?}") };
    desk.settle("filesystem-1", VerdictWord::Deny, "ada");
    let outcome = Edit::Text("{}".into());
    assert_eq!(desk.send(Msg::Edited { armed: armed.clone(), outcome }), []);
    assert!(desk.screen().contains("The edit was dropped."));
}

#[test]
fn the_editor_is_given_hidden_characters_as_escapes() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(with_arguments(write("filesystem-1"), "{\"n\":1.10,\"t\":\"a\u{202e}\u{9b}\u{e0041}⟨é\"}"));
    desk.look();
    let commands = desk.keys("e");
    let [Command::OpenEditor { text, .. }] = commands.as_slice() else { panic!("{commands:?}") };
    assert!(text.contains(r#""n": 1.10"#), "{text}");
    assert!(text.contains(r#""a\u202e\u009b\udb40\udc41⟨é""#), "{text}");
}
