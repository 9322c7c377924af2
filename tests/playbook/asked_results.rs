//! Rules that ask about results: nothing of the answer reaches the host before an operator has seen the whole of it.

use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::gate::data::event::Side;
use mcp_approve::gate::{Mode, Unattended};
use serde_json::{Value, json};

use crate::world::{Did, World, about_task, call, config, keyed, modern_call, polled_under, taking_tasks};

const MARK: &str = "the margin is 37 %";
const READ: &str = r#"{"path":"/a"}"#;

const ASKS: &str = "[[rule]]\nid = 'numbers'\ndecision = 'ask'\nresult = { glob = '*margin*' }\n";

fn under(rules: &str) -> World {
    World::with(config(), &format!("version = 1\n{rules}")).ready()
}

fn line(id: u32, result: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A read under id 5 whose result waits, as `files-2`.
fn waiting(rules: &str) -> (World, String) {
    let mut world = under(rules);
    let read = call("5", "read_file", READ);
    assert_eq!(world.host(&read), [Did::Forward(read.clone())]);
    let answer = line(5, &text(MARK));
    let did = world.server(&answer);
    assert_eq!(did, [Did::Ask("files-2".into())]);
    (world, answer)
}

/// The line of ours to the host.
fn told(did: &[Did]) -> Value {
    let lines: Vec<&String> =
        did.iter().filter_map(|one| if let Did::Answer(line) = one { Some(line) } else { None }).collect();
    let [line] = lines[..] else { panic!("{did:?}") };
    serde_json::from_str(line).expect("JSON")
}

fn is_silent(did: &[Did]) -> bool {
    !did.iter().any(|one| matches!(one, Did::ToHost(_) | Did::Answer(_) | Did::Forward(_)))
}

/// What the host reads of a tool: an error that says what became of the call.
fn says(reply: &Value) -> String {
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    let said = reply["result"]["content"][0]["text"].as_str().expect("a text").to_owned();
    assert!(said.contains("HAS run") && !said.contains("NOT executed") && !said.contains(MARK), "{said}");
    said
}

fn last(world: &World, kind: Kind) -> &Entry {
    world.entries.iter().rfind(|entry| entry.kind == kind).expect("a record")
}

#[test]
fn a_result_waits_whole_and_passes_byte_for_byte_once_it_is_approved() {
    let (mut world, answer) = waiting(ASKS);
    let card = &world.cards["files-2"];
    assert_eq!((card.result_of.as_deref(), card.tool.as_str()), (Some("files-1"), "read_file"));
    assert_eq!(serde_json::from_str::<Value>(&card.arguments).unwrap(), text(MARK), "all of it");
    assert_eq!(card.digest, keyed(&answer));
    let asked = last(&world, Kind::DecisionAsked);
    assert_eq!((asked.rule.as_deref(), asked.digest), (Some("numbers"), Some(card.digest)));
    let did = world.approve("files-2");
    assert!(did.contains(&Did::Forward(answer)), "{did:?}");
    let decision = last(&world, Kind::Decision);
    assert_eq!((decision.verdict, decision.by), (Some(VerdictWord::Approve), Some(By::Operator)));
    world.finish();
}

#[test]
fn a_result_that_no_rule_asks_about_passes_at_once() {
    let mut world = under(ASKS);
    world.host(&call("5", "read_file", READ));
    let answer = line(5, &text("plain"));
    assert_eq!(world.server(&answer), [Did::ToHost(answer)]);
    world.finish();
}

#[test]
fn whatever_ends_the_wait_the_host_reads_that_the_tool_has_run_and_nothing_of_its_result() {
    let (mut world, _) = waiting(ASKS);
    let said = says(&told(&world.deny("files-2", "not for this agent")));
    assert!(said.contains("not for this agent") && said.contains("calling again runs it again"), "{said}");
    world.finish();

    let (mut world, _) = waiting(ASKS);
    assert!(is_silent(&world.wait(50)), "within the host's limit");
    assert!(says(&told(&world.wait(10))).contains("did not answer within"));
    assert_eq!(last(&world, Kind::Decision).by, Some(By::Expiry));
    world.finish();

    let (mut world, _) = waiting(ASKS);
    assert!(says(&told(&world.close(Side::Server))).contains("ended"));

    let (mut world, answer) = waiting(ASKS);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
    assert!(is_silent(&world.host(cancel)), "no answer is due");
    assert!(is_silent(&world.approve("files-2")), "a late verdict does nothing");
    assert!(is_silent(&world.server(&answer)), "and a second answer is none");
    world.finish();

    let mut world = World::with(
        mcp_approve::gate::Config { unattended: Unattended::Deny, ..config() },
        &format!("version = 1\n{ASKS}"),
    )
    .ready();
    world.host(&call("5", "read_file", READ));
    assert!(says(&told(&world.server(&line(5, &text(MARK))))).contains("no console is open"));
    world.finish();
}

#[test]
fn a_log_that_takes_nothing_lets_no_result_pass() {
    let (mut world, _) = waiting(ASKS);
    world.log_answers = false;
    assert!(is_silent(&world.approve("files-2")), "not before the log has it");
    assert!(says(&told(&world.log_fails())).contains("could not record"));
    world.log_answers = true;
    world.finish();
}

#[test]
fn the_strictest_rule_counts_and_what_was_redacted_stays_so() {
    const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let redacts = format!("{ASKS}[[rule]]\nid = 's'\ndecision = 'redact'\nresult = {{ secret = true }}\n");
    let mut world = under(&redacts);
    world.host(&call("5", "read_file", READ));
    let did = world.server(&line(5, &text(&format!("{MARK} {SECRET}"))));
    assert_eq!(did, [Did::Ask("files-2".into())]);
    let card = &world.cards["files-2"];
    assert!(card.arguments.contains(MARK) && !card.arguments.contains(SECRET), "{}", card.arguments);
    assert_eq!(last(&world, Kind::ResultDecision).rule.as_deref(), Some("s"));
    let shown = card.digest;
    let did = world.approve("files-2");
    let passed = did.iter().find_map(|one| if let Did::Forward(line) = one { Some(line) } else { None }).unwrap();
    assert_eq!(keyed(passed), shown, "what was shown is what is sent");
    world.finish();

    let denies = format!("{ASKS}[[rule]]\nid = 'no'\ndecision = 'deny'\nresult = {{ size = 0 }}\n");
    let mut world = under(&denies);
    world.host(&call("5", "read_file", READ));
    assert!(says(&told(&world.server(&line(5, &text(MARK))))).contains("the rule no"));
    world.finish();
}

/// What an operator could not judge is withheld: too long, read differently, or no final answer.
#[test]
fn what_cannot_be_asked_about_is_withheld() {
    let all = "[[rule]]\nid = 'all'\ndecision = 'ask'\nresult = { size = 0 }\n";
    for answer in [
        line(5, &text(&"x".repeat(1 << 20))),
        r#"{"jsonrpc":"2.0","id":5,"result":{"content":[],"content":[{"type":"text","text":"b"}]}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":5,"result":{"resultType":"input_required","requestState":"s"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":5,"result":{"content":[],"inputRequests":{}}}"#.to_owned(),
    ] {
        let mut world = under(all);
        world.host(&call("5", "read_file", READ));
        let said = says(&told(&world.server(&answer)));
        assert!(said.contains("the rule all"), "{said}");
        world.finish();
    }
    // Some hosts take these for the answer to 5.
    for lax in [
        r#"{"jsonrpc":"2.0","id":5,"result":{"content":[]},"error":{"code":1,"message":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":5.0,"result":{"content":[]}}"#,
        r#"{"jsonrpc":"2.0","id":"5","result":{"content":[]}}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{"content":[]},"id":5}"#,
    ] {
        let mut world = under(all);
        world.host(&call("5", "read_file", READ));
        assert!(is_silent(&world.server(lax)), "{lax}");
        world.server(&line(5, &text("a")));
        world.deny("files-2", "");
        world.finish();
    }
}

#[test]
fn a_policy_that_changes_meanwhile_decides_on_the_result_that_waits() {
    let (mut world, answer) = waiting(ASKS);
    assert!(is_silent(
        &world.policy(&format!("version = 1\n{ASKS}[[rule]]\nid='x'\ndecision='deny'\ntool='write_file'\n"))
    ));
    let did = world.policy("version = 1\n");
    assert!(did.contains(&Did::Forward(answer)), "no rule asks any more: {did:?}");
    world.finish();

    for stricter in ["deny", "redact"] {
        let (mut world, _) = waiting(ASKS);
        let did = world.policy(&format!("version = 1\n{}", ASKS.replace("'ask'", &format!("'{stricter}'"))));
        assert!(says(&told(&did)).contains("numbers"), "{stricter}");
        world.finish();
    }

    // A file that cannot be read asks about everything, and releases nothing.
    let (mut world, _) = waiting(ASKS);
    let broken = mcp_approve::policy::parse::everything_asks("broken".into());
    let did = world.step(mcp_approve::gate::data::event::Event::PolicyChanged(broken.into()));
    assert!(is_silent(&did), "{did:?}");
    world.deny("files-2", "");
    world.finish();
}

#[test]
fn observing_passes_a_result_and_says_that_it_would_have_asked() {
    let config = mcp_approve::gate::Config { mode: Mode::Observe, ..config() };
    let mut world = World::with(config, &format!("version = 1\n{ASKS}")).ready();
    world.host(&call("5", "read_file", READ));
    let answer = line(5, &text(MARK));
    assert!(world.server(&answer).contains(&Did::Forward(answer)));
    assert_eq!(last(&world, Kind::Decision).by, Some(By::Observe));
    world.finish();
}

#[test]
fn the_host_is_kept_waiting_by_heartbeats_that_never_fall() {
    let mut world = under(ASKS);
    let host = r#""_meta":{"progressToken":"p"},"arguments""#;
    let read = call("5", "read_file", READ).replacen(r#""arguments""#, host, 1);
    assert_eq!(world.host(&read), [Did::Forward(read.clone())]);
    let progress =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":7.5}}"#;
    assert_eq!(world.server(progress), [Did::ToHost(progress.into())]);
    world.server(&line(5, &text(MARK)));
    let beats: Vec<Value> = [world.wait(1), world.wait(6)].iter().map(|did| told(did)["params"].clone()).collect();
    let numbers: Vec<&Value> = beats.iter().map(|beat| &beat["progress"]).collect();
    assert_eq!(numbers, [9, 10], "{beats:?}");
    assert!(beats.iter().all(|beat| beat["progressToken"] == "p" && !beat.to_string().contains("margin")));
    world.deny("files-2", "");
    world.finish();
}

/// A host of the stateless era is asked to come back, and gets the result under the request that it came back with.
#[test]
fn a_host_that_can_come_back_does() {
    let mut world = under(ASKS);
    let read = modern_call("5", "read_file", READ, "");
    assert_eq!(world.host(&read), [Did::Forward(read.clone())]);
    let mut result = text(MARK);
    result["resultType"] = json!("complete");
    assert_eq!(world.server(&line(5, &result)), [Did::Ask("files-2".into())]);
    let left = told(&world.wait(55));
    let state = left["result"]["requestState"].as_str().expect("a state").to_owned();
    assert!(!left.to_string().contains("margin"));
    let back = modern_call("6", "read_file", READ, &format!(r#","requestState":"{state}""#));
    assert_eq!(world.host(&back), [], "it waits on; nothing runs again");
    let did = world.approve("files-2");
    assert_eq!(told(&did), serde_json::from_str::<Value>(&line(6, &result)).unwrap());
    world.released("files-2");
    world.finish();
}

/// A host that polls finds the result in its task, once it is approved.
#[test]
fn a_host_with_a_task_polls_on() {
    let rules = format!("version = 1\n{}", ASKS.replace("result", "tool = 'write_file'\nresult"));
    for approved in [true, false] {
        let mut world = polled_under(&rules);
        world.host(&taking_tasks(&modern_call("7", "write_file", r#"{"path":"/a","content":"x"}"#, "")));
        let task = world.tasks.last().expect("a task").clone();
        world.approve("files-1");
        let mut result = text(MARK);
        result["resultType"] = json!("complete");
        assert!(is_silent(&world.server(&line(7, &result))));
        let state = |world: &mut World| told(&world.host(&about_task("90", "tasks/get", &task)))["result"].clone();
        let works = state(&mut world);
        assert_eq!(works["status"], "working");
        assert!(!works.to_string().contains("margin"), "{works}");
        if approved {
            world.approve("files-2");
            world.released("files-2");
            assert_eq!(state(&mut world)["result"]["content"][0]["text"], MARK);
        } else {
            world.deny("files-2", "no");
            let said = state(&mut world)["result"].to_string();
            assert!(said.contains("HAS run") && !said.contains("margin"), "{said}");
        }
        world.finish();
    }
}

/// Resources, prompts and results of the server's own tasks are under the same rules.
#[test]
fn other_answers_with_content_are_read_too() {
    let all =
        |decision: &str| format!("[[rule]]\nid = 'r'\ndecision = '{decision}'\nresult = {{ glob = '*margin*' }}\n");
    let request =
        |method: &str, params: &Value| format!(r#"{{"jsonrpc":"2.0","id":5,"method":"{method}","params":{params}}}"#);
    let resource = json!({ "contents": [{ "uri": "a:b", "text": format!("x\n{MARK}\ny"), "mimeType": "text/plain" }] });
    let prompt = json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": MARK } }] });
    let of_task = json!({ "taskId": "t", "status": "completed", "result": text(MARK) });
    for (method, params, result) in [
        ("resources/read", json!({ "uri": "a:b" }), &resource),
        ("prompts/get", json!({ "name": "p" }), &prompt),
        ("tasks/result", json!({ "taskId": "t" }), &text(MARK)),
        ("tasks/get", json!({ "taskId": "t" }), &of_task),
        ("acme/query", json!({}), &json!({ "rows": [MARK] })),
    ] {
        let asked = request(method, &params);
        for decision in ["deny", "redact", "ask"] {
            let mut world = under(&all(decision));
            assert!(matches!(world.host(&asked)[..], [Did::ToServer(_)]), "{method}");
            let answer = line(5, result);
            let did = world.server(&answer);
            let is_redactable = matches!(method, "resources/read" | "prompts/get" | "tasks/result");
            match decision {
                "ask" => {
                    assert!(is_silent(&did), "{method}: {did:?}");
                    let card = &world.cards["files-1"];
                    assert_eq!((card.tool.as_str(), card.result_of.as_deref()), (method, Some("")));
                    assert!(world.approve("files-1").contains(&Did::Forward(answer)), "{method}");
                }
                "redact" if is_redactable => {
                    let reply = told(&did);
                    assert!(reply["result"].is_object() && !reply.to_string().contains("margin"), "{method}: {reply}");
                }
                _ => assert!(told(&did)["error"]["message"].as_str().unwrap().contains("withheld"), "{method}"),
            }
            world.finish();
        }
        // A rule for one tool is not about a resource; it may be about the result of a task.
        let mut world = under(&format!("{}tool = 'write_file'\n", all("deny")));
        world.host(&asked);
        let passes = matches!(world.server(&line(5, result))[..], [Did::ToHost(_)]);
        assert_eq!(passes, !method.starts_with("tasks/"), "{method}");
        world.finish();
    }
    let redacted = {
        let mut world = under(&all("redact"));
        world.host(&request("resources/read", &json!({ "uri": "a:b" })));
        told(&world.server(&line(5, &resource)))["result"].clone()
    };
    assert_eq!(redacted, json!({ "contents": [{ "uri": "a:b", "text": "x\n[redacted by mcp-approve]\ny" }] }));
    // Lists, and how far a task is, are no results.
    for (method, result) in [
        ("resources/list", json!({ "resources": [{ "uri": "a:b", "name": MARK }] })),
        ("tasks/get", json!({ "taskId": MARK, "status": "working", "ttl": null })),
    ] {
        let mut world = under(&all("deny"));
        world.host(&request(method, &json!({})));
        assert!(matches!(world.server(&line(5, &result))[..], [Did::ToHost(_)]), "{method}");
        world.finish();
    }
}

/// A result is one wherever the protocol, or a lax reader of it, has a place for it.
#[test]
fn a_result_is_ruled_wherever_it_stands() {
    let kinds = "[[rule]]\nid = 'r'\ndecision = 'deny'\nresult = { kind = ['text', 'error'] }\n";
    let marks = "[[rule]]\nid = 'r'\ndecision = 'deny'\nresult = { glob = '*margin*' }\n";
    let get = r#"{"jsonrpc":"2.0","id":5,"method":"tasks/get","params":{"taskId":"t"}}"#;
    for (rules, state) in [
        (kinds, json!({ "taskId": "t", "status": "completed", "result": text(MARK) })),
        (kinds, json!({ "taskId": "t", "status": "failed", "error": { "code": 1, "message": MARK } })),
        (marks, json!({ "taskId": "t", "status": "completed", "Result": text(MARK) })),
        (marks, json!({ "taskId": "t", "status": "working", "statusMessage": MARK })),
        (marks, json!({ "taskId": "t", "status": [MARK] })),
    ] {
        let mut world = under(rules);
        world.host(get);
        let did = world.server(&line(5, &state));
        assert!(!format!("{did:?}").contains("margin"), "{state}: {did:?}");
        // Nor does a report of the server have it: its host asks.
        for method in ["notifications/tasks", "notifications/tasks/status"] {
            let did = world.server(&json!({ "jsonrpc": "2.0", "method": method, "params": state }).to_string());
            assert!(is_silent(&did), "{state}: {did:?}");
        }
        let bare = json!({ "taskId": "t", "status": "working", "createdAt": "now" });
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/tasks", "params": bare }).to_string();
        assert!(matches!(world.server(&told)[..], [Did::ToHost(_)]));
        world.finish();
    }
}

/// An id that is open, or was cancelled, hides no answer behind another request's.
#[test]
fn no_answer_passes_as_that_of_another_request_under_its_id() {
    let marks = "[[rule]]\nid = 'r'\ndecision = 'deny'\nresult = { glob = '*margin*' }\n";
    let read = r#"{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"a:b"}}"#;
    let list = r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#;
    let ping = r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
    for lines in [[read, list].as_slice(), &[read, cancel, ping], &[read, cancel, list]] {
        let mut world = under(marks);
        for line in lines {
            world.host(line);
        }
        let did = world.server(&line(5, &text(MARK)));
        assert!(!format!("{did:?}").contains("margin"), "{lines:?}: {did:?}");
        world.finish();
    }
}

/// A late answer to a call that the host has cancelled is under the rules too, and nobody is asked about it.
#[test]
fn a_late_answer_to_a_cancelled_call_does_not_pass_by_the_rules() {
    for decision in ["deny", "redact", "ask"] {
        let mut world = under(&ASKS.replace("'ask'", &format!("'{decision}'")));
        world.host(&call("5", "read_file", READ));
        world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#);
        let did = world.server(&line(5, &text(MARK)));
        assert!(is_silent(&did), "{decision}: {did:?}");
        assert!(last(&world, Kind::ResultDecision).detail.get("sent").is_none());
        world.finish();
    }
}

/// Two requests under one id: the answer is under the rules of the one that has content.
#[test]
fn a_second_request_under_the_same_id_does_not_hide_the_first() {
    let mut world = under("[[rule]]\nid = 'r'\ndecision = 'deny'\nresult = { size = 0 }\n");
    world.host(r#"{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"a:b"}}"#);
    world.host(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#);
    let did = world.server(&line(5, &text(MARK)));
    assert!(!format!("{did:?}").contains("margin"), "{did:?}");
    world.finish();
}
