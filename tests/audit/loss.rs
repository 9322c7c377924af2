//! Records that somebody removes: of the log, its note, or a wrapper's journal; under a wrapper that lives, and after its
//! death. Each loss is found and named, or the wrapper stops; no row ends otherwise.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcp_approve::audit::chain::{journal_name, name_of, named};
use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::audit::store::Store;
use mcp_approve::cli::error::Error;
use mcp_approve::cli::log::verify::VerifyOptions;
use mcp_approve::cli::log::{AcknowledgeOptions, LogCommand, run};
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
const STOPS: [&str; 5] = ["the log", "the journal", "the journal's entries", "log and noted head", "log and journal"];

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

/// The start of a session, now: one from before the machine's start is judged more mildly.
fn start() -> Entry {
    let time = i64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    Entry { time, ticket: None, tool: None, kind: Kind::ServerStart, verdict: None, by: None, ..read(0) }
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
    said(db, &LogCommand::Verify(VerifyOptions::default()))
}

fn said(db: &Path, command: &LogCommand) -> (bool, String) {
    let mut out = Vec::new();
    let found = run(
        command,
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

/// A wrapper that was killed: the log has its start and ten calls, its last journal three more.
struct Killed {
    _folder: tempfile::TempDir,
    db: PathBuf,
    journals: Vec<PathBuf>,
}

/// With a journal for each of `used`: how many calls it has that the log lacks. Each names the next.
fn killed(entry: &Entry, used: &[i64]) -> Killed {
    let (folder, db) = folder();
    let mut store = Store::open(&db, WRITER).unwrap();
    let (mut journals, mut calls) = (Vec::new(), 0);
    for (at, last) in used.iter().enumerate() {
        let name = |at: usize| journal_name("s1", [b'a' + u8::try_from(at).unwrap(); 8]);
        let mut journal = store.journal(name(at)).unwrap();
        if at == 0 {
            journal.record(&numbered([entry.clone()]), &redactor()).unwrap();
            journal.record(&numbered((1..=10).map(read)), &redactor()).unwrap();
            store.fold(&[&journal.take()]).unwrap();
            store.sync().unwrap();
            store.note_head();
            calls = 10;
        }
        for _ in 0..*last {
            calls += 1;
            journal.record(&numbered([read(calls)]), &redactor()).unwrap();
        }
        if at + 1 < used.len() {
            let mut next = Entry { kind: Kind::NextJournal, ..start() };
            next.uncut.add("journal", name_of(&name(at + 1)));
            journal.record(&numbered([next]), &redactor()).unwrap();
        }
        journals.push((journal, name_of(&name(at))));
    }
    let names =
        journals.iter().map(|(_, name): &(_, String)| db.with_extension("d").join(name).with_extension("db")).collect();
    let killed = Killed { _folder: folder, db, journals: names };
    // One without an entry goes with its wrapper, but not with one that is killed.
    drop(journals);
    killed.journals.iter().filter(|name| !name.exists()).for_each(|name| killed.empty(name));
    killed
}

impl Killed {
    fn wal(&self, at: usize) -> PathBuf {
        self.journals[at].with_extension("db-wal")
    }

    fn remove(&self, at: usize) {
        fs::remove_file(&self.journals[at]).unwrap();
        fs::remove_file(self.wal(at)).unwrap();
    }

    fn cut(&self, at: usize) {
        let wal = File::options().write(true).open(self.wal(at)).unwrap();
        // Most of it is room for more.
        wal.set_len(wal.metadata().unwrap().len() / 6).unwrap();
    }

    /// A journal as a wrapper makes it, without an entry, of this name.
    fn empty(&self, name: &Path) {
        let other = tempfile::tempdir().unwrap();
        let mut store = Store::open(&other.path().join("audit.db"), WRITER).unwrap();
        let journal = store.journal(named(name.file_stem().unwrap().to_str().unwrap()).unwrap()).unwrap();
        for suffix in ["db", "db-wal"] {
            let made = other.path().join("audit.d").join(name.file_name().unwrap()).with_extension(suffix);
            fs::copy(made, name.with_extension(suffix)).unwrap();
        }
        drop(journal);
    }

    /// The name of a journal of the same session that no wrapper made.
    fn unnamed(&self) -> PathBuf {
        let name = name_of(&journal_name("s1", *b"invented"));
        self.db.with_extension("d").join(name).with_extension("db")
    }
}

/// Opens the log as the next wrapper does.
fn open(db: &Path) {
    drop(Store::open(db, WRITER).unwrap());
}

/// What somebody puts in the place of what is missing, so that nothing seems to be.
#[test]
fn nothing_that_is_put_in_the_place_of_a_loss_hides_it() {
    type Forgery = (&'static str, &'static [i64], fn(&Killed));
    let rows: [Forgery; 13] = [
        ("an empty file of the session", &[3], |it| {
            it.remove(0);
            File::create(it.unnamed()).unwrap();
        }),
        ("a journal of the session without entries", &[3], |it| {
            it.remove(0);
            it.empty(&it.unnamed());
        }),
        ("an empty file in its place, once the log has forgotten it", &[3], |it| {
            it.remove(0);
            open(&it.db);
            File::create(&it.journals[0]).unwrap();
        }),
        ("a journal without entries in its place, once the log has forgotten it", &[3], |it| {
            it.remove(0);
            open(&it.db);
            it.empty(&it.journals[0]);
        }),
        ("a folder in its place", &[3], |it| {
            it.remove(0);
            fs::create_dir(&it.journals[0]).unwrap();
        }),
        ("the journal before, which named it", &[3, 3], |it| it.remove(1)),
        ("an empty file in the place of the second journal", &[3, 3], |it| {
            it.remove(1);
            File::create(&it.journals[1]).unwrap();
        }),
        ("the second journal without the first", &[3, 3], |it| it.remove(0)),
        ("another file while it is looked at", &[3], |it| {
            it.remove(0);
            fs::create_dir(it.unnamed()).unwrap();
        }),
        ("a file from before the machine's start, cut off", &[3], |it| {
            it.cut(0);
            let old = SystemTime::UNIX_EPOCH + Duration::from_secs(978_307_200);
            for file in [&it.journals[0], &it.wal(0)] {
                File::options().write(true).open(file).unwrap().set_modified(old).unwrap();
            }
        }),
        ("what was kept aside, cut off, is removed", &[3], |it| {
            it.cut(0);
            open(&it.db);
            let aside = it.journals[0].with_extension("incomplete");
            fs::remove_file(&aside).unwrap();
            fs::remove_file(aside.with_extension("incomplete-wal")).unwrap();
        }),
        ("what was kept aside, changed, is removed", &[3], |it| {
            fs::write(&it.journals[0], "nothing that SQLite knows".repeat(99)).unwrap();
            open(&it.db);
            for aside in ["broken", "broken-wal"] {
                fs::remove_file(it.journals[0].with_extension(aside)).unwrap();
            }
        }),
        ("the log is an older copy, and what was kept aside is there", &[3], |it| {
            // Nobody has it open, so all of it is in one file.
            let (copy, head) = (fs::read(&it.db).unwrap(), fs::read(it.db.with_extension("head")).unwrap());
            it.cut(0);
            open(&it.db);
            fs::write(&it.db, copy).unwrap();
            fs::write(it.db.with_extension("head"), head).unwrap();
        }),
    ];
    let mut hidden = Vec::new();
    for (what, used, forge) in rows {
        let it = killed(&start(), used);
        forge(&it);
        for again in ["", ", again"] {
            let (holds, text) = verify(&it.db);
            if holds {
                hidden.push(format!("{what}{again}: {text}"));
            }
        }
    }
    assert!(hidden.is_empty(), "{}", hidden.join("\n"));
}

/// A wrapper may be killed at any moment while it goes on in another journal.
#[test]
fn a_kill_while_a_session_changes_its_journal_is_no_loss() {
    type Moment = (&'static str, &'static [i64], i64, fn(&Killed));
    let rows: [Moment; 4] = [
        ("the next one is made and not named", &[3], 13, |it| it.empty(&it.unnamed())),
        ("the next one is named and not used", &[3, 0], 13, |_| {}),
        ("both are used", &[3, 2], 15, |_| {}),
        ("twice within a moment", &[3, 0, 2], 15, |_| {}),
    ];
    for (what, used, all, act) in rows {
        let it = killed(&start(), used);
        act(&it);
        let (holds, text) = verify(&it.db);
        assert!(holds && calls(&it.db) == all && !text.contains("journal"), "{what}: {text}");
        assert_eq!(files(&it.db, &[".db", ".db-wal"]), [] as [PathBuf; 0], "{what}");
    }
}

/// After a loss of power no process need have removed what is missing.
#[test]
fn a_journal_of_a_session_from_before_the_machines_start_may_lack_its_end() {
    let it = killed(&Entry { time: 978_307_200_000, ..start() }, &[3]);
    it.cut(0);
    let (holds, text) = verify(&it.db);
    assert!(holds, "{text}");
}

#[test]
fn entries_that_are_missing_stay_a_finding_until_an_operator_acknowledges_the_fault() {
    let it = killed(&start(), &[3]);
    it.cut(0);
    let (holds, text) = verify(&it.db);
    assert!(!holds && text.contains("ENTRIES ARE MISSING, as record 14 says"), "{text}");
    let acknowledge = |seq| LogCommand::Acknowledge(AcknowledgeOptions { seq, reason: "the disk was full".to_owned() });
    assert!(!said(&it.db, &acknowledge(12)).0, "another record is no such fault");
    let (done, text) = said(&it.db, &acknowledge(14));
    assert!(done, "{text}");
    let (holds, text) = verify(&it.db);
    assert!(holds && text.contains("Acknowledged: the journal of a wrapper") && text.contains(".incomplete"), "{text}");
}

/// A journal that has grown is replaced: the log names the one in which the session goes on.
#[test]
fn a_wrapper_that_goes_on_in_another_journal_says_so() {
    let (_folder, db) = folder();
    let mut scribe = Loop::over(&db);
    scribe.open();
    scribe.record(numbered([start()]));
    let large = |n: i64| {
        let text = format!("{{\"text\":\"{}\"}}", "all work and no play ".repeat(5_000));
        Entry { arguments: Some(text.parse().unwrap()), ..read(n) }
    };
    let next = || {
        let log = rusqlite::Connection::open(&db).unwrap();
        let count = "SELECT count(*) FROM record WHERE body LIKE '%\"server-journal\"%'";
        log.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let mut count = 0;
    while next() < 2 {
        count += 1;
        assert!(count < 2_000, "no journal was replaced");
        scribe.record(numbered([large(count)]));
        scribe.wait("the call", |this| this.acks.len() > usize::try_from(count).unwrap());
        scribe.turn();
    }
    let (holds, text) = verify(&db);
    assert!(holds, "while it runs: {text}");
    // It is killed, and its last journal goes.
    scribe.record(numbered([read(count + 1)]));
    std::mem::forget(scribe);
    let journals = files(&db, &[".db", ".db-wal"]);
    journals.iter().for_each(|file| fs::remove_file(file).unwrap());
    let (holds, text) = verify(&db);
    assert!(!holds && text.contains("RECORDS ARE MISSING"), "{text}");
}
