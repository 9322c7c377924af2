//! A wrapper underneath another gets no more than the one above it, however it was started; and a scope made from the log is
//! enough to play the session again.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::fake::host::Host;
use crate::fake::server::{Server, reader, writer};
use crate::fake::{BINARY, log, until};

fn server() -> Server {
    Server::with(&[reader("read"), reader("peek"), writer("write")])
}

/// What the host of a wrapper is told, once it asked for the tools and called two of them. Its input stays open until `stop` is
/// there.
const PLAYED: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"inner","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/list"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"write","arguments":{}}}
"#;

/// Starts a wrapper with these options, whose server starts another by the shell script (`$INNER` is its command line); the
/// inner one's answers to the list and the two calls.
fn nested(home: &Path, outer: &[&str], inner: &str, script: &str, before: impl FnOnce()) -> [Value; 3] {
    let server = server();
    let (input, output, go) = (home.join("in"), home.join("out"), home.join("go"));
    fs::write(&input, PLAYED).unwrap();
    let played = format!("(cat '{}'; sleep 20)", input.display());
    let words: Vec<String> = server.command().iter().map(|word| format!("'{word}'")).collect();
    let inner = format!("{played} | env -i '{BINARY}' {inner} -- {} > '{}'", words.join(" "), output.display());
    let wait = format!("while [ ! -e '{}' ]; do sleep 0.05; done", go.display());
    let script = format!("{wait}\n{}\ncat >/dev/null", script.replace("$INNER", &inner));
    let mut host = Host::wrapping(home, &[&["--name", "outer"], outer].concat(), &["sh", "-c", &script]);
    before();
    fs::write(&go, "").unwrap();
    let answers = until("the inner wrapper answers", || {
        let text = fs::read_to_string(&output).unwrap_or_default();
        let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let answer = |id: u64| lines.iter().find(|line| line["id"] == id && line.get("method").is_none()).cloned();
        Some([answer(1)?, answer(2)?, answer(3)?])
    });
    host.signal("TERM");
    host.wait();
    answers
}

fn names(list: &Value) -> Vec<&str> {
    list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn whoever_is_started_underneath_a_viewer_stays_one() {
    let mut scripts = vec!["$INNER &", "sh -c \"true; $INNER\" &"];
    if cfg!(target_os = "linux") {
        // Orphans fall to the wrapper.
        scripts.push("( ( $INNER & ) & )");
    }
    for script in scripts {
        let (home, away) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for inner in [&home, &away] {
            let inner = format!("--home '{}' --name inner --role admin", inner.path().display());
            let _ = fs::remove_file(home.path().join("go"));
            let _ = fs::remove_file(home.path().join("out"));
            let [list, read, write] = nested(home.path(), &["--role", "viewer"], &inner, script, || {});
            assert_eq!(names(&list), ["read", "peek"], "{script} {inner}");
            assert_eq!(read["result"]["content"][0]["text"], "done", "{script} {inner}: {read}");
            assert_eq!(write["error"]["code"], -32000, "{script} {inner}: {write}");
            assert_eq!(write["error"]["message"], "Permission denied: write", "{script} {inner}");
        }
        let records = log::records(home.path());
        let denied = records.iter().find(|one| one["tool"] == "write" && one["kind"] == "decision").unwrap();
        assert_eq!((&denied["server"], &denied["by"]), (&json!("inner"), &json!("scope")), "{denied}");
        let ticket = denied["ticket"].as_str().unwrap();
        let shown = Command::new(BINARY).arg("--home").arg(home.path()).args(["log", "show", ticket]).output().unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        assert!(shown.contains("outer (viewer, session"), "{shown}");
        assert!(shown.contains("the role viewer does not grant"), "{shown}");
    }
}

#[test]
fn whoever_cannot_find_out_what_is_above_it_may_use_nothing() {
    let home = tempfile::tempdir().unwrap();
    let inner = format!("--home '{}' --name inner --role admin", home.path().display());
    let [list, read, write] = nested(home.path(), &[], &inner, "$INNER &", || {
        let run = home.path().join("state/run");
        let record = until("the outer wrapper has left its record", || {
            let entries = fs::read_dir(&run).ok()?.flatten().map(|entry| entry.path());
            entries.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "scope"))
        });
        fs::remove_file(record).unwrap();
    });
    assert_eq!(names(&list), Vec::<&str>::new());
    for answer in [read, write] {
        assert_eq!(answer["error"]["code"], -32000, "{answer}");
    }
    let denied = log::decisions(home.path(), "read");
    assert!(denied[0].to_string().contains("restart the outer server"), "{denied:?}");
}

#[test]
fn a_scope_from_the_log_is_enough_to_play_the_session_again() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let play = |options: &[&str]| {
        let mut host = Host::wrapping(home.path(), &[&["--name", "s"], options].concat(), &server.command());
        host.handshake("2025-06-18");
        host.request(1, "tools/list", &json!({}));
        let list = host.answer(1);
        let mut answers = Vec::new();
        for (id, tool) in [(2, "read"), (3, "peek")] {
            host.call(id, tool, &json!({}));
            answers.push(host.answer(id));
            if options.is_empty() {
                break;
            }
        }
        host.hang_up();
        host.wait();
        (list, answers)
    };
    let (list, answers) = play(&[]);
    assert_eq!((names(&list).len(), &answers[0]["result"]["content"][0]["text"]), (3, &json!("done")));
    let made = Command::new(BINARY)
        .arg("--home")
        .arg(home.path())
        .args(["lattice", "caps", "--from-log", "--server", "s", "--scope"])
        .output()
        .unwrap();
    let file = home.path().join("scope.json");
    fs::write(&file, &made.stdout).unwrap();
    let (list, answers) = play(&["--scope", file.to_str().unwrap()]);
    assert_eq!(names(&list), ["read"]);
    assert_eq!(answers[0]["result"]["content"][0]["text"], "done", "{answers:?}");
    assert_eq!(answers[1]["error"]["message"], "Permission denied: peek", "{answers:?}");
}

#[test]
fn a_role_that_there_is_not_is_named_with_those_there_are() {
    let home = tempfile::tempdir().unwrap();
    let mut host = Host::wrapping(home.path(), &["--role", "boss\u{1b}"], &["true"]);
    assert_eq!(host.wait().code(), Some(2));
    let words = host.last_words();
    assert!(words.contains("no role is called boss") && words.contains("viewer, analyst, editor, admin"), "{words}");
    assert!(!words.contains('\u{1b}'), "{words}");
}
