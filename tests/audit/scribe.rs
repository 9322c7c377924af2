//! The scribe: everything is acknowledged once, whatever the disk and the other wrappers do.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use mcp_approve::audit::record::Entry;
use mcp_approve::interpose::scribe::{Ack, Done, Scribe};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::audit::{folder, head, numbered, read, tickets, write};

/// A scribe played by its loop: what it answers at once and what the threads have done, in one list.
pub(super) struct Loop {
    pub scribe: Scribe,
    done: UnboundedReceiver<Done>,
    pub acks: Vec<Ack>,
    now: u64,
}

impl Loop {
    pub(super) fn over(db: &Path) -> Self {
        let (to_loop, done) = unbounded_channel();
        let key = db.with_file_name("redaction.key");
        let scribe = Scribe::start(Ok(db.to_path_buf()), key, "s1", to_loop);
        Self { scribe, done, acks: Vec::new(), now: 0 }
    }

    pub(super) fn record(&mut self, batch: Vec<(u64, Entry)>) {
        self.now += 1000;
        let at_once = self.scribe.record(self.now, batch);
        self.acks.extend(at_once);
    }

    /// Does what is due, and takes what the threads have done within a moment.
    pub(super) fn turn(&mut self) {
        self.now += 10_000;
        let acks = self.scribe.rest(self.now);
        self.acks.extend(acks);
        let until = Instant::now() + Duration::from_millis(10);
        while self.done.is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        if let Ok(done) = self.done.try_recv() {
            let acks = self.scribe.done(self.now, done);
            self.acks.extend(acks);
        }
    }

    pub(super) fn wait(&mut self, what: &str, mut until: impl FnMut(&mut Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !until(self) {
            assert!(Instant::now() < deadline, "{what}: {:?}", self.acks);
            self.turn();
        }
    }

    /// Waits until so many acknowledgements are there.
    fn until(&mut self, count: usize) -> &[Ack] {
        self.wait("acknowledgements", |this| this.acks.len() >= count);
        &self.acks
    }

    /// Waits until there is a journal, so that the next commit is made at once.
    pub(super) fn open(&mut self) {
        self.wait("a journal", |this| this.scribe.is_open());
    }

    /// The entries that were recorded, in order.
    fn recorded(&self) -> Vec<u64> {
        let entry = |ack: &Ack| match ack {
            Ack::Recorded(receipt) => receipt.entry(),
            Ack::Failed { .. } => panic!("{ack:?}"),
        };
        self.acks.iter().map(entry).collect()
    }
}

/// On a machine that does much else, too.
const PATIENCE: Duration = Duration::from_secs(60);

fn left(db: &Path) -> usize {
    std::fs::read_dir(db.with_extension("d")).unwrap().count()
}

/// The tickets of all calls: the log also names each journal but the first.
fn calls(db: &Path) -> Vec<String> {
    tickets(db).into_iter().filter(|ticket| !ticket.is_empty()).collect()
}

/// The host is not read while many entries wait: each call that does takes kilobytes.
#[test]
fn there_is_room_for_more_entries_once_those_that_wait_are_recorded() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    let entries = (0..128).map(|n| (n, read(i64::try_from(n).unwrap()))).collect();
    scribe.record(entries);
    assert!(!scribe.scribe.has_room(), "there is no journal before the first turn");
    scribe.until(128);
    assert!(scribe.scribe.has_room());
    let (_other, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.record(vec![(1, Entry { arguments: Some("1".repeat(1 << 20).parse().unwrap()), ..read(1) })]);
    assert!(!scribe.scribe.has_room(), "one with large arguments takes it as well");
    scribe.until(1);
    assert!(scribe.scribe.has_room());
}

#[test]
fn every_entry_is_acknowledged_once() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    for n in 0..1000 {
        let entry = if n % 10 == 0 { write(n) } else { read(n) };
        scribe.record(vec![(u64::try_from(n).unwrap(), entry)]);
        if n % 50 == 0 {
            scribe.turn();
        }
    }
    scribe.until(1000);
    let mut recorded = scribe.recorded();
    recorded.sort_unstable();
    assert_eq!(recorded, (0..1000).collect::<Vec<_>>());
    scribe.scribe.finish().unwrap();
    let expected: Vec<_> = (0..1000).map(|n| format!("filesystem-{n}")).collect();
    assert_eq!(calls(&db), expected, "in the order they came");
    // With it goes a journal that came too late for the loop, as soon as its thread has made it.
    drop(scribe.done);
    let deadline = Instant::now() + PATIENCE;
    while left(&db) > 0 {
        assert!(Instant::now() < deadline, "the journal is gone");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Another wrapper may have the log for as long as it likes: neither a read nor a write waits for it.
#[test]
fn nothing_waits_for_another_wrapper() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.open();
    let lock = std::fs::File::options().write(true).open(db.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    scribe.record(numbered([read(1)]));
    assert_eq!(scribe.acks.len(), 1, "an allowed read waits for nobody");
    scribe.turn();
    scribe.turn();
    scribe.record(numbered([write(2)]));
    assert_eq!(scribe.acks.len(), 1, "a write waits for the disk, not the loop");
    scribe.until(2);
    lock.unlock().unwrap();
    scribe.scribe.finish().unwrap();
    assert_eq!(head(&db).seq, 2);
}

#[test]
fn what_is_committed_is_folded_soon() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.open();
    scribe.record(numbered([read(1)]));
    let due = scribe.scribe.wake_at().expect("a fold is due");
    assert!(due < scribe.now + 50_000, "within 50 ms");
    assert!(scribe.scribe.rest(due).is_empty());
    scribe.wait("the fold", |_| head(&db).seq == 1);
    assert_eq!(scribe.scribe.wake_at(), None);
    scribe.scribe.finish().unwrap();
}

#[test]
fn a_large_entry_keeps_its_place() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.open();
    let mut large = read(2);
    large.arguments = Some(format!(r#"{{"text":"{}"}}"#, "x".repeat(1 << 20)).parse().unwrap());
    scribe.record(vec![(1, read(1)), (2, large), (3, read(3))]);
    scribe.until(3);
    assert_eq!(scribe.recorded(), [1, 2, 3]);
    scribe.scribe.finish().unwrap();
    assert_eq!(tickets(&db), ["filesystem-1", "filesystem-2", "filesystem-3"]);
}

/// The log is kept from growing: entries wait for it, none is refused, and what is held in memory stays bounded.
#[test]
fn when_the_log_is_behind_entries_wait() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.open();
    let lock = std::fs::File::options().write(true).open(db.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let mut entry = read(1);
    entry.arguments = Some(format!(r#"{{"text":"{}"}}"#, "word ".repeat(2_000)).parse().unwrap());
    for n in 0..600 {
        scribe.record(vec![(n, entry.clone())]);
    }
    assert!((50..200).contains(&scribe.acks.len()), "{}", scribe.acks.len());
    lock.unlock().unwrap();
    scribe.until(600);
    assert_eq!(scribe.recorded(), (0..600).collect::<Vec<_>>());
    scribe.scribe.finish().unwrap();
    assert_eq!(calls(&db).len(), 600);
}

#[test]
fn a_journal_that_has_grown_is_replaced_and_removed() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.open();
    let mut entry = read(1);
    entry.arguments = Some(format!(r#"{{"text":"{}"}}"#, "word ".repeat(3_000)).parse().unwrap());
    for n in 0..600 {
        scribe.record(vec![(n, entry.clone())]);
        scribe.turn();
    }
    scribe.until(600);
    let size = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().metadata().unwrap().len();
    let sizes: Vec<_> = std::fs::read_dir(db.with_extension("d")).unwrap().map(size).collect();
    assert!(sizes.len() <= 4, "two files at most, each with its write-ahead log: {sizes:?}");
    assert!(sizes.iter().all(|size| *size < 5 << 20), "what is written is not 10 MiB: {sizes:?}");
    scribe.scribe.finish().unwrap();
    assert_eq!((calls(&db).len(), left(&db)), (600, 0));
    let log = rusqlite::Connection::open(&db).unwrap();
    let writers: i64 = log.query_row("SELECT count(DISTINCT writer) FROM record", [], |row| row.get(0)).unwrap();
    assert!(writers > 1, "{writers}");
}

/// As a commit that fails does: no call goes on before the log takes entries again, and nothing is lost or recorded twice.
#[test]
fn a_fold_that_fails_stops_forwarding_until_one_works() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.open();
    scribe.record(numbered([read(1)]));
    assert_eq!(scribe.acks.len(), 1);
    let mut away = Vec::new();
    for suffix in ["db", "db-wal", "db-shm"] {
        let (name, other) = (db.with_extension(suffix), db.with_extension(suffix.replace("db", "away")));
        std::fs::rename(&name, &other).unwrap();
        away.push((other, name));
    }
    std::fs::create_dir(&db).unwrap();
    scribe.wait("the failed fold", |this| !this.scribe.is_open());
    scribe.record(vec![(2, read(2)), (3, write(3))]);
    for (n, ack) in (2..).zip(&scribe.until(3)[1..]) {
        let Ack::Failed { entry, why } = ack else { panic!("{ack:?}") };
        assert_eq!(*entry, n);
        assert!(why.contains("audit.db") && why.contains("--audit-db"), "{why}");
    }
    std::fs::remove_dir(&db).unwrap();
    for (from, to) in away {
        std::fs::rename(from, to).unwrap();
    }
    scribe.record(vec![(4, read(4))]);
    let acks = scribe.until(4);
    assert!(matches!(acks[3], Ack::Recorded(_)), "{acks:?}");
    scribe.scribe.finish().unwrap();
    assert_eq!(calls(&db), ["filesystem-1", "filesystem-4"]);
    assert_eq!(left(&db), 0);
}

/// Once we have ended, what is in it could not be found. So no call goes on, and the log says why.
#[test]
fn a_journal_or_log_that_was_removed_stops_its_wrapper_for_good() {
    for removed in ["audit.d", "audit.db", ""] {
        let (_folder, db) = folder();
        let mut scribe = Loop::over(&db);
        scribe.open();
        scribe.record(numbered([read(1)]));
        scribe.wait("the fold", |_| head(&db).seq == 1);
        match removed {
            "audit.db" => std::fs::remove_file(&db).unwrap(),
            folder => std::fs::remove_dir_all(db.with_file_name(folder)).unwrap(),
        }
        scribe.record(numbered([read(2)]));
        scribe.wait("that it is seen", |this| !this.scribe.is_open());
        for n in 3..6 {
            scribe.record(numbered([read(n)]));
            scribe.turn();
        }
        assert!(scribe.acks[2..].iter().all(|ack| matches!(ack, Ack::Failed { .. })), "{removed}: {:?}", scribe.acks);
        let Some(Ack::Failed { why, .. }) = scribe.acks.last() else { panic!("{:?}", scribe.acks) };
        assert!(why.contains("removed") && why.contains("start this server again"), "{removed}: {why}");
        let _ = scribe.scribe.finish();
        if removed == "audit.d" {
            let log = rusqlite::Connection::open(&db).unwrap();
            let last = "SELECT body FROM record WHERE body LIKE '%\"kind\":\"fault\"%'";
            let fault: String = log.query_row(last, [], |row| row.get(0)).unwrap();
            assert!(fault.contains("the journal of this wrapper was removed while it ran"), "{fault}");
        } else {
            assert!(!db.exists(), "no other log takes its place");
        }
    }
}

/// The last part, the journal's end and ours may all wait for the log at once: the loop hears of no failure.
#[test]
fn an_end_that_waits_for_the_log_is_no_failure() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.open();
    let lock = std::fs::File::options().write(true).open(db.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    scribe.record(vec![(1, read(1))]);
    let due = scribe.scribe.wake_at().unwrap();
    assert!(scribe.scribe.rest(due).is_empty());
    scribe.record(vec![(2, read(2))]);
    let Loop { scribe, done, .. } = scribe;
    std::thread::scope(|scope| {
        scope.spawn(|| scribe.finish().unwrap());
        std::thread::sleep(Duration::from_millis(50));
        lock.unlock().unwrap();
    });
    assert!(done.is_empty());
    assert_eq!(tickets(&db), ["filesystem-1", "filesystem-2"]);
}

#[test]
fn a_wrapper_that_ends_at_once_leaves_nothing_behind() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.record(numbered([read(1)]));
    let Loop { scribe, done, .. } = scribe;
    scribe.finish().unwrap();
    drop(done);
    assert_eq!(left(&db), 0);
    assert_eq!(tickets(&db), ["filesystem-1"]);
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
        entry.arguments = Some(r#"{"password":"hunter2"}"#.parse().unwrap());
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
