//! What the log says of the operator's own changes of rules, and that a log which was changed is said to be.

use std::fs;

use mcp_approve::audit::redact::Redactor;
use mcp_approve::wire::digest::Digest;
use serde_json::{Value, json};

use super::Home;
use super::edits::{RULES, observed, policy};

#[test]
fn every_change_of_the_rules_is_recorded_with_its_author_and_the_text() {
    let home = observed(Some(RULES));
    for args in [
        &["rules", "add", "--id", "no-keys", "--decision", "deny", "--tool", "store_key"][..],
        &["rules", "edit", "no-keys", "--set", "note=\"no keys here\""],
        &["rules", "remove", "no-keys"],
        &["rules", "undo"],
    ] {
        let run = home.run(args);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}: {}", run.out);
    }
    let listed = home.run(&["log", "list", "--jsonl", "--kind", "policy"]).out;
    let rows: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rules = rows.iter().filter(|row| row["detail"]["diff"].is_array()).map(|row| &row["rule"]);
    assert_eq!(rules.collect::<Vec<_>>(), ["no-keys"; 4], "{listed}");
    let rows: Vec<&Value> = rows.iter().map(|row| &row["detail"]).filter(|row| row["diff"].is_array()).collect();
    let said: Vec<&str> = rows.iter().map(|row| row["what"].as_str().unwrap()).collect();
    let all = ["added rule no-keys", "changed rule no-keys", "removed rule no-keys", "took back: removed rule no-keys"];
    assert_eq!(said, all, "{listed}");
    let diffs = ["+tool = \"store_key\"", "+note = \"no keys here\"", "-tool = \"store_key\"", "+tool = \"store_key\""];
    for (row, line) in rows.iter().zip(diffs) {
        assert!(row["diff"].as_array().unwrap().contains(&json!(line)), "{line} in {row}");
        assert!(row["operator"].as_str().unwrap().ends_with(" (by a command)"), "{row}");
        assert!(row["file"].as_str().unwrap().ends_with("config/policy.toml"), "{row}");
    }
    assert_eq!(home.run(&["log", "verify"]).code, 0);
    // A log that cannot be written: nothing is changed.
    let before = policy(&home);
    fs::rename(home.path("state/audit.db"), home.path("state/moved.db")).unwrap();
    fs::create_dir(home.path("state/audit.db")).unwrap();
    let run = home.run(&["rules", "remove", "no-keys"]);
    assert!(run.code == 2 && run.err.contains("nothing was changed, because it could not be recorded"), "{}", run.err);
    assert_eq!(policy(&home), before);
}

/// Whoever has the machine can tell what a hash in its log stands for, and which call a keyed digest names.
#[test]
fn who_has_the_key_of_a_log_can_check_what_it_names() {
    let home = observed(None);
    let said = home.run_with("hunter2\n", &["log", "hash"]).out;
    let redactor = Redactor::new(&fs::read(home.path("state/redaction.key")).unwrap().try_into().unwrap());
    let plain = Digest::of(b"hunter2");
    let all = [redactor.mark(b"hunter2"), plain.to_string(), redactor.key().of(plain.as_bytes()).to_string()];
    assert_eq!(said.split_ascii_whitespace().filter(|word| word.len() > 20).collect::<Vec<_>>(), all, "{said}");
}

#[test]
fn a_rule_before_the_first_server_makes_no_log() {
    let home = Home::new();
    assert_eq!(home.run(&["rules", "add", "--id", "none", "--decision", "deny", "--tool", "x"]).code, 0);
    assert!(!home.path("state/audit.db").exists());
}

#[test]
fn doctor_and_export_find_a_record_that_was_changed() {
    let home = observed(None);
    let listed = super::unwrapped(&home.run(&["doctor"]).out);
    assert!(listed.contains("records), the chain holds"), "{listed}");
    let raw = rusqlite::Connection::open(home.path("state/audit.db")).unwrap();
    let change = "DROP TRIGGER record_is_not_changed; UPDATE record SET body = replace(body, '20', '21') WHERE seq = 3";
    raw.execute_batch(change).unwrap();
    let run = home.run(&["doctor"]);
    let said = super::unwrapped(&run.out);
    assert!(run.code == 1 && said.contains("the chain is broken: record 3"), "{said}");
    let run = home.run(&["log", "export"]);
    assert!(run.code == 1 && run.err.contains("what was exported may be untrue") && !run.out.is_empty(), "{}", run.err);
}
