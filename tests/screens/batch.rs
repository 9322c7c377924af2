//! The list in which several calls are read, ticked and decided: what it records as read was on the screen, whatever keys come.

use std::collections::{BTreeMap, BTreeSet};

use mcp_approve::console::keymap::{Key, Place};
use mcp_approve::console::model::Confirmation;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::message::OperatorVerdict;
use proptest::prelude::*;

use crate::desk::*;
use crate::screens::frames::at_every_size;
use crate::screens::keys::{APPROVE, UNREAD, sent};

/// A call whose arguments are so many words, each of which no other call has.
fn worded(call: usize, words: usize) -> Snapshot {
    let ticket = format!("filesystem-{call}");
    let text: Vec<String> = (0..words).map(|word| format!("w{call}x{word}")).collect();
    let arguments = serde_json::json!({ "path": format!("notes/{call}.md"), "content": text.join(" ") }).to_string();
    let call = if call % 5 == 4 { delete(&ticket) } else { write(&ticket) };
    with_arguments(call, &arguments)
}

fn marked(width: u16, height: u16, words: &[usize]) -> Desk {
    let mut desk = Desk::connected(width, height);
    for (at, words) in words.iter().enumerate() {
        desk.hold(worded(at, *words));
    }
    desk.draw();
    // The narrowest mark first: alike, of the server, all.
    while desk.model.queue.marked.len() < words.len() {
        desk.tap(Key::Char('*'));
    }
    desk
}

/// What was on the screen without a break for as long as a key needs.
#[derive(Default)]
struct Watcher {
    since: BTreeMap<String, i64>,
    read: BTreeSet<String>,
}

impl Watcher {
    fn sees(&mut self, desk: &Desk) {
        let screen: String = desk.buffer().content.iter().map(|cell| cell.symbol()).collect();
        let now: BTreeSet<String> = screen
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.starts_with('w') && word.contains('x'))
            .map(str::to_owned)
            .collect();
        for (word, since) in &self.since {
            if desk.now - since >= 300 {
                self.read.insert(word.clone());
            }
        }
        self.since.retain(|word, _| now.contains(word));
        for word in now {
            self.since.entry(word).or_insert(desk.now);
        }
    }
}

fn keys() -> impl Strategy<Value = (Key, i64)> {
    let key = prop_oneof![
        4 => Just(Key::PageDown),
        2 => Just(Key::Char('j')),
        1 => Just(Key::Char('k')),
        1 => Just(Key::PageUp),
        2 => Just(Key::Enter),
        1 => Just(Key::Char(' ')),
        1 => Just(Key::Char('*')),
        1 => Just(Key::End),
        1 => Just(Key::Home),
        1 => Just(Key::Ctrl('d')),
        1 => Just(Key::Char('?')),
        1 => Just(Key::Char('y')),
    ];
    (key, prop_oneof![Just(0), Just(25), Just(120), Just(400), Just(800)])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_call_is_recorded_as_read_whose_rows_were_not_all_on_the_screen(
        words in prop::collection::vec(prop_oneof![3 => 1usize..12, 1 => 12usize..60, 1 => 100usize..400], 1..10),
        size in prop::sample::select(vec![(80, 24), (40, 12), (120, 40)]),
        presses in prop::collection::vec(keys(), 1..30),
        resize in prop::option::of((0usize..20, prop::sample::select(vec![(80, 24), (60, 16), (40, 12)]))),
    ) {
        let mut desk = marked(size.0, size.1, &words);
        let mut watcher = Watcher::default();
        desk.tap(Key::Char('a'));
        watcher.sees(&desk);
        let mut commands: Vec<Command> = Vec::new();
        for (at, (key, gap)) in presses.into_iter().chain([(Key::Char('y'), 0)]).enumerate() {
            if let Some((_, (width, height))) = resize.filter(|(when, _)| *when == at) {
                desk.resize(width, height);
                watcher.sees(&desk);
            }
            if desk.model.place() != Place::Batch && desk.model.place() != Place::Help {
                break;
            }
            commands.extend(desk.tap(key));
            watcher.sees(&desk);
            desk.now += gap;
            desk.send(Msg::Tick);
            desk.draw();
            watcher.sees(&desk);
        }
        for (_, ticket, _, verdict) in verdicts(&commands) {
            let call: usize = ticket.rsplit('-').next().unwrap().parse().unwrap();
            prop_assert_eq!(verdict, OperatorVerdict::Approve { unread: false });
            for word in 0..words[call] {
                let word = format!("w{call}x{word}");
                prop_assert!(watcher.read.contains(&word), "{} was never on the screen long enough", word);
            }
        }
    }
}

/// Ten calls of some lines each are read page by page, and all are recorded as read.
#[test]
fn what_is_scrolled_past_is_read() {
    let mut desk = marked(80, 24, &[20; 10]);
    desk.keys("a");
    desk.look();
    assert!(desk.screen().contains("Approve these 10 calls?"), "{}", desk.screen());
    let mut pages = 1;
    while desk.screen().contains("below") {
        desk.press(Key::PageDown);
        desk.look();
        pages += 1;
    }
    assert!(pages <= 4, "{pages}");
    let verdicts = sent(&desk.keys("y"));
    assert_eq!(verdicts.len(), 10);
    assert!(verdicts.iter().all(|(_, verdict)| *verdict == APPROVE), "{verdicts:?}");
    assert!(desk.model.queue.marked.is_empty());
}

#[test]
fn pages_that_only_flash_by_are_not_read() {
    let mut desk = marked(80, 24, &[20; 10]);
    desk.tap(Key::Char('a'));
    for _ in 0..5 {
        desk.tap(Key::PageDown);
        desk.now += 25;
    }
    desk.look();
    let verdicts = sent(&desk.keys("y"));
    assert!((1..10).contains(&verdicts.len()), "{verdicts:?}");
    assert!(desk.screen().contains("not ticked or not read"), "{}", desk.screen());
    // What is left stays marked.
    assert_eq!(desk.model.queue.marked_calls().len(), 10 - verdicts.len());
}

#[test]
fn a_call_that_does_not_fit_is_read_once_it_was_opened() {
    let mut desk = marked(80, 24, &[3, 300]);
    desk.keys("a");
    desk.look();
    assert!(desk.screen().contains("Enter opens it"), "{}", desk.screen());
    assert_eq!(sent(&desk.keys("y")), [("filesystem-0".into(), APPROVE)], "the other one waits on");
    desk.look();
    desk.keys("a");
    desk.look();
    assert_eq!(sent(&desk.keys("y")), [], "{}", desk.screen());
    desk.now += 1000;
    desk.press(Key::Enter);
    desk.look();
    assert_eq!(sent(&desk.keys("y")), [], "it is opened, and not read to its end");
    desk.now += 1000;
    (0..4).for_each(|_| drop(desk.press(Key::PageDown)));
    assert!(desk.screen().contains("1 read"), "{}", desk.screen());
    assert_eq!(sent(&desk.keys("y")), [("filesystem-1".into(), APPROVE)]);
}

#[test]
fn a_call_without_a_tick_gets_no_verdict() {
    let mut desk = marked(80, 24, &[3, 3, 3]);
    desk.keys("a");
    desk.look();
    desk.keys("j ");
    assert!(desk.screen().contains("2 ticked") && desk.screen().contains("[ ]"), "{}", desk.screen());
    // Help is over the list, and leaves it as it was.
    desk.keys("?");
    assert!(desk.screen().contains("This list of calls"), "{}", desk.screen());
    desk.press(Key::Esc);
    desk.look();
    let tickets: Vec<String> = sent(&desk.keys("y")).into_iter().map(|(ticket, _)| ticket).collect();
    assert_eq!(tickets, ["filesystem-0", "filesystem-2"]);
    assert!(desk.screen().contains("1 not ticked or not read waits on"), "{}", desk.screen());
}

#[test]
fn what_was_read_in_the_list_stays_read_and_the_rest_is_unread() {
    let mut desk = marked(80, 24, &[3, 300]);
    desk.keys("a");
    desk.look();
    desk.press(Key::Esc);
    desk.keys("A");
    desk.look();
    assert_eq!(sent(&desk.keys("y")), [("filesystem-0".into(), APPROVE), ("filesystem-1".into(), UNREAD)]);
}

#[test]
fn a_dangerous_call_is_not_listed_where_its_word_must_be_typed() {
    let mut desk = marked(80, 24, &[3; 5]);
    desk.model.settings.confirmation = Confirmation::Word;
    desk.keys("a");
    assert!(desk.screen().contains("1 of 5 dangerous"), "{}", desk.screen());
    assert_ne!(desk.model.place(), Place::Batch);
}

#[test]
fn the_list_at_every_size() {
    at_every_size("reading", |desk| {
        for at in 0..6 {
            desk.hold(worded(at, [4, 30, 300, 9, 2, 5][at]));
        }
        desk.hold(overwrite("filesystem-20", "milk\neggs\n", "milk\nbread\n"));
        desk.hold(write("filesystem-21"));
        desk.hold(write("filesystem-22"));
        desk.look();
        desk.keys("**a");
        desk.look();
        desk.keys("j ");
    });
}
