//! What an operator says of a tool with one of its calls: that it reads, that it changes something, that a parameter is
//! plain text. And tools that a server adds later.

use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::gate::Config;
use mcp_approve::gate::data::event::Event;
use mcp_approve::gate::data::pin::{AddedIn, Pins};
use mcp_approve::gate::data::pin::{PinOffer, Remembers, ToolOffer, ToolWord};
use serde_json::Value;

use crate::world::{Did, TOOLS, World, call, config};

/// The server gives another list.
fn listed(world: &mut World, tools: &str) {
    world.host(r#"{"jsonrpc":"2.0","id":"l2","method":"tools/list"}"#);
    let tools = tools.replace('\n', " ");
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"l2","result":{{"tools":{tools}}}}}"#));
}

fn glance(world: &mut World, id: u32) -> Vec<Did> {
    world.call(&id.to_string(), "glance_at_board", &format!(r#"{{"id":{id}}}"#))
}

fn runs(did: &[Did]) -> bool {
    matches!(did, [Did::Forward(_)])
}

fn detail(entry: &Entry, name: &str) -> Option<Value> {
    entry.detail.get(name)
}

/// What the card of a likely read offers where nothing about the call is new.
fn likely() -> PinOffer {
    let none = Vec::new();
    PinOffer { tool: ToolOffer::Likely, agree: none.clone(), any_text: none, remembers: Remembers::All, signs: None }
}

#[test]
fn a_likely_read_asks_once_and_is_remembered() {
    let mut world = World::new().ready();
    assert_eq!(glance(&mut world, 1), [Did::Ask("files-1".into())]);
    assert_eq!(glance(&mut world, 2), [Did::Ask("files-2".into())], "nobody has said anything yet");
    let card = &world.cards["files-1"];
    assert_eq!((card.badge(), &card.offer, &card.danger), (Badge::Likely, &Some(likely()), &None));
    let did = world.says("files-1", ToolWord::Reads);
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Forward(_)]), "the call itself is approved: {did:?}");
    let did = world.keeps_pins();
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Forward(_)]), "what waits is judged again: {did:?}");
    assert!(runs(&glance(&mut world, 3)));
    let decisions: Vec<_> = world.entries.iter().filter(|entry| entry.kind == Kind::Decision).collect();
    let by: Vec<_> = decisions.iter().map(|entry| entry.by).collect();
    assert_eq!(by, [Some(By::Operator), Some(By::Default), Some(By::Default)]);
    assert_eq!(decisions[2].badge, Some(Badge::Pure));
    let said = world.entries.iter().find(|entry| detail(entry, "review").is_some()).expect("a record");
    assert_eq!((said.kind, said.tool.as_deref()), (Kind::Tools, Some("glance_at_board")));
    assert!(detail(said, "review").unwrap().as_str().unwrap().starts_with("pinned as PURE|"));
    assert_eq!(detail(said, "operator").unwrap(), "ann");
    assert_eq!(said.digest, Some(world.remembered.last().unwrap().pin.latest), "of which definition");
    world.finish();
}

#[test]
fn what_was_confirmed_asks_again_once_its_definition_changes() {
    let mut world = World::new().ready();
    glance(&mut world, 1);
    world.says("files-1", ToolWord::Reads);
    world.keeps_pins();
    assert!(runs(&glance(&mut world, 2)));
    listed(&mut world, &TOOLS.replace("Looks at the board.", "Looks at the board again."));
    assert_eq!(glance(&mut world, 3), [Did::Ask("files-3".into())]);
    assert_eq!(world.cards["files-3"].offer, None, "a changed definition is read in Tools, not waved through");
    let did = world.says("files-3", ToolWord::Reads);
    assert!(matches!(did.as_slice(), [Did::Refuse(_)]), "{did:?}");
    world.finish();
}

#[test]
fn what_changes_something_waits_on_as_mutates() {
    let mut world = World::new().ready();
    glance(&mut world, 1);
    assert_eq!(world.says("files-1", ToolWord::Changes), [], "it only waits");
    let did = world.keeps_pins();
    assert_eq!(did, [Did::Ask("files-1".into())], "the card is shown anew");
    let card = &world.cards["files-1"];
    assert_eq!((card.badge(), &card.offer), (Badge::Mutates, &None));
    assert_eq!(glance(&mut world, 2), [Did::Ask("files-2".into())]);
    world.deny("files-1", "no");
    let decision = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).unwrap();
    assert_eq!((decision.verdict, decision.badge), (Some(VerdictWord::Deny), Some(Badge::Mutates)));
    world.finish();
}

#[test]
fn a_word_counts_only_where_the_card_offers_it() {
    let mut world = World::new().ready();
    world.call("7", "write_file", r#"{"path":"/a","content":"x"}"#);
    glance(&mut world, 8);
    for (ticket, word) in [
        ("files-1", ToolWord::Reads),
        ("files-1", ToolWord::Changes),
        ("files-1", ToolWord::PlainText),
        ("files-2", ToolWord::PlainText),
        ("files-9", ToolWord::Reads),
    ] {
        let did = world.says(ticket, word);
        assert!(matches!(did.as_slice(), [Did::Refuse(_)]), "{ticket} {word:?}: {did:?}");
    }
    assert!(world.pinned.is_empty());
    let rule = "version = 1\n[[rule]]\nid = \"look\"\ndecision = \"ask\"\ntool = \"glance_*\"\n";
    world.policy(rule);
    assert_eq!(world.cards["files-2"].offer, None, "a rule asks, whatever the tool is");
    world.policy("version = 1\n[defaults]\npure = \"ask\"\n");
    assert_eq!(world.cards["files-2"].offer, None, "a proven read would be asked as well");
    world.finish();
}

/// A call of the tool that reads, with a key that has no reading role.
fn charged(world: &mut World, id: u32, charge: &str) -> Vec<Did> {
    world.call(&id.to_string(), "read_page", &format!(r#"{{"path":"/a","charge":{charge}}}"#))
}

const CHARGES: &str = r#"[{"name":"read_page","description":"Reads a page.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"path":{"type":"string"},"charge":{}},"required":["path"]}}]"#;

#[test]
fn what_is_new_asks_once_and_is_remembered_by_its_value() {
    let mut world = World::new().ready();
    listed(&mut world, CHARGES);
    assert_eq!(charged(&mut world, 1, "5"), [Did::Ask("files-1".into())]);
    let card = world.cards["files-1"].clone();
    assert_eq!((card.badge(), card.new.clone()), (Badge::Likely, vec![("/charge".into(), "charge = 5".into())]));
    let offer = card.offer.unwrap();
    assert_eq!((offer.tool, offer.agree.as_slice()), (ToolOffer::Proven, ["charge = 5".to_owned()].as_slice()));
    let did = world.says("files-1", ToolWord::Reads);
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Forward(_)]), "the call itself is approved: {did:?}");
    let record = world.entries.iter().find(|entry| entry.kind == Kind::Agreed).expect("a record");
    assert_eq!((record.tool.as_deref(), detail(record, "operator")), (Some("read_page"), Some("ann".into())));
    assert_eq!(world.agreed.len(), 1, "it is kept once the log has it");
    assert_eq!(record.digest, Some(world.agreed[0].digest("")));
    assert!(runs(&charged(&mut world, 2, "5")), "the same value");
    assert_eq!(charged(&mut world, 3, "6"), [Did::Ask("files-3".into())], "another value is new");
    world.says("files-3", ToolWord::Reads);
    assert_eq!(charged(&mut world, 4, "7"), [Did::Ask("files-4".into())]);
    let offer = world.cards["files-4"].offer.clone().unwrap();
    assert_eq!(offer.agree, ["any number under charge"], "at the third value of one kind, the kind is offered");
    world.says("files-4", ToolWord::Reads);
    assert!(runs(&charged(&mut world, 5, "800")));
    assert_eq!(charged(&mut world, 6, "true"), [Did::Ask("files-6".into())], "another kind is new");
    // The next session knows it from its pins.
    let pins = world.pins();
    world.deny("files-6", "no");
    world.finish();
    let mut world = World::with(Config { pins, ..config() }, "").ready();
    listed(&mut world, CHARGES);
    assert!(runs(&charged(&mut world, 1, "9")));
    let other = CHARGES.replace(r#""charge":{}"#, r#""charge":{"type":["integer","boolean"]}"#);
    listed(&mut world, &other);
    assert_eq!(charged(&mut world, 2, "9"), [Did::Ask("files-2".into())], "it was agreed to for another definition");
    world.deny("files-2", "no");
    world.finish();
}

#[test]
fn any_text_under_a_key_takes_its_own_word() {
    let mut world = World::new().ready();
    listed(&mut world, CHARGES);
    let odd = |world: &mut World, id: u32, text: &str| charged(world, id, &format!("{text:?}"));
    assert_eq!(odd(&mut world, 1, "--a; b"), [Did::Ask("files-1".into())]);
    assert_eq!(world.cards["files-1"].offer.clone().unwrap().any_text, ["charge"]);
    let did = world.says("files-1", ToolWord::PlainText);
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Forward(_)]), "the call is judged again: {did:?}");
    assert!(runs(&odd(&mut world, 2, "$(x)")));
    let decision = world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).unwrap();
    assert_eq!((decision.by, decision.badge), (Some(By::Default), Some(Badge::Pure)));
    let explained = detail(decision, "explained").and_then(|line| line.as_str().map(str::to_owned)).unwrap_or_default();
    assert!(explained.contains("charge: any text, agreed to") && !explained.contains("$("), "{explained}");
    assert_eq!(charged(&mut world, 3, "5"), [Did::Ask("files-3".into())], "a number is no text");
    world.deny("files-3", "no");
    world.finish();
}

#[test]
fn what_the_log_cannot_take_is_not_agreed_to() {
    let mut world = World::new().ready();
    listed(&mut world, CHARGES);
    charged(&mut world, 1, "5");
    world.log_answers = false;
    world.says("files-1", ToolWord::PlainText);
    world.says("files-1", ToolWord::Reads);
    let did = world.log_fails();
    assert!(did.iter().any(|one| matches!(one, Did::Refuse(why) if why.contains("not remembered"))), "{did:?}");
    assert!(!did.iter().any(|one| matches!(one, Did::Forward(_))), "{did:?}");
    assert!(world.agreed.is_empty());
    world.log_answers = true;
    while !world.log_fails().is_empty() {}
    assert_eq!(charged(&mut world, 2, "5"), [Did::Ask("files-2".into())]);
    world.deny("files-2", "no");
    world.finish();
}

#[test]
fn a_place_and_a_host_ask_once() {
    let mut world = World::new().ready();
    let read = |world: &mut World, id: u32, path: &str| {
        world.call(&id.to_string(), "read_file", &format!(r#"{{"path":"{path}"}}"#))
    };
    assert!(runs(&read(&mut world, 1, "/a/x")));
    assert_eq!(read(&mut world, 2, "/c/d/x"), [Did::Ask("files-2".into())]);
    assert_eq!(world.cards["files-2"].new, [("/path".into(), "the folder /c/d".into())]);
    world.says("files-2", ToolWord::Reads);
    assert!(runs(&read(&mut world, 3, "/c/d/y")));
    assert_eq!(read(&mut world, 4, "/c/y"), [Did::Ask("files-4".into())], "a folder above it is another");
    world.deny("files-4", "no");
    world.finish();
}

#[test]
fn a_word_on_a_definition_that_may_have_changed_counts_for_nothing() {
    let mut world = World::new().ready();
    glance(&mut world, 1);
    world.server(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    let did = world.says("files-1", ToolWord::Reads);
    assert!(did.iter().any(|one| matches!(one, Did::Refuse(_))), "{did:?}");
    assert!(!did.iter().any(|one| matches!(one, Did::Forward(_))), "{did:?}");
    assert!(world.pinned.is_empty());
    world.finish();
}

#[test]
fn what_cannot_be_recorded_is_not_remembered() {
    let mut world = World::new().ready();
    glance(&mut world, 1);
    world.log_answers = false;
    world.says("files-1", ToolWord::Changes);
    let did = world.log_fails();
    assert!(matches!(did.as_slice(), [Did::Refuse(why)] if why.contains("not remembered")), "{did:?}");
    assert!(world.pinned.is_empty());
    world.log_answers = true;
    world.deny("files-1", "no");
    world.finish();
}

#[test]
fn a_tool_that_a_known_server_adds_asks_until_somebody_looked() {
    let added = r#"{"name":"read_notes","description":"Reads the notes.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}"#;
    let mut before = World::new().ready();
    let known = Pins { added_in: AddedIn::LaterSession, ..before.pins() };
    before.step(Event::Woke);
    before.finish();
    let by_name = "version = 1\n[[rule]]\nid = \"notes\"\ndecision = \"allow\"\ntool = \"read_notes\"\n";
    let by_glob = by_name.replace("read_notes", "read_*");
    for (policy, passes) in [("", false), (by_name, true), (by_glob.as_str(), false)] {
        let mut world = World::with(Config { pins: known.clone(), ..config() }, policy).ready();
        listed(&mut world, &TOOLS.replacen('[', &format!("[{added},"), 1));
        assert!(runs(&world.call("1", "read_file", r#"{"path":"/a"}"#)), "it is no news");
        let did = world.call("2", "read_notes", "{}");
        let expected = if passes { Did::Forward(call("2", "read_notes", "{}")) } else { Did::Ask("files-2".into()) };
        assert_eq!(did, [expected], "{policy}");
        let news = world.entries.iter().find(|entry| detail(entry, "definition").is_some()).expect("a record");
        assert_eq!((news.tool.as_deref(), detail(news, "definition").unwrap()), (Some("read_notes"), "new".into()));
        world.finish();
    }
}
