//! The logs of all machines on the desk: each record arrives whole and once whatever breaks, and what was done to them is named.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mcp_approve::audit::chain::{Head, body_digest};
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::store::{ReadOrder, Reader, Store};
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::desk::engine::Target;
use mcp_approve::desk::run::{self, Site};
use mcp_approve::home::config::DeskPlace;
use mcp_approve::home::places::Places;
use mcp_approve::policy::rule::Decision;
use mcp_approve::wire::digest::Digest;

use super::roles::desk;
use crate::postgres::Postgres;

/// 2026-11-21T10:00:00.000Z.
const NOON: i64 = 1_795_255_200_000;
const WRITER: [u8; 16] = *b"a writer's name.";

fn target(postgres: &Postgres, role: &str) -> Target {
    Target::read(&DeskPlace { url: postgres.url(role), ..DeskPlace::default() }).expect("a URL")
}

/// A machine's log, and `desk run` for it while it is asked to.
struct Machine {
    folder: tempfile::TempDir,
    name: &'static str,
    running: Option<(tokio::sync::oneshot::Sender<()>, thread::JoinHandle<()>)>,
}

impl Machine {
    fn new(name: &'static str) -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), name, running: None }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("audit.db")
    }

    fn runs(&mut self, postgres: &Postgres) {
        let places = Places::under(self.folder.path()).expect("places");
        let (target, site) = (target(postgres, self.name), Site { places, log: self.log() });
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let tell = &mut |_| {};
            runtime.block_on(async {
                tokio::select! {
                    ended = run::run(&target, site, tell) => panic!("{ended:?}"),
                    _ = stopped => {}
                }
            });
        });
        self.running = Some((stop, thread));
    }

    fn stops(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            let _ = stop.send(());
            thread.join().expect("desk run");
        }
    }

    /// Adds calls to the log, numbered as they are told apart by.
    fn calls(&self, numbers: std::ops::RangeInclusive<i64>) {
        record(&self.log(), numbers.map(call));
    }

    /// What the log has: seq, link and body.
    fn has(&self) -> Vec<String> {
        let mut rows = Vec::new();
        let reader = Reader::open(&self.log()).expect("a log").expect("a log");
        let visit = &mut |row: mcp_approve::audit::chain::Row<'_>| {
            let link = row.link.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            rows.push(format!("{}|{link}|{}", row.seq, String::from_utf8_lossy(row.body)));
            std::ops::ControlFlow::Continue(())
        };
        reader.each(ReadOrder::OldestFirst, visit).expect("read");
        rows
    }

    fn sent(&self, postgres: &Postgres) -> Vec<String> {
        let sql =
            "SELECT seq, encode(link, 'hex'), body FROM mcp_approve.record WHERE machine = '{}' ORDER BY seq, place";
        postgres.rows("eve", &sql.replace("{}", self.name))
    }

    /// Waits until the desk has the log as it is.
    fn is_sent(&self, postgres: &Postgres) {
        let has = self.has();
        until("the log is on the desk", || self.sent(postgres) == has);
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.stops();
        }
    }
}

fn until(what: &str, mut is: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < end, "not in time: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn call(n: i64) -> Entry {
    let mut entry = Entry::new(NOON + n, Kind::Decision, &Arc::from("files"), &Arc::from("s1"));
    entry.ticket = Some(format!("files-{n}").into());
    let (tool, badge, ruling, verdict, by) = match n % 3 {
        0 => ("write_file", Badge::Mutates, Decision::Ask, VerdictWord::Deny, By::Operator),
        1 => ("read_file", Badge::Pure, Decision::Allow, VerdictWord::Approve, By::Default),
        _ => ("Ordner_öffnen", Badge::Mutates, Decision::Ask, VerdictWord::Approve, By::Operator),
    };
    entry.tool = Some(tool.into());
    entry.target = Some(format!("/tmp/{n}").into());
    (entry.badge, entry.ruling, entry.verdict, entry.by) = (Some(badge), Some(ruling), Some(verdict), Some(by));
    entry.digest = Some(Digest::of(b"line"));
    entry.arguments = Some(format!(r#"{{"path":"/tmp/{n}"}}"#).parse().expect("arguments"));
    entry
}

fn record(db: &Path, entries: impl IntoIterator<Item = Entry>) {
    let mut store = Store::open(db, WRITER).expect("a log");
    let entries: Vec<(u64, Entry)> = (100..).zip(entries).collect();
    store.append(&entries, &Redactor::new(&[7; 32])).expect("recorded");
}

/// Writes a body behind the product's back, with the link that it must have.
fn smuggle(db: &Path, body: &[u8]) {
    let reader = Reader::open(db).expect("a log").expect("a log");
    let newest = reader.newest().expect("read");
    let link = reader.one(newest, |row| Digest::from_bytes(row.link.try_into().expect("a link"))).expect("read");
    let head = Head { seq: newest, link: link.expect("a record") }.next(&WRITER, body_digest(body));
    let log = rusqlite::Connection::open(db).expect("a database");
    let sql = "INSERT INTO record (seq, writer, body, link) VALUES (?1, ?2, CAST(?3 AS TEXT), ?4)";
    log.execute(sql, (i64::try_from(head.seq).expect("a number"), WRITER, body, head.link.as_bytes()))
        .expect("written");
}

#[test]
fn a_log_arrives_whole_and_once_whatever_breaks() {
    let Some(mut postgres) = desk() else { return };
    let mut ada = Machine::new("ada");
    ada.calls(1..=1500);
    ada.runs(&postgres);
    ada.is_sent(&postgres);

    // The connection is cut while it sends.
    for round in 1..=5 {
        ada.calls(round * 3000..=round * 3000 + 2900);
        for _ in 0..10 {
            postgres.rows(
                "postgres",
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mcp-approve machine'",
            );
            thread::sleep(Duration::from_millis(60));
        }
    }
    ada.is_sent(&postgres);

    // The database is stopped and started.
    for round in 6..=8 {
        ada.calls(round * 3000..=round * 3000 + 1000);
        postgres.down();
        postgres.up();
    }
    ada.is_sent(&postgres);

    // The process is ended, and begun again.
    for round in 9..=11 {
        ada.calls(round * 3000..=round * 3000 + 1000);
        ada.stops();
        ada.runs(&postgres);
    }
    ada.is_sent(&postgres);
    let heads = postgres.rows("eve", "SELECT machine, seq FROM mcp_approve.head ORDER BY place DESC LIMIT 1");
    assert_eq!(heads, [format!("ada|{}", ada.has().len())]);
}

#[test]
fn a_body_that_is_no_text_is_kept_as_its_bytes() {
    let Some(postgres) = desk() else { return };
    let mut ada = Machine::new("ada");
    ada.calls(1..=2);
    smuggle(&ada.log(), b"{\"time\":\"2026-11-21T10:00:00.000Z\",\"kind\":\"fault\0\"}");
    smuggle(&ada.log(), b"\xff\xfe");
    smuggle(&ada.log(), b"{\"time\":\"2026-11-21T10:00:00.000Z\",\"kind\":\"x\\u0000y\",\"server\":\"\\u0000\",\"session\":\"\\u0000\"}");
    ada.runs(&postgres);
    until("five records", || {
        postgres.rows("eve", "SELECT count(*) FROM mcp_approve.record WHERE machine = 'ada'") == ["5"]
    });
    let raw = "SELECT seq, body, encode(raw, 'hex') FROM mcp_approve.record WHERE raw IS NOT NULL ORDER BY seq";
    let rows = postgres.rows("eve", raw);
    assert_eq!(rows[1], "4||fffe");
    assert!(rows[0].starts_with("3||7b22") && rows.len() == 2, "{rows:?}");
}

/// `RECORDS=200000 cargo test --test whole many::log::load -- --ignored --nocapture`: how many records arrive in a second.
#[test]
#[ignore = "a measurement"]
fn load_of_one_machine() {
    let Some(postgres) = desk() else { return };
    let records: i64 = std::env::var("RECORDS").ok().and_then(|text| text.parse().ok()).unwrap_or(50_000);
    let mut ada = Machine::new("ada");
    for from in (1..records).step_by(10_000) {
        ada.calls(from..=from + 9_999);
    }
    let has = ada.has().len().to_string();
    let begun = Instant::now();
    ada.runs(&postgres);
    while postgres.rows("eve", "SELECT coalesce(max(seq), 0) FROM mcp_approve.record") != [has.as_str()] {
        thread::sleep(Duration::from_millis(100));
    }
    let took = begun.elapsed();
    eprintln!("{has} records in {took:.1?}");
    ada.stops();
}
