//! Times the console's frames and its log: `cargo bench --bench frames -- [RECORDS]`. A million records unless told.
//!
//! Figures are of this machine at this moment.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a bench tells its figures, and may stop")]

#[path = "../desk/mod.rs"]
mod desk;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;

use mcp_approve::audit::moment::Clock;
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::search::Search;
use mcp_approve::audit::store::Store;
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::home::places::Places;
use mcp_approve::operator::Sources;
use mcp_approve::operator::found::{Edge, Finding, LogRequest, LogRows, Page, Progress, Wanted};
use mcp_approve::operator::log_reader::start;
use mcp_approve::policy::rule::Decision;
use mcp_approve::wire::digest::Digest;

use desk::{Desk, NINE, delete, write};

fn main() {
    let records = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(1_000_000);
    waiting(10_000);
    log(records);
}

/// Frames of Waiting with so many held calls.
fn waiting(calls: i64) {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut desk = Desk::connected(width, height);
        for n in 0..calls {
            let ticket = format!("filesystem-{n}");
            let mut call = if n % 7 == 3 { delete(&ticket) } else { write(&ticket) };
            call.arrived += n;
            desk.hold(call);
        }
        desk.look();
        let keys = [Key::Down, Key::Down, Key::Up, Key::PageDown];
        let times = keys.iter().cycle().take(100).map(|key| timed(|| drop(desk.press(*key)))).collect();
        tell(&format!("{calls} calls wait, key to frame, {width}×{height}"), times);
    }
}

fn log(records: i64) {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    let start = Instant::now();
    fill(&db, records);
    println!("{records} records were written in {:.1} s", start.elapsed().as_secs_f64());
    let (ask, told) = log_reader(&db);
    let mut id = 0;
    let mut page = |find: &str, from: Edge| {
        id += 1;
        let search = Search::read(find, Clock::utc(NINE)).unwrap();
        let start = Instant::now();
        ask.send(LogRequest::Page(Wanted { id, search, rows: LogRows::default(), from, most: 300 })).unwrap();
        let mut first = None;
        loop {
            let Finding::Page(page) = told.recv().unwrap() else { continue };
            if !page.lines.is_empty() {
                first.get_or_insert(start.elapsed());
            }
            if page.progress != Progress::Searching {
                return (first.unwrap_or_else(|| start.elapsed()), start.elapsed(), page);
            }
        }
    };
    let middle = Edge::Below(u64::try_from(records / 2).unwrap());
    for (title, find, from) in [
        ("newest page", "", Edge::Newest),
        ("a page from the middle", "", middle),
        ("oldest page", "", Edge::Oldest),
        ("verdict:deny (one in a hundred)", "kind:decision verdict:deny", Edge::Newest),
        ("a word that one record has", "\"needle in the hay\"", Edge::Newest),
        ("a word that none has", "no-such-word-anywhere", Edge::Newest),
    ] {
        let (first, all, _) = page(find, from);
        println!("{title:40} first shown {:>9.1} ms   whole {:>9.1} ms", millis(first), millis(all));
    }
    let (_, _, newest) = page("", Edge::Newest);
    let start = Instant::now();
    ask.send(LogRequest::Count).unwrap();
    let mut reports = 0;
    loop {
        let Finding::Counts(counts) = told.recv().unwrap() else { continue };
        reports += 1;
        if counts.upto == counts.newest {
            break;
        }
    }
    println!("{:40} {:>9.1} ms, told {reports} times", "figures of the whole log", millis(start.elapsed()));
    frames(newest);
}

/// Frames of the Log while it is scrolled.
fn frames(page: Page) {
    let mut desk = Desk::connected(120, 40);
    let id = desk.keys("3").iter().find_map(|command| match command {
        Command::Look(LogRequest::Page(wanted)) => Some(wanted.id),
        _ => None,
    });
    desk.send(Msg::Found(Finding::Page(Page { id: id.unwrap(), ..page })));
    let times = (0..200).map(|_| timed(|| drop(desk.press(Key::Down)))).collect();
    tell("the Log, key to frame, 120×40", times);
}

fn log_reader(db: &Path) -> (Sender<LogRequest>, Receiver<Finding>) {
    let (tell, told) = mpsc::channel();
    let places = Places::under(db.parent().unwrap()).unwrap();
    let sources = Sources { log: db.to_path_buf(), places, now: || 0 };
    (start(sources, move |finding| drop(tell.send(finding))).unwrap(), told)
}

fn fill(db: &Path, records: i64) {
    let redactor = Redactor::new(&[7; 32]);
    let mut store = Store::open(db, [1; 16]).unwrap();
    let mut n = 0;
    while n < records {
        let batch: Vec<_> = (n..(n + 2_000).min(records)).map(|n| (n.unsigned_abs(), entry(n, records))).collect();
        n += 2_000;
        store.append(&batch, &redactor).unwrap();
        if store.backlog() > 16 << 20 {
            store.checkpoint().unwrap();
        }
    }
}

fn entry(n: i64, records: i64) -> Entry {
    let kind = if n % 2 == 0 { Kind::Decision } else { Kind::Outcome };
    let mut entry = Entry::new(NINE + n, kind, &Arc::from("filesystem"), &Arc::from("0f3a9c1e77b2d480"));
    entry.ticket = Some(format!("filesystem-{}", n / 2).into());
    entry.tool = Some("read_text_file".into());
    entry.badge = Some(Badge::Pure);
    entry.identity = Some(Identity::UNKNOWN);
    entry.digest = Some(Digest::of(&n.to_be_bytes()));
    entry.latency_us = Some(153 + n.unsigned_abs() % 9_000);
    if kind == Kind::Outcome {
        return entry.with("result", "ok").with("bytes", 292);
    }
    entry.ruling = Some(Decision::Allow);
    entry.verdict = Some(if n % 200 == 0 { VerdictWord::Deny } else { VerdictWord::Approve });
    entry.by = Some(By::Default);
    entry.arguments = Some(format!(r#"{{"path":"/home/user/project/src/module_{n}.rs","head":40}}"#).parse().unwrap());
    let reason = if n == records / 10 / 2 * 2 { "a needle in the hay" } else { "PURE tools are allowed by default" };
    entry
        .with("reason", reason)
        .with("words", "PURE|READ|CONTENT")
        .with("evidence", ["annotated PURE: readOnlyHint"].to_vec())
}

fn timed(work: impl FnOnce()) -> u128 {
    let start = Instant::now();
    work();
    start.elapsed().as_micros()
}

fn millis(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn tell(title: &str, mut times: Vec<u128>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!("{title:40} p50 {:>7} µs   p99 {:>7} µs", at(50), at(99));
}
