//! The screens beside Waiting, key by key: searching, going from one to another, commands, the mouse, the tour.

use std::collections::BTreeSet;

use mcp_approve::audit::record::VerdictWord;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::model::Palette;
use mcp_approve::console::model::{Manner, Screen, Tour};
use mcp_approve::console::update::{Command, Msg, Turn};
use mcp_approve::link::message::{Activity, ActivityKind, FromWrapper};
use mcp_approve::operator::found::{Edge, Finding, Line, LogRequest, Page, Progress};
use mcp_approve::policy::rule::Decision;
use proptest::prelude::*;

use crate::desk::*;
use crate::screens::lists::scenes::{awaited, line};
use crate::screens::log_pages::Log;

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// However one moves, the window has no gap, no record twice, and the selection is in it.
    #[test]
    fn the_window_of_the_log_has_no_gap(newest in 0_u64..9_000, moves in prop::collection::vec(0_usize..7, 0..30)) {
        let log = Log { newest };
        let mut desk = Desk::connected(80, 24);
        log.press(&mut desk, Key::Char('3'));
        for at in moves {
            let key = [Key::Down, Key::Up, Key::PageDown, Key::PageUp, Key::Home, Key::End, Key::Enter][at];
            for _ in 0..if matches!(key, Key::PageDown | Key::PageUp) { 40 } else { 1 } {
                log.press(&mut desk, key);
            }
            let window = &desk.model.log.window;
            let seqs: Vec<u64> = window.lines.iter().map(|line| line.seq).collect();
            prop_assert!(seqs.windows(2).all(|pair| pair[0] == pair[1] + 1), "a gap");
            prop_assert!(seqs.is_empty() || desk.model.log.list.at < seqs.len());
        }
    }
}

#[test]
fn a_search_that_leaves_no_waiting_call_says_so_and_how_to_drop_it() {
    let mut desk = Desk::connected(80, 24);
    desk.model.settings.tour = Tour::Dismissed;
    desk.hold(overwrite("filesystem-1", "a\n", "b\n"));
    desk.keys("/zzz");
    desk.press(Key::Enter);
    assert!(desk.line("No matches.").contains("Esc drops the search"));
    desk.press(Key::Esc);
    assert!(!desk.screen().contains("No matches.") && desk.screen().contains("write_file"));
}

#[test]
fn esc_in_a_search_brings_back_the_last_one() {
    let mut desk = Desk::connected(80, 24);
    desk.keys("3/tool:read");
    desk.press(Key::Enter);
    desk.keys("/x");
    assert_eq!(desk.model.log.list.find, "tool:read x", "a word of its own");
    desk.press(Key::Esc);
    assert_eq!(desk.model.log.list.find, "tool:read");
    desk.press(Key::Esc);
    assert_eq!(desk.model.log.list.find, "");
    desk.press(Key::Esc);
    assert_eq!(desk.model.screen, Screen::Queue);
}

#[test]
fn a_search_that_cannot_be_meant_says_so_and_the_last_one_stands() {
    let mut desk = Desk::connected(80, 24);
    desk.keys("3/verdict:deny");
    let before = desk.model.log.list.search.clone();
    desk.keys("x");
    assert!(desk.screen().contains("verdict cannot be denyx"));
    assert_eq!(desk.model.log.list.search, before);
}

#[test]
fn the_last_decisions_stand_before_what_passes_and_none_twice() {
    let mut desk = Desk::connected(80, 24);
    let live = Activity { ticket: Some("filesystem-2".into()), ..passed(5, ActivityKind::Call, "write_file") };
    desk.say("files", FromWrapper::Activity(live));
    assert!(desk.keys("2").contains(&Command::Look(LogRequest::Recent)));
    let call = |seq, ticket: &str| Line {
        ticket: Some(ticket.into()),
        verdict: Some(VerdictWord::Deny),
        note: "not today".into(),
        ruling: Some(Decision::Ask),
        ..line(seq, "decision")
    };
    let outcome = Line { ticket: Some("filesystem-1".into()), latency_us: Some(7_000), ..line(2, "outcome") };
    desk.send(Msg::Found(Finding::Recent(vec![call(1, "filesystem-1"), outcome, call(3, "filesystem-2")])));
    assert_eq!(desk.model.activity.passed.len(), 3);
    desk.line("not today");
    // How fast it answered before this console was there stands above, and its filters hold for it.
    desk.line("filesystem █        7ms");
    desk.keys("/ruling:ask");
    desk.press(Key::Enter);
    desk.line("1 of 3 messages");
    assert!(!desk.keys("1").contains(&Command::Look(LogRequest::Recent)));
}

#[test]
fn activity_is_filtered_and_a_call_leads_to_its_records() {
    let mut desk = Desk::connected(80, 24);
    for i in 0..30 {
        let verdict = if i % 10 == 3 { VerdictWord::Deny } else { VerdictWord::Approve };
        let call = Activity {
            ticket: Some(format!("filesystem-{i}")),
            verdict: Some(verdict),
            reason: "too large".into(),
            ..passed(i, ActivityKind::Call, "write_file")
        };
        desk.say("files", FromWrapper::Activity(call));
    }
    desk.keys("2/verdict:deny");
    desk.press(Key::Enter);
    desk.line("3 of 30 messages");
    desk.line("denied");
    desk.press(Key::Up);
    let id = awaited(&desk.press(Key::Enter));
    assert_eq!(desk.model.screen, Screen::Log);
    assert_eq!(desk.model.log.list.find, "ticket:=filesystem-13 session:=files");
    // The call's row opens, once it is here: its decision, which its other records are behind.
    let of = |seq, kind| Line { ticket: Some("filesystem-13".into()), ..line(seq, kind) };
    let lines = vec![of(52, "decision"), of(51, "decision-asked")];
    let (from, progress) = (Edge::Newest, Progress::AtTheEnd);
    let found = desk.send(Msg::Found(Finding::Page(Page { id, from, lines, searched: 1, newest: 60, progress })));
    assert!(found.contains(&Command::Look(LogRequest::Record { seq: 52 })), "{found:?}");
    // No page opens anything a second time.
    desk.press(Key::Esc);
    assert_eq!(desk.model.log.window.lines.len(), 1);
    assert_eq!(desk.model.log.list.sheet, None);
    // What led here is no search of one's own: a new one begins without it, and the key alone shows the whole log.
    desk.keys("/tool:x");
    assert_eq!(desk.model.log.list.find, "tool:x");
    desk.press(Key::Esc);
    assert_eq!(desk.model.log.list.find, "ticket:=filesystem-13 session:=files", "Esc brings it back");
    desk.keys("13");
    assert_eq!(desk.model.log.list.find, "");
}

#[test]
fn the_title_stands_beside_what_led_to_it() {
    let mut desk = Desk::connected(80, 24);
    let session = "f6765c90387cf23b7fb12ec767b62b33";
    let records: Vec<Line> =
        (1..=3).rev().map(|seq| Line { session: session.into(), ..line(seq, "decision") }).collect();
    let id = awaited(&desk.keys("3"));
    let (from, progress) = (Edge::Newest, Progress::AtTheEnd);
    desk.send(Msg::Found(Finding::Page(Page { id, from, lines: records, searched: 1, newest: 3, progress })));
    desk.press(Key::Enter);
    desk.keys("6");
    assert_eq!(desk.model.servers.list.find, format!("session:={session}"));
    desk.line("/session:=f6765c90…");
}

#[test]
fn the_palette_names_every_key_and_decides_nothing() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(write("filesystem-1"));
    desk.look();
    desk.keys(":approve");
    let commands = desk.tap(Key::Enter);
    assert_eq!(verdicts(&commands), []);
    desk.line("Only its own key does that");
    // The card was covered meanwhile: it is armed again only after it was seen.
    assert_eq!(verdicts(&desk.keys("a")), []);
    desk.look();
    assert_eq!(verdicts(&desk.keys("a")).len(), 1);
    desk.keys(":thl");
    desk.press(Key::Enter);
    assert_eq!(desk.model.settings.palette, Palette::Light);
    desk.keys(":verify");
    assert!(desk.press(Key::Enter).contains(&Command::Look(LogRequest::Verify)));
}

#[test]
fn quiet_rings_no_bell() {
    let mut desk = Desk::connected(80, 24);
    desk.keys(":quiet");
    desk.press(Key::Enter);
    assert_eq!(desk.model.settings.manner, Manner::Quiet);
    assert!(!desk.hold(write("filesystem-1")).contains(&Command::Bell));
}

#[test]
fn the_mouse_selects_and_scrolls_and_decides_nothing() {
    let mut desk = Desk::connected(80, 24);
    for i in 1..=5 {
        let arguments = format!(r#"{{"path":"notes/{i}.md"}}"#);
        desk.hold(with_arguments(write(&format!("filesystem-{i}")), &arguments));
    }
    desk.look();
    let mut seen = BTreeSet::new();
    for y in 0..24 {
        for x in [0, 40, 79] {
            for msg in [Msg::Click(x, y), Msg::Wheel(Turn::Down, x, y), Msg::Wheel(Turn::Up, x, y)] {
                assert_eq!(desk.send(msg), []);
                desk.draw();
            }
        }
        seen.insert(desk.model.queue.selected.clone().unwrap().ticket);
    }
    assert!(seen.len() > 2, "{seen:?}");
    desk.look();
    desk.keys("A");
    let held = desk.model.queue.waiting();
    desk.hold(delete("filesystem-9"));
    desk.send(Msg::Click(5, 23));
    assert_eq!(desk.model.queue.waiting(), held + 1);
    // A question stands for its call: a click beside it changes nothing.
    desk.keys("D");
    assert!(desk.model.overlay.is_some());
    let selected = desk.model.queue.selected.clone();
    for y in 0..24 {
        desk.send(Msg::Click(5, y));
        assert_eq!(desk.model.queue.selected, selected);
    }
    assert!(desk.model.overlay.is_some());
}

#[test]
fn the_tour_stays_until_it_is_dismissed() {
    let mut desk = Desk::connected(80, 24);
    desk.model.settings.tour = Tour::Shown;
    desk.line("dismisses these lines for good");
    desk.keys("2");
    assert!(!desk.screen().contains("dismisses these"));
    desk.keys("1");
    assert_eq!(desk.press(Key::Esc), [Command::Look(LogRequest::TourSeen)]);
    assert!(!desk.screen().contains("dismisses these"));
    desk.model.settings.tour = Tour::Shown;
    desk.hold(write("filesystem-1"));
    desk.line("hides this row");
    desk.resize(80, 15);
    assert!(!desk.screen().contains("hides this row"), "what waits needs the room");
}

#[test]
fn a_note_about_a_moment_passes_with_it() {
    let mut desk = Desk::connected(80, 24);
    desk.keys("a");
    desk.line("Nothing is selected.");
    desk.now += 5_000;
    desk.send(Msg::Tick);
    assert!(!desk.screen().contains("Nothing is selected."));
}

#[test]
fn every_screen_is_drawn_at_any_size() {
    for (width, height) in [(1, 1), (3, 2), (10, 4), (40, 12), (41, 5), (79, 9), (200, 3), (300, 100)] {
        let log = Log { newest: 40 };
        let mut desk = Desk::connected(width, height);
        desk.hold(delete("filesystem-1"));
        for keys in ["1", "2", "3", "4", "5", "6", ":", "x"] {
            log.press(&mut desk, Key::Char(keys.chars().next().unwrap()));
            for key in [Key::Enter, Key::Down, Key::PageDown, Key::End, Key::Home, Key::Up] {
                log.press(&mut desk, key);
            }
        }
    }
}
