//! The scribe: everything is acknowledged once, in order, whatever the disk does.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mcp_approve::audit::record::Entry;
use mcp_approve::interpose::scribe::{Ack, Done, Scribe};

use crate::audit::{folder, head, numbered, read, write};

/// A scribe played by its loop: what it answers at once and what the thread has done, in one list.
struct Loop {
    scribe: Scribe,
    told: Receiver<Done>,
    acks: Vec<Ack>,
    now: u64,
}

impl Loop {
    fn over(db: &Path) -> Self {
        let (done, told) = channel();
        let key = db.with_file_name("redaction.key");
        let scribe = Scribe::start(Ok(db.to_path_buf()), key, move |one| drop(done.send(one)));
        Self { scribe, told, acks: Vec::new(), now: 0 }
    }

    fn record(&mut self, batch: Vec<(u64, Entry)>) {
        self.now += 1000;
        let at_once = self.scribe.record(self.now, batch);
        self.acks.extend(at_once);
    }

    /// Waits until so many acknowledgements are there.
    fn until(&mut self, count: usize) -> &[Ack] {
        while self.acks.len() < count {
            let done = self.told.recv_timeout(Duration::from_secs(20)).expect("an acknowledgement");
            let acks = self.scribe.done(self.now, done);
            self.acks.extend(acks);
        }
        &self.acks
    }

    /// Waits until the store is here, so that the next commit is made at once.
    fn at_home(&mut self) {
        while !self.scribe.is_at_home() {
            let done = self.told.recv_timeout(Duration::from_secs(20)).expect("the store");
            let acks = self.scribe.done(self.now, done);
            self.acks.extend(acks);
        }
    }
}

#[test]
fn every_entry_is_acknowledged_once_and_in_order() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    for n in 0..1000 {
        let entry = if n % 10 == 0 { write(n) } else { read(n) };
        scribe.record(vec![(u64::try_from(n).unwrap(), entry)]);
        if n % 50 == 0 {
            scribe.at_home();
        }
    }
    for (n, ack) in (0..).zip(scribe.until(1000)) {
        let Ack::Recorded(receipt) = ack else { panic!("{ack:?}") };
        assert_eq!((receipt.entry(), receipt.seq()), (n, n + 1));
    }
    scribe.scribe.finish().unwrap();
    assert_eq!(head(&db).seq, 1000);
}

#[test]
fn what_needs_no_disk_is_recorded_at_once_and_the_rest_is_not() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.at_home();
    scribe.record(numbered([read(1)]));
    assert_eq!(scribe.acks.len(), 1, "an allowed read waits for nobody");
    scribe.record(numbered([write(2)]));
    assert_eq!(scribe.acks.len(), 1, "a write waits for the disk, not the loop");
    scribe.until(2);
    // Another wrapper has the lock: nothing is recorded at once, and nothing waits for it here.
    scribe.at_home();
    let lock = std::fs::File::options().write(true).open(db.with_extension("lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    scribe.record(numbered([read(3)]));
    assert_eq!(scribe.acks.len(), 2);
    drop(lock);
    scribe.until(3);
    scribe.scribe.finish().unwrap();
    assert_eq!(head(&db).seq, 3);
}

#[test]
fn a_commit_without_a_sync_is_synced_soon() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.at_home();
    scribe.record(numbered([read(1)]));
    let due = scribe.scribe.wake_at().expect("a sync is due");
    assert!(due <= scribe.now + 100_000, "within 100 ms");
    scribe.scribe.rest(due);
    assert!(!scribe.scribe.is_at_home(), "the thread syncs");
    scribe.at_home();
    scribe.scribe.finish().unwrap();
}

#[test]
fn a_large_batch_is_several_commits() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.record(numbered((0..1200).map(|n| if n == 0 { write(n) } else { read(n) })));
    scribe.until(1200);
    scribe.scribe.finish().unwrap();
    assert_eq!(head(&db).seq, 1200);
}

#[test]
fn without_a_log_everything_fails_with_the_reason_until_there_is_one() {
    let (folder, db) = folder();
    std::fs::create_dir(&db).unwrap();
    let mut scribe = Loop::over(&db);
    scribe.record(numbered([read(1), write(2)]));
    for (n, ack) in (100..).zip(scribe.until(2)) {
        let Ack::Failed { entry, why } = ack else { panic!("{ack:?}") };
        assert_eq!(*entry, n);
        assert!(why.contains("audit.db") && why.contains("--audit-db"), "{why}");
    }
    std::fs::remove_dir(&db).unwrap();
    scribe.record(numbered([read(3)]));
    let acks = scribe.until(3);
    assert!(matches!(acks[2], Ack::Recorded(_)), "{acks:?}");
    scribe.scribe.finish().unwrap();
    drop(folder);
}

#[test]
fn the_key_is_made_once_for_the_user_alone() {
    let (_folder, db) = folder();
    let key = db.with_file_name("redaction.key");
    for _ in 0..2 {
        let mut scribe = Loop::over(&db);
        let mut entry = read(1);
        entry.arguments = Some(r#"{"password":"hunter2"}"#.to_owned());
        scribe.record(numbered([entry]));
        assert!(matches!(scribe.until(1), [Ack::Recorded(_)]));
        scribe.scribe.finish().unwrap();
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
    let mut scribe = Loop::over(&db);
    scribe.record(numbered([read(1)]));
    let acks = scribe.until(1);
    assert!(matches!(acks, [Ack::Failed { why, .. }] if why.contains("redaction.key")), "{acks:?}");
}
