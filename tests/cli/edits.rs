//! `mcp-approve rules add|remove|edit|except|undo|replay|suggest`: changed, tried, and taken back; and the README.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use mcp_approve::home::places::Places;
use mcp_approve::home::policy_file::Accepted;
use serde_json::{Value, json};

use super::Home;
use crate::fake::host::Host;
use crate::fake::server::{Server, reader, writer};

pub(super) const RULES: &str = "# mine\nversion = 1\n\n# careful here\n[[rule]]\nid = \"ask-all\"\ndecision = \"ask\"\ntool = \"create_*\"   # new things\n";

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// A home whose log has calls of the server `memory`, observed: three alike, one that reads, two with a secret.
pub(super) fn observed(policy: Option<&str>) -> Home {
    let home = policy.map_or_else(Home::new, Home::with_policy);
    let server = Server::with(&[reader("read_graph"), writer("create_entities"), writer("store_key")]);
    let options = ["--name", "memory", "--observe"];
    let mut host = Host::wrapping(home.0.path(), &options, &server.command());
    host.handshake("2025-11-25");
    let calls = [
        ("create_entities", json!({ "title": "a" })),
        ("create_entities", json!({ "title": "a" })),
        ("create_entities", json!({ "title": "a" })),
        ("read_graph", json!({})),
        ("store_key", json!({ "title": TOKEN })),
        ("store_key", json!({ "title": TOKEN })),
    ];
    for (id, (tool, arguments)) in (1..).zip(calls) {
        host.call(id, tool, &arguments);
        host.answer(id);
    }
    host.hang_up();
    host.wait();
    home
}

pub(super) fn policy(home: &Home) -> String {
    fs::read_to_string(home.path("config/policy.toml")).unwrap()
}

#[test]
fn a_rule_from_a_call_is_chosen_written_tried_and_taken_back() {
    let home = observed(Some(RULES));
    let run = home.run(&["rules", "add", "--record", "memory-1"]);
    insta::assert_snapshot!(run.out, @r"
    A rule from memory-1 could cover:
      1  this exact call (3 past calls)
      2  this tool with the same title (3 past calls)
      3  this tool (3 past calls)
    Choose one: mcp-approve --home HOME rules add --record memory-1 --scope N
    ");
    assert_eq!(policy(&home), RULES, "a question writes nothing");
    let dry = home.run(&["rules", "add", "--record", "memory-1", "--scope", "2", "--expires", "never", "--dry-run"]);
    assert!(dry.out.starts_with("Would be added to HOME/config/policy.toml"), "{}", dry.out);
    assert_eq!(policy(&home), RULES);
    let run = home.run(&["rules", "add", "--record", "memory-1", "--scope", "2", "--expires", "never"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{}", run.out);
    let written = policy(&home);
    assert!(written.starts_with(RULES), "{written}");
    insta::assert_snapshot!(written[RULES.len()..], @r#"

    [[rule]]
    id = "allow-create-entities-same-title"
    decision = "allow"
    server = "memory"
    tool = "create_entities"
    identity = "MUTATES|CREATE|ACK"
    when = [
      { arg = "title", eq = "a" },
    ]
    note = "from memory-1"
    "#);
    for says in [
        "Rule allow-create-entities-same-title would have matched 3 of 6 past calls; 3 asked, 0 denied.",
        "warning: rule ask-all asks for 3 of them, and an allow does not override that.",
        "mcp-approve --home HOME rules except ask-all '{ arg = \"title\", eq = \"a\" }'",
        "Take it back with: mcp-approve --home HOME rules undo",
    ] {
        assert!(run.out.contains(says), "{says} in {}", run.out);
    }
    let before = home.run(&["rules", "explain", "--record", "memory-1"]).out;
    assert!(before.starts_with("ask: rule ask-all asks"), "{before}");
    let run = home.run(&["rules", "except", "ask-all", r#"{ arg = "title", eq = "a" }"#]);
    assert!(run.out.contains("unless = [{ arg = \"title\", eq = \"a\" }]"), "{}", run.out);
    assert!(policy(&home).contains("tool = \"create_*\"   # new things\nunless"), "{}", policy(&home));
    assert!(run.out.contains("takes effect once you accept it: mcp-approve --home HOME rules accept"), "{}", run.out);
    let after = home.run(&["rules", "explain", "--record", "memory-1"]).out;
    assert!(after.starts_with("ask: rule ask-all asks"), "nothing is loosened before: {after}");
    assert!(after.contains("Not accepted yet (mcp-approve --home HOME rules accept): "), "{after}");
    assert!(
        after.contains("Once all of it is accepted: allow: rule allow-create-entities-same-title allows it"),
        "{after}"
    );
    let file = home.path("config/policy.toml");
    Accepted::of(&Places::under(&home.path("")).unwrap()).accept(&file, Some(&policy(&home))).unwrap();
    let after = home.run(&["rules", "explain", "--record", "memory-1"]).out;
    assert!(after.starts_with("allow: rule allow-create-entities-same-title allows it"), "{after}");
    assert!(after.contains("At that time, in record ") && after.contains(": ask, approved by observe"), "{after}");
    let run = home.run(&["rules", "undo"]);
    assert!(run.out.starts_with("Taken back in HOME/config/policy.toml: changed rule ask-all\n"), "{}", run.out);
    assert_eq!(policy(&home), written);
    home.run(&["rules", "undo"]);
    assert_eq!(policy(&home), RULES);
    let run = home.run(&["rules", "undo"]);
    assert!(run.code == 2 && run.err.contains("no change of HOME/config/policy.toml can be taken back"), "{}", run.err);
}

#[test]
fn a_call_in_a_file_is_judged_as_its_server_described_the_tool() {
    let home = Home::new();
    let call = r#"{"server": "memory", "tool": "create_entities", "arguments": {"title": "a"}}"#;
    let before = home.run_with(call, &["rules", "explain", "-"]).out;
    assert!(before.contains("The call is MUTATES|UNKNOWN|UNKNOWN"), "{before}");
    assert!(before.contains("No server has described create_entities here, so it counts as unknown"), "{before}");
    let home = observed(None);
    let after = home.run_with(call, &["rules", "explain", "-"]).out;
    assert!(after.contains("The call is MUTATES|CREATE|ACK"), "{after}");
    assert!(after.contains("The tool is judged as its server described it last"), "{after}");
    for (tool, says) in [("read_graph", "The call is PURE|READ|"), ("nobody_has", "MUTATES|UNKNOWN|UNKNOWN")] {
        let other = home.run_with(&call.replace("create_entities", tool), &["rules", "explain", "-"]).out;
        assert!(other.contains(says), "{tool}: {other}");
    }
}

#[test]
fn what_check_refuses_is_not_written() {
    let home = Home::with_policy(RULES);
    for (args, says) in [
        (&["add", "--id", "ask-all", "--tool", "x"][..], "the id \"ask-all\" is taken"),
        (&["add", "--tool", "x", "--when", "{ arg = \"a\", equals = 1 }"], "unknown key \"equals\""),
        (&["add", "--tool", "x", "--unless", "{ arg = \"a\", eq = 1 }"], "an allow has nothing to loosen"),
        (&["edit", "ask-all", "--set", "decision=\"maybe\""], "`decision` cannot be \"maybe\""),
        (&["edit", "ask-all", "--unset", "decision"], "a rule without a decision"),
        (&["except", "ask-all", "{ arg = \"a\" }"], "has no test"),
    ] {
        let run = home.run(&[&["rules"], args].concat());
        assert_eq!(run.code, 1, "{args:?}: {} {}", run.out, run.err);
        assert!(run.out.contains(says) && run.out.ends_with("Nothing was written.\n"), "{args:?}: {}", run.out);
        assert_eq!(policy(&home), RULES, "{args:?}");
    }
    for (args, says) in [
        (&["add"][..], "the rule would be for every call"),
        (&["add", "--tool", "x", "--when", "arg = 1"], "\"arg = 1\" is not a condition; write one like {"),
        (&["add", "--tool", "x", "--when", "{ arg = 'a', eq = 1 }]\ndecision = 'deny'\nx = ["], "is not a condition"),
        (&["add", "--tool", "x", "--expires", "soon"], "cannot end at \"soon\""),
        (&["add", "--tool", "x", "--when", "{ arg"], "is not a condition"),
        (&["add", "--record", "memory-1"], "there is no audit log yet"),
        (&["remove", "nope"], "it has no rule \"nope\""),
        (&["edit", "ask-all", "--set", "note=plain words"], "is not a TOML value"),
        (&["except", "ask-all", "5"], "is not a condition"),
        (&["undo"], "can be taken back"),
        (&["import", "emacs", "x"], "one of: claude, cursor, gemini, codex, zed"),
        (&["import", "claude", "HOME/none.json"], "none.json cannot be read"),
    ] {
        let run = home.run(&[&["rules"], args].concat());
        assert_eq!(run.code, 2, "{args:?}: {} {}", run.out, run.err);
        assert!(run.err.contains(says), "{args:?}: {}", run.err);
        assert_eq!(policy(&home), RULES, "{args:?}");
    }
}

#[test]
fn a_change_keeps_mode_and_link_and_leaves_nothing_behind() {
    let home = Home::with_policy(RULES);
    fs::rename(home.path("config/policy.toml"), home.path("real.toml")).unwrap();
    symlink("../real.toml", home.path("config/policy.toml")).unwrap();
    home.mode("real.toml", 0o640);
    let run = home.run(&["rules", "add", "--id", "x", "--decision", "deny", "--tool", "x", "--note", "\u{1b}[2J"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(!run.out.contains('\u{1b}'), "{}", run.out);
    assert!(home.path("config/policy.toml").is_symlink());
    assert_eq!(fs::metadata(home.path("real.toml")).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(policy(&home).ends_with("note = \"\\u001B[2J\"\n"), "{}", policy(&home));
    let names = |folder: &str| fs::read_dir(home.path(folder)).unwrap().count();
    assert_eq!((names("config"), names("state/undo")), (1, 1));
    assert_eq!(home.run(&["rules", "remove", "x"]).code, 0);
    assert_eq!(policy(&home), RULES);
}

#[test]
fn undo_does_not_overwrite_what_was_written_by_hand() {
    let home = Home::new();
    assert_eq!(home.run(&["rules", "add", "--decision", "deny", "--tool", "x"]).code, 0);
    assert!(
        policy(&home).starts_with("# The policy of mcp-approve"),
        "a first file begins with the default's comments"
    );
    home.write("config/policy.toml", "version = 1\n# by hand\n");
    let run = home.run(&["rules", "undo"]);
    assert!(run.code == 2 && run.err.contains("another program has changed"), "{}", run.err);
    assert_eq!(policy(&home), "version = 1\n# by hand\n");
    let home = Home::new();
    home.run(&["rules", "add", "--decision", "deny", "--tool", "x"]);
    assert_eq!(home.run(&["rules", "undo"]).code, 0);
    assert!(!home.path("config/policy.toml").exists(), "there was none before");
}

#[test]
fn only_one_changes_the_rules_at_a_time() {
    let home = Home::with_policy(RULES);
    home.run(&["rules", "add", "--decision", "deny", "--tool", "x"]);
    let lock = fs::File::options().write(true).open(home.path("state/rules.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let run = home.run(&["rules", "remove", "ask-all"]);
    assert!(run.code == 2 && run.err.contains("another process is changing the rules"), "{}", run.err);
    // A process that another test starts at this moment shares the descriptor until it runs: closing it is not enough.
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::Unlock).unwrap();
    assert_eq!(home.run(&["rules", "remove", "ask-all"]).code, 0);
    // Who gives the lock back at once is waited for.
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let gives_back = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::Unlock).unwrap();
    });
    let run = home.run(&["rules", "add", "--decision", "deny", "--tool", "y"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    gives_back.join().unwrap();
}

#[test]
fn a_replay_tells_what_changes_and_what_cannot_be_told() {
    let home = observed(None);
    let same = home.run(&["rules", "replay", "--fail-on-change"]);
    assert_eq!((same.code, same.out.as_str()), (0, "6 past calls: 0 would be decided differently.\n"));
    let new = home.write(
        "new.toml",
        "version = 1\n[[rule]]\nid = \"few\"\ndecision = \"allow\"\ntool = \"create_entities\"\nwhen = [{ rate = { most = 2, per = \"1h\" } }]\n[[rule]]\nid = \"key\"\ndecision = \"deny\"\ntool = \"store_key\"\nwhen = [{ arg = \"title\", glob = \"ghp_*\" }]\n",
    );
    let new = new.display().to_string();
    let run = home.run(&["rules", "replay", "--policy", &new, "--fail-on-change", "--limit", "1"]);
    assert_eq!(run.code, 1, "{}", run.err);
    for says in [
        "6 past calls: 2 would be decided differently, 2 cannot be determined.\n       2  ask -> allow\n",
        "ask then, approved by observe; with these rules allow: rule few allows it",
        "and 1 more",
        "unknown: rule key decides by what the log does not hold",
    ] {
        assert!(run.out.contains(says), "{says} in {}", run.out);
    }
    assert!(!run.out.contains(TOKEN));
    let run = home.run(&["rules", "replay", "--policy", &new, "--json"]);
    let told: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.code, &told["changed"], &told["depends_on_obscured"]), (0, &json!(2), &json!(2)), "{told}");
    assert_eq!(told["counts"], json!([{ "from": "ask", "to": "allow", "count": 2 }]));
    assert_eq!(told["changes"][0]["ticket"], "memory-1");
    let later = home.run(&["rules", "replay", "--policy", &new, "--since", "2099-01-01T00:00:00Z"]);
    assert!(later.out.starts_with("0 past calls: 0 would"), "{}", later.out);
    assert!(Home::new().run(&["rules", "replay"]).out.starts_with("There is no log yet"));
}

#[test]
fn a_suggestion_is_listed_and_accepted() {
    let home = observed(None);
    let rows: Value = serde_json::from_str(&home.run(&["rules", "suggest", "--json"]).out).unwrap();
    assert_eq!(rows[0]["says"], "this exact call", "{rows}");
    assert_eq!((&rows[0]["saves"], rows.as_array().unwrap().len()), (&json!(3), 1), "{rows}");
    let list = home.run(&["rules", "suggest"]).out;
    assert!(
        list.contains("  create_entities, this exact call: saves 3 questions; no call it covers was denied"),
        "{list}"
    );
    let name = rows[0]["name"].as_str().unwrap();
    assert!(list.contains(&format!("\n{name}  create_entities")), "{list}");
    let run = home.run(&["rules", "suggest", "--write", name, "--expires", "2099-01-01"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        policy(&home).contains("expires = 2099-01-01\nnote = \"suggested: 3 questions saved\""),
        "{}",
        policy(&home)
    );
    let replay = home.run(&["rules", "replay"]).out;
    assert!(replay.contains("3  ask -> allow"), "{replay}");
    let again = home.run(&["rules", "suggest"]).out;
    assert!(again.contains("Nothing to suggest") && again.contains("--observe"), "{again}");
    for gone in ["1", name] {
        let run = home.run(&["rules", "suggest", "--write", gone]);
        assert!(run.code == 2 && run.err.contains("there is no suggestion"), "{}", run.err);
    }
}

#[test]
fn a_record_of_no_call_is_not_explained() {
    let home = observed(None);
    let run = home.run(&["rules", "explain", "--record", "1"]);
    assert!(run.code == 2 && run.err.contains("not about a call that the policy decided"), "{}", run.err);
    let run = home.run(&["rules", "explain", "--record", "nobody-1"]);
    assert!(run.code == 2 && run.err.contains("nothing in the audit log is called nobody-1"), "{}", run.err);
    let told: Value =
        serde_json::from_str(&home.run(&["rules", "explain", "--record", "memory-5", "--json"]).out).unwrap();
    assert_eq!((&told["then"]["ruling"], &told["then"]["obscured"]), (&json!("ask"), &json!(true)), "{told}");
}

/// Every example of the README's chapter and of the help topic: the policies are in order, and the commands do what they
/// say; the topic names every key and condition of the language.
#[test]
fn the_readme_and_the_topic_are_right_about_rules() {
    let readme = include_str!("../../README.md");
    let readme = readme.split("## Write a rule").nth(1).unwrap().split("\n## ").next().unwrap();
    let topic = include_str!("../../assets/help/rules.md");
    let home = observed(None);
    let shown: Value = serde_json::from_str(&home.run(&["log", "show", "memory-1", "--json"]).out).unwrap();
    let seq = shown[0]["seq"].to_string();
    for (chapter, most) in [(readme, 2), (topic, 3)] {
        let blocks = |language: &str| {
            let opening = format!("```{language}\n");
            chapter.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let (policies, commands) = (blocks("toml"), blocks("sh"));
        assert!(!policies.is_empty() && !commands.is_empty());
        for text in policies {
            // A piece of a policy is read as one.
            if !text.contains("version = 1") {
                let run = Home::with_policy(&format!("version = 1\n{text}")).run(&["rules", "check"]);
                assert_eq!(run.code, 0, "{}", run.out);
                continue;
            }
            let run = Home::with_policy(&text).run(&["rules", "check"]);
            let in_order = run.out.ends_with(&format!("in order, {most} rules\n"));
            assert!(run.code == 0 && in_order && !run.out.contains("warning"), "{}", run.out);
        }
        for line in commands.iter().flat_map(|block| block.lines()) {
            let words = line.split('#').next().unwrap().split_whitespace();
            let words: Vec<&str> = words.map(|word| if word == "42" { seq.as_str() } else { word }).collect();
            assert_eq!(words[0], "mcp-approve", "{line}");
            let run = home.run(&words[1..]);
            assert_eq!((run.code, run.err.as_str()), (0, ""), "{line}: {}", run.out);
        }
    }
    // The conditions of the table, each in a rule of its own.
    let conditions: Vec<&str> = topic
        .lines()
        .filter_map(|line| line.strip_prefix("| `{"))
        .filter_map(|line| line.split("` |").next())
        .collect();
    for condition in &conditions {
        let rule = format!("version = 1\n[[rule]]\nid = 'r'\ndecision = 'allow'\ntool = 'x'\nwhen = [{{{condition}]\n");
        let run = Home::with_policy(&rule).run(&["rules", "check"]);
        assert_eq!(run.code, 0, "{condition}: {}", run.out);
    }
    let schema: Value = serde_json::from_str(include_str!("../../assets/policy.schema.json")).unwrap();
    for key in schema["$defs"]["rule"]["properties"].as_object().unwrap().keys() {
        assert!(topic.contains(&format!("| `{key}` |")), "{key} is not in the topic's table of keys");
    }
    for about in schema["$defs"]["condition"]["oneOf"].as_array().unwrap() {
        for key in about["properties"].as_object().unwrap().keys() {
            let shown = conditions.iter().any(|condition| condition.contains(&format!(" {key} = ")));
            assert!(shown, "{key} is not in the topic's table of conditions");
        }
    }
}

#[test]
fn a_rule_is_switched_off_and_on_again() {
    let home = Home::with_policy(RULES);
    let run = home.run(&["rules", "disable", "ask-all"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(policy(&home).contains("disabled = true"), "{}", policy(&home));
    let list = home.run(&["rules", "list"]).out;
    assert!(list.contains("ask-all  off   tool create_*"), "{list}");
    let rows: Value = serde_json::from_str(&home.run(&["rules", "list", "--json"]).out).unwrap();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["disabled"]), (1, &json!(true)));
    let check = home.run(&["rules", "check"]).out;
    assert!(check.contains("in order, 0 rules, and 1 switched off"), "{check}");
    let again = home.run(&["rules", "disable", "ask-all"]);
    assert_eq!(again.code, 2, "{}", again.out);
    assert!(again.err.contains("\"ask-all\" is off already"), "{}", again.err);
    assert_eq!(home.run(&["rules", "enable", "ask-all"]).code, 0);
    assert_eq!(policy(&home), RULES, "as it was, to the byte");
}
