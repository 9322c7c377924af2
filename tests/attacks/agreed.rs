//! Agreements that nobody made (F27): written into the pins, put back with them, or offered in a file. With the binary.

use std::fs;
use std::path::Path;
use std::process::Command;

use mcp_approve::behavior::agreed::{Agreement, What};
use portable_pty::CommandBuilder;
use rusqlite::Connection;
use serde_json::json;

use crate::fake::host::Host;
use crate::fake::operator::Operator;
use crate::fake::server::{Server, reader};
use crate::fake::terminal::Terminal;
use crate::fake::{BINARY, log, until};
use crate::pins::told::{rows, tools};

fn wrapped(home: &Path, server: &Server) -> Host {
    let mut host = Host::wrapping(home, &["--name", "s"], &server.command());
    host.handshake("2025-06-18");
    host.call(1, "read", &json!({ "title": "x" }));
    host.answer(1);
    host
}

fn doctor(home: &Path) -> String {
    let out = Command::new(BINARY).arg("--home").arg(home).arg("doctor").output().unwrap();
    String::from_utf8(out.stdout).unwrap()
}

/// Writes a row as a wrapper would, without its record.
fn forge(home: &Path, one: &Agreement) {
    let db = Connection::open(home.join("state/pins.db")).unwrap();
    let fingerprint: String = db.query_row("SELECT fingerprint FROM server", [], |row| row.get(0)).unwrap();
    let day = jiff::Timestamp::now().as_millisecond() / 86_400_000;
    let Agreement { what, tool, key, schema, value } = one;
    let digest = one.digest(&fingerprint).to_string();
    db.execute(
        "INSERT INTO agreed (fingerprint, digest, what, tool, key, schema, value, since, used)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (fingerprint, digest, what.word(), tool, key, schema, value, day * 86_400_000, day),
    )
    .unwrap();
}

/// A file that offers this for the server `s`.
fn offer(home: &Path, to: &Path, one: &Agreement) {
    let (_, server, _) = tools(home, &["show", "read", "--json"]);
    let row = serde_json::from_str::<Vec<serde_json::Value>>(&server).unwrap().remove(0);
    let mut line = json!(one);
    line["server"] = "s".into();
    line["command"] = row["command"].clone();
    line["since"] = "2026-11-23".into();
    fs::write(to, json!({ "version": 1, "agreed": [line] }).to_string()).unwrap();
}

#[test]
fn f27_a_row_written_into_the_pins_counts_for_nothing_and_raises_an_alarm() {
    let (home, server) = (tempfile::tempdir().unwrap(), Server::with(&[reader("read")]));
    let home = home.path();
    let _host = wrapped(home, &server);
    let mut operator = Operator::attach(home, "ada");
    until("the server is remembered", || (!rows(home, &["list"]).is_empty()).then_some(()));
    forge(home, &Agreement::of_server(What::Host, "evil.example\u{1b}[2J"));
    let status = operator.status("a banner", |status| status.banner.is_some());
    let banner = status.banner.unwrap();
    assert!(banner.contains("without a record") && banner.contains("the host evil.example"), "{banner}");
    log::awaits(home, "a fault that names it", |record| {
        let what = record["detail"]["what"].as_str().unwrap_or_default();
        what.starts_with("an agreement without its record: the host evil.example")
    });
    let (_, shown, _) = tools(home, &["show", "s", "read"]);
    assert!(shown.contains("does not count: the log has no record of it") && !shown.contains('\u{1b}'), "{shown}");
    assert_eq!(rows(home, &["show", "read"])[0]["agreed"][0]["counts"], false);
    let found = doctor(home);
    assert!(found.contains("an agreement without its record in the log does not count (1)"), "{found}");
    // It is no more agreed to by being passed on.
    let (_, exported, _) = tools(home, &["review", "--export"]);
    assert!(exported.contains("\"agreed\": []"), "{exported}");

    let (code, _, err) = tools(home, &["forget", "read", "--line", "2"]);
    assert!(code == 2 && err.contains("no line is 2"), "{err}");
    let (code, _, err) = tools(home, &["forget", "read", "--line", "1"]);
    assert_eq!(code, 0, "{err}");
    operator.stands("the banner is gone", |status| status.banner.is_none());
    assert!(!doctor(home).contains("agreement"));
    log::verifies(home);
}

#[test]
fn f27_pins_put_back_to_before_it_was_taken_back_bring_nothing_back() {
    let (home, server) = (tempfile::tempdir().unwrap(), Server::with(&[reader("read")]));
    let home = home.path();
    let mut host = wrapped(home, &server);
    until("the server is remembered", || (!rows(home, &["list"]).is_empty()).then_some(()));
    let file = home.join("agreed.json");
    let folder = Agreement::of_server(What::Folder, "/srv/data");
    offer(home, &file, &folder);

    // An agent that runs the command agrees to nothing.
    let (code, listed, err) = tools(home, &["review", "--import", file.to_str().unwrap()]);
    assert!(code == 0 && listed.contains("run this at a terminal"), "{listed}{err}");
    let (code, _, err) = tools(home, &["review", "--yes", "--import", file.to_str().unwrap()]);
    assert!(code == 2 && err.contains("only at a terminal"), "{err}");
    assert!(log::of_kind(home, "agreed").is_empty());

    let mut command = CommandBuilder::new(BINARY);
    command.args(["--home".as_ref(), home.as_os_str()]);
    command.args(["tools", "review", "--import", file.to_str().unwrap()]);
    let mut review = Terminal::running(command, (120, 40));
    review.shows(&["1  s: the folder /srv/data"]);
    review.types("2\r");
    review.shows(&["numbers of the list"]);
    review.types("1\r");
    review.shows(&["Agreed to 1"]);
    assert!(review.wait().success());
    let agreed = || rows(home, &["show", "read"])[0]["agreed"].clone();
    assert_eq!((&agreed()[0]["says"], &agreed()[0]["counts"]), (&json!("the folder /srv/data"), &json!(true)));
    assert_eq!(log::of_kind(home, "agreed").len(), 1);
    let (_, exported, _) = tools(home, &["review", "--export"]);
    assert!(exported.contains("/srv/data"), "{exported}");

    host.hang_up();
    host.wait();
    let pins = |suffix: &str| home.join(format!("state/pins.db{suffix}"));
    let kept: Vec<_> = ["", "-wal"].iter().map(|suffix| fs::read(pins(suffix)).ok()).collect();
    let (code, said, err) = tools(home, &["forget", "s", "read", "--line", "the folder /srv/data"]);
    assert!(code == 0 && said.contains("Taken back: s: the folder /srv/data"), "{said}{err}");
    assert_eq!(agreed(), json!([]));
    for (suffix, bytes) in ["", "-wal"].iter().zip(kept) {
        match bytes {
            Some(bytes) => fs::write(pins(suffix), bytes).unwrap(),
            None => drop(fs::remove_file(pins(suffix))),
        }
    }
    drop(fs::remove_file(pins("-shm")));
    assert_eq!(agreed()[0]["trouble"], "does not count: the log says that it was taken back");
    assert!(doctor(home).contains("an agreement without its record"));
    // What is agreed to again counts again.
    let mut command = CommandBuilder::new(BINARY);
    command.args(["--home".as_ref(), home.as_os_str()]);
    command.args(["tools", "review", "--yes", "--import", file.to_str().unwrap()]);
    assert!(Terminal::running(command, (120, 40)).wait().success());
    assert_eq!(agreed()[0]["counts"], true);
    let records = log::of_kind(home, "agreed");
    let backs: Vec<bool> = records.iter().map(|record| record["detail"]["taken_back"] == true).collect();
    assert_eq!(backs, [false, true, false]);
}

#[test]
fn f27_a_list_that_is_longer_than_the_screen_is_shown_to_its_end_before_it_can_be_agreed_to() {
    let (home, server) = (tempfile::tempdir().unwrap(), Server::with(&[reader("read")]));
    let home = home.path();
    let _host = wrapped(home, &server);
    until("the server is remembered", || (!rows(home, &["list"]).is_empty()).then_some(()));
    let file = home.join("agreed.json");
    let line =
        |n| json!({ "what": "meta", "key": format!("example.com/{n}"), "value": "tester", "since": "2026-11-23" });
    let lines: Vec<_> = (1..=30).map(line).collect();
    fs::write(&file, json!({ "version": 1, "agreed": lines }).to_string()).unwrap();
    let review = || {
        let mut command = CommandBuilder::new(BINARY);
        command.args(["--home".as_ref(), home.as_os_str()]);
        command.args(["tools", "review", "--import", file.to_str().unwrap()]);
        let review = Terminal::running(command, (80, 24));
        review.shows(&["Enter: more   q: leave it"]);
        assert!(!review.screen().contains("example.com/30") && !review.screen().contains("a: agree to all"));
        review
    };
    let mut left = review();
    left.types("q\r");
    left.shows(&["Left as it was."]);
    assert!(left.wait().success());
    let mut whole = review();
    // What agrees at the end only goes on before it.
    for (rest, last) in [(false, "example.com/15"), (true, "example.com/30")] {
        whole.types("a\r");
        whole.awaits(last, |screen| screen.contains(last) && screen.contains("a: agree to all") == rest);
    }
    assert!(log::of_kind(home, "agreed").is_empty());
    whole.types("30\r");
    whole.shows(&["Agreed to 1"]);
    assert!(whole.wait().success());
}
