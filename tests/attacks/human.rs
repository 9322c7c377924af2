//! What wears an operator out or slips past one: rows D1, D2 and D6, B6 for what is folded, and B13 for decisions about
//! several calls.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use crate::desk::*;
use mcp_approve::audit::record::VerdictWord;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::{FromWrapper, OperatorVerdict};
use mcp_approve::policy::parse;
use mcp_approve::policy::rule::Decision;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

#[test]
fn d1_the_operator_sees_how_fast_all_is_approved_and_is_offered_a_rule() {
    let mut desk = Desk::connected(120, 40);
    let mut offered = 0;
    for i in 1..=61 {
        desk.hold(own(&format!("filesystem-{i}")));
        desk.draw();
        desk.now += 800;
        desk.send(Msg::Tick);
        desk.draw();
        assert_eq!(verdicts(&desk.keys("a")).len(), 1, "{i}");
        if desk.screen().contains("times in a row. On its next call, r makes a rule") {
            offered += 1;
        }
        desk.settle(&format!("filesystem-{i}"), VerdictWord::Approve, "this one");
        desk.now += 17_600;
    }
    assert!(desk.screen().contains("▲ 61 of 61 approved in 19 min, median 0.8 s"), "{}", desk.screen());
    assert_eq!(offered, 20);
    // Beside the queue as well, as a warning.
    desk.hold(own("filesystem-99"));
    let mut wide = Desk::connected(140, 40);
    std::mem::swap(&mut wide.model.queue.decisions, &mut desk.model.queue.decisions);
    wide.now = desk.now;
    wide.hold(own("filesystem-99"));
    wide.resize(100, 30);
    wide.look();
    assert!(wide.line("Waiting").contains("▲ 61 of 61 approved"), "{}", wide.screen());
    // What is old no longer counts.
    wide.now += 30 * 60_000;
    wide.send(Msg::Tick);
    assert!(!wide.screen().contains("61 of 61"));
}

#[test]
fn d1_identical_calls_are_one_question() {
    let mut desk = Desk::connected(80, 24);
    for i in 1..=40 {
        desk.hold(write(&format!("filesystem-{i}")));
    }
    desk.look();
    assert!(desk.line("create_file").contains("×40"));
    desk.keys("a");
    desk.press(Key::End);
    desk.look();
    assert_eq!(verdicts(&desk.keys("y")).len(), 40);
}

#[test]
fn d2_one_dangerous_call_in_a_flood_stands_first_by_risk_and_the_flood_is_denied_at_once() {
    let mut desk = Desk::connected(80, 24);
    desk.link(ClientEvent::Connected(wrapper("mail", "mail")));
    for i in 1..=500 {
        desk.hold(own(&format!("filesystem-{i}")));
    }
    let mut late = own_delete("mail-1");
    late.arrived = NINE;
    desk.say("mail", FromWrapper::Held { call: Box::new(late) });
    desk.look();
    assert!(!desk.screen().contains("src/mail-1"), "it came last");
    desk.keys("s");
    assert_eq!(desk.model.queue.order()[0].snapshot.ticket, "mail-1");
    for _ in 0..3 {
        desk.press(Key::PageUp);
    }
    desk.keys("k");
    assert!(desk.line("◆ DELETES").contains("src/mail-1"), "{}", desk.screen());
    // The flood goes, the other server's call stays.
    desk.keys("j");
    desk.look();
    desk.keys("Dflood");
    desk.press(Key::Enter);
    desk.press(Key::End);
    desk.look();
    assert!(desk.screen().contains("Deny these 500 calls, because flood"));
    let sent = verdicts(&desk.keys("y"));
    assert_eq!(sent.len(), 500);
    assert!(sent.iter().all(|(session, ..)| session == "files"));
    assert_eq!(desk.model.queue.waiting(), 1);
}

#[test]
fn d6_a_made_rule_shows_its_text_and_reach_ends_and_begins_narrow() {
    let mut desk = Desk::connected(100, 40);
    desk.hold(own("filesystem-1"));
    desk.hold(own("filesystem-2"));
    desk.look();
    desk.keys("r");
    let narrow = desk.screen();
    assert!(narrow.contains("▸ c allow this exact call"), "{narrow}");
    assert!(narrow.contains("matches 1 call that waits now"), "{narrow}");
    let text = |screen: &str| -> String {
        screen.lines().filter_map(|line| line.strip_prefix(" ┃ ")).map(|line| format!("{line}\n")).collect()
    };
    let policy = parse::parse(&format!("version = 1\n\n{}", text(&narrow))).expect("what is shown is a rule");
    assert_eq!(policy.rules[0].decision, Decision::Allow);
    assert!(policy.rules[0].expires.expect("it ends") <= NINE + 31 * 86_400_000);
    for _ in 0..9 {
        desk.keys("j");
    }
    desk.keys("k");
    let wide = desk.screen();
    assert!(wide.contains("▸ t allow this tool") && wide.contains("matches 2 calls that wait now"), "{wide}");
    assert!(wide.contains("▲ it covers every argument"), "{wide}");
    // One Enter writes nothing that comes with a warning, and another scope needs both again.
    desk.look();
    assert_eq!(desk.press(Key::Enter), [Command::Drain]);
    desk.keys("k");
    desk.look();
    let same = desk.screen();
    assert!(same.contains("▲ running at once: 1 other call of those that wait now"), "{same}");
    assert_eq!(desk.press(Key::Enter), [Command::Drain]);
    desk.look();
    assert!(matches!(desk.press(Key::Enter).as_slice(), [Command::WriteRule { .. }, Command::Drain]));
}

/// One thing that happens while an operator decides.
#[derive(Clone, Debug)]
enum Move {
    Arrives { kind: usize },
    Settles { at: usize },
    Changes { at: usize },
    Looks { after: i64 },
    Presses(Key),
}

/// Single moves, and what an operator does in one go with something happening in the middle of it.
fn moves() -> impl Strategy<Value = Vec<Move>> {
    let event = || {
        prop_oneof![
            2 => (0..4_usize).prop_map(|kind| Move::Arrives { kind }),
            1 => (0..5_usize).prop_map(|at| Move::Settles { at }),
            1 => (0..5_usize).prop_map(|at| Move::Changes { at }),
            3 => prop_oneof![Just(0_i64), Just(299), Just(301), Just(700)].prop_map(|after| Move::Looks { after }),
        ]
    };
    let keys = vec!['a', 'A', 'd', 'D', 'y', ' ', 'j', 'k', 's', 'g', 'r'];
    let single = prop_oneof![
        event(),
        prop::sample::select(keys).prop_map(|c| Move::Presses(Key::Char(c))),
        prop::sample::select(vec![Key::Enter, Key::Esc, Key::End]).prop_map(Move::Presses),
    ];
    // `.` looks, waits and looks again; `>` is Enter.
    let habits =
        vec![".ay", ".Ay", ".d>y", ".a.y", ".A.y", ".d>", ".d>.y", "  .A.y", " j .a.y", ".D>.y", "..a", "g.a.y"];
    let habit = (prop::sample::select(habits), 0..8_usize, event()).prop_map(|(keys, at, event)| {
        let mut moves: Vec<Move> = Vec::new();
        for c in keys.chars() {
            match c {
                '.' => moves.extend([Move::Looks { after: 0 }, Move::Looks { after: 400 }]),
                '>' => moves.push(Move::Presses(Key::Enter)),
                c => moves.push(Move::Presses(Key::Char(c))),
            }
        }
        moves.insert(at.min(moves.len()), event);
        moves
    });
    let some = prop_oneof![3 => single.prop_map(|one| vec![one]), 2 => habit];
    prop::collection::vec(some, 1..40).prop_map(|parts| parts.concat())
}

/// What the last frame showed by name: a card's ticket, or the rows of a list.
fn shown(screen: &str) -> Vec<String> {
    let ticket = |rest: &str| {
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        format!("filesystem-{number}")
    };
    let card = screen.lines().filter_map(|line| line.strip_prefix("━ filesystem-")).map(ticket);
    let is_list = screen.contains(" these ") || screen.contains(" this call");
    let list = screen.lines().filter(|_| is_list).filter_map(|line| line.split_once(" filesystem-"));
    card.chain(list.map(|(_, rest)| ticket(rest))).collect()
}

#[test]
fn b13_thousands_of_moves_and_every_verdict_is_on_what_was_shown_and_still_stood() {
    let mut runner = TestRunner::new(Config { cases: 110, failure_persistence: None, ..Config::default() });
    let decided = std::cell::Cell::new(0);
    let several = std::cell::Cell::new(0);
    let result = runner.run(&moves(), |moves| {
        // Wide enough for the ticket of each row, by which the test knows what is shown.
        let mut desk = Desk::connected(108, 40);
        let mut truth: BTreeMap<String, Snapshot> = BTreeMap::new();
        // When each ticket, with these very bytes, first came on screen as it is now.
        let mut seen: BTreeMap<String, Snapshot> = BTreeMap::new();
        let mut number = 0;
        for one in moves {
            match one {
                Move::Arrives { kind } => {
                    number += 1;
                    let ticket = format!("filesystem-{number}");
                    let call = match kind {
                        0 | 1 => write(&ticket),
                        2 => own(&ticket),
                        _ => delete(&ticket),
                    };
                    truth.insert(ticket, call.clone());
                    desk.hold(call);
                }
                Move::Settles { at } => {
                    if let Some(ticket) = truth.keys().nth(at).cloned() {
                        desk.settle(&ticket, VerdictWord::Deny, "another");
                        truth.remove(&ticket);
                    }
                }
                Move::Changes { at } => {
                    if let Some(ticket) = truth.keys().nth(at).cloned() {
                        number += 1;
                        let changed = with_arguments(truth[&ticket].clone(), &format!("{{\"n\":{number}}}"));
                        truth.insert(ticket, changed.clone());
                        desk.hold(changed);
                    }
                }
                Move::Looks { after } => {
                    desk.now += after;
                    let screen = desk.screen();
                    seen = shown(&screen)
                        .into_iter()
                        .filter_map(|ticket| Some((ticket.clone(), truth.get(&ticket)?.clone())))
                        .collect();
                }
                Move::Presses(key) => {
                    let commands = desk.send(Msg::Key(key));
                    let sent = verdicts(&commands);
                    if sent.len() > 1 {
                        several.set(several.get() + 1);
                    }
                    for (_, ticket, digest, _) in sent {
                        decided.set(decided.get() + 1);
                        let stood = truth.remove(&ticket);
                        prop_assert_eq!(stood.as_ref().map(|call| call.digest), Some(digest), "{}", ticket);
                        let was = seen.get(&ticket).map(|call| call.digest);
                        prop_assert_eq!(was, Some(digest), "{} was not on screen", ticket);
                    }
                }
            }
        }
        Ok(())
    });
    result.unwrap();
    assert!(decided.get() > 100 && several.get() > 5, "{} decided, {} at once", decided.get(), several.get());
}

#[test]
fn b6_what_hides_in_a_folded_part_was_not_read() {
    // Deep enough to be folded; everything else of the card is on screen.
    let deep = r#"{"path":"src","options":{"a":{"b":{"c":{"d":{"command":"rm -rf /"}}}}}}"#;
    let asked = |call: Snapshot, keys: &str| {
        let mut desk = Desk::connected(100, 60);
        desk.hold(with_arguments(call, deep));
        desk.look();
        desk.press(Key::Enter);
        desk.press(Key::End);
        desk.look();
        assert!(!desk.screen().contains("rm -rf"), "it is folded");
        verdicts(&desk.keys(keys)).into_iter().map(|(.., verdict)| verdict).collect::<Vec<_>>()
    };
    let approved = |unread| vec![OperatorVerdict::Approve { unread }];
    for keys in ["a", "ay", "aay", "ra"] {
        assert_eq!(asked(delete("filesystem-1"), keys), [], "{keys}");
        assert_eq!(asked(write("filesystem-1"), keys), [], "{keys}");
    }
    assert_eq!(asked(delete("filesystem-1"), "Ay"), approved(true));
    assert_eq!(asked(write("filesystem-1"), "A"), approved(true));
    assert_eq!(asked(delete("filesystem-1"), "Zay"), approved(false));
    assert_eq!(asked(write("filesystem-1"), "za"), approved(false));
}

/// The same bytes, another card: what a rule, a definition or a file says now is not what was confirmed.
#[test]
fn b13_a_card_that_changes_under_a_question_is_not_what_the_answer_is_about() {
    let read = || {
        let mut desk = Desk::connected(80, 40);
        desk.hold(delete("files-1"));
        desk.look();
        desk.press(Key::End);
        desk.look();
        desk
    };
    let changed = || Snapshot { effect: "deletes a folder with 9 entries".into(), ..delete("files-1") };
    let mut desk = read();
    desk.keys("a");
    assert!(desk.keys("y").iter().any(|command| matches!(command, Command::Send { .. })), "unchanged, it is sent");
    let mut desk = read();
    desk.keys("a");
    desk.hold(changed());
    desk.draw();
    assert_eq!(sends(&desk.keys("y")), 0, "{}", desk.screen());
    // Nor does a key that was meant for the card before.
    let mut desk = Desk::connected(120, 60);
    let plain = |effect: &str| Snapshot { danger: None, effect: effect.into(), ..write("files-1") };
    desk.hold(plain("creates 1 file"));
    desk.look();
    desk.hold(plain("overwrites 1 file"));
    desk.draw();
    assert_eq!(sends(&desk.keys("a")), 0, "{}", desk.screen());
    desk.look();
    assert_eq!(sends(&desk.keys("a")), 1, "{}", desk.screen());
    // What only holds a call back is sent whatever its card says by now.
    let mut desk = read();
    desk.keys("d");
    desk.hold(changed());
    desk.look();
    assert_eq!(sends(&desk.press(Key::Enter)), 1, "{}", desk.screen());
}

fn sends(commands: &[Command]) -> usize {
    commands.iter().filter(|command| matches!(command, Command::Send { .. })).count()
}
