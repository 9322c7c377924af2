//! Every official client with every official server, with and without the wrapper in between: the client sends and
//! reads the same bytes in the same order.
//!
//! Nothing is normalised: the SDKs count their ids from a fixed start and put no time into what is compared. One answer
//! is compared on its own: the gate refuses a tool that the server does not offer, each server in words of its own.
//! rmcp and Go are left out: their programs would have to be compiled first, which costs minutes or a toolchain.

use std::fs;
use std::path::Path;
use std::time::Duration;

use mcp_approve::link::message::OperatorVerdict;
use serde_json::{Value, json};

use super::bed::{Client, bed};
use super::operator::Manner;
use super::play::{Call, Transcript, direct, slowly, wrapped};

const CLIENTS: [Client; 4] = [Client::Ts1, Client::Ts2, Client::Py1, Client::Py2];

/// Reads that ask nobody, an approved write, a read that fails, and a tool that there is not.
fn calls() -> Vec<Call> {
    vec![
        ("read_note", json!({ "name": "a.txt" })),
        ("get_sum", json!({ "a": 1, "b": 2.5 })),
        ("write_note", json!({ "name": "a.txt", "text": "zwölf 🎈\n" })),
        ("read_note", json!({ "name": "a.txt" })),
        ("read_note", json!({ "name": "missing.txt" })),
        ("no_such_tool", json!({})),
    ]
}

/// The small servers, each with its SDK's name.
fn servers(work: &str) -> Vec<(&'static str, Vec<String>)> {
    let script = |line: &str| vec!["node".into(), bed().script("serve.mjs"), line.into(), work.into()];
    let python = |program: String| vec![program, bed().script("serve.py"), work.into()];
    vec![
        ("TypeScript 1", script("ts1")),
        ("TypeScript 2", script("ts2")),
        ("Python 1", python(bed().legacy_python("python"))),
        ("Python 2", python(bed().python("python"))),
    ]
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn every_client_sees_the_same_of_every_server() {
    println!("| client | server | revision | calls that waited | lines | the same |\n|---|---|---|---|---|---|");
    let mut differing = Vec::new();
    for client in CLIENTS {
        for index in 0..servers("").len() {
            // A home of its own: servers under one name would be taken for one that changed.
            let folder = tempfile::tempdir().unwrap();
            let work = folder.path().join("work");
            fs::create_dir(&work).unwrap();
            let (name, server) = servers(work.to_str().unwrap()).swap_remove(index);
            let difference = differs(folder.path(), &work, client, name, &server);
            differing.extend(difference.map(|what| format!("{} with {name}: {what}", client.name())));
        }
    }
    println!("| rmcp, Go | any | - | - | - | not run: they would have to be compiled first |");
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// An operator who takes longer than the host waits: where both speak 2026-07-28 the host is asked to come back, and the call
/// runs once; elsewhere it is answered before the limit and never runs.
#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn a_wait_past_the_hosts_limit() {
    println!("| client | server | revision | the write | lines of the host |\n|---|---|---|---|---|");
    for client in [Client::Ts1, Client::Ts2, Client::Py2] {
        for index in [0, 1, 3] {
            let folder = tempfile::tempdir().unwrap();
            let work = folder.path().join("work");
            fs::create_dir(&work).unwrap();
            let note = work.join("a.txt");
            fs::write(&note, "as it was\n").unwrap();
            let (name, server) = servers(work.to_str().unwrap()).swap_remove(index);
            let write = vec![("write_note", json!({ "name": "a.txt", "text": "as it is\n" }))];
            // Held for half of the limit at a time.
            let manner = Manner { verdict: OperatorVerdict::Approve { unread: false }, after: Duration::from_secs(8) };
            let played = slowly(
                folder.path(),
                (client, &server),
                &["--host-timeout", "6s"],
                &write,
                (manner, Some(6)),
                String::new,
            );
            let came_back = played.outside.to.matches("requestState").count();
            let is_modern = played.revision == "2026-07-28";
            let (wanted, runs, says) =
                if is_modern { ("as it is\n", 1, "ran") } else { ("as it was\n", 0, "did not run") };
            assert_eq!(fs::read_to_string(&note).unwrap(), wanted, "{:?}", played.answers);
            assert_eq!(played.inside.calls_of("write_note"), runs);
            assert_eq!(played.answers[0]["error"], !is_modern, "{:?}", played.answers);
            assert_eq!(came_back, if is_modern { 2 } else { 0 }, "{}", played.outside.to);
            assert!(!played.inside.to.contains("requestState"), "{}", played.inside.to);
            println!(
                "| {} | {name} | {} | {says}; the host came back {came_back} times | {} |",
                client.name(),
                played.revision,
                played.outside.to.lines().count()
            );
        }
    }
}

/// Plays one pair twice and prints its row; what differs.
fn differs(folder: &Path, work: &Path, client: Client, name: &str, server: &[String]) -> Option<String> {
    let note = work.join("a.txt");
    fs::write(&note, "as it was\n").unwrap();
    let bare = direct(folder, client, server, &calls());
    fs::write(&note, "as it was\n").unwrap();
    let approve = OperatorVerdict::Approve { unread: false };
    let held = wrapped(folder, client, server, &calls(), approve, String::new);
    let (bare, outside) = (lines(&bare), lines(&held.outside));
    println!(
        "| {} | {name} | {} | {} | {} | {} |",
        client.name(),
        held.revision,
        held.asked.len(),
        outside.len(),
        if bare == outside { "yes" } else { "NO" },
    );
    let asked: Vec<_> = held.asked.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(asked, ["write_note"]);
    let first = bare.iter().zip(&outside).find(|(bare, outside)| bare != outside);
    (bare != outside).then(|| format!("first {first:#?}, of {} and {} lines", bare.len(), outside.len()))
}

/// What went to and fro, but for the answer to the last request, which must refuse it.
fn lines(side: &Transcript) -> Vec<String> {
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let last = read(side.to.lines().last().unwrap())["id"].clone();
    let (refusal, from): (Vec<_>, Vec<_>) = side.from.lines().partition(|line| read(line)["id"] == last);
    let refusal: Vec<_> = refusal.into_iter().map(read).collect();
    assert_eq!(refusal.len(), 1, "{refusal:?}");
    assert!(refusal[0]["error"].is_object() || refusal[0]["result"]["isError"] == true, "{refusal:?}");
    side.to.lines().chain(from).map(String::from).collect()
}
