//! A host that polls for a call that waits: both forms of tasks, a denial, and a wrapper that is killed meanwhile.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake::host::Host;
use crate::fake::operator::Operator;
use crate::fake::server::{Server, says, writer};
use crate::fake::{log, until};

const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;

fn wrapped(server: &Server) -> (TempDir, Host, Operator) {
    let home = tempfile::tempdir().unwrap();
    let host = Host::wrapping(home.path(), &["--name", "s", "--tasks"], &server.command());
    let operator = Operator::attach(home.path(), "ada");
    (home, host, operator)
}

fn ask(host: &mut Host, id: u64, method: &str, task: &Value) -> Value {
    let meta: Value = serde_json::from_str(META).unwrap();
    host.request(id, method, &json!({ "taskId": task, "_meta": meta }));
    host.answer(id)
}

fn call(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"write","arguments":{{"title":"t"}},"_meta":{META}}}}}"#
    )
}

#[test]
fn a_host_of_2026_07_28_polls_until_the_call_is_decided() {
    let long = "x".repeat(300_000);
    let server = Server::with(&[writer("write")]).slow("write", 0, &says(&long));
    let (home, mut host, mut operator) = wrapped(&server);
    host.send(&call(1));
    let given = host.answer(1);
    assert_eq!(given["result"]["resultType"], "task", "{given}");
    let task = given["result"]["taskId"].clone();
    let asked = operator.asked("write");
    assert_eq!(ask(&mut host, 2, "tasks/get", &task)["result"]["status"], "working");
    assert!(server.executed().is_empty(), "nothing runs before the decision");
    operator.approve(&asked);
    let mut id = 10;
    let ended = until("the task ends", || {
        id += 1;
        let state = ask(&mut host, id, "tasks/get", &task);
        (state["result"]["status"] != "working").then_some(state)
    });
    assert_eq!(ended["result"]["status"], "completed");
    assert_eq!(ended["result"]["result"]["content"][0]["text"].as_str().unwrap().len(), long.len());
    assert_eq!(server.executed(), [format!("{}\n", call(1))]);

    host.send(&call(500));
    let task = host.answer(500)["result"]["taskId"].clone();
    let asked = operator.asked("write");
    operator.deny(&asked, "not today");
    operator.settled(&asked.call.ticket);
    let ended = ask(&mut host, 501, "tasks/get", &task);
    assert_eq!(
        (&ended["result"]["status"], &ended["result"]["result"]["isError"]),
        (&json!("completed"), &json!(true))
    );
    assert!(ended.to_string().contains("not today"), "{ended}");
    assert_eq!(server.executed().len(), 1);
    let given = log::of_kind(home.path(), "task");
    assert_eq!(given.len(), 2, "{given:?}");
    log::verifies(home.path());
}

#[test]
fn a_task_of_2025_11_25_becomes_the_servers_own_under_the_id_that_the_host_has() {
    let state = |status: &str| json!({ "taskId": "s-1", "status": status, "ttl": null, "createdAt": "x", "lastUpdatedAt": "x" });
    let initialized = json!({ "protocolVersion": "2025-11-25", "serverInfo": { "name": "s", "version": "1" },
        "capabilities": { "tools": {}, "tasks": { "cancel": {}, "requests": { "tools": { "call": {} } } } } });
    let result = json!({ "content": [{ "type": "text", "text": "done" }],
        "_meta": { "io.modelcontextprotocol/related-task": { "taskId": "s-1" } } });
    let server = Server::with(&[writer("write")])
        .slow("write", 0, &json!({ "task": state("working") }))
        .answering("initialize", &initialized)
        .answering("tasks/get", &state("completed"))
        .answering("tasks/result", &result);
    let (home, mut host, mut operator) = wrapped(&server);
    host.handshake("2025-11-25");
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"task":{"ttl":60000},"name":"write","arguments":{"title":"t"}}}"#;
    host.send(line);
    let task = host.answer(1)["result"]["task"]["taskId"].clone();
    assert!(task.as_str().unwrap().starts_with("mcp-approve-task-"));
    host.request(2, "tasks/result", &json!({ "taskId": task }));
    assert_eq!(ask(&mut host, 3, "tasks/get", &task)["result"]["status"], "working");
    let asked = operator.asked("write");
    operator.approve(&asked);
    let result = host.answer(2);
    assert_eq!(result["result"]["content"][0]["text"], "done");
    assert_eq!(result["result"]["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], task);
    let state = ask(&mut host, 4, "tasks/get", &task);
    assert_eq!((&state["result"]["taskId"], &state["result"]["status"]), (&task, &json!("completed")));
    assert_eq!(server.executed(), [format!("{line}\n")]);
    log::verifies(home.path());
}

#[test]
fn a_wrapper_that_is_killed_leaves_a_truthful_log() {
    let server = Server::with(&[writer("write")]);
    let (home, mut host, mut operator) = wrapped(&server);
    host.send(&call(1));
    host.answer(1);
    operator.asked("write");
    log::awaits(home.path(), "the task is in the log", |record| record["kind"] == "task");
    host.signal("KILL");
    host.wait();
    assert!(server.executed().is_empty());
    assert!(log::decisions(home.path(), "write").is_empty(), "nothing was decided");
    log::verifies(home.path());
}
