//! The log reader over a real log: pages, searches, a record's link, counts, the chain; and a log that was changed.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use mcp_approve::audit::chain::Break;
use mcp_approve::audit::moment::Clock;
use mcp_approve::audit::query;
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::search::Search;
use mcp_approve::audit::store::{Reader, Store};
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::home::places::Places;
use mcp_approve::operator::Sources;
use mcp_approve::operator::found::{Edge, Finding, Line, LogRequest, LogRows, Page, Progress, Wanted};
use mcp_approve::operator::log_reader::start;

use crate::desk::NINE;

fn entry(n: i64, kind: Kind) -> Entry {
    let mut entry = Entry::new(NINE + n, kind, &Arc::from("filesystem"), &Arc::from("files"));
    entry.ticket = Some(format!("filesystem-{}", n / 3).into());
    entry.tool = Some(if n % 2 == 0 { "write_file" } else { "read_file" }.into());
    entry.badge = Some(if n % 2 == 0 { Badge::Mutates } else { Badge::Pure });
    entry
}

/// Calls that were asked, denied or approved, and answered: three records each.
fn call(n: i64) -> [Entry; 3] {
    let mut decision = entry(n, Kind::Decision);
    let denied = n % 5 == 0;
    decision.verdict = Some(if denied { VerdictWord::Deny } else { VerdictWord::Approve });
    decision.by = Some(if n % 7 == 0 { By::Rule } else { By::Operator });
    decision.rule = (n % 7 == 0).then(|| "scratch".to_owned());
    decision.latency_us = Some(2_000_000 + u64::try_from(n).unwrap() * 1_000);
    let evidence = serde_json::json!(["annotated MUTATES: hint"]);
    let asked = entry(n, Kind::DecisionAsked).with("evidence", evidence).with("words", "MUTATES|CREATE|ACK");
    let mut outcome = entry(n, Kind::Outcome).with("result", if n % 4 == 0 { "tool-error" } else { "ok" });
    outcome.latency_us = Some(3_000);
    [asked, decision.with("reason", format!("reason {n}")), outcome]
}

fn write(db: &Path, calls: i64) {
    let redactor = Redactor::new(&[7; 32]);
    let mut store = Store::open(db, [1; 16]).unwrap();
    let entries: Vec<_> = (0..calls).map(|n| n * 3).flat_map(call).collect();
    let batch: Vec<_> = (1..).zip(entries).collect();
    for batch in batch.chunks(500) {
        store.append(batch, &redactor).unwrap();
    }
}

pub(super) struct Desk {
    pub(super) ask: Sender<LogRequest>,
    told: Receiver<Finding>,
    pages: u64,
}

impl Desk {
    pub(super) fn over(db: &Path) -> Self {
        let (tell, told) = mpsc::channel();
        let places = Places::under(db.parent().unwrap()).unwrap();
        let sources = Sources { log: db.to_path_buf(), places, now: || NINE };
        let ask = start(sources, move |finding| drop(tell.send(finding))).unwrap();
        Self { ask, told, pages: 0 }
    }

    pub(super) fn hear(&self) -> Finding {
        self.told.recv_timeout(Duration::from_secs(60)).expect("the log reader says something")
    }

    /// A whole page, in whatever parts it comes.
    fn page(&mut self, find: &str, from: Edge, most: usize) -> (Vec<u64>, Page) {
        self.page_of(LogRows::Records, find, from, most)
    }

    fn page_of(&mut self, rows: LogRows, find: &str, from: Edge, most: usize) -> (Vec<u64>, Page) {
        self.pages += 1;
        let search = Search::read(find, Clock::utc(NINE)).unwrap();
        self.ask.send(LogRequest::Page(Wanted { id: self.pages, search, rows, from, most })).unwrap();
        let mut lines: Vec<Line> = Vec::new();
        loop {
            let Finding::Page(page) = self.hear() else { continue };
            assert_eq!(page.id, self.pages);
            match from {
                Edge::Newest | Edge::Below(_) => lines.extend(page.lines.clone()),
                Edge::Oldest | Edge::Above(_) => lines.splice(..0, page.lines.clone()).for_each(drop),
            }
            if page.progress != Progress::Searching {
                return (lines.iter().map(|line| line.seq).collect(), page);
            }
        }
    }
}

#[test]
fn pages_of_the_log_are_read_from_either_end() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    write(&db, 4_000);
    let mut desk = Desk::over(&db);
    let (seqs, page) = desk.page("", Edge::Newest, 300);
    assert_eq!((seqs.len(), seqs[0], seqs[299], page.newest), (300, 12_000, 11_701, 12_000));
    assert_eq!((page.searched, page.progress), (11_701, Progress::Full));
    let (seqs, _) = desk.page("", Edge::Below(11_701), 300);
    assert_eq!((seqs[0], seqs[299]), (11_700, 11_401));
    let (seqs, _) = desk.page("", Edge::Oldest, 10);
    assert_eq!(seqs, (1..=10).rev().collect::<Vec<_>>());
    let (seqs, page) = desk.page("", Edge::Above(11_998), 300);
    assert_eq!((seqs, page.progress), (vec![12_000, 11_999], Progress::AtTheEnd));
    let (seqs, _) = desk.page("", Edge::Below(5), 300);
    assert_eq!(seqs, [4, 3, 2, 1]);
}

/// The console's Log and `log stats` count what people decided alike.
#[test]
fn the_log_has_the_figures_of_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    write(&db, 300);
    let desk = Desk::over(&db);
    let reader = Reader::open(&db).unwrap().unwrap();
    desk.ask.send(LogRequest::Count).unwrap();
    let counts = loop {
        match desk.hear() {
            Finding::Counts(counts) if counts.upto == counts.newest => break counts,
            _ => {}
        }
    };
    let stats = query::decisions(&reader, None, &Search::default()).unwrap();
    let (console, command) = (&counts.tally.all, &stats.all);
    assert_eq!(
        (console.approved(), console.denied(), console.asked),
        (command.approved(), command.denied(), command.asked)
    );
    assert_eq!((console.median(), console.by()), (command.median(), command.by()));
    assert!(console.median().is_some());
}

#[test]
fn a_search_finds_by_field_and_word_across_the_whole_log() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    write(&db, 4_000);
    let mut desk = Desk::over(&db);
    let mut count = |find: &str| desk.page(find, Edge::Newest, 100_000).0.len();
    assert_eq!(count("kind:decision"), count("kind:=decision"));
    assert_eq!(count("kind:=decision verdict:deny"), 800);
    assert_eq!(count("kind:=decision verdict:deny tool:WRITE"), 400);
    assert_eq!(count("kind:=decision -verdict:deny"), 3_200);
    assert_eq!(count("\"REASON 2997\""), 1, "quotes keep words together");
    assert_eq!(count("kind:=decision rule:scr*"), count("by:rule"));
    assert_eq!(count("ticket:=filesystem-77"), 3);
    assert_eq!(count("since:1s kind:=decision"), 4_000, "all of it lies after that moment");
    assert_eq!(count("until:1s"), 0);
}

/// The index is filled when nobody asks, is told of, and the next console finds it and the tally there.
#[test]
fn a_call_that_is_left_out_takes_its_question_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    write(&db, 40);
    // One that still waits has no verdict.
    let waits = Entry { ticket: Some("filesystem-99".into()), ..entry(297, Kind::DecisionAsked) };
    Store::open(&db, [1; 16]).unwrap().append(&[(121, waits)], &Redactor::new(&[7; 32])).unwrap();
    let mut desk = Desk::over(&db);
    for from in [Edge::Newest, Edge::Oldest] {
        let (seqs, _) = desk.page_of(LogRows::Calls, "-verdict:deny", from, 300);
        // Each call is a question, its decision and its answer; each fifth was denied.
        let denied = |seq: &u64| *seq <= 120 && ((seq - 1) / 3).is_multiple_of(5);
        assert!(!seqs.iter().any(denied), "{seqs:?}");
        assert!(seqs.contains(&121) && seqs.contains(&5), "{seqs:?}");
    }
    let (seqs, _) = desk.page("-verdict:deny kind:decision-asked", Edge::Newest, 300);
    assert_eq!(seqs.len(), 41, "every record is a row of its own");
}

#[test]
fn what_one_console_has_counted_and_indexed_the_next_one_finds() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    write(&db, 3_000);
    let desk = Desk::over(&db);
    desk.ask.send(LogRequest::Count).unwrap();
    let mut decided = None;
    loop {
        match desk.hear() {
            Finding::Counts(counts) => decided = Some(counts.tally.all.calls()),
            Finding::Indexed { upto, level: true } => {
                assert_eq!((upto, decided), (8_192, Some(3_000)));
                break;
            }
            Finding::Indexed { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    drop(desk);
    // Were it counted again, the records would now tell other figures.
    let raw = rusqlite::Connection::open(&db).unwrap();
    raw.execute_batch("DROP TRIGGER record_is_not_changed; UPDATE record SET body = 'gone' WHERE seq < 5000").unwrap();
    let mut desk = Desk::over(&db);
    desk.ask.send(LogRequest::Count).unwrap();
    assert!(
        matches!(desk.hear(), Finding::Counts(counts) if counts.tally.all.calls() == 3_000 && counts.tally.tools["filesystem"].len() == 2)
    );
    // What the index names is shown only if the record says so as well.
    let (seqs, _) = desk.page("\"reason 300\"", Edge::Newest, 10);
    assert_eq!(seqs, Vec::<u64>::new());
    let (seqs, _) = desk.page("\"reason 6000\"", Edge::Oldest, 10);
    assert_eq!(seqs, [6_002]);
}

#[test]
fn a_search_that_is_given_up_makes_way() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    write(&db, 8_000);
    let mut desk = Desk::over(&db);
    let search = Search::read("nowhere-to-be-found", Clock::utc(NINE)).unwrap();
    desk.ask
        .send(LogRequest::Page(Wanted { id: 0, search, rows: LogRows::Records, from: Edge::Newest, most: 10 }))
        .unwrap();
    let (seqs, _) = desk.page("", Edge::Newest, 1);
    assert_eq!(seqs, [24_000]);
}

#[test]
fn a_record_tells_its_link_and_the_rest_of_its_call() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    write(&db, 40);
    let open = |seq| {
        let desk = Desk::over(&db);
        desk.ask.send(LogRequest::Record { seq }).unwrap();
        match desk.hear() {
            Finding::Record(told, opened) if told == seq => opened.map(|opened| *opened),
            other => panic!("{other:?}"),
        }
    };
    for seq in [1, 2, 120] {
        let opened = open(seq).unwrap();
        assert_eq!((opened.link, opened.beside.len(), opened.newest), (Ok(()), 2, 120), "record {seq}");
    }
    assert!(open(121).is_none());
    let changed = rusqlite::Connection::open(&db).unwrap();
    changed.execute_batch("DROP TRIGGER record_is_not_changed").unwrap();
    changed.execute("UPDATE record SET body = replace(body, 'deny', 'approve') WHERE seq = 2", []).unwrap();
    assert_eq!(open(2).unwrap().link, Err(Break::Changed { seq: 2 }));
    assert_eq!(open(3).unwrap().link, Ok(()));
    let desk = Desk::over(&db);
    desk.ask.send(LogRequest::Verify).unwrap();
    match desk.hear() {
        Finding::Verified(checked) => {
            assert_eq!(checked.holds, 1);
            assert!(checked.wrong.unwrap().starts_with("the chain is broken: record 2"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_tally_counts_what_was_decided_and_goes_on_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    write(&db, 3_500);
    let desk = Desk::over(&db);
    let counts = |upto: u64| {
        desk.ask.send(LogRequest::Count).unwrap();
        loop {
            match desk.hear() {
                Finding::Counts(counts) if counts.upto == upto => return counts,
                _ => {}
            }
        }
    };
    let first = counts(10_500);
    let all = &first.tally.all;
    assert_eq!((all.asked, all.calls()), (3_500, 3_500));
    assert_eq!(first.tally.rules["scratch"].hits, 500);
    // What `log stats` tells of the same log, it tells in the same words.
    let reader = Reader::open(&db).unwrap().unwrap();
    let stats = query::decisions(&reader, None, &Search::default()).unwrap().all;
    assert_eq!(
        (all.calls(), all.asked, all.approved(), all.denied(), all.approved_by(By::Rule)),
        (stats.calls(), stats.asked, stats.approved(), stats.denied(), stats.approved_by(By::Rule))
    );
    assert_eq!((all.approved(), all.denied(), all.approved_by(By::Rule)), (2_800, 700, 400));
    let tool = first.tally.of_tool("filesystem", "write_file").unwrap();
    assert_eq!((tool.count.calls(), tool.failed), (1_750, 875));
    assert!(tool.judged.contains("MUTATES|CREATE|ACK"));
    assert_eq!(first.sessions.0["files"].calls, 3_500);
    write(&db, 1);
    assert_eq!(counts(10_503).tally.all.calls(), 3_501);
}

#[test]
fn a_chain_that_holds_is_said_to_and_no_log_is_no_trouble() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    let desk = Desk::over(&db);
    desk.ask.send(LogRequest::Verify).unwrap();
    assert!(matches!(desk.hear(), Finding::NoLog));
    write(&db, 4_000);
    desk.ask.send(LogRequest::Verify).unwrap();
    loop {
        if let Finding::Verified(checked) = desk.hear()
            && checked.until.is_none()
        {
            assert_eq!((checked.holds, checked.wrong), (12_000, None));
            return;
        }
    }
}

#[test]
fn what_is_no_log_is_told_with_its_mend() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    std::fs::write(&db, "this is no database, and long enough to be read as one; it is not ".repeat(40)).unwrap();
    let desk = Desk::over(&db);
    desk.ask.send(LogRequest::Count).unwrap();
    assert!(matches!(desk.hear(), Finding::Trouble(what) if what.contains(';')));
}

#[test]
#[cfg(target_os = "linux")]
fn this_process_takes_some_memory_and_a_missing_one_none() {
    let home = tempfile::tempdir().unwrap();
    let places = Places::under(home.path()).unwrap();
    let (tell, found) = mpsc::channel();
    let sources = Sources { log: places.audit_db(), places, now: || NINE };
    let ask = start(sources, move |finding| drop(tell.send(finding))).unwrap();
    ask.send(LogRequest::Footprints(vec![std::process::id(), u32::MAX - 1])).unwrap();
    let Ok(Finding::Footprints(found)) = found.recv_timeout(Duration::from_secs(20)) else { panic!("no answer") };
    assert!(matches!(found.as_slice(), [(pid, bytes)] if *pid == std::process::id() && *bytes > 1 << 20), "{found:?}");
}
