//! Section C from C8 on, and what the gate alone decides of A and B: what was approved is what runs, once.

use mcp_approve::audit::record::{By, Kind, VerdictWord};
use mcp_approve::gate::data::event::Side;
use mcp_approve::gate::data::facts::{Approver, May, Opinion};
use mcp_approve::gate::data::report::OperatorVerdict;
use mcp_approve::gate::{Config, Unattended};
use mcp_approve::policy::rule::Decision;

use crate::world::{Did, TOOLS, World, call, config, modern_call};

const WRITE: &str = r#"{"path":"/a","content":"x"}"#;

fn forwards(did: &[Did]) -> Vec<&str> {
    did.iter().filter_map(|one| if let Did::Forward(text) = one { Some(text.as_str()) } else { None }).collect()
}

fn answers(did: &[Did]) -> Vec<&str> {
    did.iter().filter_map(|one| if let Did::Answer(text) = one { Some(text.as_str()) } else { None }).collect()
}

/// The server lists these tools again after announcing a change.
fn relist(world: &mut World, tools: &str) {
    world.server(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"again","method":"tools/list"}"#);
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"again","result":{{"tools":{}}}}}"#, tools.replace('\n', " ")));
}

#[test]
fn a3_a_definition_that_changes_in_the_session_suspends_every_allow() {
    let allow = "version = 1\n[[rule]]\nid = \"reads\"\ndecision = \"allow\"\ntool = \"read_file\"\n";
    let mut world = World::with(config(), allow).ready();
    assert_eq!(forwards(&world.call("1", "read_file", r#"{"path":"/a"}"#)).len(), 1);
    relist(&mut world, &TOOLS.replace("Reads a file.", "Reads a file. And more."));
    let did = world.call("2", "read_file", r#"{"path":"/a"}"#);
    assert_eq!(did, [Did::Ask("files-2".into())], "neither the rule nor the default covers a changed definition");
    world.finish();
}

#[test]
fn a4_a_hint_that_turns_read_only_turns_no_ask_into_an_allow() {
    let mut world = World::new().ready();
    let tools = TOOLS.replace(
        r#""name":"delete_file","description":"Deletes a file.","#,
        r#""name":"delete_file","description":"Deletes a file.","annotations":{"readOnlyHint":true},"#,
    );
    assert_ne!(tools, TOOLS);
    relist(&mut world, &tools);
    assert_eq!(world.call("1", "delete_file", r#"{"path":"/a"}"#), [Did::Ask("files-1".into())]);
    world.finish();
}

#[test]
fn b13_an_approval_runs_the_call_it_was_shown_for_and_no_other() {
    let mut world = World::new().ready();
    for number in 1..=40 {
        world.call(&number.to_string(), "write_file", &format!(r#"{{"path":"/{number}","content":"x"}}"#));
    }
    for number in (1..=40).rev() {
        let ticket = format!("files-{number}");
        let other = world.cards[&format!("files-{}", number % 40 + 1)].digest;
        let crossed = world.decide(&ticket, other, OperatorVerdict::Approve { unread: false });
        assert!(forwards(&crossed).is_empty(), "{ticket} ran on another call's digest");
        let did = world.approve(&ticket);
        assert!(forwards(&did)[0].contains(&format!(r#""path":"/{number}""#)), "{did:?}");
    }
    world.finish();
}

#[test]
fn c8_a_live_id_cannot_be_used_twice_and_1_is_not_the_text_1() {
    let mut world = World::new().ready();
    world.call("1", "write_file", WRITE);
    assert!(answers(&world.call("1", "read_file", r#"{"path":"/a"}"#))[0].contains("-32600"));
    assert_eq!(forwards(&world.call("\"1\"", "read_file", r#"{"path":"/a"}"#)).len(), 1);
    assert!(
        answers(&world.call("\"\\u0031\"", "read_file", r#"{"path":"/a"}"#))[0].contains("-32600"),
        "the same id, written otherwise"
    );
    world.finish();
}

#[test]
fn c11_trailing_space_and_odd_spelling_are_forwarded_as_they_were_shown() {
    let mut world = World::new().ready();
    let line = r#"{"jsonrpc":"2.0" ,"id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"/bin/sh ", "content":"\u0061"}}} "#;
    world.host(line);
    let card = world.cards["files-1"].clone();
    assert_eq!(card.arguments, r#"{"path":"/bin/sh ", "content":"\u0061"}"#, "the exact text, untrimmed");
    let digest = mcp_approve::wire::digest::Digest::of(line.as_bytes());
    assert_eq!(card.digest, digest);
    let did = world.approve("files-1");
    assert_eq!(forwards(&did), [line.trim_end()]);
    world.finish();
}

#[test]
fn c12_a_verdict_works_once() {
    let mut world = World::new().ready();
    world.call("1", "write_file", WRITE);
    let digest = world.cards["files-1"].digest;
    assert_eq!(forwards(&world.approve("files-1")).len(), 1);
    for _ in 0..3 {
        let again = world.decide("files-1", digest, OperatorVerdict::Approve { unread: false });
        assert!(matches!(again.as_slice(), [Did::Refuse(_)]), "{again:?}");
    }
    // The same bytes under a new id are a new call.
    world.server(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(world.call("1", "write_file", WRITE), [Did::Ask("files-2".into())]);
    world.finish();
}

#[test]
fn c14_without_a_decision_nothing_is_forwarded_whatever_the_order() {
    // That the types allow no other path is shown by the compile_fail documentation of gate::data::token; here, that the
    // gate takes none: before the log's receipt, not even a read runs.
    let mut world = World::new().ready();
    world.log_answers = false;
    let did = world.call("1", "read_file", r#"{"path":"/a"}"#);
    assert!(forwards(&did).is_empty());
    world.call("2", "write_file", WRITE);
    assert!(forwards(&world.approve("files-2")).is_empty());
    world.finish();
}

#[test]
fn c15_bytes_pass_untouched() {
    let mut world = World::new().ready();
    let odd = [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/a"},"_meta":{"progressToken":12345678901234567890}}}"#,
        r#"  {"params":{"arguments":{"path":"\/a\/\u00e9"},"name":"read_file"},"method":"tools\/call","id":2,"jsonrpc":"2.0"}"#,
    ];
    for line in odd {
        assert_eq!(forwards(&world.host(line)), [line], "byte for byte");
    }
    let reply = r#"{"id":1,"result":{"content":[],"n":1.10},"jsonrpc":"2.0" }"#;
    assert_eq!(world.server(reply), [Did::ToHost(reply.into())]);
    world.finish();
}

#[test]
fn c16_an_edit_is_recorded_beside_the_original_and_its_digest_is_what_runs() {
    let mut world = World::new().ready();
    world.call("1", "write_file", WRITE);
    let before = world.cards["files-1"].digest;
    world.edit("files-1", r#"{"path":"/b","content":"x"}"#);
    let after = world.cards["files-1"].digest;
    assert_ne!(before, after);
    world.approve("files-1");
    let of = |kind| world.entries.iter().filter(move |entry| entry.kind == kind).collect::<Vec<_>>();
    let asked = of(Kind::DecisionAsked);
    assert_eq!(asked.iter().map(|entry| entry.digest).collect::<Vec<_>>(), [Some(before), Some(after)]);
    assert_eq!(of(Kind::Decision)[0].digest, Some(after));
    world.finish();
}

#[test]
fn c17_a_smuggled_retry_is_a_new_call() {
    let more = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"a":{}}}}"#;
    let retries = [
        modern_call("2", "delete_file", r#"{"path":"/a"}"#, r#","requestState":"s","inputResponses":{"a":{}}"#),
        modern_call(
            "2",
            "write_file",
            r#"{"path":"/a","content":"y"}"#,
            r#","requestState":"s","inputResponses":{"a":{}}"#,
        ),
        modern_call("2", "write_file", WRITE, r#","requestState":"t","inputResponses":{"a":{}}"#),
        modern_call("2", "write_file", WRITE, r#","requestState":"s","inputResponses":{"b":{}}"#),
        modern_call("2", "write_file", WRITE, r#","inputResponses":{"a":{}}"#),
        modern_call("2", "write_file", WRITE, ""),
    ];
    for retry in retries {
        let mut world = World::new().ready();
        world.host(&modern_call("1", "write_file", WRITE, ""));
        world.approve("files-1");
        world.server(more);
        assert_eq!(world.host(&retry), [Did::Ask("files-2".into())], "{retry}");
        world.finish();
    }
}

#[test]
fn c18_a_verdict_after_cancel_or_timeout_does_nothing_and_is_recorded() {
    let mut world = World::new().ready();
    world.call("1", "write_file", WRITE);
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    world.call("2", "write_file", WRITE);
    world.wait(60);
    for ticket in ["files-1", "files-2"] {
        let late = world.approve(ticket);
        assert!(forwards(&late).is_empty() && matches!(late.as_slice(), [Did::Refuse(_)]), "{late:?}");
    }
    assert_eq!(
        world.entries.iter().filter(|entry| entry.kind == Kind::Fault).count(),
        2,
        "both late verdicts are on record"
    );
    world.finish();
}

#[test]
fn c19_no_console_no_log_no_server_never_means_yes() {
    let mut world = World::new().ready();
    world.call("1", "write_file", WRITE);
    let did = world.wait(60);
    assert!(answers(&did)[0].contains("did NOT execute"), "{did:?}");
    let last = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).expect("a decision");
    assert_eq!((last.verdict, last.by), (Some(VerdictWord::Deny), Some(By::Expiry)));
    world.finish();

    let mut world = World::with(Config { unattended: Unattended::Deny, ..config() }, "").ready();
    assert!(forwards(&world.call("1", "write_file", WRITE)).is_empty());
    world.finish();

    let mut world = World::new().ready();
    world.call("1", "write_file", WRITE);
    world.log_answers = false;
    world.approve("files-1");
    let did = world.log_fails();
    assert!(forwards(&did).is_empty() && answers(&did)[0].contains("could not record"), "{did:?}");
    world.finish();

    let mut world = World::new().ready();
    world.call("1", "write_file", WRITE);
    world.close(Side::Server);
    assert!(forwards(&world.approve("files-1")).is_empty());
    world.finish();
}

#[test]
fn a11_what_a_server_asks_of_the_host_passes_and_is_shown() {
    let mut world = World::new().ready();
    let who = "ann".into();
    world.step(mcp_approve::gate::data::event::Event::Attached { who, attached: 1 });
    let asks = r#"{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{}}"#;
    assert_eq!(world.server(asks), [Did::ToHost(asks.into())]);
    assert!(world.shown.iter().any(|one| one.what == "sampling/createMessage"));
    let same_id = call("0", "read_file", r#"{"path":"/a"}"#);
    assert_eq!(forwards(&world.host(&same_id)).len(), 1, "the server's ids are another space than the host's");
    world.finish();
}

#[test]
fn c11_a_key_that_our_own_reader_would_take_for_something_else_is_refused() {
    let allow =
        "version = 1\n[[rule]]\nid = \"one\"\ndecision = \"allow\"\nwhen = [{ arg = \"path\", eq = \"/ok\" }]\n";
    for key in
        ["$serde_json::private::RawValue", "$serde_json::private::Number", r"\u0024serde_json::private::RawValue"]
    {
        for arguments in [
            format!(r#"{{"path":{{"{key}":"\"/ok\""}},"content":"x"}}"#),
            format!(r#"{{"path":{{"{key}":"12"}},"content":"x"}}"#),
            format!(r#"{{"{key}":"{{\"path\":\"/ok\",\"content\":\"x\"}}"}}"#),
            format!(r#"{{"{key}":"no JSON","path":"/ok","content":"x"}}"#),
        ] {
            let mut world = World::with(config(), allow).ready();
            let did = world.call("1", "write_file", &arguments);
            assert!(answers(&did).iter().any(|answer| answer.contains("-32600")), "{arguments}: {did:?}");
            world.finish();
        }
    }
}

/// The server announces a change and says nothing more.
const CHANGES: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

#[test]
fn a3_a_definition_that_changes_while_a_call_is_looked_at_or_consulted_on_suspends_the_rule_too() {
    let changed = TOOLS.replace("Replaces a file's", "Replaces any file's");
    let under =
        "version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\nwhen = [{ arg = \"path\", under = \"/a\" }]\n";
    let all = "version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\ntool = \"write_file\"\n";
    let one = Approver { name: "one".into(), server: Vec::new(), tool: Vec::new(), may: May::Allow };
    let says =
        Opinion { name: "one".into(), decision: Decision::Allow, reason: String::new(), failed: false, latency_us: 1 };
    for (policy, approvers) in [(under, vec![]), (all, vec![one.clone()]), ("", vec![one])] {
        let mut world = World::with(Config { approvers, ..config() }, policy).ready();
        world.disk_answers = false;
        let mut did = world.call("1", "write_file", r#"{"path":"/a/b","content":"x"}"#);
        relist(&mut world, &changed);
        did.extend(world.disk_shows());
        did.extend(world.approvers_say(std::slice::from_ref(&says)));
        world.disk_answers = true;
        did.extend(world.disk_shows());
        assert_eq!(forwards(&did), [""; 0], "{policy}: the server changed the tool in between");
        assert!(did.contains(&Did::Ask("files-1".into())), "{policy}: {did:?}");
        world.finish();
    }
}

#[test]
fn a3_a_policy_or_a_grant_that_comes_after_a_change_of_the_tool_lets_no_waiting_call_pass() {
    let changed = TOOLS.replace("Replaces a file's", "Replaces any file's");
    let all = "version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\ntool = \"write_file\"\n";
    for announced_only in [false, true] {
        let mut world = World::new().ready();
        world.call("1", "write_file", WRITE);
        if announced_only {
            world.server(CHANGES);
        } else {
            relist(&mut world, &changed);
        }
        let mut did = world.policy(all);
        let asks = did.iter().find_map(|one| if let Did::Query(line) = one { Some(line.clone()) } else { None });
        if let Some(asked) = asks {
            let asked: serde_json::Value = serde_json::from_str(&asked).unwrap();
            did.extend(world.server(&format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":{}}}}}"#,
                asked["id"],
                changed.replace('\n', " ")
            )));
        }
        assert_eq!(forwards(&did), [""; 0], "announced only: {announced_only}");
        assert!(world.gate.snapshots().iter().any(|card| !card.hazards.is_empty()), "the card tells of the change");
        world.finish();
    }
}
