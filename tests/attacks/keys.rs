//! What keys do while the screen changes, and what no key does: rows B13 and D3 to D9 as far as the console answers them.

use crate::desk::*;
use mcp_approve::audit::record::VerdictWord;
use mcp_approve::console::keymap::{Key, Place};
use mcp_approve::console::model::Confirmation;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::{FromConsole, OperatorVerdict};
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
    screen: String,
    /// Ticket and digest on the card of the last frame.
    card: Option<(String, Digest)>,
    /// The digests of all calls as the last frame was drawn.
    digests: BTreeMap<String, Digest>,
    /// Since when this card and this question have been on screen, with no key pressed.
    since: Option<i64>,
    /// The call that the last `d` was pressed on.
    denying: Option<(String, Digest)>,
}

impl Eye {
    fn look(&mut self, desk: &mut Desk, truth: &BTreeMap<String, Snapshot>) {
        let screen = desk.screen();
        let title = screen.lines().find_map(|line| line.strip_prefix("━ filesystem-"));
        let card = title.and_then(|title| {
            let number: String = title.chars().take_while(char::is_ascii_digit).collect();
            let ticket = format!("filesystem-{number}");
            truth.get(&ticket).map(|call| (ticket, call.digest))
        });
        let question = |screen: &str| screen.lines().find(|line| line.starts_with(" Approve th")).map(str::to_owned);
        if card != self.card || question(&screen) != question(&self.screen) {
            self.since = None;
        }
        self.since = self.since.or(Some(desk.now));
        (self.screen, self.card) = (screen, card);
        self.digests = truth.iter().map(|(ticket, call)| (ticket.clone(), call.digest)).collect();
    }

    /// Presses a key, and holds what is sent to what was on screen.
    fn press(&mut self, desk: &mut Desk, key: Key, truth: &BTreeMap<String, Snapshot>) -> Vec<Command> {
        if key == Key::Char('d') && matches!(desk.model.place(), Place::Queue | Place::Detail) {
            self.denying = self.card.clone();
        }
        let commands = desk.send(Msg::Key(key));
        let stood = self.since.take().map_or(0, |since| desk.now - since);
        for (_, ticket, digest, verdict) in verdicts(&commands) {
            let it = Some((ticket.clone(), digest));
            let what = format!("{key:?} after {stood} ms: {verdict:?} for {ticket}; the screen:\n{}", self.screen);
            let deny = matches!(verdict, OperatorVerdict::Deny { .. });
            assert!(stood >= 300 || key == Key::Enter && deny, "{what}");
            match key {
                Key::Enter => assert!(deny && self.denying == it, "{what}"),
                Key::Char('y') if self.card.is_none() => {
                    assert!(self.screen.contains(&ticket) && self.digests.get(&ticket) == Some(&digest), "{what}");
                }
                Key::Char('y') => {
                    assert!(self.card == it && self.screen.contains(" Approve this dangerous call"), "{what}");
                }
                _ => assert!(self.card == it && truth[&ticket].danger.is_none() && !deny, "{what}"),
            }
        }
        let other = |command: &&Command| {
            matches!(command, Command::WriteRule { .. })
                || matches!(command, Command::Send { message: FromConsole::Grant { .. } | FromConsole::Pin { .. }, .. })
        };
        assert!(stood >= 300 || !commands.iter().any(|command| other(&command)), "{key:?} after {stood} ms");
        commands
    }
}

/// A queue to which things happen, and the one who watches it.
struct Race {
    dice: Dice,
    desk: Desk,
    eye: Eye,
    truth: BTreeMap<String, Snapshot>,
    number: usize,
    decided: usize,
}

impl Race {
    fn new(seed: u64) -> Self {
        let (desk, eye, truth) = (Desk::connected(60, 14), Eye::default(), BTreeMap::new());
        Self { dice: Dice(seed), desk, eye, truth, number: 0, decided: 0 }
    }

    /// Something happens at the wrapper, or nothing does.
    fn happens(&mut self) {
        let any = self.truth.keys().nth(self.dice.below(self.truth.len().max(1))).cloned();
        match (self.dice.below(5), any) {
            (0 | 1, _) | (_, None) if self.truth.len() < 12 => {
                self.number += 1;
                let ticket = format!("filesystem-{}", self.number);
                let call = if self.dice.below(3) == 0 { own_delete(&ticket) } else { own(&ticket) };
                self.truth.insert(ticket, call.clone());
                self.desk.hold(call);
            }
            (2, Some(ticket)) => {
                self.desk.settle(&ticket, VerdictWord::Deny, "another");
                self.truth.remove(&ticket);
            }
            (3, Some(ticket)) => {
                let number = self.dice.below(1 << 30);
                let edited = with_arguments(self.truth[&ticket].clone(), &format!("{{\"round\":{number}}}"));
                self.truth.insert(ticket, edited.clone());
                self.desk.hold(edited);
            }
            _ => {}
        }
    }

    fn look(&mut self) {
        self.eye.look(&mut self.desk, &self.truth);
    }

    /// A key comes down; what it decides is settled.
    fn press(&mut self, key: Key) -> Vec<(String, Digest, OperatorVerdict)> {
        let commands = self.eye.press(&mut self.desk, key, &self.truth);
        let sent: Vec<_> =
            verdicts(&commands).into_iter().map(|(_, ticket, digest, verdict)| (ticket, digest, verdict)).collect();
        for (ticket, digest, verdict) in &sent {
            self.decided += 1;
            assert_eq!(self.truth.remove(ticket).map(|call| call.digest), Some(*digest), "{key:?}");
            self.desk.settle(ticket, verdict.word(), "this one");
        }
        sent
    }

    /// No question is open, and nobody has touched anything for a while.
    fn rests(&mut self) {
        for _ in 0..3 {
            self.press(Key::Esc);
            self.desk.now += 500;
            self.look();
        }
        self.press(Key::Char('1'));
        self.desk.now += 500;
        self.look();
    }
}

#[test]
fn b13_thousands_of_races_and_no_verdict_on_another_call() {
    #[rustfmt::skip]
    const KEYS: &[Key] = &[
        Key::Char('a'), Key::Char('a'), Key::Char('A'), Key::Char('A'), Key::Char('d'), Key::Char('y'), Key::Char('y'),
        Key::Enter, Key::Enter, Key::Down, Key::Up, Key::End, Key::Esc, Key::Esc, Key::Char('s'), Key::Char(' '),
        Key::Char('r'),
    ];
    let mut race = Race::new(0x00C0_FFEE);
    for _ in 0..3_500 {
        // Something happens, perhaps before the screen shows it, perhaps after, perhaps with time in between …
        race.happens();
        if race.dice.below(2) == 0 {
            race.look();
        }
        race.desk.now += [0, 30, 250, 299, 301, 450, 600, 900][race.dice.below(8)];
        if race.dice.below(2) == 0 {
            race.look();
            race.desk.now += [0, 30, 299, 301][race.dice.below(4)];
        }
        // … and a key comes down.
        let key = KEYS[race.dice.below(KEYS.len())];
        race.press(key);
    }
    assert!(race.decided > 100, "only {} decisions: the race was not run", race.decided);
}

/// `d`, a reason and Enter, typed without looking up, while calls come, change and go: the whole reason denies the call that was
/// on screen at `d`, or nothing is decided at all, and no letter acts.
#[test]
fn d8_a_typed_reason_denies_the_call_it_was_typed_for_or_nothing() {
    const REASON: &str = "ask me: a y A p D e r y";
    let mut race = Race::new(0x0BAD_F00D);
    let (mut whole, mut nothing) = (0, 0);
    for round in 0..150 {
        race.happens();
        race.happens();
        race.rests();
        let word = if round % 3 == 0 { "ad" } else { "d" };
        let mut prompt = None;
        for c in word.chars().chain(REASON.chars()).chain(['\n']) {
            if race.dice.below(4) == 0 {
                race.happens();
            }
            if race.dice.below(2) == 0 {
                race.look();
            }
            let key = if c == '\n' { Key::Enter } else { Key::Char(c) };
            let before = race.desk.model.place();
            let standing = prompt.clone().filter(|(ticket, digest)| {
                race.truth.get(ticket).is_some_and(|call: &Snapshot| call.digest == *digest)
            });
            let sent = race.press(key);
            if prompt.is_none() && c == 'd' && before == Place::Queue && race.desk.model.place() == Place::Reason {
                prompt = race.eye.denying.clone();
            }
            match standing {
                _ if c == 'a' && prompt.is_none() => {}
                Some((ticket, digest)) if c == '\n' => {
                    let reason = REASON.to_owned();
                    assert_eq!(sent, [(ticket, digest, OperatorVerdict::Deny { reason })], "round {round}");
                    whole += 1;
                }
                _ => assert_eq!(sent, [], "round {round}: {key:?}"),
            }
            nothing += usize::from(c == '\n' && sent.is_empty());
            race.desk.now += [0, 1, 30, 80, 120, 250, 390][race.dice.below(7)];
        }
    }
    assert!(whole > 60 && nothing > 40, "{whole} denied, {nothing} not: the race was not run");
}

/// What was seen: `a`, `d` and the reason in one go. The first is approved; then exactly the second is denied, or nothing is.
#[test]
fn d8_what_is_typed_behind_a_decision_approves_nothing() {
    for gap in [0, 30, 100, 200, 290, 310, 500] {
        for frames in [false, true] {
            let mut desk = Desk::connected(80, 24);
            for i in 1..=3 {
                desk.hold(own(&format!("filesystem-{i}")));
            }
            desk.look();
            assert_eq!(verdicts(&desk.send(Msg::Key(Key::Char('a')))).len(), 1);
            if frames {
                desk.draw();
            }
            desk.now += gap;
            let sent = desk.types("dask me first\n", 90);
            let denied: Vec<_> = verdicts(&sent).into_iter().map(|(_, ticket, _, verdict)| (ticket, verdict)).collect();
            let reason = "ask me first".to_owned();
            let whole = [("filesystem-2".to_owned(), OperatorVerdict::Deny { reason })];
            assert_eq!(denied, if frames { &whole[..] } else { &[] }, "{gap} ms");
            assert!(
                !sent.iter().any(|command| matches!(command, Command::WriteRule { .. } | Command::OpenEditor { .. }))
            );
            if !frames {
                assert!(desk.screen().contains("Keys are ignored until you pause"), "{}", desk.screen());
            }
        }
    }
}

/// Whatever becomes of a call while its denial is typed, the letters are text, and Enter says what came of it.
#[test]
fn d8_a_prompt_stays_open_when_its_call_changes_or_ends() {
    type Happens = fn(&mut Desk) -> Vec<Command>;
    let happenings: [(&str, Happens); 3] = [
        ("settles", |desk| desk.settle("filesystem-1", VerdictWord::Approve, "ada")),
        ("changes", |desk| desk.hold(with_arguments(own("filesystem-1"), "{}"))),
        ("goes", |desk| desk.link(ClientEvent::Gone { session: "files".into() })),
    ];
    for (what, happens) in happenings {
        let mut desk = Desk::connected(80, 24);
        desk.hold(own("filesystem-1"));
        desk.hold(own("filesystem-2"));
        desk.look();
        assert_eq!(desk.types("dask ", 50), []);
        assert_eq!(happens(&mut desk), [], "{what}: nothing that was typed is dropped");
        assert_eq!(desk.types("a y", 50), [], "{what}");
        let screen = desk.screen();
        assert!(screen.contains("Too late: filesystem-1") && screen.contains("ask a y"), "{what}: {screen}");
        assert_eq!(desk.types("\n", 50), [], "{what}");
        assert!(desk.screen().contains("Keys are ignored until you pause. Too late: "), "{}", desk.screen());
        assert_eq!(desk.types("adyA\nr", 390), [], "{what}");
    }
    // The same call again, or with another deadline, is denied all the same.
    let mut desk = Desk::connected(80, 24);
    desk.hold(own("filesystem-1"));
    desk.look();
    desk.types("dask ", 50);
    desk.hold(own("filesystem-1"));
    desk.hold(Snapshot { deadline: Some(NINE + 90_000), ..own("filesystem-1") });
    let sent = desk.types("me\n", 50);
    assert!(matches!(&verdicts(&sent)[..], [(.., OperatorVerdict::Deny { reason })] if reason == "ask me"), "{sent:?}");
}

/// Enter alone denies only what the last frame showed: a card that changed under `D`, or under a mark, is looked at first.
#[test]
fn d8_a_card_that_changes_under_a_denial_of_several_is_looked_at_first() {
    let changing = || {
        let mut desk = Desk::connected(80, 24);
        desk.hold(own("filesystem-1"));
        desk.look();
        desk.hold(with_arguments(own("filesystem-1"), "{}"));
        desk
    };
    let mut desk = changing();
    assert_eq!(desk.types("Dask me first\n", 90), []);
    assert_eq!(desk.model.place(), Place::Queue);
    assert!(desk.screen().contains("look at it first"), "{}", desk.screen());
    let mut desk = changing();
    let sent: Vec<Command> =
        [' ', 'd'].map(Key::Char).into_iter().chain([Key::Enter]).flat_map(|key| desk.send(Msg::Key(key))).collect();
    assert_eq!(verdicts(&sent), []);
    assert!(desk.screen().contains("Deny this call"), "{}", desk.screen());
}

#[test]
fn d8_after_a_refused_key_keys_are_ignored_until_a_pause() {
    // Too soon; unread; without a meaning; nothing that could be confirmed; a paste.
    let long_one = || long(own("filesystem-1"));
    let refusals: [(&str, Snapshot, Msg); 5] = [
        ("too soon", own("filesystem-1"), Msg::Key(Key::Char('a'))),
        ("unread", long_one(), Msg::Key(Key::Char('a'))),
        ("no meaning", own("filesystem-1"), Msg::Key(Key::Char('@'))),
        ("no question", own("filesystem-1"), Msg::Key(Key::Char('y'))),
        ("a paste", own("filesystem-1"), Msg::Paste("a".into())),
    ];
    for (what, call, refused) in refusals {
        let mut desk = Desk::connected(80, 24);
        desk.hold(call);
        desk.draw();
        desk.now += if what == "too soon" { 299 } else { 1_000 };
        assert_eq!(desk.send(refused), [], "{what}");
        let words = "Keys are ignored until you pause";
        assert!(desk.screen().contains(words), "{what}: {}", desk.screen());
        // Each one starts the pause again, and the words are there until its end.
        assert_eq!(desk.types("adDArepmwxq", 399), [], "{what}");
        assert!(desk.screen().contains(words), "{what}: {}", desk.screen());
        assert_eq!(desk.model.place(), Place::Queue, "{what}");
        let tick = i64::try_from(desk.model.next_tick().expect("the words go by themselves")).unwrap();
        assert!((1..=400).contains(&tick), "{what}: {tick}");
        desk.now += tick;
        desk.send(Msg::Tick);
        assert!(!desk.screen().contains(words), "{what}: {}", desk.screen());
        assert_eq!(verdicts(&desk.types("A", 0)).len(), 1, "{what}: after the pause a key counts");
    }
    // Ctrl-C leaves whatever was refused; Esc leads out of a question.
    let mut desk = Desk::connected(80, 24);
    desk.hold(delete("filesystem-1"));
    desk.look();
    desk.types("ay", 30);
    assert_eq!(desk.model.place(), Place::Confirm);
    desk.send(Msg::Key(Key::Esc));
    assert_eq!(desk.model.place(), Place::Queue);
    assert_eq!(desk.types("a", 30), []);
    assert_eq!(desk.model.place(), Place::Queue, "and what follows it is still ignored");
    assert_eq!(desk.send(Msg::Key(Key::Ctrl('c'))), [Command::Quit]);
}

#[test]
fn d8_what_the_terminal_dropped_is_told_and_what_follows_it_ignored() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(own("filesystem-1"));
    desk.look();
    assert_eq!(desk.send(Msg::Drained), []);
    assert!(desk.screen().contains("were dropped"), "{}", desk.screen());
    assert_eq!(desk.types("aaa", 390), []);
    // A key that waited while the console was busy: that wait was no pause.
    desk.now += 500;
    assert_eq!(desk.send(Msg::Late(600)), []);
    assert_eq!(desk.types("a", 0), []);
    desk.look();
    assert_eq!(verdicts(&desk.types("a", 0)).len(), 1);
}

#[test]
fn d9_a_key_held_down_or_repeated_decides_nothing_dangerous() {
    for word in ["ay", "a", "aya", "Ay"] {
        for gap in [0, 10, 30, 100, 250, 299] {
            for frames in [false, true] {
                let mut desk = Desk::connected(80, 24);
                for i in 1..=10 {
                    desk.hold(own_delete(&format!("filesystem-{i}")));
                }
                desk.look();
                let mut sent = Vec::new();
                for c in word.chars().cycle().take(40) {
                    sent.extend(desk.send(Msg::Key(Key::Char(c))));
                    if frames {
                        desk.draw();
                    }
                    desk.now += gap;
                }
                assert_eq!(verdicts(&sent), [], "{word} every {gap} ms");
            }
        }
    }
    // Harmless calls: the first key decides the call on screen, and no repetition the next.
    for gap in [0, 10, 30, 100, 250, 299] {
        let mut desk = Desk::connected(80, 24);
        for i in 1..=10 {
            desk.hold(own(&format!("filesystem-{i}")));
        }
        desk.look();
        assert_eq!(verdicts(&desk.types(&"a".repeat(40), gap)).len(), 1, "every {gap} ms");
    }
}

/// Who presses a key, looks, and presses the next one half a second later is never refused.
#[test]
fn d9_a_person_who_looks_is_not_kept_waiting() {
    let mut desk = Desk::connected(80, 24);
    for i in 1..=3 {
        desk.hold(own(&format!("filesystem-{i}")));
    }
    for i in 4..=5 {
        desk.hold(own_delete(&format!("filesystem-{i}")));
    }
    desk.look();
    let sent = desk.types("aaa", 320);
    assert_eq!(verdicts(&sent).len(), 3);
    assert_eq!(verdicts(&desk.types("ayay", 320)).len(), 2);
}

/// The typed word takes no letter before its question has stood on screen, and none of its letters is a key, ever.
#[test]
fn d9_a_word_is_typed_once_its_question_was_looked_at() {
    let typing = || {
        let mut desk = Desk::connected(80, 24);
        desk.model.settings.confirmation = Confirmation::Word;
        desk.hold(own_delete("filesystem-1"));
        desk.hold(own("filesystem-2"));
        desk.look();
        desk.types("a", 0);
        let word = desk.model.queue.calls[0].snapshot.target.clone().unwrap();
        let word = word.rsplit('/').next().unwrap().to_owned();
        (desk, word)
    };
    let (mut desk, word) = typing();
    assert_eq!(desk.model.place(), Place::Word);
    desk.look();
    let word = desk.line("Type").split_whitespace().nth(1).map_or(word, str::to_owned);
    assert_eq!(verdicts(&desk.types(&word, 20)).len(), 1, "{word}");
    let (mut desk, _) = typing();
    assert_eq!(desk.types(&word, 20), [], "too soon");
    desk.look();
    let (first, rest) = word.split_at(1);
    assert_eq!(desk.types(first, 20), []);
    desk.settle("filesystem-1", VerdictWord::Deny, "ada");
    assert_eq!(desk.types(rest, 20), []);
    assert!(desk.screen().contains("Too late"), "{}", desk.screen());
    assert_eq!(desk.types("aaa", 500), [], "its letters are text until Esc");
}

/// Whether a key came to nothing; what was typed with one that came too soon is dropped.
fn is_nothing(commands: &[Command]) -> bool {
    commands.iter().all(|command| *command == Command::Drain)
}

#[test]
fn d3_a_key_pressed_as_the_screen_changes_decides_nothing() {
    let waiting = || {
        let mut desk = Desk::connected(80, 24);
        desk.hold(write("filesystem-1"));
        desk.hold(own("filesystem-2"));
        desk
    };
    // Not drawn; drawn but only just; drawn for 299 ms; for 300.
    for (is_drawn, wait, decides) in [(false, 1_000, 0), (true, 0, 0), (true, 299, 0), (true, 300, 1)] {
        let mut desk = waiting();
        if is_drawn {
            desk.draw();
        }
        desk.now += wait;
        let commands = desk.send(Msg::Key(Key::Char('a')));
        assert_eq!(verdicts(&commands).len(), decides, "{is_drawn} {wait}");
    }
    // Drawn for long, but a key came within the 300 ms before: a key that moves, or scrolls, counts as well.
    for key in [Key::Up, Key::PageDown, Key::Char('i'), Key::Char('s')] {
        let mut desk = waiting();
        desk.look();
        desk.send(Msg::Key(key));
        desk.draw();
        desk.now += 299;
        assert_eq!(verdicts(&desk.types("a", 0)), [], "{key:?}");
    }
    // The card of the selected call changes under the finger.
    for key in ['a', 'A', 'd', 'e'] {
        let mut desk = waiting();
        desk.look();
        desk.hold(with_arguments(write("filesystem-1"), "{}"));
        assert!(is_nothing(&desk.send(Msg::Key(Key::Char(key)))), "{key}");
        desk.look();
        assert_eq!(verdicts(&desk.keys("a"))[0].2, with_arguments(write("filesystem-1"), "{}").digest);
    }
}

#[test]
fn d4_pastes_and_typed_ahead_keys_decide_nothing() {
    let mut desk = Desk::connected(80, 24);
    for i in 1..=3 {
        desk.hold(own(&format!("filesystem-{i}")));
    }
    desk.look();
    assert_eq!(desk.send(Msg::Paste("aaa\rAyd\r".into())), []);
    desk.look();
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
