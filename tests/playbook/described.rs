//! Calls before, during and after the server describes its tools: handshake, lists, revisions, changed definitions.

use crate::world::{Did, World, call, modern_call};
use mcp_approve::audit::record::Kind;
use mcp_approve::gate::data::event::Side;

use super::{WRITE, answer, kinds};

#[test]
fn arguments_that_do_not_fit_are_answered_with_a_result_on_every_revision() {
    let mut world = World::new().ready();
    let did = world.call("7", "read_file", r#"{"file":"/a"}"#);
    assert!(answer(&did).contains(r#""isError":true"#) && answer(&did).contains("path"), "{did:?}");
    let mut old = World::new();
    old.host(r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}"#);
    old.server(r#"{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#);
    old.host(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    old.host(r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#);
    old.server(&format!(
        r#"{{"jsonrpc":"2.0","id":"l","result":{{"tools":{}}}}}"#,
        crate::world::TOOLS.replace('\n', " ")
    ));
    let did = old.call("7", "read_file", "{}");
    assert!(answer(&did).contains(r#""isError":true"#) && answer(&did).contains("path"), "{did:?}");
    world.finish();
    old.finish();
}

#[test]
fn a_server_that_takes_more_than_its_schema_says_can_be_left_to_it() {
    use mcp_approve::behavior::hazards::HazardKind;
    use mcp_approve::capability::schema::Mismatch;
    use mcp_approve::gate::{Config, Mode};
    let table = [
        (Mismatch::Refuse, Mode::Enforce, "refused"),
        (Mismatch::Warn, Mode::Enforce, "asked"),
        (Mismatch::WarnFor(vec!["read_file".into()]), Mode::Enforce, "asked"),
        (Mismatch::WarnFor(vec!["write_file".into()]), Mode::Enforce, "refused"),
        (Mismatch::Refuse, Mode::Observe, "passed"),
    ];
    for (mismatch, mode, expected) in table {
        // An allow does not cover what does not fit.
        let policy = "version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\ntool = \"read_*\"\n";
        let mut world = World::with(Config { mismatch, mode, ..crate::world::config() }, policy).ready();
        let did = world.call("7", "read_file", r#"{"path":7}"#);
        let found = match did.as_slice() {
            [Did::Ask(ticket)] => {
                let hazard = &world.cards[ticket].hazards[0];
                assert_eq!(hazard.kind, HazardKind::SchemaMismatch);
                assert!(hazard.what.contains("/path"), "{}", hazard.what);
                "asked"
            }
            [Did::Forward(_)] => {
                let decided = world.entries.iter().find(|entry| entry.kind == Kind::Decision).expect("a decision");
                assert!(format!("{:?}", decided.detail).contains("schema-mismatch"), "{decided:?}");
                "passed"
            }
            _ => "refused",
        };
        assert_eq!(found, expected);
        world.finish();
    }
}

#[test]
fn observing_refuses_no_tool_that_the_server_does_not_list() {
    use mcp_approve::gate::{Config, Mode};
    let mut world = World::with(Config { mode: Mode::Observe, ..crate::world::config() }, "").ready();
    let did = world.call("7", "no_such_tool", "{}");
    let [Did::Query(question)] = did.as_slice() else { panic!("{did:?}") };
    let question: serde_json::Value = serde_json::from_str(question).expect("JSON");
    let did = world.server(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":[]}}}}"#, question["id"]));
    assert_eq!(did, [Did::Forward(call("7", "no_such_tool", "{}"))]);
    world.finish();
}

#[test]
fn a_call_before_any_list_makes_us_ask_under_our_own_id() {
    let mut world = World::new();
    world.host(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#);
    world.server(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#);
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let read = call("7", "read_file", r#"{"path":"/a"}"#);
    let did = world.host(&read);
    let [Did::Query(question)] = did.as_slice() else { panic!("{did:?}") };
    let question: serde_json::Value = serde_json::from_str(question).expect("JSON");
    assert_eq!(question["method"], "tools/list");
    let reply = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":{}}}}}"#,
        question["id"],
        crate::world::TOOLS.replace('\n', " ")
    );
    assert_eq!(world.server(&reply), [Did::Forward(read)], "our own answer is swallowed, the call goes on");
    world.finish();
}

#[test]
fn a_tool_the_server_does_not_have_is_asked_for_once_more() {
    let mut world = World::new().ready();
    let did = world.call("7", "no_such_tool", "{}");
    let [Did::Query(question)] = did.as_slice() else { panic!("{did:?}") };
    let question: serde_json::Value = serde_json::from_str(question).expect("JSON");
    let reply = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":[]}}}}"#, question["id"]);
    let did = world.server(&reply);
    assert!(answer(&did).contains("-32602"), "{did:?}");
    world.finish();
}

#[test]
fn a_server_that_does_not_describe_leaves_the_operator_to_judge() {
    let mut world = World::new().ready();
    world.call("7", "no_such_tool", "{}");
    assert_eq!(world.wait(6), [Did::Ask("files-1".into())]);
    let card = &world.cards["files-1"];
    assert_eq!(card.identity.to_string(), "MUTATES|UNKNOWN|UNKNOWN");
    world.finish();
}

#[test]
fn a_call_before_the_handshake_is_refused_with_the_phase() {
    let mut world = World::new();
    let did = world.call("7", "write_file", WRITE);
    assert!(answer(&did).contains("-32600") && answer(&did).contains("Opening"), "{did:?}");
    world.finish();
}

#[test]
fn a_stateless_call_needs_no_handshake_and_its_answer_says_so() {
    let mut world = World::new();
    let did = world.host(&modern_call("7", "write_file", WRITE, ""));
    let [Did::Query(question)] = did.as_slice() else { panic!("{did:?}") };
    assert!(question.contains("2026-07-28") && !question.contains("progressToken"), "{question}");
    let id: serde_json::Value = serde_json::from_str(question).expect("JSON");
    let tools = crate::world::TOOLS.replace('\n', " ");
    world.server(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"complete","tools":{tools}}}}}"#,
        id["id"]
    ));
    let did = world.deny("files-1", "no");
    assert!(answer(&did).contains(r#""resultType":"complete""#), "{did:?}");
    world.finish();
}

#[test]
fn a_changed_definition_asks_even_for_a_read() {
    let mut world = World::new().ready();
    world.server(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"l2","method":"tools/list"}"#);
    let changed = crate::world::TOOLS.replace("Reads a file.", "Reads a file, always.").replace('\n', " ");
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"l2","result":{{"tools":{changed}}}}}"#));
    assert_eq!(world.call("7", "read_file", r#"{"path":"/a"}"#), [Did::Ask("files-1".into())]);
    world.finish();
}

const OPENS: &str = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

const OPENED: &str = r#"{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;

const CONFIRMS: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[test]
fn calls_written_ahead_of_the_handshake_wait_for_it() {
    let mut world = World::new();
    world.host(OPENS);
    world.host(CONFIRMS);
    assert_eq!(world.call("7", "read_file", r#"{"path":"/a"}"#), []);
    let did = world.server(OPENED);
    assert!(matches!(did.as_slice(), [Did::ToHost(_), Did::Query(_)]), "{did:?}");
    world.finish();
}

#[test]
fn a_call_ahead_of_a_handshake_that_never_comes_ends_on_record() {
    let mut world = World::new();
    world.host(OPENS);
    world.call("7", "read_file", r#"{"path":"/a"}"#);
    world.call("8", "read_file", r#"{"path":"/a"}"#);
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}"#);
    world.close(Side::Host);
    world.wait(2);
    let withdrawn = world.entries.iter().filter(|entry| entry.kind == Kind::Withdrawn).count();
    assert_eq!(withdrawn, 2, "{:?}", kinds(&world));
    world.finish();
}

fn relist(world: &mut World, id: &str, tools: &str) {
    world.host(&format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/list"}}"#));
    let tools = tools.replace('\n', " ");
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"tools":{tools}}}}}"#));
}

#[test]
fn a_tool_that_goes_and_comes_back_changed_has_changed() {
    let mut world = World::new().ready();
    relist(&mut world, "l2", "[]");
    relist(&mut world, "l3", &crate::world::TOOLS.replace("Reads a file.", "Reads any file."));
    assert_eq!(world.call("7", "read_file", r#"{"path":"/a"}"#), [Did::Ask("files-1".into())]);
    world.finish();
}

#[test]
fn a_definition_that_changes_under_a_held_call_is_shown_again_before_it_runs() {
    let mut world = World::new().ready();
    world.call("7", "write_file", WRITE);
    relist(&mut world, "l2", &crate::world::TOOLS.replace("Replaces a file's content.", "Deletes everything."));
    let did = world.approve("files-1");
    assert!(matches!(did.as_slice(), [Did::Ask(_), Did::Refuse(why)] if why.contains("definition")), "{did:?}");
    assert!(world.cards["files-1"].description.as_deref().is_some_and(|text| text.contains("everything")));
    assert!(world.approve("files-1").iter().any(|one| matches!(one, Did::Forward(_))), "what is shown now may run");
    world.finish();
}

#[test]
fn a_list_without_end_is_given_up() {
    let mut world = World::new().ready();
    let mut did = world.call("7", "no_such_tool", "{}");
    for _ in 0..1_100 {
        let Some(Did::Query(question)) = did.first() else { break };
        let question: serde_json::Value = serde_json::from_str(question).expect("JSON");
        let reply = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":[],"nextCursor":"on"}}}}"#, question["id"]);
        did = world.server(&reply);
    }
    assert_eq!(did, [Did::Ask("files-1".into())], "judged by what is known");
    world.finish();
}

#[test]
fn a_late_answer_to_our_own_question_never_reaches_the_host() {
    let mut world = World::new().ready();
    let did = world.call("7", "no_such_tool", "{}");
    let [Did::Query(question)] = did.as_slice() else { panic!("{did:?}") };
    let question: serde_json::Value = serde_json::from_str(question).expect("JSON");
    world.wait(6);
    let reply = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":[]}}}}"#, question["id"]);
    assert_eq!(world.server(&reply), []);
    world.finish();
}
