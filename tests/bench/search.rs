//! Times pages, filters, searches and figures of a long log: `cargo bench --bench search -- [RECORDS]`; in the dev profile
//! `cargo bench --profile dev --bench search`. A log that is named by `LOG_BENCH` is kept for the next time.
//!
//! Figures are of this machine at this moment; only figures taken by turns can be compared.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench tells its figures, and has nobody to report to")]

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use mcp_approve::audit::fields::Field;
use mcp_approve::audit::index::Index;
use mcp_approve::audit::moment::Clock;
use mcp_approve::audit::query;
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::search::Search;
use mcp_approve::audit::store::{Reader, Store};
use mcp_approve::audit::verified;
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::home::places::Places;
use mcp_approve::operator::Sources;
use mcp_approve::operator::found::{Edge, Finding, LogRequest, LogRows, Progress, Wanted};
use mcp_approve::operator::log_reader::start;
use mcp_approve::policy::rule::Decision;
use mcp_approve::wire::digest::Digest;
use serde_json::json;

/// 2026-11-21T10:00:00.000Z.
const NOON: i64 = 1_795_255_200_000;

fn main() {
    let records = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let db = std::env::var_os("LOG_BENCH").map_or_else(|| folder.path().join("audit.db"), Into::into);
    if !db.exists() {
        timed("written", || write(&db, records));
    }
    let reader = Reader::open(&db).unwrap().unwrap();
    println!("{} records, {}", reader.newest().unwrap(), size(&db));
    let mut index = timed("index opened", || Index::open(&db, &reader).unwrap());
    let from = index.upto();
    let start = Instant::now();
    while index.extend(&reader).unwrap() == Some(mcp_approve::audit::index::Step::Further) {}
    let rate = Duration::from_secs(index.upto() - from).as_secs_f64() / start.elapsed().as_secs_f64();
    println!("{:44} {:>10.3?}  {rate:.0} records/s", "index filled", start.elapsed());
    println!("index {}", size(&db.with_extension("index.db")));
    drop(timed("index opened again", || Index::open(&db, &reader).unwrap()));

    pages(&db);
    for (title, field, word) in [
        ("log list --kind decision", Field::Kind, Kind::Decision.word()),
        ("log list --by expiry", Field::By, By::Expiry.word()),
        ("log list --by fault (none)", Field::By, By::Fault.word()),
    ] {
        let search = Search::default().with(field, Some(word));
        let found = timed(title, || query::last(&reader, Some(&index), &search, 50).unwrap());
        println!("    {} found", found.len());
    }
    let found = timed("log show TICKET", || query::of_ticket(&reader, Some(&index), "filesystem-1234").unwrap());
    println!("    {} found", found.len());
    let figures = timed("log stats", || query::decisions(&reader, Some(&index), &Search::default()).unwrap());
    println!("    {} calls", figures.all.calls());
    let day = Search::default().from(Some(NOON + i64::try_from(reader.newest().unwrap()).unwrap() * 900));
    let figures = timed("log stats --since", || query::decisions(&reader, Some(&index), &day).unwrap());
    println!("    {} calls", figures.all.calls());
    let verified = timed("log verify", || verified::verify(&reader, None, &mut |_| {}).unwrap());
    println!("    {} hold", verified.head.seq);
}

/// What the console waits for.
fn pages(db: &Path) {
    let desk = Desk::over(db);
    for find in [
        "",
        "notes",
        "nowhere-to-be-found",
        "module_4242.rs",
        "needle",
        "kind:=decision verdict:deny",
        "by:expiry",
        "tool:delete* by:expiry",
        "server:nothing",
        "ticket:=filesystem-4242",
        "session:=00000000000000000000000000000007 by:expiry",
        "deadbeefdeadbeef",
        "dropped",
    ] {
        for round in ["", ", again"] {
            let (first, whole, found) = desk.page(find);
            println!(
                "page {:39} first {first:>10.3?}  whole {whole:>10.3?}  {found} found",
                format!("{find:?}{round}")
            );
        }
    }
    let again = || timed("figures", || desk.tally());
    println!("    {} decided", again());
    drop(desk);
    let desk = Desk::over(db);
    let decided = timed("figures, in the next console", || desk.tally());
    println!("    {decided} decided");
}

struct Desk {
    ask: Sender<LogRequest>,
    told: Receiver<Finding>,
}

impl Desk {
    fn over(db: &Path) -> Self {
        let (tell, told) = mpsc::channel();
        let places = Places::under(db.parent().unwrap()).unwrap();
        let sources = Sources { log: db.to_path_buf(), places, now: || 0 };
        Self { ask: start(sources, move |finding| drop(tell.send(finding))).unwrap(), told }
    }

    /// Time to the first line and to the page's end, and the lines.
    fn page(&self, find: &str) -> (Duration, Duration, usize) {
        let search = Search::read(find, Clock::utc(NOON)).unwrap();
        let start = Instant::now();
        self.ask
            .send(LogRequest::Page(Wanted { id: 1, search, rows: LogRows::default(), from: Edge::Newest, most: 300 }))
            .unwrap();
        let (mut first, mut found) = (None, 0);
        loop {
            let Finding::Page(page) = self.told.recv().unwrap() else { continue };
            found += page.lines.len();
            if found > 0 {
                first.get_or_insert_with(|| start.elapsed());
            }
            if page.progress != Progress::Searching {
                return (first.unwrap_or_else(|| start.elapsed()), start.elapsed(), found);
            }
        }
    }

    fn tally(&self) -> u64 {
        self.ask.send(LogRequest::Count).unwrap();
        loop {
            if let Finding::Counts(counts) = self.told.recv().unwrap()
                && counts.upto == counts.newest
            {
                return counts.tally.all.calls();
            }
        }
    }
}

fn timed<T>(title: &str, act: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = act();
    println!("{title:44} {:>10.3?}", start.elapsed());
    done
}

fn size(at: &Path) -> String {
    let bytes = std::fs::metadata(at).map(|found| found.len()).unwrap_or(0);
    format!("{} MiB", bytes >> 20)
}

/// Calls as they come: most are read and allowed, a few asked; every one answered.
fn write(db: &Path, records: i64) {
    let redactor = Redactor::new(&[7; 32]);
    let mut store = Store::open(db, [1; 16]).unwrap();
    let mut entries = Vec::new();
    let (mut call, mut written) = (0, 0);
    while written < records {
        let asked = call % 10 == 0;
        let kinds: &[Kind] = if asked {
            &[Kind::DecisionAsked, Kind::Decision, Kind::Forward, Kind::Outcome]
        } else {
            &[Kind::Decision, Kind::Outcome]
        };
        entries.extend(kinds.iter().map(|kind| entry(call, *kind, asked)));
        written += i64::try_from(kinds.len()).unwrap();
        call += 1;
        if entries.len() >= 4000 {
            append(&mut store, &mut entries, &redactor);
        }
    }
    append(&mut store, &mut entries, &redactor);
    store.checkpoint().unwrap();
}

fn append(store: &mut Store, entries: &mut Vec<Entry>, redactor: &Redactor) {
    let batch: Vec<_> = (0..).zip(entries.drain(..)).collect();
    store.append(&batch, redactor).unwrap();
    store.checkpoint().unwrap();
}

fn entry(n: i64, kind: Kind, asked: bool) -> Entry {
    const TOOLS: [&str; 5] = ["read_text_file", "list_directory", "search_files", "get_file_info", "read_media_file"];
    let session = format!("{:032x}", n / 2_000);
    let mut entry = Entry::new(NOON + n * 1000, kind, &Arc::from("filesystem"), &Arc::from(session));
    entry.ticket = Some(format!("filesystem-{}", n % 2_000).into());
    let at = usize::try_from(n).unwrap();
    entry.tool = Some(if asked { ["write_file", "delete_file"][at / 10 % 2] } else { TOOLS[at % 5] }.into());
    entry.badge = Some(if asked { Badge::Mutates } else { Badge::Pure });
    entry.identity = Some(Identity::UNKNOWN);
    entry.digest = Some(Digest::of(&n.to_be_bytes()));
    entry.latency_us = Some(153);
    if kind == Kind::Outcome {
        return entry.with("result", "ok").with("digest", format!("blake3:{}", Digest::of(&(!n).to_be_bytes())));
    }
    entry.ruling = Some(if asked { Decision::Ask } else { Decision::Allow });
    entry.policy = Some(Digest::of(b"policy"));
    if kind == Kind::Decision {
        let expired = asked && n % 50_000 == 0;
        entry.verdict = Some(if expired || asked && n % 30 == 0 { VerdictWord::Deny } else { VerdictWord::Approve });
        entry.by = Some(if expired {
            By::Expiry
        } else if asked {
            By::Operator
        } else {
            By::Default
        });
    }
    if kind == Kind::Forward || kind == Kind::Decision && asked {
        return entry;
    }
    let what = if n % 90_001 == 90_000 { "needle" } else { "notes" };
    entry.arguments = Some(
        format!(r#"{{"path":"/home/user/project/src/module_{n}.rs","head":{},"for":"{what}"}}"#, n % 97)
            .parse()
            .unwrap(),
    );
    entry
        .with("reason", "PURE tools are allowed by default")
        .with("words", "PURE LISTS filesystem")
        .with(
            "evidence",
            json!(["annotated PURE: readOnlyHint=true", "curated PURE LISTS LOCAL: filesystem/read_text_file"]),
        )
        .with("host", "claude-code 2.1.0")
}
