//! A wrapper's own journal: folded once whatever happens to its wrapper, and found when somebody changed it.

use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use mcp_approve::audit::query;
use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::audit::store::{Commit, Damage, Journal, Left, Reader, Store, StoreError};
use rusqlite::Connection;

use crate::audit::log::log;
use crate::audit::{WRITER, folder, head, numbered, read, redactor, tickets, write};

pub(super) const NAME: [u8; 16] = [0xab; 16];

pub(super) fn store(db: &Path) -> Store {
    Store::open(db, WRITER).unwrap()
}

pub(super) fn record(journal: &mut Journal, numbers: std::ops::RangeInclusive<i64>) {
    for n in numbers {
        journal.record(&numbered([read(n)]), &redactor()).unwrap();
    }
}

pub(super) fn file(db: &Path) -> PathBuf {
    db.with_extension("d").join("ab".repeat(16) + ".db")
}

pub(super) fn left(db: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(db.with_extension("d"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

pub(super) fn named(numbers: impl IntoIterator<Item = i64>) -> Vec<String> {
    numbers.into_iter().map(|n| format!("filesystem-{n}")).collect()
}

#[test]
fn a_receipt_is_for_the_entry_that_was_committed() {
    let (_folder, db) = folder();
    let mut journal = store(&db).journal(NAME).unwrap();
    let batch = [(7, read(1)), (9, read(2))];
    let Ok(Commit::Recorded(receipts)) = journal.record(&batch, &redactor()) else { panic!("a read needs no sync") };
    for (receipt, (id, entry)) in receipts.iter().zip(&batch) {
        assert_eq!((receipt.entry(), receipt.digest(), receipt.verdict()), (*id, entry.digest, entry.verdict));
    }
    let Ok(Commit::Unsynced(unsynced)) = journal.record(&[(8, read(3)), (3, write(4))], &redactor()) else {
        panic!("a write is synced first")
    };
    assert_eq!(unsynced.sync().unwrap().iter().map(|receipt| receipt.entry()).collect::<Vec<_>>(), [8, 3]);
}

#[test]
fn its_files_are_the_users_alone_and_go_when_it_was_not_needed() {
    let (_folder, db) = folder();
    let mut store = store(&db);
    let mut journal = store.journal(NAME).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&db.with_extension("d")), 0o700);
    assert_eq!(mode(&file(&db)), 0o600);
    assert_eq!(mode(&file(&db).with_extension("db-wal")), 0o600);
    assert_eq!(left(&db).len(), 2, "no shared memory, no journal of SQLite's own");
    drop(store.journal([1; 16]).unwrap());
    assert_eq!(left(&db).len(), 2, "one without entries goes with its wrapper");
    record(&mut journal, 1..=1);
    drop(journal);
    assert_eq!(left(&db).len(), 2, "one with entries stays for whoever opens the log next");
}

/// Wherever a wrapper dies, whoever opens the log next finds each entry once, and the file is gone.
#[test]
fn what_a_dead_wrapper_left_is_folded_once() {
    type Life = fn(&mut Store, &mut Journal);
    let lives: [(&str, Life); 6] = [
        ("after its commits", |_, journal| record(journal, 1..=5)),
        ("after a commit of several", |store, journal| {
            record(journal, 1..=1);
            store.fold(&[&journal.take()]).unwrap();
            journal.record(&numbered([read(2), read(3), read(4)]), &redactor()).unwrap();
            record(journal, 5..=5);
        }),
        ("before a part was folded", |_, journal| {
            record(journal, 1..=5);
            drop(journal.take());
        }),
        ("after a part was folded", |store, journal| {
            record(journal, 1..=3);
            store.fold(&[&journal.take()]).unwrap();
            record(journal, 4..=5);
        }),
        ("after one part, before another", |store, journal| {
            record(journal, 1..=2);
            store.fold(&[&journal.take()]).unwrap();
            record(journal, 3..=4);
            drop(journal.take());
            record(journal, 5..=5);
        }),
        ("before its file was removed", |store, journal| {
            record(journal, 1..=5);
            store.fold(&[&journal.take()]).unwrap();
            store.sync().unwrap();
        }),
    ];
    for (when, live) in lives {
        for by in ["a reader", "a writer"] {
            let (_folder, db) = folder();
            let mut store = store(&db);
            let mut journal = store.journal(NAME).unwrap();
            live(&mut store, &mut journal);
            drop((journal, store));
            if by == "a writer" {
                Store::open(&db, WRITER).unwrap();
            }
            assert_eq!(tickets(&db), named(1..=5), "{when}, {by}");
            assert_eq!(left(&db), [] as [&str; 0], "{when}, {by}");
            assert_eq!(tickets(&db), named(1..=5), "{when}, {by}, again");
        }
    }
}

#[test]
fn a_part_is_folded_once_though_it_is_tried_again() {
    let (_folder, db) = folder();
    let mut store = store(&db);
    let mut journal = store.journal(NAME).unwrap();
    record(&mut journal, 1..=3);
    let part = journal.take();
    for _ in 0..2 {
        store.fold(&[&part]).unwrap();
    }
    record(&mut journal, 4..=4);
    store.fold(&[&journal.take()]).unwrap();
    store.fold(&[&part]).unwrap();
    assert_eq!(tickets(&db), named(1..=4));
}

#[test]
fn a_living_wrapper_keeps_its_journal_in_its_own_process_too() {
    let (_folder, db) = folder();
    let mut store = store(&db);
    let mut journal = store.journal(NAME).unwrap();
    record(&mut journal, 1..=1);
    assert_eq!(tickets(&db), [] as [&str; 0]);
    // Looking at it took nothing away: the lock is still there, and so is the file.
    record(&mut journal, 2..=2);
    assert_eq!(tickets(&db), [] as [&str; 0]);
    store.fold(&[&journal.take()]).unwrap();
    assert_eq!(tickets(&db), named(1..=2));
    store.sync().unwrap();
    journal.remove();
    assert_eq!(left(&db), [] as [&str; 0]);
}

/// A process may be killed between any two steps of removing a journal that the log has: nothing is lost, and nothing is left.
#[test]
fn a_removal_that_was_cut_off_is_no_loss() {
    for step in 0..3 {
        let (_folder, db) = folder();
        let mut store = store(&db);
        let mut journal = store.journal(NAME).unwrap();
        let start = Entry { ticket: None, tool: None, kind: Kind::ServerStart, verdict: None, by: None, ..read(0) };
        journal.record(&numbered([start]), &redactor()).unwrap();
        record(&mut journal, 1..=3);
        store.fold(&[&journal.take()]).unwrap();
        store.sync().unwrap();
        drop((journal, store));
        let (database, wal) = (file(&db), file(&db).with_extension("db-wal"));
        fs::rename(&database, database.with_extension("folded")).unwrap();
        match step {
            0 => {}
            1 => fs::write(&wal, "").unwrap(),
            _ => fs::remove_file(&wal).unwrap(),
        }
        Store::open(&db, WRITER).unwrap();
        assert_eq!(left(&db), [] as [&str; 0], "{step}");
        assert_eq!(tickets(&db)[1..], named(1..=3), "{step}");
        let (found, text) = verify(&db);
        assert_eq!(found, ExitCode::SUCCESS, "{step}: {text}");
    }
}

/// Earlier versions emptied a journal to use it again, and a wrapper may have died between any two steps of that.
#[test]
fn a_journal_that_was_emptied_in_part_is_no_news() {
    let sql = |db: &Path, sql: &str| Connection::open(file(db)).unwrap().execute_batch(sql).unwrap();
    type Step = Box<dyn Fn(&Path)>;
    let steps: [Step; 3] = [
        Box::new(|db| {
            let wal = fs::File::options().write(true).open(file(db).with_extension("db-wal")).unwrap();
            wal.write_all_at(&[0; 32], 0).unwrap();
        }),
        Box::new(move |db| sql(db, "DELETE FROM entry")),
        Box::new(move |db| sql(db, "DELETE FROM entry; UPDATE base SET n = 3, link = (SELECT zeroblob(32))")),
    ];
    for (at, step) in steps.iter().enumerate() {
        let (_folder, db) = folder();
        let mut store = store(&db);
        let mut journal = store.journal(NAME).unwrap();
        record(&mut journal, 1..=3);
        store.fold(&[&journal.take()]).unwrap();
        drop((journal, store));
        step(&db);
        assert_eq!(tickets(&db), named(1..=3), "{at}");
        assert_eq!(left(&db), [] as [&str; 0], "{at}");
    }
}

/// What is left of a journal of version 1: a row for each entry, without the end of its line.
#[test]
fn a_journal_of_an_older_version_is_folded() {
    let (_folder, db) = folder();
    let mut journal = store(&db).journal(NAME).unwrap();
    record(&mut journal, 1..=3);
    drop(journal);
    let older = "UPDATE entry SET body = rtrim(body, char(10)); PRAGMA user_version=1";
    Connection::open(file(&db)).unwrap().execute_batch(older).unwrap();
    assert_eq!(tickets(&db), named(1..=3));
    assert_eq!(left(&db), [] as [&str; 0]);
}

/// `desk run` may be of an older version than the wrapper whose journal it finds.
#[test]
fn a_journal_of_a_newer_version_is_left_to_it() {
    let (_folder, db) = folder();
    let mut journal = store(&db).journal(NAME).unwrap();
    record(&mut journal, 1..=3);
    drop(journal);
    let version = |version: i64| format!("PRAGMA user_version={version}");
    let db_version: i64 =
        Connection::open(file(&db)).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    Connection::open(file(&db)).unwrap().execute_batch(&version(99)).unwrap();
    assert_eq!(tickets(&db), [] as [&str; 0]);
    assert!(file(&db).exists(), "{:?}", left(&db));
    Connection::open(file(&db)).unwrap().execute_batch(&version(db_version)).unwrap();
    assert_eq!(tickets(&db), named(1..=3));
    assert_eq!(left(&db), [] as [&str; 0]);
}

/// How far a journal is in the log is kept as long as its file may come back, and no longer.
#[test]
fn what_was_folded_is_forgotten_once_its_file_is_gone() {
    let (_folder, db) = folder();
    let mut store = store(&db);
    let mut journal = store.journal(NAME).unwrap();
    record(&mut journal, 1..=1);
    store.fold(&[&journal.take()]).unwrap();
    let kept = || Connection::open(&db).unwrap().query_row("SELECT count(*) FROM fold", [], |row| row.get(0));
    drop(Store::open(&db, WRITER).unwrap());
    assert_eq!(kept(), Ok(1), "its wrapper lives");
    journal.remove();
    assert_eq!(kept(), Ok(1));
    drop(Store::open(&db, WRITER).unwrap());
    assert_eq!(kept(), Ok(0));
}

fn verify(db: &Path) -> (ExitCode, String) {
    let (finding, said) = log(db, "log verify");
    (finding.unwrap(), said)
}

#[test]
fn a_journal_that_was_changed_is_folded_up_to_there_and_kept_aside() {
    let sql = |db: &Path, sql: &str| {
        Connection::open(file(db)).unwrap().execute_batch(sql).unwrap();
    };
    type Change = Box<dyn Fn(&Path)>;
    let changes: [(&str, i64, Change); 8] = [
        ("a body", 3, Box::new(move |db| sql(db, "UPDATE entry SET body = replace(body, 'tmp', 'etc') WHERE n = 4"))),
        (
            "one of a commit",
            5,
            Box::new(move |db| {
                sql(db, "UPDATE entry SET body = replace(body, 'filesystem-7', 'filesystem-8') WHERE n = 6");
            }),
        ),
        ("a link", 2, Box::new(move |db| sql(db, "UPDATE entry SET link = zeroblob(32) WHERE n = 3"))),
        ("one missing", 1, Box::new(move |db| sql(db, "DELETE FROM entry WHERE n = 2"))),
        (
            "one inserted",
            8,
            Box::new(move |db| sql(db, "INSERT INTO entry SELECT 9, body, link FROM entry WHERE n = 5")),
        ),
        (
            "two swapped",
            0,
            Box::new(move |db| {
                sql(
                    db,
                    "UPDATE entry SET n = 9 WHERE n = 1; UPDATE entry SET n = 1 WHERE n = 2; UPDATE entry SET n = 2 WHERE n = 9",
                );
            }),
        ),
        (
            "another's name",
            0,
            Box::new(|db| {
                for suffix in ["db", "db-wal"] {
                    let from = file(db).with_extension(suffix);
                    if from.exists() {
                        fs::rename(&from, from.with_file_name("cd".repeat(16)).with_extension(suffix)).unwrap();
                    }
                }
            }),
        ),
        (
            "no database",
            0,
            Box::new(|db| {
                fs::write(file(db), "nothing that SQLite knows".repeat(99)).unwrap();
                fs::remove_file(file(db).with_extension("db-wal")).unwrap();
            }),
        ),
    ];
    for (what, holds, change) in changes {
        let (_folder, db) = folder();
        let mut store = store(&db);
        let mut journal = store.journal(NAME).unwrap();
        record(&mut journal, 1..=5);
        journal.record(&numbered([read(6), read(7), read(8)]), &redactor()).unwrap();
        drop((journal, store));
        change(&db);
        let mut expected = named(1..=holds);
        expected.push(String::new());
        assert_eq!(tickets(&db), expected, "{what}");
        let reader = Reader::open(&db).unwrap().unwrap();
        let fault = query::at(&reader, head(&db).seq).unwrap().unwrap().json();
        assert!(
            fault.contains("\"fault\"") && fault.contains("changed before they reached the log"),
            "{what}: {fault}"
        );
        assert!(!fault.contains("redacted:"), "{what}: {fault}");
        assert!(matches!(reader.left(), [Left::Aside { damage: Damage::Changed, .. }]), "{what}: {:?}", reader.left());
        assert!(left(&db).iter().all(|name| name.contains(".broken")), "{what}: {:?}", left(&db));
        let (finding, text) = verify(&db);
        assert_eq!(finding, ExitCode::FAILURE, "{what}: {text}");
        assert!(text.contains(".broken"), "{what}: {text}");
        assert_eq!(tickets(&db), expected, "{what}: noted once");
    }
}

#[test]
fn a_reader_goes_on_without_what_it_cannot_fold_and_says_so() {
    let (_folder, db) = folder();
    let mut store = store(&db);
    store.append(&numbered([read(1)]), &redactor()).unwrap();
    let mut journal = store.journal(NAME).unwrap();
    record(&mut journal, 2..=2);
    drop((journal, store));
    let lock = fs::File::open(db.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let reader = Reader::open(&db).unwrap().unwrap();
    assert_eq!(reader.newest(), Ok(1));
    assert!(matches!(reader.left(), [Left::Unfolded { why, .. }] if why.contains("locked")), "{:?}", reader.left());
    let (finding, text) = verify(&db);
    assert_eq!(finding, ExitCode::SUCCESS);
    assert!(text.contains("audit.d"), "{text}");
    lock.unlock().unwrap();
    assert_eq!(tickets(&db), named(1..=2));
}

#[test]
fn a_log_from_before_there_were_journals_is_read_and_written() {
    let (_folder, db) = folder();
    store(&db).append(&numbered([read(1)]), &redactor()).unwrap();
    Connection::open(&db).unwrap().execute_batch("DROP TABLE fold; DROP TABLE agreed; PRAGMA user_version=1").unwrap();
    assert_eq!(tickets(&db), named(1..=1));
    let mut store = store(&db);
    let mut journal = store.journal(NAME).unwrap();
    record(&mut journal, 2..=3);
    store.fold(&[&journal.take()]).unwrap();
    assert_eq!(tickets(&db), named(1..=3));
}

/// The log was moved away while a wrapper ran: what it records from then on goes into no other one.
#[test]
fn a_log_that_was_removed_takes_no_more() {
    let (folder, db) = folder();
    let mut store = store(&db);
    let mut journal = store.journal(NAME).unwrap();
    record(&mut journal, 1..=1);
    store.fold(&[&journal.take()]).unwrap();
    let away = tempfile::tempdir_in(&folder).unwrap();
    let all = ["audit.db", "audit.db-wal", "audit.db-shm"];
    for name in all {
        fs::rename(db.with_file_name(name), away.path().join(name)).unwrap();
    }
    record(&mut journal, 2..=2);
    let part = journal.take();
    for _ in 0..2 {
        assert!(matches!(store.fold(&[&part]), Err(StoreError::Lost { .. })));
        assert!(!db.exists());
    }
    // Another one in its place is not taken either.
    drop(self::store(&db));
    assert!(matches!(store.fold(&[&part]), Err(StoreError::Lost { .. })));
    for name in all {
        fs::rename(away.path().join(name), db.with_file_name(name)).unwrap();
    }
    store.fold(&[&part]).unwrap();
    assert_eq!(tickets(&db), named(1..=2));
}
