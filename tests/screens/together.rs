//! Several calls at once, and what helps an operator who decides many: groups, marks, lists, reasons, figures, rules, search.

use mcp_approve::audit::record::VerdictWord;
use mcp_approve::console::keymap::{Key, Place};
use mcp_approve::console::maker;
use mcp_approve::console::model::Screen;
use mcp_approve::console::update::Command;
use mcp_approve::link::client::ClientEvent;
use mcp_approve::operator::tried::Matched;
use mcp_approve::policy::parse;

use crate::desk::*;
use crate::screens::frames::at_every_size;
use crate::screens::keys::{APPROVE, UNREAD, deny, selected, sent};

/// Three identical writes, then one of its own.
fn group() -> Desk {
    let mut desk = Desk::connected(80, 24);
    for (i, ticket) in ["filesystem-1", "filesystem-2", "filesystem-3"].iter().enumerate() {
        let mut call = write(ticket);
        call.arrived += i64::try_from(i).unwrap();
        desk.hold(call);
    }
    let mut other = own("filesystem-4");
    other.arrived += 10;
    desk.hold(other);
    desk.look();
    desk
}

#[test]
fn identical_calls_are_one_row_and_each_gets_its_verdict() {
    let mut desk = group();
    assert!(desk.line("create_file").contains("×3"), "{}", desk.screen());
    assert_eq!(desk.types("a", 0), []);
    let screen = desk.screen();
    assert!(screen.contains("Approve these 3 calls?"), "{screen}");
    for ticket in ["filesystem-1", "filesystem-2", "filesystem-3"] {
        assert!(screen.contains(ticket), "{screen}");
    }
    // The list itself has its delay.
    assert_eq!(desk.keys("y"), []);
    desk.look();
    let commands = desk.keys("y");
    let expected = ["filesystem-1", "filesystem-2", "filesystem-3"]
        .map(|ticket| (String::from("files"), ticket.to_owned(), write(ticket).digest, APPROVE));
    assert_eq!(verdicts(&commands), expected);
    assert_eq!(selected(&desk.model), "filesystem-4");
}

#[test]
fn one_of_a_group_can_be_decided_by_itself() {
    let mut desk = group();
    desk.keys("o");
    desk.look();
    assert_eq!(sent(&desk.keys("a")), [("filesystem-1".into(), APPROVE)]);
    desk.keys("o");
    assert!(desk.screen().contains("×2"));
}

#[test]
fn a_newcomer_to_a_group_is_not_decided_by_the_list_it_is_not_on() {
    let mut desk = group();
    desk.keys("a");
    desk.look();
    desk.hold(write("filesystem-9"));
    desk.look();
    assert_eq!(sent(&desk.keys("y")).len(), 3);
    desk.look();
    assert!(desk.screen().contains("filesystem-9") || desk.screen().contains("create_file"));
    assert_eq!(desk.model.queue.waiting(), 2);
}

#[test]
fn what_differs_in_anything_shown_is_no_group() {
    for change in 0..5 {
        let mut desk = Desk::connected(80, 24);
        desk.hold(write("filesystem-1"));
        let mut other = write("filesystem-2");
        match change {
            0 => other = with_arguments(other, r#"{"path":"notes/today.md","content":"milk\neggs\n","mode":421}"#),
            1 => other.danger = Some("it replaces".into()),
            2 => other.description = Some("Changed since.".into()),
            3 => other.tool = "create_file2".into(),
            _ => other.facts = vec![file("notes/today.md", "x")],
        }
        desk.hold(other);
        desk.look();
        assert_eq!(desk.model.queue.rows().len(), 2, "{change}");
    }
    let mut desk = Desk::connected(80, 24);
    desk.link(ClientEvent::Connected(wrapper("filesystem#2", "other")));
    desk.hold(write("filesystem-1"));
    desk.say("other", mcp_approve::link::message::FromWrapper::Held { call: Box::new(write("filesystem-1")) });
    assert_eq!(desk.model.queue.rows().len(), 2, "another wrapper");
}

#[test]
fn marks_gather_calls_and_the_list_names_every_one() {
    let mut desk = Desk::connected(80, 24);
    for i in 1..=6 {
        desk.hold(own(&format!("filesystem-{i}")));
    }
    desk.look();
    desk.types(" ", 0);
    assert_eq!(selected(&desk.model), "filesystem-2");
    desk.types("j  ", 0);
    assert!(desk.screen().contains("3 marked"), "{}", desk.screen());
    assert_eq!(desk.keys("A"), []);
    desk.look();
    let commands = desk.keys("y");
    let expected = ["filesystem-1", "filesystem-3", "filesystem-4"].map(|ticket| (ticket.to_owned(), UNREAD));
    assert_eq!(sent(&commands)[1..], expected[1..], "two of the three were never on screen");
    assert!(desk.model.queue.marked.is_empty());
}

#[test]
fn a_mark_can_be_taken_back_and_esc_takes_all() {
    let mut desk = group();
    desk.keys(" kk ");
    assert!(desk.model.queue.marked.is_empty(), "{:?}", desk.model.queue.marked);
    desk.keys("k ");
    assert_eq!(desk.model.queue.marked_calls().len(), 3);
    desk.press(Key::Esc);
    assert!(desk.model.queue.marked.is_empty());
}

#[test]
fn an_edited_or_settled_member_is_left_out() {
    let mut desk = group();
    desk.keys("a");
    desk.look();
    desk.settle("filesystem-1", VerdictWord::Deny, "ada");
    desk.hold(with_arguments(write("filesystem-2"), "{}"));
    desk.look();
    assert!(desk.screen().contains("2 no longer wait"), "{}", desk.screen());
    assert_eq!(sent(&desk.keys("y")), [("filesystem-3".into(), APPROVE)]);
    assert!(desk.screen().contains("1 call approved; 2 calls no longer waited as listed."));
}

#[test]
fn a_long_list_is_read_to_its_end() {
    let mut desk = Desk::connected(80, 24);
    for i in 1..=50 {
        desk.hold(own(&format!("filesystem-{i}")));
    }
    desk.look();
    desk.keys("D");
    desk.keys("too many");
    assert_eq!(desk.press(Key::Enter), []);
    desk.look();
    assert!(desk.screen().contains("more calls below"), "{}", desk.screen());
    assert_eq!(desk.keys("y"), []);
    assert!(desk.screen().contains("Read the list to its end first"));
    desk.press(Key::End);
    desk.look();
    let commands = desk.keys("y");
    assert_eq!(sent(&commands).len(), 50);
    assert!(sent(&commands).iter().all(|(_, verdict)| *verdict == deny("too many")));
}

#[test]
fn only_the_servers_own_calls_are_denied_with_it() {
    let mut desk = Desk::connected(80, 24);
    desk.link(ClientEvent::Connected(wrapper("git", "git")));
    desk.hold(own("filesystem-1"));
    desk.hold(own("filesystem-2"));
    desk.say("git", mcp_approve::link::message::FromWrapper::Held { call: Box::new(own("git-1")) });
    desk.look();
    desk.keys("Dflood");
    desk.press(Key::Enter);
    desk.look();
    let commands = desk.keys("y");
    let tickets: Vec<String> = sent(&commands).into_iter().map(|(ticket, _)| ticket).collect();
    assert_eq!(tickets, ["filesystem-1", "filesystem-2"]);
    assert_eq!(desk.model.queue.waiting(), 1);
}

#[test]
fn earlier_reasons_are_offered() {
    let mut desk = Desk::connected(80, 24);
    for i in 1..=3 {
        desk.hold(own(&format!("filesystem-{i}")));
    }
    for reason in ["wrong folder", "ask me first"] {
        desk.look();
        desk.keys(&format!("d{reason}"));
        desk.press(Key::Enter);
    }
    desk.look();
    desk.keys("d");
    assert!(desk.screen().contains("↑ takes the last: ask me first"), "{}", desk.screen());
    desk.press(Key::Up);
    desk.press(Key::Up);
    desk.press(Key::Up);
    desk.press(Key::Down);
    desk.keys("!");
    assert_eq!(sent(&desk.press(Key::Enter)), [("filesystem-3".into(), deny("ask me first!"))]);
}

#[test]
fn ctrl_c_leaves_from_every_question_and_decides_nothing() {
    for keys in ["d", "dwhy", "A", "r", "/", " d", "D"] {
        let mut desk = Desk::connected(80, 24);
        desk.hold(delete("filesystem-1"));
        desk.look();
        desk.keys(keys);
        assert_eq!(desk.press(Key::Ctrl('c')), [Command::Quit], "{keys}");
    }
}

#[test]
fn words_are_found_in_the_card() {
    let text = "nothing here\n".repeat(300) + "the Needle is here\n" + &"more\n".repeat(100) + "a second needle\n";
    let mut desk = Desk::connected(80, 24);
    desk.hold(with_arguments(write("filesystem-1"), &serde_json::json!({ "title": text }).to_string()));
    desk.look();
    desk.press(Key::Enter);
    desk.keys("/needle");
    assert_eq!(desk.model.place(), Place::Find);
    desk.press(Key::Enter);
    desk.line("the Needle is here");
    assert_eq!(desk.model.screen, Screen::Detail);
    desk.keys("n");
    desk.line("a second needle");
    desk.keys("n");
    assert!(desk.screen().contains("around the end"), "{}", desk.screen());
    desk.line("the Needle is here");
    desk.keys("N");
    desk.line("a second needle");
    desk.keys("/zebra");
    desk.press(Key::Enter);
    assert!(desk.screen().contains("No matches on the card"));
    // What is searched is not thereby read.
    assert_eq!(desk.keys("/a"), []);
}

#[test]
fn every_offered_rule_can_be_read_back() {
    use mcp_approve::behavior::hazards::HazardKind;
    let mut call = with_arguments(delete("filesystem-1"), r#"{"path":"/a/b\"c\n/d.md","n":-1,"on":true,"to":"x"}"#);
    call.tool = "de*le[te".into();
    call.server = "fi?les{x}".into();
    call.hazards = vec![hazard(HazardKind::SensitiveRead, "a key")];
    let choices = maker::choices(&call, &[&call, &own("filesystem-2")], None, NINE).unwrap();
    assert!(choices.len() >= 3);
    for choice in choices {
        let read = parse::parse(&format!("version = 1\n\n{}", choice.toml));
        let policy = read.unwrap_or_else(|problems| panic!("{problems:?}\n{}", choice.toml));
        assert!(policy.rules[0].tool[0].matches("x", "de*le[te") && !policy.rules[0].tool[0].matches("x", "dexle[te"));
        assert_eq!(choice.waiting, 1, "{}", choice.label);
    }
    call.hazards.push(hazard(HazardKind::HiddenCharacters, "hidden"));
    assert!(maker::choices(&call, &[], None, NINE).unwrap_err().contains("hidden-characters"));
}

#[test]
fn lists_and_makers_at_every_size() {
    at_every_size("batch", |desk| {
        for i in 1..=30 {
            let ticket = format!("filesystem-{i}");
            desk.hold(if i % 4 == 0 { own_delete(&ticket) } else { own(&ticket) });
        }
        desk.look();
        desk.keys("Dnot now");
        desk.press(Key::Enter);
    });
    at_every_size("rule", |desk| {
        desk.hold(delete("filesystem-1"));
        desk.look();
        desk.keys("rv");
        desk.tried(vec![Matched { calls: 3, asked: 3, ..Matched::default() }; 4]);
    });
    at_every_size("groups", |desk| {
        for i in 1..=4 {
            desk.hold(write(&format!("filesystem-{i}")));
            desk.hold(own_delete(&format!("filesystem-1{i}")));
        }
        desk.look();
        desk.keys("j ");
    });
}
