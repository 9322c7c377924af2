//! Every official client with every official server, with and without the wrapper in between: the client sends and
//! reads the same bytes in the same order.
//!
//! Nothing is normalised: the SDKs count their ids from a fixed start and put no time into what is compared. One answer
//! is compared on its own: the gate refuses a tool that the server does not offer, each server in words of its own.
//! Go has a server and no client: npm and PyPI carry no program that is a client on its SDK.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use mcp_approve::link::message::OperatorVerdict;
use serde_json::{Value, json};

use super::bed::{Client, bed};
use super::operator::Manner;
use super::play::{Call, Transcript, direct, slowly, wrapped};

const CLIENTS: [Client; 6] = [Client::Ts1, Client::Ts2, Client::Py1, Client::Py2, Client::Rmcp1, Client::Rmcp2];

/// A server of one SDK, and what is called of it: reads that ask nobody, a write, a call that fails, and a tool that
/// there is not.
struct Server {
    sdk: &'static str,
    command: Vec<String>,
    calls: Vec<Call>,
    /// The tool whose calls wait.
    waits: &'static str,
}

/// How many servers there are.
const SERVERS: usize = 6;

/// The servers, which keep what they have in `work`: five small ones with the same tools, and one from npm.
fn server(index: usize, work: &Path) -> Server {
    let folder: String = work.to_str().unwrap().into();
    let script = |line: &str| vec!["node".into(), bed().script("serve.mjs"), line.into(), folder.clone()];
    let python = |program: String| vec![program, bed().script("serve.py"), folder.clone()];
    let (sdk, command) = match index {
        0 => ("TypeScript 1", script("ts1")),
        1 => ("TypeScript 2", script("ts2")),
        2 => ("Python 1", python(bed().legacy_python("python"))),
        3 => ("Python 2", python(bed().python("python"))),
        4 => ("rmcp", vec![bed().rmcp(), "serve".into(), folder.clone()]),
        _ => return go(work),
    };
    let calls = vec![
        ("read_note", json!({ "name": "a.txt" })),
        ("get_sum", json!({ "a": 1, "b": 2.5 })),
        ("write_note", json!({ "name": "a.txt", "text": "zwölf 🎈\n" })),
        ("read_note", json!({ "name": "a.txt" })),
        ("read_note", json!({ "name": "missing.txt" })),
        ("no_such_tool", json!({})),
    ];
    Server { sdk, command, calls, waits: "write_note" }
}

/// A server of clusters, of a cluster that does not answer.
fn go(work: &Path) -> Server {
    let file = work.join("kubeconfig");
    let cluster = json!({ "name": "none", "cluster": { "server": "http://127.0.0.1:9" } });
    let context = json!({ "name": "none", "context": { "cluster": "none", "user": "none" } });
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "none",
        "clusters": [cluster], "contexts": [context], "users": [{ "name": "none", "user": {} }],
    });
    fs::write(&file, config.to_string()).unwrap();
    let calls = vec![
        ("configuration_view", json!({ "minified": true })),
        ("pods_delete", json!({ "namespace": "default", "name": "a" })),
        ("no_such_tool", json!({})),
    ];
    let command = vec![bed().go(), "--kubeconfig".into(), file.to_str().unwrap().into()];
    Server { sdk: "Go", command, calls, waits: "pods_delete" }
}

/// Has each client do its part on a thread of its own, and prints the rows.
fn rows(clients: &[Client], part: fn(Client) -> Vec<String>) {
    let parts: Vec<_> = clients
        .iter()
        .map(|client| {
            thread::spawn({
                let client = *client;
                move || part(client)
            })
        })
        .collect();
    for part in parts {
        let rows = part.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause));
        println!("{}", rows.join("\n"));
    }
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn every_client_sees_the_same_of_every_server() {
    println!("| client | server | revision | calls that waited | lines | the same |\n|---|---|---|---|---|---|");
    rows(&CLIENTS, |client| (0..SERVERS).map(|index| same(client, index)).collect());
    println!("| Go | any | - | - | - | not run: no registry carries a client on its SDK |");
}

/// An operator who takes longer than the host waits: where both speak 2026-07-28 the host is asked to come back, and the call
/// runs once; elsewhere it is answered before the limit and never runs.
#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn a_wait_past_the_hosts_limit() {
    println!("| client | server | revision | the write | lines of the host |\n|---|---|---|---|---|");
    rows(&[Client::Ts1, Client::Ts2, Client::Py2, Client::Rmcp2], |client| {
        [0, 1, 3, 4].map(|index| waits(client, index)).into()
    });
}

/// Plays one write that is approved after the limit; its row.
fn waits(client: Client, index: usize) -> String {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    fs::create_dir(&work).unwrap();
    let note = work.join("a.txt");
    fs::write(&note, "as it was\n").unwrap();
    let Server { sdk, command, .. } = server(index, &work);
    let write = vec![("write_note", json!({ "name": "a.txt", "text": "as it is\n" }))];
    // Held for half of the limit at a time.
    let manner = Manner { verdict: OperatorVerdict::Approve { unread: false }, after: Duration::from_secs(8) };
    let played =
        slowly(folder.path(), (client, &command), &["--host-timeout", "6s"], &write, (manner, Some(6)), String::new);
    let came_back = played.outside.to.matches("requestState").count();
    let is_modern = played.revision == "2026-07-28";
    let (wanted, runs, says) = if is_modern { ("as it is\n", 1, "ran") } else { ("as it was\n", 0, "did not run") };
    assert_eq!(fs::read_to_string(&note).unwrap(), wanted, "{:?}", played.answers);
    assert_eq!(played.inside.calls_of("write_note"), runs);
    assert_eq!(played.answers[0]["error"], !is_modern, "{:?}", played.answers);
    assert_eq!(came_back, if is_modern { 2 } else { 0 }, "{}", played.outside.to);
    assert!(!played.inside.to.contains("requestState"), "{}", played.inside.to);
    format!(
        "| {} | {sdk} | {} | {says}; the host came back {came_back} times | {} |",
        client.name(),
        played.revision,
        played.outside.to.lines().count()
    )
}

/// Plays one pair twice; its row.
fn same(client: Client, index: usize) -> String {
    // A home of its own: servers under one name would be taken for one that changed.
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    fs::create_dir(&work).unwrap();
    let note = work.join("a.txt");
    let Server { sdk, command, calls, waits } = server(index, &work);
    fs::write(&note, "as it was\n").unwrap();
    let bare = direct(folder.path(), client, &command, &calls);
    fs::write(&note, "as it was\n").unwrap();
    let approve = OperatorVerdict::Approve { unread: false };
    let held = wrapped(folder.path(), client, &command, &calls, approve, String::new);
    let (bare, outside) = (lines(&bare), lines(&held.outside));
    let pair = format!("{} with {sdk}", client.name());
    let asked: Vec<_> = held.asked.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(asked, [waits], "{pair}");
    let first = bare.iter().zip(&outside).find(|(bare, outside)| bare != outside);
    assert!(bare == outside, "{pair}: first {first:#?}, of {} and {} lines", bare.len(), outside.len());
    format!("| {} | {sdk} | {} | {} | {} | yes |", client.name(), held.revision, asked.len(), outside.len())
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
