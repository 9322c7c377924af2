//! Section C21: ways around a call that waits as a task.

use mcp_approve::audit::record::Kind;
use mcp_approve::gate::Config;
use mcp_approve::gate::data::event::Event;
use mcp_approve::wire::message::Gist;

use crate::world::{Did, World, about_task, config, modern_call, polled, polled_with, taking_tasks, task_call};

const WRITE: &str = r#"{"path":"/a","content":"x"}"#;

/// A write under id 7 that became a task, while the host waits for its result under id 8.
fn given() -> (World, String) {
    let mut world = polled();
    world.host(&task_call("7", "write_file", WRITE));
    let task = world.tasks.last().expect("a task").clone();
    assert_eq!(world.host(&about_task("8", "tasks/result", &task)), []);
    (world, task)
}

/// Whether anything of this reached the other side.
fn passes(did: &[Did]) -> bool {
    did.iter().any(|one| matches!(one, Did::ToHost(_) | Did::ToServer(_) | Did::Forward(_)))
}

fn says(did: &[Did], words: &str) -> bool {
    did.iter().any(|one| matches!(one, Did::Answer(text) if text.contains(words)))
}

fn faults(world: &World) -> usize {
    world.entries.iter().filter(|entry| entry.kind == Kind::Fault).count()
}

#[test]
fn c21_a_server_cannot_end_a_task_of_ours_nor_name_one_as_its_own() {
    let (mut world, task) = given();
    let escaped = task.replacen('m', "\\u006d", 1).replace('-', "\\u002d");
    for id in [&task, &escaped] {
        for line in [
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{{"taskId":"{id}","status":"completed"}}}}"#
            ),
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/tasks","params":{{"taskId":"{id}","status":"completed"}}}}"#
            ),
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/tasks","params":{{"taskId":"s","taskId":"{id}"}}}}"#),
            // Under the id of the request that waits for the result, and of the call itself.
            r#"{"jsonrpc":"2.0","id":8,"result":{"content":[]}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#.to_owned(),
        ] {
            let before = faults(&world);
            assert!(!passes(&world.server(&line)), "{line}");
            assert_eq!(faults(&world), before + 1, "{line}");
        }
        // The result of another call is not to be fetched by this task.
        let read = task_call("9", "read_file", r#"{"path":"/a"}"#);
        world.host(&read);
        let did = world.server(&format!(r#"{{"jsonrpc":"2.0","id":9,"result":{{"task":{{"taskId":"{id}"}}}}}}"#));
        assert!(!passes(&did) && says(&did, "names a task of mcp-approve"), "{did:?}");
    }
    // Nor may the task be its own.
    world.approve("files-1");
    assert!(
        !passes(&world.server(r#"{"jsonrpc":"2.0","id":8,"result":{"content":[]}}"#)),
        "the call runs, and nothing is held"
    );
    let did = world.server(&format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"task":{{"taskId":"{escaped}"}}}}}}"#));
    assert!(says(&did, "HAS run") && says(&did, "\"id\":8"), "{did:?}");
    world.finish();
}

#[test]
fn c21_a_task_of_another_session_is_unknown_and_no_request_about_it_reaches_the_server() {
    let (_, other) = given();
    let mut world = polled_with(Config { secret: "another".into(), ..config() });
    world.host(&task_call("7", "write_file", WRITE));
    let own = world.tasks.last().expect("a task").clone();
    assert_ne!(own, other);
    for (id, guess) in [("20", other.as_str()), ("21", "mcp-approve-task-"), ("22", "mcp-approve-task-1")] {
        for method in ["tasks/get", "tasks/result", "tasks/cancel", "tasks/update", "tasks/x"] {
            let before = faults(&world);
            let did = world.host(&about_task(id, method, guess));
            assert!(!passes(&did) && says(&did, "-32602"), "{method} {guess}: {did:?}");
            assert_eq!(faults(&world), before + 1, "it is recorded");
        }
    }
    assert_eq!(world.gate.snapshots().len(), 1, "the call waits on");
    world.finish();
}

#[test]
fn c21_a_result_is_fetched_as_often_as_wanted_and_the_call_runs_once() {
    let (mut world, task) = given();
    world.approve("files-1");
    let did = world.server(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#);
    assert!(says(&did, "\"id\":8"));
    for id in ["20", "21"] {
        let did = world.host(&about_task(id, "tasks/result", &task));
        assert!(!passes(&did) && says(&did, "\"content\":[]"), "{did:?}");
    }
    // The same call again is another one.
    assert_eq!(world.host(&task_call("7", "write_file", WRITE)).len(), 2);
    assert_ne!(world.tasks.last(), Some(&task));
    assert_eq!(world.gate.snapshots().len(), 1);
    world.finish();
}

#[test]
fn c21_a_request_that_waits_for_a_task_keeps_its_id_and_its_host_may_take_it_back() {
    let (mut world, task) = given();
    assert!(says(&world.call("8", "read_file", r#"{"path":"/a"}"#), "-32600"));
    assert!(says(&world.host(&about_task("8", "tasks/get", &task)), "-32600"));
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}"#;
    assert_eq!(world.host(cancel), []);
    assert!(!says(&world.deny("files-1", "no"), "\"id\":8"), "no answer is due");
    world.finish();
    // So many wait, and no more.
    let (mut world, task) = given();
    for id in 100..115 {
        assert_eq!(world.host(&about_task(&id.to_string(), "tasks/result", &task)), []);
    }
    assert!(says(&world.host(&about_task("115", "tasks/result", &task)), "too many"));
    world.finish();
}

#[test]
fn c21_a_host_that_does_not_take_tasks_learns_nothing_of_one() {
    let mut world = polled();
    world.host(&taking_tasks(&modern_call("7", "write_file", WRITE, "")));
    let task = world.tasks.last().expect("a task").clone();
    let plain = format!(r#"{{"jsonrpc":"2.0","id":8,"method":"tasks/get","params":{{"taskId":"{task}"}}}}"#);
    let did = world.host(&plain);
    assert!(says(&did, "-32021") && says(&did, "requiredCapabilities"), "{did:?}");
    let did = world.host(&about_task("9", "tasks/result", &task));
    assert!(says(&did, "-32601"), "the extension has no such request: {did:?}");
    world.finish();
}

#[test]
fn c21_a_server_that_is_a_wrapper_too_keeps_its_own_tasks() {
    let mut world = polled();
    let read = task_call("7", "read_file", r#"{"path":"/a"}"#);
    assert_eq!(world.host(&read), [Did::Forward(read.clone())]);
    let inner = "mcp-approve-task-inner";
    let made = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"task":{{"taskId":"{inner}","status":"working"}}}}}}"#);
    assert_eq!(world.server(&made), [Did::ToHost(made.clone())]);
    let get = about_task("8", "tasks/get", inner);
    assert_eq!(world.host(&get), [Did::ToServer(get.clone())]);
    world.finish();
}

/// However many tasks a host asks for, what is kept is bounded: the rest waits by its requests.
#[test]
fn c21_tasks_are_bounded_in_number() {
    let mut world = polled();
    for id in 100..356 {
        assert_eq!(world.host(&task_call(&id.to_string(), "write_file", WRITE)).len(), 2);
    }
    assert!(matches!(world.host(&task_call("356", "write_file", WRITE)).as_slice(), [Did::Ask(_)]));
    world.finish();
}

/// And so are the requests that wait for their ends: their bytes are bounded together, whatever task each waits for.
#[test]
fn c21_the_requests_that_wait_for_tasks_are_bounded_in_bytes_together() {
    let mut world = polled();
    let padding = "x".repeat(60 << 10);
    let mut taken = 0;
    for task in 100..120 {
        world.host(&task_call(&task.to_string(), "write_file", WRITE));
        let name = world.tasks.last().expect("a task").clone();
        for nth in 0..8 {
            let id = task * 100 + nth;
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tasks/result","params":{{"taskId":"{name}","_meta":{{"x/y":"{padding}"}}}}}}"#
            );
            let did = world.host(&line);
            match did.is_empty() {
                true => taken += line.len(),
                false => assert!(says(&did, "too many"), "{did:?}"),
            }
        }
    }
    assert!(taken > 1 << 20 && taken <= 4 << 20, "{taken}");
    world.finish();
}

/// A write under id 7 that became a task of the extension.
fn extension() -> (World, String) {
    let mut world = polled();
    world.host(&taking_tasks(&modern_call("7", "write_file", WRITE, "")));
    let task = world.tasks.last().expect("a task").clone();
    (world, task)
}

fn denies(method: &str) -> String {
    format!("version = 1\n[[rule]]\nid = \"no\"\ndecision = \"deny\"\nmethod = \"{method}\"\n")
}

/// What a rule keeps out of an answer is kept out of a task's result, however it is spelled.
#[test]
fn c21_a_result_that_asks_the_host_for_something_in_another_spelling_is_no_result() {
    for key in ["inputRequests", "inputRequest\\u0073", "InputRequests", "\\u0069nputRequests"] {
        let (mut world, task) = extension();
        world.policy(&denies("sampling/createMessage"));
        world.approve("files-1");
        world.server(&format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"resultType":"complete","content":[],"{key}":{{"a":{{"method":"sampling/createMessage","params":{{}}}}}}}}}}"#
        ));
        let did = world.host(&about_task("9", "tasks/get", &task));
        assert!(says(&did, "\"id\":9") && !says(&did, "sampling/createMessage"), "{key}: {did:?}");
        world.finish();
    }
}

/// A request that a rule denied never reached the server: nothing waits for its answer.
#[test]
fn c21_denied_requests_about_the_servers_task_leave_nothing_behind() {
    let (mut world, task) = extension();
    world.approve("files-1");
    world.server(r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"task","taskId":"s-1","status":"working"}}"#);
    world.policy(&denies("tasks/update"));
    for id in 100..100 + 256 * 16 {
        assert!(says(&world.host(&about_task(&id.to_string(), "tasks/update", &task)), "Denied by policy"));
    }
    let get = world.host(&about_task("9", "tasks/get", &task));
    assert_eq!(get, [Did::ToServer(about_task("9", "tasks/get", "s-1"))]);
    world.finish();
}

/// A server that takes nothing more leaves no call without an answer: the end of its task is fetched from the gate.
#[test]
fn c21_a_task_ends_for_its_host_though_the_server_takes_nothing_more() {
    let deaf = |world: &mut World| world.step(Event::ServerInputClosed { how: "it closed its input".into() });
    let (mut world, task) = extension();
    deaf(&mut world);
    assert!(says(&world.host(&about_task("9", "tasks/get", &task)), "NOT executed"));
    world.finish();
    let (mut world, task) = extension();
    world.approve("files-1");
    deaf(&mut world);
    assert!(says(&world.host(&about_task("8", "tasks/get", &task)), "working"));
    world.server(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":{"n":1}}}"#);
    assert!(says(&world.host(&about_task("9", "tasks/get", &task)), "structuredContent"));
    let other = r#"{"jsonrpc":"2.0","id":10,"method":"tasks/list"}"#;
    assert_eq!(world.host(other), [], "what the server would have to answer goes nowhere");
    world.finish();
    // What waits for a task of the server's own, which can be asked about no more.
    let (mut world, _) = given();
    world.approve("files-1");
    deaf(&mut world);
    let did = world.server(r#"{"jsonrpc":"2.0","id":7,"result":{"task":{"taskId":"s-1","status":"working"}}}"#);
    assert!(says(&did, "\"id\":8") && says(&did, "takes nothing more"), "{did:?}");
    world.finish();
}

/// Some hosts read keys in any case, and the last of a long line as the first.
#[test]
fn c21_no_spelling_and_no_length_makes_a_line_of_the_server_name_a_task_of_ours() {
    let (mut world, task) = given();
    world.deny("files-1", "no");
    for line in [
        format!(r#"{{"method":"notifications/tasks/status","params":{{"TaskId":"{task}","status":"completed"}}}}"#),
        format!(r#"{{"method":"notifications/tasks","Params":{{"taskId":"{task}","status":"completed"}}}}"#),
        format!(r#"{{"method":"notifications/tasks/Status","params":{{"taskid":"{task}","status":"completed"}}}}"#),
        format!(r#"{{"method":"notifications/tasks","params":{{"taskId":"s","TASKID":"{task}"}}}}"#),
    ] {
        let before = faults(&world);
        assert!(!passes(&world.server(&line)), "{line}");
        assert_eq!(faults(&world), before + 1, "{line}");
    }
    for (id, result) in [
        ("20", format!(r#"{{"Task":{{"taskId":"{task}"}}}}"#)),
        ("21", format!(r#"{{"task":{{"taskid":"{task}"}}}}"#)),
        ("22", format!(r#"{{"resultType":"task","TaskId":"{task}"}}"#)),
    ] {
        world.host(&task_call(id, "read_file", r#"{"path":"/a"}"#));
        let did = world.server(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        assert!(!passes(&did) && says(&did, "names a task of mcp-approve"), "{did:?}");
    }
    let note = |method: &str| Gist::Notification { method: method.into(), cancels: None };
    assert!(!world.gate.streams(&note("notifications/tasks/status")) && world.gate.streams(&note("notifications/x")));
    world.finish();
}
