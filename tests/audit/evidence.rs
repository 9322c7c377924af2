//! One decision as a folder, checked with Python and ssh-keygen alone: as it was written, and with each of its files changed.
//! Where there is no Python or ssh-keygen, these tests say so and look at nothing.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::audit::record::{NamedText, TextKind};
use mcp_approve::audit::recording::Recording;
use mcp_approve::signing::sshsig::unarmored;
use mcp_approve::wire::digest::Digest;
use serde_json::{Value, json};

use crate::audit::log::{log, so};
use crate::audit::{folder, numbered, read, write};
use crate::signing::bed::{Key, Making, armored, statement};

/// A log with a signed approval in it, and the line of the key that signed.
fn signed(db: &Path) -> String {
    signed_on(db, "filesystem-5")
}

/// The same, with a signature on the card of this ticket.
fn signed_on(db: &Path, ticket: &str) -> String {
    let key = Key::new("ssh-ed25519", 1);
    let line = format!("mara@example.com {} the laptop", key.line());
    let mut said = statement();
    let mut entry = write(5);
    said.card.call = entry.digest.unwrap();
    (said.card.session, said.card.ticket) = (entry.session.to_string(), ticket.to_owned());
    let text = said.to_json();
    let sshsig = unarmored(&armored(&key.sign(text.as_bytes(), &Making::default())));
    entry.define(&NamedText::new(TextKind::Definition, r#"{"name":"write_file"}"#));
    entry.uncut.add("signatures", json!([{ "line": line, "statement": text, "sshsig": sshsig }]));
    let asked = Entry { kind: Kind::DecisionAsked, verdict: None, by: None, ..write(5) };
    let outcome = Entry { kind: Kind::Outcome, verdict: None, ..write(5) }.with("result", "ok");
    let mut recording = Recording::open(db, &db.with_extension("key")).unwrap();
    for entries in [vec![read(1), read(2), asked, read(3), entry], vec![outcome, read(4)]] {
        recording.record(&numbered(entries)).unwrap();
    }
    line
}

fn verify(folder: &Path, more: &[&str]) -> (bool, String) {
    // In another home, without our program.
    let out =
        Command::new("python3").arg("verify.py").args(more).arg(".").current_dir(folder).env("HOME", "/").output();
    let out = out.unwrap();
    (out.status.success(), String::from_utf8([out.stdout, out.stderr].concat()).unwrap())
}

fn can_check() -> bool {
    let runs = |program: &str, word: &str| Command::new(program).arg(word).output().is_ok();
    let both = runs("python3", "--version") && runs("ssh-keygen", "-?");
    if !both {
        let mut stderr = std::io::stderr();
        writeln!(stderr, "SKIPPED: there is no python3 or ssh-keygen here").unwrap();
    }
    both
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all
}

/// Writes the sums anew, as whoever changes a file would.
fn sum(folder: &Path) {
    let mut lines = String::new();
    for path in files(folder).into_iter().filter(|path| !path.ends_with("SHA256SUMS")) {
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        lines.push_str(&format!("{}  {name}\n", Digest::of(&fs::read(&path).unwrap())));
    }
    fs::write(folder.join("SHA256SUMS"), lines).unwrap();
}

fn copy(from: &Path, to: &Path) {
    for path in files(from) {
        let copied = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(copied.parent().unwrap()).unwrap();
        fs::copy(path, copied).unwrap();
    }
}

#[test]
fn evidence_is_checked_elsewhere_and_a_change_of_any_file_is_found() {
    let (home, db) = folder();
    signed(&db);
    let to = home.path().join("evidence");
    so(&db, &format!("log export --format evidence filesystem-5 --to {}", to.display()));
    assert!(log(&db, &format!("log export --format evidence filesystem-5 --to {}", to.display())).0.is_err(), "once");
    let mapped: Value = serde_json::from_slice(&fs::read(to.join("sep-2828.json")).unwrap()).unwrap();
    assert_eq!(mapped["decision"]["decisionDerived"]["decision"], "allow");
    assert_eq!(mapped["outcome"]["outcomeDerived"]["status"], "executed");
    assert_eq!(fs::read_to_string(to.join("README")).unwrap().lines().count(), 5);
    let rows = fs::read_to_string(to.join("records.jsonl")).unwrap();
    assert!(!rows.contains("/tmp/3"), "what other calls were is left out");
    if !can_check() {
        return;
    }
    let (good, said) = verify(&to, &[]);
    assert!(good && said.contains("Signatures that hold: 1."), "{said}");
    let keygen = "ssh-keygen -Y verify -n verdict@mcp-approve -f allowed_signers -I mara@example.com \
                  -s statement-1.json.sig < statement-1.json";
    assert!(Command::new("sh").args(["-c", keygen]).current_dir(&to).output().unwrap().status.success());
    let changed = tempfile::tempdir().unwrap();
    for (n, path) in files(&to).into_iter().enumerate() {
        let name = path.strip_prefix(&to).unwrap().display().to_string();
        for resummed in [false, true] {
            let copied = changed.path().join(format!("{n}-{resummed}"));
            copy(&to, &copied);
            let mut bytes = fs::read(&path).unwrap();
            let at = bytes.len() / 2;
            // A letter of the same kind, so that what is JSON stays JSON.
            bytes[at] = if bytes[at].is_ascii_digit() { b'0' + (bytes[at] - b'0' + 1) % 10 } else { b'x' };
            fs::write(copied.join(&name), &bytes).unwrap();
            if resummed {
                sum(&copied);
            }
            // What is no proof itself can be changed together with the sums: the words and the verifier that come along.
            let is_proof = !matches!(name.as_str(), "README" | "verify.py" | "sep-2828.json" | "SHA256SUMS");
            if is_proof || !resummed && name != "verify.py" {
                assert!(!verify(&copied, &[]).0, "{name}, sums made again: {resummed}");
            }
        }
        let copied = changed.path().join(format!("{n}-gone"));
        copy(&to, &copied);
        fs::remove_file(copied.join(&name)).unwrap();
        assert!(!verify(&copied, &[]).0, "{name} is removed");
    }
    let more = changed.path().join("more");
    copy(&to, &more);
    fs::write(more.join("note"), "x").unwrap();
    assert!(!verify(&more, &[]).0, "a file more");
}

#[test]
fn a_signature_vouches_for_its_own_call_and_for_no_other_with_the_same_bytes() {
    for (ticket, holds) in [("filesystem-5", true), ("filesystem-9", false)] {
        let (home, db) = folder();
        let signers = home.path().join("signers");
        fs::write(&signers, format!("{}\n", signed_on(&db, ticket))).unwrap();
        let signers = signers.display().to_string();
        let (found, said) = log(&db, &format!("log verify --allowed-signers {signers}"));
        assert_eq!(found.unwrap() == ExitCode::SUCCESS, holds, "{said}");
        assert!(holds || said.contains("another call"), "{said}");
        if can_check() {
            let to = home.path().join("evidence");
            so(&db, &format!("log export --format evidence filesystem-5 --to {}", to.display()));
            assert_eq!(verify(&to, &["--allowed-signers", &signers]).0, holds);
        }
    }
}

#[test]
fn a_key_that_was_revoked_is_named_here_and_elsewhere() {
    let (home, db) = folder();
    let line = signed(&db);
    let list = |name: &str, text: &str| {
        let path = home.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let signers = list("signers", &format!("{line}\n"));
    let key = line.split_once(' ').unwrap().1;
    let (revoked, other) = (list("revoked", &format!("{key}\n")), list("other", &Key::new("ssh-ed25519", 2).line()));
    let binary = list("krl", "SSHKRL\n\0binary");
    let verify_with = |more: &str| log(&db, &format!("log verify --allowed-signers {signers}{more}"));
    assert_eq!(verify_with("").0.unwrap(), ExitCode::SUCCESS);
    assert_eq!(verify_with(&format!(" --revoked {other}")).0.unwrap(), ExitCode::SUCCESS);
    let (found, said) = verify_with(&format!(" --revoked {revoked}"));
    assert!(found.unwrap() == ExitCode::FAILURE && said.contains("was revoked"), "{said}");
    let refused = verify_with(&format!(" --revoked {binary}")).0.unwrap_err().to_string();
    assert!(refused.contains("krl: line 1") && refused.contains("binary form"), "{refused}");
    if !can_check() {
        return;
    }
    let to = home.path().join("evidence");
    so(&db, &format!("log export --format evidence filesystem-5 --to {}", to.display()));
    assert!(verify(&to, &["--allowed-signers", &signers]).0);
    assert!(verify(&to, &["--allowed-signers", &signers, "--revoked", &other]).0);
    assert!(!verify(&to, &["--allowed-signers", &signers, "--revoked", &revoked]).0);
    let krl = home.path().join("keys.krl");
    let made = Command::new("ssh-keygen").args(["-k", "-f"]).arg(&krl).arg(&revoked).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    assert!(!verify(&to, &["--allowed-signers", &signers, "--revoked", krl.to_str().unwrap()]).0, "OpenSSH's own list");
}

#[test]
fn lines_for_collectors_have_the_names_and_units_of_their_formats() {
    let (_home, db) = folder();
    signed(&db);
    let lines = |format: &str| -> Vec<Value> {
        let out = so(&db, &format!("log follow --once --format {format}"));
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(lines("jsonl").len(), 8, "every record");
    let otlp = lines("otlp-json");
    assert_eq!(otlp.len(), 8);
    let one = &otlp[4]["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
    assert_eq!((&one["timeUnixNano"], &one["severityNumber"]), (&json!("1795255200005000000"), &json!(9)), "{one}");
    assert!(
        one["attributes"]
            .as_array()
            .unwrap()
            .contains(&json!({ "key": "gen_ai.tool.name", "value": { "stringValue": "write_file" } }))
    );
    let ocsf = lines("ocsf");
    assert_eq!(ocsf.len(), 7, "records of calls: {ocsf:?}");
    let one = &ocsf[4];
    for (name, value) in [
        ("class_uid", json!(6003)),
        ("category_uid", json!(6)),
        ("time", json!(1_795_255_200_005_i64)),
        ("action_id", json!(1)),
        ("disposition_id", json!(1)),
        ("severity_id", json!(1)),
    ] {
        assert_eq!(one[name], value, "{name}");
    }
    assert_eq!(one["api"]["operation"], "write_file");
    assert_eq!(one["type_uid"], json!(600_300 + one["activity_id"].as_u64().unwrap()));
    assert_eq!(so(&db, "log follow --once --from 7 --format jsonl").lines().count(), 2);
}

/// As many signatures as a rule can ask for, each with a long statement: none of it is cut, whatever else is.
#[test]
fn no_statement_and_no_signature_is_cut() {
    let (_home, db) = folder();
    let statement = format!("{{\"reason\":\"{}\"}}", "password is hunter2, ".repeat(400));
    let all: Vec<Value> = (0..9).map(|n| json!({ "statement": statement, "sshsig": format!("{n}AAAA") })).collect();
    for detail in ["short".to_owned(), "long ".repeat(20_000)] {
        let mut entry = write(1).with("reason", &detail).with("list", vec![&*detail; 90]);
        entry.uncut.add("signatures", &all);
        Recording::open(&db, &db.with_extension("key")).unwrap().record(&numbered([entry])).unwrap();
    }
    let out = so(&db, "log list --jsonl");
    for line in out.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["detail"]["signatures"], json!(all), "{}", &line[line.len() - 200..]);
    }
}
