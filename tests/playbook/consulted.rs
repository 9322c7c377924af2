//! Approvers: each hears of a call before it is decided; what they say only tightens, unless one may allow.

use mcp_approve::audit::record::{By, Kind, VerdictWord};
use mcp_approve::gate::Config;
use mcp_approve::gate::data::facts::{Approver, May, Opinion};
use mcp_approve::policy::rule::{Decision, ToolGlob};
use serde_json::Value;

use crate::world::{Did, World, config};

const WRITE: &str = r#"{"path":"/a","content":"x"}"#;

fn approver(name: &str, may: May) -> Approver {
    Approver { name: name.into(), server: Vec::new(), tool: Vec::new(), may }
}

fn world(may: May, policy: &str) -> World {
    World::with(Config { approvers: vec![approver("one", may), approver("two", May::Tighten)], ..config() }, policy)
        .ready()
}

fn says(decision: Decision) -> Opinion {
    Opinion { name: "one".into(), decision, reason: "because".into(), failed: false, latency_us: 1500 }
}

fn decision(world: &World) -> (Option<VerdictWord>, Option<By>) {
    let entry = world.entries.iter().rev().find(|entry| entry.kind == Kind::Decision).unwrap();
    (entry.verdict, entry.by)
}

#[test]
fn what_approvers_say_is_joined_with_the_policy_and_the_strictest_counts() {
    use Decision::{Allow, Ask, Deny};
    const ASK: &str = "version = 1\n[[rule]]\nid = \"look\"\ndecision = \"ask\"\n";
    let (read, write) = (("read_file", r#"{"path":"/a"}"#), ("write_file", WRITE));
    for (may, policy, (tool, arguments), one, runs) in [
        (May::Tighten, "", read, Allow, "forward"),
        (May::Tighten, "", read, Ask, "ask"),
        (May::Tighten, "", read, Deny, "deny"),
        (May::Tighten, "", write, Allow, "ask"),
        (May::Tighten, "", write, Deny, "deny"),
        (May::Allow, "", write, Allow, "forward"),
        (May::Allow, "", write, Ask, "ask"),
        (May::Allow, ASK, write, Allow, "ask"),
        (May::Allow, ASK, read, Allow, "ask"),
        (May::Allow, "", ("write_file", r#"{"path":"/a\u200b","content":"x"}"#), Allow, "ask"),
    ] {
        let mut world = world(may, policy);
        assert_eq!(world.call("1", tool, arguments), [Did::Consult("one two".into())], "it waits for them");
        let did = world.approvers_say(&[says(one), Opinion { name: "two".into(), ..says(Allow) }]);
        let found = match did.as_slice() {
            [Did::Forward(_)] => "forward",
            [Did::Ask(_)] => "ask",
            [Did::Settle(_), Did::Answer(_)] => "deny",
            other => panic!("{other:?}"),
        };
        assert_eq!(found, runs, "{may:?} {policy:?} {tool} {one:?}");
        world.finish();
    }
    // Of several the strictest, and an allow of one does not help against it.
    let mut world = world(May::Allow, "");
    world.call("1", "write_file", WRITE);
    let did = world.approvers_say(&[says(Allow), Opinion { name: "two".into(), ..says(Deny) }]);
    assert!(
        matches!(did.as_slice(), [Did::Settle(_), Did::Answer(text)] if text.contains("approver two denies it: because")),
        "{did:?}"
    );
    assert_eq!(decision(&world), (Some(VerdictWord::Deny), Some(By::Approver)));
}

#[test]
fn an_approver_hears_what_the_call_is_and_its_word_is_recorded() {
    let mut world = world(May::Allow, "");
    world.call("1", "write_file", WRITE);
    let told: Value = serde_json::from_str(&world.told[0]).unwrap();
    assert_eq!((&told["tool"], &told["arguments"]["path"]), (&"write_file".into(), &"/a".into()));
    assert_eq!((&told["badge"], &told["ruling"]["decision"]), (&"MUTATES".into(), &"ask".into()));
    world.approvers_say(&[says(Decision::Allow)]);
    assert_eq!(decision(&world), (Some(VerdictWord::Approve), Some(By::Approver)));
    let entry = world.entries.iter().find(|entry| entry.kind == Kind::Decision).unwrap();
    let said = entry.detail.get("approvers").unwrap();
    assert_eq!((&said[0]["name"], &said[0]["latency_ms"]), (&"one".into(), &1.into()));
    world.finish();
}

#[test]
fn a_call_that_is_denied_or_not_theirs_costs_no_approver() {
    let only = Approver { tool: vec![ToolGlob::new("delete_*").unwrap()], ..approver("one", May::Tighten) };
    let deny = "version = 1\n[[rule]]\nid = \"no\"\ndecision = \"deny\"\ntool = \"delete_file\"\n";
    let mut world = World::with(Config { approvers: vec![only], ..config() }, deny).ready();
    assert!(matches!(world.call("1", "read_file", r#"{"path":"/a"}"#).as_slice(), [Did::Forward(_)]));
    assert!(matches!(world.call("2", "delete_file", r#"{"path":"/a"}"#).as_slice(), [Did::Settle(_), Did::Answer(_)]));
    assert!(world.told.is_empty());
    world.finish();
}

#[test]
fn a_call_whose_approvers_never_answer_is_denied_in_time_and_a_cancelled_one_is_withdrawn() {
    let mut world = world(May::Allow, "");
    world.call("1", "write_file", WRITE);
    assert!(matches!(world.wait(301).as_slice(), [Did::Settle(_), Did::Answer(_)]));
    assert_eq!(world.approvers_say(&[says(Decision::Allow)]), [], "too late");
    world.call("2", "write_file", WRITE);
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    assert_eq!(world.approvers_say(&[says(Decision::Allow)]), []);
    world.finish();
}

#[test]
fn an_edited_call_is_another_call_to_an_approver() {
    let mut world = world(May::Tighten, "");
    world.call("1", "write_file", WRITE);
    world.approvers_say(&[says(Decision::Allow)]);
    let did = world.edit("files-1", r#"{"path":"/b","content":"x"}"#);
    assert_eq!(did, [Did::Consult("one two".into())]);
    assert!(world.told[1].contains("/b"));
    let did = world.approvers_say(&[says(Decision::Deny)]);
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Answer(_)]), "{did:?}");
    world.finish();
}
