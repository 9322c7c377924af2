//! Transcripts of the gate: what came in, what must go out. Read them as stories.

mod after_reading;
mod asked_results;
mod confirmed;
mod consulted;
mod described;
mod discovered;
mod elicited;
mod embedded;
mod ends;
mod frozen;
mod grant_limits;
mod granted;
mod methods;
mod proven;
mod results;
mod round_trips;
mod scoped;
mod sessions;
mod signed;
mod slices;
mod tasks;
mod told;
mod touched;
mod turns;

use crate::world::{Did, World, call, config, modern_call};
use mcp_approve::audit::record::{By, Kind, VerdictWord};
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
    assert!(answer(&did).contains("`mcp-approve --home /h` in a terminal"), "it says how to open the console: {did:?}");
    let late = world.approve("files-1");
    assert!(matches!(late.as_slice(), [Did::Refuse(why)] if why.contains("no longer waits")), "{late:?}");
    let last = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).expect("a decision");
    assert_eq!((last.verdict, last.by), (Some(VerdictWord::Deny), Some(By::Expiry)));
    world.finish();
}

#[test]
fn a_progress_token_is_kept_alive_from_the_first_second_and_rises_in_words() {
    let mut world = World::new().ready();
    let line = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"/a","content":"x"},"_meta":{"progressToken":"p1"}}}"#;
    world.host(line);
    let progress = |did: &[Did]| {
        let value: serde_json::Value = serde_json::from_str(answer(did)).expect("JSON");
        assert_eq!(value["params"]["progressToken"], "p1");
        (value["params"]["progress"].as_u64().expect("a whole number"), value["params"]["message"].to_string())
    };
    let (first, first_words) = progress(&world.wait(1));
    world.step(mcp_approve::gate::data::event::Event::Attached { who: "ada".into(), attached: 1 });
    let (second, second_words) = progress(&world.wait(6));
    assert!(first > 0 && first < second, "{first} {second}");
    assert!(first_words.contains("files-1") && first_words.contains("Run `mcp-approve --home /h`"), "{first_words}");
    assert!(second_words.contains("Waiting for approval in mcp-approve: files-1, for 46 s"), "{second_words}");
    world.finish();
}

#[test]
fn a_call_that_comes_again_brings_its_history_and_what_its_host_does_not_say() {
    let mut world = World::new();
    world.host(r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"gemini-cli-mcp-client-files","version":"1"}}}"#);
    world.server(r#"{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#);
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#);
    world.server(&format!(
        r#"{{"jsonrpc":"2.0","id":"l","result":{{"tools":{}}}}}"#,
        crate::world::TOOLS.replace('\n', " ")
    ));
    world.call("1", "write_file", WRITE);
    assert_eq!(world.cards["files-1"].earlier, [""; 0]);
    assert!(world.cards["files-1"].silence.as_deref().is_some_and(|says| says.contains("Esc")));
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    world.wait(3);
    world.call("2", "write_file", WRITE);
    assert_eq!(world.cards["files-2"].earlier, ["files-1, 3 s before: the host withdrew it"]);
    world.call("3", "write_file", r#"{"path":"/a","content":"other"}"#);
    assert_eq!(world.cards["files-3"].earlier, [""; 0], "other arguments are another call");
    world.deny("files-2", "no");
    world.call("4", "write_file", WRITE);
    assert_eq!(
        world.cards["files-4"].earlier,
        ["files-2, 0 s before: denied by ann (no)", "files-1, 3 s before: the host withdrew it"]
    );
    assert_eq!(world.cards["files-4"].occurrence, 3);
    let asked = world.entries.iter().rfind(|entry| entry.kind == Kind::DecisionAsked).expect("a question");
    let detail = |name| asked.detail.get(name).map(|value| value.to_string());
    assert_eq!((detail("occurrence"), detail("former")), (Some("3".into()), Some("\"files-2\"".into())));
    world.call("5", "write_file", WRITE);
    assert_eq!(
        world.cards["files-5"].earlier[0],
        "files-4 is the same call and still waits: each that is approved runs"
    );
    world.approve("files-4");
    world.call("6", "write_file", WRITE);
    assert!(!world.cards["files-6"].earlier.iter().any(|line| line.contains("files-4")));
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

#[test]
fn a_call_under_the_id_of_an_unanswered_request_is_refused() {
    let mut world = World::new().ready();
    world.host(r#"{"jsonrpc":"2.0","id":78,"method":"ping"}"#);
    assert!(answer(&world.call("78", "read_file", r#"{"path":"/a"}"#)).contains("-32600"));
    world.server(r#"{"jsonrpc":"2.0","id":78,"result":{}}"#);
    assert!(matches!(world.call("78", "read_file", r#"{"path":"/a"}"#).as_slice(), [Did::Forward(_)]));
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
fn a_path_outside_of_the_places_is_asked_about() {
    let mut world = World::new().ready();
    let asked = |did: &[Did]| did.iter().any(|one| matches!(one, Did::Ask(_)));
    assert!(asked(&world.call("1", "read_file", r#"{"path":"/etc/hosts"}"#)), "it is in no place");
    world.server(r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":5,"result":{"roots":[{"uri":"file:///"}]}}"#);
    assert!(asked(&world.call("2", "read_file", r#"{"path":"/etc/hosts"}"#)), "that answers another question");
    world.host(r#"{"jsonrpc":"2.0","id":0,"result":{"roots":[{"uri":"file:///home/ada/my%20work"}]}}"#);
    for (id, path, outside) in [
        ("3", "/etc/hosts", true),
        ("4", "/home/ada/my work/a.md", false),
        ("6", "/home/ada/my workshop/a.md", true),
        ("7", "a.md", false),
        ("10", &format!("/home/ada/my work/{}../../a.md", "./".repeat(2100)), true),
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

#[test]
fn a_server_s_progress_passes_as_it_is_where_the_host_heard_nothing_yet() {
    let report = |progress: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":9,"progress":{progress}}}}}"#
        )
    };
    for (waits, passes) in [(0, true), (2, false)] {
        let mut world = World::new().ready();
        let line = call("7", "write_file", r#"{"path":"/a","content":"x"},"_meta":{"progressToken":9}"#);
        world.host(&line);
        if waits > 0 {
            world.wait(waits);
        }
        world.approve("files-1");
        let did = world.server(&report("0"));
        let is_as_sent = did == [Did::ToHost(report("0"))];
        assert_eq!(is_as_sent, passes, "after {waits} s: {did:?}");
        let later = world.server(&report("5"));
        if passes {
            assert_eq!(later, [Did::ToHost(report("5"))]);
        } else {
            // The server's numbers go on above the heartbeats, each as far from the next as the server says.
            let progress = |did: &[Did]| {
                let line: serde_json::Value = serde_json::from_str(answer(did)).expect("JSON");
                line["params"]["progress"].as_u64().expect("a whole number")
            };
            assert!(progress(&did) > 0, "{did:?}");
            assert_eq!(progress(&later), progress(&did) + 5);
        }
    }
}

/// Whether anybody could see a call: the wrapper knows of consoles on its machine, and that the desk is connected.
#[test]
fn a_record_says_that_the_desk_was_connected_when_a_call_was_put_before_the_operator() {
    let mut world = World::new().ready();
    world.step(mcp_approve::gate::data::event::Event::Desks { who: "the desk".into(), desks: 1 });
    world.call("1", "write_file", WRITE);
    let asked = world.entries.iter().find(|entry| entry.kind == Kind::DecisionAsked).expect("it asks");
    let detail = |name| asked.detail.get(name).and_then(|value| value.as_u64());
    assert_eq!((detail("consoles"), detail("desks")), (Some(0), Some(1)));
}
