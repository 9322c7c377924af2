//! The store: what is in it, and every way in which it cannot be opened or written.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcp_approve::audit::query;
use mcp_approve::audit::store::{Reader, Store, StoreError};
use rusqlite::Connection;

use crate::audit::{WRITER, folder, head, log_of, numbered, read, redactor, write};

#[test]
fn a_batch_is_numbered_in_order_and_the_next_run_goes_on() {
    let (_folder, db) = folder();
    let mut store = Store::open(&db, WRITER).unwrap();
    assert_eq!(store.append(&numbered((0..600).map(read)), &redactor()), Ok(600));
    assert_eq!(store.append(&numbered([]), &redactor()), Ok(600));
    drop(store);

    let mut store = Store::open(&db, [1; 16]).unwrap();
    assert_eq!(store.append(&numbered([write(1)]), &redactor()), Ok(601));
    assert_eq!(head(&db).seq, 601);
}

#[test]
fn a_checkpoint_empties_the_backlog_and_loses_nothing() {
    let (_folder, db) = folder();
    let mut store = Store::open(&db, WRITER).unwrap();
    store.append(&numbered((0..100).map(read)), &redactor()).unwrap();
    assert!(store.backlog() > 0);
    store.checkpoint().unwrap();
    assert_eq!(store.backlog(), 0);
    store.append(&numbered([read(100)]), &redactor()).unwrap();
    assert_eq!(head(&db).seq, 101);
}

#[test]
fn files_are_the_users_alone() {
    let (folder, db) = folder();
    let db = folder.path().join("new/state").join(db.file_name().unwrap());
    let mut store = Store::open(&db, WRITER).unwrap();
    store.append(&numbered([read(1)]), &redactor()).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(db.parent().unwrap()), 0o700);
    for name in ["audit.db", "audit.db-wal", "audit.db-shm", "audit.lock"] {
        assert_eq!(mode(&db.with_file_name(name)), 0o600, "{name}");
    }
}

#[test]
fn the_database_itself_refuses_to_change_or_remove() {
    let (_folder, db) = folder();
    log_of(&db, 3);
    let raw = Connection::open(&db).unwrap();
    for sql in [
        "UPDATE record SET body = 'x'",
        "DELETE FROM record WHERE seq = 3",
        "INSERT OR REPLACE INTO record SELECT 2, writer, 'x', link FROM record WHERE seq = 1",
    ] {
        let refused = raw.execute(sql, []).unwrap_err().to_string();
        assert!(refused.contains("the audit log has no"), "{sql}: {refused}");
    }
    assert_eq!(head(&db).seq, 3);
}

#[test]
fn what_is_no_log_is_refused_with_its_reason() {
    type Make = fn(&Path);
    type Is = fn(&StoreError) -> bool;
    let cases: &[(&str, Make, Is)] = &[
        (
            "another file",
            |db| {
                std::fs::write(db, "not a database, but long enough to be asked".repeat(99)).unwrap();
            },
            |e| matches!(e, StoreError::NotALog { .. }),
        ),
        (
            "another program's database",
            |db| {
                Connection::open(db).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
            },
            |e| matches!(e, StoreError::NotALog { .. }),
        ),
        (
            "a newer log",
            |db| {
                log_of(db, 1);
                Connection::open(db).unwrap().execute_batch("PRAGMA user_version=4").unwrap();
            },
            |e| matches!(e, StoreError::Version { found: 4, .. }),
        ),
        ("a folder", |db| std::fs::create_dir(db).unwrap(), |e| matches!(e, StoreError::NotALog { .. })),
        (
            "a last record without a link",
            |db| {
                log_of(db, 1);
                Connection::open(db)
                    .unwrap()
                    .execute_batch("DROP TRIGGER record_is_not_changed; PRAGMA ignore_check_constraints=1; UPDATE record SET link = x'00'")
                    .unwrap();
            },
            |e| matches!(e, StoreError::Damaged { .. }),
        ),
    ];
    for (name, make, is) in cases {
        let (_folder, db) = folder();
        make(&db);
        let error = Store::open(&db, WRITER)
            .and_then(|mut store| store.append(&numbered([read(1)]), &redactor()))
            .expect_err(name);
        assert!(is(&error), "{name}: {error:?}");
        assert!(error.to_string().contains(db.to_str().unwrap()), "{name}: {error}");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let (folder, _) = folder();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Store::open(&file.join("audit.db"), WRITER).unwrap_err();
    assert!(error.to_string().contains("file"), "{error}");
}

/// Records in a file that no longer has its name would be found by nobody.
#[test]
fn what_is_recorded_is_found_under_the_logs_name_whatever_was_removed() {
    let cases: &[&[&str]] = &[
        &["audit.db", "audit.db-wal", "audit.db-shm"],
        &["audit.db-wal", "audit.db-shm"],
        &["audit.db"],
        &["audit.lock"],
    ];
    for removed in cases {
        let (_folder, db) = folder();
        let mut store = Store::open(&db, WRITER).unwrap();
        store.append(&numbered((0..3).map(read)), &redactor()).unwrap();
        for name in *removed {
            std::fs::remove_file(db.with_file_name(name)).unwrap();
        }
        // A log that lost a part may be refused, but a receipt is a promise.
        match store.append(&numbered([read(4)]), &redactor()) {
            Ok(seq) => assert_eq!(head(&db).seq, seq, "{removed:?}"),
            Err(error) => {
                let is_refused = matches!(error, StoreError::Damaged { .. } | StoreError::Lost { .. });
                assert!(is_refused, "{removed:?}: {error:?}");
            }
        }
    }
}

/// The lock file is what makes writers take turns.
#[test]
fn a_writer_waits_for_the_lock() {
    let (_folder, db) = folder();
    let mut store = Store::open(&db, WRITER).unwrap();
    let lock = std::fs::File::open(db.with_file_name("audit.lock")).unwrap();
    lock.lock().unwrap();
    let released = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            store.append(&numbered([read(1)]), &redactor()).unwrap();
            assert!(released.load(Ordering::SeqCst));
        });
        // However long this is, a writer that waits cannot be done before the end of it.
        std::thread::sleep(Duration::from_millis(50));
        released.store(true, Ordering::SeqCst);
        lock.unlock().unwrap();
    });
    assert_eq!(head(&db).seq, 1);
}

/// A wrapper may be stopped while it has the lock. Who gave up waiting for it must not have it later, unknowing.
#[test]
fn a_writer_whose_turn_never_comes_is_told_and_takes_nothing_later() {
    let (_folder, db) = folder();
    let mut store = Store::open(&db, WRITER).unwrap();
    let lock = std::fs::File::open(db.with_file_name("audit.lock")).unwrap();
    lock.lock().unwrap();
    let began = std::time::Instant::now();
    let error = store.append(&numbered([read(1)]), &redactor()).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error:?}");
    assert!(began.elapsed().as_secs() >= 4, "{:?}", began.elapsed());
    lock.unlock().unwrap();
    assert_eq!(store.append(&numbered([read(2)]), &redactor()), Ok(1));
    assert_eq!(head(&db).seq, 1);
}

/// Another program may hold SQLite's own lock: nothing is recorded, no receipt is given, and later it works again.
#[test]
fn a_commit_that_fails_gives_no_receipt_and_the_next_one_works() {
    let (_folder, db) = folder();
    let mut store = Store::open(&db, WRITER).unwrap();
    store.append(&numbered([read(1)]), &redactor()).unwrap();
    let raw = Connection::open(&db).unwrap();
    raw.execute_batch("CREATE TEMP TABLE t (x); BEGIN IMMEDIATE").unwrap();
    let error = store.append(&numbered([read(2)]), &redactor()).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error:?}");
    raw.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.append(&numbered([read(3)]), &redactor()), Ok(2));
    assert_eq!(head(&db).seq, 2);
}

#[test]
fn a_reader_sees_what_is_committed_while_a_writer_goes_on() {
    let (_folder, db) = folder();
    assert!(Reader::open(&db).unwrap().is_none(), "no log yet");
    let mut store = Store::open(&db, WRITER).unwrap();
    let reader = Reader::open(&db).unwrap().unwrap();
    for n in 1..=5 {
        let seq = store.append(&numbered([read(n)]), &redactor()).unwrap();
        let found = query::at(&reader, seq).unwrap().unwrap();
        assert_eq!(found.fields().unwrap().ticket, Some(format!("filesystem-{n}")));
    }
    assert_eq!(query::at(&reader, 6), Ok(None));
    assert_eq!(query::at(&reader, u64::MAX), Ok(None));
}

#[test]
fn writers_by_turns_go_on_from_each_others_records() {
    let (_folder, db) = folder();
    let mut stores = [1, 2].map(|writer| Store::open(&db, [writer; 16]).unwrap());
    let mut expected = 0;
    for turns in [[0, 1], [1, 1], [0, 0], [1, 0]] {
        for (writer, size) in turns.into_iter().zip([1, 3]) {
            expected += u64::try_from(size).unwrap();
            assert_eq!(stores[writer].append(&numbered((0..size).map(read)), &redactor()), Ok(expected));
        }
    }
    assert_eq!(head(&db).seq, expected);
}

/// Who recorded it goes on from no record that is no longer there. Another process follows the last one that is: the gap
/// would look like a loss of its own.
#[test]
fn the_next_record_follows_the_last_that_stands_there() {
    for size in [1, 2] {
        let (_folder, db) = folder();
        let mut store = Store::open(&db, WRITER).unwrap();
        store.append(&numbered((0..3).map(read)), &redactor()).unwrap();
        let raw = Connection::open(&db).unwrap();
        raw.execute_batch("DROP TRIGGER record_is_not_removed; DELETE FROM record WHERE seq = 3").unwrap();
        let refused = store.append(&numbered((0..size).map(read)), &redactor());
        assert!(matches!(refused, Err(StoreError::Lost { .. })), "{refused:?}");
        let mut store = Store::open(&db, WRITER).unwrap();
        let seq = 2 + u64::try_from(size).unwrap();
        assert_eq!(store.append(&numbered((0..size).map(read)), &redactor()), Ok(seq));
        assert_eq!(head(&db).seq, seq);
    }
}
