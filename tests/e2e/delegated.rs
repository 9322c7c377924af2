//! A wrapper underneath another gets no more than the one above it, however it was started; and a scope made from the log is
//! enough to play the session again.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::fake::host::Host;
use crate::fake::nested::{names, nested, server};
use crate::fake::{BINARY, log, until};

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
            let said = write["error"]["message"].as_str().unwrap();
            assert!(said.starts_with("Permission denied: write: the role viewer "), "{script} {inner}: {said}");
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
    let said = answers[1]["error"]["message"].as_str().unwrap();
    assert!(said.starts_with("Permission denied: peek: the scope does not list peek"), "{said}");
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
