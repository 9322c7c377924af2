//! The gate with pins: what a definition's standing does to a call, and what a review changes while calls come.

use std::sync::Arc;

use mcp_approve::audit::record::Kind;
use mcp_approve::behavior::conclude::Trust;
use mcp_approve::behavior::hazards::HazardKind;
use mcp_approve::behavior::taxonomy::Mutability;
use mcp_approve::gate::Config;
use mcp_approve::gate::data::event::Event;
use mcp_approve::gate::data::pin::{Pin, PinState, Pins};
use mcp_approve::wire::digest::Digest;

use crate::world::{Did, TOOLS, World, config};

const READ: &str = r#"{"path":"/a"}"#;

fn kinds(world: &World, ticket: &str) -> Vec<HazardKind> {
    world.cards[ticket].hazards.iter().map(|hazard| hazard.kind).collect()
}

/// Pins of the tools of a world that was just ready, as its gate would have kept them.
fn kept(world: &World) -> Pins {
    let tools = world.remembered.iter().map(|seen| (seen.tool.name.clone(), seen.pin.clone())).collect();
    Pins { tools, ..Pins::default() }
}

#[test]
fn the_first_sight_is_trusted_and_kept_with_what_it_was_concluded_to_be() {
    let world = World::new().ready();
    let read = world.remembered.iter().find(|seen| seen.tool.name == "read_file").expect("it is kept");
    assert_eq!(world.remembered.len(), 4);
    assert_eq!((read.pin.version, &read.pin_state), (1, &PinState::Trusted));
    assert_eq!(read.pin.trusted, Some(read.tool.digest()));
    assert_eq!(read.pin.identity.map(|identity| identity.mutability), Some(Mutability::Pure));
    let pins = kept(&world);
    world.finish();

    let again = World::with(Config { pins, ..config() }, "").ready();
    assert_eq!(again.remembered.len(), 0, "what is known is no news");
    again.finish();
}

#[test]
fn a_changed_definition_asks_names_what_was_approved_and_raises_its_version() {
    let before = World::new().ready();
    let pins = kept(&before);
    let mut world = World::with(Config { pins, ..config() }, "").ready();
    world.host(r#"{"jsonrpc":"2.0","id":"again","method":"tools/list"}"#);
    let tools = TOOLS.replace("Reads a file.", "Deletes a file.");
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"again","result":{{"tools":{tools}}}}}"#));
    let seen = world.remembered.last().expect("the change is kept");
    assert_eq!((seen.pin.version, seen.pin_state.word()), (2, "changed"));
    assert!(world.entries.iter().any(|entry| entry.kind == Kind::Tools), "the change is a fact");
    world.call("1", "read_file", READ);
    let what = &world.cards["files-1"].hazards[0].what;
    assert!(what.contains("PURE|READ|CONTENT was approved") && what.contains("version 2"), "{what}");
    world.deny("files-1", "");
    world.finish();
}

#[test]
fn a_server_without_trust_has_every_definition_reviewed_first() {
    let allow = "version = 1\n[[rule]]\nid = \"all\"\ndecision = \"allow\"\nserver = \"files\"\n";
    let mut world = World::with(Config { trust: Trust::None, ..config() }, allow).ready();
    world.call("1", "write_file", r#"{"path":"a","content":"b"}"#);
    assert_eq!(kinds(&world, "files-1"), [HazardKind::ChangedDefinition]);
    let mut pins = kept(&world);
    for pin in pins.tools.values_mut() {
        assert_eq!(pin.trusted, None);
        pin.trusted = Some(pin.latest);
    }
    world.step(Event::Reviewed(Box::new(pins)));
    let did = world.call("2", "write_file", r#"{"path":"a","content":"b"}"#);
    assert!(matches!(did[..], [Did::Forward(_)]), "once accepted, its rule counts: {did:?}");
    world.deny("files-1", "");
    world.finish();
}

#[test]
fn a_refused_definition_is_denied_by_the_operators_word() {
    let before = World::new().ready();
    let mut pins = kept(&before);
    let read = pins.tools.get_mut("read_file").expect("it is kept");
    (read.refused, read.trusted) = (read.trusted, None);
    let mut world = World::with(Config { pins, ..config() }, "").ready();
    let did = world.call("1", "read_file", READ);
    assert!(
        matches!(&did[..], [Did::Settle(_), Did::Answer(text)] if text.contains("the operator refused")),
        "{did:?}"
    );
    world.finish();
}

#[test]
fn a_changed_server_asks_for_every_tool_until_it_is_reviewed() {
    let changed: Arc<str> = "the server's program changed".into();
    let pins = Pins { changed: Some(changed), ..Pins::default() };
    let mut world = World::with(Config { pins, ..config() }, "").ready();
    world.call("1", "read_file", READ);
    assert_eq!(kinds(&world, "files-1"), [HazardKind::ChangedServer]);
    let (pins, version) = (kept(&world), world.gate.tools_version());
    world.step(Event::Reviewed(Box::new(pins)));
    assert_ne!(world.gate.tools_version(), version, "consoles are told of the tools anew");
    assert!(matches!(world.call("2", "read_file", READ)[..], [Did::Forward(_)]));
    world.deny("files-1", "");
    world.finish();
}

#[test]
fn a_review_forgets_nothing_that_is_not_kept_yet() {
    let mut world = World::new().ready();
    world.step(Event::Reviewed(Box::default()));
    world.host(r#"{"jsonrpc":"2.0","id":"again","method":"tools/list"}"#);
    let tools = TOOLS.replace("Reads a file.", "Reads a file. And more.");
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"again","result":{{"tools":{tools}}}}}"#));
    assert_eq!(world.call("1", "read_file", READ), [Did::Ask("files-1".into())], "it is a change, no first sight");
    world.deny("files-1", "");
    world.finish();
}

#[test]
fn what_the_operator_says_counts_for_the_definition_it_was_said_of_only() {
    let before = World::new().ready();
    let mut pins = kept(&before);
    let delete = pins.tools.get_mut("delete_file").expect("it is kept");
    delete.said = Some("PURE|READ|DATA".parse().unwrap());
    let mut world = World::with(Config { pins: pins.clone(), ..config() }, "").ready();
    assert!(matches!(world.call("1", "delete_file", READ)[..], [Did::Forward(_)]));
    world.finish();

    let other = Pin { trusted: Some(Digest::of(b"another")), sense: None, ..pins.tools["delete_file"].clone() };
    pins.tools.insert("delete_file".into(), other);
    let mut world = World::with(Config { pins, ..config() }, "").ready();
    world.call("1", "delete_file", READ);
    assert_eq!(world.cards["files-1"].identity.mutability, Mutability::Mutates);
    world.deny("files-1", "");
    world.finish();
}

#[test]
fn an_unexpected_behavior_is_asked_or_denied_as_the_policy_says() {
    let expecting = |expected: &str| Config { expected: Some(expected.parse().unwrap()), ..config() };
    let allow = "version = 1\n[[rule]]\nid = \"all\"\ndecision = \"allow\"\nserver = \"files\"\n";
    let mut world = World::with(expecting("read-only"), allow).ready();
    assert!(matches!(world.call("1", "read_file", READ)[..], [Did::Forward(_)]));
    assert_eq!(world.call("2", "write_file", r#"{"path":"a","content":"b"}"#), [Did::Ask("files-2".into())]);
    let hazard = &world.cards["files-2"].hazards[0];
    assert_eq!(hazard.kind, HazardKind::UnexpectedBehavior);
    assert!(
        hazard.what.contains("the task expects read-only") && hazard.what.contains("MUTATES|OVERWRITE"),
        "{}",
        hazard.what
    );
    world.deny("files-2", "");
    world.finish();

    let deny =
        "version = 1\n[[rule]]\nid = \"strict\"\ndecision = \"deny\"\nwhen = [{ hazard = \"unexpected-behavior\" }]\n";
    let mut world = World::with(expecting("SEARCH"), deny).ready();
    let did = world.call("1", "read_file", READ);
    assert!(matches!(&did[..], [Did::Settle(_), Did::Answer(text)] if text.contains("strict")), "{did:?}");
    world.finish();
}

#[test]
fn a_rule_matches_the_tags_that_listings_show() {
    for (tag, passes) in [("files:write", true), ("ack:overwrite", true), ("files:read", false), ("file:write", false)]
    {
        let allow = format!(
            "version = 1\n[[rule]]\nid = \"tag\"\ndecision = \"allow\"\nserver = \"files\"\ncapability = \"{tag}\"\n"
        );
        let mut world = World::with(config(), &allow).ready();
        let did = world.call("1", "write_file", r#"{"path":"a","content":"b"}"#);
        assert_eq!(matches!(did[..], [Did::Forward(_)]), passes, "{tag}: {did:?}");
        if !passes {
            world.deny("files-1", "");
        }
        world.finish();
    }
}

#[test]
fn until_the_pins_are_read_everything_passes_but_calls() {
    let mut world = World::with(Config { pins: Pins::awaited(), ..config() }, "").ready();
    assert_eq!(world.remembered.len(), 0, "nothing is learnt yet");
    assert_eq!(world.call("1", "read_file", READ), [], "a call waits");
    assert!(matches!(world.call("2", "nobody_described", "{}")[..], []));
    assert!(matches!(world.host(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#)[..], [Did::ToServer(_)]));
    let did = world.step(Event::Reviewed(Box::default()));
    assert!(matches!(did[..], [Did::Query(_), Did::Forward(_)] | [Did::Forward(_), Did::Query(_)]), "{did:?}");
    assert_eq!(world.remembered.len(), 4);
    world.finish();
}
