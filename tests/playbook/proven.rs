//! What the log acknowledges is what runs: a receipt for anything else makes no token.

use crate::world::{Did, World};
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::wire::digest::Digest;

#[test]
fn a_receipt_for_another_call_or_verdict_runs_nothing() {
    let other_call = |entry: &mut Entry| entry.digest = Some(Digest::of(b"another call"));
    let a_denial = |entry: &mut Entry| entry.verdict = Some(VerdictWord::Deny);
    let no_decision = |entry: &mut Entry| entry.verdict = None;
    for change in [other_call, a_denial, no_decision] as [fn(&mut Entry); 3] {
        let mut world = World::new().ready();
        world.log_answers = false;
        while world.is_waiting_for_the_log() {
            world.log_takes();
        }
        world.call("7", "read_file", r#"{"path":"/a"}"#);
        let did = world.log_takes_as(change);
        assert!(matches!(&did[..], [Did::Settle(_), Did::Answer(text)] if text.contains("NOT executed")), "{did:?}");
        let last = world.entries.last().expect("an entry");
        assert_eq!((last.kind, last.by), (Kind::Withdrawn, Some(By::Fault)));
        world.finish();
    }
}

/// The record that a call was forwarded names the entry that approved it.
#[test]
fn a_forward_names_its_decision() {
    let mut world = World::new().ready();
    world.call("7", "write_file", r#"{"path":"/a","content":"x"}"#);
    world.approve("files-1");
    let number_of = |kind: Kind| world.entries.iter().position(|entry| entry.kind == kind).expect("such an entry") + 1;
    let forward = &world.entries[number_of(Kind::Forward) - 1];
    let named = forward.detail.get("decision_entry").map(|value| value.as_u64());
    assert_eq!(named, Some(Some(number_of(Kind::Decision) as u64)));
    world.finish();
}
