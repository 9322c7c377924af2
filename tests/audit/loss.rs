//! Records that somebody removes: of the log, its note, or a wrapper's journal; under a wrapper that lives, and after its
//! death. Each loss is found and named, or the wrapper stops; no row ends otherwise.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use mcp_approve::audit::chain::journal_name;
use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::audit::store::Store;
use mcp_approve::cli::error::Error;
use mcp_approve::cli::log::verify::VerifyOptions;
use mcp_approve::cli::log::{LogCommand, run};
use mcp_approve::cli::look::Look;
use mcp_approve::interpose::scribe::Ack;

use crate::audit::scribe::Loop;
use crate::audit::{NOON, WRITER, folder, numbered, read, redactor};

/// How many calls a wrapper records.
const CALLS: i64 = 25;

/// What somebody does to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Delete,
    Empty,
    Halve,
    /// An older copy takes its place, as another file.
    Replace,
    /// The bytes of an older copy are written into it.
    Overwrite,
}

const ACTS: [Act; 5] = [Act::Delete, Act::Empty, Act::Halve, Act::Replace, Act::Overwrite];

/// Of what: each is a part of the file's name, by which the files are found.
const TARGETS: [(&str, &[&str]); 7] = [
    ("the log", &["audit.db", "audit.db-wal"]),
    ("the log's database", &["audit.db"]),
    ("the noted head", &["audit.head"]),
    ("the journal", &[".db", ".db-wal"]),
    ("the journal's entries", &[".db-wal"]),
    ("log and noted head", &["audit.db", "audit.db-wal", "audit.head"]),
    ("log and journal", &["audit.db", "audit.db-wal", ".db", ".db-wal"]),
];

/// What nothing beside the log can show, as `help log` says: a head that is kept elsewhere does.
const HIDDEN: [(&str, Act, State); 2] =
    [("log and noted head", Act::Delete, State::Ended), ("log and noted head", Act::Empty, State::Ended)];

/// Of what a wrapper that lives misses at its next call.
const STOPS: [&str; 4] = ["the log", "the journal", "log and noted head", "log and journal"];

/// Of which wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Live,
    /// It was killed, and nobody has opened the log since.
    Dead,
    /// It was killed, and its journal is in the log.
    Ended,
}

/// What became of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Nothing was lost.
    Whole,
    /// The wrapper forwards nothing any more, and `log verify` says that records are missing.
    StoppedAndNamed,
    /// The wrapper forwards nothing any more; what it had recorded is all there.
    Stopped,
    Named,
    /// Records are gone, and nothing says so.
    Hidden,
}

fn start() -> Entry {
    Entry { ticket: None, tool: None, kind: Kind::ServerStart, verdict: None, by: None, ..read(0) }
}

/// The files of a target under the folder of a log.
fn files(db: &Path, names: &[&str]) -> Vec<PathBuf> {
    let folders = [db.parent().unwrap().to_owned(), db.with_extension("d")];
    let all = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().map(|file| file.unwrap().path());
    all.filter(|path| {
        let (name, in_journals) = (path.file_name().unwrap().to_str().unwrap(), path.parent() == Some(&folders[1]));
        let is_one = |wanted: &&str| match wanted.strip_prefix('.') {
            Some(end) => in_journals && name.split_once('.').is_some_and(|(_, rest)| rest == end),
            None => !in_journals && name == *wanted,
        };
        names.iter().any(is_one)
    })
    .collect()
}

fn copy(db: &Path, old: &Path) {
    for file in files(db, &["audit.db", "audit.db-wal", "audit.head", ".db", ".db-wal"]) {
        fs::copy(&file, old.join(file.file_name().unwrap())).unwrap();
    }
}

fn act(act: Act, db: &Path, names: &[&str], old: &Path) {
    for file in files(db, names) {
        let copied = old.join(file.file_name().unwrap());
        match act {
            Act::Delete => fs::remove_file(&file).unwrap(),
            Act::Empty => File::options().write(true).open(&file).unwrap().set_len(0).unwrap(),
            Act::Halve => {
                let file = File::options().write(true).open(&file).unwrap();
                file.set_len(file.metadata().unwrap().len() / 2).unwrap();
            }
            Act::Replace if copied.exists() => {
                let draft = file.with_extension("draft");
                fs::copy(copied, &draft).unwrap();
                fs::rename(draft, &file).unwrap();
            }
            Act::Overwrite if copied.exists() => fs::write(&file, fs::read(copied).unwrap()).unwrap(),
            // There was none when the copy was made.
            Act::Replace | Act::Overwrite => fs::remove_file(&file).unwrap(),
        }
    }
    // Whoever replaces a database removes what belongs to the one before.
    if names.contains(&"audit.db") && act != Act::Empty && act != Act::Overwrite {
        let _ = fs::remove_file(db.with_extension("db-shm"));
    }
}

/// What `log verify` says; an error of it is a finding as well.
fn verify(db: &Path) -> (bool, String) {
    let mut out = Vec::new();
    let command = LogCommand::Verify(VerifyOptions::default());
    let found = run(
        &command,
        db,
        &mcp_approve::home::places::Places::under(db.parent().unwrap()).unwrap(),
        Look::plain(NOON),
        &mut out,
    );
    let text = String::from_utf8(out).unwrap();
    match found {
        Ok(found) => (found == ExitCode::SUCCESS && !text.contains("MISSING"), text),
        Err(Error::NoLog(_)) => (true, "there is no log".to_owned()),
        Err(error) => (false, error.to_string()),
    }
}

/// How many of the calls are in the log.
fn calls(db: &Path) -> i64 {
    let Ok(log) = rusqlite::Connection::open(db) else { return 0 };
    let count =
        "SELECT count(DISTINCT json_extract(body, '$.ticket')) FROM record WHERE body LIKE '%\"tool\":\"read_file\"%'";
    log.query_row(count, [], |row| row.get(0)).unwrap_or(0)
}

/// A wrapper that records calls, most of them folded, and is killed; then something happens to its files.
fn dead(what: Act, names: &[&str], state: State) -> (Fate, String) {
    let ((_folder, db), old) = (folder(), tempfile::tempdir().unwrap());
    let mut store = Store::open(&db, WRITER).unwrap();
    let mut journal = store.journal(journal_name("s1", *b"by chanc")).unwrap();
    journal.record(&numbered([start()]), &redactor()).unwrap();
    for n in 1..=CALLS {
        journal.record(&numbered([read(n)]), &redactor()).unwrap();
        if n == CALLS / 2 || n == CALLS - 5 {
            store.fold(&[&journal.take()]).unwrap();
            store.sync().unwrap();
            store.note_head();
        }
        if n == CALLS / 2 {
            copy(&db, old.path());
        }
    }
    drop((journal, store));
    if state == State::Ended {
        let (holds, text) = verify(&db);
        assert!(holds && calls(&db) == CALLS, "{text}");
        Store::open(&db, WRITER).unwrap().checkpoint().unwrap();
    }
    act(what, &db, names, old.path());
    let (holds, text) = verify(&db);
    // Whoever looks once more sees the same.
    let (holds_again, again) = verify(&db);
    let is_all = calls(&db) == CALLS;
    let fate = match (is_all, holds && holds_again) {
        (_, false) => Fate::Named,
        (true, true) => Fate::Whole,
        (false, true) => Fate::Hidden,
    };
    (fate, format!("{text}{again}"))
}

/// The same under a wrapper that goes on: it records calls until it stops, or long enough.
fn live(what: Act, names: &[&str]) -> (Fate, String) {
    let ((_folder, db), old) = (folder(), tempfile::tempdir().unwrap());
    let mut scribe = Loop::over(&db);
    scribe.open();
    scribe.record(numbered([start()]));
    let mut recorded = 0;
    let record = |scribe: &mut Loop, recorded: &mut i64| {
        scribe.record(numbered([read(*recorded + 1)]));
        let count = scribe.acks.len() + 1;
        scribe.wait("an acknowledgement", |this| this.acks.len() >= count || !this.acks.is_empty());
        let is_recorded = matches!(scribe.acks.last(), Some(Ack::Recorded(_)));
        *recorded += i64::from(is_recorded);
        is_recorded
    };
    for n in 1..=CALLS {
        assert!(record(&mut scribe, &mut recorded));
        if n == CALLS / 2 {
            scribe.wait("the fold", |_| calls(&db) == CALLS / 2);
            copy(&db, old.path());
        }
    }
    scribe.wait("the fold", |_| calls(&db) == CALLS);
    let head = format!("{} ", CALLS + 1);
    scribe.wait("the note", |_| {
        fs::read_to_string(db.with_extension("head")).is_ok_and(|head_is| head_is.starts_with(&head))
    });
    act(what, &db, names, old.path());
    let mut stopped = false;
    for _ in 0..20 {
        stopped = !record(&mut scribe, &mut recorded);
        if stopped {
            break;
        }
        scribe.turn();
    }
    let _ = scribe.scribe.finish();
    let (holds, text) = verify(&db);
    let is_all = calls(&db) >= recorded;
    let fate = match (stopped, is_all, holds) {
        (true, _, false) => Fate::StoppedAndNamed,
        (true, true, true) => Fate::Stopped,
        (false, _, false) => Fate::Named,
        (false, true, true) => Fate::Whole,
        (_, false, true) => Fate::Hidden,
    };
    (fate, format!("{recorded} recorded, {} there\n{text}", calls(&db)))
}

#[test]
fn a_loss_is_found_and_named_or_the_wrapper_stops() {
    let mut rows = String::new();
    let mut hidden = Vec::new();
    for (target, names) in TARGETS {
        for what in ACTS {
            for state in [State::Live, State::Dead, State::Ended] {
                let (fate, text) = if state == State::Live { live(what, names) } else { dead(what, names, state) };
                // When a wrapper that lives notices depends on its threads; that it stops at once, where its files are gone, does not.
                if state == State::Live {
                    let is_gone = matches!(what, Act::Delete | Act::Replace) && STOPS.contains(&target);
                    let stops = matches!(fate, Fate::Stopped | Fate::StoppedAndNamed);
                    assert!(stops || !is_gone, "{target}, {what:?}: {fate:?}: {text}");
                } else {
                    rows.push_str(&format!("{target}, {what:?}, {state:?}: {fate:?}\n"));
                }
                if (fate == Fate::Hidden) != HIDDEN.contains(&(target, what, state)) {
                    hidden.push(format!("{target}, {what:?}, {state:?}: {fate:?}: {text}"));
                }
            }
        }
    }
    assert!(hidden.is_empty(), "{}", hidden.join("\n"));
    insta::assert_snapshot!(rows);
}
