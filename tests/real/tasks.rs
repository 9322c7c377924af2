//! The official client of 2025-11-25 that polls, before a server that makes tasks, and the wrapper with `--tasks` between them:
//! the operator takes longer than the client waits for any answer.

use std::fs;
use std::time::Duration;

use mcp_approve::link::message::OperatorVerdict;
use serde_json::{Value, json};

use super::REASON;
use super::bed::{Client, bed};
use super::operator::{Manner, Operator};
use super::play::run_out;

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn an_official_client_polls_for_as_long_as_the_operator_takes() {
    println!("| the operator | what the client saw | what it reads |\n|---|---|---|");
    for (verdict, expected, note) in [
        (OperatorVerdict::Approve { unread: false }, "written in time", "as it is"),
        (OperatorVerdict::Deny { reason: REASON.into() }, REASON, "as it was"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(folder.path().join("a.txt"), "as it was").unwrap();
        let wrapper = [env!("CARGO_BIN_EXE_mcp-approve"), "--home", &path("home"), "--tasks", "--"];
        let server = ["node", &bed().script("serve.mjs"), "ts1", &path(""), "tasks"];
        let command = [&wrapper[..], &server[..]].concat();
        let plan = json!({
            "client": Client::Ts1.name(),
            "command": command,
            "steps": [{ "tool": "write_slowly", "arguments": { "name": "a.txt", "text": "as it is" } }],
            "limit": 4,
            "tasks": true,
        });
        let file = folder.path().join("plan.json");
        fs::write(&file, plan.to_string()).unwrap();
        let said_verdict = verdict.word().word();
        let manner = Manner { verdict, after: Duration::from_secs(6) };
        let operator = Operator::attach(&folder.path().join("home"), manner, String::new);
        let said = run_out(bed().driver(Client::Ts1, &file), &folder.path().join("said"), &[0]);
        assert_eq!(operator.leave().asked.len(), 1);
        let last: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
        let text = last["text"].as_str().unwrap_or_else(|| panic!("{last}"));
        assert!(text.contains(expected), "{last}");
        assert_eq!(last["seen"], json!(["taskCreated", "working", "completed", "result"]), "{last}");
        assert_eq!(fs::read_to_string(folder.path().join("a.txt")).unwrap(), note);
        println!("| {said_verdict} | {} | {} |", last["seen"], text.chars().take(60).collect::<String>());
    }
}
