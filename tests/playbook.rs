//! Transcripts of the gate: what came in, what must go out. Read them as stories.

mod consulted;
mod granted;
mod touched;

use crate::world::{Did, World, call, config, modern_call};
use mcp_approve::audit::record::{By, Kind, VerdictWord};
use mcp_approve::gate::data::event::Side;
use mcp_approve::gate::data::report::OperatorVerdict;
use mcp_approve::gate::{Config, Mode, Unattended};

const WRITE: &str = r#"{"path":"/a","content":"x"}"#;

fn answer(did: &[Did]) -> &str {
    did.iter()
        .find_map(|one| match one {
            Did::Answer(text) => Some(text.as_str()),
            _ => None,
        })
        .unwrap_or_else(|| panic!("no answer in {did:?}"))
}

fn kinds(world: &World) -> Vec<Kind> {
    world.entries.iter().map(|entry| entry.kind).collect()
}

#[test]
fn a_read_is_forwarded_at_once_and_its_answer_relayed() {
    let mut world = World::new().ready();
    let read = call("7", "read_file", r#"{"path":"/a"}"#);
    assert_eq!(world.host(&read), [Did::Forward(read.clone())]);
    let reply = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;
    assert_eq!(world.server(reply), [Did::ToHost(reply.into())]);
    let of_call: Vec<Kind> =
        kinds(&world).into_iter().filter(|kind| matches!(kind, Kind::Decision | Kind::Outcome)).collect();
    assert_eq!(of_call, [Kind::Decision, Kind::Outcome], "an auto-approved call writes two records");
    world.finish();
}

#[test]
fn a_read_waits_for_the_log_and_for_nothing_else() {
    let mut world = World::new().ready();
    world.log_answers = false;
    assert_eq!(world.call("7", "read_file", r#"{"path":"/a"}"#), []);
    let ping = r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#;
    assert_eq!(world.host(ping), [Did::ToServer(ping.into())], "what is not held never waits");
    let mut did = Vec::new();
    for _ in 0..20 {
        did.extend(world.log_takes());
    }
    assert!(matches!(did.as_slice(), [Did::Forward(_)]), "{did:?}");
    world.finish();
}

#[test]
fn a_write_waits_for_the_operator() {
    let mut world = World::new().ready();
    assert_eq!(world.call("7", "write_file", WRITE), [Did::Ask("files-1".into())]);
    let did = world.approve("files-1");
    assert!(did.contains(&Did::Forward(call("7", "write_file", WRITE))), "{did:?}");
    assert!(did.contains(&Did::Settle("files-1".into())));
    world.server(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}}"#);
    let of_call: Vec<Kind> =
        world.entries.iter().filter(|entry| entry.ticket.is_some()).map(|entry| entry.kind).collect();
    assert_eq!(of_call, [Kind::DecisionAsked, Kind::Decision, Kind::Forward, Kind::Outcome]);
    world.finish();
}

#[test]
fn a_denial_reaches_the_model_with_its_reason() {
    let mut world = World::new().ready();
    world.call("7", "delete_file", r#"{"path":"/a"}"#);
    let did = world.deny("files-1", "keep it");
    let text = answer(&did);
    assert!(text.contains(r#""id":7"#) && text.contains(r#""isError":true"#) && text.contains("keep it"), "{text}");
    assert!(text.contains("NOT executed") && !text.contains("structuredContent"), "{text}");
    assert!(!did.iter().any(|one| matches!(one, Did::Forward(_))));
    world.finish();
}

#[test]
fn nobody_answers_before_the_hosts_own_limit() {
    let mut world = World::new().ready();
    world.call("7", "write_file", WRITE);
    assert_eq!(world.wait(50), [], "an unknown host waits 60 s, so 50 s is not over yet");
    let did = world.wait(5);
    assert!(answer(&did).contains("mcp-approve` in a terminal"), "it says how to open the console: {did:?}");
    let late = world.approve("files-1");
    assert!(matches!(late.as_slice(), [Did::Refuse(why)] if why.contains("waits no longer")), "{late:?}");
    let last = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).expect("a decision");
    assert_eq!((last.verdict, last.by), (Some(VerdictWord::Deny), Some(By::Expiry)));
    world.finish();
}

#[test]
fn a_progress_token_is_kept_alive_and_rises_below_zero() {
    let mut world = World::new().ready();
    let line = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"/a","content":"x"},"_meta":{"progressToken":"p1"}}}"#;
    world.host(line);
    let (first, second) = (world.wait(6), world.wait(6));
    let progress = |did: &[Did]| {
        let value: serde_json::Value = serde_json::from_str(answer(did)).expect("JSON");
        assert_eq!(value["params"]["progressToken"], "p1");
        value["params"]["progress"].as_f64().expect("a number")
    };
    let (first, second) = (progress(&first), progress(&second));
    assert!(first < second && second < 0.0, "{first} {second}");
    world.finish();
}

#[test]
fn a_cancel_withdraws_a_held_call_and_beats_a_later_approval() {
    let mut world = World::new().ready();
    world.call("7", "write_file", WRITE);
    let did = world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
    assert_eq!(did, [Did::Settle("files-1".into())], "consumed, not forwarded, not answered");
    assert!(matches!(world.approve("files-1").as_slice(), [Did::Refuse(_)]));
    world.finish();
}

#[test]
fn a_cancel_between_verdict_and_record_still_wins() {
    let mut world = World::new().ready();
    world.call("7", "write_file", WRITE);
    world.log_answers = false;
    world.approve("files-1");
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
    let mut did = Vec::new();
    for _ in 0..5 {
        did.extend(world.log_takes());
    }
    assert!(!did.iter().any(|one| matches!(one, Did::Forward(_) | Did::Answer(_))), "{did:?}");
    assert!(kinds(&world).contains(&Kind::Withdrawn));
    world.finish();
}

#[test]
fn a_cancel_of_a_running_call_passes() {
    let mut world = World::new().ready();
    world.call("7", "read_file", r#"{"path":"/a"}"#);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    assert_eq!(world.host(cancel), [Did::ToServer(cancel.into())]);
    world.finish();
}

#[test]
fn a_full_disk_means_nothing_runs_and_the_host_is_told() {
    let mut world = World::new().ready();
    world.log_answers = false;
    while !matches!(world.log_takes().as_slice(), []) || world.entries.is_empty() {}
    world.call("7", "read_file", r#"{"path":"/a"}"#);
    let mut did = Vec::new();
    for _ in 0..20 {
        did.extend(world.log_fails());
    }
    let text = answer(&did);
    assert!(
        text.contains("could not record") && text.contains("the disk is full") && text.contains("doctor"),
        "{text}"
    );
    assert!(!did.iter().any(|one| matches!(one, Did::Forward(_))));
    assert!(world.gate.status().banner.is_some_and(|banner| banner.contains("disk is full")));
    world.finish();
}

#[test]
fn the_first_verdict_wins_and_the_other_console_is_told() {
    let mut world = World::new().ready();
    world.call("7", "write_file", WRITE);
    world.log_answers = false;
    world.deny("files-1", "no");
    let did = world.approve("files-1");
    assert!(matches!(did.as_slice(), [Did::Refuse(why)] if why.contains("ann has decided it already")), "{did:?}");
    assert!(world.entries.iter().any(|entry| entry.kind == Kind::Fault), "the log shows both");
    world.finish();
}

#[test]
fn a_verdict_for_other_bytes_decides_nothing() {
    let mut world = World::new().ready();
    world.call("7", "write_file", WRITE);
    world.call("8", "delete_file", r#"{"path":"/b"}"#);
    let other = world.cards["files-2"].digest;
    let did = world.decide("files-1", other, OperatorVerdict::Approve { unread: false });
    assert!(matches!(did.as_slice(), [Did::Refuse(_)]), "{did:?}");
    world.finish();
}

#[test]
fn an_edit_is_judged_shown_and_approved_again() {
    let mut world = World::new().ready();
    world.call("7", "write_file", WRITE);
    let before = world.cards["files-1"].digest;
    assert!(
        matches!(world.edit("files-1", r#"{"path":"/a"}"#).as_slice(), [Did::Refuse(why)] if why.contains("schema"))
    );
    assert!(matches!(world.edit("files-1", "{").as_slice(), [Did::Refuse(_)]));
    assert_eq!(world.edit("files-1", r#"{"path":"/b","content":"y"}"#), [Did::Ask("files-1".into())]);
    let card = world.cards["files-1"].clone();
    assert_eq!((card.edited_from, card.original_arguments.as_deref()), (Some(before), Some(WRITE)));
    let late = world.decide("files-1", before, OperatorVerdict::Approve { unread: false });
    assert!(matches!(late.as_slice(), [Did::Refuse(_)]), "the old bytes are not what is shown any more");
    let did = world.approve("files-1");
    assert!(did.contains(&Did::Forward(call("7", "write_file", r#"{"path":"/b","content":"y"}"#))), "{did:?}");
    world.finish();
}

#[test]
fn arguments_that_do_not_fit_are_answered_by_revision() {
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
    assert!(answer(&did).contains("-32602"), "{did:?}");
    world.finish();
    old.finish();
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
    assert!(answer(&did).contains("-32601"), "{did:?}");
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
fn a_retry_continues_its_approval_once_and_only_on_an_exact_match() {
    let mut world = World::new().ready();
    world.host(&modern_call("7", "write_file", WRITE, ""));
    world.approve("files-1");
    let more = r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s1","inputRequests":{"who":{}}}}"#;
    world.server(more);
    let other = modern_call(
        "8",
        "write_file",
        r#"{"path":"/b","content":"x"}"#,
        r#","requestState":"s1","inputResponses":{"who":{}}"#,
    );
    assert!(world.host(&other).contains(&Did::Ask("files-2".into())), "other arguments are a new call");
    let retry = modern_call("9", "write_file", WRITE, r#","requestState":"s1","inputResponses":{"who":{}}"#);
    assert_eq!(world.host(&retry), [Did::Forward(retry.clone())]);
    let again = retry.replace("\"id\":9", "\"id\":10");
    assert!(world.host(&again).contains(&Did::Ask("files-4".into())), "an approval is continued once");
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

#[test]
fn the_server_dies_with_one_call_waiting_and_one_running() {
    let mut world = World::new().ready();
    world.call("7", "write_file", WRITE);
    world.call("8", "read_file", r#"{"path":"/a"}"#);
    let did = world.close(Side::Server);
    let answers: Vec<&String> =
        did.iter().filter_map(|one| if let Did::Answer(text) = one { Some(text) } else { None }).collect();
    assert_eq!(answers.len(), 2, "{did:?}");
    assert!(answers[0].contains(r#""id":7"#) && answers[0].contains("NOT executed"), "{answers:?}");
    assert!(answers[1].contains(r#""id":8"#) && answers[1].contains("UNKNOWN"), "{answers:?}");
    world.finish();
}

#[test]
fn the_host_goes_and_what_waits_is_withdrawn() {
    let mut world = World::new().ready();
    world.call("7", "write_file", WRITE);
    assert_eq!(world.close(Side::Host), [Did::Settle("files-1".into()), Did::Close("server")]);
    world.finish();
}

#[test]
fn observing_lets_pass_what_would_have_been_asked_and_says_so() {
    let mut world = World::with(Config { mode: Mode::Observe, ..config() }, "").ready();
    let write = call("7", "write_file", WRITE);
    assert_eq!(world.host(&write), [Did::Forward(write.clone())]);
    let last = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).expect("a decision");
    assert_eq!(last.by, Some(By::Observe));
    world.finish();
}

#[test]
fn unattended_deny_does_not_wait() {
    let mut world = World::with(Config { unattended: Unattended::Deny, ..config() }, "").ready();
    let did = world.call("7", "write_file", WRITE);
    assert!(answer(&did).contains("no console is open"), "{did:?}");
    let last = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).expect("a decision");
    assert_eq!((last.verdict, last.by), (Some(VerdictWord::Deny), Some(By::Default)), "no time ran out");
    world.finish();
}

#[test]
fn a_rule_denies_and_is_named() {
    let policy = "version = 1\n[[rule]]\nid = \"no-deletes\"\ndecision = \"deny\"\ntool = \"delete_*\"\n";
    let mut world = World::with(config(), policy).ready();
    let did = world.call("7", "delete_file", r#"{"path":"/a"}"#);
    assert!(answer(&did).contains("no-deletes"), "{did:?}");
    world.finish();
}

#[test]
fn an_id_in_flight_cannot_be_used_again() {
    let mut world = World::new().ready();
    world.call("7", "write_file", WRITE);
    let did = world.call("7", "delete_file", r#"{"path":"/a"}"#);
    assert!(answer(&did).contains("-32600"), "{did:?}");
    assert_eq!(world.call("\"7\"", "write_file", WRITE), [Did::Ask("files-2".into())], "a text is another id");
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
    assert!(matches!(did.as_slice(), [Did::Query(_), Did::ToHost(_)]), "{did:?}");
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

#[test]
fn a_server_cannot_answer_a_call_it_was_never_asked() {
    let mut world = World::new().ready();
    world.call("7", "write_file", WRITE);
    assert_eq!(world.server(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#), [], "dropped");
    assert!(world.entries.iter().any(|entry| entry.kind == Kind::Fault));
    assert!(world.gate.keeps_back(&mcp_approve::wire::id::Id::integer("7")));
    world.finish();
}

#[test]
fn a_cancelled_id_stays_taken_until_its_answer_comes() {
    let mut world = World::new().ready();
    world.call("7", "read_file", r#"{"path":"/a"}"#);
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
    assert!(answer(&world.call("7", "read_file", r#"{"path":"/b"}"#)).contains("-32600"));
    let late = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;
    assert_eq!(world.server(late), [Did::ToHost(late.into())]);
    let outcomes = world.entries.iter().filter(|entry| entry.kind == Kind::Outcome).count();
    assert_eq!(outcomes, 1, "one outcome, whatever comes late");
    assert!(matches!(world.call("7", "read_file", r#"{"path":"/b"}"#).as_slice(), [Did::Forward(_)]));
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

#[test]
fn a_call_under_the_id_of_an_unanswered_request_is_refused() {
    let mut world = World::new().ready();
    world.host(r#"{"jsonrpc":"2.0","id":78,"method":"ping"}"#);
    assert!(answer(&world.call("78", "read_file", r#"{"path":"/a"}"#)).contains("-32600"));
    world.server(r#"{"jsonrpc":"2.0","id":78,"result":{}}"#);
    assert!(matches!(world.call("78", "read_file", r#"{"path":"/a"}"#).as_slice(), [Did::Forward(_)]));
    world.finish();
}

#[test]
fn nothing_is_decided_once_the_wrapper_stops_or_the_server_is_deaf() {
    use mcp_approve::gate::data::event::Event;
    let mut world = World::new().ready();
    world.step(Event::Shutdown { why: "SIGTERM".into() });
    assert!(answer(&world.call("7", "read_file", r#"{"path":"/a"}"#)).contains("NOT executed"));
    world.finish();
    let mut world = World::new().ready();
    world.call("7", "read_file", r#"{"path":"/a"}"#);
    world.call("8", "write_file", WRITE);
    let did = world.step(Event::Deaf { how: "it closed its input".into() });
    assert!(answer(&did).contains(r#""id":8"#), "{did:?}");
    let reply = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;
    assert_eq!(world.server(reply), [Did::ToHost(reply.into())], "what it still says is heard");
    assert!(answer(&world.call("9", "read_file", r#"{"path":"/a"}"#)).contains("Closed"));
    world.finish();
}

/// An allow with a rate lets so many calls run, and asks for the next one until the time is over.
#[test]
fn a_rate_is_counted_by_the_gate() {
    let rules = "version = 1\n[[rule]]\nid = \"few\"\ndecision = \"allow\"\ntool = \"write_file\"\nwhen = [{ rate = { most = 2, per = \"1m\" } }]\n";
    let mut world = World::with(config(), rules).ready();
    let asked = |did: &[Did]| did.iter().any(|one| matches!(one, Did::Ask(_)));
    let call = |world: &mut World, id: &str| {
        let did = world.call(id, "write_file", r#"{"path":"/a","content":"x"}"#);
        asked(&did)
    };
    assert_eq!([call(&mut world, "1"), call(&mut world, "2"), call(&mut world, "3")], [false, false, true]);
    world.wait(61);
    assert!(!call(&mut world, "4"), "the time is over");
}

#[test]
fn a_rule_that_was_over_stays_so_when_the_clock_is_set_back() {
    const DAY: i64 = 86_400_000;
    let policy =
        "version = 1\n[[rule]]\nid = \"until\"\ndecision = \"allow\"\ntool = \"write_file\"\nexpires = 2026-11-22\n";
    let mut world = World::with(crate::world::config(), policy).ready();
    // Noon of the day before.
    world.now.wall = 1_795_255_200_000;
    assert!(matches!(world.call("1", "write_file", WRITE).as_slice(), [Did::Forward(_)]));
    world.now.wall += 3 * DAY;
    assert!(matches!(world.call("2", "write_file", WRITE).as_slice(), [Did::Ask(_)]));
    world.now.wall -= 3 * DAY;
    assert!(matches!(world.call("3", "write_file", WRITE).as_slice(), [Did::Ask(_)]));
    world.finish();
}

#[test]
fn a_path_outside_of_the_roots_that_the_host_declared_is_asked_about() {
    let mut world = World::new().ready();
    let asked = |did: &[Did]| did.iter().any(|one| matches!(one, Did::Ask(_)));
    assert!(!asked(&world.call("1", "read_file", r#"{"path":"/etc/hosts"}"#)), "no roots were declared");
    world.server(r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":5,"result":{"roots":[{"uri":"file:///"}]}}"#);
    assert!(!asked(&world.call("2", "read_file", r#"{"path":"/etc/hosts"}"#)), "that answers another question");
    world.host(r#"{"jsonrpc":"2.0","id":0,"result":{"roots":[{"uri":"file:///home/ada/my%20work"}]}}"#);
    for (id, path, outside) in [
        ("3", "/etc/hosts", true),
        ("4", "/home/ada/my work/a.md", false),
        ("5", "/home/ada/my work/../a.md", true),
        ("6", "/home/ada/my workshop/a.md", true),
        ("7", "a.md", false),
    ] {
        let did = world.call(id, "read_file", &format!(r#"{{"path":"{path}"}}"#));
        assert_eq!(asked(&did), outside, "{path}: {did:?}");
    }
    world.finish();
}

#[test]
fn a_file_that_is_not_there_is_made_with_one_key_and_one_that_is_takes_two() {
    let mut world = World::new().ready();
    world.disk.insert("/work/a.md".into(), ("/work/a.md".into(), "before".into()));
    for (id, path, dangerous) in [("1", "/work/a.md", true), ("2", "/work/b.md", false), ("3", "b.md", true)] {
        world.call(id, "write_file", &format!(r#"{{"path":"{path}","content":"x"}}"#));
        let danger = world.gate.snapshots().last().and_then(|call| call.danger.clone());
        assert_eq!(danger.is_some(), dangerous, "{path}: {danger:?}");
    }
}
