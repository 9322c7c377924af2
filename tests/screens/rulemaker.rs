//! From a call to a rule in three keys: what `r` offers, what past calls say of it, what Enter waits for.

use insta::assert_snapshot;
use mcp_approve::behavior::hazards::{Hazard, HazardKind};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::Confidence;
use mcp_approve::behavior::taxonomy::{Action, Mutability};
use mcp_approve::console::keymap::{Key, Place};
use mcp_approve::console::model::Overlay;
use mcp_approve::console::model::rule::{Offer, Presses};
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::message::Covers;
use mcp_approve::operator::found::{Finding, LogRequest};
use mcp_approve::operator::rule_book::{Except, RuleChange};
use mcp_approve::operator::tried::{Matched, Trial, Tried};
use mcp_approve::policy::decide::Near;
use mcp_approve::policy::parse;
use mcp_approve::policy::past::Ended;
use mcp_approve::policy::rule::Decision;

use crate::desk::{Desk, delete, file, long, own, past_line, with_arguments, write};

pub(super) const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 12)];

/// A call whose path is known to lie in a folder.
fn note() -> Snapshot {
    let mut call = write("filesystem-1");
    call.facts = vec![file("notes/today.md", "x")];
    call
}

/// A desk whose call was shown to its end.
pub(super) fn shown(width: u16, height: u16, call: Snapshot) -> Desk {
    let mut desk = Desk::connected(width, height);
    desk.hold(call);
    desk.look();
    for _ in 0..20 {
        desk.press(Key::PageDown);
    }
    desk.look();
    desk
}

/// As many past calls for every rule on offer, of which so many were denied.
fn past(calls: usize, denied: usize) -> Vec<Matched> {
    let line = |(at, n): (usize, i64)| past_line(n, if at < denied { Ended::Refused } else { Ended::Ran });
    let lines = (1..).enumerate().take(calls).map(line).collect();
    vec![Matched { calls, asked: calls, denied, undecided: 0, lines }; 9]
}

pub(super) fn later(desk: &mut Desk) {
    desk.now += 400;
    desk.send(Msg::Tick);
    desk.draw();
}

pub(super) fn toml(commands: &[Command]) -> &str {
    let [Command::WriteRule { toml, .. }, Command::Drain] = commands else { panic!("{commands:?}") };
    toml
}

#[test]
fn this_folder_from_now_on_takes_three_keys() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut desk = shown(width, height, note());
        let commands = desk.keys("r");
        let [Command::Look(LogRequest::Try(Trial::Rules { server, tool, rules, .. }))] = commands.as_slice() else {
            panic!("{commands:?}")
        };
        assert_eq!((server.as_str(), tool.as_str(), rules.len()), ("filesystem", "create_file", 4));
        desk.tried(past(0, 0));
        assert_eq!(desk.keys("f"), []);
        later(&mut desk);
        let text = desk.screen();
        let commands = desk.press(Key::Enter);
        let toml = toml(&commands);
        assert!(toml.lines().all(|line| text.contains(line)), "{toml}\n{text}");
        assert!(toml.contains("under = \"~/shop/notes\""), "{toml}");
        assert!(parse::parse(&format!("version = 1\n\n{toml}")).is_ok(), "{toml}");
        desk.send(Msg::RuleWritten(Ok("policy.toml".into())));
        assert!(desk.screen().contains("The rule was added to policy.toml"));
        assert_eq!(desk.model.queue.waiting(), 1);
    }
}

#[test]
fn enter_waits_for_what_has_just_come_up_for_warnings_and_for_the_log() {
    let mut desk = shown(80, 40, note());
    desk.types("r", 0);
    assert_eq!(desk.press(Key::Enter), [], "a key typed ahead");
    later(&mut desk);
    // Nobody knows yet what was denied before.
    assert!(desk.screen().contains("past calls: still counting"), "{}", desk.screen());
    assert_eq!(desk.press(Key::Enter), [Command::Drain]);
    later(&mut desk);
    // What comes now was not read when Enter was pressed first.
    desk.tried(past(3, 1));
    let screen = desk.screen();
    assert!(screen.contains("▲ it allows what was denied before: 1 past call"), "{screen}");
    assert_eq!(desk.press(Key::Enter), [Command::Drain]);
    later(&mut desk);
    // Another scope asks again, and one that covers everything says so.
    desk.keys("t");
    later(&mut desk);
    assert!(desk.screen().contains("▲ it covers every argument"), "{}", desk.screen());
    assert_eq!(desk.tap(Key::Enter), [Command::Drain]);
    assert_eq!(desk.press(Key::Enter), [], "a key that repeats by itself");
    later(&mut desk);
    assert!(toml(&desk.press(Key::Enter)).contains("decision = \"allow\""));
}

/// A folder rule from a call that adds a file covers those that replace one: that is told, and asks for no second Enter.
#[test]
fn what_a_rule_covers_beyond_its_call_is_told() {
    let mut adds = note();
    adds.identity.action = Action::Overwrite;
    let mut desk = shown(80, 40, adds);
    let also = "▲ it also covers calls that replace a whole file";
    desk.keys("r");
    desk.tried(past(0, 0));
    assert!(!desk.screen().contains(also), "this exact call: {}", desk.screen());
    desk.keys("f");
    later(&mut desk);
    assert!(desk.screen().contains(also), "{}", desk.screen());
    assert!(toml(&desk.press(Key::Enter)).contains("OVERWRITE"));
}

#[test]
fn a_panel_that_would_let_an_unread_call_run_says_so_before_enter() {
    let mut desk = Desk::connected(80, 40);
    desk.hold(long(delete("filesystem-1")));
    desk.look();
    desk.keys("rf");
    desk.tried(past(0, 0));
    let says = "This also approves the call, and you have not read";
    assert!(desk.screen().contains(says), "{}", desk.screen());
    desk.keys("n");
    assert!(!desk.screen().contains(says), "a deny lets nothing run: {}", desk.screen());
}

#[test]
fn never_again_takes_one_enter_whatever_the_log_says() {
    let mut desk = shown(80, 40, note());
    desk.keys("rn");
    later(&mut desk);
    assert!(toml(&desk.press(Key::Enter)).contains("decision = \"deny\""));
}

#[test]
fn letters_go_to_their_scope_and_round_again() {
    let mut desk = shown(100, 40, note());
    desk.keys("rf");
    assert!(desk.screen().contains("▸ f allow this tool with path under ~/shop/notes"), "{}", desk.screen());
    desk.keys("f");
    assert!(desk.screen().contains("▸ f allow this tool with path under ~/shop/notes"), "only one: {}", desk.screen());
    desk.keys("c");
    assert!(desk.screen().contains("▸ c allow this exact call"));
    desk.keys("v");
    assert!(desk.screen().contains("This call has no values"), "{}", desk.screen());
    let mut desk = shown(100, 40, with_arguments(write("filesystem-2"), r#"{"topic":"x","deep":{}}"#));
    desk.keys("rv");
    assert!(desk.screen().contains("▸ v allow this tool with the same topic"), "{}", desk.screen());
    desk.keys("f");
    assert!(desk.screen().contains("No argument of this call is a path"), "{}", desk.screen());
}

/// `r` decides nothing, so it works at once and from the palette; what was not read is not let run by it.
#[test]
fn r_opens_at_once_and_lets_nothing_unread_run() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(long(delete("filesystem-1")));
    desk.draw();
    assert_eq!(desk.keys("r").len(), 1, "within the arming delay");
    assert!(desk.screen().contains("Make a rule from filesystem-1"), "{}", desk.screen());
    desk.tried(past(0, 0));
    later(&mut desk);
    while desk.screen().contains("below") {
        desk.press(Key::Enter);
    }
    assert_eq!(desk.press(Key::Enter), []);
    assert!(desk.screen().contains("not all of it was shown yet"), "{}", desk.screen());
    desk.press(Key::Esc);
    desk.keys(":rule");
    desk.press(Key::Enter);
    assert!(desk.screen().contains("Make a rule from filesystem-1"), "{}", desk.screen());
    // A card that only flashed by was not read either, though all of it was on screen.
    let mut desk = Desk::connected(120, 60);
    desk.hold(own("filesystem-2"));
    desk.draw();
    desk.keys("r");
    desk.tried(past(0, 0));
    later(&mut desk);
    assert_eq!(desk.press(Key::Enter), []);
    assert!(desk.screen().contains("not all of it was shown yet"), "{}", desk.screen());
}

#[test]
fn a_rule_is_written_only_once_its_whole_text_was_on_screen() {
    let mut desk = shown(40, 12, note());
    desk.keys("r");
    desk.tried(past(30, 0));
    later(&mut desk);
    assert!(desk.screen().contains("more lines below"), "{}", desk.screen());
    while desk.screen().contains("below") {
        assert_eq!(desk.press(Key::Enter), []);
    }
    // The past calls may be read; they are no part of the rule.
    assert!(desk.screen().contains("PgDn: "), "{}", desk.screen());
    assert!(!toml(&desk.press(Key::Enter)).is_empty());
}

#[test]
fn a_rule_that_asks_is_told_and_its_exception_written_with_the_allow() {
    let mut call = note();
    call.ruling.rule = Some("ask-writes".into());
    let mut desk = shown(80, 40, call);
    desk.keys("r");
    desk.tried(past(0, 0));
    let screen = desk.screen();
    assert!(screen.contains("rule ask-writes asks for it, and an allow does not change that"), "{screen}");
    desk.keys("f");
    later(&mut desk);
    let screen = desk.screen();
    assert!(screen.contains("and adds to `unless` of rule ask-writes"), "{screen}");
    // The rule that asks may be about other tools as well.
    assert!(screen.contains("every tool that rule ask-writes asks for"), "{screen}");
    assert_eq!(desk.press(Key::Enter), [Command::Drain]);
    later(&mut desk);
    let commands = desk.press(Key::Enter);
    let [Command::WriteRule { except, .. }, _] = commands.as_slice() else { panic!("{commands:?}") };
    let condition = "{ arg = \"path\", under = \"~/shop/notes\" }".to_owned();
    assert_eq!(except, &Some(Except { rule: "ask-writes".into(), condition }));
}

/// What is not known for certain to be harmless is asked once more, and what was asked is not answered by another Enter.
#[test]
fn one_enter_is_enough_only_where_everything_is_known() {
    let told = |undecided: usize| vec![Matched { undecided, ..Matched::default() }; 9];
    let panel = || {
        let mut desk = shown(80, 40, note());
        desk.keys("rf");
        later(&mut desk);
        desk
    };
    let mut desk = panel();
    desk.tried(told(1));
    later(&mut desk);
    assert_eq!(desk.press(Key::Enter), [Command::Drain], "one of which it cannot be told may have been denied");
    let mut desk = panel();
    desk.tried(told(0));
    let id = if let Some(Overlay::Rule(rule)) = &desk.model.overlay { rule.past.id } else { panic!() };
    let failed = Tried::Failed { id, why: "the log cannot be read".into() };
    desk.send(Msg::Found(Finding::Tried(failed)));
    later(&mut desk);
    assert_eq!(desk.press(Key::Enter), [Command::Drain], "what was counted before the log failed is not all");
    let mut desk = panel();
    desk.tried(told(0));
    assert_eq!(desk.press(Key::Enter), [], "that Enter was to ask, just before the last was counted");
    later(&mut desk);
    assert!(toml(&desk.press(Key::Enter)).contains("allow"));
}

#[test]
fn past_calls_at_every_size_those_denied_first() {
    for (width, height) in SIZES {
        let mut desk = shown(width, height, note());
        desk.keys("rf");
        assert_snapshot!(format!("maker_counting_{width}x{height}"), desk.screen());
        desk.tried(past(12, 2));
        assert_snapshot!(format!("maker_denied_{width}x{height}"), desk.screen());
        desk.press(Key::End);
        assert_snapshot!(format!("maker_past_{width}x{height}"), desk.screen());
    }
}

#[test]
fn a_card_tells_which_rules_were_nearest_and_what_kept_them() {
    for (width, height) in SIZES {
        let mut desk = Desk::connected(width, height);
        let near = |rule: &str, decision, why: &str| Near { rule: rule.into(), decision, why: why.into() };
        desk.hold(Snapshot {
            near: vec![
                near("scratch", Decision::Allow, "no: { arg = \"path\", under = \"~/scratch\" } does not hold"),
                near("nights\u{1b}[2J", Decision::Allow, "no: it has expired"),
            ],
            ..note()
        });
        desk.look();
        desk.press(Key::Enter);
        assert_snapshot!(format!("nearest_{width}x{height}"), desk.screen());
    }
}

#[test]
fn a_folder_outside_the_declared_ones_is_allowed_with_two_keys_that_the_card_names() {
    let mut desk = Desk::connected(80, 24);
    let mut call = with_arguments(write("filesystem-1"), r#"{"path":"/srv/shared/a.md","content":"x"}"#);
    let what = "a path outside of the folders that the host declared: /srv/shared/a.md".into();
    call.hazards = vec![Hazard { kind: HazardKind::OutsideRoots, what }];
    desk.hold(call);
    desk.look();
    desk.line("r f allows this folder for later calls of the tool");
    desk.keys("rf");
    let Some(Overlay::Rule(maker)) = &desk.model.overlay else { panic!("no panel is open") };
    let toml = &maker.choice().unwrap().toml;
    assert!(toml.contains("under = \"/srv/shared\"") && toml.contains("hazard = \"outside-roots\""), "{toml}");
    // In words, what no one would guess of a condition on all arguments.
    desk.keys("c");
    desk.line("arg = \"\" is all arguments together");
}

#[test]
fn reads_in_a_folder_outside_the_declared_ones_can_be_granted_for_a_while() {
    let mut desk = Desk::connected(100, 40);
    let mut call = with_arguments(write("filesystem-1"), r#"{"path":"/srv/shared/a.md"}"#);
    let what = "a path outside of the folders that the host declared: /srv/shared/a.md".into();
    call.hazards = vec![Hazard { kind: HazardKind::OutsideRoots, what }];
    call.identity = Identity { mutability: Mutability::Pure, action: Action::Read, ..call.identity };
    call.confidence = Confidence::Proven;
    call.danger = Some("outside-roots".into());
    desk.hold(call);
    desk.look();
    desk.line("r s this session, r m 15 min");
    desk.keys("rs");
    desk.line("The host did not declare this folder.");
    desk.line("a dangerous one");
    let Some(Overlay::Rule(maker)) = &desk.model.overlay else { panic!("no panel is open") };
    let grants: Vec<_> = maker
        .offers
        .iter()
        .filter_map(|offer| if let Offer::Grant(grant) = offer { Some(grant) } else { None })
        .collect();
    assert_eq!(grants.len(), 3, "{grants:?}");
    for grant in grants {
        assert!(matches!(&grant.terms.covers, Covers::Under { folder, .. } if folder == "/srv/shared"), "{grant:?}");
        assert_eq!(grant.presses, Presses::Twice);
    }
}

#[test]
fn plus_shows_the_narrowest_rule_that_fits_and_plus_again_writes_it() {
    let mut desk = shown(80, 40, note());
    desk.keys("+");
    assert_eq!(desk.keys("+"), [], "past calls are not counted yet");
    assert!(desk.screen().contains("still being counted: wait a moment"), "{}", desk.screen());
    later(&mut desk);
    // This very call never came before; calls in its folder did.
    let matched = [past(0, 0).remove(0)].into_iter().chain(past(12, 0)).collect();
    desk.tried(matched);
    later(&mut desk);
    let screen = desk.screen();
    assert!(screen.contains("matches 12 of this tool's 120 past calls: 12 asked, 0 denied"), "{screen}");
    let commands = desk.keys("+");
    let toml = toml(&commands);
    assert!(toml.contains("under = \"~/shop/notes\"") && toml.contains("expires = "), "{toml}");
    assert!(toml.lines().all(|line| screen.contains(line)), "{toml}\n{screen}");
    // For ten seconds u takes it back here.
    desk.send(Msg::RuleWritten(Ok("policy.toml".into())));
    assert_eq!(desk.keys("u"), [Command::ChangeRules(RuleChange::Undo)]);
    desk.send(Msg::RuleWritten(Ok("policy.toml".into())));
    desk.now += 11_000;
    assert!(!desk.keys("u").contains(&Command::ChangeRules(RuleChange::Undo)), "later it opens Rules first");
    assert_eq!(desk.model.place(), Place::Rules);
}

#[test]
fn plus_offers_nothing_for_a_dangerous_call_and_nothing_that_was_denied_before() {
    let mut desk = shown(80, 40, delete("filesystem-1"));
    desk.keys("+");
    assert!(desk.model.overlay.is_none() && desk.screen().contains("This call is dangerous: r shows"));
    for matched in [past(0, 0), past(3, 1)] {
        let mut desk = shown(80, 40, note());
        desk.keys("+");
        desk.tried(matched);
        assert!(desk.model.overlay.is_none(), "{}", desk.screen());
        assert!(desk.screen().contains("No rule fits what was approved"), "{}", desk.screen());
    }
    // What the operator chose meanwhile stays on show.
    let mut desk = shown(80, 40, note());
    desk.keys("+t");
    desk.tried(past(3, 0));
    assert!(matches!(&desk.model.overlay, Some(Overlay::Rule(maker)) if maker.offer().unwrap().letter().0 == 't'));
}
