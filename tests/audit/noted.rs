//! The head noted beside the log: what was removed, replaced or cut off is found by it, and nothing else is.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::ExitCode;

use mcp_approve::audit::record::Entry;
use mcp_approve::audit::store::Store;
use mcp_approve::audit::store::noted::{Noted, place_of, read as noted};
use mcp_approve::cli::error::Error;
use rusqlite::Connection;

use crate::audit::log::log;
use crate::audit::{WRITER, folder, head, numbered, read, redactor, write};

/// Appends, and syncs as the scribe does.
fn record(db: &Path, writer: [u8; 16], entries: impl IntoIterator<Item = Entry>) {
    let mut store = Store::open(db, writer).unwrap();
    store.append(&numbered(entries), &redactor()).unwrap();
    store.sync().unwrap();
}

fn verify(db: &Path) -> (ExitCode, String, serde_json::Value) {
    let ((finding, text), (same, json)) = (log(db, "log verify"), log(db, "log verify --json"));
    let finding = finding.unwrap();
    assert_eq!(finding, same.unwrap(), "{text}{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["holds"], finding == ExitCode::SUCCESS, "{json}");
    (finding, text, json)
}

fn remove(db: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", db.display()));
    }
}

#[test]
fn a_log_that_only_grew_holds() {
    let (_folder, db) = folder();
    record(&db, WRITER, (1..=3).map(read));
    assert_eq!(noted(&db), Noted::Head(head(&db)));
    // Another wrapper, and one that died before it could note anything.
    record(&db, [2; 16], [write(4)]);
    assert_eq!(noted(&db), Noted::Head(head(&db)));
    Store::open(&db, WRITER).unwrap().append(&numbered([write(5)]), &redactor()).unwrap();
    let (finding, text, json) = verify(&db);
    assert_eq!(finding, ExitCode::SUCCESS, "{text}");
    assert_eq!((&json["noted"]["seq"], &json["noted"]["found"]), (&4.into(), &true.into()), "{json}");
    assert!(text.contains("audit.head, record 4, is in it"), "{text}");
    // A loss of power may leave nothing of the note, and a log from before there were notes has none.
    fs::write(place_of(&db), "").unwrap();
    assert_eq!(verify(&db).0, ExitCode::SUCCESS);
    fs::remove_file(place_of(&db)).unwrap();
    let (finding, text, json) = verify(&db);
    assert_eq!((finding, &json["noted"]), (ExitCode::SUCCESS, &serde_json::Value::Null), "{text}");
    assert!(text.contains("THE NOTED HEAD IS MISSING") && text.contains("cut off at the end"), "{text}");
    let mut store = Store::open(&db, WRITER).unwrap();
    store.append(&numbered([read(6)]), &redactor()).unwrap();
    store.checkpoint().unwrap();
    assert_eq!(noted(&db), Noted::Head(head(&db)));
}

#[test]
fn e4_a_log_that_was_removed_or_replaced_is_found_for_good() {
    let (_folder, db) = folder();
    record(&db, WRITER, (1..=3).map(read));
    let before = noted(&db);
    remove(&db);
    let (finding, text, _) = verify(&db);
    assert_eq!(finding, ExitCode::FAILURE);
    assert!(text.contains("RECORDS ARE MISSING"), "{text}");
    // A new log begins, shorter first, then longer; no later note hides it.
    for n in [1, 4] {
        record(&db, [9; 16], (0..n).map(write));
        let (finding, text, json) = verify(&db);
        assert_eq!(finding, ExitCode::FAILURE, "{text}");
        assert!(text.contains("RECORDS ARE MISSING") && json["broken"].is_null(), "{text}{json}");
        assert_eq!(noted(&db), before);
    }
}

#[test]
fn a_log_that_was_removed_is_not_taken_for_none_yet() {
    let (_folder, db) = folder();
    record(&db, WRITER, (1..=2).map(read));
    remove(&db);
    for line in ["log list", "log list --json", "log show 1", "log stats", "log export"] {
        assert!(matches!(log(&db, line).0, Err(Error::LogGone(_))), "{line}");
    }
}

#[test]
fn e4_a_log_that_was_cut_off_at_its_end_is_found_without_an_anchor() {
    let (_folder, db) = folder();
    record(&db, WRITER, (1..=5).map(read));
    let raw = Connection::open(&db).unwrap();
    raw.execute_batch("DROP TRIGGER record_is_not_removed; DELETE FROM record WHERE seq = 5").unwrap();
    let (finding, text, json) = verify(&db);
    assert_eq!(finding, ExitCode::FAILURE, "{text}");
    assert!(text.contains("has noted record 5"), "{text}");
    assert_eq!((&json["records"], &json["noted"]["found"]), (&4.into(), &false.into()), "{json}");
    record(&db, WRITER, [read(6), read(7)]);
    assert_eq!(verify(&db).0, ExitCode::FAILURE, "what was appended since hides it");
}

#[test]
fn one_changed_record_is_told_as_one_and_not_as_a_log_that_was_cut_off() {
    let (_folder, db) = folder();
    record(&db, WRITER, (1..=5).map(read));
    let raw = Connection::open(&db).unwrap();
    let change =
        "DROP TRIGGER record_is_not_changed; UPDATE record SET body = replace(body, 'approve', 'deny') WHERE seq = 3";
    raw.execute_batch(change).unwrap();
    let (finding, text, json) = verify(&db);
    assert_eq!((finding, &json["changed"], &json["records"]), (ExitCode::FAILURE, &1.into(), &2.into()), "{json}");
    assert!(text.contains("Every other record holds: 2 before it, 2 after it."), "{text}");
    assert!(text.contains("record 5, is in it") && !text.contains("MISSING"), "{text}");
    // What is behind it may be cut off as well.
    raw.execute_batch("DROP TRIGGER record_is_not_removed; DELETE FROM record WHERE seq = 5").unwrap();
    assert!(verify(&db).1.contains("RECORDS ARE MISSING"));
}

#[test]
fn a_note_that_says_nothing_is_a_finding_and_stays() {
    type Spoil = fn(&Path);
    let table: [(&str, Spoil, &str); 3] = [
        ("other words", |note| fs::write(note, "nothing\n").unwrap(), "holds no head"),
        ("no line end", |note| fs::write(note, "3 00").unwrap(), "holds no head"),
        (
            "a link",
            |note| {
                fs::rename(note, note.with_extension("moved")).unwrap();
                symlink(note.with_extension("moved"), note).unwrap();
            },
            "it is a link",
        ),
    ];
    for (what, spoil, says) in table {
        let (_folder, db) = folder();
        record(&db, WRITER, [read(1)]);
        spoil(&place_of(&db));
        record(&db, WRITER, [read(2)]);
        let (finding, text, _) = verify(&db);
        assert_eq!(finding, ExitCode::FAILURE, "{what}: {text}");
        assert!(text.contains(says), "{what}: {text}");
    }
}
