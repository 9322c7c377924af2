//! Real servers behind the wrapper, driven by the official clients. Slow and networked, so ignored by `cargo test`:
//! `cargo test --test real -- --ignored --nocapture` installs what it needs into `target/real` and runs it.
//!
//! Each server is held to the same four promises: reads answer without a human and byte for byte as without the
//! wrapper; what changes something waits; approved, it runs once; denied, the model reads why and nothing changes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a broken test bed fails the test"
)]

mod agent;
mod bed;
mod compiled;
mod conformance;
mod forms;
mod hosts;
mod operator;
mod packages;
mod pairs;
mod play;
mod remote;
mod scoped;
mod stage;
mod tasks;

use std::fs;
use std::path::Path;
use std::process::Command;

use bed::{Client, bed, run};
use mcp_approve::link::message::OperatorVerdict;
use play::Call;
use serde_json::json;

const REASON: &str = "not before the review";

/// One server with what is to be tried on it.
struct Case<L> {
    client: Client,
    server: Vec<String>,
    /// The revision that this client and this server must agree on.
    revision: &'static str,
    reads: Vec<Call>,
    /// Calls that must wait for the operator, and whether approving them must change the disk.
    waits: Vec<(Call, Trace)>,
    /// Tells the state of whatever the server writes to.
    look: L,
}

/// What an approved call leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trace {
    OnDisk,
    Nowhere,
}

/// Holds one server to the four promises, in `folder`.
fn hold<L: Fn() -> String + Clone + Send + 'static>(folder: &Path, case: Case<L>) {
    let Case { client, server, revision, reads, waits, look } = case;
    let approve = || OperatorVerdict::Approve { unread: false };
    let deny = || OperatorVerdict::Deny { reason: REASON.into() };

    let direct = play::direct(folder, client, &server, &reads);
    let read = play::wrapped(folder, client, &server, &reads, deny(), look.clone());
    assert_eq!(read.revision, revision);
    assert!(read.asked.is_empty(), "a read asked: {:?}", read.asked);
    for answer in &read.answers {
        assert_eq!(answer["error"], false, "{answer}");
    }
    assert_eq!(read.outside, read.inside, "the wrapper altered bytes");
    assert_eq!(read.outside.sorted(), direct.sorted(), "the session differs from one without the wrapper");

    for (call, trace) in waits {
        let (tool, calls) = (call.0, [call]);
        let before = look();
        let denied = play::wrapped(folder, client, &server, &calls, deny(), look.clone());
        assert_eq!(denied.asked.len(), 1, "{tool}: {:?}", denied.asked);
        assert_eq!(denied.asked[0].tool, tool);
        let answer = &denied.answers[0];
        assert_eq!(answer["error"], true, "{tool}: a denial is a tool error: {answer}");
        assert!(answer["text"].as_str().unwrap().contains(REASON), "{tool}: {answer}");
        assert_eq!(denied.inside.calls_of(tool), 0, "{tool}: a denied call reached the server");
        assert_eq!(look(), before, "{tool}: a denied call changed something");

        let approved = play::wrapped(folder, client, &server, &calls, approve(), look.clone());
        assert_eq!(approved.asked.len(), 1, "{tool}: {:?}", approved.asked);
        assert_eq!(approved.asked[0].disk, before, "{tool}: it ran before the approval");
        assert_eq!(approved.answers[0]["error"], false, "{tool}: {}", approved.answers[0]);
        assert_eq!(approved.inside.calls_of(tool), 1, "{tool}: once");
        assert!(approved.outside.relays(&approved.inside), "{tool}: the wrapper altered bytes");
        match trace {
            Trace::OnDisk => assert_ne!(look(), before, "{tool}: approved, and nothing changed"),
            Trace::Nowhere => assert_eq!(look(), before, "{tool}"),
        }
    }
    let home = folder.join("home");
    run(Command::new(env!("CARGO_BIN_EXE_mcp-approve")).arg("--home").arg(home).args(["log", "verify"]));
    println!("held to its promises: {} with {}", server.join(" "), client.name());
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().into()
}

/// A file's text; a dash while there is none.
fn content(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|_| "-".into())
}

fn git(repository: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    let mut command = Command::new("git");
    command.args(identity).arg("-C").arg(repository).args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn filesystem(client: Client) {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    fs::create_dir(&work).unwrap();
    let file = work.join("a.txt");
    fs::write(&file, "as it was\n").unwrap();
    let mut server = bed().npm("server-filesystem");
    server.push(text(&work));
    hold(
        folder.path(),
        Case {
            client,
            server,
            revision: if client == Client::Ts1 { "handshake" } else { "2025-11-25" },
            reads: vec![
                ("list_directory", json!({ "path": text(&work) })),
                ("read_text_file", json!({ "path": text(&file) })),
                ("get_file_info", json!({ "path": text(&file) })),
            ],
            waits: vec![(("write_file", json!({ "path": text(&file), "content": "as it is\n" })), Trace::OnDisk)],
            look: move || content(&file),
        },
    );
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn filesystem_with_the_first_typescript_client() {
    filesystem(Client::Ts1);
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn filesystem_with_the_second_typescript_client_and_its_probing_sibling() {
    filesystem(Client::Ts2);
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn filesystem_with_the_second_python_client_that_probes_in_place() {
    filesystem(Client::Py2);
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn everything_asks_before_its_environment_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let gzip = json!({ "name": "a.gz", "data": "data:text/plain;base64,aGk=", "outputType": "resource" });
    hold(
        folder.path(),
        Case {
            client: Client::Ts1,
            server: bed().npm("server-everything"),
            revision: "handshake",
            reads: vec![("get-tiny-image", json!({})), ("get-structured-content", json!({ "location": "Chicago" }))],
            waits: vec![
                // It reads, by one reader of its words alone: likely, so it asks once.
                (("echo", json!({ "message": "ünïcödé 🎈" })), Trace::Nowhere),
                // A line separator that no eye sees: only reads, and is asked all the same.
                (("echo", json!({ "message": "two\u{2028}lines" })), Trace::Nowhere),
                (("get-env", json!({})), Trace::Nowhere),
                (("gzip-file-as-resource", gzip), Trace::Nowhere),
                // From here on it talks unasked, and it ignores the end of its input.
                (("toggle-simulated-logging", json!({})), Trace::Nowhere),
            ],
            look: || String::new(),
        },
    );
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn memory_keeps_what_was_approved() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.jsonl");
    // The clients scrub the environment, so it is set behind the wrapper.
    let mut server = vec!["env".into(), format!("MEMORY_FILE_PATH={}", text(&file))];
    server.extend(bed().npm("server-memory"));
    let entity = json!({ "name": "Ada", "entityType": "person", "observations": ["likes engines"] });
    hold(
        folder.path(),
        Case {
            client: Client::Ts1,
            server,
            revision: "handshake",
            reads: vec![("read_graph", json!({})), ("search_nodes", json!({ "query": "Ada" }))],
            waits: vec![
                (("create_entities", json!({ "entities": [entity] })), Trace::OnDisk),
                (("delete_entities", json!({ "entityNames": ["Ada"] })), Trace::OnDisk),
            ],
            look: move || content(&file),
        },
    );
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn git_in_the_stateless_era() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path().join("repository");
    fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "--quiet"]);
    git(&repository, &["commit", "--quiet", "--allow-empty", "--message", "first"]);
    fs::write(repository.join("new.txt"), "new\n").unwrap();
    let here = text(&repository);
    hold(
        folder.path(),
        Case {
            client: Client::Py2,
            server: vec![bed().python("mcp-server-git"), "--repository".into(), here.clone()],
            revision: "2026-07-28",
            reads: vec![
                ("git_status", json!({ "repo_path": here })),
                ("git_log", json!({ "repo_path": here, "max_count": 3 })),
            ],
            waits: vec![
                (("git_add", json!({ "repo_path": here, "files": ["new.txt"] })), Trace::OnDisk),
                (("git_create_branch", json!({ "repo_path": here, "branch_name": "side" })), Trace::OnDisk),
            ],
            look: move || git(&repository, &["status", "--porcelain"]) + &git(&repository, &["branch", "--list"]),
        },
    );
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn time_in_the_stateless_era_with_the_typescript_client() {
    let folder = tempfile::tempdir().unwrap();
    let noon = json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" });
    hold(
        folder.path(),
        Case {
            client: Client::Ts2,
            server: vec![bed().python("mcp-server-time")],
            revision: "2026-07-28",
            reads: vec![],
            // To convert may be to change: no two readers agree that it only reads.
            waits: vec![(("convert_time", noon), Trace::Nowhere)],
            look: || String::new(),
        },
    );
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn sqlite_changes_only_what_was_approved() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    let shop = rusqlite::Connection::open(&file).unwrap();
    shop.execute_batch("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1), (2);").unwrap();
    let server = vec![bed().legacy_python("mcp-server-sqlite"), "--db-path".into(), text(&file)];
    hold(
        folder.path(),
        Case {
            client: Client::Py1,
            server,
            revision: "2025-11-25",
            reads: vec![
                ("list_tables", json!({})),
                ("describe_table", json!({ "table_name": "t" })),
                ("read_query", json!({ "query": "SELECT n FROM t ORDER BY n" })),
            ],
            waits: vec![(("write_query", json!({ "query": "INSERT INTO t VALUES (3)" })), Trace::OnDisk)],
            look: move || {
                let shop = rusqlite::Connection::open(&file).unwrap();
                let count = shop.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0));
                count.unwrap().to_string()
            },
        },
    );
}
