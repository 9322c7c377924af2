//! What a server tells its host passes at once, and the log has it: with its payload, but never more of it than a log can bear.

use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::gate::data::event::Event;
use serde_json::json;

use crate::world::{Did, TOOLS, World, keyed};

fn events(world: &World) -> Vec<&Entry> {
    world.entries.iter().filter(|entry| entry.kind == Kind::Event).collect()
}

fn notice(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{params}}}"#)
}

#[test]
fn each_kind_of_event_is_a_record_with_what_it_is_about() {
    let mut world = World::new().ready();
    for (method, params, target) in [
        ("message", r#"{"level":"info","data":{"event":"on_job_complete","run_id":"run-1"}}"#, Some("on_job_complete")),
        ("message", r#"{"level":"info","data":"hello"}"#, Some("hello")),
        ("resources/updated", r#"{"uri":"lab:///a"}"#, Some("lab:///a")),
        ("progress", r#"{"progressToken":"p","progress":1,"total":2}"#, Some("p")),
        ("tasks/status", r#"{"taskId":"t","status":"completed"}"#, Some("t")),
        ("tools/list_changed", "{}", None),
    ] {
        let line = notice(method, params);
        let did = world.server(&line);
        assert_eq!(did.first(), Some(&Did::ToHost(line.clone())), "{method} passes at once: {did:?}");
        let event = *events(&world).last().expect("a record");
        assert_eq!(
            (event.tool.as_deref(), event.target.as_deref()),
            (Some(&*format!("notifications/{method}")), target)
        );
        assert_eq!(event.arguments.as_deref(), Some(params), "{method}");
        assert_eq!(event.digest, Some(keyed(&line)));
    }
}

#[test]
fn a_flood_of_events_is_counted_and_a_secret_in_one_is_not_shown() {
    const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let mut world = World::new().ready();
    world.step(Event::Attached { who: "ann".into(), attached: 1 });
    world.server(&notice("message", &format!(r#"{{"level":"info","data":"key {SECRET}"}}"#)));
    let shown = world.shown.last().expect("it is shown");
    assert!(shown.reason.contains("key [secret]") && !shown.reason.contains(SECRET), "{shown:?}");
    for _ in 0..100 {
        world.server(&notice("message", r#"{"level":"info","data":"x"}"#));
    }
    assert_eq!(events(&world).len(), 8, "of one method");
    for nth in 0..100 {
        world.server(&notice(&format!("x{nth}"), "{}"));
    }
    assert_eq!(events(&world).len(), 32, "of all methods");
    world.wait(60);
    let counted = world.entries.iter().rfind(|entry| entry.kind == Kind::Passed).expect("the numbers");
    assert!(counted.detail.get("passed").expect("rows").to_string().contains(r#""lines":101"#));
    world.server(&notice("message", r#"{"level":"info","data":"later"}"#));
    assert_eq!(events(&world).len(), 33, "a later one is recorded again");
    // One too long to be read has its digest alone.
    world.server(&notice("message", &format!(r#"{{"data":"{}"}}"#, "x".repeat(70_000))));
    assert_eq!(events(&world).last().unwrap().arguments.as_deref(), None);
}

#[test]
fn a_tool_that_comes_in_mid_session_is_a_record_and_new() {
    let mut world = World::new().ready();
    world.server(&notice("tools/list_changed", "{}"));
    assert_eq!(events(&world).last().unwrap().tool.as_deref(), Some("notifications/tools/list_changed"));
    world.host(r#"{"jsonrpc":"2.0","id":"m","method":"tools/list"}"#);
    let more = TOOLS
        .replace('\n', "")
        .replace("}]", r#"},{"name":"wipe_disk","description":"Wipes a disk.","inputSchema":{"type":"object"}}]"#);
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"m","result":{{"tools":{more}}}}}"#));
    let added = world.entries.iter().rfind(|entry| entry.kind == Kind::Tools).expect("a record");
    assert_eq!((added.tool.as_deref(), added.detail.get("definition")), (Some("wipe_disk"), Some(json!("new"))));
}
