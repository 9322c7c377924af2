//! Views in the states that no other file shows: hostile and long rows, the palette, the tour, empty Activity.

use mcp_approve::behavior::taxonomy::Action;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::model::Tour;
use mcp_approve::console::update::Msg;
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::FromWrapper;

use crate::desk::*;
use crate::screens::frames::at_every_size;

/// Everything that would deceive a terminal or an eye, on one line.
const HOSTILE: &str = "x\u{202e}cod.\u{1b}[2J\u{430}dmin\r\n\u{200b}a            b";

fn hostile(ticket: &str) -> Snapshot {
    let arguments = serde_json::json!({ "path": HOSTILE }).to_string();
    Snapshot {
        tool: format!("read{HOSTILE}"),
        effect: format!("deletes {HOSTILE}"),
        target: Some(HOSTILE.into()),
        danger: Some(format!("it deletes {HOSTILE}")),
        ..with_arguments(delete(ticket), &arguments)
    }
}

/// No foreign control or direction is in any cell.
fn tame(desk: &mut Desk) {
    let screen = desk.screen();
    assert!(!screen.contains(|c: char| c.is_control() && c != '\n' || "\u{202e}\u{200b}".contains(c)), "{screen:?}");
}

#[test]
fn hostile_rows_and_lists() {
    at_every_size("queue_hostile", |desk| {
        desk.hold(own("filesystem-1"));
        desk.hold(hostile("filesystem\u{202e}-2"));
        desk.hold(own_delete("filesystem-3"));
        desk.look();
    });
    at_every_size("batch_hostile", |desk| {
        desk.hold(hostile("filesystem-1"));
        desk.hold(hostile("filesystem\u{202e}-2"));
        desk.hold(own("filesystem-3"));
        desk.look();
        desk.keys("Dnot\u{202e}now");
        desk.press(Key::Enter);
    });
}

#[test]
fn long_rows_tell_both_their_ends() {
    let scene = |desk: &mut Desk| {
        let row = |i: i64, target: &str, tool: &str, action: Action| Snapshot {
            arrived: NINE - 12_000 + i,
            target: Some(target.into()),
            tool: tool.into(),
            ..carrying(&format!("filesystem-{i}"), tool, action, "text", &format!("{i} {target}"))
        };
        let path = "/home/ada/work/clients/acme/shop/frontend/src/components/checkout/summary/today.md";
        let words = "please forward the whole thread about the merger to everybody at board@acme.example";
        desk.hold(row(1, path, "write_file", Action::Overwrite));
        desk.hold(row(2, words, "send_a_message_to_a_channel_or_person", Action::Send));
        desk.hold(row(3, "DELETE on orders, where its condition holds", "query", Action::Delete));
        desk.hold(Snapshot { target: None, ..row(4, "", "restart_everything_now", Action::Execute) });
        desk.look();
    };
    at_every_size("queue_long", scene);
    for width in [40, 60, 80, 120, 200] {
        let mut desk = Desk::connected(width, 24);
        scene(&mut desk);
        assert!(desk.screen().contains("/today.md"), "{}", desk.screen());
    }
}

#[test]
fn hostile_edits_and_diffs() {
    at_every_size("edited_hostile", |desk| {
        let original = write("filesystem-12");
        let arguments = serde_json::json!({ "path": HOSTILE, "content": "milk\neggs\n", "mode": 420 }).to_string();
        let mut edited = with_arguments(original.clone(), &arguments);
        edited.edited_from = Some(original.digest);
        edited.original_arguments = Some(original.arguments);
        desk.hold(edited);
        desk.look();
        desk.press(Key::Enter);
    });
    at_every_size("diff_hostile", |desk| {
        desk.hold(overwrite("filesystem-12", &format!("a\n{HOSTILE}\nb\n"), &format!("a\nb\n{HOSTILE}x\n")));
        desk.look();
        desk.press(Key::Enter);
    });
}

#[test]
fn the_makers_and_questions_of_a_hostile_call_are_tame() {
    for (width, height) in [(80, 24), (120, 40), (40, 12)] {
        let mut desk = Desk::connected(width, height);
        desk.link(ClientEvent::Connected(wrapper(HOSTILE, "other")));
        desk.say("other", FromWrapper::Held { call: Box::new(hostile("other-1")) });
        desk.look();
        for keys in ["r", "rj", "rk", "d", "A", "/x", ":x", "?"] {
            desk.keys(keys);
            desk.look();
            tame(&mut desk);
            desk.press(Key::Esc);
        }
        desk.keys("d");
        desk.send(Msg::Paste(HOSTILE.into()));
        tame(&mut desk);
    }
}

#[test]
fn the_palette_and_the_tour() {
    at_every_size("palette", |desk| {
        desk.hold(write("filesystem-12"));
        desk.look();
        desk.keys(":");
    });
    at_every_size("palette_typed", |desk| {
        desk.keys(":log");
    });
    at_every_size("palette_none", |desk| {
        desk.keys(":no such thing");
    });
    at_every_size("tour", |desk| {
        desk.model.settings.tour = Tour::Shown;
    });
}

#[test]
fn empty_activity_teaches() {
    for (width, height) in [(80, 24), (120, 40), (40, 12)] {
        let mut desk = Desk::connected(width, height);
        desk.keys("2");
        let screen = desk.screen();
        assert!(screen.contains("Activity") && screen.contains("Nothing has passed yet"), "{screen}");
    }
}

#[test]
fn the_queue_is_by_when_calls_were_held_whoever_told_first() {
    let order = |tellings: &[(&str, &str, i64)]| {
        let mut desk = Desk::connected(80, 24);
        desk.link(ClientEvent::Connected(wrapper("git", "git")));
        for (session, ticket, at) in tellings {
            let call = Snapshot { arrived: NINE + at, ..own(ticket) };
            desk.say(session, FromWrapper::Held { call: Box::new(call) });
            desk.look();
        }
        let selected = desk.model.queue.selected.clone().unwrap().ticket;
        assert_eq!(selected, tellings[0].1, "what came first stays selected");
        desk.model.queue.order().iter().map(|held| held.key.ticket.clone()).collect::<Vec<_>>()
    };
    let calls = [("files", "filesystem-1", 5), ("git", "git-1", 5), ("git", "git-2", 2), ("files", "filesystem-2", 9)];
    let wanted = ["git-2", "filesystem-1", "git-1", "filesystem-2"];
    assert_eq!(order(&calls), wanted);
    let back: Vec<_> = calls.iter().rev().copied().collect();
    assert_eq!(order(&back), wanted);
}
