//! The logs of all machines on the desk: each record arrives whole and once whatever breaks, and what was done to them is named.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use mcp_approve::audit::chain::{Head, body_digest};
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::store::{ReadOrder, Reader, Store};
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::cli::log::named::LogPlace;
use mcp_approve::cli::log::{self, LogCommand};
use mcp_approve::cli::look::Look;
use mcp_approve::desk::engine::Target;
use mcp_approve::desk::run::{self, Site, Turn};
use mcp_approve::home::config::DeskPlace;
use mcp_approve::home::places::Places;
use mcp_approve::policy::rule::Decision;
use mcp_approve::wire::digest::Digest;

use super::roles::desk;
use crate::postgres::Postgres;

/// 2026-11-21T10:00:00.000Z.
pub const NOON: i64 = 1_795_255_200_000;
const WRITER: [u8; 16] = *b"a writer's name.";

pub fn target(postgres: &Postgres, role: &str) -> Target {
    Target::read(&DeskPlace { url: postgres.url(role), ..DeskPlace::default() }).expect("a URL")
}

/// A machine's log, and `desk run` for it while it is asked to.
pub struct Machine {
    pub folder: tempfile::TempDir,
    pub name: &'static str,
    running: Option<(tokio::sync::oneshot::Sender<()>, thread::JoinHandle<()>)>,
    /// What it said of its log.
    others: Arc<Mutex<Vec<String>>>,
}

impl Machine {
    pub fn new(name: &'static str) -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), name, running: None, others: Arc::default() }
    }

    /// One whose first calls the desk has, with the end of their log; its `desk run` has ended.
    pub fn sent_with(name: &'static str, postgres: &Postgres, calls: i64) -> Self {
        let mut one = Self::new(name);
        one.calls(1..=calls);
        one.runs(postgres);
        one.is_sent(postgres);
        let head = format!("SELECT seq FROM mcp_approve.head WHERE machine = '{name}'");
        until("its head is there", || postgres.rows("eve", &head) == [calls.to_string()]);
        one.stops();
        one
    }

    pub fn log(&self) -> PathBuf {
        self.folder.path().join("audit.db")
    }

    pub fn runs(&mut self, postgres: &Postgres) {
        let places = Places::under(self.folder.path()).expect("places");
        let (target, site) = (target(postgres, self.name), Site { places, log: self.log() });
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let others = Arc::clone(&self.others);
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let tell = &mut |turn| {
                if let Turn::Other(other) = turn {
                    others.lock().expect("kept").push(other.to_string());
                }
            };
            runtime.block_on(async {
                tokio::select! {
                    ended = run::run(&target, site, tell) => panic!("{ended:?}"),
                    _ = stopped => {}
                }
            });
        });
        self.running = Some((stop, thread));
    }

    pub fn stops(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            let _ = stop.send(());
            thread.join().expect("desk run");
        }
    }

    /// Adds calls to the log, numbered as they are told apart by.
    pub fn calls(&self, numbers: std::ops::RangeInclusive<i64>) {
        record(&self.log(), numbers.map(call));
    }

    pub fn said(&self) -> Vec<String> {
        self.others.lock().expect("kept").clone()
    }

    /// What the log has: seq, link and body.
    pub fn has(&self) -> Vec<String> {
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

    pub fn sent(&self, postgres: &Postgres) -> Vec<String> {
        let sql =
            "SELECT seq, encode(link, 'hex'), body FROM mcp_approve.record WHERE machine = '{}' ORDER BY seq, place";
        postgres.rows("eve", &sql.replace("{}", self.name))
    }

    /// Waits until the desk has the log as it is.
    pub fn is_sent(&self, postgres: &Postgres) {
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

pub fn until(what: &str, mut is: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < end, "not in time: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

pub fn call(n: i64) -> Entry {
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

pub fn record(db: &Path, entries: impl IntoIterator<Item = Entry>) {
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

#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    command: LogCommand,
}

/// What a command says of a log, and how it ends.
pub fn says(line: &str, log: LogPlace<'_>) -> (String, String) {
    let home = tempfile::tempdir().expect("a folder");
    says_to(&Places::under(home.path()).expect("places"), line, log)
}

/// The same for a user with these places.
pub fn says_to(places: &Places, line: &str, log: LogPlace<'_>) -> (String, String) {
    let line = Line::try_parse_from(line.split(' ')).expect("a command");
    let mut out = Vec::new();
    let end = log::run(&line.command, log, places, Look::plain(NOON + 3_600_000), &mut out);
    (String::from_utf8(out).expect("a text"), format!("{:?}", end.map_err(|error| error.to_string())))
}

pub fn on_desk(line: &str, postgres: &Postgres) -> String {
    says(line, LogPlace::Desk(&target(postgres, "eve"))).0
}

#[test]
fn a_search_finds_on_the_desk_what_it_finds_on_the_machine() {
    let Some(postgres) = desk() else { return };
    let mut ada = Machine::new("ada");
    ada.calls(1..=1400);
    let ended = Entry::new(NOON + 1_800_000, Kind::ServerEnd, &"git#2".into(), &"S2".into()).with("status", 0);
    record(&ada.log(), [ended]);
    smuggle(&ada.log(), b"{\"time\":\"2026-11-21T10:00:00.000Z\",\"kind\":\"fault\0\"}");
    smuggle(&ada.log(), b"not a body of ours");
    ada.calls(1401..=1500);
    ada.runs(&postgres);
    let newest = ada.has().len();
    until("all records", || postgres.rows("eve", "SELECT count(*) FROM mcp_approve.record") == [newest.to_string()]);
    ada.stops();
    let log = ada.log();
    let without = |json: &str| {
        let mut value: serde_json::Value = serde_json::from_str(json).expect(json);
        let record = value.as_object_mut().expect("a record");
        assert_eq!(record.shift_remove("machine").is_some(), record.shift_remove("place").is_some());
        value.to_string()
    };
    let searches = [
        "",
        "verdict:deny",
        "-verdict:deny",
        "tool:read",
        "tool:=read_file",
        "tool:=READ_FILE",
        "tool:Öffnen",
        "tool:*_file",
        "-tool:write",
        "server:git",
        "server:FILES verdict:approve",
        "kind:server-end",
        "ticket:=files-17",
        "ticket:files-14",
        "session:=s1 tool:write",
        "session:s2",
        "by:operator",
        "badge:pure",
        "badge:mutates ruling:ask",
        "/tmp/471",
        "/TMP/47",
        "öffnen",
        "-öffnen",
        "target:/tmp/59",
        "since:2026-11-21T10:00:01.000Z",
        "until:2026-11-21T10:00:00.100Z",
        "since:2026-11-21T10:00:00.300Z until:2026-11-21T10:00:00.500Z tool:read",
        "rule:none",
        "tool:nothing",
        "not a body",
        "operator:ada",
        "kind:decision kind:server-end",
        "-session:=s1",
        "\"not a\"",
    ];
    let finds_the_same = |searches: &[&str]| {
        for search in searches {
            for limit in ["7", "10000"] {
                let line = format!("log list --limit {limit} --jsonl -- {search}");
                let line = line.trim_end();
                let here = says(line, LogPlace::File(&log)).0;
                let there = on_desk(line, &postgres);
                let there: Vec<String> = there.lines().map(without).collect();
                let here: Vec<String> = here.lines().map(without).collect();
                assert_eq!(here.len(), there.len(), "{line}");
                assert_eq!(here, there, "{line}");
            }
            for command in ["log stats --json", "log follow --once", "log export --format csv"] {
                let line = format!("{command} -- {search}");
                let (here, there) =
                    (says(line.trim_end(), LogPlace::File(&log)).0, on_desk(line.trim_end(), &postgres));
                let there = match command {
                    "log follow --once" => there.lines().map(without).collect::<Vec<_>>().join("\n"),
                    "log export --format csv" => there.replace("\nada,", "\n").replacen("machine,", "", 1),
                    _ => there,
                };
                let here = match command {
                    "log follow --once" => here.lines().map(without).collect::<Vec<_>>().join("\n"),
                    _ => here,
                };
                assert_eq!(here, there, "{line}");
            }
        }
    };
    finds_the_same(&searches);
    // A machine that has more words than are compared is searched by its records.
    const JUNK: &str = "INSERT INTO mcp_approve.shape (shape, words)
        SELECT substr(sha256(convert_to(t, 'UTF8')), 1, 16), t FROM (SELECT '[\"' || n || '\"]' AS t FROM generate_series(1, 10001) AS n) AS w";
    postgres.rows("ada", JUNK);
    finds_the_same(&["-verdict:deny", "tool:=read_file", "kind:decision kind:server-end"]);
}

#[test]
fn the_desk_knows_whose_record_it_is() {
    let Some(postgres) = desk() else { return };
    let [mut ada, mut bob] = [Machine::new("ada"), Machine::new("bob")];
    ada.calls(1..=3);
    ada.runs(&postgres);
    ada.is_sent(&postgres);
    bob.calls(2..=4);
    bob.runs(&postgres);
    bob.is_sent(&postgres);
    let tickets = |search: &str| {
        let found = on_desk(&format!("log list --jsonl -- {search}"), &postgres);
        let of = |line: &str| {
            let record: serde_json::Value = serde_json::from_str(line).expect(line);
            format!(
                "{} {} {}",
                record["machine"].as_str().expect("a machine"),
                record["seq"],
                record["ticket"].as_str().expect("a ticket")
            )
        };
        found.lines().map(of).collect::<Vec<_>>()
    };
    assert_eq!(tickets("machine:ada"), ["ada 1 files-1", "ada 2 files-2", "ada 3 files-3"]);
    assert_eq!(tickets("machine:=BOB tool:write"), ["bob 2 files-3"]);
    assert_eq!(tickets("-machine:a*"), ["bob 1 files-2", "bob 2 files-3", "bob 3 files-4"]);
    assert_eq!(tickets("ticket:=files-2"), ["ada 2 files-2", "bob 1 files-2"]);
    // Two machines' calls of one ticket and session are two calls.
    insta::assert_snapshot!(on_desk("log list", &postgres), @r"
    PLACE MACHINE TIME       VERDICT  WHO      TOOL          TARGET
        1 ada     10:00:00 ○ approved policy   read_file     /tmp/1
        2 ada     10:00:00 ● approved operator Ordner_öffnen /tmp/2
        3 ada     10:00:00 ● denied   operator write_file    /tmp/3
        4 bob     10:00:00 ● approved operator Ordner_öffnen /tmp/2
        5 bob     10:00:00 ● denied   operator write_file    /tmp/3
        6 bob     10:00:00 ○ approved policy   read_file     /tmp/4
    ");
    let show = on_desk("log show files-3", &postgres);
    assert!(show.contains("record 5 (2 of bob)") && show.contains("--machine ada  --session s1"), "{show}");
    let show = on_desk("log show files-3 --machine ada", &postgres);
    assert!(show.contains("record 3 (3 of ada)") && !show.contains("bob"), "{show}");
    let show = on_desk("log show 4", &postgres);
    assert!(show.contains("record 4 (1 of bob)"), "{show}");
    // In its own log a machine has no name.
    assert_eq!(says("log list machine:ada", LogPlace::File(&ada.log())).0, "No matches.\n");
}

pub fn verifies(postgres: &Postgres) -> (String, bool) {
    let (said, end) = says("log verify", LogPlace::Desk(&target(postgres, "eve")));
    (said, end == format!("{:?}", Ok::<_, String>(ExitCode::SUCCESS)))
}

/// What the owner of the database does to rows, past the policies that hold the owner too.
pub fn owner(postgres: &Postgres, sql: &str) {
    let done = postgres.psql("postgres", sql);
    assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn g5_what_is_done_to_the_rows_is_named() {
    let Some(postgres) = desk() else { return };
    let _ada = Machine::sent_with("ada", &postgres, 40);
    assert_eq!(verifies(&postgres), ("ada: the chain holds, 40 records.\nNot checked: what operators signed of these logs, because there is no list of signers.\n".to_owned(), true));
    for (change, named) in [
        ("DELETE FROM mcp_approve.record WHERE seq BETWEEN 5 AND 9", "records 5 to 9 are missing"),
        ("DELETE FROM mcp_approve.record WHERE seq < 3", "records 1 to 2 are missing"),
        (
            "DELETE FROM mcp_approve.record WHERE seq > 30",
            "record 40 is missing or another: the machine sent it as the end of its log",
        ),
        ("DELETE FROM mcp_approve.record", "record 40 is missing or another"),
        (
            "UPDATE mcp_approve.record SET body = replace(body, '/tmp/7', '/tmp/8') WHERE seq = 7",
            "record 7 does not carry the link it must have",
        ),
        (
            "UPDATE mcp_approve.record SET link = sha256('x') WHERE seq = 7",
            "record 8 does not carry the link it must have",
        ),
        (
            "UPDATE mcp_approve.record SET writer = 'another writer..' WHERE seq = 7",
            "record 7 does not carry the link it must have",
        ),
        (
            "UPDATE mcp_approve.record a SET (body, link) = (SELECT body, link FROM mcp_approve.record b WHERE b.seq = 15 - a.seq) WHERE seq IN (7, 8)",
            "record 7 does not carry the link it must have",
        ),
        ("UPDATE mcp_approve.record SET machine = 'bob' WHERE seq = 7", "records 7 to 7 are missing"),
        ("UPDATE mcp_approve.record SET machine = 'bob' WHERE seq = 7", "bob: THE LOG IS NOT AS IT WAS SENT"),
        (
            "UPDATE mcp_approve.record SET time = time + interval '1 second' WHERE seq = 7",
            "record 7 is searched by another time",
        ),
        (
            "ALTER TABLE mcp_approve.record DROP CONSTRAINT finite_time; UPDATE mcp_approve.record SET time = 'infinity' WHERE seq = 7",
            "record 7 is searched by another time",
        ),
        (
            "ALTER TABLE mcp_approve.record DROP CONSTRAINT short_body; UPDATE mcp_approve.record SET body = repeat('x', 9000000) WHERE seq = 7",
            "record 7 does not carry the link it must have",
        ),
        ("UPDATE mcp_approve.record SET ticket = 'files-8' WHERE seq = 7", "record 7 is searched by another time"),
        (
            "UPDATE mcp_approve.record SET shape = (SELECT shape FROM mcp_approve.record WHERE seq = 8) WHERE seq = 7",
            "record 7 is searched by",
        ),
        ("DELETE FROM mcp_approve.shape", "record 1 is searched by"),
        (
            "INSERT INTO mcp_approve.record (machine, seq, writer, body, link, time, shape, session, ticket) SELECT machine, seq, writer, body, link, time + interval '1 s', shape, session, ticket FROM mcp_approve.record WHERE seq = 7",
            "record 7 is there twice",
        ),
        (
            "ALTER TABLE mcp_approve.record ALTER place DROP IDENTITY; UPDATE mcp_approve.record SET place = 1000 - place WHERE seq IN (7, 8)",
            "record 8 arrived before the one that it follows",
        ),
        ("DELETE FROM mcp_approve.head", "no end of its log was ever sent"),
    ] {
        owner(
            &postgres,
            "CREATE SCHEMA kept; CREATE TABLE kept.record AS TABLE mcp_approve.record; CREATE TABLE kept.head AS TABLE mcp_approve.head; CREATE TABLE kept.shape AS SELECT machine, shape, words FROM mcp_approve.shape",
        );
        owner(&postgres, change);
        let (said, holds) = verifies(&postgres);
        assert!(said.contains(named) && !holds, "{change}: {said}");
        owner(
            &postgres,
            "TRUNCATE mcp_approve.record, mcp_approve.head, mcp_approve.shape; \
             INSERT INTO mcp_approve.record OVERRIDING SYSTEM VALUE SELECT * FROM kept.record; \
             INSERT INTO mcp_approve.head OVERRIDING SYSTEM VALUE SELECT * FROM kept.head; \
             INSERT INTO mcp_approve.shape (machine, shape, words) SELECT * FROM kept.shape; DROP SCHEMA kept CASCADE",
        );
        assert!(verifies(&postgres).1, "{change}");
    }
}

/// What one role writes ends the verification of no other's log: neither takes the desk such a row, nor does a reader stop at one.
#[test]
fn g5_a_row_that_no_log_has_is_not_taken_and_a_table_of_another_kind_is_not_read() {
    let Some(postgres) = desk() else { return };
    let record = |body: &str, time: &str| {
        format!("INSERT INTO mcp_approve.record (seq, writer, body, link, time) VALUES (1, 'w', {body}, 'l', '{time}')")
    };
    for (role, sql) in [
        ("ada", record("'{}'", "infinity")),
        ("ada", record("repeat('x', 5000000)", "2026-11-28")),
        ("ada", "INSERT INTO mcp_approve.shape (shape, words) SELECT substr(sha256(convert_to(t, 'UTF8')), 1, 16), t FROM (SELECT '[\"' || repeat('x', 70000) || '\"]' AS t) AS w".to_owned()),
        ("mara", "INSERT INTO mcp_approve.witness (note) VALUES (repeat('x', 2000000))".to_owned()),
    ] {
        let said = postgres.psql(role, &sql);
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.contains("violates check constraint"), "{sql:.90}: {said}");
    }
    owner(&postgres, "ALTER TABLE mcp_approve.record ALTER link DROP NOT NULL");
    let found = std::panic::catch_unwind(|| says("log verify", LogPlace::Desk(&target(&postgres, "eve"))).1);
    let found = found.unwrap_or_default();
    assert!(found.contains("the desk's tables were changed: record.link bytea is missing"), "{found}");
}

#[test]
fn records_as_long_as_they_may_be_are_read_a_few_at_once() {
    let Some(postgres) = desk() else { return };
    let mut ada = Machine::sent_with("ada", &postgres, 10);
    let long = "INSERT INTO mcp_approve.record (seq, writer, body, link, time)
        SELECT n, 'w', repeat('x', 4194304), sha256(n::text::bytea), '2026-11-21' FROM generate_series(1, 12) AS n";
    postgres.rows("bob", long);
    ada.calls(11..=12);
    ada.runs(&postgres);
    ada.is_sent(&postgres);
    ada.stops();
    for (line, all) in [
        ("log list --limit 100 --jsonl", 24),
        ("log list --limit 100 --jsonl -- tool:write", 16),
        ("log follow --once", 24),
    ] {
        assert_eq!(on_desk(line, &postgres).lines().count(), all, "{line}");
    }
    let (said, _) = says("log verify --json", LogPlace::Desk(&target(&postgres, "eve")));
    let found: serde_json::Value = serde_json::from_str(&said).expect("a report");
    let of = |machine: &str| {
        found["machines"].as_array().expect("machines").iter().find(|one| one["machine"] == machine).cloned()
    };
    let [ada, bob] = ["ada", "bob"].map(|name| of(name).expect(name));
    assert_eq!((&ada["holds"], &bob["holds"], &bob["records"]), (&true.into(), &false.into(), &12.into()), "{found:#}");
}

#[test]
fn g5_ends_of_logs_without_number_are_counted() {
    let Some(postgres) = desk() else { return };
    let _ada = Machine::sent_with("ada", &postgres, 10);
    postgres.rows("bob", "INSERT INTO mcp_approve.head (seq, link) SELECT n, 'l' FROM generate_series(1, 101000) AS n");
    let (said, _) = says("log verify --json", LogPlace::Desk(&target(&postgres, "eve")));
    let found: serde_json::Value = serde_json::from_str(&said).expect("a report");
    assert_eq!(found["machines"][1]["more"], 101_000 - 200);
}

#[test]
fn g5_a_log_that_was_forked_a_thousand_times_is_read_once() {
    let Some(postgres) = desk() else { return };
    let _ada = Machine::sent_with("ada", &postgres, 10);
    let forks = (0..1000).map(|n| {
        let writer = format!("a writer of {n:04}");
        let link = Head::EMPTY.next(writer.as_bytes().try_into().expect("a name"), body_digest(b"a body")).link;
        format!("(1, '{writer}'::bytea, decode('{link}', 'hex'))")
    });
    let insert =
        "INSERT INTO mcp_approve.record (seq, writer, link, body, time) SELECT n, w, l, 'a body', '2026-11-21'";
    let forks = forks.collect::<Vec<_>>().join(", ");
    postgres.rows("bob", &format!("{insert} FROM (VALUES {forks}) AS one (n, w, l)"));
    postgres.rows("bob", &format!("{insert} FROM (SELECT 2 AS n, 'w'::bytea AS w, sha256(i::text::bytea) AS l FROM generate_series(1, 1000) AS i) AS one"));
    let (said, _) = says("log verify --json", LogPlace::Desk(&target(&postgres, "eve")));
    let found: serde_json::Value = serde_json::from_str(&said).expect("a report");
    let [ada, bob] = [0, 1].map(|at| &found["machines"][at]);
    assert_eq!((&ada["holds"], &bob["holds"], &bob["records"]), (&true.into(), &false.into(), &2000.into()));
    assert!(said.contains("from record 1 on there are two logs"), "{said}");
}

#[test]
fn g5_an_export_of_the_desk_says_where_a_log_does_not_hold() {
    let Some(postgres) = desk() else { return };
    let _ada = Machine::sent_with("ada", &postgres, 10);
    let exports = || says("log export ticket:=files-3", LogPlace::Desk(&target(&postgres, "eve")));
    let (said, end) = exports();
    assert!(said.lines().count() == 1 && end.contains("Ok("), "{said}{end}");
    owner(&postgres, "DELETE FROM mcp_approve.record WHERE seq = 7");
    let (said, end) = exports();
    assert_eq!(said.lines().count(), 1);
    assert!(end.contains("what was exported may be untrue: ada: records 7 to 7 are missing"), "{end}");
}

#[test]
fn g5_a_machine_that_restores_an_old_copy_is_named() {
    let Some(postgres) = desk() else { return };
    let [mut ada, mut bob] = [Machine::new("ada"), Machine::new("bob")];
    for machine in [&mut ada, &mut bob] {
        machine.calls(1..=20);
        std::fs::copy(machine.log(), machine.folder.path().join("copy.db")).expect("a copy");
        machine.calls(21..=30);
        machine.runs(&postgres);
        machine.is_sent(&postgres);
    }
    until("both heads", || postgres.rows("eve", "SELECT seq FROM mcp_approve.head") == ["30", "30"]);
    let restore = |machine: &Machine| {
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(machine.folder.path().join(format!("audit.db{end}")));
        }
        let _ = std::fs::remove_file(machine.folder.path().join("audit.head"));
        std::fs::copy(machine.folder.path().join("copy.db"), machine.log()).expect("restored");
    };
    // Of one the copy is all there is, and its `desk run` goes on meanwhile.
    restore(&ada);
    until("the head went back", || {
        postgres.rows("eve", "SELECT seq FROM mcp_approve.head WHERE machine = 'ada'") == ["30", "20"]
    });
    // The other writes on from the copy, and records that the desk has another log.
    bob.stops();
    restore(&bob);
    bob.calls(51..=55);
    bob.runs(&postgres);
    until("the other log", || {
        postgres.rows("eve", "SELECT count(*) FROM mcp_approve.record WHERE machine = 'bob'") == ["36"]
    });
    let (said, holds) = verifies(&postgres);
    assert!(
        !holds
            && said.contains(
                "ada: THE LOG IS NOT AS IT WAS SENT, 30 records:\n  its log went back from record 30 to record 20 on "
            ),
        "{said}"
    );
    assert!(said.contains("from record 21 on there are two logs"), "{said}");
    assert_eq!(said.matches("two logs").count(), 1, "{said}");
    let json = says("log verify --json", LogPlace::Desk(&target(&postgres, "eve"))).0;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["machines"][0]["wrong"][0]["kind"], "went-back");
    let kinds = json["machines"][1]["wrong"].as_array().expect("findings").iter().map(|one| one["kind"].to_string());
    assert!(kinds.collect::<Vec<_>>().contains(&"\"forked\"".to_owned()), "{json}");
}

/// `RECORDS=200000 cargo test --test whole many::log::what -- --ignored --nocapture`: how long a log is verified, and in how much memory.
#[test]
#[ignore = "a measurement"]
fn what_verifying_costs() {
    let Some(postgres) = desk() else { return };
    let records: i64 = std::env::var("RECORDS").ok().and_then(|text| text.parse().ok()).unwrap_or(50_000);
    let mut ada = Machine::new("ada");
    for from in (1..records).step_by(10_000) {
        ada.calls(from..=from + 9_999);
    }
    let has = Reader::open(&ada.log()).expect("a log").expect("a log").newest().expect("read").to_string();
    ada.runs(&postgres);
    while postgres.rows("eve", "SELECT coalesce(max(seq), 0) FROM mcp_approve.record") != [has.as_str()] {
        thread::sleep(Duration::from_millis(100));
    }
    ada.stops();
    // The most memory that was used counts from here on.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let begun = Instant::now();
    assert!(verifies(&postgres).1);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    eprintln!("{has} records verified in {:.1?}; {most}", begun.elapsed());
}
