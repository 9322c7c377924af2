//! The host asks its user for us: what it is asked, what its answers do, and what it is never asked.

use super::{answer, kinds};
use crate::world::{Did, World, call, config, form_call, modern_call};
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
    entry.detail.get("reason").map(|reason| reason.to_string()).unwrap_or_default()
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

/// What a host that has been given a form inside an answer does with it.
fn brings(world: &mut World, id: &str, answer: &str) -> Vec<Did> {
    world.host_brings(|more| form_call(id, "write_file", WRITE, more), answer)
}

/// A write of the stateless era whose form the host has.
fn asked_inside() -> World {
    let mut world = World::with(Config { unattended: Unattended::Elicit, ..config() }, "").ready();
    let did = world.host(&form_call("7", "write_file", WRITE, ""));
    assert_eq!((did.len(), world.forms.len(), world.forms_inside.len()), (2, 0, 1), "{did:?}");
    world
}

const TICKED_INSIDE: &str = r#"{"action":"accept","content":{"approve":true}}"#;

fn ran(did: &[Did]) -> bool {
    did.iter().any(|one| matches!(one, Did::Forward(_)))
}

#[test]
fn in_the_stateless_era_the_question_is_inside_the_answer_and_its_answer_comes_with_the_call() {
    let mut world = asked_inside();
    assert!(world.forms_inside[0].1.contains(&format!("arguments: {WRITE}\n")), "{:?}", world.forms_inside);
    let did = brings(&mut world, "8", TICKED_INSIDE);
    let first = form_call("7", "write_file", WRITE, "");
    assert!(did.contains(&Did::Forward(first)), "the first request's bytes, without what is ours: {did:?}");
    let (last, kinds) = (decision(&world), kinds(&world));
    assert_eq!((last.verdict, last.by), (Some(VerdictWord::Approve), Some(By::Elicitation)));
    assert!(reason(last).contains("modern 2 asked its user"), "{}", reason(last));
    let ours = [Kind::DecisionAsked, Kind::RoundTrip, Kind::RoundTrip, Kind::Decision, Kind::Forward];
    assert!(kinds.ends_with(&ours), "{kinds:?}");
    world.finish();
}

#[test]
fn any_other_answer_inside_a_call_denies() {
    for (answer, says) in [
        (r#"{"action":"cancel"}"#, "it was cancelled, by the user or by the host itself"),
        (r#"{"action":"decline"}"#, "the user declined it"),
        (r#"{"action":"accept","content":{"approve":false}}"#, "without `approve: true`"),
        (r#"{"action":"accept","content":{"approve":true}},"more":1"#, "could not be read"),
        ("null", "could not be read"),
    ] {
        let mut world = asked_inside();
        let did = brings(&mut world, "8", answer);
        let text = super::answer(&did);
        assert!(text.contains(says) && text.contains("NOT executed") && text.contains("\"id\":8"), "{answer}: {text}");
        world.finish();
    }
    let mut world = asked_inside();
    let (state, _) = world.forms_inside[0].clone();
    let did = world.host(&form_call("8", "write_file", WRITE, &format!(r#","requestState":"{state}""#)));
    assert!(super::answer(&did).contains("without an answer"), "{did:?}");
    world.finish();
}

#[test]
fn only_a_request_that_declares_forms_is_answered_with_one() {
    let elicits =
        || World::with(Config { unattended: Unattended::Elicit, ..config() }, "").ready_with(r#"{"elicitation":{}}"#);
    let mut world = elicits();
    assert_eq!(world.host(&modern_call("7", "write_file", WRITE, "")), [Did::Ask("files-1".into())]);
    assert_eq!(world.wait(50), [], "the handshake of another session says nothing of this request");
    world.finish();
    let long = format!(r#"{{"path":"/a","content":"{}"}}"#, "x".repeat(2000));
    for (tool, arguments, more) in [
        ("delete_file", r#"{"path":"/a"}"#, ""),
        ("write_file", &long, ""),
        ("write_file", WRITE, r#","requestState":"s""#),
        ("write_file", WRITE, r#","inputResponses":{"a":{}}"#),
    ] {
        let mut world = elicits();
        assert_eq!(world.host(&form_call("7", tool, arguments, more)), [Did::Ask("files-1".into())], "{tool} {more}");
        world.finish();
    }
    let mut world = elicits();
    world.step(Event::Attached { who: "ann".into(), attached: 1 });
    assert_eq!(world.host(&form_call("7", "write_file", WRITE, "")), [Did::Ask("files-1".into())]);
    world.step(Event::Detached { who: "ann".into(), attached: 0 });
    assert_eq!(world.forms_inside.len(), 1, "the console was closed");
    world.finish();
}

#[test]
fn a_form_inside_an_answer_waits_for_as_long_as_the_call_and_the_next_call_after_it() {
    let mut world = asked_inside();
    world.host(&form_call("9", "write_file", r#"{"path":"/b","content":"y"}"#, ""));
    world.wait(50);
    assert_eq!(world.forms_inside.len(), 1, "one form at a time");
    brings(&mut world, "8", TICKED_INSIDE);
    assert!(world.forms_inside[0].1.contains("call: files-2"), "{:?}", world.forms_inside);
    world.wait(250);
    let (state, _) = world.forms_inside[0].clone();
    let more = format!(r#","requestState":"{state}","inputResponses":{{"mcp_approve":{TICKED_INSIDE}}}"#);
    let did = world.host(&form_call("10", "write_file", r#"{"path":"/b","content":"y"}"#, &more));
    assert!(super::answer(&did).contains("did not answer within"), "its time was over: {did:?}");
    world.finish();
}

#[test]
fn a_console_and_a_form_inside_an_answer_agree_on_one_verdict() {
    // The operator approves first: a form that is closed changes nothing, a no still counts.
    for (answer, runs) in [(r#"{"action":"cancel"}"#, true), (TICKED_INSIDE, true), (r#"{"action":"decline"}"#, false)]
    {
        let mut world = asked_inside();
        assert!(!ran(&world.approve("files-1")), "its host is away");
        let did = brings(&mut world, "8", answer);
        assert_eq!(ran(&did), runs, "{answer}: {did:?}");
        if !runs {
            assert!(super::answer(&did).contains("the user declined it"), "{did:?}");
        }
        world.finish();
    }
    let mut world = asked_inside();
    world.deny("files-1", "keep it");
    let did = brings(&mut world, "8", TICKED_INSIDE);
    assert!(!ran(&did) && super::answer(&did).contains("keep it"), "{did:?}");
    world.finish();
    // What the operator has edited, and what has changed since, is not what the form showed.
    let mut world = asked_inside();
    world.edit("files-1", r#"{"path":"/a","content":"z"}"#);
    assert!(!ran(&brings(&mut world, "8", TICKED_INSIDE)), "the form showed other bytes");
    assert!(ran(&world.approve("files-1")));
    world.finish();
    let mut world = asked_inside();
    world.disk.insert("/a".into(), ("/a".into(), "there now".into()));
    assert!(!ran(&brings(&mut world, "8", TICKED_INSIDE)), "the file was not there when it was asked");
    world.finish();
}
