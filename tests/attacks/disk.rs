//! Attacks on what a call would touch, through a real wrapper: links, and files that change between approval and forward.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake::host::Host;
use crate::fake::operator::Operator;
use crate::fake::server::{Server, says};
use crate::fake::{log, until};

fn server() -> Server {
    Server::with(&[json!({
        "name": "write_file",
        "description": "Replaces a file's content.",
        "inputSchema": { "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] },
    })])
    .slow("write_file", 0, &says("done"))
}

fn wrapped(policy: &str) -> (TempDir, Server, Host, Operator) {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    fs::create_dir(home.path().join("config")).unwrap();
    fs::write(home.path().join("config/policy.toml"), policy).unwrap();
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    let operator = Operator::attach(home.path(), "ada");
    host.handshake("2025-06-18");
    (home, server, host, operator)
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

fn write(host: &mut Host, id: u64, path: &Path) {
    host.call(id, "write_file", &json!({ "path": path }));
}

#[test]
fn c13_a_file_that_changes_between_card_and_approval_is_asked_again() {
    let (home, server, mut host, mut operator) = wrapped("version = 1\n");
    let file = home.path().join("notes.txt");
    fs::write(&file, "one line\n").unwrap();
    write(&mut host, 1, &file);
    let asked = operator.asked("write_file");
    let facts = &asked.call.facts[0];
    assert_eq!((facts.size, facts.text.as_deref()), (Some(9), Some("one line\n")));

    fs::write(&file, "two lines\nsince\n").unwrap();
    operator.approve(&asked);
    let again = operator.asked("write_file");
    assert!(again.call.asked_again.as_deref().is_some_and(|why| why.contains("another size")), "{again:?}");
    assert_eq!(again.call.facts[0].text.as_deref(), Some("two lines\nsince\n"));
    assert!(server.executed().is_empty());
    operator.refused(&asked.call.ticket);

    // The same name, now a link to another file of the same content.
    let other = home.path().join("other.txt");
    fs::rename(&file, &other).unwrap();
    symlink(&other, &file).unwrap();
    operator.approve(&again);
    let third = operator.asked("write_file");
    assert!(third.call.asked_again.as_deref().is_some_and(|why| why.contains("leads elsewhere")), "{third:?}");
    assert!(server.executed().is_empty());
    operator.approve(&third);
    assert_eq!(text(&host.answer(1)), "done");
    assert_eq!(log::decisions(home.path(), "write_file").len(), 1);
    log::verifies(home.path());
}

#[test]
fn c13_a_link_out_of_an_allowed_folder_is_no_way_around_the_rule() {
    let scratch = tempfile::tempdir().unwrap();
    let scratch = scratch.path().canonicalize().unwrap();
    let allow = "[[rule]]\nid = \"scratch\"\ndecision = \"allow\"\ntool = \"write_file\"\n";
    let policy = format!("version = 1\n{allow}when = [{{ arg = \"path\", under = {:?} }}]\n", scratch.display());
    let (home, server, mut host, mut operator) = wrapped(&policy);
    write(&mut host, 1, &scratch.join("new/a.txt"));
    assert_eq!(text(&host.answer(1)), "done");
    assert_eq!(log::decisions(home.path(), "write_file")[0]["rule"], "scratch");

    let prize = home.path().join("prize");
    for (id, name, target) in
        [(2, "file", prize.as_path()), (3, "folder/a.txt", home.path()), (4, "dangling", Path::new("../../prize"))]
    {
        let link = scratch.join(name.split('/').next().unwrap());
        symlink(target, &link).unwrap();
        write(&mut host, id, &scratch.join(name));
        let asked = operator.asked("write_file");
        assert!(!asked.call.facts[0].real.as_deref().unwrap().starts_with(scratch.to_str().unwrap()), "{name}");
        operator.deny(&asked, "no");
        host.answer(id);
        fs::remove_file(&link).unwrap();
    }
    until("the list", || (server.executed().len() == 1).then_some(()));
    log::verifies(home.path());
}

#[test]
fn f23_a_rate_counts_the_calls_of_all_wrappers_and_outlives_them() {
    let rule = "version = 1\n[[rule]]\nid = 'few'\ndecision = 'allow'\nserver = 's'\ntool = 'write_file'\n\
        when = [{ rate = { most = 2, per = '1h' } }]\n";
    let (home, server, mut first, mut operator) = wrapped(rule);
    let file = home.path().join("notes.txt");
    let another = || {
        let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
        host.handshake("2025-06-18");
        host
    };
    write(&mut first, 1, &file);
    assert_eq!(text(&first.answer(1)), "done");
    let mut second = another();
    write(&mut second, 1, &file);
    assert_eq!(text(&second.answer(1)), "done");
    // Each has run one, both together two.
    write(&mut first, 2, &file);
    let asked = operator.asked("write_file");
    operator.deny(&asked, "enough");
    assert!(text(&first.answer(2)).contains("enough"));
    first.hang_up();
    second.hang_up();
    first.wait();
    second.wait();
    let mut third = another();
    let mut operator = Operator::attach(home.path(), "ada");
    write(&mut third, 1, &file);
    operator.asked("write_file");
    assert_eq!(server.executed().len(), 2);
}
