//! What the log suggests under Rules, and how Enter writes one of them.

use std::sync::Arc;

use insta::assert_snapshot;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::operator::found::{Finding, LogRequest};
use mcp_approve::operator::tried::{Suggested, SuggestedRule, Trial, Tried};
use mcp_approve::policy::maker::Scope;
use mcp_approve::policy::parse;
use mcp_approve::policy::past::Ended;

use crate::desk::{Desk, NINE, delete, past_line};
use crate::screens::rulemaker::{SIZES, later, toml};

#[test]
fn a_suggestion_that_lets_something_pass_at_once_says_so_and_asks() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(delete("filesystem-1"));
    let tool = delete("filesystem-1").tool;
    suggesting(&mut desk, vec![suggested(1, &tool)], 40);
    desk.press(Key::Enter);
    later(&mut desk);
    assert!(desk.screen().contains("running at once: 1 call of those that wait now"), "{}", desk.screen());
    assert_eq!(desk.press(Key::Enter), [Command::Drain]);
    later(&mut desk);
    assert!(toml(&desk.press(Key::Enter)).contains(&tool));
}

fn suggested(n: usize, tool: &str) -> Arc<SuggestedRule> {
    Arc::new(SuggestedRule {
        id: tool.into(),
        scope: Scope::Under { names: vec!["path".into()], folder: format!("~/shop/{n}") },
        server: "filesystem#2".into(),
        tool: tool.into(),
        toml: format!("[[rule]]\nid = \"{tool}\"\ndecision = \"allow\"\ntool = \"{tool}\"\n"),
        saves: 10 * n,
        warnings: Vec::new(),
        lines: (1..=3).map(|n| past_line(n, Ended::Ran)).collect(),
    })
}

fn suggesting(desk: &mut Desk, rules: Vec<Arc<SuggestedRule>>, calls: usize) {
    let commands = desk.keys("5");
    let id = commands.iter().find_map(|command| match command {
        Command::Look(LogRequest::Try(Trial::Suggestions { id })) => Some(*id),
        _ => None,
    });
    let id = id.unwrap_or_else(|| panic!("{commands:?}"));
    let found = Arc::new(Suggested { calls, rules });
    desk.send(Msg::Found(Finding::Tried(Tried::Suggestions { id, found })));
    desk.draw();
}

#[test]
fn the_log_suggests_rules_and_enter_writes_one() {
    for (width, height) in SIZES {
        let mut desk = Desk::connected(width, height);
        suggesting(&mut desk, vec![suggested(2, "write_file"), suggested(1, "edit\u{1b}_file")], 340);
        assert_snapshot!(format!("suggestions_{width}x{height}"), desk.screen());
        desk.tap(Key::Enter);
        assert_snapshot!(format!("suggestion_{width}x{height}"), desk.screen());
        assert_eq!(desk.press(Key::Enter), [], "what has just come up is not answered");
        later(&mut desk);
        while desk.screen().contains("below") {
            assert_eq!(desk.press(Key::Enter), []);
        }
        assert_eq!(toml(&desk.press(Key::Enter)), suggested(2, "write_file").toml);
        // One that is put aside does not come back with the next look at the log.
        desk.keys("jx");
        assert_eq!(desk.model.rules.lines.len(), 1, "{}", desk.screen());
        desk.send(Msg::RuleWritten(Ok("policy.toml".into())));
        desk.now += NINE;
        let commands = desk.send(Msg::Tick);
        assert!(commands.iter().any(|one| matches!(one, Command::Look(LogRequest::Try(Trial::Suggestions { .. })))));
        assert_eq!(desk.model.rules.lines.len(), 1);
    }
}

#[test]
fn rules_without_a_suggestion_say_what_it_takes() {
    use mcp_approve::operator::found::RuleBook;
    let book = RuleBook {
        files: Vec::new(),
        rules: Vec::new(),
        defaults: parse::built_in().defaults,
        broken: None,
        built_in: true,
        pending: Vec::new(),
    };
    let mut desk = Desk::connected(80, 24);
    desk.keys("5");
    desk.send(Msg::Found(Finding::Rules(Arc::new(book.clone()))));
    assert!(desk.screen().contains("The log is being read for rules"), "{}", desk.screen());
    let mut desk = Desk::connected(80, 24);
    suggesting(&mut desk, Vec::new(), 0);
    desk.send(Msg::Found(Finding::Rules(Arc::new(book.clone()))));
    assert!(desk.screen().contains("Wrap with --observe for a day"), "{}", desk.screen());
    let mut desk = Desk::connected(80, 24);
    suggesting(&mut desk, Vec::new(), 7);
    desk.send(Msg::Found(Finding::Rules(Arc::new(book))));
    assert!(desk.screen().contains("No rule to suggest from 7 decided calls"), "{}", desk.screen());
}

/// A suggestion stays where it is while others are written and calls come: nobody presses Enter on another one.
#[test]
fn what_is_suggested_keeps_its_place() {
    let mut desk = Desk::connected(80, 24);
    let shown = |desk: &mut Desk| -> Vec<String> {
        let of =
            |line: &str| line.split_once("filesystem/").map(|(_, rest)| rest.split(':').next().unwrap().to_owned());
        desk.screen().lines().filter(|line| line.contains("+ suggest")).filter_map(of).collect()
    };
    suggesting(&mut desk, vec![suggested(3, "write_file"), suggested(2, "edit_file"), suggested(1, "move_file")], 40);
    assert_eq!(shown(&mut desk), ["write_file", "edit_file", "move_file"]);
    desk.keys("j");
    let again = |desk: &mut Desk, rules| {
        desk.now += NINE;
        let commands = desk.send(Msg::Tick);
        let id = commands.iter().find_map(|command| match command {
            Command::Look(LogRequest::Try(Trial::Suggestions { id })) => Some(*id),
            _ => None,
        });
        let id = id.unwrap_or_else(|| panic!("{commands:?}"));
        desk.send(Msg::Found(Finding::Tried(Tried::Suggestions {
            id,
            found: Arc::new(Suggested { calls: 41, rules }),
        })));
        desk.draw();
    };
    // It saves most by now, and a new one saves more than another.
    let edit = Arc::new(SuggestedRule { saves: 90, ..(*suggested(2, "edit_file")).clone() });
    again(
        &mut desk,
        vec![edit.clone(), suggested(4, "copy_file"), suggested(3, "write_file"), suggested(1, "move_file")],
    );
    assert_eq!(shown(&mut desk), ["write_file", "edit_file", "move_file", "copy_file"]);
    // The first was written: the selected one is still selected.
    again(&mut desk, vec![edit, suggested(4, "copy_file"), suggested(1, "move_file")]);
    assert_eq!(shown(&mut desk), ["edit_file", "move_file", "copy_file"]);
    desk.tap(Key::Enter);
    assert!(desk.screen().contains("Suggested: allow edit_file"), "{}", desk.screen());
}
