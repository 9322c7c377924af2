//! The host asks its user for us: what it is asked, what its answers do, and what it is never asked.

use super::{answer, kinds};
use crate::world::{Did, World, call, config, modern_call};
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::gate::data::event::Event;
use mcp_approve::gate::{Config, Unattended};

const WRITE: &str = r#"{"path":"/a","content":"x"}"#;
const TICKED: &str = r#""result":{"action":"accept","content":{"approve":true}}"#;

fn world() -> World {
    World::with(Config { unattended: Unattended::Elicit, ..config() }, "").ready_with(r#"{"elicitation":{}}"#)
}

fn decision(world: &World) -> &Entry {
    world.entries.iter().rfind(|entry| entry.kind == Kind::Decision).expect("a decision")
}

fn reason(entry: &Entry) -> String {
    entry.detail.iter().find(|(name, _)| *name == "reason").map(|(_, value)| value.to_string()).unwrap_or_default()
}

#[test]
fn the_question_says_everything_and_a_ticked_box_runs_the_call_once() {
    let mut world = world();
    world.call("7", "write_file", WRITE);
    let (_, says) = world.forms[0].clone();
    for part in
        ["call: files-1\n", "server: files\n", "tool: write_file\n", "target: /a\n", &format!("arguments: {WRITE}\n")]
    {
        assert!(says.contains(part), "{part} in {says}");
    }
    assert!(says.contains("effect: ") && says.contains("`mcp-approve --home /h`"), "{says}");
    let did = world.host_answers(TICKED);
    assert!(did.contains(&Did::Forward(call("7", "write_file", WRITE))), "{did:?}");
    assert!(!did.iter().any(|one| matches!(one, Did::ToServer(_))), "the answer is ours: {did:?}");
    let decision = decision(&world);
    assert_eq!((decision.verdict, decision.by), (Some(VerdictWord::Approve), Some(By::Elicitation)));
    assert!(reason(decision).contains("tester 1 asked its user"), "{}", reason(decision));
    assert!(kinds(&world).contains(&Kind::Forward), "what a person approved is recorded as it runs");
    world.finish();
}

#[test]
fn any_other_answer_denies_and_the_model_is_told_the_truth() {
    for (member, says) in [
        (r#""result":{"action":"cancel"}"#, "it was cancelled, by the user or by the host itself"),
        (r#""result":{"action":"decline"}"#, "the user declined it"),
        (r#""result":{"action":"accept","content":{"approve":false}}"#, "without `approve: true`"),
        (r#""result":{"action":"accept"}"#, "without `approve: true`"),
        (r#""result":{}"#, "could not be read"),
    ] {
        let mut world = world();
        world.call("7", "write_file", WRITE);
        let did = world.host_answers(member);
        let text = answer(&did);
        assert!(text.contains(says) && text.contains("NOT executed"), "{text}");
        let decision = decision(&world);
        assert_eq!((decision.verdict, decision.by), (Some(VerdictWord::Deny), Some(By::Elicitation)), "{member}");
        world.finish();
    }
}

#[test]
fn a_dangerous_call_a_long_one_and_one_with_a_hazard_wait_for_a_console() {
    let long = format!(r#"{{"path":"/a","content":"{}"}}"#, "x".repeat(2000));
    for (tool, arguments) in [
        ("delete_file", r#"{"path":"/a"}"#),
        ("write_file", &long),
        ("write_file", r#"{"path":"/home/ada/.ssh/authorized_keys","content":"x"}"#),
    ] {
        let mut world = world();
        let did = world.call("7", tool, arguments);
        assert_eq!(did, [Did::Ask("files-1".into())], "{tool} {arguments}");
        assert!(world.wait(50).is_empty(), "it waits");
        world.finish();
    }
}

#[test]
fn only_a_host_that_shows_forms_is_asked_and_only_while_no_console_is_open() {
    for capabilities in ["{}", r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation":true}"#, r#"{"sampling":{}}"#] {
        let config = Config { unattended: Unattended::Elicit, ..config() };
        let mut world = World::with(config, "").ready_with(capabilities);
        assert_eq!(world.call("7", "write_file", WRITE), [Did::Ask("files-1".into())], "{capabilities}");
        world.finish();
    }
    let mut world = World::new().ready_with(r#"{"elicitation":{"form":{}}}"#);
    assert_eq!(world.call("7", "write_file", WRITE), [Did::Ask("files-1".into())], "only who wants it gets it");
    world.finish();
    let mut world = self::world();
    world.step(Event::Attached { who: "ann".into(), attached: 1 });
    assert_eq!(world.call("7", "write_file", WRITE), [Did::Ask("files-1".into())]);
    world.step(Event::Detached { who: "ann".into(), attached: 0 });
    assert_eq!(world.forms.len(), 1, "the console was closed");
    assert_eq!(world.host(&modern_call("8", "write_file", WRITE, "")), [Did::Ask("files-2".into())]);
    world.finish();
}

#[test]
fn one_question_at_a_time_and_one_that_needs_no_answer_is_taken_back() {
    let mut world = world();
    world.call("7", "write_file", WRITE);
    world.call("8", "write_file", r#"{"path":"/b","content":"y"}"#);
    assert_eq!(world.forms.len(), 1);
    let did = world.approve("files-1");
    assert!(
        did.iter().any(|one| matches!(one, Did::Answer(line) if line.contains("notifications/cancelled"))),
        "{did:?}"
    );
    assert!(world.forms[0].1.contains("call: files-2"), "the next one is asked: {:?}", world.forms);
    let did = world.host_answers(r#""error":{"code":-32601,"message":"no"}"#);
    assert!(did.is_empty(), "it could not ask: the call waits for a console: {did:?}");
    world.call("9", "write_file", r#"{"path":"/c","content":"y"}"#);
    assert!(world.forms.is_empty(), "it is not asked again");
    world.finish();
}

#[test]
fn an_approval_in_the_host_is_for_what_the_question_showed() {
    let mut world = world();
    world.call("7", "write_file", WRITE);
    world.disk.insert("/a".into(), ("/a".into(), "there now".into()));
    let did = world.host_answers(TICKED);
    assert!(!did.iter().any(|one| matches!(one, Did::Forward(_))), "the file was not there when it was asked: {did:?}");
    world.finish();
}
