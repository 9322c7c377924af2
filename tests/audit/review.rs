//! `mcp-approve log show|export|stats`: one call among sessions, exports that prove themselves, figures that add up.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::audit::store::Store;
use mcp_approve::cli::error::Error;
use mcp_approve::policy::rule::Decision;
use serde_json::{Value, json};

use crate::audit::log::{log, so};
use crate::audit::{NOON, WRITER, folder, log_of, numbered, read, redactor, write};

fn append(db: &Path, entries: impl IntoIterator<Item = Entry>) {
    let mut store = Store::open(db, WRITER).unwrap();
    store.append(&numbered(entries), &redactor()).unwrap();
}

fn of(mut entry: Entry, session: &str) -> Entry {
    entry.session = Arc::from(session);
    entry
}

#[test]
fn a_ticket_shows_its_newest_session_and_names_the_others() {
    let (_folder, db) = folder();
    append(&db, [of(read(2), "aaaa"), of(read(2), "bbbb"), of(write(2), "bbbb"), of(read(2), "cc\u{1b}c")]);
    let shown = so(&db, "log show filesystem-2");
    assert!(shown.contains("record 4") && !shown.contains("record 1"), "{shown}");
    assert!(shown.contains("also a call of other sessions") && shown.contains("--session aaaa"), "{shown}");
    assert!(shown.contains("--session bbbb") && !shown.contains('\u{1b}'), "{shown}");
    let older: Vec<Value> = serde_json::from_str(&so(&db, "log show filesystem-2 --session bb --json")).unwrap();
    assert_eq!(older.iter().map(|row| row["seq"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 3]);
    assert!(matches!(log(&db, "log show filesystem-2 --session dd").0, Err(Error::NotInLog(_))));
    assert!(!so(&db, "log show 1").contains("other sessions"));
}

#[test]
fn a_call_that_a_rule_decided_names_who_made_the_rule() {
    let (_folder, db) = folder();
    let made = |n: i64, rules: &str, operator: &str| {
        let entry = Entry::new(NOON + n, Kind::Policy, &Arc::from("mcp-approve"), &Arc::from("rules"));
        let entry = Entry { rule: Some(rules.to_owned()), ..entry };
        entry.with("what", format!("added rule {rules}")).with("operator", operator)
    };
    let by = |n: i64, rule: &str| Entry { by: Some(By::Rule), rule: Some(rule.to_owned()), ..read(n) };
    append(&db, [made(1, "notes", "ada"), made(2, "keys, notes", "eve"), by(3, "notes"), by(4, "other"), read(5)]);
    append(&db, [made(6, "notes", "bob"), made(7, "notes-2", "joe"), by(8, "notes")]);
    let shown = |n: u32| so(&db, &format!("log show filesystem-{n}"));
    let of = |text: &str| text.lines().find(|line| line.starts_with("Rule ")).map(str::to_owned);
    let line = "Rule notes: added rule keys, notes by eve, 2026-11-21 10:00:00, record 2";
    assert_eq!(of(&shown(3)).as_deref(), Some(line), "the last that concerns it, and none of later");
    assert_eq!(of(&shown(4)).as_deref(), Some("Rule other: no record says who made it"));
    assert_eq!(of(&shown(5)), None);
    assert!(of(&shown(8)).unwrap().contains(" by bob, "), "{}", shown(8));
}

/// A log with everything that makes an export difficult.
fn difficult(db: &Path) {
    let mut odd = write(2);
    odd.tool = Some("=cmd|'/c calc'!A1".into());
    odd.arguments =
        Some("{\"text\":\"a,\\\"b\\\"\\n\u{202e}c\",\"n\":1.50,\"password\":\"hunter2hunter2\"}".parse().unwrap());
    append(db, [read(1), odd, read(3)]);
}

#[test]
fn a_jsonl_export_has_every_row_and_what_its_link_is_made_of() {
    let (_folder, db) = folder();
    difficult(&db);
    let (text, listed) = (so(&db, "log export"), so(&db, "log list --jsonl"));
    assert!(!text.contains("hunter2") && !text.contains('\u{202e}'), "{text}");
    for (line, listed) in text.lines().zip(listed.lines()) {
        let (mut row, listed): (Value, Value) =
            (serde_json::from_str(line).unwrap(), serde_json::from_str(listed).unwrap());
        let proof = ["writer", "link", "body"].map(|key| row.as_object_mut().unwrap().remove(key).unwrap());
        assert_eq!(row, listed);
        assert_eq!(proof[0].as_str().unwrap().len(), 32);
        assert_eq!(proof[1].as_str().unwrap().len(), 64);
    }
    assert_eq!(text.lines().count(), 3);
    assert_eq!(so(&db, "log export --tool read_file --since 2026-11-21T10:00:00.003Z").lines().count(), 1);
}

#[test]
fn an_export_of_a_log_that_was_changed_or_cut_off_is_whole_and_fails() {
    let (_folder, db) = folder();
    difficult(&db);
    let mut store = Store::open(&db, WRITER).unwrap();
    store.append(&numbered([read(4)]), &redactor()).unwrap();
    store.sync().unwrap();
    let before = so(&db, "log export");
    let raw = rusqlite::Connection::open(&db).unwrap();
    raw.execute_batch("DROP TRIGGER record_is_not_changed; DROP TRIGGER record_is_not_removed").unwrap();
    let table = [
        ("DELETE FROM record WHERE seq = 4", "records are missing"),
        ("UPDATE record SET body = replace(body, 'approve', 'deny') WHERE seq = 2", "record 2 does not carry"),
    ];
    for (change, says) in table {
        raw.execute_batch(change).unwrap();
        // What is wanted may all be as it was: the log as a whole is not.
        for line in ["log export", "log export --format csv", "log export --tool read_file"] {
            let (finding, text) = log(&db, line);
            let Err(Error::Untrue { what: why, .. }) = finding else { panic!("{line}: {finding:?}") };
            assert!(why.contains(says), "{line}: {why}");
            assert!(line != "log export" || text.lines().count() == 3, "{text}");
        }
    }
    assert_eq!(before.lines().next(), log(&db, "log export").1.lines().next());
}

#[test]
fn a_csv_export_runs_nothing_in_a_spreadsheet() {
    let (_folder, db) = folder();
    difficult(&db);
    let text = so(&db, "log export --format csv");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].starts_with("seq,time,kind,server,session,ticket,tool,"), "{text}");
    assert!(lines[2].contains("\"'=cmd|'/c calc'!A1\""), "{text}");
    assert!(lines[2].contains("\"\"text\"\":\"\"a,"), "{text}");
    assert!(!text.contains("hunter2") && !text.contains('\u{202e}'), "{text}");
}

/// The verifier needs Python; where there is none, this test says so and looks at nothing.
#[test]
fn the_verifier_takes_a_whole_export_and_finds_what_was_changed() {
    let (folder, db) = folder();
    difficult(&db);
    let script = folder.path().join("verify.py");
    std::fs::write(&script, so(&db, "log export --verifier")).unwrap();
    let verify = |text: &str, more: &[&str]| {
        let file = folder.path().join("export");
        std::fs::write(&file, text).unwrap();
        let out = Command::new("python3").arg(&script).arg(&file).args(more).output().ok()?;
        Some((
            out.status.success(),
            format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr)),
        ))
    };
    let whole = so(&db, "log export");
    let Some((good, said)) = verify(&whole, &[]) else {
        writeln!(std::io::stderr(), "SKIPPED: there is no python3 here, so the verifier was not run").unwrap();
        return;
    };
    assert!(good && said.contains("The chain holds: 3 records"), "{said}");
    let last: Value = serde_json::from_str(whole.lines().last().unwrap()).unwrap();
    assert!(verify(&whole, &[last["link"].as_str().unwrap()]).unwrap().0);
    let lines: Vec<&str> = whole.lines().collect();
    let late = format!("{}\n{}\n", lines[1], lines[2]);
    assert!(verify(&late, &[]).unwrap().1.contains("begins with record 2"));
    for (changed, says) in [
        (whole.replacen("read_file", "read_fire", 1), "fields"),
        (whole.replacen("read_file", "read_fire", 2), "link"),
        (format!("{}\n{}\n", lines[0], lines[2]), "record 2 is missing"),
    ] {
        let (good, said) = verify(&changed, &[]).unwrap();
        assert!(!good && said.contains(says), "{says}: {said}");
    }
    let cut = format!("{}\n{}\n", lines[0], lines[1]);
    assert!(!verify(&cut, &[last["link"].as_str().unwrap()]).unwrap().0);
}

#[test]
fn stats_add_up() {
    let (_folder, db) = folder();
    let asked = |n| Entry { kind: Kind::DecisionAsked, verdict: None, by: None, ..write(n) };
    let took = |n, ms: u64, verdict| Entry { latency_us: Some(ms * 1000), verdict: Some(verdict), ..write(n) };
    let ruled = Entry { by: Some(By::Rule), rule: Some("scratch".into()), ruling: Some(Decision::Allow), ..write(9) };
    let refused = Entry::new(NOON, Kind::Fault, &Arc::from("filesystem"), &Arc::from("s1"));
    append(
        &db,
        [
            read(1),
            read(2),
            asked(3),
            // Edited, so asked again.
            asked(3),
            took(3, 2_000, VerdictWord::Approve),
            asked(4),
            took(4, 4_000, VerdictWord::Deny),
            ruled,
            refused.clone().with("what", "refused a line from the host"),
            refused.with("what", "refused more lines from the host").with("lines", 41),
        ],
    );
    let stats: Value = serde_json::from_str(&so(&db, "log stats --json")).unwrap();
    for (key, value) in
        [("calls", 5), ("asked", 2), ("approved", 4), ("denied", 1), ("saved_by_rules", 1), ("refused_lines", 42)]
    {
        assert_eq!(stats[key], value, "{key}: {stats}");
    }
    assert_eq!(stats["median_ms"], 3000.0);
    assert_eq!(stats["by"], serde_json::json!({ "default": 2, "operator": 2, "rule": 1 }));
    let tools: Vec<_> = stats["tools"].as_array().unwrap().iter().map(|of| (&of["tool"], &of["calls"])).collect();
    assert_eq!(tools, [(&"write_file".into(), &3.into()), (&"read_file".into(), &2.into())]);
    insta::assert_snapshot!(so(&db, "log stats"));
    let one: Value = serde_json::from_str(&so(&db, "log stats --json --tool read*")).unwrap();
    assert_eq!((&one["calls"], &one["denied"]), (&2.into(), &0.into()));
}

#[test]
fn what_was_detected_is_counted_once_for_each_call() {
    let (_folder, db) = folder();
    let tools = |detail: &'static str, words: &str| {
        let mut entry = Entry::new(NOON, Kind::Tools, &Arc::from("filesystem"), &Arc::from("s1"));
        entry.tool = Some("glance".into());
        entry.with(detail, words)
    };
    let asked = |n| Entry { kind: Kind::DecisionAsked, verdict: None, by: None, ..write(n) };
    let hazards = json!([{ "hazard": "unexpected-behavior", "what": "PURE was expected" }]);
    let poisoned = |n, kind: &str| read(n).with("hazards", json!([{ "hazard": kind, "what": "it praises itself" }]));
    let held = |n, us: u64| Entry { kind: Kind::Outcome, verdict: None, by: None, ..read(n) }.with("gate_us", us);
    append(
        &db,
        [
            asked(1).with("disputed", true).with("hazards", hazards),
            // Edited, so asked again.
            asked(1).with("disputed", true),
            write(1),
            write(2).with("reason", "the arguments do not fit the tool's input schema"),
            // Words of a call are no detection.
            Entry { arguments: Some(r#"{"note":"disputed unexpected-behavior"}"#.parse().unwrap()), ..asked(3) },
            // Three poisoned tools: their calls are counted by kind.
            poisoned(4, "poisoned-description"),
            poisoned(5, "poisoned-description"),
            poisoned(6, "preference-manipulation"),
            poisoned(7, "\u{1b}[31m none of ours"),
            held(4, 400),
            held(5, 600),
            held(6, 9_000),
            tools("definition", "changed"),
            tools("definition", "new"),
            tools("review", "pinned as PURE|READ|DATA"),
            tools("review", "pinned as PURE|READ|DATA"),
            tools("review", "pinned as MUTATES|UNKNOWN|DATA"),
            tools("review", "accepted the definition"),
        ],
    );
    let stats: Value = serde_json::from_str(&so(&db, "log stats --json")).unwrap();
    let expected = json!({
        "hazards": { "poisoned-description": 2, "preference-manipulation": 1, "unexpected-behavior": 1 },
        "disputed": 1, "unexpected_behavior": 1, "schema_violations": 1, "changed_definitions": 1,
        "new_definitions": 1, "likely_confirmed": 2, "likely_refused": 1,
    });
    assert_eq!(stats["detections"], expected);
    assert_eq!(stats["gate"], json!({ "median_ms": 0.6, "p95_ms": 9.0, "p99_ms": 9.0 }));
    let text = so(&db, "log stats");
    for line in [
        "hazards    poisoned-description: 2 calls\n             preference-manipulation: 1 call\n",
        "unasked calls were held 0.6 ms (half of them), 9.0 ms",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert_eq!(stats["asked_then_approved"]["calls"], 2);
    assert_eq!(stats["asked_then_approved"]["tools"][0]["tool"], "write_file");
    let none: Value = serde_json::from_str(&so(&db, "log stats --json --tool read*")).unwrap();
    assert_eq!(none["detections"]["likely_confirmed"], 0);
}

#[test]
fn a_shown_record_tells_how_the_arguments_of_a_read_were_explained() {
    let (_folder, db) = folder();
    append(&db, [read(1).with("explained", "path: a path; limit: a number"), write(2)]);
    let shown = so(&db, "log show filesystem-1");
    assert!(shown.contains("  explained  path: a path; limit: a number\n"), "{shown}");
    assert!(!so(&db, "log show filesystem-2").contains("explained"));
}

#[test]
fn stats_of_nothing_say_what_to_do() {
    let (_folder, db) = folder();
    assert!(so(&db, "log stats").contains("no audit log yet"));
    assert_eq!(serde_json::from_str::<Value>(&so(&db, "log stats --json")).unwrap()["calls"], 0);
    log_of(&db, 1);
    assert!(so(&db, "log stats --tool nothing").contains("No call of that kind"));
    assert!(matches!(log(&folder().1, "log export").0, Err(Error::NoLog(_))));
}

/// Paths that would be cut say their folder once; where nothing would be cut, they are whole.
#[test]
fn a_folder_that_most_paths_lie_in_is_named_once() {
    let (_folder, db) = folder();
    let at = |n, path: &str| Entry { target: Some(path.into()), ..write(n) };
    let deep = "/home/ada/projects/shop/reports/2026/november";
    append(&db, [at(1, &format!("{deep}/one.md")), at(2, &format!("{deep}/deeper/two.md")), at(3, "/etc/hosts")]);
    insta::assert_snapshot!(so(&db, "log list"), @r"
    ./ is /home/ada/projects/shop/reports/2026/november/
    SEQ TIME       VERDICT  WHO      TOOL       TARGET
      1 10:00:00 ● approved operator write_file ./one.md
      2 10:00:00 ● approved operator write_file ./deeper/two.md
      3 10:00:00 ● approved operator write_file /etc/hosts
    ");
    assert!(so(&db, "log list --wide").contains(&format!("{deep}/deeper/two.md")));
    assert!(so(&db, "log show 1").contains(&format!("{deep}/one.md")));
    append(&db, [at(4, "./one.md")]);
    assert!(!so(&db, "log list").contains("./ is"), "a path that a call wrote with ./ may be another");
}
