//! The binary around a server: folders and files that must not be used, words that must not reach the terminal raw.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::fake::host::Host;
use crate::fake::server::{Server, reader, says};

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// One PURE call through a wrapper under `home`: its answer, and what was said on stderr.
fn one_read(home: &Path, options: &[&str], server: &Server) -> (Value, String) {
    let mut host = Host::wrapping(home, &[&["--name", "s"], options].concat(), &server.command());
    host.handshake("2025-06-18");
    host.call(1, "read", &json!({}));
    let answer = host.answer(1);
    host.hang_up();
    host.wait();
    (answer, host.last_words())
}

fn server() -> Server {
    Server::with(&[reader("read")]).on("read", json!({ "answer": { "result": says("done") } }))
}

#[test]
fn e13_below_a_state_folder_that_is_a_link_nothing_runs_and_nothing_is_made() {
    for entry in ["state", "state/log", "state/run"] {
        let (home, elsewhere, server) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), server());
        let link = home.path().join(entry);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(elsewhere.path(), &link).unwrap();
        let (answer, words) = one_read(home.path(), &[], &server);
        assert_eq!(answer["result"]["isError"], true, "{entry}: {answer}");
        assert!(text(&answer).contains("NOT executed") && text(&answer).contains("it is a link"), "{entry}: {answer}");
        assert!(words.contains("no call can run") && words.contains("it is a link"), "{entry}: {words}");
        assert!(server.executed().is_empty(), "{entry}");
        assert_eq!(names(elsewhere.path()), Vec::<String>::new(), "{entry}: something was made behind the link");
        assert!(!home.path().join("state/audit.db").exists(), "{entry}");
    }
}

#[test]
fn e13_a_log_or_key_that_is_not_ours_alone_is_not_used() {
    type Spoil = fn(&Path);
    let link: Spoil = |file| {
        fs::rename(file, file.with_extension("moved")).unwrap();
        symlink(file.with_extension("moved"), file).unwrap();
    };
    let loosen: Spoil = |file| fs::set_permissions(file, fs::Permissions::from_mode(0o666)).unwrap();
    let give: Spoil = |file| std::os::unix::fs::chown(file, Some(4321), None).unwrap();
    for file in ["audit.db", "redaction.key", "audit.lock"] {
        for (what, spoil, says) in
            [("a link", link, "it is a link"), ("loose", loosen, "others than you"), ("another's", give, "user 4321")]
        {
            // What the lock holds is of no interest, only where it is.
            if (file == "audit.lock" && what != "a link")
                || (what == "another's" && !rustix::process::geteuid().is_root())
            {
                continue;
            }
            let (home, server) = (tempfile::tempdir().unwrap(), server());
            assert_eq!(text(&one_read(home.path(), &[], &server).0), "done");
            spoil(&home.path().join("state").join(file));
            let (answer, _) = one_read(home.path(), &[], &server);
            assert_eq!(answer["result"]["isError"], true, "{file} {what}: {answer}");
            assert!(text(&answer).contains(says) && text(&answer).contains(file), "{file} {what}: {answer}");
            assert_eq!(server.executed().len(), 1, "{file} {what}");
        }
    }
}

#[test]
fn a_log_of_ones_own_choice_still_works() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let db = home.path().join("my log.sqlite");
    for _ in 0..2 {
        assert_eq!(text(&one_read(home.path(), &["--audit-db", db.to_str().unwrap()], &server).0), "done");
    }
    assert!(db.exists() && !home.path().join("state/audit.db").exists());
}

#[test]
fn b1_a_program_that_cannot_run_is_named_without_its_control_sequences() {
    let home = tempfile::tempdir().unwrap();
    let broken = home.path().join("\u{1b}[31mbroken\u{202e}");
    fs::write(&broken, "").unwrap();
    for program in ["no\u{1b}]0;such\u{7}\u{202e}", broken.to_str().unwrap()] {
        let mut host = Host::wrapping(home.path(), &["--name", "s"], &[program]);
        host.wait();
        let words = host.last_words();
        let raw: Vec<char> = words.chars().filter(|&c| (c.is_control() && c != '\n') || c == '\u{202e}').collect();
        assert!(raw.is_empty(), "{words:?}");
        assert!(words.contains("\\u{1b}"), "{words}");
    }
}
