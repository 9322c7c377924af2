//! Requests of the server inside its answers (`inputRequests`, 2026-07-28): passed, asked about and denied as its own requests
//! are.

use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::gate::data::event::{Event, Side};
use mcp_approve::wire::digest::StreamHasher;
use mcp_approve::wire::id::Id;
use mcp_approve::wire::message::Gist;
use serde_json::Value;

use crate::world::{Did, World, config, modern_call};

const SAMPLE: &str = r#"{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}}"#;
const ELICIT: &str = r#"{"method":"elicitation/create","params":{"message":"your key?"}}"#;
const WRITE: &str = r#"{"path":"/a","content":"x"}"#;
const READ: &str = r#"{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"note:///a"}}"#;

/// The answer to request 6 that asks for these.
fn answer(requests: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":6,"result":{{"resultType":"input_required","requestState":"s","inputRequests":{{{requests}}}}}}}"#
    )
}

fn one(request: &str) -> String {
    answer(&format!(r#""a":{request}"#))
}

/// A gate with a rule for each of these, in which the call of id 6 runs.
fn running(rules: &[(&str, &str)]) -> World {
    let rule = |(decision, method): &(&str, &str)| {
        format!("[[rule]]\nid = '{decision}'\ndecision = '{decision}'\nmethod = '{method}'\n")
    };
    let mut world =
        World::with(config(), &format!("version = 1\n{}", rules.iter().map(rule).collect::<String>())).ready();
    assert_eq!(world.host(&modern_call("6", "write_file", WRITE, "")), [Did::Ask("files-1".into())]);
    let did = world.approve("files-1");
    assert!(did.iter().any(|one| matches!(one, Did::Forward(_))), "{did:?}");
    world
}

fn passes(did: &[Did]) -> bool {
    did.iter().any(|one| matches!(one, Did::ToHost(_) | Did::Forward(_)))
}

/// The one answer to the host.
fn told(did: &[Did]) -> Value {
    let line = did.iter().find_map(|one| if let Did::Answer(line) = one { Some(line) } else { None });
    serde_json::from_str(line.unwrap_or_else(|| panic!("no answer: {did:?}"))).expect("JSON")
}

fn detail(entry: &Entry, name: &str) -> Option<Value> {
    entry.detail.get(name)
}

#[test]
fn without_a_rule_an_answer_passes_and_what_it_asks_is_recorded() {
    let mut world = running(&[]);
    let line = answer(&format!(r#""a":{SAMPLE},"b":{{"method":"roots/list"}}"#));
    assert!(world.server(&line).contains(&Did::ToHost(line.clone())));
    let sampled = world.entries.iter().find(|entry| detail(entry, "from").is_some()).expect("a record of its own");
    assert_eq!((sampled.kind, sampled.tool.as_deref()), (Kind::Passed, Some("sampling/createMessage + roots/list")));
    world.close(Side::Server);
    let rows = world.entries.iter().find_map(|entry| detail(entry, "passed")).expect("the numbers").to_string();
    assert!(rows.contains("sampling/createMessage") && rows.contains("roots/list"), "{rows}");
}

/// Every parser decodes these.
#[test]
fn requests_under_an_escaped_key_are_recorded_too() {
    for key in [r"\u0069nputRequests", r"input\u0052equests", r"inputRequest\u0073"] {
        let mut world = running(&[]);
        let line = one(SAMPLE).replace("inputRequests", key);
        assert!(world.server(&line).contains(&Did::ToHost(line.clone())), "{key}");
        world.close(Side::Server);
        let rows = world.entries.iter().find_map(|entry| detail(entry, "passed")).expect("the numbers").to_string();
        assert!(rows.contains("sampling/createMessage"), "{key}: {rows}");
    }
}

#[test]
fn what_an_answer_asks_for_waits_for_the_operator_and_the_retry_continues_the_call_only_then() {
    let mut world = running(&[("ask", "sampling/*")]);
    assert_eq!(world.server(&one(SAMPLE)), [Did::Ask("files-2".into())]);
    let card = &world.cards["files-2"];
    assert_eq!((card.method.as_deref(), card.target.as_deref()), (Some("sampling/createMessage"), Some("hi")));
    assert!(SAMPLE.contains(&card.arguments), "{}", card.arguments);
    // The host has not been asked yet: what comes is another call.
    let retry = |id| modern_call(id, "write_file", WRITE, r#","requestState":"s","inputResponses":{"a":{}}"#);
    assert_eq!(world.host(&retry("7")), [Did::Ask("files-3".into())]);
    // A second answer under the same id is one to nothing, and the id is taken.
    assert_eq!(world.server(&answer("")), []);
    assert!(matches!(world.host(&modern_call("6", "read_file", WRITE, "")).as_slice(), [Did::Answer(_)]));
    assert!(world.approve("files-2").contains(&Did::Forward(one(SAMPLE))));
    let did = world.host(&retry("8"));
    assert!(did.contains(&Did::Forward(retry("8"))), "{did:?}");
    world.deny("files-3", "");
    world.finish();
}

#[test]
fn a_denied_answer_ends_its_call_with_a_truthful_error() {
    let mut world = running(&[("deny", "elicitation/*")]);
    let did = world.server(&one(ELICIT));
    assert!(!passes(&did), "{did:?}");
    let reply = told(&did);
    assert_eq!((&reply["id"], &reply["result"]["isError"]), (&6.into(), &true.into()), "{reply}");
    let text = reply["result"]["content"][0]["text"].as_str().expect("text");
    assert!(text.contains("elicitation/create") && text.contains("is not undone") && !text.contains("nothing changed"));
    let decision = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).expect("a decision");
    assert_eq!((decision.verdict, decision.by), (Some(VerdictWord::Deny), Some(By::Rule)));
    assert_eq!(detail(decision, "method"), Some("elicitation/create".into()));
    let outcome = world.entries.iter().find(|entry| entry.kind == Kind::Outcome).expect("an outcome");
    assert_eq!(detail(outcome, "result"), Some("input-required".into()));
    // The host that was told no continues nothing.
    let retry = modern_call("7", "write_file", WRITE, r#","requestState":"s","inputResponses":{"a":{}}"#);
    assert!(matches!(world.host(&retry).as_slice(), [Did::Ask(_)]));
    world.finish();
}

#[test]
fn a_request_that_is_no_call_is_answered_with_an_error_of_the_protocol() {
    let mut world = running(&[("deny", "sampling/*")]);
    world.server(r#"{"jsonrpc":"2.0","id":6,"result":{"content":[]}}"#);
    assert_eq!(world.host(READ), [Did::ToServer(READ.into())]);
    let reply = told(&world.server(&one(SAMPLE)));
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&6.into(), &(-32000).into()), "{reply}");
    // The same where a rule had the request decided on, so that the answer to it is recorded.
    let mut world = running(&[("deny", "sampling/*"), ("ask", "resources/read")]);
    world.server(r#"{"jsonrpc":"2.0","id":6,"result":{"content":[]}}"#);
    world.host(READ);
    world.approve("files-2");
    assert_eq!(told(&world.server(&one(SAMPLE)))["error"]["code"], -32000);
    world.finish();
}

#[test]
fn the_strictest_ruling_holds_for_all_that_one_answer_asks() {
    let mut world = running(&[("deny", "elicitation/*"), ("ask", "sampling/*")]);
    let both = answer(&format!(r#""a":{SAMPLE},"b":{ELICIT}"#));
    assert!(!passes(&world.server(&both)));
    let decision = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).expect("a decision");
    assert_eq!(decision.tool.as_deref(), Some("sampling/createMessage + elicitation/create"));
    assert_eq!(decision.rule.as_deref(), Some("deny"));
    // Each of them counts.
    let rate = "[[rule]]\nid='r'\ndecision='ask'\nmethod='sampling/*'\nwhen=[{rate={over=1,per='1h'}}]\n";
    let mut world = World::with(config(), &format!("version = 1\n{rate}")).ready();
    world.host(READ);
    let two = answer(&format!(r#""a":{SAMPLE},"b":{SAMPLE}"#));
    assert!(world.server(&two).contains(&Did::Forward(two.clone())));
    world.host(READ);
    assert!(matches!(world.server(&one(SAMPLE)).as_slice(), [Did::Ask(_)]));
    world.deny("files-2", "");
    world.finish();
}

#[test]
fn a_held_answer_ends_once_whoever_goes_first() {
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}"#;
    let held = || {
        let mut world = running(&[("ask", "*/create*")]);
        assert_eq!(world.server(&one(ELICIT)), [Did::Ask("files-2".into())]);
        world
    };
    let mut world = held();
    assert_eq!(world.host(cancel), [Did::Settle("files-2".into())]);
    world.finish();
    let mut world = held();
    let reply = told(&world.close(Side::Server));
    let text = reply["result"]["content"][0]["text"].as_str().expect("text");
    assert!(text.contains("has ended") && text.contains("is not undone"), "{text}");
    world.finish();
    let mut world = held();
    assert!(told(&world.wait(301))["result"]["isError"] == true);
    world.finish();
    let mut world = held();
    let did = world.close(Side::Host);
    assert!(!did.iter().any(|one| matches!(one, Did::Answer(_))), "{did:?}");
    world.finish();
}

#[test]
fn no_spelling_of_a_request_inside_an_answer_gets_around_a_rule() {
    for odd in [
        one(SAMPLE).replace("inputRequests", "InputRequests"),
        one(SAMPLE).replace("inputRequests", "INPUTREQUESTS"),
        one(SAMPLE).replace("inputRequests", r"input\u0052equests"),
        one(SAMPLE).replace("\"inputRequests\"", "\"inputRequests\":{},\"inputRequests\""),
        one(SAMPLE).replace("\"method\"", "\"Method\""),
        one(SAMPLE).replace("\"method\"", r#""\u006dethod""#),
        one(SAMPLE).replace("\"method\"", "\"method\":\"roots/list\",\"method\""),
        one(SAMPLE).replace("input_required", "complete"),
        one(SAMPLE).replace("\"id\":6", "\"id\":6,\"method\":\"ping\""),
        answer(&format!(r#""a":[{SAMPLE}]"#)),
        one(SAMPLE).replace(r#""inputRequests":{"a":"#, r#""inputRequests":["#).replace("}}}}}", "}}]}}"),
    ] {
        let mut world = running(&[("deny", "sampling/*")]);
        let did = world.server(&odd);
        assert!(!passes(&did), "{odd}: {did:?}");
        world.finish();
    }
    // Nor in an answer to what is no request for it, or to nothing.
    let mut world = running(&[("deny", "sampling/*")]);
    world.host(r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#);
    let listed = one(SAMPLE).replace("\"id\":6", "\"id\":9").replace("\"result\":{", "\"result\":{\"tools\":[],");
    let did = world.server(&listed);
    assert!(!passes(&did) && told(&did)["id"] == 9, "{did:?}");
    assert!(!passes(&world.server(&one(SAMPLE).replace("\"id\":6", "\"id\":10"))));
    // What opens a session has failed for whoever is told so.
    let mut opening = World::with(config(), "version = 1\n[[rule]]\nid='r'\ndecision='deny'\nmethod='sampling/*'\n");
    opening.host(r#"{"jsonrpc":"2.0","id":6,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#);
    let did = opening.server(&one(SAMPLE));
    assert!(!passes(&did) && told(&did)["error"]["code"] == -32000, "{did:?}");
    assert!(matches!(opening.call("1", "read_file", WRITE).as_slice(), [Did::Answer(_)]), "nothing waits for it");
    // Nor in a notification, nor in a line too long to be searched; other answers pass as ever.
    let note =
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/tasks","params":{{"inputRequests":{{"a":{SAMPLE}}}}}}}"#);
    assert!(!passes(&world.server(&note)));
    let plain = note.replace("sampling/createMessage", "roots/list");
    assert!(passes(&world.server(&plain)));
    let gist = Gist::Response { id: Id::from_token("6").unwrap(), failed: false };
    assert!(world.gate.keeps_back(&gist));
    let did = world.step(Event::ServerStreamed { gist, bytes: 1 << 30, digest: StreamHasher::default().finish() });
    assert_eq!(told(&did)["result"]["isError"], true);
    world.finish();
}
