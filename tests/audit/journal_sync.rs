//! What of a journal the disk has when a receipt is given for an entry that has to be synced.

use std::fs;

use mcp_approve::audit::query;
use mcp_approve::audit::store::{Commit, Damage, Journal, Left, Reader, Unsynced};

use super::journal::{NAME, file, left, named, record, store};
use crate::audit::{folder, redactor, tickets, write};

/// Only the write-ahead log is synced for an entry, the database once after it was made: so that never changes.
#[test]
fn a_synced_entry_needs_the_database_as_it_was_made() {
    for more in [0, 1, 20] {
        let (_folder, db) = folder();
        let mut store = store(&db);
        let mut journal = store.journal(NAME).unwrap();
        let made = fs::read(file(&db)).unwrap();
        record(&mut journal, 1..=20);
        store.fold(&[&journal.take()]).unwrap();
        store.sync().unwrap();
        record(&mut journal, 21..=20 + more);
        assert_eq!(fs::read(file(&db)).unwrap(), made);
        let wal = file(&db).with_extension("db-wal");
        let log = fs::read(&wal).unwrap();
        drop((journal, store));
        fs::write(file(&db), made).unwrap();
        fs::write(&wal, log).unwrap();
        assert_eq!(tickets(&db), named(1..=20 + more), "{more} more");
        assert_eq!(left(&db), [] as [&str; 0], "{more} more");
    }
}

/// A loss of power before the first sync may leave any part of the database on the disk, and all of the write-ahead log.
#[test]
fn a_database_that_the_disk_never_had_whole_is_kept_aside_as_such() {
    const PAGE: usize = 8192;
    type Loss = fn(Vec<u8>) -> Option<Vec<u8>>;
    let losses: [(&str, Loss); 7] = [
        ("its name", |_| None),
        ("all but its name", |_| Some(Vec::new())),
        ("all but one byte", |_| Some(vec![0])),
        ("all but its size", |made| Some(vec![0; made.len()])),
        ("its first page", |made| Some([&[0; PAGE][..], &made[PAGE..]].concat())),
        ("all but its first page", |made| Some(made[..PAGE].into())),
        ("its last page", |made| Some([&made[..2 * PAGE], &[0; PAGE]].concat())),
    ];
    for (lost, loss) in losses {
        let (_folder, db) = folder();
        let mut store = store(&db);
        let mut journal = store.journal(NAME).unwrap();
        let made = fs::read(file(&db)).unwrap();
        assert_eq!(made.len(), 3 * PAGE);
        record(&mut journal, 1..=3);
        drop((journal, store));
        match loss(made) {
            Some(had) => fs::write(file(&db), had).unwrap(),
            None => fs::remove_file(file(&db)).unwrap(),
        }
        let log = fs::read(file(&db).with_extension("db-wal")).unwrap();
        let reader = Reader::open(&db).unwrap().unwrap();
        let aside = file(&db).with_extension("incomplete");
        assert_eq!(reader.left(), [Left::Aside { path: aside.clone(), damage: Damage::Incomplete }], "{lost}");
        assert_eq!(fs::read(aside.with_extension("incomplete-wal")).unwrap(), log, "{lost}: nothing of it is dropped");
        let fault = query::at(&reader, 1).unwrap().unwrap().json();
        assert!(fault.contains("the journal of a wrapper that ended is incomplete"), "{lost}: {fault}");
        assert_eq!(Reader::open(&db).unwrap().unwrap().newest(), Ok(1), "{lost}: noted once");
    }
}

/// SQLite takes a write-ahead log for at its end where a checksum fails. Only of the newest frame nothing is behind that.
#[test]
fn a_flipped_bit_hides_no_entry_without_a_word() {
    const FRAME: usize = 24 + 8192;
    let (_folder, db) = folder();
    let mut store = store(&db);
    let mut journal = store.journal(NAME).unwrap();
    record(&mut journal, 1..=6);
    let wal = file(&db).with_extension("db-wal");
    let (made, log) = (fs::read(file(&db)).unwrap(), fs::read(&wal).unwrap());
    drop((journal, store));
    // Each entry has a frame at least.
    let end = 32 + 4 * FRAME;
    let headers = (0..4).flat_map(|frame| 32 + frame * FRAME..56 + frame * FRAME);
    for at in (0..32).chain(headers).chain((56..end).step_by(499)) {
        let mut changed = log.clone();
        changed[at] ^= 1 << (at % 8);
        let (_folder, db) = folder();
        fs::create_dir(file(&db).parent().unwrap()).unwrap();
        fs::write(file(&db), &made).unwrap();
        fs::write(file(&db).with_extension("db-wal"), &changed).unwrap();
        let reader = Reader::open(&db).unwrap().unwrap();
        assert!(matches!(reader.left(), [Left::Aside { .. }]), "byte {at}: {:?}", reader.left());
    }
}

/// SQLite takes some files for an empty database, to which no write-ahead log belongs.
#[test]
fn a_database_that_somebody_put_in_the_place_of_a_journals_is_a_change() {
    let empty = tempfile::tempdir().unwrap().path().with_extension("db");
    rusqlite::Connection::open(&empty).unwrap().execute_batch("PRAGMA page_size=8192; VACUUM").unwrap();
    for put in [b"S".to_vec(), fs::read(&empty).unwrap()] {
        let (_folder, db) = folder();
        let mut store = store(&db);
        let mut journal = store.journal(NAME).unwrap();
        record(&mut journal, 1..=3);
        drop((journal, store));
        fs::write(file(&db), &put).unwrap();
        let reader = Reader::open(&db).unwrap().unwrap();
        let aside = file(&db).with_extension("broken");
        assert_eq!(reader.left(), [Left::Aside { path: aside, damage: Damage::Changed }], "{} bytes", put.len());
    }
    fs::remove_file(&empty).unwrap();
}

/// A removed name may come back where a disk keeps no order.
#[test]
fn a_write_ahead_log_whose_entries_are_in_the_log_is_no_loss() {
    let (_folder, db) = folder();
    let mut store = store(&db);
    let mut journal = store.journal(NAME).unwrap();
    let wal = file(&db).with_extension("db-wal");
    record(&mut journal, 1..=3);
    drop(journal);
    let kept = fs::File::open(&wal).unwrap();
    drop(store);
    assert_eq!(tickets(&db), named(1..=3));
    assert_eq!((kept.metadata().unwrap().len(), wal.exists()), (0, false));
    fs::write(&wal, "").unwrap();
    assert_eq!(Reader::open(&db).unwrap().unwrap().left(), []);
}

/// The system says once that the disk did not take something, and then calls it clean.
#[test]
fn a_journal_whose_sync_has_failed_is_never_synced_again() {
    let (folder, db) = folder();
    let mut store = store(&db);
    let mut journal = store.journal(NAME).unwrap();
    let Ok(Commit::Unsynced(unsynced)) = journal.record(&[(4, write(1))], &redactor()) else {
        panic!("it is synced first")
    };
    // Its folders are synced by their names.
    let away = folder.path().with_extension("away");
    fs::rename(folder.path(), &away).unwrap();
    assert!(journal.file().root().is_err());
    fs::rename(&away, folder.path()).unwrap();
    assert!(unsynced.sync().is_err_and(|(entries, _)| entries == [4]));
    store.fold(&[&journal.take()]).unwrap();
    let Ok(Commit::Unsynced(again)) = journal.record(&[(5, write(2))], &redactor()) else {
        panic!("it is synced first")
    };
    assert!(again.sync().is_err_and(|(entries, _)| entries == [5]));
    assert_eq!(tickets(&db), named(1..=1));
}

#[test]
fn batches_of_one_journal_are_synced_together_and_each_keeps_its_receipts() {
    let (_folder, db) = folder();
    let mut store = store(&db);
    let (mut journal, mut other) = (store.journal(NAME).unwrap(), store.journal([1; 16]).unwrap());
    let unsynced = |journal: &mut Journal, id: u64| {
        let Ok(Commit::Unsynced(unsynced)) = journal.record(&[(id, write(1))], &redactor()) else {
            panic!("a write is synced first")
        };
        unsynced
    };
    let mut first = unsynced(&mut journal, 4);
    first.join(unsynced(&mut journal, 5)).unwrap();
    let another = first.join(unsynced(&mut other, 6)).unwrap_err();
    let entries =
        |unsynced: Unsynced| unsynced.sync().unwrap().iter().map(|receipt| receipt.entry()).collect::<Vec<_>>();
    assert_eq!((entries(first), entries(another)), (vec![4, 5], vec![6]));
}
