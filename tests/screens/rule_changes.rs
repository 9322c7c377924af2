//! Changes of the rules on the screen: one that waits is read and accepted, a rule is removed, switched or edited, and the way back.

use std::path::PathBuf;
use std::sync::Arc;

use insta::assert_snapshot;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::link::message::{Covers, FromConsole, Lasts, Status};
use mcp_approve::operator::found::{Finding, LogRequest, RuleBook};
use mcp_approve::operator::rule_book::RuleChange;
use mcp_approve::operator::tried::{Coverage, Examined, Replayed, Trial, Tried, Which};
use mcp_approve::policy::edit::Switch;
use mcp_approve::policy::past::Ended;
use mcp_approve::policy::rule::{Decision, Pending};

use crate::desk::{Desk, NINE, past_line, status};
use crate::screens::grants::{SIZES, book, card, later, pending, rules};

#[test]
fn a_change_that_waits_is_read_to_its_end_and_accepted_with_enter_twice() {
    for (width, height) in SIZES {
        let mut desk = Desk::connected(width, height);
        desk.status("files", Status { pending: vec![pending()], ..status() });
        rules(&mut desk);
        let commands = desk.press(Key::Enter);
        let [Command::Look(LogRequest::Try(Trial::Policy { id, which: Which::Accepted { server: None, .. } }))] =
            commands.as_slice()
        else {
            panic!("{commands:?}")
        };
        later(&mut desk);
        while desk.screen().contains("below") {
            assert_eq!(desk.press(Key::Enter), []);
        }
        assert_eq!(desk.press(Key::Enter), [], "nothing is accepted before it is known what it would change");
        assert!(desk.screen().contains("still being"), "{}", desk.screen());
        desk.press(Key::Home);
        let examined = Examined { calls: 340, coverage: Coverage::Whole };
        desk.send(Msg::Found(Finding::Tried(Tried::Policy { id: *id, replayed: Arc::new(replayed()), examined })));
        assert_snapshot!(format!("policy_review_{width}x{height}"), desk.screen());
        while desk.screen().contains("below") {
            assert_eq!(desk.press(Key::Enter), []);
        }
        assert_eq!(desk.tap(Key::Enter), [Command::Drain]);
        assert!(desk.screen().contains("Accept exactly this change?"), "{}", desk.screen());
        assert_eq!(desk.press(Key::Enter), []);
        later(&mut desk);
        let message = FromConsole::AcceptPolicy { file: pending().file, digest: pending().digest, signed: None };
        assert_eq!(desk.press(Key::Enter), [Command::Send { session: "files".into(), message }]);
    }
}

/// No server runs that could take it: it is accepted where it is shown all the same, and its diff is what changed, without the
/// lines of the template that the file began as.
#[test]
fn a_change_is_accepted_where_no_server_runs() {
    let mut desk = Desk::new(80, 24);
    desk.keys("5");
    let template: String = (1..=30).map(|n| format!("+# line {n} of the template\n")).collect();
    let diff = format!("@@ -0,0 +1,33 @@\n{template}+[[rule]]\n+id = \"push\"\n+decision = \"allow\" # mine\n");
    let waits = Pending { diff, ..pending() };
    desk.send(Msg::Found(Finding::Rules(Arc::new(RuleBook { pending: vec![waits.clone()], ..book() }))));
    desk.draw();
    let commands = desk.press(Key::Enter);
    let [Command::Look(LogRequest::Try(Trial::Policy { id, .. }))] = commands.as_slice() else {
        panic!("{commands:?}")
    };
    let examined = Examined { calls: 12, coverage: Coverage::Whole };
    desk.send(Msg::Found(Finding::Tried(Tried::Policy { id: *id, replayed: Arc::default(), examined })));
    desk.draw();
    let mut read = desk.screen();
    later(&mut desk);
    while desk.screen().contains("below") {
        assert_eq!(desk.press(Key::Enter), []);
        read += &desk.screen();
    }
    assert!(read.contains("… 30 lines of comments") && !read.contains("of the template"), "{read}");
    assert!(read.contains("+decision = \"allow\" # mine") && read.contains("+id = \"push\""), "{read}");
    assert_eq!(desk.tap(Key::Enter), [Command::Drain]);
    later(&mut desk);
    assert_eq!(desk.press(Key::Enter), [Command::ChangeRules(RuleChange::Accept(waits))]);
}

/// Eight past calls that would be ruled otherwise.
fn replayed() -> Replayed {
    let line = |n: i64| {
        let ended = if n == 2 { Ended::Refused } else { Ended::Ran };
        let (mut line, time) = (past_line(n, ended), NINE - n * 7_200_000);
        line.time = time;
        (line, Decision::Allow, "push".to_owned())
    };
    Replayed {
        counts: vec![(Decision::Ask, Decision::Allow, 7), (Decision::Deny, Decision::Allow, 1)],
        changed: 8,
        undecided: 3,
        changes: (1..=8).map(line).collect(),
    }
}

#[test]
fn what_the_written_policy_would_change_is_a_key_away() {
    for (width, height) in SIZES {
        let mut desk = Desk::connected(width, height);
        rules(&mut desk);
        let commands = desk.keys("R");
        let [Command::Look(LogRequest::Try(Trial::Policy { id, which: Which::Written }))] = commands.as_slice() else {
            panic!("{commands:?}")
        };
        assert!(desk.screen().contains("still counting"), "{}", desk.screen());
        let examined = Examined { calls: 20_000, coverage: Coverage::Newest };
        desk.send(Msg::Found(Finding::Tried(Tried::Policy { id: *id, replayed: Arc::new(replayed()), examined })));
        assert_snapshot!(format!("replay_{width}x{height}"), desk.screen());
        later(&mut desk);
        desk.press(Key::End);
        assert_eq!(desk.press(Key::Enter), []);
        assert!(desk.screen().contains("nothing to accept"), "{}", desk.screen());
        desk.press(Key::Esc);
        // It comes too late for a panel that is closed.
        let failed = Tried::Failed { id: *id, why: "gone".into() };
        desk.send(Msg::Found(Finding::Tried(failed)));
        assert!(!desk.screen().contains("gone"));
    }
}

#[test]
fn x_removes_a_rule_and_u_takes_the_last_change_back() {
    let mut desk = Desk::connected(80, 24);
    rules(&mut desk);
    let remove = RuleChange::Remove { id: "scratch".into(), file: PathBuf::from("config/policy.toml") };
    assert_eq!(desk.keys("x"), [Command::ChangeRules(remove)]);
    assert_eq!(desk.keys("u"), [Command::ChangeRules(RuleChange::Undo)]);
    // Where no rule is on screen it only goes where they are.
    desk.keys("1");
    let commands = desk.keys("u");
    assert!(!commands.contains(&Command::ChangeRules(RuleChange::Undo)), "{commands:?}");
    desk.line("press it again, here");
    assert_eq!(desk.keys("u"), [Command::ChangeRules(RuleChange::Undo)]);
    desk.send(Msg::RulesChanged(Ok("Taken back: removed rule \u{1b}[2Jscratch.".into())));
    let screen = desk.screen();
    assert!(screen.contains("Taken back: removed rule ␛[2Jscratch."), "{screen}");
    desk.send(Msg::RulesChanged(Err("no change can be taken back".into())));
    assert!(desk.screen().contains("Nothing was changed: no change can be taken back"));
}

#[test]
fn t_switches_a_rule_off_and_on_again() {
    let mut desk = Desk::connected(80, 24);
    rules(&mut desk);
    let switch = |to| {
        let (id, file) = ("scratch".into(), PathBuf::from("config/policy.toml"));
        [Command::ChangeRules(RuleChange::Switch { id, file, to })]
    };
    assert_eq!(desk.keys("t"), switch(Switch::Off));
    let mut off = book();
    off.rules[0].disabled = true;
    desk.send(Msg::Found(Finding::Rules(Arc::new(off))));
    desk.draw();
    assert!(desk.screen().contains("off    scratch"), "{}", desk.screen());
    assert_eq!(desk.keys("t"), switch(Switch::On));
    desk.press(Key::Enter);
    let screen = desk.screen();
    assert!(screen.contains("it decides nothing") && screen.contains("t on"), "{screen}");
}

#[test]
fn e_opens_the_selected_rule_in_the_editor_and_puts_back_what_it_leaves() {
    use mcp_approve::console::update::Edit;
    let mut desk = Desk::connected(80, 24);
    let grants = vec![card("grant:1", Covers::Tool, Lasts::Session)];
    desk.status("files", Status { grants, ..status() });
    rules(&mut desk);
    assert_eq!(desk.keys("e"), []);
    desk.line("Only a rule in a file can be changed");
    desk.keys("j");
    let (id, file) = ("scratch".to_owned(), PathBuf::from("config/policy.toml"));
    assert_eq!(desk.keys("e"), [Command::EditRule { id: id.clone(), file: file.clone() }]);
    let left = |desk: &mut Desk, outcome| desk.send(Msg::RuleEdited { id: id.clone(), file: file.clone(), outcome });
    assert!(left(&mut desk, Edit::Unchanged).iter().all(|one| !matches!(one, Command::ChangeRules(_))));
    desk.line("Nothing was changed.");
    left(&mut desk, Edit::Failed("no rule \u{1b}[2J".into()));
    desk.line("no rule ␛[2J");
    let commands = left(&mut desk, Edit::Text("new".into()));
    let put = RuleChange::Replace { id: id.clone(), file: file.clone(), text: "new".into() };
    assert!(commands.contains(&Command::ChangeRules(put)), "{commands:?}");
}
