//! What was agreed to: kept with the pins, counted only with its record in the log, lapsed after ninety days, taken back.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mcp_approve::audit::agreed::{Latest, Says, agreed, taken_back};
use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::store::{Reader, Store};
use mcp_approve::behavior::agreed::{Agreement, Backing, What};
use mcp_approve::behavior::conclude::Trust;
use mcp_approve::gate::data::event::Event;
use mcp_approve::gate::data::pin::Pins;
use mcp_approve::home::places::Places;
use mcp_approve::interpose::clock;
use mcp_approve::interpose::pin_writer::PinWriter;
use mcp_approve::interpose::threads::{FromThreads, ToLoop};
use mcp_approve::interpose::watch::{Files, Watch};
use mcp_approve::pins::agreed::{Proofs, Standing};
use mcp_approve::pins::{Launch, PinStore};
use rusqlite::Connection;
use tokio::sync::mpsc::UnboundedReceiver;

const DAY: i64 = 24 * 60 * 60 * 1000;

fn launch() -> Launch {
    Launch::new("weather", &["server".into()], None, None)
}

fn fingerprint() -> String {
    launch().fingerprint.to_string()
}

fn city(name: &str) -> Agreement {
    let tool = "forecast".to_owned();
    Agreement { tool, key: "/city".into(), ..Agreement::of_server(What::Value, format!("\"{name}\"")) }
}

struct Home {
    _folder: tempfile::TempDir,
    places: Places,
    pins: PathBuf,
    log: PathBuf,
}

/// A server that was wrapped before, and a log.
fn home() -> Home {
    let folder = tempfile::tempdir().unwrap();
    let places = Places::under(folder.path()).unwrap();
    places.create_state().unwrap();
    let (pins, log) = (places.pins_db(), places.audit_db());
    let mut store = PinStore::open(&pins).unwrap();
    let (_, program) = store.greet(&launch(), 1).unwrap();
    store.note(&launch(), &program, Trust::Corroborate, 1).unwrap();
    drop(Store::open(&log, [1; 16]).unwrap());
    Home { _folder: folder, places, pins, log }
}

fn entry() -> Entry {
    Entry::new(1, Kind::Agreed, &"weather".into(), &"session".into())
}

impl Home {
    fn store(&self) -> PinStore {
        PinStore::open(&self.pins).unwrap()
    }

    fn append(&self, entries: &[(u64, Entry)]) {
        let mut log = Store::open(&self.log, [2; 16]).unwrap();
        log.append(entries, &Redactor::new(&[0; 32])).unwrap();
    }

    /// As a wrapper does: recorded, then kept.
    fn agrees(&self, one: &Agreement, at: i64) {
        self.append(&[(1, agreed(entry(), one, &fingerprint()))]);
        self.store().agree(&fingerprint(), std::slice::from_ref(one), at).unwrap();
    }

    fn takes_back(&self, one: &Agreement) {
        self.append(&[(1, taken_back(entry(), one, &fingerprint(), "the operator took it back"))]);
        self.store().disagree(&[one.digest(&fingerprint())]).unwrap();
    }

    fn standings(&self) -> Vec<Standing> {
        let kept = self.store().agreed(None).unwrap();
        let day = kept.first().map_or(0, |kept| kept.used);
        Proofs::open(&self.log).standings(&kept, day, |_, _| Standing::Proven(Backing::Recorded))
    }

    fn wrapper(&self) -> (PinWriter, Pinned) {
        let (tell, told) = tokio::sync::mpsc::unbounded_channel();
        let watcher = Watch::default().watcher(Files::Pins);
        let places = (self.places.clone(), self.log.clone());
        (PinWriter::start(places, launch(), Trust::Corroborate, watcher, ToLoop(tell)).1, Pinned(told))
    }
}

/// What a wrapper's gate is told.
struct Pinned(UnboundedReceiver<FromThreads>);

impl Pinned {
    fn next(&mut self) -> Pins {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            match self.0.try_recv() {
                Ok(FromThreads::Event(Event::Reviewed(pins))) => return *pins,
                Ok(FromThreads::Watched(_)) => {}
                Ok(what) => panic!("{what:?}"),
                Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

fn damage(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_row_without_a_record_never_counts_and_is_named_until_its_record_comes() {
    let home = home();
    home.store().agree(&fingerprint(), &[city("Oslo")], clock::wall_ms()).unwrap();
    let started = Instant::now();
    let (_writer, mut told) = home.wrapper();
    let first = told.next();
    assert!(first.agreed.is_empty() && first.unproven.is_empty(), "its record may be on its way: {first:?}");
    let later = told.next();
    assert!(later.agreed.is_empty() && started.elapsed() >= Duration::from_secs(1), "{later:?}");
    assert_eq!(later.unproven, ["forecast: city = Oslo"]);
    home.append(&[(1, agreed(entry(), &city("Oslo"), &fingerprint()))]);
    let proven = told.next();
    assert!(proven.agreed.contains(&city("Oslo")) && proven.unproven.is_empty(), "{proven:?}");
}

#[test]
fn a_record_that_comes_within_the_second_raises_no_alarm() {
    let home = home();
    home.store().agree(&fingerprint(), &[city("Oslo")], clock::wall_ms()).unwrap();
    let mut log = Store::open(&home.log, [3; 16]).unwrap();
    let mut journal = log.journal([4; 16]).unwrap();
    journal.record(&[(1, agreed(entry(), &city("Oslo"), &fingerprint()))], &Redactor::new(&[0; 32])).unwrap();
    let (_writer, mut told) = home.wrapper();
    assert!(told.next().agreed.is_empty());
    log.fold(&[&journal.take()]).unwrap();
    let pins = told.next();
    assert!(pins.agreed.contains(&city("Oslo")) && pins.unproven.is_empty(), "{pins:?}");
}

#[test]
fn a_death_between_record_and_row_or_before_the_fold_leaves_nothing_that_counts_wrongly() {
    let home = home();
    home.append(&[(1, agreed(entry(), &city("Oslo"), &fingerprint()))]);
    assert!(home.wrapper().1.next().agreed.is_empty(), "a record alone is no agreement");
    // A wrapper that died after it had kept the row, and before its journal was in the log.
    let mut log = Store::open(&home.log, [3; 16]).unwrap();
    let mut journal = log.journal([4; 16]).unwrap();
    journal.record(&[(1, agreed(entry(), &city("Rome"), &fingerprint()))], &Redactor::new(&[0; 32])).unwrap();
    drop((journal, log));
    home.store().agree(&fingerprint(), &[city("Rome")], clock::wall_ms()).unwrap();
    drop(Store::open(&home.log, [5; 16]).unwrap());
    let pins = home.wrapper().1.next();
    assert!(pins.agreed.contains(&city("Rome")) && !pins.agreed.contains(&city("Oslo")), "{pins:?}");
}

#[test]
fn what_was_taken_back_stays_so_in_restored_pins_until_it_is_agreed_to_again() {
    let home = home();
    home.agrees(&city("Oslo"), clock::wall_ms());
    let former = home.store().agreed(None).unwrap();
    assert_eq!(home.standings(), [Standing::Proven(Backing::Recorded)]);
    home.takes_back(&city("Oslo"));
    assert_eq!(home.standings(), []);
    home.store().agree(&fingerprint(), &[former[0].agreement.clone()], former[0].since).unwrap();
    assert_eq!(home.standings(), [Standing::TakenBack]);
    let (_writer, mut told) = home.wrapper();
    assert!(told.next().agreed.is_empty());
    assert_eq!(told.next().unproven, ["forecast: city = Oslo"]);
    home.agrees(&city("Oslo"), clock::wall_ms());
    assert_eq!(home.standings(), [Standing::Proven(Backing::Recorded)]);
}

#[test]
fn only_a_record_of_this_very_agreement_that_is_as_it_was_written_proves_it() {
    let home = home();
    home.append(&[(1, Entry::new(1, Kind::Tools, &"weather".into(), &"session".into()))]);
    home.agrees(&city("Oslo"), 1);
    let says = || Reader::open(&home.log).unwrap().unwrap().agreed(&[city("Oslo").digest(&fingerprint())]).unwrap();
    assert_eq!(says(), [Some(Latest { says: Says::Agreed, signed: None, team: None })]);
    assert_eq!(home.standings(), [Standing::Proven(Backing::Recorded)]);
    // Another value under the digest of the row that was recorded.
    damage(&home.pins, "UPDATE agreed SET value = '\"Rome\"'");
    assert_eq!(home.standings(), [Standing::Unproven], "the digest is of what the row says");
    damage(&home.pins, "UPDATE agreed SET value = '\"Oslo\"'");
    for (sql, why) in [
        ("UPDATE agreed SET seq = 1", "a record of another kind"),
        ("UPDATE agreed SET seq = 99", "no record at all"),
        (
            "UPDATE agreed SET seq = 2; DROP TRIGGER record_is_not_changed; UPDATE record SET body = replace(body, 'session', 'x')",
            "a changed record",
        ),
        ("DROP TABLE agreed", "no table"),
    ] {
        damage(&home.log, sql);
        assert_eq!(home.standings(), [Standing::Unproven], "{why}");
    }
    std::fs::write(&home.log, "no database, and long enough to be taken for one".repeat(99)).unwrap();
    assert_eq!(home.standings(), [Standing::Unproven], "a broken log");
    std::fs::remove_file(&home.log).unwrap();
    assert_eq!(home.standings(), [Standing::Unproven], "no log");
}

#[test]
fn what_is_not_used_for_ninety_days_is_removed_once_and_said() {
    let home = home();
    let now = clock::wall_ms();
    home.agrees(&city("Oslo"), now - 91 * DAY);
    home.agrees(&city("Rome"), now - 91 * DAY);
    home.store().use_agreed(&fingerprint(), &[city("Rome")], now - 90 * DAY).unwrap();
    let (one, other) = (home.wrapper().1.next(), home.wrapper().1.next());
    for pins in [&one, &other] {
        assert!(!pins.agreed.contains(&city("Oslo")) && pins.agreed.contains(&city("Rome")), "{pins:?}");
    }
    assert_eq!((&*one.lapsed, &*other.lapsed), (&[city("Oslo")][..], &[][..]));
    assert_eq!(home.store().agreed(None).unwrap().len(), 1);
}

#[test]
fn what_one_wrapper_keeps_another_of_the_same_server_has_too() {
    let home = home();
    let (one, mut first) = home.wrapper();
    let (other, mut second) = home.wrapper();
    assert!(first.next().agreed.is_empty() && second.next().agreed.is_empty());
    // Its record is in the wrapper's own journal still.
    assert!(one.agree(vec![city("Oslo")], Backing::Recorded, 1));
    assert!(first.next().agreed.contains(&city("Oslo")), "whoever has recorded it need not wait for the log");
    home.append(&[(1, agreed(entry(), &city("Oslo"), &fingerprint()))]);
    other.look();
    assert!(second.next().agreed.contains(&city("Oslo")));
    one.use_agreed(vec![city("Oslo")]);
    home.takes_back(&city("Oslo"));
    for (writer, told) in [(&one, &mut first), (&other, &mut second)] {
        std::thread::sleep(Duration::from_millis(300));
        writer.look();
        while told.next().agreed.contains(&city("Oslo")) {
            std::thread::sleep(Duration::from_millis(300));
            writer.look();
        }
    }
}

#[test]
fn an_earlier_log_and_earlier_pins_take_agreements() {
    let home = home();
    damage(&home.pins, "DROP TABLE agreed; PRAGMA user_version = 3");
    damage(&home.log, "DROP TABLE agreed; PRAGMA user_version = 2");
    assert_eq!(home.standings(), []);
    home.agrees(&city("Oslo"), 1);
    assert_eq!(home.standings(), [Standing::Proven(Backing::Recorded)]);
}

#[test]
fn a_key_of_meta_holds_for_every_server_and_all_else_for_one() {
    let home = home();
    let meta = Agreement { key: "vendor/x".into(), ..Agreement::of_server(What::Meta, "some-host") };
    let host = Agreement::of_server(What::Host, "example.com");
    for one in [&meta, &host] {
        home.agrees(one, clock::wall_ms());
    }
    let of = |fingerprint: &str| -> Vec<Agreement> {
        home.store().agreed(Some(fingerprint)).unwrap().into_iter().map(|kept| kept.agreement).collect()
    };
    assert_eq!((of(&fingerprint()).len(), of("another")), (2, vec![meta]));
}
