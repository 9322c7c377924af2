//! Texts that records name, and stretches of records that were removed: what the log shows years later, and that every forgery of
//! either is found, by `log verify` and by the exported verifier.

use std::path::Path;
use std::process::{Command, ExitCode};

use mcp_approve::audit::agreed::{Latest, Says, agreed, taken_back};
use mcp_approve::audit::chain::{GENESIS, Head, Writer, body_digest, journal_name};
use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::audit::record::{NamedText, TextKind};
use mcp_approve::audit::recording::{Recording, ToKeep};
use mcp_approve::audit::removed::{self, Stretch};
use mcp_approve::audit::store::{Reader, Store};
use mcp_approve::behavior::agreed::{Agreement, What as Agrees};
use mcp_approve::wire::digest::Digest;
use rusqlite::Connection;
use serde_json::Value;

use crate::audit::log::{log, so};
use crate::audit::{NOON, WRITER, folder, head, numbered, read, redactor, write};

const DAY: i64 = 86_400_000;
const POLICY: &str = "version = 1\n\n[[rule]]\nid = \"scratch\"\ntool = \"write_file\"\ndo = \"allow\"\n";

fn recording(db: &Path) -> Recording {
    Recording::open(db, &db.with_extension("key")).unwrap()
}

fn record(db: &Path, entries: impl IntoIterator<Item = Entry>) {
    recording(db).record(&numbered(entries)).unwrap();
}

fn keep(db: &Path, what: TextKind, text: &str, days: i64) {
    let kept = ToKeep {
        time: NOON - days * DAY,
        server: "filesystem".into(),
        session: "s1".into(),
        text: NamedText::new(what, text),
    };
    let mut recording = recording(db);
    recording.keep(&[kept]).unwrap();
    recording.store.sync().unwrap();
}

/// A call that a rule of this policy decided, so many days before noon.
fn decided(n: i64, days: i64, policy: &str) -> Entry {
    let mut entry = write(n);
    entry.time = NOON - days * DAY + n;
    entry.rule = Some("scratch".to_owned());
    entry.by = Some(mcp_approve::audit::record::By::Rule);
    entry.policy = Some(Digest::of(policy.as_bytes()));
    entry.define(&NamedText::new(TextKind::Definition, r#"{"description":"Writes a file.","name":"write_file"}"#));
    entry
}

fn agreement(value: &str) -> Agreement {
    Agreement::of_server(Agrees::Host, value)
}

fn agreed_at(days: i64, value: &str) -> Entry {
    let entry = Entry::new(NOON - days * DAY, Kind::Agreed, &"filesystem".into(), &"review".into());
    agreed(entry.with("operator", "ada"), &agreement(value), "print")
}

/// Ten old calls, what was agreed to then, and three young calls under the same policy.
fn aged(db: &Path) {
    keep(db, TextKind::Policy, POLICY, 101);
    record(db, (1..=10).map(|n| decided(n, 100, POLICY)));
    record(db, [agreed_at(99, "example.org"), agreed_at(98, "example.com")]);
    let entry = Entry::new(NOON - 97 * DAY, Kind::Agreed, &"filesystem".into(), &"review".into());
    record(db, [taken_back(entry, &agreement("example.com"), "print", "it was a mistake")]);
    record(db, (11..=13).map(|n| decided(n, 1, POLICY)));
}

fn verify(db: &Path) -> (bool, String) {
    let (found, text) = log(db, "log verify");
    (found.unwrap() == ExitCode::SUCCESS, text)
}

/// The verifier that is exported, on the export of this log.
fn verify_elsewhere(db: &Path, more: &[&str]) -> Option<(bool, String)> {
    let folder = db.parent().unwrap();
    let (script, export) = (folder.join("verify.py"), folder.join("export.jsonl"));
    std::fs::write(&script, so(db, "log export --verifier")).unwrap();
    std::fs::write(&export, log(db, "log export").1).unwrap();
    let out = Command::new("python3").arg(&script).arg(&export).args(more).output().ok()?;
    let said = [out.stdout, out.stderr].concat();
    Some((out.status.success(), String::from_utf8(said).unwrap()))
}

fn bodies(db: &Path) -> Vec<Value> {
    so(db, "log list --jsonl --limit 1000").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_text_is_kept_once_and_shown_years_later_as_it_read_then() {
    let (_folder, db) = folder();
    keep(&db, TextKind::Policy, POLICY, 5);
    keep(&db, TextKind::Policy, POLICY, 5);
    record(&db, [agreed_at(3, "example.org"), decided(1, 1, POLICY), decided(2, 0, POLICY)]);
    let kinds: Vec<Value> = bodies(&db).iter().map(|one| one["kind"].clone()).collect();
    assert_eq!(kinds, ["text", "agreed", "decision", "decision", "text"], "each text once, whoever names it");
    insta::assert_snapshot!(so(&db, "log show filesystem-1").split("record 3\n").next().unwrap());
    let (holds, text) = verify(&db);
    assert!(holds && text.contains("2 are kept"), "{text}");
    // Another policy, whose text nobody kept.
    record(&db, [decided(3, 0, "version = 1\n")]);
    assert!(so(&db, "log show filesystem-3").contains("How rule scratch read then is not in this log"));
    let (holds, text) = verify(&db);
    assert!(holds && text.contains("2 are kept, 1 missing"), "{text}");
}

#[test]
fn a_secret_in_a_text_is_replaced_and_a_text_without_end_is_not_kept() {
    let (_folder, db) = folder();
    let secret = "version = 1\n# ghp_0123456789abcdef0123456789abcdef0123\n";
    keep(&db, TextKind::Policy, secret, 5);
    keep(&db, TextKind::Policy, &"# long\n".repeat(100_000), 5);
    assert!(!std::fs::read(&db).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains("ghp_0123")));
    let (holds, text) = verify(&db);
    assert!(holds && text.contains("0 are kept, 1 with secrets replaced") && text.contains("1 too long"), "{text}");
}

#[test]
fn the_oldest_records_go_with_a_record_that_says_so_and_what_is_needed_stays() {
    let (_folder, db) = folder();
    aged(&db);
    let links: Vec<Digest> = {
        let reader = Reader::open(&db).unwrap().unwrap();
        (1..=20)
            .filter_map(|seq| reader.one(seq, |row| Digest::from_bytes(row.link.try_into().unwrap())).unwrap())
            .collect()
    };
    let dry = so(&db, "log prune --before 30d");
    assert!(
        dry.contains("Would be removed: 15 records, 1 to 15,") && dry.contains("recorded again first: 3 records"),
        "{dry}"
    );
    assert_eq!(bodies(&db).len(), 18, "nothing is removed without --yes");
    let done = so(&db, "log prune --before 30d --yes");
    assert!(done.contains("Removed: 15 records, 1 to 15, of 2026-08-12"), "{done}");
    let (holds, text) = verify(&db);
    assert!(holds && text.contains("The chain holds: 7 records."), "{text}");
    assert!(text.contains("Removed, and not checked") && text.contains("1 to 15, 15 records"), "{text}");
    assert!(text.contains("2 are kept\n") || text.contains("2 are kept."), "nothing that is named is missing: {text}");
    // TextKind is said of a call that stays is as before: how its rule read, its tool's definition, what was agreed to.
    let shown = so(&db, "log show filesystem-12");
    assert!(shown.contains("tool = \"write_file\"") && shown.contains("Writes a file."), "{shown}");
    let reader = Reader::open(&db).unwrap().unwrap();
    let of = |value: &str| agreement(value).digest("print");
    assert_eq!(
        reader.agreed(&[of("example.org"), of("example.com")]).unwrap(),
        [Some(Latest { says: Says::Agreed, signed: None, team: None }), None],
        "in force: sealed anew; taken back: it counts for nothing"
    );
    let anew = bodies(&db).into_iter().find(|one| one["kind"] == "agreed").unwrap();
    assert_eq!(anew["detail"]["since"], "2026-08-14T10:00:00.000Z", "{anew}");
    let (found, said) = log(&db, &format!("log verify --expect-head {}", links[14]));
    assert!(found.unwrap() == ExitCode::FAILURE && said.contains("THE EXPECTED HEAD CANNOT BE CHECKED"), "{said}");
    assert!(log(&db, &format!("log verify --expect-head {}", links[13])).0.unwrap() == ExitCode::FAILURE);
    if let Some((holds, said)) = verify_elsewhere(&db, &[]) {
        assert!(holds && said.contains("Records 1 to 15 were removed"), "{said}");
        let (holds, said) = verify_elsewhere(&db, &[&links[14].to_string()]).unwrap();
        assert!(!holds && said.contains("NOT CHECKED"), "{said}");
        assert!(!verify_elsewhere(&db, &[&links[13].to_string()]).unwrap().0);
    }
    // A second stretch goes as well; the record of it repeats what the first said.
    record(&db, [read(40)]);
    let again = so(&db, "log prune --before 12h --yes");
    assert!(again.contains("Removed: 3 records, 16 to 18"), "{again}");
    let (holds, text) = verify(&db);
    assert!(holds && text.contains("1 to 15") && text.contains("16 to 18"), "{text}");
    assert!(verify_elsewhere(&db, &[]).is_none_or(|(holds, _)| holds));
    // A text goes when nothing left names it.
    record(&db, [read(41)]);
    so(&db, "log prune --before 2026-11-22 --yes");
    let (holds, text) = verify(&db);
    assert!(holds && !text.contains("kept") && text.contains("The chain holds: 3 records"), "{text}");
    assert_eq!(bodies(&db).iter().filter(|one| one["kind"] == "agreed").count(), 1, "it is in force still");
}

#[test]
fn a_session_that_runs_or_lost_its_end_keeps_what_follows_until_it_is_acknowledged() {
    let (_folder, db) = folder();
    let mut start = Entry::new(NOON - 90 * DAY, Kind::ServerStart, &"git".into(), &"s9".into());
    start = start.with("pid", 7);
    record(&db, [read(1), read(2)].map(|entry| Entry { time: NOON - 91 * DAY, ..entry }));
    let mut store = mcp_approve::audit::store::Store::open(&db, journal_name("s9", *b"by chanc")).unwrap();
    store.append(&numbered([start]), &crate::audit::redactor()).unwrap();
    store
        .append(&numbered([3, 4].map(|n| Entry { time: NOON - 80 * DAY, ..read(n) })), &crate::audit::redactor())
        .unwrap();
    store.append(&numbered([read(5)]), &crate::audit::redactor()).unwrap();
    drop(store);
    let (holds, text) = verify(&db);
    assert!(!holds && text.contains("1 session began and has no end"), "{text}");
    let dry = so(&db, "log prune --before 30d");
    assert!(
        dry.contains("2 records, 1 to 2,") && dry.contains("Later ones stay: git, which began in record 3"),
        "{dry}"
    );
    assert!(log(&db, "log acknowledge 2 --reason no").0.is_err());
    so(&db, "log acknowledge 3 --reason the-disk-was-full");
    let (holds, text) = verify(&db);
    assert!(holds && text.contains("Acknowledged: the last records of git"), "{text}");
    assert!(log(&db, "log acknowledge 3 --reason again").0.is_err());
    let dry = so(&db, "log prune --before 30d");
    assert!(dry.contains("5 records, 1 to 5,"), "{dry}");
}

/// A log from which a stretch was removed, and after which there are records.
fn pruned(db: &Path) {
    aged(db);
    so(db, "log prune --before 30d --yes");
}

/// Runs SQL as somebody who may write the file.
fn sql(db: &Path, statements: &str) {
    let log = Connection::open(db).unwrap();
    let triggers = rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER;
    log.set_db_config(triggers, false).unwrap();
    log.execute_batch(statements).unwrap();
}

/// Computes all links anew from a record on, and notes the head: the most that can be done without any key.
fn relink(db: &Path, from: i64) {
    let log = Connection::open(db).unwrap();
    log.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).unwrap();
    let mut head = log
        .query_row("SELECT seq, link FROM record WHERE seq < ?1 ORDER BY seq DESC LIMIT 1", [from], |row| {
            Ok(Head { seq: row.get::<_, i64>(0)?.cast_unsigned(), link: Digest::from_bytes(row.get(1)?) })
        })
        .unwrap_or(Head::EMPTY);
    let mut rows = log.prepare("SELECT seq, writer, body FROM record WHERE seq >= ?1 ORDER BY seq").unwrap();
    let rows = rows.query_map([from], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let rows: Vec<(i64, Writer, String)> = rows.map(Result::unwrap).collect();
    for (seq, writer, body) in rows {
        head = Head { seq: seq.cast_unsigned() - 1, ..head }.next(&writer, body_digest(body.as_bytes()));
        log.execute("UPDATE record SET link = ?2 WHERE seq = ?1", (seq, head.link.as_bytes())).unwrap();
    }
    std::fs::write(db.with_extension("head"), format!("{} {}\n", head.seq, head.link)).unwrap();
}

/// Appends a record as it might be written by hand, linked and noted.
fn append(db: &Path, body: &str) {
    let log = Connection::open(db).unwrap();
    log.execute("INSERT INTO record (writer, body, link) VALUES (?1, ?2, zeroblob(32))", (WRITER, body)).unwrap();
    let seq = log.last_insert_rowid();
    drop(log);
    relink(db, seq);
}

fn body(db: &Path, kind: &str) -> (i64, String) {
    let log = Connection::open(db).unwrap();
    let sql = format!("SELECT seq, body FROM record WHERE body LIKE '%\"kind\":\"{kind}\"%' ORDER BY seq DESC LIMIT 1");
    log.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

fn set(db: &Path, seq: i64, body: &str) {
    sql(db, &format!("UPDATE record SET body = '{}' WHERE seq = {seq}", body.replace('\'', "''")));
}

/// TextKind is done, and what `log verify` must say of it.
type Attack = (&'static str, fn(&Path), &'static str);

/// Of a log from which a stretch was removed: `removed` is its last record but for a text.
const ATTACKS: [Attack; 20] = [
    ("the stub's count is edited", |db| edit(db, "removed", "\"count\":15", "\"count\":14", None), "BROKEN"),
    ("and its links are made anew", |db| edit(db, "removed", "\"count\":15", "\"count\":14", Some(0)), "NOT TRUE"),
    ("the stub says fewer", |db| edit(db, "removed", "\"last\":15", "\"last\":14", Some(0)), "NOT TRUE"),
    ("the stub says another beginning", |db| edit(db, "removed", "\"first\":1,", "\"first\":2,", Some(0)), "NOT TRUE"),
    ("the stub's time is edited", |db| edit(db, "removed", "2026-11-21T11", "2026-11-20T11", None), "BROKEN"),
    ("the stub's operator is edited", |db| edit(db, "removed", "\"operator\":\"", "\"operator\":\"x", None), "BROKEN"),
    (
        "the stub names another head",
        |db| {
            let (_, text) = body(db, "removed");
            let head = text.split_once("\"head\":\"").unwrap().1[..64].to_owned();
            edit(db, "removed", &head, &Digest::of(b"x").to_string(), Some(0));
        },
        "BROKEN",
    ),
    ("the stub cannot be read", |db| edit(db, "removed", "\"stretches\"", "\"stretchez\"", Some(0)), "NOT TRUE"),
    ("the stub is removed", |db| sql(db, "DELETE FROM record WHERE body LIKE '%\"kind\":\"removed\"%'"), "BROKEN"),
    ("what finds the stub is removed", |db| sql(db, "DELETE FROM agreed"), "BROKEN"),
    ("what finds the stub points elsewhere", |db| sql(db, "UPDATE agreed SET seq = 17"), "BROKEN"),
    ("one record more is removed", |db| sql(db, "DELETE FROM record WHERE seq = 16"), "BROKEN"),
    (
        "a record comes back",
        |db| {
            sql(db, "INSERT INTO record SELECT 15, writer, body, link FROM record WHERE seq = 16");
        },
        "BROKEN",
    ),
    (
        "a second stub says other stretches",
        |db| {
            let (_, text) = body(db, "removed");
            append(db, &text.replace("\"count\":15", "\"count\":16").replace("\"last\":15", "\"last\":16"));
        },
        "NOT TRUE",
    ),
    (
        "a second stub repeats the first",
        |db| {
            let (_, text) = body(db, "removed");
            append(db, &text);
        },
        "NOT TRUE",
    ),
    (
        "a second stub forgets the first",
        |db| {
            let (_, text) = body(db, "removed");
            append(db, &(text.split_once("\"stretches\":").unwrap().0.to_owned() + "\"stretches\":[]}}"));
        },
        "NOT TRUE",
    ),
    ("a text is swapped", |db| edit(db, "text", "Writes a file.", "Reads a file.", None), "BROKEN"),
    ("and its links are made anew", |db| edit(db, "text", "Writes a file.", "Reads a file.", Some(0)), "NOT THE ONE"),
    ("a text is removed", |db| sql(db, "DELETE FROM record WHERE body LIKE '%Writes a file.%'"), "BROKEN"),
    (
        "a text is said to have had secrets",
        |db| {
            edit(db, "text", "{\"what\":\"definition\"", "{\"what\":\"definition\",\"redacted\":true", None);
        },
        "BROKEN",
    ),
];

/// Replaces something in the body of the last record of a kind; with `Some`, its link and those after it are made anew.
fn edit(db: &Path, kind: &str, from: &str, to: &str, links: Option<i64>) {
    let (seq, text) = body(db, kind);
    assert!(text.contains(from), "{from} in {text}");
    set(db, seq, &text.replacen(from, to, 1));
    if links.is_some() {
        relink(db, seq);
    }
}

#[test]
fn a_forged_stub_or_text_is_found() {
    let mut wrong = Vec::new();
    for (what, attack, says) in ATTACKS {
        let (_folder, db) = folder();
        pruned(&db);
        attack(&db);
        let (holds, text) = verify(&db);
        if holds || !text.contains(says) {
            wrong.push(format!("{what}: {text}"));
        }
        // TextKind finds records in our database is no part of an export.
        if !what.starts_with("what finds")
            && let Some((true, said)) = verify_elsewhere(&db, &[])
        {
            wrong.push(format!("{what}, elsewhere: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// TextKind cannot be told from `log prune`, since nothing of ours holds a key: but it is never silent.
#[test]
fn a_stretch_that_somebody_removes_is_named_with_and_without_a_record_of_it() {
    let (_folder, db) = folder();
    aged(&db);
    sql(&db, "DELETE FROM record WHERE seq <= 15");
    let (holds, text) = verify(&db);
    assert!(!holds && text.contains("record 1 is missing"), "{text}");
    assert!(verify_elsewhere(&db, &[]).is_none_or(|(holds, said)| !holds && said.contains("--part")));
    let part = verify_elsewhere(&db, &["--part"]);
    assert!(part.is_none_or(|(holds, said)| holds && said.contains("what stood before is not checked")));
    assert!(log(&db, "log prune --before 1d --yes").0.is_err(), "what is left of such a log is evidence");
    let (_folder, db) = folder();
    pruned(&db);
    let (holds, text) = verify(&db);
    assert!(holds && text.contains("Removed, and not checked"), "{text}");
}

/// Other records take the place of the log, after one that says that what the noted head binds was removed.
#[test]
fn a_head_is_not_found_because_the_log_says_that_it_was_removed() {
    let (_folder, db) = folder();
    record(&db, (1..=20).map(read));
    let noted = head(&db);
    let (_other, db) = folder();
    record(&db, (30..=52).map(read));
    let stretch = Stretch {
        first: 1,
        last: noted.seq,
        count: noted.seq,
        before: GENESIS,
        head: noted.link,
        from: "2026-11-21T10:00:00.000Z".to_owned(),
        to: "2026-11-21T10:00:00.000Z".to_owned(),
        digest: noted.link,
    };
    let claim = removed::entry(NOON, "mara", &[stretch]);
    let mut store = Store::open(&db, WRITER).unwrap();
    store.remove(&redactor(), || Ok((noted.seq, vec![claim]))).unwrap();
    drop(store);
    let sql = Connection::open(&db).unwrap();
    sql.execute_batch("DROP TRIGGER record_is_not_changed").unwrap();
    let mut head = noted;
    while let Ok((writer, body)) =
        sql.query_row("SELECT writer, body FROM record WHERE seq = ?1", [i64::try_from(head.seq + 1).unwrap()], |row| {
            Ok((row.get::<_, [u8; 16]>(0)?, row.get::<_, String>(1)?))
        })
    {
        head = head.next(&writer, body_digest(body.as_bytes()));
        let values = (head.link.as_bytes(), i64::try_from(head.seq).unwrap());
        sql.execute("UPDATE record SET link = ?1 WHERE seq = ?2", values).unwrap();
    }
    std::fs::write(db.with_extension("head"), format!("{} {}\n", head.seq, head.link)).unwrap();
    assert!(verify(&db).0, "nothing beside it shows that");
    let expected = format!("log verify --expect-head {}", noted.link);
    let (found, said) = log(&db, &expected);
    assert!(found.unwrap() == ExitCode::FAILURE && said.contains("CANNOT BE CHECKED"), "{said}");
    let (_, json) = log(&db, &format!("{expected} --json"));
    assert!(json.contains("\"holds\":false") || json.contains("\"holds\": false"), "{json}");
    assert!(verify_elsewhere(&db, &[&noted.link.to_string()]).is_none_or(|(holds, _)| !holds));
}

/// What finds a text is no part of the chain.
#[test]
fn a_text_that_the_log_is_only_said_to_have_is_recorded() {
    let (_folder, db) = folder();
    record(&db, [read(1)]);
    let digest = Digest::of(POLICY.as_bytes());
    let sql = Connection::open(&db).unwrap();
    sql.execute("INSERT INTO agreed (digest, seq) VALUES (?1, 1)", [digest.as_bytes()]).unwrap();
    keep(&db, TextKind::Policy, POLICY, 5);
    keep(&db, TextKind::Policy, POLICY, 5);
    assert_eq!(bodies(&db).iter().filter(|one| one["kind"] == "text").count(), 1);
    assert!(verify(&db).0);
}
