//! The scribe: everything is acknowledged once, in order, whatever the disk does.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mcp_approve::interpose::scribe::{Ack, Scribe};

use crate::{folder, head, numbered, read, write};

/// A scribe, and the acknowledgements of each commit.
fn scribe(db: &Path) -> (Scribe, Receiver<Vec<Ack>>) {
    let (acks, told) = channel();
    let key = db.with_file_name("redaction.key");
    let scribe = Scribe::start(db.to_path_buf(), key, move |batch| {
        acks.send(batch).unwrap();
    });
    (scribe, told)
}

#[test]
fn every_entry_is_acknowledged_once_and_in_order() {
    let (_folder, db) = folder();
    let (scribe, told) = scribe(&db);
    for n in 0..1000 {
        let entry = if n % 10 == 0 { write(n) } else { read(n) };
        scribe.record(vec![(u64::try_from(n).unwrap(), entry)]);
    }
    scribe.finish().unwrap();
    let commits: Vec<_> = told.iter().collect();
    assert!(commits.len() < 1000, "what waits together shares a commit: {}", commits.len());
    assert!(commits.iter().all(|commit| commit.len() <= 512));
    for (n, ack) in (0..).zip(commits.iter().flatten()) {
        let Ack::Recorded(receipt) = ack else { panic!("{ack:?}") };
        assert_eq!((receipt.entry(), receipt.seq()), (n, n + 1));
    }
    assert_eq!(head(&db).seq, 1000);
}

#[test]
fn a_large_batch_is_several_commits() {
    let (_folder, db) = folder();
    let (scribe, told) = scribe(&db);
    scribe.record(numbered((0..1200).map(read)));
    scribe.finish().unwrap();
    let sizes: Vec<_> = told.iter().map(|commit| commit.len()).collect();
    assert_eq!(sizes, [512, 512, 176]);
}

#[test]
fn without_a_log_everything_fails_with_the_reason_until_there_is_one() {
    let (folder, db) = folder();
    std::fs::create_dir(&db).unwrap();
    let (scribe, told) = scribe(&db);
    scribe.record(numbered([read(1), write(2)]));
    let acks = told.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(acks.len(), 2);
    for (n, ack) in (100..).zip(&acks) {
        let Ack::Failed { entry, why } = ack else { panic!("{ack:?}") };
        assert_eq!(*entry, n);
        assert!(why.contains("audit.db") && why.contains("--audit-db"), "{why}");
    }
    std::fs::remove_dir(&db).unwrap();
    scribe.record(numbered([read(3)]));
    let acks = told.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(matches!(acks[..], [Ack::Recorded(_)]), "{acks:?}");
    scribe.finish().unwrap();
    drop(folder);
}

#[test]
fn the_key_is_made_once_for_the_user_alone() {
    let (_folder, db) = folder();
    let key = db.with_file_name("redaction.key");
    for _ in 0..2 {
        let (scribe, told) = scribe(&db);
        let mut entry = read(1);
        entry.arguments = Some(r#"{"password":"hunter2"}"#.to_owned());
        scribe.record(numbered([entry]));
        scribe.finish().unwrap();
        assert!(matches!(told.recv().unwrap()[..], [Ack::Recorded(_)]));
        assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(key.metadata().unwrap().len(), 32);
    }
    let reader = mcp_approve::audit::store::Reader::open(&db).unwrap().unwrap();
    let arguments = |seq| {
        let found = mcp_approve::audit::query::at(&reader, seq).unwrap().unwrap();
        found.fields().unwrap().arguments.unwrap().get().to_owned()
    };
    assert_eq!(arguments(1), arguments(2), "both runs used one key");
    assert!(!arguments(1).contains("hunter2"));
    let left: Vec<_> = std::fs::read_dir(db.parent().unwrap()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert!(
        left.iter().all(|name| name.to_str().unwrap().starts_with("audit.") || name == "redaction.key"),
        "{left:?}"
    );
}

#[test]
fn a_key_of_the_wrong_size_is_not_used() {
    let (_folder, db) = folder();
    std::fs::write(db.with_file_name("redaction.key"), "short").unwrap();
    let (scribe, told) = scribe(&db);
    scribe.record(numbered([read(1)]));
    scribe.finish().unwrap();
    let acks = told.recv().unwrap();
    assert!(matches!(&acks[..], [Ack::Failed { why, .. }] if why.contains("redaction.key")), "{acks:?}");
}
