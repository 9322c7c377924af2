//! What keys do while the screen changes, and what no key does: rows B13 and D3 to D7 as far as the console answers them.

use crate::desk::*;
use mcp_approve::audit::record::VerdictWord;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::wire::digest::Digest;
use std::collections::BTreeMap;

/// The same dice in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).unwrap()
    }
}

/// What the operator saw: read off the screen, not asked of the model.
#[derive(Default)]
struct Eye {
    /// Ticket and digest on the card of the last frame.
    card: Option<(String, Digest)>,
    since: i64,
}

impl Eye {
    fn look(&mut self, desk: &mut Desk, truth: &BTreeMap<String, Snapshot>) {
        let screen = desk.screen();
        let title = screen.lines().find_map(|line| line.strip_prefix("━ filesystem-"));
        let seen = title.and_then(|title| {
            let number: String = title.chars().take_while(char::is_ascii_digit).collect();
            let ticket = format!("filesystem-{number}");
            truth.get(&ticket).map(|call| (ticket, call.digest))
        });
        if seen != self.card {
            self.since = desk.now;
        }
        self.card = seen;
    }
}

#[test]
fn b13_ten_thousand_races_and_no_verdict_on_another_call() {
    let mut dice = Dice(0x00C0_FFEE);
    let mut desk = Desk::connected(60, 14);
    let mut eye = Eye::default();
    let mut truth: BTreeMap<String, Snapshot> = BTreeMap::new();
    #[rustfmt::skip]
    const KEYS: &[Key] = &[
        Key::Char('a'), Key::Char('a'), Key::Char('A'), Key::Char('A'), Key::Char('d'), Key::Char('y'), Key::Char('y'),
        Key::Enter, Key::Enter, Key::Down, Key::Up, Key::End, Key::Esc, Key::Char('s'),
    ];
    let (mut number, mut decided) = (0, 0);
    for round in 0..10_000 {
        // Something happens at the wrapper …
        let any = truth.keys().nth(dice.below(truth.len().max(1))).cloned();
        match (dice.below(5), any) {
            (0 | 1, _) | (_, None) if truth.len() < 12 => {
                number += 1;
                let ticket = format!("filesystem-{number}");
                let call = if dice.below(3) == 0 { own_delete(&ticket) } else { own(&ticket) };
                truth.insert(ticket, call.clone());
                desk.hold(call);
            }
            (2, Some(ticket)) => {
                desk.settle(&ticket, VerdictWord::Deny, "another");
                truth.remove(&ticket);
            }
            (3, Some(ticket)) => {
                let edited = with_arguments(truth[&ticket].clone(), &format!("{{\"round\":{round}}}"));
                truth.insert(ticket, edited.clone());
                desk.hold(edited);
            }
            _ => {}
        }
        // … perhaps before the screen shows it, perhaps after, perhaps with time in between …
        if dice.below(2) == 0 {
            eye.look(&mut desk, &truth);
        }
        desk.now += [0, 1, 90, 299, 301, 700][dice.below(6)];
        if dice.below(3) == 0 {
            eye.look(&mut desk, &truth);
        }
        // … and a key comes down.
        let key = KEYS[dice.below(KEYS.len())];
        let commands = desk.send(Msg::Key(key));
        for (_, ticket, digest, _) in verdicts(&commands) {
            decided += 1;
            assert_eq!(eye.card, Some((ticket.clone(), digest)), "round {round}: {key:?}");
            assert!(desk.now - eye.since >= 300, "round {round}: {key:?} after {} ms", desk.now - eye.since);
            let settled = truth.remove(&ticket).unwrap();
            assert_eq!(settled.digest, digest, "round {round}");
            desk.settle(&ticket, VerdictWord::Approve, "this one");
        }
    }
    assert!(decided > 500, "only {decided} decisions: the race was not run");
}

/// Whether a key came to nothing; what was typed with one that came too soon is dropped.
fn is_nothing(commands: &[Command]) -> bool {
    commands.iter().all(|command| *command == Command::Drain)
}

#[test]
fn d3_a_key_pressed_as_the_screen_changes_decides_nothing() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(write("filesystem-1"));
    desk.hold(own("filesystem-2"));
    // Not drawn; drawn but only just; drawn for 299 ms; for 300.
    assert!(is_nothing(&desk.send(Msg::Key(Key::Char('a')))));
    desk.draw();
    assert!(is_nothing(&desk.send(Msg::Key(Key::Char('a')))));
    desk.now += 299;
    assert!(is_nothing(&desk.send(Msg::Key(Key::Char('a')))));
    desk.now += 1;
    let commands = desk.send(Msg::Key(Key::Char('a')));
    assert_eq!(verdicts(&commands)[0].1, "filesystem-1");
    // The card of the selected call changes under the finger.
    desk.look();
    desk.hold(with_arguments(write("filesystem-2"), "{}"));
    for key in ['a', 'A', 'd', 'e'] {
        assert!(is_nothing(&desk.send(Msg::Key(Key::Char(key)))), "{key}");
    }
    desk.look();
    assert_eq!(verdicts(&desk.keys("a"))[0].2, with_arguments(write("filesystem-2"), "{}").digest);
}

#[test]
fn d4_pastes_and_typed_ahead_keys_decide_nothing() {
    let mut desk = Desk::connected(80, 24);
    for i in 1..=3 {
        desk.hold(own(&format!("filesystem-{i}")));
    }
    desk.look();
    assert_eq!(desk.send(Msg::Paste("aaa\rAyd\r".into())), []);
    // Keys typed ahead: the first decides, the console asks to drop the rest, and what slips through does nothing.
    let commands: Vec<Command> = "aaaa".chars().flat_map(|c| desk.send(Msg::Key(Key::Char(c)))).collect();
    assert_eq!(verdicts(&commands).len(), 1);
    assert!(is_nothing(&commands[1..]), "{commands:?}");
    // What a terminal might answer to a query, were it read as keys.
    desk.look();
    let reply = "\u{1b}[1;1R".chars().map(|c| if c == '\u{1b}' { Key::Esc } else { Key::Char(c) });
    let commands: Vec<Command> = reply.flat_map(|key| desk.send(Msg::Key(key))).collect();
    assert_eq!(commands, []);
}

#[test]
fn d5_there_is_no_default_yes() {
    for call in [write("filesystem-1"), delete("filesystem-1")] {
        for before in ["", "a", "A", "d"] {
            let mut desk = Desk::connected(80, 24);
            desk.hold(call.clone());
            desk.look();
            if !verdicts(&desk.keys(before)).is_empty() {
                continue;
            }
            for key in [Key::Enter, Key::Char(' '), Key::Char('Y'), Key::Char('1'), Key::Esc] {
                let sent = verdicts(&desk.press(key));
                let approvals = sent.iter().filter(|(.., verdict)| {
                    !matches!(verdict, mcp_approve::link::message::OperatorVerdict::Deny { .. })
                });
                assert_eq!(approvals.count(), 0, "{before:?} then {key:?}");
            }
        }
    }
}

#[test]
fn d7_the_slower_of_two_operators_is_told() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(write("filesystem-1"));
    desk.hold(write("filesystem-2"));
    desk.look();
    desk.settle("filesystem-1", VerdictWord::Approve, "ada, console 4711");
    desk.look();
    assert_eq!(desk.keys("ad"), []);
    assert!(desk.line("settled").contains("approved by an operator · ada, console 4711"));
}
