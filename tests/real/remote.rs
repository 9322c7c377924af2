//! A server behind a URL: streamable HTTP on loopback, through the real bridge and the wrapper.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use mcp_approve::link::message::OperatorVerdict;
use serde_json::{Value, json};

use super::REASON;
use super::bed::{Client, bed};
use super::operator::{Asked, Manner, Operator};
use super::play::{self, Call};

const TOKEN: &str = "t0ken-of-ada";

/// The server; it ends with its test.
struct Notes(Child);

impl Drop for Notes {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Plays one call through the wrapper; gives the answer and what was asked.
fn wrapped(folder: &Path, url: &str, call: Call, verdict: OperatorVerdict) -> (Value, Vec<Asked>) {
    let home = folder.join("home");
    let binary = env!("CARGO_BIN_EXE_mcp-approve");
    // The clients scrub the environment, so the token is set behind them.
    let token = format!("NOTES_TOKEN={TOKEN}");
    let header = "Authorization: Bearer ${NOTES_TOKEN}";
    let command = ["env", &token, binary, "--home", home.to_str().unwrap(), "--header", header, "--", url];
    let operator = Operator::attach(&home, Manner { verdict, after: Duration::ZERO }, || command_lines_with(TOKEN));
    let mut answers = play::drive(folder, Client::Ts1, &command.map(String::from), &[call]).answers;
    (answers.remove(0), operator.leave().asked)
}

/// The command lines on this machine that show a word; where there is no /proc, none.
fn command_lines_with(word: &str) -> String {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    // The server was given it as its argument, by this test.
    lines.filter(|line| line.contains(word) && !line.contains("remote.mjs")).collect()
}

#[test]
#[ignore = "installs real clients and the bridge; .ci/run runs it"]
fn a_server_behind_a_url_is_held_like_any() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = bed().node("remote.mjs").arg(TOKEN).stdout(Stdio::piped()).spawn().unwrap();
    let mut notes = Notes(server);
    let mut port = String::new();
    BufReader::new(notes.0.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let url = format!("http://127.0.0.1:{}/mcp", port.trim());

    let read = || ("get_note", json!({}));
    let write = || ("write_note", json!({ "text": "as it is" }));
    let deny = || OperatorVerdict::Deny { reason: REASON.into() };
    let bridge = ["npx", "-y", "mcp-remote@0.15.1", &url, "--allow-http", "--header"].map(String::from);
    let bridge = [&bridge[..], &[format!("Authorization:Bearer {TOKEN}")]].concat();
    let direct = play::drive(folder, Client::Ts1, &bridge, &[read()]).answers;

    let (answer, asked) = wrapped(folder, &url, read(), deny());
    assert!(asked.is_empty(), "a read asked: {asked:?}");
    assert_eq!(answer, direct[0], "a read answers as without the wrapper");
    assert_eq!(answer["text"], "as it was");

    let (answer, asked) = wrapped(folder, &url, write(), deny());
    assert_eq!((asked.len(), &answer["error"]), (1, &json!(true)), "{answer}");
    assert!(answer["text"].as_str().unwrap().contains(REASON), "{answer}");
    assert_eq!(asked[0].disk, "", "the token is on a command line");
    assert_eq!(wrapped(folder, &url, read(), deny()).0["text"], "as it was");

    let (answer, asked) = wrapped(folder, &url, write(), OperatorVerdict::Approve { unread: false });
    assert_eq!((asked.len(), &answer["text"]), (1, &json!("written: as it is")), "{answer}");
    assert_eq!(wrapped(folder, &url, read(), deny()).0["text"], "as it is");
    println!("held to its promises: a server behind {url}");
}
