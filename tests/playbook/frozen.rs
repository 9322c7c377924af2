//! Calls are frozen, by a signed stop or for want of a sign of life: nothing passes unasked, whatever let it pass before.

use jiff::tz::TimeZone;
use mcp_approve::audit::record::{By, Kind};
use mcp_approve::gate::data::event::{Event, Side};
use mcp_approve::gate::data::terms::{Covers, Lasts};
use mcp_approve::gate::{Config, ForwardOrder, Mode, Unattended};
use mcp_approve::signing::grade::Owner;
use mcp_approve::signing::signers::{InForce, Signers};
use mcp_approve::signing::standing::{ALIVE, Alive, FREEZE, Me, Standing, Stop, StopWord, text};
use mcp_approve::signing::statement::Evidence;

use super::WRITE;
use crate::signing_bed::{Key, Making, armored};
use crate::world::{Did, World, call, config, modern_call, polled};

const READ: &str = r#"{"path":"/a"}"#;
const REQUIRED: &str = "version = 1\n[desk]\nrequired = true\n";

fn key(name: &str) -> Key {
    Key::new("sk-ssh-ed25519@openssh.com", name.as_bytes()[0])
}

fn signed(statement: String, who: &str, namespace: &'static str) -> Evidence {
    let signature = armored(&key(who).sign(statement.as_bytes(), &Making { namespace, ..Making::default() }));
    Evidence { statement, signature }
}

/// What the shell brings: all that was signed so far.
struct Signed(Standing);

impl Signed {
    fn new() -> Self {
        Self(Standing::new(Me { machine: "build-7".into(), user: "mara".into() }))
    }

    fn lists() -> InForce {
        let lines = format!(
            "sam@example.com {}\nrobot@example.com namespaces=\"alive@mcp-approve\" {}\n",
            key("sam").line(),
            key("robot").line()
        );
        let signers = Signers::read(&lines, "", &TimeZone::UTC).unwrap();
        InForce { file: "allowed_signers".into(), owner: Owner::Root, signers }
    }

    fn brought(&self, world: &mut World) -> Vec<Did> {
        world.step(Event::Standing(Box::new(self.0.clone())))
    }

    fn says(&mut self, world: &mut World, word: StopWord) -> Vec<Did> {
        let now = world.now.wall;
        let ends = self.0.in_force().map(|signed| signed.digest()).filter(|_| word == StopWord::Lift).collect();
        let stop = Stop::new(word, "*".into(), "a leak".into(), ("sam@example.com".into(), now));
        let stop = text(&stop.ending(ends));
        self.0.take_stop(signed(stop, "sam", FREEZE), &Self::lists(), now).unwrap();
        self.brought(world)
    }

    fn freeze(&mut self, world: &mut World) -> Vec<Did> {
        self.says(world, StopWord::Freeze)
    }

    fn lift(&mut self, world: &mut World) -> Vec<Did> {
        world.wait(1);
        self.says(world, StopWord::Lift)
    }

    /// A sign of life that was signed some seconds ago.
    fn lives(&mut self, world: &mut World, counter: u64, ago: i64) -> Vec<Did> {
        let now = world.now.wall;
        let alive = text(&Alive::new(counter, Vec::new(), ("robot@example.com".into(), now - ago * 1000)));
        // An older one changes nothing, and is brought all the same.
        let _ = self.0.take_alive(signed(alive, "robot", ALIVE), &Self::lists(), now);
        self.brought(world)
    }
}

fn details(world: &World, kind: Kind, key: &str) -> Vec<String> {
    let of_kind = world.entries.iter().filter(|entry| entry.kind == kind);
    of_kind.filter_map(|entry| entry.detail.get(key)?.as_str().map(str::to_owned)).collect()
}

#[test]
fn a_read_that_passed_before_is_asked_and_runs_once_the_stop_is_lifted() {
    let (mut world, mut operators) = (World::new().ready(), Signed::new());
    let read = |id| call(id, "read_file", READ);
    assert!(world.host(&read("1")).contains(&Did::Forward(read("1"))));
    operators.freeze(&mut world);
    let banner = world.gate.status().banner.unwrap();
    assert!(banner.starts_with("FROZEN: sam@example.com froze all machines at "), "{banner}");
    let did = world.host(&read("2"));
    assert_eq!(did, [Did::Ask("files-2".into())]);
    let card = &world.cards["files-2"];
    assert!(card.ruling.reason.contains("(a leak): each call is asked until"), "{}", card.ruling.reason);
    assert!(!card.effect.is_empty());
    // A person may let a single call run.
    let third = world.host(&read("3"));
    assert_eq!(third, [Did::Ask("files-3".into())]);
    assert!(world.approve("files-3").contains(&Did::Forward(read("3"))));
    let said = details(&world, Kind::Decision, "frozen");
    assert_eq!(said.len(), 1, "the decision that was made while calls were frozen says so");
    assert!(operators.lift(&mut world).contains(&Did::Forward(read("2"))));
    assert_eq!(world.gate.status().banner, None);
    assert!(world.host(&read("4")).contains(&Did::Forward(read("4"))));
    let what = details(&world, Kind::Policy, "what");
    assert_eq!(what, ["calls are frozen", "calls are no longer frozen"]);
    let stop = world.entries.iter().find(|entry| entry.kind == Kind::Policy).unwrap();
    assert_eq!(stop.uncut.get("signatures").unwrap()[0]["signer"], "sam@example.com");
    world.finish();
}

#[test]
fn no_rule_grant_or_observing_lets_a_call_pass() {
    let allows = "version = 1\n[[rule]]\nid = \"yes\"\ndecision = \"allow\"\ntool = \"*\"\n";
    let observing = || Config { mode: Mode::Observe, ..config() };
    for (what, world) in [
        ("a rule", World::with(config(), allows)),
        ("observing", World::with(observing(), "")),
        ("observing a rule", World::with(observing(), allows)),
    ] {
        let (mut world, mut operators) = (world.ready(), Signed::new());
        let write = |id| call(id, "write_file", WRITE);
        assert!(world.host(&write("1")).contains(&Did::Forward(write("1"))), "{what}");
        operators.freeze(&mut world);
        assert_eq!(world.host(&write("2")), [Did::Ask("files-2".into())], "{what}");
        operators.lift(&mut world);
        assert!(world.host(&write("3")).contains(&Did::Forward(write("3"))), "{what}");
        world.finish();
    }
    let (mut world, mut operators) = (World::new().ready(), Signed::new());
    let write = |id| call(id, "write_file", WRITE);
    world.host(&write("1"));
    assert!(world.grant("files-1", Covers::Tool, Lasts::Calls(2)).contains(&Did::Forward(write("1"))));
    operators.freeze(&mut world);
    assert_eq!(world.host(&write("2")), [Did::Ask("files-2".into())]);
    assert!(
        operators.lift(&mut world).contains(&Did::Forward(write("2"))),
        "a grant counts again, and was not used up"
    );
    assert!(world.host(&write("3")).contains(&Did::Forward(write("3"))));
    assert_eq!(world.host(&write("4")), [Did::Ask("files-4".into())]);
    world.finish();
}

#[test]
fn the_time_of_a_call_stands_still_until_its_host_would_give_up() {
    let limit = Config { host_timeout: Some(3_600_000_000), ..config() };
    let (mut world, mut operators) = (World::with(limit, "").ready(), Signed::new());
    world.call("1", "write_file", WRITE);
    operators.freeze(&mut world);
    world.call("2", "write_file", r#"{"path":"/b","content":"x"}"#);
    assert_eq!(world.wait(600), [], "our own deadline of five minutes does not count");
    let did = world.wait(3000);
    let answers: Vec<&String> =
        did.iter().filter_map(|one| if let Did::Answer(text) = one { Some(text) } else { None }).collect();
    assert_eq!(answers.len(), 2, "{did:?}");
    for answer in answers {
        assert!(answer.contains("Calls are frozen: sam@example.com froze all machines"), "{answer}");
        assert!(answer.contains("did NOT execute the tool"), "{answer}");
    }
    let reasons = details(&world, Kind::Decision, "reason");
    assert!(reasons.iter().all(|why| why.starts_with("its host would not wait longer, and sam@")), "{reasons:?}");
    // Lifted, a call has the operator's time again.
    world.call("3", "write_file", WRITE);
    world.wait(1000);
    operators.lift(&mut world);
    assert_eq!(world.wait(290), []);
    assert!(world.wait(20).iter().any(|one| matches!(one, Did::Answer(text) if text.contains("did not answer"))));
    world.finish();
}

#[test]
fn a_task_waits_as_long() {
    let (mut world, mut operators) = (polled(), Signed::new());
    operators.freeze(&mut world);
    world.host(&crate::world::task_call("1", "write_file", WRITE));
    assert_eq!(world.wait(100_000), []);
    assert!(world.approve("files-1").iter().any(|did| matches!(did, Did::Forward(_))));
    world.finish();
}

#[test]
fn what_was_let_through_and_has_not_run_yet_does_not_run() {
    // The log is slow: the decision is on its way.
    let (mut world, mut operators) = (World::new().ready(), Signed::new());
    world.log_answers = false;
    world.call("1", "read_file", READ);
    operators.freeze(&mut world);
    world.log_answers = true;
    let did = world.log_takes();
    assert!(!did.iter().any(|one| matches!(one, Did::Forward(_))), "{did:?}");
    assert!(did.iter().any(|one| matches!(one, Did::Answer(text) if text.contains("calls were frozen"))), "{did:?}");
    world.finish();
    // An earlier call holds it up.
    let ordered = Config { order: ForwardOrder::Sent, ..config() };
    let (mut world, mut operators) = (World::with(ordered, "").ready(), Signed::new());
    world.call("1", "write_file", WRITE);
    world.call("2", "read_file", READ);
    operators.freeze(&mut world);
    let did = world.approve("files-1");
    assert!(did.contains(&Did::Forward(call("1", "write_file", WRITE))), "a person approved it");
    assert!(did.iter().any(|one| matches!(one, Did::Answer(text) if text.contains("calls were frozen"))), "{did:?}");
    world.finish();
}

#[test]
fn a_call_that_goes_on_after_a_question_of_its_server_is_asked_again() {
    let (mut world, mut operators) = (World::new().ready(), Signed::new());
    world.host(&modern_call("6", "write_file", WRITE, ""));
    world.approve("files-1");
    world.server(
        r#"{"jsonrpc":"2.0","id":6,"result":{"resultType":"input_required","requestState":"s","inputRequests":{}}}"#,
    );
    operators.freeze(&mut world);
    let did = world.host(&modern_call("7", "write_file", WRITE, r#","requestState":"s","inputResponses":{}"#));
    assert_eq!(did, [Did::Ask("files-2".into())]);
    world.close(Side::Server);
    world.finish();
}

#[test]
fn a_host_can_list_what_there_is_and_reads_nothing_unasked() {
    let (mut world, mut operators) = (World::new().ready(), Signed::new());
    operators.freeze(&mut world);
    let list = r#"{"jsonrpc":"2.0","id":"p","method":"prompts/list"}"#;
    assert_eq!(world.host(list), [Did::ToServer(list.into())]);
    let read = r#"{"jsonrpc":"2.0","id":"r","method":"resources/read","params":{"uri":"file:///a/b"}}"#;
    assert_eq!(world.host(read), [Did::Ask("files-1".into())]);
    assert!(operators.lift(&mut world).contains(&Did::Forward(read.into())));
    world.finish();
}

/// A message without an id cannot wait for a person: only the protocol's own notifications pass. With an id, none of them is one.
#[test]
fn what_has_no_answer_passes_while_calls_are_frozen_only_if_the_protocol_has_it() {
    let note = |method: &str| format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"to":"production"}}}}"#);
    let (mut world, mut operators) = (World::new().ready(), Signed::new());
    let odd = ["vendor/deploy", "notifications/vendor/deploy", "resources/subscribe"];
    for method in odd {
        assert_eq!(world.host(&note(method)), [Did::ToServer(note(method))], "{method}");
    }
    operators.freeze(&mut world);
    for method in odd {
        assert_eq!(world.host(&note(method)), [], "{method}");
    }
    for method in ["initialized", "cancelled", "progress", "roots/list_changed", "tasks/status"] {
        let note = note(&format!("notifications/{method}"));
        assert_eq!(world.host(&note), [Did::ToServer(note)], "{method}");
    }
    let request = note("notifications/vendor/deploy").replacen('{', r#"{"id":9,"#, 1);
    assert_eq!(world.host(&request), [Did::Ask("files-1".into())]);
    operators.lift(&mut world);
    assert_eq!(world.host(&note("vendor/deploy")), [Did::ToServer(note("vendor/deploy"))]);
    world.finish();
}

/// What waits for a person when calls are frozen is passed on by a person: also a result, which its call has run for.
#[test]
fn a_result_that_waits_is_not_passed_on_by_a_change_of_rules_while_calls_are_frozen() {
    const ASKS: &str = "version = 1\n[[rule]]\nid = 'numbers'\ndecision = 'ask'\nresult = { glob = '*margin*' }\n";
    let (mut world, mut operators) = (World::with(config(), ASKS).ready(), Signed::new());
    let result =
        |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"the margin"}}]}}}}"#);
    for id in ["5", "6"] {
        world.host(&call(id, "read_file", READ));
        world.server(&result(id));
    }
    operators.freeze(&mut world);
    let did = world.policy("version = 1\n");
    assert!(!did.iter().any(|one| matches!(one, Did::Forward(_) | Did::ToHost(_))), "{did:?}");
    assert!(world.cards["files-2"].ruling.reason.contains("(a leak): each call is asked until"));
    assert!(world.approve("files-2").contains(&Did::Forward(result("5"))));
    let did = operators.lift(&mut world);
    assert!(did.contains(&Did::Forward(result("6"))), "{did:?}");
    world.finish();
}

/// A server's request to its host is no call of a tool: rules about it count, and a stop changes nothing of it.
#[test]
fn a_request_of_the_server_to_its_host_passes_while_calls_are_frozen() {
    let (mut world, mut operators) = (World::new().ready(), Signed::new());
    operators.freeze(&mut world);
    let request =
        r#"{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#;
    assert_eq!(world.server(request), [Did::ToHost(request.into())]);
    world.finish();
}

#[test]
fn without_a_sign_of_life_calls_are_frozen_where_the_policy_requires_one() {
    let (mut world, mut operators) = (World::with(config(), REQUIRED).ready(), Signed::new());
    let read = |id| call(id, "read_file", READ);
    assert_eq!(world.host(&read("1")), [Did::Ask("files-1".into())], "none has come yet");
    assert!(world.cards["files-1"].ruling.reason.starts_with("no sign of life of the desk so far"));
    assert!(operators.lives(&mut world, 7, 0).contains(&Did::Forward(read("1"))));
    assert!(world.host(&read("2")).contains(&Did::Forward(read("2"))));
    world.wait(299);
    assert!(world.host(&read("3")).contains(&Did::Forward(read("3"))));
    world.wait(2);
    assert_eq!(world.host(&read("4")), [Did::Ask("files-4".into())], "the last one was five minutes ago");
    // The same again, and one with a lower counter, are no new ones; nor is one that was signed too long ago.
    for (counter, ago) in [(7, 0), (6, 0), (8, 301)] {
        assert!(!operators.lives(&mut world, counter, ago).contains(&Did::Forward(read("4"))), "{counter} {ago}");
    }
    // One that was on its way for four minutes counts for one.
    assert!(operators.lives(&mut world, 9, 240).contains(&Did::Forward(read("4"))));
    world.wait(61);
    assert_eq!(world.host(&read("5")), [Did::Ask("files-5".into())]);
    // A stop counts beside it.
    operators.freeze(&mut world);
    assert!(!operators.lives(&mut world, 10, 0).contains(&Did::Forward(read("5"))));
    assert!(operators.lift(&mut world).contains(&Did::Forward(read("5"))));
    assert_eq!(details(&world, Kind::Policy, "what").len(), 7);
    world.finish();
}

#[test]
fn a_clock_that_is_set_back_prolongs_no_sign_of_life() {
    let (mut world, mut operators) = (World::with(config(), REQUIRED).ready(), Signed::new());
    operators.lives(&mut world, 1, 0);
    world.now.wall -= 3_600_000;
    world.wait(301);
    operators.brought(&mut world);
    assert_eq!(world.call("1", "read_file", READ), [Did::Ask("files-1".into())]);
    world.finish();
}

#[test]
fn no_answer_to_the_host_s_own_form_lets_a_call_pass() {
    let ticked = r#""result":{"action":"accept","content":{"approve":true}}"#;
    let elicits = |order| {
        let config = Config { unattended: Unattended::Elicit, order, ..config() };
        World::with(config, "").ready_with(r#"{"elicitation":{}}"#)
    };
    let (mut world, mut operators) = (elicits(ForwardOrder::Decided), Signed::new());
    world.call("1", "write_file", WRITE);
    assert_eq!(world.forms.len(), 1);
    let form = world.forms.clone();
    operators.freeze(&mut world);
    assert!(world.forms.is_empty(), "it is taken back");
    world.forms = form;
    assert!(!world.host_answers(ticked).iter().any(|one| matches!(one, Did::Forward(_))));
    assert!(world.approve("files-1").contains(&Did::Forward(call("1", "write_file", WRITE))));
    world.finish();
    // It was answered before, and the log is slow.
    let (mut world, mut operators) = (elicits(ForwardOrder::Decided), Signed::new());
    world.call("1", "write_file", WRITE);
    world.log_answers = false;
    world.host_answers(ticked);
    operators.freeze(&mut world);
    world.log_answers = true;
    let did = world.log_takes();
    assert!(did.iter().any(|one| matches!(one, Did::Answer(text) if text.contains("calls were frozen"))), "{did:?}");
    world.finish();
}

#[test]
fn a_sign_of_life_ends_while_the_machine_sleeps() {
    let (mut world, mut operators) = (World::with(config(), REQUIRED).ready(), Signed::new());
    operators.lives(&mut world, 1, 0);
    world.now.wall += 301_000;
    assert_eq!(world.call("1", "read_file", READ), [Did::Ask("files-1".into())]);
    world.finish();
}

#[test]
fn a_policy_that_requires_a_sign_of_life_freezes_at_once_and_one_that_does_not_frees() {
    let mut world = World::new().ready();
    let allows = "[[rule]]\nid = \"yes\"\ndecision = \"allow\"\ntool = \"write_file\"\n";
    world.call("1", "write_file", WRITE);
    assert_eq!(world.policy(&format!("{REQUIRED}{allows}")), [Did::Ask("files-1".into()), Did::Ask("files-1".into())]);
    let did = world.policy(&format!("version = 1\n{allows}"));
    assert!(did.contains(&Did::Forward(call("1", "write_file", WRITE))), "{did:?}");
    world.finish();
}

#[test]
fn what_cannot_be_read_freezes_until_it_can() {
    let (mut world, mut operators) = (World::new().ready(), Signed::new());
    operators.0.trouble = Some("stop.json cannot be read: a disk error".into());
    operators.brought(&mut world);
    assert_eq!(world.call("1", "read_file", READ), [Did::Ask("files-1".into())]);
    operators.0.trouble = None;
    assert!(operators.brought(&mut world).contains(&Did::Forward(call("1", "read_file", READ))));
    world.finish();
}

#[test]
fn a_decision_names_who_froze_calls() {
    let (mut world, mut operators) = (World::new().ready(), Signed::new());
    operators.freeze(&mut world);
    world.call("1", "write_file", WRITE);
    world.deny("files-1", "no");
    let decision = world.entries.iter().find(|entry| entry.kind == Kind::Decision).unwrap();
    assert_eq!(decision.by, Some(By::Operator));
    assert!(decision.detail.get("frozen").unwrap().as_str().unwrap().starts_with("sam@example.com froze"));
    world.finish();
}
