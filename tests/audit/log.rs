//! `mcp-approve log`: what a user and a script read.

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use mcp_approve::audit::moment::{Clock, Since};
use mcp_approve::audit::record::{By, Entry, Kind};
use mcp_approve::audit::store::Store;
use mcp_approve::cli::error::Error;
use mcp_approve::cli::log::{LogCommand, run};
use mcp_approve::cli::look::Look;
use mcp_approve::wire::digest::Digest;
use rusqlite::Connection;
use serde_json::Value;

use crate::audit::{NOON, WRITER, folder, head, log_of, numbered, read, redactor, write};

#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    command: LogCommand,
}

pub fn log(db: &Path, line: &str) -> (Result<ExitCode, Error>, String) {
    let line = Line::try_parse_from(line.split(' ')).unwrap();
    let mut out = Vec::new();
    let finding = run(
        &line.command,
        db,
        &mcp_approve::home::places::Places::under(db.parent().unwrap()).unwrap(),
        Look::plain(NOON + 3_600_000),
        &mut out,
    );
    (finding, String::from_utf8(out).unwrap())
}

pub fn so(db: &Path, line: &str) -> String {
    let (finding, out) = log(db, line);
    assert_eq!(finding.unwrap(), ExitCode::SUCCESS, "{out}");
    out
}

fn seqs(db: &Path, line: &str) -> Vec<u64> {
    let out = so(db, &format!("{line} --jsonl"));
    let seq = |line: &str| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap();
    out.lines().map(seq).collect()
}

fn append(db: &Path, entries: impl IntoIterator<Item = Entry>) {
    let mut store = Store::open(db, WRITER).unwrap();
    store.append(&numbered(entries), &redactor()).unwrap();
}

/// Four records: two reads, an operator's write, and a server that ended half an hour later.
fn mixed(db: &Path) {
    let mut ended = Entry::new(NOON + 1_800_000, Kind::ServerEnd, &"git#2".into(), &"s2".into());
    ended = ended.with("status", 0);
    let told = write(3).with("operator", "ada (pid 7)").with("reason", "fine by me");
    append(db, [read(1), read(2), told, ended]);
}

#[test]
fn filters_choose_records() {
    let (_folder, db) = folder();
    mixed(&db);
    let cases: &[(&str, &[u64])] = &[
        ("log list", &[1, 2, 3, 4]),
        ("log list --limit 2", &[3, 4]),
        ("log list --limit 0", &[]),
        ("log list --tool read_file", &[1, 2]),
        ("log list --tool read_file --limit 1", &[2]),
        ("log list --tool *_file", &[1, 2, 3]),
        ("log list --server filesystem", &[1, 2, 3]),
        ("log list --server git*", &[4]),
        ("log list --kind server-end", &[4]),
        ("log list --verdict approve --by operator", &[3]),
        ("log list --by policy --tool read", &[1, 2]),
        ("log list --verdict deny", &[]),
        ("log list --since 31m", &[4]),
        ("log list --since 2h", &[1, 2, 3, 4]),
        ("log list --since 2026-11-21T10:00:00.002Z", &[2, 3, 4]),
        ("log list --since yesterday --until yesterday", &[]),
        ("log list --since today", &[1, 2, 3, 4]),
        ("log list --tool write", &[3]),
        ("log list --verdict allow --tool READ", &[1, 2]),
        ("log list /tmp/3 verdict:allow", &[3]),
        ("log list tool:write since:today until:2026-11-21", &[3]),
        ("log list target:/tmp/2", &[2]),
        ("log list operator:ada reason:fine", &[3]),
        ("log list operator:bob", &[]),
    ];
    for (line, expected) in cases {
        assert_eq!(seqs(&db, line), *expected, "{line}");
    }
}

#[test]
fn wrong_filters_are_refused_with_what_is_right() {
    for (line, told) in [
        ("log list --kind decided", "decision-asked"),
        ("log list --by me", "operator"),
        ("log list --verdict perhaps", "approve deny"),
        ("log list --since tomorrow", "30d"),
        ("log list --server [", "--server"),
        ("log list --json --jsonl", "cannot be used with"),
        ("log verify --expect-head 12", "64 hex"),
    ] {
        let Err(error) = Line::try_parse_from(line.split(' ')) else { panic!("{line}") };
        assert!(error.to_string().contains(told), "{line}: {error}");
    }
}

#[test]
fn moments_are_understood() {
    const HOUR: i64 = 3_600_000;
    for (text, moment) in [
        ("90s", NOON - 90_000),
        ("5m", NOON - 300_000),
        ("1h", NOON - HOUR),
        ("30d", NOON - 720 * HOUR),
        ("2w", NOON - 336 * HOUR),
        ("2026-11-21T10:00:00Z", NOON),
        ("2026-11-21T11:00:00+01:00", NOON),
        ("2026-11-21T09:30", NOON - HOUR / 2),
        ("today", NOON - 10 * HOUR),
        ("yesterday", NOON - 34 * HOUR),
        ("2026-11-20", NOON - 34 * HOUR),
        ("09:00", NOON - HOUR),
    ] {
        assert_eq!(text.parse::<Since>().unwrap().moment(Clock::utc(NOON)), moment, "{text}");
    }
    // Days and times of day are local: an hour before UTC they begin an hour earlier.
    let east = Clock { offset: 3600, ..Clock::utc(NOON) };
    for (text, from, to) in [
        ("yesterday", NOON - 35 * HOUR, NOON - 11 * HOUR),
        ("2026-11-20", NOON - 35 * HOUR, NOON - 11 * HOUR),
        ("11:00", NOON, NOON),
        ("2026-11-21T11:00", NOON, NOON),
        ("2026-11-21T10:00:00Z", NOON, NOON),
    ] {
        let since: Since = text.parse().unwrap();
        assert_eq!((since.moment(east), since.end(east)), (from, to), "{text}");
    }
    for text in ["", "d", "-1d", "+5m", "1.5h", "2026-11", "2026-13-01", "tomorrow", "25:00"] {
        assert!(text.parse::<Since>().is_err(), "{text}");
    }
}

#[test]
fn a_json_row_has_every_field_of_the_contract() {
    let (_folder, db) = folder();
    mixed(&db);
    let rows: Vec<Value> = serde_json::from_str(&so(&db, "log list --json")).unwrap();
    assert_eq!(rows.len(), 4);
    for row in &rows {
        for field in [
            "seq", "time", "kind", "server", "session", "ticket", "tool", "badge", "identity", "ruling", "verdict",
            "by", "rule", "digest", "latency_ms", "arguments",
        ] {
            assert!(row.get(field).is_some(), "{field} in {row}");
        }
    }
    assert_eq!(rows[2]["tool"], "write_file");
    assert_eq!(rows[2]["arguments"]["path"], "/tmp/3");
    assert_eq!(rows[3]["tool"], Value::Null);
}

#[test]
fn the_table() {
    let (_folder, db) = folder();
    mixed(&db);
    insta::assert_snapshot!(so(&db, "log list"), @r"
    SEQ TIME       VERDICT  WHO    TOOL       TARGET
      1 10:00:00 ○ approved policy read_file  /tmp/1
      2 10:00:00 ○ approved policy read_file  /tmp/2
      3 10:00:00 ● approved ada    write_file /tmp/3  fine by me
    ");
    insta::assert_snapshot!(so(&db, "log list --records"), @r"
    SEQ TIME       VERDICT  WHO    TOOL       TARGET
      1 10:00:00 ○ approved policy read_file  /tmp/1
      2 10:00:00 ○ approved policy read_file  /tmp/2
      3 10:00:00 ● approved ada    write_file /tmp/3  fine by me
      4 10:30:00   ended           git#2
    ");
}

/// A call is one row, by whatever says most of how it stands, and no row is wider than the terminal.
#[test]
fn a_call_is_one_row_that_fits() {
    let (_folder, db) = folder();
    let long = "/home/ada/projects/shop/reports/2026/november/a very long name of a report.md";
    let asked = |n| Entry {
        kind: Kind::DecisionAsked,
        verdict: None,
        by: None,
        target: Some(format!("{long} → /srv/archive/2026/november/old report {n}.md").into()),
        ..write(n)
    };
    let withdrawn = |n| Entry { kind: Kind::Withdrawn, verdict: None, by: Some(By::Cancel), ..write(n) };
    let decided = |n| Entry { target: asked(n).target, ..write(n) }.with("operator", "ada (pid 7)");
    append(&db, [asked(1), decided(1), withdrawn(1), asked(2), asked(3), withdrawn(3), asked(4), decided(4)]);
    insta::assert_snapshot!(so(&db, "log list"), @r"
    SEQ TIME       VERDICT   WHO    TOOL       TARGET
      2 10:00:00 ● approved  ada    write_file …e of a report.md → …/old report 1.md
      4 10:00:00 ● asked            write_file …e of a report.md → …/old report 2.md
      6 10:00:00 ● withdrawn cancel write_file /tmp/3
      8 10:00:00 ● approved  ada    write_file …e of a report.md → …/old report 4.md
    ");
    let list = so(&db, "log list");
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    let wide = so(&db, "log list --wide");
    assert!(wide.contains(long) && wide.contains("filesystem-4") && wide.contains(&Digest::of(b"line").to_string()));
    assert_eq!(so(&db, "log list --limit 2").lines().count(), 3);
    let until = so(&db, "log list --until 2026-11-20");
    assert_eq!(until, "No matches.\n");
}

#[test]
fn one_record_and_all_of_a_ticket() {
    let (_folder, db) = folder();
    mixed(&db);
    append(&db, [read(3)]);
    insta::assert_snapshot!(so(&db, "log show 3"), @r#"
    filesystem-3  write_file on filesystem: /tmp/3
    2026-11-21 10:00:00  approved by ada (pid 7): fine by me
    2026-11-21 10:00:00  approved by policy

    record 3
      time       2026-11-21T10:00:00.003Z
      kind       decision
      server     filesystem
      session    s1
      ticket     filesystem-3
      tool       write_file
      target     /tmp/3
      badge      MUTATES
      ruling     ask
      verdict    approve
      by         operator
      digest     38a9c1e721584da284b90ceea4ed7eb8db15ac4ea86c2c75ec925d5f8799fcf0
      assurance  L0
      link       0edefd70334afee577fa13c6fc2c78376062ec5b2f4dcabe9519906c767d2458
      arguments  {
                   "path": "/tmp/3"
                 }
      detail     {
                   "operator": "ada (pid 7)",
                   "reason": "fine by me"
                 }
    "#);
    let both: Vec<Value> = serde_json::from_str(&so(&db, "log show filesystem-3 --json")).unwrap();
    assert_eq!((both[0]["seq"].clone(), both[1]["seq"].clone()), (3.into(), 5.into()));
    let (missing, _) = log(&db, "log show filesystem-9");
    assert!(matches!(missing, Err(Error::NotInLog(_))));
    let (missing, _) = log(&db, "log show 99");
    assert!(missing.unwrap_err().to_string().contains("99"));
}

#[test]
fn nothing_yet() {
    let (_folder, db) = folder();
    assert_eq!(so(&db, "log list --json"), "[]\n");
    assert!(so(&db, "log list").contains("there is no audit log yet"));
    assert!(matches!(log(&db, "log verify").0, Err(Error::NoLog(_))), "no log verifies nothing");
    log_of(&db, 1);
    assert_eq!(so(&db, "log list --tool x"), "No matches.\n");
}

#[test]
fn verify_holds_with_its_head_as_the_anchor() {
    let (_folder, db) = folder();
    log_of(&db, 3);
    let anchor = head(&db).link;
    let out = so(&db, "log verify");
    assert!(out.contains("The chain holds: 3 records."), "{out}");
    assert!(out.contains(&format!("Head: record 3, link\n  {anchor}\n")), "{out}");
    assert!(out.contains("cut off at the end"), "it says what it cannot know: {out}");
    append(&db, [read(4)]);
    let out = so(&db, &format!("log verify --expect-head {anchor}"));
    assert!(out.contains("The expected head is record 3"), "{out}");
}

#[test]
fn verify_finds_tampering_in_the_file() {
    let cases: &[(&str, &str, u64)] = &[
        ("a body", "UPDATE record SET body = replace(body, 'approve', 'deny') WHERE seq = 2", 2),
        ("a body's type", "UPDATE record SET body = 7 WHERE seq = 2", 2),
        ("a writer", "UPDATE record SET writer = zeroblob(16) WHERE seq = 3", 3),
        ("a link", "UPDATE record SET link = zeroblob(32) WHERE seq = 1", 1),
        ("a record gone", "DELETE FROM record WHERE seq = 2", 2),
        ("the beginning gone", "DELETE FROM record WHERE seq < 3", 1),
        ("closed up", "DELETE FROM record WHERE seq = 2; UPDATE record SET seq = seq - 1 WHERE seq > 2", 2),
        ("one more", "INSERT INTO record SELECT 6, writer, body, link FROM record WHERE seq = 5", 6),
    ];
    for (name, sql, at) in cases {
        let (_folder, db) = folder();
        log_of(&db, 5);
        let raw = Connection::open(&db).unwrap();
        raw.execute_batch(
            "DROP TRIGGER record_is_not_changed; DROP TRIGGER record_is_not_removed;
             PRAGMA ignore_check_constraints=1;",
        )
        .unwrap();
        raw.execute_batch(sql).unwrap();
        let (finding, out) = log(&db, "log verify --json");
        assert_eq!(finding.unwrap(), ExitCode::FAILURE, "{name}");
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(report["broken"]["seq"], *at, "{name}: {report}");
        assert_eq!(report["records"], *at - 1, "{name}: what is before it holds");
        let (finding, out) = log(&db, "log verify");
        assert_eq!(finding.unwrap(), ExitCode::FAILURE, "{name}");
        assert!(out.contains("THE CHAIN IS BROKEN"), "{name}: {out}");
        let alone = out.contains("at one record") && out.contains("Every other record holds");
        let gap = out.contains("at one place") && out.contains("Every other record holds");
        assert_eq!(gap, name.ends_with("gone"), "{name}: {out}");
        // The row of a call that was recorded twice is its own, unchanged record.
        if *name != "one more" {
            for line in ["log list", "log list --limit 1"] {
                let list = so(&db, line);
                assert!(list.contains("▲ record") && list.contains("may be untrue"), "{name}, {line}: {list}");
            }
        }
        if !gap {
            assert!(so(&db, &format!("log show {at}")).contains("may be untrue"), "{name}");
        }
        assert_eq!(alone, matches!(*name, "a body" | "a body's type" | "a writer" | "one more"), "{name}: {out}");
    }
}

#[test]
fn verify_finds_a_cut_tail_by_its_anchor() {
    let (_folder, db) = folder();
    log_of(&db, 5);
    let anchor = head(&db).link;
    let raw = Connection::open(&db).unwrap();
    raw.execute_batch("DROP TRIGGER record_is_not_removed; DELETE FROM record WHERE seq = 5").unwrap();
    assert_eq!(head(&db).seq, 4, "the chain alone cannot show it");
    let (finding, out) = log(&db, &format!("log verify --expect-head {anchor}"));
    assert_eq!(finding.unwrap(), ExitCode::FAILURE);
    assert!(out.contains("THE EXPECTED HEAD IS MISSING"), "{out}");
}

/// THREATS B1, B3, B4: no foreign control or hidden character reaches the terminal, in any form of output.
#[test]
fn hostile_text_is_made_visible() {
    let (_folder, db) = folder();
    let nasty = "\u{1b}[2J\u{9b}31m\u{202e}gpj\u{200b}\u{e0041}\r\u{8}\u{7f}";
    let mut entry = read(1);
    entry.server = nasty.into();
    entry.session = nasty.into();
    entry.ticket = Some("evil-1".into());
    entry.tool = Some(nasty.into());
    entry.rule = Some(nasty.to_owned());
    entry.arguments = Some("{\"\u{9b}k\u{202e}\":\"\u{e0041}\u{9b}v\\u001b\"}".parse().unwrap());
    append(&db, [entry.with("reason", nasty)]);
    for line in
        ["log list", "log list --json", "log list --jsonl", "log show 1", "log show 1 --json", "log show evil-1"]
    {
        let out = so(&db, line);
        let bad: Vec<_> =
            out.chars().filter(|&c| (c.is_control() && c != '\n') || "\u{202e}\u{200b}\u{e0041}".contains(c)).collect();
        assert!(bad.is_empty(), "{line}: {bad:?} in {out:?}");
    }
    let rows: Vec<Value> = serde_json::from_str(&so(&db, "log list --json")).unwrap();
    assert_eq!(rows[0]["tool"], nasty, "escaped, not changed");
    assert_eq!(rows[0]["arguments"]["\u{9b}k\u{202e}"], "\u{e0041}\u{9b}v\u{1b}");
}

/// What somebody wrote over a body is still shown, as what it is.
#[test]
fn an_unreadable_record_is_shown_as_such() {
    let (_folder, db) = folder();
    log_of(&db, 2);
    let raw = Connection::open(&db).unwrap();
    raw.execute_batch("DROP TRIGGER record_is_not_changed; UPDATE record SET body = '{\n\"x\"' WHERE seq = 1").unwrap();
    let rows: Vec<Value> = serde_json::from_str(&so(&db, "log list --json --tool read_file")).unwrap();
    assert_eq!(rows[0], serde_json::json!({ "version": 1, "seq": 1, "unreadable": "{\n\"x\"" }));
    assert!(so(&db, "log list").contains("UNREADABLE"));
    assert!(so(&db, "log show 1").contains("UNREADABLE"));
}
