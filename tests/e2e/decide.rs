//! Who decides a call, and that exactly this happens: policy, one operator, two, an edit, an observer.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use mcp_approve::wire::digest::Digest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake::host::Host;
use crate::fake::operator::Operator;
use crate::fake::server::{Server, reader, says, writer};
use crate::fake::{log, until};

/// A wrapper that has shaken hands, its server, and its home.
fn wrapped(options: &[&str]) -> (TempDir, Server, Host) {
    wrapped_in(tempfile::tempdir().unwrap(), options)
}

fn wrapped_in(home: TempDir, options: &[&str]) -> (TempDir, Server, Host) {
    let server = Server::with(&[reader("read"), writer("write"), writer("put")]);
    let mut host = Host::wrapping(home.path(), &[&["--name", "s"], options].concat(), &server.command());
    host.handshake("2025-06-18");
    (home, server, host)
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

fn policy(text: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("config/policy.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    home
}

#[test]
fn a_read_passes_and_a_write_waits_for_its_approval() {
    let (home, server, mut host) = wrapped(&[]);
    let mut operator = Operator::attach(home.path(), "ada");
    host.call(1, "read", &json!({ "title": "t" }));
    assert_eq!(text(&host.answer(1)), "done");
    let line = r#" {"params": {"arguments":{"title":"\u0061 b"  },"name":"write"},"method":"tools/call","id":"w","jsonrpc":"2.0"}"#;
    host.send(line);
    let asked = operator.asked("write");
    assert_eq!(asked.call.arguments, r#"{"title":"\u0061 b"  }"#);
    assert_eq!(asked.call.digest, Digest::of(line.as_bytes()));
    assert_eq!(server.executed().len(), 1, "it ran before it was decided");
    operator.approve(&asked);
    assert_eq!(text(&host.answer("w")), "done");
    assert_eq!(server.executed()[1..], [format!("{line}\n")]);
    assert!(operator.settled(&asked.call.ticket).who.contains("ada"));

    let decision = &log::decisions(home.path(), "write")[0];
    assert_eq!((&decision["verdict"], &decision["by"]), (&json!("approve"), &json!("operator")));
    assert_eq!(decision["digest"], json!(asked.call.digest));
    let read = &log::decisions(home.path(), "read")[0];
    assert_eq!((&read["verdict"], &read["by"], &read["badge"]), (&json!("approve"), &json!("default"), &json!("PURE")));
    log::verifies(home.path());
}

#[test]
fn a_denial_is_a_tool_error_with_its_reason_and_nothing_runs() {
    let (home, server, mut host) = wrapped(&[]);
    let mut operator = Operator::attach(home.path(), "ada");
    host.call(1, "write", &json!({ "title": "t" }));
    let asked = operator.asked("write");
    operator.deny(&asked, "use the archive");
    let answer = host.answer(1);
    assert_eq!(answer["result"]["isError"], true);
    assert!(answer["result"].get("structuredContent").is_none() && answer["result"].get("resultType").is_none());
    assert!(text(&answer).contains("use the archive") && text(&answer).contains("NOT executed"), "{answer}");
    host.call(2, "read", &json!({}));
    host.answer(2);
    assert_eq!(server.executed().len(), 1);
    assert!(server.executed()[0].contains("read"));
    assert_eq!(log::decisions(home.path(), "write")[0]["verdict"], "deny");
    log::verifies(home.path());
}

#[test]
fn an_edit_comes_back_as_a_changed_card_and_its_bytes_are_what_runs() {
    let (home, server, mut host) = wrapped(&[]);
    let mut operator = Operator::attach(home.path(), "ada");
    host.call(1, "write", &json!({ "title": "before" }));
    let asked = operator.asked("write");
    operator.edit(&asked, r#"{"title": 7}"#);
    assert!(operator.refused(&asked.call.ticket).contains("schema"));
    operator.edit(&asked, r#"{"title": "after"}"#);
    let edited = operator.asked("write");
    assert_eq!(edited.call.edited_from, Some(asked.call.digest));
    assert_eq!(edited.call.original_arguments.as_deref(), Some(asked.call.arguments.as_str()));
    assert_eq!(edited.call.arguments, r#"{"title": "after"}"#);
    operator.approve(&asked);
    assert!(operator.refused(&asked.call.ticket).contains("changed"), "a verdict on the old bytes counts");
    assert!(server.executed().is_empty());
    operator.approve(&edited);
    assert_eq!(text(&host.answer(1)), "done");
    let executed = server.executed();
    assert_eq!(executed.len(), 1);
    assert!(executed[0].contains(r#""arguments":{"title": "after"}"#), "{executed:?}");
    assert_eq!(Digest::of(executed[0].trim_end().as_bytes()), edited.call.digest);
    assert_eq!(log::decisions(home.path(), "write")[0]["digest"], json!(edited.call.digest));
    log::verifies(home.path());
}

#[test]
fn of_two_operators_the_first_decides_and_the_other_is_told() {
    let (home, server, mut host) = wrapped(&[]);
    let (mut ada, mut bob) = (Operator::attach(home.path(), "ada"), Operator::attach(home.path(), "bob"));
    host.call(1, "write", &json!({ "title": "t" }));
    let (seen_by_ada, seen_by_bob) = (ada.asked("write"), bob.asked("write"));
    assert_eq!(seen_by_ada.call, seen_by_bob.call);
    ada.approve(&seen_by_ada);
    assert!(bob.settled(&seen_by_bob.call.ticket).who.contains("ada"));
    bob.deny(&seen_by_bob, "no");
    assert!(bob.refused(&seen_by_bob.call.ticket).contains("no longer"));
    assert_eq!(text(&host.answer(1)), "done");
    assert_eq!(server.executed().len(), 1);
    assert_eq!(log::decisions(home.path(), "write").len(), 1);
    let fault = log::awaits(home.path(), "the late verdict is recorded", |record| record["kind"] == "fault");
    assert!(fault.to_string().contains("bob"), "{fault}");
}

#[test]
fn a_console_that_dies_leaves_the_call_to_another() {
    let (home, server, mut host) = wrapped(&[]);
    let mut ada = Operator::attach(home.path(), "ada");
    host.call(1, "write", &json!({ "title": "t" }));
    let seen_by_ada = ada.asked("write");
    drop(ada);
    log::awaits(home.path(), "the console is gone", |record| record["kind"] == "detach");
    assert!(server.executed().is_empty());
    let mut bob = Operator::attach(home.path(), "bob");
    let asked = bob.asked("write");
    assert_eq!(asked.call.digest, seen_by_ada.call.digest);
    bob.approve(&asked);
    assert_eq!(text(&host.answer(1)), "done");
    assert_eq!(server.executed().len(), 1);
}

#[test]
fn a_console_of_another_version_is_told_why_it_has_no_say() {
    let (home, server, mut host) = wrapped(&[]);
    host.call(1, "write", &json!({ "title": "t" }));
    let mut ada = Operator::attach(home.path(), "ada");
    let asked = ada.asked("write");
    let stream = UnixStream::connect(home.path().join("state/run/s.sock")).unwrap();
    let mut lines = BufReader::new(&stream).lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(lines.next().unwrap()["say"], "hello");
    (&stream)
        .write_all(b"{\"say\":\"hello\",\"protocol\":99,\"version\":\"9.9\",\"operator\":\"eve\",\"pid\":1}\n")
        .unwrap();
    let why = lines.next().unwrap();
    assert!(why["why"].as_str().unwrap().contains("9.9"), "{why}");
    let verdict = json!({ "say": "decide", "ticket": asked.call.ticket, "digest": asked.call.digest,
        "verdict": { "verdict": "approve", "unread": false } });
    (&stream).write_all(format!("{verdict}\n").as_bytes()).unwrap();
    let refused = lines.next().unwrap();
    assert_eq!((&refused["say"], &refused["ticket"]), (&json!("refused"), &json!(asked.call.ticket)));
    assert!(server.executed().is_empty());
    ada.deny(&asked, "no");
    assert!(text(&host.answer(1)).contains("NOT executed"));
    assert!(server.executed().is_empty());
}

#[test]
fn an_observer_lets_all_pass_and_records_what_it_would_have_asked() {
    let (home, server, mut host) = wrapped(&["--observe"]);
    host.call(1, "write", &json!({ "title": "t" }));
    assert_eq!(text(&host.answer(1)), "done");
    host.hang_up();
    assert!(host.wait().success());
    assert!(host.last_words().contains("OBSERVING"));
    assert_eq!(server.executed().len(), 1);
    let decision = &log::decisions(home.path(), "write")[0];
    assert_eq!((&decision["by"], &decision["ruling"]), (&json!("observe"), &json!("ask")));
}

#[test]
fn rules_deny_ask_and_allow_as_they_are_written() {
    let home = policy(
        "version = 1\n[[rule]]\nid = \"no-put\"\ndecision = \"deny\"\ntool = \"put\"\nnote = \"never\"\n\
         [[rule]]\nid = \"look\"\ndecision = \"ask\"\ntool = \"read\"\n\
         [[rule]]\nid = \"notes\"\ndecision = \"allow\"\nserver = \"s\"\ntool = \"write\"\n",
    );
    let (home, server, mut host) = wrapped_in(home, &[]);
    let mut operator = Operator::attach(home.path(), "ada");
    host.call(1, "put", &json!({}));
    let denied = host.answer(1);
    assert!(denied["result"]["isError"] == true && text(&denied).contains("no-put"), "{denied}");
    host.call(2, "write", &json!({}));
    assert_eq!(text(&host.answer(2)), "done");
    host.call(3, "read", &json!({}));
    let asked = operator.asked("read");
    assert_eq!(asked.call.ruling.rule.as_deref(), Some("look"));
    operator.approve(&asked);
    host.answer(3);
    assert_eq!(server.executed().len(), 2);
    let rules: Vec<Value> = log::of_kind(home.path(), "decision").iter().map(|record| record["rule"].clone()).collect();
    assert_eq!(rules, ["no-put", "notes", "look"]);
}

#[test]
fn with_a_broken_policy_everything_asks_and_the_banner_says_where() {
    let home = policy("version = 1\n[defaults]\npure = \"alow\"\n");
    let (home, _server, mut host) = wrapped_in(home, &[]);
    let mut operator = Operator::attach(home.path(), "ada");
    host.call(1, "read", &json!({}));
    let asked = operator.asked("read");
    let banner = operator.status("the banner", |status| status.banner.is_some()).banner.unwrap();
    for part in ["policy.toml:3", "alow", "allow"] {
        assert!(banner.contains(part), "{part} is not in {banner}");
    }
    operator.approve(&asked);
    assert_eq!(text(&host.answer(1)), "done");
    host.hang_up();
    host.wait();
    assert!(host.last_words().contains("policy.toml:3"));
}

#[test]
fn a_stateless_call_needs_no_handshake() {
    let server = Server::with(&[reader("read"), writer("write")]);
    let home = tempfile::tempdir().unwrap();
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    let mut operator = Operator::attach(home.path(), "ada");
    let call = |tool: &str| {
        json!({ "name": tool, "arguments": { "title": "t" }, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        } })
    };
    host.request(1, "tools/call", &call("read"));
    assert_eq!(text(&host.answer(1)), "done");
    host.request(2, "tools/call", &call("write"));
    let asked = operator.asked("write");
    operator.deny(&asked, "no");
    let denied = host.answer(2);
    assert_eq!(denied["result"]["resultType"], "complete", "{denied}");
    assert_eq!(server.executed().len(), 1);
}

/// Everything that waits under this home, as a fresh console sees it.
fn waits(home: &Path) -> usize {
    let mut operator = Operator::attach(home, "eve");
    usize::try_from(operator.status("how it stands", |_| true).waiting).unwrap()
}

#[test]
fn a_pure_call_passes_while_nobody_is_there_and_the_other_is_denied_in_time() {
    let (home, server, mut host) = wrapped(&["--host-timeout", "2s"]);
    host.call(1, "write", &json!({ "title": "t" }));
    host.call(2, "read", &json!({}));
    assert_eq!(host.line()["id"], 2);
    let denied = host.answer(1);
    assert!(text(&denied).contains("within 1 s"), "{denied}");
    assert!(
        text(&denied).contains("running `mcp-approve --home ") && text(&denied).contains("NOT execute"),
        "{denied}"
    );
    assert_eq!(server.executed().len(), 1);
    let decision = &log::decisions(home.path(), "write")[0];
    assert_eq!((&decision["verdict"], &decision["by"]), (&json!("deny"), &json!("expiry")));
    let mut late = Operator::attach(home.path(), "late");
    late.meets("s");
    assert_eq!(waits(home.path()), 0);
}

#[test]
fn unattended_deny_does_not_wait_but_asks_whoever_is_there() {
    let (home, server, mut host) = wrapped(&["--unattended", "deny"]);
    host.call(1, "write", &json!({ "title": "t" }));
    assert!(text(&host.answer(1)).contains("--unattended deny"));
    assert!(server.executed().is_empty());
    let mut operator = Operator::attach(home.path(), "ada");
    log::awaits(home.path(), "the console attaches", |record| record["kind"] == "attach");
    host.call(2, "write", &json!({ "title": "t" }));
    let asked = operator.asked("write");
    operator.approve(&asked);
    assert_eq!(text(&host.answer(2)), "done");
    until("it ran once", || (server.executed().len() == 1).then_some(()));
}

#[test]
fn a_host_that_comes_back_gets_the_whole_answer_of_the_call_it_came_back_for() {
    let home = tempfile::tempdir().unwrap();
    let long = "x".repeat(300_000);
    let server = Server::with(&[writer("write")]).slow("write", 0, &says(&long));
    let options = ["--name", "s", "--host-timeout", "2s"];
    let mut host = Host::wrapping(home.path(), &options, &server.command());
    let mut operator = Operator::attach(home.path(), "ada");
    let call = |id: &str, state: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"write","arguments":{{"title":"t"}}{state},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        )
    };
    let first = call("a", "");
    host.send(&first);
    let asked = operator.asked("write");
    let answer = host.answer("a");
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    host.send(&call("b", &format!(r#","requestState":{}"#, answer["result"]["requestState"])));
    operator.approve(&asked);
    assert_eq!(text(&host.answer("b")).len(), long.len());
    assert_eq!(server.executed(), [format!("{first}\n")]);
    assert_eq!(log::of_kind(home.path(), "round-trip").len(), 2);
    log::verifies(home.path());
}

#[test]
fn a_host_that_shows_forms_asks_its_user_while_no_console_is_open() {
    let home = tempfile::tempdir().unwrap();
    let add = json!({ "name": "create_label", "description": "Creates a label.",
        "inputSchema": { "type": "object", "properties": { "title": { "type": "string" } } } });
    let server = Server::with(&[add]);
    let mut host = Host::wrapping(home.path(), &["--name", "s", "--unattended", "elicit"], &server.command());
    host.send(&json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "forms", "version": "3"}}}).to_string());
    host.answer("i");
    host.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let mut ask = |id: u64, result: &str| {
        host.call(id, "create_label", &json!({ "title": "t" }));
        let question = host.line();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        assert!(question["params"]["message"].as_str().unwrap().contains(r#"arguments: {"title":"t"}"#), "{question}");
        host.send(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, question["id"]));
        host.answer(id)
    };
    assert_eq!(text(&ask(1, r#"{"action":"accept","content":{"approve":true}}"#)), "done");
    assert!(text(&ask(2, r#"{"action":"cancel"}"#)).contains("NOT executed"));
    assert_eq!(server.executed().len(), 1);
    let decisions = log::decisions(home.path(), "create_label");
    let said: Vec<_> = decisions.iter().map(|one| (&one["verdict"], &one["by"])).collect();
    assert_eq!(said, [(&json!("approve"), &json!("elicitation")), (&json!("deny"), &json!("elicitation"))]);
    log::verifies(home.path());
}
