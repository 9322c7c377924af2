//! The index beside the log: what it finds is what a scan finds, however far it has come; and it is never in the way.

use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use mcp_approve::audit::fields::Field;
use mcp_approve::audit::index::{Index, SEGMENT, Step, Walk};
use mcp_approve::audit::moment::Clock;
use mcp_approve::audit::query;
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::audit::search::Search;
use mcp_approve::audit::store::{ReadOrder, Reader, Store};
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::policy::glob::Glob;
use mcp_approve::policy::rule::Decision;
use mcp_approve::wire::digest::Digest;
use proptest::prelude::*;
use rusqlite::Connection;

use crate::audit::log::log;
use crate::audit::{NOON, WRITER, folder, log_of, numbered, redactor};

/// Numbers from a seed (SplitMix64), so that a failing log can be had again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % below
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.roll(of.len() as u64)).unwrap()].clone()
    }

    fn perhaps<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        if self.roll(3) == 0 { None } else { Some(self.one(of)) }
    }
}

const SERVERS: [&str; 4] = ["filesystem", "git", "filesystem#2", "Größe"];
const TOOLS: [&str; 6] = ["read_file", "write_file", "Delete It", "a\"b\\c", "\u{212A}elvin", "straße"];
const RULES: [&str; 3] = ["scratch", "no-delete", "caf\u{e9}"];
const WORDS: [&str; 8] =
    ["notes", "deadbeef", "İstanbul", "tab\there", "DROP TABLE users", "12345", "日本", "src/main.rs"];

fn entry(dice: &mut Dice, n: i64) -> Entry {
    let kinds = [Kind::Decision, Kind::DecisionAsked, Kind::Outcome, Kind::Forward, Kind::Withdrawn, Kind::Fault];
    let kind = dice.one(&kinds);
    let session: Arc<str> = format!("{:016x}", dice.roll(4).wrapping_mul(0x1234_5678_9abc_def1)).into();
    let mut entry = Entry::new(NOON + n * 1000, kind, &Arc::from(dice.one(&SERVERS)), &session);
    if kind == Kind::Fault && dice.roll(2) == 0 {
        return entry.with("what", "refused more lines from the host").with("lines", dice.roll(50));
    }
    entry.ticket = Some(format!("{}-{}", entry.server, n / 3).into());
    entry.tool = dice.perhaps(&TOOLS).map(Into::into);
    entry.badge = dice.perhaps(&[Badge::Pure, Badge::Mutates]);
    entry.ruling = dice.perhaps(&[Decision::Allow, Decision::Ask, Decision::Deny]);
    entry.verdict = dice.perhaps(&[VerdictWord::Approve, VerdictWord::Deny]);
    entry.by = dice.perhaps(&[By::Rule, By::Operator, By::Default, By::Expiry]);
    entry.rule = dice.perhaps(&RULES).map(str::to_owned);
    entry.digest = Some(Digest::of(&(n / 3).to_be_bytes()));
    entry.latency_us = Some(dice.roll(10_000_000));
    let text = serde_json::json!({ "path": format!("/home/{}/{n}", dice.one(&WORDS)), "n": dice.roll(100_000) });
    entry.arguments = Some(text.to_string().parse().unwrap());
    entry.target = dice.perhaps(&["a/1", "b", "a\"/1", "src/main.rs"]).map(Into::into);
    entry.with("reason", dice.one(&WORDS))
}

fn grow(db: &Path, dice: &mut Dice, from: i64, to: i64) {
    let mut store = Store::open(db, WRITER).unwrap();
    let entries: Vec<Entry> = (from..to).map(|n| entry(dice, n)).collect();
    for batch in entries.chunks(1000) {
        store.append(&numbered(batch.iter().cloned()), &redactor()).unwrap();
    }
}

fn search(dice: &mut Dice, reader: &Reader, newest: u64) -> Search {
    let mut text = String::new();
    for _ in 0..=dice.roll(2) {
        let (not, quote) = (dice.one(&["", "", "-"]), dice.one(&["", "\""]));
        let term = match dice.roll(9) {
            0 => format!("tool:{}", dice.one(&["read", "=write_file", "*it", "K", "stra?e", "\u{212A}"])),
            1 => format!("kind:{}", dice.one(&["decision", "dec", "outcome", "fault"])),
            2 => format!("verdict:{} by:{}", dice.one(&["approve", "deny"]), dice.one(&["rule", "operator"])),
            3 => format!("rule:{}", dice.one(&["scr*", "=no-delete", "caf\u{e9}", "zzz"])),
            4 => format!("ticket:{}", dice.one(&["=git-7", "system-12", "größe", "=Filesystem-1000", "*-9"])),
            5 => format!("since:{}s until:{}s", 9_000 - dice.roll(4_000), dice.roll(4_000)),
            6 => dice
                .one(&["server:git", "session:12", "badge:pure", "ruling:ask", "target:a/1", "target:=b"])
                .to_owned(),
            // Part of what stands there, wherever it begins.
            _ => {
                let found = query::at(reader, dice.roll(newest) + 1).unwrap().unwrap();
                let body: Vec<char> = found.body.chars().collect();
                let from = usize::try_from(dice.roll(body.len() as u64)).unwrap();
                let length = usize::try_from(dice.roll(24)).unwrap() + 1;
                let part: String = body.iter().skip(from).take(length).filter(|c| !"\":".contains(**c)).collect();
                format!("{not}{quote}{part}{quote}")
            }
        };
        text = format!("{text} {term}");
    }
    Search::read(&text, Clock::utc(NOON + 9_000_000)).unwrap_or_default()
}

fn walked(reader: &Reader, index: &Index, search: &Search, order: ReadOrder, from: u64) -> Vec<i64> {
    let mut found = Vec::new();
    let walk = Walk::new(search.clone(), order, from);
    walk.to_the_end(reader, Some(index), &mut |row| {
        found.extend(search.takes(row.body).then_some(row.seq));
        ControlFlow::Continue(())
    })
    .unwrap();
    found
}

fn same(dice: &mut Dice, reader: &Reader, index: &Index) {
    let newest = reader.newest().unwrap();
    for _ in 0..4 {
        let search = search(dice, reader, newest);
        let mut scanned = Vec::new();
        reader
            .each(ReadOrder::NewestFirst, &mut |row| {
                scanned.extend(search.takes(row.body).then_some(row.seq));
                ControlFlow::Continue(())
            })
            .unwrap();
        let newest_first = walked(reader, index, &search, ReadOrder::NewestFirst, newest);
        assert_eq!(newest_first, scanned, "{search:?}");
        scanned.reverse();
        assert_eq!(walked(reader, index, &search, ReadOrder::OldestFirst, 1), scanned, "{search:?}");
    }
    for _ in 0..2 {
        let glob = |text: &str| Glob::new(text).unwrap();
        let search = Search::default()
            .with_part(Field::Server, dice.perhaps(&["git", "filesystem*", "G*"]).map(glob).as_ref())
            .with_part(Field::Tool, dice.perhaps(&["*_file", "*It"]).map(glob).as_ref())
            .with(Field::Verdict, dice.perhaps(&[VerdictWord::Deny]).map(VerdictWord::word))
            .with(Field::By, dice.perhaps(&[By::Operator]).map(By::word))
            .from(dice.perhaps(&[NOON + 5_000_500]));
        let figures = |index| query::decisions(reader, index, &search).unwrap();
        assert_eq!(figures(Some(index)), figures(None), "{search:?}");
        let search = search.with(Field::Kind, dice.perhaps(&[Kind::Decision, Kind::Outcome]).map(Kind::word));
        let limit = dice.one(&[1, 50, usize::MAX]);
        let last = |index| query::last(reader, index, &search, limit).unwrap();
        assert_eq!(last(Some(index)), last(None), "{search:?}");
    }
    let ticket = format!("git-{}", dice.roll(newest / 3));
    let of = |index| query::of_ticket(reader, index, &ticket).unwrap();
    assert_eq!(of(Some(index)), of(None), "{ticket}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_a_scan_finds(seed: u64) {
        let mut dice = Dice(seed);
        let (_folder, db) = folder();
        let many = i64::try_from(SEGMENT).unwrap();
        grow(&db, &mut dice, 0, many + 700);
        // What somebody wrote over a body is news to everyone, and a time of another form compares as text.
        let raw = Connection::open(&db).unwrap();
        raw.execute_batch(
            "DROP TRIGGER record_is_not_changed;
             UPDATE record SET body = 'no body' WHERE seq % 977 = 5;
             UPDATE record SET body = replace(body, '.000Z', 'Z') WHERE seq % 500 = 7;
             UPDATE record SET body = replace(body, '\"latency_ms\":', '\"latency_ms\":1') WHERE seq % 400 = 9;",
        )
        .unwrap();
        let reader = Reader::open(&db).unwrap().unwrap();
        let mut index = Index::open(&db, &reader).unwrap();
        prop_assert_eq!(index.extend(&reader).unwrap(), Some(Step::Further));
        prop_assert_eq!(index.extend(&reader).unwrap(), Some(Step::Level));
        same(&mut dice, &reader, &index);
        // The log grows, and the index lags.
        grow(&db, &mut dice, many + 700, 2 * many + 900);
        same(&mut dice, &reader, &index);
        // Another reader brings it on; this one hears of it when it wants to do the same.
        let mut other = Index::open(&db, &reader).unwrap();
        prop_assert_eq!((other.upto(), other.extend(&reader).unwrap()), (SEGMENT, Some(Step::Further)));
        same(&mut dice, &reader, &other);
        prop_assert_eq!((index.extend(&reader).unwrap(), index.upto()), (Some(Step::Further), 2 * SEGMENT));
        same(&mut dice, &reader, &index);
    }
}

fn filled(db: &Path) -> (Reader, Index) {
    log_of(db, i64::try_from(SEGMENT).unwrap() + 10);
    let reader = Reader::open(db).unwrap().unwrap();
    let index = Index::brought_on(db, &reader, &mut |_| {}).unwrap().unwrap();
    assert_eq!(index.upto(), SEGMENT);
    (reader, index)
}

/// How an index is spoiled, in words and in deed.
type Spoiled<'a> = (&'a str, &'a dyn Fn(&Path));

#[test]
fn a_broken_foreign_or_old_index_is_made_anew() {
    let cases: &[Spoiled<'_>] = &[
        ("no database", &|at| std::fs::write(at, "nothing of ours ".repeat(1000)).unwrap()),
        ("cut off", &|at| std::fs::OpenOptions::new().write(true).open(at).unwrap().set_len(5000).unwrap()),
        ("of another form", &|at| Connection::open(at).unwrap().execute_batch("PRAGMA user_version=99").unwrap()),
        ("of another program", &|at| {
            let other = Connection::open(at).unwrap();
            other.execute_batch("PRAGMA application_id=7; CREATE TABLE theirs (x)").unwrap();
        }),
        ("of another log", &|at| {
            Connection::open(at).unwrap().execute_batch("UPDATE note SET text = '' WHERE name = 'link'").unwrap();
        }),
    ];
    for (name, spoil) in cases {
        let (_folder, db) = folder();
        drop(filled(&db));
        let at = db.with_extension("index.db");
        for beside in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{beside}", at.display()));
        }
        spoil(&at);
        let reader = Reader::open(&db).unwrap().unwrap();
        let index = Index::open(&db, &reader).unwrap();
        assert_eq!(index.upto(), 0, "{name}: nothing of it is believed");
        let index = Index::brought_on(&db, &reader, &mut |_| {}).unwrap().unwrap_or(index);
        assert_eq!(index.upto(), SEGMENT, "{name}");
    }
}

#[test]
fn an_index_that_cannot_be_asked_is_left_for_a_scan() {
    for spoil in ["DROP INDEX by_shape", "UPDATE word SET text = '7' WHERE list = 'shape'"] {
        let (_folder, db) = folder();
        let (reader, index) = filled(&db);
        Connection::open(db.with_extension("index.db")).unwrap().execute_batch(spoil).unwrap();
        let search = Search::default().with(Field::Kind, Some(Kind::Decision.word()));
        let all = usize::try_from(SEGMENT).unwrap() + 10;
        assert_eq!(query::last(&reader, Some(&index), &search, usize::MAX).unwrap().len(), all, "{spoil}");
        assert_eq!(query::decisions(&reader, Some(&index), &search).unwrap().all.calls(), SEGMENT + 10, "{spoil}");
    }
}

#[test]
fn a_filter_reads_what_it_names_and_what_cannot_be_read() {
    let (_folder, db) = folder();
    drop(filled(&db));
    let raw = Connection::open(&db).unwrap();
    raw.execute_batch("DROP TRIGGER record_is_not_changed; UPDATE record SET body = 'no body' WHERE seq = 7").unwrap();
    std::fs::remove_file(db.with_extension("index.db")).unwrap();
    let reader = Reader::open(&db).unwrap().unwrap();
    let index = Index::brought_on(&db, &reader, &mut |_| {}).unwrap().unwrap();
    for (find, named) in [
        ("verdict:deny", vec![7]),
        ("tool:write", vec![7]),
        ("session:=s2", vec![7]),
        ("ticket:=filesystem-12", vec![12, 7]),
        ("until:2026-11-21T10:00:00.003Z", vec![7, 2, 1]),
        ("ticket:=filesystem-12 verdict:approve", vec![12, 7]),
    ] {
        let search = Search::read(find, Clock::utc(NOON + 9_000_000)).unwrap();
        let ask = index.ask(&search).unwrap();
        let found = index.named(&ask, 1..=SEGMENT, ReadOrder::NewestFirst, 100).unwrap();
        assert_eq!(found, named, "{find}");
    }
    for find in ["notes", "-notes", "target:a", "ticket:12", "reason:x"] {
        let search = Search::read(find, Clock::utc(NOON)).unwrap();
        assert!(index.ask(&search).unwrap().is_empty(), "{find}");
    }
}

#[test]
fn another_log_in_its_place_is_not_taken_for_the_old_one() {
    let (_folder, db) = folder();
    let (_, index) = filled(&db);
    for file in ["audit.db", "audit.db-wal", "audit.db-shm"] {
        let _ = std::fs::remove_file(db.with_file_name(file));
    }
    let mut dice = Dice(1);
    grow(&db, &mut dice, 0, i64::try_from(SEGMENT).unwrap() + 1);
    let reader = Reader::open(&db).unwrap().unwrap();
    assert!(!index.is_of(&reader));
    let index = Index::brought_on(&db, &reader, &mut |_| {}).unwrap().unwrap();
    same(&mut dice, &reader, &index);
}

#[test]
fn the_index_is_private_and_where_it_cannot_be_made_the_log_is_read_without() {
    let (folder, db) = folder();
    let (reader, _) = filled(&db);
    let at = db.with_extension("index.db");
    for beside in ["", "-wal", "-shm"] {
        let path = format!("{}{beside}", at.display());
        if let Ok(found) = std::fs::metadata(path) {
            assert_eq!(found.permissions().mode() & 0o777, 0o600, "{beside}");
        }
    }
    std::fs::remove_file(&at).unwrap();
    std::fs::write(folder.path().join("precious"), "not ours to remove").unwrap();
    std::os::unix::fs::symlink(folder.path().join("precious"), &at).unwrap();
    assert!(Index::open(&db, &reader).is_none(), "a link is not followed");
    assert_eq!(std::fs::read(folder.path().join("precious")).unwrap(), b"not ours to remove");
}

#[test]
fn writers_go_on_while_the_index_is_filled() {
    let (_folder, db) = folder();
    let (reader, mut index) = filled(&db);
    let mut dice = Dice(2);
    for round in 0..3_i64 {
        let from = i64::try_from(SEGMENT).unwrap() * (round + 1) + 10;
        grow(&db, &mut dice, from, from + i64::try_from(SEGMENT).unwrap());
        assert_eq!(index.extend(&reader).unwrap(), Some(Step::Further));
        let mut store = Store::open(&db, WRITER).unwrap();
        store.checkpoint().unwrap();
        assert_eq!(store.backlog(), 0, "no reading transaction is left that keeps the write-ahead log from moving");
        assert_eq!(index.upto(), SEGMENT * (2 + u64::try_from(round).unwrap()));
    }
}

/// It is no part of the chain: what somebody changed in it is gone once the chain was checked.
#[test]
fn verifying_the_log_has_the_index_made_anew() {
    let (_folder, db) = folder();
    log_of(&db, i64::try_from(SEGMENT).unwrap() * 2);
    let list = |what: &str| log(&db, what).1;
    assert!(list("log list verdict:approve").contains("read_file"));
    let index = Connection::open(db.with_extension("index.db")).unwrap();
    index.execute_batch("UPDATE word SET text = replace(text, 'approve', 'deny') WHERE list = 'shape'").unwrap();
    drop(index);
    assert!(list("log list verdict:approve").contains("No matches"));
    assert!(list("log verify").contains("The chain holds"));
    assert!(list("log list verdict:approve").contains("read_file"));
}
