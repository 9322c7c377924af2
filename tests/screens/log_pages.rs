//! The Log key by key: pages that are fetched as it is walked, what comes meanwhile, a record that is opened.

use mcp_approve::console::keymap::Key;
use mcp_approve::console::model::Screen;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::operator::found::{Edge, Finding, Line, LogRequest, LogRows, Page, Progress};

use crate::desk::*;
use crate::screens::lists::scenes::{awaited, line};

/// A log of so many records behind a log reader that answers at once, as a log reader does.
pub(super) struct Log {
    pub(super) newest: u64,
}

impl Log {
    pub(super) fn answer(&self, desk: &mut Desk, commands: Vec<Command>) {
        let mut todo: Vec<Command> = commands;
        while let Some(command) = todo.pop() {
            let Command::Look(LogRequest::Page(wanted)) = command else { continue };
            let most = u64::try_from(wanted.most).unwrap();
            let (first, last) = match wanted.from {
                Edge::Newest => (self.newest.saturating_sub(most - 1).max(1), self.newest),
                Edge::Below(seq) => (seq.saturating_sub(most).max(1), seq - 1),
                Edge::Oldest => (1, most.min(self.newest)),
                Edge::Above(seq) => (seq + 1, (seq + most).min(self.newest)),
            };
            let lines: Vec<Line> = (first..=last).rev().map(call).collect();
            let up = matches!(wanted.from, Edge::Oldest | Edge::Above(_));
            let ended = if up { last == self.newest } else { first == 1 };
            let progress = if ended { Progress::AtTheEnd } else { Progress::Full };
            let searched = if up { last.max(first) } else { first };
            let (id, from, newest) = (wanted.id, wanted.from, self.newest);
            todo.extend(desk.send(Msg::Found(Finding::Page(Page { id, from, lines, searched, newest, progress }))));
        }
    }

    pub(super) fn press(&self, desk: &mut Desk, key: Key) {
        let commands = desk.press(key);
        self.answer(desk, commands);
    }
}

/// The decision of a call of its own.
fn call(seq: u64) -> Line {
    Line { ticket: Some(format!("filesystem-{seq}")), ..line(seq, "decision") }
}

fn selected(desk: &Desk) -> u64 {
    desk.model.log.window.lines[desk.model.log.list.at].seq
}

#[test]
fn a_million_records_are_walked_with_a_few_in_memory() {
    let log = Log { newest: 1_000_000 };
    let mut desk = Desk::connected(80, 24);
    log.press(&mut desk, Key::Char('3'));
    assert_eq!(selected(&desk), 1_000_000);
    for _ in 0..400 {
        log.press(&mut desk, Key::PageDown);
        assert!(desk.model.log.window.lines.len() <= 4_400);
    }
    assert_eq!(selected(&desk), 1_000_000 - 400 * 18);
    log.press(&mut desk, Key::End);
    assert_eq!(selected(&desk), 1);
    log.press(&mut desk, Key::Up);
    assert_eq!(selected(&desk), 2);
    for _ in 0..300 {
        log.press(&mut desk, Key::PageUp);
    }
    assert_eq!(selected(&desk), 2 + 300 * 18);
    log.press(&mut desk, Key::Home);
    assert_eq!(selected(&desk), 1_000_000);
}

#[test]
fn what_comes_is_seen_at_the_top_and_moves_nothing_elsewhere() {
    let mut log = Log { newest: 50 };
    let mut desk = Desk::connected(80, 24);
    log.press(&mut desk, Key::Char('3'));
    let later = |desk: &mut Desk, log: &Log| {
        desk.now += 2_000;
        let commands = desk.send(Msg::Tick);
        log.answer(desk, commands);
    };
    log.newest = 52;
    later(&mut desk, &log);
    assert_eq!(selected(&desk), 52);
    log.press(&mut desk, Key::Down);
    log.newest = 60;
    later(&mut desk, &log);
    assert_eq!(selected(&desk), 51);
}

#[test]
fn a_late_page_of_another_search_is_dropped() {
    let mut desk = Desk::connected(80, 24);
    let old = awaited(&desk.keys("3"));
    let new = awaited(&desk.keys("/x"));
    assert_ne!(old, new);
    let page = |id| {
        let lines = vec![line(7, "decision")];
        Msg::Found(Finding::Page(Page {
            id,
            from: Edge::Newest,
            lines,
            searched: 1,
            newest: 7,
            progress: Progress::AtTheEnd,
        }))
    };
    desk.send(page(old));
    assert!(desk.model.log.window.lines.is_empty());
    desk.send(page(new));
    assert_eq!(desk.model.log.window.lines.len(), 1);
}

#[test]
fn a_missing_log_is_not_asked_for_without_rest() {
    let mut desk = Desk::connected(80, 24);
    desk.keys("3");
    for _ in 0..20 {
        let asked = desk.send(Msg::Found(Finding::NoLog));
        assert!(!asked.iter().any(|command| matches!(command, Command::Look(LogRequest::Page(_)))), "{asked:?}");
    }
    desk.now += 1_500;
    awaited(&desk.send(Msg::Tick));
}

#[test]
fn an_open_record_leads_to_its_tool_rule_and_server() {
    for (key, screen, find) in [
        ('4', Screen::Tools, "tool:=write_file server:filesystem"),
        ('5', Screen::Rules, "rule:=scratch"),
        ('6', Screen::Servers, "session:=files"),
    ] {
        let mut desk = Desk::connected(80, 24);
        let id = awaited(&desk.keys("3"));
        let lines = vec![Line { rule: Some("scratch".into()), ..line(9, "decision") }];
        let (from, progress) = (Edge::Newest, Progress::AtTheEnd);
        desk.send(Msg::Found(Finding::Page(Page { id, from, lines, searched: 1, newest: 9, progress })));
        desk.press(Key::Enter);
        desk.press(Key::Char(key));
        assert_eq!(desk.model.screen, screen);
        assert_eq!(desk.model.list(screen).unwrap().find, find);
        assert!(desk.model.list(screen).unwrap().sheet.is_some());
    }
}

#[test]
fn the_log_has_one_row_a_call_and_o_shows_every_record() {
    let mut desk = Desk::connected(80, 24);
    let page = |id, from, lines: Vec<Line>, newest| {
        let (searched, progress) = (newest, Progress::AtTheEnd);
        Msg::Found(Finding::Page(Page { id, from, lines, searched, newest, progress }))
    };
    let of = |seq, kind: &str, n: u64| Line { ticket: Some(format!("filesystem-{n}")), ..line(seq, kind) };
    let seqs = |desk: &Desk| desk.model.log.window.lines.iter().map(|line| line.seq).collect::<Vec<_>>();
    let asked = desk.keys("3");
    let wanted = |commands: &[Command]| match commands.last() {
        Some(Command::Look(LogRequest::Page(wanted))) => wanted.rows,
        other => panic!("{other:?}"),
    };
    let pages: Vec<Command> =
        asked.iter().filter(|one| matches!(one, Command::Look(LogRequest::Page(_)))).cloned().collect();
    assert_eq!(wanted(&pages), LogRows::Calls);
    // A decision is its call's row, and what was withdrawn after it says less; else the newest.
    let lines =
        vec![of(9, "withdrawn", 2), of(8, "decision", 2), of(7, "decision-asked", 2), of(6, "decision-asked", 1)];
    desk.send(page(awaited(&asked), Edge::Newest, lines, 9));
    assert_eq!(seqs(&desk), [8, 6]);
    // The call that waited is decided: its row moves up, and the selection goes with it.
    desk.press(Key::Down);
    desk.now += 2_000;
    let asked = desk.send(Msg::Tick);
    desk.send(page(awaited(&asked), Edge::Above(9), vec![of(10, "decision", 1)], 10));
    assert_eq!((seqs(&desk), selected(&desk)), (vec![10, 8], 10));
    // Every record, and back; whoever asks for a kind of record wants records.
    desk.line("every record");
    let asked = desk.keys("o");
    let pages: Vec<Command> =
        asked.into_iter().filter(|one| matches!(one, Command::Look(LogRequest::Page(_)))).collect();
    assert_eq!(wanted(&pages), LogRows::Records);
    desk.send(page(awaited(&pages), Edge::Newest, vec![of(10, "decision", 1), of(9, "withdrawn", 2)], 10));
    desk.press(Key::Up);
    assert_eq!(seqs(&desk), [10, 9]);
    desk.line("one row a call");
    desk.keys("o/kind:policy");
    assert_eq!(desk.model.log.rows(), LogRows::Records);
}
