//! Calls that are over, and leaving: what is said after a decision, which keys still do something, and what leaving asks.

use mcp_approve::audit::record::{By, VerdictWord};
use mcp_approve::console::keymap::{Key, Place};
use mcp_approve::console::model::Process;
use mcp_approve::console::update::Command;
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::{CallEnd, FromWrapper, Status};
use mcp_approve::operator::tried::Matched;

use crate::desk::*;
use crate::screens::keys::{APPROVE, selected, sent};
use crate::screens::scale::ten_servers;

fn settled(ticket: &str, verdict: Option<VerdictWord>, by: By) -> FromWrapper {
    FromWrapper::Settled(CallEnd { ticket: ticket.into(), time: NINE, verdict, by, who: String::new() })
}

#[test]
fn a_call_that_nobody_answered_in_time_stays_until_it_was_seen() {
    let mut desk = Desk::connected(80, 24);
    for ticket in ["filesystem-1", "filesystem-2", "filesystem-3"] {
        desk.hold(own(ticket));
    }
    desk.look();
    desk.say("files", settled("filesystem-2", Some(VerdictWord::Deny), By::Expiry));
    desk.say("files", settled("filesystem-3", None, By::Cancel));
    desk.look();
    assert_eq!(desk.model.queue.calls.len(), 2, "the other is over without a trace");
    assert!(desk.line("filesystem-2.md").contains("expired"), "{}", desk.screen());
    assert!(desk.screen().contains("1 waiting"), "{}", desk.screen());
    desk.keys("j");
    desk.look();
    desk.line("settled: denied at its deadline");
    let footer = desk.screen().lines().last().unwrap_or_default().to_owned();
    assert!(!footer.contains("approve") && !footer.contains("deny") && footer.contains("full card"), "{footer}");
    assert_eq!(sent(&desk.types("aA", 0)), []);
    desk.look();
    desk.keys("k");
    assert_eq!(desk.model.queue.calls.len(), 1);
}

/// However many were missed: what still waits is seen first.
#[test]
fn what_is_over_is_behind_what_waits() {
    for sort in ["", "s", "ss"] {
        let mut desk = Desk::connected(80, 24);
        let tickets: Vec<String> = (1..=8).map(|n| format!("filesystem-{n}")).collect();
        for ticket in &tickets {
            desk.hold(own(ticket));
        }
        desk.keys(sort);
        desk.look();
        for ticket in &tickets[1..6] {
            desk.say("files", settled(ticket, Some(VerdictWord::Deny), By::Expiry));
        }
        desk.look();
        let queue: Vec<_> = desk.model.queue.order().iter().map(|held| held.key.ticket.clone()).collect();
        assert_eq!(queue[..3], ["filesystem-1", "filesystem-7", "filesystem-8"], "{sort}: {queue:?}");
        assert_eq!(desk.model.queue.selected.as_ref().map(|key| key.ticket.as_str()), Some("filesystem-1"));
    }
}

#[test]
fn the_keys_of_a_call_that_has_ended_go_to_the_next_and_decide_nothing() {
    for key in ["a", "A", "d", "r", "t"] {
        let mut desk = Desk::connected(80, 24);
        desk.hold(own("filesystem-1"));
        desk.hold(own("filesystem-2"));
        desk.look();
        desk.say("files", settled("filesystem-1", Some(VerdictWord::Deny), By::Expiry));
        desk.look();
        desk.line("1 ended");
        desk.line("settled: denied at its deadline");
        assert_eq!(sent(&desk.types(key, 0)), [], "{key}");
        assert_eq!(desk.model.queue.selected.as_ref().map(|key| key.ticket.as_str()), Some("filesystem-2"), "{key}");
        desk.line("That call has ended. This is the next");
        // What was typed before it was on screen long enough decides it no more than the first key did.
        assert_eq!(sent(&desk.types("aA", 0)), [], "{key}");
        assert!(desk.model.overlay.is_none(), "{key}");
        desk.look();
        assert_eq!(sent(&desk.keys("a")), [("filesystem-2".into(), APPROVE)], "{key}");
    }
}

#[test]
fn the_state_of_a_call_that_is_over_is_whole_and_apart_from_its_target() {
    for (width, height) in [(40, 12), (80, 24), (120, 40)] {
        let mut desk = Desk::connected(width, height);
        for ticket in ["filesystem-1", "filesystem-2"] {
            let mut call = own(ticket);
            call.target = Some("/home/ada/very/long/way/down/to/the/newest/new/proj/that/goes/on/notes.md".into());
            desk.hold(call);
        }
        desk.look();
        desk.say("files", settled("filesystem-2", Some(VerdictWord::Deny), By::Expiry));
        assert!(desk.screen().contains("notes.md expired"), "{}", desk.screen());
    }
}

#[test]
fn one_line_says_what_was_decided_and_it_goes_by_itself() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(own("filesystem-1"));
    desk.hold(own("filesystem-2"));
    desk.look();
    desk.keys("a");
    assert!(!desk.screen().contains("Approved:"), "not before its wrapper says so");
    desk.say("files", settled("filesystem-1", Some(VerdictWord::Approve), By::Operator));
    desk.line("Approved: creates notes/today.md (10 bytes) · filesystem-1");
    desk.now += 5_000;
    desk.send(mcp_approve::console::update::Msg::Tick);
    desk.draw();
    assert!(!desk.screen().contains("Approved:"), "{}", desk.screen());
    // Who comes too late is told what happened.
    desk.look();
    desk.keys("a");
    desk.say("files", settled("filesystem-2", Some(VerdictWord::Deny), By::Expiry));
    desk.line("Too late, it was denied at its deadline: ");
}

#[test]
fn leaving_asks_while_calls_wait() {
    let mut desk = Desk::connected(80, 24);
    assert_eq!(desk.keys("q"), [Command::Quit]);
    desk.hold(own("filesystem-1"));
    desk.look();
    assert_eq!(desk.keys("q"), []);
    desk.line("1 call still waits for you. Leave the console?");
    assert_eq!(desk.model.place(), Place::Leave);
    desk.press(Key::Esc);
    desk.look();
    assert_eq!(sent(&desk.keys("a")), [("filesystem-1".into(), APPROVE)]);
    for again in ["qq", "qy"] {
        let mut desk = ten_servers(80, 24, 3);
        assert_eq!(desk.keys(again), [Command::Quit]);
    }
    assert_eq!(ten_servers(80, 24, 3).press(Key::Ctrl('c')), [Command::Quit]);
}

#[test]
fn ctrl_z_stops_the_console() {
    let mut desk = ten_servers(80, 24, 3);
    assert_eq!(desk.press(Key::Ctrl('z')), [Command::Suspend]);
    desk.keys("d");
    assert_eq!(desk.press(Key::Ctrl('z')), [], "while a reason is written it is no key");
}

#[test]
fn leaving_the_demo_says_that_nothing_stays_held() {
    for (process, says) in [(Process::Own, "They stay held"), (Process::Demo, "its agent withdraws them")] {
        let mut desk = ten_servers(80, 24, 2);
        desk.model.settings.process = process;
        desk.keys("q");
        desk.line(says);
    }
}

#[test]
fn the_selection_goes_on_when_its_call_ended_without_an_operator() {
    let tickets = ["filesystem-1", "filesystem-2", "filesystem-3"];
    for (verdict, by, words) in [
        (Some(VerdictWord::Approve), By::Rule, "filesystem-1 was approved by a rule. This is the next one"),
        (None, By::Cancel, "filesystem-1 was withdrawn by the host's cancel. This is the next one"),
    ] {
        let mut desk = Desk::connected(80, 24);
        for ticket in tickets {
            desk.hold(own(ticket));
        }
        desk.look();
        desk.say("files", settled("filesystem-1", verdict, by));
        assert_eq!(selected(&desk.model), "filesystem-2");
        desk.line(words);
        assert_eq!(sent(&desk.types("aA", 0)), [], "no key decides it before it was on screen");
        desk.look();
        assert_eq!(sent(&desk.keys("a")), [("filesystem-2".into(), APPROVE)]);
        // What is asked about stays, and so does the last one.
        desk.look();
        desk.keys("dno");
        desk.say("files", settled("filesystem-3", None, by));
        assert_eq!(selected(&desk.model), "filesystem-3");
        desk.line("Too late: filesystem-3 no longer waits");
    }
}

#[test]
fn a_killed_wrapper_is_a_banner_on_every_screen_until_it_is_dismissed() {
    let mut desk = Desk::connected(80, 24);
    desk.link(ClientEvent::Connected(wrapper("git", "git")));
    desk.hold(own("filesystem-1"));
    desk.hold(own_delete("filesystem-2"));
    let mut other = own("git-1");
    other.server = "git".into();
    desk.say("git", FromWrapper::Held { call: Box::new(other) });
    desk.look();
    desk.keys("a");
    desk.link(ClientEvent::Gone { session: "files".into() });
    assert_eq!(selected(&desk.model), "git-1", "what still waits is selected");
    for screen in ["1", "2", "3", "4", "5", "6"] {
        desk.keys(screen);
        let shown = desk.screen().split_whitespace().collect::<Vec<_>>().join(" ");
        let words =
            "▲ filesystem: its wrapper was killed with 2 calls held, of which 1, just approved, may have run: creates";
        assert!(shown.contains(words), "{screen}: {shown}");
    }
    desk.keys("1");
    desk.press(Key::Esc);
    assert!(!desk.screen().contains("was killed with"), "{}", desk.screen());
    // One that ends in order says first what becomes of each call.
    desk.say("git", settled("git-1", None, By::Shutdown));
    desk.link(ClientEvent::Gone { session: "git".into() });
    assert!(!desk.screen().contains("was killed with"), "{}", desk.screen());
}

#[test]
fn a_server_that_died_says_by_which_signal_on_every_screen() {
    let mut desk = Desk::connected(80, 24);
    desk.status("files", Status { ended: Some("signal 9 (SIGKILL)".into()), ..status() });
    assert!(!desk.screen().contains("SIGKILL"), "its wrapper still runs");
    desk.link(ClientEvent::Gone { session: "files".into() });
    for screen in ["1", "2", "3", "4", "5", "6"] {
        desk.keys(screen);
        desk.line("▲ filesystem: the server ended by itself: signal 9 (SIGKILL)");
    }
    desk.keys("1");
    desk.press(Key::Esc);
    assert!(!desk.screen().contains("SIGKILL"), "{}", desk.screen());
}

/// After a rule, the call that it lets run is over, and the next one is selected.
#[test]
fn after_a_rule_the_next_call_is_selected() {
    let mut desk = Desk::connected(80, 24);
    for ticket in ["filesystem-1", "filesystem-2"] {
        desk.hold(own(ticket));
    }
    desk.look();
    desk.keys("rv");
    desk.tried(vec![Matched::default(); 6]);
    desk.look();
    desk.press(Key::Enter);
    desk.look();
    desk.press(Key::Enter);
    assert!(desk.model.overlay.is_none(), "{}", desk.screen());
    desk.say("files", settled("filesystem-1", Some(VerdictWord::Approve), By::Rule));
    assert_eq!(selected(&desk.model), "filesystem-2");
}

#[test]
fn the_card_of_a_call_that_is_over_waits_for_no_verdict() {
    let mut desk = Desk::connected(80, 40);
    desk.hold(own("filesystem-1"));
    desk.look();
    desk.keys("i");
    desk.line("guardrail   ◌ waits for you");
    desk.settle("filesystem-1", VerdictWord::Deny, "bob");
    desk.line("guardrail   ◌ denied by an operator: it did not run");
    let mut desk = Desk::connected(80, 40);
    desk.hold(own("filesystem-1"));
    desk.look();
    desk.keys("i");
    desk.settle("filesystem-1", VerdictWord::Approve, "bob");
    desk.line("guardrail   ✓ approved by an operator");
}
