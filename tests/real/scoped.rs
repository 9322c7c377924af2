//! The filesystem server of npm under a scope and under a role: what lies outside is neither listed nor called, a scope made
//! from the log is enough to play the session again, and a wrapper underneath another gets nothing back.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mcp_approve::link::message::OperatorVerdict;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::bed::{Client, bed};
use super::play::{Call, Drove, Played, plan, wrapped_with};
use super::{content, text};

/// All that the server has, and what a viewer may use of it.
const ALL: u64 = 14;
const READS: u64 = 10;

const BINARY: &str = env!("CARGO_BIN_EXE_mcp-approve");

/// A folder with a file in it, and the server for it.
struct Files {
    folder: TempDir,
    file: PathBuf,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        fs::create_dir(&work).unwrap();
        let file = work.join("a.txt");
        fs::write(&file, "as it was\n").unwrap();
        Self { folder, file }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn server(&self) -> Vec<String> {
        [bed().npm("server-filesystem"), vec![text(&self.path().join("work"))]].concat()
    }

    fn read(&self) -> Call {
        ("read_text_file", json!({ "path": text(&self.file) }))
    }

    fn write(&self, content: &str) -> Call {
        ("write_file", json!({ "path": text(&self.file), "content": content }))
    }

    fn list(&self) -> Call {
        ("list_directory", json!({ "path": text(&self.path().join("work")) }))
    }

    /// Plays calls under these options; whatever asks is approved.
    fn play(&self, client: Client, options: &[&str], calls: &[Call]) -> Played {
        let approve = OperatorVerdict::Approve { unread: false };
        let options = [&["--name", "files"], options].concat();
        wrapped_with(self.path(), client, &options, &self.server(), calls, approve, String::new)
    }

    fn told(&self, words: &[&str]) -> String {
        let output = Command::new(BINARY).arg("--home").arg(self.path().join("home")).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The decisions on one tool that a scope made, the oldest first.
    fn refused(&self, tool: &str) -> Vec<Value> {
        let lines = self.told(&["log", "list", "--jsonl", "--by", "scope", "--tool", tool]);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Whether an answer is the refusal of a tool outside the scope, whichever client words it.
fn is_denied(answer: &Value, tool: &str) -> bool {
    let thrown = answer["thrown"].as_str().unwrap_or_default();
    thrown.contains(&format!("Permission denied: {tool}"))
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn a_session_is_played_again_under_the_scope_that_its_log_gives() {
    for client in [Client::Ts1, Client::Py1] {
        let files = Files::new();
        let session = [files.read(), files.list(), files.write("as it is\n"), files.read()];
        let before = files.play(client, &[], &session);
        assert_eq!((before.tools, before.asked.len()), (ALL, 1));
        assert_eq!(content(&files.file), "as it is\n");

        let scope = files.path().join("scope.json");
        fs::write(&scope, files.told(&["lattice", "caps", "--from-log", "--scope"])).unwrap();
        fs::write(&files.file, "as it was\n").unwrap();
        let more = [&session[..], &[("get_file_info", json!({ "path": text(&files.file) }))]].concat();
        let again = files.play(client, &["--scope", scope.to_str().unwrap()], &more);
        assert_eq!((again.tools, again.asked.len()), (3, 1), "{:?}", again.asked);
        assert_eq!(again.answers[..4], before.answers[..], "the session is the same");
        assert!(is_denied(&again.answers[4], "get_file_info"), "{}", again.answers[4]);
        assert_eq!(again.inside.calls_of("get_file_info"), 0, "it did not reach the server");
        let codes: Vec<Value> = again.outside.from.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(codes.iter().any(|answer: &Value| answer["error"]["code"] == -32000), "{}", again.outside.from);
        let refused = files.refused("get_file_info");
        assert_eq!((refused.len(), &refused[0]["by"]), (1, &json!("scope")));
        files.told(&["log", "verify"]);
    }
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn a_viewer_is_shown_no_write_and_refused_each() {
    for client in [Client::Ts1, Client::Ts2, Client::Py2] {
        let files = Files::new();
        let seen = files.play(client, &["--role", "viewer"], &[files.read(), files.write("as it is\n")]);
        assert_eq!((seen.tools, seen.asked.len()), (READS, 0), "{}", client.name());
        assert_eq!(seen.answers[0]["error"], false, "{}", seen.answers[0]);
        assert!(is_denied(&seen.answers[1], "write_file"), "{}", seen.answers[1]);
        assert!(!seen.outside.from.contains("\"write_file\",\"title\""), "it was listed to the client");
        assert_eq!((content(&files.file).as_str(), seen.inside.calls_of("write_file")), ("as it was\n", 0));
        assert_eq!(files.refused("write_file").len(), 1);
    }
}

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn an_agent_searches_and_is_shown_what_it_found() {
    const SEARCH: &str = "mcp_approve_search";
    for client in [Client::Ts1, Client::Ts2] {
        let files = Files::new();
        let search = (SEARCH, json!({ "query": "read the text of a file", "limit": 2 }));
        let again = ("tools/list", json!({}));
        let steps = [again.clone(), search, again, files.read(), files.write("as it is\n")];
        let seen = files.play(client, &["--discover"], &steps);
        assert_eq!((seen.tools, &seen.answers[0]["text"]), (1, &json!(SEARCH)), "{}", client.name());
        let found = seen.answers[1]["text"].as_str().unwrap();
        assert!(found.contains("- read_text_file (only reads): Read"), "{found}");
        let listed = seen.answers[2]["text"].as_str().unwrap();
        assert!(listed.contains("read_text_file") && listed.split(' ').count() == 3, "{listed}");
        assert!(seen.outside.from.contains("notifications/tools/list_changed"), "{}", seen.outside.from);
        assert_eq!(seen.inside.calls_of(SEARCH), 0, "the server learns nothing of the search");
        assert_eq!(seen.answers[3]["error"], false, "{}", seen.answers[3]);
        assert_eq!((content(&files.file).as_str(), seen.asked.len()), ("as it is\n", 1), "what is not listed is asked");
        let events = files.told(&["log", "list", "--jsonl", "--kind", "event"]);
        assert!(events.contains("answered a search for tools"), "{events}");
        files.told(&["log", "verify"]);
    }
}

/// A viewer's server starts an agent of its own, with the official client, in front of another wrapper that claims to be an
/// admin's and knows nothing of the first one's environment.
#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn an_admin_underneath_a_viewer_gets_no_write_back() {
    let files = Files::new();
    let home = text(&files.path().join("home"));
    let path = format!("PATH={}", std::env::var("PATH").unwrap());
    let options = ["env", "-i", &path, BINARY, "--home", &home, "--name", "inner", "--role", "admin", "--"];
    let inner = [options.map(String::from).to_vec(), files.server()].concat();
    let plan = plan(files.path(), Client::Ts1, &inner, &[files.read(), files.write("as it is\n")], None);
    let (said, done) = (files.path().join("said"), files.path().join("done"));
    let driver = bed().driver(Client::Ts1, &plan);
    let words: Vec<String> = std::iter::once(driver.get_program())
        .chain(driver.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let script = format!("{} </dev/null >'{}'; : >'{}'; cat", words.join(" "), said.display(), done.display());
    let mut outer = Command::new(BINARY)
        .args(["--home", &home, "--name", "outer", "--role", "viewer", "--", "sh", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_mins(2);
    while !done.exists() {
        assert!(Instant::now() < until, "the inner agent does not end: {}", content(&said));
        thread::sleep(Duration::from_millis(50));
    }
    drop(outer.stdin.take());
    outer.wait().unwrap();

    let seen = Drove::read(&content(&said));
    assert_eq!(seen.tools, READS, "an admin's would be {ALL}");
    assert_eq!(seen.answers[0]["error"], false, "{}", seen.answers[0]);
    assert!(is_denied(&seen.answers[1], "write_file"), "{}", seen.answers[1]);
    assert_eq!(content(&files.file), "as it was\n");

    let refused = files.refused("write_file");
    assert_eq!((refused.len(), &refused[0]["server"]), (1, &json!("inner")));
    let shown = files.told(&["log", "show", refused[0]["ticket"].as_str().unwrap()]);
    assert!(shown.contains("inner") && shown.contains("outer (viewer, session"), "{shown}");
}
