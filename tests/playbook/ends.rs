//! Withdrawals and ends: cancelled, settled by another, the log gone, server or host gone, and the answers that come late.

use crate::world::{Did, World};
use mcp_approve::audit::record::Kind;
use mcp_approve::gate::data::event::Side;

use super::{WRITE, answer, kinds};

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
fn a_server_cannot_answer_a_call_it_was_never_asked() {
    let mut world = World::new().ready();
    world.call("7", "write_file", WRITE);
    assert_eq!(world.server(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#), [], "dropped");
    assert!(world.entries.iter().any(|entry| entry.kind == Kind::Fault));
    assert!(world.gate.keeps_back(&mcp_approve::wire::message::peek(br#"{"id":7,"result":{}}"#)));
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
    let did = world.step(Event::ServerInputClosed { how: "it closed its input".into() });
    assert!(answer(&did).contains(r#""id":8"#), "{did:?}");
    let reply = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;
    assert_eq!(world.server(reply), [Did::ToHost(reply.into())], "what it still says is heard");
    assert!(answer(&world.call("9", "read_file", r#"{"path":"/a"}"#)).contains("Closed"));
    world.finish();
}
