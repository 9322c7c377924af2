//! A call that waits as a task: its host gets an id and polls, in both forms, until the call is decided and answered.

use mcp_approve::audit::record::{By, Kind, VerdictWord};
use mcp_approve::gate::data::event::{Event, Side};
use mcp_approve::gate::{Config, ForwardOrder, Unattended};
use serde_json::{Value, json};

use super::{WRITE, answer};
use crate::world::{Did, World, about_task, config, modern_call, polled, taking_tasks, task_call, word};

/// A write under id 7 that became a task: its id.
fn extension() -> (World, String) {
    given(polled(), &taking_tasks(&modern_call("7", "write_file", WRITE, "")))
}

fn core() -> (World, String) {
    given(polled(), &task_call("7", "write_file", WRITE))
}

fn given(mut world: World, call: &str) -> (World, String) {
    let did = world.host(call);
    assert!(matches!(did.as_slice(), [Did::Answer(_), Did::Ask(_)]), "{did:?}");
    let given = json(&did);
    assert_eq!(given["id"], 7);
    let task = given["result"].get("task").unwrap_or(&given["result"]);
    let id = task["taskId"].as_str().expect("an id").to_owned();
    assert!(id.starts_with("mcp-approve-task-") && id.len() > 60, "{id}");
    (world, id)
}

fn json(did: &[Did]) -> Value {
    serde_json::from_str(answer(did)).expect("JSON")
}

fn forwards(did: &[Did]) -> Vec<&str> {
    did.iter().filter_map(|one| if let Did::Forward(line) = one { Some(line.as_str()) } else { None }).collect()
}

fn poll(world: &mut World, method: &str, task: &str) -> Value {
    json(&world.host(&about_task("90", method, task)))
}

fn kinds(world: &World) -> Vec<Kind> {
    world.entries.iter().filter(|entry| entry.ticket.as_deref() == Some("files-1")).map(|entry| entry.kind).collect()
}

#[test]
fn an_approval_past_any_limit_of_the_host_ends_in_its_result() {
    let (mut world, task) = extension();
    let first = taking_tasks(&modern_call("7", "write_file", WRITE, ""));
    let state = poll(&mut world, "tasks/get", &task);
    let state = &state["result"];
    assert_eq!((&state["resultType"], &state["status"]), (&json!("complete"), &json!("working")));
    assert_eq!((&state["taskId"], &state["ttlMs"]), (&json!(task), &json!(3_900_000)));
    assert!(
        state["statusMessage"].as_str().expect("words").starts_with("Waiting for approval in mcp-approve: files-1")
    );
    assert_eq!((&state["createdAt"], state.get("result")), (&json!("2026-09-21T14:13:20.000Z"), None));
    assert!(!world.wait(200).iter().any(|one| matches!(one, Did::Answer(_))), "neither a heartbeat nor a state");
    let did = world.approve("files-1");
    assert_eq!(forwards(&did), [first.as_str()], "the first request's bytes");
    assert!(poll(&mut world, "tasks/get", &task)["result"]["statusMessage"].as_str().expect("words").contains("runs"));
    let reply = r#"{"result":{"content":[{"n":1.0,"n":2.0}],"resultType":"complete"},"jsonrpc":"2.0","id":7}"#;
    assert_eq!(world.server(reply), [], "its request is answered already");
    for _ in 0..2 {
        let did = world.host(&about_task("91", "tasks/get", &task));
        let text = answer(&did);
        assert!(text.contains(r#""status":"completed""#), "{text}");
        let result = r#","result":{"content":[{"n":1.0,"n":2.0}],"resultType":"complete"}}}"#;
        assert!(text.ends_with(result), "as the server wrote it, and twice if wanted: {text}");
    }
    use Kind::{Decision, DecisionAsked, Forward, Outcome, Task};
    assert_eq!(kinds(&world), [DecisionAsked, Task, Decision, Forward, Outcome]);
    world.finish();
}

#[test]
fn a_denial_is_a_completed_task_with_the_reason_for_the_model() {
    let (mut world, task) = extension();
    let did = world.deny("files-1", "keep it");
    assert!(!did.iter().any(|one| matches!(one, Did::Answer(_))), "{did:?}");
    let state = poll(&mut world, "tasks/get", &task);
    assert_eq!(
        (&state["result"]["status"], &state["result"]["result"]["isError"]),
        (&json!("completed"), &json!(true))
    );
    assert!(state.to_string().contains("keep it") && state.to_string().contains("NOT executed"), "{state}");
    world.finish();

    let (mut world, task) = core();
    assert_eq!(world.host(&about_task("8", "tasks/result", &task)), [], "it waits for the end");
    let did = world.deny("files-1", "keep it");
    let result = json(&did);
    assert_eq!((&result["id"], &result["result"]["isError"]), (&json!(8), &json!(true)));
    assert_eq!(result["result"]["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], json!(task));
    assert!(result.to_string().contains("keep it") && result.to_string().contains("insufficient_authorization"));
    assert_eq!(poll(&mut world, "tasks/get", &task)["result"]["status"], "completed");
    world.finish();
}

#[test]
fn the_servers_own_task_keeps_the_id_that_the_host_was_given() {
    let (mut world, task) = core();
    let first = json(&world.host(&about_task("8", "tasks/get", &task)));
    assert_eq!((&first["result"]["ttl"], &first["result"]["pollInterval"]), (&json!(3_900_000), &json!(2000)));
    assert_eq!(world.host(&about_task("9", "tasks/result", &task)), []);
    assert_eq!(forwards(&world.approve("files-1")), [task_call("7", "write_file", WRITE)], "`task` and all");
    let made = r#"{"jsonrpc":"2.0","id":7,"result":{"task":{"taskId":"s-1","status":"working","createdAt":"x","lastUpdatedAt":"x","ttl":null}}}"#;
    assert_eq!(world.server(made), [Did::ToServer(about_task("9", "tasks/result", "s-1"))], "what waited goes on");
    assert_eq!(
        world.host(&about_task("10", "tasks/get", &task)),
        [Did::ToServer(about_task("10", "tasks/get", "s-1"))]
    );
    let state = r#"{"jsonrpc":"2.0","id":10,"result":{ "taskId" : "s-1","status":"completed","ttl":1.0}}"#;
    assert_eq!(world.server(state), [Did::Answer(state.replace("\"s-1\"", &format!("\"{task}\"")))]);
    let note =
        r#"{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"s-1","status":"completed"}}"#;
    assert_eq!(world.server(note), [Did::Answer(note.replace("s-1", &task))]);
    let result = r#"{"jsonrpc":"2.0","id":9,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"s-1"}}}}"#;
    assert_eq!(world.server(result), [Did::Answer(result.replace("s-1", &task))]);
    let did = world.host(&about_task("11", "tasks/cancel", &task));
    assert_eq!(did, [Did::ToServer(about_task("11", "tasks/cancel", "s-1"))]);
    let error = r#"{"jsonrpc":"2.0","id":11,"error":{"code":-32602,"message":"it is completed"}}"#;
    assert_eq!(world.server(error), [Did::ToHost(error.into())]);
    // Its own id goes on working: it is the server's.
    let own = about_task("12", "tasks/get", "s-1");
    assert_eq!(world.host(&own), [Did::ToServer(own.clone())]);
    world.finish();
}

#[test]
fn a_rule_on_the_servers_task_decides_on_the_request_as_it_reaches_the_server() {
    let rule = "version = 1\n[[rule]]\nid = \"u\"\ndecision = \"deny\"\nmethod = \"tasks/update\"\n";
    let (mut world, task) = extension();
    world.policy(rule);
    world.approve("files-1");
    world.server(r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"task","taskId":"s-1","status":"working"}}"#);
    let did = world.host(&about_task("8", "tasks/update", &task));
    assert!(answer(&did).contains("Denied by policy"), "{did:?}");
    let get = world.host(&about_task("9", "tasks/get", &task));
    assert_eq!(get, [Did::ToServer(about_task("9", "tasks/get", "s-1"))]);
    world.finish();
}

#[test]
fn a_cancelled_task_never_runs() {
    for is_core in [false, true] {
        let (mut world, task) = if is_core { core() } else { extension() };
        let done = poll(&mut world, "tasks/cancel", &task);
        let expected = if is_core { "status" } else { "resultType" };
        assert_eq!(done["result"][expected], if is_core { "cancelled" } else { "complete" });
        assert_eq!(poll(&mut world, "tasks/get", &task)["result"]["status"], "cancelled");
        assert!(matches!(world.approve("files-1").as_slice(), [Did::Refuse(_)]));
        let again = poll(&mut world, "tasks/cancel", &task);
        assert_eq!(again["error"]["code"], if is_core { json!(-32602) } else { Value::Null });
        let last = world.entries.iter().rfind(|entry| entry.kind == Kind::Withdrawn).expect("a record");
        assert_eq!(last.by, Some(By::Cancel));
        if is_core {
            let result = poll(&mut world, "tasks/result", &task);
            assert!(result.to_string().contains("NOT executed"), "{result}");
        }
        world.finish();
    }
}

/// The decision is on its way to the log when the host cancels: the cancellation counts.
#[test]
fn a_cancel_beats_an_approval_that_is_not_recorded_yet() {
    for is_core in [false, true] {
        let (mut world, task) = if is_core { core() } else { extension() };
        world.log_answers = false;
        world.approve("files-1");
        poll(&mut world, "tasks/cancel", &task);
        world.log_answers = true;
        let did = world.log_takes();
        assert_eq!(forwards(&did), [""; 0], "{did:?}");
        assert_eq!(poll(&mut world, "tasks/get", &task)["result"]["status"], "cancelled");
        world.finish();
    }
}

#[test]
fn a_cancel_of_a_running_call_reaches_the_server_as_it_knows_the_call() {
    let (mut world, task) = extension();
    world.approve("files-1");
    let did = world.host(&about_task("8", "tasks/cancel", &task));
    assert!(matches!(&did[..], [Did::Query(line), Did::Answer(_)] if line.contains(r#""requestId":7"#)), "{did:?}");
    let state = poll(&mut world, "tasks/get", &task);
    assert_eq!(state["result"]["status"], "cancelled");
    assert_eq!(world.server(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#), []);
    assert_eq!(poll(&mut world, "tasks/get", &task)["result"]["status"], "cancelled", "and stays so");
    world.finish();
    // 2025-11-25: the server makes a task of it in a moment, and that is what is cancelled.
    let (mut world, task) = core();
    world.approve("files-1");
    assert_eq!(world.host(&about_task("8", "tasks/cancel", &task)), []);
    let did = world.server(r#"{"jsonrpc":"2.0","id":7,"result":{"task":{"taskId":"s-1","status":"working"}}}"#);
    assert_eq!(did, [Did::ToServer(about_task("8", "tasks/cancel", "s-1"))]);
    world.finish();
}

#[test]
fn only_a_request_that_declares_it_becomes_a_task() {
    let modern = modern_call("7", "write_file", WRITE, "");
    let task = task_call("7", "write_file", WRITE);
    let held = |did: &[Did]| did == [Did::Ask("files-1".into())];
    assert!(held(&polled().host(&modern)), "it does not take tasks");
    assert!(held(&World::new().ready().host(&taking_tasks(&modern))), "the operator has not chosen tasks");
    assert!(
        held(&polled().host(&taking_tasks(&modern).replace("2026-07-28", "2027-01-01"))),
        "a revision unknown here"
    );
    let retry = modern_call("7", "write_file", WRITE, r#","requestState":"s","inputResponses":{}"#);
    assert!(held(&polled().host(&taking_tasks(&retry))), "the server asked for more and has made no task");
    let config = Config { polling: mcp_approve::gate::Polling::Declared, ..config() };
    assert!(held(&World::with(config, "").ready().host(&task)), "the server makes no tasks of calls");
    assert!(held(&polled().host(&task.replace("\"task\":{}", "\"task\":null"))), "it asks for none");
    // What needs no decision passes as it is, task or not.
    let read = task_call("7", "read_file", r#"{"path":"/a"}"#);
    assert_eq!(polled().host(&read), [Did::Forward(read)]);
}

#[test]
fn a_host_that_asks_for_a_task_gets_a_denial_by_one() {
    let policy = "version = 1\n[[rule]]\nid = \"no\"\ndecision = \"deny\"\ntool = \"write_file\"\n";
    let mut world = polled();
    world.policy(policy);
    let did = world.host(&task_call("7", "write_file", WRITE));
    let task = json(&did)["result"]["task"]["taskId"].as_str().expect("a task").to_owned();
    let result = poll(&mut world, "tasks/result", &task);
    assert!(result.to_string().contains("Denied by policy"), "{result}");
    let last = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).expect("a decision");
    assert_eq!(last.verdict, Some(VerdictWord::Deny));
    // The extension lets a server answer at once.
    let did = world.host(&taking_tasks(&modern_call("8", "write_file", WRITE, "")));
    assert!(answer(&did).contains("Denied by policy"), "{did:?}");
    world.finish();
}

#[test]
fn a_deadline_is_the_operators_and_no_longer_the_hosts() {
    let (mut world, task) = extension();
    let card = world.cards["files-1"].clone();
    assert_eq!(card.deadline, Some(card.arrived + 300_000));
    assert_eq!(card.silence.as_deref(), Some("it has a task for this call and polls until you decide"));
    world.wait(301);
    let state = poll(&mut world, "tasks/get", &task);
    assert_eq!(state["result"]["status"], "completed");
    assert!(state.to_string().contains("did not answer within"), "{state}");
    world.wait(3_600);
    let gone = poll(&mut world, "tasks/get", &task);
    assert_eq!(gone["error"]["code"], -32602);
    world.finish();
}

#[test]
fn a_call_whose_task_is_over_is_withdrawn() {
    let (mut world, task) = core();
    world.host(&about_task("8", "tasks/result", &task));
    world.log_answers = false;
    world.approve("files-1");
    world.wait(4_000);
    world.log_answers = true;
    let did = world.log_takes();
    assert_eq!(forwards(&did), [""; 0]);
    assert_eq!(world.entries.last().map(|entry| (entry.kind, entry.by)), Some((Kind::Withdrawn, Some(By::Expiry))));
    world.finish();
}

#[test]
fn the_end_of_host_wrapper_or_server_ends_what_waits_as_a_task() {
    for end in 0..3 {
        let (mut world, task) = core();
        world.host(&about_task("8", "tasks/result", &task));
        let did = match end {
            0 => world.close(Side::Host),
            1 => world.close(Side::Server),
            _ => world.step(Event::Shutdown { why: "SIGTERM".into() }),
        };
        assert!(did.contains(&Did::Settle("files-1".into())) && forwards(&did).is_empty(), "{end}: {did:?}");
        let answered = did.iter().any(|one| matches!(one, Did::Answer(text) if text.contains("NOT executed")));
        assert!(answered, "{end}: {did:?}");
        world.finish();
    }
    // A call that runs is UNKNOWN then.
    let (mut world, task) = core();
    world.host(&about_task("8", "tasks/result", &task));
    world.approve("files-1");
    let did = world.close(Side::Server);
    assert!(answer(&did).contains("\"id\":8") && answer(&did).contains("UNKNOWN"), "{did:?}");
    world.finish();
}

#[test]
fn an_error_of_the_server_fails_the_task() {
    let error = r#""error":{"code":-32601,"message":"this tool takes no tasks"}"#;
    for is_core in [false, true] {
        let (mut world, task) = if is_core { core() } else { extension() };
        world.approve("files-1");
        world.server(&format!(r#"{{"jsonrpc":"2.0","id":7,{error}}}"#));
        let did = world.host(&about_task("8", "tasks/get", &task));
        assert!(answer(&did).contains(r#""status":"failed""#));
        assert_eq!(answer(&did).contains(error), !is_core, "{did:?}");
        if is_core {
            let did = world.host(&about_task("9", "tasks/result", &task));
            assert_eq!(did, [Did::Answer(format!(r#"{{"jsonrpc":"2.0","id":9,{error}}}"#))]);
        }
        world.finish();
    }
}

#[test]
fn a_server_that_asks_for_more_is_called_without_a_task_the_next_time() {
    let more = r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"who":{"method":"elicitation/create","params":{}}}}}"#;
    let hidden = more.replace("input_required", "complete");
    for line in [more, hidden.as_str()] {
        let (mut world, task) = extension();
        world.approve("files-1");
        assert_eq!(world.server(line), []);
        let state = poll(&mut world, "tasks/get", &task);
        assert_eq!(state["result"]["status"], "completed");
        assert!(state.to_string().contains("did not complete it") && !state.to_string().contains("elicitation"));
        let next = taking_tasks(&modern_call("8", "write_file", WRITE, ""));
        assert_eq!(world.host(&next), [Did::Ask("files-2".into())], "it waits by its request, or in several");
        // No retry continues what the host was never asked.
        let retry = modern_call("9", "write_file", WRITE, r#","requestState":"s","inputResponses":{"who":{}}"#);
        assert_eq!(world.host(&retry), [Did::Ask("files-3".into())]);
        world.finish();
    }
}

#[test]
fn heartbeats_end_with_the_task_and_progress_never_goes_back() {
    let mut world = polled();
    let line = task_call("7", "write_file", WRITE).replace("\"task\"", "\"_meta\":{\"progressToken\":9},\"task\"");
    let (mut world, _) = given(std::mem::replace(&mut world, World::new()), &line);
    assert!(!world.wait(30).iter().any(|one| matches!(one, Did::Answer(_))));
    world.approve("files-1");
    let report = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":5}}"#;
    assert_eq!(world.server(report), [Did::ToHost(report.into())], "the token is good until the task ends");
    world.finish();
    let line = taking_tasks(&modern_call("7", "write_file", WRITE, ""));
    let (mut world, _) = given(polled(), &line.replace("\"_meta\":{", "\"_meta\":{\"progressToken\":9,"));
    world.approve("files-1");
    assert_eq!(world.server(report), [], "the extension has no progress of tasks");
    world.finish();
}

#[test]
fn in_order_an_approved_call_that_waits_for_an_earlier_one_is_a_task_too() {
    let config = Config { order: ForwardOrder::Sent, ..config() };
    let (mut world, _) = given(crate::world::polled_with(config), &task_call("7", "write_file", WRITE));
    let did = world.host(&task_call("8", "read_file", r#"{"path":"/a"}"#));
    let second = json(&did)["result"]["task"]["taskId"].as_str().expect("a task").to_owned();
    assert!(poll(&mut world, "tasks/get", &second).to_string().contains("runs after an earlier call"));
    assert_eq!(forwards(&world.approve("files-1")).len(), 2);
    world.finish();
}

#[test]
fn a_question_to_the_hosts_user_names_the_task() {
    let config = Config { unattended: Unattended::Elicit, ..config() };
    let mut world = crate::world::polled_with_forms(config);
    let did = world.host(&task_call("7", "write_file", WRITE));
    let task = json(&did)["result"]["task"]["taskId"].clone();
    let form = did.iter().find(|one| format!("{one:?}").contains("elicitation/create")).expect("a question");
    let Did::Answer(form) = form else { panic!("{form:?}") };
    let form: Value = serde_json::from_str(form).expect("JSON");
    assert_eq!(form["params"]["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], task);
    world.finish();
}

#[test]
fn the_operator_may_move_the_deadline_of_a_task() {
    let (mut world, task) = extension();
    world.wait(200);
    let digest = world.cards["files-1"].digest;
    world.step(Event::Extended(word("files-1", digest)));
    assert_eq!(poll(&mut world, "tasks/get", &task)["result"]["ttlMs"], 4_100_000);
    world.wait(200);
    assert_eq!(forwards(&world.approve("files-1")).len(), 1);
    world.finish();
}
