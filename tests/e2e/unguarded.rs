//! The demo's server and agent without a wrapper: each tool does what it says or what it hides, no path leaves the workspace,
//! and whatever the agent asks for happens.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::fake::host::Host;
use crate::fake::{BINARY, until};

fn server(work: &Path) -> Host {
    let mut host = Host::direct(&[BINARY, "demo-server", work.to_str().unwrap()]);
    host.handshake("2025-06-18");
    host
}

#[test]
fn the_handshake_keeps_a_version_it_knows_and_what_is_no_request_is_not_answered() {
    let work = tempfile::tempdir().unwrap();
    let mut host = server(work.path());
    for (asked, got) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        assert_eq!(host.handshake(asked)["result"]["protocolVersion"], got, "{asked}");
    }
    for line in ["", "  ", r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, r#"{"jsonrpc":"2.0","id":4,"result":{}}"#]
    {
        host.send(line);
    }
    host.send("{");
    assert_eq!(host.line()["error"]["code"], -32700, "no line before it was answered");
    host.request(5, "what/ever", &json!({}));
    assert_eq!(host.answer(5)["error"]["code"], -32601);
    host.call(6, "no_such_tool", &json!({}));
    assert_eq!(host.answer(6)["error"]["code"], -32602);
}

#[test]
fn each_tool_does_what_it_says_or_what_it_hides() {
    for (name, arguments, says) in [
        ("list_directory", json!({ "path": "." }), "drafts/"),
        ("read_file", json!({ "path": "notes.md" }), "Notes"),
        ("write_file", json!({ "path": "a.md", "content": "abc" }), "Wrote 3 bytes"),
        ("delete_file", json!({ "path": "notes.md" }), "Deleted"),
        ("delete_file", json!({ "path": "nothing" }), r#""isError":true"#),
        ("move_file", json!({ "source": "notes.md", "destination": "deep/er/b.md" }), "Moved"),
        ("move_file", json!({ "source": "notes.md", "destination": "report.md" }), "exists already"),
        ("read_query", json!({ "query": "SELECT count(*) AS n FROM orders" }), r#"{\"n\":5}"#),
        ("read_query", json!({ "query": "DELETE FROM orders" }), "[]"),
        ("write_query", json!({ "query": "DELETE FROM orders WHERE id = 1001" }), "1 rows"),
        ("write_query", json!({ "query": "no sql" }), "SQLite says"),
        ("cleanup_sessions", json!({ "idle_days": 30 }), "Removed 3"),
        ("cleanup_sessions", json!({ "idle_days": "x" }), "is missing or not"),
        ("run_job", json!({ "kind": "synthetic", "params": { "timestep": 0.001, "skin": 2 } }), r#""run_id":"run-1""#),
        ("run_job", json!({ "kind": "synthetic" }), "params: "),
        ("get_status", json!({ "run_id": "run-9" }), r#""isError":true"#),
        ("get_status", json!({ "run_id": "../notes" }), r#""isError":true"#),
        ("fetch_artifact", json!({ "run_id": "run-9", "path": "metrics.json" }), r#""isError":true"#),
        ("fetch_artifact", json!({ "run_id": "..", "path": "notes.md" }), "leads out"),
        ("run_dft", json!({ "structure": "CuZnO", "adsorbate": "CO2" }), r#""adsorption_energy":-1.23"#),
        ("run_dft", json!({ "structure": "Unobtainium", "adsorbate": "CO2" }), "nothing is known"),
        ("append_notebook_entry", json!({ "entry": "x" }), "Appended"),
        ("get_environment", json!({}), "SHOP_API_TOKEN"),
    ] {
        let work = tempfile::tempdir().unwrap();
        let mut host = server(work.path());
        host.call(1, name, &arguments);
        let answer = host.answer(1)["result"].to_string();
        assert!(answer.contains(says), "{name} {arguments}: {answer}");
    }
}

#[test]
fn no_path_leaves_the_workspace() {
    let around = tempfile::tempdir().unwrap();
    let work = around.path().join("work");
    fs::create_dir(&work).unwrap();
    fs::write(around.path().join("secret"), "s").unwrap();
    symlink(around.path(), work.join("up")).unwrap();
    let mut host = server(&work);
    let mut id = 0;
    let mut call = |tool: &str, arguments: Value| {
        id += 1;
        host.call(id, tool, &arguments);
        host.answer(id)["result"].clone()
    };
    for path in ["../secret", "a/../../secret", "/etc/passwd", "up/secret", "up"] {
        for tool in ["read_file", "write_file", "delete_file"] {
            let answer = call(tool, json!({ "path": path, "content": "x" }));
            assert!(answer["isError"] == true && answer.to_string().contains("leads out"), "{tool} {path}: {answer}");
        }
    }
    call("write_file", json!({ "path": "./inside.txt", "content": "x" }));
    let absolute = call("read_file", json!({ "path": work.canonicalize().unwrap().join("inside.txt") }));
    assert_eq!(absolute["content"][0]["text"], "x");
    assert_eq!(fs::read_to_string(around.path().join("secret")).unwrap(), "s");
}

/// Whatever it asks for, happens.
#[test]
fn unguarded_the_agent_does_all_its_harm() {
    let bed = tempfile::tempdir().unwrap();
    let work = bed.path().join("work");
    fs::create_dir(&work).unwrap();
    let mut agent = Command::new(BINARY)
        .args(["demo-agent".as_ref(), "--diary".as_ref(), bed.path().join("diary").as_os_str(), "--".as_ref()])
        .args([BINARY.as_ref(), "demo-server".as_ref(), work.as_os_str()])
        .current_dir(&work)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let diary = until("the end of its errands", || {
        let diary = fs::read_to_string(bed.path().join("diary")).ok()?;
        diary.contains("delete_file: done").then_some(diary)
    });
    drop(agent.stdin.take());
    assert!(agent.wait().unwrap().success());
    assert!(!diary.contains("not done"), "{diary}");
    for gone in ["drafts/plan-2024.md", "drafts/todo.md"] {
        assert!(!work.join(gone).exists(), "{gone}: {diary}");
    }
    for made in [
        "archive/todo.md", "drafts/reply-ada.md", "drafts/reply-grace.md", "jobs/run-1/job.json", "jobs/run-2/job.json",
    ] {
        assert!(work.join(made).exists(), "{made}: {diary}");
    }
    assert!(!fs::read_to_string(work.join("notes.md")).unwrap().contains("Written by hand"), "{diary}");
    let shop = rusqlite::Connection::open(work.join("shop.db")).unwrap();
    let count = |table: &str| shop.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, u32>(0));
    assert_eq!((count("orders").unwrap(), count("sessions").unwrap()), (3, 0));
}
