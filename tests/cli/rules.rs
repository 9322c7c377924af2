//! `mcp-approve rules`: listed, checked, explained, and whose file is used.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;

use super::Home;

const RULES: &str = r#"version = 1
[[rule]]
id = "notes"
decision = "allow"
server = "notes"
tool = ["write_*", "mcp__diary__add"]
note = "mine"
[[rule]]
id = "no-deletes"
decision = "deny"
action = "DELETE"
"#;

#[test]
fn rules_are_listed_as_text_and_json() {
    let home = Home::with_policy(RULES);
    insta::assert_snapshot!(home.run(&["rules", "list"]).out, @r"
    HOME/config/policy.toml
    defaults: pure allow, likely ask-once, mutates ask, hazard ask
    RULE        DOES   COVERS
    notes       allow  server notes, tool write_*|mcp__diary__add  # mine
    no-deletes  deny   action DELETE
    ");
    assert_eq!(home.run(&["rules"]).out, home.run(&["rules", "list"]).out);
    let rows: Value = serde_json::from_str(&home.run(&["rules", "list", "--json"]).out).unwrap();
    assert_eq!(rows[0]["id"], "notes");
    assert_eq!(rows[0]["tool"][1], "mcp__diary__add");
    assert_eq!((&rows[1]["decision"], &rows[1]["line"]), (&"deny".into(), &8.into()));
    assert_eq!(home.run(&["rules", "path"]).out, "HOME/config/policy.toml\n");
    let empty = Home::new().run(&["rules", "list"]);
    assert!(empty.out.contains("(no file: the built-in default)"), "{}", empty.out);
}

#[test]
fn a_policy_with_errors_is_shown_with_carets_and_exits_1() {
    let home = Home::with_policy("version = 1\n[defaults]\nmutates = \"allow\"\n[[rule]]\nid = \"ä\u{1b}\"\n");
    let run = home.run(&["rules", "check"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert!(!run.out.contains('\u{1b}') && run.out.contains("ä␛"), "{}", run.out);
    let home =
        Home::with_policy("version = 1\n[defaults]\nmutates = \"allow\"\n[[rule]]\nid = \"ä\"\ndecision=\"deny\"\n");
    let run = home.run(&["rules", "check"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    insta::assert_snapshot!(run.out, @r#"
    HOME/config/policy.toml:3:11: `mutates` can never be "allow": every change would run unseen
      3 | mutates = "allow"
        |           ^
        = write "ask" or "deny", and a [[rule]] with decision = "allow" for the calls that may run

    HOME/config/policy.toml:5:6: `id` cannot be "ä"
      5 | id = "ä"
        |      ^
        = use 1 to 64 of the characters a-z A-Z 0-9 - _ .

    2 errors in HOME/config/policy.toml
    "#);
    let rows: Value = serde_json::from_str(&home.run(&["rules", "check", "--json"]).out).unwrap();
    assert_eq!((&rows[0]["line"], &rows[0]["column"]), (&3.into(), &11.into()));
    let list = home.run(&["rules", "list"]);
    assert_eq!(list.code, 2);
    assert!(list.err.contains("has 2 errors, the first in line 3"), "{}", list.err);
    assert!(
        list.err.contains("\n  hint: `mcp-approve --home HOME rules check` shows every line to fix"),
        "{}",
        list.err
    );
}

#[test]
fn a_policy_in_order_says_so() {
    let run = Home::with_policy(RULES).run(&["rules", "check"]);
    assert_eq!((run.code, run.out.as_str()), (0, "HOME/config/policy.toml: in order, 2 rules\n"));
    assert_eq!(Home::with_policy(RULES).run(&["rules", "check", "--json"]).out, "[]\n");
    assert!(Home::new().run(&["rules", "check"]).out.contains("the built-in default applies"));
}

#[test]
fn what_others_could_have_written_is_not_used() {
    let home = Home::with_policy(RULES);
    home.mode("config/policy.toml", 0o666);
    let run = home.run(&["rules", "list"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("others than you may write to HOME/config/policy.toml (mode 0666)"), "{}", run.err);
    assert!(run.err.contains("hint: chmod go-w 'HOME/config/policy.toml'"), "{}", run.err);
    home.mode("config/policy.toml", 0o600);
    home.mode("config", 0o775);
    let run = home.run(&["rules", "list"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("others than you may write to HOME/config (mode 0775)"), "{}", run.err);
}

#[test]
fn a_policy_that_got_lost_is_no_built_in_default() {
    let home = Home::new();
    fs::create_dir(home.path("config")).unwrap();
    symlink(home.path("nowhere"), home.path("config/policy.toml")).unwrap();
    assert_eq!(home.run(&["rules", "list"]).code, 2);
    fs::remove_file(home.path("config/policy.toml")).unwrap();
    fs::create_dir(home.path("config/policy.toml")).unwrap();
    assert_eq!(home.run(&["rules", "list"]).code, 2);
}

#[test]
fn a_call_is_explained_rule_by_rule() {
    let home = Home::with_policy(RULES);
    let call = r#"{"server": "notes", "tool": "write_note", "arguments": {"text": "hello"}}"#;
    let run = home.run_with(call, &["rules", "explain", "-", "--json"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let answer: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&answer["decision"], &answer["rule"]), (&"allow".into(), &"notes".into()), "{answer}");
    assert_eq!((&answer["rules"][0]["fit"], &answer["rules"][1]["differs"]), (&"matches".into(), &"action".into()));
    let text = home.run_with(call, &["rules", "explain", "-"]).out;
    assert!(text.starts_with("allow: rule notes allows it\n"), "{text}");
    assert!(text.contains("no-deletes  deny   no: `action` differs"), "{text}");
}

#[test]
fn what_is_no_call_is_not_explained() {
    let home = Home::new();
    for (call, says) in [
        ("", "it is not JSON"),
        ("[]", "it is not an object"),
        (r#"{"tool": "x"}"#, "missing field `server`"),
        (r#"{"server": "s", "tool": 1}"#, "expected a string"),
        (r#"{"server": "s", "tool": "x", "args": {}}"#, "unknown field `args`"),
        (r#"{"server": "s", "tool": "x", "arguments": []}"#, "expected a map"),
        ("{\"server\": \"s\",\n\"tool\": \"x\", \"server\": \"t\"}", "an object has the same key twice"),
        (r#"{"server": "s", "tool": "x", "arguments": {"a": 1, "a": 2}}"#, "an object has the same key twice"),
    ] {
        let run = home.run_with(call, &["rules", "explain", "-"]);
        assert_eq!(run.code, 2, "{call}");
        assert!(run.err.contains(says), "{call}: {}", run.err);
    }
}

#[test]
fn what_is_hardly_meant_is_warned_of() {
    let home = Home::with_policy(
        "version = 1\n[[rule]]\nid = \"all\"\ndecision = \"allow\"\n[[rule]]\nid = \"old\"\ndecision = \"ask\"\nexpires = 2020-01-01\n",
    );
    let run = home.run(&["rules", "check"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("policy.toml:2:1: warning: rule all allows every call of every server"), "{}", run.out);
    assert!(run.out.contains("policy.toml:5:1: warning: rule old has expired"), "{}", run.out);
    let rows: Value = serde_json::from_str(&home.run(&["rules", "check", "--json"]).out).unwrap();
    assert_eq!((&rows[0]["severity"], &rows[1]["line"]), (&"warning".into(), &5.into()));
}

#[test]
fn conditions_are_listed_and_explained() {
    let home = Home::with_policy(
        r#"version = 1
[[rule]]
id = "scratch"
decision = "allow"
when = [
  { arg = "path", glob = "~/scratch/*" },
  { arg = "text", len = { lt = 9 } },
]
expires = 2026-12-31
match = [{ path = "~/scratch/a", text = "" }]
"#,
    );
    insta::assert_snapshot!(home.run(&["rules", "list"]).out, @r#"
    HOME/config/policy.toml
    defaults: pure allow, likely ask-once, mutates ask, hazard ask
    RULE     DOES   COVERS
    scratch  allow  when path matches ~/scratch/*, and text is less than 9 long, until 2026-12-31
    "#);
    for (arguments, says) in [
        (r#"{"path": "/etc/passwd", "text": ""}"#, r#"no: { arg = "path", glob = "~/scratch/*" } does not hold"#),
        (r#"{"path": "~/scratch/a"}"#, r#"no: { arg = "text", len = { lt = 9 } } cannot be decided"#),
    ] {
        let call = format!(r#"{{"server": "s", "tool": "t", "arguments": {arguments}}}"#);
        let run = home.run_with(&call, &["rules", "explain", "-"]);
        assert!(run.out.contains(says), "{arguments}: {} {}", run.out, run.err);
    }
}

#[test]
fn explaining_a_path_follows_its_links() {
    let home = Home::with_policy(
        "version = 1\n[[rule]]\nid = \"scratch\"\ndecision = \"allow\"\nwhen = [{ arg = \"path\", under = \"FOLDER\" }]\n",
    );
    let folder = home.0.path().to_owned();
    let policy = fs::read_to_string(folder.join("config/policy.toml")).unwrap();
    let scratch = folder.join("scratch");
    fs::create_dir(&scratch).unwrap();
    symlink("/etc", scratch.join("out")).unwrap();
    symlink(scratch.join("in"), scratch.join("alias")).unwrap();
    fs::write(folder.join("config/policy.toml"), policy.replace("FOLDER", scratch.to_str().unwrap())).unwrap();
    for (path, says) in [("a.txt", "allow: "), ("alias/a.txt", "ask: "), ("out/passwd", "ask: "), ("../x", "ask: ")] {
        let call = serde_json::json!({ "server": "s", "tool": "t", "arguments": { "path": scratch.join(path) } });
        let run = home.run_with(&call.to_string(), &["rules", "explain", "-"]);
        assert!(run.out.starts_with(says), "{path}: {} {}", run.out, run.err);
    }
}

#[test]
fn every_file_that_applies_is_checked_and_replayed_and_doctor_tells_what_waits() {
    let home = Home::with_policy(RULES);
    let project = tempfile::tempdir().unwrap();
    let file = project.path().join(".mcp-approve.toml");
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-approve"));
        let run = command.arg("--home").arg(home.0.path()).args(args).current_dir(&project).output().unwrap();
        (run.status.code(), String::from_utf8(run.stdout).unwrap() + &String::from_utf8(run.stderr).unwrap())
    };
    fs::write(&file, "version = 1\n[[rule]]\nid = \"x\"\ndecision = \"alow\"\n").unwrap();
    let (code, out) = run(&["rules", "check"]);
    assert!(code == Some(1) && out.contains(".mcp-approve.toml:4:") && out.contains("in order, 2 rules"), "{out}");
    assert_eq!(run(&["rules", "replay"]).0, Some(2), "a broken file says nothing of what would be");
    let (code, out) = run(&["doctor"]);
    assert!(code == Some(1) && out.contains(".mcp-approve.toml"), "{out}");
    fs::write(&file, "version = 1\n[[rule]]\nid = \"x\"\ndecision = \"allow\"\nserver = \"s\"\n").unwrap();
    let (code, out) = run(&["rules", "check"]);
    assert!(code == Some(0) && out.contains("1 change that allows more waits until accepted"), "{out}");
    let out = super::unwrapped(&run(&["doctor"]).1);
    assert!(out.contains("inactive until accepted: allows: x") && out.contains("rules accept"), "{out}");
    assert!(out.contains("pins"), "{out}");
    let (_, out) = run(&["rules", "check", "--json"]);
    assert!(serde_json::from_str::<Value>(&out).is_ok_and(|rows| rows.is_array()), "{out}");
}

#[test]
fn a_rule_by_a_hosts_name_of_a_server_that_its_wrapper_does_not_have_is_warned_of() {
    let home = Home::with_policy(&RULES.replace("mcp__diary__add", "mcp__my_fs__add").replace("notes\"", "fs\""));
    let project = tempfile::tempdir().unwrap();
    let check = |args: &str| {
        let entry = format!(
            "{{ \"command\": \"/opt/mcp-approve\", \"args\": [{args}\"--\", \"npx\", \"server-filesystem\"] }}"
        );
        fs::write(project.path().join(".mcp.json"), format!("{{ \"mcpServers\": {{ \"my fs\": {entry} }} }}")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-approve"));
        let command = command.arg("--home").arg(home.0.path()).args(["rules", "check"]).current_dir(&project);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let says = "warning: mcp__my_fs__add in rule fs never matches a call of my fs, which Claude Code starts: its wrapper is named filesystem";
    assert!(check("").contains(says), "{}", check(""));
    assert!(check("\"--name=x\", ").contains("is named x"));
    assert!(!check("\"--name\", \"my_fs\", ").contains("warning"));
}
