//! A call that waits for longer than its host waits for one request: the host is asked to come back, and does, or does not.

use mcp_approve::audit::record::{By, Kind, VerdictWord};
use mcp_approve::gate::data::event::Side;
use mcp_approve::gate::{Config, ForwardOrder};

use super::{WRITE, answer};
use crate::world::{Did, World, call, config, modern_call};

/// A world with a write under id 7 that has waited for as long as its host waits: the state that the host was given.
fn left(mut world: World) -> (World, String) {
    let first = modern_call("7", "write_file", WRITE, "");
    assert_eq!(world.host(&first), [Did::Ask("files-1".into())]);
    let state = state(&world.wait(55), "7");
    (world, state)
}

/// The state with which a host is to come back, as an answer to this request.
fn state(did: &[Did], id: &str) -> String {
    let text: serde_json::Value = serde_json::from_str(answer(did)).expect("JSON");
    assert_eq!((text["id"].to_string().as_str(), &text["result"]["resultType"]), (id, &"input_required".into()));
    assert_eq!(text["result"].as_object().map(serde_json::Map::len), Some(2), "a state and nothing else");
    text["result"]["requestState"].as_str().expect("a state").to_owned()
}

fn back(id: &str, state: &str) -> String {
    modern_call(id, "write_file", WRITE, &format!(r#","requestState":"{state}""#))
}

fn kinds(world: &World) -> Vec<Kind> {
    world.entries.iter().filter(|entry| entry.ticket.as_deref() == Some("files-1")).map(|entry| entry.kind).collect()
}

fn forwards(did: &[Did]) -> usize {
    did.iter().filter(|one| matches!(one, Did::Forward(_))).count()
}

/// The last decision: of which call, what, and by whom.
fn last_decision(world: &World) -> (Option<&str>, Option<VerdictWord>, Option<By>) {
    let last = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).expect("a decision");
    (last.ticket.as_deref(), last.verdict, last.by)
}

#[test]
fn a_wait_past_the_hosts_limit_ends_in_success() {
    let (mut world, state) = left(World::new().ready());
    assert_eq!(world.host(&back("8", &state)), [], "it waits on: no second card, no second call");
    assert_eq!(world.wait(50), []);
    let did = world.approve("files-1");
    assert!(
        did.contains(&Did::Forward(modern_call("7", "write_file", WRITE, ""))),
        "the first request's bytes: {did:?}"
    );
    let reply =
        r#"{"result":{"content":[{"type":"text","text":"done"}],"resultType":"complete"},"jsonrpc":"2.0","id":7}"#;
    assert_eq!(world.server(reply), [Did::Answer(reply.replace("\"id\":7", "\"id\":8"))]);
    use Kind::{Decision, DecisionAsked, Forward, Outcome, RoundTrip};
    assert_eq!(kinds(&world), [DecisionAsked, RoundTrip, RoundTrip, Decision, Forward, Outcome]);
    world.finish();
}

#[test]
fn approved_while_the_host_is_away_it_runs_when_the_host_is_back() {
    let (mut world, state) = left(World::new().ready());
    assert_eq!(forwards(&world.approve("files-1")), 0, "nobody waits for what it would answer");
    assert_eq!(forwards(&world.host(&back("8", &state))), 1);
    world.finish();
    // It was looked at before it was approved, and is looked at again before it runs.
    let (mut world, state) = left(World::new().ready());
    world.approve("files-1");
    world.disk.insert("/a".into(), ("/a".into(), "something new".into()));
    let did = world.host(&back("8", &state));
    assert_eq!(forwards(&did), 0);
    assert!(answer(&did).contains("\"id\":8") && answer(&did).contains("NOT executed"), "{did:?}");
    world.finish();
}

#[test]
fn a_denial_waits_for_the_host_and_is_given_once() {
    let (mut world, state) = left(World::new().ready());
    let did = world.deny("files-1", "keep it");
    assert!(!did.iter().any(|one| matches!(one, Did::Answer(_))), "{did:?}");
    let did = world.host(&back("8", &state));
    assert!(answer(&did).contains("\"id\":8") && answer(&did).contains("keep it"), "{did:?}");
    assert!(answer(&world.host(&back("9", &state))).contains("used before"));
    assert_eq!(last_decision(&world), (Some("files-2"), Some(VerdictWord::Deny), Some(By::Fault)));
    world.finish();
}

#[test]
fn a_host_that_does_not_come_back_runs_nothing() {
    for is_approved in [false, true] {
        let (mut world, state) = left(World::new().ready());
        if is_approved {
            world.approve("files-1");
        }
        let did = world.wait(61);
        assert!(did.contains(&Did::Settle("files-1".into())) && forwards(&did) == 0, "{did:?}");
        let last = world.entries.last().expect("a record");
        assert_eq!((last.kind, last.by), (Kind::Withdrawn, Some(By::Expiry)));
        let late = world.host(&back("8", &state));
        assert!(answer(&late).contains("has expired") && answer(&late).contains("NOT executed"), "{late:?}");
        world.finish();
    }
}

#[test]
fn only_the_same_call_of_the_same_host_comes_back() {
    let others: [fn(&str) -> String; 4] = [
        |state| back("8", state).replace("\"content\":\"x\"", "\"content\":\"y\""),
        |state| back("8", state).replace("\"name\":\"modern\"", "\"name\":\"other\""),
        |state| back("8", state).replace("\"requestState\"", "\"inputResponses\":{\"a\":1},\"requestState\""),
        |state| call("8", "write_file", WRITE).replace("\"name\"", &format!("\"requestState\":\"{state}\",\"name\"")),
    ];
    for other in others {
        let (mut world, state) = left(World::new().ready());
        let line = other(&state);
        let did = world.host(&line);
        assert!(answer(&did).contains("another call") && forwards(&did) == 0, "{line}: {did:?}");
        assert!(did.contains(&Did::Settle("files-1".into())), "nobody will come back for it: {did:?}");
        assert!(matches!(world.approve("files-1").as_slice(), [Did::Refuse(_)]));
        assert!(answer(&world.host(&back("9", &state))).contains("used before"), "a state counts once");
        world.finish();
    }
    // A state that was never given out.
    let (mut world, state) = left(World::new().ready());
    let forged = format!("{}0", &state[..state.len() - 1]);
    let forged = if forged == state { format!("{}1", &state[..state.len() - 1]) } else { forged };
    assert!(answer(&world.host(&back("8", &forged))).contains("NOT executed"));
    assert_eq!(world.host(&back("9", &state)), [], "that one still counts");
    world.finish();
}

#[test]
fn a_cancel_of_any_request_withdraws_the_call_and_its_ids_stay_taken_until_then() {
    let cancel = |id: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"r"}}}}"#)
    };
    for id in ["7", "8"] {
        let (mut world, state) = left(World::new().ready());
        world.host(&back("8", &state));
        for taken in ["7", "8"] {
            assert!(answer(&world.call(taken, "read_file", r#"{"path":"/a"}"#)).contains("-32600"), "{taken}");
        }
        assert_eq!(world.host(&cancel(id)), [Did::Settle("files-1".into())]);
        world.finish();
    }
    // While it runs the server hears of it under the id it knows, and what the server answers goes to the last one.
    let (mut world, state) = left(World::new().ready());
    world.host(&back("8", &state));
    world.approve("files-1");
    assert!(answer(&world.call("8", "read_file", r#"{"path":"/a"}"#)).contains("-32600"));
    assert_eq!(world.server(r#"{"jsonrpc":"2.0","id":8,"result":{"content":[]}}"#), [], "no answer under that id");
    assert_eq!(world.host(&cancel("8")), [Did::Query(cancel("7"))]);
    world.finish();
}

#[test]
fn a_host_is_asked_to_come_back_eight_times() {
    let (mut world, mut last) = left(World::with(Config { approval_timeout: 3_600_000_000, ..config() }, "").ready());
    for id in 8..15 {
        assert_eq!(world.host(&back(&id.to_string(), &last)), []);
        last = state(&world.wait(55), &id.to_string());
    }
    world.host(&back("15", &last));
    let did = world.wait(55);
    assert!(answer(&did).contains("No decision") && answer(&did).contains("\"id\":15"), "{did:?}");
    assert_eq!(kinds(&world).iter().filter(|kind| **kind == Kind::RoundTrip).count(), 16, "each way is recorded");
    world.finish();
}

#[test]
fn the_servers_own_state_reaches_the_server() {
    let mut world = World::new().ready();
    let first = modern_call("7", "write_file", WRITE, r#","requestState":"the server's","inputResponses":{"a":{}}"#);
    world.host(&first);
    let state = state(&world.wait(55), "7");
    assert_eq!(world.host(&back("8", &state)), []);
    assert!(world.approve("files-1").contains(&Did::Forward(first)));
    // And a question of the server's is answered under the same approval.
    let more = r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s2","inputRequests":{"b":{}}}}"#;
    assert_eq!(world.server(more), [Did::Answer(more.replace("\"id\":7", "\"id\":8"))]);
    let retry = modern_call("9", "write_file", WRITE, r#","requestState":"s2","inputResponses":{"b":{}}"#);
    assert_eq!(world.host(&retry), [Did::Forward(retry.clone())]);
    world.finish();
}

#[test]
fn a_server_that_is_a_wrapper_too_gets_its_own_state_back() {
    let mut world = World::new().ready();
    world.host(&modern_call("7", "write_file", WRITE, ""));
    world.approve("files-1");
    world.server(
        r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"mcp-approve:inner"}}"#,
    );
    assert_eq!(world.host(&back("8", "mcp-approve:inner")), [Did::Forward(back("8", "mcp-approve:inner"))]);
    assert!(answer(&world.host(&back("9", "mcp-approve:inner"))).contains("used before"));
    world.finish();
}

#[test]
fn what_a_server_asks_inside_its_answer_is_held_for_the_request_that_is_open() {
    let rule = "version = 1\n[[rule]]\nid = \"ask\"\ndecision = \"ask\"\nmethod = \"elicitation/create\"\n";
    let (mut world, state) = left(World::with(config(), rule).ready());
    world.host(&back("8", &state));
    world.approve("files-1");
    let question = r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?"}}}}}"#;
    assert_eq!(world.server(question), [Did::Ask("files-2".into())]);
    let did = world.deny("files-2", "no questions");
    assert!(answer(&did).contains("\"id\":8") && answer(&did).contains("no questions"), "{did:?}");
    world.finish();
}

#[test]
fn what_the_operator_edited_runs_for_the_host_that_came_back() {
    let mut world = World::new().ready();
    world.host(&modern_call("7", "write_file", WRITE, ""));
    world.edit("files-1", r#"{"path":"/b","content":"x"}"#);
    let state = state(&world.wait(55), "7");
    assert_eq!(world.host(&back("8", &state)), [], "the host repeats what it sent");
    let edited = modern_call("7", "write_file", r#"{"path":"/b","content":"x"}"#, "");
    assert!(world.approve("files-1").contains(&Did::Forward(edited)));
    // What the server asks then is not answered under that approval: the host repeats what was not approved.
    world.server(r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s2"}}"#);
    let did = world.host(&modern_call("9", "write_file", WRITE, r#","requestState":"s2""#));
    assert!(forwards(&did) == 0 && did.contains(&Did::Ask("files-2".into())), "{did:?}");
    world.finish();
}

#[test]
fn only_requests_of_2026_07_28_without_a_saving_progress_are_let_wait_so() {
    let mut world = World::new().ready();
    world.call("1", "write_file", WRITE);
    assert!(answer(&world.wait(55)).contains("No decision"), "a request of an earlier revision");
    let modern = modern_call("2", "write_file", WRITE, "");
    world.host(&modern.replace("2026-07-28", "2027-01-01"));
    assert!(answer(&world.wait(55)).contains("No decision"), "a revision that we do not know");
    let token = modern.replace("\"_meta\":{", "\"_meta\":{\"progressToken\":5,");
    world.host(&token.replace("\"name\":\"modern\"", "\"name\":\"claude-code\""));
    assert!(answer(&world.wait(55)).contains("notifications/progress"), "its limit starts anew with each");
    world.finish();
}

#[test]
fn progress_goes_on_under_the_token_of_the_open_request() {
    let mut world = World::new().ready();
    let token =
        |line: String, token: &str| line.replace("\"_meta\":{", &format!("\"_meta\":{{\"progressToken\":{token},"));
    world.host(&token(modern_call("7", "write_file", WRITE, ""), "\"a\""));
    let did = world.wait(55);
    let given = did.iter().find(|one| format!("{one:?}").contains("input_required")).expect("a state").clone();
    assert!(!world.wait(3).iter().any(|one| matches!(one, Did::Answer(_))), "no request is open");
    world.host(&token(back("8", &state(&[given], "7")), "\"b\""));
    let beat: serde_json::Value = serde_json::from_str(answer(&world.wait(1))).expect("a heartbeat");
    assert_eq!(beat["params"]["progressToken"], "b");
    let beats = beat["params"]["progress"].as_u64().expect("a whole number");
    assert!(beats > 0, "{beat}");
    world.approve("files-1");
    let report = |token: &str, progress: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress}}}}}"#
        )
    };
    for (server, host) in [("0", beats + 1), ("4", beats + 5)] {
        assert_eq!(world.server(&report("\"a\"", server)), [Did::Answer(report("\"b\"", &host.to_string()))]);
    }
    let of_ten = |progress: f64, of: u64| format!(r#"{progress},"total":{of}"#);
    let (server, host) = (of_ten(4.5, 10), of_ten(4.5 + (beats + 1) as f64, 10 + beats + 1));
    assert_eq!(world.server(&report("\"a\"", &server)), [Did::Answer(report("\"b\"", &host))]);
    assert_eq!(world.server(&report("\"c\"", "1")), [Did::ToHost(report("\"c\"", "1"))]);
    let did = world.close(Side::Server);
    assert!(answer(&did).contains("\"id\":8") && answer(&did).contains("UNKNOWN"), "{did:?}");
    world.finish();
}

#[test]
fn in_order_a_call_waits_for_one_whose_host_is_away() {
    let (mut world, state) = left(World::with(Config { order: ForwardOrder::Sent, ..config() }, "").ready());
    let read = call("1", "read_file", r#"{"path":"/a"}"#);
    assert_eq!(world.host(&read), []);
    assert_eq!(forwards(&world.approve("files-1")), 0);
    assert_eq!(forwards(&world.host(&back("8", &state))), 2);
    world.finish();
}

#[test]
fn the_end_of_host_or_wrapper_ends_what_waits_for_the_host() {
    for end in 0..3 {
        let (mut world, _) = left(World::new().ready());
        world.approve("files-1");
        let did = match end {
            0 => world.close(Side::Host),
            1 => world.close(Side::Server),
            _ => world.step(mcp_approve::gate::data::event::Event::Shutdown { why: "SIGTERM".into() }),
        };
        assert!(did.contains(&Did::Settle("files-1".into())) && forwards(&did) == 0, "{end}: {did:?}");
        world.finish();
    }
}
