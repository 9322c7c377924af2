//! More than one call: grants from a card, and what is granted and ends under Rules.

use std::path::PathBuf;
use std::sync::Arc;

use insta::assert_snapshot;
use mcp_approve::audit::fields::Record;
use mcp_approve::behavior::hazards::HazardKind;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::link::message::{Covers, FromConsole, FromWrapper, GrantCard, GrantTerms, Lasts, Status};
use mcp_approve::operator::found::{Finding, Line, LogRequest, Opened, RuleBook, RuleLine};
use mcp_approve::operator::tried::Trial;
use mcp_approve::policy::parse;
use mcp_approve::policy::rule::{Decision, Layer, Pending};
use mcp_approve::wire::digest::Digest;

use crate::desk::{Desk, NINE, delete, file, hazard, long, own, status, write};
use crate::screens::lists::scenes::{body, log, records};

pub(super) const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 12)];

/// A desk whose call is shown to its end; its path is known to lie in a folder.
fn shown(width: u16, height: u16) -> Desk {
    let mut call = write("filesystem-1");
    call.facts = vec![file("notes/today.md", "x")];
    super::rulemaker::shown(width, height, call)
}

fn up(desk: &mut Desk, times: usize) {
    for _ in 0..times {
        desk.keys("k");
    }
}

pub(super) fn later(desk: &mut Desk) {
    desk.now += 400;
    desk.send(Msg::Tick);
    desk.draw();
}

fn granted(commands: &[Command]) -> Vec<(String, GrantTerms)> {
    let grant = |command: &Command| match command {
        Command::Send { message: FromConsole::Grant { ticket, terms, .. }, .. } => {
            Some((ticket.clone(), terms.clone()))
        }
        _ => None,
    };
    commands.iter().filter_map(grant).collect()
}

pub(super) fn card(id: &str, covers: Covers, lasts: Lasts) -> GrantCard {
    GrantCard {
        id: id.into(),
        tool: "create_file".into(),
        definition: Digest::of(b"definition"),
        until: if let Lasts::Minutes(n) = lasts { Some(NINE + i64::from(n) * 60_000) } else { None },
        left: if let Lasts::Calls(n) = lasts { Some(n) } else { None },
        terms: GrantTerms { covers, lasts },
        who: "ada (console 7)".into(),
        ticket: "filesystem-1".into(),
        given: NINE,
        dangerous: false,
        used: 2,
    }
}

pub(super) fn pending() -> Pending {
    Pending {
        layer: Layer::User,
        file: "/home/ada/.config/mcp-approve/policy.toml".into(),
        digest: Digest::of(b"the new text"),
        needs: mcp_approve::signing::grade::Needs::Nothing,
        loosens: vec!["rule \"push\" allows more".into(), "rule \"no-rm\" is gone".into()],
        diff: "@@ -1,2 +1,3 @@\n version = 1\n-decision = \"deny\"\n+decision = \"allow\"\n".into(),
    }
}

pub(super) fn book() -> RuleBook {
    let rule = RuleLine {
        id: "scratch".into(),
        decision: Decision::Allow,
        result: None,
        disabled: false,
        file: 0,
        line: 3,
        selects: vec![("tool", "write_file".into())],
        expires: None,
        note: None,
        warnings: Vec::new(),
    };
    RuleBook {
        files: vec![PathBuf::from("config/policy.toml")],
        rules: vec![rule],
        defaults: parse::built_in().defaults,
        broken: None,
        built_in: false,
        pending: Vec::new(),
    }
}

pub(super) fn rules(desk: &mut Desk) {
    desk.keys("5");
    desk.send(Msg::Found(Finding::Counts(Arc::default())));
    desk.send(Msg::Found(Finding::Rules(Arc::new(book()))));
    desk.draw();
}

/// No wrapper is there to say what waits to be accepted: the files do.
#[test]
fn a_rule_that_is_not_accepted_is_no_rule_in_force_where_no_server_runs() {
    let mut desk = Desk::new(80, 24);
    desk.keys("5");
    let pending = vec![Pending { loosens: vec!["allows: scratch".into()], ..pending() }];
    desk.send(Msg::Found(Finding::Rules(Arc::new(RuleBook { pending, ..book() }))));
    desk.draw();
    desk.line("1 change to accept");
    let line = desk.screen().lines().find(|line| line.contains("scratch") && line.contains("never")).map(str::to_owned);
    assert!(line.as_ref().is_some_and(|line| line.contains("waits")), "{}", desk.screen());
}

#[test]
fn a_grant_is_read_and_given_with_enter_and_approves_the_call() {
    let mut desk = shown(80, 40);
    assert!(matches!(desk.keys("r").as_slice(), [Command::Look(LogRequest::Try(Trial::Rules { .. }))]));
    // The panel begins at the narrowest rule, the grants are above it.
    assert!(desk.screen().contains("▸ c allow this exact call"), "{}", desk.screen());
    up(&mut desk, 5);
    let screen = desk.screen();
    for words in [
        "▸ m approve, and create_file with path under ~/shop/notes, for 15 min",
        "Approves filesystem-1 now, as a does.",
        "Then runs unasked: every create_file whose path lies in ~/shop/notes",
        "Until 09:15 (15 min from now)",
    ] {
        assert!(screen.contains(words), "{words}:\n{screen}");
    }
    desk.tap(Key::Down);
    desk.tap(Key::Up);
    assert_eq!(desk.tap(Key::Enter), [], "what has just come up is not answered");
    later(&mut desk);
    let given = granted(&desk.press(Key::Enter));
    let covers = Covers::Under { argument: "path".into(), folder: "~/shop/notes".into() };
    assert_eq!(given, [("filesystem-1".into(), GrantTerms { covers, lasts: Lasts::Minutes(15) })]);
    assert_eq!(desk.model.queue.waiting(), 0);
    assert!(desk.screen().contains("Granted: "), "{}", desk.screen());
}

#[test]
fn the_widest_grant_and_one_of_a_dangerous_call_take_enter_twice() {
    for (call, ups) in [(write("filesystem-1"), 1), (delete("filesystem-1"), 2)] {
        let mut desk = Desk::connected(80, 40);
        desk.hold(call);
        desk.look();
        desk.keys("r");
        up(&mut desk, ups);
        later(&mut desk);
        assert_eq!(desk.tap(Key::Enter), [Command::Drain]);
        assert!(desk.screen().contains("let those run unasked? Enter once more"), "{}", desk.screen());
        // A key that repeats by itself is no second press.
        assert_eq!(granted(&desk.press(Key::Enter)), []);
        later(&mut desk);
        assert_eq!(granted(&desk.press(Key::Enter)).len(), 1);
    }
}

#[test]
fn digits_say_how_many() {
    let mut desk = shown(80, 40);
    desk.keys("r");
    up(&mut desk, 3);
    assert!(desk.screen().contains("▸ x approve, and every create_file, for the next 5 calls"), "{}", desk.screen());
    later(&mut desk);
    desk.keys("012");
    let screen = desk.screen();
    assert!(screen.contains("every create_file, for the next 12 calls"), "{screen}");
    assert!(screen.contains("Enter approves the call and grants this"), "{screen}");
    desk.keys("99");
    assert!(desk.screen().contains("for the next 129 calls"), "no more than 999: {}", desk.screen());
    later(&mut desk);
    let given = granted(&desk.press(Key::Enter));
    assert_eq!(given[0].1, GrantTerms { covers: Covers::Tool, lasts: Lasts::Calls(129) });
}

#[test]
fn nothing_is_granted_from_a_card_that_was_not_read_or_has_changed() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(long(delete("filesystem-1")));
    desk.look();
    // What was skipped is not enough for more than this call.
    for key in [None, Some(Key::End)] {
        key.map(|key| desk.press(key));
        desk.keys("rk");
        later(&mut desk);
        desk.press(Key::Enter);
        assert!(desk.screen().contains("not all of it was shown yet"), "{}", desk.screen());
        later(&mut desk);
        assert_eq!(granted(&desk.press(Key::Enter)), []);
        desk.press(Key::Esc);
    }
    let mut desk = shown(80, 40);
    desk.keys("rk");
    later(&mut desk);
    desk.press(Key::Enter);
    later(&mut desk);
    let mut other = write("filesystem-1");
    other.effect = "something else".into();
    other.digest = Digest::of(b"other bytes");
    desk.hold(other);
    assert_eq!(granted(&desk.press(Key::Enter)), []);
    assert!(desk.screen().contains("Too late"), "{}", desk.screen());
}

#[test]
fn what_can_not_be_granted_says_why_and_offers_none() {
    let mut desk = Desk::connected(80, 40);
    let mut call = write("filesystem-1");
    call.hazards = vec![hazard(HazardKind::SensitiveRead, "a key")];
    desk.hold(call);
    let mut asked = own("filesystem-2");
    asked.ruling.rule = Some("ask-writes".into());
    asked.arrived += 1;
    desk.hold(asked);
    desk.look();
    desk.keys("r");
    let screen = desk.screen();
    assert!(!screen.contains("approve, and") && screen.contains("a call with a hazard is asked each time"), "{screen}");
    desk.press(Key::Esc);
    desk.keys("j");
    desk.look();
    desk.keys("r");
    let screen = desk.screen();
    assert!(!screen.contains("approve, and") && screen.contains("a rule asks for each such call"), "{screen}");
}

#[test]
fn a_grant_tells_what_waits_and_passes_at_once_and_that_it_is_dangerous() {
    let mut desk = Desk::connected(100, 40);
    for i in 1..=3 {
        let mut call = delete(&format!("filesystem-{i}"));
        call.arrived += i;
        desk.hold(call);
    }
    desk.look();
    desk.keys("rk");
    let screen = desk.screen();
    assert!(screen.contains("▲ running at once: 2 other calls of those that wait now"), "{screen}");
    assert!(screen.contains("◆ dangerous: it deletes"), "{screen}");
}

#[test]
fn grants_stand_under_rules_and_x_ends_one() {
    for (width, height) in SIZES {
        let mut desk = Desk::connected(width, height);
        let folder = Covers::Under { argument: "path".into(), folder: "~/shop".into() };
        let grants = vec![
            card("grant:1", folder, Lasts::Minutes(15)),
            card("grant:2", Covers::Tool, Lasts::Calls(3)),
            card("grant:3", Covers::ThisCall, Lasts::Session),
        ];
        desk.status("files", Status { grants, pending: vec![pending()], ..status() });
        rules(&mut desk);
        assert_snapshot!(format!("rules_granted_{width}x{height}"), desk.screen());
        desk.keys("jj");
        assert_snapshot!(format!("grant_{width}x{height}"), {
            desk.press(Key::Enter);
            desk.screen()
        });
        let commands = desk.keys("x");
        let end = FromConsole::EndGrant { grant: "grant:2".into() };
        assert_eq!(commands, [Command::Send { session: "files".into(), message: end }]);
        let screen = desk.screen().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(screen.contains("Ending grant:2; grant:1 or grant:3 may still cover some of its calls."), "{screen}");
        // It goes when the wrapper says so, and the selection stays with what is left.
        desk.press(Key::Esc);
        desk.status("files", Status { grants: vec![card("grant:3", Covers::ThisCall, Lasts::Session)], ..status() });
        assert!(!desk.screen().contains("grant:2"), "{}", desk.screen());
    }
}

#[test]
fn a_refused_grant_lets_the_call_wait_on() {
    let mut desk = shown(80, 40);
    desk.keys("rk");
    later(&mut desk);
    desk.press(Key::Enter);
    later(&mut desk);
    assert_eq!(granted(&desk.press(Key::Enter)).len(), 1);
    desk.say("files", FromWrapper::Refused { ticket: "filesystem-1".into(), why: "the tool changed".into() });
    assert_eq!(desk.model.queue.waiting(), 1);
    assert!(desk.screen().contains("the tool changed"));
}

#[test]
fn the_panel_at_every_size() {
    for (width, height) in SIZES {
        let mut desk = shown(width, height);
        desk.keys("r");
        up(&mut desk, 3);
        assert_snapshot!(format!("grant_maker_{width}x{height}"), desk.screen());
    }
}

#[test]
fn a_record_names_a_grant_with_its_call_because_each_session_counts_its_own() {
    let mut desk = Desk::connected(120, 40);
    log(&mut desk, records());
    desk.press(Key::Enter);
    let line = Line { rule: Some("grant:1".into()), ..records()[0].clone() };
    let record = Record { seq: 400, link: None, body: body(), origin: None };
    let seq = line.seq;
    let opened = Opened { explained: None, line, record, newest: 400, link: Ok(()), beside: Vec::new() };
    desk.send(Msg::Found(Finding::Record(seq, Some(Box::new(opened)))));
    desk.line("grant:1 of a session of filesystem");
    desk.status("files", Status { grants: vec![card("grant:1", Covers::Tool, Lasts::Session)], ..status() });
    desk.line("grant:1 of filesystem-1");
}
