//! Calls that keep the order in which the host sent them: which one waits for which, and what ends that.

use mcp_approve::gate::data::event::Event;
use mcp_approve::gate::data::terms::{Covers, Lasts};
use mcp_approve::gate::{Config, ForwardOrder};

use super::{WRITE, answer};
use crate::world::{Did, TOOLS, World, ann, call, config, word};

const READ: &str = r#"{"path":"/a"}"#;

fn ordered(policy: &str) -> World {
    World::with(Config { order: ForwardOrder::Sent, ..config() }, policy).ready()
}

fn forwarded(did: &[Did]) -> Vec<&str> {
    let mut lines = Vec::new();
    for one in did {
        if let Did::Forward(line) = one {
            lines.push(line.as_str());
        }
    }
    lines
}

#[test]
fn a_later_call_waits_for_an_earlier_one_and_says_so() {
    let mut world = ordered("");
    let (write, read) = (call("1", "write_file", WRITE), call("2", "read_file", READ));
    let delete = call("3", "delete_file", r#"{"path":"/b"}"#);
    world.host(&write);
    assert_eq!(world.host(&read), [], "a read that needs no approval waits too");
    world.host(&delete);
    assert_eq!(world.cards["files-1"].runs_after, None);
    assert_eq!(world.cards["files-3"].runs_after.as_deref(), Some("files-2"), "the one just before it");
    assert_eq!(forwarded(&world.approve("files-3")), [""; 0], "its turn has not come");
    let did = world.approve("files-1");
    assert_eq!(forwarded(&did), [write.as_str(), read.as_str(), delete.as_str()]);
    world.finish();
}

#[test]
fn a_card_says_what_it_waits_for_now() {
    let mut world = ordered("");
    for id in ["1", "2", "3"] {
        world.call(id, "write_file", &format!(r#"{{"path":"/{id}","content":"x"}}"#));
    }
    assert_eq!(world.cards["files-3"].runs_after.as_deref(), Some("files-2"));
    assert!(world.deny("files-2", "no").contains(&Did::Ask("files-3".into())));
    assert_eq!(world.cards["files-3"].runs_after.as_deref(), Some("files-1"));
    world.approve("files-1");
    assert_eq!(world.cards["files-3"].runs_after, None);
    world.finish();
}

#[test]
fn whatever_ends_the_earlier_call_lets_the_later_one_run() {
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let ends: [fn(&mut World, &str) -> Vec<Did>; 3] =
        [|world, _| world.deny("files-1", "no"), |world, cancel| world.host(cancel), |world, _| world.wait(45)];
    for end in ends {
        let mut world = ordered("");
        world.call("1", "write_file", WRITE);
        world.wait(10);
        let read = call("2", "read_file", READ);
        world.host(&read);
        assert_eq!(forwarded(&end(&mut world, cancel)), [read.as_str()]);
        world.finish();
    }
}

#[test]
fn a_call_whose_turn_does_not_come_in_time_is_answered() {
    let (host_timeout, approval_timeout) = (Some(3_600_000_000), 100_000_000);
    let mut world =
        World::with(Config { order: ForwardOrder::Sent, host_timeout, approval_timeout, ..config() }, "").ready();
    world.call("1", "write_file", WRITE);
    world.wait(20);
    world.call("2", "read_file", READ);
    world.wait(30);
    let digest = world.cards["files-1"].digest;
    world.step(Event::Extended(word("files-1", digest)));
    let did = world.wait(75);
    let text = answer(&did);
    assert!(
        text.contains("\"id\":2") && text.contains("files-1 still waits") && text.contains("NOT executed"),
        "{text}"
    );
    assert_eq!(forwarded(&world.approve("files-1")).len(), 1, "the earlier one runs, and only that");
    world.finish();
}

#[test]
fn a_call_that_waited_for_its_turn_is_looked_at_again() {
    let deny = "version = 1\n[[rule]]\nid = \"no-reads\"\ndecision = \"deny\"\ntool = \"read_file\"\n";
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    for why in ["no-reads", "definition"] {
        let mut world = ordered("");
        world.call("1", "write_file", WRITE);
        world.call("2", "read_file", READ);
        if why == "definition" {
            world.server(changed)
        } else {
            world.policy(deny)
        };
        let did = world.deny("files-1", "no");
        assert_eq!(forwarded(&did), [""; 0], "{why}");
        assert!(format!("{did:?}").contains(why), "{did:?}");
        world.finish();
    }
}

/// The server has said by then what the tool is now, and that is not what was approved.
#[test]
fn a_call_that_waited_for_its_turn_does_not_run_under_another_definition() {
    for is_changed in [false, true] {
        let mut world = ordered("");
        let delete = call("2", "delete_file", r#"{"path":"/b"}"#);
        world.call("1", "write_file", WRITE);
        world.host(&delete);
        assert_eq!(forwarded(&world.approve("files-2")), [""; 0], "its turn has not come");
        let says = if is_changed { "Deletes a file and its folder." } else { "Deletes a file." };
        let tools = TOOLS.replace("Deletes a file.", says).replace('\n', " ");
        world.server(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        world.host(r#"{"jsonrpc":"2.0","id":"again","method":"tools/list"}"#);
        let mut did = world.server(&format!(r#"{{"jsonrpc":"2.0","id":"again","result":{{"tools":{tools}}}}}"#));
        did.extend(world.deny("files-1", "no"));
        let runs: &[&str] = if is_changed { &[] } else { &[&delete] };
        assert_eq!(forwarded(&did), runs, "changed: {is_changed}");
        world.finish();
    }
}

#[test]
fn what_nobody_approved_does_not_run_once_the_policy_would_ask_or_its_grant_has_ended() {
    let ask = "version = 1\n[[rule]]\nid = \"look\"\ndecision = \"ask\"\ntool = \"*\"\n";
    let mut world = ordered("");
    world.call("1", "write_file", WRITE);
    world.call("2", "read_file", READ);
    let write = call("3", "write_file", r#"{"path":"/b","content":"x"}"#);
    world.host(&write);
    world.approve("files-3");
    assert!(answer(&world.policy(ask)).contains("NOT executed"), "the host hears of it at once");
    let did = world.deny("files-1", "no");
    assert_eq!(forwarded(&did), [write.as_str()], "an operator approved the last, whatever the policy");
    world.finish();

    let mut world = ordered("");
    world.call("1", "write_file", WRITE);
    assert_eq!(forwarded(&world.grant("files-1", Covers::Tool, Lasts::Calls(1))).len(), 1);
    world.server(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
    for ended in [false, true] {
        world.call("2", "delete_file", r#"{"path":"/b"}"#);
        world.call("3", "write_file", WRITE);
        if ended {
            world.step(Event::GrantEnded { grant: "grant:2".into(), operator: ann() });
        } else {
            // It has no calls left, and another policy rules: this call has its approval all the same.
            world.policy("version = 1\n[[rule]]\nid = \"none\"\ndecision = \"deny\"\ntool = \"other\"\n");
        }
        let ticket = world.cards.keys().rfind(|ticket| ticket.as_str() != "files-1").cloned().expect("a card");
        assert_eq!(forwarded(&world.deny(&ticket, "no")).len(), usize::from(!ended), "ended: {ended}");
        if !ended {
            world.server(r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#);
            world.call("4", "write_file", WRITE);
            world.grant("files-4", Covers::Tool, Lasts::Session);
            world.server(r#"{"jsonrpc":"2.0","id":4,"result":{"content":[]}}"#);
        }
    }
    world.finish();
}

/// A rule that comes while the record of an approval is on its way to the log is as good as one that comes a moment later.
#[test]
fn a_policy_that_changes_before_the_approval_is_recorded_counts_for_what_must_wait() {
    const ASK: &str = "version = 1\n[[rule]]\nid = \"look\"\ndecision = \"ask\"\ntool = \"read_file\"\n";
    let mut world = ordered("");
    world.call("1", "write_file", WRITE);
    world.log_answers = false;
    world.call("2", "read_file", READ);
    world.policy(ASK);
    world.log_answers = true;
    let did = world.wait(0);
    assert!(answer(&did).contains("no longer allows it unasked"), "{did:?}");
    assert_eq!(forwarded(&world.approve("files-1")).len(), 1, "only what a person approved");
    world.finish();
    // One that nothing holds up has been decided.
    let mut world = ordered("");
    world.log_answers = false;
    let read = call("2", "read_file", READ);
    world.host(&read);
    world.policy(ASK);
    world.log_answers = true;
    assert_eq!(forwarded(&world.wait(0)), [read.as_str()]);
    world.finish();
}
